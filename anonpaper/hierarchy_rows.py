"""The rows of hierarchies that are made from the values: trees, intervals, codes and dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from math import floor
from numbers import Integral

import numpy as np
import pandas as pd

from anonpaper.errors import (
    ParameterError,
    check_choice,
    check_integer,
    check_number,
    check_sequence,
    is_among,
)
from anonpaper.microdata import MISSING, Attribute

__all__ = ["ISO_DATE", "STAR", "balanced", "dates", "exact_number", "intervals", "listed",
           "prefixes"]  # fmt: skip

#: How a suppressed value is written.
STAR = "*"

#: An unambiguous date or timestamp in text: a part of ISO 8601.
ISO_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"

#: For every level of dates how it is written, and the codes that a form needs for it.
_DATES = {
    "day": (lambda when: f"{when.date()}", "%[dj]"),
    "month": (lambda when: f"{when.date()}"[:7], "%[mbBj]"),
    "quarter": (lambda when: f"{when.year:04d}-Q{when.quarter}", "%[mbBj]"),
    "year": (lambda when: f"{when.year:04d}", "%Y"),
    "decade": (lambda when: f"{when.year // 10 * 10}s", "%Y"),
}


def balanced(values: Sequence, fan_out: int) -> list[list]:
    """Return the rows of a tree that joins up to `fan_out` neighbours per level."""
    fan_out = check_integer("fan_out", fan_out, 2)
    values = listed(values)
    blocks = [[place] for place in range(len(values))]
    rows = [[str(value)] for value in values]
    while len(blocks) > 1:
        blocks = [sum(blocks[i : i + fan_out], []) for i in range(0, len(blocks), fan_out)]
        for block in blocks:
            name = ", ".join(str(values[place]) for place in block)
            if len(block) > 1:
                name = STAR if len(blocks) == 1 else f"{{{name}}}"
            for place in block:
                rows[place].append(name)
    return rows if len(values) != 1 else [[str(values[0]), STAR]]


def intervals(values: Sequence[float], widths: Sequence[float]) -> list[list]:
    """Return the rows of intervals whose width grows."""
    steps = [exact_number("a width", w, 0) for w in check_sequence("widths", widths)]
    for width, wider in pairwise(steps):
        if wider % width:
            raise ParameterError(
                f"each width must be a multiple of the one before, got {list(widths)}"
            )

    def names(value):
        if isinstance(value, str) and re.fullmatch(r"\d+(?:\.\d+)?\+", value, re.ASCII):
            return [value] * len(steps)  # such as 90+, above all others
        is_text = isinstance(value, str) and re.fullmatch(r"[+-]?\d+(?:\.\d+)?", value, re.ASCII)
        place = Fraction(value) if is_text else exact_number("a value", value, -np.inf)
        lows = [(floor(place / width) * width, width) for width in steps]
        return [f"[{_decimal(low)}, {_decimal(low + width)})" for low, width in lows]

    return _rows(listed(values), names)


def prefixes(values: Sequence, keep: Sequence[int] | None) -> list[list]:
    """Return the rows of codes that keep fewer and fewer characters."""
    values = [str(value) for value in listed(values)]
    longest = max(map(len, values), default=0)
    keep = range(longest - 1, 0, -1) if keep is None else check_sequence("keep", keep)
    keep = [check_integer("keep", length, 1) for length in keep]
    if any(longer <= shorter for longer, shorter in pairwise(keep)):
        raise ParameterError(f"keep must descend from level to level, got {keep}")

    def names(value):
        return [
            value if len(value) <= length else value[:length] + STAR * (longest - length)
            for length in keep
        ]

    return _rows(values, names)


def dates(values: Sequence, levels: Sequence[str], form: str | None) -> list[list]:
    """Return the rows of dates that become coarser."""
    levels = [check_choice("a level", n, _DATES) for n in check_sequence("levels", levels)]
    order = list(_DATES)
    if any(order.index(finer) >= order.index(coarser) for finer, coarser in pairwise(levels)):
        raise ParameterError(f"levels must become coarser in the order {order}, got {levels}")

    if form is not None:
        told = form.replace("%%", "") if isinstance(form, str) else ""
        needed = order[order.index(levels[0] if levels else "year") :]
        if not all(re.search(_DATES[name][1], told) for name in needed):
            raise ParameterError(
                f"form must be a text such as '%d.%m.%Y' with the {needed[0]} and all coarser "
                f"parts of a date, got {form!r}"
            )

    def names(value):
        when = _instant(value, form)
        return [_DATES[name][0](when) for name in levels]

    return _rows(listed(values), names, levels=len(levels))


def _instant(value: object, form: str | None) -> pd.Timestamp:
    """Return a date, or a text in the given form or in ISO format, as a timestamp."""
    try:
        when = value
        if isinstance(value, str) and form is not None:
            when = datetime.strptime(value, form)
        elif isinstance(value, str) and re.fullmatch(ISO_DATE, value, re.ASCII):
            when = datetime.fromisoformat(value)
        if not isinstance(when, (date, np.datetime64)) or pd.isna(when):
            raise TypeError(value)
        return pd.Timestamp(when)
    except (TypeError, ValueError, OverflowError):
        wanted = "such as 2024-12-31" if form is None else f"of the form {form}"
        hint = "; form='%d.%m.%Y' reads others" if form is None and isinstance(value, str) else ""
        raise ParameterError(f"{value!r} is not a date {wanted}{hint}") from None


def listed(values: object) -> list:
    """Return a domain as a list, also from an attribute, a column, or the letters of a text."""
    if isinstance(values, Attribute):
        return list(values.values)
    if isinstance(values, pd.Series):
        known = pd.Series(values.dropna().unique(), dtype=object).tolist()
        return known + [MISSING] * (values.hasnans and MISSING not in known)
    return check_sequence("values", list(values) if isinstance(values, str) else values)


def _rows(values: list, names: Callable[[object], list[str]], levels: int = 0) -> list[list]:
    """Return a row per value with its names and a star; a missing value keeps its own name."""
    rows = [None if is_among(value, [MISSING]) else names(value) for value in values]
    levels = max((len(row) for row in rows if row is not None), default=levels)
    rows = [[MISSING] * levels if row is None else row for row in rows]
    return [[value, *row, STAR] for value, row in zip(values, rows, strict=True)]


def exact_number(name: str, value: object, low: float) -> Fraction:
    """Return a finite number above `low` exactly as written: 0.1 is a tenth."""
    number = check_number(name, value, low, np.finfo(float).max, open_low=True)
    return Fraction(int(value) if isinstance(value, Integral) else repr(number))


def _decimal(number: Fraction) -> str:
    """Write a decimal number without an exponent and without rounding."""
    places = 0
    while (number * 10**places).denominator > 1:
        places += 1
    sign, digits = "-" * (number < 0), f"{abs(number * 10**places).numerator:0{places + 1}d}"
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else sign + digits
