"""Data of a run of DIVA: targets as codes, rows in clusters, the budget; and Integrate."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from anonpaper.constraints import DiversityConstraint
from anonpaper.errors import BudgetExceededError
from anonpaper.microdata import Microdata

__all__ = ["Bundle", "Search", "Targets", "integrate", "restorable"]


@dataclass(frozen=True, eq=False)
class Targets:
    """The targets of s constraints among n rows, and the privacy that every group must have."""

    names: np.ndarray  # (s, d): whether a constraint names a quasi-identifier
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
        s, codes = len(constraints), m.codes
        names, (carries, is_target) = np.zeros((s, m.d), bool), np.ones((2, s, m.n), bool)
        for i, c in enumerate(constraints):
            named = {m.attribute_index(q): code for q, code in c.codes(m).items() if q in m.qi}
            names[i, [*named]] = True
            carries[i] = (codes[:, [*named]] == [*named.values()]).all(axis=1)
            is_target[i] = c.target_rows(m)
        low, high = np.array([(c.low, c.high) for c in constraints], np.intp).reshape(s, 2).T
        sensitive = np.zeros(m.n, np.int32) if l is None else m.sensitive_codes
        return cls(names, low, high, carries, is_target, k, l, sensitive)

    def __len__(self) -> int:
        return len(self.names)

    def take(self, nodes: list[int], rows: np.ndarray) -> Targets:
        """Return the targets of some constraints among some rows."""
        some = np.ix_(nodes, rows)
        parts = {name: getattr(self, name)[nodes] for name in ("names", "low", "high")}
        parts |= {name: getattr(self, name)[some] for name in ("carries", "is_target")}
        return replace(self, **parts, sensitive=self.sensitive[rows])

    def counts(self, shown: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Count the published target rows of every group and constraint, shape (G, s)."""
        # `shown` (G, d) says what the rows of a group agree on, without what is starred.
        of_groups = [labels[rows & (labels >= 0)] for rows in self.is_target]
        counts = [np.bincount(groups, minlength=len(shown)) for groups in of_groups]
        return np.reshape(counts, (len(self), len(shown))).T.astype(np.intp) * self.shows(shown)

    def shows(self, shown: np.ndarray) -> np.ndarray:
        """Whether all that a constraint names is among shown columns (G, d); shape (G, s)."""
        return ~(~shown @ self.names.T)

    def is_private(self, rows: np.ndarray) -> bool:
        """Whether these rows may be published as one group."""
        if len(rows) < self.k:
            return False
        return self.l is None or self.l * np.bincount(self.sensitive[rows]).max() <= len(rows)

    def spread(self, rows: np.ndarray) -> np.ndarray:
        """Order rows so that the first of them differ most in their sensitive value."""
        order = np.argsort(self.sensitive[rows], kind="stable")
        values = self.sensitive[rows[order]]
        rank = np.arange(len(rows)) - np.searchsorted(values, values)  # alike before it
        return rows[order[np.argsort(rank, kind="stable")]]


class Bundle(NamedTuple):
    """Rows that are published in clusters which all carry the same constraints."""

    rows: np.ndarray
    adds: np.ndarray | int = 0  # by how much the published count of every constraint rises
    divisible: bool = False  # whether it is still to be divided into clusters of similar rows
    starred: np.ndarray | bool = False  # (d,): QI that are suppressed though the rows may agree


@dataclass
class Search:
    """How long a search may take, and what it has done."""

    max_candidates: int  # of every component of the graph
    max_seconds: float  # of all
    # ("colour", "reject" or "backtrack", node, clustering), kept if a list is given
    trace: list | deque = field(default_factory=lambda: deque(maxlen=0))
    order: tuple = ()
    components: int = 0
    candidates_tried: int = 0
    backtracks: int = 0

    def __post_init__(self) -> None:
        self._ends, self._before = time.monotonic() + self.max_seconds, 0

    def begin_component(self) -> None:
        """Give a new component its own budget of candidates."""
        self.components, self._before = self.components + 1, self.candidates_tried

    def try_candidate(self) -> None:
        """Count a candidate; raise BudgetExceededError if the budget is used up."""
        if self.candidates_tried - self._before >= self.max_candidates:
            raise self.undecided(f"the budget of {self.max_candidates} candidates is used up")
        self.seconds_left()
        self.candidates_tried += 1

    def seconds_left(self) -> float:
        """Seconds until the time is over; BudgetExceededError if it is."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise self.undecided(f"the budget of {self.max_seconds:g} seconds is used up")
        return left

    def info(self) -> dict:
        """A report about the search, for ``Partition.info``."""
        names = ("order", "candidates_tried", "backtracks", "components")
        return {name: getattr(self, name) for name in names}

    def undecided(self, reason: str) -> BudgetExceededError:
        """The error of a search that ends before it is known whether a table exists."""
        return self.failed(
            BudgetExceededError(
                f"no table found: {reason}. Whether one exists is not decided: raise "
                "max_candidates or max_seconds, or widen the bounds"
            )
        )

    def failed(self, error):
        """Add the report about the search to an error as its ``info``."""
        error.info = self.info()
        return error


# -- Integrate (diva2021, section 3.1): suppress values of the rest beyond upper bounds ----------


def integrate(
    targets: Targets, labels: np.ndarray, shown: np.ndarray, n_clusters: int
) -> np.ndarray:
    """Choose values of other groups to suppress until no upper bound is exceeded."""
    # Constraint by constraint, that of the largest surplus first, groups are chosen whose rows sum
    # to the surplus or as little more as possible; in them one of the attributes that the
    # constraint names is suppressed, the one that relieves most other exceeded constraints.
    names, sizes = targets.names, np.bincount(labels)
    counts = targets.counts(shown, labels)
    allowed = targets.high - counts[:n_clusters].sum(axis=0)
    counts[:n_clusters] = 0
    starred = np.zeros_like(shown)
    while ((surplus := counts.sum(axis=0) - allowed) > 0).any():
        v = int(surplus.argmax())
        column = np.where(names[v], names[surplus > 0].sum(axis=0), -1).argmax()
        relieved = names[:, column]
        groups = np.flatnonzero(counts[:, v] > 0)
        relief = counts[groups][:, relieved & (surplus > 0)].sum(axis=1)
        groups = groups[np.lexsort((groups, -relief))]
        chosen = groups[_fewest_rows(counts[groups, v], sizes[groups], int(surplus[v]))]
        starred[chosen, column] = True
        counts[np.ix_(chosen, relieved)] = 0
    return starred


def _fewest_rows(adds: np.ndarray, sizes: np.ndarray, surplus: int) -> np.ndarray:
    """Choose groups that publish at least `surplus` target rows and have few rows in total."""
    # Where all rows are target rows no choice has fewer: it is a subset sum, solved over the
    # multiplicities of the sizes. Else those of the largest share of target rows are taken.
    if (adds < sizes).any():
        order = np.argsort(-adds / sizes, kind="stable")
        enough = int(np.searchsorted(np.cumsum(adds[order]), surplus)) + 1
        return np.sort(order[:enough])
    # Bit b of reachable[i] says that some groups of the i smallest sizes sum to b.
    kinds, numbers = (found.tolist() for found in np.unique(sizes, return_counts=True))
    reachable, limit = [1], (1 << (surplus + kinds[-1])) - 1
    for size, left in zip(kinds, numbers, strict=True):
        sums, many = reachable[-1], 1
        while left:
            many = min(many, left)
            sums |= sums << size * many & limit
            left, many = left - many, 2 * many
        reachable.append(sums)
    total = surplus
    while not reachable[-1] >> total & 1:
        total += 1
    chosen = []
    for size, before in zip(reversed(kinds), reversed(reachable[:-1]), strict=True):
        of_size = np.flatnonzero(sizes == size)
        while not before >> total & 1:
            chosen.append(of_size[0])
            total, of_size = total - size, of_size[1:]
    return np.sort(chosen)


def restorable(
    targets: Targets, labels: np.ndarray, agrees: np.ndarray, starred: np.ndarray
) -> np.ndarray:
    """Choose suppressed values to show again, where groups agree; larger groups first."""
    shown = agrees & ~starred
    room = targets.high - targets.counts(shown, labels).sum(axis=0)
    if_shown = targets.counts(agrees, labels)
    restored = np.zeros_like(starred)
    for group in np.argsort(-np.bincount(labels), kind="stable"):
        for column in np.flatnonzero(agrees[group] & ~shown[group]):
            shown[group, column] = True
            gained = targets.names[:, column] & targets.shows(shown[group])
            fits = (if_shown[group, gained] <= room[gained]).all()
            room[gained] -= if_shown[group, gained] * fits
            shown[group, column] = restored[group, column] = fits
    return restored
