"""Reads tables from files without changing a value: csv, workbooks and parquet."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import json
import logging
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.coding import check_whole_texts, from_arrow, near_equal
from anonpaper.errors import ColumnError, EmptyTableError, FileError, check_sequence, is_among
from anonpaper.files import named_by_user, write_named
from anonpaper.hierarchy import STAR
from anonpaper.microdata import Microdata
from anonpaper.owner.kinds import Doubt, check_kinds, in_doubt, read_as
from anonpaper.publish.writing import PARQUET
from anonpaper.roles import checked_roles

__all__ = ["DEFAULTS", "LOG", "STANDARD_STREAM", "WORKBOOKS", "Table", "fitting", "read",
           "reading", "with_roles"]  # fmt: skip

#: How tables are read, and other progress; the command line shows it.
LOG = logging.getLogger("anonpaper")
#: As a file name: standard input or output.
STANDARD_STREAM = "-"
#: The options of reading; a schema can say all but `keep`.
DEFAULTS = {"qi": (), "sensitive": None, "person": None, "count": None, "types": {}, "na": (),
            "missing": "error", "delimiter": None, "encoding": "utf-8", "keep": ()}  # fmt: skip
WORKBOOKS = (".xlsx", ".xlsm")
#: Formats that are not read: names, endings, how files begin, and what saves them as csv.
_FOREIGN = [
    ("Stata", ".dta", rb"<stata_dta>|[h-w][\x01\x02]\x01\x00", "by `export delimited`"),
    ("SPSS", ".sav .zsav .por", rb"\$FL[23]", "by `SAVE TRANSLATE`"),
    ("SAS", ".sas7bdat .xpt", rb"\x00{12}\xc2\xea|HEADER RECORD", "by `proc export`"),
    ("SQLite", ".sqlite .sqlite3 .db", rb"SQLite format 3", "by `sqlite3 -header -csv`"),
    ("R", ".rds .rda .rdata", rb"RD[AX]\d\n|[AX]\n\x00", "by `write.csv`"),
    ("old or encrypted Excel", ".xls .xlsb", rb"\xd0\xcf\x11\xe0", "or .xlsx"),
    ("OpenDocument", ".ods", rb"PK\x03\x04.{26}mimetype", "or .xlsx"),
    ("Feather", ".feather .arrow", rb"FEA1|ARROW1", "or parquet"),
    ("JSON", ".json .jsonl", rb"\s*(\[\s*)*[{\[]\s*[\"{\[]", "or parquet"),
    ("HTML or XML", ".html .htm .xml", rb"\s*<(!doctype|html|table|\?xml)", "or .xlsx"),
]


@dataclass
class Table:
    """A file that was opened, and columns that were read from it, with rows numbered from 0.

    ``columns`` are all that the file has. `source` is a ParquetFile, or yields rows of texts. By
    column, ``kinds`` has the kind it was read as, and ``doubts`` what speaks for another one.
    """

    columns: list[str]
    name: str = ""
    source: object = None
    delimiter: str = ","
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    kinds: dict[str, str | list[str]] = field(default_factory=dict)
    doubts: dict[str, Doubt | None] = field(default_factory=dict)
    schema: bytes = b""  # what to read the next table by, as JSON

    @classmethod
    def opened(cls, name: str, delimiter: str | None = None, encoding: str = "utf-8") -> Table:
        """Open parquet, .xlsx, otherwise a csv; ColumnError for columns of one name."""
        if delimiter is None:
            delimiter = "\t" if ".tsv" in Path(name).suffixes else ","
        if not isinstance(delimiter, str) or not re.fullmatch('[^"\r\n\0]', delimiter):
            raise errors.ParameterError(f"delimiter (--delimiter) is one sign, not {delimiter!r}")
        with reading(name):
            stream = _stream(name)
            if name.lower().endswith(PARQUET):
                with errors.needs("parquet"):
                    from pyarrow import parquet
                columns = (source := parquet.ParquetFile(stream)).schema_arrow.names
            elif name.lower().endswith(WORKBOOKS):
                columns = next(source := _sheet_rows(name, stream))
            else:
                columns = next(source := _csv_rows(name, stream, delimiter, encoding))
        if doubled := sorted(column for column, n in Counter(columns).items() if n > 1):
            raise ColumnError(f"{name} has several columns named {doubled}: rename them")
        return cls(columns, name, source, delimiter)

    def read(self, wanted=None, types: Mapping | None = None, na: Sequence = (), qi=()) -> Table:
        """Read the columns that are `wanted`, by default all."""
        chosen = [column for column in self.columns if wanted is None or column in wanted]
        with reading(self.name):
            if isinstance(self.source, Iterator):
                places = [self.columns.index(column) for column in chosen]
                texts = [[row[place] for place in places] for row in self.source]
                self.frame = pd.DataFrame(texts, columns=chosen, dtype=object)
            else:
                arrow = self.source.read(columns=chosen)
                self.frame = pd.DataFrame({column: from_arrow(arrow[column]) for column in chosen})
        self.interpret(types or {}, na, qi)
        return self

    def interpret(self, types: Mapping, na: Sequence[str], qi: Sequence = (), counts=None) -> None:
        """Read texts as kinds, and other columns if `types` names them; no `qi` is in doubt."""
        if unknown := [name for name in types if name not in self.columns]:
            raise ColumnError(f"types (--type) names {unknown}; the columns are {self.columns}")
        if len(self.frame) == 0:
            raise EmptyTableError("the table has no rows below its header")
        for name in self.frame:
            check_whole_texts(self.frame[name])
            if isinstance(self.source, Iterator) or name in types:
                with named_by_user(repr(name)):  # such as a form of dates that there is not
                    found = read_as(self.frame[name], types.get(name), na, counts)
                self.frame[name], self.kinds[name], self.doubts[name] = found
        if doubts := {name: doubt for name, doubt in self.doubts.items() if doubt and name in qi}:
            raise in_doubt(doubts)


def read(
    source: str | Path,
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
    schema: str | Path | None = None,
    save_schema: str | Path | None = None,
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
    given = locals()
    with named_by_user(source):
        place = str(Path(source))
    return with_roles(place, given, schema, save_schema)[1]


def with_roles(name: str, given: Mapping, schema=None, save_schema=None) -> tuple:
    """Return the Table of a file and its Microdata, by options `given` or said by a `schema`."""
    saved = _loaded(schema) if schema else DEFAULTS
    o = DEFAULTS | saved
    o |= {option: given[option] for option in DEFAULTS if option in given
          and not is_among(given[option], [None, [], (), {}, DEFAULTS[option]])}  # fmt: skip
    check_kinds(o["types"], o["na"])
    types, na = saved["types"] | dict(o["types"]), list(o["na"])
    table = Table.opened(name, o["delimiter"], o["encoding"])
    qi, sensitives = checked_roles(table.columns, o["qi"], o["sensitive"], o["person"])
    count = o["count"] and errors.check_choice("count", o["count"], table.columns)
    roles, keep = [*qi, *sensitives, o["person"], count], check_sequence("keep", o["keep"], str)
    others = [column for column in table.columns if column not in roles]
    if not {*keep} <= {*others}:
        raise ColumnError(f"keep (--keep) names {keep}; without a role are {others}")
    table.read([*roles, *keep], types, na, qi)
    for column, values in table.frame.items():  # for the table's owner only
        known, kind = values.dropna().astype(str), table.kinds.get(column, values.dtype)
        told = f"{len(values) - len(known):,} missing, such as {', '.join(known.unique()[:3])}"
        LOG.info("%s: %s, %s distinct, %s", column, kind, f"{known.nunique():,}", told)
    frame = table.frame if count is None else _repeated(table.frame, table.frame[count])
    m = Microdata(frame, qi, o["sensitive"], person=o["person"], missing=o["missing"], origin=name)
    o |= {"qi": m.qi, "sensitive": m.sensitive, "na": na, "types": table.kinds, "keep": ()}
    told = {option: value for option, value in o.items() if value}
    text = json.dumps(told, indent=1, ensure_ascii=False)
    table.schema = text.encode(errors="surrogateescape")
    if save_schema is not None:
        write_named(save_schema, table.schema)
    for text in _notes(m, table.doubts):
        warnings.warn(text, stacklevel=3)
    return table, m


def _notes(m: Microdata, doubts: Mapping[str, Doubt | None]) -> Iterator[str]:
    """What missing values, spellings and columns in doubt mean for a table."""
    if m.dropped:
        yield f"{m.dropped:,} rows with missing values are left out"
    for name in [*m.qi, *m.sensitives]:
        values = m.attribute(name).values
        if name in m.qi and STAR in values.tolist():
            yield f"{STAR!r} of {name!r} is read as a value; audit --stars lets it fit all"
        if doubt := doubts.get(name):
            yield f"{name!r} was read as text: {in_doubt({name: doubt})}"
        if alike := " and ".join(map(str, near_equal(values))):
            yield f"{alike} of {name!r} may be one value, but are kept apart: mend the file"


def fitting(m: Microdata) -> int:
    """Return the smallest number of rows that fit a row, where a star fits every value."""
    codes = m.cells.tuples.copy()
    for column, attribute in zip(codes.T, m.attributes, strict=True):
        column[(attribute.values == STAR)[column]] = -1
    fit = (((codes == row) | (codes < 0) | (row < 0)).all(axis=1) for row in codes)
    return min(int(m.cells.tuple_sizes[rows].sum()) for rows in fit)


def _repeated(frame: pd.DataFrame, people: pd.Series) -> pd.DataFrame:
    """Return every row as often as a column says."""
    if people.isna().any() or people.dtype.kind not in "iu" or people.min() < 0:
        raise ColumnError(f"{people.name!r} must say how many people a row counts for: 0, 1, ...")
    return frame.loc[frame.index.repeat(people.to_numpy(np.intp))].reset_index(drop=True)


def _loaded(path: str | Path) -> dict:
    """Return the options of a saved schema."""
    with reading(f"{path} is no schema"):
        options = {"types": {}} | dict(json.loads(Path(path).read_bytes()))
        options["types"] = dict(options["types"])
    if unknown := [name for name in options if name not in DEFAULTS]:
        raise FileError(f"{path} names {unknown}: a schema has {', '.join(DEFAULTS)}")
    return options


@contextmanager
def reading(what: object) -> Iterator[None]:
    """Turn whatever a damaged file, or an engine, leads to into FileError."""
    try:
        yield
    except (errors.AnonpaperError, MemoryError):
        raise
    except Exception as error:  # every library has its own classes
        first = getattr(error, "strerror", None) or str(error).strip().partition("\n")[0]
        raise FileError(f"{what}: {first or type(error).__name__}") from error


def _stream(name: str) -> io.BufferedReader:
    """Open a file (- is standard input) and unpack .gz; FileError for a format of `_FOREIGN`."""
    opening = gzip.open if name.lower().endswith(".gz") else open
    stream = sys.stdin.buffer if name == STANDARD_STREAM else opening(name, "rb")
    ending, begins = Path(name.lower().removesuffix(".gz")).suffix, stream.peek(100)[:100]
    for format, endings, beginning, way in _FOREIGN:
        if ending in endings.split() or re.match(beginning, begins, re.DOTALL | re.IGNORECASE):
            stream.close()
            raise FileError(f"{name} has {format} format, which is not read: save it as csv {way}")
    return stream


def _sheet_rows(name: str, stream: io.BufferedReader) -> Iterator[list[str]]:
    """Yield the header and the rows of a workbook's first visible sheet, every cell as text."""
    with errors.needs("excel"):
        import openpyxl
    with stream:
        book = openpyxl.load_workbook(stream, data_only=True)
        sheet = next(one for one in book.worksheets if one.sheet_state == "visible")
        cells = [*sheet.iter_rows()]
        empty = [cell.coordinate for cell in itertools.chain(*cells)
                 if cell.value is None and cell.data_type == "n"]  # fmt: skip
        formulas = openpyxl.load_workbook(stream)[sheet.title] if empty else {}
    if unknown := [place for place in empty if formulas[place].data_type == "f"]:
        told = "have formulas without a value: save the file in a spreadsheet"
        raise FileError(f"{name}: cells {', '.join(unknown[:5])} {told}")
    if merged := sheet.merged_cells.ranges:
        raise FileError(f"{name}: cells {', '.join(map(str, merged))} are merged: split them")
    if len(book.sheetnames) > 1:
        warnings.warn(f"only the sheet {sheet.title!r} of {book.sheetnames} is read", stacklevel=2)
    if hidden := sum(one.hidden for one in sheet.row_dimensions.values()):
        warnings.warn(f"hidden rows of {name} are read too: {hidden}", stacklevel=2)
    rows = [*filter(any, ([_text_of(cell, name) for cell in row] for row in cells))]
    if not rows or not all(rows[0]):
        raise FileError(f"{name}: the first row must name the columns; it is {rows[:1]}")
    yield from rows


def _text_of(cell: object, name: str) -> str:
    """The text of a cell, dates as year-month-day; FileError if it may be shown as another."""
    value, form = cell.value, cell.number_format
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    plain = re.sub(r'"[^"]*"|\[[^]]*\]|[\\_*].', "", form)  # without colours and fixed texts
    if isinstance(value, int | float) and re.match("[^.;]*0[^.;]*0", plain):
        if re.fullmatch("0+", form) and value == int(value):
            return f"{int(value):0{len(form)}d}"
        told = f"cell {cell.coordinate}: {value} is shown as {form}: turn the column into text"
        raise FileError(f"{name}, {told}, as shown")
    return "" if value is None else str(value)


def _csv_rows(name: str, stream, delimiter: str, encoding: str) -> Iterator[list[str]]:
    """Yield the header and the rows of a csv, fields as texts."""
    csv.field_size_limit(2**31 - 1)  # as long as a field can be
    try:
        codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
        begins = stream.peek(100)[:100]
        if codec == "utf-8-sig" and begins[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            codec = "utf-16"
        if re.search(r"[\x01-\x08\x0e-\x1f]", begins.decode(codec, "replace")):
            raise FileError(f"{name} is no text but a file of a program: save it as csv")
        with io.TextIOWrapper(stream, codec, newline="") as lines:
            reader = csv.reader(lines, delimiter=delimiter, strict=True)
            header = next(reader, [])
            if not header:
                raise csv.Error("the first line must name the columns, but is empty")
            if header[0].lower().startswith("sep="):
                raise csv.Error(f"{header[0]!r} is for spreadsheets: remove the line")
            sign = re.search(r"[;\t|,]", header[0].replace(delimiter, ""))
            if len(header) == 1 and sign:
                hint = f"is it delimiter={sign[0]!r} (--delimiter {sign[0]!r})?"
                raise csv.Error(f"the only column is {header[0]!r}: {hint}")
            yield header
            for row in reader:  # a blank line is an empty field if there is one column
                if len(row or [""]) == len(header):
                    yield row or [""]
                elif row:
                    raise csv.Error(f"{len(row)} fields, but the header has {len(header)}")
    except (LookupError, UnicodeError):
        hint = 'try encoding="cp1252" (--encoding cp1252) or "utf-16-le"'
        raise FileError(f"{name} is not encoded in {encoding}; {hint}") from None
    except csv.Error as error:
        raise FileError(f"{name}, line {reader.line_num}: {error}") from None
