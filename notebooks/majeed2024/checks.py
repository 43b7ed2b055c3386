"""Judges of majeed2024 for statements that claims.toml cannot express in a few lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from majeed2024_baselines import UNRANKED
from scipy import stats

from anonpaper.compendium.intervals import (
    EVERYWHERE,
    LEVEL,
    MOST,
    NOT_TESTABLE,
    UNDECIDED,
    Settings,
    judge_statement,
    over_seeds,
)
from anonpaper.compendium.judge import Finding


def against_others(
    table: pd.DataFrame,
    *,
    value: str,
    theirs: str = "",
    rows: str = "",
    method: str = "Proposed",
    at: Sequence[str] = ("name", "k"),
    lowest: bool = True,
    for_most: bool = False,
    than: str = "all",
    unit: str = "",
) -> Finding:
    """Compare a method with the best, or the middle, of all others at every setting, over seeds.

    `value` is a column or an expression of columns. Lower `than` "most" is as low as the middle of
    the others, the lower one of two.
    """
    table = _chosen(table, rows, value)
    mine = _by_seed(table, value, at).loc[method].to_numpy()
    others = _by_seed(table, theirs or value, at).drop(index=method)
    rest = np.array([others.loc[name] for name in others.index.unique("method")])

    def show(values: np.ndarray) -> str:
        return f"{values.mean():.1f}{unit}" if unit else f"{values.mean():.3f}"

    if np.ptp([mine, *rest], axis=0).max() < 1e-9:
        words = f"{show(mine)} for all methods: this reading cannot tell them apart"
        return Finding(words, NOT_TESTABLE)
    ranked = np.sort(rest if lowest else -rest, axis=0) * (1 if lowest else -1)
    best = ranked[(len(rest) - 1) // 2 if than == "most" else 0]
    which = "middle" if than == "most" else "lowest" if lowest else "highest"
    what = "tables and k" if "k" in at else "tables"
    settings = Settings(
        best - mine if lowest else mine - best, quantifier=MOST if for_most else EVERYWHERE
    )
    return Finding(
        f"{method.lower() if method == 'Proposed' else method} {show(mine)}, {which} other "
        f"{show(best)} on average; {_supported(settings, what)}",
        settings.verdict,
        spread=over_seeds(mine.mean(axis=0)),
        interval=_widest(settings),
        settings=settings.n,
        needed=settings.needed,
    )


def from_each_k_to_the_next(
    table: pd.DataFrame, *, value: str, rows: str = "", rises: bool = False
) -> Finding:
    """Compare each k with the next, for every table and method that has all numbers."""
    chosen = _chosen(table, rows, value)
    wide = _by_seed(chosen, value, ["name", "k"])
    ks = sorted(wide.index.unique("k"))
    if len(ks) == 1:
        return Finding(f"measured at k = {ks[0]} only", UNDECIDED)
    first, then = (np.vstack([wide.xs(k, level="k") for k in part]) for part in (ks[:-1], ks[1:]))
    settings = Settings(then - first if rises else first - then)
    low, high = settings.ends.T
    on, off = (low > 0).sum(), (high < 0).sum()
    stays = ((low == 0) & (high == 0)).sum()
    with_it, against = ("rises", "falls") if rises else ("falls", "rises")
    runs = chosen.groupby("method")["seed"].nunique()
    methods = wide.xs(ks[0], level="k").index.get_level_values("method")
    once = np.tile(methods.map(runs) == 1, len(ks) - 1)
    return Finding(
        f"surely {with_it} at {on}, stays the same at {stays} and surely {against} at {off} "
        f"of {len(low)} steps",
        settings.verdict,
        detail=f"of methods that ran once, without intervals: {with_it} at "
        f"{(once & (low > 0)).sum()} and {against} at {(once & (high < 0)).sum()} steps",
        spread=f"{wide.shape[1]} seeds of methods that draw something",
        interval=_widest(settings),
        settings=settings.n,
        needed=settings.needed,
    )


def _chosen(table: pd.DataFrame, rows: str, value: str) -> pd.DataFrame:
    """Return the rows of a query, with a value that may be an expression of columns."""
    table = table.query(rows) if rows else table
    return table if value in table else table.assign(**{value: table.eval(value, engine="python")})


def _by_seed(table: pd.DataFrame, value: str, at: Sequence[str]) -> pd.DataFrame:
    """Return a value by method and setting (rows) and seed (columns), of ranked methods.

    A method that was run once draws nothing: its value stands for all seeds. A method that lacks
    a number at some setting is left out.
    """
    ranked = table[~table["method"].isin(UNRANKED)]
    wide = ranked.pivot(index=["method", *at], columns="seed", values=value).ffill(axis=1)
    measured = wide.notna().all(axis=1).unstack("method").eq(True).all()
    return wide.loc[measured.index[measured]]


def _supported(settings: Settings, what: str) -> str:
    """Return in words how many intervals support the claim, and how many refute it."""
    low, high = settings.ends.T
    return f"supported at {sum(low >= 0)} and refuted at {sum(high < 0)} of {len(low)} {what}"


def _widest(settings: Settings) -> str:
    """Return in words between which ends the intervals of all settings lie."""
    low, high = settings.ends[:, 0].min(), settings.ends[:, 1].max()
    return (
        f"{settings.held}, differences between {low:.3g} and {high:.3g} over all settings; "
        "0 or above supports the claim"
    )


def no_oftener_than_by_chance(cells: pd.DataFrame) -> Finding:
    """Count the cells that are a round hundredth of (M - m) / M, and how many chance gives."""
    number, expected = cells["round"].sum(), cells["chance"].sum()
    as_many = float(stats.poisson.sf(number - 1, expected))
    return Finding(
        f"{number} of {len(cells)} cells, {expected:.1f} by chance; as many or more with "
        f"probability {as_many:.1g}",
        judge_statement(as_many > 1 - LEVEL),
    )
