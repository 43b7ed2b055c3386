"""Microdata: a table of people with roles, coded once, and its cell table.

Rows with equal quasi-identifiers (QI) and equal sensitive value are interchangeable for all
algorithms. So these work on the :class:`CellTable`: the distinct QI tuples with their counts per
sensitive value.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence
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
    RowsError,
    check_choice,
    check_integer,
    check_named,
    check_sequence,
    is_among,
)
from anonpaper.randomness import generator

__all__ = [
    "HOW_MISSING", "MISSING", "Attribute", "CellTable", "CountedCells", "CountedRows", "Microdata",
    "build_cells", "check_microdata", "checked_roles", "code_values", "missing_values",
    "near_equal", "no_rows",
]  # fmt: skip

#: The value that replaces a missing one when missing values are kept.
MISSING = "?"
#: What ``missing=`` can be.
HOW_MISSING = ("category", "drop", "error")


@dataclass(frozen=True, eq=False)
class Attribute:
    """One attribute with its ordered domain.

    `values` (dtype object) is the domain, and the code of a value is its place there. The domain
    is `numeric` if it has ascending numbers that floats can distinguish, and `ordered` if its
    order has a meaning (numbers, dates, ordered categoricals). `positions` (float64) are the
    numbers themselves, or otherwise the codes.
    """

    name: object  # the column's label
    values: np.ndarray  # (size,)
    numeric: bool
    ordered: bool
    positions: np.ndarray  # (size,)

    @property
    def size(self) -> int:
        """Number of values in the domain."""
        return len(self.values)

    @property
    def width(self) -> float:
        """Distance between the first and the last value, in the attribute's unit."""
        return float(self.positions[-1] - self.positions[0])

    def code(self, value: object) -> int:
        """Return the code of a value; raise ColumnError if the domain lacks it."""
        matches = [place for place, known in enumerate(self.values) if is_among(value, [known])]
        if len(matches) != 1:
            raise ColumnError(
                f"{value!r} is not in the domain of {self.name!r} "
                f"(its {self.size} values begin with {list(self.values[:5])})"
            )
        return matches[0]

    def __repr__(self) -> str:
        kind = "numeric" if self.numeric else "ordered" if self.ordered else "categorical"
        return f"Attribute({self.name!r}, {self.size} values, {kind})"


@dataclass(frozen=True, eq=False)
class CellTable:
    """The distinct QI tuples of a table with their counts per sensitive value.

    A *cell* is a pair (QI tuple, sensitive value) that occurs. Cells are sorted by tuple, tuples
    lexicographically by code. Without a sensitive attribute every tuple is one cell. There are n
    rows, e cells and c tuples, the QI-groups of the microdata.
    """

    tuples: np.ndarray  # (c, d), int32: the codes of every tuple
    start: np.ndarray  # (c + 1,), int64: cells start[i]:start[i + 1] are of tuple i
    sensitive: np.ndarray  # (e,), int32: the sensitive code of every cell, ascending in a tuple
    counts: np.ndarray  # (e,), int64: the number of rows of every cell
    row_start: np.ndarray  # (e + 1,), int64: rows[row_start[j]:row_start[j + 1]] are of cell j
    rows: np.ndarray  # (n,), int32: row numbers by tuple, sensitive value and row number

    @property
    def tuple_start(self) -> np.ndarray:
        """Tuple i has the rows ``rows[tuple_start[i]:tuple_start[i + 1]]``."""
        return self.row_start[self.start]

    @property
    def tuple_sizes(self) -> np.ndarray:
        """Number of rows of every tuple, shape (c,), dtype int64."""
        return np.diff(self.tuple_start)

    @cached_property
    def tuple_of_row(self) -> np.ndarray:
        """The number of every row's tuple, shape (n,), dtype int32."""
        tuple_of_row = np.empty(len(self.rows), np.int32)
        tuple_of_row[self.rows] = np.repeat(np.arange(len(self), dtype=np.int32), self.tuple_sizes)
        return tuple_of_row

    @cached_property
    def tuple_of_cell(self) -> np.ndarray:
        """The number of every cell's tuple, shape (e,), dtype int64."""
        return np.repeat(np.arange(len(self.tuples)), np.diff(self.start))

    def by_sensitive_value(
        self, values: int, order: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """List the cells of each of `values` sensitive values, in an order of the tuples; O(e).

        Returns `list_start`, `cell` and `place`: ``cell[list_start[v]:list_start[v + 1]]`` are the
        cells of value v, and `place` is the position of their tuples in the order.
        """
        if order is None:
            order = np.arange(len(self))
        sizes = np.diff(self.start)[order]
        before = np.cumsum(sizes) - sizes
        cell = np.repeat(self.start[order] - before, sizes) + np.arange(len(self.sensitive))
        # numpy sorts integers of up to 16 bits without comparing them
        codes = self.sensitive[cell].astype(np.min_scalar_type(values))
        by_value = np.argsort(codes, kind="stable")
        list_start = np.cumsum([0, *np.bincount(codes, minlength=values)])
        place = np.repeat(np.arange(len(self)), sizes)
        return list_start, cell[by_value], place[by_value]

    def __len__(self) -> int:
        return len(self.tuples)


def no_rows(*_) -> None:
    """Raise RowsError: the table has only counts, and the caller needs its rows."""
    raise RowsError(
        "this needs single rows, but a table of counts has only distinct rows and their numbers. "
        "These work: all algorithms except mondrian(relaxed=True), all forms of publication, "
        "rel.audit(), stars, classes, NCP, GCP and KL divergence. For anything else, read rows "
        "that fit into memory into a DataFrame for ap.Microdata"
    )


class CountedCells(CellTable):
    """A cell table without row numbers: asking for `rows` raises RowsError."""

    rows = property(no_rows, lambda self, rows: None)


class Microdata:
    """A table of people with its quasi-identifiers and sensitive attributes.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per person, or several with `person`. The table keeps a copy, ``frame``, for
        reading.
    qi : sequence of column labels
        The quasi-identifiers, at least one.
    sensitive : column label or list of column labels, optional
        The sensitive attribute (SA), or several. Algorithms for one raise an error for several;
        choose one by ``with_roles(sensitive=...)``.
    person : column label, optional
        Identifies people with several rows. Principles then count people, and methods that count
        rows raise an error. The column has no other role and is never published.
    missing : {"category", "drop", "error"}
        Missing values in role columns become the value ``"?"``, last in its domain; or their rows
        are dropped (``dropped`` counts them); or they are an error. A row without its `person` is
        dropped or an error. Numbers or dates with missing values are generalized to sets, not to
        intervals: drop the rows or fill the gaps to keep intervals.
    domains : mapping of column label to sequence of values, optional
        Declared domains in order, for attributes whose data do not show every value. Missing
        values are ignored. A pandas Categorical declares its categories.
    origin, synthetic : object, and array of bool, shape (len(frame),), optional
        Where the data come from, and which rows are synthetic.

    Raises
    ------
    ColumnError
        A column is unknown, occurs twice, or has two roles; on first use also: a value is outside
        its domain, infinite, or cannot be compared with another.
    EmptyTableError, MissingValueError
        No rows, or no quasi-identifiers; missing values with ``missing="error"``, or in `person`
        with ``missing="category"``.

    Notes
    -----
    A column is coded once, on first use, in O(n log n). Numbers and text are sorted, a Categorical
    keeps the order of its categories. Every value has one written form: if values are equal but
    written differently (0.0 and -0.0, 1 and True, an instant in two time zones), or different but
    written alike (1 and "1"), ``frame`` has the shortest text in all their rows.

    Examples
    --------
    >>> frame = pd.DataFrame({"age": [30, 30, 41], "sex": ["f", "f", "m"], "ill": ["a", "b", "a"]})
    >>> m = Microdata(frame, qi=["age", "sex"], sensitive="ill")
    >>> m.n, m.d, m.cells.tuples.tolist(), m.cells.counts.tolist()
    (3, 2, [[0, 0], [1, 1]], [1, 1, 1])
    """

    has_rows = True  # False for a table of counts, whose rows are in files or a database
    engine = None  # writes releases of a table of counts, see anonpaper.owner.engine

    def __init__(
        self,
        frame: pd.DataFrame,
        qi: Sequence,
        sensitive: object = None,
        *,
        person: object = None,
        missing: str = "category",
        domains: Mapping[object, Iterable] | None = None,
        origin: object = None,
        synthetic: np.ndarray | None = None,
    ) -> None:
        # Everything set here is passed on to tables made from this one.
        self._frame: pd.DataFrame | None = _snapshot(frame)
        self._whole: Microdata | None = None  # without a frame: the table it was made from,
        self._rows: np.ndarray | None = None  # and its rows, or otherwise
        self._recoded: tuple = ()  # the columns with other codes
        self._coded: dict[object, tuple[Attribute, np.ndarray]] = {}
        self._domains = _declared(domains)
        self.n = len(frame)
        self.qi, self.sensitive, self.person, self.missing = qi, sensitive, person, missing
        self.origin, self.dropped = origin, 0
        self.synthetic = _checked_mask(self.n, synthetic)
        self.weights: np.ndarray | None = None  # how many rows each listed one represents
        self._settle()

    def _settle(self) -> None:
        """Check the roles, and drop the rows with missing values if requested."""
        check_choice("missing", self.missing, HOW_MISSING)
        columns = list(self._columns)
        self.qi, several = checked_roles(columns, self.qi, self.sensitive, self.person)
        self.sensitive = several if len(several) > 1 else next(iter(several), None)
        if unknown := [name for name in self._domains if name not in columns]:
            raise ColumnError(f"domains names unknown columns {unknown}; the table has {columns}")
        if self.n == 0:
            raise EmptyTableError("the table has no rows")
        whose = [] if self.person is None else [self.person]
        needed = [*self._roles, *whose] if self.missing in ("drop", "error") else whose
        lacking = self.frame[needed].isna() if needed else None
        if lacking is None or not (incomplete := lacking.to_numpy().any(axis=1)).any():
            return
        if self.missing != "drop":
            counts = lacking.sum()
            raise missing_values(counts[counts > 0].to_dict())
        if incomplete.all():
            raise EmptyTableError("every row has a missing value in a role column")
        self.dropped += int(incomplete.sum())
        self.synthetic = self.synthetic[~incomplete]
        self._frame, self._whole, self._rows = self.frame[~incomplete], None, None
        self._coded, self.n = {}, len(self._frame)
        vars(self).pop("frame", None)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table's copy of the input, with equal values written alike; for reading."""
        if self._frame is not None:
            return self._frame
        if self._rows is not None:
            return self._whole.frame.take(self._rows)
        drawn = self._whole is None  # from counts, which have no frame
        frame = pd.DataFrame(index=range(self.n)) if drawn else self._whole.frame.copy(deep=False)
        for name in self._recoded:
            attribute, codes = self._coded[name]
            frame[name] = pd.Series(attribute.values[codes], frame.index).infer_objects()
        return frame

    @property
    def _columns(self) -> pd.Index:
        if self._frame is not None:
            return self._frame.columns
        return pd.Index(self._recoded) if self._whole is None else self._whole._columns

    @property
    def _roles(self) -> list:
        return [*self.qi, *self.sensitives]

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
        """QI codes, shape (n, d), dtype int32, stored by columns."""
        codes = np.empty((self.n_listed, self.d), np.int32, order="F")
        for j, name in enumerate(self.qi):
            codes[:, j] = self._code_column(name)[1]
        return codes

    @property
    def sensitives(self) -> list:
        """Labels of the sensitive attributes: none, one, or several."""
        if self.sensitive is None:
            return []
        return list(self.sensitive) if isinstance(self.sensitive, list) else [self.sensitive]

    @property
    def sensitive_attribute(self) -> Attribute:
        """The sensitive attribute with its domain; ColumnError if there is none, or several."""
        return self._code_column(self._required_sensitive())[0]

    @property
    def sensitive_codes(self) -> np.ndarray:
        """Sensitive codes, shape (n,), dtype int32."""
        return self._code_column(self._required_sensitive())[1]

    @cached_property
    def sensitive_counts(self) -> np.ndarray:
        """Number of rows of every sensitive value, shape (m,), dtype int64."""
        codes, values = self.sensitive_codes, self.sensitive_attribute.size
        return np.bincount(codes, self.weights, values).astype(np.intp)

    @cached_property
    def people(self) -> np.ndarray | None:
        """The person of every row, numbered 0, 1, ..., shape (n,); None if nobody has two rows."""
        if self.person is None:
            return None
        numbers, people = pd.factorize(self._code_column(self.person)[1])
        return None if len(people) == self.n else numbers

    @property
    def n_people(self) -> int:
        """Number of people: n, unless several rows have the same `person`."""
        return self.n if self.people is None else int(self.people.max()) + 1

    @cached_property
    def cells(self) -> CellTable:
        """The cell table, built on first use in time O(n log n).

        With several sensitive attributes every tuple is one cell; ``about(name).cells`` has the
        counts for one of them.
        """
        codes, values = None, 1
        if len(self.sensitives) == 1:
            codes, values = self.sensitive_codes, self.sensitive_attribute.size
        sizes = [attribute.size for attribute in self.attributes]
        return build_cells(self.codes, sizes, codes, values, self.weights)

    def counted(self) -> Microdata:
        """Return cells as rows with `weights`; itself if it has people or several sensitives."""
        if self.people is not None or len(self.sensitives) > 1:
            return self
        cells = self.cells
        tuples = zip(self.attributes, cells.tuples[cells.tuple_of_cell].T, strict=True)
        coded = {attribute.name: (attribute, codes) for attribute, codes in tuples}
        if self.sensitives:
            coded[self.sensitive] = self.sensitive_attribute, cells.sensitive
        in_order = {name: coded[name] for name in self._columns if name in coded}
        return CountedRows(self, in_order, cells.counts)

    def listed(self) -> Microdata:
        """Return the table that lists rows: itself, or :meth:`counted` for a table of counts."""
        return self if self.has_rows else self.counted()

    @property
    def n_listed(self) -> int:
        """Number of rows listed: n, unless equal rows are listed once with `weights`."""
        return self.n if self.weights is None else len(self.weights)

    def weights_of(self, listed: np.ndarray) -> np.ndarray | None:
        """Number of rows that each listed one represents; None if each is one."""
        return None if self.weights is None else self.weights[listed]

    def count(self, listed: np.ndarray) -> int:
        """Number of rows that the listed rows under a mask represent."""
        held = listed[listed] if self.weights is None else self.weights[listed]
        return int(held.sum())

    def attribute_index(self, name: object) -> int:
        """Place of a quasi-identifier in `qi`; ColumnError for another name."""
        if not is_among(name, self.qi):
            raise ColumnError(f"{name!r} is not a quasi-identifier; these are {self.qi}")
        return self.qi.index(name)

    def attribute(self, name: object) -> Attribute:
        """The attribute of a column in a role; ColumnError for another column."""
        return self._code_column(self._in_role(name))[0]

    def codes_of(self, name: object) -> np.ndarray:
        """Codes of a column in a role, shape (n,), dtype int32; ColumnError for another column."""
        return self._code_column(self._in_role(name))[1]

    # -- other tables made from this one -----------------------------------------------

    def replace(
        self,
        *,
        frame: pd.DataFrame | None = None,
        qi: Sequence | None = None,
        sensitive: object = ...,
        person: object = ...,
        domains: Mapping[object, Iterable | None] | None = None,
        origin: object = ...,
        synthetic: np.ndarray | None = None,
        dropped: int | None = None,
    ) -> Microdata:
        """Return a table made from this one; everything that is not named stays.

        Parameters
        ----------
        frame : pandas.DataFrame, optional
            Other rows or columns.
        qi, sensitive, person, origin, synthetic
            As for :class:`Microdata`; None removes the role of `sensitive` or `person`.
        domains : mapping of column label to sequence of values or None, optional
            Further domains; None if the column itself shows its domain. A Categorical in `frame`
            always does.
        dropped : int, optional
            Number of rows that were dropped.

        Raises
        ------
        ColumnError, EmptyTableError, MissingValueError, ParameterError
            As :class:`Microdata`; also if the table has synthetic rows, `frame` has another index,
            and `synthetic` is not given.

        Examples
        --------
        >>> m = ap.examples.hospital()
        >>> m.replace(frame=m.frame.assign(Age=50)).attribute("Age").size
        1
        """
        marks = {"sensitive": sensitive, "person": person, "origin": origin}
        marks = {name: mark for name, mark in marks.items() if mark is not ...}
        if qi is not None:
            marks["qi"] = qi
        if dropped is not None:
            marks["dropped"] = check_integer("dropped", dropped, 0)
        if frame is not None or domains is not None:
            marks |= self._with_columns(frame, {} if domains is None else domains)
        if frame is not None and synthetic is None and self.synthetic.any():
            if not marks["_frame"].index.equals(self.frame.index):
                raise ParameterError(
                    "some rows are synthetic and the frame has another index: say with "
                    "synthetic=... which rows of the frame are"
                )
        elif frame is not None or synthetic is not None:
            marks["synthetic"] = _checked_mask(marks.get("n", self.n), synthetic)
        other = self._like(**marks)
        other._settle()
        return other

    def with_roles(
        self, qi: Sequence | None = None, sensitive: object = ..., person: object = ...
    ) -> Microdata:
        """Return the same table with other roles: `replace` with these parameters only."""
        return self.replace(qi=qi, sensitive=sensitive, person=person)

    def about(self, name: object) -> Microdata:
        """Return the table with only one of its sensitive attributes, or with None of them."""
        if name is not None and not is_among(name, self.sensitives):
            raise ColumnError(f"{name!r} is not one of the sensitive attributes {self.sensitives}")
        return self if self.sensitives == [name] else self._like(sensitive=name)

    def with_codes(self, codes: Mapping[object, np.ndarray]) -> Microdata:
        """Return the table with other values, given as codes; all domains stay.

        `codes` maps columns in a role to n integers in their domains; ColumnError or
        ParameterError for anything else.
        """
        coded = {name: self._code_column(name) for name in self._roles}
        codes = check_named("codes", codes, self._roles)
        n = self.n_listed
        for name, new in codes.items():
            (attribute, _), new = coded[name], np.array(new)
            whole = np.issubdtype(new.dtype, np.integer) and new.shape == (n,)
            if not whole or new.min() < 0 or new.max() >= attribute.size:
                raise ParameterError(
                    f"codes of {name!r} must be {n} integers from 0 to {attribute.size - 1}"
                )
            coded[name] = attribute, new.astype(np.int32)
        marks = {"_recoded": tuple(codes), "_coded": coded}
        return self._like(_frame=None, _whole=self, _rows=None, **marks)

    def take(self, rows: np.ndarray) -> Microdata:
        """Return the table of some rows, in the order given; all domains stay.

        `rows` are positions, or a mask of length n; EmptyTableError if there are none,
        ParameterError for a position out of range.
        """
        rows = np.array(rows)
        if rows.dtype == bool and rows.shape == (self.n,):
            rows = np.flatnonzero(rows)
        if rows.size == 0:
            raise EmptyTableError("no rows were taken")
        whole = rows.ndim == 1 and np.issubdtype(rows.dtype, np.integer)
        if not whole or rows.min() < 0 or rows.max() >= self.n:
            raise ParameterError(
                f"rows must be positions from 0 to {self.n - 1}, or a mask of {self.n} booleans"
            )
        marks = {"n": len(rows), "synthetic": self.synthetic[rows]}
        return self._like(_frame=None, _whole=self, _rows=rows, _coded={}, **marks)

    def sample(self, rows: int, seed: int | np.random.Generator) -> Microdata:
        """Return `rows` rows, from 1 to n, drawn without replacement, in their original order."""
        rows = check_integer("rows", rows, 1, self.n)
        return self.take(np.sort(generator(seed).choice(self.n, rows, replace=False)))

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        origin = "" if self.origin is None else f", origin={str(self.origin)!r}"
        person = "" if self.person is None else f", person={self.person!r}"
        roles = f"qi={self.qi}, sensitive={self.sensitive!r}{person}"
        return f"Microdata({self.n} rows, {roles}{origin})"

    def _repr_html_(self) -> str:
        whose = "" if self.person is None else f"{self.person} ({self.n_people:,} people)"
        facts = {
            "quasi-identifiers": _with_sizes(self.attributes),
            "sensitive": _with_sizes(map(self.attribute, self.sensitives)),
            "person": whose,
            "origin": self.origin,
            "rows left out for missing values": self.dropped,
            "synthetic rows": int(self.synthetic.sum()),
        }
        facts = [(name, value) for name, value in facts.items() if value]
        roles = [name for name in self.frame.columns if name in self._roles]
        return html(f"Microdata, {self.n:,} rows", facts, html_table(self.frame[roles]))

    # -- coding ------------------------------------------------------------------------

    def _required_sensitive(self) -> object:
        if self.sensitive is None:
            raise ColumnError(
                "this needs a sensitive attribute: set it by with_roles(sensitive=...)"
            )
        if isinstance(self.sensitive, list):
            raise ColumnError(
                f"this needs one sensitive attribute, but the table has {self.sensitive}: choose "
                "one by with_roles(sensitive=...)"
            )
        return self.sensitive

    def _in_role(self, name: object) -> object:
        if not is_among(name, self.sensitives):
            self.attribute_index(name)
        return name

    def _code_column(self, name: object) -> tuple[Attribute, np.ndarray]:
        if name not in self._coded:
            if self._whole is None:
                self._coded[name] = _code(self.frame[name], self._domains.get(name))
            else:
                attribute, codes = self._whole._code_column(name)
                self._coded[name] = attribute, codes if self._rows is None else codes[self._rows]
        return self._coded[name]

    def _like(self, **marks) -> Microdata:
        """Return a table with everything that this one stores, except for the marks given."""
        other = object.__new__(type(self))
        computed = {n for n, v in vars(Microdata).items() if isinstance(v, cached_property)}
        carried = {name: mark for name, mark in vars(self).items() if name not in computed}
        vars(other).update(carried | marks)
        return other

    def _with_columns(self, frame: pd.DataFrame | None, domains: Mapping) -> dict[str, object]:
        """Return the marks of a table with other columns; codings of equal columns are kept."""
        before, anew = self.frame, _declared(domains)
        frame = before if frame is None else _snapshot(frame)
        columns = list(frame.columns)
        names = [name for name in columns if name not in domains and columns.count(name) == 1]
        kept = {
            name: self._code_column(name)
            for name in self._roles
            if name in names and _holds_the_same(frame[name], before[name])
        }
        carried = {
            name: domain
            for name, domain in self._domains.items()
            if name in kept or (name in names and not _is_categorical(frame[name]))
        }
        marks = {"n": len(frame), "_frame": frame, "_whole": None, "_rows": None}
        return marks | {"_coded": kept, "_domains": carried | anew}


class CountedRows(Microdata):
    """A table that lists equal rows once: row i represents ``weights[i]`` rows, n is their sum."""

    has_rows = False
    frame = property(no_rows)

    def __init__(self, m: Microdata, coded: Mapping, weights: np.ndarray) -> None:
        vars(self).update(vars(m._like(_frame=None, _whole=None, _rows=None, person=None)))
        self._coded, self._recoded, self.weights = dict(coded), tuple(coded), weights
        self.n, self.synthetic = int(weights.sum()), np.zeros(len(weights), bool)

    def take(self, rows: np.ndarray, weights: np.ndarray | None = None) -> CountedRows:
        """Return some of the listed rows, with other numbers of rows if `weights` are given."""
        coded = {name: (a, codes[rows]) for name, (a, codes) in self._coded.items()}
        return CountedRows(self, coded, self.weights[rows] if weights is None else weights)

    def drawn(self, rng: np.random.Generator) -> tuple[Microdata, np.ndarray]:
        """Return a table of n rows in random order, and the listed row of each."""
        if self.n > np.iinfo(np.int32).max:
            raise RowsError(
                f"this numbers single rows, at most 2^31 - 1, but the table has {self.n}: use "
                "ap.mondrian, ap.tp_plus or another algorithm that groups equal rows together"
            )
        listed = np.repeat(np.arange(len(self.weights), dtype=np.int32), self.weights)
        rng.shuffle(listed)
        coded = {name: (a, codes[listed]) for name, (a, codes) in self._coded.items()}
        like = self._like(weights=None, synthetic=np.zeros(self.n, bool), _coded=coded)
        m = object.__new__(Microdata)
        vars(m).update(vars(like))
        return m, listed


def _with_sizes(attributes: Iterable[Attribute]) -> str:
    return ", ".join(f"{a.name} ({a.size} values)" for a in attributes)


def check_microdata(m: object, *, people: bool = False, weights: bool = False) -> Microdata:
    """Return `m` if it is a Microdata; the others say what the caller can handle."""
    if not isinstance(m, Microdata):
        raise ParameterError(
            f"expected a Microdata, got {type(m).__name__}: make one from a DataFrame by "
            "ap.Microdata(frame, qi=[...], sensitive=...)"
        )
    if m.weights is not None and not weights:
        no_rows()
    if not people and m.people is not None:
        raise ParameterError(
            f"this counts rows, but {m.n} rows belong to {m.n_people} people by {m.person!r}: use "
            "ap.mondrian, ap.full_domain or ap.tds with ap.suppress, ap.generalize or ap.recode, "
            "or with_roles(person=None) to count rows"
        )
    return m


def missing_values(rows: Mapping[object, int]) -> MissingValueError:
    """Return the error on missing values, with their number of rows by column."""
    return MissingValueError(
        f'missing values in {rows} (column: rows): missing="drop" (--missing drop) leaves out '
        'their rows, and missing="category" (--missing category) keeps them as the value '
        f"{MISSING!r}, except in the person column"
    )


def checked_roles(
    columns: list, qi: Sequence, sensitive: object, person: object = None
) -> tuple[list, list]:
    """Return QI and sensitive attributes; ColumnError for unknown or repeated columns."""
    if isinstance(sensitive, (list, np.ndarray, pd.Index)):
        sensitives = check_sequence("sensitive", sensitive)
    else:
        sensitives = [] if sensitive is None else [sensitive]
    qi = check_sequence("qi", qi)
    if not qi:
        raise EmptyTableError("qi is empty: name at least one quasi-identifier")
    roles = [*qi, *sensitives] if person is None else [*qi, *sensitives, person]
    unknown = [n for n in roles if not isinstance(n, Hashable) or not is_among(n, columns)]
    if unknown:
        raise ColumnError(f"unknown columns {unknown}; the table has {columns}")
    doubled = sorted({str(name) for name in roles if roles.count(name) > 1})
    if doubled:
        raise ColumnError(f"columns used twice among qi, sensitive and person: {doubled}")
    ambiguous = [name for name in roles if columns.count(name) > 1]
    if ambiguous:
        raise ColumnError(f"the table has several columns named {ambiguous}: rename them")
    return qi, sensitives


def _checked_mask(n: int, synthetic: np.ndarray | None) -> np.ndarray:
    """Return which rows are synthetic as an array of bool, one per row."""
    if synthetic is None:
        return np.zeros(n, dtype=bool)
    synthetic = np.array(synthetic)
    if synthetic.shape != (n,) or synthetic.dtype != bool:
        raise ParameterError(
            f"synthetic must be {n} booleans, one per row, got shape {synthetic.shape} and dtype "
            f"{synthetic.dtype}"
        )
    return synthetic


def _declared(domains: Mapping[object, Iterable] | None) -> dict[object, list]:
    """Return the domains that are not None as new lists without missing values."""
    if domains is None:
        return {}
    if not isinstance(domains, Mapping):
        raise ParameterError(f"domains must map column labels to sequences, got {domains!r}")
    return {
        name: [
            value
            for value in check_sequence(f"the domains' entry of {name!r}", domain)
            if not (pd.api.types.is_scalar(value) and pd.isna(value))
        ]
        for name, domain in domains.items()
        if domain is not None
    }


# -- the table's own frame ---------------------------------------------------------------------


def _snapshot(frame: object) -> pd.DataFrame:
    """Return a private copy of a frame, with every value in one written form."""
    if not isinstance(frame, pd.DataFrame):
        raise ParameterError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
    copy = frame.copy()
    for place in range(copy.shape[1]):
        column = copy.iloc[:, place]
        written = _in_one_form(column)
        if written is not column:
            copy.isetitem(place, written)
    return copy


def _in_one_form(column: pd.Series) -> pd.Series:
    """Write equal values alike, and values that are written alike as one of them."""
    dtype = column.dtype
    if pd.api.types.is_float_dtype(dtype):
        return column + 0  # -0.0 becomes 0.0
    if _is_categorical(column) or dtype.kind in "iubmM" or isinstance(dtype, pd.StringDtype):
        return column
    types = set(map(type, column[column.notna()]))
    if len(types) <= 1 and types <= {str, int, bool}:  # equal values are written alike
        return column
    try:
        equal = pd.factorize(column)[0]
    except TypeError:  # incomparable values: an error only if the column gets a role
        return column
    rows = np.flatnonzero(equal >= 0)
    values = column.array[rows]
    forms = pd.DataFrame({"row": rows, "equal": equal[rows], "text": [str(v) for v in values]})
    forms["kind"] = [type(value).__name__ for value in values]
    forms = forms.drop_duplicates(["equal", "text", "kind"])
    forms["length"] = forms["text"].str.len()
    forms = forms.sort_values(["length", "text", "kind"]).drop_duplicates("equal")
    form_of_text = forms.drop_duplicates("text").set_index("text")["row"]
    row_of = np.empty(equal.max() + 1, dtype=np.intp)
    row_of[forms["equal"]] = forms["text"].map(form_of_text)
    source = np.arange(len(column))
    source[rows] = row_of[equal[rows]]
    return column.take(source).set_axis(column.index)


def _is_categorical(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype)


def _holds_the_same(column: pd.Series, other: pd.Series) -> bool:
    """Whether two columns have equal values in the same order and of the same type."""
    if len(column) != len(other) or column.dtype != other.dtype:
        return False
    if _is_categorical(column) and not column.cat.categories.equals(other.cat.categories):
        return False
    return column is other or column.set_axis(other.index).equals(other)


# -- codes -------------------------------------------------------------------------------------


def code_values(values: pd.Series, used: np.ndarray, domain: Iterable | None) -> tuple:
    """Return a column's attribute from its distinct `values`, and the codes of those `used`."""
    return _code(_in_one_form(values).iloc[used], domain)


def _code(column: pd.Series, domain: Iterable | None) -> tuple[Attribute, np.ndarray]:
    """Code one column: its attribute and the place of every row's value in the domain."""
    if domain is not None:
        declared = pd.Index(domain)
        try:
            codes = declared.get_indexer(column)
        except (TypeError, pd.errors.InvalidIndexError) as error:
            twice = f"the declared domain of {column.name!r} names a value twice"
            unclear = f"values declared for {column.name!r} cannot be compared (lists or sets?)"
            raise ColumnError(unclear if isinstance(error, TypeError) else twice) from None
        outside = (codes < 0) & column.notna().to_numpy()
        if outside.any():
            others = column[outside].unique()[:5].tolist()
            raise ColumnError(f"values of {column.name!r} outside its declared domain: {others}")
        values, ordered = declared, False
    elif _is_categorical(column):
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
            f"{column.name!r} has infinite numbers: replace them by numbers or missing values"
        )
    values = np.array(values.tolist() + [None], dtype=object)[:-1]
    codes = np.array(codes, dtype=np.int32)
    absent = codes < 0
    if absent.any():  # an interval that ends in "?" would have no meaning
        numeric = ordered = False
        if MISSING not in values:
            values = np.append(values, MISSING)
        codes[absent] = np.flatnonzero(values == MISSING)[0]
    ordered = bool(ordered or numeric)
    positions = values.astype(float) if numeric else np.arange(len(values), dtype=float)
    if numeric and not _has_width(positions):
        numeric, positions = False, np.arange(len(values), dtype=float)
    return Attribute(column.name, values, bool(numeric), ordered, positions), codes


def _has_width(positions: np.ndarray) -> bool:
    """Whether distances can be computed: as floats, identifiers near 2^60 are equal."""
    with np.errstate(over="ignore", divide="ignore"):
        scale = 1 / (positions[-1] - positions[0])
    return len(positions) == 1 or bool((np.diff(positions) > 0).all() and 0 < scale < np.inf)


def _factorize(column: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Sort the distinct values of a column; missing ones get code -1."""
    try:
        codes, values = pd.factorize(column, sort=False)
    except TypeError:
        raise ColumnError(
            f"values of {column.name!r} cannot be compared (lists, sets or dicts?): "
            "convert them to text or numbers"
        ) from None
    values = pd.Index(values, dtype=values.dtype)
    if values.inferred_type == "datetime":
        values = values.infer_objects()
    try:
        order = np.argsort(values.to_numpy(), kind="stable")
    except TypeError:  # numbers mixed with text: sorted by how they are written
        order = np.argsort(np.array([str(value) for value in values]), kind="stable")
    rank = np.empty(len(values) + 1, np.int32)
    rank[order] = np.arange(len(values))
    rank[-1] = -1
    return rank[codes], values[order]


def near_equal(values: Iterable) -> list[list[str]]:
    """Return the texts that differ only in case, spaces, points and hyphens within, in groups."""
    found: dict[str, list[str]] = {}
    for text in (value for value in values if isinstance(value, str)):
        plain = unicodedata.normalize("NFKC", text).casefold().strip()
        if not re.search(r"\d", plain):  # a point or a space in a number has a meaning
            plain = re.sub(r"[\s._']|(?<=\w)-(?=\w)", "", plain) or plain
        found.setdefault(plain, []).append(text)
    return [texts for texts in found.values() if len(texts) > 1]


# -- cells ---------------------------------------------------------------------------------


def build_cells(
    codes: np.ndarray,
    sizes: Sequence[int],
    sensitive: np.ndarray | None,
    m: int,
    weights: np.ndarray | None = None,
) -> CellTable:
    """Group rows by QI tuple (code j below ``sizes[j]``) and sensitive code below m; O(n log n).

    Listed rows may represent several: with `weights` the result counts these, but has no `rows`.
    """
    # Tuple and sensitive value are one 64-bit key. If the row number fits into it too, plain
    # integers are sorted, which is faster.
    n, m = len(codes), int(m)
    row_bits = max(int(n - 1).bit_length(), 1)
    key, span = _tuple_keys(codes, sizes, 2**64 // m)
    if span * m << row_bits > 2**64:
        key, span = _ranks(key)
    if sensitive is not None:
        key *= np.uint64(m)
        key += sensitive.astype(np.uint64)
    if span * m << row_bits <= 2**64:
        key <<= np.uint64(row_bits)
        key |= np.arange(n, dtype=np.uint64)
        key.sort()
        rows = (key & np.uint64((1 << row_bits) - 1)).astype(np.int32)
        key >>= np.uint64(row_bits)
    else:
        rows = np.argsort(key, kind="stable").astype(np.int32)
        key = key[rows]

    first_of_cell = _first_of_equal(key)
    tuple_key, cell_sensitive = np.divmod(key[first_of_cell], np.uint64(m))
    first_of_tuple = _first_of_equal(tuple_key)
    row_start = np.r_[first_of_cell, n]
    kind = CellTable
    if weights is not None:
        kind, row_start = CountedCells, np.r_[0, np.cumsum(weights[rows])][row_start]
    return kind(
        tuples=codes[rows[first_of_cell[first_of_tuple]]],
        start=np.r_[first_of_tuple, len(first_of_cell)],
        sensitive=cell_sensitive.astype(np.int32),
        counts=np.diff(row_start),
        row_start=row_start,
        rows=rows,
    )


def _first_of_equal(keys: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)])


def _tuple_keys(codes: np.ndarray, sizes: Sequence[int], limit: int) -> tuple[np.ndarray, int]:
    """Number the tuples in lexicographic order by uint64 keys; also return a bound of the keys."""
    # columns are joined in mixed radix; keys that would reach the limit, at least 2^33, are
    # replaced by their ranks, at most n
    key, span = codes[:, 0].astype(np.uint64), int(sizes[0])
    for j in range(1, len(sizes)):
        size = int(sizes[j])
        if span * size >= 2**64:
            key, span = _ranks(key)
        key *= np.uint64(size)
        key += codes[:, j].astype(np.uint64)
        span *= size
    return (key, span) if span <= limit else _ranks(key)


def _ranks(key: np.ndarray) -> tuple[np.ndarray, int]:
    distinct, ranks = np.unique(key, return_inverse=True)
    return ranks.astype(np.uint64), len(distinct)
