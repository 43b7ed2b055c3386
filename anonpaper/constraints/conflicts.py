"""Conflicts between diversity constraints, and constraints that a table cannot satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from anonpaper.constraints.language import DiversityConstraint
from anonpaper.errors import ConstraintError, check_integer, check_sequence
from anonpaper.microdata import Microdata, check_microdata

__all__ = ["Contradiction", "conflict_rate", "find_contradictions", "require_satisfiable"]


def conflict_rate(m: Microdata, constraints: Sequence[DiversityConstraint]) -> float:
    """Share of the rows that are targets of any constraint which are targets of several: 0 to 1.

    The formula is ours: diva2021 prints none.

    Examples
    --------
    >>> conflict_rate(ap.examples.patients(), ap.examples.patients_constraints())
    0.5
    """
    constraints = check_sequence("constraints", constraints, DiversityConstraint)
    check_microdata(m)
    claims, counts = np.zeros(len(m.cells.counts), int), m.cells.counts
    for c in constraints:
        claims += c.target_cells(m)
    return float(counts[claims >= 2].sum() / max(counts[claims >= 1].sum(), 1))


@dataclass(frozen=True)
class Contradiction:
    """Why some constraints, as few as the argument needs, contradict a table."""

    culprits: tuple[DiversityConstraint, ...]
    reason: str

    def __str__(self) -> str:
        return f"{' and '.join(str(culprit) for culprit in self.culprits)}: {self.reason}"


def find_contradictions(
    m: Microdata, constraints: Sequence[DiversityConstraint], k: int
) -> list[Contradiction]:
    """Find quickly, before any search, constraints that no k-anonymous suppression satisfies.

    By diva2021, Definitions 2.3 and 2.4, suppression creates no values and keeps sensitive ones:

    1. a lower bound cannot exceed the number of rows in the table;
    2. on quasi-identifiers the published number is 0 or at least k;
    3. suppression does not hide sensitive attributes: for a target of these alone, all rows in
       the table are published;
    4. one target has one pair of bounds;
    5. lower bounds of finer targets that exclude each other cannot together exceed the upper
       bound of a coarser one.

    The rules are ours. An empty list does not prove that a solution exists: :func:`anonpaper.diva`
    decides that. ConstraintError if a target names an unknown attribute or value. O(n) per
    constraint and O(s^2) for s constraints.

    Examples
    --------
    >>> sigma = [DiversityConstraint({"Gender": "M"}, 5, 9)]
    >>> print(*find_contradictions(ap.examples.hospital(), sigma, k=2))
    Gender[M], 5, 9: only 4 rows of the table carry the target
    """
    k = check_integer("k", k, 1, check_microdata(m).n)
    constraints = check_sequence("constraints", constraints, DiversityConstraint)
    found = []
    for c in constraints:
        exist = int(m.cells.counts[c.target_cells(m)].sum())
        on_sensitive = any(name in c.target for name in m.sensitives)
        can_be_hidden = any(name not in m.sensitives for name in c.target)
        in_groups = can_be_hidden and not on_sensitive and c.low > 0
        if c.low > exist:
            reason = f"only {exist} rows of the table carry the target"
        elif not can_be_hidden and exist > c.high:
            reason = f"{exist} rows carry it, and suppression does not hide it"
        elif in_groups and exist < k:
            reason = f"only {exist} rows carry the target, fewer than k = {k}"
        elif in_groups and c.high < k:
            reason = f"values are published in groups of k = {k} rows or more, or not at all"
        else:
            continue
        found.append(Contradiction((c,), reason))
    return found + _between(m, constraints)


def _between(m: Microdata, constraints: list[DiversityConstraint]) -> list[Contradiction]:
    """Find targets that occur twice, and finer ones that need more than a coarser one allows."""
    found = []
    targets = [frozenset(c.codes(m).items()) for c in constraints]
    for i, j in combinations(range(len(constraints)), 2):
        if targets[i] == targets[j]:
            pair = constraints[i], constraints[j]
            low, high = max(c.low for c in pair), min(c.high for c in pair)
            together = f"both together are [{low}, {high}]"
            both = together if low <= high else "the bounds exclude each other"
            found.append(Contradiction(pair, f"the same target is bounded twice; {both}"))
    for target, coarse in zip(targets, constraints, strict=True):
        finer: dict[frozenset, dict] = {}  # by the attributes that they name
        for other, c in zip(targets, constraints, strict=True):
            if target < other:
                finer.setdefault(frozenset(name for name, _ in other), {})[other] = c
        for group in finer.values():
            needed = sum(c.low for c in group.values())
            if needed > coarse.high:
                culprits = tuple(c for c in group.values() if c.low > 0)
                reason = (
                    f"the finer targets need {needed} rows that carry {coarse._name()} too, "
                    f"at most {coarse.high} may"
                )
                found.append(Contradiction((coarse, *culprits), reason))
    return found


def require_satisfiable(m: Microdata, constraints: Sequence[DiversityConstraint], k: int) -> None:
    """Raise ConstraintError with everything that :func:`find_contradictions` finds."""
    found = [f"\n- {contradiction}" for contradiction in find_contradictions(m, constraints, k)]
    if found:
        text = "".join(found)
        raise ConstraintError(f"no {k}-anonymous table satisfies the constraints:{text}")
