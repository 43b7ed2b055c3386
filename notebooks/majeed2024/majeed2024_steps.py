"""The paper's method on ten people, step by step, and heatmaps of methods and k."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from anonpaper import plots
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Microdata
from anonpaper.repair.synthesis import fuse

_CONTINENTS = {
    "Europe": ("England", "France", "Italy", "Spain"), "Asia": ("China",),
    "America": ("USA",), "Oceania": ("Australia",),
}  # fmt: skip
_RARE, _FREQUENT, _ALONE = "#EE7733", "#BBDDEE", "#AA3377"

#: What the colours of a picture mean.
KEY = (
    "orange: the rare value    blue: the frequent value    italic: synthetic row\n"
    "purple line: all rows of the class have one value"
)


def with_synthetic(people: Microdata) -> Microdata:
    """Add six invented people with cancer to the ten of Table 1, so that both values are equal."""
    rows = pd.DataFrame(
        [
            (34, "F", "England", "White", 5, "Cancer"),
            (40, "M", "Australia", "Black", 6, "Cancer"),
            (48, "F", "France", "White", 6, "Cancer"),
            (57, "F", "Italy", "White", 6, "Cancer"),
            (68, "M", "Spain", "White", 7, "Cancer"),
            (85, "F", "China", "White", 6, "Cancer"),
        ],
        columns=people.frame.columns,
    )
    return fuse(people, rows)


def trees(people: Microdata) -> dict[str, Hierarchy]:
    """Return hierarchies of the columns of Table 1."""
    frame = people.frame
    return {
        "Age": Hierarchy.intervals(sorted(frame["Age"].unique()), [10, 30]),
        "Sex": Hierarchy.flat(["F", "M"]),
        "Citizenship": Hierarchy(
            [[land, name, "*"] for name, lands in _CONTINENTS.items() for land in lands]
        ),
        "Race": Hierarchy.flat(["Black", "White"]),
        "Height": Hierarchy.flat([5, 6, 7]),
    }


def draw_rows(
    ax: Axes,
    frame: pd.DataFrame,
    classes: Sequence[int],
    title: str,
    *,
    rare: str = "Cancer",
    synthetic: Sequence[bool] | None = None,
) -> None:
    """Draw a small table row by row, one class after another; the last column is sensitive."""
    invented = np.zeros(len(frame), bool) if synthetic is None else np.asarray(synthetic)
    order = np.argsort(np.asarray(classes), kind="stable")
    labels = np.asarray(classes)[order]
    middle = np.linspace(0.5, 6.5, 7)[: len(frame.columns)] + [0, -0.1, 0.2, 0.4, 0.35, 0.45]
    right = len(frame.columns) + 0.6
    for x, name in zip(middle, frame.columns, strict=True):
        ax.text(x, -0.5, name, ha="center", va="center", size=7, weight="bold")
    for y, row in enumerate(order):
        colour = _RARE if frame.iloc[row, -1] == rare else _FREQUENT
        ax.add_patch(Rectangle((right - 1.1, y), 1.1, 1, color=colour, linewidth=0))
        look = {"size": 7, "style": "italic" if invented[row] else "normal"}
        for x, value in zip(middle, frame.iloc[row], strict=True):
            told = str(value).replace(" - ", "-")
            ax.text(x, y + 0.5, told, ha="center", va="center", **look)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        ax.hlines(rows[-1] + 1, 0, right, color="0.3", linewidth=0.6)
        if frame.iloc[order[rows], -1].nunique() == 1 and len(np.unique(labels)) > 1:
            ax.vlines(right + 0.12, rows[0] + 0.1, rows[-1] + 0.9, color=_ALONE, linewidth=2.5)
    ax.set(xlim=(0, right + 0.3), ylim=(len(frame) + 0.1, -1), title=title)
    ax.axis("off")


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
