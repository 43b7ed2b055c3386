"""Placeholder while the notebooks run."""

from __future__ import annotations

from functools import partial

from anonpaper.papers.claims import Claim, Finding
from anonpaper.papers.judging import NOT_TESTABLE

__all__ = ["CLAIMS"]


def nothing(*tables):
    """Say nothing."""
    return Finding("nothing", NOT_TESTABLE)


_c = partial(Claim, paper="diva2021", where="-", claim="-", judge=nothing, reason="-")
CLAIMS = tuple(
    _c(id=t, notebook=n, tables=(t,))
    for n, t in (
        ("1_running_example", "minorities"),
        ("2_strategies", "figure_4b"),
        ("2_strategies", "figure_4a"),
        ("3_baselines", "figure_5a"),
        ("3_baselines", "figure_5b"),
        ("4_cost_of_diversity", "costs"),
        ("5_on_its_own_terms", "own_terms"),
    )
)
