"""Pictures for notebooks/beyond: the sets that can be met, and a risk by AUC."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anonpaper import plots

__all__ = ["draw_formula", "draw_phases"]

_WAYS = {"literal": ("o", "DIVA finds one, the paper's rule"),
         "extended": ("^", "DIVA finds one, our rule")}  # fmt: skip
_LINES = {"real alone": ("-", "sees through invented rows"),
          "counting": ("--", "takes every row for a person"),
          "shares": (":", "knows only how frequent values are")}  # fmt: skip


def draw_phases(shares: pd.DataFrame) -> Figure:
    """Draw by k and share M / n how many sets have a table (bars), and what DIVA finds (marks).

    A panel for each slack (down) and conflict (across).
    """
    slacks, conflicts = (sorted(shares[name].unique()) for name in ("slack", "conflict"))
    demanded, ks = sorted(shares["share"].unique()), sorted(shares["k"].unique())
    figure, axes = plots.subplots(
        columns=2, rows=len(slacks), cols=len(conflicts), squeeze=False, sharex=True, sharey=True,
        height=0.8 + 1.7 * len(slacks),
    )  # fmt: skip
    width = 0.8 / len(demanded)
    panels = shares.groupby(["slack", "conflict"])
    for ax, ((slack, conflict), part) in zip(axes.flat, panels, strict=True):
        for place, share in enumerate(demanded):
            bar = part[part["share"] == share].set_index("k").loc[ks]
            at = np.arange(len(ks)) + (place - (len(demanded) - 1) / 2) * width
            look = plots.LOOKS[place]
            ax.bar(at, 100 * bar["exists"], width, color=look["color"], alpha=0.5,
                   label=f"a table exists, M / n = {share:g}")  # fmt: skip
            for rule, (marker, label) in _WAYS.items():
                ax.plot(at, 100 * bar[rule], marker, color="black", markersize=4,
                        markerfacecolor="none" if rule == "extended" else "black",
                        label=label if place == 0 else "_")  # fmt: skip
        ax.set(title=f"slack {slack:g}, conflict {conflict:g}", ylim=(0, 105))
        ax.set_xticks(range(len(ks)), ks)
    for ax in axes[-1]:
        ax.set_xlabel("k")
    for ax in axes[:, 0]:
        ax.set_ylabel("% of the sets")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure


def draw_formula(axes: Sequence[Axes], simulated: pd.DataFrame, k: int) -> None:
    """Draw the risk by formula as lines and by drawn scores as crosses, a panel for each table."""
    panels = simulated[simulated["k"] == k].groupby("name", sort=False)
    for ax, (name, part) in zip(axes, panels, strict=True):
        part = part.assign(prior="formula, prior: " + part["prior"])
        plots.lines(ax, part, "auc", "formula", "prior", spread="range")
        drawn = part.groupby(["prior", "auc"], sort=False)["simulated"].mean().reset_index()
        ax.plot(drawn["auc"], drawn["simulated"], "x", color="black", markersize=5,
                label="drawn scores", zorder=3)  # fmt: skip
        for column, (style, label) in _LINES.items():
            ax.axhline(part[column].mean(), color="0.4", linestyle=style, lw=1, zorder=0,
                       label=label)  # fmt: skip
        ax.set(title=f"{name}, k = {k}", xlabel="AUC of the detector", ylabel="own-value risk")
    handles, labels = axes[0].get_legend_handles_labels()
    axes[0].figure.legend(handles, labels, loc="outside upper center", ncols=3)
