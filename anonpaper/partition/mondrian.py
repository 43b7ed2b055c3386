"""Mondrian: cut the table at medians, attribute by attribute, as long as both sides stay private.

Starting from the whole table, a part is cut at the median of its widest attribute, or else of the
next widest. A part that no attribute can cut is a group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from anonpaper import principles
from anonpaper.algorithm import algorithm
from anonpaper.compiled import loop
from anonpaper.errors import check_choice, check_integer, check_sequence
from anonpaper.groups import Entries, GroupCounts, Partition
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import DIVERSITY, FrequencyLDiversity, KAnonymity, Principle

__all__ = ["median_cut", "mondrian"]


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
    diverse, cells = [], m.cells  # cuts leave equal rows together: cells are cut
    if l is not None:
        diverse = [principles.l_diversity(check_integer("l", l, 2, m.n), diversity)]
    for name in diverse[0].about(m) if diverse and m.people is None else ():
        principles.require_diverse(m.about(name), l, diversity)
    # k people, or one l-diversity, are checked as cuts are made, all else once they are proposed.
    checked = () if m.people is None else (cells.person, 0, k)
    if diverse and m.people is None and len(m.sensitives) == 1:
        least = (l, 0) if diversity == "frequency" else (0, l)
        checked, diverse = (cells.sensitive, *least), []
    asked = principles.required(m, [*diverse, *require])
    principles.require_whole(m, asked)
    cutting = _cutting(m, cells.tuples[cells.tuple_of_cell], cells.counts, k, *checked)
    labels = _cut(cutting, m, asked)
    said = [f"l = {l}" + " distinct" * (diversity == "distinct")] if l is not None else []
    name = ", ".join([f"Mondrian, k = {k}", *said, *map(str, require)])
    return Partition.of_cells(cells, np.arange(len(labels)), labels, cells.counts, None, name)


def median_cut(m: Microdata, rows: np.ndarray, k: int) -> np.ndarray | None:
    """Cut ascending rows once like :func:`mondrian`: which rows go left, or None."""
    side = np.empty(len(rows), np.bool_)
    cutting = _cutting(m, m.codes, np.ones(m.n, np.intp), k)
    return side if _next_cut(cutting, rows, side, 0) >= 0 else None


class _Cutting(NamedTuple):
    """The data that decide on cuts, in compiled code."""

    codes: np.ndarray
    positions: np.ndarray  # of all attributes, one after the other
    start: np.ndarray  # where those of an attribute begin
    ordered: np.ndarray
    extent: np.ndarray  # of the domain of every attribute
    counts: np.ndarray  # zeros, room for counts of secrets or of the values of an attribute
    weights: np.ndarray  # how many rows of the table each row here stands for
    k: int
    secrets: np.ndarray  # codes, or none
    share: int  # none may have more than one share-th of a side, if not 0
    distinct: int  # the least number of different ones in a side


def _cutting(m: Microdata, codes, weights, k, secrets=(), share=0, distinct=0) -> _Cutting:
    """Return the data that decide on cuts of a table."""
    sizes, secrets = [a.size for a in m.attributes], np.ascontiguousarray(secrets, np.int32)
    return _Cutting(
        np.asfortranarray(codes), np.concatenate([a.positions for a in m.attributes]),
        np.cumsum([0, *sizes]), np.array([a.ordered for a in m.attributes]),
        np.array([(a.width if a.ordered else a.size - 1) or 1.0 for a in m.attributes]),
        np.zeros(max(*sizes, secrets.max(initial=0) + 1), np.intp),
        weights, k, secrets, share, distinct,
    )  # fmt: skip


def _cut(cutting: _Cutting, m: Microdata, required: Mapping) -> np.ndarray:
    """Return the labels of the cells, in the order of the cuts."""
    # All parts go on at once: each proposes its next cut, and principles look at all sides.
    n, labels = len(cutting.codes), np.zeros(len(cutting.codes), np.intp)
    one_group = Entries.of_cells(m, labels)
    totals = {name: GroupCounts.of(one_group, name).whole() for name in required}
    # `order[first:last]` are the rows of a part; parts have their first, last, and the number
    # of the next cut to try, -1 if none is left
    order, side, parts, done = np.arange(n), np.empty(n, np.bool_), np.array([[0, n, 0]]), []
    while len(parts):
        _propose(cutting, order, side, parts)
        has_cut = parts[:, 2] >= 0
        done.append(parts[~has_cut, 0])
        parts, good = parts[has_cut], np.ones(2 * np.count_nonzero(has_cut), bool)
        if required and len(parts):
            # sides are numbered left, right, left, right, ...
            size = parts[:, 1] - parts[:, 0]
            place = np.repeat(parts[:, 1] - np.cumsum(size), size) + np.arange(size.sum())
            number = 2 * np.repeat(np.arange(len(parts)), size) + ~side[place]
            sides = one_group.take(order[place]).in_groups(number)
            for name, asked in required.items():
                counts = replace(GroupCounts.of(sides, name), total=totals[name])
                good &= np.logical_and.reduce([one.satisfied(counts) for one in asked])
        cut = good[::2] & good[1::2]
        sides = np.repeat(parts[cut] * [1, 1, 0], 2, axis=0)
        sides[::2, 1] = sides[1::2, 0] = _divide(order, side, parts[cut])
        parts = np.vstack([parts[~cut] + [0, 0, 1], sides])
    first = np.sort(np.concatenate(done))
    labels[order] = np.repeat(np.arange(len(first)), np.diff(first, append=n))
    return labels


# -- the cuts ------------------------------------------------------------------------------


@loop
def _propose(cutting, order, side, parts):
    """Move every part to its next cut, -1 if there is none."""
    for part in parts:
        rows = slice(part[0], part[1])
        part[2] = _next_cut(cutting, order[rows], side[rows], part[2])


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
    size = cutting.weights[rows].sum()  # in rows of the table
    if size < 2 * cutting.k:
        return -1
    widths = _widths(cutting, rows)
    for rank in range(np.count_nonzero(widths)):
        j = widths.argmax()
        widths[j] = 0
        for number in range(max(tried, 2 * rank), 2 * rank + 2):  # two cuts at the median
            left = _take_sides(cutting, cutting.codes[:, j], rows, size, side, number % 2)
            if min(left, size - left) >= cutting.k and (
                len(cutting.secrets) == 0 or _is_allowed(cutting, rows, side)
            ):
                return number
    return -1


@loop
def _widths(cutting, rows):
    """Extent of every attribute in a part as a share of its extent in the domain."""
    codes, positions, counts = cutting.codes, cutting.positions, cutting.counts
    widths = np.zeros(codes.shape[1])
    for j in range(len(widths)):
        if cutting.ordered[j]:
            low, high = codes[rows[0], j], codes[rows[0], j]
            for i in rows:
                low, high = min(low, codes[i, j]), max(high, codes[i, j])
            start = cutting.start[j]
            widths[j] = positions[start + high] - positions[start + low]
        else:
            for i in rows:
                widths[j] += counts[codes[i, j]] == 0
                counts[codes[i, j]] = 1
            for i in rows:
                counts[codes[i, j]] = 0
            widths[j] -= 1
    return widths / cutting.extent


@loop
def _take_sides(cutting, column, rows, size, side, way):
    """Set `side` to a cut above or below the median, first (0) that with more even halves."""
    counts, low = cutting.counts, column[rows[0]]
    for i in rows:
        low = min(low, column[i])
        counts[column[i]] += cutting.weights[i]
    # the lower median: the least value that at least half of the rows do not exceed
    v, below = low, 0
    while 2 * (below + counts[v]) < size:
        below += counts[v]
        v += 1
    up_to = below + counts[v]
    left_of_v = (abs(size - 2 * up_to) <= abs(size - 2 * below)) == (way == 1)
    for place in range(len(rows)):
        side[place] = column[rows[place]] <= v - left_of_v
        counts[column[rows[place]]] = 0
    return below if left_of_v else up_to


@loop
def _is_allowed(cutting, rows, side):
    """Whether in both sides no secret has more than its share, and enough are distinct."""
    codes, weights, counts = cutting.secrets, cutting.weights, cutting.counts
    for which in (True, False):
        size, found, most = 0, 0, 0
        for place in range(len(rows)):
            if side[place] == which:
                v, here = codes[rows[place]], weights[rows[place]]
                found += counts[v] == 0
                counts[v] += here
                size += here
                most = max(most, counts[v])
        for i in rows:
            counts[codes[i]] = 0
        if most * cutting.share > size or found < cutting.distinct:
            return False
    return True
