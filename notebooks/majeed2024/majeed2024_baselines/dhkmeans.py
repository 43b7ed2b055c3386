"""DHkmeans-LD, core: hierarchical 2-means with diverse clusters.

F. Ashkouti, K. Khamforoosh, A. Sheikhahmadi, H. Khamfroush, J. Supercomputing 78(2), 2022, of
which only the abstract was at hand: its three phases are our reconstruction. Seeds are the row
farthest from the mean and the row farthest from it. Lloyd's iterations add a penalty where a
cluster has more of the row's sensitive value than the part. A split that leaves no k rows or l
values is replaced by halves by the difference of distances; if these fail too, the part stays.
"""

from __future__ import annotations

import numpy as np

from anonpaper.compiled import loop
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.publish import Release, shallow_generalize
from majeed2024_baselines.simple import checked

_ITERATIONS, _PENALTY = 10, 0.5


def dhkmeans_core(m: Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> Release:
    """Split a table by 2-means as long as both clusters are valid, and publish the clusters."""
    return shallow_generalize(m, dhkmeans_classes(m, k, l), hierarchies)


def dhkmeans_classes(m: Microdata, k: int, l: int | None = None) -> Partition:
    """Return the clusters."""
    k, l = checked(m, k, l)
    scaled = np.column_stack([
        (a.positions[codes] - a.positions[0]) / (a.width or 1.0) if a.ordered else codes
        for a, codes in zip(m.attributes, m.codes.T, strict=True)
    ])  # fmt: skip
    labels = _split_all(
        np.ascontiguousarray(scaled, dtype=np.float64),
        np.array([a.ordered for a in m.attributes]), max(a.size for a in m.attributes),
        m.sensitive_codes.astype(np.int64), m.sensitive_attribute.size, k, l or 1,
    )  # fmt: skip
    return Partition(labels, algorithm=f"DHkmeans-LD-core, k = {k}")


@loop
def _split_all(scaled, ordered, largest, sensitive, n_values, k, l):
    n = len(scaled)
    order, labels, groups = np.arange(n), np.empty(n, np.int64), 0
    stack = [(0, n)]
    while len(stack) > 0:
        first, last = stack.pop()
        rows = order[first:last].copy()
        middle = 0
        if last - first >= 2 * k:
            right, margin = _two_means(scaled, ordered, largest, sensitive, n_values, rows)
            if _valid(rows, right, sensitive, k, l):
                middle = _arrange(order, rows, right, first)
            else:
                half = np.zeros(len(rows), np.bool_)
                half[np.argsort(margin, kind="mergesort")[len(rows) // 2 :]] = True
                if _valid(rows, half, sensitive, k, l):
                    middle = _arrange(order, rows, half, first)
        if middle == 0:
            labels[order[first:last]] = groups
            groups += 1
        else:
            stack.append((middle, last))
            stack.append((first, middle))
    return labels


@loop
def _two_means(scaled, ordered, largest, sensitive, n_values, rows):
    """Assign rows to one of two clusters; also how much nearer they are to the first one."""
    r, d = len(rows), scaled.shape[1]
    right, margin = np.zeros(r, np.bool_), np.zeros(r)
    shares = np.zeros((2, d, largest))  # of unordered values; place 0 holds an ordered mean
    mass = np.zeros((2, n_values))  # shares of sensitive values
    whole = np.zeros(n_values)
    for i in rows:
        whole[sensitive[i]] += 1 / r
    _centre(scaled, ordered, sensitive, rows, right, False, shares[0], mass[0])
    seed = _farthest(scaled, ordered, rows, shares[0])
    for which in range(2):
        shares[1 - which, :, :] = 0
        for j in range(d):
            if ordered[j]:
                shares[1 - which, j, 0] = scaled[rows[seed], j]
            else:
                shares[1 - which, j, int(scaled[rows[seed], j])] = 1
        seed = _farthest(scaled, ordered, rows, shares[1 - which])
    mass[0], mass[1] = whole, whole
    for _ in range(_ITERATIONS):
        moved = 0
        squares = np.zeros((2, d))
        for which in range(2):
            for j in range(d):
                squares[which, j] = (shares[which, j] ** 2).sum()
        for place in range(r):
            i = rows[place]
            distances = np.zeros(2)
            for which in range(2):
                distances[which] = _distance(
                    scaled, ordered, i, shares[which], squares[which]
                ) + _PENALTY * max(0.0, mass[which, sensitive[i]] - whole[sensitive[i]])
            margin[place] = distances[0] - distances[1]
            go_right = margin[place] > 0
            moved += go_right != right[place]
            right[place] = go_right
        n_right = right.sum()
        if moved == 0 or n_right == 0 or n_right == r:
            break
        for which in range(2):
            _centre(
                scaled, ordered, sensitive, rows, right, which == 1, shares[which], mass[which]
            )
    return right, margin


@loop
def _centre(scaled, ordered, sensitive, rows, right, side, shares, mass):
    """Mean of ordered attributes, shares of unordered and of sensitive values of a cluster."""
    shares[:, :] = 0
    mass[:] = 0
    size = 0
    for place in range(len(rows)):
        if right[place] == side:
            size += 1
    for place in range(len(rows)):
        if right[place] == side:
            i = rows[place]
            mass[sensitive[i]] += 1 / size
            for j in range(len(ordered)):
                if ordered[j]:
                    shares[j, 0] += scaled[i, j] / size
                else:
                    shares[j, int(scaled[i, j])] += 1 / size


@loop
def _distance(scaled, ordered, i, shares, squares):
    """Return the squared distance of a row and a centre."""
    total = 0.0
    for j in range(len(ordered)):
        if ordered[j]:
            gap = scaled[i, j] - shares[j, 0]
            total += gap * gap
        else:
            share = shares[j, int(scaled[i, j])]
            total += (1 - 2 * share + squares[j]) / 2
    return total


@loop
def _farthest(scaled, ordered, rows, shares):
    """Place of the row that is farthest from a centre, the first of several."""
    squares = np.empty(len(ordered))
    for j in range(len(ordered)):
        squares[j] = (shares[j] ** 2).sum()
    best, best_distance = 0, -1.0
    for place in range(len(rows)):
        distance = _distance(scaled, ordered, rows[place], shares, squares)
        if distance > best_distance + 1e-12:
            best, best_distance = place, distance
    return best


@loop
def _valid(rows, right, sensitive, k, l):
    for side in (False, True):
        values = sensitive[rows[right == side]]
        if len(values) < k or len(np.unique(values)) < l:
            return False
    return True


@loop
def _arrange(order, rows, right, first):
    """Put the left rows first, each side in its order; return where the right ones begin."""
    order[first : first + len(rows)] = np.concatenate((rows[~right], rows[right]))
    return first + len(rows) - right.sum()
