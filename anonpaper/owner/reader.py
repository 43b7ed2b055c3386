"""Reads tables from files without changing a value.

Only empty fields, and texts that the user lists, are missing values; ``NA`` is a value. A sheet of
a workbook is read as the texts of its cells.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import logging
import os
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from anonpaper.coding import near_equal
from anonpaper.errors import (
    ColumnError,
    EmptyTableError,
    FileError,
    ParameterError,
    check_sequence,
    needs,
)
from anonpaper.files import named_by_user, write_named
from anonpaper.microdata import Microdata
from anonpaper.owner.kinds import check_kinds, in_doubt, kind_of, typed
from anonpaper.publish.writing import PARQUET

__all__ = [
    "LOG",
    "OPTIONS",
    "STANDARD_STREAM",
    "Table",
    "notes",
    "read",
    "read_table",
    "with_roles",
]

#: How tables are read, and other progress; the command line shows it.
LOG = logging.getLogger("anonpaper")

#: As a file name: standard input or output.
STANDARD_STREAM = "-"
#: What a schema can say.
OPTIONS = ("qi", "sensitive", "person", "count", "types", "na", "missing", "delimiter", "encoding")
_WORKBOOKS = (".xlsx", ".xlsm")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # marks at the beginning of a file


@dataclass(frozen=True)
class Table:
    """A table that was read from a file, with rows numbered from 0.

    ``delimiter`` separated its fields (a comma for parquet). By column, ``kinds`` has the kind it
    was read as, and ``in_doubt`` the kind that --type could choose for a text column.
    """

    frame: pd.DataFrame
    delimiter: str = ","
    kinds: dict[str, str | list[str]] = field(default_factory=dict)
    in_doubt: dict[str, str] = field(default_factory=dict)

    def described(self) -> Iterator[str]:
        """Describe how each column was read, with example values; for the table's owner only."""
        for name, column in self.frame.items():
            known = column.dropna()
            values = (known.astype(str) if known.dtype == object else known).unique()
            kind = self.kinds.get(name) or pd.api.types.infer_dtype(known, skipna=True)
            kind = kind if isinstance(kind, str) else " < ".join(kind)
            kind += " (published with a point)" * (kind == "decimal-comma")
            if other := self.in_doubt.get(name):
                kind += f" (or is it --type {name}={other}?)"
            examples = ", ".join(str(value)[:40] for value in values[:3]) or "none"
            yield (
                f"{name}: {kind}, {len(values):,} distinct, {len(column) - len(known):,} missing, "
                f"such as {examples}"
            )


def read(
    source: str | os.PathLike,
    qi: Sequence[str] | None = None,
    sensitive: str | list[str] | None = None,
    *,
    person: str | None = None,
    count: str | None = None,
    types: Mapping[str, str | Sequence[str]] | None = None,
    na: Sequence[str] = (),
    missing: str = "error",
    delimiter: str | None = None,
    encoding: str = "utf-8",
    schema: str | os.PathLike | None = None,
    save_schema: str | os.PathLike | None = None,
) -> Microdata:
    r"""Guarantee that no value is changed or guessed: read a file, as the command line does.

    A UserWarning tells spellings that may be one value, and columns in doubt.

    Parameters
    ----------
    source : path
        A csv (also .csv.gz), the first sheet of a workbook (.xlsx), or parquet (.parquet, .pq).
    qi, sensitive, person, missing
        As for :class:`~anonpaper.Microdata`. By default a missing value is an error.
    count : str, optional
        A column of whole numbers: how many people a row counts for.
    types : mapping of column to str or sequence of str, optional
        "integer", "decimal", "decimal-comma", "date", a date's form such as "%d.%m.%Y", "ordered"
        (by the numbers in the texts, then by letters), "text"; or all values in their order.
    na : sequence of str
        Texts that mean a missing value. An empty field always does.
    delimiter, encoding : str, optional
        Of a csv: by default a comma, in .tsv a tab, and UTF-8, or UTF-16 if the file begins so.
    schema, save_schema : path, optional
        JSON with the parameters above that are not given, and with the type of every column.

    Returns
    -------
    Microdata

    Raises
    ------
    ColumnError, FileError, ParameterError
        A quasi-identifier may be more than text, and `types` does not say; a value is not of the
        type that was given; or a file cannot be read.

    References
    ----------
    Y. Shafranovich, *Common format and MIME type for csv files*, RFC 4180. O(n) for n rows.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "people.csv")
    >>> _ = path.write_text("zip,answer,ill\n02139,often,flu\n02446,never,cold\n")
    >>> m = ap.read(path, ["zip", "answer"], "ill", types={"answer": ["never", "often"]})
    >>> m.attribute("zip").values.tolist(), m.attribute("answer").values.tolist()
    (['02139', '02446'], ['never', 'often'])
    """
    texts = {"delimiter": delimiter, "encoding": encoding, "count": count}
    for name, text in texts.items():
        if not isinstance(text, str | None):
            raise ParameterError(f"{name} must be a text, got {text!r}")
    if not isinstance(types, Mapping | None):
        raise ParameterError(f"types must be a mapping of columns to kinds, got {types!r}")
    with named_by_user(source):
        place = str(Path(source))
    given = {"qi": qi, "sensitive": sensitive, "person": person, "count": count, "types": types,
             "na": check_sequence("na", na, str), "delimiter": delimiter,
             "missing": missing if missing != "error" else None,
             "encoding": encoding if encoding != "utf-8" else None}  # fmt: skip
    return with_roles(place, given, schema, save_schema)[1]


def read_table(
    name: str, *, delimiter=None, encoding="utf-8", missing_texts=(), types=None
) -> Table:
    """Read parquet, .xlsx, otherwise a csv (also .gz; - is standard input)."""
    types = dict(types or {})
    check_kinds(types)
    if name.lower().endswith(PARQUET):
        frame, delimiter = _read_parquet(name), ","
        columns = {column: frame[column].astype("string").astype(object) for column in types
                   if column in frame}  # fmt: skip
    else:
        if delimiter is None:
            delimiter = "\t" if ".tsv" in Path(name).suffixes else ","
        with named_by_user(name):
            if name.lower().endswith(_WORKBOOKS):
                header, rows = _read_sheet(name)
            else:
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
        kind, other = (types[column], None) if column in types else kind_of(texts.dropna())
        try:
            frame[column] = typed(texts, kind)
        except ColumnError:
            if column in types:
                raise
            kind, other = "text", kind
        table.kinds[column] = kind if isinstance(kind, str) else list(kind)
        if other:
            table.in_doubt[column] = other
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


def _read_sheet(name: str) -> tuple[list[str], list[list[str]]]:
    """Read the first sheet of a workbook: its header and its rows, every cell as text."""
    with needs("excel"):
        import openpyxl  # noqa: F401, pandas reads by it
    try:
        cells = pd.read_excel(name, header=None, na_filter=False, dtype=object, engine="openpyxl")
    except (zipfile.BadZipFile, KeyError, ValueError):
        raise FileError(f"{name} is no workbook: save it as .xlsx or csv") from None
    cells = cells.map(_text_of)
    header, *rows = cells[(cells != "").any(axis=1)].to_numpy().tolist() or [[]]
    if not all(header):
        raise FileError(f"{name}: the first row must name the columns; it is {header}")
    return header, rows


def _text_of(cell: object) -> str:
    """The text of a cell, dates as year-month-day."""
    if isinstance(cell, datetime):
        return cell.isoformat(" ") if cell.time() != time() else cell.date().isoformat()
    return "" if cell is None else str(cell)


def _read_cells(name: str, delimiter: str, encoding: str) -> tuple[list[str], list[list[str]]]:
    """Read a csv: its header and its rows, every field as text."""
    csv.field_size_limit(2**31 - 1)  # as long as a field can be
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    try:
        if codec == "utf-8-sig" and _begins(name) in _UTF_16:
            codec = "utf-16"
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
        raise FileError(
            f"{name} is not encoded in {encoding}{_other_than(name, encoding)}"
        ) from None
    except csv.Error as error:
        raise FileError(f"{name}, line {reader.line_num}: {error}") from None
    except (LookupError, EOFError, zlib.error) as error:
        raise FileError(f"{name}: {error}") from None  # an unknown encoding, a damaged archive
    return header, rows


def _begins(name: str) -> bytes:
    """The first two bytes of a file, none of a stream, which can be read only once."""
    if not os.path.isfile(name):
        return b""
    with _opened(name, "latin-1") as stream:
        return stream.read(2).encode("latin-1")


def _other_than(name: str, encoding: str) -> str:
    """What may help where a text is in another encoding, other than the one tried."""
    begins = _begins(name)
    if begins in (b"PK", b"\xd0\xcf"):
        return ", as it is no text but a workbook or an archive: save it as .xlsx or csv"
    other = "utf-16-le" if b"\0" in begins else "cp1252"
    return f'; try encoding="{other}" (--encoding {other})' if other != encoding.lower() else ""


def _opened(name: str, encoding: str) -> IO[str]:
    if name == STANDARD_STREAM:
        return io.TextIOWrapper(sys.stdin.buffer, encoding=encoding, newline="")
    opener = gzip.open if name.lower().endswith(".gz") else open
    return opener(name, "rt", encoding=encoding, newline="")


# -- the table with its roles ------------------------------------------------------------------


def with_roles(
    name: str, options: Mapping, schema=None, save_schema=None, named: Callable | None = None
) -> tuple[Table, Microdata]:
    """Read a file with the `options` of `read`, None or empty if not given, or of a `schema`.

    `named` makes columns of the texts that name them, with all columns at hand.
    """
    saved = _loaded(schema) if schema else {}
    options = saved | {name: value for name, value in options.items() if value}
    options["types"] = saved.get("types", {}) | dict(options.get("types") or {})
    table = read_table(
        name, delimiter=options.get("delimiter"), encoding=options.get("encoding", "utf-8"),
        missing_texts=options.get("na", ()), types=options.get("types"),
    )  # fmt: skip
    for line in table.described():
        LOG.info(line)
    frame, columns = table.frame, list(table.frame.columns)
    for role in ("qi", "sensitive") if named else ():
        options[role] = named(_listed(options.get(role)), columns)
    qi = check_sequence("qi", options.get("qi") or [])
    wanted = [*qi, *_listed(options.get("sensitive")), options.get("person"), options.get("count")]
    if len(columns) == 1 and {*wanted} - {*columns, None}:
        raise FileError(
            f"{name} has one column only, {columns[0]!r}, when read with the delimiter "
            f"{table.delimiter!r}: delimiter=... (--delimiter) says which it is"
        )
    if not qi:
        raise ParameterError(
            f"qi (--qi) must name the columns that others may know, among {columns}"
        )
    if options.get("count") is not None:
        frame = _repeated(frame, options["count"])
    m = Microdata(
        frame, qi, options.get("sensitive"), person=options.get("person"),
        missing=options.get("missing", "error"), origin=name,
    )  # fmt: skip
    if doubts := {n: kind for n, kind in table.in_doubt.items() if n in m.qi}:
        raise in_doubt(doubts)
    if save_schema is not None:
        told = {**options, "types": table.kinds}
        write_named(save_schema, json.dumps(told, indent=1, ensure_ascii=False))
    for text in notes(table, m):
        warnings.warn(text, stacklevel=3)
    return table, m


def notes(table: Table, m: Microdata) -> list[str]:
    """Return what missing values, spellings and columns in doubt mean for a table."""
    found = [f"{m.dropped:,} rows with missing values are left out"] * (m.dropped > 0)
    for name in [*m.qi, *m.sensitives]:
        column = m.frame[name] if m.has_rows else pd.Series()
        ordered = getattr(column.dtype, "ordered", pd.api.types.is_numeric_dtype(column))
        if name in m.qi and ordered and column.isna().any():
            found.append(
                f"missing values are kept as the value ?, so {name} cannot be ordered: sets are "
                'published instead of intervals; missing="drop" (--missing drop) leaves such rows '
                "out"
            )
        if other := table.in_doubt.get(name):
            found.append(f"{name!r} was read as text; types={{{name!r}: {other!r}}} reads it so")
        if alike := near_equal(m.attribute(name).values):
            found.append(
                f"{' and '.join(map(str, alike))} of {name!r} may be one value, but they "
                "are kept apart: mend the file"
            )
    return found


def _listed(names: object) -> list:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _repeated(frame: pd.DataFrame, count: str) -> pd.DataFrame:
    """Return every row as often as a column says."""
    if count not in frame:
        raise ColumnError(f"count names {count!r}; the table has {list(frame)}")
    people = frame[count]
    if people.isna().any() or people.dtype.kind not in "iu" or people.min() < 0:
        raise ColumnError(f"{count!r} must say how many people a row counts for: 0, 1, 2, ...")
    return frame.loc[frame.index.repeat(people.to_numpy(np.intp))].reset_index(drop=True)


def _loaded(path: str | os.PathLike) -> dict:
    """Return the options of a saved schema."""
    with named_by_user(os.fspath(path)):
        text = Path(path).read_bytes()
    try:
        options = dict(json.loads(text))
    except (ValueError, TypeError) as error:
        raise FileError(f"{path} is no schema: {error}") from None
    if unknown := [name for name in options if name not in OPTIONS]:
        raise FileError(f"{path} names {unknown}: a schema has {', '.join(OPTIONS)}")
    return options
