"""Groups as counts of people per sensitive value: all that principles ask of a partition."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonpaper.errors import ParameterError
from anonpaper.groups import Entries
from anonpaper.microdata import Microdata

__all__ = ["GroupCounts", "are_in_several_tuples"]


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """Groups as their sizes and their counts per sensitive value: G groups with e entries."""

    sizes: np.ndarray  # (G,), int64: people of every group; rows, where every row is a person
    start: np.ndarray  # (G + 1,), int64: entries start[g]:start[g + 1] are of group g
    sensitive: np.ndarray  # (e,): sensitive code of each entry, one a group without sensitives
    counts: np.ndarray  # (e,): how many people of the group have it
    total: np.ndarray | None = None  # (m,): the whole table's counts, if these are not all groups

    @classmethod
    def of(cls, entries: Entries, name: object = None) -> GroupCounts:
        """Count people by group and by the sensitive attribute `name`; O(f log f)."""
        if (entries.group < 0).any():
            entries = entries.take(entries.group >= 0)
        m, key, values, counts = entries.m, entries.group, 1, entries.counts
        if name is not None:
            values = m.attribute(name).size
            key = key * np.int64(values) + entries.codes_of(name)
        sizes = np.bincount(entries.group, counts).astype(np.intp)
        if m.cells.person is not None:
            person, counts = m.cells.person[entries.cell], None
            key = _of_different_people(key, person)
            sizes = np.bincount(_of_different_people(entries.group, person).astype(np.intp))
        if len(sizes) * values <= 8 * len(key):  # counting costs less than sorting
            table = np.bincount(key.astype(np.intp), counts)
            distinct = np.flatnonzero(table)
            counts = table[distinct]
        else:
            distinct, place = np.unique(key, return_inverse=True)
            counts = np.bincount(place, counts)
        group, sensitive = np.array(np.divmod(distinct, values), np.intp)
        start = np.searchsorted(group, np.arange(len(sizes) + 1))
        return cls(sizes, start, sensitive, counts.astype(np.intp))

    @classmethod
    def of_table(cls, table: np.ndarray) -> GroupCounts:
        """Make groups from rows per sensitive value, shape (m,) or (G, m), no group empty.

        >>> GroupCounts.of_table([[2, 0, 1], [0, 4, 0]]).distinct().tolist()
        [2, 1]
        """
        table = np.atleast_2d(np.asarray(table))
        whole = table.ndim == 2 and np.issubdtype(table.dtype, np.integer)
        if not whole or (table < 0).any() or not table.any(axis=1).all():
            raise ParameterError("counts must be integers of at least 0, not all 0 in a group")
        group, sensitive = np.nonzero(table)
        start = np.searchsorted(group, np.arange(len(table) + 1))
        return cls(table.sum(axis=1), start, sensitive, table[group, sensitive])

    @cached_property
    def group_of_entry(self) -> np.ndarray:
        """The group of every entry, shape (e,), dtype int64."""
        return np.repeat(np.arange(len(self.sizes)), self.distinct())

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


def _of_different_people(numbers: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Return every number as often as different people have it, sorted."""
    size, distinct = np.int64(people.max(initial=0) + 1), None
    if numbers.max(initial=0) >= 2**62 // size:
        distinct, numbers = np.unique(numbers, return_inverse=True)
    pairs = np.sort(numbers * size + people)
    once = pairs[np.flatnonzero(np.diff(pairs, prepend=-1))] // size
    return once if distinct is None else distinct[once]


def are_in_several_tuples(m: Microdata) -> bool:
    """Whether somebody has rows with different quasi-identifiers."""
    return len(_of_different_people(m.cells.tuple_of_cell, m.cells.person)) > m.n_people
