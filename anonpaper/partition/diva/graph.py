"""The graph of diversity constraints: a node each, an edge per overlap (diva2021, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import numpy as np

from anonpaper.constraints import DiversityConstraint
from anonpaper.microdata import Microdata

__all__ = ["Targets", "build_graph"]


def build_graph(m: Microdata, constraints: Sequence[DiversityConstraint]) -> nx.Graph:
    """Build the graph G of a set of constraints: BuildGraph of Algorithm 3.

    Parameters
    ----------
    m : Microdata
        The table R.
    constraints : sequence of DiversityConstraint
        The set Sigma.

    Returns
    -------
    networkx.Graph
        Node i carries ``constraint`` and ``rows``, the numbers of its target rows I; an edge joins
        two nodes with common target rows and carries them as ``overlap``.

    Notes
    -----
    O(s·n + s²·n/8) for s constraints.

    References
    ----------
    diva2021, section 3.3, Example 3.3.

    Examples
    --------
    >>> import anonpaper as ap
    >>> G = build_graph(ap.examples.patients(), ap.examples.patients_constraints())
    >>> sorted(G.edges), G.edges[0, 2]["overlap"].tolist()
    ([(0, 2), (1, 2)], [7, 9])
    """
    G = nx.Graph()
    targets = [c.target_rows(m) for c in constraints]
    for i, c in enumerate(constraints):
        G.add_node(i, constraint=c, rows=np.flatnonzero(targets[i]))
    for i, j in combinations(range(len(targets)), 2):
        overlap = np.flatnonzero(targets[i] & targets[j])
        if len(overlap):
            G.add_edge(i, j, overlap=overlap)
    return G


@dataclass(frozen=True, eq=False)
class Targets:
    """The targets of a set of constraints on a table, as codes.

    A row *carries* a constraint if its quasi-identifiers are the target's; it is a *target row* if
    its sensitive value is the target's too, where the constraint names one.

    Attributes
    ----------
    columns : tuple of frozenset of int
        Per constraint the quasi-identifiers that it names, by their place in ``m.qi``, but for
        those of a single value, which show it whatever is suppressed.
    low, high : numpy.ndarray, shape (s,), dtype int64
        The bounds.
    carries, is_target : numpy.ndarray, shape (n, s), dtype bool
        Per row and constraint; equal where no sensitive value is named.
    """

    columns: tuple[frozenset, ...]
    low: np.ndarray
    high: np.ndarray
    carries: np.ndarray
    is_target: np.ndarray

    @classmethod
    def of(cls, m: Microdata, constraints: Sequence[DiversityConstraint]) -> Targets:
        """Look the targets of the constraints up in a table; O(s·n)."""
        columns = []
        carries = np.ones((m.n, len(constraints)), dtype=bool, order="F")
        is_target = np.ones((m.n, len(constraints)), dtype=bool, order="F")
        for i, c in enumerate(constraints):
            names = [name for name in c.target if m.sensitive is None or name != m.sensitive]
            columns.append(
                frozenset(m.attribute_index(name) for name in names if m.attribute(name).size > 1)
            )
            codes = c.codes(m)
            for name in names:
                carries[:, i] &= m.codes[:, m.attribute_index(name)] == codes[name]
            is_target[:, i] = c.target_rows(m)
        return cls(
            tuple(columns),
            np.array([c.low for c in constraints], dtype=np.int64),
            np.array([c.high for c in constraints], dtype=np.int64),
            carries,
            is_target,
        )

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def named(self) -> frozenset:
        """All quasi-identifiers that some constraint names."""
        return frozenset().union(*self.columns)

    def take(self, rows: np.ndarray, nodes: Sequence[int]) -> Targets:
        """Return the targets of some constraints among some rows."""
        nodes = list(nodes)
        return Targets(
            tuple(self.columns[i] for i in nodes),
            self.low[nodes],
            self.high[nodes],
            np.asfortranarray(self.carries[np.ix_(rows, nodes)]),
            np.asfortranarray(self.is_target[np.ix_(rows, nodes)]),
        )

    def counts(self, kept: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Count the published target rows of every group and constraint, shape (G, s).

        Parameters
        ----------
        kept : numpy.ndarray, shape (G, d), dtype bool
            Which attributes a group publishes: it agrees on them and they are not starred.
        labels : numpy.ndarray, shape (n,), dtype int64
            The group of every row, -1 for rows that are in none.
        """
        counts = np.zeros((len(kept), len(self)), np.int64)
        for i in range(len(self)):
            rows = np.flatnonzero(self.is_target[:, i] & (labels >= 0))
            published = kept[:, sorted(self.columns[i])].all(axis=1)
            counts[:, i] = np.bincount(labels[rows], minlength=len(kept)) * published
        return counts
