"""Pictures of small tables: the phases of TP, and releases side by side."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from anonpaper import plots
from anonpaper.publish import Release

NEW = "#EE8866"


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
    shown, before = [], None
    for step in dict.fromkeys(steps.index.get_level_values("step")):
        now = steps.loc[step]
        grown = now > (now if before is None else before)
        colours = [[NEW if new else None for new in row] for row in grown.to_numpy()]
        left = [f"{name}: {rows}" for name, rows in now.sum(axis=1).items()]
        shown.append((step, now, colours, {"left": left}))
        before = now
    return plots.tables(shown)
