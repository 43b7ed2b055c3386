"""The kind of a column of texts: numbers, dates, ordered texts, or in doubt.

It holds numbers only if every value is written as a number: ``02139`` is text.
"""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.tseries.api import guess_datetime_format

from anonpaper.coding import Number
from anonpaper.errors import ColumnError, ParameterError, check_sequence, is_among
from anonpaper.hierarchy import ISO_DATE, quoted

__all__ = ["Doubt", "check_kinds", "in_doubt", "read_as"]

#: Kinds of columns for --type, and how their values are written.
_KINDS = {
    "integer": r"[+-]?\d{1,19}",
    "decimal": r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?",
    "decimal-comma": r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?",
    "date": ISO_DATE,
    **dict.fromkeys(["ordered", "text"], r"(?s:.*)"),
}
_NUMBERS = ("decimal", "integer", "decimal-comma")
#: How all values of a column are written, unless its kind is in doubt: not -0, +5 or 007.
_CERTAIN = {
    "integer": r"0|-?[1-9]\d{0,18}",
    # with 15 digits at most, which a 64-bit float distinguishes
    "decimal": r"(?!-?(?:\.?\d){16})-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?",
    "date": ISO_DATE,
    "decimal-comma": r"(?!-?(?:,?\d){16})-?(?:0|[1-9]\d*)(?:,\d+)?",
}
_THOUSANDS = r"-?\d{1,3}(?:,\d{3})*"  # 1,234 may be 1234
#: Texts that the numbers in them may not order: 1'000 and 900, -5 kg, 31.12.45.
_UNORDERED = r"\d[.,'’_\s]\d|(?<!\w)[-−]\d|(?<!\d)\d{1,2}[/-]\d{1,2}[/-]\d"


class Doubt(NamedTuple):
    """Why a column may be more than text, kinds that read it, and texts that may be missing."""

    why: str
    kinds: Sequence[str]
    na: Sequence[str] = ()


def check_kinds(types: Mapping[str, str | Sequence[str]], na: Sequence[str] = ()) -> None:
    """Raise ParameterError for an unknown kind, or texts of missing values that are no texts."""
    check_sequence("na", na, str)
    if not isinstance(types, Mapping):
        raise ParameterError(f"types maps columns to their kinds, got {types!r}")
    for kind in types.values():
        known = isinstance(kind, list | tuple) or is_among(kind, [*_KINDS]) or "%" in str(kind)
        if not known or "%y" in str(kind):
            use = f"use {', '.join(_KINDS)} or a form like %d.%m.%Y, where %y is of no use"
            told = f"{use}: two digits of a year do not say the century"
            raise ParameterError(f"unknown type {kind!r}: {told}")


def read_as(column: pd.Series, kind: object, na: Sequence[str], counts=None) -> tuple:
    """Return a column as a kind, or as what its texts are; the kind, and a doubt about it.

    Empty texts and those in `na` are missing. `counts` says how many rows each row stands for.
    """
    place, distinct = pd.factorize(column)
    texts = pd.Series(distinct, name=column.name).astype("string").astype(object)
    texts = texts[~texts.isin({"", *na})]
    rows = np.bincount(place + 1, counts, len(distinct) + 1)[1:][texts.index].astype(int)
    if kind is None:
        kind, values, doubt = _guess(texts, rows)
    else:
        values, doubt = _typed(texts, rows, kind), None
    taken = (values.astype("Int64") if values.dtype == "int64" else values).reindex(place)
    taken = taken if taken.hasnans else taken.astype(values.dtype)
    return taken.set_axis(column.index), kind, doubt


def in_doubt(doubts: Mapping[str, Doubt]) -> ColumnError:
    """Return the error on quasi-identifiers that may be more than text, with what to pass."""
    told = []
    for name, (why, kinds, na) in doubts.items():
        types = [f"--type {shlex.quote(quoted(f'{name}={kind}'))}" for kind in [*kinds, "text"]]
        missing = " ".join(f"--na {shlex.quote(text)}" for text in na)
        ways = [f"{missing} {way}".strip() for way in types[:-1] or [""] * bool(na)] + types[-1:]
        told.append(f"{name!r} may be more than text, {why}: `{'` or `'.join(ways)}`")
    types = {name: [*d.kinds, "text"][0] for name, d in doubts.items() if d.kinds or not d.na}
    na = [text for doubt in doubts.values() for text in doubt.na]
    return ColumnError(f"{'; '.join(told)}; in Python types={types}" + f", na={na}" * bool(na))


def _guess(texts: pd.Series, rows: np.ndarray) -> tuple[str, pd.Series, Doubt | None]:
    """Return the kind of distinct texts, their values, and what speaks for another kind.

    It is in doubt if most texts are dates, or have a number and the same words: 12 kg, 5-9, 900 €.
    """

    def fit(pattern: str) -> np.ndarray:
        return texts.str.fullmatch(pattern, flags=re.ASCII).to_numpy(bool)

    has = texts.str.contains(r"\d").to_numpy(bool)
    if not has.any():
        return "text", texts, None
    are = {kind: fit(pattern) for kind, pattern in _CERTAIN.items()}
    for kind, found in are.items():
        if found.all() and not (kind == "decimal-comma" and fit(_THOUSANDS).all()):
            with suppress(ColumnError):  # such as 2024-02-30
                return kind, _typed(texts, rows, kind), None
    kinds = _readable(texts[has], rows[has])
    words = np.zeros(has.sum()) if kinds else _words(texts[has]).to_numpy()
    counts = pd.DataFrame({"rows": rows, "texts": 1}).mul(~fit(r"0\d+"), axis=0)  # no codes
    if (counts[has].groupby(words).sum().max() * 2 <= [rows.sum(), len(rows)]).all():
        return "text", texts, None
    sure = np.logical_or.reduce([*are.values()])
    if has.all():
        such = max(texts if sure.all() else texts[~sure], key=len)
        return "text", texts, Doubt(f"such as {such!r}", kinds)
    what = "dates" if are["date"].any() else "numbers"
    what = what if sure[has].all() else f"like {texts[has].iloc[0]!r}"
    why = f"{rows[has].sum():,} of {rows.sum():,} values are {what}"
    kinds = kinds if (doubt := _guess(texts[has], rows[has])[2]) else []
    others = texts[~has].tolist() if kinds or not doubt else []
    return "text", texts, Doubt(why, kinds, others)


def _words(texts: pd.Series) -> pd.Series:
    return texts.str.replace(r"[\W\d_]+", " ", regex=True).str.strip()


def _readable(texts: pd.Series, rows: np.ndarray) -> list[str]:
    """Return the likeliest kinds, other than text, as which all texts can be read."""
    with warnings.catch_warnings(action="ignore"):
        forms = [guess_datetime_format(texts.iloc[0].strip(), dayfirst=day) for day in (1, 0)]
    forms = [f for f in dict.fromkeys(forms) if re.search("%Y.*%m.*%d|%[dmb].*%Y", f or "")]
    numbers = [] if texts.str.contains(r"^0\d").any() else _NUMBERS  # or codes
    found = []
    for kind in (*numbers, "date", *forms):
        if {*found, kind} <= {*forms} or not found:
            with suppress(ColumnError):
                for some in (slice(100), slice(None)):  # few texts are enough to fail
                    _typed(texts[some], rows[some], kind)
                found.append(kind)
    sortable = _words(texts).nunique() == 1 and not texts.str.contains(_UNORDERED).any()
    return found or ["ordered"] * sortable


def _natural(text: str) -> list:
    """Key that orders the numbers in texts by size, <5 before 5 before 10 before 85+."""
    parts = re.split(r"(\d+)", re.sub(r"^\W+", "", text), flags=re.ASCII)
    key = [(int(part), "") if i % 2 else (0, part) for i, part in enumerate(parts)]
    return [*key, (0, text[:1].strip("<≤")), (0, text)]


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
            f"{sorted(texts[~right])[:5]} in {rows[~right].sum()} rows are {few}; mark missing "
            f"values by --na TEXT, or say --type {texts.name}=text; in Python types=..."
        )
    if kind == "text":
        return texts
    if kind in _NUMBERS:
        return numbers.astype("int64") if kind == "integer" else Number.column(numbers)
    values = pd.Categorical(texts, [*dict.fromkeys(order)], ordered=True)
    return pd.Series(values, texts.index, name=texts.name)
