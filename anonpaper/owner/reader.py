"""Reads tables from files without changing a value, and finds the kinds of text columns.

A csv has no types. A column holds numbers only if every value is written as a number: ``02139``
is text, and so is an identifier of twenty digits. A column that may hold numbers or dates is in
doubt, and the user decides. Only empty fields, and texts that the user lists, are missing values;
``NA`` is a value. Published values are written as they were read, ``1.50`` for 1.5, except that
a decimal comma becomes a point.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import IO

import pandas as pd

from anonpaper.errors import ColumnError, EmptyTableError, FileError, ParameterError, needs
from anonpaper.files import named_by_user
from anonpaper.hierarchy import ISO_DATE
from anonpaper.publish.world import PARQUET

try:
    import lzma
except ImportError:  # some builds of Python lack it, as that for browsers
    lzma = None

__all__ = ["STANDARD_STREAM", "Table", "as_written", "kind_of", "read_table", "typed"]

#: As a file name: standard input or output.
STANDARD_STREAM = "-"


@dataclass(frozen=True)
class Table:
    """A table that was read from a file, with rows numbered from 0.

    ``delimiter`` separated its fields (a comma for parquet). By column, ``written`` has the
    original text of each decimal number, ``kinds`` the kind it was read as, and ``in_doubt`` the
    kind that --type could choose for a text column.
    """

    frame: pd.DataFrame
    delimiter: str = ","
    written: dict[str, dict[float, str]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    in_doubt: dict[str, str] = field(default_factory=dict)

    def described(self) -> Iterator[str]:
        """Describe how each column was read, with example values; for the table's owner only."""
        for name, column in self.frame.items():
            known = column.dropna()
            values = known.astype(str).unique() if known.dtype == object else known.unique()
            kind = self.kinds.get(name) or pd.api.types.infer_dtype(known, skipna=True)
            in_doubt = self.in_doubt.get(name)
            doubt = f" (or is it --type {name}={in_doubt}?)" if in_doubt else ""
            examples = ", ".join(str(value)[:40] for value in values[:3])
            point = " (published with a point)" * (kind == "decimal-comma")
            yield (
                f"{name}: {kind}{point}{doubt}, {len(values):,} distinct, "
                f"{len(column) - len(known):,} missing, such as {examples or 'none'}"
            )


def read_table(
    name: str, *, delimiter=None, encoding="utf-8", missing_texts=(), types=None
) -> Table:
    """Read parquet (.parquet, .pq), otherwise a csv (also .gz, .bz2, .xz; - is standard input)."""
    types = dict(types or {})
    for kind in types.values():
        if kind not in _KINDS and "%" not in kind:
            raise ParameterError(
                f"--type: unknown type {kind!r}: use {', '.join(_KINDS)} or a form like %d.%m.%Y"
            )
    if name.lower().endswith(PARQUET):
        frame, delimiter = _read_parquet(name), ","
        columns = {column: frame[column].astype("string").astype(object) for column in types
                   if column in frame}  # fmt: skip
    else:
        if delimiter is None:
            delimiter = "\t" if ".tsv" in Path(name).suffixes else ","
        with named_by_user(name):
            header, rows = _read_cells(name, delimiter, encoding)
        if doubled := sorted({column for column in header if header.count(column) > 1}):
            raise ColumnError(f"{name} has several columns named {doubled}: rename them")
        frame = pd.DataFrame(rows, columns=header, dtype=object)
        frame = columns = frame.mask(frame.isin({"", *missing_texts}))
    if unknown := [column for column in types if column not in frame]:
        raise ColumnError(f"{name} has no columns {unknown}; it has {list(frame)}")
    if len(frame) == 0:
        raise EmptyTableError(f"{name} has no rows below its header")
    table = Table(frame, delimiter)
    for column, texts in columns.items():
        kind, in_doubt = (types[column], None) if column in types else kind_of(texts.dropna())
        try:
            frame[column] = typed(texts, kind, table.written)
        except ColumnError:
            if column in types:
                raise
            kind, in_doubt = "text", kind
        table.kinds[column] = kind
        if in_doubt:
            table.in_doubt[column] = in_doubt
    return table


def _read_parquet(name: str) -> pd.DataFrame:
    with needs("parquet"):
        import pyarrow
    try:
        with open(name, "rb") as stream:  # a name is a file, never a web address
            frame = pd.read_parquet(stream)
    except OSError as error:
        raise FileError(f"{name}: {error.strerror or error}") from None
    except (pyarrow.ArrowException, ValueError) as error:
        raise FileError(f"{name} is not a parquet file: {error}") from None
    named = [level for level in frame.index.names if level is not None]
    frame = frame.reset_index(drop=not named)
    return frame.set_axis([str(column) for column in frame.columns], axis=1)


def _read_cells(name: str, delimiter: str, encoding: str) -> tuple[list[str], list[list[str]]]:
    """Read a csv: its header and its rows, every field as text."""
    csv.field_size_limit(2**31 - 1)  # as long as a field can be
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    try:
        with _opened(name, codec) as stream:
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            header = next(filter(None, reader), None)
            if header is None:
                raise FileError(f"{name} is empty: the first line must name the columns")
            rows = []
            for row in reader:
                if len(row) == len(header):
                    rows.append(row)
                elif row:
                    likely = [sign for sign in ";\t|," if len(header) == 1 and sign in header[0]]
                    hint = f": is it --delimiter {likely[0]!r}?" if likely else ""
                    raise FileError(
                        f"{name}, line {reader.line_num}: {len(row)} fields, but the header has "
                        f"{len(header)}{hint}"
                    )
                elif len(header) == 1:  # a blank line is an empty field
                    rows.append([""])
    except UnicodeError:
        raise FileError(f"{name} is not encoded in {encoding}; try --encoding cp1252") from None
    except csv.Error as error:
        raise FileError(f"{name}, line {reader.line_num}: {error}") from None
    except (LookupError, EOFError, zlib.error, getattr(lzma, "LZMAError", EOFError)) as error:
        raise FileError(f"{name}: {error}") from None  # an unknown encoding, a damaged archive
    return header, rows


def _opened(name: str, encoding: str) -> IO[str]:
    if name == STANDARD_STREAM:
        return io.TextIOWrapper(sys.stdin.buffer, encoding=encoding, newline="")
    openers = {".gz": gzip.open, ".bz2": bz2.open, ".xz": getattr(lzma, "open", open)}
    opener = openers.get(Path(name).suffix.lower(), open)
    return opener(name, "rt", encoding=encoding, newline="")


def as_written(frame: pd.DataFrame, table: Table) -> pd.DataFrame:
    """Return a published frame with its decimal numbers written as in the table that was read."""
    frame = frame.copy()
    for name in frame.select_dtypes(exclude="int").columns.intersection(list(table.written)):
        texts = table.written[name]
        texts = texts | {str(number): text for number, text in texts.items()}
        frame[name] = [texts.get(value, value) for value in frame[name]]
    return frame


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
    """Return the distinct numbers that a 64-bit float cannot hold exactly."""
    return [text for text in numbers.unique() if Decimal(text) != Decimal(repr(float(text)))]


def typed(texts: pd.Series, kind: str, written: dict) -> pd.Series:
    """Return a column as a kind: numbers, ordered categories, or the texts themselves."""
    if kind not in ("text", "ordered"):
        texts = texts.str.strip()
    known = texts.dropna()
    right = known.str.fullmatch(_KINDS.get(kind, _ANY), flags=re.ASCII)
    if kind == "date" or kind not in _KINDS:
        form = "ISO8601" if kind == "date" else kind
        times = pd.to_datetime(known[right], format=form, errors="coerce", utc=True)
        right &= times.notna().reindex(known.index, fill_value=False)
    plain = texts
    if kind == "decimal-comma":
        plain = texts.str.replace(".", "").str.replace(",", ".")
    if kind.startswith("decimal") and (changed := _changed(plain[known.index[right]])):
        raise ColumnError(
            f"{texts.name!r} has numbers with too many digits for a decimal, such as "
            f"{changed[:5]}: --type {texts.name}=text keeps them"
        )
    if not right.all():
        wrong = known[~right].unique()[:5].tolist()
        raise ColumnError(
            f"{texts.name!r} is not all {kind}: {wrong} in {int((~right).sum())} rows; "
            "use --na TEXT for a text that means a missing value, or --type for another kind"
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
