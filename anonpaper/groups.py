"""Partition: how many rows of each cell are published as one group; and groups as counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from anonpaper.cells import Cells, distinct
from anonpaper.compiled import loop
from anonpaper.errors import ParameterError
from anonpaper.microdata import Microdata

__all__ = ["Entries", "GroupCounts", "Partition", "checked_labels", "dense_labels", "group_bounds"]


class Partition:
    """A grouping of the rows of a table: ``counts[i]`` rows of ``cell[i]`` are in ``group[i]``.

    Algorithms make partitions of the cells of a table (:meth:`of_cells`); you can make one from
    `labels`, the group of every row: 0 to G - 1 without gaps (else ParameterError), or -1 for rows
    that are not published. `info` is the algorithm's report. `starred`, shape (G, d), has the
    attributes that a group suppresses even if its rows agree.

    >>> p = Partition([0, 0, 1, -1])
    >>> p.n_groups, p.sizes().tolist(), [rows.tolist() for rows in p.groups()]
    (2, [2, 1], [[0, 1], [2]])
    """

    def __init__(
        self, labels, info: Mapping | None = None, algorithm: str = "", *, starred=None
    ) -> None:
        if not isinstance(info, Mapping | None):
            raise ParameterError(f"info must be a mapping, got {info!r}")
        self.cells: Cells | None = None  # as long as every row is a cell of its own
        self.group = checked_labels(labels)
        self.cell, self.counts = np.arange(len(self.group)), np.ones(len(self.group), np.intp)
        self.info, self.algorithm = dict(info or {}), algorithm
        self.call, self.promised = "", ()  # set by what makes it: see anonpaper.algorithm
        self.starred = None if starred is None else np.array(starred, bool)
        if starred is not None and (self.starred.ndim != 2 or len(self.starred) != self.n_groups):
            raise ParameterError(f"starred must be booleans, shape ({self.n_groups}, d)")

    @classmethod
    def of_cells(
        cls, cells: Cells, cell, group, counts=None, info=None, algorithm="", *, starred=None
    ) -> Partition:
        """Return the partition of cells; `counts` are 1 by default."""
        p = cls(np.empty(0, np.intp), info, algorithm)
        p.cells, p.cell, p.group, p.starred = cells, cell, group, starred
        p.counts = np.ones(len(cell), np.intp) if counts is None else counts
        return p

    @cached_property
    def labels(self) -> np.ndarray:
        """The group of every row, shape (n,), dtype int64; RowsError if rows are outside."""
        of_row = slice(None) if self.cells is None else self.cells.dealt(self.cell, self.counts)
        return self.group[of_row]

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max(initial=-1)) + 1

    def sizes(self) -> np.ndarray:
        """Number of rows of every group, shape (G,), dtype int64."""
        shown = self.group >= 0
        return np.bincount(self.group[shown], self.counts[shown]).astype(np.intp)

    def groups(self) -> list[np.ndarray]:
        """Row numbers of every group, ascending; a list of G arrays. O(n log n)."""
        order = np.argsort(self.labels, kind="stable")[self.n_unpublished :]
        return np.split(order, np.cumsum(self.sizes())[:-1]) if self.n_groups else []

    @property
    def n_unpublished(self) -> int:
        """Number of rows in no group."""
        return int(self.counts[self.group < 0].sum())

    def __len__(self) -> int:
        return int(self.counts.sum())

    def __repr__(self) -> str:
        name = f"{self.algorithm}: " * bool(self.algorithm)
        withheld = f", {self.n_unpublished} not published" * (self.n_unpublished > 0)
        return f"Partition({name}{len(self)} rows in {self.n_groups} groups{withheld})"


@dataclass(frozen=True, eq=False)
class Entries:
    """The rows of a table in groups: f entries, ``counts[i]`` rows of ``cell[i]`` in ``group[i]``.

    Those of group -1 are in none. If some rows are synthetic, every row is an entry, in order.
    """

    m: Microdata
    cell: np.ndarray
    group: np.ndarray
    counts: np.ndarray
    secrets: np.ndarray  # (f, s): sensitive codes, of the cells unless they were swapped

    @classmethod
    def of_cells(cls, m: Microdata, group: np.ndarray) -> Entries:
        """Return whole cells in groups, which are given by cell; none counts as synthetic."""
        return cls(m, np.arange(len(group)), group, m.cells.counts, m.cells.secrets)

    @classmethod
    def of_rows(cls, m: Microdata, labels: np.ndarray) -> Entries:
        """Return rows in groups, which are given by row."""
        cell = m.cells.cell_of_row
        return cls(m, cell, labels, np.ones(len(cell), np.intp), m.cells.secrets[cell])

    @classmethod
    def whole(cls, m: Microdata) -> Entries:
        """Return a table as one group."""
        if m.synthetic.any():
            return cls.of_rows(m, np.zeros(m.n, np.intp))
        return cls.of_cells(m, np.zeros(len(m.cells.counts), np.intp))

    @classmethod
    def of(cls, m: Microdata, p: Partition) -> Entries:
        """Return a table in the groups of a partition; ParameterError if it has other rows."""
        if not isinstance(p, Partition):
            got = f"expected a Partition, got {type(p).__name__}"
            raise ParameterError(f"{got}: a Recoding is published with ap.recode(m, r)")
        by_rows, counts = p.cells is None or p.cells.rows is not None, m.cells.counts
        held = [len(p)] if by_rows else np.bincount(p.cell, p.counts, len(counts))
        if by_rows != m.has_rows or not np.array_equal(held, [m.n] if by_rows else counts):
            of = f"another table, or of its counts: it has {len(p)} rows, the table {m.n}"
            raise ParameterError(f"the partition is of {of}; run the algorithm on this table")
        if p.starred is not None and p.starred.shape[1] != m.d:
            starred = f"the partition stars values of {p.starred.shape[1]} attributes"
            raise ParameterError(f"{starred}, not of {m.qi}: run the algorithm on this table")
        if by_rows and (p.cells is not m.cells or m.synthetic.any()):
            return cls.of_rows(m, p.labels)
        return cls(m, p.cell, p.group, p.counts, m.cells.secrets[p.cell])

    @cached_property
    def of_row(self) -> np.ndarray:
        """The entry of every row, shape (n,); RowsError if rows are outside."""
        return self.m.cells.dealt(self.cell, self.counts)

    @property
    def tuples(self) -> np.ndarray:
        """The number of every entry's QI tuple, shape (f,)."""
        return self.m.cells.tuple_of_cell[self.cell]

    @property
    def codes(self) -> np.ndarray:
        """QI codes, shape (f, d), dtype int32, stored by columns."""
        return np.asfortranarray(self.m.cells.tuples[self.tuples])

    @property
    def is_real(self) -> np.ndarray:
        """Whether an entry is of rows of real people, shape (f,), dtype bool."""
        return ~self.m.synthetic if self.m.synthetic.any() else np.ones(len(self.cell), bool)

    def codes_of(self, name: object) -> np.ndarray:
        """Codes of a column in a role, as published if it is sensitive, shape (f,)."""
        if name in self.m.sensitives:
            return self.secrets[:, self.m.sensitives.index(name)]
        return self.m.codes_of_cells(name)[self.cell]

    def rows(self, mask: np.ndarray) -> int:
        """Number of rows in the entries under a mask."""
        return int(self.counts[mask].sum())

    def people(self, mask: np.ndarray) -> int:
        """Number of people who have the rows under a mask."""
        if (person := self.m.cells.person) is None:
            return self.rows(mask)
        return np.count_nonzero(np.bincount(person[self.cell[mask]]))

    def in_groups(self, group: np.ndarray) -> Entries:
        """Return the same rows in other groups, which are given by entry."""
        return replace(self, group=group)

    def take(self, which: np.ndarray) -> Entries:
        """Return some of the entries."""
        parts = (self.cell, self.group, self.counts, self.secrets)
        return Entries(self.m, *(part[which] for part in parts))


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """All that principles ask of groups: people per group, and per group and sensitive value."""

    sizes: np.ndarray  # (G,), int64: people of every group; rows, where every row is a person
    group_of_entry: np.ndarray  # (e,), int64, ascending
    sensitive: np.ndarray  # (e,): sensitive code of each entry, one a group without sensitives
    counts: np.ndarray  # (e,): how many people of the group have it
    total: np.ndarray | None = None  # (m,): the whole table's counts, if these are not all groups

    @classmethod
    def of(cls, entries: Entries, name: object = None) -> GroupCounts:
        """Count people by group and by the sensitive attribute `name`; O(f log f)."""
        if (entries.group < 0).any():
            entries = entries.take(entries.group >= 0)
        m, group, counts = entries.m, entries.group, entries.counts
        n_groups, values, codes = group.max(initial=-1) + 1, 1, np.zeros(len(group), np.int32)
        if name is not None:
            values, codes = m.attribute(name).size, entries.codes_of(name)
        if m.cells.person is None:
            sizes = np.bincount(group, counts, n_groups).astype(np.intp)
        else:  # everybody counts once in a group, and once with a value
            columns = [group, m.cells.person[entries.cell], codes]
            once = distinct(columns, [n_groups, m.n, values])[1]
            group, person, codes = (column[once] for column in columns)
            new = (np.diff(group, prepend=-1) != 0) | (np.diff(person, prepend=-1) != 0)
            sizes = np.bincount(group[new], minlength=n_groups)
            counts = np.ones(len(once), np.intp)
        if n_groups * values <= 8 * len(group):  # counting costs less than sorting
            counts = np.bincount((group * values + codes).astype(np.intp), counts)
            (filled,) = np.nonzero(counts)
            group, codes, counts = *np.divmod(filled, values), counts[filled]
        else:
            _, first, counts = distinct([group, codes], [n_groups, values], counts)
            group, codes = group[first], codes[first]
        return cls(sizes, *(part.astype(np.intp) for part in (group, codes, counts)))

    @classmethod
    def of_table(cls, table: np.ndarray) -> GroupCounts:
        """Make groups from rows per sensitive value, shape (m,) or (G, m), no group empty."""
        table = np.atleast_2d(np.asarray(table))
        if table.dtype.kind not in "iu" or (table < 0).any() or not table.any(axis=-1).all():
            raise ParameterError("counts must be integers of at least 0, not all 0 in a group")
        group, sensitive = np.nonzero(table)
        return cls(table.sum(axis=1), group, sensitive, table[group, sensitive])

    @cached_property
    def start(self) -> np.ndarray:
        """Entries start[g]:start[g + 1] are of group g, shape (G + 1,), dtype int64."""
        return np.searchsorted(self.group_of_entry, np.arange(len(self.sizes) + 1))

    def largest(self) -> np.ndarray:
        """Rows of the most frequent sensitive value of every group (the pillar height)."""
        return np.maximum.reduceat(self.counts, self.start[:-1])

    def distinct(self) -> np.ndarray:
        """Number of distinct sensitive values of every group."""
        return np.diff(self.start)

    def whole(self) -> np.ndarray:
        """Counts of the whole table per sensitive value, shape (m,)."""
        return np.bincount(self.sensitive, self.counts) if self.total is None else self.total

    @property
    def shares(self) -> np.ndarray:
        """Distribution of the sensitive values of every group, which sums to 1; shape (e,)."""
        return self.counts / np.add.reduceat(self.counts, self.start[:-1])[self.group_of_entry]

    def entropy(self) -> np.ndarray:
        """Entropy of the sensitive values of every group, natural logarithm."""
        share = self.shares
        return -np.add.reduceat(share * np.log(share), self.start[:-1])


def are_in_several_tuples(m: Microdata) -> bool:
    """Whether somebody has rows with different quasi-identifiers."""
    columns = [m.cells.tuple_of_cell, m.cells.person]
    return len(distinct(columns, [len(m.cells), m.n])[1]) > m.n_people


def checked_labels(labels, n: int | None = None) -> np.ndarray:
    """Return n labels as int64 if they are groups 0, 1, ... without a gap, or -1; O(n)."""
    labels = np.asarray(labels)
    if labels.ndim != 1 or n not in (None, len(labels)) or labels.dtype.kind not in "iu":
        got = f"got shape {labels.shape} and dtype {labels.dtype}"
        rows = "" if n is None else f"{n} "
        raise ParameterError(f"labels must be a one-dimensional array of {rows}integers, {got}")
    groups = pd.unique(labels[labels != -1])
    if len(groups) and (groups.min() < 0 or groups.max() >= len(groups)):
        raise ParameterError("labels must be -1, 0, 1, ... without gaps: use dense_labels()")
    return labels.astype(np.intp, copy=False)


def dense_labels(labels: np.ndarray) -> np.ndarray:
    """Renumber labels without gaps; their order and every -1 stay: 7, -1, 2 are 1, -1, 0."""
    labels = np.array(labels, np.intp)
    labels[labels >= 0] = pd.factorize(labels[labels >= 0], sort=True)[0]
    return labels


@loop
def group_bounds(codes, labels, n_groups):
    """Return the least and the greatest code of every group and column, shape (G, d) each."""
    n, d = codes.shape
    low = np.full((n_groups, d), np.iinfo(np.int32).max, np.int32)
    high = np.full((n_groups, d), -1, np.int32)
    for j in range(d):
        for i in range(n):
            group = labels[i]
            if group >= 0:
                low[group, j] = min(low[group, j], codes[i, j])
                high[group, j] = max(high[group, j], codes[i, j])
    return low, high
