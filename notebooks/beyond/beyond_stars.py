"""Stars on projections of whole tables, algorithm by algorithm (stars_to_the_optimum)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anonpaper.measure import stars
from anonpaper.microdata import Microdata
from anonpaper.partition.hilbert import hilbert
from anonpaper.partition.mondrian import mondrian
from anonpaper.partition.refined import tp_refined
from anonpaper.partition.tp import tp, tp_plus
from anonpaper.publish import suppress

#: What promises frequency l-diversity of a table that can have it, and takes whole tables.
DIVERSE = {
    "TP": tp,
    "TP+": tp_plus,
    "Hilbert": hilbert,
    "Mondrian": lambda m, l: mondrian(m, l, l),
    "TP refined": tp_refined,
}


def stars_by_algorithm(
    *, table: str, qi: Sequence[str], l: int, tables: Mapping[str, Microdata]
) -> dict[str, object]:
    """Return the stars that each algorithm of `DIVERSE` needs on a projection, and its size."""
    m = tables[table].with_roles(qi=list(qi))
    needed = {name: stars(suppress(m, algorithm(m, l))) for name, algorithm in DIVERSE.items()}
    return {"d": m.d, "n": m.n} | {name: int(number) for name, number in needed.items()}
