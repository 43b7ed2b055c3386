"""Pictures of the search on a few rows: what bits join, and one step from parents to child."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from anonpaper import measure, plots
from anonpaper.microdata import Microdata
from anonpaper.publish import recode
from anonpaper.recoders.evaluation import achievement
from anonpaper.recoding import Recoding


def one_step(one: str, other: str, cut: int, flipped: int) -> dict[str, str]:
    """Return two parents, their child by crossover after bit `cut`, and the child mutated."""
    child = one[:cut] + other[cut:]
    place = flipped - 1
    mutant = child[:place] + str(1 - int(child[place])) + child[place + 1 :]
    return {
        "first parent": one,
        "second parent": other,
        f"child: first {cut} bits of one, rest of the other": child,
        f"mutation: bit {flipped} flips": mutant,
    }


def draw_bits(m: Microdata, bits: str) -> Figure:
    """Draw each domain as a chain of values with bits between them; joined values share a box."""
    r = Recoding.decode(m.attributes, bits)
    figure, axes = plots.subplots(columns=2, rows=m.d, cols=1, height=0.45 * m.d + 0.1)
    first = 0
    for ax, attribute in zip(axes, m.attributes, strict=True):
        own = bits[first : first + attribute.size - 1]
        at = 0
        for number, part in enumerate(r.sub_domains(attribute.name)):
            ax.fill_between([at + 0.06, at + len(part) - 0.06], 0.1, 0.9, color=plots.PALE[number],
                            linewidth=0)  # fmt: skip
            at += len(part)
        for place, value in enumerate(attribute.values):
            ax.text(place + 0.5, 0.5, str(value), ha="center", va="center", fontsize=8)
        for place, bit in enumerate(own, start=1):
            ax.text(place, 0.5, bit, ha="center", va="center", fontsize=9, weight="bold")
        ax.text(-0.1, 0.5, attribute.name, ha="right", va="center", fontsize=8)
        ax.set(xlim=(-0.6, 4.1), ylim=(0, 1))
        ax.set_axis_off()
        first += attribute.size - 1
    return figure


def draw_step(
    m: Microdata, chromosomes: dict[str, str], k: int, preference: Sequence[float]
) -> Figure:
    """Draw the table that each chromosome publishes, its rows in the colours of their classes."""
    panels = []
    for name, bits in chromosomes.items():
        release = recode(m, Recoding.decode(m.attributes, bits))
        loss, bias = measure.nwp(release), measure.necd(release)
        effective_k = measure.effective_k(release)
        ach = achievement(loss, bias, tuple(preference))
        kept = f"{k}-anonymous" if effective_k >= k else f"not {k}-anonymous"
        title = f"{name}\n{bits}: {kept}\nNWP {loss:.2f}, NECD {bias:.2f}, ach {ach:.2f}"
        classes = release.frame.groupby(m.qi, sort=False, observed=True).ngroup()
        colours = [[plots.PALE[number]] * m.d for number in classes]
        panels.append((title, release.frame[m.qi], colours, {}))
    return plots.tables(panels)
