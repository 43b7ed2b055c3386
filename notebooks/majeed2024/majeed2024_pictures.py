"""The picture of Tables 6 to 9: what each printed cell is nearest to, and which reading fits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from majeed2024_printed import SETTINGS
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap

_SHORT = {
    "as printed": "values", "own value": "own", "best guess": "guess",
    "enforce": "enforced", "best effort": "effort",
    "all rows": "all", "real people": "real",
}  # fmt: skip

#: What the short words in the cells stand for.
LEGEND = (
    "large: printed    small: the nearest measured risk, and how it was measured\n"
    "Equation 6: values = as printed, own = chance of the own value, "
    "guess = chance of the best guess\n"
    "baselines: two values in every class enforced, or by best effort    "
    "proposed: threshold on a class's entropy, all rows or real people alone"
)
_STEPS = (0, 0.02, 0.05, 0.1, 0.2, 0.5)
_COLOURS = ("#4477AA", "#99BBDD", "#EEEEEE", "#F4C9A0", "#EE7733")


def draw_nearest(ax: Axes, cells: pd.DataFrame, methods: Sequence[str]) -> None:
    """Draw one table of the paper: its numbers, and the nearest measured ones below them."""
    ks = sorted(cells["k"].unique())
    distance = cells.pivot(index="method", columns="k", values="distance").loc[methods, ks]
    image = ax.imshow(
        distance.to_numpy(), aspect="auto", cmap=ListedColormap(_COLOURS),
        norm=BoundaryNorm(_STEPS, len(_COLOURS)),
    )  # fmt: skip
    for row in cells.to_dict("records"):
        x, y = ks.index(row["k"]), list(methods).index(row["method"])
        is_dark = row["distance"] <= _STEPS[1] or row["distance"] > _STEPS[-2]
        colour = "white" if is_dark else "black"
        style = {"ha": "center", "color": colour}
        ax.text(x, y - 0.1, f"{row['published']:.2f}", va="bottom", size=7.5, **style)
        below = f"{row['risk']:.2f}\n{_how(row)}"
        ax.text(x, y - 0.06, below, va="top", size=5, linespacing=0.95, **style)
    ax.set_xticks(range(len(ks)), ks)
    ax.set_yticks(range(len(methods)), methods)
    ax.set_xlabel("k")
    ax.grid(visible=False)
    bar = ax.figure.colorbar(image, ax=ax, location="top", shrink=0.6, aspect=40, pad=0.01)
    bar.set_label("distance of the printed risk and the nearest of all readings")


def draw_explained(ax: Axes, explained: pd.DataFrame, most: int = 6) -> None:
    """Draw how many cells of one table the best readings come near to, and a constant does."""
    null = explained["rows"] == "a constant"
    shown = pd.concat([explained[~null].head(most), explained[null]])[::-1]
    labels = [
        "one constant for all" if row["rows"] == "a constant" else ", ".join(
            _SHORT.get(row[column], row[column]) for column in SETTINGS
        )
        for row in shown.to_dict("records")
    ]  # fmt: skip
    colours = np.where(shown["rows"] == "a constant", "0.6", _COLOURS[0])
    bars = ax.barh(range(len(shown)), shown["near"], color=colours)
    ax.bar_label(bars, size=6)
    ax.set_yticks(range(len(shown)), labels, size=5.5)
    ax.set(xlim=(0, shown["cells"].max()), xlabel=f"of {shown['cells'].max()} cells within 0.05")
    ax.grid(visible=False, axis="y")


def _how(row: dict) -> str:
    """Return in short words how a risk was measured, as far as it matters for the method."""
    if row["method"] == "Proposed":
        words = row["equation"], row["threshold"], row["rows"]
    else:
        words = row["equation"], row["mode"]
    return "\n".join(_SHORT.get(word, word) for word in words)
