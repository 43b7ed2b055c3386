"""Hierarchies: trees over the values of one attribute, level by level, as ARX reads them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal, localcontext
from fractions import Fraction
from math import floor
from numbers import Integral
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.errors import HierarchyError, ParameterError
from anonpaper.files import named_by_user, write_named
from anonpaper.microdata import MISSING, Attribute

__all__ = ["ISO_DATE", "STAR", "Hierarchy", "check_hierarchies", "exact_number"]

#: How a suppressed value is written.
STAR = "*"

#: An unambiguous date or timestamp in text: a part of ISO 8601.
ISO_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"

#: How a timestamp is written on every level of dates.
_DATES = {
    "day": lambda when: f"{when.date()}",
    "month": lambda when: f"{when.date()}"[:7],
    "quarter": lambda when: f"{when.year:04d}-Q{when.quarter}",
    "year": lambda when: f"{when.year:04d}",
    "decade": lambda when: f"{when.year // 10 * 10}s",
}
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)


def quoted(text: str) -> str:
    """Return a text as it stands in a set of texts: quoted as in a csv if it needs to be."""
    plain = text and text == text.strip() and not re.search(r'[,"{}\r\n]', text)
    return text if plain else '"' + text.replace('"', '""') + '"'


class Hierarchy:
    """A generalization hierarchy of one attribute: every value with its name on each level.

    `rows` has one row per value, one of them perhaps missing: the value, then its generalizations
    from the lowest level up. All rows have the same length, and every value occurs once. A name
    has one parent and one set of values, on all its levels; otherwise HierarchyError.

    >>> Hierarchy([["BSc", "higher", "*"], ["MSc", "higher", "*"], ["9th", "low", "*"]])
    Hierarchy(3 values, height 2)
    """

    def __init__(self, rows: Sequence[Sequence]) -> None:
        rows = errors.check_sequence("rows", rows)
        self.rows = [_as_texts(errors.check_sequence("a row", row)) for row in rows]
        width = max(map(len, self.rows), default=0)
        for number, row in enumerate(self.rows or [[]], 1):
            if len(row) < max(width, 1) or not all(n.strip() or n == row[0] for n in row[1:]):
                told = "for all values the same number of levels with a name on each"
                needs = f"a hierarchy needs at least one value, and {told}"
                raise HierarchyError(f"{needs}; row {number} is {row}")
        values = pd.Index([row[0] for row in self.rows])
        if twice := values[values.duplicated()].tolist():
            raise HierarchyError(f"{twice} occur twice: keep one row of each value")
        numbers = {Decimal(row[0]): row for row in self.rows if _NUMBER.fullmatch(row[0])}
        self._row_of = numbers | dict(zip(values, self.rows, strict=True))
        values_of: dict[str, list[str]] = {}
        for level in range(self.height + 1):
            below: dict[tuple, list[str]] = {}  # a name and its parent
            for row in self.rows:
                below.setdefault(tuple(row[level : level + 2]), []).append(row[0])
            for (name, *_), values in below.items():
                if (others := values_of.setdefault(name, values)) != values:
                    told = f"{name!r} means two sets of values, or has two parents"
                    of = f"{others[:5]} and {values[:5]}, the latter on level {level}"
                    raise HierarchyError(f"{told}: {of}: rename one")

    @property
    def height(self) -> int:
        """Highest level; level 0 has the values themselves."""
        return len(self.rows[0]) - 1

    def generalize(self, value: object, level: int) -> str:
        """Return the name of a value on a level; HierarchyError for an unknown value."""
        level = errors.check_integer("level", level, 0, self.height)
        if (row := self._row(value)) is None:
            raise HierarchyError(f"the hierarchy lacks the value {value!r}")
        return row[level]

    def _row(self, value: object) -> list[str] | None:
        """The row of a value; numbers are equal however they are written."""
        text = str(value)
        number = not isinstance(value, str) and _NUMBER.fullmatch(text)
        return self._row_of.get(text) or (self._row_of.get(Decimal(text)) if number else None)

    def written(self, value: object, level: int) -> object:
        """Return the published form of a value on a level: the value if its name is the same."""
        name = self.generalize(value, level)
        return value if name in (str(value), self.generalize(value, 0)) else name

    def maps(self, attribute: Attribute) -> np.ndarray:
        """Return the sub-domain of every value on every level, shape (height + 1, size), int32.

        Sub-domains are numbered in the order of their first value in the attribute's domain.
        HierarchyError names the values that the hierarchy lacks.
        """
        rows = [self._row(value) for value in attribute.values]
        if lacking := [v for v, row in zip(attribute.values, rows, strict=True) if row is None]:
            told = f"lacks {len(lacking)} of its values, such as {lacking[:20]}"
            way = f"it begins with {[row[0] for row in self.rows[:3]]}: add a row for each"
            told = f"{told}; {way}, or make it from this column"
            raise HierarchyError(f"the hierarchy of {attribute.name!r} {told}")
        return _numbered(rows)

    def preorder(self) -> list[str]:
        """Return the values in preorder: then every node is an interval of the domain.

        Children of a node are ordered by their first value in `rows` (dewri2009, section 3).
        """
        return [self.rows[i][0] for i in np.lexsort(_numbered(self.rows))]

    @classmethod
    def flat(cls, values: Sequence) -> Hierarchy:
        """Return the hierarchy of height 1: the value, or a star."""
        return cls([[value, STAR] for value in _listed(values)])

    @classmethod
    def balanced(cls, values: Sequence, fan_out: int = 4) -> Hierarchy:
        """Return a tree that joins up to `fan_out` neighbours per level, up to a star.

        >>> Hierarchy.balanced(["a", "b", "c"], fan_out=2).rows
        [['a', '{a, b}', '*'], ['b', '{a, b}', '*'], ['c', 'c', '*']]
        """
        width = fan_out = errors.check_integer("fan_out", fan_out, 2)
        rows = [[str(value)] for value in _listed(values)]
        while width < len(rows):
            for block in (rows[first : first + width] for first in range(0, len(rows), width)):
                name = f"{{{', '.join(quoted(row[0]) for row in block)}}}"
                for row in block:
                    row.append(name if len(block) > 1 else row[0])
            width *= fan_out
        return cls([[*row, STAR] for row in rows])

    @classmethod
    def of_shown(cls, attribute: Attribute, shown: np.ndarray, fan_out: int = 4) -> Hierarchy:
        """Return a balanced tree over the values that `shown`, a mask of (size,), selects.

        Its names do not show other values. Such a value is on its own below the star, or, in
        an ordered domain, where both neighbours among the shown ones have one name.
        """
        tree, rows = cls.balanced(attribute.values[shown], fan_out), []
        for value, own, after in zip(attribute.values, shown, np.cumsum(shown), strict=True):
            around = tree.rows[max(after - 1, 0) : after + 1] if attribute.ordered else []
            around = [tree.rows[after - 1]] * 2 if own else around
            names = [str(value)] * (tree.height + 1)
            if len(around) == 2:
                names = [a if a == b else names[0] for a, b in zip(*around, strict=True)]
            rows.append([value, *names[1:-1], STAR])
        return cls(rows)

    @classmethod
    def intervals(cls, values: Sequence[float], widths: Sequence[float]) -> Hierarchy:
        """Return a hierarchy of numbers: half-open intervals of growing width, then a star.

        `widths` has one number above 0 per level, each a multiple of the previous one (else
        HierarchyError for values that show it). Intervals begin at multiples of their width.

        >>> Hierarchy.intervals([17, 23, 24], widths=[5, 10]).rows[0]
        ['17', '[15, 20)', '[10, 20)', '*']
        """
        steps = [exact_number("a width", w, 0) for w in errors.check_sequence("widths", widths)]

        def names(value):
            text = value if isinstance(value, str) else ""
            number = re.fullmatch(r"([+-]?\d+(?:\.\d+)?)(\+?)", text, re.ASCII)
            if number and number[2]:
                return [value] * len(steps)  # such as 90+, above all others
            place = Fraction(text) if number else exact_number("a value", value, -np.inf)
            lows = [(floor(place / width) * width, width) for width in steps]
            return [f"[{_decimal(low)}, {_decimal(low + width)})" for low, width in lows]

        return cls._named(_listed(values), names, len(steps))

    @classmethod
    def prefixes(cls, values: Sequence, keep: Sequence[int] | None = None) -> Hierarchy:
        """Return a hierarchy of codes by their first characters, such as zip codes, then a star.

        `keep` has the number of characters kept per level, at least 1, by default one less on
        every level. Codes that are not longer stay.

        >>> Hierarchy.prefixes(["02139", "02446"], keep=[3, 2]).rows
        [['02139', '021**', '02***', '*'], ['02446', '024**', '02***', '*']]
        """
        values = [str(value) for value in _listed(values)]
        longest = max(map(len, values), default=0)
        keep = errors.check_sequence("keep", range(longest - 1, 0, -1) if keep is None else keep)
        keep = [errors.check_integer("keep", length, 1) for length in keep]

        def names(value):
            return [value if len(value) <= n else value[:n] + STAR * (longest - n) for n in keep]

        return cls._named(values, names, len(keep))

    @classmethod
    def dates(
        cls,
        values: Sequence,
        levels: Sequence[str] = ("month", "quarter", "year"),
        form: str | None = None,
    ) -> Hierarchy:
        """Return a hierarchy of dates or timestamps, then a star; else ParameterError.

        `levels` are of "day", "month", "quarter", "year" and "decade", each coarser than the one
        before. Texts are like ``2024-12-31 10:15``, or of a `form` such as ``%d.%m.%Y``, which has
        the part of a date that the lowest level names, and all coarser ones.

        >>> Hierarchy.dates(["31.12.2024"], ["quarter", "year"], form="%d.%m.%Y").rows
        [['31.12.2024', '2024-Q4', '2024', '*']]
        """
        levels = errors.check_sequence("levels", levels)
        levels = [errors.check_choice("each level", level, _DATES) for level in levels]

        def names(value):
            when = _instant(value, form)
            return [_DATES[name](when) for name in levels]

        if form is not None:
            some, kept = datetime(2087, 5, 26), False  # 87 alone would mean 1987
            with suppress(TypeError, ValueError):
                kept = names(some.strftime(form)) == names(some)
            if not kept:
                parts = f"{[*levels, 'year'][0]} and all coarser parts of a date, got {form!r}"
                raise ParameterError(f"form must be a text such as '%d.%m.%Y' with the {parts}")
        return cls._named(_listed(values), names, len(levels))

    @classmethod
    def _named(cls, values: list, names: Callable[[object], list[str]], levels: int) -> Hierarchy:
        """Every value with its names and a star; a missing value keeps its own name."""
        own = [[MISSING] * levels if str(value) == MISSING else names(value) for value in values]
        return cls([[value, *row, STAR] for value, row in zip(values, own, strict=True)])

    @classmethod
    def from_csv(cls, path: str | Path) -> Hierarchy:
        """Read a hierarchy in ARX's format: a line per value, no header, UTF-8, ``;`` between.

        A line that begins with an empty field is the one of missing values. FileError if the file
        cannot be read, HierarchyError if it is not a hierarchy.
        """
        with named_by_user(path):
            content = Path(path).read_bytes()
        try:
            lines = io.StringIO(content.decode("utf-8-sig"), newline="")
            rows = [row for row in csv.reader(lines, delimiter=";") if row]
            return cls([[row[0] or MISSING, *row[1:]] for row in rows])
        except (csv.Error, UnicodeDecodeError) as error:
            raise HierarchyError(f"{path} is not a table in UTF-8: {error}") from None

    def to_csv(self, path: str | Path) -> None:
        """Write the hierarchy in ARX's format, completely or not at all; else FileError."""
        lines = io.StringIO(newline="")
        form = {"delimiter": ";", "quoting": csv.QUOTE_ALL, "lineterminator": "\n"}
        csv.writer(lines, **form).writerows(self.rows)
        write_named(path, lines.getvalue())

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.rows)} values, height {self.height})"


def check_hierarchies(hierarchies: Mapping | None, names: Sequence) -> dict[object, Hierarchy]:
    """Return hierarchies by attribute name as a dict; ColumnError for an unknown name."""
    hierarchies = errors.check_named("hierarchies", hierarchies, names)
    errors.check_sequence("hierarchies", list(hierarchies.values()), Hierarchy)
    return hierarchies


def exact_number(name: str, value: object, low: float) -> Fraction:
    """Return a finite number above `low` exactly as written: 0.1 is a tenth."""
    number = errors.check_number(name, value, low, np.finfo(float).max, open_low=True)
    return Fraction(int(value) if isinstance(value, Integral) else repr(number))


def _as_texts(row: list) -> list[str]:
    """A row as texts; a missing value has its own, a missing name none."""
    texts = [str(v) if isinstance(v, str) or pd.isna(v) is not True else "" for v in row]
    return [MISSING, *texts[1:]] if row and pd.isna(row[0]) is True else texts


def _numbered(rows: list[list[str]]) -> np.ndarray:
    """The number of every name on its level, in the order in which they first appear."""
    levels = zip(*rows, strict=True)
    return np.array([pd.factorize(np.array(names, object))[0] for names in levels], np.int32)


def _listed(values: object) -> list:
    """A domain as a list, also from a column."""
    if isinstance(values, pd.Series):
        known = pd.Series(values.dropna().unique(), dtype=object).tolist()
        return known + [MISSING] * (values.hasnans and MISSING not in known)
    return errors.check_sequence("values", values)


def _instant(value: object, form: str | None) -> pd.Timestamp:
    """A date, or a text in the given form or in ISO format, as a timestamp."""
    try:
        when = value
        if isinstance(value, str) and form is not None:
            when = datetime.strptime(value, form)
        elif isinstance(value, str) and re.fullmatch(ISO_DATE, value, re.ASCII):
            when = datetime.fromisoformat(value)
        if not isinstance(when, (date, np.datetime64)) or pd.isna(when):
            raise TypeError(value)
        return pd.Timestamp(when)
    except (TypeError, ValueError, OverflowError, re.error):
        wanted = f"of the form {form}" if form else "such as 2024-12-31; form= reads others"
        raise ParameterError(f"{value!r} is not a date {wanted}") from None


def _decimal(number: Fraction) -> str:
    """A decimal number without an exponent and without rounding."""
    with localcontext(prec=2_000):  # more digits than a number of 64 bits can have
        return f"{Decimal(number.numerator) / number.denominator:f}"
