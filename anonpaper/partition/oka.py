r"""OKA, one-pass k-means: :math:`K = \lfloor n/k \rfloor` clusters in one pass, then adjusted.

A centroid has the mode of each attribute. Its distance from a row is the number of attributes on
which they differ. Centroids stay as they are in the adjustment, where the paper leaves this open.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from anonpaper.algorithm import algorithm
from anonpaper.compiled import loop
from anonpaper.errors import check_integer
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.partition.k_member import count_mismatches, narrow_columns, nearest
from anonpaper.principles import KAnonymity
from anonpaper.randomness import generator

__all__ = ["oka"]


@algorithm("k-anonymity by one pass of k-means", promises={"k": KAnonymity})
def oka(m: Microdata, k: int, seed: int | np.random.Generator = 0) -> Partition:
    """Guarantee k-anonymity: cluster rows by one pass of k-means, then fill up to k rows.

    Ties go to the centroid of lowest number, and to the mode that reached its count first.

    Parameters
    ----------
    m, k, seed : see :mod:`anonpaper.partition`
        The seed draws the rows that start the clusters, and the order of rows that are moved.

    Returns
    -------
    Partition
        floor(n/k) clusters in the order of their first rows. ``info`` has ``given_back``, the
        number of rows that the adjustment moved.

    References
    ----------
    J.-L. Lin, M.-C. Wei, *An efficient clustering method for k-anonymization*, PAIS 2008;
    diva2021, section 4.2. O((n/k)·(c + g)·d) for c distinct tuples and g rows moved.

    Examples
    --------
    >>> oka(ap.examples.hospital(), k=3).sizes().tolist()
    [3, 4, 3]
    """
    k = check_integer("k", k, 2, check_microdata(m).n)
    rng = generator(seed)
    cells, cell = m.cells, m.cells.handed_out(rng)
    tuple_of, columns = cells.tuple_of_cell[cell], narrow_columns(cells.tuples)
    in_order = np.argsort(tuple_of, kind="stable")  # the rows in lexicographic order
    starts = np.sort(rng.choice(m.n, m.n // k, replace=False))
    labels = np.full(m.n, -1)
    labels[in_order[starts]] = np.arange(len(starts))
    centroids = np.ascontiguousarray(columns[:, tuple_of[in_order[starts]]])
    offset = np.cumsum([0, *(a.size for a in m.attributes)])
    counts = np.zeros((len(starts), offset[-1]), np.int32)  # of every value in every cluster
    counts[np.arange(len(starts)), offset[:-1, None] + centroids] = 1
    _one_pass(columns, tuple_of, in_order, labels, centroids, counts, offset)
    # the rows furthest from the centroid of a cluster with more than k rows
    distance = pd.Series((columns[:, tuple_of] != centroids[:, labels]).sum(axis=0))
    given_back = np.flatnonzero(distance.groupby(labels).rank("first") > k)
    labels[given_back] = -1
    _place(centroids, columns, tuple_of, labels, rng.permutation(given_back), k)
    info = {"given_back": len(given_back)}
    return Partition.of_cells(cells, cell, labels, None, info, f"OKA, k = {k}")


@loop
def _one_pass(columns, tuple_of, in_order, labels, centroids, counts, offset):
    """Assign the other rows in lexicographic order; centroids (d, K) move to the modes."""
    # All copies of a tuple join the same centroid, since adding one moves it nearer.
    is_full, differences = np.zeros(len(counts), np.uint8), np.empty(len(counts), np.uint8)
    closest, closest_to = -1, -1
    for i in in_order:
        if labels[i] >= 0:
            continue
        t = tuple_of[i]
        if t != closest_to:
            closest, closest_to = _nearest(centroids, columns[:, t], is_full, differences), t
        labels[i] = closest
        for j in range(len(columns)):
            value, mode = columns[j, t], centroids[j, closest]
            counts[closest, offset[j] + value] += 1
            if counts[closest, offset[j] + value] > counts[closest, offset[j] + mode]:
                centroids[j, closest] = value


@loop
def _nearest(centroids, row, is_full, differences):
    """Return the centroid not full that differs on fewest attributes; `differences` is room."""
    count_mismatches(centroids, is_full, row, len(is_full), differences)
    return nearest(differences, len(is_full))


@loop
def _place(centroids, columns, tuple_of_row, labels, rows, k):
    """Put every row into the nearest cluster below k rows, or any once all are full."""
    room = k - np.bincount(labels[labels >= 0], minlength=centroids.shape[1])
    is_full, differences = (room == 0).astype(np.uint8), np.empty(len(room), np.uint8)
    room_in_all = room.sum()
    for placed, i in enumerate(rows):
        if placed == room_in_all:
            is_full[:] = 0
        labels[i] = _nearest(centroids, columns[:, tuple_of_row[i]], is_full, differences)
        room[labels[i]] -= 1
        is_full[labels[i]] = room[labels[i]] == 0
