"""DIVA: k-anonymous tables that keep the required diversity (diva2021).

With ``over_bound="star"``, three things go beyond the paper. Where the search ends without a
table, or leaves fewer than k rows over, an integer program decides whether one exists. It may
suppress values on which a cluster agrees; they are shown again where the bounds allow it. And a
table that satisfies everything gets no star.

``info`` has the ``order`` in which constraints were coloured, ``components`` of the graph,
``candidates_tried``, ``backtracks`` (an error after a search has these four), ``coloured_by``
(``"search"``, ``"exact test"`` or ``"nothing to do"``), ``diverse_rows``, ``diverse_clusters``,
and ``stars_by_phase`` of ``suppress``, ``anonymize`` and ``integrate``.
"""

from anonpaper.partition.diva.algorithms import diva

__all__ = ["diva"]
