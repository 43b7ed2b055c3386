"""The kind of a column of texts: numbers, dates, ordered texts, or in doubt.

A csv has no types. A column holds numbers only if every value is written as a number: ``02139``
is text, and so is an identifier of twenty digits. A column that may hold numbers or dates is in
doubt, and the user decides.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

import pandas as pd

from anonpaper.coding import Number
from anonpaper.errors import ColumnError, ParameterError, check_choice, check_sequence
from anonpaper.hierarchy import ISO_DATE
from anonpaper.roles import HOW_MISSING

__all__ = ["Doubt", "check_kinds", "check_reading", "in_doubt", "read_as"]

_INTEGER = r"(?:0|-?[1-9]\d{0,18})"  # not "-0", "+5" or "007"
_DECIMAL = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_COMMA = r"-?(?:0|[1-9]\d*)(?:,\d+)?"
_ANY = r"(?s:.*)"
#: Kinds of columns for --type, and how their values are written.
_KINDS = {
    "integer": r"[+-]?\d{1,19}",
    "decimal": r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?",
    "decimal-comma": r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?",
    "date": ISO_DATE,
    "ordered": _ANY,
    "text": _ANY,
}
#: Texts that may be more, with the kind that they may have.
_MAY_BE = {
    r"\d{1,2}[./-]\d{1,2}[./-]\d{4}(?: .*)?": "%d.%m.%Y",
    r"\d{4}\.\d{1,2}\.\d{1,2}(?:[T ].*)?": "%Y.%m.%d",
    r"\d{4}/\d{1,2}/\d{1,2}(?:[T ].*)?": "%Y/%m/%d",
    r"\d{4}-\d{1,2}-\d{1,2}(?:[T ].*)?": "%Y-%m-%d",
    r"\d{4}-\d{2}": "%Y-%m",
    r"\d{1,2}:\d{2}": "%H:%M",
    r"\d{1,2}:\d{2}:\d{2}": "%H:%M:%S",
    r"\d{1,2}:\d{2}:\d{2}\.\d+": "%H:%M:%S.%f",
    r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?": "decimal",
    r"[$€£¥<>≤≥~#]?=?\s?[+-]?\d[\d.,]*\s?[$€£¥%‰°+-]?": "ordered",  # $900, 12%
}
_SHORT_YEAR = r"\d{1,2}[./-]\d{1,2}[./-]\d{2}(?: .*)?"
_MOST_DIGITS = 15  # a 64-bit float distinguishes all decimals of 15 digits


class Doubt(NamedTuple):
    """Why a column may be more than text, the kind to choose, and texts that may be missing."""

    why: str
    kind: str
    na: tuple = ()


def check_kinds(types: Mapping[str, str | Sequence[str]]) -> None:
    """Raise ParameterError for an unknown kind of a column."""
    if not isinstance(types, Mapping):
        raise ParameterError(f"types maps columns to their kinds, got {types!r}")
    for name, kind in types.items():
        if isinstance(kind, list | tuple):
            continue
        if not isinstance(kind, str):
            raise ParameterError(f"the type of {name!r} is a kind or a list of values: {kind!r}")
        if "%y" in kind.replace("%%", ""):
            raise ParameterError(
                f"{name}={kind}: two digits of a year do not say the century: write years of four "
                f"digits into the file, for %Y, or keep the texts by --type {name}=text"
            )
        if kind not in _KINDS and "%" not in kind:
            raise ParameterError(
                f"unknown type {kind!r}: use {', '.join(_KINDS)} or a form like %d.%m.%Y"
            )


def check_reading(types: object, na: object, missing: object, delimiter: object) -> None:
    """Raise ParameterError for an option of reading that is of another type than documented."""
    check_kinds({} if types is None else types)
    check_sequence("na", na, str)
    check_choice("missing", missing, HOW_MISSING)
    if not isinstance(delimiter, str | None):
        raise ParameterError(f"delimiter is a text, got {delimiter!r}")


def read_as(
    texts: pd.Series, kind: str | Sequence[str] | None
) -> tuple[pd.Series, str | list[str], Doubt | None]:
    """Return a column of texts as a kind, or as what they are; the kind, and a doubt about it."""
    if kind is not None:
        return _typed(texts, kind), kind if isinstance(kind, str) else list(kind), None
    kind, doubt = _kind_of(texts.dropna())
    try:
        return _typed(texts, kind), kind, doubt
    except ColumnError:  # such as 2020-02-30, which only looks like a date
        return texts, "text", Doubt("not all are dates", kind)


def in_doubt(doubts: Mapping[str, Doubt]) -> ColumnError:
    """Return the error on quasi-identifiers that may be more than text, with what to pass."""
    told, na = [], []
    for name, doubt in doubts.items():
        kind, text = (f"`--type {shlex.quote(f'{name}={one}')}`" for one in (doubt.kind, "text"))
        if doubt.na:
            missing = " ".join(f"--na {shlex.quote(text)}" for text in doubt.na)
            told.append(
                f"{name!r}: {doubt.why}: `{missing}` if that means a missing value, or {kind}"
            )
            na += doubt.na
        else:
            keep = f", and {text} keeps the texts" * (doubt.kind != "text")
            told.append(f"{name!r} may be more than text ({doubt.why}): {kind} reads it so{keep}")
    python = (
        f"types={ {name: doubt.kind for name, doubt in doubts.items()} }" + f", na={na}" * bool(na)
    )
    return ColumnError(f"{'; '.join(told)}; in Python {python}")


def _kind_of(known: pd.Series) -> tuple[str, Doubt | None]:
    """Return the kind of a column of texts, and what speaks for another one."""

    def fit(pattern: str) -> pd.Series:
        return known.str.fullmatch(pattern, flags=re.ASCII).astype(bool)

    if len(known) == 0:
        return "text", None
    such = f"such as {known.iloc[0]!r}"
    if fit(_INTEGER).all() and known.map(int).between(-(2**63), 2**63 - 1).all():
        return "integer", None
    numbers = fit(_DECIMAL)
    if numbers.all():
        digits = known.str.replace(r"[eE].*", "", regex=True).str.count(r"\d")
        if _changed(known):
            return "text", None
        return (
            ("decimal", None) if digits.max() <= _MOST_DIGITS else ("text", Doubt(such, "decimal"))
        )
    if fit(ISO_DATE).all():
        return "date", None
    such = f"such as {known[~numbers].iloc[0]!r}"  # the first that is no number
    if fit(r"-?\d[\d.]*(?:,\d+)*").all() and known.str.contains(",").any():
        thousands = fit(r"-?\d{1,3}(?:,\d{3})*").all()  # 1,234 may be 1234
        precise = known.str.count(r"\d").max() <= _MOST_DIGITS
        certain = fit(_COMMA).all() and not thousands and precise
        return ("decimal-comma", None) if certain else ("text", Doubt(such, "decimal-comma"))
    if (known != (bare := known.str.strip())).any():  # with spaces around
        kind, doubt = _kind_of(bare)
        return "text", doubt if kind == "text" else Doubt(f"{such}, with spaces", kind)
    if fit(r"0\d*|[1-9]\d*").all():  # codes, some of which begin with 0
        others = known[~numbers]
        return "text", Doubt(such, "ordered") if len(others) < len(known) / 2 else None
    for pattern, kind in _MAY_BE.items():
        if fit(pattern).all():
            return "text", Doubt(such, kind)
    if fit(_SHORT_YEAR).all():
        return "text", Doubt(f"dates {such} without a century; write years of four digits", "text")
    for what, are in (("numbers", numbers | fit(_COMMA)), ("dates", fit(ISO_DATE))):
        values, found = set(known[are]), known[~are].unique()
        if are.sum() > len(known) / 2 or len(values) > len(found):
            others = [text for text in found if not re.search(r"\d", text)]
            if len(others) < len(found):  # such as 85+ among ages
                return "text", Doubt(f"numbers and {found[0]!r}", "ordered")
            shown = ", ".join(f"`{text}`" for text in others[:5]) + " ..." * (len(others) > 5)
            why = f"{are.sum():,} of {len(known):,} values are {what}, {shown} "
            why += "is not" if len(others) == 1 else "are not"
            return "text", Doubt(why, "text", tuple(others))
    return "text", None


def _natural(text: str) -> list:
    """Key that orders the numbers in texts by size, 9 before 10 before 85+."""
    parts = re.split(r"(\d+)", text, flags=re.ASCII)
    return [(int(part), "") if i % 2 else (0, part) for i, part in enumerate(parts)] + [(0, text)]


def _changed(numbers: pd.Series) -> list[str]:
    """Return the distinct numbers that a 64-bit float cannot hold exactly."""
    return [text for text in numbers.unique() if Decimal(text) != Decimal(repr(float(text)))]


def _typed(texts: pd.Series, kind: str | Sequence[str]) -> pd.Series:
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
            "that mean a missing value by --na TEXT, or another kind by --type NAME=KIND; in "
            "Python na=[...], types={...}"
        )
    if kind == "integer":
        if not known.map(int).between(-(2**63), 2**63 - 1).all():
            raise ColumnError(f"{texts.name!r} has numbers of more than 64 bits: read it as text")
        return texts.astype("int64" if len(known) == len(texts) else "Int64")
    if not listed and kind.startswith("decimal"):
        if kind == "decimal-comma":
            texts = texts.str.replace(".", "").str.replace(",", ".")
        if changed := _changed(texts.dropna()):
            raise ColumnError(
                f"{texts.name!r} has numbers with too many digits for a decimal, such as "
                f"{changed[:5]}: --type {texts.name}=text keeps them"
            )
        return Number.column(texts)
    categories = kind if listed else sorted(known.unique(), key=_natural)
    if is_date:
        order = pd.DataFrame({"time": times, "text": known}).sort_values(["time", "text"])
        categories = order["text"].unique()
    return pd.Series(pd.Categorical(texts, [*categories], ordered=True), name=texts.name)
