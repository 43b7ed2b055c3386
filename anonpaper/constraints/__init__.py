"""Diversity constraints: their language, rules that make sets of them, and conflicts."""

from anonpaper.constraints.conflicts import (
    Contradiction,
    conflict_rate,
    demand_on_gaps,
    demand_on_rows,
    find_contradictions,
    require_satisfiable,
)
from anonpaper.constraints.language import (
    DiversityConstraint,
    check_constraints,
    read_constraints,
    write_constraints,
)
from anonpaper.constraints.rules import (
    average_constraints,
    minimum_constraints,
    proportion_constraints,
)

__all__ = [
    "Contradiction", "DiversityConstraint", "average_constraints", "check_constraints",
    "conflict_rate", "demand_on_gaps", "demand_on_rows", "find_contradictions",
    "minimum_constraints", "proportion_constraints", "read_constraints", "require_satisfiable",
    "write_constraints",
]  # fmt: skip
