"""Checks that claims.toml cannot express: each table has its own number of draws."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anonpaper.compendium.intervals import (
    intervals_in_words,
    judge_intervals,
    level_of_each,
    mean_interval,
    of_draws,
)
from anonpaper.compendium.judge import Finding, listed

__all__ = ["freed_by_slack", "share_of_sets"]


def share_of_sets(
    sets: pd.DataFrame, *, are: str, at_least: float, of: str = "seed >= 0", less: str = ""
) -> Finding:
    """Average a share of the sets over draws, table by table, and judge its interval."""
    asked = sets.query(of, engine="python")
    share = asked.eval(are, engine="python").astype(float)
    if less:
        share -= asked.eval(less, engine="python")
    means = share.groupby([asked["table"], asked["seed"]], sort=False).mean()
    ends = _intervals(means, (-1, 1) if less else (0, 1))
    return _found(means, ends, ends - at_least)


def freed_by_slack(sets: pd.DataFrame, *, at_most: float) -> Finding:
    """Average over draws the share of the sets that have a table with the most slack alone."""
    keys = ["table", "seed", "conflict", "share", "k"]
    exists = sets.pivot(index=keys, columns="slack", values="exists")
    exists = exists[(exists != "not decided").all(axis=1)]
    freed = (exists.iloc[:, 0] == "no") & (exists.iloc[:, -1] == "yes")
    means = freed.groupby(["table", "seed"]).mean()
    ends = _intervals(means, (0, 1))
    return _found(means, ends, at_most - ends[:, ::-1])


def _intervals(means: pd.Series, within: tuple[float, float]) -> np.ndarray:
    """Return the interval of the mean over draws of each table, all together."""
    tables = means.index.unique("table")
    level = level_of_each(len(tables))
    return np.array([mean_interval(means[table], level=level, within=within) for table in tables])


def _found(means: pd.Series, ends: np.ndarray, above_zero: np.ndarray) -> Finding:
    """Return means and intervals in words, judged by the intervals of what has to be positive."""
    by_table = means.groupby("table", sort=False)
    over = of_draws(by_table.size())
    return Finding(
        listed(by_table.mean(), "{:.1%}"),
        judge_intervals(above_zero),
        interval=intervals_in_words(ends, [*by_table.groups], "{:.1%}", over=over),
    )
