"""Data for DIVA's search: the constraints as codes, and the values that a group may publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonpaper.constraints import DiversityConstraint
from anonpaper.microdata import Microdata
from anonpaper.principles import FrequencyLDiversity, KAnonymity

__all__ = ["Bundle", "Privacy", "Targets"]


@dataclass(frozen=True, eq=False)
class Targets:
    """The targets of s constraints among n rows, as codes."""

    columns: tuple[frozenset, ...]  # places of the QI named
    low: np.ndarray
    high: np.ndarray
    carries: np.ndarray  # (n, s): whether the quasi-identifiers of a row are the target's
    is_target: np.ndarray  # (n, s): whether its sensitive value is, too

    @classmethod
    def of(cls, m: Microdata, constraints: Sequence[DiversityConstraint]) -> Targets:
        """Find the targets of the constraints in a table; O(s·n)."""
        columns = []
        carries = np.ones((m.n, len(constraints)), dtype=bool, order="F")
        is_target = np.ones((m.n, len(constraints)), dtype=bool, order="F")
        for i, c in enumerate(constraints):
            codes = {name: code for name, code in c.codes(m).items() if name in m.qi}
            places = {m.attribute_index(name): code for name, code in codes.items()}
            columns.append(frozenset(places))
            for j, code in places.items():
                carries[:, i] &= m.codes[:, j] == code
            is_target[:, i] = c.target_rows(m)
        return cls(
            tuple(columns),
            np.array([c.low for c in constraints], dtype=np.intp),
            np.array([c.high for c in constraints], dtype=np.intp),
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

    def counts(self, shown: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Count the published target rows of every group and constraint, shape (G, s)."""
        # `shown` (G, d) says what the rows of a group agree on, without what is starred.
        counts = np.zeros((len(shown), len(self)), np.intp)
        for i in range(len(self)):
            rows = np.flatnonzero(self.is_target[:, i] & (labels >= 0))
            published = shown[:, sorted(self.columns[i])].all(axis=1)
            counts[:, i] = np.bincount(labels[rows], minlength=len(shown)) * published
        return counts


@dataclass(frozen=True)
class Privacy:
    """The conditions on every published group: k rows, and frequency l-diverse if required."""

    k: int
    l: int | None = None
    sensitive: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> Privacy:
        """The same of some rows."""
        return Privacy(self.k, self.l, None if self.sensitive is None else self.sensitive[rows])

    def holds(self, rows: np.ndarray) -> bool:
        """Whether these rows may be published as one group."""
        if len(rows) < self.k or self.l is None:
            return len(rows) >= self.k
        return bool(self.l * np.bincount(self.sensitive[rows]).max() <= len(rows))

    def holds_of_groups(self, m: Microdata, labels: np.ndarray) -> bool:
        """Whether all groups of a table may be published."""
        diverse = self.l is None or FrequencyLDiversity(self.l).holds(m, labels)
        return diverse and KAnonymity(self.k).holds(m, labels)

    def spread(self, rows: np.ndarray) -> np.ndarray:
        """Order rows so that the first of them differ most in their sensitive value."""
        if self.l is None:
            return rows
        order = np.argsort(self.sensitive[rows], kind="stable")
        values = self.sensitive[rows[order]]
        rank = np.arange(len(rows)) - np.searchsorted(values, values)  # alike before it
        return rows[order[np.argsort(rank, kind="stable")]]


@dataclass(frozen=True, eq=False)
class Bundle:
    """Rows that are published in clusters which all carry the same constraints."""

    rows: np.ndarray
    starred: frozenset  # QI that are suppressed though the rows may agree
    adds: np.ndarray  # by how much the published count of every constraint rises
    divisible: bool  # whether it is still to be divided into clusters of similar rows
