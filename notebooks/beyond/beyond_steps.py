"""A picture for notebooks/beyond: a risk by AUC."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from anonpaper import plots

__all__ = ["draw_formula"]

_LINES = {"real alone": ("-", "sees through invented rows"),
          "counting": ("--", "takes every row for a person"),
          "shares": (":", "knows only how frequent values are")}  # fmt: skip


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
