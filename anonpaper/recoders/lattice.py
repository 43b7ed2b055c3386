r"""The best full-domain recoding: one level per hierarchy, least NCP, by monotone pruning.

A *node* is a vector of levels, one per attribute. Guarantee: of all nodes that meet the principle,
the one of least NCP (the *optimum*, unlike Incognito's set of minimal nodes). Both sides of the
problem are monotone:

* going up joins groups, so a node above one that meets the principle meets it too, and a node
  below one that fails fails too (the generalization property of Incognito);
* going up never lowers NCP.

So every check of a node settles a whole box of the lattice, and nodes that cost more than the best
one known need no check. The next node is the one of median NCP among those still open, as in a
bisection. A subset of the attributes is the node with all others at the top, whence Incognito's
subset property is the same pruning seen from there; the smallest subsets are asked first.

Source: K. LeFevre, D. DeWitt, R. Ramakrishnan, *Incognito: efficient full-domain k-anonymity*,
SIGMOD 2005; diversity after A. Machanavajjhala et al., *l-diversity*, TKDD 2007, section 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Literal

import numpy as np

from anonpaper.algorithm import RECODED, algorithm
from anonpaper.errors import (
    InfeasibleError,
    SizeLimitError,
    check_choice,
    check_integer,
    check_weights,
)
from anonpaper.hierarchy import Hierarchy, check_hierarchies
from anonpaper.microdata import Attribute, Microdata, check_microdata
from anonpaper.principles import (
    DIVERSITY,
    DistinctLDiversity,
    GroupCounts,
    KAnonymity,
    Principle,
    l_diversity,
)
from anonpaper.recoding import Recoding

__all__ = ["MOST_NODES", "full_domain"]

#: The most nodes of a lattice.
MOST_NODES = 10_000_000

_FAN_OUT = 4


@algorithm(
    "every column on one level of its hierarchy, least loss",
    promises={"k": KAnonymity, "l": DistinctLDiversity},
    publications=RECODED,
)
def full_domain(
    m: Microdata,
    k: int,
    hierarchies: Mapping[object, Hierarchy] | None = None,
    l: int | None = None,
    *,
    diversity: Literal["frequency", "distinct"] = "distinct",
    weights: Mapping[object, float] | None = None,
) -> Recoding:
    """Guarantee k-anonymity, and l-diversity if asked, at the least NCP of full-domain recodings.

    With l, whoever knows the algorithm can conclude more than the classes show: of every cheaper
    node that is k-anonymous, some class is not diverse. :func:`anonpaper.measure.minimality`
    measures it.

    Parameters
    ----------
    m : Microdata
        The table, n rows; with a sensitive attribute if l is given.
    k : int
        From 1 to n.
    hierarchies : mapping of attribute name to Hierarchy, optional
        By default, for attributes not named, a balanced tree of fan-out 4 over the domain.
    l : int, optional
        The diversity asked for, from 1.
    diversity : {"distinct", "frequency"}
        Which l-diversity.
    weights : mapping of attribute name to float, optional
        Weight of every attribute in NCP, 1 where left out.

    Returns
    -------
    Recoding
        ``info`` holds ``levels`` (per attribute name), ``ncp`` (as :func:`anonpaper.measure.ncp`),
        ``nodes`` of the lattice, and ``candidates``, the nodes that were checked.

    Raises
    ------
    ColumnError
        `hierarchies` names no quasi-identifier, or l is given without a sensitive attribute.
    HierarchyError
        A hierarchy lacks values of its attribute.
    InfeasibleError
        Not even the most general node meets the principle.
    ParameterError
        k, l, `diversity` or a weight is out of range.
    SizeLimitError
        The lattice has more than ten million nodes.

    Notes
    -----
    A check takes O(c·d + e log e) for c QI tuples and e cells. Of nodes of equal NCP the
    lexicographically first in levels is taken.

    References
    ----------
    P. Samarati, *Protecting respondents' identities in microdata release*, TKDE 2001 (lattice);
    K. LeFevre, D. DeWitt, R. Ramakrishnan, *Incognito*, SIGMOD 2005 (monotone pruning).

    Examples
    --------
    >>> import anonpaper as ap
    >>> r = full_domain(ap.examples.hospital(), k=2)
    >>> r.info["levels"], r.info["ncp"]
    ({'Age': 1, 'Gender': 0, 'Education': 0}, 10.0)
    """
    principles = _principles(check_microdata(m), k, l, diversity)
    trees = _trees(m, hierarchies)
    maps = [
        list(tree.maps(attribute)) for attribute, tree in zip(m.attributes, trees, strict=True)
    ]
    shape = tuple(len(levels) for levels in maps)
    if prod(shape) > MOST_NODES:
        raise SizeLimitError(
            f"hierarchies of {shape} levels make {prod(shape):,} nodes, at most "
            f"{MOST_NODES:,} can be searched: use lower hierarchies or fewer quasi-identifiers"
        )
    top = tuple(size - 1 for size in shape)
    cost = _costs(m, maps, weights)
    nodes = _Nodes(m, maps, principles, cost)
    if not nodes.check(top):
        counts = _counts(m, *_groups(m, [levels[-1] for levels in maps]))
        reached = " and ".join(
            f"{principle.levels(counts).min():.3g} of {principle}"
            for principle in principles
            if not principle.satisfied(counts).all()
        )
        raise InfeasibleError(
            f"no level of the hierarchies is enough: with every attribute at its highest the "
            f"table reaches {reached}"
        )
    for node in _single_attributes(shape):
        nodes.check(node)
    while (node := nodes.median_open()) is not None:
        nodes.check(node)
    levels = dict(zip(m.qi, nodes.best, strict=True))
    r = Recoding.from_levels(m.attributes, dict(zip(m.qi, trees, strict=True)), levels)
    # The names of a tree of our own only list values.
    r.names = tuple(
        names if name in (hierarchies or {}) else None
        for name, names in zip(m.qi, r.names, strict=True)
    )
    r.info |= {"ncp": float(cost[nodes.best]), "nodes": prod(shape), "candidates": nodes.checked}
    r.algorithm = f"full domain, {' and '.join(map(str, principles))}"
    return r


class _Nodes:
    """The lattice and what is known of it: every node is open, feasible or settled otherwise."""

    def __init__(self, m: Microdata, maps: list, principles: list, cost: np.ndarray) -> None:
        self.m, self.maps, self.principles, self.cost = m, maps, principles, cost
        self.open = np.ones(cost.shape, dtype=bool)
        self.by_cost = np.argsort(cost, axis=None, kind="stable")
        self.best: tuple[int, ...] | None = None
        self.checked = 0

    def check(self, node: tuple[int, ...]) -> bool | None:
        """Check an open node and settle those above or below it; None if it is settled already."""
        if not self.open[node]:
            return None
        self.checked += 1
        feasible = _meets(
            self.m, [levels[i] for levels, i in zip(self.maps, node, strict=True)], self.principles
        )
        if feasible:
            self.open[tuple(slice(level, None) for level in node)] = False
            # Of the box above, the node itself is cheapest; of equal costs it is first.
            if self.best is None or self._rank(node) < self._rank(self.best):
                self.best = node
        else:
            self.open[tuple(slice(level + 1) for level in node)] = False
        return feasible

    def median_open(self) -> tuple[int, ...] | None:
        """The node of median NCP among the open ones cheaper than the best; None if none is."""
        self.by_cost = self.by_cost[self.open.ravel()[self.by_cost]]
        flat = np.ravel_multi_index(self.best, self.cost.shape)
        costs = self.cost.ravel()[self.by_cost]
        cheaper = self.by_cost[
            (costs < self.cost[self.best])
            | ((costs == self.cost[self.best]) & (self.by_cost < flat))
        ]
        if len(cheaper) == 0:
            return None
        middle = cheaper[len(cheaper) // 2]
        return tuple(int(level) for level in np.unravel_index(middle, self.cost.shape))

    def _rank(self, node: tuple[int, ...]) -> tuple:
        return float(self.cost[node]), node


def _single_attributes(shape: tuple[int, ...]):
    """Nodes with all but one attribute at the top, that one from the bottom up."""
    for j, size in enumerate(shape):
        for level in range(size):
            yield tuple(level if i == j else other - 1 for i, other in enumerate(shape))


def _meets(m: Microdata, maps: list[np.ndarray], principles: list[Principle]) -> bool:
    """Whether a table generalized by these maps meets all principles, k-anonymity first."""
    group, sizes = _groups(m, maps)
    if sizes.min() < principles[0].bound:
        return False
    counts = _counts(m, group, sizes)
    return all(principle.satisfied(counts).all() for principle in principles[1:])


def _groups(m: Microdata, maps: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The group of every QI tuple, shape (c,), and the rows of every group."""
    tuples = m.cells.tuples
    key, span = np.zeros(len(tuples), np.int64), 1  # keys lie in [0, span)
    for j, ids in enumerate(maps):
        parts = int(ids.max()) + 1
        if span > 2**62 // parts:
            key = np.unique(key, return_inverse=True)[1]
            span = len(tuples)
        key = key * parts + ids[tuples[:, j]]
        span *= parts
    group = np.unique(key, return_inverse=True)[1]
    return group, np.bincount(group, weights=m.cells.tuple_sizes).astype(np.int64)


def _counts(m: Microdata, group: np.ndarray, sizes: np.ndarray) -> GroupCounts:
    """Counts per sensitive value of groups of tuples; one entry a group without such values."""
    cells = m.cells
    values = 1 if m.sensitive is None else m.sensitive_attribute.size
    entry = group[cells.tuple_of_cell] * values + cells.sensitive
    distinct, place = np.unique(entry, return_inverse=True)
    counts = np.bincount(place, weights=cells.counts).astype(np.int64)
    start = np.searchsorted(distinct // values, np.arange(len(sizes) + 1))
    return GroupCounts(sizes, start, distinct % values, counts)


def _costs(m: Microdata, maps: list, weights: Mapping[object, float] | None) -> np.ndarray:
    """NCP of every node: the sum over attributes of what their levels cost."""
    weights = check_weights(m.qi, weights)
    total = np.zeros(())
    for attribute, levels, codes, weight in zip(
        m.attributes, maps, m.codes.T, weights, strict=True
    ):
        rows = np.bincount(codes, minlength=attribute.size)
        cost = np.array([weight * _penalty(attribute, ids, rows) for ids in levels])
        total = np.add.outer(total, cost)
    return total


def _penalty(attribute: Attribute, ids: np.ndarray, rows: np.ndarray) -> float:
    """NCP of one attribute at one level."""
    if attribute.size == 1:
        return 0.0
    total = 0.0
    for i in range(ids.max() + 1):
        members = np.flatnonzero(ids == i)
        if attribute.numeric:
            positions = attribute.positions[members]
            extent = (positions[-1] - positions[0]) / attribute.width
        else:
            extent = (len(members) - 1) / (attribute.size - 1)
        total += extent * rows[members].sum()
    return float(total)


def _principles(m: Microdata, k: int, l: int | None, diversity: str) -> list[Principle]:
    principles: list[Principle] = [KAnonymity(check_integer("k", k, 1, m.n))]
    check_choice("diversity", diversity, DIVERSITY)
    if l is not None:
        m.sensitive_codes  # noqa: B018 - raises ColumnError where there is none
        principles.append(l_diversity(check_integer("l", l, 1, m.n), diversity))
    return principles


def _trees(m: Microdata, hierarchies: Mapping[object, Hierarchy] | None) -> list[Hierarchy]:
    hierarchies = check_hierarchies(hierarchies, m.qi)
    return [
        hierarchies.get(attribute.name) or Hierarchy.balanced(attribute.values, _FAN_OUT)
        for attribute in m.attributes
    ]
