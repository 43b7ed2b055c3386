"""TDS, top-down specialization, adapted to frequency l-diversity.

xiao2010, section 6.2, says only that it modified TDS from k-anonymity to l-diversity. The
adaptation here, in the terms of Fung et al.:

* the class attribute is the sensitive one: InfoGain is the drop in its entropy;
* the level A of a table is the least |E| / h(E) over its groups E, h being the pillar height, and
  AnonyLoss the drop in A; the score is InfoGain / (AnonyLoss + 1);
* an ordered attribute is cut in two at its best score; any other follows a hierarchy, by default a
  balanced tree of fan-out 4 over the order of its domain;
* once no valid specialization gains information, the one that lowers NCP most is taken.

An invalid specialization stays invalid and is dropped: unions of l-eligible groups are l-eligible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonpaper import principles
from anonpaper.algorithm import RECODED, algorithm
from anonpaper.errors import check_integer, check_sequence
from anonpaper.groups import Entries
from anonpaper.hierarchy import STAR, Hierarchy, check_hierarchies
from anonpaper.microdata import Attribute, Microdata, check_microdata
from anonpaper.principles import Principle
from anonpaper.recoding import Recoding

__all__ = ["tds"]

_FAN_OUT = 4


@algorithm(
    "frequency l-diversity by coarser values, the same for all rows",
    promises={"l": principles.FrequencyLDiversity},
    publications=RECODED,
)
def tds(
    m: Microdata,
    l: int,
    hierarchies: Mapping[object, Hierarchy] | None = None,
    *,
    require: Sequence[Principle] = (),
) -> Recoding:
    """Guarantee frequency l-diversity: specialize sub-domains from the top down while it holds.

    No single further specialization keeps it; a better recoding may exist.

    Parameters
    ----------
    m : Microdata
        With one sensitive attribute, whose information is kept. If people have several rows,
        diversity counts people, and everybody must have one value of each quasi-identifier.
    l : int
        The diversity asked for, from 2 to the largest feasible one.
    hierarchies : mapping of attribute name to Hierarchy, optional
        Trees to follow, even for ordered attributes; below a star if they have several roots.
    require
        As for :func:`~anonpaper.recoders.lattice.full_domain`, whose errors apply too.

    Returns
    -------
    Recoding
        ``info`` has ``specializations``, ``candidates`` and ``level`` (A).

    Raises
    ------
    InfeasibleError
        The table itself fails.

    References
    ----------
    B. C. M. Fung, K. Wang, P. S. Yu, ICDE 2005; xiao2010, section 6.2. O(e) a candidate for e
    cells. Ties go to the larger gain, then to the first attribute and value.

    Examples
    --------
    >>> r = tds(ap.examples.hospital(), l=2)
    >>> r.sub_domains("Age"), r.info["level"]
    ([['<30', '[30, 50)'], ['>=50']], 2.0)
    """
    if check_microdata(m, people=True).people is None:
        l = principles.require_eligible(m, l)
    else:  # whether people are is found below
        m.sensitive_counts  # noqa: B018 - raises ColumnError unless there is one such attribute
        l = check_integer("l", l, 2, m.n_people)
    trees = check_hierarchies(hierarchies, m.qi)
    promised = [principles.FrequencyLDiversity(l), *check_sequence("require", require, Principle)]
    asked = principles.required(m, promised)
    principles.require_whole(m, asked)
    title = ", ".join([f"TDS, l = {l}", *map(str, require)])
    domains = [_Domain(m, j, trees.get(name)) for j, name in enumerate(m.qi)]
    maps, info = _specialized(m, asked, domains)
    names = [_names_of(maps[j], a, trees.get(a.name)) for j, a in enumerate(m.attributes)]
    return Recoding(m.attributes, maps, info, title, names, trees=trees)


def _specialized(m: Microdata, asked: Mapping, domains: list) -> tuple:
    """Specialize from the top down; return the sub-domain of each value, and what to report."""
    candidates = [c for domain in domains for c in domain.specializations(domain.root)]
    maps = [np.zeros(a.size, np.intp) for a in m.attributes]
    invalid: set[tuple[int, int]] = set()
    group = np.zeros(len(m.cells), np.intp)  # line 5: of every QI tuple
    level, steps, looked_at = _level(m, asked, group), 0, 0
    while True:
        best, best_score = None, 0.0
        for candidate in sorted(candidates):
            gain = -candidate.minus_gain
            if best is not None and gain <= best_score:
                break  # the score is at most the gain
            looked_at += 1
            after = _split(domains[candidate.attribute], group, candidate)
            level_after = _level(m, asked, after)
            if level_after is None:
                invalid.add((candidate.attribute, candidate.number))  # line 6
                continue
            score = gain / (level - level_after + 1)  # line 7
            if best is None or score > best_score:
                best, best_score, best_groups = candidate, score, (after, level_after)
        if best is None:  # line 8
            break
        steps += 1
        j, (group, level) = best.attribute, best_groups
        for child in best.children[1:]:
            maps[j][child] = maps[j].max() + 1
        candidates = [c for c in candidates if c.parent is not best.parent]
        candidates += [c for child in best.children for c in domains[j].specializations(child)]
        candidates = [c for c in candidates if (c.attribute, c.number) not in invalid]
    maps = [pd.factorize(ids)[0] for ids in maps]  # sub-domains by their first values
    return maps, {"specializations": steps, "candidates": looked_at, "level": level}


def _names_of(ids: np.ndarray, attribute: Attribute, tree: Hierarchy | None) -> np.ndarray | None:
    """Names of the sub-domains in a tree, on the highest level that has them; else a star."""
    if tree is None:
        return None
    levels = tree.maps(attribute)
    if not ids.any() and levels[-1].any():
        return np.array([STAR], object)
    held = np.array([np.bincount(level)[level] for level in levels])
    _, firsts, sizes = np.unique(ids, return_index=True, return_counts=True)
    names = (
        tree.written(attribute.values[first], np.flatnonzero(held[:, first] == size)[-1])
        for first, size in zip(firsts, sizes, strict=True)
    )
    return np.fromiter(names, object, len(firsts))


# -- what can be specialized ------------------------------------------------------------------


class _Specialization(NamedTuple):
    """Replace the sub-domain `parent` of an attribute by `children`; those sort best first."""

    minus_gain: float  # InfoGain
    minus_drop: float  # by how much NCP gets lower
    attribute: int
    number: int  # tells the specializations of an attribute apart
    parent: np.ndarray  # codes
    children: tuple[np.ndarray, ...]


class _Domain:
    """The domain of attribute j, its sub-domains and the counts of sensitive values per value.

    A sub-domain is split into its children on the `levels` of a tree, from the root down. An
    ordered attribute without a tree has no levels: it is cut between any two of its values. Any
    other is split by a balanced tree.
    """

    def __init__(self, m: Microdata, j: int, tree: Hierarchy | None) -> None:
        self.j, self.attribute = j, m.attributes[j]
        size, values = self.attribute.size, m.sensitive_attribute.size
        self.levels = [] if tree is None else list(tree.maps(self.attribute)[::-1])
        if tree is None and not self.attribute.ordered:
            self.levels = [np.arange(size)]
            while self.levels[0].max() > 0:
                self.levels.insert(0, self.levels[0] // _FAN_OUT)
        cells = m.cells
        self.of_tuple = cells.tuples[:, j].astype(np.intp)  # side by side in memory
        key = self.of_tuple[cells.tuple_of_cell] * values + cells.sensitive
        held = np.bincount(key, cells.counts, minlength=size * values).astype(np.intp)
        self.histogram = held.reshape(size, values)
        self.root = np.arange(size)

    def specializations(self, parent: np.ndarray) -> Iterator[_Specialization]:
        """Yield the ways to specialize a sub-domain."""
        if not self.levels:
            left = np.cumsum(self.histogram[parent], axis=0)[:-1]
            counts = np.stack([left, self.histogram[parent].sum(axis=0) - left])
            ways = [(parent[i], (parent[:i], parent[i:])) for i in range(1, len(parent))]
        else:
            apart = (d for d, ids in enumerate(self.levels) if np.ptp(ids[parent]) > 0)
            if (depth := next(apart, None)) is None:
                return
            ids = self.levels[depth][parent]
            children = tuple(parent[ids == name] for name in np.unique(ids))
            counts = np.stack([self.histogram[[child]].sum(axis=1) for child in children])
            ways = [(depth * self.attribute.size + parent[0], children)]
        for (number, children), gain in zip(ways, _information_gains(counts), strict=True):
            drop = self._penalty(parent) - sum(self._penalty(child) for child in children)
            yield _Specialization(-float(gain), -drop, self.j, int(number), parent, children)

    def _penalty(self, part: np.ndarray) -> float:
        """NCP of the rows in a sub-domain."""
        rows = self.histogram[part].sum()
        if self.attribute.numeric:
            positions = self.attribute.positions
            return float(rows * (positions[part[-1]] - positions[part[0]]) / self.attribute.width)
        return float(rows * (len(part) - 1) / (self.attribute.size - 1))


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
    """Entropy over the last axis, without the slow checks of scipy.stats.entropy."""
    p = counts / counts.sum(axis=-1, keepdims=True)
    return (-p * np.log(p, out=np.zeros_like(p), where=p > 0)).sum(axis=-1)


# -- groups under specialization ----------------------------------------------------------------


def _split(domain: _Domain, group: np.ndarray, candidate: _Specialization) -> np.ndarray:
    """The group of every QI tuple after the parent's groups are split by its children."""
    child_of_value = np.full(domain.attribute.size, -1)
    for number, child in enumerate(candidate.children):
        child_of_value[child] = number
    child = child_of_value[domain.of_tuple]
    key = group * (len(candidate.children) + 1) + child + 1
    number = np.cumsum(np.bincount(key) > 0) - 1  # as np.unique numbers them, without sorting
    return number[key]


def _level(m: Microdata, asked: Mapping, group: np.ndarray) -> float | None:
    """A of groups that meet all requirements; None if one does not."""
    classes = Entries.of_cells(m, group[m.cells.tuple_of_cell])
    counts = {name: principles.GroupCounts.of(classes, name) for name in asked}
    if not all(one.satisfied(counts[name]).all() for name in asked for one in asked[name]):
        return None
    name, (by_l, *_) = next(iter(asked.items()))
    return float(by_l.levels(counts[name]).min())
