"""The best full-domain recoding: one level per hierarchy, least NCP, by monotone pruning.

A *node* is a vector of levels. Nodes above one that meets the principle meet it and cost no less,
and nodes below one that fails fail: every check settles a box. With a budget a node withholds its
failing groups, and a withheld row costs 1 per attribute. Only rows that fail an upward closed
principle never become fewer on the way down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Literal

import numpy as np

from anonpaper import errors, principles
from anonpaper.algorithm import RECODED, algorithm
from anonpaper.cells import distinct
from anonpaper.groups import Entries
from anonpaper.hierarchy import Hierarchy, check_hierarchies
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.published_values import SubDomains
from anonpaper.recoding import Recoding, over_shown_values

__all__ = ["full_domain"]

_MOST_NODES = 10_000_000


@algorithm(
    "every column on one level of its hierarchy, least loss",
    promises={"k": principles.KAnonymity, "l": principles.DistinctLDiversity},
    publications=RECODED,
)
def full_domain(
    m: Microdata,
    k: int,
    hierarchies: Mapping[object, Hierarchy] | None = None,
    l: int | None = None,
    *,
    diversity: Literal["frequency", "distinct"] = "distinct",
    require: Sequence[principles.Principle] = (),
    suppression: float = 0.0,
) -> Recoding:
    """Guarantee k-anonymity, and more if asked, at the least loss (NCP) of one level per column.

    InfeasibleError if no node is enough, SizeLimitError if there are more than ten million.

    Parameters
    ----------
    m, k, l, diversity : 1 to n; k counts people. Each sensitive attribute becomes l-diverse
    hierarchies : mapping of attribute name to Hierarchy, optional
        By default balanced trees of fan-out 4, without values that only withheld rows have if that
        is feasible. The names of other trees are published: make none from the column itself.
    require, suppression : sequence of Principle (monotone; not t-closeness with `suppression`)
        Further principles, and the share of rows that may be withheld, from 0 to 1.

    Returns
    -------
    Recoding, with ``levels``, ``ncp``, ``nodes``, ``candidates`` (checked), ``withheld`` in info

    References
    ----------
    P. Samarati, TKDE 2001; K. LeFevre et al., SIGMOD 2005 (pruning). O(c·d + e log e) a check.

    Examples
    --------
    >>> r = full_domain(ap.examples.hospital(), k=2, suppression=0.3)
    >>> r.info["levels"], r.info["ncp"], ap.recode(ap.examples.hospital(), r).withheld
    ({'Age': 0, 'Gender': 0, 'Education': 0}, 6.0, (2, 0.5))
    """
    m = check_microdata(m, people=True)
    asked = [principles.KAnonymity(errors.check_integer("k", k, 1, m.n_people))]
    errors.check_choice("diversity", diversity, principles.DIVERSITY)
    if l is not None:
        asked.append(principles.l_diversity(errors.check_integer("l", l, 1, m.n), diversity))
    asked += errors.check_sequence("require", require, principles.Principle)
    most = principles.rows_of_budget(m, suppression, asked)
    given = check_hierarchies(hierarchies, m.qi)

    def search(shown: dict[object, np.ndarray]) -> Recoding:
        trees = given | {q: Hierarchy.of_shown(m.attribute(q), of) for q, of in shown.items()}
        nodes = _searched(m, asked, most, trees)
        levels = map(int, np.unravel_index(nodes.best, nodes.cost.shape))
        r = Recoding.from_levels(m.attributes, trees, dict(zip(m.qi, levels, strict=True)))
        # The names of a tree of our own only list values.
        r.names = tuple(r.names[j] if name in given else None for j, name in enumerate(m.qi))
        counts = {"nodes": nodes.cost.size, "candidates": nodes.checked}
        r.info |= {"ncp": float(nodes.least)} | counts
        r.algorithm = f"full domain, {' and '.join(map(str, asked))}"
        if most:
            r = r.withholding(m, asked)
            r.info["withheld"] = nodes.withheld
            r.algorithm += f", suppression = {suppression}"
        return r

    return over_shown_values(m, [name for name in m.qi if name not in given], search)


def _searched(m: Microdata, asked: list, most: int, trees: Mapping) -> _Nodes:
    """Search the lattice of the levels of all trees; InfeasibleError if no node is enough."""
    maps = [list(trees[a.name].maps(a)) for a in m.attributes]
    shape = tuple(map(len, maps))
    if prod(shape) > _MOST_NODES:
        told = f"{shape} levels make {prod(shape):,} nodes, more than {_MOST_NODES:,}"
        way = "use lower hierarchies or fewer quasi-identifiers"
        raise errors.SizeLimitError(f"hierarchies of {told}: {way}")
    required = principles.required(m, asked)
    nodes = _Nodes(m, maps, required, most)
    numbers = np.arange(nodes.cost.size).reshape(shape)
    nodes.check(numbers.flat[-1])
    for j in range(m.d):  # all others at their highest level
        for node in np.moveaxis(numbers, j, -1).reshape(-1, shape[j])[-1]:
            nodes.check(node)
    while (node := nodes.median_open()) is not None:
        nodes.check(node)
    if nodes.best < 0:
        principles.require_whole(m, {} if most else required)
        told = f"more than the {most} rows that the suppression allows, or all rows"
        fail = f"at every one, {told}, are in classes that fail {' or '.join(map(str, asked))}"
        raise errors.InfeasibleError(f"no level of the hierarchies is enough: {fail}")
    return nodes


class _Nodes:
    """The lattice: which nodes are `open`, their `cost`, and the `best` one, of `least` cost."""

    def __init__(self, m: Microdata, maps: list, asked: Mapping, most: int) -> None:
        self.m, self.maps, self.asked, self.most = m, maps, asked, min(most, m.n - 1)
        self.extents, self.cost = [], np.zeros(())  # NCP of every value on every level; of nodes
        for attribute, levels, codes in zip(m.attributes, maps, m.cells.tuples.T, strict=True):
            rows = np.bincount(codes, m.cells.tuple_sizes, attribute.size)
            sets = (SubDomains.sets(attribute, ids, np.arange(len(ids))) for ids in levels)
            pairs = [(of.extents, ids) for of, ids in zip(sets, levels, strict=True)]
            self.extents.append([of[ids] for of, ids in pairs])
            of_levels = [sum(of * np.bincount(ids, rows)) for of, ids in pairs]
            self.cost = np.add.outer(self.cost, of_levels)
        self.open = np.ones(self.cost.shape, dtype=bool)
        self.by_cost = np.argsort(self.cost, axis=None, kind="stable")
        self.best, self.least, self.withheld, self.checked = -1, np.inf, 0, 0

    def check(self, number: int) -> None:
        """Check a node if it is open, and settle those above or below it."""
        node = np.unravel_index(number, self.cost.shape)
        if not self.open[node]:
            return
        self.checked += 1
        tuples, sizes = self.m.cells.tuples.T, self.m.cells.tuple_sizes
        maps = [levels[i] for levels, i in zip(self.maps, node, strict=True)]
        codes = [ids[codes] for ids, codes in zip(maps, tuples, strict=True)]
        fails, closed = self._failing(distinct(codes, [ids.max() + 1 for ids in maps])[0])
        withheld = int(sizes[fails].sum())
        if withheld > self.most:
            # Without a budget, what fails here fails below.
            hopeless = not self.most or sizes[closed].sum() > self.most
            self.open[tuple(slice(level + 1) for level in node) if hopeless else node] = False
            return
        # Where nothing is withheld, the node itself is cheapest of the box above it.
        self.open[node if withheld else tuple(slice(level, None) for level in node)] = False
        lost = zip(self.extents, node, tuples[:, fails], strict=True)
        beyond = sum(((1 - of[i][codes]) * sizes[fails]).sum() for of, i, codes in lost)
        cost = self.cost[node] + beyond
        if (cost, number) < (self.least, self.best):
            self.best, self.least, self.withheld = number, cost, withheld

    def _failing(self, group: np.ndarray) -> np.ndarray:
        """Which tuples fail, and which of them fail so that parts of their groups fail too."""
        fails, closed = failing = np.zeros((2, group.max() + 1), dtype=bool)
        classes = Entries.of_cells(self.m, group[self.m.cells.tuple_of_cell])
        for name, about in self.asked.items():
            counts = principles.GroupCounts.of(classes, name)
            for principle in about:
                of_principle = ~principle.satisfied(counts)
                fails |= of_principle
                closed |= of_principle & principle.upward_closed
            if fails.any() and not self.most:
                break
        return failing[:, group]

    def median_open(self) -> int | None:
        """The node of median NCP among the open ones cheaper than the best, or None."""
        self.by_cost = self.by_cost[self.open.ravel()[self.by_cost]]
        costs, before = self.cost.ravel()[self.by_cost], self.by_cost < self.best
        cheaper = self.by_cost[(costs < self.least) | ((costs == self.least) & before)]
        return cheaper[len(cheaper) // 2] if len(cheaper) else None
