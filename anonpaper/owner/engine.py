"""What writes the release of a table of counts, and reads it again to audit it."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonpaper.errors import AnonpaperError, EmptyTableError, FileError, ParameterError, needs
from anonpaper.microdata import Microdata, build_cells
from anonpaper.owner.sources import Sources
from anonpaper.publish import Anatomy, Release
from anonpaper.publish.world import PARQUET, beside, check_table_place

__all__ = ["Engine", "connect", "engine_errors"]

_FILE_SIZE = "512MB"  # of the files in a folder


def connect(engine: object = None) -> object:
    """Return an Ibis connection: the one given, or DuckDB within the process."""
    with needs("scale"):
        import ibis
    if engine is None:
        spill = tempfile.TemporaryDirectory()  # of nobody else's, for what exceeds memory
        connection = ibis.duckdb.connect(temp_directory=spill.name)
        connection._spill = spill  # it lives as long as the connection
        # by itself DuckDB also shows a bar in notebooks, whose outputs then depend on the clock
        connection.raw_sql(f"SET enable_progress_bar = {sys.stdout.isatty()}")
        return connection
    if not hasattr(engine, "read_parquet"):
        raise ParameterError(
            f"engine must be an Ibis connection such as ibis.duckdb.connect(), got {engine!r}"
        )
    return engine


@contextmanager
def engine_errors(what: object) -> Iterator[None]:
    """Raise what an engine says of files it cannot read or write as a FileError."""
    try:
        yield
    except (AnonpaperError, MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # every engine has classes of its own
        first = str(error).strip().partition("\n")[0]
        raise FileError(f"{what}: {first or type(error).__name__}") from error


@contextmanager
def _no_deadlock(connection: object) -> Iterator[None]:
    """Let DuckDB write in the threads that compute: a full disk must be said, not waited for.

    The threads that DuckDB 2.0.0 keeps for writing and the one that gives up after an error can
    wait for each other for ever (seen in 5 of 480 writes). A copy takes as long without them.
    """
    asked = "SELECT value FROM duckdb_settings() WHERE name = 'async_threads'"
    known = connection.name == "duckdb" and connection.raw_sql(asked).fetchall()
    if not known:
        yield
        return
    connection.raw_sql("SET async_threads = 0")
    try:
        yield
    finally:
        connection.raw_sql(f"SET async_threads = {known[0][0]}")


class Written(NamedTuple):
    """A table that was written: its files, its distinct rows, and how many there are of each."""

    paths: tuple[Path, ...]
    frame: pd.DataFrame
    counts: np.ndarray
    folder: Path | None  # of which these are all parquet files

    def found(self) -> Sources:
        """Return the files as they are now; raise FileError if others are with them."""
        there = () if self.folder is None else self.folder.glob("*.parquet")
        if more := sorted(set(there) - {*self.paths}):
            raise FileError(f"{more[0]} is not of this release: take it away, or write again")
        return Sources.of([*self.paths])


@dataclass(frozen=True, eq=False)
class Engine:
    """An Ibis connection that writes releases of a table of `n` rows, and reads them again."""

    connection: object
    sources: Sources
    table: object
    n: int

    def write(self, rel: Release, path, *, replace: bool) -> tuple[Written, ...]:
        """Write a release: one csv or parquet file by DuckDB, a folder of parquet files by any.

        What appears is whole, and an anatomy's second table is beside the first. There are as
        many copies of every published row as the counts say; the input is not read again.

        Rows are in the order of their texts, which follows from the published rows and is as safe
        as a random one; DuckDB needs 6 times the time for that and writes 38 times the bytes.
        """
        import ibis

        path = Path(path)
        is_csv, in_folder = (
            path.suffix.lower() == ".csv",
            path.suffix.lower() not in (".csv", *PARQUET),
        )
        by_duckdb = self.connection.name == "duckdb"
        if not in_folder and not by_duckdb:
            raise FileError(f"{path}: this engine writes several files at once: name a folder")
        places = [path, beside(path, "sensitive")] if isinstance(rel, Anatomy) else [path]
        places = [Path(os.path.realpath(p)) if p.is_symlink() else p for p in places]
        for place in places:
            (_check_folder if in_folder else check_table_place)(place, replace=replace)
            self.sources.check_apart(place)
        self._check_unchanged()
        tables = dict(zip(places, rel.counted_tables(), strict=True))
        if not len(tables[places[0]][0]):
            raise EmptyTableError("no row could be published")
        number, copy = (f"{word}_{secrets.token_hex(8)}" for word in ("number", "copy"))
        scratch = {place: _scratch(place, path.suffix) for place in places}
        kind = "csv" if is_csv else "parquet" if by_duckdb else "parquet_dir"
        save = getattr(self.connection, f"to_{kind}")
        size = {"file_size_bytes": _FILE_SIZE} if in_folder and by_duckdb else {}
        try:
            with engine_errors(path), _no_deadlock(self.connection):
                for place, (frame, counts) in tables.items():
                    distinct = ibis.memtable(frame.assign(**{number: counts}))
                    copies = distinct.mutate(**{copy: ibis.range(distinct[number]).unnest()})
                    save(copies.select(*frame.columns), scratch[place], **size)
                for place in reversed(places):  # where the first is, the others are too
                    if place.exists():  # and had no more readers
                        scratch[place].chmod(place.stat().st_mode & scratch[place].stat().st_mode)
                    _put(scratch[place], place)
        finally:
            for file in scratch.values():
                _remove(file)
        if not in_folder:
            return tuple(Written((place,), *table, None) for place, table in tables.items())
        return tuple(
            Written(tuple(sorted(place.glob("*.parquet"))), *table, place)
            for place, table in tables.items()
        )

    def check_written(self, written: Sequence[Written]) -> None:
        """Raise FileError if files do not hold the rows that were written; read by the engine."""
        import ibis

        number = f"number_{secrets.token_hex(8)}"
        for one in written:
            paths, frame, counts, _ = one
            with engine_errors(paths[0].parent):
                found = _as_texts(one.found().open(self.connection), frame.columns)
                found = found.group_by([*frame.columns]).aggregate(**{number: found.count()})
                wanted = ibis.memtable(frame.assign(**{number: counts}))
                wanted = _as_texts(wanted, frame.columns, number)
                more = found.count().to_pyarrow().as_py() - len(frame)
                if more or ibis.difference(wanted, found).count().to_pyarrow().as_py():
                    raise FileError(f"{paths[0]} does not hold what was written: write it again")

    def _check_unchanged(self) -> None:
        """Raise FileError if the table is not what was counted, as far as that shows quickly."""
        self.sources.check_unchanged()
        if not self.sources.seen:
            with engine_errors("the table that was scanned"):
                n = int(self.table.count().to_pyarrow().as_py())
            if n != self.n:
                raise FileError(f"the table had {self.n} rows and has {n} now: scan it again")

    def read(self, rel: Release, written: Written) -> tuple[Microdata, np.ndarray]:
        """Count the rows of a release as they were written; return what `audited` does.

        Every value is read as text, and rows are of one class if their texts are equal.
        """
        from anonpaper.owner.scan import scan

        names = [str(column.attribute.name) for column in rel.published]
        sensitive = [str(name) for name in rel.microdata.sensitives]
        source, found = written.paths, written.found()
        if found.are_csv:  # in which an empty text is not a missing one
            with engine_errors(source[0]):
                source = _as_texts(found.open(self.connection), [*names, *sensitive])
        rows = scan(source, names, sensitive, engine=self.connection).counted()
        sizes = [attribute.size for attribute in rows.attributes]
        return rows, build_cells(rows.codes, sizes, None, 1).tuple_of_row


def _as_texts(table: object, names: Sequence[str], *others: str) -> object:
    """Return columns as the engine writes them into a csv, where nothing and no text are alike."""
    return table.select(*(table[name].cast("string").fill_null("").name(name) for name in names),
                        *(table[name].cast("int64") for name in others))  # fmt: skip


def _check_folder(path: Path, *, replace: bool) -> None:
    if path.suffix or not path.name:
        raise FileError(f"{path}: name a file that ends in .csv or .parquet, or a folder")
    if not path.parent.is_dir():
        raise FileError(f"the folder {path.parent} is not there: make it first")
    if path.exists() and not path.is_dir():
        raise FileError(f"{path} is a file: name a folder")
    held = list(path.iterdir()) if path.exists() else []
    if held and not replace:
        raise FileError(f"{path} is there already: name another folder, or have it replaced")
    if any(file.suffix != ".parquet" or not file.is_file() for file in held):
        raise FileError(f"{path} holds more than parquet files, and is not replaced")


def _scratch(path: Path, suffix: str = "") -> Path:
    return path.with_name(f".writing-{secrets.token_hex(8)}{suffix}")


def _put(scratch: Path, path: Path) -> None:
    """Let what was written appear; a folder that was there goes, once its successor is whole."""
    before = _scratch(path)
    if scratch.is_dir() and path.exists():
        os.replace(path, before)
    os.replace(scratch, path)
    _remove(before)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
