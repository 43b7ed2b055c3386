"""Hilbert: group rows that are close on a space-filling curve into l-diverse groups.

xiao2010, section 6.1, does not print its adaptation of Ghinita et al.: the grouping rule here is a
reconstruction. The index is J. Skilling's, *Programming the Hilbert curve*, AIP 707, 2004.
"""

from __future__ import annotations

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import loop
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.principles import FrequencyLDiversity, require_diverse

__all__ = ["group_along_curve", "hilbert", "hilbert_index"]

_MAX_BITS = 64


@algorithm(
    "frequency l-diversity along a space-filling curve", promises={"l": FrequencyLDiversity}
)
def hilbert(m: Microdata, l: int) -> Partition:
    """Guarantee frequency l-diversity: group all rows along a Hilbert curve.

    Parameters
    ----------
    m, l : see :mod:`anonpaper.partition`
        The order of the QI and of their domains shapes the curve; every domain is scaled to the
        longest one. Each of d attributes has at most 64/d bits, from the 65th on none.

    Returns
    -------
    Partition
        Groups of l to 2l - 1 rows with different sensitive values, numbered along the curve.
        ``info`` has ``bits``, the resolution of the curve per attribute.

    References
    ----------
    G. Ghinita, P. Karras, P. Kalnis, N. Mamoulis, *Fast data anonymization with low information
    loss*, VLDB 2007; xiao2010, section 6.1. O(c·d·b + c log c) for c distinct tuples and
    b bits, then O(n·m) for the grouping of m sensitive values.

    Examples
    --------
    >>> hilbert(ap.examples.hospital(), l=2).sizes().tolist()
    [2, 2, 2, 2, 2]
    """
    l = require_diverse(m, l)
    *entries, bits = group_along_curve(m, m.cells.counts, l)
    return Partition.of_cells(m.cells, *entries, {"bits": bits}, f"Hilbert, l = {l}")


def group_along_curve(
    m: Microdata, counts: np.ndarray, l: int, *, apart: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Group so many rows of every cell; return cells, groups, numbers of rows, and the bits.

    The bits are the curve's bits per attribute. Unless `apart`, groups of equal cells are one.
    """
    sizes = np.array([a.size for a in m.attributes[:_MAX_BITS]], dtype=np.int64)
    bits = min(max(int(sizes.max()) - 1, 1).bit_length(), _MAX_BITS // len(sizes))
    grid = m.cells.tuples[:, : len(sizes)].astype(np.int64) * (np.int64(1) << bits) // sizes
    along_curve = np.argsort(hilbert_index(grid, bits), kind="stable")
    held = np.bincount(m.cells.sensitive, counts).astype(np.intp)
    queues = m.cells.by_sensitive_value(len(held), along_curve)
    cell, group, times = _gather(*queues, counts, held, l)
    rows = times[group]
    if not apart:
        return cell, group, rows, bits
    entry = np.repeat(np.arange(len(cell)), rows)
    number = np.cumsum(times)[group[entry]] - times[group[entry]] + np.arange(len(entry))
    return cell[entry], number - np.searchsorted(entry, entry), np.ones_like(entry), bits


def hilbert_index(points: np.ndarray, bits: int) -> np.ndarray:
    """Return the places of points in [0, 2**bits)**d on the curve (Skilling); d·bits <= 64."""
    x, place = points.T.astype(np.int64), np.zeros(len(points), np.uint64)
    # Undo the reflections and exchanges of the axes, from the highest bit plane down.
    for plane in range(bits - 1, 0, -1):
        low = (1 << plane) - 1
        for axis in range(len(x)):
            is_set = x[axis] >> plane & 1 == 1
            exchanged = np.where(is_set, 0, (x[0] ^ x[axis]) & low)
            x[0] ^= np.where(is_set, low, exchanged)
            x[axis] ^= exchanged
    x = np.bitwise_xor.accumulate(x)  # Gray decoding
    last = x[-1].copy()
    for plane in range(bits - 1, 0, -1):
        x ^= (last >> plane & 1) * ((1 << plane) - 1)
    for plane in range(bits - 1, -1, -1):  # Interleave the bits of the axes.
        for of_axis in x:
            place = place << np.uint64(1) | (of_axis >> plane & 1).astype(np.uint64)
    return place


@loop
def _gather(queue_start, queue, rank, counts, held, l):
    """Gather groups of rows with pairwise different sensitive values along the curve."""
    # Let n' rows be left, n' = q·l + r with 0 <= r < l, at most q of each value. Values with
    # exactly q rows left are mandatory: a group that skipped one would leave a remainder that is
    # not eligible. With g rows taken, every value has at most q - 1 rows left and n' - g >=
    # l(q - 1): the remainder is eligible again, and at least l values are left as long as rows
    # are. There are at most l + r/q mandatory values, hence at most 2l - 1 rows in a group.
    m = len(held)
    left = held.copy()
    head = queue_start[:-1] - 1  # place in `queue` of the first unfinished cell of a value
    waiting = np.zeros(m, np.intp)  # rows left in that cell
    next_rank = np.full(m, len(rank), np.intp)  # where the first row of a value lies
    in_group = np.zeros(m, np.bool_)
    cell_of, group_of, times = [0][:0], [0][:0], [0][:0]
    rows_left = left.sum()
    while rows_left > 0:
        quotient = rows_left // l
        for v in range(m):
            if left[v] > 0 and waiting[v] == 0:
                head[v] += 1
                while counts[queue[head[v]]] == 0:
                    head[v] += 1
                waiting[v], next_rank[v] = counts[queue[head[v]]], rank[head[v]]
            in_group[v] = left[v] == quotient
        for _ in range(l - in_group.sum()):
            nearest = -1
            for v in range(m):
                if not in_group[v] and (nearest < 0 or next_rank[v] < next_rank[nearest]):
                    nearest = v
            in_group[nearest] = True
        members = in_group.sum()
        # A group of l rows leaves q - 1 and r. So the next takes rows of the same cells, unless
        # one is used up or another value has become mandatory: equal groups are taken.
        equal = quotient if members == l else 1
        for v in range(m):
            equal = min(equal, waiting[v] if in_group[v] else quotient - left[v])
        for v in range(m):
            if in_group[v]:
                cell_of.append(queue[head[v]])
                group_of.append(len(times))
                waiting[v] -= equal
                left[v] -= equal
                if left[v] == 0:
                    next_rank[v] = len(rank)
        rows_left -= members * equal
        times.append(equal)
    return np.array(cell_of, np.intp), np.array(group_of, np.intp), np.array(times, np.intp)
