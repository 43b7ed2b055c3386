r"""Whether a diverse k-anonymous table exists at all, decided by an integer program.

The *type* of a row is its target values and its sensitive value. A row is published with a
*pattern*, some of these target values. Groups of one pattern can be merged. So a table exists iff
there are numbers :math:`x_{e,p} \ge 0` of rows of type e published as p with

.. math::

    \sum_p x_{e,p} = n_e, \qquad k z_p \le \sum_e x_{e,p} \le n z_p, \qquad
    \lambda_l \le \sum_{p\ \text{shows}\ t} \sum_{e\ \text{has}\ t} x_{e,p} \le \lambda_r

and :math:`z_p \in \{0, 1\}`. l-diversity is linear too. The program is ours, solved by HiGHS.
"""

from __future__ import annotations

import contextlib

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, coo_array, csr_array, diags_array

from anonpaper.cells import distinct
from anonpaper.errors import BudgetExceededError
from anonpaper.partition.diva.targets import Bundle, Search, Targets

__all__ = ["exact_clustering", "smallest_conflict"]

LARGEST_PROGRAM = 200_000  # unknowns


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


def smallest_conflict(targets: Targets, search: Search) -> list[int]:
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
    """All sets of constraints that a pattern can show (P, s): those within unions of targets."""
    names = [frozenset(np.flatnonzero(named).tolist()) for named in types.names]
    found = {frozenset(v for v, named in enumerate(names) if not named)}
    for carried in {frozenset(np.flatnonzero(row).tolist()) for row in types.carries.T}:
        unions = {frozenset()}
        for v in carried:
            unions |= {union | names[v] for union in unions}
            if len(unions) * types.carries.shape[1] > LARGEST_PROGRAM:
                raise search.undecided("the constraints overlap in too many ways to test all")
        found |= {frozenset(v for v in carried if names[v] <= union) for union in unions}
    ordered = sorted(found, key=lambda shown: (len(shown), sorted(shown)))
    return np.array([[v in shown for v in range(len(types))] for shown in ordered], bool)


def _solve(cost, upper, required: list[tuple], search: Search) -> np.ndarray | None:
    """Return whole numbers of least cost within a hundredth; None if there are none."""
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
