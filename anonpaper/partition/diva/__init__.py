"""DIVA: k-anonymous tables that keep the required diversity (diva2021).

With ``over_bound="star"``, three things go beyond the paper. An integer program decides where the
search ends without a table. It may suppress values on which a cluster agrees; they are shown again
where bounds allow it. A table that satisfies everything gets no star. ``info`` has the
``order`` in which constraints were coloured, ``components`` of the graph, ``candidates_tried``,
``backtracks`` (also an error has these), ``coloured_by`` ("search", "exact test" or "nothing to
do"), ``diverse_clusters``, and ``stars_by_phase``.
"""

from anonpaper.partition.diva.algorithms import diva

__all__ = ["diva"]
