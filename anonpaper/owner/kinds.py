"""The kind of a column of texts: numbers, dates, ordered texts, or in doubt.

It holds numbers only if every value is written as a number: ``02139`` is text.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonpaper.coding import Number, check_whole_texts
from anonpaper.errors import ColumnError, ParameterError, check_sequence, is_among
from anonpaper.hierarchy import ISO_DATE

__all__ = ["Doubt", "check_kinds", "in_doubt", "read_as"]

#: Kinds of columns for --type, and how their values are written.
_KINDS = {
    "integer": r"[+-]?\d{1,19}",
    "decimal": r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?",
    "decimal-comma": r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?",
    "date": ISO_DATE,
    **dict.fromkeys(["ordered", "text"], r"(?s:.*)"),
}
_NUMBERS = ("integer", "decimal", "decimal-comma")
_INTEGER = r"0|-?[1-9]\d{0,18}"  # not "-0", "+5" or "007"
_DECIMAL = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_COMMA = r"-?(?:0|[1-9]\d*)(?:,\d+)?"
#: How all values of a column are written, the kind they may have, and whether that is certain.
_GUESSES = [
    (_INTEGER, "integer", True),
    (_DECIMAL, "decimal", True),
    (ISO_DATE, "date", True),
    (_KINDS["decimal"], "decimal", False),
    (r"-?\d{1,3}(?:,\d{3})*", "decimal-comma", False),  # 1,234 may be 1234
    (_COMMA, "decimal-comma", True),
    (r"-?\d[\d.]*(?:,\d+)+|-?\d+(?:\.\d+|(?:\.\d{3})+)?", "decimal-comma", False),
    (r"\d{1,2}[./-]\d{1,2}[./-]\d{4}(?: .*)?", "%d.%m.%Y", False),
    (r"\d{4}-\d{1,2}-\d{1,2}(?:[T ].*)?", "%Y-%m-%d", False),
    (r"\d{4}-\d\d|\d{4}([./])\d{1,2}\1\d{1,2}(?:[T ].*)?", "ordered", False),
    (r"\d{1,2}(?::\d{2}){1,2}(?:\.\d+)?", "ordered", False),  # times of a day
    (r"[$€£¥<>≤≥~#]?=?\s?[+-]?\d[\d.,]*\s?[$€£¥%‰°+-]?", "ordered", False),  # $900, 12%
    (r"\d{1,2}[./-]\d{1,2}[./-]\d{2}(?: .*)?", "text", False),  # dates without a century
]
_MOST_DIGITS = 15  # a 64-bit float distinguishes all decimals of 15 digits


class Doubt(NamedTuple):
    """Why a column may be more than text, the kind to choose, and texts that may be missing."""

    why: str
    kind: str
    na: Sequence[str] = ()


def check_kinds(types: Mapping[str, str | Sequence[str]], na: Sequence[str] = ()) -> None:
    """Raise ParameterError for an unknown kind, or texts of missing values that are no texts."""
    check_sequence("na", na, str)
    if not isinstance(types, Mapping):
        raise ParameterError(f"types maps columns to their kinds, got {types!r}")
    for kind in types.values():
        known = isinstance(kind, list | tuple) or is_among(kind, [*_KINDS]) or "%" in str(kind)
        if not known or "%y" in str(kind):
            raise ParameterError(
                f"unknown type {kind!r}: use {', '.join(_KINDS)} or a form like %d.%m.%Y, where "
                "%y is of no use: two digits of a year do not say the century"
            )


def read_as(column: pd.Series, kind: object, na: Sequence[str], counts=None) -> tuple:
    """Return a column as a kind, or as what its texts are; the kind, and a doubt about it.

    Empty texts and those in `na` are missing. `counts` says how many rows each row stands for.
    """
    check_whole_texts(column)
    place, distinct = pd.factorize(column)
    texts = pd.Series(distinct, name=column.name).astype("string").astype(object)
    texts = texts[~texts.isin({"", *na})]
    rows = np.bincount(place + 1, counts, len(distinct) + 1)[1:][texts.index].astype(int)
    meant, doubt = _guess(texts, rows) if kind is None else (kind, None)
    try:
        values = _typed(texts, rows, meant)
    except ColumnError:  # such as 2024-02-30
        if kind is not None:
            raise
        large = "some numbers are too large, or have too many digits", "ordered"
        doubt = Doubt(*(("not all are dates", meant) if meant == "date" else large))
        values, meant = texts, "text"
    taken = (values.astype("Int64") if values.dtype == "int64" else values).reindex(place)
    taken = taken if taken.hasnans else taken.astype(values.dtype)
    return taken.set_axis(column.index), meant, doubt


def in_doubt(doubts: Mapping[str, Doubt]) -> ColumnError:
    """Return the error on quasi-identifiers that may be more than text, with what to pass."""
    told = []
    for name, (why, kind, na) in doubts.items():
        ways = [" ".join(f"--na {shlex.quote(text)}" for text in na)] * bool(na)
        ways += [f"--type {shlex.quote(f'{name}={one}')}" for one in dict.fromkeys([kind, "text"])]
        told.append(f"{name!r} may be more than text, {why}: `{'` or `'.join(ways)}`")
    types = {name: doubt.kind for name, doubt in doubts.items()}
    na = [text for doubt in doubts.values() for text in doubt.na]
    return ColumnError(f"{'; '.join(told)}; in Python types={types}" + f", na={na}" * bool(na))


def _guess(texts: pd.Series, rows: np.ndarray) -> tuple[str, Doubt | None]:
    """Return the kind of distinct texts, and what speaks for another one."""
    bare = texts.str.strip()

    def fit(pattern: str) -> np.ndarray:
        return bare.str.fullmatch(pattern, flags=re.ASCII).to_numpy(bool)

    if len(texts) == 0:
        return "text", None
    numbers = fit(_DECIMAL)
    such = f"such as {texts.iloc[int(np.argmin(numbers))]!r}"  # no number, if there are any
    if fit(r"0\d*|[1-9]\d*").all() and not numbers.all():  # codes
        few = 0 < rows[~numbers].sum() < rows.sum() / 2  # that begin with 0
        return "text", Doubt(such, "ordered") if few else None
    for pattern, kind, certain in _GUESSES:
        if fit(pattern).all():
            digits = bare.str.replace(r"[eE].*", "", regex=True).str.count(r"\d").max()
            certain &= kind in ("integer", "date") or digits <= _MOST_DIGITS
            certain &= (bare == texts).all()
            kind = "ordered" if kind == "decimal" and digits > _MOST_DIGITS else kind
            return (kind, None) if certain else ("text", Doubt(such, kind))
    for what, are in (("numbers", numbers | fit(_COMMA)), ("dates", fit(ISO_DATE))):
        found, share = texts[~are], rows[are].sum() / rows.sum()
        if share > 1 / 2 or are.mean() > 1 / 2:
            if found.str.contains(r"\d").any():  # such as 85+ among ages
                return "text", Doubt(f"{what} and {found.iloc[0]!r}", "ordered")
            why = f"{rows[are].sum():,} of {rows.sum():,} values are {what}"
            return "text", Doubt(why, "text", found.tolist())
    return "text", None


def _natural(text: str) -> list:
    """Key that orders the numbers in texts by size, 9 before 10 before 85+."""
    parts = re.split(r"(\d+)", text, flags=re.ASCII)
    return [(int(part), "") if i % 2 else (0, part) for i, part in enumerate(parts)] + [(0, text)]


def _typed(texts: pd.Series, rows: np.ndarray, kind: str | Sequence[str]) -> pd.Series:
    """Return distinct texts as a kind: numbers, ordered categories, or the texts themselves."""
    if isinstance(kind, str) and kind not in ("ordered", "text"):
        texts = texts.str.strip()
    right = texts.str.fullmatch(_KINDS.get(str(kind), "(?s:.*)"), flags=re.ASCII).astype(bool)
    numbers = texts.where(right, "0")
    if kind == "decimal-comma":
        numbers = numbers.str.replace(".", "").str.replace(",", ".")
    if kind == "integer":
        right &= numbers.map(int).between(-(2**63), 2**63 - 1)
    elif kind in _NUMBERS:
        right &= numbers.map(Decimal) == numbers.map(float).map(repr).map(Decimal)
    elif not isinstance(kind, str):
        right, order = texts.isin(kind), kind
    elif kind == "ordered":
        order = sorted(texts, key=_natural)
    elif kind != "text":
        form = "ISO8601" if kind == "date" else kind
        times = pd.to_datetime(texts.where(right), format=form, errors="coerce", utc=True)
        right, order = times.notna(), texts.iloc[np.lexsort([texts, times])]
    if not right.all():
        few = "others, or have too many digits" if kind in _NUMBERS else "others"
        raise ColumnError(
            f"{texts.name!r} is not all {kind if isinstance(kind, str) else ' < '.join(kind)}: "
            f"{texts[~right][:5].tolist()} in {rows[~right].sum()} rows are {few}; mark missing "
            f"values by --na TEXT, or say --type {texts.name}=text; in Python na=[...], types=..."
        )
    if kind == "text":
        return texts
    if kind in _NUMBERS:
        return numbers.astype("int64") if kind == "integer" else Number.column(numbers)
    values = pd.Categorical(texts, [*dict.fromkeys(order)], ordered=True)
    return pd.Series(values, texts.index, name=texts.name)
