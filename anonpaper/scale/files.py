"""Files of one table: that they fit together, and stay as they are while they are used."""

from __future__ import annotations

import csv
import glob
import gzip
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.errors import ColumnError, FileError, ParameterError

__all__ = ["Files"]

_PARQUET = (".parquet", ".pq")
_CSV = tuple(text + packed for text in (".csv", ".tsv", ".txt") for packed in ("", ".gz"))


@dataclass(frozen=True)
class Files:
    """Files that hold one table, all of them csv or all parquet; none for a table in a database.

    Attributes
    ----------
    seen : dict of str to tuple
        What the system said of every file when it was found: size, time, number.
    """

    seen: dict[str, tuple] = field(default_factory=dict)

    @classmethod
    def of(cls, source: object) -> Files:
        """Find the files of a path, a pattern, or several.

        Raises
        ------
        FileError
            There are none, or some are of another format.
        ParameterError
            `source` is no path.
        """
        several = isinstance(source, Iterable) and not isinstance(
            source, (str, bytes, os.PathLike)
        )
        sources = list(source) if several else [source]
        if not sources or not all(isinstance(one, (str, os.PathLike)) for one in sources):
            raise ParameterError(
                f"a table is scanned from files, by path or pattern, or from Ibis; got {source!r}"
            )
        paths = []
        for one in map(os.fspath, sources):
            found = [one] if os.path.isfile(one) else sorted(glob.glob(one, recursive=True))
            paths += [path for path in found if os.path.isfile(path)]
            if not found or os.path.isdir(one):
                raise FileError(
                    f"{one}: no such file; a pattern such as people/*.parquet names several"
                )
        kinds = {
            next((kind for kind in (_CSV, _PARQUET) if path.lower().endswith(kind)), None)
            for path in paths
        }
        if len(kinds) != 1 or None in kinds:
            raise FileError(
                f"{source}: all files must end in .parquet or .pq, or all in .csv, .tsv or .txt, "
                "perhaps followed by .gz"
            )
        return cls({path: _state(path) for path in paths})

    @property
    def are_csv(self) -> bool:
        """Whether these are csv."""
        return any(path.lower().endswith(_CSV) for path in self.seen)

    def check_unchanged(self) -> None:
        """Raise FileError if a file is gone, or is not as it was when it was found."""
        for path, before in self.seen.items():
            if _state(path) != before:
                raise FileError(f"{path} has changed since it was scanned: scan it again")

    def check_apart(self, path: Path) -> None:
        """Raise FileError if a file is what is to be written, or in the folder that is."""
        place = Path(os.path.realpath(path))
        for mine in self.seen:
            if place in (known := Path(os.path.realpath(mine)), *known.parents):
                raise FileError(f"{path} is, or holds, {mine}, which was read: name another place")

    def columns(self, delimiter: str | None = None) -> list[str]:
        """Return the names of the columns.

        Raises
        ------
        FileError
            A file cannot be read, or two files differ in their columns or the types of these.
        """
        described = self._headers(delimiter) if self.are_csv else self._described
        (first, columns), *others = described.items()
        for path, other in others:
            if list(other) != list(columns) or other != columns:
                raise FileError(
                    f"{path} has the columns {other}, and {first} has {columns}: files of one "
                    "table must have the same ones, in the same order and of the same types"
                )
        return list(columns)

    def _headers(self, delimiter: str | None) -> dict[str, list[str]]:
        found = {}
        for path in self.seen:
            try:
                opened = gzip.open if path.lower().endswith(".gz") else open
                with opened(path, "rt", encoding="utf-8-sig", newline="") as stream:
                    reader = csv.reader(stream, delimiter=self.delimiter(delimiter), strict=True)
                    found[path] = next(filter(None, reader), [])
            except (OSError, EOFError, csv.Error, UnicodeError, TypeError) as error:
                raise FileError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
            if len(set(found[path])) < max(1, len(found[path])):
                raise ColumnError(f"{path} has no header, or two columns of one name")
        return found

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
        return found

    @property
    def _described(self) -> dict[str, dict[str, str]]:
        return {
            path: {field.name: str(field.type) for field in schema}
            for path, schema in self._schemas.items()
        }

    def delimiter(self, given: str | None) -> str:
        """What is between the fields of a csv."""
        tabs = any(".tsv" in Path(path).suffixes for path in self.seen)
        return given or ("\t" if tabs else ",")

    def open(self, connection: object, delimiter: str | None) -> object:
        """Return the table as an Ibis expression; every column of a csv is text."""
        paths = list(self.seen)
        if not self.are_csv:
            if connection.name != "pyspark" or len(paths) == 1:
                return connection.read_parquet(paths if len(paths) > 1 else paths[0])
            # of which Ibis gives Spark one path only
            view = f"files_{secrets.token_hex(8)}"
            connection._session.read.parquet(*paths).createOrReplaceTempView(view)
            return connection.table(view)
        options = {"header": True, "quote": '"', "escape": '"'}
        if connection.name == "duckdb":
            columns = dict.fromkeys(self.columns(delimiter), "VARCHAR")
            options |= {"columns": columns, "delim": self.delimiter(delimiter), "nullstr": ""}
        else:
            options |= {"sep": self.delimiter(delimiter), "inferSchema": False, "multiLine": True}
        return connection.read_csv(paths, **options)

    def as_pandas(self, values: object, name: str) -> pd.Series:
        """Return distinct values of a column of parquet as pandas reads the column."""
        import pyarrow as pa

        if not self.seen:
            return values.to_pandas().rename(name)
        schema = next(iter(self._schemas.values()))
        kind = schema.field(name).type
        if pa.types.is_dictionary(kind):
            return pd.Series(
                pd.Categorical(values.to_pandas(), self._categories(name), kind.ordered), name=name
            )
        column = values.cast(kind)
        named = {entry["name"]: entry["numpy_type"] for entry in
                 (schema.pandas_metadata or {}).get("columns", [])}  # fmt: skip
        try:
            dtype = pd.api.types.pandas_dtype(named.get(name, "object"))
        except TypeError:
            dtype = np.dtype(object)
        if isinstance(dtype, (np.dtype, pd.DatetimeTZDtype)):
            return column.to_pandas().rename(name)
        return pd.Series(pd.array(column.to_pylist(), dtype), name=name)

    def _categories(self, name: str) -> pd.Index:
        """Return the declared values of a Categorical, those of the first file first."""
        import pyarrow.parquet

        found: dict = {}
        for path in self.seen:
            for batch in pyarrow.parquet.ParquetFile(path).iter_batches(columns=[name]):
                found |= dict.fromkeys(batch.column(0).dictionary.to_pylist())
        return pd.Index(found)


def _state(path: str) -> tuple:
    try:
        found = os.stat(path)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    return found.st_size, found.st_mtime_ns, found.st_ino
