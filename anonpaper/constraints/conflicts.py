"""Conflicts between diversity constraints, and constraints that a table cannot satisfy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonpaper.constraints.language import DiversityConstraint
from anonpaper.errors import ConstraintError, check_integer, check_sequence
from anonpaper.microdata import Microdata, check_microdata

__all__ = ["conflict_rate", "find_contradictions", "require_satisfiable"]


def conflict_rate(m: Microdata, constraints: Sequence[DiversityConstraint]) -> float:
    """Share of the rows that are targets of any constraint which are targets of several: 0 to 1.

    The formula is ours: diva2021 prints none.

    Examples
    --------
    >>> conflict_rate(ap.examples.patients(), ap.examples.patients_constraints())
    0.5
    """
    constraints = check_sequence("constraints", constraints, DiversityConstraint)
    counts = check_microdata(m).cells.counts
    claims = sum((c.target_cells(m) for c in constraints), np.zeros(len(counts), int))
    return float(counts[claims >= 2].sum() / max(counts[claims >= 1].sum(), 1))


def find_contradictions(
    m: Microdata, constraints: Sequence[DiversityConstraint], k: int
) -> list[str]:
    """Find quickly, before any search, constraints that no k-anonymous suppression satisfies.

    By diva2021, Definitions 2.3 and 2.4, suppression creates no values and keeps sensitive ones:

    1. a lower bound cannot exceed the number of rows in the table;
    2. on quasi-identifiers the published number is 0 or at least k;
    3. suppression does not hide sensitive attributes: for a target of these alone, all rows in
       the table are published.

    The rules are ours. An empty list does not prove that a solution exists: :func:`anonpaper.diva`
    decides that. ConstraintError if a target names an unknown attribute or value. O(n) per
    constraint.

    Examples
    --------
    >>> sigma = [DiversityConstraint({"Gender": "M"}, 5, 9)]
    >>> print(*find_contradictions(ap.examples.hospital(), sigma, k=2))
    Gender[M], 5, 9: only 4 rows of the table carry the target
    """
    k = check_integer("k", k, 1, check_microdata(m).n)
    found = []
    for c in check_sequence("constraints", constraints, DiversityConstraint):
        exist = int(m.cells.counts[c.target_cells(m)].sum())
        on_sensitive = any(name in c.target for name in m.sensitives)
        can_be_hidden = any(name not in m.sensitives for name in c.target)
        in_groups = can_be_hidden and not on_sensitive and c.low > 0
        if c.low > exist:
            found.append(f"{c}: only {exist} rows of the table carry the target")
        elif not can_be_hidden and exist > c.high:
            found.append(f"{c}: {exist} rows carry it, and suppression does not hide it")
        elif in_groups and exist < k:
            found.append(f"{c}: only {exist} rows carry the target, fewer than k = {k}")
        elif in_groups and c.high < k:
            found.append(
                f"{c}: values are published in groups of k = {k} rows or more, or not at all"
            )
    return found


def require_satisfiable(m: Microdata, constraints: Sequence[DiversityConstraint], k: int) -> None:
    """Raise ConstraintError with everything that :func:`find_contradictions` finds."""
    if found := find_contradictions(m, constraints, k):
        text = "".join(f"\n- {contradiction}" for contradiction in found)
        raise ConstraintError(f"no {k}-anonymous table satisfies the constraints:{text}")
