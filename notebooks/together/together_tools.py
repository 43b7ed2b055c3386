"""Tools side by side: the ranks that a benchmark can tell apart, and what use costs in risk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

#: What methods are ranked by, less being better, and its unit.
MEASURES = {
    "detail lost": "detail lost (NCP)", "query error": "error of counts",
    "misclassified": "errors of a forest", "advantage": "attacker's advantage",
    "seconds": "processor time", "memory": "memory",
}  # fmt: skip
_REFERENCE = "reference"


def kept(releases: pd.DataFrame) -> pd.Series:
    """Whether each release counts: its promise was kept, or cannot be read off a file."""
    return releases["promise"].isin(["kept", "none", "not in the bytes"])


def ranks(
    releases: pd.DataFrame, principle: str, measures: Sequence[str] = tuple(MEASURES),
    draws: int = 2_000, seed: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """Rank the methods of a principle by each measure, with 95 % intervals over tables.

    A method's rank on a task is one more than the number of better methods, and half of those that
    are equal. One that kept no promise is last. The mean rank over the levels of a table is a
    table's. Tables are drawn with replacement, as many as there are (a bootstrap of whole tables,
    because the tasks of one table share people), and methods ranked by their means over them.
    """
    part = releases[releases["principle"].eq(principle) & releases["tool"].ne(_REFERENCE)]
    rng, found = np.random.default_rng(seed), []
    for measure in measures:
        values = part[measure].where(kept(part))
        wide = part.assign(value=values).pivot(
            index=["table", "level"], columns=["tool", "method"], values="value"
        )
        of_table = wide.rank(axis=1, na_option="bottom").groupby("table").mean()
        chosen = rng.integers(len(of_table), size=(draws, len(of_table)))
        drawn = pd.DataFrame(of_table.to_numpy()[chosen].mean(axis=1)).rank(axis=1).to_numpy()
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        rank = of_table.mean().rank()
        about = {"principle": principle, "measure": measure, "tables": len(of_table)}
        found.append(rank.rename("rank").reset_index().assign(low=low, high=high, **about))
    return pd.concat(found, ignore_index=True)


def trade_off(releases: pd.DataFrame) -> pd.DataFrame:
    """Return Spearman's correlation of query error and advantage over the methods of each task."""
    part = releases[releases["promise"].eq("kept")]
    tasks = part.groupby(["table", "principle", "level"], sort=False)[["query error", "advantage"]]
    return tasks.apply(
        lambda of_task: pd.Series({
            "methods": len(of_task),
            "correlation": of_task["query error"].corr(of_task["advantage"], method="spearman"),
        })
    ).reset_index()  # fmt: skip
