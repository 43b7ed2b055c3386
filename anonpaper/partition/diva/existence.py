r"""Whether a diverse k-anonymous table exists at all, decided by an integer program.

The colouring is a search among some clusterings. Where it ends without a solution, this module
decides. Only what the constraints name matters: a row is its *type*, the target values that it
carries and its sensitive value, and it is published with a *pattern*, some of these target values,
all else suppressed. Groups of one pattern can be merged, so a table exists iff there are numbers
:math:`x_{e,p} \ge 0` of rows of type e published as p such that every row is published, every
pattern has no rows or k of them, and the constraints hold:

.. math::

    \sum_p x_{e,p} = n_e, \qquad k z_p \le \sum_e x_{e,p} \le n z_p, \qquad
    \lambda_l \le \sum_{p\ \text{shows}\ t} \sum_{e\ \text{has}\ t} x_{e,p} \le \lambda_r

with :math:`z_p \in \{0, 1\}`. Only unions of targets need be patterns. l-diversity is linear too:
:math:`l \sum_{e\ \text{has}\ v} x_{e,p} \le \sum_e x_{e,p}` for every sensitive value v, or l of
the values present. Among the solutions, one that suppresses few named values is preferred.

The program is ours; diva2021 only searches. Its solver is HiGHS, by way of scipy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from anonpaper.errors import BudgetExceededError
from anonpaper.microdata import build_cells
from anonpaper.partition.diva.clusterings import Privacy
from anonpaper.partition.diva.colouring import Budget
from anonpaper.partition.diva.graph import Targets

__all__ = ["Plan", "find_plan", "smallest_conflict"]

#: Programs with more unknowns than this are not attempted.
LARGEST_PROGRAM = 200_000


@dataclass(frozen=True, eq=False)
class Plan:
    """A diverse k-anonymous table, as far as the constraints see it.

    Attributes
    ----------
    parts : list of (numpy.ndarray of int, frozenset of int)
        Rows that are published with one pattern, and the named quasi-identifiers it suppresses.
    rest : numpy.ndarray of int
        Rows of the pattern that shows nothing; 0 or at least k.
    """

    parts: list
    rest: np.ndarray


def find_plan(targets: Targets, privacy: Privacy, budget: Budget) -> Plan | None:
    """Return a plan that satisfies all constraints, None if there is none.

    Parameters
    ----------
    targets : Targets
        The constraints on all n rows.
    privacy : Privacy
    budget : Budget
        Its seconds limit the solver.

    Raises
    ------
    BudgetExceededError
        The time was over, or the program is too large, before that was known.

    Notes
    -----
    Polynomial in n, as only the number of types and patterns shapes the program; exponential in
    the number of constraints that single rows carry.
    """
    types, rows_of_type = _types(targets, privacy)
    patterns = _patterns(targets, types)
    solution = _solve(targets, privacy, types, patterns, budget)
    if solution is None:
        return None
    parts, rest = [], np.zeros(0, np.int64)
    taken = np.zeros(len(types), np.int64)
    by_pattern: dict[int, list] = {}
    for (e, p), number in solution.items():
        first = taken[e]
        taken[e] += number
        by_pattern.setdefault(p, []).append(rows_of_type[e][first : first + number])
    for p, pieces in sorted(by_pattern.items()):
        rows = np.sort(np.concatenate(pieces))
        shown = frozenset().union(*(targets.columns[v] for v in patterns[p]))
        if p > 0:
            parts.append((rows, targets.named - shown))
        else:
            rest = rows
    return Plan(parts, rest)


def smallest_conflict(targets: Targets, privacy: Privacy, budget: Budget) -> list[int]:
    """Return constraints that cannot be satisfied together, of which none can be left out.

    Parameters are those of :func:`find_plan`, which must have found that there is no plan. Where
    the time is over, some that could be left out may stay.
    """
    culprits = list(range(len(targets)))
    every_row = np.arange(len(targets.carries))
    for v in range(len(targets)):
        fewer = [u for u in culprits if u != v]
        try:
            needless = find_plan(targets.take(every_row, fewer), privacy, budget) is None
        except BudgetExceededError:  # undecided: v stays among the culprits
            needless = False
        if needless:
            culprits = fewer
    return culprits


@dataclass(frozen=True)
class _Type:
    """Rows that carry the same constraints, with the same sensitive value."""

    number: int
    carries: frozenset
    is_target: frozenset
    sensitive: int


def _types(targets: Targets, privacy: Privacy) -> tuple[list[_Type], list[np.ndarray]]:
    s = len(targets)
    columns = [*targets.carries.T.astype(np.int32), *targets.is_target.T.astype(np.int32)]
    sizes = [2] * (2 * s)
    if privacy.l > 1:
        columns.append(privacy.sensitive)
        sizes.append(int(privacy.sensitive.max()) + 1)
    if not columns:
        columns, sizes = [np.zeros(len(targets.carries), np.int32)], [1]
    cells = build_cells(np.asfortranarray(np.column_stack(columns)), sizes, None, 1)
    types = [
        _Type(
            int(number),
            frozenset(np.flatnonzero(row[:s]).tolist()),
            frozenset(np.flatnonzero(row[s : 2 * s]).tolist()),
            int(row[-1]) if privacy.l > 1 else 0,
        )
        for row, number in zip(cells.tuples, cells.tuple_sizes, strict=True)
    ]
    return types, np.split(cells.rows, cells.tuple_start[1:-1])


def _patterns(targets: Targets, types: Sequence[_Type]) -> list[frozenset]:
    """All sets of constraints that a pattern can show: those within the union of some of them."""
    found = {frozenset(v for v in range(len(targets)) if not targets.columns[v])}
    for carried in {t.carries for t in types}:
        unions = {frozenset()}
        for v in carried:
            unions |= {union | targets.columns[v] for union in unions}
            if len(unions) * len(types) > LARGEST_PROGRAM:
                raise BudgetExceededError(
                    "whether a diverse k-anonymous table exists is not decided: the constraints "
                    "overlap in too many ways for the exact test, and the search found none"
                )
        found |= {frozenset(v for v in carried if targets.columns[v] <= union) for union in unions}
    # The first shows no value: what it holds are constraints on the sensitive attribute alone.
    return sorted(found, key=lambda shown: (len(shown), sorted(shown)))


def _solve(
    targets: Targets,
    privacy: Privacy,
    types: list[_Type],
    patterns: list[frozenset],
    budget: Budget,
) -> dict[tuple[int, int], int] | None:
    """Return the numbers x[e, p] above 0, None if the program has no solution."""
    pairs = [
        (e, p)
        for e, t in enumerate(types)
        for p, shown in enumerate(patterns)
        if shown <= t.carries
    ]
    program = _Program(len(pairs) + len(patterns))
    named = len(targets.named)
    for x, (_, p) in enumerate(pairs):
        shown = frozenset().union(*(targets.columns[v] for v in patterns[p]))
        program.cost[x] = named - len(shown)
    z = {p: len(pairs) + p for p in range(len(patterns))}
    of_type: dict[int, list[int]] = {}
    of_pattern: dict[int, list[int]] = {p: [] for p in z}
    for x, (e, p) in enumerate(pairs):
        of_type.setdefault(e, []).append(x)
        of_pattern[p].append(x)

    for e, t in enumerate(types):
        program.require({x: 1 for x in of_type[e]}, t.number, t.number)
    for p, members in of_pattern.items():
        at_most = sum(types[pairs[x][0]].number for x in members)
        program.binary(z[p])
        program.require({**dict.fromkeys(members, 1), z[p]: -privacy.k}, 0, np.inf)
        program.require({**dict.fromkeys(members, 1), z[p]: -at_most}, -np.inf, 0)
        if privacy.l > 1:
            _require_diversity(program, privacy, types, pairs, members, z[p])
    for v in range(len(targets)):
        counted = [
            x for x, (e, p) in enumerate(pairs) if v in patterns[p] and v in types[e].is_target
        ]
        program.require(dict.fromkeys(counted, 1), targets.low[v], targets.high[v])
    x = program.solve(budget)
    if x is None:
        return None
    numbers = zip(pairs, x[: len(pairs)], strict=True)
    return {pair: int(number) for pair, number in numbers if number}


def _require_diversity(program, privacy, types, pairs, members, z) -> None:
    by_value: dict[int, list[int]] = {}
    for x in members:
        by_value.setdefault(types[pairs[x][0]].sensitive, []).append(x)
    if privacy.diversity == "frequency":
        for same in by_value.values():
            weights = dict.fromkeys(members, -1)
            weights |= dict.fromkeys(same, privacy.l - 1)
            program.require(weights, -np.inf, 0)
        return
    present = {}
    for value, same in by_value.items():
        present[value] = program.new_binary()
        program.require({**dict.fromkeys(same, 1), present[value]: -1}, 0, np.inf)
    program.require({**dict.fromkeys(present.values(), 1), z: -privacy.l}, 0, np.inf)


class _Program:
    """An integer program, row by row."""

    def __init__(self, unknowns: int) -> None:
        if unknowns > LARGEST_PROGRAM:
            raise BudgetExceededError(
                "whether a diverse k-anonymous table exists is not decided: the search found none "
                f"and the exact test would have {unknowns} unknowns, more than {LARGEST_PROGRAM}"
            )
        self.cost = [0.0] * unknowns
        self._upper = [np.inf] * unknowns
        self._entries: list[tuple[int, int, float]] = []
        self._bounds: list[tuple[float, float]] = []

    def new_binary(self) -> int:
        self.cost.append(0.0)
        self._upper.append(1)
        return len(self.cost) - 1

    def binary(self, x: int) -> None:
        self._upper[x] = 1

    def require(self, weights: dict[int, int], low: float, high: float) -> None:
        """Add low <= sum of weight·x <= high."""
        self._entries += [(len(self._bounds), x, weight) for x, weight in weights.items()]
        self._bounds.append((low, high))

    def solve(self, budget: Budget) -> np.ndarray | None:
        """Return integers that satisfy every row, checked; None if there are none."""
        row, column, weight = np.array(self._entries).T
        shape = (len(self._bounds), len(self.cost))
        matrix = coo_array((weight, (row.astype(int), column.astype(int))), shape).tocsr()
        low, high = np.array(self._bounds, dtype=float).T
        budget.check()
        answer = milp(
            self.cost, constraints=LinearConstraint(matrix, low, high), integrality=1,
            bounds=Bounds(0, np.array(self._upper)),
            options={"time_limit": budget.seconds_left(), "mip_rel_gap": 0.01},
        )  # fmt: skip
        if answer.status == 2:  # proved to have no solution
            return None
        if answer.x is not None:
            x = np.rint(answer.x)
            if ((matrix @ x >= low) & (matrix @ x <= high)).all() and (x >= 0).all():
                return x
        raise BudgetExceededError(
            "the search found no diverse k-anonymous table, and the exact test ended undecided "
            f"within the {budget.max_seconds:g} seconds allowed: raise max_seconds or widen the "
            "bounds"
        )
