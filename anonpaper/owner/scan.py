"""Tables in files and databases, counted without loading their rows.

Rows with equal quasi-identifiers and sensitive values are interchangeable for every algorithm and
release. So an engine counts them by Ibis, algorithms group the counts, and as many copies of each
published row are written.
"""

from __future__ import annotations

import csv
import glob
import gzip
import os
import secrets
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.coding import code_values
from anonpaper.errors import ColumnError, EmptyTableError, FileError, ParameterError
from anonpaper.files import named_by_user, whole_files
from anonpaper.groups import Entries
from anonpaper.microdata import Microdata
from anonpaper.owner.kinds import in_doubt, kind_of, typed
from anonpaper.publish import Anatomy, Release
from anonpaper.publish.writing import PARQUET, beside, check_table_place
from anonpaper.roles import HOW_MISSING, checked_roles, missing_values

__all__ = ["Engine", "scan"]

_BLOCK = 1_000_000  # rows that are written at a time
_CSV = tuple(text + packed for text in (".csv", ".tsv", ".txt") for packed in ("", ".gz"))


def scan(
    source: object,
    qi: Sequence[str],
    sensitive: str | list[str] | None = None,
    *,
    engine: object = None,
    missing: str = "error",
    types: Mapping[str, str | Sequence[str]] | None = None,
    delimiter: str | None = None,
) -> Microdata:
    """Guarantee the same cells as the table's Microdata, counted without loading the rows.

    Categories are read as texts. Algorithms that look at single rows get them in random order.
    ``release.write(path)`` writes one csv or parquet file.

    Parameters
    ----------
    source : str, path, list of these, or Ibis table
        Csv or parquet files, a pattern such as ``"people/*.parquet"``, or an Ibis expression.
    qi, sensitive, missing
        As for :class:`~anonpaper.Microdata`. Columns without a role are never read.
    engine : Ibis connection to DuckDB, optional
        Reads the files, by default within the process. Another engine, such as Spark, reads them
        itself: pass its table, as in ``ibis.pyspark.connect(session).read_parquet(path)``.
    types, delimiter
        As for :func:`~anonpaper.read`; types of parquet are those of the file.

    Returns
    -------
    Microdata
        A table of counts. Methods that need its rows raise RowsError.

    Raises
    ------
    ColumnError, EmptyTableError, FileError, MissingValueError, NotInstalledError, ParameterError
        As for :func:`~anonpaper.read`; or files of one table differ in columns, are named twice or
        change meanwhile; or categories have an order that `types` does not give.

    References
    ----------
    Ibis; M. Raasveldt, H. Mühleisen, *DuckDB*, SIGMOD 2019. O(n) for n rows by the engine, then
    O(e log e) time and memory for e cells.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> people = pd.DataFrame({"age": [30, 30, 41, 41], "ill": ["flu", "cold", "flu", "cold"]})
    >>> path = Path(tempfile.mkdtemp(), "people.csv")
    >>> people.to_csv(path, index=False)
    >>> m = scan(path, qi=["age"], sensitive="ill")
    >>> m.n, m.cells.tuples.tolist(), m.cells.counts.tolist()
    (4, [[0], [1]], [1, 1, 1, 1])
    """
    errors.check_choice("missing", missing, HOW_MISSING)
    if hasattr(source, "to_pyarrow") and hasattr(source, "group_by"):
        files, schema, table, origin = {}, None, source, "an Ibis table"
        connection, columns = source._find_backend(use_default=True), list(source.columns)
        if engine is not None and engine is not connection:
            raise ParameterError("an Ibis table has its own engine: leave engine out")
    else:
        files, origin = _files_of(source), str(source)
        connection = _connect(engine)
        delimiter = delimiter or ("\t" if any(".tsv" in path for path in files) else ",")
        columns, schema = _columns_of(files, delimiter)
    _, sensitives = checked_roles(columns, qi, sensitive)
    roles = [name for name in columns if name in [*qi, *sensitives]]
    lowered = [name.lower() for name in columns]
    if alike := [name for name in roles if not name or lowered.count(name.lower()) > 1]:
        raise ColumnError(f"{alike}: names must differ in more than upper and lower case")
    if unknown := [name for name in types or {} if name not in columns]:
        raise ColumnError(f"types names columns that are not there: {unknown}")
    with _engine_errors(origin):
        if files:
            table = _opened(connection, files, columns, delimiter)
        rows = f"rows_{secrets.token_hex(8)}"
        counted = table.group_by(roles).aggregate(**{rows: table.count()}).to_pyarrow()
    counts = counted.column(rows).to_numpy().astype(np.int64)
    if len(counts) == 0:
        raise EmptyTableError("the table has no rows")
    listed = {
        name: _listed(
            counted.column(name),
            name,
            _are_csv(files),
            schema,
            (types or {}).get(name),
            name in qi,
        )
        for name in roles
    }
    _check_unchanged(files)
    listed, counts, dropped = _complete(listed, counts, missing)
    coded = {}
    for name, (values, index) in listed.items():
        used, place = np.unique(index, return_inverse=True)
        attribute, codes = code_values(values, used, None)
        coded[name] = attribute, codes[place]
    by_duckdb = connection if connection.name == "duckdb" else None
    engine = Engine([*files], columns, by_duckdb)
    return Microdata.of_counts(
        coded, counts, qi=qi, sensitive=sensitive, missing=missing, origin=origin,
        dropped=dropped, engine=engine,
    )  # fmt: skip


def _listed(column, name: str, is_csv: bool, schema, kind, is_qi: bool) -> tuple:
    """Return the distinct values of a column, as pandas reads them, and their places.

    If any value is missing, it is the last one.
    """
    import pyarrow as pa

    try:
        encoded = pa.chunked_array(column).combine_chunks().dictionary_encode()
    except pa.ArrowException:
        raise ColumnError(
            f"values of {name!r} cannot be compared ({column.type}): convert to text or numbers"
        ) from None
    values, index = encoded.dictionary, encoded.indices.fill_null(len(encoded.dictionary))
    if encoded.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    index = index.to_numpy(zero_copy_only=False)
    if is_csv or kind:
        texts = pd.Series(values.to_pandas(), name=name).astype("string").astype(object)
        texts = texts.where(texts.notna(), None).replace("", None)
        looks, other = (kind, None) if kind else kind_of(texts.dropna())
        if other and is_qi:
            raise in_doubt({name: other})
        try:
            return typed(texts, looks), index
        except ColumnError:  # such as 2020-02-30, which only looks like a date
            if kind:
                raise
            return texts, index
    of_file = None if schema is None else schema.field(name).type
    if of_file is None or pa.types.is_dictionary(of_file):
        if of_file is not None and of_file.ordered:
            raise ColumnError(f"{name!r} has categories in an order: types={{{name!r}: [...]}}")
        return values.to_pandas().rename(name), index
    with suppress(pa.ArrowException):  # only missing values, or an identifier as text
        values = values.cast(of_file)
    table = pa.table({name: values}).replace_schema_metadata(schema.metadata)
    return table.to_pandas().reset_index()[name], index


def _complete(listed: dict, counts: np.ndarray, missing: str) -> tuple[dict, np.ndarray, int]:
    """Drop combinations that lack a value, if requested; return how many rows they are."""
    lacking = {name: values.isna().to_numpy()[index] for name, (values, index) in listed.items()}
    incomplete = np.any([*lacking.values(), np.zeros(len(counts), bool)], axis=0)
    if missing == "category" or not incomplete.any():
        return listed, counts, 0
    if missing == "error":
        of_column = {name: int(counts[mask].sum()) for name, mask in lacking.items() if mask.any()}
        raise missing_values(of_column)
    if incomplete.all():
        raise EmptyTableError("every row has a missing value in a role column")
    kept = {name: (values, index[~incomplete]) for name, (values, index) in listed.items()}
    return kept, counts[~incomplete], int(counts[incomplete].sum())


def _connect(engine: object = None) -> object:
    """Return an Ibis connection to DuckDB: the one given, or one within the process."""
    with errors.needs("scale"):
        import ibis
    if engine is None:
        spill = tempfile.TemporaryDirectory()  # private, for data that exceed memory
        connection = ibis.duckdb.connect(temp_directory=spill.name)
        connection._spill = spill  # it lives as long as the connection
        # DuckDB would also show a bar in notebooks, whose outputs would then depend on the clock
        connection.raw_sql(f"SET enable_progress_bar = {sys.stdout.isatty()}")
        return connection
    if getattr(engine, "name", None) != "duckdb":
        raise ParameterError(
            "engine must be a connection such as ibis.duckdb.connect(); read the files by another "
            f"engine and pass its table, got {engine!r}"
        )
    return engine


@contextmanager
def _engine_errors(what: object) -> Iterator[None]:
    """Turn an engine's errors about reading into FileError."""
    try:
        yield
    except (errors.AnonpaperError, MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # every engine has its own classes
        first = str(error).strip().partition("\n")[0]
        raise FileError(f"{what}: {first or type(error).__name__}") from error


# -- files ---------------------------------------------------------------------------------


def _files_of(source: object) -> dict[str, tuple]:
    """Find the files of a path, a pattern, or several, and their state; each is counted once."""
    several = isinstance(source, Iterable) and not isinstance(source, (str, os.PathLike))
    named = list(source) if several else [source]
    if not named or not all(isinstance(one, (str, os.PathLike)) for one in named):
        raise ParameterError(
            f"source must be a path, a pattern, several, or an Ibis table, got {source!r}"
        )
    places: dict[str, str] = {}
    for one in map(os.fspath, named):
        found = [one] if os.path.isfile(one) else sorted(glob.glob(one, recursive=True))
        if not found or os.path.isdir(one):
            raise FileError(
                f"{one}: no such file; a pattern such as people/*.parquet names several"
            )
        for path in found:
            if not os.path.isfile(path):
                of = "for files in folders use folder/*/*.parquet"
                raise FileError(f"{one} names {path}, which is not a file: {of}")
            if (other := places.setdefault(os.path.realpath(path), path)) != path:
                raise FileError(f"{path} is the same file as {other}: name it once")
    paths = [*places.values()]
    if not any(all(p.lower().endswith(kind) for p in paths) for kind in (_CSV, PARQUET)):
        raise FileError(
            f"{', '.join(map(str, named))}: all files must end in .parquet or .pq, or all in "
            ".csv, .tsv or .txt, each with or without .gz"
        )
    return {path: _state(path) for path in paths}


def _are_csv(files: Iterable[str]) -> bool:
    return any(path.lower().endswith(_CSV) for path in files)


def _state(path: str) -> tuple:
    try:
        found = os.stat(path)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    return found.st_size, found.st_mtime_ns, found.st_ino


def _check_unchanged(files: Mapping[str, tuple]) -> None:
    """Raise FileError if a file is gone or has changed since it was found."""
    for path, before in files.items():
        if _state(path) != before:
            raise FileError(f"{path} has changed while it was scanned: scan it again")


def _columns_of(files: Iterable[str], delimiter: str) -> tuple[list[str], object]:
    """Return the columns and the schema of parquet; all files must have the same ones."""
    described, schema = {}, None
    for path in files:
        if _are_csv([path]):
            names = kinds = _header(path, delimiter)
        else:
            found = _schema(path)
            schema, names = schema or found, found.names
            kinds = [(n, str(getattr(found.field(n).type, "value_type", found.field(n).type)))
                     for n in names]  # fmt: skip
        described[path] = kinds
    (first, wanted), *others = described.items()
    for path, other in others:
        if other != wanted:
            raise FileError(
                f"{path} has the columns {other}, and {first} has {wanted}: files of one "
                "table must have the same ones, in the same order and of the same types"
            )
    return names, schema


def _schema(path: str) -> object:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        found = pyarrow.parquet.read_schema(path)
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"{path} is not a parquet file: {error}") from None
    if len(set(found.names)) < len(found.names):
        raise ColumnError(f"{path} has two columns with the same name: rename one")
    return found


def _header(path: str, delimiter: str) -> list[str]:
    try:
        opened = gzip.open if path.lower().endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
            found = next(csv.reader(stream, delimiter=delimiter, strict=True), [])
    except (OSError, EOFError, csv.Error, UnicodeError, TypeError) as error:
        raise FileError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if len({name.lower() for name in found if name}) < max(1, len(found)):
        raise ColumnError(f"the first line of {path} must name all columns, each differently")
    return found


def _opened(connection, files: Iterable[str], columns: Sequence[str], delimiter: str) -> object:
    """Return the files as an Ibis expression of DuckDB; every column of a csv is text."""
    paths = [glob.escape(path) for path in files]  # DuckDB takes names for patterns
    # otherwise a folder's name, such as age=7, would replace values of its files
    options: dict = {"hive_partitioning": False}
    if not _are_csv(files):
        return connection.read_parquet(paths, **options)
    options |= {"columns": dict.fromkeys(columns, "VARCHAR"), "delim": delimiter, "nullstr": ""}
    options |= {"header": True, "quote": '"', "escape": '"'}
    return connection.read_csv(paths, **options)


# -- releases ------------------------------------------------------------------------------


class Written(NamedTuple):
    """A table that was written: its file, its distinct rows, and the count of each row."""

    path: Path
    frame: pd.DataFrame
    counts: np.ndarray


@dataclass(frozen=True, eq=False)
class Engine:
    """Writes releases of a table that was counted, and reads them again to audit them."""

    files: list[str]
    columns: list[str]
    connection: object = None  # to DuckDB, if there is one already

    def write(self, rel: Release, path, *, replace: bool) -> tuple[Written, ...]:
        """Write a release to a csv or parquet file; an anatomy's second table lies beside it.

        Files appear complete or not at all. Every published row is written as often as its count
        says. The input is not read again. Rows are sorted by their texts. This order depends only
        on published rows, so it is as safe as a random one.
        """
        places = [Path(path), *([beside(path, "sensitive")] if isinstance(rel, Anatomy) else [])]
        for place in places:
            if place.suffix.lower() not in (".csv", *PARQUET):
                raise FileError(f"{path}: a table of counts is written as .csv or .parquet")
            check_table_place(place, replace=replace)
            for mine in self.files:
                if os.path.realpath(place) == os.path.realpath(mine):
                    raise FileError(f"{path} is the input {mine}: name another place")
        tables = rel.counted()
        if not len(tables[0][0]):
            raise EmptyTableError("no row could be published")
        with named_by_user(path), whole_files(places, replace=replace) as streams:
            for place, stream, table in zip(places, streams, tables, strict=True):
                _write_rows(stream, place.suffix.lower() == ".csv", *table)
        return tuple(Written(place, *table) for place, table in zip(places, tables, strict=True))

    def check_written(self, written: Sequence[Written]) -> None:
        """Count the rows of the files; raise FileError if they are not those written."""
        import ibis

        number = f"number_{secrets.token_hex(8)}"
        connection = _connect(self.connection)
        for path, frame, counts in written:
            with _engine_errors(path):
                wanted = ibis.memtable(frame.assign(**{number: counts}))
                found = _opened(connection, [str(path)], frame.columns, ",")
                found = _as(wanted.schema(), found, frame.columns)
                found = found.group_by([*frame.columns]).aggregate(**{number: found.count()})
                wanted = _as(wanted.schema(), wanted, wanted.columns)
                more = connection.execute(found.count()) - len(frame)
                if more or connection.execute(ibis.difference(wanted, found).count()):
                    raise FileError(f"{path} does not hold what was written: write it again")

    def read(self, rel: Release, written: Written) -> Entries:
        """Count the rows of a written release; return what ``Release.audited`` returns.

        Every value of a csv is read as text. Rows with equal texts are in one class.
        """
        names = [str(column.attribute.name) for column in rel.published]
        sensitive = [str(name) for name in rel.microdata.sensitives]
        connection, source = _connect(self.connection), written.path
        if _are_csv([str(source)]):  # in which an empty text is not a missing one
            with _engine_errors(source):
                columns = _header(str(source), ",")
                found = _opened(connection, [str(source)], columns, ",")
                source = _as({}, found, [*names, *sensitive])
        how = rel.microdata.missing
        m = scan(source, names, sensitive, engine=connection, missing=how)
        return Entries.of_cells(m, m.cells.tuple_of_cell)


def _as(kinds: Mapping, table: object, names: Sequence[str]) -> object:
    """Return columns as other kinds, or as texts, where null and empty text are equal."""
    return table.select(**{
        name: table[name].try_cast(kinds[name])
        if name in kinds and not kinds[name].is_string()
        else table[name].cast("string").fill_null("")
        for name in names
    })  # fmt: skip


def _write_rows(stream, is_csv: bool, frame: pd.DataFrame, counts: np.ndarray) -> None:
    """Write each row as often as its count says, in blocks that fit in memory."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    kinds = {name: pa.string() if column.dtype == object else None
             for name, column in frame.items()}  # fmt: skip
    table = pa.table({n: pa.array(frame[n], kind, from_pandas=True) for n, kind in kinds.items()})
    ends = np.cumsum(counts)
    options = {} if is_csv else {"store_schema": False}
    kind = csv.CSVWriter if is_csv else parquet.ParquetWriter
    with kind(stream, table.schema, **options) as writer:
        for first in range(0, ends[-1], _BLOCK):
            rows = np.arange(first, min(first + _BLOCK, ends[-1]))
            writer.write_table(table.take(np.searchsorted(ends, rows, "right")))
