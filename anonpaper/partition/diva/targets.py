"""Data of a run of DIVA: targets as codes, rows in clusters, and the budget of the search."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from anonpaper.constraints import DiversityConstraint
from anonpaper.errors import BudgetExceededError
from anonpaper.microdata import Microdata

__all__ = ["Bundle", "Search", "Targets"]


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


@dataclass
class Search:
    """How long a search may take, and what it has done."""

    max_candidates: int  # of every component of the graph
    max_seconds: float  # of all
    # ("colour", "reject" or "backtrack", node, clustering), kept if a list is given
    trace: list | deque = field(default_factory=lambda: deque(maxlen=0))
    order: list = field(default_factory=list)
    components: int = 0
    candidates_tried: int = 0
    backtracks: int = 0

    def __post_init__(self) -> None:
        self._ends = time.monotonic() + self.max_seconds
        self._last_candidate = self.max_candidates

    def begin_component(self) -> None:
        """Give a new component its own budget of candidates."""
        self.components += 1
        self._last_candidate = self.candidates_tried + self.max_candidates

    def try_candidate(self) -> None:
        """Count a candidate; raise BudgetExceededError if the budget is used up."""
        if self.candidates_tried >= self._last_candidate:
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
        names = ("candidates_tried", "backtracks", "components")
        return {"order": tuple(self.order)} | {name: getattr(self, name) for name in names}

    def undecided(self, reason: str) -> BudgetExceededError:
        """The error of a search that ends before it is known whether a table exists."""
        remedy = "raise max_candidates or max_seconds, or widen the bounds"
        message = f"no table found: {reason}. Whether one exists is not decided: {remedy}"
        return self.failed(BudgetExceededError(message))

    def failed(self, error):
        """Add the report about the search to an error as its ``info``."""
        error.info = self.info()
        return error
