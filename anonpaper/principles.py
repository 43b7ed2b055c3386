"""Privacy principles: each can check a grouping and say the level that it reaches.

A principle looks at groups only through their sizes and their counts per sensitive value
(:class:`GroupCounts`), whatever algorithm made them. Rows labelled -1 are not published and do
not count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from anonpaper.errors import (
    InfeasibleError,
    ParameterError,
    check_choice,
    check_integer,
    check_number,
)
from anonpaper.groups import checked_labels
from anonpaper.microdata import Microdata, check_microdata

__all__ = [
    "DIVERSITY",
    "AlphaKAnonymity",
    "DistinctLDiversity",
    "EntropyLDiversity",
    "FrequencyLDiversity",
    "GroupCounts",
    "KAnonymity",
    "Principle",
    "RecursiveLDiversity",
    "TCloseness",
    "Theta",
    "l_diversity",
    "require_diverse",
    "require_eligible",
]


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """Groups as their sizes and their counts per sensitive value.

    Attributes
    ----------
    sizes : numpy.ndarray, shape (G,), dtype int64
        Rows of every group.
    start : numpy.ndarray, shape (G + 1,), dtype int64
        Entries ``start[g]:start[g + 1]`` belong to group g; without a sensitive attribute a
        group has one entry.
    sensitive, counts : numpy.ndarray, shape (e,)
        Sensitive code and rows of each entry.
    """

    sizes: np.ndarray
    start: np.ndarray
    sensitive: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, m: Microdata, labels: np.ndarray) -> GroupCounts:
        """Count the groups of a table; O(n log n).

        Parameters
        ----------
        m : Microdata
            The table, n rows.
        labels : array of int, shape (n,)
            Group numbers without gaps, -1 for rows that are not published.
        """
        labels = checked_labels(labels, check_microdata(m).n)
        values = 1 if m.sensitive is None else m.sensitive_attribute.size
        codes = 0 if m.sensitive is None else m.sensitive_codes
        key = (labels * values + codes)[labels >= 0]
        key.sort()
        first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else key
        group, sensitive = np.divmod(key[first], values)
        counts = np.diff(np.r_[first, len(key)])
        sizes = np.bincount(labels[labels >= 0])
        return cls(sizes, np.searchsorted(group, np.arange(len(sizes) + 1)), sensitive, counts)

    @classmethod
    def of_table(cls, table: np.ndarray) -> GroupCounts:
        """Take the groups from a table of counts.

        Parameters
        ----------
        table : array of int, shape (m,) or (G, m)
            Rows of every sensitive value, in one group or in each of G; no group is empty.

        Examples
        --------
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

    def entropy(self) -> np.ndarray:
        """Entropy of the sensitive values of every group, natural logarithm."""
        share = self.counts / self.sizes[self.group_of_entry]
        return -np.add.reduceat(share * np.log(share), self.start[:-1])


#: What a principle can be asked about.
Groups = GroupCounts | np.ndarray | Microdata


class Principle(ABC):
    """A condition on every single group of a partition.

    Subclasses say per group which level it reaches (`levels`), whether a larger level is more
    private (`larger_is_safer`) and the level asked for (`bound`).
    """

    larger_is_safer: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = True
    bound: float

    @abstractmethod
    def levels(self, counts: GroupCounts) -> np.ndarray:
        """Level that every group reaches, shape (G,)."""

    def satisfied(self, counts: GroupCounts) -> np.ndarray:
        """Whether each group meets the principle, bool, shape (G,)."""
        levels = self.levels(counts)
        # Levels are computed in floating point: equality up to rounding counts as met.
        if self.larger_is_safer:
            return levels >= self.bound - 1e-9
        return levels <= self.bound + 1e-9

    # Groups are given as counts, as an algorithm has them, or as a table and its labels:
    #     counts : GroupCounts, or array of int as for GroupCounts.of_table, or Microdata
    #     labels : array of int, shape (n,), where the first is a Microdata

    def level(self, counts: Groups, labels: np.ndarray | None = None) -> float:
        """Level that the whole grouping reaches: that of its worst group."""
        levels = self.levels(self._counts(counts, labels))
        if len(levels) == 0:
            raise ParameterError("no row is published: a grouping without groups has no level")
        return (levels.min() if self.larger_is_safer else levels.max()).item()

    def failing(self, counts: Groups, labels: np.ndarray | None = None) -> np.ndarray:
        """Numbers of the groups that do not meet the principle, ascending."""
        return np.flatnonzero(~self.satisfied(self._counts(counts, labels)))

    def holds(self, counts: Groups, labels: np.ndarray | None = None) -> bool:
        """Whether every group meets the principle.

        Parameters
        ----------
        counts : GroupCounts, array of int of shape (m,) or (G, m), or Microdata
            Groups as their counts per sensitive value, or the table whose rows they are of.
        labels : array of int, shape (n,), optional
            With a Microdata the group of every row, -1 for rows that are not published.

        Examples
        --------
        >>> FrequencyLDiversity(2).holds([3, 2, 1]), FrequencyLDiversity(2).holds([4, 2, 1])
        (True, False)
        """
        return len(self.failing(counts, labels)) == 0

    def _counts(self, counts: Groups, labels: np.ndarray | None) -> GroupCounts:
        if labels is None:
            return counts if isinstance(counts, GroupCounts) else GroupCounts.of_table(counts)
        if self.needs_sensitive:
            check_microdata(counts).sensitive_codes  # noqa: B018 - ColumnError where there is none
        return GroupCounts.of(counts, labels)


@dataclass(frozen=True)
class KAnonymity(Principle):
    """Every group has at least k rows (Samarati 2001).

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> KAnonymity(2).level(m, ap.examples.hospital_two_anonymous().labels)
    2
    """

    k: int
    needs_sensitive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_integer("k", self.k, 1)

    @property
    def bound(self) -> int:
        return self.k

    def levels(self, counts: GroupCounts) -> np.ndarray:
        return counts.sizes


@dataclass(frozen=True)
class DistinctLDiversity(Principle):
    """Every group has at least l distinct sensitive values (Machanavajjhala et al. 2007)."""

    l: int

    def __post_init__(self) -> None:
        check_integer("l", self.l, 1)

    @property
    def bound(self) -> int:
        return self.l

    def levels(self, counts: GroupCounts) -> np.ndarray:
        return counts.distinct()


@dataclass(frozen=True)
class FrequencyLDiversity(Principle):
    """At most one l-th of every group shares a sensitive value (xiao2010: *l-eligible*).

    The level of a group is its size over its pillar height; l may be any number from 1.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> FrequencyLDiversity(2).failing(m, ap.examples.hospital_two_anonymous().labels)
    array([0])
    """

    l: float

    def __post_init__(self) -> None:
        check_number("l", self.l, 1, np.inf)

    @property
    def bound(self) -> float:
        return self.l

    def levels(self, counts: GroupCounts) -> np.ndarray:
        return counts.sizes / counts.largest()


@dataclass(frozen=True)
class EntropyLDiversity(Principle):
    """The entropy of the sensitive values of every group is at least ln l.

    The level of a group is the exponential of its entropy: the number of equally frequent values
    that would be as uncertain (Machanavajjhala et al. 2007, Definition 4.1).
    """

    l: float

    def __post_init__(self) -> None:
        check_number("l", self.l, 1, np.inf)

    @property
    def bound(self) -> float:
        return self.l

    def levels(self, counts: GroupCounts) -> np.ndarray:
        return np.exp(counts.entropy())


@dataclass(frozen=True)
class RecursiveLDiversity(Principle):
    """Recursive (c, l)-diversity: r_1 < c (r_l + r_{l+1} + ... + r_m) in every group.

    r_1 >= r_2 >= ... are the counts of a group's sensitive values. The level reported is
    r_1 / (r_l + ... + r_m), the largest c that fails: smaller is safer, infinite where a
    group has fewer than l values (Machanavajjhala et al. 2007, Definition 4.2). The inequality is
    strict: a group whose level equals c does not hold.
    """

    c: float
    l: int
    larger_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("c", self.c, 0, np.inf, open_low=True)
        check_integer("l", self.l, 1)

    @property
    def bound(self) -> float:
        return self.c

    def levels(self, counts: GroupCounts) -> np.ndarray:
        group = counts.group_of_entry
        descending = np.lexsort((-counts.counts, group))
        rank = np.arange(len(group)) - counts.start[group]
        tail = np.where(rank >= self.l - 1, counts.counts[descending], 0)
        tail = np.add.reduceat(tail, counts.start[:-1])
        with np.errstate(divide="ignore"):
            return np.where(tail > 0, counts.largest() / tail, np.inf)

    def satisfied(self, counts: GroupCounts) -> np.ndarray:
        return self.levels(counts) < self.c


@dataclass(frozen=True)
class Theta(Principle):
    """No sensitive value has a share above theta in a group (boger2020)."""

    theta: float
    larger_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("theta", self.theta, 0, 1, open_low=True)

    @property
    def bound(self) -> float:
        return self.theta

    def levels(self, counts: GroupCounts) -> np.ndarray:
        return counts.largest() / counts.sizes


@dataclass(frozen=True)
class AlphaKAnonymity(Principle):
    """(alpha, k)-anonymity: k-anonymous, and no share above alpha (Wong et al. 2006).

    `levels` is the share, the alpha reached; groups below k rows fail whatever their share.
    """

    alpha: float
    k: int
    larger_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, 0, 1, open_low=True)
        check_integer("k", self.k, 1)

    @property
    def bound(self) -> float:
        return self.alpha

    def levels(self, counts: GroupCounts) -> np.ndarray:
        return counts.largest() / counts.sizes

    def satisfied(self, counts: GroupCounts) -> np.ndarray:
        return super().satisfied(counts) & (counts.sizes >= self.k)


@dataclass(frozen=True)
class TCloseness(Principle):
    """The sensitive values of every group are distributed within t of the whole table's.

    The distance is the earth mover's: with ``distance="equal"`` every two values are 1 apart
    (half the L1 distance), with ``"ordered"`` values are (j - i) / (m - 1) apart in the order of
    their domain (Li, Li and Venkatasubramanian 2007). The level is the largest distance.

    Notes
    -----
    The whole table is the one published: rows labelled -1 do not count towards it.
    """

    t: float
    distance: str = "equal"
    larger_is_safer: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("t", self.t, 0, 1)
        check_choice("distance", self.distance, ("equal", "ordered"))

    @property
    def bound(self) -> float:
        return self.t

    def levels(self, counts: GroupCounts) -> np.ndarray:
        if len(counts.sizes) == 0:
            return np.zeros(0)
        total = np.bincount(counts.sensitive, weights=counts.counts)
        total /= total.sum()
        share = counts.counts / counts.sizes[counts.group_of_entry]
        if self.distance == "equal":
            # Values that a group lacks add their whole share of the table to the L1 distance.
            absent = 1 - np.add.reduceat(total[counts.sensitive], counts.start[:-1])
            apart = np.abs(share - total[counts.sensitive])
            return (np.add.reduceat(apart, counts.start[:-1]) + absent) / 2
        return self._ordered_levels(counts, share, total)

    @staticmethod
    def _ordered_levels(counts: GroupCounts, share: np.ndarray, total: np.ndarray) -> np.ndarray:
        levels = np.empty(len(counts.sizes))
        steps = max(len(total) - 1, 1)
        block = max(1, 10_000_000 // len(total))
        for low in range(0, len(levels), block):
            high = min(low + block, len(levels))
            entries = slice(counts.start[low], counts.start[high])
            shares = np.zeros((high - low, len(total)))
            shares[counts.group_of_entry[entries] - low, counts.sensitive[entries]] = share[
                entries
            ]
            levels[low:high] = np.abs(np.cumsum(shares - total, axis=1)).sum(axis=1) / steps
        return levels


#: What l-diversity can mean where a function has a parameter `diversity`.
DIVERSITY = {"frequency": FrequencyLDiversity, "distinct": DistinctLDiversity}


def l_diversity(l: int, diversity: str = "frequency") -> Principle:
    """Return the principle that an l and ``diversity="frequency"`` or ``"distinct"`` name.

    Raises
    ------
    ParameterError
        `diversity` is none of the two, or l is out of range.

    Examples
    --------
    >>> l_diversity(3, "distinct")
    DistinctLDiversity(l=3)
    """
    return DIVERSITY[check_choice("diversity", diversity, DIVERSITY)](l)


def require_diverse(m: Microdata, l: int, diversity: str = "frequency") -> int:
    """Return l as an int if some grouping of the table is l-diverse.

    One is iff the group of all rows is: diversity is kept where disjoint groups are joined
    (xiao2010, Lemma 1, for frequency l-diversity).

    Raises
    ------
    ColumnError
        The table has no sensitive attribute.
    ParameterError
        l is not an integer from 2 to n, or `diversity` is not "frequency" or "distinct".
    InfeasibleError
        Too many rows share a sensitive value, or there are too few values; the message says so
        and names the largest feasible l.
    """
    counts = check_microdata(m).sensitive_counts
    l = check_integer("l", l, 2, m.n)
    if l_diversity(l, diversity).holds(counts):
        return l
    if diversity == "distinct":
        largest = int(np.count_nonzero(counts))
        reason = f"{m.sensitive!r} has {largest} distinct values"
    else:
        largest = m.n // int(counts.max())
        value = m.sensitive_attribute.values[counts.argmax()]
        reason = (
            f"{counts.max()} of its {m.n} rows have {m.sensitive!r} = {value!r}, "
            f"more than one in {l}"
        )
    remedy = (
        f"the largest feasible l is {largest}" if largest > 1 else "no l of 2 or more is feasible"
    )
    raise InfeasibleError(f"the table cannot be {diversity} {l}-diverse: {reason}; {remedy}")


def require_eligible(m: Microdata, l: int) -> int:
    """Return l as an int if the table is l-eligible: `require_diverse` of frequencies."""
    return require_diverse(m, l)
