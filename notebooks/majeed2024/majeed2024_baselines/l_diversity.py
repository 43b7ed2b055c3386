"""LD: l-diversity by full-domain generalization.

Source: A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, *l-diversity: privacy
beyond k-anonymity*, TKDD 1(1), 2007, with the lattice of K. LeFevre, D. DeWitt, R. Ramakrishnan,
*Incognito*, SIGMOD 2005.

How sure: the principle and the search by monotony are well known and certain. That majeed2024
means the full-domain form, and distinct diversity, is our reading: on its tables frequency and
entropy 2-diversity are impossible (one value has 76 to 95 % of the rows).

Simplified: of all nodes that meet k and l the one of least information loss (NCP) is taken; the
original leaves the choice among minimal nodes open. No rows are suppressed, so one rare person can
lift an entire column.
"""

from __future__ import annotations

from collections.abc import Mapping

from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Microdata
from anonpaper.publish import Release, recode
from anonpaper.recoders.lattice import full_domain


def l_diversity(
    m: Microdata, k: int, l: int | None, hierarchies: Mapping[object, Hierarchy], *, seed: int = 0
) -> Release:
    """Generalize every attribute to one level so that the table is k-anonymous and l-diverse."""
    return recode(m, full_domain(m, k, hierarchies, l, diversity="distinct"))
