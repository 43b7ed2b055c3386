"""TP refined: the idea of TP's first phase on every projection, then a local search.

Rows that keep the same attributes and agree on them are a *bucket*; published, it is frequency
l-diverse if it is l-eligible. So the fewest stars come from the cheapest choice of kept attributes
for every row such that every bucket is l-eligible. TP has two choices, all attributes or none;
here all :math:`2^d` are possible. Source: this package. It starts from TP+.
"""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Iterator
from math import inf
from typing import NamedTuple

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import inner, loop
from anonpaper.errors import check_number
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.partition.tp import eligible_height, tp_plus_groups
from anonpaper.principles import FrequencyLDiversity, require_eligible
from anonpaper.randomness import generator

__all__ = ["attributes_kept", "tp_refined"]

#: Entries (cells in groups) that are regrouped at a time.
_NEIGHBOURHOOD = 300
#: Entries that are regrouped in all, and the least and most rounds in which that is done.
_ENTRIES, _FEWEST, _MOST = 4_000_000, 10, 400
#: Rounds without a star saved after which the search ends.
_IN_VAIN = 40
#: Orders of attributes tried with all groups at once, beside the given one and its reverse.
_ORDERS = 4
#: Choices of attributes that are tried where there are more.
_CHOICES = 1024
#: Groups of more rows than this are not split.
_LARGE = 1_000


@algorithm(
    "tp_plus, then its stars searched for groups that need fewer: never more stars",
    promises={"l": FrequencyLDiversity},
)
def tp_refined(
    m: Microdata, l: int, seconds: float | None = None, seed: int | np.random.Generator | None = 0
) -> Partition:
    r"""Guarantee frequency l-diversity with never more stars than TP+.

    So at most :math:`l \cdot d` times the fewest stars; more rows than with TP may have one.

    Parameters
    ----------
    m, l, seed : see :mod:`anonpaper.partition`
    seconds : float, optional
        Begin no further round after this time (at least 0), or after 400 rounds without a saved
        star. By default the size of the table fixes the rounds, so that machines agree.

    Returns
    -------
    Partition
        ``info`` is that of :func:`anonpaper.tp_plus` for the start, with ``stars_of_tp_plus``,
        ``stars`` and ``search_rounds``, the number of passes over all groups.

    Raises
    ------
    ColumnError, ParameterError, InfeasibleError
        See :mod:`anonpaper.partition`; also if `seconds` is negative.

    References
    ----------
    xiao2010, sections 5.2, 5.6 and 6.1; the search is this package's. A round is O(f·2^d·d) for f
    cells listed in groups, with at most 1,024 choices of attributes.

    Examples
    --------
    >>> m = ap.examples.hospital()
    >>> p = tp_refined(m, l=2)
    >>> p.sizes().tolist(), p.info["stars_of_tp_plus"], p.info["stars"]
    ([4, 2, 2, 2], 6, 6)
    """
    l = require_eligible(m, l)
    if seconds is not None:
        check_number("seconds", seconds, 0, inf)
    ends = None if seconds is None else time.monotonic() + seconds
    rng = generator(seed)
    *entries, info = tp_plus_groups(m, l, apart=False)
    groups = _Groups(m, *entries)
    info["stars_of_tp_plus"] = int(groups.stars.sum())
    kept = attributes_kept(m.d, _CHOICES)
    groups = min(_orders_tried(groups, l, kept, rng), key=lambda tried: tried.stars.sum())
    rounds = min(max(_ENTRIES // len(groups.cell), _FEWEST), _MOST)
    done, in_vain, before = 0, 0, groups.stars.sum()
    most_in_vain = _IN_VAIN if ends is None else _MOST
    while (
        before > 0
        and in_vain < most_in_vain
        and (done < rounds if ends is None else time.monotonic() < ends)
    ):
        groups.split(l, rng)
        order, passes_over = groups.neighbours(rng), rng.integers(1, 2**63)
        groups.regroup(l, _in_other_order(kept, rng), order, _NEIGHBOURHOOD, passes_over)
        now = groups.stars.sum()
        done, in_vain, before = done + 1, in_vain + 1 if now == before else 0, now
    groups.split(l, rng)
    info |= {"stars": int(groups.stars.sum()), "search_rounds": done}
    return Partition.of_cells(
        m.cells, groups.cell, groups.group, groups.rows, info, f"TP refined, l = {l}"
    )


def attributes_kept(d: int, most: int) -> np.ndarray:
    """Return `most` choices (p, d) of attributes to keep, from all to none, cheapest first."""
    # Where there are more, those are taken that star or keep fewest.
    found = list(itertools.islice(_from_both_ends(d), most))
    starred = np.zeros((len(found), d), bool)
    for row, columns in zip(starred, found, strict=True):
        row[list(columns)] = True
    return ~starred[np.argsort(starred.sum(axis=1), kind="stable")]


def _orders_tried(
    groups: _Groups, l: int, kept: np.ndarray, rng: np.random.Generator
) -> Iterator[_Groups]:
    """Regroup all groups with stars at once, in several orders of equally many stars."""
    given = np.arange(kept.shape[1])
    for columns in (given, given[::-1], *(rng.permutation(given) for _ in range(_ORDERS))):
        tried = copy.copy(groups)
        with_stars_first = np.argsort(groups.stars == 0, kind="stable")
        tried.regroup(l, kept[:, columns], with_stars_first, groups.starred_entries)
        yield tried


def _from_both_ends(d: int) -> Iterator[tuple[int, ...]]:
    """Yield sets of attributes to be starred: none, all, any one, all except one, any two, ..."""
    for few in range(d // 2 + 1):
        yield from itertools.combinations(range(d), few)
        if few < d - few:
            yield from itertools.combinations(range(d), d - few)


def _in_other_order(kept: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Mix choices of equally many stars, sometimes those of one more; all first, none last."""
    starred = (~kept).sum(axis=1) + 1.5 * rng.random(len(kept))
    starred[0], starred[-1] = -inf, inf
    return kept[np.argsort(starred)]


class _Groups:
    """l-eligible groups: ``rows[i]`` rows of ``cell[i]`` are in ``group[i]``, which ascend."""

    def __init__(self, m: Microdata, cell: np.ndarray, group: np.ndarray, rows: np.ndarray):
        self.cells = m.cells
        self.tuples = np.ascontiguousarray(m.cells.tuples)
        self.n_values = m.sensitive_attribute.size
        # Tuples that agree on some attributes have the same sum of their numbers there. Where
        # others have it too, they share a bucket: eligible as any, only not as cheap.
        numbers = np.random.default_rng(0)
        self.numbers = np.column_stack(
            [
                numbers.integers(0, 2**64, a.size, dtype=np.uint64)[codes]
                for a, codes in zip(m.attributes, self.tuples.T, strict=True)
            ]
        )
        self._put(cell, group, rows)

    def _put(self, cell: np.ndarray, group: np.ndarray, rows: np.ndarray) -> None:
        """Store groups, merge those that publish the same tuple, and count their stars."""
        order = np.argsort(group, kind="stable")
        self.cell, self.group, self.rows = cell[order], group[order], rows[order]
        whole = self._count_stars()[self.group] == 0
        tuple_of = self.cells.tuple_of_cell[self.cell]
        group = np.where(whole, tuple_of, len(self.cells) + self.group)
        order = np.lexsort([self.cell, group])
        group, cell = group[order], self.cell[order]
        new_group = np.diff(group, prepend=-1) > 0
        first = np.flatnonzero(new_group | (np.diff(cell, prepend=-1) > 0))
        self.cell, self.group = cell[first], np.cumsum(new_group)[first] - 1
        self.rows = np.add.reduceat(self.rows[order], first)
        self.stars = self._count_stars()

    @property
    def start(self) -> np.ndarray:
        """Group g has the entries ``start[g]:start[g + 1]``."""
        return np.searchsorted(self.group, np.arange(self.group[-1] + 2))

    @property
    def starred_entries(self) -> int:
        """Number of entries in groups with stars."""
        return int(np.count_nonzero(self.stars[self.group]))

    def _count_stars(self) -> np.ndarray:
        codes, first = self.tuples[self.cells.tuple_of_cell[self.cell]], self.start[:-1]
        low, high = np.minimum.reduceat(codes, first), np.maximum.reduceat(codes, first)
        return (low != high).sum(axis=1) * np.add.reduceat(self.rows, first)

    def split(self, l: int, rng: np.random.Generator) -> None:
        """Split groups with stars into as many as possible; no star is added."""
        # A group of g rows becomes q = g // l groups: its rows, sorted by sensitive value, are
        # dealt out one by one. No value has more than g / l rows: at most one in each.
        size = np.add.reduceat(self.rows, self.start[:-1])
        parts = np.where((self.stars > 0) & (size <= _LARGE), size // l, 1)
        dealt = parts[self.group] > 1
        cell, group = (
            np.repeat(of_entry[dealt], self.rows[dealt]) for of_entry in (self.cell, self.group)
        )
        order = np.lexsort([rng.random(len(cell)), self.cells.sensitive[cell], group])
        cell, group = cell[order], group[order]
        place = np.arange(len(group)) - np.searchsorted(group, group)
        first = np.cumsum(parts) - parts
        self._put(
            np.r_[self.cell[~dealt], cell],
            np.r_[first[self.group[~dealt]], first[group] + place % parts[group]],
            np.r_[self.rows[~dealt], np.ones(len(cell), np.intp)],
        )

    def neighbours(self, rng: np.random.Generator) -> np.ndarray:
        """Sort the groups by a tuple of each, lexicographically in a random order of columns."""
        codes = self.tuples[self.cells.tuple_of_cell[self.cell[self.start[:-1]]]]
        return np.lexsort([rng.random(len(codes)), *codes.T[rng.permutation(codes.shape[1])]])

    def regroup(
        self, l: int, kept: np.ndarray, order: np.ndarray, entries: int, passes_over: int = 0
    ) -> None:
        """Regroup at least so many entries at a time, in that order of groups."""
        place = np.argsort(order)[self.group]
        in_order = np.argsort(place, kind="stable")
        cell, place = self.cell[in_order], place[in_order]
        search = _Search(
            self.cells.tuple_of_cell[cell], self.cells.sensitive[cell].astype(np.intp),
            self.rows[in_order], self.tuples, self.numbers, np.ascontiguousarray(kept),
            np.uint64(passes_over), self.n_values, l,
        )  # fmt: skip
        start = np.searchsorted(place, np.arange(len(order) + 1))
        entry, group, rows = _regroup_all(search, start, self.stars[order], entries)
        self._put(cell[entry], group, rows)


# -- the search, on entries -----------------------------------------------------------------
#
# Of every bucket as many rows are taken as can be so that both the rows taken and the rows left
# are l-eligible: l·G_v <= |G| and l·(R_v - G_v) <= |R| - |G| for all v, for G taken from R. The
# last choice keeps nothing and takes all that is left. A regrouping that needs more stars than
# the groups that it replaces is not taken.


class _Search(NamedTuple):
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
def _regroup_all(search, start, stars, entries):
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
