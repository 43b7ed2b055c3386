"""Columns of texts: whether they are numbers or dates, and what they are as such.

A csv says nothing about types. A column counts as numbers only if every value is written as a
number is: ``02139`` is text, and so is an identifier of twenty digits. Texts that may be numbers
or dates, but are not surely so, are in doubt: the user says which they are.
"""

from __future__ import annotations

import re
from decimal import Decimal

import pandas as pd

from anonpaper.errors import ColumnError
from anonpaper.hierarchy import ISO_DATE

__all__ = ["KINDS", "kind_of", "typed"]

# "-0", "+5", "007" and 19 digits are not written as an integer of 64 bits is
_INTEGER = r"(?:0|-?[1-9]\d{0,17})"
_DECIMAL = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_COMMA = r"-?(?:0|[1-9]\d*)(?:,\d+)?"
_ANY = r"(?s:.*)"
#: Kinds of columns as --type names them, and how their values are written.
KINDS = {
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
_MOST_DIGITS = 15  # a float of 64 bits tells all decimals of 15 digits apart


def kind_of(known: pd.Series) -> tuple[str, str | None]:
    """Say what a column's texts are; of text that may be something else, what that would be."""

    def all_are(pattern: str) -> bool:
        return bool(known.str.fullmatch(pattern, flags=re.ASCII).all())

    if len(known) == 0:
        return "text", None
    if all_are(_INTEGER):
        return "integer", None
    if all_are(_DECIMAL):
        digits = known.str.replace(r"[eE].*", "", regex=True).str.count(r"\d")
        precise = digits.max() <= _MOST_DIGITS and not _changed(known)
        return "decimal" if precise else "text", None
    if all_are(ISO_DATE):
        return "date", None
    if all_are(_DIGITS_AND_COMMAS) and known.str.contains(",").any():
        thousands = known.str.fullmatch(r"-?\d{1,3}(?:,\d{3})*").all()  # 1,234 may be 1234
        precise = known.str.count(r"\d").max() <= _MOST_DIGITS
        certain = all_are(_COMMA) and not thousands and precise
        return ("decimal-comma", None) if certain else ("text", "decimal-comma")
    if (known != (bare := known.str.strip())).any():  # with spaces around
        kind, in_doubt = kind_of(bare)
        return "text", in_doubt if kind == "text" else kind
    if all_are(_DAY_FIRST_OR_MONTH):
        return "text", "%d.%m.%Y"
    if all_are(_YEAR_FIRST):
        return "text", "%Y{0}%m{0}%d".format(re.match(_YEAR_FIRST, known.iloc[0])[1])
    return "text", None


def _changed(numbers: pd.Series) -> list[str]:
    """Return the numbers, each once, that a float of 64 bits does not keep, written by a point."""
    return [text for text in numbers.unique() if Decimal(text) != Decimal(repr(float(text)))]


def typed(texts: pd.Series, kind: str, written: dict) -> pd.Series:
    """Return a column of a kind: numbers, categories in their order, or the texts themselves."""
    if kind not in ("text", "ordered"):
        texts = texts.str.strip()
    known = texts.dropna()
    right = known.str.fullmatch(KINDS.get(kind, _ANY), flags=re.ASCII)
    if kind == "date" or kind not in KINDS:
        form = "ISO8601" if kind == "date" else kind
        times = pd.to_datetime(known[right], format=form, errors="coerce", utc=True)
        right &= times.notna().reindex(known.index, fill_value=False)
    plain = texts
    if kind == "decimal-comma":
        plain = texts.str.replace(".", "").str.replace(",", ".")
    if kind.startswith("decimal") and (changed := _changed(plain[known.index[right]])):
        raise ColumnError(
            f"{texts.name!r} has numbers of more digits than are kept of a decimal, such as "
            f"{changed[:5]}: --type {texts.name}=text keeps them"
        )
    if not right.all():
        wrong = known[~right].unique()[:5].tolist()
        raise ColumnError(
            f"{texts.name!r} is not all {kind}: {wrong} in {int((~right).sum())} rows; "
            "--na TEXT says what means a missing value, --type what the column is"
        )
    if kind == "text":
        return texts
    if kind == "integer":
        return texts.astype("int64" if len(known) == len(texts) else "Int64")
    if kind == "decimal":  # of several ways to write one number the shortest is kept
        by_length = known.loc[known.str.len().sort_values(ascending=False).index]
        written[texts.name] = dict(zip(by_length.astype("float64"), by_length, strict=True))
    if kind.startswith("decimal"):
        return plain.astype("float64")
    if kind == "ordered":
        categories = sorted(known.unique())
    else:
        order = pd.DataFrame({"time": times, "text": known}).sort_values(["time", "text"])
        categories = order["text"].unique()
    return pd.Series(pd.Categorical(texts, categories, ordered=True), name=texts.name)
