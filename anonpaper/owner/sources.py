"""Files that tables are read from: csv, workbooks and parquet, values as they are written."""

from __future__ import annotations

import csv
import gzip
import io
import logging
import re
import sys
import zlib
from collections.abc import Iterator
from datetime import datetime, time

from anonpaper.errors import ColumnError, FileError, needs

__all__ = ["LOG", "STANDARD_STREAM", "WORKBOOKS", "check_format", "csv_rows", "parquet_file",
           "sheet_rows"]  # fmt: skip

#: How tables are read, and other progress; the command line shows it.
LOG = logging.getLogger("anonpaper")

#: As a file name: standard input or output.
STANDARD_STREAM = "-"
#: Endings of workbooks.
WORKBOOKS = (".xlsx", ".xlsm")
_STATA, _SPSS, _SAS = ("Stata", "read_stata"), ("SPSS", "read_spss"), ("SAS", "read_sas")
_EXCEL, _SQLITE = ("Excel or OpenDocument", "read_excel"), ("SQLite", "read_sql")
#: Formats that are not read, by the ending or the first bytes of a file: program, and in pandas.
_OTHERS = {
    ".dta": _STATA, ".sav": _SPSS, ".zsav": _SPSS, ".sas7bdat": _SAS, ".xpt": _SAS,
    ".xls": _EXCEL, ".xlsb": _EXCEL, ".ods": _EXCEL, ".db": _SQLITE, ".sqlite": _SQLITE,
    ".sqlite3": _SQLITE, b"<stata_dta>": _STATA, b"$FL": _SPSS, bytes(12): _SAS,
    b"SQLite format 3": _SQLITE, b"PK": _EXCEL, b"\xd0\xcf": _EXCEL,
    b"PAR1": ("parquet, whose name must end in .parquet", "read_parquet"),
}  # fmt: skip


def parquet_file(name: str) -> object:
    """Open a parquet file; FileError for another format, ColumnError for a name used twice."""
    with needs("parquet"):
        import pyarrow
        import pyarrow.parquet
    try:
        file = pyarrow.parquet.ParquetFile(open(name, "rb"))  # noqa: SIM115
    except (pyarrow.ArrowException, ValueError) as error:
        raise FileError(f"{name} is not a parquet file: {error}") from None
    if len(set(file.schema_arrow.names)) < len(file.schema_arrow.names):
        raise ColumnError(f"{name} has two columns with the same name: rename one")
    return file


def sheet_rows(name: str) -> Iterator[list[str]]:
    """Yield the header and the rows of a workbook's first visible sheet, every cell as text."""
    with needs("excel"):
        import openpyxl
    try:
        shown, formulas = (openpyxl.load_workbook(name, data_only=only) for only in (True, False))
    except OSError:
        raise
    except Exception:  # whatever a damaged archive, or damaged XML in it, leads to
        raise FileError(f"{name} is no workbook: save it as .xlsx or csv") from None
    sheet = next(one for one in shown.worksheets if one.sheet_state == "visible")
    if len(shown.sheetnames) > 1:
        LOG.info("warning: only the sheet %r of %s is read", sheet.title, shown.sheetnames)
    if hidden := sum(row.hidden for row in sheet.row_dimensions.values()):
        LOG.info("warning: %s hidden rows are read like others", hidden)
    if merged := sheet.merged_cells.ranges:
        raise FileError(f"{name}: cells {', '.join(map(str, merged))} are merged: split them")
    header: list[str] = []
    for cells, told in zip(sheet.iter_rows(), formulas[sheet.title].iter_rows(), strict=True):
        row = [_text_of(*pair, name) for pair in zip(cells, told, strict=True)]
        if any(row):
            header = header or row
            yield row
        if not all(header):
            raise FileError(f"{name}: the first row must name the columns; it is {header}")
    if not header:
        raise FileError(f"{name} is empty: the first row must name the columns")


def _text_of(cell: object, formula: object, name: str) -> str:
    """The text of a cell, dates as year-month-day; FileError if it may be another."""
    value, form = cell.value, cell.number_format
    if isinstance(value, datetime):
        return value.isoformat(" ") if value.time() != time() else value.date().isoformat()
    if value is None and formula.value is not None:
        raise FileError(
            f"{name}, cell {cell.coordinate}: the formula {formula.value} has no stored value: "
            "open and save the workbook in a spreadsheet program"
        )
    if isinstance(value, int | float) and re.match(r"\D*0\D*0", form.partition(".")[0]):
        if not re.fullmatch("0+", form) or value != int(value):
            raise FileError(
                f"{name}, cell {cell.coordinate}: {value} is shown by the format {form}: turn "
                "the column into text, as it is shown"
            )
        return f"{int(value):0{len(form)}d}"
    return "" if value is None else str(value)


def check_format(name: str, begins: bytes = b"") -> None:
    """Raise FileError for a file of another program, by its ending or its first bytes."""
    for mark, (program, reader) in _OTHERS.items():
        by_ending = isinstance(mark, str) and name.lower().endswith(mark)
        if by_ending or (isinstance(mark, bytes) and begins.startswith(mark)):
            raise FileError(
                f"{name} is no text but a file of {program}: save it as .xlsx or csv, there or by "
                f"pandas.{reader}(...).to_csv('table.csv', index=False)"
            )


def csv_rows(name: str, delimiter: str, encoding: str) -> Iterator[list[str]]:
    """Yield the header and the rows of a csv (also .gz; - is standard input), fields as texts."""
    csv.field_size_limit(2**31 - 1)  # as long as a field can be
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    begins = b""
    try:
        if name == STANDARD_STREAM:
            stream = sys.stdin.buffer
        else:
            opener = gzip.open if name.lower().endswith(".gz") else open
            stream = opener(name, "rb")
            begins = stream.peek(16)[:16]
            check_format(name, begins)
        if codec == "utf-8-sig" and begins[:2] in (b"\xff\xfe", b"\xfe\xff"):
            codec = "utf-16"
        with io.TextIOWrapper(stream, codec, newline="") as lines:
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            header = next(reader, [])
            if not header:
                raise FileError(f"{name}: the first line must name the columns, but is empty")
            if re.fullmatch(r"sep=.?", header[0], re.IGNORECASE):
                sign = (header[0] + delimiter)[4]
                raise FileError(
                    f"{name}: its first line, sep={sign}, is for Excel: take it out, and pass "
                    f"delimiter={sign!r} (--delimiter {sign!r})"
                )
            yield header
            for row in reader:
                if len(row) == len(header):
                    yield row
                elif row:
                    raise FileError(
                        f"{name}, line {reader.line_num}: {len(row)} fields, but the header has "
                        f"{len(header)}"
                    )
                elif len(header) == 1:  # a blank line is an empty field
                    yield [""]
    except UnicodeError:
        other = "utf-16-le" if b"\0" in begins[:2] else "cp1252"
        hint = f'; try encoding="{other}" (--encoding {other})' * (other != encoding.lower())
        raise FileError(f"{name} is not encoded in {encoding}{hint}") from None
    except csv.Error as error:
        raise FileError(f"{name}, line {reader.line_num}: {error}") from None
    except (LookupError, EOFError, zlib.error) as error:
        raise FileError(f"{name}: {error}") from None  # an unknown encoding, a damaged archive
