"""Tables and files that reveal only their published values: no order, index, category or note."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import secrets
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from anonpaper.cells import no_rows
from anonpaper.errors import ColumnError, check_sequence, is_among, needs
from anonpaper.files import check_place, named_by_user, whole_files
from anonpaper.publish.judging import Published, check_promise, check_release

__all__ = ["as_csv", "beside", "plain", "public_frame", "public_tables", "write", "write_tables"]

# a sign is harmless before a number, and alone
_FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.,]+(?:[eE][+-]?\d+)?$|$)")
#: A table of counts is published as a DataFrame up to this many rows.
MOST_ROWS = 1_000_000
#: Endings of parquet files.
PARQUET = (".parquet", ".pq")
_AS_CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")


def secret_order(n: int) -> np.ndarray:
    """Return 0..n-1 in an order that nobody can repeat: its source is the operating system's."""
    return np.argsort(np.frombuffer(secrets.token_bytes(8 * n), np.uint64))


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without index, attrs, categories and everything else beyond its values.

    Names become text, the parts of a MultiIndex joined by ``_``; ColumnError if two are the same.
    Columns are int, float or bool if all values are (a missing one counts as float), else text.
    """
    parts = [name if isinstance(name, tuple) else (name,) for name in frame.columns]
    names = ["_".join(str(part) for part in name if part != "") for name in parts]
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise ColumnError(f"several columns would be named {doubled}: rename them")
    columns = {name: _plain(frame.iloc[:, place]) for place, name in enumerate(names)}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(frame)))


def _plain(column: pd.Series) -> np.ndarray | pd.Series:
    values, missing = column.to_numpy(dtype=object), column.isna().to_numpy()
    kind = pd.api.types.infer_dtype(values, skipna=True)
    if kind == "floating" and all(str(value) == str(float(value)) for value in values[~missing]):
        return np.where(missing, np.nan, values).astype(float) + 0.0  # -0.0 becomes 0.0
    if kind in ("boolean", "integer") and not missing.any():
        with suppress(OverflowError):
            return values.astype(bool if kind == "boolean" else np.int64)
    pairs = zip(values.tolist(), missing.tolist(), strict=True)
    texts = [None if lacks else str(value) for value, lacks in pairs]
    return pd.Series(texts, dtype=object)  # of an array pandas 3 would make its own texts


def by_texts(frame: pd.DataFrame, counts: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the rows of a table, sorted by their texts, and the counts of each."""
    frame = plain(frame)
    order = frame.astype(str).sort_values(list(frame.columns)).index
    return frame.loc[order].reset_index(drop=True), counts[order]


def formulas(tables: Iterable[pd.DataFrame]) -> list[str]:
    """Return a warning if texts or names of columns are formulas for a spreadsheet program."""
    texts: list[str] = []
    for name, column in (pair for table in tables for pair in table.items()):
        texts += [str(name), *(column.dropna().unique() if column.dtype == object else [])]
    return [
        f"a spreadsheet may run texts as formulas, such as {text!r}: they are written as they are"
        for text in filter(_FORMULA.match, texts)
    ][:1]


def beside(path: str | os.PathLike, word: str) -> Path:
    """Return the name of a file's companion, with a word before the ending."""
    stem, dot, suffix = Path(path).name.partition(".")
    return Path(path).with_name(f"{stem}_{word}{dot}{suffix}")


def check_table_place(path: str | os.PathLike, *, replace: bool) -> None:
    """Raise FileError if no table can be written there, or its ending is unknown."""
    of = "tables are written as csv (.csv, .tsv or .txt, each with or without .gz) or as .parquet"
    check_place(path, replace=replace, endings=(*PARQUET, *_AS_CSV), of=of)


def write_tables(tables: Mapping, *, replace: bool = True, delimiter: str = ",") -> None:
    """Write tables in the form of :func:`plain`, or bytes for the user only: all or none.

    The ending chooses csv, perhaps compressed, or parquet. Equal tables give equal bytes.
    """
    private = [path for path, table in tables.items() if isinstance(table, bytes)]
    for path in tables:
        (check_place if path in private else check_table_place)(path, replace=replace)
    with named_by_user(" or ".join(map(str, tables))):
        contents = [table if path in private else _as_bytes(path, table, delimiter)
                    for path, table in tables.items()]  # fmt: skip
        with whole_files([*tables], replace=replace, private=private) as streams:
            for stream, content in zip(streams, contents, strict=True):
                stream.write(content)


def _as_bytes(path: str | os.PathLike, table: pd.DataFrame, delimiter: str) -> bytes:
    if not str(path).lower().endswith(PARQUET):
        content, packed = as_csv(table, delimiter), str(path).lower().endswith(".gz")
        return gzip.compress(content, mtime=0) if packed else content  # the header has no time
    with needs("parquet"):
        import pyarrow as pa
        import pyarrow.parquet

    kinds = {name: pa.string() if table[name].dtype == object else None for name in table}
    columns = {n: pa.array(table[n], kind, from_pandas=True) for n, kind in kinds.items()}
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(columns), stream, store_schema=False)  # no pandas notes
    return stream.getvalue()


def as_csv(frame: pd.DataFrame, delimiter: str = ",") -> bytes:
    """Return a table as csv in UTF-8 with line feeds; a missing value is an empty field."""
    for name, column in frame.items():
        if column.isna().any() and column.eq("").any():
            alike = "missing values and empty texts, which are the same in a csv"
            raise ColumnError(f"{name!r} has {alike}: replace one of them, or write parquet")
    write = partial(frame.to_csv, index=False, sep=delimiter, lineterminator="\n")
    content = write()
    if "\r" in content:  # an unquoted one ends the line for many readers
        content = write(quoting=csv.QUOTE_NONNUMERIC)
    return content.encode()


def public_tables(
    rel: Published, keep: Sequence = (), *, against: str = "file", accept: str | None = None
) -> tuple[pd.DataFrame, ...]:
    """Return the tables that may be given away: one, or two for an anatomy.

    They hold only the published rows, in a new random order at each call: no index, attributes,
    unused categories or types of the input. `keep` names columns without a role to publish
    unchanged, without protection. ColumnError if it has an unknown name or the person column, two
    columns would have the same name, or different values would be written alike, such as a star
    and a value ``*``. RowsError if a table of counts has more than 1,000,000 rows, or columns to
    keep. `against` and `accept` are as for :func:`write`.
    """
    check_promise(rel, against, accept)
    m, keep = rel.microdata, check_sequence("keep", keep)
    if not m.has_rows:
        if keep or rel.entries.rows(rel.shown) > MOST_ROWS:
            no_rows()
        tables = [frame.loc[np.repeat(frame.index, counts)] for frame, counts in rel.counted()]
        return tuple(map(_in_secret_order, tables))
    if unknown := [name for name in keep if not is_among(name, list(m.frame.columns))]:
        raise ColumnError(f"keep names {unknown}; the table has {list(m.frame.columns)}")
    if m.person is not None and m.person in keep:
        raise ColumnError(f"{m.person!r} identifies people and is never published")
    check_written_apart(rel)
    tables = [rel.frame]
    if rel.method == "anatomize":  # group numbers follow the order of the input: draw new ones
        numbers = secret_order(rel.classes.n_groups)
        tables = [table.assign(group=numbers[table["group"]]) for table in (rel.qit, rel.st)]
    if keep:
        kept = m.frame.loc[rel.is_published, keep].set_axis(tables[0].index)
        first = pd.concat([tables[0], kept], axis=1)
        tables[0] = first[sorted(first, key=[*m.frame.columns, "group"].index)]
    return tuple(map(_in_secret_order, tables))


def _in_secret_order(frame: pd.DataFrame) -> pd.DataFrame:
    return plain(frame.iloc[secret_order(len(frame))])


def check_written_apart(rel: Published) -> None:
    """Raise ColumnError if different values are written alike."""
    m = rel.microdata
    columns = [(name, m.attribute(name).values, True) for name in m.sensitives]
    for column in rel.published:
        shown, values = np.unique(column.index[rel.shown]), column.attribute.values
        # a set is like no other one, and no value, also none of rows that are starred
        several = np.r_[column.sizes[shown] > 1, np.zeros(len(values), bool)]
        columns.append((column.attribute.name, [*column.labels[shown], *values], several))
    for name, values, asked in columns:
        texts = pd.Series([*map(str, values)], dtype=object)
        if alike := texts[texts.duplicated(keep=False) & asked].unique()[:5].tolist():
            raise ColumnError(f"{alike} would have several meanings in {name!r}: rename them")


def public_frame(rel: Published, *, against: str = "file", accept=None) -> pd.DataFrame:
    """Return the first table of :func:`public_tables`, which has the errors too."""
    return public_tables(rel, against=against, accept=accept)[0]


def write(
    rel: Published,
    path: str | os.PathLike,
    *,
    replace: bool = True,
    against: Literal["file", "register"] = "file",
    accept: str | None = None,
) -> tuple[Path, ...]:
    """Write :func:`public_tables` of `rel` to files, completely or not at all, and nothing else.

    The `path` ends in .csv, .tsv or .txt, perhaps with .gz, or in .parquet; for a table of counts
    in .csv or .parquet. An anatomy's second table is ``name_sensitive.csv``. The paths are
    returned. UserWarning for each of the release's `warnings`, and for texts that are formulas.

    `against` says whom the promise must withstand, else PromiseError: whoever counts the rows of
    real people in the ``"file"``, or with ``"register"`` also the strongest of
    :func:`anonpaper.measure.attackers`. `accept` is a reason to write the release although it
    keeps less, which the report prints. FileError without `replace` if a file exists. O(n·d log n)

    >>> import tempfile
    >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> [path] = write(rel, Path(tempfile.mkdtemp(), "hospital.csv"))
    >>> path.read_text().count("*")
    8
    """
    if check_release(rel).microdata.engine is not None:
        check_promise(rel, against, accept)
        rel._written = rel.microdata.engine.write(rel, path, replace=replace)
        paths = tuple(rel._written)
        tables = [frame for frame, _ in rel._written.values()]
    else:
        check_table_place(path, replace=replace)
        tables = public_tables(rel, against=against, accept=accept)
        paths = (Path(path), beside(path, "sensitive"))[: len(tables)]
        write_tables(dict(zip(paths, tables, strict=True)), replace=replace)
    run = [] if paths[0].suffix.lower() in PARQUET else formulas(tables)
    for text in (*rel.warnings, *run):
        warnings.warn(text, stacklevel=2)
    return paths
