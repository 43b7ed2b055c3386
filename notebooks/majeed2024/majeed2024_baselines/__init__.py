"""Seven methods that majeed2024 compares its own with, each from its published description.

Names end in ``-core`` where only an abstract is known. Of DCA we know the title alone: it is left
out. All take ``(m, k, l, hierarchies, *, seed)`` and return a release. With ``l=None`` only k is
enforced, as section 1.2 describes existing methods. All publish the lowest common level of the
hierarchies, as the proposed method does, so that measures compare groupings.

LD: l-diversity by full-domain generalization (A. Machanavajjhala, D. Kifer, J. Gehrke, M.
Venkitasubramaniam, TKDD 1(1), 2007), on the lattice of Incognito (SIGMOD 2005). Distinct diversity
is our reading: frequency and entropy 2-diversity are impossible on these tables. Of the nodes that
meet k and l the one of least loss (NCP) is taken, without suppression.

MRMondrian: X. Zhang, L. Qi, W. Dou, Q. He, C. Leckie, R. Kotagiri, Z. Salcic, IEEE Trans. Big Data
8(1), 2022, of which only the abstract was at hand: cut in rounds until a part fits into memory,
then Mondrian within the part. The result is Mondrian's whatever the memory. No noise is added, no
tree index kept, and medians are exact.
"""

import anonpaper as ap
from majeed2024_baselines.afa import afa_core
from majeed2024_baselines.dhkmeans import dhkmeans_core
from majeed2024_baselines.hyobscure import hyobscure
from majeed2024_baselines.lopub import lopub
from majeed2024_baselines.sdda import sdda


def l_diversity(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Generalize every attribute to one level so that the table is k-anonymous and l-diverse."""
    return ap.recode(m, ap.full_domain(m, k, hierarchies, l, diversity="distinct"))


def mrmondrian(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Publish Mondrian's classes."""
    return ap.shallow_generalize(m, ap.mondrian(m, k, l, diversity="distinct"), hierarchies)


#: Name in tables and figures -> method, in the paper's order.
BASELINES = {
    "LD": l_diversity,
    "AFA-core": afa_core,
    "MRMondrian": mrmondrian,
    "LoPub": lopub,
    "DHkmeans-LD-core": dhkmeans_core,
    "SDDA": sdda,
    "HyObscure": hyobscure,
}
