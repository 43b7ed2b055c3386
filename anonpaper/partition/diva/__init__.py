"""DIVA: k-anonymous tables that keep the required diversity (diva2021).

``algorithms`` has the paper's algorithms in its order. ``clusterings`` and ``integrate`` make open
choices of the paper; ``beyond`` and ``existence`` are not in the paper. They run with
``over_bound="star"`` alone, which changes four things:

- a cluster that would exceed another constraint's upper bound has that value suppressed, where
  ``"reject"`` rejects it, as the paper does. Values are shown again where the bound allows it;
- if the search finds no table, an integer program decides whether one exists;
- fewer than k left-over rows join clusters;
- a table that satisfies everything gets no star.

``info`` of the result has the ``order`` in which constraints were coloured, ``components`` of the
graph, ``candidates_tried``, ``backtracks``, ``coloured_by`` (``"search"``, ``"exact test"`` or
``"nothing to do"``), ``diverse_rows`` and ``diverse_clusters`` (of the diverse clustering), and
``stars_by_phase`` of ``suppress``, ``anonymize`` and ``integrate``. After a search, an error has
the first four as its ``info``.
"""

from anonpaper.partition.diva.algorithms import diva

__all__ = ["diva"]
