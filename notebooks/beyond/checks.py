"""Checks that claims.toml cannot express: each table has its own number of draws."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anonpaper.compendium.intervals import (
    Settings,
    intervals_in_words,
    level_of_each,
    mean_interval,
    of_draws,
)
from anonpaper.compendium.judge import Finding, listed

__all__ = ["ahead_over_draws", "freed_by_slack", "share_of_sets"]


def share_of_sets(
    sets: pd.DataFrame, *, are: str, at_least: float, of: str = "seed >= 0"
) -> Finding:
    """Average a share of the sets over draws, table by table, and judge its interval."""
    asked = sets.query(of, engine="python")
    share = asked.eval(are, engine="python").astype(float)
    means = share.groupby([asked["table"], asked["seed"]], sort=False).mean()
    within = -at_least, 1 - at_least
    return _found(means, Settings(_by_table(means - at_least), within=within), 1, at_least)


def freed_by_slack(sets: pd.DataFrame, *, at_most: float) -> Finding:
    """Average over draws the share of the sets that have a table with the most slack alone."""
    keys = ["table", "seed", "conflict", "share", "k"]
    exists = sets.pivot(index=keys, columns="slack", values="exists")
    exists = exists[(exists != "not decided").all(axis=1)]
    freed = (exists.iloc[:, 0] == "no") & (exists.iloc[:, -1] == "yes")
    means = freed.groupby(["table", "seed"]).mean()
    room = Settings(_by_table(at_most - means), within=(at_most - 1, at_most))
    return _found(means, room, -1, at_most)


def ahead_over_draws(laws: pd.DataFrame, *, law: str) -> Finding:
    """Judge by how much the AUC of two demands is larger, from its saved interval over draws.

    The saved intervals hold together, and are Student's. Draws with their mean and spread have
    the same interval at this level, and give it at any other.
    """
    of = laws[laws["law"] == law].set_index("table")
    apart = {}
    for table, low, high, draws in of[["more low", "more high", "draws"]].itertuples():
        unit = np.linspace(-1, 1, int(draws))
        half = mean_interval(unit, level=level_of_each(len(of)))[1]
        apart[table] = (low + high) / 2 + unit * (high - low) / 2 / half
    settings = Settings(list(apart.values()))
    over = of_draws(of["draws"])
    return Finding(
        listed(of["more"], "{:.3f} more AUC"),
        settings.verdict,
        interval=settings.words(apart, over=over),
        settings=settings.n,
        needed=settings.needed,
    )


def _by_table(means: pd.Series) -> list:
    """Return the means over draws of each table."""
    return [part.to_numpy() for _, part in means.groupby("table", sort=False)]


def _found(means: pd.Series, settings: Settings, sign: int, bound: float) -> Finding:
    """Return means and intervals in words, of shares that lie on a side of a bound."""
    by_table, ends = means.groupby("table", sort=False), bound + sign * settings.ends[:, ::sign]
    over = of_draws(by_table.size())
    return Finding(
        listed(by_table.mean(), "{:.1%}"),
        settings.verdict,
        interval=intervals_in_words(
            ends, [*by_table.groups], "{:.1%}", held=settings.held, over=over
        ),
        settings=settings.n,
        needed=settings.needed,
    )
