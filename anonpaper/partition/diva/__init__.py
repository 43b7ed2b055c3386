"""DIVA: k-anonymous tables that keep the required diversity (diva2021).

``diva`` has the paper's algorithms in its order. ``clusterings`` and ``integrate`` make open
choices of the paper; ``beyond``, ``existence`` and ``augmented`` are not in the paper.
"""

from anonpaper.partition.diva.augmented import diva_augmented
from anonpaper.partition.diva.diva import diva

__all__ = ["diva", "diva_augmented"]
