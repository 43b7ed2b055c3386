"""Tables in files and databases, counted without loading their rows.

Rows with equal quasi-identifiers and sensitive values are interchangeable for every algorithm and
release. So :func:`scan` counts them, algorithms group the counts, and an engine writes as many
copies of each published row. Expressions are Ibis expressions.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.cells import CellTable, build_cells, no_rows
from anonpaper.coding import Columns, code_values
from anonpaper.display import html
from anonpaper.errors import ColumnError, EmptyTableError, ParameterError
from anonpaper.microdata import CountedRows, Microdata
from anonpaper.owner.engine import Engine, connect, engine_errors
from anonpaper.owner.reader import in_doubt, kind_of, typed
from anonpaper.owner.sources import Sources
from anonpaper.roles import HOW_MISSING, checked_roles, missing_values, only_one

__all__ = ["scan"]


def scan(
    source: object,
    qi: Sequence[str],
    sensitive: str | list[str] | None = None,
    *,
    engine: object = None,
    missing: str = "error",
    domains: Mapping[str, Iterable] | None = None,
    types: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    origin: object = None,
) -> Microdata:
    """Guarantee the same cells as the table's Microdata, counted without loading the rows.

    Attributes and domains are the same too. Algorithms that look at rows one by one
    (:func:`~anonpaper.klt`, :func:`~anonpaper.balanced_classes`, :func:`~anonpaper.oka`,
    :func:`~anonpaper.diva`) get the counted rows in random order. Let the engine write with
    ``release.write(folder)``.

    Parameters
    ----------
    source : str, path, list of these, or Ibis table
        A csv or parquet file, a pattern such as ``"people/*.parquet"``, or an Ibis expression.
    qi : sequence of str
        The quasi-identifiers.
    sensitive : str or list of str, optional
        The sensitive attributes. Columns without a role are never read.
    engine : Ibis connection, optional
        Reads the files: DuckDB by default, or for example ``ibis.pyspark.connect(session)``.
    missing : {"error", "drop", "category"}
        As for :class:`~anonpaper.Microdata`.
    domains : mapping of column to sequence of values, optional
        Declared domains. Categorical columns in parquet declare theirs.
    types : mapping of column to str, optional
        Kinds of csv columns, as for ``--type`` (``"text"``, ``"integer"``, ``"ordered"``, ...).
        The default is inferred from the values; ``02139`` is text.
    delimiter : str, optional
        Between the fields of a csv: by default a tab in .tsv files, otherwise a comma.
    origin : object, optional
        Where the data come from, by default the source.

    Returns
    -------
    Microdata
        A table of counts. Methods that need its rows raise RowsError.

    Raises
    ------
    ColumnError
        A column is unknown, used twice or has values outside its domain. Or a quasi-identifier of
        a csv may be numbers or dates, and `types` does not name it.
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
        columns, origin = list(table.columns), origin or "an Ibis table"
        if engine is not None and engine is not connection:
            raise ParameterError("an Ibis table has its own engine: leave engine out")
    else:
        files, table = Sources.of(source), None
        connection, origin = connect(engine), origin or str(source)
        columns = files.columns(delimiter)
    _, sensitives = checked_roles(columns, qi, sensitive)
    roles = [name for name in columns if name in [*qi, *sensitives]]
    lowered = [name.lower() for name in columns]
    if alike := [name for name in roles if not name or lowered.count(name.lower()) > 1]:
        raise ColumnError(f"{alike}: names must differ in more than upper and lower case")
    for what, given in (("domains", domains), ("types", types)):
        if unknown := [name for name in given or {} if name not in columns]:
            raise ColumnError(f"{what} names columns that are not there: {unknown}")
    if not files.are_csv and (types or delimiter):
        raise ParameterError("types and delimiter are for csv only: this source has types")
    with engine_errors(origin):
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
        attribute, codes = code_values(values, used, (domains or {}).get(name))
        coded[name] = attribute, codes[place]
    if connection.name not in ("duckdb", "pyspark"):  # other engines count, DuckDB writes
        connection = connect()
    return CountedMicrodata(
        coded, counts, qi, sensitive, missing=missing, origin=origin, dropped=dropped,
        engine=Engine(connection, files, table, int(counts.sum()) + dropped),
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


class CountedMicrodata(Microdata):
    """A table of people that knows how many rows of each kind there are, but no single row.

    `coded` has the attribute of every column and its codes in f combinations, `counts` the number
    of rows of each. The `engine` writes releases.
    """

    has_rows = False

    def __init__(
        self, coded: Mapping, counts, qi, sensitive, *, missing, origin, dropped, engine
    ) -> None:
        distinct = build_cells(
            np.column_stack([codes for _, codes in coded.values()]),
            [attribute.size for attribute, _ in coded.values()], None, 1, counts,
        )  # fmt: skip
        self._combinations = {
            name: (attribute, codes)
            for (name, (attribute, _)), codes in zip(coded.items(), distinct.tuples.T, strict=True)
        }
        self._counts, self.n = distinct.counts, int(counts.sum())
        self._columns = Columns(
            coded={n: (attribute, None) for n, (attribute, _) in coded.items()}
        )
        self.qi, self.sensitive, self.person, self.missing = qi, sensitive, None, missing
        self.origin, self.dropped, self.engine = origin, dropped, engine
        self.synthetic, self.weights = np.zeros(0, bool), None
        self._settle()

    def _settle(self) -> None:
        self.qi, several = checked_roles(self._columns.names, self.qi, self.sensitive, self.person)
        self.sensitive = several if len(several) > 1 else next(iter(several), None)

    frame = codes = sensitive_codes = property(no_rows)
    codes_of = take = sample = with_codes = no_rows

    @cached_property
    def _listed(self) -> CountedRows:
        roles = [name for name in self._combinations if name in self._roles]
        coded = {name: self._combinations[name] for name in roles}
        return CountedRows(self, Columns(coded=coded), self._counts)

    @property
    def cells(self) -> CellTable:
        """The cell table, without row numbers."""
        return self._listed.cells

    @property
    def sensitive_counts(self) -> np.ndarray:
        """Number of rows of every sensitive value, shape (m,), dtype int64."""
        return self.about(only_one(self.sensitive))._listed.sensitive_counts

    def counted(self) -> Microdata:
        """Return the cells as a table that lists each once, with its number of rows."""
        return self._listed if len(self.sensitives) > 1 else super().counted()

    def _like(self, **marks) -> Microdata:
        other = super()._like(**marks)
        vars(other).pop("_listed", None)
        return other

    def _repr_html_(self) -> str:
        facts = [
            ("quasi-identifiers", ", ".join(map(repr, self.attributes))),
            ("sensitive", ", ".join(repr(self.attribute(name)) for name in self.sensitives)),
            ("distinct quasi-identifiers", f"{len(self.cells):,}"),
            ("origin", self.origin),
            ("rows left out for missing values", f"{self.dropped:,}"),
        ]
        return html(f"Microdata, counts of {self.n:,} rows", facts)
