"""Privacy principles: each can check a grouping and compute the level that it reaches.

Sizes are numbers of people: rows, unless a table has a person column. Then entropy and recursive
l-diversity and t-closeness count each pair of a person and a value once. Each group is judged
separately: an attacker who knows several groups of a person may conclude more.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar

import numpy as np

from anonpaper import errors
from anonpaper.errors import InfeasibleError, ParameterError, check_choice, check_integer
from anonpaper.groups import Entries, GroupCounts, are_in_several_tuples, checked_labels
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.roles import only_one

__all__ = [
    "DistinctLDiversity", "EntropyLDiversity", "FrequencyLDiversity", "KAnonymity", "Principle",
    "RecursiveLDiversity", "TCloseness", "Theta",
]  # fmt: skip

#: What a principle can be asked about.
Groups = GroupCounts | np.ndarray | Entries | Microdata


class Principle(ABC):
    """A condition on every single group of a partition, from the counts of the group.

    A principle on sensitive values holds for each sensitive attribute of a table, or only for the
    attribute named by `of`. Groups are given as counts (a GroupCounts, or integers as for
    GroupCounts.of_table), as Entries, or as a Microdata and the group of every row, -1 for rows
    that are not published.

    A principle is *monotone* if joining two groups that meet it gives a group that meets it. So if
    any grouping meets it, the whole table does. The groups may share people only if it is *upward
    closed*, like k and distinct l. Let r be the counts of a group and n its size. Joining keeps
    f(r) <= c n, strict or not, if f is convex and f(cr) = c f(r):

    * frequency l, theta: f is the largest count, with c = 1/l, theta;
    * recursive (c, l): r_1 < c (r_l + ... + r_m) means r_1 + c (r_1 + ... + r_{l-1}) < c n, and
      the sum of the largest counts is convex;
    * entropy: a mixture has at least the mean of the entropies, by concavity;
    * t-closeness: both distances are convex in the group's distribution, if the table's stays.
    """

    larger_is_safer: ClassVar[bool] = True
    needs_sensitive: ClassVar[bool] = True
    monotone: ClassVar[bool] = False
    upward_closed: ClassVar[bool] = False
    #: Of its real parameter: from, to, and whether the first is excluded. Integers are at least 1.
    reach: ClassVar[tuple] = (1, np.finfo(float).max, False)
    of: object = None

    def __post_init__(self) -> None:
        low, high, open_low = self.reach
        for name, kind in ((f.name, f.type) for f in fields(self)):
            if kind == "int":
                check_integer(name, getattr(self, name), 1)
            elif kind == "float":
                errors.check_number(name, getattr(self, name), low, high, open_low=open_low)

    @property
    def bound(self) -> float:
        """The level that is required: the first parameter."""
        return getattr(self, self.__match_args__[0])

    @abstractmethod
    def levels(self, counts: GroupCounts) -> np.ndarray:
        """Level that every group reaches, shape (G,)."""

    def satisfied(self, counts: GroupCounts) -> np.ndarray:
        """Whether each group meets the principle, bool, shape (G,)."""
        # Equality up to floating-point rounding counts as met.
        sign = 1 if self.larger_is_safer else -1
        return sign * self.levels(counts) >= sign * self.bound - 1e-9

    def level(self, counts: Groups, labels: np.ndarray | None = None) -> float:
        """Level that the whole grouping reaches: the level of its worst group."""
        levels = np.concatenate([self.levels(c) for c in self._counts(counts, labels)])
        if len(levels) == 0:
            raise ParameterError("no row is published, so there is no group and no level")
        return (levels.min() if self.larger_is_safer else levels.max()).item()

    def failing(self, counts: Groups, labels: np.ndarray | None = None) -> np.ndarray:
        """Numbers of the groups that do not meet the principle, ascending."""
        satisfied = [self.satisfied(c) for c in self._counts(counts, labels)]
        return np.flatnonzero(~np.logical_and.reduce(satisfied))

    def holds(self, counts: Groups, labels: np.ndarray | None = None) -> bool:
        """Whether every group meets the principle.

        >>> FrequencyLDiversity(2).holds([3, 2, 1]), FrequencyLDiversity(2).holds([4, 2, 1])
        (True, False)
        """
        return len(self.failing(counts, labels)) == 0

    def _counts(self, counts: Groups, labels: np.ndarray | None) -> list[GroupCounts]:
        if labels is not None:
            m = check_microdata(counts, people=True)
            counts = Entries.of_rows(m, checked_labels(labels, m.n))
        if isinstance(counts, Entries):
            return [GroupCounts.of(counts, name) for name in self.about(counts.m)]
        return [counts if isinstance(counts, GroupCounts) else GroupCounts.of_table(counts)]

    def about(self, m: Microdata) -> list:
        """Return the relevant sensitive attributes, [None] if it needs none; else ColumnError."""
        if not self.needs_sensitive:
            return [None]
        if self.of is not None:
            m = m.about(self.of)
        return m.sensitives or [only_one(None)]


@dataclass(frozen=True)
class KAnonymity(Principle):
    """Every group has at least k rows, or people if they have several rows (Samarati 2001)."""

    k: int
    needs_sensitive: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    upward_closed: ClassVar[bool] = True

    def levels(self, counts: GroupCounts) -> np.ndarray:
        return counts.sizes


@dataclass(frozen=True, repr=False)
class _OnValues(Principle):
    """A principle on the values of each sensitive attribute, or of the attribute `of`."""

    monotone: ClassVar[bool] = True
    of: object = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        given = ((name, getattr(self, name)) for name in (*self.__match_args__, "of"))
        texts = [f"{n}={value!r}" for n, value in given if n != "of" or value is not None]
        return f"{type(self).__name__}({', '.join(texts)})"


@dataclass(frozen=True, repr=False)
class DistinctLDiversity(_OnValues):
    """Every group has at least l distinct sensitive values (Machanavajjhala et al. 2007)."""

    l: int
    upward_closed: ClassVar[bool] = True

    def levels(self, counts: GroupCounts) -> np.ndarray:
        return counts.distinct()


@dataclass(frozen=True, repr=False)
class FrequencyLDiversity(_OnValues):
    """At most one l-th of every group shares a sensitive value (xiao2010: *l-eligible*).

    The level of a group is its size over its pillar height; l may be any number of at least 1.

    >>> m = ap.examples.hospital()
    >>> FrequencyLDiversity(2).failing(m, ap.examples.hospital_two_anonymous().labels)
    array([0])
    """

    l: float

    def levels(self, counts: GroupCounts) -> np.ndarray:
        return counts.sizes / counts.largest()


@dataclass(frozen=True, repr=False)
class EntropyLDiversity(_OnValues):
    """The entropy of the sensitive values of every group is at least ln l, for a real l.

    The level of a group is the exponential of its entropy: the number of equally frequent values
    with the same entropy (Machanavajjhala et al. 2007, Definition 4.1).
    """

    l: float

    def levels(self, counts: GroupCounts) -> np.ndarray:
        return np.exp(counts.entropy())


@dataclass(frozen=True, repr=False)
class RecursiveLDiversity(_OnValues):
    """Recursive (c, l)-diversity: r_1 < c (r_l + r_{l+1} + ... + r_m) in every group.

    r_1 >= r_2 >= ... are the counts of a group's sensitive values. The level is the largest c that
    fails, infinite for fewer than l values (Machanavajjhala et al. 2007, Definition 4.2).
    """

    c: float
    l: int
    larger_is_safer: ClassVar[bool] = False
    reach: ClassVar[tuple] = (0, np.finfo(float).max, True)

    def levels(self, counts: GroupCounts) -> np.ndarray:
        group = counts.group_of_entry
        descending = np.lexsort((-counts.counts, group))
        rank = np.arange(len(group)) - counts.start[group]
        tail = np.where(rank >= self.l - 1, counts.counts[descending], 0)
        tail = np.add.reduceat(tail, counts.start[:-1])
        with np.errstate(divide="ignore"):
            return counts.largest() / tail

    def satisfied(self, counts: GroupCounts) -> np.ndarray:
        return self.levels(counts) < self.c


@dataclass(frozen=True, repr=False)
class Theta(_OnValues):
    """No sensitive value has a share above theta in a group (boger2020)."""

    theta: float
    larger_is_safer: ClassVar[bool] = False
    reach: ClassVar[tuple] = (0, 1, True)

    def levels(self, counts: GroupCounts) -> np.ndarray:
        return counts.largest() / counts.sizes


@dataclass(frozen=True, repr=False)
class TCloseness(_OnValues):
    """The sensitive values of every group are distributed within t of the published table's.

    The distance is the earth mover's. With ``distance="equal"`` all values are 1 apart (half the
    L1 distance), with ``"ordered"`` they are (j - i) / (m - 1) apart in the order of the m values
    that occur (Li, Li and Venkatasubramanian 2007). The level is the largest distance.

    >>> TCloseness(0.3, "ordered").level([[3, 0, 0], [0, 0, 3], [0, 3, 3]])
    0.625
    """

    t: float
    distance: str = "equal"
    larger_is_safer: ClassVar[bool] = False
    reach: ClassVar[tuple] = (0, 1, False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("distance", self.distance, ("equal", "ordered"))

    def levels(self, counts: GroupCounts) -> np.ndarray:
        if len(counts.sizes) == 0:
            return np.zeros(0)
        total, share = counts.whole() / counts.whole().sum(), counts.shares
        if self.distance == "equal":
            # Values that a group lacks add their share of the table to the L1 distance.
            own, first = total[counts.sensitive], counts.start[:-1]
            absent = 1 - np.add.reduceat(own, first)
            return (np.add.reduceat(np.abs(share - own), first) + absent) / 2
        place, total, found = (np.cumsum(total > 0) - 1)[counts.sensitive], total[total > 0], []
        step = max(1, 10_000_000 // len(total))  # groups at a time
        for low in range(0, len(counts.sizes), step):
            start = counts.start[low : low + step + 1]
            entries = slice(start[0], start[-1])
            shares = np.zeros((len(start) - 1, len(total)))
            shares[counts.group_of_entry[entries] - low, place[entries]] = share[entries]
            found.append(np.abs(np.cumsum(shares - total, axis=1)).sum(axis=1))
        return np.concatenate(found) / max(len(total) - 1, 1)


#: The principles that :func:`read_principle` reads, by name.
_BY_NAME = {kind.__name__: kind for kind in (KAnonymity, *_OnValues.__subclasses__())}


def read_principle(text: str) -> Principle:
    """Return the principle that a text writes, as ``repr`` does; ParameterError otherwise.

    >>> read_principle('DistinctLDiversity(3, of="drug")')
    DistinctLDiversity(l=3, of='drug')
    """
    try:
        call = ast.parse(str(text).strip(), mode="eval").body
        values = [ast.literal_eval(value) for value in call.args]
        named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        return _BY_NAME[call.func.id](*values, **named)
    except ParameterError:
        raise
    except Exception:  # whatever is wrong with a text
        way = f"write one like TCloseness(0.3), with one of {', '.join(_BY_NAME)}"
        raise ParameterError(f"{text!r} is not a principle: {way}") from None


def required(m: Microdata, principles: Sequence[Principle]) -> dict[object, list[Principle]]:
    """Return the principles required of each sensitive attribute, or of none (None)."""
    found: dict[object, list[Principle]] = {}
    for principle in errors.check_sequence("require", principles, Principle):
        if not principle.monotone:
            told = "is not `monotone`, that is kept by joined groups: require another"
            raise ParameterError(f"{principle} {told}")
        if m.people is not None and not principle.upward_closed and are_in_several_tuples(m):
            told = f"some people of {m.person!r} have rows with different quasi-identifiers"
            fails = f"{principle} may fail when their groups are joined"
            raise ParameterError(f"{told}, and {fails}: use KAnonymity or DistinctLDiversity")
        for name in principle.about(m):
            found.setdefault(name, []).append(principle)
    return found


def rows_of_budget(m: Microdata, suppression: float, principles: Sequence[Principle]) -> int:
    """Return the number of rows that may be withheld, a share of all, rounded down."""
    rows = int(errors.check_number("suppression", suppression, 0, 1) * m.n + 1e-9)
    if rows and any(isinstance(principle, TCloseness) for principle in principles):
        raise ParameterError("t-closeness needs all rows: suppression (--suppression) must be 0")
    return rows


def require_whole(m: Microdata, asked: Mapping[object, Sequence[Principle]]) -> None:
    """Raise InfeasibleError if all rows as one group, hence every grouping, fail a principle."""
    whole = Entries.whole(m)
    for principle in sum(asked.values(), []):
        if not principle.holds(whole):
            reached = f"all rows together reach {principle.level(whole):.4g}"
            raise InfeasibleError(f"no grouping meets {principle}: {reached}")


#: What l-diversity can mean where a function has a parameter `diversity`.
DIVERSITY = {"frequency": FrequencyLDiversity, "distinct": DistinctLDiversity}


def l_diversity(l: int, diversity: str = "frequency") -> Principle:
    """Return the principle for l and ``diversity="frequency"`` or ``"distinct"``."""
    return DIVERSITY[check_choice("diversity", diversity, DIVERSITY)](l)


def require_diverse(m: Microdata, l: int, diversity: str = "frequency") -> int:
    """Return l, from 2 to n; InfeasibleError, with the largest feasible l, if it is too large."""
    counts = check_microdata(m).sensitive_counts
    l = check_integer("l", l, 2, m.n)
    # a grouping is l-diverse iff the group of all rows is: joining keeps it (xiao2010, Lemma 1)
    if l <= (feasible := int(l_diversity(1, diversity).level(counts))):
        return l
    reason = f"{m.sensitive!r} has {feasible} distinct values"
    if diversity == "frequency":
        value = f"{m.sensitive!r} = {m.sensitive_attribute.values[counts.argmax()]!r}"
        reason = f"{counts.max()} of its {m.n} rows have {value}"
    told = f"the table cannot be {diversity} {l}-diverse: {reason}"
    raise InfeasibleError(f"{told}; largest feasible l is {feasible}")
