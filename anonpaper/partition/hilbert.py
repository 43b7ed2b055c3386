"""Hilbert: group rows that are close on a space-filling curve into l-diverse groups.

Sources: G. Ghinita, P. Karras, P. Kalnis, N. Mamoulis, *Fast data anonymization with low
information loss*, VLDB 2007, for the mapping and the look-ahead on the rest; J. Skilling,
*Programming the Hilbert curve*, AIP Conference Proceedings 707, 2004, for the index. xiao2010,
section 6.1, does not print its adaptation: the grouping rule here is a reconstruction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import loop
from anonpaper.groups import Partition
from anonpaper.microdata import Cells, Microdata
from anonpaper.principles import FrequencyLDiversity, require_eligible

__all__ = ["group_along_curve", "hilbert", "hilbert_index", "places_on_curve"]

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

    Raises
    ------
    ColumnError, ParameterError, InfeasibleError
        See :mod:`anonpaper.partition`.

    References
    ----------
    Ghinita et al., VLDB 2007; xiao2010, section 6.1. O(c·d·b + c log c) for c distinct tuples and
    b bits, then O(n·m) for the grouping of m sensitive values.

    Examples
    --------
    >>> hilbert(ap.examples.hospital(), l=2).sizes().tolist()
    [2, 2, 2, 2, 2]
    """
    l = require_eligible(m, l)
    places, bits = places_on_curve(m.cells.tuples, [a.size for a in m.attributes])
    along_curve = np.argsort(places, kind="stable")
    entries = group_along_curve(m.cells, along_curve, m.cells.counts, l)
    return Partition.of_cells(m.cells, *entries, {"bits": bits}, f"Hilbert, l = {l}")


def places_on_curve(tuples: np.ndarray, sizes: Sequence[int]) -> tuple[np.ndarray, int]:
    """Return the place of every tuple, and the bits per attribute; all domains weigh the same."""
    sizes = np.array(sizes[:_MAX_BITS], dtype=np.int64)
    bits = min(max(int(sizes.max()) - 1, 1).bit_length(), _MAX_BITS // len(sizes))
    grid = tuples[:, : len(sizes)].astype(np.int64) * (np.int64(1) << np.int64(bits)) // sizes
    return hilbert_index(np.ascontiguousarray(grid), bits), bits


def group_along_curve(
    cells: Cells, order: np.ndarray, counts: np.ndarray, l: int, *, apart: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return cells, groups and numbers of rows; not `apart`, groups of equal cells are one."""
    held = np.bincount(cells.sensitive, counts).astype(np.intp)
    cell, group, times = _gather(*cells.by_sensitive_value(len(held), order), counts, held, l)
    if not apart:
        return cell, group, times[group]
    entry = np.repeat(np.arange(len(cell)), times[group])
    turn = np.arange(len(entry)) - np.repeat(np.cumsum(times[group]) - times[group], times[group])
    first = np.cumsum(times) - times
    return cell[entry], first[group[entry]] + turn, np.ones(len(entry), np.intp)


@loop
def hilbert_index(points, bits):
    """Return the places of points in [0, 2**bits)**d on the curve (Skilling); d·bits <= 64."""
    c, d = points.shape
    index = np.empty(c, np.uint64)
    x = np.empty(d, np.int64)
    for i in range(c):
        for axis in range(d):
            x[axis] = points[i, axis]
        # Undo the reflections and exchanges of the axes, from the highest bit plane down.
        for plane in range(bits - 1, 0, -1):
            bit = 1 << plane
            low = bit - 1
            for axis in range(d):
                if x[axis] & bit:
                    x[0] ^= low
                else:
                    exchanged = (x[0] ^ x[axis]) & low
                    x[0] ^= exchanged
                    x[axis] ^= exchanged
        # Gray decoding.
        for axis in range(1, d):
            x[axis] ^= x[axis - 1]
        flips = 0
        for plane in range(bits - 1, 0, -1):
            if x[d - 1] & (1 << plane):
                flips ^= (1 << plane) - 1
        # Interleave the bits of the axes.
        place = np.uint64(0)
        for plane in range(bits - 1, -1, -1):
            for axis in range(d):
                bit = ((x[axis] ^ flips) >> plane) & 1
                place = (place << np.uint64(1)) | np.uint64(bit)
        index[i] = place
    return index


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
        members = 0
        for v in range(m):
            if left[v] > 0 and waiting[v] == 0:
                head[v] += 1
                while counts[queue[head[v]]] == 0:
                    head[v] += 1
                waiting[v], next_rank[v] = counts[queue[head[v]]], rank[head[v]]
            in_group[v] = left[v] == quotient
            members += in_group[v]
        for _ in range(members, l):
            nearest, nearest_rank = -1, len(rank)
            for v in range(m):
                if next_rank[v] < nearest_rank and not in_group[v]:
                    nearest, nearest_rank = v, next_rank[v]
            in_group[nearest] = True
            members += 1
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
    return np.array(cell_of), np.array(group_of), np.array(times)
