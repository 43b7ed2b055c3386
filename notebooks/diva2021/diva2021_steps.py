"""Pictures of DIVA: its steps on ten rows, and its accuracy beside ordinary algorithms."""

from __future__ import annotations

from collections.abc import Sequence

import diva2021
import pandas as pd
from matplotlib.figure import Figure

from anonpaper import plots, suppress
from anonpaper.constraints import DiversityConstraint
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata


def steps_of(
    m: Microdata, constraints: Sequence[DiversityConstraint], p: Partition
) -> list[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Return title, texts and colours of every step of DIVA; colours are places in plots.PALE."""
    frame = m.frame[m.qi].astype(str)
    none = pd.DataFrame(None, frame.index, m.qi, dtype="Int64")
    targets, clusters, groups = none.copy(), none.copy(), none.copy()
    for number, constraint in enumerate(constraints):
        targets.loc[constraint.target_rows(m), list(constraint.target)] = number
    for number, rows in enumerate(p.groups()):
        served = [i for i, c in enumerate(constraints) if c.target_rows(m)[rows].all()]
        if number < p.info["diverse_clusters"]:
            clusters.iloc[rows] = served[0]
        groups.iloc[rows] = number
    groups = clusters.fillna(groups)
    published = suppress(m, p).frame[m.qi].astype(str).set_axis(frame.index)
    return [
        ("1: values that must stay visible", frame, targets),
        ("2: colouring, a cluster for each constraint", frame, clusters),
        ("3: k-member groups the other rows", frame, groups),
        ("4: values that differ in a group become *", published, groups),
    ]


def draw_steps(m: Microdata, constraints: Sequence[DiversityConstraint], p: Partition) -> Figure:
    """Draw a table of a few rows after every step of DIVA."""
    figure, axes = plots.subplots(columns=2, rows=2, cols=2, height=0.5 + 0.32 * m.n)
    for ax, (title, texts, colours) in zip(axes.flat, steps_of(m, constraints, p), strict=True):
        shown = [[None if pd.isna(at) else plots.PALE[at] for at in row] for row in colours.values]
        plots.cells(ax, texts, shown, left=texts.index)
        ax.set_title(title)
    return figure


def draw_accuracy(
    runs: pd.DataFrame, x: str, measures: Sequence[str], order: Sequence[str],
    spread: str = "range", sets: Sequence[str] = (), base: str = "",
) -> Figure:  # fmt: skip
    """Draw measures of the runs that found a table, and the last one's difference from `base`.

    `sets` tell one set of constraints from another: differences are taken on the same set.
    """
    number = len(measures) + bool(base)
    figure, axes = plots.subplots(columns=2, cols=number)
    for ax, measure in zip(axes, measures, strict=False):
        plots.lines(ax, runs, x, measure, "algorithm", order=order, spread=spread)
    if base:
        apart = diva2021.differences(runs, sets, base=base)
        plots.lines(axes[-1], apart, x, measures[-1], "algorithm", order=order, spread=spread)
        axes[-1].set(ylabel=f"{measures[-1]},\nless {base}")
        axes[-1].axhline(0, color="0.7", zorder=0)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=6)
    return figure


def draw_found(runs: Sequence[pd.DataFrame], x: Sequence[str], order: Sequence[str]) -> Figure:
    """Draw for how many of the sets each strategy finds a table, along several axes."""
    figure, axes = plots.subplots(columns=2, cols=len(runs), sharey=True)
    for ax, part, name in zip(axes, runs, x, strict=True):
        found = part.assign(found=part["outcome"] == "found").groupby([name, "algorithm"])["found"]
        found = found.mean().reset_index()
        if pd.api.types.is_numeric_dtype(found[name]):
            plots.lines(ax, found, name, "found", "algorithm", order=order)
        else:
            plots.bars(ax, found, name, "found", "algorithm", order=order)
        ax.set(ylabel="share of sets with a table", ylim=(-0.03, 1.03))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=6)
    return figure
