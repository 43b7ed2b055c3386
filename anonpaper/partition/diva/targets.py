"""Data for DIVA's search: the constraints as codes, and the values that a group may publish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonpaper.constraints import DiversityConstraint
from anonpaper.microdata import Microdata

__all__ = ["Bundle", "Targets"]


@dataclass(frozen=True, eq=False)
class Targets:
    """The targets of s constraints among n rows, and the privacy that every group must have."""

    columns: tuple[frozenset, ...]  # places of the QI named
    low: np.ndarray
    high: np.ndarray
    carries: np.ndarray  # (s, n): whether the quasi-identifiers of a row are the target's
    is_target: np.ndarray  # (s, n): whether its sensitive value is, too
    k: int
    l: int | None  # frequency l-diversity, if required
    sensitive: np.ndarray  # (n,), zeros if it is not

    @classmethod
    def of(
        cls, m: Microdata, constraints: Sequence[DiversityConstraint], k: int, l: int | None = None
    ) -> Targets:
        """Find the targets of the constraints in a table; O(s·n)."""
        columns, s, codes = [], len(constraints), m.codes
        carries, is_target = np.ones((2, s, m.n), dtype=bool)
        for i, c in enumerate(constraints):
            named = {m.attribute_index(q): code for q, code in c.codes(m).items() if q in m.qi}
            columns.append(frozenset(named))
            carries[i] = (codes[:, [*named]] == [*named.values()]).all(axis=1)
            is_target[i] = c.target_rows(m)
        low, high = np.array([(c.low, c.high) for c in constraints], np.intp).reshape(s, 2).T
        sensitive = np.zeros(m.n, np.int32) if l is None else m.sensitive_codes
        return cls(tuple(columns), low, high, carries, is_target, k, l, sensitive)

    def __len__(self) -> int:
        return len(self.columns)

    def take(self, nodes: Sequence[int], rows: np.ndarray) -> Targets:
        """Return the targets of some constraints among some rows."""
        nodes, some = list(nodes), np.ix_(list(nodes), rows)
        return replace(
            self,
            columns=tuple(self.columns[i] for i in nodes),
            low=self.low[nodes],
            high=self.high[nodes],
            carries=self.carries[some],
            is_target=self.is_target[some],
            sensitive=self.sensitive[rows],
        )

    def counts(self, shown: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Count the published target rows of every group and constraint, shape (G, s)."""
        # `shown` (G, d) says what the rows of a group agree on, without what is starred.
        counts = np.zeros((len(shown), len(self)), np.intp)
        for i, named in enumerate(self.columns):
            rows = labels[self.is_target[i] & (labels >= 0)]
            counts[:, i] = np.bincount(rows, minlength=len(shown)) * shown[:, [*named]].all(axis=1)
        return counts

    def is_private(self, rows: np.ndarray) -> bool:
        """Whether these rows may be published as one group."""
        enough = len(rows) >= self.k
        if not enough or self.l is None:
            return enough
        return bool(self.l * np.bincount(self.sensitive[rows]).max() <= len(rows))

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
