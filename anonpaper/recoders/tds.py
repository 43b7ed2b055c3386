r"""TDS, top-down specialization, adapted to frequency l-diversity.

All values of an attribute start in one sub-domain. Step by step the sub-domain whose
specialization gains most information per privacy lost is replaced by its children, for all rows
at once (single-dimensional generalization), as long as every group stays l-eligible.

Source: B. Fung, K. Wang, P. Yu, *Top-down specialization for information and privacy
preservation*, ICDE 2005. xiao2010, section 6.2, says that it modified TDS from k-anonymity to
l-diversity and no more; the adaptation here, in the terms of Fung et al.:

* the class attribute is the sensitive one: InfoGain is the drop in its entropy;
* the level A of a table is the least |E| / h(E) over its groups E, h being the pillar height, and
  AnonyLoss the drop in A; the score is InfoGain / (AnonyLoss + 1);
* an ordered attribute is cut in two wherever it scores best; any other follows a hierarchy, by
  default a balanced tree of fan-out 4 over the order of its domain;
* once no valid specialization gains information, the valid one that lowers NCP most is taken, so
  that the result can not be specialized any further.

A specialization that is invalid now stays so: unions of l-eligible groups are l-eligible, so
further specialization elsewhere cannot mend it. It is dropped for good.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import entr

from anonpaper.algorithm import RECODED, algorithm
from anonpaper.compiled import loop
from anonpaper.display import search_bar
from anonpaper.errors import check_integer, check_sequence
from anonpaper.hierarchy import STAR, Hierarchy, check_hierarchies
from anonpaper.microdata import Attribute, Microdata, check_microdata
from anonpaper.principles import (
    FrequencyLDiversity,
    GroupCounts,
    Principle,
    require_eligible,
    require_whole,
    required,
    rows_of_budget,
)
from anonpaper.recoding import Recoding

__all__ = ["tds"]

_FAN_OUT = 4


@algorithm(
    "frequency l-diversity by coarser values, the same for all rows",
    promises={"l": FrequencyLDiversity},
    publications=RECODED,
)
def tds(
    m: Microdata,
    l: int,
    hierarchies: Mapping[object, Hierarchy] | None = None,
    *,
    require: Sequence[Principle] = (),
    suppression: float = 0.0,
    progress: bool | None = None,
) -> Recoding:
    """Guarantee frequency l-diversity: specialize sub-domains from the top down while it holds.

    No single further specialization keeps it; a better recoding may exist. With `suppression`
    groups that are not diverse may be withheld as long as they hold no more than so many rows:
    the guarantee is of all others, see :func:`anonpaper.full_domain`.

    Parameters
    ----------
    m : Microdata
        A table with one sensitive attribute, whose information is kept; n rows. Where people have
        several, diversity is of people, information of rows; everybody must have one value of
        each quasi-identifier then.
    l : int
        The diversity asked for, from 2 to the largest feasible one.
    hierarchies : mapping of attribute name to Hierarchy, optional
        Trees to follow; the attributes named are not cut freely even if they are ordered. Above
        several names on the highest level is a star.
    require : sequence of Principle
        Further monotone principles that every group is to meet.
    suppression : float
        Share of the rows that may be withheld, from 0 to 1.
    progress : bool, optional
        Whether to count the steps taken on standard error; by default only on a terminal.

    Returns
    -------
    Recoding
        ``info`` holds ``specializations`` (steps taken), ``candidates`` (specializations whose
        groups were looked at) and ``level`` (A of the result, of groups that are published). With
        `suppression` also ``withheld``, the number of rows, and ``withhold`` the principles.

    Raises
    ------
    ColumnError
        The table has no sensitive attribute or several, or `hierarchies` names no
        quasi-identifier.
    ParameterError
        l is not an integer from 2 to n, `suppression` is out of range, a principle is not
        monotone, or it is t-closeness with a budget; or people have different quasi-identifiers.
    InfeasibleError
        The table itself is not l-eligible, or does not meet a principle.
    HierarchyError
        A hierarchy lacks values of its attribute.

    Notes
    -----
    Looking at a specialization costs O(e) for e cells. Candidates are looked at in order of
    InfoGain, which bounds the score from above, until no other can win. Equal scores go to the
    larger gain, then to the attribute and the value that come first. With a budget a
    specialization that is invalid may be valid later, so all are looked at in every step.

    References
    ----------
    B. C. M. Fung, K. Wang, P. S. Yu, *Top-down specialization for information and privacy
    preservation*, ICDE 2005; xiao2010, section 6.2.

    Examples
    --------
    >>> import anonpaper as ap
    >>> r = tds(ap.examples.hospital(), l=2)
    >>> r.sub_domains("Age"), r.info["level"]
    ([['<30', '[30, 50)'], ['>=50']], 2.0)
    """
    if check_microdata(m, people=True).people is None:
        l = require_eligible(m, l)
    else:  # whether people are is found below
        m.sensitive_counts  # noqa: B018 - raises ColumnError unless there is one such attribute
        l = check_integer("l", l, 2, m.n_people)
    hierarchies = check_hierarchies(hierarchies, m.qi)
    principles = [FrequencyLDiversity(l), *check_sequence("require", require, Principle)]
    asked = required(m, principles)
    require_whole(m, asked)
    most = rows_of_budget(m, suppression, principles)

    simple = len(principles) == 1 and not most and m.people is None
    groups = _Groups(m, l) if simple else _Judged(m, asked, most)
    domains = [
        _FreeCuts(m, j) if a.ordered and a.name not in hierarchies else
        _Tree(m, j, _levels_of(a, hierarchies.get(a.name)))
        for j, a in enumerate(m.attributes)
    ]  # fmt: skip
    candidates = [c for domain in domains for c in domain.specializations(domain.root)]
    cut = [[domain.root] for domain in domains]
    invalid: set[tuple[int, int]] = set()
    steps = looked_at = 0
    with search_bar(progress, "specialization") as bar:
        while True:
            best, best_score = None, 0.0
            for candidate in sorted(candidates, key=_Specialization.rank):
                if best is not None and candidate.gain <= best_score:
                    break  # the score is at most the gain
                looked_at += 1
                level = groups.level_after(candidate)
                if level == _INVALID:
                    if not most:
                        invalid.add(candidate.place)
                    continue
                lost = max(groups.level - level, 0)  # withholding rows can raise the level
                score = candidate.gain / (lost + 1)
                if best is None or score > best_score:
                    best, best_score = candidate, score
            if best is None:
                break
            steps += 1
            bar.update()
            j = best.attribute
            groups.specialize(best)
            cut[j] = [part for part in cut[j] if part is not best.parent] + list(best.children)
            candidates = [c for c in candidates if c.parent is not best.parent]
            candidates += [c for child in best.children for c in domains[j].specializations(child)]
            candidates = [c for c in candidates if c.place not in invalid]
    r = Recoding(
        m.attributes,
        [_map_of(parts, a) for parts, a in zip(cut, m.attributes, strict=True)],
        {"specializations": steps, "candidates": looked_at, "level": float(groups.level)}
        | ({"withheld": groups.withheld} if most else {}),
        ", ".join(
            [f"TDS, l = {l}", *map(str, require)] + [f"suppression = {suppression}"] * (most > 0)
        ),
        [
            _names_of(parts, a, hierarchies.get(a.name))
            for parts, a in zip(cut, m.attributes, strict=True)
        ],
        trees=hierarchies,
    )
    return r.withholding(m, principles) if most else r


def _levels_of(attribute: Attribute, hierarchy: Hierarchy | None) -> list[np.ndarray]:
    """Return the sub-domain of every value on each level of a tree, from the root down."""
    if hierarchy is not None:
        return list(hierarchy.maps(attribute)[::-1])
    levels = [np.arange(attribute.size)]
    while levels[-1].max() > 0:
        levels.append(levels[-1] // _FAN_OUT)
    return levels[::-1]


def _map_of(parts: list[np.ndarray], attribute: Attribute) -> np.ndarray:
    """Number the sub-domains of an attribute in the order of their first values."""
    ids = np.empty(attribute.size, np.int32)
    for number, part in enumerate(sorted(parts, key=lambda part: part[0])):
        ids[part] = number
    return ids


def _names_of(
    parts: list[np.ndarray], attribute: Attribute, tree: Hierarchy | None
) -> np.ndarray | None:
    """Names of the sub-domains in a tree, on the highest level that has them.

    The whole domain is a star where the tree has several names on its highest level.
    """
    if tree is None:
        return None
    if len(parts) == 1 and tree.maps(attribute)[-1].any():
        return np.array([STAR], object)
    held = [np.bincount(ids)[ids] for ids in tree.maps(attribute)]
    firsts = sorted((part[0], len(part)) for part in parts)
    names = (
        tree.written(
            attribute.values[first],
            max(level for level, sizes in enumerate(held) if sizes[first] == size),
        )
        for first, size in firsts
    )
    return np.fromiter(names, object, len(firsts))


# -- what can be specialized ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Specialization:
    """Replace the sub-domain `parent` of an attribute by `children` (arrays of codes)."""

    attribute: int
    number: int  # tells the specializations of an attribute apart
    parent: np.ndarray
    children: tuple[np.ndarray, ...]
    gain: float  # InfoGain
    penalty_drop: float  # by how much NCP gets lower

    @property
    def place(self) -> tuple[int, int]:
        return self.attribute, self.number

    def rank(self) -> tuple:
        return -self.gain, -self.penalty_drop, self.attribute, self.number


class _Domain(ABC):
    """The domain of an attribute with the counts of sensitive values per value."""

    def __init__(self, m: Microdata, j: int) -> None:
        self.j = j
        self.attribute = m.attributes[j]
        size, values = self.attribute.size, m.sensitive_attribute.size
        cells = m.cells
        key = cells.tuples[cells.tuple_of_cell, j].astype(np.int64) * values + cells.sensitive
        held = np.bincount(key, cells.counts, minlength=size * values).astype(np.int64)
        self.histogram = held.reshape(size, values)
        self.root = np.arange(size)

    @abstractmethod
    def specializations(self, parent: np.ndarray) -> Iterator[_Specialization]:
        """Yield the ways to specialize a sub-domain."""

    def penalty(self, part: np.ndarray) -> float:
        """NCP of the rows in a sub-domain."""
        rows = self.histogram[part].sum()
        if self.attribute.numeric:
            positions = self.attribute.positions
            return float(rows * (positions[part[-1]] - positions[part[0]]) / self.attribute.width)
        return float(rows * (len(part) - 1) / (self.attribute.size - 1))

    def specialization(
        self, number: int, parent: np.ndarray, children: tuple, gain: float
    ) -> _Specialization:
        drop = self.penalty(parent) - sum(self.penalty(child) for child in children)
        return _Specialization(self.j, number, parent, children, gain, drop)


class _FreeCuts(_Domain):
    """An ordered attribute: an interval can be cut between any two of its values."""

    def specializations(self, parent: np.ndarray) -> Iterator[_Specialization]:
        if len(parent) == 1:
            return
        left = np.cumsum(self.histogram[parent], axis=0)[:-1]
        right = self.histogram[parent].sum(axis=0) - left
        gains = _information_gains(np.stack([left, right]))
        for i, gain in enumerate(gains, start=1):
            yield self.specialization(
                int(parent[i]), parent, (parent[:i], parent[i:]), float(gain)
            )


class _Tree(_Domain):
    """Any other attribute: a sub-domain is split into its children in a hierarchy."""

    def __init__(self, m: Microdata, j: int, levels: list[np.ndarray]) -> None:
        super().__init__(m, j)
        self.levels = levels

    def specializations(self, parent: np.ndarray) -> Iterator[_Specialization]:
        for depth, ids in enumerate(self.levels):
            names = np.unique(ids[parent])
            if len(names) > 1:
                children = tuple(parent[ids[parent] == name] for name in names)
                counts = np.stack([self.histogram[child].sum(axis=0) for child in children])
                gain = float(_information_gains(counts[:, None, :])[0])
                number = depth * self.attribute.size + int(parent[0])
                yield self.specialization(number, parent, children, gain)
                return


def _information_gains(counts: np.ndarray) -> np.ndarray:
    """InfoGain of specializations, from counts of shape (children, specializations, values)."""
    rows = counts.sum(axis=2)
    per_child = np.where(rows > 0, _entropy(np.where(rows[..., None] > 0, counts, 1)), 0.0)
    total = counts.sum(axis=0)
    if total.sum() == 0:
        return np.zeros(counts.shape[1])
    gains = _entropy(total) - (rows * per_child).sum(axis=0) / rows.sum(axis=0)
    return np.round(gains, 12) + 0.0  # noise of the last digits must not decide between equals


def _entropy(counts: np.ndarray) -> np.ndarray:
    """Entropy over the last axis; scipy.stats.entropy takes longer to look at its arguments."""
    return entr(counts / counts.sum(axis=-1, keepdims=True)).sum(axis=-1)


# -- groups under specialization ----------------------------------------------------------------

_INVALID = 0.0


class _Groups:
    """The groups of the table as it is specialized, as runs of an ordering of the QI tuples."""

    def __init__(self, m: Microdata, l: int) -> None:
        self.cells = m.cells
        self.codes = np.asfortranarray(m.cells.tuples)
        self.l = l
        self.values = m.sensitive_attribute.size
        self.order = np.arange(len(m.cells))
        self.start = np.array([0, len(m.cells)])
        self.levels = np.array([m.n / m.sensitive_counts.max()])

    @property
    def level(self) -> float:
        """A: the least |E| / h(E)."""
        return float(self.levels.min())

    def level_after(self, candidate: _Specialization) -> float:
        """Return A after a specialization, or 0 if a group would not be l-eligible."""
        return _level_after(
            self.order, self.start, self.levels, self.codes[:, candidate.attribute],
            _child_of_value(candidate, self.codes), len(candidate.children),
            self.cells.start, self.cells.sensitive, self.cells.counts, self.values, self.l,
        )  # fmt: skip

    def specialize(self, candidate: _Specialization) -> None:
        """Split the groups that hold the parent by its children."""
        group = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        child = _child_of_value(candidate, self.codes)[self.codes[self.order, candidate.attribute]]
        split = np.lexsort((child, group))
        self.order, group, child = self.order[split], group[split], child[split]
        starts = np.flatnonzero(np.r_[True, (group[1:] != group[:-1]) | (child[1:] != child[:-1])])
        self.start = np.r_[starts, len(self.order)]
        self.levels = _levels(
            self.order, self.start,
            self.cells.start, self.cells.sensitive, self.cells.counts, self.values,
        )  # fmt: skip


class _Judged:
    """The groups where more is asked of them than l, or some may be withheld."""

    def __init__(self, m: Microdata, asked: list, most: int) -> None:
        self.m, self.asked, self.most = m, asked, most
        self.codes = m.cells.tuples
        self.group = np.zeros(len(m.cells), np.int64)
        self.level, self.withheld = self._judge(self.group)

    def level_after(self, candidate: _Specialization) -> float:
        """Return A after a specialization, or 0 if too many rows would have to be withheld."""
        return self._judge(self._after(candidate))[0]

    def specialize(self, candidate: _Specialization) -> None:
        """Split the groups that hold the parent by its children."""
        self.group = self._after(candidate)
        self.level, self.withheld = self._judge(self.group)

    def _after(self, candidate: _Specialization) -> np.ndarray:
        child = _child_of_value(candidate, self.codes)[self.codes[:, candidate.attribute]]
        key = self.group * (len(candidate.children) + 1) + child + 1
        return np.unique(key, return_inverse=True)[1]

    def _judge(self, group: np.ndarray) -> tuple[float, int]:
        """A of the groups that meet all that is asked, or 0, and the rows of the others."""
        counts = [GroupCounts.of_tuples(table, group) for table, _ in self.asked]
        good = np.logical_and.reduce([
            principle.satisfied(of_table)
            for (_, principles), of_table in zip(self.asked, counts, strict=True)
            for principle in principles
        ])  # fmt: skip
        whole = counts[0]  # of the sensitive attribute, to which l belongs
        withheld = int(self.m.cells.tuple_sizes[~good[group]].sum())
        if withheld > self.most or not good.any():
            return _INVALID, withheld
        return float((whole.sizes / whole.largest())[good].min()), withheld


def _child_of_value(candidate: _Specialization, codes: np.ndarray) -> np.ndarray:
    """Which child every value of the attribute goes to; -1 outside of the parent."""
    size = max(int(codes[:, candidate.attribute].max()), int(candidate.parent.max())) + 1
    child_of_value = np.full(size, -1, np.int64)
    for number, child in enumerate(candidate.children):
        child_of_value[child] = number
    return child_of_value


@loop
def _level_after(
    order, start, levels, codes, child_of_value, n_children,
    cell_start, sensitive, counts, m, l,
):  # fmt: skip
    least = np.inf
    of_child = np.zeros((n_children, m), np.int64)
    rows = np.zeros(n_children, np.int64)
    for group in range(len(start) - 1):
        if child_of_value[codes[order[start[group]]]] < 0:
            least = min(least, levels[group])
            continue
        of_child[:] = 0
        rows[:] = 0
        for i in range(start[group], start[group + 1]):
            child = child_of_value[codes[order[i]]]
            for cell in range(cell_start[order[i]], cell_start[order[i] + 1]):
                of_child[child, sensitive[cell]] += counts[cell]
                rows[child] += counts[cell]
        for child in range(n_children):
            if rows[child] > 0:
                height = of_child[child].max()
                if rows[child] < l * height:
                    return 0.0
                least = min(least, rows[child] / height)
    return least


@loop
def _levels(order, start, cell_start, sensitive, counts, m):
    """|E| / h(E) of every group."""
    levels = np.empty(len(start) - 1)
    of_value = np.empty(m, np.int64)
    for group in range(len(start) - 1):
        of_value[:] = 0
        for i in range(start[group], start[group + 1]):
            for cell in range(cell_start[order[i]], cell_start[order[i] + 1]):
                of_value[sensitive[cell]] += counts[cell]
        levels[group] = of_value.sum() / of_value.max()
    return levels
