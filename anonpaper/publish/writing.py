"""Tables and files that reveal only their published values.

A DataFrame reveals more than its cells: rows in the order of the input, an index that names them,
categories that do not occur, and notes that pandas writes into files.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import os
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.errors import ColumnError, check_choice, needs
from anonpaper.files import check_place, named_by_user, whole_files

__all__ = [
    "PARQUET", "as_csv", "beside", "check_table_place", "formulas", "plain", "public",
    "secret_order", "write_tables",
]  # fmt: skip


def _xz(content: bytes) -> bytes:
    import lzma  # here, as some builds of Python lack it

    return lzma.compress(content)


# a sign is harmless before a number, and alone
_FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.,]+(?:[eE][+-]?\d+)?$|$)")
#: Endings of parquet files.
PARQUET = (".parquet", ".pq")
_COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda content: gzip.compress(content, mtime=0),  # neither time nor name in the header
    ".bz2": bz2.compress,
    ".xz": _xz,
}
_WRITTEN_AS_CSV = tuple(text + packed for text in (".csv", ".tsv", ".txt") for packed in _COMPRESS)


def secret_order(n: int) -> np.ndarray:
    """Return the numbers 0..n-1 in an order that nobody can repeat; all are equally likely.

    The keys come from the operating system's cryptographic source, which has no seed.
    """
    return np.argsort(np.frombuffer(secrets.token_bytes(8 * n), np.uint64))


def public(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a :func:`plain` table with its rows in secret order."""
    return plain(frame.iloc[secret_order(len(frame))])


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without index, attrs, categories and everything else beyond its values.

    Names become text, the parts of a MultiIndex joined by ``_``. A column is int, float or bool if
    all its values are (a missing value counts as float). All other columns are text, with None for
    a missing value. So types depend only on the values. ColumnError if two columns would have the
    same name, or a text is not Unicode.
    """
    names = [
        "_".join(str(part) for part in label if part != "") if isinstance(label, tuple) else label
        for label in frame.columns
    ]
    names = _unicode("the header", [str(name) for name in names])
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise ColumnError(f"several columns would be named {doubled}: rename them")
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
        raise ColumnError(f"{place} holds {bad!r}, which is not Unicode: replace it") from None
    return texts


def formulas(tables: Iterable[pd.DataFrame]) -> list[str]:
    """Return a warning if texts or names of columns are formulas for a spreadsheet program."""
    texts = [text for table in tables for text in table.columns]
    for column in (column for table in tables for _, column in table.items()):
        texts += column.dropna().unique().tolist() if column.dtype == object else []
    return [
        f"a spreadsheet may run texts as formulas, such as {text!r}: they are written as they are"
        for text in texts
        if _FORMULA.match(text)
    ][:1]


def beside(path: str | os.PathLike, word: str) -> Path:
    """Return the name of a file's companion, with a word before the ending.

    Examples
    --------
    >>> beside("people.csv.gz", "sensitive").name
    'people_sensitive.csv.gz'
    """
    path = Path(path)
    stem, dot, suffix = path.name.partition(".")
    return path.with_name(f"{stem}_{word}{dot}{suffix}")


def check_table_place(path: str | os.PathLike, *, replace: bool) -> None:
    """Raise FileError if no table can be written there, or its ending is unknown."""
    check_choice("replace", replace, (True, False))
    packed = "tables are written as csv (.csv, .tsv or .txt, and then nothing, .gz, .bz2 or .xz)"
    endings = (*PARQUET, *_WRITTEN_AS_CSV)
    check_place(path, replace=replace, endings=endings, of=f"{packed} or as .parquet")


def write_tables(tables: Mapping, *, replace: bool = True, delimiter: str = ",") -> None:
    """Write tables in the form of :func:`plain`, or bytes: all of them or none.

    The ending chooses csv, perhaps compressed, or parquet. Equal tables give equal bytes; files
    reveal neither when they were written nor more of the DataFrame than its columns.
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
    """Return a table as csv in UTF-8 with line feeds; a missing value is an empty field."""
    for name, column in frame.items():
        if column.isna().any() and column.eq("").any():
            raise ColumnError(
                f"{name!r} has missing values and empty texts, which are the same in a csv: "
                "replace one of them, or write parquet"
            )
    _unicode("what is between fields", [delimiter])
    options = {"index": False, "sep": delimiter, "lineterminator": "\n"}
    content = frame.to_csv(**options)
    if "\r" in content:  # an unquoted one ends the line for many readers
        content = frame.to_csv(**options, quoting=csv.QUOTE_NONNUMERIC)
    return content.encode()


def _as_parquet(frame: pd.DataFrame) -> bytes:
    """Return a table as parquet without the notes of pandas; equal tables give equal bytes."""
    with needs("parquet"):
        import pyarrow as pa
        import pyarrow.parquet

    def array(column: pd.Series) -> pa.Array:
        return pa.array(column, pa.string() if column.dtype == object else None, from_pandas=True)

    stream = io.BytesIO()
    table = pa.table({name: array(column) for name, column in frame.items()})
    pyarrow.parquet.write_table(table, stream, store_schema=False)
    return stream.getvalue()
