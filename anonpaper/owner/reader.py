"""Reads tables from files without changing a value: csv, workbooks and parquet.

Only empty fields, and texts that the user lists, are missing values. A sheet of a workbook is read
as the texts of its cells.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import logging
import os
import re
import sys
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.coding import from_arrow, near_equal
from anonpaper.errors import (
    ColumnError,
    EmptyTableError,
    FileError,
    ParameterError,
    check_sequence,
    is_among,
    needs,
)
from anonpaper.files import named_by_user, write_named
from anonpaper.hierarchy import STAR
from anonpaper.microdata import Microdata
from anonpaper.owner.kinds import Doubt, check_kinds, in_doubt, read_as
from anonpaper.publish.writing import PARQUET
from anonpaper.roles import checked_roles

__all__ = ["DEFAULTS", "LOG", "STANDARD_STREAM", "Table", "notes", "read", "read_table",
           "with_roles"]  # fmt: skip

#: How tables are read, and other progress; the command line shows it.
LOG = logging.getLogger("anonpaper")
#: As a file name: standard input or output.
STANDARD_STREAM = "-"
#: The options of reading; a schema can say all but `keep`.
DEFAULTS = {"qi": (), "sensitive": None, "person": None, "count": None, "types": {}, "na": (),
            "missing": "error", "delimiter": None, "encoding": "utf-8", "keep": ()}  # fmt: skip


@dataclass
class Table:
    """A file that was opened, and columns that were read from it, with rows numbered from 0.

    ``columns`` are all that the file has. `source` is a ParquetFile with `types` of Arrow, or
    yields rows of texts. By column, ``kinds`` has the kind it was read as, and ``doubts`` what
    speaks for another one.
    """

    columns: list[str]
    source: object = None
    delimiter: str = ","
    are_texts: bool = False
    types: dict[str, object] = field(default_factory=dict)
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    kinds: dict[str, str | list[str]] = field(default_factory=dict)
    doubts: dict[str, Doubt] = field(default_factory=dict)
    schema: str = ""  # what to read the next table by, as JSON

    @classmethod
    def opened(cls, name: str, delimiter: str | None = None, encoding: str = "utf-8") -> Table:
        """Open parquet, .xlsx, otherwise a csv; ColumnError for columns of one name."""
        if delimiter is None:
            delimiter = "\t" if ".tsv" in Path(name).suffixes else ","
        with named_by_user(name):
            if name.lower().endswith(PARQUET):
                columns = (source := _parquet(name)).schema_arrow.names
            elif name.lower().endswith((".xlsx", ".xlsm")):
                columns = next(source := _sheet_rows(name))
            else:
                columns = next(source := _csv_rows(name, delimiter, encoding))
        if doubled := sorted({column for column in columns if columns.count(column) > 1}):
            raise ColumnError(f"{name} has several columns named {doubled}: rename them")
        types = {one.name: one.type for one in getattr(source, "schema_arrow", ())}
        return cls(columns, source, delimiter, isinstance(source, Iterator), types)

    def read(self, wanted: Sequence, types: Mapping, na: Sequence, qi: Sequence = ()) -> Table:
        """Read the columns that are `wanted`."""
        chosen = [column for column in self.columns if column in wanted]
        if self.are_texts:
            places = [self.columns.index(column) for column in chosen]
            texts = [[row[place] for place in places] for row in self.source]
            self.frame = pd.DataFrame(texts, columns=chosen, dtype=object)
        else:
            arrow = self.source.read(columns=chosen)
            self.frame = pd.DataFrame({column: from_arrow(arrow[column]) for column in chosen})
        if len(self.frame) == 0:
            raise EmptyTableError("the table has no rows below its header")
        self.interpret(types, na, qi)
        return self

    def interpret(self, types: Mapping, na: Sequence[str], qi: Sequence = (), counts=None) -> None:
        """Read texts as kinds, and other columns if `types` names them; no `qi` is in doubt."""
        if unknown := [name for name in types if name not in self.columns]:
            raise ColumnError(f"types names {unknown}; the columns are {self.columns}")
        for name in self.frame:
            if self.are_texts or name in types:
                column, kind, doubt = read_as(self.frame[name], types.get(name), na, counts)
                self.frame[name], self.kinds[name] = column, kind
                self.doubts |= {name: doubt} if doubt else {}
        if doubts := {name: doubt for name, doubt in self.doubts.items() if name in qi}:
            raise in_doubt(doubts)

    def described(self) -> Iterator[str]:
        """Describe how each column was read, with example values; for the table's owner only."""
        for name, column in self.frame.items():
            known = column.dropna().astype(str)
            kind = self.kinds.get(name, str(column.dtype))
            kind = kind if isinstance(kind, str) else " < ".join(kind)
            examples = ", ".join(value[:40] for value in known.unique()[:3]) or "none"
            missing = f"{len(column) - len(known):,} missing"
            yield f"{name}: {kind}, {known.nunique():,} distinct, {missing}, such as {examples}"


def read(
    source: str | os.PathLike,
    qi: Sequence[str] | None = None,
    sensitive: str | list[str] | None = None,
    *,
    person: str | None = None,
    count: str | None = None,
    keep: Sequence[str] = (),
    types: Mapping[str, str | Sequence[str]] | None = None,
    na: Sequence[str] = (),
    missing: str = "error",
    delimiter: str | None = None,
    encoding: str = "utf-8",
    schema: str | os.PathLike | None = None,
    save_schema: str | os.PathLike | None = None,
) -> Microdata:
    r"""Guarantee that no value is changed or guessed: read a file, as the command line does.

    Equal numbers are one value, published in the first way they are written. A UserWarning tells
    spellings that may be one value, and columns in doubt. AnonpaperError if a quasi-identifier may
    be more than text and `types` does not say, or a value is not of its type. O(n) for n rows.

    Parameters
    ----------
    source : path
        A csv (RFC 4180, also .csv.gz), the first sheet of a workbook (.xlsx), or parquet.
    qi, sensitive, person, missing
        As for :class:`~anonpaper.Microdata`.
    count, keep : str and sequence of str, optional
        A column that says how many people a row counts for; and further columns to read.
    types : mapping of column to str or sequence of str, optional
        "integer", "decimal", "decimal-comma", "date", a date's form such as "%d.%m.%Y", "ordered"
        (by the numbers in the texts, then by letters), "text"; or all values in their order.
    na : sequence of str
        Texts that mean a missing value. An empty field always does.
    delimiter, encoding : str, optional
        Of a csv: by default a comma, in .tsv a tab, and UTF-8, or UTF-16 if the file begins so.
    schema, save_schema : path, optional
        JSON with the parameters above that are not given, and with the type of every column.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "people.csv")
    >>> _ = path.write_text("zip,answer,ill\n02139,often,flu\n02446,never,cold\n")
    >>> m = ap.read(path, ["zip", "answer"], "ill", types={"answer": ["never", "often"]})
    >>> m.attribute("zip").values.tolist(), m.attribute("answer").values.tolist()
    (['02139', '02446'], ['never', 'often'])
    """
    with named_by_user(source):
        place = str(Path(source))
    given = {"qi": qi, "sensitive": sensitive, "person": person, "count": count, "types": types,
             "na": na, "missing": missing, "delimiter": delimiter, "encoding": encoding,
             "keep": check_sequence("keep", keep, str)}  # fmt: skip
    return with_roles(place, given, schema, save_schema)[1]


def read_table(name: str, *, delimiter=None, encoding="utf-8", na=(), types=None) -> Table:
    """Read all columns of a file: parquet, .xlsx, otherwise a csv."""
    check_kinds(types := types or {}, na)
    table = Table.opened(name, delimiter, encoding)
    with named_by_user(name):
        return table.read(table.columns, types, na)


def with_roles(name: str, given: Mapping, schema=None, save_schema=None) -> tuple:
    """Return the Table of a file and its Microdata, by options `given` or said by a `schema`."""
    saved = _loaded(schema) if schema else {}
    given = {option: value for option, value in given.items()
             if not is_among(value, [None, [], (), {}, DEFAULTS[option]])}  # fmt: skip
    o = DEFAULTS | saved | given
    check_kinds(o["types"], o["na"])
    o["types"], o["qi"] = saved.get("types", {}) | dict(o["types"]), check_sequence("qi", o["qi"])
    table = Table.opened(name, o["delimiter"], o["encoding"])
    qi, sensitives = checked_roles(table.columns, o["qi"], o["sensitive"], o["person"])
    if not is_among(o["count"], [None, *table.columns]):
        raise ColumnError(f"count names {o['count']!r}; the table has {table.columns}")
    roles = [*qi, *sensitives, o["person"], o["count"]]
    others = [column for column in table.columns if column not in roles]
    if unknown := [column for column in o["keep"] if column not in others]:
        raise ParameterError(f"keep (--keep) names {unknown}; without a role are {others}")
    with named_by_user(name):
        table.read([*roles, *o["keep"]], o["types"], o["na"], qi)
    for line in table.described():
        LOG.info(line)
    frame = table.frame if o["count"] is None else _repeated(table.frame, o["count"])
    m = Microdata(frame, qi, o["sensitive"], person=o["person"], missing=o["missing"], origin=name)
    told = {n: value for n, value in o.items() if n != "keep" and value != DEFAULTS[n]}
    table.schema = json.dumps(told | {"types": table.kinds}, indent=1, ensure_ascii=False)
    if save_schema is not None:
        write_named(save_schema, table.schema)
    for text in notes(m, table.doubts):
        warnings.warn(text, stacklevel=3)
    return table, m


def notes(m: Microdata, doubts: Mapping[str, Doubt]) -> list[str]:
    """Return what missing values, spellings and columns in doubt mean for a table."""
    found = [f"{m.dropped:,} rows with missing values are left out"] * (m.dropped > 0)
    for name in [*m.qi, *m.sensitives]:
        values = m.attribute(name).values
        if name in m.qi and STAR in values.tolist():
            found.append(f"{STAR!r} of {name!r} is read as a value: ap.audit lets it fit all")
        if name in doubts:
            found.append(f"{name!r} was read as text: {in_doubt({name: doubts[name]})}")
        if alike := near_equal(values):
            alike = " and ".join(map(str, alike))
            found.append(
                f"{alike} of {name!r} may be one value, but they are kept apart: mend the file"
            )
    return found


def _repeated(frame: pd.DataFrame, count: str) -> pd.DataFrame:
    """Return every row as often as a column says."""
    people = frame[count]
    if people.isna().any() or people.dtype.kind not in "iu" or people.min() < 0:
        raise ColumnError(f"{count!r} must say how many people a row counts for: 0, 1, 2, ...")
    return frame.loc[frame.index.repeat(people.to_numpy(np.intp))].reset_index(drop=True)


def _loaded(path: str | os.PathLike) -> dict:
    """Return the options of a saved schema."""
    with named_by_user(path):
        text = Path(path).read_bytes()
    try:
        options = dict(json.loads(text))
    except (ValueError, TypeError) as error:
        raise FileError(f"{path} is no schema: {error}") from None
    if unknown := [name for name in options if name not in DEFAULTS]:
        raise FileError(f"{path} names {unknown}: a schema has {', '.join(DEFAULTS)}")
    return options


# -- files ----------------------------------------------------------------------------------


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
        return value.isoformat(" ").removesuffix(" 00:00:00")
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
        begin = begins.decode(codec, "replace").replace(delimiter, "")
        if re.search(r"[\x01-\x08\x0e-\x1f]", begin):
            raise FileError(f"{name} is no text but a file of a program: save it as .xlsx or csv")
        with io.TextIOWrapper(stream, codec, newline="") as lines:
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            header = next(reader, [])
            if not header:
                raise csv.Error("the first line must name the columns, but is empty")
            signs = [sign for sign in ";\t|," if sign in header[0] and sign != delimiter]
            if len(header) == 1 and signs:
                hint = f"is it delimiter={signs[0]!r} (--delimiter {signs[0]!r})?"
                raise csv.Error(f"the only column is {header[0]!r}: {hint}")
            yield header
            for row in reader:
                row = row or [""] * (len(header) == 1)  # a blank line is an empty field
                if row and len(row) != len(header):
                    raise csv.Error(f"{len(row)} fields, but the header has {len(header)}")
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
