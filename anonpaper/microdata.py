"""Microdata: a table of people with roles, coded once, and its cell table.

Every algorithm of the package reads a :class:`Microdata`. Values are coded as integers
when a column is first used; rows with equal quasi-identifiers (QI) and equal sensitive
value are interchangeable for all of them, so they work on the :class:`CellTable`: the
distinct QI tuples with their counts per sensitive value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from anonpaper.display import html, html_table
from anonpaper.errors import (
    ColumnError,
    EmptyTableError,
    MissingValueError,
    ParameterError,
    check_integer,
)
from anonpaper.randomness import generator

__all__ = ["MISSING", "Attribute", "CellTable", "Microdata", "build_cells", "check_microdata"]

#: The value that stands for a missing one when missing values are kept.
MISSING = "?"

_MISSING_POLICIES = ("category", "drop", "error")


@dataclass(frozen=True, eq=False)
class Attribute:
    """One attribute with its domain, in order.

    Attributes
    ----------
    name : object
        The column's label.
    values : numpy.ndarray, shape (size,), dtype object
        The domain; the code of a value is its place here.
    numeric : bool
        Whether the values are numbers in ascending order, so that intervals have a width.
    ordered : bool
        Whether the order of the domain means something (numbers, dates, ordered categoricals).
    positions : numpy.ndarray, shape (size,), dtype float64
        Where a value lies on its axis: the number itself, else its code.
    """

    name: object
    values: np.ndarray
    numeric: bool
    ordered: bool
    positions: np.ndarray

    @property
    def size(self) -> int:
        """Number of values in the domain."""
        return len(self.values)

    @property
    def width(self) -> float:
        """Distance of the first and the last value, in the attribute's own unit."""
        return float(self.positions[-1] - self.positions[0])

    def code(self, value: object) -> int:
        """Return the code of a value; raise ColumnError if the domain lacks it."""
        matches = np.flatnonzero(self.values == value)
        if len(matches) != 1:
            raise ColumnError(
                f"{value!r} is not in the domain of {self.name!r} (its {self.size} values begin "
                f"with {list(self.values[:5])})"
            )
        return int(matches[0])

    def __repr__(self) -> str:
        kind = "numeric" if self.numeric else "ordered" if self.ordered else "categorical"
        return f"Attribute({self.name!r}, {self.size} values, {kind})"


@dataclass(frozen=True, eq=False)
class CellTable:
    """The distinct QI tuples of a table with their counts per sensitive value.

    A *cell* is a pair (QI tuple, sensitive value) that occurs. Cells are sorted by tuple,
    tuples lexicographically by code; without a sensitive attribute every tuple is one cell.

    Attributes
    ----------
    tuples : numpy.ndarray, shape (c, d), dtype int32
        The distinct QI tuples: the QI-groups of the microdata.
    start : numpy.ndarray, shape (c + 1,), dtype int64
        Cells ``start[i]:start[i + 1]`` belong to tuple i.
    sensitive, counts : numpy.ndarray, shape (e,), dtype int32 and int64
        Sensitive code and number of rows of every cell, codes ascending within a tuple.
    row_start : numpy.ndarray, shape (e + 1,), dtype int64
        Rows ``rows[row_start[j]:row_start[j + 1]]`` are those of cell j.
    rows : numpy.ndarray, shape (n,), dtype int32
        Row numbers sorted by tuple, sensitive value and row number.
    """

    tuples: np.ndarray
    start: np.ndarray
    sensitive: np.ndarray
    counts: np.ndarray
    row_start: np.ndarray
    rows: np.ndarray

    @property
    def tuple_start(self) -> np.ndarray:
        """Rows ``rows[tuple_start[i]:tuple_start[i + 1]]`` are those of tuple i."""
        return self.row_start[self.start]

    @property
    def tuple_sizes(self) -> np.ndarray:
        """Number of rows of every tuple, shape (c,), dtype int64."""
        return np.diff(self.tuple_start)

    @cached_property
    def tuple_of_row(self) -> np.ndarray:
        """The tuple's number of every row, shape (n,), dtype int32."""
        tuple_of_row = np.empty(len(self.rows), np.int32)
        tuple_of_row[self.rows] = np.repeat(
            np.arange(len(self.tuples), dtype=np.int32), self.tuple_sizes
        )
        return tuple_of_row

    def __len__(self) -> int:
        return len(self.tuples)


class Microdata:
    """A table of people with its quasi-identifiers and at most one sensitive attribute.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per person. It is not copied and never changed; ``frame`` and ``n`` give it and
        its length back.
    qi : sequence of column labels
        The quasi-identifiers, at least one.
    sensitive : column label, optional
        The sensitive attribute (SA).
    missing : {"category", "drop", "error"}
        What becomes of missing values in the role columns: the value ``"?"``, last in its
        domain; rows left out (``dropped`` counts them); or a MissingValueError. A column of
        numbers or dates with missing values has no order any more: it is generalized to sets,
        not to intervals. Drop the rows, or fill the gaps, to keep the intervals.
    domains : mapping of column label to sequence of values, optional
        Declared domains in order, for attributes whose data do not show every value. A pandas
        Categorical declares its categories by itself.
    origin : object, optional
        Where the data come from; ``str(origin)`` is shown.
    synthetic : array of bool, shape (len(frame),), optional
        Which rows were generated and are of nobody; none by default.

    Raises
    ------
    ColumnError
        A column is unknown, stands twice, has two roles, or a value is outside its domain.
    EmptyTableError
        No rows, or no quasi-identifiers.
    MissingValueError
        With ``missing="error"``.

    Notes
    -----
    Coding a column takes time O(n log n) and is done once, on first use. Numbers and text are
    sorted, a Categorical keeps the order of its categories.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 30, 41], "sex": ["f", "f", "m"], "ill": ["a", "b", "a"]})
    >>> m = Microdata(frame, qi=["age", "sex"], sensitive="ill")
    >>> m.n, m.d, m.cells.tuples.tolist(), m.cells.counts.tolist()
    (3, 2, [[0, 0], [1, 1]], [1, 1, 1])
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        qi: Sequence,
        sensitive: object = None,
        *,
        missing: str = "category",
        domains: Mapping[object, Iterable] | None = None,
        origin: object = None,
        synthetic: np.ndarray | None = None,
    ) -> None:
        if not isinstance(frame, pd.DataFrame):
            raise ParameterError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
        if missing not in _MISSING_POLICIES:
            raise ParameterError(f"missing must be one of {_MISSING_POLICIES}, got {missing!r}")
        roles = _checked_roles(frame, qi, sensitive)
        domains = dict(domains or {})
        unknown = [name for name in domains if name not in frame.columns]
        if unknown:
            raise ColumnError(f"domains are declared for columns that are not there: {unknown}")
        if len(frame) == 0:
            raise EmptyTableError("the table has no rows")

        self.dropped = 0
        self.synthetic = _checked_mask(frame, synthetic)
        lacking = frame[roles].isna()
        if missing == "error" and lacking.to_numpy().any():
            counts = lacking.sum()
            raise MissingValueError(
                f"missing values in {counts[counts > 0].to_dict()} (column: rows); "
                'missing="category" keeps them as a value, missing="drop" leaves the rows out'
            )
        if missing == "drop":
            incomplete = lacking.to_numpy().any(axis=1)
            self.dropped = int(incomplete.sum())
            if self.dropped == len(frame):
                raise EmptyTableError("every row has a missing value in a role column")
            if self.dropped:
                frame = frame[~incomplete]
                self.synthetic = self.synthetic[~incomplete]

        self.n = len(frame)
        self.frame = frame
        self.qi = list(roles if sensitive is None else roles[:-1])
        self.sensitive = sensitive
        self.missing = missing
        self.origin = origin
        self._domains = domains
        self._coded: dict[object, tuple[Attribute, np.ndarray]] = {}

    # -- the table as codes ------------------------------------------------------------

    @property
    def d(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.qi)

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers with their domains, in the order of `qi`."""
        return tuple(self._code_column(name)[0] for name in self.qi)

    @cached_property
    def codes(self) -> np.ndarray:
        """QI codes, shape (n, d), dtype int32, one column after another in memory."""
        codes = np.empty((self.n, self.d), np.int32, order="F")
        for j, name in enumerate(self.qi):
            codes[:, j] = self._code_column(name)[1]
        return codes

    @property
    def sensitive_attribute(self) -> Attribute:
        """The sensitive attribute with its domain."""
        return self._code_column(self._required_sensitive())[0]

    @property
    def sensitive_codes(self) -> np.ndarray:
        """Sensitive codes, shape (n,), dtype int32."""
        return self._code_column(self._required_sensitive())[1]

    @cached_property
    def sensitive_counts(self) -> np.ndarray:
        """Number of rows of every sensitive value, shape (m,), dtype int64."""
        return np.bincount(self.sensitive_codes, minlength=self.sensitive_attribute.size)

    @cached_property
    def cells(self) -> CellTable:
        """The cell table, built on first use in time O(n log n)."""
        if self.sensitive is None:
            return build_cells(self.codes, [a.size for a in self.attributes], None, 1)
        return build_cells(
            self.codes,
            [a.size for a in self.attributes],
            self.sensitive_codes,
            self.sensitive_attribute.size,
        )

    def attribute_index(self, name: object) -> int:
        """Place of a quasi-identifier in `qi`; ColumnError if it is none."""
        if name not in self.qi:
            raise ColumnError(f"{name!r} is not a quasi-identifier; those are {self.qi}")
        return self.qi.index(name)

    def attribute(self, name: object) -> Attribute:
        """The attribute of a column in a role; ColumnError if it has none."""
        if self.sensitive is not None and name == self.sensitive:
            return self.sensitive_attribute
        return self.attributes[self.attribute_index(name)]

    # -- other tables made from this one -----------------------------------------------

    def with_roles(self, qi: Sequence | None = None, sensitive: object = ...) -> Microdata:
        """Return the same table with other roles; what is coded already is shared.

        Parameters
        ----------
        qi : sequence of column labels, optional
            The new quasi-identifiers; left out, the present ones stay.
        sensitive : column label or None, optional
            The new sensitive attribute; left out, the present one stays.

        Examples
        --------
        >>> import anonpaper as ap
        >>> ap.examples.hospital().with_roles(qi=["Age"]).d
        1
        """
        other = Microdata(
            self.frame,
            self.qi if qi is None else qi,
            self.sensitive if sensitive is ... else sensitive,
            missing=self.missing,
            domains=self._domains,
            origin=self.origin,
            synthetic=self.synthetic,
        )
        other.dropped += self.dropped
        if other.n == self.n:
            other._coded = self._coded
        return other

    def take(self, rows: np.ndarray) -> Microdata:
        """Return the table of some rows, in the order given; all domains stay as they are.

        Parameters
        ----------
        rows : array of int, shape (r,)
            Row positions, or a boolean mask of length n.

        Raises
        ------
        EmptyTableError
            If no row is taken.
        ParameterError
            If a position is out of range, or a mask of another length.
        """
        rows = np.asarray(rows)
        if rows.dtype == bool and rows.shape == (self.n,):
            rows = np.flatnonzero(rows)
        if len(rows) == 0:
            raise EmptyTableError("no rows were taken")
        if not np.issubdtype(rows.dtype, np.integer) or rows.min() < 0 or rows.max() >= self.n:
            raise ParameterError(
                f"rows must be positions from 0 to {self.n - 1}, or a mask of length {self.n}"
            )
        part = _Rows.__new__(_Rows)
        part.n, part._whole, part._rows = len(rows), self, rows
        part.qi, part.sensitive, part.missing = list(self.qi), self.sensitive, self.missing
        part.origin, part.dropped, part._domains = self.origin, self.dropped, self._domains
        part.synthetic = self.synthetic[rows]
        roles = self.qi if self.sensitive is None else [*self.qi, self.sensitive]
        part._coded = {
            name: (attribute, codes[rows])
            for name, (attribute, codes) in ((name, self._code_column(name)) for name in roles)
        }
        return part

    def sample(self, rows: int, seed: int | np.random.Generator) -> Microdata:
        """Return `rows` rows drawn without replacement, in their original order.

        Raises
        ------
        ParameterError
            If `rows` is not between 1 and n.
        """
        rows = check_integer("rows", rows, 1, self.n)
        return self.take(np.sort(generator(seed).choice(self.n, rows, replace=False)))

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        origin = "" if self.origin is None else f", origin={str(self.origin)!r}"
        return f"Microdata({self.n} rows, qi={self.qi}, sensitive={self.sensitive!r}{origin})"

    def _repr_html_(self) -> str:
        facts = [("quasi-identifiers", _with_sizes(self.attributes))]
        if self.sensitive is not None:
            facts.append(("sensitive", _with_sizes([self.sensitive_attribute])))
        facts += [
            (name, value)
            for name, value in [
                ("origin", self.origin),
                ("rows left out for missing values", self.dropped),
                ("synthetic rows", int(self.synthetic.sum())),
            ]
            if value
        ]
        roles = [name for name in self.frame.columns if name in (*self.qi, self.sensitive)]
        return html(f"Microdata, {self.n:,} rows", facts, html_table(self.frame[roles]))

    # -- coding ------------------------------------------------------------------------

    def _required_sensitive(self) -> object:
        if self.sensitive is None:
            raise ColumnError(
                "this needs a sensitive attribute and the table has none: "
                "with_roles(sensitive=...) names one"
            )
        return self.sensitive

    def _code_column(self, name: object) -> tuple[Attribute, np.ndarray]:
        if name not in self._coded:
            self._coded[name] = _code(self.frame[name], self._domains.get(name))
        return self._coded[name]


def _with_sizes(attributes: Iterable[Attribute]) -> str:
    return ", ".join(f"{a.name} ({a.size} values)" for a in attributes)


def check_microdata(m: object) -> Microdata:
    """Return `m` if it is a Microdata; say how to make one if it is not.

    Raises
    ------
    ParameterError
        If `m` is anything else, such as the DataFrame itself.
    """
    if not isinstance(m, Microdata):
        raise ParameterError(
            f"expected a Microdata, got {type(m).__name__}: "
            "ap.Microdata(frame, qi=[...], sensitive=...) gives a DataFrame its roles"
        )
    return m


class _Rows(Microdata):
    """Some rows of another table: algorithms read codes, so the frame is made on demand."""

    @cached_property
    def frame(self) -> pd.DataFrame:
        return self._whole.frame.take(self._rows)


def _checked_roles(frame: pd.DataFrame, qi: Sequence, sensitive: object) -> list:
    """Return the role columns, QI first, after looking for unknown and doubled ones."""
    if isinstance(qi, (str, bytes)) or not isinstance(qi, Iterable):
        raise ParameterError(f"qi must be a sequence of column labels, got {qi!r}")
    qi = list(qi)
    if not qi:
        raise EmptyTableError("qi is empty: name at least one quasi-identifier")
    roles = qi if sensitive is None else [*qi, sensitive]
    unknown = [name for name in roles if name not in frame.columns]
    if unknown:
        raise ColumnError(f"unknown columns {unknown}; the table has {list(frame.columns)}")
    doubled = sorted({str(name) for name in roles if roles.count(name) > 1})
    if doubled:
        raise ColumnError(f"columns used twice among qi and sensitive: {doubled}")
    ambiguous = [name for name in roles if list(frame.columns).count(name) > 1]
    if ambiguous:
        raise ColumnError(f"the table has several columns of the name {ambiguous}")
    return roles


def _checked_mask(frame: pd.DataFrame, synthetic: np.ndarray | None) -> np.ndarray:
    """Return which rows are synthetic as an array of bool, one per row."""
    if synthetic is None:
        return np.zeros(len(frame), dtype=bool)
    synthetic = np.asarray(synthetic)
    if synthetic.shape != (len(frame),) or synthetic.dtype != bool:
        raise ParameterError(
            f"synthetic must hold {len(frame)} booleans, one per row, got shape "
            f"{synthetic.shape} and dtype {synthetic.dtype}"
        )
    return synthetic


def _code(column: pd.Series, domain: Iterable | None) -> tuple[Attribute, np.ndarray]:
    """Code one column: its attribute and, per row, the place of the value in the domain."""
    if domain is not None:
        declared = pd.Index(list(domain))
        if declared.has_duplicates:
            raise ColumnError(f"the declared domain of {column.name!r} names a value twice")
        codes = declared.get_indexer(column)
        outside = (codes < 0) & column.notna().to_numpy()
        if outside.any():
            strangers = column[outside].unique()[:5].tolist()
            raise ColumnError(
                f"values of {column.name!r} outside its declared domain: {strangers}"
            )
        values, ordered = declared, False
    elif isinstance(column.dtype, pd.CategoricalDtype):
        values, codes, ordered = column.cat.categories, column.cat.codes, column.cat.ordered
    else:
        codes, values = _factorize(column)
        ordered = pd.api.types.is_datetime64_any_dtype(values.dtype)

    numeric = (
        pd.api.types.is_numeric_dtype(values)
        and not pd.api.types.is_bool_dtype(values)
        and values.is_monotonic_increasing
    )
    if numeric and not np.isfinite(values.to_numpy(dtype=float)).all():
        raise ColumnError(
            f"{column.name!r} holds infinite numbers: replace them by numbers or by missing values"
        )
    values = np.array(values.tolist() + [None], dtype=object)[:-1]
    codes = np.array(codes, dtype=np.int32)
    absent = codes < 0
    if absent.any():  # an interval that ends in "?" would say nothing
        numeric = ordered = False
        known = np.flatnonzero(values == MISSING)
        if len(known):
            codes[absent] = known[0]
        else:
            codes[absent] = len(values)
            values = np.append(values, MISSING)
    numeric, ordered = bool(numeric), bool(ordered or numeric)
    positions = values.astype(float) if numeric else np.arange(len(values), dtype=float)
    return Attribute(column.name, values, numeric, ordered, positions), codes


def _factorize(column: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Sort the distinct values of a column; missing ones get code -1."""
    try:
        codes, values = pd.factorize(column, sort=False)
    except TypeError:
        raise ColumnError(
            f"values of {column.name!r} cannot be told apart (lists, sets or dicts?): "
            "convert them to text or numbers"
        ) from None
    values = pd.Index(values)
    try:
        order = np.argsort(values.to_numpy(), kind="stable")
    except TypeError:  # numbers mixed with text: sorted by how they are written
        order = np.argsort(np.array([str(value) for value in values]), kind="stable")
    rank = np.empty(len(values) + 1, np.int32)
    rank[order] = np.arange(len(values))
    rank[-1] = -1
    return rank[codes], values[order]


# -- cells ---------------------------------------------------------------------------------


def build_cells(
    codes: np.ndarray, sizes: Sequence[int], sensitive: np.ndarray | None, m: int
) -> CellTable:
    """Group rows by QI tuple and sensitive value.

    Parameters
    ----------
    codes : numpy.ndarray, shape (n, d), dtype int32
        QI codes; column j lies in ``[0, sizes[j])``.
    sizes : sequence of int
        Domain sizes of the QI.
    sensitive : numpy.ndarray, shape (n,), dtype int32, or None
        Sensitive codes in ``[0, m)``.
    m : int
        Domain size of the sensitive attribute (1 without one).

    Notes
    -----
    Tuple, sensitive value and row number are packed into one 64-bit key, so that one sort of
    plain integers does the grouping: O(n log n), two arrays of n 64-bit keys.
    """
    n = len(codes)
    row_bits = max(int(n - 1).bit_length(), 1)
    key = _tuple_keys(codes, sizes, 2 ** (64 - row_bits) // m)
    if sensitive is not None:
        key *= np.uint64(m)
        key += sensitive.astype(np.uint64)
    key <<= np.uint64(row_bits)
    key |= np.arange(n, dtype=np.uint64)
    key.sort()

    rows = (key & np.uint64((1 << row_bits) - 1)).astype(np.int32)
    key >>= np.uint64(row_bits)
    first_of_cell = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    cell_key = key[first_of_cell]
    tuple_key, cell_sensitive = np.divmod(cell_key, np.uint64(m))
    first_of_tuple = np.flatnonzero(np.r_[True, tuple_key[1:] != tuple_key[:-1]])
    row_start = np.r_[first_of_cell, n]
    return CellTable(
        tuples=codes[rows[first_of_cell[first_of_tuple]]],
        start=np.r_[first_of_tuple, len(cell_key)],
        sensitive=cell_sensitive.astype(np.int32),
        counts=np.diff(row_start),
        row_start=row_start,
        rows=rows,
    )


def _tuple_keys(codes: np.ndarray, sizes: Sequence[int], limit: int) -> np.ndarray:
    """Number the tuples in lexicographic order by uint64 keys below `limit`.

    Columns are joined in mixed radix; where the keys would grow too large they are replaced by
    their ranks, of which there are at most n.
    """
    key, span = codes[:, 0].astype(np.uint64), sizes[0]
    for j in range(1, len(sizes)):
        if span * sizes[j] >= 2**64:
            key, span = _ranks(key)
        key *= np.uint64(sizes[j])
        key += codes[:, j].astype(np.uint64)
        span *= sizes[j]
    return key if span <= limit else _ranks(key)[0]


def _ranks(key: np.ndarray) -> tuple[np.ndarray, int]:
    distinct, ranks = np.unique(key, return_inverse=True)
    return ranks.astype(np.uint64), len(distinct)
