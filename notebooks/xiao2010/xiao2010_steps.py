"""Pictures of TP: its phases on a table of a few rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anonpaper import plots, suppress, tp
from anonpaper.microdata import Microdata

#: Background colours of the QI-groups, and of the residue R.
PALE = ("#77AADD", "#99DDFF", "#44BB99", "#BBCC33", "#EEDD88")
RESIDUE = "#FFAABB"


def draw_rows(m: Microdata, l: int) -> Figure:
    """Draw a table, its QI-groups, what TP moves to the residue, and what is published."""
    p = tp(m, l)
    removed = p.labels == p.n_groups - 1 if p.info["residue_size"] else np.zeros(m.n, bool)
    group = m.cells.tuple_of_row
    sets = pd.Series(group, m.frame.index).add(1).astype(str).radd("Q")
    after = sets.mask(removed, "R")
    names = [*m.qi, m.sensitive]
    original = m.frame[names].astype(str)
    published = suppress(m, p).frame[names].astype(str).set_axis(original.index)
    stars = int((published == "*").to_numpy().sum())
    figure, axes = plots.subplots(columns=2, rows=2, cols=2, height=0.9 + 0.36 * m.n)
    for ax, (title, texts, labels) in zip(
        axes.flat[[0, 1, 3]],
        [
            ("1: groups of equal quasi-identifiers", original, sets),
            (f"2: phase {p.info['phase']} moves {removed.sum()} rows to R", original, after),
            (f"4: published, {stars} stars", published, after),
        ],
        strict=True,
    ):
        _rows(ax, texts, labels, group)
        ax.set_title(title)
    _residue(axes[1, 0], m.frame.loc[removed, m.sensitive].astype(str), l)
    return figure


def _rows(ax: Axes, texts: pd.DataFrame, labels: pd.Series, group: np.ndarray) -> None:
    """Write a table, each row in the colour of its set."""
    shown = texts.assign(set=labels)
    colours = [
        [RESIDUE if label == "R" else PALE[number % len(PALE)]] * shown.shape[1]
        for label, number in zip(labels, group, strict=True)
    ]
    plots.cells(ax, shown, colours, bold=shown.isin(["*", "R"]), left=shown.index)


def _residue(ax: Axes, values: pd.Series, l: int) -> None:
    """Draw how often each sensitive value is in the residue, and the most that is allowed."""
    counts = values.value_counts(sort=False)
    ax.bar(counts.index, counts, 0.6, color=RESIDUE, edgecolor="0.3")
    ax.axhline(len(values) / l, color="0.2", linestyle="--")
    most = f"most allowed: |R| / l = {len(values) / l:g}"
    ax.text(len(counts) - 0.5, len(values) / l, most, ha="right", va="bottom", fontsize=7)
    allowed = counts.max() <= len(values) / l
    ax.set(title=f"3: R is {'' if allowed else 'not '}{l}-eligible", ylabel="rows of R",
           ylim=(0, len(values) / l + 1), yticks=range(int(len(values) / l) + 2))  # fmt: skip
    ax.grid(visible=False, axis="x")


def draw_counts(steps: pd.DataFrame, l: int) -> Figure:
    """Draw the table of `anonpaper.tp_steps`, a panel per step, a square per row.

    Orange squares came in this step. A square above the dashed line is one row too many: its
    value has more than one row in l of its set.
    """
    names = list(dict.fromkeys(steps.index.get_level_values("step")))
    rows = (len(names) + 1) // 2
    figure, axes = plots.subplots(columns=2, rows=rows, cols=2, height=1.9 * rows, sharey=True)
    before = steps.loc[names[0]]
    highest = int(max(steps.to_numpy().max(), -(-steps.sum(axis=1).max() // l)))
    for ax in axes.flat[len(names) :]:
        ax.set_visible(False)
    for ax, step in zip(axes.flat, names, strict=False):
        now = steps.loc[step]
        places, labels = [], []
        for number, (name, counts) in enumerate(now.iterrows()):
            first = number * (now.shape[1] + 1)
            limit = counts.sum() / l
            ax.plot([first - 0.5, first + now.shape[1] - 0.5], [limit, limit], "k--", lw=1)
            middle = first + (now.shape[1] - 1) / 2
            ax.text(middle, highest + 0.4, f"{name}: {counts.sum()}", ha="center", fontsize=7)
            for place, (value, count) in enumerate(counts.items(), start=first):
                came = max(0, count - before.loc[name, value])
                _squares(ax, place, count - came, count)
                places.append(place)
                labels.append(str(value)[:1])
        ax.set_xticks(places, labels, fontsize=7)
        ax.set(title=step, ylim=(0, highest + 1), yticks=range(highest + 1), ylabel="rows")
        ax.tick_params(axis="x", length=0)
        ax.grid(visible=False)
        before = now
    return figure


def _squares(ax: Axes, place: float, old: int, count: int) -> None:
    """Draw the rows of one value of one set, those that came in this step in orange."""
    for level in range(count):
        colour = "#EE8866" if level >= old else "#BBBBBB"
        ax.bar(place, 0.9, 0.85, bottom=level + 0.05, color=colour, edgecolor="0.3", lw=0.5)
