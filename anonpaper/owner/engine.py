"""Writes the release of a table of counts, and reads it again to audit it."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonpaper.errors import AnonpaperError, EmptyTableError, FileError, ParameterError, needs
from anonpaper.microdata import Microdata, build_cells
from anonpaper.owner.sources import Sources
from anonpaper.publish import Anatomy, Release
from anonpaper.publish.writing import PARQUET, beside, check_table_place

__all__ = ["Engine", "connect", "engine_errors"]

_FILE_SIZE = "512MB"  # of the files in a folder


def connect(engine: object = None) -> object:
    """Return an Ibis connection: the one given, or DuckDB within the process."""
    with needs("scale"):
        import ibis
    if engine is None:
        spill = tempfile.TemporaryDirectory()  # private, for data that exceed memory
        connection = ibis.duckdb.connect(temp_directory=spill.name)
        connection._spill = spill  # it lives as long as the connection
        # DuckDB would also show a bar in notebooks, whose outputs would then depend on the clock
        connection.raw_sql(f"SET enable_progress_bar = {sys.stdout.isatty()}")
        return connection
    if not hasattr(engine, "read_parquet"):
        raise ParameterError(
            f"engine must be an Ibis connection such as ibis.duckdb.connect(), got {engine!r}"
        )
    return engine


@contextmanager
def engine_errors(what: object) -> Iterator[None]:
    """Turn an engine's errors about reading or writing files into FileError."""
    try:
        yield
    except (AnonpaperError, MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # every engine has its own classes
        first = str(error).strip().partition("\n")[0]
        raise FileError(f"{what}: {first or type(error).__name__}") from error


@contextmanager
def _no_deadlock(connection: object) -> Iterator[None]:
    """Make DuckDB write in its computing threads: then a full disk raises an error.

    In DuckDB 2.0.0 its writing threads and a thread that fails can wait for each other forever (5
    of 480 writes). Without writing threads a copy takes as long.
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
    """A table that was written: its files, its distinct rows, and the count of each row."""

    paths: tuple[Path, ...]
    frame: pd.DataFrame
    counts: np.ndarray
    folder: Path | None  # of which these are all parquet files

    def found(self) -> Sources:
        """Return the files as they are now; raise FileError if others are with them."""
        there = () if self.folder is None else self.folder.glob("*.parquet")
        if more := sorted(set(there) - {*self.paths}):
            raise FileError(f"{more[0]} is not of this release: remove it, or write again")
        return Sources.of([*self.paths])


@dataclass(frozen=True, eq=False)
class Engine:
    """An Ibis connection that writes releases of a table of `n` rows, and reads them again."""

    connection: object
    sources: Sources
    table: object
    n: int

    def write(self, rel: Release, path, *, replace: bool) -> tuple[Written, ...]:
        """Write a release: one csv or parquet file (DuckDB only), or a folder of parquet files.

        Files appear complete or not at all; an anatomy's second table lies beside the first. Every
        published row is written as often as its count says. The input is not read again. Rows are
        sorted by their texts. This order depends only on published rows, so it is as safe as a
        random one, which would cost DuckDB 6 times the time and 38 times the bytes.
        """
        import ibis

        path = Path(path)
        is_csv, in_folder = (ending := path.suffix.lower()) == ".csv", ending not in (
            ".csv", *PARQUET)  # fmt: skip
        by_duckdb = self.connection.name == "duckdb"
        if not in_folder and not by_duckdb:
            raise FileError(f"{path}: this engine writes several files: name a folder")
        places = [path, beside(path, "sensitive")] if isinstance(rel, Anatomy) else [path]
        places = [Path(os.path.realpath(p)) if p.is_symlink() else p for p in places]
        for place in places:
            (_check_folder if in_folder else check_table_place)(place, replace=replace)
            self.sources.check_apart(place)
        self._check_unchanged()
        tables = dict(zip(places, rel.counted(), strict=True))
        if not len(tables[places[0]][0]):
            raise EmptyTableError("no row could be published")
        number, copy = (f"{word}_{secrets.token_hex(8)}" for word in ("number", "copy"))
        kind = "csv" if is_csv else "parquet" if by_duckdb else "parquet_dir"
        save = getattr(self.connection, f"to_{kind}")
        size = {"file_size_bytes": _FILE_SIZE} if in_folder and by_duckdb else {}
        with ExitStack() as rooms, engine_errors(path), _no_deadlock(self.connection):
            new = {place: rooms.enter_context(_room(place)) / place.name for place in places}
            for place, (frame, counts) in tables.items():
                distinct = ibis.memtable(frame.assign(**{number: counts}))
                copies = distinct.mutate(**{copy: ibis.range(distinct[number]).unnest()})
                save(copies.select(*frame.columns), new[place], **size)
            for place in reversed(places):  # if the first is there, the others are too
                if place.exists():  # the new file gets no more readers than the old one
                    new[place].chmod(place.stat().st_mode & new[place].stat().st_mode)
                if place.is_dir():
                    os.replace(place, new[place].with_name(f"{place.name}-before"))
                os.replace(new[place], place)
        if not in_folder:
            return tuple(Written((place,), *table, None) for place, table in tables.items())
        return tuple(
            Written(tuple(sorted(place.glob("*.parquet"))), *table, place)
            for place, table in tables.items()
        )

    def check_written(self, written: Sequence[Written]) -> None:
        """Let the engine read the files again; raise FileError if their rows differ."""
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
        """Raise FileError if the table has visibly changed since it was counted."""
        self.sources.check_unchanged()
        if not self.sources.seen:
            with engine_errors("the table that was scanned"):
                n = int(self.table.count().to_pyarrow().as_py())
            if n != self.n:
                raise FileError(f"the table had {self.n} rows and has {n} now: scan it again")

    def read(self, rel: Release, written: Written) -> tuple[Microdata, np.ndarray]:
        """Count the rows of a written release; return what ``Release.audited`` returns.

        Every value is read as text. Rows with equal texts are in one class.
        """
        from anonpaper.owner.scan import scan

        names = [str(column.attribute.name) for column in rel.published]
        sensitive = [str(name) for name in rel.microdata.sensitives]
        source, found = written.paths, written.found()
        if found.are_csv:  # in which an empty text is not a missing one
            with engine_errors(source[0]):
                source = _as_texts(found.open(self.connection), [*names, *sensitive])
        how = rel.microdata.missing
        rows = scan(source, names, sensitive, engine=self.connection, missing=how).counted()
        sizes = [attribute.size for attribute in rows.attributes]
        return rows, build_cells(rows.codes, sizes, None, 1).tuple_of_row


def _as_texts(table: object, names: Sequence[str], *others: str) -> object:
    """Return columns as the engine writes them to a csv, where null and empty text are equal."""
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
        raise FileError(
            f"{path} is there already: name another folder, or set replace=True (--force)"
        )
    if any(file.suffix != ".parquet" or not file.is_file() for file in held):
        raise FileError(f"{path} holds other files than parquet, so it is not replaced")


@contextmanager
def _room(place: Path) -> Iterator[Path]:
    """Make a folder beside a file, to write it in; it is removed in the end."""
    with tempfile.TemporaryDirectory(
        prefix=".writing-", dir=place.parent, ignore_cleanup_errors=True
    ) as room:
        yield Path(room)
