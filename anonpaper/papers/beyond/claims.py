"""Claims of notebooks/beyond. Each is ours, and says what would refute it."""

from __future__ import annotations

import pandas as pd

from anonpaper.papers.claims import OURS, Claim, Finding
from anonpaper.papers.judging import (
    difference_intervals,
    intervals_in_words,
    judge_intervals,
    judge_statement,
)

__all__ = ["CLAIMS"]

_OTHERS = ["TP", "TP+", "Hilbert", "Mondrian"]
_WITHIN, _SAVED, _FEW = 1.1, 0.35, 0.05  # set before anything was measured


def none_below_its_bound(to_the_bound: pd.DataFrame, known: pd.DataFrame) -> Finding:
    """Compare all stars with the bound of their table, and bounds with exhaustive optima."""
    below = int((to_the_bound["stars"] < to_the_bound["lower bound"]).sum())
    above = int((known["lower bound"] > known["fewest stars"]).sum())
    return Finding(
        f"{below} of {len(to_the_bound)} groupings below, {above} of {len(known)} bounds above",
        judge_statement(below == above == 0),
    )


def never_worse(projections: pd.DataFrame) -> Finding:
    """Compare the stars of TP refined with those of TP+, projection by projection."""
    worse = int((projections["TP refined"] > projections["TP+"]).sum())
    return Finding(f"worse on {worse} of {len(projections)}", judge_statement(worse == 0))


def fewest_of_all(projections: pd.DataFrame) -> Finding:
    """Count the projections on which another algorithm needs fewer stars than TP refined."""
    worse = int((projections["TP refined"] > projections[_OTHERS].min(axis=1)).sum())
    share = worse / len(projections)
    return Finding(
        f"worse on {worse} of {len(projections)}",
        judge_statement(worse == 0, in_direction=share <= _FEW),
    )


def others_need_more(to_the_bound: pd.DataFrame) -> Finding:
    """Take over draws what the best other algorithm needs beyond TP refined, at every size."""
    stars = to_the_bound.pivot(index=["asked", "n", "seed"], columns="algorithm", values="stars")
    more = stars.drop(columns="TP refined").min(axis=1) - stars["TP refined"]
    more = more.unstack("seed").dropna(axis=1)
    ends = difference_intervals(0 * more, more)
    return Finding(
        f"{more.mean(axis=1).min():.3g} to {more.mean(axis=1).max():.3g} stars more",
        judge_intervals(ends),
        interval=intervals_in_words(ends, [f"{asked}, n = {n}" for asked, n in more.index]),
    )


def near_the_bound(to_the_bound: pd.DataFrame) -> Finding:
    """Take over draws how many times its bound TP refined needs at the largest size."""
    part = to_the_bound[to_the_bound["algorithm"] == "TP refined"]
    part = part[part["n"] == part["n"].max()]
    times = part.pivot(index="asked", columns="seed", values="times the lower bound")
    ends = difference_intervals(0 * times, times)
    return Finding(
        ", ".join(f"{asked}: {mean:.3g} times" for asked, mean in times.mean(axis=1).items()),
        judge_intervals(_WITHIN - ends[:, ::-1]),
        interval=intervals_in_words(ends, times.index),
    )


def saves_on_all_seven(projections: pd.DataFrame) -> Finding:
    """Look up the least share of TP+'s stars that TP refined saves where d is 7."""
    part = projections[projections["d"] == 7]
    saved = 1 - part["TP refined"] / part["TP+"]
    return Finding(
        f"{saved.min():.1%} to {saved.max():.1%}", judge_statement(saved.min() >= _SAVED)
    )


def _ours(id: str, claim: str, tables: tuple[str, ...], judge, refuted: str, spread: str) -> Claim:
    return Claim(
        id, "beyond", "stars_to_the_optimum", "bears on: xiao2010", claim, tables, judge,
        kind=OURS, tolerance=f"refuted by {refuted}", spread=spread,
        differs="OCC and SAL are made from Census-Income",
    )  # fmt: skip


_DRAWS, _NO_DRAWS = "draws of the rows", "none: the tables are whole, and nothing is drawn"

CLAIMS = (
    _ours(
        "bound-holds",
        "no grouping has fewer stars than the bound of its table, and no bound is above the "
        "optimum where that is known",
        ("to_the_bound", "known"),
        none_below_its_bound,
        "one grouping below, or one bound above",
        "one table each",
    ),
    _ours(
        "never-worse",
        "TP refined needs no more stars than TP+, on every projection tried",
        ("projections",),
        never_worse,
        "one projection on which it does",
        _NO_DRAWS,
    ),
    _ours(
        "fewest-of-all",
        "TP refined needs no more stars than TP, TP+, Hilbert and Mondrian, on every projection",
        ("projections",),
        fewest_of_all,
        "one projection on which one of them needs fewer",
        _NO_DRAWS,
    ),
    _ours(
        "others-need-more",
        "at every size the best other algorithm needs more stars than TP refined, for diversity "
        "and for anonymity",
        ("to_the_bound",),
        others_need_more,
        "an interval below 0",
        _DRAWS,
    ),
    _ours(
        "near-the-bound",
        "at the largest size TP refined is within 10 % of the optimum",
        ("to_the_bound",),
        near_the_bound,
        "an interval above 1.1",
        _DRAWS,
    ),
    _ours(
        "saves-on-seven",
        "at l = 6, on all seven quasi-identifiers, TP refined saves 35 % of the stars of TP+",
        ("projections",),
        saves_on_all_seven,
        "a table of which it saves less",
        _NO_DRAWS,
    ),
)
