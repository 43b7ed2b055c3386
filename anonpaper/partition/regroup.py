"""The search of TP refined, on entries (cells in groups), in compiled code.

Every bucket gives as many rows as it can so that both the rows taken and the rows left are
l-eligible: l·G_v <= |G| and l·(R_v - G_v) <= |R| - |G| for all v, for G taken from R. The last
choice keeps nothing and takes all that is left. A regrouping that needs more stars than the groups
that it replaces is not taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonpaper.compiled import inner, loop
from anonpaper.partition.tp import eligible_height

__all__ = ["Search", "regroup_all"]


class Search(NamedTuple):
    """The entries in the order of the search, and the data that decide on their groups."""

    tuple_of: np.ndarray
    sensitive: np.ndarray
    rows: np.ndarray
    tuples: np.ndarray
    numbers: np.ndarray
    kept: np.ndarray  # the choices of attributes, those of few stars first
    passes_over: np.uint64
    n_values: int
    l: int


class _Rest(NamedTuple):
    """The entries of R, the rows without a group, and one bucket of them."""

    tuple_of: np.ndarray
    sensitive: np.ndarray
    left: np.ndarray  # rows of an entry that have no group yet
    residue: np.ndarray  # h(R, v)
    size: np.ndarray  # |R|, one number
    held: np.ndarray  # h(bucket, v)
    quota: np.ndarray  # h(G, v) of the rows to be taken
    sums: np.ndarray  # what entries of one bucket have in common
    following: np.ndarray  # next entry of the same bucket, -1 after the last
    l: int


@loop
def regroup_all(search, start, stars, entries):
    """Return entries, groups and rows after regrouping groups that are neighbours."""
    new_entry, new_group, new_rows = [0][:0], [0][:0], [0][:0]
    n_groups, first = 0, 0
    while first < len(stars):
        last, before, after = first, 0, 0
        while last < len(stars) and start[last] - start[first] < max(entries, 1):
            before += stars[last]
            last += 1
        entry, group, taken = [0][:0], [0][:0], [0][:0]
        if before > 0:
            after = _regroup(search, start[first], start[last], entry, group, taken)
        if before > 0 and after <= before:
            for i in range(len(entry)):
                new_entry.append(entry[i])
                new_group.append(n_groups + group[i])
                new_rows.append(taken[i])
            n_groups += group[-1] + 1
        else:
            for g in range(first, last):
                for i in range(start[g], start[g + 1]):
                    new_entry.append(i)
                    new_group.append(n_groups)
                    new_rows.append(search.rows[i])
                n_groups += 1
        first = last
    return np.array(new_entry), np.array(new_group), np.array(new_rows)


@loop
def _regroup(search, first, last, entry, group, taken):
    """Group rows that are l-eligible together; append to three lists; return the stars."""
    n, values = last - first, np.empty(search.n_values, np.intp)
    rest = _Rest(
        search.tuple_of[first:last], search.sensitive[first:last], search.rows[first:last].copy(),
        np.zeros(search.n_values, np.intp), np.zeros(1, np.intp),
        np.zeros(search.n_values, np.intp), np.zeros(search.n_values, np.intp),
        np.empty(n, np.uint64), np.empty(n, np.intp), search.l,
    )  # fmt: skip
    for i in range(n):
        rest.residue[rest.sensitive[i]] += rest.left[i]
        rest.size[0] += rest.left[i]
    bits = 2
    while 1 << bits < 2 * n:
        bits += 1
    table = np.empty(1 << bits, np.intp)  # first entry of the bucket that has this place
    buckets = np.empty(n, np.intp)
    stars, n_groups = 0, np.intp(0)
    for choice in range(len(search.kept)):
        if rest.size[0] == 0:
            break
        is_last = choice == len(search.kept) - 1
        n_buckets = _fill_buckets(search, rest, search.kept[choice], table, bits, buckets)
        for b in range(n_buckets):
            i = table[buckets[b]]
            if not is_last and _is_passed_over(rest.sums[i], search.passes_over):
                continue
            n_held = 0
            while i >= 0:
                v = rest.sensitive[i]
                if rest.held[v] == 0:
                    values[n_held] = v
                    n_held += 1
                rest.held[v] += rest.left[i]
                i = rest.following[i]
            here = values[:n_held]
            rows = _most_rows(rest, here) if n_held >= rest.l else 0
            if rows > 0:
                _choose_values(rest, here, rows)
                rest.size[0] -= rows
                stars += rows * _take(
                    search, rest, table[buckets[b]], first, n_groups, entry, group, taken
                )
                n_groups += 1
            for v in here:
                rest.held[v] = 0
    return stars


@inner
def _fill_buckets(search, rest, kept, table, bits, buckets):
    """Chain the entries that agree on the kept attributes; return the number of chains."""
    # `table` is a hash table of the chains, `buckets` their places in it.
    # This loop is where the time goes: it reads arrays of its own, not fields of tuples.
    sums, following, left = rest.sums, rest.following, rest.left
    tuple_of, numbers = rest.tuple_of, search.numbers
    for place in range(len(table)):
        table[place] = -1
    n_buckets = 0
    for i in range(len(sums)):
        if left[i] == 0:
            continue
        sums[i] = 0
        for j in range(len(kept)):
            if kept[j]:
                sums[i] += numbers[tuple_of[i], j]
        place = np.int64(sums[i] >> np.uint64(64 - bits))
        while table[place] >= 0 and sums[table[place]] != sums[i]:
            place = (place + 1) & ((1 << bits) - 1)
        if table[place] < 0:
            buckets[n_buckets] = place
            n_buckets += 1
        following[i] = table[place]
        table[place] = i
    return n_buckets


def _buckets_by_sorting(search, rest, kept, table, bits, buckets):
    """Do the same in few calls of numpy; leave out chains too short for l values."""
    live = np.flatnonzero(rest.left)
    sums = search.numbers[rest.tuple_of[live]][:, kept].sum(axis=1, dtype=np.uint64)
    rest.sums[live] = sums
    order = np.argsort(sums, kind="stable")
    live, begins = live[order], np.flatnonzero(np.diff(sums[order], prepend=~sums[order[:1]]))
    rest.following[live[1:]] = live[:-1]
    rest.following[live[begins]] = -1
    ends = np.append(begins[1:], len(live))
    long = ends - begins >= rest.l
    by_first = np.argsort(live[begins[long]])
    n_buckets = len(by_first)
    table[:n_buckets] = live[ends[long] - 1][by_first]
    buckets[:n_buckets] = np.arange(n_buckets)
    return n_buckets


_fill_buckets.interpreted = _buckets_by_sorting


@inner
def _is_passed_over(number, passes_over):
    """Whether it is one bucket in about thirty: its rows may be more useful elsewhere."""
    mixed = (number ^ passes_over) * np.uint64(0x9E3779B97F4A7C15)
    return passes_over != 0 and mixed >> np.uint64(59) == 0


@inner
def _most_rows(rest, values):
    """Return how many rows of a bucket can be taken: they and the rest of R stay l-eligible."""
    # As in phase one of TP, the largest l-eligible subset is found by bisection of its height. If
    # the rest is not, fewer rows are tried: multiples of l by bisection, and what lies above.
    high = 0
    for v in values:
        high = max(high, rest.held[v])
    _, most = eligible_height(rest.held, rest.l, high)
    if most == 0 or _can_be_taken(rest, most):
        return most
    low, high = 0, most // rest.l
    while low < high:
        middle = (low + high + 1) // 2
        if _can_be_taken(rest, middle * rest.l):
            low = middle
        else:
            high = middle - 1
    for rows in range(min(most - 1, low * rest.l + rest.l - 1), low * rest.l, -1):
        if _can_be_taken(rest, rows):
            return rows
    return low * rest.l


@inner
def _fewest_of(rest, v, rows):
    """Return how many rows of v must be taken, from l (R_v - G_v) <= |R| - |G|."""
    return max(0, (rows - rest.size[0] + rest.l * rest.residue[v] + rest.l - 1) // rest.l)


@inner
def _can_be_taken(rest, rows):
    """Whether some l-eligible `rows` rows of a bucket leave an l-eligible rest of R."""
    fewest, most = 0, 0
    for v in range(len(rest.residue)):
        least, cap = _fewest_of(rest, v, rows), min(rest.held[v], rows // rest.l)
        if least > cap:
            return False
        fewest += least
        most += cap
    return fewest <= rows <= most


@inner
def _choose_values(rest, values, rows):
    """Set how many rows of every value are taken, those most frequent in R first."""
    # All that is above a level of R is taken, as far as it may be; bisection finds the level.
    low, high = 0, 0
    for v in values:
        high = max(high, rest.residue[v])
    while low < high:
        level = (low + high) // 2
        if _set_quota(rest, values, rows, level) <= rows:
            high = level
        else:
            low = level + 1
    missing = rows - _set_quota(rest, values, rows, low)
    for v in values:
        # one below the level; with a row of every value that has one, nothing is missing
        may_grow = rest.quota[v] < min(rest.held[v], rows // rest.l)
        if missing > 0 and may_grow and rest.residue[v] - rest.quota[v] >= low:
            rest.quota[v] += 1
            missing -= 1


def _choose_in_numpy(rest, values, rows):
    """Do the same with all values of a level at once."""
    residue, most = rest.residue[values], np.minimum(rest.held[values], rows // rest.l)
    least = np.maximum(0, (rows - rest.size[0] + rest.l * residue + rest.l - 1) // rest.l)
    low, high = 0, residue.max()
    while low < high:
        level = (low + high) // 2
        if np.maximum(np.minimum(residue - level, most), least).sum() <= rows:
            high = level
        else:
            low = level + 1
    quota = np.maximum(np.minimum(residue - low, most), least)
    one_below = np.flatnonzero((quota < most) & (residue - quota >= low))
    quota[one_below[: rows - quota.sum()]] += 1
    rest.quota[values] = quota


_choose_values.interpreted = _choose_in_numpy


@inner
def _set_quota(rest, values, rows, level):
    """Set the quotas for a level of R; return their sum."""
    total = 0
    for v in values:
        above = min(rest.residue[v] - level, min(rest.held[v], rows // rest.l))
        rest.quota[v] = max(above, _fewest_of(rest, v, rows))
        total += rest.quota[v]
    return total


@loop
def _take(search, rest, i, first, number, entry, group, taken):
    """Move the rows of the quota from the bucket of i to a group; return the stars of each."""
    tuples = search.tuples
    starred = np.zeros(tuples.shape[1], np.bool_)
    example = np.intp(-1)
    while i >= 0:
        v = rest.sensitive[i]
        rows = min(rest.left[i], rest.quota[v])
        if rows > 0:
            entry.append(first + i)
            group.append(number)
            taken.append(rows)
            rest.left[i] -= rows
            rest.quota[v] -= rows
            rest.residue[v] -= rows
            if example < 0:
                example = rest.tuple_of[i]
            for j in range(len(starred)):
                starred[j] |= tuples[rest.tuple_of[i], j] != tuples[example, j]
        i = rest.following[i]
    return starred.sum()
