"""LD: l-diversity by full-domain generalization.

A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, TKDD 1(1), 2007, on the lattice of
Incognito (SIGMOD 2005). Distinct diversity is our reading: frequency and entropy 2-diversity are
impossible on these tables. Of the nodes that meet k and l the one of least loss (NCP) is taken,
without suppression.
"""

from __future__ import annotations

from anonpaper.microdata import Microdata
from anonpaper.publish import Release, recode
from anonpaper.recoders.lattice import full_domain


def l_diversity(m: Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> Release:
    """Generalize every attribute to one level so that the table is k-anonymous and l-diverse."""
    return recode(m, full_domain(m, k, hierarchies, l, diversity="distinct"))
