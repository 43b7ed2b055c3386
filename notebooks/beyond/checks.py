"""Checks that claims.toml cannot express: each table has its own number of draws."""

from __future__ import annotations

import pandas as pd

from anonpaper.compendium.intervals import Settings, intervals_in_words, of_draws
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
    least, most = (-1 if less else 0) - at_least, 1 - at_least
    return _found(means, Settings(_by_table(means - at_least), within=(least, most)), 1, at_least)


def freed_by_slack(sets: pd.DataFrame, *, at_most: float) -> Finding:
    """Average over draws the share of the sets that have a table with the most slack alone."""
    keys = ["table", "seed", "conflict", "share", "k"]
    exists = sets.pivot(index=keys, columns="slack", values="exists")
    exists = exists[(exists != "not decided").all(axis=1)]
    freed = (exists.iloc[:, 0] == "no") & (exists.iloc[:, -1] == "yes")
    means = freed.groupby(["table", "seed"]).mean()
    room = Settings(_by_table(at_most - means), within=(at_most - 1, at_most))
    return _found(means, room, -1, at_most)


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
        needed=settings.needed,
    )
