"""Tables in files and databases, counted without loading their rows.

Rows with equal quasi-identifiers and sensitive values are interchangeable for every algorithm and
release. So an engine counts them by Ibis, algorithms group the counts, and as many copies of each
published row are written.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from anonpaper.owner.sources import Sources
from anonpaper.publish import Anatomy, Release
from anonpaper.publish.writing import PARQUET, beside, check_table_place
from anonpaper.roles import HOW_MISSING, checked_roles, missing_values

__all__ = ["Engine", "scan"]

_BLOCK = 1_000_000  # rows that are written at a time


def scan(
    source: object,
    qi: Sequence[str],
    sensitive: str | list[str] | None = None,
    *,
    engine: object = None,
    missing: str = "error",
    types: Mapping[str, str] | None = None,
    delimiter: str | None = None,
) -> Microdata:
    """Guarantee the same cells as the table's Microdata, counted without loading the rows.

    Attributes and domains are the same too. Algorithms that look at rows one by one
    (:func:`~anonpaper.klt`, :func:`~anonpaper.balanced_classes`, :func:`~anonpaper.oka`,
    :func:`~anonpaper.diva`) get the counted rows in random order.
    ``release.write(path)`` writes one csv or parquet file.

    Parameters
    ----------
    source : str, path, list of these, or Ibis table
        A csv or parquet file, a pattern such as ``"people/*.parquet"``, or an Ibis expression.
    qi : sequence of str
        The quasi-identifiers.
    sensitive : str or list of str, optional
        The sensitive attributes. Columns without a role are never read.
    engine : Ibis connection to DuckDB, optional
        Reads the files, by default within the process. Another engine, such as Spark, reads them
        itself: pass its table, as in ``ibis.pyspark.connect(session).read_parquet(path)``.
    missing : {"error", "drop", "category"}
        As for :class:`~anonpaper.Microdata`.
    types : mapping of column to str, optional
        Kinds of csv columns, as for ``--type`` (``"text"``, ``"integer"``, ``"ordered"``, ...).
        The default is inferred from the values; ``02139`` is text.
    delimiter : str, optional
        Between the fields of a csv: by default a tab in .tsv files, otherwise a comma.

    Returns
    -------
    Microdata
        A table of counts. Methods that need its rows raise RowsError.

    Raises
    ------
    ColumnError
        A column is unknown or used twice. Or a quasi-identifier of a csv may be numbers or dates,
        and `types` does not name it.
    EmptyTableError, MissingValueError
        No complete rows; missing values with ``missing="error"``.
    FileError, ParameterError
        A file is not found, named twice, not readable, changed meanwhile or has other columns than
        the first. Or an option does not suit `source`.
    NotInstalledError
        Ibis is not installed (``anonpaper[scale]``).

    References
    ----------
    Ibis, *the portable dataframe library*; M. Raasveldt, H. Mühleisen, *DuckDB: an embeddable
    analytical database*, SIGMOD 2019. O(n) for n rows by the engine, then O(e log e) time and
    memory for e cells, which must fit: coarsen quasi-identifiers that differ in nearly every row.
    Algorithms that look at rows need some hundred more bytes per row.

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
        files, table = Sources(), source
        connection = source._find_backend(use_default=True)
        columns, origin = list(table.columns), "an Ibis table"
        if engine is not None and engine is not connection:
            raise ParameterError("an Ibis table has its own engine: leave engine out")
    else:
        files, table = Sources.of(source), None
        connection, origin = _connect(engine), str(source)
        columns = files.columns(delimiter)
    _, sensitives = checked_roles(columns, qi, sensitive)
    roles = [name for name in columns if name in [*qi, *sensitives]]
    lowered = [name.lower() for name in columns]
    if alike := [name for name in roles if not name or lowered.count(name.lower()) > 1]:
        raise ColumnError(f"{alike}: names must differ in more than upper and lower case")
    if unknown := [name for name in types or {} if name not in columns]:
        raise ColumnError(f"types names columns that are not there: {unknown}")
    if not files.are_csv and (types or delimiter):
        raise ParameterError("types and delimiter are for csv only: this source has types")
    with _engine_errors(origin):
        if table is None:
            table = files.open(connection, delimiter)
        rows = f"rows_{secrets.token_hex(8)}"
        counted = table.group_by(roles).aggregate(**{rows: table.count()}).to_pyarrow()
    counts = counted.column(rows).to_numpy().astype(np.int64)
    if len(counts) == 0:
        raise EmptyTableError("the table has no rows")
    listed = {
        name: _listed(counted.column(name), name, files, (types or {}).get(name), name in qi)
        for name in roles
    }
    files.check_unchanged()
    listed, counts, dropped = _complete(listed, counts, missing)
    coded = {}
    for name, (values, index) in listed.items():
        used, place = np.unique(index, return_inverse=True)
        attribute, codes = code_values(values, used, None)
        coded[name] = attribute, codes[place]
    by_duckdb = connection if connection.name == "duckdb" else None
    engine = Engine(files, table, int(counts.sum()) + dropped, by_duckdb)
    return Microdata.of_counts(
        coded, counts, qi=qi, sensitive=sensitive, missing=missing, origin=origin,
        dropped=dropped, engine=engine,
    )  # fmt: skip


def _listed(column, name: str, files: Sources, kind: str | None, is_qi: bool) -> tuple:
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
    if files.are_csv:
        texts = pd.Series(values.to_pandas(), name=name, dtype=object).replace("", None)
        if kind:
            return typed(texts, kind), index
        looks, other = kind_of(texts.dropna())
        if other and is_qi:
            raise in_doubt({name: other})
        try:
            return typed(texts, looks), index
        except ColumnError:  # such as 2020-02-30, which only looks like a date
            return texts, index
    return files.as_pandas(values, name), index


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


class Written(NamedTuple):
    """A table that was written: its file, its distinct rows, and the count of each row."""

    path: Path
    frame: pd.DataFrame
    counts: np.ndarray


@dataclass(frozen=True, eq=False)
class Engine:
    """Writes releases of a counted `table` of `n` rows, and reads them again to audit them."""

    sources: Sources
    table: object
    n: int
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
            for mine in self.sources.seen:
                if os.path.realpath(place) == os.path.realpath(mine):
                    raise FileError(f"{path} is the input {mine}: name another place")
        self._check_unchanged()
        tables = rel.counted()
        if not len(tables[0][0]):
            raise EmptyTableError("no row could be published")
        with named_by_user(path), whole_files(places, replace=replace) as streams:
            for place, stream, table in zip(places, streams, tables, strict=True):
                _write_rows(stream, place.suffix.lower() == ".csv", *table)
        return tuple(Written(place, *table) for place, table in zip(places, tables, strict=True))

    def _check_unchanged(self) -> None:
        """Raise FileError if the table has visibly changed since it was counted."""
        self.sources.check_unchanged()
        if not self.sources.seen:
            with _engine_errors("the table that was scanned"):
                n = int(self.table.count().to_pyarrow().as_py())
            if n != self.n:
                raise FileError(f"the table had {self.n} rows and has {n} now: scan it again")

    def check_written(self, written: Sequence[Written]) -> None:
        """Count the rows of the files; raise FileError if they are not those written."""
        import ibis

        number = f"number_{secrets.token_hex(8)}"
        connection = _connect(self.connection)
        for path, frame, counts in written:
            with _engine_errors(path):
                wanted = ibis.memtable(frame.assign(**{number: counts}))
                found = _as(wanted.schema(), Sources.of(path).open(connection), frame.columns)
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
        found = Sources.of(source)
        if found.are_csv:  # in which an empty text is not a missing one
            with _engine_errors(source):
                source = _as({}, found.open(connection), [*names, *sensitive])
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
