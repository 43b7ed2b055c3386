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
from anonpaper.partition.diva.targets import Bundle, Search, Targets

__all__ = ["exact_clustering", "smallest_conflict"]

#: Programs with more unknowns than this are not attempted.
LARGEST_PROGRAM = 200_000


def exact_clustering(targets: Targets, search: Search) -> list[Bundle] | None:
    """Return the rows of every pattern that shows something, None if no table exists."""
    columns, sizes = [*targets.carries, *targets.is_target], [2] * 2 * len(targets)
    values = int(targets.sensitive.max()) + 1
    type_of, first, rows = distinct([*columns, targets.sensitive], [*sizes, values])
    of_type = targets.take(range(len(targets)), first)
    shows = _patterns(of_type, search)
    # A row can be published with the patterns that show only what it carries.
    e, p = np.nonzero((~of_type.carries.T).astype(int) @ shows.T == 0)
    if len(e) + len(shows) > LARGEST_PROGRAM:
        raise search.undecided(f"the exact test has more than {LARGEST_PROGRAM} unknowns")
    required: list[tuple] = []  # unknowns, weights, low, high: the weighted sum is in between
    for number, members in zip(rows, _places(e), strict=True):
        required.append((members, np.ones(len(members)), number, number))
    for pattern, members in enumerate(_places(p)):
        size, one = np.r_[members, len(e) + pattern], np.ones(len(members))
        required.append((size, np.r_[one, -targets.k], 0, np.inf))
        required.append((size, np.r_[one, -rows[e[members]].sum()], -np.inf, 0))
        sensitive = of_type.sensitive[e[members]]
        for value in np.unique(sensitive) if targets.l is not None else ():
            weights = np.where(sensitive == value, targets.l - 1, -1)
            required.append((members, weights, -np.inf, 0))
    for v, (low, high) in enumerate(zip(targets.low, targets.high, strict=True)):
        counted = np.flatnonzero(shows[p, v] & of_type.is_target[v, e])
        required.append((counted, np.ones(len(counted)), low, high))

    shown = [frozenset().union(*(targets.columns[v] for v in np.flatnonzero(s))) for s in shows]
    named = frozenset().union(*targets.columns)
    hidden = len(named) - np.array([len(names) for names in shown])
    numbers = _solve(np.r_[hidden[p], np.zeros(len(shows))], len(e), required, search)
    if numbers is None:
        return None
    pattern = np.empty(len(type_of), np.intp)
    pattern[np.argsort(type_of, kind="stable")] = np.repeat(p, numbers)
    not_counted = np.zeros(0, np.intp)
    return [
        Bundle(np.flatnonzero(pattern == q), named - shown[q], not_counted, divisible=True)
        for q in np.unique(pattern[pattern > 0])
    ]


def smallest_conflict(targets: Targets, search: Search) -> list[int]:
    """Return constraints with no common table, each of them needed, as far as time allows."""
    culprits, every_row = list(range(len(targets))), np.arange(len(targets.sensitive))
    for v in range(len(targets)):
        fewer = [u for u in culprits if u != v]
        with contextlib.suppress(BudgetExceededError):  # undecided: v stays among the culprits
            if exact_clustering(targets.take(fewer, every_row), search) is None:
                culprits = fewer
    return culprits


def _places(numbers: np.ndarray) -> list[np.ndarray]:
    """Where each of the numbers 0, 1, ... is."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbers))[:-1])


def _patterns(types: Targets, search: Search) -> np.ndarray:
    """All sets of constraints that a pattern can show (P, s): those within unions of targets."""
    found = {frozenset(v for v, named in enumerate(types.columns) if not named)}
    for carried in {frozenset(np.flatnonzero(row).tolist()) for row in types.carries.T}:
        unions = {frozenset()}
        for v in carried:
            unions |= {union | types.columns[v] for union in unions}
            if len(unions) * types.carries.shape[1] > LARGEST_PROGRAM:
                raise search.undecided("the constraints overlap in too many ways to test all")
        found |= {frozenset(v for v in carried if types.columns[v] <= union) for union in unions}
    ordered = sorted(found, key=lambda shown: (len(shown), sorted(shown)))
    return np.array([[v in shown for v in range(len(types))] for shown in ordered], bool)


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
        if ((matrix @ x >= low) & (matrix @ x <= high)).all() and ((x >= 0) & (x <= upper)).all():
            return x[:n_numbers]
    said = f"the exact test ended without an answer: {answer.message}"
    if answer.status == 1:
        said = f"the exact test did not end within the {search.max_seconds:g} seconds allowed"
    raise search.undecided(said)
