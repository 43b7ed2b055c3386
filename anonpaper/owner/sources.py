"""Files that tables are read from: csv, workbooks and parquet, values as they are written."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import logging
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime, time
from pathlib import Path

import pandas as pd

from anonpaper.coding import from_arrow
from anonpaper.errors import ColumnError, FileError, needs
from anonpaper.files import named_by_user
from anonpaper.publish.writing import PARQUET

__all__ = ["LOG", "STANDARD_STREAM", "opened", "separator"]

#: How tables are read, and other progress; the command line shows it.
LOG = logging.getLogger("anonpaper")

#: As a file name: standard input or output.
STANDARD_STREAM = "-"


def separator(name: str, delimiter: str | None) -> str:
    """Return what separates the fields of a csv, by default a comma, or a tab in a .tsv."""
    return ("\t" if ".tsv" in Path(name).suffixes else ",") if delimiter is None else delimiter


def opened(name: str, delimiter: str | None = None, encoding: str = "utf-8") -> tuple:
    """Open a file: its columns, the schema of a parquet file, and a function that reads columns.

    Values of a csv, and of the first visible sheet of a workbook, are texts.
    """
    schema = None
    with named_by_user(name):
        if name.lower().endswith(PARQUET):
            file = _parquet(name)
            schema, columns = file.schema_arrow, file.schema_arrow.names
        elif name.lower().endswith((".xlsx", ".xlsm")):
            columns = next(rows := _sheet_rows(name))
        else:
            columns = next(rows := _csv_rows(name, separator(name, delimiter), encoding))
            signs = [sign for sign in ";\t|," if sign in columns[0] and sign != delimiter]
            if len(columns) == 1 and signs:
                raise FileError(
                    f"{name} has one column only, {columns[0]!r}: is it delimiter={signs[0]!r} "
                    f"(--delimiter {signs[0]!r})?"
                )
    if doubled := sorted({column for column in columns if columns.count(column) > 1}):
        raise ColumnError(f"{name} has several columns named {doubled}: rename them")

    def read(chosen: Sequence[str]) -> pd.DataFrame:
        with named_by_user(name):
            if schema is not None:
                arrow = file.read(columns=list(chosen))
                return pd.DataFrame({column: from_arrow(arrow[column]) for column in chosen})
            places = [columns.index(column) for column in chosen]
            texts = [[row[place] for place in places] for row in rows]
            return pd.DataFrame(texts, columns=list(chosen), dtype=object)

    return columns, schema, read


def _parquet(name: str) -> object:
    with needs("parquet"):
        import pyarrow
        import pyarrow.parquet
    try:
        return pyarrow.parquet.ParquetFile(open(name, "rb"))
    except (pyarrow.ArrowException, ValueError) as error:
        raise FileError(f"{name} is not a parquet file: {error}") from None


def _sheet_rows(name: str) -> Iterator[list[str]]:
    """Yield the header and the rows of a workbook's first visible sheet, every cell as text."""
    with needs("excel"):
        import openpyxl
    try:
        book = openpyxl.load_workbook(name, data_only=True)
    except OSError:
        raise
    except Exception:  # whatever a damaged archive, or damaged XML in it, leads to
        raise FileError(f"{name} is no workbook: save it as .xlsx or csv") from None
    sheet = next(one for one in book.worksheets if one.sheet_state == "visible")
    if len(book.sheetnames) > 1:
        LOG.info("warning: only the sheet %r of %s is read", sheet.title, book.sheetnames)
    if merged := sheet.merged_cells.ranges:
        raise FileError(f"{name}: cells {', '.join(map(str, merged))} are merged: split them")
    rows = [[_text_of(cell, name) for cell in row] for row in sheet.iter_rows()]
    rows = [row for row in rows if any(row)]
    if not rows or not all(rows[0]):
        raise FileError(f"{name}: the first row must name the columns; it is {rows[:1]}")
    yield from rows


def _text_of(cell: object, name: str) -> str:
    """The text of a cell, dates as year-month-day; FileError if it may be shown as another."""
    value, form = cell.value, cell.number_format
    if isinstance(value, datetime):
        return value.isoformat(" ") if value.time() != time() else value.date().isoformat()
    if isinstance(value, int | float) and re.match(r"\D*0\D*0", form.partition(".")[0]):
        if re.fullmatch("0+", form) and value == int(value):
            return f"{int(value):0{len(form)}d}"
        raise FileError(
            f"{name}, cell {cell.coordinate}: {value} is shown by the format {form}: turn the "
            "column into text, as it is shown"
        )
    return "" if value is None else str(value)


def _csv_rows(name: str, delimiter: str, encoding: str) -> Iterator[list[str]]:
    """Yield the header and the rows of a csv (also .gz; - is standard input), fields as texts."""
    csv.field_size_limit(2**31 - 1)  # as long as a field can be
    begins = b""
    try:
        codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
        if name == STANDARD_STREAM:
            stream = sys.stdin.buffer
        else:
            stream = (gzip.open if name.lower().endswith(".gz") else open)(name, "rb")
            begins = stream.peek(100)[:100]
        if codec == "utf-8-sig" and begins[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            codec = "utf-16"
        if re.search(r"[\x01-\x08\x0e-\x1f]", begins.decode(codec, "replace")):
            raise FileError(f"{name} is no text but a file of a program: save it as .xlsx or csv")
        with io.TextIOWrapper(stream, codec, newline="") as lines:
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            header = next(reader, [])
            if not header:
                raise FileError(f"{name}: the first line must name the columns, but is empty")
            yield header
            for row in reader:
                row = row or [""] * (len(header) == 1)  # a blank line is an empty field
                if row and len(row) != len(header):
                    raise FileError(
                        f"{name}, line {reader.line_num}: {len(row)} fields, but the header has "
                        f"{len(header)}"
                    )
                if row:
                    yield row
    except UnicodeError:
        other = "utf-16-le" if b"\0" in begins[:2] else "cp1252"
        hint = f'; try encoding="{other}" (--encoding {other})' * (other != encoding.lower())
        raise FileError(f"{name} is not encoded in {encoding}{hint}") from None
    except csv.Error as error:
        raise FileError(f"{name}, line {reader.line_num}: {error}") from None
    except (LookupError, EOFError, zlib.error) as error:
        raise FileError(f"{name}: {error}") from None  # an unknown encoding, a damaged archive
