"""Pictures of DIVA: its steps on ten rows, and its accuracy beside ordinary algorithms."""

from __future__ import annotations

from collections.abc import Sequence

import diva2021
import pandas as pd
from matplotlib.axes import Axes
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
    axes: Sequence[Axes], runs: pd.DataFrame, x: str, measures: Sequence[str],
    order: Sequence[str], spread: str = "range",
) -> None:  # fmt: skip
    """Draw measures of the runs that found a table; crosses are means over all runs.

    A run without a table counts as a table full of suppressed values. The panels say how many
    such runs there are, and crosses show what they do to the mean.
    """
    found = runs["outcome"] == "found"
    failing = [name for name in order if not found[runs["algorithm"] == name].all()]
    for ax, measure in zip(axes, measures, strict=True):
        plots.lines(ax, runs[found], x, measure, "algorithm", order=order, spread=spread)
        for name in failing:
            means = runs[runs["algorithm"] == name].groupby(x)[measure].mean()
            color = plots.LOOKS[list(order).index(name)]["color"]
            ax.plot(means.index, means.to_numpy(), "x", color=color, markersize=5, zorder=3)
        told = [f"no table: {name} {(~found & (runs['algorithm'] == name)).sum()} of "
                f"{(runs['algorithm'] == name).sum()}" for name in failing]  # fmt: skip
        told += ["x: mean that counts them as stars"] * bool(failing)
        ax.set_title("\n".join(told) or "a table for every set", fontsize=7)


def draw_strategies(
    runs: pd.DataFrame, x: str, measures: Sequence[str], order: Sequence[str],
    sets: Sequence[str], *, base: str,
) -> Figure:  # fmt: skip
    """Draw measures of the strategies by rule, and the difference of the last one from `base`.

    `sets` tell one set of constraints from another: differences are taken on the same set.
    """
    rules = list(diva2021.RULES_OVER_BOUND)
    apart = diva2021.differences(runs, sets, base=base)
    figure, axes = plots.subplots(columns=2, rows=2, cols=len(measures) + 1, height=4.4)
    for line, rule in zip(axes, rules, strict=True):
        for ax, measure in zip(line, [*measures, measures[-1]], strict=True):
            frame = apart if ax is line[-1] else runs
            part = frame[frame["over bound"] == rule]
            plots.lines(ax, part, x, measure, "algorithm", order=order, spread="quartiles")
        failed = runs[(runs["over bound"] == rule) & (runs["outcome"] != "found")]
        number = failed["algorithm"].value_counts().reindex(order, fill_value=0)
        told = ", ".join(f"{name} {count}" for name, count in number.items())
        of = (runs["over bound"] == rule).sum() // len(order)
        titles = (f"rule: {rule}", f"no table, drawn as stars, of {of} sets:\n{told}",
                  f"{measures[-1]}, set by set")  # fmt: skip
        for ax, title in zip(line, titles, strict=True):
            ax.set_title(title, fontsize=7)
        line[-1].set(ylabel=f"difference from {base}")
        line[-1].axhline(0, color="0.7", zorder=0)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=6)
    return figure
