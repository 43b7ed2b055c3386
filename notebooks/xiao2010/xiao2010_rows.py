"""TP and Hilbert row by row, as in section 5.5 of xiao2010, for timing and for tracing.

:func:`anonpaper.tp` works on counts of equal rows. Here every row moves by itself, in constant
time. For a set S, a QI-group or the residue R, a list S[j] holds the sensitive values v with
h(S, v) = j. Each value points to its rows (its *SA set*), and S to its pillars. Ties go to the
first in a list, so that results may differ from those of `anonpaper.tp`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonpaper.compiled import loop
from anonpaper.groups import Partition, dense_labels
from anonpaper.microdata import Cells, Microdata
from anonpaper.partition.hilbert import group_along_curve, places_on_curve
from anonpaper.principles import require_eligible


def tp_by_rows(m: Microdata, l: int) -> Partition:
    """Guarantee what TP guarantees, moving one row at a time: O(n + r·l) in phases one and two."""
    l = require_eligible(m, l)
    cells = m.cells
    labels, phase, heights = _three_phases(
        cells.cell_of_row, cells.tuple_of_cell, cells.sensitive.astype(np.int64), cells.start,
        m.sensitive_attribute.size, l,
    )  # fmt: skip
    info = {
        "phase": phase,
        "residue_size": int(np.count_nonzero(labels == len(cells))),
        "heights": list(heights),  # h(R) after phases one and two and every later round
    }
    return Partition(dense_labels(labels), info, f"TP row by row, l = {l}")


def along_curve(m: Microdata, *, by_rows: bool) -> np.ndarray:
    """Return the rows of a table, or its distinct tuples, in their order on the Hilbert curve."""
    points = m.codes if by_rows else m.cells.tuples
    places, _ = places_on_curve(points, [attribute.size for attribute in m.attributes])
    return np.argsort(places, kind="stable")


def walk(m: Microdata, l: int, order: np.ndarray, *, by_rows: bool) -> np.ndarray:
    """Return the labels that Hilbert gives the rows when it walks along the curve."""
    if by_rows:  # every row is a cell of its own
        each, one = np.arange(m.n + 1), np.ones(m.n, np.int64)
        cells = Cells(m.codes, each, m.sensitive_codes[:, None], None, one, each[:-1])
    else:
        cells = m.cells
    return Partition.of_cells(cells, *group_along_curve(cells, order, cells.counts, l)).labels


# -- the inverted lists ---------------------------------------------------------------------
#
# Sets are numbered: the QI-groups, then R. An SA set is a number too: first those of the
# QI-groups, group by group, then one of R for every sensitive value. -1 ends a list.


class _Lists(NamedTuple):
    """The sets, their SA sets and their rows, linked."""

    owner: np.ndarray  # of every SA set: the set it belongs to,
    value: np.ndarray  # its sensitive value,
    count: np.ndarray  # its number of rows h(S, v),
    first_row: np.ndarray  # the first of them,
    after: np.ndarray  # and its neighbours in the list S[h(S, v)]
    before: np.ndarray
    next_row: np.ndarray  # of every row: the next one in its SA set
    size: np.ndarray  # of every set: |S|,
    height: np.ndarray  # h(S), the pointer to the pillars,
    start: np.ndarray  # where its lists S[0], S[1], ... begin
    head: np.ndarray  # the first SA set of every list


@loop
def _linked(cell_of_row, group_of_cell, sensitive, groups, m):
    """Build the lists from the rows: O(n)."""
    n, e = len(cell_of_row), len(sensitive)
    sets = e + m
    owner = np.full(sets, groups, np.int64)
    value = np.arange(-e, m)
    for cell in range(e):
        owner[cell], value[cell] = group_of_cell[cell], sensitive[cell]
    count, first_row = np.zeros(sets, np.int64), np.full(sets, -1, np.int64)
    next_row = np.full(n, -1, np.int64)
    size = np.zeros(groups + 1, np.int64)
    for row in range(n - 1, -1, -1):
        cell = cell_of_row[row]
        next_row[row] = first_row[cell]
        first_row[cell] = row
        count[cell] += 1
        size[owner[cell]] += 1
    start = np.zeros(groups + 2, np.int64)
    for group in range(groups + 1):
        start[group + 1] = start[group] + size[group] + 1
    start[groups + 1] = start[groups] + n + 1  # R may take all rows
    lists = _Lists(
        owner, value, count, first_row, np.full(sets, -1), np.full(sets, -1),
        next_row, size, np.zeros(groups + 1, np.int64), start, np.full(start[-1], -1),
    )  # fmt: skip
    for i in range(sets - 1, -1, -1):
        _link(lists, i)
    return lists


@loop
def _link(lists, i):
    """Put an SA set at the head of the list of its count."""
    s, h = lists.owner[i], lists.count[i]
    place = lists.start[s] + h
    first = lists.head[place]
    lists.before[i], lists.after[i] = -1, first
    if first >= 0:
        lists.before[first] = i
    lists.head[place] = i
    lists.height[s] = max(lists.height[s], h)


@loop
def _unlink(lists, i):
    """Take an SA set out of the list of its count."""
    before, after = lists.before[i], lists.after[i]
    if before >= 0:
        lists.after[before] = after
    else:
        lists.head[lists.start[lists.owner[i]] + lists.count[i]] = after
    if after >= 0:
        lists.before[after] = before


@loop
def _residue_set(lists, v):
    """Return the SA set of R for a sensitive value."""
    m = lists.value[-1] + 1
    return len(lists.count) - m + v


@loop
def _pillars(lists, s):
    """Return the first SA set in the list of the pillars of S."""
    return lists.head[lists.start[s] + lists.height[s]]


@loop
def _move(lists, i):
    """Move the first row of an SA set to R."""
    q, row = lists.owner[i], lists.first_row[i]
    _unlink(lists, i)
    lists.first_row[i] = lists.next_row[row]
    lists.count[i] -= 1
    lists.size[q] -= 1
    _link(lists, i)
    if _pillars(lists, q) < 0:
        lists.height[q] -= 1
    r = _residue_set(lists, lists.value[i])
    _unlink(lists, r)
    lists.next_row[row] = lists.first_row[r]
    lists.first_row[r] = row
    lists.count[r] += 1
    lists.size[-1] += 1
    _link(lists, r)


@loop
def _move_pillars(lists, q):
    """Move one row of each pillar of Q to R."""
    i = _pillars(lists, q)
    while i >= 0:
        following = lists.after[i]
        _move(lists, i)
        i = following


@loop
def _is_eligible(lists, s, l):
    return lists.size[s] >= l * lists.height[s]


@loop
def _is_thin(lists, q, l):
    return lists.size[q] == l * lists.height[q]


@loop
def _is_pillar_of_residue(lists, v):
    return lists.count[_residue_set(lists, v)] == lists.height[-1]


@loop
def _is_dead(lists, q, l):
    """Whether Q is thin and shares a pillar with R. A QI-group without rows counts as dead."""
    if not _is_thin(lists, q, l):
        return False
    if lists.size[q] == 0:
        return True
    i = _pillars(lists, q)
    while i >= 0:
        if _is_pillar_of_residue(lists, lists.value[i]):
            return True
        i = lists.after[i]
    return False


# -- the phases -----------------------------------------------------------------------------


@loop
def _three_phases(cell_of_row, group_of_cell, sensitive, first_cell, m, l):
    """Return the set of every row, the phase, and h(R) along the way."""
    groups = len(first_cell) - 1
    lists = _linked(cell_of_row, group_of_cell, sensitive, groups, m)
    heights = [np.int64(0)][:0]
    phase = 1
    _phase_one(lists, groups, l)
    heights.append(lists.height[-1])
    if not _is_eligible(lists, groups, l):
        phase = 2
        _phase_two(lists, first_cell, m, l)
        heights.append(lists.height[-1])
    while not _is_eligible(lists, groups, l):
        phase = 3
        _round_of_phase_three(lists, first_cell, m, l)
        heights.append(lists.height[-1])
    labels = np.empty(len(cell_of_row), np.int64)
    for i in range(len(lists.count)):
        row = lists.first_row[i]
        while row >= 0:
            labels[row] = lists.owner[i]
            row = lists.next_row[row]
    return labels, phase, heights


@loop
def _phase_one(lists, groups, l):
    for q in range(groups):
        while not _is_eligible(lists, q, l):
            _move(lists, _pillars(lists, q))


@loop
def _phase_two(lists, first_cell, m, l):
    """Move rows of the rarest alive values until R is eligible or nothing is alive."""
    height = lists.height[-1]  # h(R) does not grow: Lemma 5.11
    groups, e = len(first_cell) - 1, len(lists.count) - m
    candidate, following, preceding = _candidates(lists, e, m)
    value_at, value_after = np.full(height + 2, -1), np.full(m, -1)
    for v in range(m - 1, -1, -1):
        if candidate[v] >= 0:
            _push(value_at, value_after, lists.count[_residue_set(lists, v)], v)
    j = 0
    while not _is_eligible(lists, groups, l):
        while j <= height and value_at[j] < 0:
            j += 1
        if j > height:
            return
        v = value_at[j]
        h = lists.count[_residue_set(lists, v)]
        if h > j or candidate[v] < 0:  # v has gained rows, or has no candidates left
            value_at[j] = value_after[v]
            if candidate[v] >= 0:
                _push(value_at, value_after, h, v)
            continue
        i = candidate[v]
        if lists.count[i] == 0:
            _drop(candidate, following, preceding, i, v)
            continue
        q = lists.owner[i]
        if not _is_dead(lists, q, l):
            if _is_thin(lists, q, l):
                _move_pillars(lists, q)
            else:
                _move(lists, i)
        if _is_dead(lists, q, l):
            for other in range(first_cell[q], first_cell[q + 1]):
                _drop(candidate, following, preceding, other, lists.value[other])


@loop
def _candidates(lists, e, m):
    """List the SA sets of QI-groups that have rows, value by value."""
    candidate = np.full(m, -1)
    following, preceding = np.full(e, -1), np.full(e, -2)  # -2: in no list
    for i in range(e - 1, -1, -1):
        if lists.count[i] > 0:
            v = lists.value[i]
            following[i], preceding[i] = candidate[v], -1
            if candidate[v] >= 0:
                preceding[candidate[v]] = i
            candidate[v] = i
    return candidate, following, preceding


@loop
def _drop(candidate, following, preceding, i, v):
    """Take an SA set out of the candidates of its value, if it is among them."""
    if preceding[i] == -2:
        return
    if preceding[i] >= 0:
        following[preceding[i]] = following[i]
    else:
        candidate[v] = following[i]
    if following[i] >= 0:
        preceding[following[i]] = preceding[i]
    preceding[i] = -2


@loop
def _push(value_at, value_after, h, v):
    value_after[v] = value_at[h]
    value_at[h] = v


@loop
def _round_of_phase_three(lists, first_cell, m, l):
    """Cover the pillars of R by QI-groups, move their pillars, drain those that came alive."""
    groups = len(first_cell) - 1
    uncovered = np.array([_is_pillar_of_residue(lists, v) for v in range(m)])
    picked = [np.int64(0)][:0]
    while uncovered.any():
        best, least = -1, m + 1
        for q in range(groups):
            shared = _shared(lists, q, uncovered).sum()
            if lists.size[q] > 0 and shared < least:
                best, least = q, shared
        uncovered = _shared(lists, best, uncovered)
        picked.append(best)
    for q in picked:
        _move_pillars(lists, q)
    for q in range(groups):
        while not _is_eligible(lists, groups, l) and not _is_dead(lists, q, l):
            if _is_thin(lists, q, l):
                _move_pillars(lists, q)
                continue
            for i in range(first_cell[q], first_cell[q + 1]):
                if lists.count[i] > 0 and not _is_pillar_of_residue(lists, lists.value[i]):
                    _move(lists, i)
                    break


@loop
def _shared(lists, q, values):
    """Return which of these values are pillars of Q."""
    shared = np.zeros_like(values)
    i = _pillars(lists, q)
    while i >= 0:
        shared[lists.value[i]] = values[lists.value[i]]
        i = lists.after[i]
    return shared
