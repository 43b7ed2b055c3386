"""Microdata: a table of people with roles, coded once, and its cell table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.cells import Cells, no_rows
from anonpaper.coding import MISSING, Attribute, Coded, Columns, declared, snapshot
from anonpaper.errors import ColumnError, EmptyTableError, ParameterError
from anonpaper.randomness import generator
from anonpaper.roles import HOW_MISSING, checked_roles, missing_values, only_one

__all__ = ["MISSING", "Attribute", "Cells", "Microdata", "check_microdata", "handed_out"]


class Microdata:
    """A table of people with its quasi-identifiers and sensitive attributes.

    `frame` has a row per person, or several if the column `person`, which is never published,
    identifies people. The table keeps a copy in which equal values are written alike. Missing
    values in columns with a role are an error; or their rows are dropped (``dropped`` counts
    them); or they become the category ``"?"``, last in its domain, beside the others. `domains`
    declares values in their order, as a pandas Categorical does. `origin` says where the data come
    from, and `synthetic`, one bool per row, who is invented.

    ColumnError, EmptyTableError, MissingValueError: a column is unknown, occurs twice, or has two
    roles; no rows or quasi-identifiers; on first use also a value that is outside its domain,
    infinite, or not to be compared with another.

    >>> frame = pd.DataFrame({"age": [30, 30, 41], "sex": ["f", "f", "m"], "ill": ["a", "b", "a"]})
    >>> m = Microdata(frame, qi=["age", "sex"], sensitive="ill")
    >>> m.n, m.d, m.cells.tuples.tolist(), m.cells.counts.tolist()
    (3, 2, [[0, 0], [1, 1]], [1, 1, 1])
    """

    # Where the rows are outside, in files or a database: how many of them each row of the codes
    # stands for, and what writes releases, see anonpaper.owner.scan.
    _weights: np.ndarray | None = None
    engine = None

    def __init__(
        self,
        frame: pd.DataFrame,
        qi: Sequence,
        sensitive: object = None,
        *,
        person: object = None,
        missing: str = "error",
        domains: Mapping[object, Iterable] | None = None,
        origin: object = None,
        synthetic: np.ndarray | None = None,
    ) -> None:
        # Everything set here is passed on to tables made from this one.
        self._columns = Columns(snapshot(frame), declared(domains))
        self.n, self.dropped = len(frame), 0
        self.qi, self.sensitive, self.person, self.missing = qi, sensitive, person, missing
        self.origin, self.synthetic = origin, synthetic
        self._settle()

    @classmethod
    def of_counts(cls, coded: Mapping[object, Coded], counts: np.ndarray, **marks) -> Microdata:
        """Return a table whose rows stay outside: the codes of distinct rows, and their counts."""
        m = object.__new__(cls)
        marks |= {"_columns": Columns(coded=coded), "_weights": counts, "n": int(counts.sum())}
        vars(m).update({"person": None, "synthetic": np.zeros(0, bool), **marks})
        m._settle()
        return m

    def _settle(self) -> None:
        """Check the roles, and drop the rows with missing values if requested."""
        errors.check_choice("missing", self.missing, HOW_MISSING)
        columns, n = self._columns.names, self.n
        self.qi, several = checked_roles(columns, self.qi, self.sensitive, self.person)
        self.sensitives = several  # labels: none, one, or several
        self.sensitive = several if len(several) > 1 else next(iter(several), None)
        errors.check_named("domains", self._columns.domains, columns)
        if not self.has_rows:
            return
        mask = np.zeros(n, bool) if self.synthetic is None else np.array(self.synthetic)
        if mask.shape != (n,) or mask.dtype != bool:
            raise ParameterError(f"synthetic must be {n} booleans, one per row, got {mask!r}")
        self.synthetic = mask
        needed = [] if self.missing == "category" else [*self.qi, *several]
        needed += [] if self.person is None else [self.person]
        lacking = self.frame[needed].isna()
        incomplete = lacking.to_numpy(bool).any(axis=1)
        if incomplete.any() and self.missing != "drop":
            raise missing_values(lacking.sum()[lacking.any()].to_dict())
        if incomplete.all():
            raise EmptyTableError("the table has no rows, or gaps in a role column in every row")
        if incomplete.any():
            self._columns = Columns(self.frame[~incomplete], self._columns.domains)
            self.synthetic, self.n = mask[~incomplete], int((~incomplete).sum())
            self.dropped += n - self.n

    @property
    def has_rows(self) -> bool:
        """Whether the rows are at hand, and not in files or a database."""
        return self._weights is None

    @property
    def frame(self) -> pd.DataFrame:
        """The table's copy of the input, with equal values written alike; for reading."""
        return self._with_rows().frame

    @property
    def d(self) -> int:
        """Number of quasi-identifiers."""
        return len(self.qi)

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers with their domains, in the order of `qi`."""
        return tuple(self._columns.coded(name)[0] for name in self.qi)

    @cached_property
    def codes(self) -> np.ndarray:
        """QI codes, shape (n, d), dtype int32, stored by columns."""
        return np.array([self.codes_of(name) for name in self.qi], np.int32).T

    @property
    def sensitive_attribute(self) -> Attribute:
        """The sensitive attribute with its domain; ColumnError for no or several attributes."""
        return self.attribute(only_one(self.sensitive))

    @property
    def sensitive_codes(self) -> np.ndarray:
        """Sensitive codes, shape (n,), dtype int32."""
        return self._with_rows().coded(only_one(self.sensitive))[1]

    @cached_property
    def sensitive_counts(self) -> np.ndarray:
        """Number of rows of every sensitive value, shape (m,), dtype int64."""
        attribute, codes = self._columns.coded(only_one(self.sensitive))
        return np.bincount(codes, self._weights, attribute.size).astype(np.intp)

    @cached_property
    def people(self) -> np.ndarray | None:
        """The person of every row, numbered 0, 1, ..., shape (n,); None if nobody has two rows."""
        if self.person is None:
            return None
        numbers, people = pd.factorize(self._columns.coded(self.person)[1])
        return None if len(people) == self.n else numbers

    @property
    def n_people(self) -> int:
        """Number of people: n, unless several rows have the same `person`."""
        return self.n if self.people is None else int(self.people.max()) + 1

    @cached_property
    def cells(self) -> Cells:
        """The cell table: all distinct rows with their counts, in O(n log n)."""
        coded = [self._columns.coded(name) for name in [*self.qi, *self.sensitives]]
        columns, sizes = [codes for _, codes in coded], [attribute.size for attribute, _ in coded]
        people = self.people is not None
        if people:
            columns, sizes = [*columns, self.people], [*sizes, self.n_people]
        return Cells.of(columns, sizes, self.d, people=people, weights=self._weights)

    def attribute_index(self, name: object) -> int:
        """Place of a quasi-identifier in `qi`; ColumnError for another name."""
        if not errors.is_among(name, self.qi):
            raise ColumnError(f"{name!r} is not a quasi-identifier; these are {self.qi}")
        return self.qi.index(name)

    def attribute(self, name: object) -> Attribute:
        """The attribute of a column in a role; ColumnError for another column."""
        if not errors.is_among(name, self.sensitives):
            self.attribute_index(name)
        return self._columns.coded(name)[0]

    def codes_of(self, name: object) -> np.ndarray:
        """Codes of a column in a role, shape (n,), dtype int32; ColumnError for another column."""
        self.attribute(name)  # which has a role
        return self._with_rows().coded(name)[1]

    def codes_of_cells(self, name: object) -> np.ndarray:
        """Codes of a column in a role in every cell, shape (e,), dtype int32."""
        if errors.is_among(name, self.sensitives):
            return self.cells.secrets[:, self.sensitives.index(name)]
        return self.cells.tuples[self.cells.tuple_of_cell, self.attribute_index(name)]

    def replace(
        self,
        *,
        frame: pd.DataFrame | None = None,
        qi: Sequence = ...,
        sensitive: object = ...,
        person: object = ...,
        domains: Mapping[object, Iterable | None] | None = None,
        origin: object = ...,
        synthetic: np.ndarray | None = None,
    ) -> Microdata:
        """Return a table made from this one; everything that is not named stays.

        None removes the role of `sensitive` or `person`, and in `domains` what was declared.
        Errors are as for :class:`Microdata`; ParameterError also if some rows are synthetic, and
        of a frame with another index it is not said which.
        """
        given = {"qi": qi, "sensitive": sensitive, "person": person, "origin": origin}
        marks = {name: mark for name, mark in given.items() if mark is not ...}
        if frame is not None or domains is not None:
            before = self.frame  # RowsError for a table of counts
            columns = self._columns.with_frame(frame, domains, [*self.qi, *self.sensitives])
            marks |= {"_columns": columns, "n": len(columns.frame)}
        if synthetic is not None or (frame is not None and not self.synthetic.any()):
            self._with_rows()
            marks["synthetic"] = synthetic
        elif frame is not None and not columns.frame.index.equals(before.index):
            raise ParameterError("another index: say by synthetic=... which rows are synthetic")
        other = self._like(**marks)
        other._settle()
        return other

    def with_roles(
        self, qi: Sequence = ..., sensitive: object = ..., person: object = ...
    ) -> Microdata:
        """Return the same table with other roles, by `replace`."""
        return self.replace(qi=qi, sensitive=sensitive, person=person)

    def about(self, name: object) -> Microdata:
        """Return the table with only one of its sensitive attributes, or with None of them."""
        several = [] if name is None else [name]
        if not all(errors.is_among(one, self.sensitives) for one in several):
            raise ColumnError(f"{name!r} is not one of the sensitive attributes {self.sensitives}")
        same = self.sensitives == several
        return self if same else self._like(sensitive=name, sensitives=several)

    def with_codes(self, codes: Mapping[object, np.ndarray]) -> Microdata:
        """Return the table with n other codes for columns in a role; all domains stay."""
        codes = errors.check_named("codes", codes, [*self.qi, *self.sensitives])
        return self._like(_columns=self._with_rows().with_codes(codes, self.n))

    def take(self, rows: np.ndarray) -> Microdata:
        """Return some rows, by a mask or by positions, in their order; all domains stay."""
        columns, rows = self._with_rows(), np.array(rows)
        if rows.dtype == bool and rows.shape == (self.n,):
            rows = np.flatnonzero(rows)
        if rows.size == 0:
            raise EmptyTableError("no rows were taken")
        whole = rows.ndim == 1 and np.issubdtype(rows.dtype, np.integer)
        if not whole or rows.min() < 0 or rows.max() >= self.n:
            wanted = f"positions up to {self.n - 1}, or a mask of {self.n} booleans"
            raise ParameterError(f"rows must be {wanted}")
        columns = Columns(None, columns.domains, of=columns, rows=rows)
        return self._like(_columns=columns, n=len(rows), synthetic=self.synthetic[rows])

    def sample(self, rows: int, seed: int | np.random.Generator) -> Microdata:
        """Return `rows` rows, from 1 to n, drawn without replacement, in their original order."""
        rows = errors.check_integer("rows", rows, 1, self.n)
        return self.take(np.sort(generator(seed).choice(self.n, rows, replace=False)))

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        origin = "" if self.origin is None else f", origin={str(self.origin)!r}"
        person = "" if self.person is None else f", person={self.person!r}"
        roles = f"qi={self.qi}, sensitive={self.sensitive!r}"
        return f"Microdata({self.n} rows, {roles}{person}{origin})"

    def _with_rows(self) -> Columns:
        """Return the columns; RowsError if the rows are outside."""
        if not self.has_rows:
            no_rows()
        return self._columns

    def _like(self, **marks) -> Microdata:
        """Return a table with everything that this one stores, except for the marks given."""
        other = object.__new__(type(self))
        computed = {n for n, v in vars(Microdata).items() if isinstance(v, cached_property)}
        carried = {name: mark for name, mark in vars(self).items() if name not in computed}
        vars(other).update(carried | marks)
        return other


def handed_out(m: Microdata, rng: np.random.Generator) -> tuple[Microdata, np.ndarray]:
    """Return a table with its rows, in random order if they are outside, and the cell of each."""
    cell = m.cells.handed_out(rng)
    if m.has_rows:
        return m, cell
    names = [*m.qi, *m.sensitives]
    coded = {name: (m.attribute(name), m.codes_of_cells(name)[cell]) for name in names}
    marks = {"_weights": None, "engine": None, "synthetic": np.zeros(m.n, bool)}
    return m._like(_columns=Columns(coded=coded), **marks), cell


def check_microdata(m: object, *, people: bool = False) -> Microdata:
    """Return `m` if it is a Microdata; `people` says that the caller counts people, not rows."""
    if not isinstance(m, Microdata):
        way = "make one from a DataFrame by ap.Microdata(frame, qi=[...], sensitive=...)"
        raise ParameterError(f"expected a Microdata, got {type(m).__name__}: {way}")
    if not people and m.people is not None:
        told = f"this counts rows, but {m.n} rows belong to {m.n_people} people by {m.person!r}"
        way = "ap.mondrian, ap.full_domain or ap.tds with ap.suppress, ap.generalize or ap.recode"
        raise ParameterError(f"{told}: use {way}, or leave out person (--person) to count rows")
    return m
