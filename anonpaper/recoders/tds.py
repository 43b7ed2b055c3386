"""TDS, top-down specialization, adapted to frequency l-diversity.

xiao2010, section 6.2, does not print its adaptation. In ours the sensitive attribute is the class
of Fung et al.: InfoGain is the drop in its entropy. The level A of a table is the least |E| / h(E)
over its groups E, h being the pillar height, and AnonyLoss the drop in A. The score is InfoGain /
(AnonyLoss + 1), or the drop in NCP if nothing gains. An ordered attribute is cut in two, any other
follows a hierarchy, by default a balanced tree of fan-out 4 over its domain. An invalid
specialization stays invalid: unions of l-eligible groups are l-eligible.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from anonpaper import principles
from anonpaper.algorithm import RECODED, algorithm
from anonpaper.errors import check_integer, check_sequence
from anonpaper.groups import Entries
from anonpaper.hierarchy import STAR, Hierarchy, check_hierarchies
from anonpaper.microdata import Attribute, Microdata, check_microdata
from anonpaper.recoding import Recoding
from anonpaper.roles import only_one

__all__ = ["tds"]


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
    require: Sequence[principles.Principle] = (),
) -> Recoding:
    """Guarantee frequency l-diversity: specialize sub-domains from the top down while it holds.

    No single further specialization keeps it; a better recoding may exist. The information of the
    one sensitive attribute is kept. If people have several rows, diversity counts people, and
    everybody must have one value of each quasi-identifier. InfeasibleError if the table fails.

    Parameters
    ----------
    m, l : Microdata, and the diversity asked for, from 2 to the largest feasible one
    hierarchies : mapping of attribute name to Hierarchy, optional
        Trees to follow, even for ordered attributes; below a star if they have several roots.
    require : as for :func:`~anonpaper.recoders.lattice.full_domain`

    Returns
    -------
    Recoding; info has ``level`` (A) and ``candidates``, how many groupings were looked at

    References
    ----------
    B. C. M. Fung, K. Wang, P. S. Yu, ICDE 2005; xiao2010, section 6.2. O(e) a candidate. Ties go
    to the larger gain, then to the first attribute and value.

    Examples
    --------
    >>> r = tds(ap.examples.hospital(), l=2)
    >>> r.sub_domains("Age"), r.info["level"]
    ([['<30', '[30, 50)'], ['>=50']], 2.0)
    """
    only_one(check_microdata(m, people=True).sensitive)
    people = m.people is not None  # whether they can be diverse is found below
    l = check_integer("l", l, 2, m.n_people) if people else principles.require_diverse(m, l)
    trees = check_hierarchies(hierarchies, m.qi)
    require = check_sequence("require", require, principles.Principle)
    asked = principles.required(m, [principles.FrequencyLDiversity(l), *require])
    principles.require_whole(m, asked)
    maps, info = _specialized(m, asked, [_Domain(m, j, trees.get(q)) for j, q in enumerate(m.qi)])
    names = [_names_of(maps[j], a, trees.get(a.name)) for j, a in enumerate(m.attributes)]
    title = ", ".join([f"TDS, l = {l}", *map(str, require)])
    return Recoding(m.attributes, maps, info, title, names, trees=trees)


def _specialized(m: Microdata, asked: Mapping, domains: list) -> tuple:
    """Specialize from the top down; return the sub-domain of each value, and the report."""
    candidates = [c for of in domains for c in of.specializations(np.arange(of.attribute.size))]
    maps, invalid = [np.zeros(a.size, np.intp) for a in m.attributes], set()
    group = np.zeros(len(m.cells), np.intp)  # line 5: of every QI tuple
    level, looked = _level(m, asked, group), 1
    while True:
        best, best_score = None, 0.0
        for minus_gain, _, j, number, parent, children in sorted(candidates):
            if best is not None and -minus_gain <= best_score:
                break  # the score is at most the gain
            after = domains[j].split(group, children)
            level_after, looked = _level(m, asked, after), looked + 1
            if level_after is None:
                invalid.add((j, number))  # line 6
                continue
            score = -minus_gain / (level - level_after + 1)  # line 7
            if best is None or score > best_score:
                best, best_score = (after, level_after, j, parent, children), score
        if best is None:  # line 8
            maps = [pd.factorize(ids)[0] for ids in maps]  # by their first values
            return maps, {"level": level, "candidates": looked}
        group, level, j, parent, children = best
        for child in children[1:]:
            maps[j][child] = maps[j].max() + 1
        candidates = [c for c in candidates if c[4] is not parent]
        candidates += [c for child in children for c in domains[j].specializations(child)]
        candidates = [c for c in candidates if c[2:4] not in invalid]


def _names_of(ids: np.ndarray, attribute: Attribute, tree: Hierarchy | None) -> np.ndarray | None:
    """Names of the sub-domains in a tree, on the highest level that has them; else a star."""
    if tree is None:
        return None
    levels = tree.maps(attribute)
    if not ids.any() and levels[-1].any():
        return np.array([STAR], object)
    held = np.array([np.bincount(level)[level] for level in levels])
    _, firsts, sizes = np.unique(ids, return_index=True, return_counts=True)
    highest = tree.height - (held[::-1, firsts] == sizes).argmax(axis=0)
    return np.fromiter(map(tree.written, attribute.values[firsts], highest), object, len(firsts))


class _Domain:
    """The domain of attribute j, its sub-domains and the counts of sensitive values per value.

    A sub-domain is split into its children on the `levels` of a tree, from the root down, by
    default a balanced one. An ordered attribute without a tree is cut between any two values.
    """

    def __init__(self, m: Microdata, j: int, tree: Hierarchy | None) -> None:
        self.j, self.attribute, cells = j, m.attributes[j], m.cells
        size, values = self.attribute.size, m.sensitive_attribute.size
        heights = range(-1 if self.attribute.ordered else size.bit_length() // 2, -1, -1)
        balanced = [np.arange(size) // 4**height for height in heights]
        self.levels = balanced if tree is None else [*tree.maps(self.attribute)[::-1]]
        self.of_tuple = cells.tuples[:, j].astype(np.intp)  # side by side in memory
        key = self.of_tuple[cells.tuple_of_cell] * values + cells.sensitive
        self.histogram = np.bincount(key, cells.counts, size * values).reshape(size, values)

    def specializations(self, parent: np.ndarray) -> Iterator[tuple]:
        """Yield the ways to replace a sub-domain by others; sorted, the best come first."""
        # minus InfoGain and minus the drop of NCP, j, a number among those of j, and codes
        if self.levels:
            split = [depth for depth, ids in enumerate(self.levels) if np.ptp(ids[parent]) > 0]
            if not split:
                return
            ids = self.levels[split[0]][parent]
            children = tuple(parent[ids == name] for name in np.unique(ids))
            counts = [[self.histogram[child].sum(axis=0)] for child in children]
            ways = [(split[0] * self.attribute.size + parent[0], children)]
        else:
            left = np.cumsum(self.histogram[parent], axis=0)
            counts = [left[:-1], left[-1] - left[:-1]]
            ways = [(parent[i], (parent[:i], parent[i:])) for i in range(1, len(parent))]
        for (number, children), gain in zip(ways, _gains(np.array(counts)), strict=True):
            drop = self._penalty(parent) - sum(map(self._penalty, children))
            yield -float(gain), -drop, self.j, int(number), parent, children

    def _penalty(self, part: np.ndarray) -> float:
        """NCP of the rows in a sub-domain."""
        ends = self.attribute.positions[part[[0, -1]]]
        reach = ends[1] - ends[0] if self.attribute.numeric else len(part) - 1
        return float(self.histogram[part].sum() * reach / self.attribute.width)

    def split(self, group: np.ndarray, children: tuple) -> np.ndarray:
        """The group of every QI tuple after the parent's groups are split by its children."""
        child_of_value = np.zeros(self.attribute.size, np.intp)
        for number, child in enumerate(children, start=1):
            child_of_value[child] = number
        key = group * (len(children) + 1) + child_of_value[self.of_tuple]
        return (np.cumsum(np.bincount(key) > 0) - 1)[key]  # as np.unique, without sorting


def _gains(counts: np.ndarray) -> np.ndarray:
    """InfoGain of specializations, from counts of shape (children, specializations, values)."""
    rows, total = counts.sum(axis=2), counts.sum(axis=0)
    left = (rows * _entropy(counts)).sum(axis=0) / np.maximum(rows.sum(axis=0), 1)
    # noise of the last digits must not decide between equals
    return np.round(_entropy(total) - left, 12) + 0.0


def _entropy(counts: np.ndarray) -> np.ndarray:
    """Entropy over the last axis, without scipy, which the browser lacks."""
    p = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    return (-p * np.log(p, out=np.zeros_like(p), where=p > 0)).sum(axis=-1)


def _level(m: Microdata, asked: Mapping, group: np.ndarray) -> float | None:
    """A of groups that meet all requirements; None if one does not."""
    classes = Entries.of_cells(m, group[m.cells.tuple_of_cell])
    counts = {name: principles.GroupCounts.of(classes, name) for name in asked}
    if not all(one.satisfied(counts[name]).all() for name in asked for one in asked[name]):
        return None
    name, (by_l, *_) = next(iter(asked.items()))
    return float(by_l.levels(counts[name]).min())
