r"""The optimal l-diverse suppression of a tiny table, by exhaustive search over sets of rows.

Finding it is NP-hard for every l >= 3 (xiao2010, Theorem 4.7), so this module only tests
approximation algorithms. With :math:`c(G)` the cost of publishing G as one group,

.. math:: best(S) = \min_{G \subseteq S,\; \min S \in G,\; G\ l\text{-eligible}} c(G) + best(S - G)
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import loop
from anonpaper.errors import SizeLimitError, check_choice, check_integer
from anonpaper.groups import Partition, dense_labels
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import FrequencyLDiversity, require_eligible
from anonpaper.randomness import generator

__all__ = ["exact"]


@algorithm("the optimum, for a dozen rows", promises={"l": FrequencyLDiversity})
def exact(
    m: Microdata, l: int, objective: Literal["stars", "rows"] = "stars", max_rows: int = 12
) -> Partition:
    """Guarantee frequency l-diversity at the least possible cost, by testing all groupings.

    Parameters
    ----------
    m, l : see :mod:`anonpaper.partition`
    objective : {"stars", "rows"}
        The quantity to minimize: stars (Problem 1) or rows with a star (Problem 2).
    max_rows : int
        Larger tables raise an error; from 1 to 18.

    Returns
    -------
    Partition
        The first optimal grouping in a fixed order. ``info["cost"]`` is the optimum.

    Raises
    ------
    SizeLimitError, ColumnError, ParameterError, InfeasibleError
        More than `max_rows` rows; an unknown objective; see :mod:`anonpaper.partition`.

    References
    ----------
    xiao2010, Problems 1 and 2 (section 3). O(3^n) time and O(2^n) memory: a second for 15 rows, a
    minute for 18.

    Examples
    --------
    >>> m = ap.examples.hospital()
    >>> exact(m, l=2).info["cost"], exact(m, l=2, objective="rows").info["cost"]
    (6, 4)
    """
    max_rows = check_integer("max_rows", max_rows, 1, 18)
    check_choice("objective", objective, ("stars", "rows"))
    if check_microdata(m).n > max_rows:
        raise SizeLimitError(
            f"exhaustive search is for tables of up to {max_rows} rows, this one has {m.n}: "
            "tp and tp_plus approximate the optimum of tables of any size"
        )
    l = require_eligible(m, l)
    cells, cell = m.cells, m.cells.handed_out(generator(0))
    codes, sensitive = cells.tuples[cells.tuple_of_cell[cell]], cells.sensitive[cell]
    inside = (np.arange(2**m.n)[:, None] >> np.arange(m.n)) & 1 == 1  # whether a set has a row
    size, starred = inside.sum(axis=1), np.zeros(2**m.n, np.int64)
    for column in codes.T:
        held = np.where(inside, column, column.max() + 1).min(axis=1)
        starred += np.where(inside, column, -1).max(axis=1) > held
    cost = size * (starred > 0 if objective == "rows" else starred)
    for value in np.unique(sensitive):
        cost[l * inside[:, sensitive == value].sum(axis=1) > size] = _INFEASIBLE
    search = _search.interpreted if m.n <= 12 else _search  # before anything is compiled
    least, labels = search(cost, m.n)
    info, name = {"cost": int(least), "objective": objective}, f"exhaustive search, l = {l}"
    return Partition.of_cells(cells, cell, dense_labels(labels), None, info, name)


_INFEASIBLE = np.iinfo(np.int64).max // 2


@loop
def _search(cost, n):
    """Return the least cost of all rows, and the groups: best(S) over all sets of rows S."""
    best, first_group = np.full_like(cost, _INFEASIBLE), np.zeros_like(cost)
    best[0] = 0
    for rows in range(1, len(cost)):
        lowest = rows & -rows
        others = rows ^ lowest
        subset = others  # all subsets of `others`, joined with the lowest row
        while subset >= 0:
            group = subset | lowest
            total = cost[group] + best[rows ^ group]
            if total < best[rows]:
                best[rows], first_group[rows] = total, group
            subset = (subset - 1) & others if subset else -1
    labels, rows, label = np.empty(n, np.int64), len(cost) - 1, 0
    while rows:
        for i in range(n):
            if first_group[rows] >> i & 1:
                labels[i] = label
        rows ^= first_group[rows]
        label += 1
    return best[-1], labels
