"""Tables in files and databases, counted without loading their rows.

Rows with equal quasi-identifiers and sensitive values are interchangeable for every algorithm and
release. So an engine counts them by Ibis, algorithms group the counts, and as many copies of each
published row are written.
"""

from __future__ import annotations

import csv
import glob
import os
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.coding import from_arrow
from anonpaper.errors import ColumnError, EmptyTableError, FileError, ParameterError, check_choice
from anonpaper.files import named_by_user, whole_files
from anonpaper.microdata import Microdata
from anonpaper.owner.kinds import check_kinds
from anonpaper.owner.reader import Table
from anonpaper.owner.sources import opened, separator
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
    types: Mapping[str, str | Sequence[str]] | None = None,
    na: Sequence[str] = (),
    missing: str = "error",
    delimiter: str | None = None,
) -> Microdata:
    """Guarantee the same cells as the table's Microdata, counted without loading the rows.

    Algorithms that look at single rows get them in random order; methods that need the rows raise
    RowsError. ``release.write(path)`` writes one csv or parquet file.

    Parameters
    ----------
    source : str, path, list of these, or Ibis table
        Csv or parquet files, a pattern such as ``"people/*.parquet"``, or an Ibis expression,
        which its own engine counts: ``ibis.pyspark.connect(session).read_parquet(path)``.
    qi, sensitive, types, na, missing, delimiter
        As for :func:`~anonpaper.read`. Columns without a role are never read.

    Returns
    -------
    Microdata

    Raises
    ------
    ColumnError, FileError, MissingValueError, NotInstalledError, ParameterError
        As for :func:`~anonpaper.read`; or files of one table differ in columns or are named twice;
        or categories have an order that `types` does not give.

    References
    ----------
    M. Raasveldt, H. Mühleisen, *DuckDB*, SIGMOD 2019. O(n) for n rows by the engine, then
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
    check_kinds(types := {} if types is None else types, na)
    is_table = hasattr(source, "to_pyarrow") and hasattr(source, "group_by")
    files = [] if is_table else _files_of(source)
    origin = "an Ibis table" if is_table else str(source)
    columns, schema = [*source.columns] if is_table else [], None
    if files:
        delimiter = separator(files[0], delimiter)
        columns, schema = _columns_of(files, delimiter)
    _, sensitives = checked_roles(columns, qi, sensitive)
    roles = [name for name in columns if name in [*qi, *sensitives]]
    are_texts = bool(files) and schema is None
    lowered = Counter(name.lower() for name in columns)
    named = columns if are_texts else roles
    if alike := [name for name in named if not name or lowered[name.lower()] > 1]:
        raise ColumnError(f"{alike}: names must differ in more than upper and lower case")
    with _engine_errors(origin):
        table = _opened(files, columns, delimiter) if files else source
        counted, counts = _counted(table, roles)
    found = Table(pd.DataFrame(index=range(len(counts))), columns)
    for name in roles:
        found.frame[name] = _column(counted[name], name, schema, name in types)
    found.interpret(types, na, roles if are_texts else [], counts)
    found.check_certain(qi)
    lacking = found.frame.isna()
    if check_choice("missing", missing, HOW_MISSING) == "error" and lacking.any(axis=None):
        raise missing_values({n: int(counts[lacking[n]].sum()) for n in roles if any(lacking[n])})
    m = Microdata(found.frame, qi, sensitive, missing=missing)
    kept = counts[m.frame.index]
    return Microdata.of_counts(
        {name: (m.attribute(name), m.codes_of(name)) for name in roles}, kept, qi=qi,
        sensitive=sensitive, missing=missing, origin=origin,
        dropped=int(counts.sum() - kept.sum()), engine=Engine(files, columns),
    )  # fmt: skip


def _counted(table: object, names: Sequence[str]) -> tuple:
    """Return the distinct rows of some columns, as a table of Arrow, and the count of each."""
    rows = f"rows_{secrets.token_hex(8)}"
    counted = table.group_by(list(names)).aggregate(**{rows: table.count()}).to_pyarrow()
    return counted.drop_columns([rows]), counted.column(rows).to_numpy().astype(np.int64)


def _column(column: object, name: str, schema: object, is_typed: bool) -> pd.Series:
    """Return a column as the type of its file; ColumnError for an order that only a file has."""
    import pyarrow as pa

    of_file = column.type if schema is None else schema.field(name).type
    if pa.types.is_dictionary(of_file):
        if of_file.ordered and not is_typed:
            raise ColumnError(
                f"{name!r} has categories in an order: --type {name}=FIRST<SECOND<...; "
                f"in Python types={{{name!r}: [...]}}"
            )
        of_file = of_file.value_type
    with suppress(pa.ArrowException):  # only missing values, or an identifier as text
        column = column.cast(of_file)
    return from_arrow(column, name)


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


def _files_of(source: object) -> list[str]:
    """Find the files of a path, a pattern, or several; each is counted once."""
    several = isinstance(source, Iterable) and not isinstance(source, (str, os.PathLike))
    named = list(source) if several else [source]
    if not named or not all(isinstance(one, (str, os.PathLike)) for one in named):
        raise ParameterError(
            f"source must be a path, a pattern, several, or an Ibis table, got {source!r}"
        )
    paths: dict[str, str] = {}
    for one in map(os.fspath, named):
        found = [one] if os.path.isfile(one) else sorted(glob.glob(one, recursive=True))
        if found in ([], [one]) and not os.path.isfile(one):
            raise FileError(
                f"{one}: no such file; a pattern such as people/*.parquet names several"
            )
        for path in found:
            if not os.path.isfile(path):
                raise FileError(
                    f"{one} names {path}, which is not a file: for files in folders use "
                    "folder/*/*.parquet"
                )
            if (other := paths.setdefault(os.path.realpath(path), path)) != path:
                raise FileError(f"{path} is the same file as {other}: name it once")
    if not any(all(p.lower().endswith(kind) for p in paths.values()) for kind in (_CSV, PARQUET)):
        raise FileError(
            f"{', '.join(map(str, named))}: all files must end in .parquet or .pq, or all in "
            ".csv, .tsv or .txt, each with or without .gz"
        )
    return [*paths.values()]


def _columns_of(files: Sequence[str], delimiter: str) -> tuple[list[str], object]:
    """Return the columns of files, and the schema of parquet files; all must have the same."""
    with errors.needs("scale"):
        import pyarrow  # noqa: F401
    found = []
    for path in files:
        columns, schema, _ = opened(path, delimiter)
        kinds = [str(getattr(one.type, "value_type", one.type)) for one in schema or ()]
        found.append((columns, kinds, schema))
        if found[-1][:2] != found[0][:2]:
            raise FileError(
                f"{path} has the columns {columns} {kinds}, and {files[0]} has {found[0][:2]}: "
                "files of one table must have the same ones, in the same order and of the same "
                "types"
            )
    return found[0][0], found[0][2]


def _opened(files: Sequence[str], columns: Sequence[str], delimiter: str) -> object:
    """Return the files as an Ibis expression of DuckDB; every column of a csv is text."""
    with errors.needs("scale"):
        import ibis
    spill = tempfile.TemporaryDirectory()  # private, for data that exceed memory
    connection = ibis.duckdb.connect(temp_directory=spill.name)
    connection._spill = spill  # it lives as long as the connection
    # DuckDB would also show a bar in notebooks, whose outputs would then depend on the clock
    connection.raw_sql(f"SET enable_progress_bar = {sys.stdout.isatty()}")
    paths = [glob.escape(path) for path in files]  # DuckDB takes names for patterns
    # otherwise a folder's name, such as age=7, would replace values of its files
    if files[0].lower().endswith(PARQUET):
        return connection.read_parquet(paths, hive_partitioning=False)
    return connection.read_csv(
        paths, hive_partitioning=False, columns=dict.fromkeys(columns, "VARCHAR"),
        delim=delimiter, nullstr="", header=True, quote='"', escape='"',
    )  # fmt: skip


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

    def write(self, rel: Release, path, *, replace: bool) -> tuple[Written, ...]:
        """Write a release to csv or parquet, whole or not at all; an anatomy's second one beside.

        Every published row is written as often as its count says. Rows are sorted by their texts:
        this order depends only on published rows, so it is as safe as a random one.
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
        for path, frame, counts in written:
            names = list(frame.columns)
            with _engine_errors(path):
                counted, found = _counted(_opened([str(path)], names, ","), names)
            if _texts(counted.to_pandas(), found) != _texts(frame, counts):
                raise FileError(f"{path} does not hold what was written: write it again")


def _texts(frame: pd.DataFrame, counts: np.ndarray) -> dict[tuple, int]:
    """The rows as texts, in which null is an empty text, and their counts."""
    texts = frame.astype(object).where(frame.notna(), "").astype(str)
    return pd.Series(counts).groupby([texts[name] for name in texts]).sum().to_dict()


def _write_rows(stream, is_csv: bool, frame: pd.DataFrame, counts: np.ndarray) -> None:
    """Write each row as often as its count says, in blocks that fit in memory."""
    if is_csv:
        lines: list[str] = []
        writer = csv.writer(SimpleNamespace(write=lines.append), quoting=csv.QUOTE_NONNUMERIC,
                            lineterminator="\n")  # fmt: skip
        writer.writerows([frame.columns, *frame.itertuples(index=False)])
        for line, count in zip(lines, [1, *counts.tolist()], strict=True):
            for first in range(0, count, _BLOCK):
                stream.write(line.encode() * min(_BLOCK, count - first))
        return
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {n: pa.string() if column.dtype == object else None for n, column in frame.items()}
    table = pa.table({n: pa.array(frame[n], kind, from_pandas=True) for n, kind in kinds.items()})
    ends = np.cumsum(counts)
    with parquet.ParquetWriter(stream, table.schema, store_schema=False) as writer:
        for first in range(0, ends[-1], _BLOCK):
            rows = np.arange(first, min(first + _BLOCK, ends[-1]))
            writer.write_table(table.take(np.searchsorted(ends, rows, "right")))
