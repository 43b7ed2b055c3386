"""Tables in files and databases, counted by an engine, without loading their rows."""

from __future__ import annotations

import glob
import os
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.coding import from_arrow
from anonpaper.errors import ColumnError, EmptyTableError, FileError, ParameterError, check_choice
from anonpaper.files import check_place, named_by_user, whole_files
from anonpaper.microdata import Microdata
from anonpaper.owner.kinds import check_kinds
from anonpaper.owner.reader import WORKBOOKS, Table, reading
from anonpaper.publish import Release
from anonpaper.publish.writing import PARQUET, beside
from anonpaper.roles import HOW_MISSING, checked_roles, missing_values

__all__ = ["Engine", "scan"]

_BLOCK = 1_000_000  # rows that are written at a time
_AS = "a table of counts is written as .csv or .parquet"


def scan(
    source: object,
    qi: Sequence[str],
    sensitive: str | list[str] | None = None,
    *,
    types: Mapping[str, str | Sequence[str]] | None = None,
    na: Sequence[str] = (),
    missing: str = "error",
    delimiter: str | None = None,
) -> Microdata:
    """Guarantee the same cells as the table's Microdata, counted without loading the rows.

    Algorithms that look at single rows get them in random order; methods that need the rows raise
    RowsError. ``release.write(path)`` writes one csv or parquet file. O(n) for n rows by the
    engine (DuckDB: Raasveldt and Mühleisen, SIGMOD 2019), then O(e log e) for e cells. Errors are
    those of :func:`~anonpaper.read`; files of one table must not differ in columns.

    Parameters
    ----------
    source : str, path, or Ibis table
        Csv or parquet files, a pattern such as ``"people/*.parquet"``, or an Ibis expression,
        which its own engine counts: ``ibis.pyspark.connect(session).read_parquet(path)``.
    qi, sensitive, types, na, missing, delimiter
        As for :func:`~anonpaper.read`. Columns without a role are never read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> people = pd.DataFrame({"age": [30, 30, 41, 41], "ill": ["flu", "cold", "flu", "cold"]})
    >>> people.to_csv(path := Path(tempfile.mkdtemp(), "people.csv"), index=False)
    >>> m = scan(path, qi=["age"], sensitive="ill")
    >>> m.n, m.cells.tuples.tolist(), m.cells.counts.tolist()
    (4, [[0], [1]], [1, 1, 1, 1])
    """
    check_kinds(types := {} if types is None else types, na)
    if hasattr(source, "to_pyarrow"):
        files, found, origin = [], Table([*source.columns]), "an Ibis table"
    else:
        files, found, origin = *_files_of(source, delimiter), str(source)
    _, sensitives = checked_roles(found.columns, qi, sensitive)
    roles = [name for name in found.columns if name in [*qi, *sensitives]]
    if len({"", *map(str.lower, found.columns)}) <= len(found.columns):
        told = "a name is empty, or two differ in upper and lower case only"
        raise ColumnError(f"{found.columns}: {told}")
    try:
        with reading(origin):
            counted, counts = _counted(_opened(files, found) if files else source, roles)
    except FileError:
        for path in [] if hasattr(found.source, "schema_arrow") else files:
            with reading(path):  # the reader of a csv knows the line
                deque(Table.opened(path, delimiter).source, maxlen=0)
        raise
    schema = getattr(found.source, "schema_arrow", counted.schema)
    columns = {n: _column(counted[n], schema.field(n), n in types) for n in roles}
    found.frame = pd.DataFrame(columns, index=range(len(counts)))
    found.interpret(types, na, qi, counts)
    lacking = found.frame.isna().mul(counts, axis=0).sum()
    if check_choice("missing", missing, HOW_MISSING) == "error" and lacking.any():
        raise missing_values(lacking[lacking > 0].to_dict())
    m = Microdata(found.frame, qi, sensitive, missing=missing)
    kept = counts[m.frame.index]
    return Microdata.of_counts(
        {name: (m.attribute(name), m.codes_of(name)) for name in roles}, kept, qi=qi,
        sensitive=sensitive, missing=missing, origin=origin,
        dropped=int(counts.sum() - kept.sum()), engine=Engine(files),
    )  # fmt: skip


def _counted(table: object, names: Sequence[str]) -> tuple:
    """Return the distinct rows of some columns, as a table of Arrow, and the count of each."""
    rows = max(names, key=len) + "_"
    counted = table.group_by(list(names)).aggregate(**{rows: table.count()}).to_pyarrow()
    return counted.drop_columns([rows]), counted.column(rows).to_numpy().astype(np.int64)


def _column(column: object, of_file: object, is_typed: bool) -> pd.Series:
    """Return a column as the type of its file; ColumnError for an order that only a file has."""
    import pyarrow as pa

    if pa.types.is_decimal256(of_file.type):  # an engine reads it as a float
        raise ColumnError(f"{of_file.name!r} has more than 38 digits: ap.read keeps them")
    if not pa.types.is_dictionary(of_file.type):
        with suppress(pa.ArrowException):  # only missing values, or an identifier as text
            column = column.cast(of_file.type)
    elif of_file.type.ordered and not is_typed:
        told = f"types={{{of_file.name!r}: [...]}}"
        raise ColumnError(f"{of_file.name!r} has categories in an order: say it by {told}")
    return from_arrow(column, of_file.name)


def _files_of(source: object, delimiter: str | None) -> tuple[list[str], Table]:
    """Return the files of a path or a pattern, each once, and the Table of the first."""
    if not isinstance(source, (str, os.PathLike)):
        raise ParameterError(f"source must be a path, a pattern or an Ibis table, got {source!r}")
    path = os.fspath(source)
    found = [path] if os.path.isfile(path) else sorted(glob.glob(path, recursive=True)) or [path]
    there = [one for one in found if os.path.lexists(one) or glob.escape(path) != path]
    if others := [one for one in there if not os.path.isfile(one)]:
        raise FileError(f"{others} are no files; a pattern such as people/*.parquet names several")
    files = [*{os.path.realpath(one): one for one in found}.values()]
    for path in files:
        if path.lower().endswith(WORKBOOKS):
            raise FileError(f"{path} is a workbook, which no engine counts: save it as csv")
        table = Table.opened(path, delimiter)
        types = [one.type for one in getattr(table.source, "schema_arrow", ())]
        kinds = [str(getattr(kind, "value_type", kind)) for kind in types]
        if path == files[0]:
            first, wanted = table, (table.columns, kinds)
        if (table.columns, kinds) != wanted:
            raise FileError(f"{path} has the columns {table.columns} {kinds}, not {wanted}")
    return files, first


def _opened(files: Sequence[str], table: Table) -> object:
    """Return the files as an Ibis expression of DuckDB; every column of a csv is text."""
    with errors.needs("scale"):
        import ibis
    spill = tempfile.TemporaryDirectory()  # private, for data that exceed memory
    connection = ibis.duckdb.connect(temp_directory=spill.name)
    connection._spill = spill  # it lives as long as the connection
    connection.raw_sql("SET enable_progress_bar = false")  # what is shown depends on the clock
    paths = [glob.escape(path) for path in files]  # DuckDB takes names for patterns
    # otherwise a folder's name, such as age=7, would replace values of its files
    if files[0].lower().endswith(PARQUET):
        return connection.read_parquet(paths, hive_partitioning=False)
    with open(files[0], "rb") as first:
        begins = first.read(2)
    return connection.read_csv(
        paths, hive_partitioning=False, columns=dict.fromkeys(table.columns, "VARCHAR"),
        delim=table.delimiter, nullstr="", header=True, quote='"', escape='"',
        encoding="utf-16" if begins in (b"\xff\xfe", b"\xfe\xff") else "utf-8",
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Engine:
    """Writes releases of a table that was counted, and reads them again to audit them."""

    files: list[str]

    def write(self, rel: Release, path, *, replace: bool) -> dict[Path, tuple]:
        """Write a release to csv or parquet, whole or not at all; an anatomy's second one beside.

        Every published row is written as often as its count says. Rows are sorted by their texts:
        this order depends only on published rows, so it is as safe as a random one.
        """
        tables = rel.counted()
        places = [path, *(beside(path, "sensitive") for _ in tables[1:])]
        for place in places:
            check_place(place, replace=replace, endings=(".csv", *PARQUET), of=_AS)
            if os.path.realpath(place) in map(os.path.realpath, self.files):
                raise FileError(f"{place} is the input: name another place")
        if not len(tables[0][0]):
            raise EmptyTableError("no row could be published")
        with named_by_user(path), whole_files(places, replace=replace) as streams:
            for stream, table in zip(streams, tables, strict=True):
                _write(stream, Path(path).suffix.lower() == ".csv", *table)
        return dict(zip(map(Path, places), tables, strict=True))

    def check_written(self, written: Mapping[Path, tuple]) -> None:
        """Count the rows of the files; raise FileError if they are not those written."""
        for path, (frame, counts) in written.items():
            names = list(frame.columns)
            with reading(path):
                counted, found = _counted(_opened([str(path)], Table(names)), names)
            if _by_texts(counted.to_pandas(), found) != _by_texts(frame, counts):
                raise FileError(f"{path} does not hold what was written: write it again")


def _texts(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows as texts, in which null is an empty text."""
    return frame.astype(object).where(frame.notna(), "").astype(str)


def _by_texts(frame: pd.DataFrame, counts: np.ndarray) -> dict:
    return pd.Series(counts).groupby([*_texts(frame).to_numpy().T]).sum().to_dict()


def _write(stream: IO[bytes], is_csv: bool, frame: pd.DataFrame, counts: np.ndarray) -> None:
    """Write each row as often as its count says, in blocks that fit in memory."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    writer = csv.CSVWriter if is_csv else partial(parquet.ParquetWriter, store_schema=False)
    table = pa.Table.from_pandas(_texts(frame) if is_csv else frame, preserve_index=False)
    ends, table = np.cumsum(counts), table.replace_schema_metadata()
    with writer(stream, table.schema) as file:
        for first in range(0, ends[-1], _BLOCK):
            rows = np.arange(first, min(first + _BLOCK, ends[-1]))
            file.write_table(table.take(np.searchsorted(ends, rows, "right")))
