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
    values = m.sensitive_attribute.size
    cost, labels = _search(np.ascontiguousarray(codes), sensitive, values, l, objective == "rows")
    info, name = {"cost": int(cost), "objective": objective}, f"exhaustive search, l = {l}"
    return Partition.of_cells(cells, cell, dense_labels(labels), None, info, name)


_INFEASIBLE = np.iinfo(np.int64).max // 2


@loop
def _search(codes, sensitive, m, l, count_rows):
    """Return the least cost of all rows, and the groups: best(S) over all sets of rows S."""
    n = len(codes)
    full = (1 << n) - 1
    best = np.full(full + 1, _INFEASIBLE, np.int64)
    first_group = np.zeros(full + 1, np.int64)
    cost = np.empty(full + 1, np.int64)
    for group in range(1, full + 1):
        cost[group] = _cost(codes, sensitive, m, l, count_rows, group)
    best[0] = 0
    for rows in range(1, full + 1):
        lowest = rows & -rows
        others = rows ^ lowest
        # All subsets of `others`, joined with the lowest row.
        subset = others
        while True:
            group = subset | lowest
            total = cost[group] + best[rows ^ group]
            if total < best[rows]:
                best[rows] = total
                first_group[rows] = group
            if subset == 0:
                break
            subset = (subset - 1) & others
    labels = np.empty(n, np.int64)
    rows, label = full, 0
    while rows:
        for i in range(n):
            if first_group[rows] >> i & 1:
                labels[i] = label
        rows ^= first_group[rows]
        label += 1
    return best[full], labels


@loop
def _cost(codes, sensitive, m, l, count_rows, group):
    """Stars, or rows with a star, of one group; infeasible if it is not l-eligible."""
    n, d = codes.shape
    counts = np.zeros(m, np.int64)
    first, size = -1, 0
    for i in range(n):
        if group >> i & 1:
            counts[sensitive[i]] += 1
            size += 1
            if first < 0:
                first = i
    if l * counts.max() > size:
        return _INFEASIBLE
    starred = 0
    for j in range(d):
        for i in range(n):
            if group >> i & 1 and codes[i, j] != codes[first, j]:
                starred += 1
                break
    if count_rows:
        return size if starred else 0
    return size * starred
