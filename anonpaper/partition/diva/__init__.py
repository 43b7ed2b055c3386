"""DIVA: k-anonymous tables that keep the required diversity (diva2021).

``algorithms`` has the paper's algorithms in its order. ``clusterings`` and ``integrate`` make open
choices of the paper; ``beyond`` and ``existence`` are not in the paper.
"""

from anonpaper.partition.diva.algorithms import diva

__all__ = ["diva"]
