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

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from anonpaper.cells import distinct
from anonpaper.errors import BudgetExceededError
from anonpaper.partition.diva.search import Search
from anonpaper.partition.diva.targets import Bundle, Privacy, Targets

__all__ = ["exact_clustering", "smallest_conflict"]

#: Programs with more unknowns than this are not attempted.
LARGEST_PROGRAM = 200_000


def exact_clustering(targets: Targets, privacy: Privacy, search: Search) -> list[Bundle] | None:
    """Return the rows of every pattern that shows something, None if no table exists."""
    s, by_value = len(targets), [] if privacy.l is None else [privacy.sensitive]
    rows = [*targets.carries.T, *targets.is_target.T, *by_value]
    rows = rows or [np.zeros(len(targets.carries))]
    rows = np.column_stack(rows).astype(np.int32)
    type_of, first, sizes = distinct(rows.T, (rows.max(axis=0) + 1).tolist())
    types = rows[first]
    carries, is_target = types[:, :s] > 0, types[:, s : 2 * s] > 0
    shows = _patterns(targets, carries, search)
    # A row can be published with the patterns that show only what it carries.
    e, p = np.nonzero((~carries).astype(int) @ shows.T == 0)
    if len(e) + len(shows) > LARGEST_PROGRAM:
        raise search.undecided(f"the exact test has more than {LARGEST_PROGRAM} unknowns")
    required: list[tuple] = []  # unknowns, weights, low, high: the weighted sum is in between

    def require(unknowns, weights, low, high):
        required.append((unknowns, np.broadcast_to(weights, len(unknowns)), low, high))

    of_type = np.split(np.arange(len(e)), np.flatnonzero(np.diff(e)) + 1)
    for members, number in zip(of_type, sizes, strict=True):
        require(members, 1, number, number)
    for pattern in range(len(shows)):
        members = np.flatnonzero(p == pattern)
        size, one = np.r_[members, len(e) + pattern], np.ones(len(members))
        require(size, np.r_[one, -privacy.k], 0, np.inf)
        require(size, np.r_[one, -sizes[e[members]].sum()], -np.inf, 0)
        if privacy.l is not None:
            sensitive = types[e[members], -1]
            for value in np.unique(sensitive):
                weights = np.where(sensitive == value, privacy.l - 1, -1)
                require(members, weights, -np.inf, 0)
    for v in range(s):
        counted = np.flatnonzero(shows[p, v] & is_target[e, v])
        require(counted, 1, targets.low[v], targets.high[v])

    columns = targets.columns
    shown = [frozenset().union(*(columns[v] for v in np.flatnonzero(row))) for row in shows]
    hidden = len(targets.named) - np.array([len(names) for names in shown])
    numbers = _solve(np.r_[hidden[p], np.zeros(len(shows))], len(e), required, search)
    if numbers is None:
        return None
    pattern = np.empty(len(targets.carries), np.intp)
    pattern[np.argsort(type_of, kind="stable")] = np.repeat(p, numbers)
    not_counted = np.zeros(0, np.intp)
    return [
        Bundle(np.flatnonzero(pattern == q), targets.named - shown[q], not_counted, divisible=True)
        for q in np.unique(pattern[pattern > 0])
    ]


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


def _solve(cost, n_numbers: int, required: list[tuple], search: Search) -> np.ndarray | None:
    """Return the numbers of rows, of least cost within a hundredth; None if there are none."""
    unknowns, weights, low, high = zip(*required, strict=True)
    row = np.repeat(np.arange(len(unknowns)), [len(u) for u in unknowns])
    entries = (np.concatenate(weights), (row, np.concatenate(unknowns)))
    matrix = coo_array(entries, (len(unknowns), len(cost))).tocsr()
    upper = np.where(np.arange(len(cost)) < n_numbers, np.inf, 1)
    answer = milp(
        cost, constraints=LinearConstraint(matrix, low, high), integrality=1,
        bounds=Bounds(0, upper),
        options={"time_limit": search.seconds_left(), "mip_rel_gap": 0.01},
    )  # fmt: skip
    if answer.status == 2:  # proved to have no solution
        return None
    if answer.x is not None:  # also what was found by the end of the time
        x = np.rint(answer.x).astype(np.intp)
        held = ((matrix @ x >= low) & (matrix @ x <= high)).all()
        if held and ((x >= 0) & (x <= upper)).all():
            return x[:n_numbers]
    said = f"the exact test ended without an answer: {answer.message}"
    if answer.status == 1:
        said = f"the exact test did not end within the {search.max_seconds:g} seconds allowed"
    raise search.undecided(said)
