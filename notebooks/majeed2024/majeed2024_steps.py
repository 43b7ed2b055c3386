"""The paper's method on ten people: synthetic rows, hierarchies, and a picture of each step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

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
