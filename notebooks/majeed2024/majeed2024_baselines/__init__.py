"""Seven methods that majeed2024 compares its own with, each from its published description.

Names end in ``_core`` where only an abstract is known. Of DCA we know the title alone: it is left
out. All take ``(m, k, l, hierarchies, *, seed)`` and return a release. With ``l=None`` only k is
enforced, as section 1.2 describes existing methods. All publish the lowest common level of the
hierarchies, as the proposed method does, so that measures compare groupings.
"""

from majeed2024_baselines.afa import afa_core
from majeed2024_baselines.dhkmeans import dhkmeans_core
from majeed2024_baselines.hyobscure import hyobscure
from majeed2024_baselines.lopub import lopub
from majeed2024_baselines.sdda import sdda
from majeed2024_baselines.simple import l_diversity, mrmondrian

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
