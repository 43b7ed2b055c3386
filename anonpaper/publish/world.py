"""What leaves the house: tables that say nothing but their published values.

A DataFrame says more than its cells: the order of its rows is the input's, its index names them, a
Categorical lists values that are not shown, and pandas notes all this in files.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.errors import ColumnError, check_choice, needs
from anonpaper.files import check_place, named_by_user, whole_files

__all__ = [
    "PARQUET", "as_csv", "beside", "check_table_place", "plain", "public", "secret_order",
    "write_tables",
]  # fmt: skip

#: Endings of parquet files.
PARQUET = (".parquet", ".pq")
_COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda content: gzip.compress(content, mtime=0),  # neither time nor name in the header
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
_WRITTEN_AS_CSV = tuple(text + packed for text in (".csv", ".tsv", ".txt") for packed in _COMPRESS)


def secret_order(n: int) -> np.ndarray:
    """Return the numbers 0..n-1 in an order that nobody can repeat; all are equally likely.

    The operating system's source for cryptography draws the keys: there is no seed, and no state
    of a generator that its output would betray.
    """
    return np.argsort(np.frombuffer(secrets.token_bytes(8 * n), np.uint64))


def public(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in secret order and as :func:`plain` as it can be."""
    return plain(frame.iloc[secret_order(len(frame))])


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without index, attrs, categories, and what else its values do not say.

    Names are text, the parts of a MultiIndex joined by ``_``. A column whose values are all of
    type int, float or bool has that type (a missing value is a float). All others are text, with
    None where a value is missing. So the types follow from the values, whatever they were in the
    input. ColumnError if two columns would have the same name, or a text is no Unicode.
    """
    names = [
        "_".join(str(part) for part in label if part != "") if isinstance(label, tuple) else label
        for label in frame.columns
    ]
    names = _unicode("the header", [str(name) for name in names])
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise ColumnError(f"several columns would have the name {doubled}: rename them")
    columns = {name: _plain(name, frame.iloc[:, place]) for place, name in enumerate(names)}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(frame)))


def _plain(name: str, column: pd.Series) -> np.ndarray | pd.Series:
    values, missing = column.to_numpy(dtype=object), column.isna().to_numpy()
    kind = pd.api.types.infer_dtype(values, skipna=True)
    if kind == "floating":
        return np.where(missing, np.nan, values).astype(float) + 0.0  # -0.0 becomes 0.0
    if kind == "boolean" and not missing.any():
        return values.astype(bool)
    if kind == "integer" and not missing.any():
        with suppress(OverflowError):
            return values.astype(np.int64)
    texts = np.full(len(values), None)
    texts[~missing] = _unicode(repr(name), [str(value) for value in values[~missing]])
    return pd.Series(texts, dtype=object)  # of an array pandas 3 would make its own texts


def _unicode(place: str, texts: list[str]) -> list[str]:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.end]
        raise ColumnError(f"{place} holds {bad!r}, which is no Unicode: replace it") from None
    return texts


# -- files ---------------------------------------------------------------------------------


def beside(path: str | os.PathLike, word: str) -> Path:
    """Return the name of a file's companion, a word before the ending.

    Examples
    --------
    >>> beside("people.csv.gz", "sensitive").name
    'people_sensitive.csv.gz'
    """
    path = Path(path)
    stem, dot, suffix = path.name.partition(".")
    return path.with_name(f"{stem}_{word}{dot}{suffix}")


def check_table_place(path: str | os.PathLike, *, replace: bool) -> None:
    """Raise FileError if a table cannot be written there, or its ending names no known format."""
    check_choice("replace", replace, (True, False))
    packed = "tables are written as csv (.csv, .tsv or .txt, and then nothing, .gz, .bz2 or .xz)"
    endings = (*PARQUET, *_WRITTEN_AS_CSV)
    check_place(path, replace=replace, endings=endings, of=f"{packed} or as .parquet")


def write_tables(tables: Mapping, *, replace: bool = True, delimiter: str = ",") -> None:
    """Write tables, as :func:`plain` returns them, or bytes; all of them or none.

    The ending decides on csv, which may be compressed, or parquet. Equal tables give equal bytes;
    no file tells of its writing, nor of the DataFrame but its columns.
    """
    for path, table in tables.items():
        check = check_place if isinstance(table, bytes) else check_table_place
        check(path, replace=replace)
    contents = [_as_bytes(path, table, delimiter) for path, table in tables.items()]
    with named_by_user(" or ".join(map(str, tables))):
        try:
            with whole_files(list(tables), replace=replace) as streams:
                for stream, content in zip(streams, contents, strict=True):
                    stream.write(content)
        except FileExistsError:
            raise OSError("was made in the meantime") from None


def _as_bytes(path: str | os.PathLike, table: pd.DataFrame | bytes, delimiter: str) -> bytes:
    if isinstance(table, bytes):
        return table
    if str(path).lower().endswith(PARQUET):
        return _as_parquet(table)
    return _COMPRESS.get(Path(path).suffix.lower(), bytes)(as_csv(table, delimiter))


def as_csv(frame: pd.DataFrame, delimiter: str = ",") -> bytes:
    """Return a table as csv in UTF-8; lines end in a line feed, a missing value is empty."""
    for name, column in frame.items():
        if column.isna().any() and column.eq("").any():
            raise ColumnError(
                f"{name!r} has missing values and empty texts, which a csv cannot tell apart: "
                "replace one of them, or write parquet"
            )
    _unicode("what is between fields", [delimiter])
    options = {"index": False, "sep": delimiter, "lineterminator": "\n"}
    content = frame.to_csv(**options)
    if "\r" in content:  # which readers take for the end of a line unless it is quoted
        content = frame.to_csv(**options, quoting=csv.QUOTE_NONNUMERIC)
    return content.encode()


def _as_parquet(frame: pd.DataFrame) -> bytes:
    """Return a table as parquet: without the notes of pandas, equal tables in equal bytes."""
    with needs("parquet"):
        import pyarrow as pa
        import pyarrow.parquet

    def array(column: pd.Series) -> pa.Array:
        return pa.array(column, pa.string() if column.dtype == object else None, from_pandas=True)

    stream = io.BytesIO()
    table = pa.table({name: array(column) for name, column in frame.items()})
    pyarrow.parquet.write_table(table, stream, store_schema=False)
    return stream.getvalue()
