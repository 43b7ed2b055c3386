"""The picture of methods side by side: what is left to lose at each risk."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from together import METHODS

from anonpaper.plots import LOOKS

__all__ = ["draw_front"]


def draw_front(ax: Axes, points: pd.DataFrame) -> None:
    """Draw ``value`` over ``own risk``, a marker per ``method``, and a line through the front.

    Colours are papers; what one paper compares or proposes differs by its marker. Points of an
    infinite value are left out.
    """
    shown = points[np.isfinite(points["value"])]
    front = shown[shown["front"]].sort_values("own risk")
    steps = {"color": "0.6", "linestyle": "-", "marker": "", "drawstyle": "steps-post"}
    ax.plot(front["own risk"], front["value"], zorder=1, **steps)
    papers = list(dict.fromkeys(about.paper for about in METHODS.values()))
    for place, paper in enumerate(papers):
        for i, name in enumerate(n for n, about in METHODS.items() if about.paper == paper):
            part = shown[shown["method"] == name]
            ax.plot(
                part["own risk"], part["value"], label=name, color=LOOKS[place]["color"],
                marker="osX^DvP*"[i], linestyle="none", markersize=3.5, alpha=0.8,
            )  # fmt: skip
