r"""OKA, one-pass k-means: :math:`K = \lfloor n/k \rfloor` clusters in one pass, then adjusted.

Publication is by suppression. So the distance of a row and a centroid is the number of attributes
on which they differ, and the centroid is the most frequent value of every attribute. Source: J.-L.
Lin, M.-C. Wei, *An efficient clustering method for k-anonymization*, PAIS 2008, in outline. The
paper does not say whether centroids move in the adjustment; here they stay.
"""

from __future__ import annotations

import numpy as np

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
    Lin and Wei, PAIS 2008; diva2021, section 4.2. O((n/k)·(c + g)·d) for c distinct tuples and g
    rows moved, memory O((n/k)·(sum of the domain sizes)).

    Examples
    --------
    >>> oka(ap.examples.hospital(), k=3).sizes().tolist()
    [3, 4, 3]
    """
    k = check_integer("k", k, 2, check_microdata(m).n)
    rng = generator(seed)
    cells, cell = m.cells, m.cells.handed_out(rng)
    tuple_of = cells.tuple_of_cell[cell]
    in_order = np.argsort(tuple_of, kind="stable")
    n_clusters = m.n // k
    starts = np.sort(rng.choice(m.n, n_clusters, replace=False))  # places in lexicographic order
    is_start = np.zeros(m.n, bool)
    is_start[starts] = True
    columns = narrow_columns(cells.tuples)
    centroids, cluster_in_order = _one_pass(
        columns, tuple_of[in_order], is_start,
        np.cumsum([0, *(a.size for a in m.attributes)]), n_clusters,
    )  # fmt: skip
    labels = np.empty(m.n, np.intp)
    labels[in_order] = cluster_in_order
    given_back = _give_back(centroids, columns[:, tuple_of], labels, k)
    _place(centroids, columns, tuple_of, labels, rng.permutation(given_back), k)
    info = {"given_back": len(given_back)}
    return Partition.of_cells(cells, cell, labels, None, info, f"OKA, k = {k}")


@loop
def _one_pass(columns, tuple_in_order, is_start, offset, n_clusters):
    """Assign the rows in lexicographic order; return the centroids (d, K) and the clusters."""
    # All copies of a tuple join the same centroid, since adding one moves it nearer.
    d, n = len(columns), len(tuple_in_order)
    centroids = np.empty((d, n_clusters), columns.dtype)
    counts = np.zeros((n_clusters, offset[-1]), np.int32)
    cluster_of = np.empty(n, np.intp)
    cluster = 0
    for i in range(n):
        if is_start[i]:
            centroids[:, cluster] = columns[:, tuple_in_order[i]]
            for j in range(d):
                counts[cluster, offset[j] + centroids[j, cluster]] = 1
            cluster_of[i] = cluster
            cluster += 1

    is_full, differences = np.zeros(n_clusters, np.uint8), np.empty(n_clusters, np.uint8)
    closest, closest_to = -1, -1
    for i in range(n):
        if is_start[i]:
            continue
        t = tuple_in_order[i]
        if t != closest_to:
            closest = _nearest(centroids, columns[:, t], is_full, differences)
            closest_to = t
        cluster_of[i] = closest
        for j in range(d):
            value, mode = columns[j, t], centroids[j, closest]
            counts[closest, offset[j] + value] += 1
            if counts[closest, offset[j] + value] > counts[closest, offset[j] + mode]:
                centroids[j, closest] = value
    return centroids, cluster_of


@loop
def _nearest(centroids, row, is_full, differences):
    """Return the centroid not full that differs on fewest attributes; `differences` is room."""
    count_mismatches(centroids, is_full, row, len(is_full), differences)
    return nearest(differences, len(is_full))


def _give_back(centroids: np.ndarray, codes: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Take the rows furthest from the centroid out of every cluster with more than k rows."""
    distance = (codes != centroids[:, labels]).sum(axis=0)
    by_cluster = np.lexsort((np.arange(len(labels)), distance, labels))
    sizes = np.bincount(labels)
    rank = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    given_back = np.sort(by_cluster[rank >= k])
    labels[given_back] = -1
    return given_back


@loop
def _place(centroids, columns, tuple_of_row, labels, rows, k):
    """Put every row into the nearest cluster below k rows, or any once all are full."""
    sizes = np.bincount(labels[labels >= 0], minlength=centroids.shape[1])
    differences = np.empty(len(sizes), np.uint8)
    is_full = (sizes >= k).astype(np.uint8)
    n_open = (sizes < k).sum()
    for i in rows:
        if n_open == 0:
            is_full[:] = 0
        cluster = _nearest(centroids, columns[:, tuple_of_row[i]], is_full, differences)
        labels[i] = cluster
        sizes[cluster] += 1
        if sizes[cluster] == k:
            is_full[cluster] = 1
            n_open -= 1
