"""Pictures: releases side by side, the phases of TP, and the curves of a figure."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from anonpaper import plots
from anonpaper.publish import Release


def draw_releases(releases: Mapping[str, Release]) -> Figure:
    """Draw small releases, each below its title; rows that look alike have one colour."""
    shown = []
    for title, release in releases.items():
        m, frame = release.microdata, release.frame[[*release.microdata.qi]].astype(str)
        alike = frame.groupby(m.qi, sort=False).ngroup() % len(plots.PALE)
        texts = frame.assign(**{m.sensitive: m.frame[m.sensitive].astype(str).to_numpy()})
        colours = [[plots.PALE[number]] * texts.shape[1] for number in alike]
        shown.append((title, texts, colours, {"left": [str(name) for name in m.frame.index]}))
    return plots.tables(shown)


def draw_counts(steps: pd.DataFrame) -> Figure:
    """Draw the table of `anonpaper.tp_steps`, a panel per step; what grew in it is orange."""
    shown = []
    for step in dict.fromkeys(steps.index.get_level_values("step")):
        now = steps.loc[step]
        grown = (now > (shown[-1][1] if shown else now)).to_numpy()
        colours = [[plots.PALE[4] if new else None for new in row] for row in grown]
        left = [f"{name}: {rows}" for name, rows in now.sum(axis=1).items()]
        shown.append((step, now, colours, {"left": left}))
    return plots.tables(shown)


def draw_panels(
    frame: pd.DataFrame, x: str, y: str, title: str, said: str, by: str = "algorithm", **look
) -> Figure:
    """Draw the curves of each table in a panel, and above them what the paper's words show."""
    names = sorted(frame["table"].unique())
    figure, axes = plots.subplots(columns=2, cols=len(names), height=3.1, squeeze=False)
    for ax, name in zip(axes.flat, names, strict=True):
        plots.lines(ax, frame[frame["table"] == name], x, y, by, **look)
        label = "KL divergence, nats" if y == "divergence" else y
        ax.set(title=name, ylim=0, ylabel=f"{label} (mean)")
    legend = figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    legend.set_title(f"{title}\n{said}")
    legend.get_title().set_multialignment("center")
    return figure
