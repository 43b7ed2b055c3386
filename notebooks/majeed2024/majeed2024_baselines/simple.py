"""The two baselines that the package has, and what the others share.

LD: l-diversity by full-domain generalization (A. Machanavajjhala, D. Kifer, J. Gehrke, M.
Venkitasubramaniam, TKDD 1(1), 2007), on the lattice of Incognito (SIGMOD 2005). Distinct diversity
is our reading: frequency and entropy 2-diversity are impossible on these tables. Of the nodes that
meet k and l the one of least loss (NCP) is taken, without suppression.

MRMondrian: X. Zhang, L. Qi, W. Dou, Q. He, C. Leckie, R. Kotagiri, Z. Salcic, IEEE Trans. Big Data
8(1), 2022, of which only the abstract was at hand: cut in rounds until a part fits into memory,
then Mondrian within the part. The result is Mondrian's whatever the memory. No noise is added, no
tree index kept, and medians are exact.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import entropy
from scipy.stats.contingency import association, crosstab

from anonpaper.errors import check_integer
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.partition.mondrian import mondrian
from anonpaper.principles import require_diverse
from anonpaper.publish import Release, recode, shallow_generalize
from anonpaper.recoders.lattice import full_domain


def l_diversity(m: Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> Release:
    """Generalize every attribute to one level so that the table is k-anonymous and l-diverse."""
    return recode(m, full_domain(m, k, hierarchies, l, diversity="distinct"))


def mrmondrian(m: Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> Release:
    """Publish Mondrian's classes."""
    p = mondrian(m, k, l, diversity="distinct")
    return shallow_generalize(m, Partition(p.labels, p.info, f"MRMondrian, k = {k}"), hierarchies)


def checked(m: Microdata, k: int, l: int | None) -> tuple[int, int | None]:
    """Return k and l if the table has as many rows and sensitive values, or raise."""
    return check_integer("k", k, 2, m.n), None if l is None else require_diverse(m, l, "distinct")


def cramers_v(a: np.ndarray, b: np.ndarray) -> float:
    """Return Cramér's V of two columns of codes, from 0 (independent or constant) to 1."""
    table = crosstab(a, b).count
    return float(association(table)) if min(table.shape) > 1 else 0.0


def mutual_information(joint: np.ndarray) -> float:
    """Return the mutual information of a joint distribution (or of counts), in nats."""
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return max(float(entropy(joint.ravel(), independent.ravel())), 0.0)
