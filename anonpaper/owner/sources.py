"""The files of a scanned table: they must fit together and must not change meanwhile."""

from __future__ import annotations

import csv
import glob
import gzip
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd

from anonpaper.errors import ColumnError, FileError, ParameterError
from anonpaper.publish.writing import PARQUET

__all__ = ["Sources"]

_CSV = tuple(text + packed for text in (".csv", ".tsv", ".txt") for packed in ("", ".gz"))


@dataclass(frozen=True)
class Sources:
    """Files that hold one table, all csv or all parquet; none for a table in a database.

    ``seen`` has the size, time and system number of every file when it was found.
    """

    seen: dict[str, tuple] = field(default_factory=dict)

    @classmethod
    def of(cls, source: object) -> Sources:
        """Find the files of a path, a pattern, or several; each file may be named once."""
        one_path = isinstance(source, (str, bytes, os.PathLike))
        several = isinstance(source, Iterable) and not one_path
        named = list(source) if several else [source]
        if not named or not all(isinstance(one, (str, os.PathLike)) for one in named):
            raise ParameterError(
                f"source must be a path, a pattern, several, or an Ibis table, got {source!r}"
            )
        paths = [path for one in map(os.fspath, named) for path in _found(one)]
        kinds = {
            next((kind for kind in (_CSV, PARQUET) if path.lower().endswith(kind)), None)
            for path in paths
        }
        if len(kinds) != 1 or None in kinds:
            raise FileError(
                f"{', '.join(map(str, named))}: all files must end in .parquet or .pq, or all in "
                ".csv, .tsv or .txt, each with or without .gz"
            )
        places: dict[str, str] = {}
        for path in paths:
            if (other := places.setdefault(os.path.realpath(path), path)) != path:
                raise FileError(f"{path} is the same file as {other}: name it once")
        return cls({path: _state(path) for path in paths})

    @property
    def are_csv(self) -> bool:
        """Whether these are csv."""
        return any(path.lower().endswith(_CSV) for path in self.seen)

    def check_unchanged(self) -> None:
        """Raise FileError if a file is gone or has changed since it was found."""
        for path, before in self.seen.items():
            if _state(path) != before:
                raise FileError(f"{path} has changed since it was scanned: scan it again")

    def columns(self, delimiter: str | None = None) -> list[str]:
        """Return the column names; all files must have the same names and types."""
        if self.are_csv:
            described = {path: _header(path, self.delimiter(delimiter)) for path in self.seen}
        else:
            described = {path: _described(schema) for path, schema in self._schemas.items()}
        (first, columns), *others = described.items()
        for path, other in others:
            if other != columns:
                raise FileError(
                    f"{path} has the columns {other}, and {first} has {columns}: files of one "
                    "table must have the same ones, in the same order and of the same types"
                )
        return columns if self.are_csv else [name for name, _ in columns]

    @cached_property
    def _schemas(self) -> dict:
        import pyarrow as pa
        import pyarrow.parquet

        found = {}
        for path in self.seen:
            try:
                found[path] = pyarrow.parquet.read_schema(path)
            except (OSError, pa.ArrowException) as error:
                raise FileError(f"{path} is not a parquet file: {error}") from None
            if len(set(found[path].names)) < len(found[path].names):
                raise ColumnError(f"{path} has two columns with the same name: rename one")
        return found

    def delimiter(self, given: str | None) -> str:
        """Return the text between the fields of a csv."""
        tabs = any(".tsv" in Path(path).suffixes for path in self.seen)
        return given or ("\t" if tabs else ",")

    def open(self, connection: object, delimiter: str | None = None) -> object:
        """Return the table as an Ibis expression of DuckDB; every column of a csv is text."""
        paths = [glob.escape(path) for path in self.seen]  # DuckDB takes names for patterns
        # otherwise a folder's name, such as age=7, would replace values of its files
        options: dict = {"hive_partitioning": False}
        if not self.are_csv:
            return connection.read_parquet(paths, **options)
        columns: dict[str, str] = {}
        for place, name in enumerate(self.columns(delimiter)):  # one without a name, or known
            known = {"", *map(str.lower, columns)}  # in other letters, gets another here
            columns[f"column {place}" if name.lower() in known else name] = "VARCHAR"
        options |= {"columns": columns, "delim": self.delimiter(delimiter), "nullstr": ""}
        options |= {"header": True, "quote": '"', "escape": '"'}
        return connection.read_csv(paths, **options)

    def as_pandas(self, values: object, name: str) -> pd.Series:
        """Return distinct values of a parquet column as pandas reads the column."""
        import pyarrow as pa

        if not self.seen:
            return values.to_pandas().rename(name)
        schema = next(iter(self._schemas.values()))
        kind = schema.field(name).type
        if pa.types.is_dictionary(kind):
            declared = self._categories(name, kind.ordered)
            values = pd.Categorical(values.to_pandas(), declared, kind.ordered)
            return pd.Series(values, name=name)
        with suppress(pa.ArrowException):  # only missing values, or an identifier as text
            values = values.cast(kind)
        table = pa.table({name: values}).replace_schema_metadata(schema.metadata)
        return table.to_pandas().reset_index()[name]

    def _categories(self, name: str, ordered: bool) -> pd.Index:
        """Return the declared values of a Categorical, starting with the first file."""
        import pyarrow.parquet

        found: dict = {}
        for path in self.seen:
            for batch in pyarrow.parquet.ParquetFile(path).iter_batches(columns=[name]):
                declared = dict.fromkeys(batch.column(0).dictionary.to_pylist())
                in_order = [value for value in found if value in declared]
                if ordered and found and in_order != [*declared]:
                    raise FileError(
                        f"{path} orders the values of {name!r} as {[*declared]}, other files as "
                        f"{[*found]}: use the same order in all files"
                    )
                found |= declared
        return pd.Index(found)


def _header(path: str, delimiter: str) -> list[str]:
    try:
        opened = gzip.open if path.lower().endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
            found = next(csv.reader(stream, delimiter=delimiter, strict=True), [])
    except (OSError, EOFError, csv.Error, UnicodeError, TypeError) as error:
        raise FileError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if len(set(found)) < max(1, len(found)):
        raise ColumnError(f"the first line of {path} must name all columns, each differently")
    return found


def _described(schema: object) -> list[tuple[str, str]]:
    """Return names and types; the numbers of categories take as many bits as each file needs."""
    import pyarrow as pa

    return [
        (name, str(pa.dictionary(pa.int32(), kind.value_type, kind.ordered)))
        if pa.types.is_dictionary(kind)
        else (name, str(kind))
        for name, kind in zip(schema.names, schema.types, strict=True)
    ]


def _found(one: str) -> list[str]:
    """Return the files of a path or a pattern; only ``**`` may also match folders."""
    found = [one] if os.path.isfile(one) else sorted(glob.glob(one, recursive=True))
    if not found or os.path.isdir(one):
        raise FileError(f"{one}: no such file; a pattern such as people/*.parquet names several")
    for path in found:
        if not os.path.isfile(path) and not ("**" in one and os.path.isdir(path)):
            of = "for files in folders use folder/*/*.parquet"
            raise FileError(f"{one} names {path}, which is not a file: {of}")
    return [path for path in found if os.path.isfile(path)]


def _state(path: str) -> tuple:
    try:
        found = os.stat(path)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    return found.st_size, found.st_mtime_ns, found.st_ino
