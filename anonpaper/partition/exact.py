r"""The optimal l-diverse suppression of tiny tables (c(G): the cost of G), and of two values.

.. math:: best(S) = \min_{G \subseteq S,\; \min S \in G,\; G\ l\text{-eligible}} c(G) + best(S - G)
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from anonpaper.algorithm import algorithm
from anonpaper.errors import ParameterError, SizeLimitError, check_choice
from anonpaper.groups import Partition, dense_labels
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import FrequencyLDiversity, require_diverse
from anonpaper.randomness import generator

__all__ = ["exact", "optimal_two_diverse"]

_MOST_ROWS, _INFEASIBLE = 12, 2**40


@algorithm("the optimum, for a dozen rows", promises={"l": FrequencyLDiversity})
def exact(m: Microdata, l: int, objective: Literal["stars", "rows"] = "stars") -> Partition:
    """Guarantee frequency l-diversity at the least possible cost, by testing all groupings.

    Parameters
    ----------
    m, l : see :mod:`anonpaper.partition`; more than 12 rows are a SizeLimitError
    objective : {"stars", "rows"}
        The quantity to minimize: stars (Problem 1) or rows with a star (Problem 2).

    Returns
    -------
    Partition
        The first optimal grouping in a fixed order. ``info["cost"]`` is the optimum.

    References
    ----------
    xiao2010, Problems 1 and 2 (section 3). O(4^n) time and O(2^n·n) memory.

    Examples
    --------
    >>> m = ap.examples.hospital()
    >>> exact(m, l=2).info["cost"], exact(m, l=2, objective="rows").info["cost"]
    (6, 4)
    """
    check_choice("objective", objective, ("stars", "rows"))
    if check_microdata(m).n > _MOST_ROWS:
        told = f"exhaustive search is for tables of up to {_MOST_ROWS} rows, this one has {m.n}"
        raise SizeLimitError(f"{told}: tp and tp_plus approximate it for any size")
    l = require_diverse(m, l)
    cells, cell = m.cells, m.cells.handed_out(generator(0))
    codes, sensitive = cells.tuples[cells.tuple_of_cell[cell]], cells.sensitive[cell]
    sets = np.arange(2**m.n)
    inside = (sets[:, None] >> np.arange(m.n)) & 1 == 1  # whether a set has a row
    size, starred = inside.sum(axis=1), np.zeros(2**m.n, np.int64)
    for column in codes.T:
        held = np.where(inside, column, column.max() + 1).min(axis=1)
        starred += np.where(inside, column, -1).max(axis=1) > held
    cost = size * (starred > 0 if objective == "rows" else starred)
    for value in np.unique(sensitive):
        cost[l * inside[:, sensitive == value].sum(axis=1) > size] = _INFEASIBLE
    best, first_group = np.zeros_like(cost), np.zeros_like(cost)
    for rows in sets[1:]:
        groups = sets[rows::-1]  # the largest first
        groups = groups[(groups & ~rows == 0) & (groups & rows & -rows > 0)]
        total = cost[groups] + best[rows ^ groups]
        best[rows], first_group[rows] = total.min(), groups[total.argmin()]
    labels, rows, label = np.empty(m.n, np.intp), sets[-1], 0
    while rows:
        labels[inside[first_group[rows]]] = label
        rows, label = rows ^ first_group[rows], label + 1
    info, name = {"cost": int(best[-1]), "objective": objective}, f"exhaustive search, l = {l}"
    return Partition.of_cells(cells, cell, labels, None, info, name)


@algorithm("the optimum for two sensitive values, each in half of the rows", needs_sensitive=True)
def optimal_two_diverse(m: Microdata) -> Partition:
    """Guarantee 2-diversity with the fewest possible stars, for two sensitive values.

    A frequency 2-diverse group of two values can be split into pairs, one row of either, without
    new stars: a perfect matching in which pairs weigh their stars gives the fewest.

    Parameters
    ----------
    m : Microdata
        A table whose sensitive attribute takes exactly two values, each in half of the rows.

    Returns
    -------
    Partition
        n/2 groups of two rows. ``info["stars"]`` is the optimum of Problem 1.

    References
    ----------
    xiao2010, section 4 (m = 2 as a matching of least weight). O(r³) time and O(r²) memory for the
    r rows of a value that have no partner with equal QI.

    Examples
    --------
    >>> frame = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 0], "ill": list("xyxy")})
    >>> optimal_two_diverse(Microdata(frame, ["a", "b"], "ill")).info["stars"]
    2
    """
    values = np.flatnonzero(check_microdata(m).sensitive_counts)
    if len(values) != 2:
        told = f"exactly two values of {m.sensitive!r}, the table has {len(values)}"
        raise ParameterError(f"optimal_two_diverse needs {told}; tp approximates the optimum")
    require_diverse(m, 2)
    cells, cell = m.cells, m.cells.handed_out(generator(0))
    frame = pd.DataFrame({"tuple": cells.tuple_of_cell[cell], "value": cells.sensitive[cell]})
    # The number of differing attributes is a metric, so by the triangle inequality an optimal
    # matching pairs rows of equal QI as far as possible: the i-th ones of either value.
    by = [frame["tuple"], frame.groupby(["tuple", "value"]).cumcount(), frame["value"]]
    rows = pd.Series(np.arange(m.n), by).unstack(fill_value=-1).to_numpy()
    is_pair = (rows >= 0).all(axis=1)
    left = [np.sort(column[column >= 0]) for column in rows[~is_pair].T]
    codes = [cells.tuples[frame["tuple"][column]] for column in left]
    weights = (codes[0][:, None] != codes[1]).sum(axis=2, dtype=np.int32)
    chosen = linear_sum_assignment(weights)
    pairs = np.vstack([rows[is_pair], np.column_stack([left[0][chosen[0]], left[1][chosen[1]]])])
    labels = np.empty(m.n, np.intp)
    labels[pairs] = pairs.min(axis=1)[:, None]  # pairs are numbered by their first row
    info = {"stars": int(2 * weights[chosen].sum())}
    return Partition.of_cells(cells, cell, dense_labels(labels), None, info, "optimal 2-diversity")
