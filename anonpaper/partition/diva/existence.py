r"""Whether a diverse k-anonymous table exists at all, decided by an integer program.

The *type* of a row is its target values and its sensitive value. A row is published with a
*pattern*, some of these target values. Groups of one pattern can be merged. So a table exists iff
there are numbers :math:`x_{e,p} \ge 0` of rows of type e published as p with

.. math::

    \sum_p x_{e,p} = n_e, \qquad k z_p \le \sum_e x_{e,p} \le n z_p, \qquad
    \lambda_l \le \sum_{p\ \text{shows}\ t} \sum_{e\ \text{has}\ t} x_{e,p} \le \lambda_r

and :math:`z_p \in \{0, 1\}`. l-diversity is linear too. Solutions that suppress few named values
are preferred. The program is ours; diva2021 only searches. Its solver is HiGHS.
"""

from __future__ import annotations

import contextlib
from math import ceil

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from anonpaper.errors import BudgetExceededError
from anonpaper.microdata import build_cells
from anonpaper.partition.diva.search import Search
from anonpaper.partition.diva.targets import Bundle, Privacy, Targets

__all__ = ["exact_clustering", "fewest_invented", "smallest_conflict"]

#: Programs with more unknowns than this are not attempted.
LARGEST_PROGRAM = 200_000
_ROUNDING = 1e-6


def exact_clustering(targets: Targets, privacy: Privacy, search: Search) -> list[Bundle] | None:
    """Return the rows of every pattern that shows something, None if no table exists."""
    program, types, p, shown, _ = _build(targets, privacy, search)
    solution = program.solve()
    if solution is None:
        return None
    pattern = np.empty(len(targets.carries), np.intp)
    pattern[types.rows] = np.repeat(p, solution[0][program.x])
    not_counted = np.zeros(0, np.intp)
    return [
        Bundle(np.flatnonzero(pattern == q), targets.named - shown[q], not_counted, divisible=True)
        for q in np.unique(pattern[pattern > 0])
    ]


def fewest_invented(
    targets: Targets, finer: np.ndarray, privacy: Privacy, search: Search
) -> tuple[np.ndarray, int] | None:
    """Return how many rows to invent of every target so that a table exists; None if none does."""
    program, _, _, _, invented = _build(targets, privacy, search, finer)
    solution = program.solve()
    return None if solution is None else (solution[0][invented], ceil(solution[1]))


def _build(targets: Targets, privacy: Privacy, search: Search, finer: np.ndarray | None = None):
    """Write the program down: with row types, pattern of every x, shown values, invented rows."""
    s = len(targets)
    rows = [*targets.carries.T, *targets.is_target.T]
    if privacy.diverse is not None:
        rows.append(privacy.sensitive)
    if not rows:
        rows = [np.zeros(len(targets.carries))]
    rows = np.asfortranarray(np.column_stack(rows).astype(np.int32))
    types = build_cells(rows, (rows.max(axis=0) + 1).tolist(), None, 1)
    carries, is_target = types.tuples[:, :s] > 0, types.tuples[:, s : 2 * s] > 0
    shows = _patterns(targets, carries, search)
    # A row can be published with the patterns that show only what it carries.
    e, p = np.nonzero((~carries).astype(int) @ shows.T == 0)
    program = _Program(len(e), len(shows), search)
    columns = targets.columns
    shown = [frozenset().union(*(columns[v] for v in np.flatnonzero(row))) for row in shows]
    program.cost[program.x] = len(targets.named) - np.array([len(names) for names in shown])[p]
    for members, number in zip(_split(program.x, e), types.tuple_sizes, strict=True):
        program.require(members, 1, number, number)
    by_pattern = np.argsort(p, kind="stable")
    for members, used in zip(_split(by_pattern, p[by_pattern]), program.used, strict=True):
        size = np.r_[members, used]
        at_most = types.tuple_sizes[e[members]].sum()
        program.require(size, np.r_[np.ones(len(members)), -privacy.k], 0, np.inf)
        program.require(size, np.r_[np.ones(len(members)), -at_most], -np.inf, 0)
        if privacy.diverse is not None:
            _require_diversity(program, privacy, members, types.tuples[e[members], -1], used)
    invented = np.zeros(0, np.intp)
    if finer is not None:  # few of them matter, and no longer what is suppressed
        invented, used = program.new_unknowns(s, targets.high, 1), program.new_binaries(s)
        program.cost[program.x] = 0
        for number, any_, high in zip(invented, used, targets.high, strict=True):
            program.require(np.r_[number, any_], np.r_[1, -privacy.k], 0, np.inf)
            program.require(np.r_[number, any_], np.r_[1, -high], -np.inf, 0)
    for v in range(s):
        counted = np.flatnonzero(shows[p, v] & is_target[e, v])
        added = [] if finer is None else invented[finer[v]]
        program.require(np.r_[counted, added].astype(int), 1, targets.low[v], targets.high[v])
    return program, types, p, shown, invented


def smallest_conflict(targets: Targets, privacy: Privacy, search: Search) -> list[int]:
    """Return constraints with no common table, each of them needed, as far as time allows."""
    culprits = list(range(len(targets)))
    every_row = np.arange(len(targets.carries))
    for v in range(len(targets)):
        fewer = [u for u in culprits if u != v]
        with contextlib.suppress(BudgetExceededError):  # undecided: v stays among the culprits
            if exact_clustering(targets.take(every_row, fewer), privacy, search) is None:
                culprits = fewer
    return culprits


def _split(items: np.ndarray, numbers: np.ndarray) -> list[np.ndarray]:
    """Split items by their numbers, which ascend from 0 without a gap."""
    return np.split(items, np.flatnonzero(np.diff(numbers)) + 1)


def _patterns(targets: Targets, carries: np.ndarray, search: Search) -> np.ndarray:
    """All sets of constraints that a pattern can show (P, s): those within unions of targets."""
    found = {frozenset(v for v in range(len(targets)) if not targets.columns[v])}
    for carried in {frozenset(np.flatnonzero(row).tolist()) for row in carries}:
        unions = {frozenset()}
        for v in carried:
            unions |= {union | targets.columns[v] for union in unions}
            if len(unions) * len(carries) > LARGEST_PROGRAM:
                raise search.undecided("the constraints overlap in too many ways to test all")
        found |= {frozenset(v for v in carried if targets.columns[v] <= union) for union in unions}
    shows = np.zeros((len(found), len(targets)), dtype=bool)
    for row, shown in zip(shows, sorted(found, key=lambda f: (len(f), sorted(f))), strict=True):
        row[list(shown)] = True
    return shows


def _require_diversity(program, privacy, members, sensitive, used) -> None:
    """Require the rows of one pattern to be l-diverse if the pattern is used."""
    l = privacy.diverse.l
    values = np.unique(sensitive)
    if privacy.by_share:
        for value in values:
            program.require(members, np.where(sensitive == value, l - 1, -1), -np.inf, 0)
        return
    present = program.new_binaries(len(values))
    for value, there in zip(values, present, strict=True):
        same = members[sensitive == value]
        program.require(np.r_[same, there], np.r_[np.ones(len(same)), -1], 0, np.inf)
    program.require(np.r_[present, used], np.r_[np.ones(len(present)), -l], 0, np.inf)


class _Program:
    """An integer program, row by row: rows of each type and pattern, then whether it is used."""

    def __init__(self, rows: int, patterns: int, search: Search) -> None:
        if rows + patterns > LARGEST_PROGRAM:
            raise search.undecided(f"the exact test has more than {LARGEST_PROGRAM} unknowns")
        self.cost, self.upper, self.search = np.zeros(rows), np.full(rows, np.inf), search
        self.x, self.used = np.arange(rows), self.new_binaries(patterns)
        self._rows: list[tuple] = []

    def new_binaries(self, number: int) -> np.ndarray:
        return self.new_unknowns(number, 1, 0)

    def new_unknowns(self, number: int, upper, cost: float) -> np.ndarray:
        first = len(self.cost)
        self.cost = np.r_[self.cost, np.full(number, float(cost))]
        self.upper = np.r_[self.upper, np.broadcast_to(upper, number)]
        return np.arange(first, first + number)

    def require(self, unknowns: np.ndarray, weights, low: float, high: float) -> None:
        """Add low <= sum of weight·unknown <= high."""
        self._rows.append((unknowns, np.broadcast_to(weights, len(unknowns)), low, high))

    def solve(self) -> tuple[np.ndarray, float] | None:
        """Return integers that satisfy every row, and a lower bound of the cost; None if none."""
        unknowns, weights, low, high = zip(*self._rows, strict=True)
        row = np.repeat(np.arange(len(unknowns)), [len(u) for u in unknowns])
        entries = (np.concatenate(weights), (row, np.concatenate(unknowns)))
        matrix = coo_array(entries, (len(unknowns), len(self.cost))).tocsr()
        answer = milp(
            self.cost, constraints=LinearConstraint(matrix, low, high), integrality=1,
            bounds=Bounds(0, self.upper),
            options={"time_limit": self.search.seconds_left(), "mip_rel_gap": 0.01},
        )  # fmt: skip
        if answer.status == 2:  # proved to have no solution
            return None
        if answer.x is not None:  # also what was found by the end of the time
            x = np.rint(answer.x).astype(np.intp)
            held = ((matrix @ x >= low) & (matrix @ x <= high)).all()
            if held and ((x >= 0) & (x <= self.upper)).all():
                # no cost is negative; the solver computes in floats, and whole costs are rounded
                least = max(0.0, (answer.mip_dual_bound or 0.0) - _ROUNDING)
                return x, min(least, float(self.cost @ x))
        said = f"the exact test ended without an answer: {answer.message}"
        if answer.status == 1:
            seconds = self.search.max_seconds
            said = f"the exact test did not end within the {seconds:g} seconds allowed"
        raise self.search.undecided(said, "raise max_seconds or widen the bounds")
