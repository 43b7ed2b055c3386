"""Ten people, and pictures of them: what bits join, and the tables that chromosomes publish."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from anonpaper import measure, plots
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Microdata
from anonpaper.publish import recode
from anonpaper.recoding import Recoding
from anonpaper.repair.encoding import granularize, in_preorder


def ten_people() -> Microdata:
    """Return ten people with four ages, two sexes and four kinds of work: seven bits."""
    kinds = {"p": "private", "o": "own", "f": "federal", "s": "state"}
    people = pd.DataFrame({
        "age": [23, 24, 27, 31, 33, 38, 41, 44, 46, 52],
        "sex": list("FFMFMMFFMM"),
        "work": [kinds[letter] for letter in "sfspopopsf"],
    })  # fmt: skip
    tree = [["private", "business", "*"], ["federal", "government", "*"],
            ["own", "business", "*"], ["state", "government", "*"]]  # fmt: skip
    m = granularize(Microdata(people, qi=["age", "sex", "work"]), {"age": 10})
    return in_preorder(m, {"work": Hierarchy(tree)})


def draw_bits(m: Microdata, bits: str) -> Figure:
    """Draw each domain as a chain of values with bits between them; joined values share a box."""
    r = Recoding.decode(m.attributes, bits)
    figure, axes = plots.subplots(columns=2, rows=m.d, cols=1, height=0.45 * m.d + 0.1)
    waiting = iter(bits)
    for ax, attribute, box_of in zip(axes, m.attributes, r.maps, strict=True):
        for number in range(box_of.max() + 1):
            inside = np.flatnonzero(box_of == number)
            ends = inside[0] + 0.06, inside[-1] + 0.94
            ax.fill_between(ends, 0.1, 0.9, color=plots.PALE[number], linewidth=0)
        for at, value in enumerate(attribute.values):
            ax.text(at + 0.5, 0.5, str(value), ha="center", va="center", fontsize=8)
            if at > 0:
                ax.text(at, 0.5, next(waiting), ha="center", va="center", size=9, weight="bold")
        ax.text(-0.1, 0.5, attribute.name, ha="right", va="center", fontsize=8)
        ax.set(xlim=(-0.6, 4.1), ylim=(0, 1))
        ax.set_axis_off()
    return figure


def draw_step(m: Microdata, chromosomes: dict[str, str], k: int, preference) -> Figure:
    """Draw the table that each chromosome publishes, its rows in the colours of their classes."""
    panels = []
    for name, bits in chromosomes.items():
        release = recode(m, Recoding.decode(m.attributes, bits))
        loss, bias = measure.nwp(release), measure.necd(release)
        kept = "" if measure.effective_k(release) >= k else "not "
        title = f"{name}\n{bits}: {kept}{k}-anonymous\nNWP {loss:.2f}, NECD {bias:.2f}, "
        title += f"ach {measure.ach(release, preference):.2f}"
        classes = release.frame.groupby(m.qi, sort=False, observed=True).ngroup()
        colours = [[plots.PALE[number]] * m.d for number in classes]
        panels.append((title, release.frame[m.qi], colours, {}))
    return plots.tables(panels)
