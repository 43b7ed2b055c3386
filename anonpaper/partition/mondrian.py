"""Mondrian: cut the table at medians, attribute by attribute, as long as both sides stay private.

Starting from the whole table, a part is cut at the median of its widest attribute. If a side would
fail, the next widest is tried. A part that no attribute can cut is a group. Both sides of a cut
need the size, diversity or any other required monotone principle. Source: K. LeFevre, D. DeWitt,
R. Ramakrishnan, *Mondrian multidimensional k-anonymity*, ICDE 2006.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import inner, loop
from anonpaper.errors import ParameterError, check_choice, check_integer, check_sequence
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

# Of numpy, not a literal one, for which numba would compile what takes it once more.
_NO_SHARE = np.intp(0)
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
    relaxed: bool = False,
    require: Sequence[Principle] = (),
) -> Partition:
    r"""Guarantee k-anonymity, and optional l-diversity and more: cut the table at medians.

    With d attributes, at most :math:`\mu` copies of one QI tuple and only k, strict cuts (values
    up to the median go left) leave at most :math:`2d(k-1) + \mu` rows in a group, and bounding
    boxes do not overlap; relaxed cuts leave at most :math:`2k - 1` rows.

    With l or other principles, an attacker who knows the algorithm can conclude more than the
    groups show: a cut that k allows and l forbids reveals that a side of it is not diverse. In the
    example below, at l = 2, this reveals the values of two of ten people
    (:func:`anonpaper.measure.minimality`).

    Parameters
    ----------
    m : Microdata
        A table of n rows; l needs sensitive attributes, and each of them becomes diverse.
    k : int
        Smallest group size, from 2 to n; in people, if people have several rows.
    l : int, optional
        The diversity asked for, from 2 to the largest feasible one; by default none.
    diversity : {"frequency", "distinct"}
        At most one l-th of a group shares a sensitive value, or it has l distinct ones.
    relaxed : bool
        Whether rows with the median value may go to both sides.
    require : sequence of Principle
        Further monotone principles that every group must meet.

    Returns
    -------
    Partition
        Groups in the order of the cuts, left before right. ``info`` has ``depth``, the largest
        number of cuts above one group.

    Raises
    ------
    ColumnError, InfeasibleError, ParameterError
        The table lacks a sensitive attribute that l or a principle needs, or fails one as a whole;
        k or l is out of its range, `diversity` is unknown, a principle is not monotone, or relaxed
        cuts would separate the rows of a person.

    Notes
    -----
    O(n log n) for the e cells, then O(e·d) per level of cuts, O(e·d·log(n/k)) if they are
    balanced. It is n instead of e for relaxed cuts, people with several rows and several sensitive
    attributes. With `require` it is per cut tried on a level, at most 2d, or 3d relaxed ones. The
    width of an attribute in a part is its range over the range of the whole domain; for an
    unordered attribute, the range is the number of distinct values minus 1. Ties go to the first
    attribute. The median v is the lower one; of "up to v" and "below v" the cut with more even
    halves is tried first, then the other. Unordered values have the order of their codes. Relaxed
    cuts with diversity deal the rows of every sensitive value with the median in turns; if a side
    fails, the attribute's strict cuts are tried.

    References
    ----------
    LeFevre et al., ICDE 2006, sections 3.1 and 3.2; diva2021, section 4.2.

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
    relaxed = check_choice("relaxed", relaxed, (False, True))
    check_choice("diversity", diversity, DIVERSITY)
    if relaxed and m.people is not None:
        raise ParameterError("relaxed cuts would separate the rows of a person: omit relaxed")
    require = check_sequence("require", require, Principle)
    diverse = [] if l is None else [l_diversity(check_integer("l", l, 2, m.n), diversity)]
    if diverse and m.people is None:
        for name in diverse[0].about(m):
            require_diverse(m.about(name), l, diversity)
    # One l-diversity is counted as the cuts are made, all else once they are proposed.
    counts_l = bool(diverse) and m.people is None and len(m.sensitives) == 1
    principles = required(m, [*([] if counts_l else diverse), *require])
    require_whole(m, principles)
    # Strict cuts leave equal rows together, so cells are cut; relaxed ones part them.
    cells, cell, counts = m.cells, np.arange(len(m.cells.counts)), m.cells.counts
    if relaxed:
        cell, counts = cells.cell_of_row, np.ones(m.n, np.intp)
    codes = np.asfortranarray(cells.tuples[cells.tuple_of_cell[cell]])
    sensitive, l_counted = (cells.sensitive[cell], l) if counts_l else (None, None)
    cutting = _cutting(m, codes, sensitive, counts, k, l_counted, diversity, relaxed)
    if (
        cells.person is not None
    ):  # of the type of sensitive codes: what counts either compiles once
        cutting = cutting._replace(people=cells.person[cell].astype(np.int32))
    if principles:
        whole = Entries(m, cell, np.zeros(len(cell), np.intp), counts, cells.secrets[cell])
        labels, depth = _cut_in_rounds(cutting, whole, principles)
    else:
        labels, depth = _cut_all(cutting, _room(cutting))
    name = f"{'relaxed ' if relaxed else ''}Mondrian, k = {k}"
    if l is not None:
        name += f", l = {l}" + (" distinct" if diversity == "distinct" else "")
    name = ", ".join([name, *map(str, require)])
    return Partition.of_cells(cells, cell, labels, counts, {"depth": int(depth)}, name)


def median_cut(
    m: Microdata,
    rows: np.ndarray,
    k: int,
    l: int | None = None,
    *,
    diversity: str = "frequency",
    attributes: np.ndarray | None = None,
) -> np.ndarray | None:
    """Cut ascending rows once like :func:`mondrian`: which go left, or None; no checks."""
    if len(rows) < 2 * k:
        return None
    rows = np.asarray(rows, dtype=np.intp)
    chosen = np.arange(m.d) if attributes is None else np.asarray(attributes)
    sensitive, ones = None if l is None else m.sensitive_codes, np.ones(m.n, np.intp)
    cutting = _cutting(m, m.codes[:, chosen], sensitive, ones, k, l, diversity, False, chosen)
    side = np.empty(len(rows), np.bool_)
    return side if _next_cut(cutting, rows, side, _room(cutting), 0) >= 0 else None


class _Cutting(NamedTuple):
    """The data that decide on cuts, in compiled code."""

    codes: np.ndarray
    positions: np.ndarray  # of all attributes, one after the other
    start: np.ndarray  # where those of an attribute begin
    ordered: np.ndarray
    sensitive: np.ndarray
    values: int
    weights: np.ndarray  # how many rows of the table each row here stands for
    people: np.ndarray  # empty where every row is a person
    k: int
    share: int  # no value may have more than one share-th of a side, if not 0
    distinct: int  # the least number of values of a side
    relaxed: bool


def _cutting(m, codes, sensitive, counts, k, l, diversity, relaxed, chosen=None) -> _Cutting:
    """Return the data that decide on cuts of a table by the chosen attributes (default: all)."""
    attributes = [m.attributes[j] for j in (range(m.d) if chosen is None else chosen)]
    if sensitive is None:
        sensitive = np.zeros(len(codes), np.int32)
    values = 1 if l is None else m.sensitive_attribute.size
    return _Cutting(
        codes,
        np.concatenate([a.positions for a in attributes]),
        np.cumsum([0, *(a.size for a in attributes)]),
        np.array([a.ordered for a in attributes]),
        sensitive, values, counts, np.empty(0, np.int32), k,
        (l or 0) * (diversity == "frequency"),
        (l or 0) * (diversity == "distinct"), relaxed,
    )  # fmt: skip


def _cut_in_rounds(cutting: _Cutting, rows: Entries, principles: Mapping) -> tuple:
    """Return the result of `_cut_all` for cuts whose sides also meet principles."""
    # All parts go on at once: each proposes its next cut, and principles look at all sides.
    n, room = len(cutting.codes), _room(cutting)
    totals = {name: GroupCounts.of(rows, name).whole() for name in principles}
    order, buffer, side = np.arange(n), np.empty(n, np.intp), np.empty(n, np.bool_)
    places = np.arange(n)
    # One column per part: where it begins and ends in `order`, the cuts above it, those tried.
    parts = np.array([[0], [n], [0], [0]])
    groups = []
    while True:
        # Sides are numbered left, right, left, right, ...; -1 in a part that has no cut left.
        labels = np.full(n, -1)
        in_order = cutting._replace(  # so that the rows of a part lie side by side in memory
            codes=cutting.codes.T.take(order, axis=1).T,
            sensitive=cutting.sensitive[order],
            weights=cutting.weights[order],
            people=cutting.people[order] if len(cutting.people) else cutting.people,
        )
        _propose_all(in_order, places, side, room, parts, labels)
        sides = rows.take(order[labels >= 0]).in_groups(labels[labels >= 0])
        proposed = parts[3] >= 0
        groups.append(parts[:3, ~proposed])
        parts = parts[:, proposed]
        if not parts.size:
            break
        good = np.ones(2 * parts.shape[1], bool)
        for name, asked in principles.items():
            counts = replace(GroupCounts.of(sides, name), total=totals[name])
            good &= np.logical_and.reduce([principle.satisfied(counts) for principle in asked])
        cut = good[::2] & good[1::2]
        first, last, depth, _ = parts[:, cut]
        ends = zip(first, last, strict=True)
        middle = np.array([_scatter(order, buffer, side, *part) for part in ends], np.intp)
        fresh = np.zeros_like(first)
        # a copy by rows, as at first: other arrays are compiled for again
        parts = np.hstack([
            parts[:, ~cut] + [[0], [0], [0], [1]],
            [first, middle, depth + 1, fresh], [middle, last, depth + 1, fresh],
        ]).copy()  # fmt: skip
    first, last, depth = np.hstack(groups)
    by_place = np.argsort(first)
    labels = np.empty(n, np.intp)
    labels[order] = np.repeat(np.arange(len(first)), (last - first)[by_place])
    return labels, int(depth.max())


def _room(cutting: _Cutting) -> np.ndarray:
    """Return zeros for counts of the values of any attribute, or of people."""
    persons = cutting.people.max() + 1 if len(cutting.people) else 0
    return np.zeros(max(np.diff(cutting.start).max(), cutting.values, persons) + 1, np.intp)


# -- the cuts ------------------------------------------------------------------------------
#
# `order[first:last]` are the rows of a part. A cut leaves the left ones first.


@loop(nogil=True)
def _cut_all(cutting, counts):
    """Return the labels and the depth of the deepest group."""
    n = len(cutting.codes)
    order = np.arange(n)
    buffer = np.empty(n, np.intp)
    side = np.empty(n, np.bool_)  # whether a row of the part goes left
    labels = np.empty(n, np.intp)
    n_groups, deepest = 0, 0
    # first, last and depth of the parts to come; a list compiles four times as long
    parts = np.empty((n + 2, 3), np.intp)
    parts[0, 0], parts[0, 1], parts[0, 2] = 0, n, 0
    waiting = 1
    while waiting:
        waiting -= 1
        first, last, depth = parts[waiting]
        if _next_cut(cutting, order[first:last], side[first:last], counts, 0) < 0:
            for place in range(first, last):
                labels[order[place]] = n_groups
            n_groups += 1
            deepest = max(deepest, depth)
        else:
            middle = _scatter(order, buffer, side, first, last)
            for start, end in ((middle, last), (first, middle)):
                parts[waiting, 0], parts[waiting, 1], parts[waiting, 2] = start, end, depth + 1
                waiting += 1
    return labels, deepest


@loop(nogil=True)
def _propose_all(cutting, places, side, counts, parts, labels):
    """Move every part to its next cut (-1: none), and number the sides of all."""
    proposed = 0
    for part in range(parts.shape[1]):
        first, last = parts[0, part], parts[1, part]
        parts[3, part] = _next_cut(
            cutting, places[first:last], side[first:last], counts, parts[3, part]
        )
        if parts[3, part] >= 0:
            for place in range(first, last):
                labels[place] = 2 * proposed + (not side[place])
            proposed += 1


@loop
def _next_cut(cutting, rows, side, counts, tried):
    """Set `side` to the first allowed cut after those tried; return its number, or -1."""
    if _rows_of(rows, cutting.weights) < 2 * cutting.k:
        return -1
    ways = 3 if cutting.relaxed else 2  # to cut at the median of an attribute
    widths = _widths(cutting, rows, counts)
    for rank in range(len(widths)):
        j = widths.argmax()
        if widths[j] == 0 and not cutting.relaxed:
            return -1
        for number in range(max(tried, ways * rank), ways * (rank + 1)):
            way = number % ways + (not cutting.relaxed)
            _take_sides(cutting, cutting.codes[:, j], rows, side, counts, way)
            if _is_allowed(cutting, rows, side, counts):
                return number
        widths[j] = _TRIED
    return -1


@inner
def _rows_of(rows, weights):
    """Number of rows of the table."""
    size = 0
    for i in rows:
        size += weights[i]
    return size


@loop
def _widths(cutting, rows, counts):
    """Extent of every attribute in a part as a share of its extent in the domain."""
    codes, positions, start = cutting.codes, cutting.positions, cutting.start
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


@inner
def _take_sides(cutting, column, rows, side, counts, way):
    """Set `side` to a cut: relaxed (0), strict with more even halves (1), or strict (2)."""
    weights = cutting.weights
    v = _median(column, rows, weights, counts)
    size, below, equal = 0, 0, np.intp(0)  # not literal: `_deal` takes it
    for i in rows:
        size += weights[i]
        below += weights[i] * (column[i] < v)
        equal += weights[i] * (column[i] == v)
    if way == 0:
        _deal(column, rows, side, counts, cutting.sensitive, v, size // 2 - below, equal)
        return
    up_to_v_is_more_even = abs(size - 2 * (below + equal)) <= abs(size - 2 * below)
    bound = v if (way == 1) == up_to_v_is_more_even else v - 1
    for place in range(len(rows)):
        side[place] = column[rows[place]] <= bound


@inner
def _median(column, rows, weights, counts):
    """Return the lower median: the least value that at least half of the rows do not exceed."""
    low, high, size = column[rows[0]], column[rows[0]], 0
    for i in rows:
        low, high = min(low, column[i]), max(high, column[i])
        size += weights[i]
    if high - low > 8 * len(rows):  # counting would cost more than halving the range
        while low < high:
            middle = (low + high) // 2
            seen = 0
            for i in rows:
                seen += weights[i] * (column[i] <= middle)
            low, high = (low, middle) if 2 * seen >= size else (middle + 1, high)
        return low
    for i in rows:
        counts[column[i]] += weights[i]
    v, seen = low, counts[low]
    while 2 * seen < size:
        v += 1
        seen += counts[v]
    for i in rows:
        counts[column[i]] = 0
    return v


@inner
def _deal(column, rows, side, counts, sensitive, v, wanted_left, equal):
    """Send rows below v left, above v right, and `wanted_left` of the `equal` ones with v left."""
    # Those with v are dealt in turns, sensitive value by sensitive value, until a side is full.
    values = 0  # the sensitive values of the rows with v are below this
    for place in range(len(rows)):
        side[place] = column[rows[place]] < v
        if column[rows[place]] == v:
            counts[sensitive[rows[place]]] += 1
            values = max(values, sensitive[rows[place]] + 1)
    turn = 0
    for value in range(values):  # counts become the first turn of every value
        turn, counts[value] = turn + counts[value], turn
    # The left side gets every second turn until it is full, and all turns once the right one is.
    wanted_right = equal - wanted_left
    for place in range(len(rows)):
        if column[rows[place]] == v:
            turn = counts[sensitive[rows[place]]]
            counts[sensitive[rows[place]]] += 1
            side[place] = (turn % 2 == 0 and turn < 2 * wanted_left) or turn >= 2 * wanted_right
    for value in range(values):
        counts[value] = 0


@inner
def _is_allowed(cutting, rows, side, counts):
    """Whether both sides have k rows or people, and are diverse."""
    n_left, k, people, weights = 0, cutting.k, cutting.people, cutting.weights
    for place in range(len(rows)):
        n_left += weights[rows[place]] * side[place]
    if n_left < k or _rows_of(rows, weights) - n_left < k:
        return False
    share, distinct, sensitive = cutting.share, cutting.distinct, cutting.sensitive
    for which in (True, False):
        # k people are k distinct values of the person
        if len(people) and not _is_diverse(
            rows, side, which, counts, people, weights, _NO_SHARE, k
        ):
            return False
        if share + distinct > 0 and not _is_diverse(
            rows, side, which, counts, sensitive, weights, share, distinct
        ):
            return False
    return True


@inner
def _is_diverse(rows, side, which, counts, sensitive, weights, share, distinct):
    """Whether one side has no value above one share-th, and enough distinct values."""
    size, found, most = 0, 0, 0
    for place in range(len(rows)):
        if side[place] == which:
            v, rows_here = sensitive[rows[place]], weights[rows[place]]
            found += counts[v] == 0
            counts[v] += rows_here
            size += rows_here
            most = max(most, counts[v])
    for i in rows:
        counts[sensitive[i]] = 0
    return most * share <= size and found >= distinct


@loop
def _scatter(order, buffer, side, first, last):
    """Move the left rows to the front, keeping their order; return where the right ones begin."""
    middle, right = first, 0
    for place in range(first, last):
        if side[place]:
            order[middle] = order[place]
            middle += 1
        else:
            buffer[right] = order[place]
            right += 1
    for i in range(right):
        order[middle + i] = buffer[i]
    return middle
