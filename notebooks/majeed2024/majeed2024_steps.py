"""The paper's method on ten people, step by step, and heatmaps of methods and k."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

import anonpaper as ap
from anonpaper.repair.synthesis import fuse

#: Table 1 of the paper, without names, and six invented people with cancer.
TEN_USERS = [
    (45, "M", "USA", "Black", 6, "Cancer"), (32, "F", "England", "White", 5, "Flu"),
    (35, "F", "England", "White", 6, "Cancer"), (43, "M", "USA", "White", 5, "Flu"),
    (55, "F", "Italy", "White", 6, "Flu"), (46, "F", "France", "White", 6, "Flu"),
    (69, "M", "Spain", "White", 7, "Flu"), (39, "M", "Australia", "Black", 6, "Flu"),
    (89, "F", "China", "White", 7, "Flu"), (80, "F", "China", "White", 5, "Flu"),
]  # fmt: skip
SIX_MORE = [
    (34, "F", "England", "White", 5, "Cancer"), (40, "M", "Australia", "Black", 6, "Cancer"),
    (48, "F", "France", "White", 6, "Cancer"), (57, "F", "Italy", "White", 6, "Cancer"),
    (68, "M", "Spain", "White", 7, "Cancer"), (85, "F", "China", "White", 6, "Cancer"),
]  # fmt: skip
_CONTINENTS = {
    "Europe": ("England", "France", "Italy", "Spain"), "Asia": ("China",),
    "America": ("USA",), "Oceania": ("Australia",),
}  # fmt: skip
_COLUMNS = ["Age", "Sex", "Citizenship", "Race", "Height", "Disease"]
_RARE, _FREQUENT, _CLASSES = "#EE7733", "#BBDDEE", ("#DDDDDD", None)


def ten_users(synthetic: int = 0) -> ap.Microdata:
    """Return Table 1 of the paper, with some of the six invented people if wanted."""
    people = ap.Microdata(pd.DataFrame(TEN_USERS, columns=_COLUMNS), _COLUMNS[:-1], "Disease")
    more = pd.DataFrame(SIX_MORE[:synthetic], columns=_COLUMNS)
    return fuse(people, more) if synthetic else people


def trees(people: ap.Microdata) -> dict[str, ap.Hierarchy]:
    """Return hierarchies of the columns of Table 1."""
    lands = [[land, name, "*"] for name, lands in _CONTINENTS.items() for land in lands]
    return {
        "Age": ap.Hierarchy.intervals(sorted(people.frame["Age"].unique()), [10, 30]),
        "Citizenship": ap.Hierarchy(lands),
        **{name: ap.Hierarchy.flat(people.attribute(name).values) for name in _COLUMNS[1:5:2]},
        "Height": ap.Hierarchy.flat([5, 6, 7]),
    }


def draw_people(*shown: tuple[str, pd.DataFrame, Sequence[int]]) -> Figure:
    """Draw titled tables class by class: orange is the rare value, bold a class of one value."""
    steps = []
    for title, frame, classes in shown:
        order = np.argsort(np.asarray(classes), kind="stable")
        of_row = np.asarray(classes)[order]
        texts = frame.iloc[order].astype(str).replace(r"^\{.*\}$", "several", regex=True)
        alone = texts.groupby(of_row)["Disease"].transform("nunique") == 1
        bold = texts.apply(lambda column, alone=alone: alone & (column.name == "Disease"))
        colours = [
            [_CLASSES[label % 2]] * (len(_COLUMNS) - 1) + [_RARE if ill == "Cancer" else _FREQUENT]
            for label, ill in zip(of_row, texts["Disease"], strict=True)
        ]
        left = [f"u{row + 1}" if row < len(TEN_USERS) else "new" for row in order]
        steps.append((title, texts, colours, {"bold": bold, "left": left}))
    return ap.plots.tables(steps)


def heatmaps(
    frame: pd.DataFrame, y: str, value: str, *, text: str = "{:.0f}",
    limits: tuple[float, float] | None = None, published: pd.DataFrame | None = None,
    height: float = 6.2,
) -> Figure:  # fmt: skip
    """Draw a field per k and method on each table: dark is low, and numbers are written in.

    Without limits the scale is logarithmic. `published` has the paper's own values in the same
    columns: they stand behind hollow markers.
    """
    order, ks, names = frame[y].unique(), sorted(frame["k"].unique()), frame["name"].unique()
    norm = Normalize(*limits) if limits else LogNorm(frame[value].min(), frame[value].max())
    theirs = {} if published is None else published.set_index(["name", y, "k"])[value]
    figure, axes = ap.plots.subplots(
        columns=2, rows=-(-len(names) // 2), cols=2, height=height, sharey=True, squeeze=False
    )
    for ax, name in zip(axes.flat, names, strict=False):
        fields = frame[frame["name"] == name].pivot(index=y, columns="k", values=value)
        fields = fields.reindex(order)[ks].to_numpy(float)
        image = ax.imshow(fields, cmap="cividis", norm=norm, aspect="auto")
        for (row, column), number in np.ndenumerate(fields):
            if np.isfinite(number):
                printed = theirs.get((name, order[row], ks[column]))
                told = text.format(number) + (f"  ○{text.format(printed)}" if printed else "")
                colour = "white" if norm(number) < 0.5 else "black"
                ax.text(column, row, told, ha="center", va="center", size=7, color=colour)
        ax.set(title=name, xlabel="k")
        ax.set_xticks(range(len(ks)), ks)
        ax.set_yticks(range(len(order)), order)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
    label = f"{value}; dark is better"
    label += "; hollow circle: printed in the paper" if len(theirs) else ""
    figure.colorbar(image, ax=axes, location="bottom", shrink=0.6, aspect=40, label=label)
    return figure
