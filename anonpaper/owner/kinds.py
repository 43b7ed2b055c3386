"""What the texts of a column are: numbers, dates, ordered texts, or in doubt.

A csv has no types. A column holds numbers only if every value is written as a number: ``02139``
is text, and so is an identifier of twenty digits. A column that may hold numbers or dates is in
doubt, and the user decides.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from decimal import Decimal

import pandas as pd

from anonpaper.errors import ColumnError, ParameterError, check_sequence
from anonpaper.hierarchy import ISO_DATE

__all__ = ["check_kinds", "in_doubt", "kind_of", "typed"]

# not "-0", "+5", "007" or 19 digits, which a 64-bit integer would not be written as
_INTEGER = r"(?:0|-?[1-9]\d{0,17})"
_DECIMAL = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_COMMA = r"-?(?:0|[1-9]\d*)(?:,\d+)?"
_ANY = r"(?s:.*)"
# Kinds of columns for --type, and how their values are written.
_KINDS = {
    "integer": r"[+-]?\d{1,18}",
    "decimal": r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?",
    "decimal-comma": r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?",
    "date": ISO_DATE,
    "ordered": _ANY,
    "text": _ANY,
}
_DIGITS_AND_COMMAS = r"-?\d[\d.]*(?:,\d+)*"
_DAY_FIRST_OR_MONTH = r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}(?: .*)?"
_YEAR_FIRST = r"\d{4}([./-])\d{1,2}[./-]\d{1,2}(?:[T ].*)?"
_MOST_DIGITS = 15  # a 64-bit float distinguishes all decimals of 15 digits


def check_kinds(types: Mapping[str, str | Sequence[str]]) -> None:
    """Raise ParameterError for an unknown kind of a column."""
    for kind in types.values():
        if not isinstance(kind, str):
            check_sequence("types", kind)
        elif kind not in _KINDS and "%" not in kind:
            raise ParameterError(
                f"unknown type {kind!r}: use {', '.join(_KINDS)} or a form like %d.%m.%Y"
            )


def kind_of(known: pd.Series) -> tuple[str, str | None]:
    """Return the kind of a column of texts; for text in doubt, also the other possible kind."""

    def all_are(pattern: str) -> bool:
        return bool(known.str.fullmatch(pattern, flags=re.ASCII).all())

    if len(known) == 0:
        return "text", None
    if all_are(_INTEGER):
        return "integer", None
    if all_are(_DECIMAL):
        digits = known.str.replace(r"[eE].*", "", regex=True).str.count(r"\d")
        if _changed(known):
            return "text", None
        return ("decimal", None) if digits.max() <= _MOST_DIGITS else ("text", "decimal")
    if all_are(ISO_DATE):
        return "date", None
    if all_are(_DIGITS_AND_COMMAS) and known.str.contains(",").any():
        thousands = known.str.fullmatch(r"-?\d{1,3}(?:,\d{3})*").all()  # 1,234 may be 1234
        precise = known.str.count(r"\d").max() <= _MOST_DIGITS
        certain = all_are(_COMMA) and not thousands and precise
        return ("decimal-comma", None) if certain else ("text", "decimal-comma")
    if (known != (bare := known.str.strip())).any():  # with spaces around
        kind, other = kind_of(bare)
        return "text", other if kind == "text" else kind
    if all_are(_DAY_FIRST_OR_MONTH):
        return "text", "%d.%m.%Y"
    if all_are(_YEAR_FIRST):
        return "text", "%Y{0}%m{0}%d".format(re.match(_YEAR_FIRST, known.iloc[0])[1])
    numbers = known.str.fullmatch(_DECIMAL, flags=re.ASCII)
    if 2 * numbers.sum() > len(known) and known[~numbers].str.contains(r"\d").all():
        return "text", "ordered"  # such as 85+ among ages
    return "text", None


def in_doubt(doubts: Mapping[str, str]) -> ColumnError:
    """Return the error on quasi-identifiers that may be more than text, with what to pass."""
    options = " ".join(shlex.quote(f"--type={name}={kind}") for name, kind in doubts.items())
    return ColumnError(
        f"{[*doubts]} may be more than text: types={doubts} ({options}) reads them so, and the "
        "kind text keeps their texts"
    )


def _natural(text: str) -> list:
    """Key that orders the numbers in texts by size, 9 before 10 before 85+."""
    parts = re.split(r"(\d+)", text, flags=re.ASCII)
    return [(int(part), "") if i % 2 else (0, part) for i, part in enumerate(parts)] + [(0, text)]


def _changed(numbers: pd.Series) -> list[str]:
    """Return the distinct numbers that a 64-bit float cannot hold exactly."""
    return [text for text in numbers.unique() if Decimal(text) != Decimal(repr(float(text)))]


def typed(texts: pd.Series, kind: str | Sequence[str]) -> pd.Series:
    """Return a column as a kind: numbers, ordered categories, or the texts themselves."""
    if kind == "text":
        return texts
    listed = not isinstance(kind, str)
    if not listed and kind != "ordered":
        texts = texts.str.strip()
    known = texts.dropna()
    right = known.isin(kind) if listed else known.str.fullmatch(_KINDS.get(kind, _ANY), re.ASCII)
    if is_date := not listed and kind not in ("integer", "decimal", "decimal-comma", "ordered"):
        form = "ISO8601" if kind == "date" else kind
        times = pd.to_datetime(known[right], format=form, errors="coerce", utc=True)
        right &= times.notna().reindex(known.index, fill_value=False)
    if not right.all():
        raise ColumnError(
            f"{texts.name!r} is not all {' < '.join(kind) if listed else kind}: "
            f"{known[~right].unique()[:5].tolist()} in {int((~right).sum())} rows; name texts "
            "that mean a missing value by na=[...] (--na TEXT), or another kind by types={...} "
            "(--type NAME=KIND)"
        )
    if kind == "integer":
        return texts.astype("int64" if len(known) == len(texts) else "Int64")
    if not listed and kind.startswith("decimal"):
        if kind == "decimal-comma":
            texts = texts.str.replace(".", "").str.replace(",", ".")
        if changed := _changed(texts.dropna()):
            raise ColumnError(
                f"{texts.name!r} has numbers with too many digits for a decimal, such as "
                f"{changed[:5]}: --type {texts.name}=text keeps them"
            )
        return texts.astype("float64")
    categories = kind if listed else sorted(known.unique(), key=_natural)
    if is_date:
        order = pd.DataFrame({"time": times, "text": known}).sort_values(["time", "text"])
        categories = order["text"].unique()
    return pd.Series(pd.Categorical(texts, [*categories], ordered=True), name=texts.name)
