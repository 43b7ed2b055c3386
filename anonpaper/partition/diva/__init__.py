"""DIVA: k-anonymous tables that keep the required diversity (diva2021).

``algorithms`` has the paper's algorithms in its order. ``clusterings`` and ``integrate`` make open
choices of the paper; ``existence`` is not in it. With ``over_bound="star"``, three things change:

- if the search ends without a table, an integer program decides whether one exists. It may
  suppress values on which a cluster agrees, which are shown again where the bounds allow it;
- it also decides where fewer than k rows are left over;
- a table that satisfies everything gets no star.

``info`` of the result has the ``order`` in which constraints were coloured, ``components`` of the
graph, ``candidates_tried``, ``backtracks``, ``coloured_by`` (``"search"``, ``"exact test"`` or
``"nothing to do"``), ``diverse_rows`` and ``diverse_clusters`` (of the diverse clustering), and
``stars_by_phase`` of ``suppress``, ``anonymize`` and ``integrate``. After a search, an error has
the first four as its ``info``.
"""

from anonpaper.partition.diva.algorithms import diva

__all__ = ["diva"]
