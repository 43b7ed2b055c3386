"""Optimal 2-diversity with two sensitive values: a minimum-weight perfect matching.

With m = 2 a frequency 2-diverse group can be split into pairs, one row of either value, without
new stars. So pairs that weigh their stars give the fewest. Three values are NP-hard.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from anonpaper.algorithm import algorithm
from anonpaper.errors import ParameterError
from anonpaper.groups import Partition, dense_labels
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import require_eligible
from anonpaper.randomness import generator

__all__ = ["optimal_two_diverse"]


@algorithm("the optimum for two sensitive values, each in half of the rows", needs_sensitive=True)
def optimal_two_diverse(m: Microdata) -> Partition:
    """Guarantee 2-diversity with the fewest possible stars, for two sensitive values.

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
        raise ParameterError(
            f"optimal_two_diverse needs exactly two values of {m.sensitive!r}, the table has "
            f"{len(values)}; tp approximates the optimum for any number"
        )
    require_eligible(m, 2)
    cells, cell = m.cells, m.cells.handed_out(generator(0))
    rows = np.argsort(cell, kind="stable")  # those of one QI tuple together
    classes = [rows[cells.sensitive[cell[rows]] == value] for value in values]
    tuple_of = cells.tuple_of_cell[cell]
    # The number of differing attributes is a metric, so by the triangle inequality an optimal
    # matching pairs rows of equal QI as far as possible.
    pairs, left = _equal_pairs(tuple_of, classes)
    codes = [cells.tuples[tuple_of[of_class]] for of_class in left]
    differ = codes[0][:, None, :] != codes[1][None, :, :]
    weights = differ.sum(axis=2, dtype=np.int32)
    chosen = linear_sum_assignment(weights)
    pairs = np.vstack([pairs, np.column_stack([left[0][chosen[0]], left[1][chosen[1]]])])

    labels = np.empty(m.n, np.intp)
    labels[pairs] = pairs.min(axis=1)[:, None]  # pairs are numbered by their first row
    info = {"stars": int(2 * weights[chosen].sum())}
    return Partition.of_cells(cells, cell, dense_labels(labels), None, info, "optimal 2-diversity")


def _equal_pairs(tuple_of: np.ndarray, classes: list) -> tuple[np.ndarray, list]:
    """Pair rows of equal QI tuples; return the pairs and the remaining rows of either class."""
    numbers = []
    for rows in classes:
        of_row = tuple_of[rows]
        first = np.searchsorted(of_row, of_row)
        # A row's number: its tuple and its rank among the rows of that tuple and class.
        numbers.append(of_row * len(tuple_of) + np.arange(len(rows)) - first)
    _, mine, theirs = np.intersect1d(*numbers, assume_unique=True, return_indices=True)
    pairs = np.column_stack([classes[0][mine], classes[1][theirs]]).astype(np.intp)
    left = [np.sort(np.delete(classes[0], mine)), np.sort(np.delete(classes[1], theirs))]
    return pairs, left
