"""Mondrian: cut the table at medians, attribute by attribute, as long as both sides stay private.

Starting from the whole table, a part is cut at the median of its widest attribute, or else of the
next widest. A part that no attribute can cut is a group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import loop
from anonpaper.errors import check_choice, check_integer, check_sequence
from anonpaper.groups import Entries, Partition
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import (
    DIVERSITY,
    FrequencyLDiversity,
    GroupCounts,
    KAnonymity,
    Principle,
    l_diversity,
    require_diverse,
    require_whole,
    required,
)

__all__ = ["median_cut", "mondrian"]

_TRIED = -1.0  # the width of an attribute that could not be cut


@algorithm(
    "k-anonymity by median cuts, l-diverse or what else is asked",
    promises={"k": KAnonymity, "l": FrequencyLDiversity},
)
def mondrian(
    m: Microdata,
    k: int = 10,
    l: int | None = None,
    *,
    diversity: Literal["frequency", "distinct"] = "frequency",
    require: Sequence[Principle] = (),
) -> Partition:
    r"""Guarantee k-anonymity, and optional l-diversity and more: cut the table at medians.

    With d attributes and at most :math:`\mu` copies of one QI tuple, only k leaves at most
    :math:`2d(k-1) + \mu` rows in a group. Boxes do not overlap. A cut that k allows and l forbids
    tells an attacker that one of its sides is not diverse (:func:`anonpaper.measure.minimality`).

    Parameters
    ----------
    m, k, l : see :mod:`anonpaper.partition`; k counts people, if they have several rows
    diversity : {"frequency", "distinct"}
        At most one l-th of a group shares a sensitive value, or it has l distinct ones.
    require : sequence of monotone Principles that every group must meet, too

    Returns
    -------
    Partition
        Groups in the order of the cuts.

    References
    ----------
    K. LeFevre, D. DeWitt, R. Ramakrishnan, *Mondrian multidimensional k-anonymity*, ICDE 2006,
    section 3.1. O(n log n) for e cells, then O(e·d) per level of cuts.

    Examples
    --------
    >>> mondrian(ap.examples.hospital(), k=2).sizes().tolist()
    [3, 5, 2]
    >>> mondrian(ap.examples.hospital(), k=2, l=2).sizes().tolist()
    [4, 4, 2]
    >>> mondrian(ap.examples.hospital(), k=2, require=[ap.TCloseness(0.4)]).sizes().tolist()
    [6, 4]
    """
    k = check_integer("k", k, 2, check_microdata(m, people=True).n_people)
    check_choice("diversity", diversity, DIVERSITY)
    require = check_sequence("require", require, Principle)
    diverse = [] if l is None else [l_diversity(check_integer("l", l, 2, m.n), diversity)]
    if diverse and m.people is None:
        for name in diverse[0].about(m):
            require_diverse(m.about(name), l, diversity)
    # One l-diversity of rows is checked as cuts are made, all else once they are proposed.
    counts_l = bool(diverse) and m.people is None and len(m.sensitives) == 1
    others = [*([] if counts_l else diverse), *([] if m.people is None else [KAnonymity(k)])]
    principles = required(m, [*others, *require])
    require_whole(m, principles)
    cells = m.cells  # cuts leave equal rows together: cells are cut
    secrets = cells.sensitive if counts_l else np.zeros(0, np.int32)
    asked = (l, 0) if diversity == "frequency" else (0, l)
    codes = cells.tuples[cells.tuple_of_cell]
    cutting = _cutting(m, codes, cells.counts, k, secrets, *(asked if counts_l else (0, 0)))
    cell = np.arange(len(cells.counts))
    whole = Entries(m, cell, np.zeros_like(cell), cells.counts, cells.secrets)
    labels = _cut(cutting, whole, principles)
    name = f"Mondrian, k = {k}"
    if l is not None:
        name += f", l = {l}" + (" distinct" if diversity == "distinct" else "")
    name = ", ".join([name, *map(str, require)])
    return Partition.of_cells(cells, cell, labels, cells.counts, None, name)


def median_cut(m: Microdata, rows: np.ndarray, k: int) -> np.ndarray | None:
    """Cut ascending rows once like :func:`mondrian`: which rows go left, or None."""
    side = np.empty(len(rows), np.bool_)
    cutting = _cutting(m, m.codes, np.ones(m.n, np.intp), k, np.zeros(0, np.int32), 0, 0)
    return side if _next_cut(cutting, rows, side, 0) >= 0 else None


class _Cutting(NamedTuple):
    """The data that decide on cuts, in compiled code."""

    codes: np.ndarray
    positions: np.ndarray  # of all attributes, one after the other
    start: np.ndarray  # where those of an attribute begin
    ordered: np.ndarray
    weights: np.ndarray  # how many rows of the table each row here stands for
    k: int
    secrets: np.ndarray  # codes, or none
    share: int  # none may have more than one share-th of a side, if not 0
    distinct: int  # the least number of different ones in a side
    counts: np.ndarray  # zeros, room for counts of secrets or of the values of an attribute


def _cutting(m: Microdata, codes, weights, k, secrets, share, distinct) -> _Cutting:
    """Return the data that decide on cuts of a table."""
    attributes, sizes = m.attributes, [a.size for a in m.attributes]
    return _Cutting(
        np.asfortranarray(codes), np.concatenate([a.positions for a in attributes]),
        np.cumsum([0, *sizes]), np.array([a.ordered for a in attributes]), weights, k,
        secrets, share, distinct, np.zeros(max(*sizes, secrets.max(initial=0) + 1), np.intp),
    )  # fmt: skip


def _cut(cutting: _Cutting, rows: Entries, principles: Mapping) -> np.ndarray:
    """Return the labels, in the order of the cuts."""
    # All parts go on at once: each proposes its next cut, and principles look at all sides.
    n = len(cutting.codes)
    totals = {name: GroupCounts.of(rows, name).whole() for name in principles}
    side = np.empty(n, np.bool_)
    # `order[first:last]` are the rows of a part; parts have their first, last, and the number
    # of the next cut to try, -1 if none is left
    order, parts, done = np.arange(n), np.array([[0, n, 0]]), []
    while len(parts):
        # Sides are numbered left, right, left, right, ...; -1 in a part that has no cut left.
        labels = np.full(n if principles else 0, -1)
        _propose_all(cutting, order, side, parts, labels)
        has_cut = parts[:, 2] >= 0
        done.append(parts[~has_cut])
        parts, good = parts[has_cut], np.ones(2 * np.count_nonzero(has_cut), bool)
        if principles and len(parts):
            sides = rows.take(order[labels >= 0]).in_groups(labels[labels >= 0])
            for name, asked in principles.items():
                counts = replace(GroupCounts.of(sides, name), total=totals[name])
                good &= np.logical_and.reduce([one.satisfied(counts) for one in asked])
        cut = good[::2] & good[1::2]
        middle = _divide(order, side, parts[cut])
        first, last, zeros = *parts[cut].T[:2], np.zeros_like(middle)
        sides = np.stack([first, middle, zeros, middle, last, zeros], axis=1).reshape(-1, 3)
        parts = np.vstack([parts[~cut] + [0, 0, 1], sides])
    done = np.vstack(done)
    done = done[np.argsort(done[:, 0])]
    labels = np.empty(n, np.intp)
    labels[order] = np.repeat(np.arange(len(done)), done[:, 1] - done[:, 0])
    return labels


# -- the cuts ------------------------------------------------------------------------------


@loop
def _propose_all(cutting, order, side, parts, labels):
    """Move every part to its next cut (-1: none), and number the sides of all."""
    proposed = 0
    for part in parts:
        rows = slice(part[0], part[1])
        part[2] = _next_cut(cutting, order[rows], side[rows], part[2])
        if part[2] >= 0:
            for place in range(part[0], part[1] if len(labels) else part[0]):
                labels[place] = 2 * proposed + (not side[place])
            proposed += 1


@loop
def _divide(order, side, parts):
    """Move the left rows of every part to its front, keeping their order; return the middles."""
    middles = parts[:, 1].copy()
    for i in range(len(parts)):
        part = slice(parts[i, 0], parts[i, 1])
        rows, left = order[part].copy(), side[part]
        middles[i] = parts[i, 0] + left.sum()
        order[parts[i, 0] : middles[i]] = rows[left]
        order[middles[i] : parts[i, 1]] = rows[~left]
    return middles


@loop
def _next_cut(cutting, rows, side, tried):
    """Set `side` to the first allowed cut after those tried; return its number, or -1."""
    size = 0  # in rows of the table
    for i in rows:
        size += cutting.weights[i]
    if size < 2 * cutting.k:
        return -1
    widths = _widths(cutting, rows)
    for rank in range(len(widths)):
        j = widths.argmax()
        if widths[j] == 0:
            return -1
        for number in range(max(tried, 2 * rank), 2 * rank + 2):  # two cuts at the median
            left = _take_sides(cutting, cutting.codes[:, j], rows, size, side, number % 2)
            if min(left, size - left) >= cutting.k and _is_allowed(cutting, rows, side):
                return number
        widths[j] = _TRIED
    return -1


@loop
def _widths(cutting, rows):
    """Extent of every attribute in a part as a share of its extent in the domain."""
    codes, positions, start = cutting.codes, cutting.positions, cutting.start
    counts = cutting.counts
    widths = np.zeros(codes.shape[1])
    for j in range(len(widths)):
        size = start[j + 1] - start[j]
        if size == 1:
            continue
        if cutting.ordered[j]:
            low, high = codes[rows[0], j], codes[rows[0], j]
            for i in rows:
                low, high = min(low, codes[i, j]), max(high, codes[i, j])
            whole = positions[start[j + 1] - 1] - positions[start[j]]
            widths[j] = (positions[start[j] + high] - positions[start[j] + low]) / whole
        else:
            distinct = 0
            for i in rows:
                if counts[codes[i, j]] == 0:
                    distinct += 1
                    counts[codes[i, j]] = 1
            for i in rows:
                counts[codes[i, j]] = 0
            widths[j] = (distinct - 1) / (size - 1)
    return widths


@loop
def _take_sides(cutting, column, rows, size, side, way):
    """Set `side` to a cut above or below the median, first (0) that with more even halves."""
    weights, below, up_to = cutting.weights, 0, 0
    v = _median(column, rows, size, weights)
    for i in rows:
        below += weights[i] * (column[i] < v)
        up_to += weights[i] * (column[i] <= v)
    left_of_v = (abs(size - 2 * up_to) <= abs(size - 2 * below)) == (way == 1)
    for place in range(len(rows)):
        side[place] = column[rows[place]] <= v - left_of_v
    return below if left_of_v else up_to


@loop
def _median(column, rows, size, weights):
    """Return the lower median: the least value that at least half of the rows do not exceed."""
    low, high = column[rows[0]], column[rows[0]]
    for i in rows:
        low, high = min(low, column[i]), max(high, column[i])
    while low < high:
        middle, seen = (low + high) // 2, 0
        for i in rows:
            seen += weights[i] * (column[i] <= middle)
        low, high = (low, middle) if 2 * seen >= size else (middle + 1, high)
    return low


@loop
def _is_allowed(cutting, rows, side):
    """Whether in both sides no secret has more than its share, and enough are distinct."""
    codes, weights, counts = cutting.secrets, cutting.weights, cutting.counts
    for which in (True, False):
        size, found, most = 0, 0, 0
        for place in range(len(rows) if len(codes) else 0):
            if side[place] == which:
                v, here = codes[rows[place]], weights[rows[place]]
                found += counts[v] == 0
                counts[v] += here
                size += here
                most = max(most, counts[v])
        for i in rows[: len(codes)]:
            counts[codes[i]] = 0
        if most * cutting.share > size or found < cutting.distinct:
            return False
    return True
