"""Pictures of TP: its phases on a table of a few rows."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from anonpaper import plots, suppress, tp
from anonpaper.microdata import Microdata

RESIDUE, NEW = "#FFAABB", "#EE8866"


def draw_rows(m: Microdata, l: int) -> Figure:
    """Draw a table, its QI-groups, what TP moves to the residue, and what is published."""
    p = tp(m, l)
    removed = (p.labels == p.n_groups - 1) & (p.info["residue_size"] > 0)
    group = m.cells.tuple_of_row
    sets = pd.Series(group, m.frame.index).add(1).astype(str).radd("Q")
    after = sets.mask(removed, "R")
    names = [*m.qi, m.sensitive]
    original = m.frame[names].astype(str)
    published = suppress(m, p).frame[names].astype(str).set_axis(original.index)
    counts = original.loc[removed, m.sensitive].value_counts(sort=False).rename("rows of R")
    most = counts.to_frame().assign(allowed=f"{removed.sum() / l:g}")
    stars = int((published == "*").to_numpy().sum())
    steps = [("1: groups of equal quasi-identifiers", original, sets),
             (f"2: phase {p.info['phase']} moves {removed.sum()} rows to R", original, after),
             (f"4: published, {stars} stars", published, after)]  # fmt: skip
    shown = []
    for title, texts, labels in steps:
        colour = [
            plots.PALE[q] if s != "R" else RESIDUE for s, q in zip(labels, group, strict=True)
        ]
        texts = texts.assign(set=labels)
        options = {"bold": texts.isin(["*", "R"]), "left": texts.index}
        shown.append((title, texts, [[one] * texts.shape[1] for one in colour], options))
    colours = [[RESIDUE] * 2] * len(most)
    shown.insert(2, (f"3: R holds a value at most |R| / {l} times", most, colours,
                     {"left": most.index}))  # fmt: skip
    return plots.tables(shown)


def draw_counts(steps: pd.DataFrame) -> Figure:
    """Draw the table of `anonpaper.tp_steps`, a panel per step; what grew in it is orange."""
    shown, before = [], None
    for step in dict.fromkeys(steps.index.get_level_values("step")):
        now = steps.loc[step]
        grown = now > (now if before is None else before)
        colours = [[NEW if new else None for new in row] for row in grown.to_numpy()]
        shown.append(
            (step, now, colours, {"left": [f"{s}: {n}" for s, n in now.sum(axis=1).items()]})
        )
        before = now
    return plots.tables(shown)
