"""MRMondrian: Mondrian on parts of a table that is too large for one machine.

X. Zhang, L. Qi, W. Dou, Q. He, C. Leckie, R. Kotagiri, Z. Salcic, IEEE Trans. Big Data 8(1), 2022,
of which only the abstract was at hand: cut in rounds until a part fits into memory, then Mondrian
within the part. The result is Mondrian's whatever the memory, so that Mondrian makes it here. No
noise is added, no tree index kept, and medians are exact.
"""

from __future__ import annotations

from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.partition.mondrian import mondrian
from anonpaper.publish import Release, shallow_generalize


def mrmondrian(m: Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> Release:
    """Publish Mondrian's classes."""
    p = mondrian(m, k, l, diversity="distinct")
    return shallow_generalize(m, Partition(p.labels, p.info, f"MRMondrian, k = {k}"), hierarchies)
