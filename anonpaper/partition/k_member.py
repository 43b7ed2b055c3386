r"""Greedy k-member clustering: clusters grow by the row that adds fewest stars.

A cluster c that disagrees on D(c) attributes has :math:`IL(c) = |c| \cdot D(c)` stars. So the row
that differs on the fewest of the other attributes adds least, as do all rows of its QI tuple.
"""

from __future__ import annotations

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import loop
from anonpaper.errors import SizeLimitError, check_integer
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import KAnonymity
from anonpaper.randomness import generator

__all__ = ["count_mismatches", "k_member", "narrow_columns", "nearest"]

_MOST_ATTRIBUTES = 254  # differences are counted in bytes, and 255 marks a tuple without rows


@algorithm("k-anonymity by greedy clusters of few stars", promises={"k": KAnonymity})
def k_member(m: Microdata, k: int, seed: int | np.random.Generator = 0) -> Partition:
    """Guarantee k-anonymity: cluster rows greedily so that each cluster needs few stars.

    A left-over row joins the oldest of the clusters to which it adds least.

    Parameters
    ----------
    m, k, seed : see :mod:`anonpaper.partition`
        The seed decides the row from which the first row of the first cluster is furthest.

    Returns
    -------
    Partition
        floor(n/k) clusters as they were made. ``info["left_over"]`` rows joined at the end.

    References
    ----------
    J.-W. Byun, A. Kamra, E. Bertino, N. Li, *Efficient k-anonymization using clustering
    techniques*, DASFAA 2007, Figure 2; diva2021, section 3.1, minimizes stars. "Furthest from r"
    is read as furthest from the row added last. O((n/k)·c·d) for c distinct tuples.

    Examples
    --------
    >>> p = k_member(ap.examples.hospital(), k=2)
    >>> p.sizes().tolist(), ap.measure.stars(ap.suppress(ap.examples.hospital(), p))
    ([2, 2, 2, 2, 2], 6)
    """
    k = check_integer("k", k, 2, check_microdata(m).n)
    cells, rng = m.cells, generator(seed)
    cell = cells.handed_out(rng)
    tuple_of = cells.tuple_of_cell[cell]
    columns, copies = narrow_columns(cells.tuples), cells.tuple_sizes.astype(np.intp)
    first = int(tuple_of[rng.integers(m.n)])
    cluster, tuple_taken, rows_taken = _grow_clusters(columns, copies, first, k)
    # the rows of every tuple, as they are handed out, go to the clusters that took some of them
    by_tuple, labels = np.argsort(tuple_of, kind="stable"), np.empty(m.n, np.intp)
    in_order = np.argsort(tuple_taken, kind="stable")
    labels[by_tuple] = np.repeat(cluster[in_order], rows_taken[in_order])
    info = {"left_over": m.n % k}
    return Partition.of_cells(cells, cell, labels, None, info, f"k-member, k = {k}")


def narrow_columns(tuples: np.ndarray) -> np.ndarray:
    """Return codes by attribute, in the narrowest type; SizeLimitError for too many attributes."""
    if (d := tuples.shape[1]) > _MOST_ATTRIBUTES:
        raise SizeLimitError(f"{d} quasi-identifiers are more than {_MOST_ATTRIBUTES}: use fewer")
    return np.ascontiguousarray(tuples.T.astype(np.min_scalar_type(tuples.max())))


@loop
def _grow_clusters(columns, copies, first, k):
    """Return equally long lists: clusters, tuples, and how many of their rows were taken."""
    d, c = columns.shape
    live, name, left, n_clusters = columns.copy(), np.arange(c), copies.copy(), copies.sum() // k
    taken_cluster, taken_tuple, taken_rows = [0][:0], [0][:0], [0][:0]
    mismatches, used_up = np.empty(c, np.uint8), np.zeros(c, np.uint8)
    seeds = np.empty((d, n_clusters), columns.dtype)
    starred = np.zeros((d, n_clusters), np.bool_)
    n_live, n_dead = c, 0

    last = columns[:, first].copy()
    for cluster in range(n_clusters):
        count_mismatches(live, used_up, last, n_live, mismatches)
        at = nearest(np.uint8(254) - mismatches[:n_live], n_live)  # 255 stays 255
        seed = live[:, at].copy()
        seeds[:, cluster] = seed
        count_mismatches(live, used_up, seed, n_live, mismatches)
        missing = k
        while True:
            if mismatches[at] > 0:
                for j in range(d):
                    if not starred[j, cluster] and live[j, at] != seed[j]:
                        starred[j, cluster] = True
                        _forget_attribute(live[j], seed[j], n_live, mismatches)
            rows = min(missing, left[at])
            taken_cluster.append(cluster)
            taken_tuple.append(name[at])
            taken_rows.append(rows)
            left[at] -= rows
            missing -= rows
            last[:] = live[:, at]
            if left[at] == 0:
                used_up[at], mismatches[at] = 1, 255
                n_dead += 1
            if missing == 0:
                break
            at = nearest(mismatches, n_live)
        if 8 * n_dead > n_live:
            n_live, n_dead = _close_ranks(live, name, left, used_up, n_live), 0

    sizes = np.full(n_clusters, k)
    for at in range(n_live):
        for _ in range(left[at]):
            cluster = _cheapest_cluster(live[:, at].copy(), seeds, starred, sizes)
            starred[:, cluster] |= live[:, at] != seeds[:, cluster]
            sizes[cluster] += 1
            taken_cluster.append(cluster)
            taken_tuple.append(name[at])
            taken_rows.append(1)
    return np.array(taken_cluster), np.array(taken_tuple), np.array(taken_rows)


@loop
def count_mismatches(live, used_up, other, n_live, mismatches):
    """Count the attributes on which every live tuple differs; 255 marks one without rows left."""
    for i in range(n_live):
        mismatches[i] = used_up[i] * np.uint8(255)
    for j in range(len(live)):
        column, value = live[j], other[j]
        for i in range(n_live):
            mismatches[i] += np.uint8(column[i] != value) & ~used_up[i]


@loop
def _forget_attribute(column, value, n_live, mismatches):
    """Remove a newly suppressed attribute from the mismatches."""
    for i in range(n_live):
        mismatches[i] -= np.uint8(column[i] != value) & np.uint8(mismatches[i] != 255)


@loop
def _least(mismatches):
    """Return the least number, without branches: a processor then compares many at once."""
    least = np.uint8(255)
    for i in range(len(mismatches)):
        least = min(least, mismatches[i])
    return least


@loop
def nearest(mismatches, n_live):
    """Return the first tuple with the fewest mismatches."""
    least, block = np.uint8(255), 0
    for start in range(0, n_live, 4096):
        of_block = _least(mismatches[start : min(start + 4096, n_live)])
        if of_block < least:
            least, block = of_block, start
    for i in range(block, n_live):
        if mismatches[i] == least:
            return i
    return -1


@loop
def _close_ranks(live, name, left, used_up, n_live):
    """Drop the tuples without rows left; return how many remain."""
    kept = 0
    for i in range(n_live):
        if left[i] > 0:
            live[:, kept] = live[:, i]
            name[kept], left[kept], used_up[kept] = name[i], left[i], 0
            kept += 1
    return kept


@loop
def _cheapest_cluster(row, seeds, starred, sizes):
    """Return the cluster whose IL grows least by the row: by D(c) + (|c| + 1)·(new stars)."""
    growth = np.zeros_like(sizes)
    for j in range(len(row)):
        growth += np.where(starred[j], 1, (sizes + 1) * (row[j] != seeds[j]))
    return growth.argmin()
