"""Tables in files: read without changing a value, never written over an input.

A csv says nothing about types. A column counts as numbers only if every value is written as a
number is: ``02139`` is text, and so is an identifier of twenty digits. ``NA``, ``None`` and their
like are values; missing is the empty field and what the user says besides. What is published as
it was is written as it was, ``1.50`` for 1.5.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pandas as pd

from anonpaper.errors import ColumnError, EmptyTableError, FileError
from anonpaper.publish.world import check_place

__all__ = ["STANDARD_STREAM", "Table", "as_written", "check_output", "read_table"]

#: Stands for standard input or output in place of a file's name.
STANDARD_STREAM = "-"

# "-0", "+5", "007" and 19 digits are not written as an integer of 64 bits is
_INTEGER = r"(?:0|-?[1-9]\d{0,17})"
_DECIMAL = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_DATE = r"\d{4}-\d{2}-\d{2}"
_MOST_DIGITS = 15  # a float of 64 bits tells all decimals of 15 digits apart
_PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Table:
    """A table that was read from a file.

    Attributes
    ----------
    frame : pandas.DataFrame
        The table; rows are numbered from 0.
    delimiter : str
        What separated its fields; a comma for parquet.
    written : dict
        Per column of decimal numbers, how each number was written.
    """

    frame: pd.DataFrame
    delimiter: str = ","
    written: dict[str, dict[float, str]] = field(default_factory=dict)


def read_table(
    name: str,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    missing_texts: Iterable[str] = (),
    text: Sequence[str] = (),
    ordered: Sequence[str] = (),
) -> Table:
    """Read a csv or parquet file.

    Parameters
    ----------
    name : str
        The file; ``"-"`` is a csv on standard input. What ends in ``.parquet`` or ``.pq`` is
        parquet, all else csv, which may be compressed (``.gz``, ``.bz2``, ``.xz``).
    delimiter : str, optional
        Between the fields of a csv; by default a tab in files that end in ``.tsv``, else a comma.
    encoding : str
        Of a csv; a byte order mark is skipped.
    missing_texts : iterable of str
        Texts that mean a missing value, besides the empty field.
    text, ordered : sequence of column names
        Columns of a csv that are text though all their values look like numbers, and text whose
        alphabetical order means something. Dates such as 2024-12-31 are ordered anyway.

    Raises
    ------
    FileError
        The file is not there, not readable, or not of the form that its name says.
    ColumnError
        Two columns have one name, or `text` or `ordered` names a column that is not there.
    EmptyTableError
        The file has no rows.
    """
    if name.lower().endswith(_PARQUET):
        table = Table(_read_parquet(name))
    else:
        if delimiter is None:
            delimiter = "\t" if ".tsv" in Path(name).suffixes else ","
        table = _read_csv(name, delimiter, encoding, {"", *missing_texts}, {*text}, {*ordered})
    unknown = [column for column in [*text, *ordered] if column not in table.frame.columns]
    if unknown:
        raise ColumnError(f"{name} has no columns {unknown}; it has {list(table.frame.columns)}")
    if len(table.frame) == 0:
        raise EmptyTableError(f"{name} has no rows below its header")
    return table


def _read_parquet(name: str) -> pd.DataFrame:
    import pyarrow

    try:
        with open(name, "rb") as stream:  # a name is a file's, never an address
            frame = pd.read_parquet(stream)
    except OSError as error:
        raise FileError(f"{name}: {error.strerror or error}") from None
    except (pyarrow.ArrowException, ValueError) as error:
        raise FileError(f"{name} is not a parquet file: {error}") from None
    named = [level for level in frame.index.names if level is not None]
    frame = frame.reset_index(drop=not named)
    return frame.set_axis([str(column) for column in frame.columns], axis=1)


def _read_csv(name, delimiter, encoding, missing, text, ordered) -> Table:
    header, rows = _read_cells(name, delimiter, encoding)
    doubled = sorted({column for column in header if header.count(column) > 1})
    if doubled:
        raise ColumnError(f"{name} has several columns of the name {doubled}")
    cells = pd.DataFrame(rows, columns=header, dtype=object)
    written: dict[str, dict[float, str]] = {}
    columns = {}
    for column in header:
        texts = cells[column].mask(cells[column].isin(missing))
        if column in ordered:
            columns[column] = _ordered(texts)
        elif column in text:
            columns[column] = texts
        else:
            columns[column] = _typed(texts, written)
    return Table(pd.DataFrame(columns, columns=header), delimiter, written)


def _read_cells(name: str, delimiter: str, encoding: str) -> tuple[list[str], list[list[str]]]:
    """Read a csv as it stands: its header and its rows, every field a text."""
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    try:
        with _opened(name, codec) as stream:
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            header = next(filter(None, reader), None)
            if header is None:
                raise FileError(f"{name} is empty: it has not even a header")
            rows = []
            for row in reader:
                if len(row) == len(header):
                    rows.append(row)
                elif row:
                    raise FileError(
                        f"{name}, line {reader.line_num}: {len(row)} fields, but the "
                        f"header has {len(header)}" + _other_delimiter(header)
                    )
                elif len(header) == 1:  # a blank line is an empty field
                    rows.append([""])
    except UnicodeError:
        raise FileError(
            f"{name} is not encoded in {encoding}: --encoding cp1252, for instance, reads files "
            "of older Windows programs"
        ) from None
    except csv.Error as error:
        raise FileError(f"{name}, line {reader.line_num}: {error}") from None
    except (LookupError, TypeError) as error:  # an unknown encoding, a delimiter of two letters
        raise FileError(f"{name}: {error}") from None
    except (OSError, EOFError) as error:
        raise FileError(f"{name}: {getattr(error, 'strerror', None) or error}") from None
    return header, rows


def _other_delimiter(header: list[str]) -> str:
    """Return a hint if a header of one field looks like several."""
    likely = [sign for sign in ";\t|," if len(header) == 1 and sign in header[0]]
    return f": is it --delimiter {likely[0]!r}?" if likely else ""


def _opened(name: str, encoding: str) -> IO[str]:
    if name == STANDARD_STREAM:
        return io.TextIOWrapper(sys.stdin.buffer, encoding=encoding, newline="")
    opener = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(_ending(name), open)
    return opener(name, "rt", encoding=encoding, newline="")


def _ending(name: str) -> str:
    return Path(name).suffix.lower()


def _typed(texts: pd.Series, written: dict) -> pd.Series:
    """Return numbers if all of a column's texts are numbers, an ordered column if dates."""
    known = texts.dropna()
    if len(known) == 0:
        return texts
    if known.str.fullmatch(_INTEGER).all():
        return texts.astype("int64" if len(known) == len(texts) else "Int64")
    if known.str.fullmatch(_DECIMAL).all():
        digits = known.str.replace(r"[eE].*", "", regex=True).str.count(r"\d")
        numbers = texts.astype("float64")
        if digits.max() <= _MOST_DIGITS and numbers.abs().max() < float("inf"):
            # of several ways to write one number the shortest
            by_length = known.loc[known.str.len().sort_values(ascending=False).index]
            written[texts.name] = dict(zip(numbers[by_length.index], by_length, strict=True))
            return numbers
    if known.str.fullmatch(_DATE).all():
        return _ordered(texts)
    return texts


def _ordered(texts: pd.Series) -> pd.Series:
    categories = sorted(texts.dropna().unique())
    return pd.Series(pd.Categorical(texts, categories, ordered=True), name=texts.name)


# -- writing -------------------------------------------------------------------------------


def check_output(name: str, inputs: Iterable[str], *, force: bool) -> None:
    """Raise FileError if a file may not be written.

    Parameters
    ----------
    name : str
        The file to be written.
    inputs : iterable of str
        Files that were read: none of them is written, however it is spelled or linked.
    force : bool
        Whether another file of that name may be replaced.
    """
    path = Path(name)
    for other in inputs if path.exists() else ():
        if other == STANDARD_STREAM:
            same, other = _is_standard_input(path), "standard input"
        else:
            same = os.path.exists(other) and os.path.samefile(name, other)
        if same:
            raise FileError(f"{name} is the same file as {other}, which was read: name another")
    if path.is_file() and not force:
        raise FileError(f"{name} is there already: name another file, or replace it with --force")
    check_place(path, replace=force)


def _is_standard_input(path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdin.fileno()))
    except (OSError, ValueError):  # it is closed, or none of the system's
        return False


def as_written(frame: pd.DataFrame, table: Table) -> pd.DataFrame:
    """Return a published frame, its decimal numbers written as in the table that was read."""
    frame = frame.copy()
    for name in frame.select_dtypes(exclude="int").columns.intersection(list(table.written)):
        texts = table.written[name]
        texts = texts | {str(number): text for number, text in texts.items()}
        frame[name] = [texts.get(value, value) for value in frame[name]]
    return frame
