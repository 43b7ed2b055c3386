"""Data of a run of DIVA: targets as codes, the budget; and whether a table exists at all."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, coo_array, csr_array, diags_array

from anonpaper.cells import distinct
from anonpaper.errors import BudgetExceededError
from anonpaper.microdata import Microdata

LARGEST_PROGRAM, LARGEST_PATTERNS = 200_000, 10**8  # unknowns; truth values


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
    def of(cls, m: Microdata, constraints: Sequence, k: int, l: int | None = None) -> Targets:
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
        counts = [np.bincount(labels[rows], minlength=len(shown)) for rows in self.is_target]
        return np.array(counts, np.intp).reshape(len(self), len(shown)).T * self.shows(shown)

    def shows(self, shown: np.ndarray) -> np.ndarray:
        """Whether all that a constraint names is among shown columns (G, d); shape (G, s)."""
        return ~(~shown @ self.names.T)

    def is_private(self, rows: np.ndarray) -> bool:
        """Whether these rows may be published as one group."""
        if len(rows) < self.k:
            return False
        return self.l is None or self.l * np.bincount(self.sensitive[rows]).max() <= len(rows)

    def spread(self, rows: np.ndarray) -> np.ndarray:
        """Order rows in rounds: one row of each sensitive value, then a second one of each."""
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
    before: int = 0  # candidates that were tried in other components
    begun: float = field(default_factory=time.monotonic)

    def try_candidate(self) -> None:
        """Count a candidate; raise BudgetExceededError if the budget is used up."""
        if self.candidates_tried - self.before >= self.max_candidates:
            raise self.undecided(f"the budget of {self.max_candidates} candidates is used up")
        self.seconds_left()
        self.candidates_tried += 1

    def seconds_left(self) -> float:
        """Seconds until the time is over; BudgetExceededError if it is."""
        left = self.begun + self.max_seconds - time.monotonic()
        if left <= 0:
            raise self.undecided(f"the budget of {self.max_seconds:g} seconds is used up")
        return left

    def info(self) -> dict:
        """A report about the search, for ``Partition.info``."""
        names = ("order", "candidates_tried", "backtracks", "components")
        return {name: vars(self)[name] for name in names}

    def undecided(self, reason: str) -> BudgetExceededError:
        """The error of a search that ends before it is known whether a table exists."""
        error = BudgetExceededError(
            f"no table found: {reason}. Whether one exists is not decided: widen the bounds; in "
            "Python raise max_candidates or max_seconds"
        )
        error.info = self.info()
        return error


# -- whether a table exists at all, decided by an integer program ---------------------------------
#
# The *type* of a row is its target values and its sensitive value. A row is published with a
# *pattern*, some of these target values. Groups of one pattern can be merged. So a table exists
# iff there are numbers x[e, p] >= 0 of rows of type e published as p, and z[p] in {0, 1}, with
#
#     sum over p of x[e, p] = n[e],   k z[p] <= sum over e of x[e, p] <= n z[p]
#     low <= sum of x[e, p] over the p that show t and the e that have t <= high
#
# l-diversity is linear too. The program is ours, solved by HiGHS.


def exact_clustering(targets: Targets, search: Search) -> list[Bundle] | None:
    """Return the rows of every pattern that shows something, None if no table exists."""
    s, values = len(targets), int(targets.sensitive.max()) + 1
    columns = [*targets.carries, *targets.is_target, targets.sensitive]
    type_of, first, rows = distinct(columns, [*[2] * 2 * s, values])
    of_type = targets.take([*range(s)], first)
    shows = _patterns(of_type, search)
    # A row can be published with the patterns that show only what it carries.
    e, p = np.nonzero((~of_type.carries.T).astype(int) @ shows.T == 0)
    if len(e) + len(shows) > LARGEST_PROGRAM:
        raise search.undecided(f"the exact test has more than {LARGEST_PROGRAM} unknowns")
    per_pattern, most = _sums(p), np.bincount(p, rows[e])
    none, infinite, each = np.zeros(len(shows)), np.full(len(shows), np.inf), np.arange(len(shows))
    required = [  # blocks of the matrix, low, high, and where the rows come, pattern by pattern
        ([_sums(e), None], rows, rows, [-1] * len(rows)),
        ([per_pattern, diags_array(none - targets.k)], none, infinite, each),
        ([per_pattern, diags_array(-most)], -infinite, none, each),
    ]
    if targets.l is not None:
        pair, one, _ = distinct([p, of_type.sensitive[e]], [len(shows), values])
        beyond = targets.l * _sums(pair) - per_pattern[p[one]]
        required.append(([beyond, None], -infinite[p[one]], none[p[one]], p[one]))
    counted = csr_array((shows[p].T & of_type.is_target[:, e]).astype(float))
    required.append(([counted, None], targets.low, targets.high, [len(shows)] * s))
    named, shown = targets.names.any(axis=0), shows @ targets.names
    cost = np.r_[(named & ~shown).sum(axis=1)[p], none]
    numbers = _solve(cost, np.r_[np.full(len(e), np.inf), none + 1], required, search)
    if numbers is None:
        return None
    pattern = np.empty(len(type_of), np.intp)
    pattern[np.argsort(type_of, kind="stable")] = np.repeat(p, numbers[: len(e)])
    return [
        Bundle(np.flatnonzero(pattern == q), divisible=True, starred=named & ~shown[q])
        for q in np.unique(pattern[pattern > 0])
    ]


def conflict(targets: Targets, search: Search) -> list[int]:
    """Return constraints with no common table, each of them needed, as far as time allows."""
    culprits, every_row = list(range(len(targets))), np.arange(len(targets.sensitive))
    for v in range(len(targets)):
        fewer = [u for u in culprits if u != v]
        with contextlib.suppress(BudgetExceededError):  # undecided: v stays among the culprits
            if exact_clustering(targets.take(fewer, every_row), search) is None:
                culprits = fewer
    return culprits


def _sums(number: np.ndarray) -> csr_array:
    """The matrix that adds up unknowns by the number of each."""
    return coo_array((np.ones(len(number)), (number, np.arange(len(number))))).tocsr()


def _patterns(types: Targets, search: Search) -> np.ndarray:
    """All sets of constraints that a pattern can show (P, s), small ones first."""
    unions = np.zeros((1, types.names.shape[1]), bool)  # of what some constraints name
    for named in types.names:
        unions = np.unique(np.vstack([unions, unions | named]), axis=0)
        if len(unions) * types.carries.size > LARGEST_PATTERNS:
            raise search.undecided("the constraints overlap in too many ways to test all")
    shows = types.carries.T[:, None] & types.shows(unions)
    found = np.unique(np.concatenate(shows), axis=0)[::-1]
    return found[np.argsort(found.sum(axis=1), kind="stable")]


def _solve(cost, upper, required: list[tuple], search: Search) -> np.ndarray | None:
    """Return whole numbers of least cost within a hundredth; None if none exist."""
    blocks, *bounds = zip(*required, strict=True)
    low, high, place = map(np.concatenate, bounds)
    order = np.argsort(place, kind="stable")
    matrix, low, high = block_array(blocks).tocsr()[order], low[order], high[order]
    answer = milp(
        cost, constraints=LinearConstraint(matrix, low, high), integrality=1,
        bounds=Bounds(0, upper),
        options={"time_limit": search.seconds_left(), "mip_rel_gap": 0.01},
    )  # fmt: skip
    if answer.status == 2:  # proved to have no solution
        return None
    if answer.x is not None:  # also what was found by the end of the time
        x = np.rint(answer.x).astype(np.intp)
        if ((matrix @ x >= low) & (matrix @ x <= high)).all() and ((x >= 0) & (x <= upper)).all():
            return x
    raise search.undecided(f"the exact test ended without an answer: {answer.message}")
