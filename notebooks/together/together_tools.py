"""Tools side by side: the ranks that a benchmark can tell apart, and loss at each risk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from anonpaper import plots

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
        means = of_table.to_numpy()[chosen].mean(axis=1)
        drawn = pd.DataFrame(means).rank(axis=1).to_numpy()
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


def draw_ranks(found: pd.DataFrame) -> Figure:
    """Draw rank intervals: a panel per measure, a line per method, other tools filled."""
    figure, axes = plots.subplots(columns=2, rows=2, cols=3, height=5.2, sharey=True)
    by_queries = found[found["measure"] == "query error"].sort_values("rank", ascending=False)
    order = list(zip(by_queries["tool"], by_queries["method"], strict=True))
    names = [f"{tool}, {method.replace('_', ' ')}" for tool, method in order]
    look = plots.LOOKS[0], plots.LOOKS[1]
    for ax, (measure, title) in zip(axes.flat, MEASURES.items(), strict=True):
        part = found[found["measure"] == measure].set_index(["tool", "method"]).loc[order]
        for place, ((tool, _), row) in enumerate(part.iterrows()):
            ours = tool == "anonpaper"
            style = {"color": look[ours]["color"], "marker": look[ours]["marker"]}
            ax.plot([row["low"], row["high"]], [place] * 2, "-", color=style["color"], marker="")
            fill = "none" if ours else style["color"]
            ax.plot(row["rank"], place, linestyle="none", markerfacecolor=fill, **style)
        ax.set_title(title)
        ax.set_xlim(0.5, len(order) + 0.5)
        ax.set_yticks(range(len(order)), names, fontsize=7)
    for ax in axes[-1]:
        ax.set_xlabel("rank (1 is best)")
    return figure


def draw_risk(releases: pd.DataFrame) -> Figure:
    """Draw an attacker's advantage over the query error: a panel per promise, a point per method.

    Points are means over the tables on which a method kept its promise at the first level, in
    every panel beside the table itself and stars alone.
    """
    first = releases.groupby("principle", sort=False)["level"].transform("first")
    part = releases[kept(releases) & releases["level"].fillna("").eq(first.fillna(""))]
    promises = list(dict.fromkeys(part["principle"]))
    figure, axes = plots.subplots(
        columns=2, rows=2, cols=3, height=4.6, sharex=True, sharey=True, squeeze=False
    )
    ends = part[part["tool"] == _REFERENCE].groupby("method")[["query error", "advantage"]].mean()
    tools = [tool for tool in dict.fromkeys(releases["tool"]) if tool != _REFERENCE]
    looks = dict(zip(tools, plots.LOOKS, strict=False))
    for ax, promise in zip(axes.flat, promises, strict=False):
        ax.plot(ends["query error"], ends["advantage"], color="0.6", marker="x", linestyle=":")
        of_promise = part[part["principle"].eq(promise) & part["tool"].ne(_REFERENCE)]
        means = of_promise.groupby(["tool", "method"])[["query error", "advantage"]].mean()
        for tool, points in means.groupby("tool"):
            look = {name: looks[tool][name] for name in ("color", "marker")}
            ax.plot(*points.to_numpy().T, linestyle="none", label=tool, markersize=5,
                    zorder=3 - (tool == "anonpaper"), markerfacecolor="none", **look)  # fmt: skip
        ax.set_title("no promise" if promise == "nothing" else promise)
    for ax in axes[-1]:
        ax.set_xlabel("error of counts (less is better)")
    for ax in axes[:, 0]:
        ax.set_ylabel("attacker's advantage\n(less is better)")
    handles = {}
    for ax in axes.flat:
        handles |= dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=len(handles),
                  fontsize=7)  # fmt: skip
    return figure
