"""DIVA: k-anonymous tables that keep the diversity asked for (diva2021).

:mod:`~anonpaper.partition.diva.algorithm` has the paper's algorithms in its order, graph and
colouring included. It calls, of what the paper leaves open: ``targets``, what the constraints ask
of clusters; ``clusterings``, the colours of a node; ``integrate``, the choice in the last step.
``search`` does not search: it keeps the budget and counts. ``beyond``, ``existence`` and
``augmented`` are not in the paper.
"""

from anonpaper.partition.diva.algorithm import diva
from anonpaper.partition.diva.augmented import diva_augmented

__all__ = ["diva", "diva_augmented"]
