"""Heatmaps of methods and k: one panel a table, one key, dark fields are better on all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure

from anonpaper import plots

_STEPS = (0, 0.02, 0.05, 0.1, 0.2, 0.5)
_COLOURS = ("#225588", "#99BBDD", "#EEEEEE", "#F4C9A0", "#EE7733")


def heatmaps(
    frame: pd.DataFrame, names: Sequence[str], y: str, value: str, *, better: str,
    text: str = "{:.0f}", limits: tuple[float, float] | None = None, log: bool = False,
    published: pd.DataFrame | None = None, height: float = 6.2,
) -> tuple[Figure, np.ndarray]:  # fmt: skip
    """Draw a field per k and method on four tables; dark is better, and numbers are written in.

    `better` is "low" or "high". `published` has the paper's own values in the same columns: they
    stand behind hollow markers.
    """
    figure, axes = plots.subplots(columns=2, rows=2, cols=2, height=height, sharey=True)
    low, high = limits or (frame[value].min(), frame[value].max())
    norm = LogNorm(low, high) if log else Normalize(low, high)
    colours = {"low": "cividis", "high": "cividis_r"}[better]
    order, ks = list(dict.fromkeys(frame[y])), sorted(frame["k"].unique())
    for ax, name in zip(axes.flat, names, strict=True):
        part = frame[frame["name"] == name]
        fields = part.pivot(index=y, columns="k", values=value).reindex(order)[ks]
        image = ax.imshow(fields.to_numpy(float), cmap=colours, norm=norm, aspect="auto")
        theirs = {} if published is None else {
            (row[y], row["k"]): row[value]
            for row in published[published["name"] == name].to_dict("records")
        }  # fmt: skip
        for (row, column), number in np.ndenumerate(fields.to_numpy(float)):
            if np.isfinite(number):
                shade = image.cmap(norm(number))[:3]
                colour = "white" if np.dot(shade, (0.3, 0.6, 0.1)) < 0.5 else "black"
                printed = theirs.get((order[row], ks[column]))
                told = text.format(number) + (f"  ○{text.format(printed)}" if printed else "")
                ax.text(column, row, told, ha="center", va="center", size=7, color=colour)
        ax.set(title=name, xlabel="k")
        ax.set_xticks(range(len(ks)), ks)
        ax.set_yticks(range(len(order)), order)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
    label = f"{value}; dark is better"
    if published is not None:
        label += "; hollow circle: printed in the paper"
    figure.colorbar(image, ax=axes, location="bottom", shrink=0.6, aspect=40, label=label)
    return figure, axes


def draw_distances(ax: Axes, cells: pd.DataFrame, methods: Sequence[str]) -> None:
    """Draw one of Tables 6 to 9: printed risks, and the nearest measured ones below them."""
    ks = sorted(cells["k"].unique())
    distance = cells.pivot(index="method", columns="k", values="distance").loc[list(methods), ks]
    norm = BoundaryNorm(_STEPS, len(_COLOURS))
    image = ax.imshow(distance, aspect="auto", cmap=ListedColormap(_COLOURS), norm=norm)
    for row in cells.to_dict("records"):
        x, y = ks.index(row["k"]), list(methods).index(row["method"])
        colour = "white" if row["distance"] <= _STEPS[1] else "black"
        style = {"ha": "center", "va": "center", "size": 7, "color": colour}
        ax.text(x, y - 0.2, f"○{row['published']:.2f}", **style)
        ax.text(x, y + 0.2, f"{row['risk']:.2f}", **style)
    ax.set_xticks(range(len(ks)), ks)
    ax.set_yticks(range(len(methods)), methods)
    ax.set_xlabel("k")
    ax.grid(visible=False)
    bar = ax.figure.colorbar(image, ax=ax, location="bottom", shrink=0.8, aspect=40)
    bar.set_label("distance of the two risks; dark blue is better")


def draw_explained(ax: Axes, explained: pd.DataFrame, most: int = 5) -> None:
    """Draw how many cells of one table the best interpretations come near to, and a constant."""
    constant = explained["rows"] == "a constant"
    shown = pd.concat([explained[~constant].head(most), explained[constant]])[::-1]
    labels = [
        "one constant" if row["rows"] == "a constant"
        else f"{row['equation']}, {row['mode']},\n{row['threshold']}, {row['rows']}"
        for row in shown.to_dict("records")
    ]  # fmt: skip
    colours = np.where(shown["rows"] == "a constant", "0.6", _COLOURS[0])
    ax.bar_label(ax.barh(range(len(shown)), shown["near"], color=colours), size=7)
    ax.set_yticks(range(len(shown)), labels, size=7)
    ax.set(xlim=(0, shown["cells"].max()), xlabel=f"of {shown['cells'].max()} cells within 0.05")
    ax.grid(visible=False, axis="y")
