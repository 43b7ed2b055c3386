"""Stars on projections of whole tables, algorithm by algorithm (stars_to_the_optimum)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anonpaper as ap
from anonpaper.measure import stars

#: What promises frequency l-diversity of a table that can have it, and takes whole tables.
DIVERSE = {
    "TP": ap.tp,
    "TP+": ap.tp_plus,
    "Hilbert": ap.hilbert,
    "Mondrian": lambda m, l: ap.mondrian(m, l, l),
    "TP refined": ap.tp_refined,
}


def stars_by_algorithm(
    *, table: str, qi: Sequence[str], l: int, tables: Mapping[str, ap.Microdata]
) -> dict[str, object]:
    """Return the stars that each algorithm of `DIVERSE` needs on a projection, and its size."""
    m = tables[table].with_roles(qi=list(qi))
    needed = {name: stars(ap.suppress(m, algorithm(m, l))) for name, algorithm in DIVERSE.items()}
    return {"d": m.d, "n": m.n} | {name: int(number) for name, number in needed.items()}
