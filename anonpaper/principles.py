"""Privacy principles: each can check a grouping and say the level that it reaches.

A principle looks at groups only through their sizes and their counts per sensitive value
(:class:`GroupCounts`), whatever algorithm made them. Rows labelled -1 are not published and do
not count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonpaper.errors import InfeasibleError, ParameterError, check_integer, check_number
from anonpaper.microdata import Microdata, check_microdata

__all__ = [
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
        labels = np.asarray(labels, dtype=np.int64)
        if labels.shape != (m.n,):
            raise ParameterError(f"labels must have shape ({m.n},), got {labels.shape}")
        values = 1 if m.sensitive is None else m.sensitive_attribute.size
        codes = 0 if m.sensitive is None else m.sensitive_codes
        key = (labels * values + codes)[labels >= 0]
        key.sort()
        first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else key
        group, sensitive = np.divmod(key[first], values)
        counts = np.diff(np.r_[first, len(key)])
        sizes = np.bincount(labels[labels >= 0])
        return cls(sizes, np.searchsorted(group, np.arange(len(sizes) + 1)), sensitive, counts)

    def largest(self) -> np.ndarray:
        """Rows of the most frequent sensitive value of every group (the pillar height)."""
        return np.maximum.reduceat(self.counts, self.start[:-1])

    def distinct(self) -> np.ndarray:
        """Number of distinct sensitive values of every group."""
        return np.diff(self.start)

    def entropy(self) -> np.ndarray:
        """Entropy of the sensitive values of every group, natural logarithm."""
        share = self.counts / np.repeat(self.sizes, self.distinct())
        return -np.add.reduceat(share * np.log(share), self.start[:-1])


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

    def level(self, m: Microdata, labels: np.ndarray) -> float:
        """Level that the whole grouping reaches: that of its worst group."""
        levels = self.levels(self._counts(m, labels))
        if len(levels) == 0:
            raise ParameterError("no row is published: a grouping without groups has no level")
        return (levels.min() if self.larger_is_safer else levels.max()).item()

    def satisfied(self, counts: GroupCounts) -> np.ndarray:
        """Whether each group meets the principle, bool, shape (G,)."""
        levels = self.levels(counts)
        # Levels are computed in floating point: equality up to rounding counts as met.
        if self.larger_is_safer:
            return levels >= self.bound - 1e-9
        return levels <= self.bound + 1e-9

    def failing(self, m: Microdata, labels: np.ndarray) -> np.ndarray:
        """Numbers of the groups that do not meet the principle, ascending."""
        return np.flatnonzero(~self.satisfied(self._counts(m, labels)))

    def holds(self, m: Microdata, labels: np.ndarray) -> bool:
        """Whether every group meets the principle."""
        return len(self.failing(m, labels)) == 0

    def _counts(self, m: Microdata, labels: np.ndarray) -> GroupCounts:
        if self.needs_sensitive:
            m.sensitive_codes  # noqa: B018 - raises ColumnError where there is none
        return GroupCounts.of(m, labels)


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
        group = np.repeat(np.arange(len(counts.sizes)), counts.distinct())
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
        if self.distance not in ("equal", "ordered"):
            raise ParameterError(f'distance must be "equal" or "ordered", got {self.distance!r}')

    @property
    def bound(self) -> float:
        return self.t

    def levels(self, counts: GroupCounts) -> np.ndarray:
        if len(counts.sizes) == 0:
            return np.zeros(0)
        total = np.bincount(counts.sensitive, weights=counts.counts)
        total /= total.sum()
        group = np.repeat(np.arange(len(counts.sizes)), counts.distinct())
        share = counts.counts / counts.sizes[group]
        if self.distance == "equal":
            # Values that a group lacks add their whole share of the table to the L1 distance.
            absent = 1 - np.add.reduceat(total[counts.sensitive], counts.start[:-1])
            apart = np.abs(share - total[counts.sensitive])
            return (np.add.reduceat(apart, counts.start[:-1]) + absent) / 2
        return self._ordered_levels(counts, group, share, total)

    @staticmethod
    def _ordered_levels(
        counts: GroupCounts, group: np.ndarray, share: np.ndarray, total: np.ndarray
    ) -> np.ndarray:
        levels = np.empty(len(counts.sizes))
        steps = max(len(total) - 1, 1)
        block = max(1, 10_000_000 // len(total))
        for low in range(0, len(levels), block):
            high = min(low + block, len(levels))
            entries = slice(counts.start[low], counts.start[high])
            shares = np.zeros((high - low, len(total)))
            shares[group[entries] - low, counts.sensitive[entries]] = share[entries]
            levels[low:high] = np.abs(np.cumsum(shares - total, axis=1)).sum(axis=1) / steps
        return levels


def require_eligible(m: Microdata, l: int) -> int:
    """Return l as an int if some grouping of the table is frequency l-diverse.

    A table has an l-diverse grouping iff it is l-eligible as a whole, since eligibility is kept
    by disjoint union (xiao2010, Lemma 1).

    Raises
    ------
    ColumnError
        The table has no sensitive attribute.
    ParameterError
        l is not an integer from 2 to n.
    InfeasibleError
        Too many rows share a sensitive value; the message names it and the largest feasible l.
    """
    check_microdata(m)
    counts = m.sensitive_counts
    l = check_integer("l", l, 2, m.n)
    pillar = int(counts.argmax())
    if counts[pillar] * l > m.n:
        largest = m.n // int(counts[pillar])
        remedy = (
            f"the largest feasible l is {largest}"
            if largest >= 2
            else "no l of 2 or more is feasible"
        )
        raise InfeasibleError(
            f"the table cannot be frequency {l}-diverse: {counts[pillar]} of its {m.n} rows have "
            f"{m.sensitive!r} = {m.sensitive_attribute.values[pillar]!r}, more than one in {l}; "
            f"{remedy}"
        )
    return l
