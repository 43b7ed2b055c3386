"""The picture of methods side by side: what is left to lose at each risk, by kind of release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from anonpaper import plots

#: How the methods publish.
KINDS = {
    "swapped secrets": ["K,L,θ, swapped"],
    "ranges per group": ["Mondrian, l", "Mondrian, k"],
    "one recoding for all rows": ["preference search", "TDS", "full domain, l", "full domain, k"],
    "stars": ["TP", "TP+", "TP refined", "Hilbert", "DIVA", "k-member", "OKA"],
    "synthetic rows": ["augmented"],
}


def draw_fronts(fronts: pd.DataFrame, data: Sequence[str], losses: Sequence[str]) -> Figure:
    """Draw ``value`` over ``own risk``: a row of panels per loss, a column per table.

    Filled markers are on the frontier, the line. Hollow markers are beaten: another release has
    less of one and no more of the other. Infinite values are left out. A loss that is nowhere 0
    has a logarithmic axis.
    """
    figure, axes = plots.subplots(
        columns=2, rows=len(losses), cols=len(data), height=0.6 + 2.1 * len(losses),
        sharex="col", sharey="row", squeeze=False,
    )  # fmt: skip
    for row, loss in zip(axes, losses, strict=True):
        for ax, name in zip(row, data, strict=True):
            part = fronts[(fronts["data"] == name) & (fronts["loss"] == loss)]
            part = part[np.isfinite(part["value"])]
            front = part[part["front"]].sort_values("own risk")
            steps = {"where": "post", "color": "0.6", "linestyle": "-", "marker": ""}
            ax.step(front["own risk"], front["value"], zorder=1, **steps)
            for look, (kind, methods) in zip(plots.LOOKS, KINDS.items(), strict=False):
                points = {"color": look["color"], "marker": look["marker"], "linestyle": "none"}
                of_kind = part[part["method"].isin(methods)]
                on, beaten = of_kind[of_kind["front"]], of_kind[~of_kind["front"]]
                ax.plot(on["own risk"], on["value"], label=kind, markersize=5, **points)
                ax.plot(beaten["own risk"], beaten["value"], markersize=4, alpha=0.6,
                        markerfacecolor="none", **points)  # fmt: skip
            if part["value"].min() > 0:
                ax.set_yscale("log")
        row[0].set_ylabel(f"{loss} (less is better)")
    for ax, name in zip(axes[0], data, strict=True):
        ax.set_title(name)
    for ax in axes[-1]:
        ax.set_xlabel("own-value risk (less is better)")
    handles = axes[0][0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=3, fontsize=7,
                  title="filled: on the frontier; hollow: beaten")  # fmt: skip
    return figure
