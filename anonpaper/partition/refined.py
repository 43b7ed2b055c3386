r"""TP refined: the idea of TP's first phase on every projection, then a local search.

Publishing with stars means to choose, for every row, the attributes that are kept. Rows that keep
the same attributes and agree on them are a *bucket*; what a bucket publishes is frequency
l-diverse if it is l-eligible, whatever its size. So the fewest stars are those of the cheapest
choice under which every bucket is l-eligible. TP knows two choices, all attributes or none; here
all :math:`2^d` are open.

Given rows that are l-eligible together, :func:`tp_refined` goes through the choices, those of few
stars first. Of every bucket it takes as many rows as can be taken so that both the rows taken and
the rows left are l-eligible:

.. math:: l \cdot G_v \le |G|, \qquad l \cdot (R_v - G_v) \le |R| - |G| \quad\text{for all } v

for G taken from R, with :math:`G_v` and :math:`R_v` rows of sensitive value v. The last choice
keeps nothing and takes all that is left, so no row is left out. The names h(S), |S| and R are
those of :mod:`anonpaper.partition.tp`. It is first done with all groups of TP+ that have stars,
then over and over with a few hundred cells of neighbouring groups, in other orders; a regrouping
that needs more stars than the groups that it replaces is not taken.

Source: this package. The start is TP+ of X. Xiao, K. Yi, Y. Tao, *The hardness and approximation
algorithms for l-diversity*, EDBT 2010, sections 5.6 and 6.1.
"""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Iterator
from math import inf

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import inner, loop
from anonpaper.errors import check_number
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.partition.tp import tp_plus_groups
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

    So at most :math:`l \cdot d` times the fewest stars there are, as TP. The number of rows with a
    star has no such guarantee: rows that TP leaves whole may get a star where that saves others.
    :func:`anonpaper.measure.fewest_stars` says how far from the optimum a table can be at most.

    What :func:`~anonpaper.partition.tp.tp` says of those who know the algorithm holds here too:
    most rows have a star because their value was too frequent among rows like them.

    Parameters
    ----------
    m : Microdata
        A table with a sensitive attribute, n rows.
    l : int
        The diversity asked for, from 2 to the largest feasible one.
    seconds : float, optional
        Begin no further round of the search after so long, from 0 on, nor after 400 in a row that
        save no star; what is found then depends on the machine. By default the number of rounds
        is fixed by the size of the table.
    seed : int, numpy.random.Generator or None
        Decides which groups are neighbours, and the order of choices of equally many stars.

    Returns
    -------
    Partition
        Groups of equal QI, and groups with stars of mostly l to 2l - 1 rows. ``info`` is that of
        :func:`~anonpaper.partition.tp.tp_plus` for the start, with ``stars_of_tp_plus``, ``stars``
        and ``search_rounds``, the number of times that all groups were gone through.

    Raises
    ------
    ColumnError, InfeasibleError
        As :func:`~anonpaper.partition.tp.tp`.
    ParameterError
        As :func:`~anonpaper.partition.tp.tp`; also if `seconds` is negative.

    Notes
    -----
    O(f·2^d·d) for one round, f being the cells listed in groups, with at most 1,024 choices of
    attributes: where there are more, those that star or keep fewest. To take rows from a bucket
    is O(m) for m sensitive values. Without `seconds` there are at most 10 to 400 rounds, fewer
    the larger the table is; 40 in a row that save no star end the search.

    References
    ----------
    xiao2010, sections 5.2 (phase one), 5.6 and 6.1 (TP+). The search is this package's.

    Examples
    --------
    >>> import anonpaper as ap
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
    *entries, info, _ = tp_plus_groups(m, l)
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
    """Return which attributes can be kept, those choices first that star fewest.

    Parameters
    ----------
    d : int
        Number of attributes.
    most : int
        Where there are more choices, take as many of them: those that star or keep fewest.

    Returns
    -------
    numpy.ndarray, shape (p, d), dtype bool
        From all attributes to none.

    Examples
    --------
    >>> attributes_kept(2, most=4).tolist()
    [[True, True], [False, True], [True, False], [False, False]]
    >>> attributes_kept(9, most=3).sum(axis=1).tolist()
    [9, 8, 0]
    """
    found = list(itertools.islice(_from_both_ends(d), most))
    starred = np.zeros((len(found), d), bool)
    for row, columns in zip(starred, found, strict=True):
        row[list(columns)] = True
    return ~starred[np.argsort(starred.sum(axis=1), kind="stable")]


def _orders_tried(
    groups: _Groups, l: int, kept: np.ndarray, rng: np.random.Generator
) -> Iterator[_Groups]:
    """Regroup all groups with stars at once, in several orders of choices of equally many stars.

    Where an order needs more stars than TP+, its groups are left as they are.
    """
    given = np.arange(kept.shape[1])
    for columns in (given, given[::-1], *(rng.permutation(given) for _ in range(_ORDERS))):
        tried = copy.copy(groups)
        with_stars_first = np.argsort(groups.stars == 0, kind="stable")
        tried.regroup(l, kept[:, columns], with_stars_first, groups.starred_entries)
        yield tried


def _from_both_ends(d: int) -> Iterator[tuple[int, ...]]:
    """Yield sets of attributes to be starred: none, all, any one, all but one, any two, ..."""
    for few in range(d // 2 + 1):
        yield from itertools.combinations(range(d), few)
        if few < d - few:
            yield from itertools.combinations(range(d), d - few)


def _in_other_order(kept: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Mix choices of equally many stars, and now and then those of one star more.

    All attributes stay the first choice, none the last.
    """
    starred = (~kept).sum(axis=1) + 1.5 * rng.random(len(kept))
    starred[0], starred[-1] = -inf, inf
    return kept[np.argsort(starred)]


class _Groups:
    """Which rows are in which group: ``rows[i]`` rows of ``cell[i]`` are in ``group[i]``.

    Entries are sorted by group. Every group is l-eligible.
    """

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
        """Keep groups, those that publish one and the same tuple as one, and count their stars."""
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
        """Entries ``start[g]:start[g + 1]`` are those of group g."""
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
        """Split groups with stars into as many as there can be; no star is added.

        A group of g rows becomes q = g // l groups: its rows, sorted by sensitive value, are
        dealt out one by one. No value has more than g / l rows, so it has at most one in each.
        """
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
            np.r_[self.rows[~dealt], np.ones(len(cell), np.int64)],
        )

    def neighbours(self, rng: np.random.Generator) -> np.ndarray:
        """Sort the groups by a tuple of each, lexicographically in a random order of columns."""
        codes = self.tuples[self.cells.tuple_of_cell[self.cell[self.start[:-1]]]]
        return np.lexsort([rng.random(len(codes)), *codes.T[rng.permutation(codes.shape[1])]])

    def regroup(
        self, l: int, kept: np.ndarray, order: np.ndarray, entries: int, passes_over: int = 0
    ) -> None:
        """Regroup at least so many entries at a time, in that order of groups."""
        self._put(
            *_regroup_all(
                order, self.start, self.cell, self.rows, self.stars,
                self.cells.tuple_of_cell[self.cell],
                self.cells.sensitive[self.cell].astype(np.int64), self.tuples, self.numbers,
                self.n_values, l, np.ascontiguousarray(kept), entries, np.uint64(passes_over),
            )
        )  # fmt: skip


# -- the search, on entries -----------------------------------------------------------------
#
# `tuple_of` and `sensitive` are those of entries, `left[i]` the rows of an entry that have no
# group yet; `residue[v]` is h(R, v) and `size[0]` is |R|, of all rows that have none.


@loop
def _regroup_all(
    order, start, cell, rows, stars, tuple_of, sensitive, tuples, numbers, n_values, l, kept,
    entries, passes_over,
):  # fmt: skip
    """Return cells, groups and rows after regrouping groups that are neighbours in `order`."""
    new_cell, new_group, new_rows = [0][:0], [0][:0], [0][:0]
    n_groups, first = 0, 0
    while first < len(order):
        last, listed, before = first, 0, 0
        while last < len(order) and listed < max(entries, 1):
            listed += start[order[last] + 1] - start[order[last]]
            before += stars[order[last]]
            last += 1
        here = np.empty(listed, np.int64)
        listed = 0
        for g in order[first:last]:
            for i in range(start[g], start[g + 1]):
                here[listed] = i
                listed += 1
        entry, group, taken = [0][:0], [0][:0], [0][:0]
        after = before
        if before > 0:
            after = _regroup(
                tuple_of[here], sensitive[here], rows[here], tuples, numbers, n_values, l, kept,
                passes_over, entry, group, taken,
            )  # fmt: skip
        if before > 0 and after <= before:
            for i in range(len(entry)):
                new_cell.append(cell[here[entry[i]]])
                new_group.append(n_groups + group[i])
                new_rows.append(taken[i])
            n_groups += group[-1] + 1
        else:
            for g in order[first:last]:
                for i in range(start[g], start[g + 1]):
                    new_cell.append(cell[i])
                    new_group.append(n_groups)
                    new_rows.append(rows[i])
                n_groups += 1
        first = last
    return np.array(new_cell), np.array(new_group), np.array(new_rows)


@loop
def _regroup(
    tuple_of, sensitive, left, tuples, numbers, n_values, l, kept, passes_over,
    entry, group, taken,
):  # fmt: skip
    """Group rows that are l-eligible together; append to three lists; return the stars.

    Unless `passes_over` is 0, one bucket in about thirty is passed over at every choice, others
    each time: its rows may be worth more elsewhere.
    """
    n = len(tuple_of)
    residue = np.zeros(n_values, np.int64)
    for i in range(n):
        residue[sensitive[i]] += left[i]
    size = residue.sum()
    bits = 2
    while 1 << bits < 2 * n:
        bits += 1
    table = np.empty(1 << bits, np.int64)  # first entry of the bucket that has this place
    sums = np.empty(n, np.uint64)
    following = np.empty(n, np.int64)  # next entry of the same bucket, -1 after the last
    buckets = np.empty(n, np.int64)
    held, quota = np.zeros(n_values, np.int64), np.zeros(n_values, np.int64)
    values = np.empty(n_values, np.int64)
    stars, n_groups = 0, np.int64(0)
    for choice in range(len(kept)):
        if size == 0:
            break
        is_last = choice == len(kept) - 1
        n_buckets = _fill_buckets(
            tuple_of, left, numbers, kept[choice], table, bits, sums, following, buckets
        )
        for b in range(n_buckets):
            i = table[buckets[b]]
            if passes_over != 0 and not is_last and _is_passed_over(sums[i], passes_over):
                continue
            n_held = 0
            while i >= 0:
                if held[sensitive[i]] == 0:
                    values[n_held] = sensitive[i]
                    n_held += 1
                held[sensitive[i]] += left[i]
                i = following[i]
            here = values[:n_held]
            rows = _most_rows(here, held, residue, size, l) if n_held >= l else 0
            if rows > 0:
                _choose_values(rows, here, held, residue, size, l, quota)
                size -= rows
                stars += rows * _take(
                    table[buckets[b]], following, tuple_of, sensitive, left, tuples, residue,
                    quota, n_groups, entry, group, taken,
                )  # fmt: skip
                n_groups += 1
            for v in here:
                held[v] = 0
    return stars


@inner
def _fill_buckets(tuple_of, left, numbers, kept, table, bits, sums, following, buckets):
    """Chain the entries that agree on the attributes kept; return how many chains there are.

    `table` is a hash table of the chains, `buckets` their places in it.
    """
    for place in range(len(table)):
        table[place] = -1
    n_buckets = 0
    for i in range(len(tuple_of)):
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


@inner
def _is_passed_over(number, passes_over):
    mixed = (number ^ passes_over) * np.uint64(0x9E3779B97F4A7C15)
    return mixed >> np.uint64(59) == 0


@inner
def _most_rows(values, held, residue, size, l):
    """Return how many rows of a bucket can be taken: they and the rest of R stay l-eligible.

    As in phase one of TP, the largest l-eligible subset is found by bisection of its height. If
    the rest is not, fewer rows are tried: multiples of l by bisection, and what lies above.
    """
    low, high = 0, 0
    for v in values:
        high = max(high, held[v])
    while low < high:
        middle = (low + high + 1) // 2
        if _rows_below(values, held, middle) >= l * middle:
            low = middle
        else:
            high = middle - 1
    most = _rows_below(values, held, low)
    if most == 0 or _can_be_taken(most, held, residue, size, l):
        return most
    low, high = 0, most // l
    while low < high:
        middle = (low + high + 1) // 2
        if _can_be_taken(middle * l, held, residue, size, l):
            low = middle
        else:
            high = middle - 1
    for rows in range(min(most - 1, low * l + l - 1), low * l, -1):
        if _can_be_taken(rows, held, residue, size, l):
            return rows
    return low * l


@inner
def _rows_below(values, held, height):
    rows = 0
    for v in values:
        rows += min(held[v], height)
    return rows


@inner
def _fewest_of(v, rows, residue, size, l):
    """Return how many rows of a value have to be among those taken, so that the rest is eligible.

    From l (R_v - G_v) <= |R| - |G|.
    """
    return max(0, (rows - size + l * residue[v] + l - 1) // l)


@inner
def _can_be_taken(rows, held, residue, size, l):
    """Whether some l-eligible `rows` rows of those held leave an l-eligible rest of R."""
    fewest, most = 0, 0
    for v in range(len(residue)):
        least, cap = _fewest_of(v, rows, residue, size, l), min(held[v], rows // l)
        if least > cap:
            return False
        fewest += least
        most += cap
    return fewest <= rows <= most


@inner
def _choose_values(rows, values, held, residue, size, l, quota):
    """Set how many rows of every value are taken, those most frequent in R first.

    All that is above a level of R is taken, as far as it may be; the level is found by bisection.
    """
    low, high = 0, 0
    for v in values:
        high = max(high, residue[v])
    while low < high:
        level = (low + high) // 2
        if _set_quota(level, rows, values, held, residue, size, l, quota) <= rows:
            high = level
        else:
            low = level + 1
    missing = rows - _set_quota(low, rows, values, held, residue, size, l, quota)
    for v in values:
        # one below the level; with a row of every value that has one, nothing is missing
        if missing > 0 and quota[v] < min(held[v], rows // l) and residue[v] - quota[v] >= low:
            quota[v] += 1
            missing -= 1


@inner
def _set_quota(level, rows, values, held, residue, size, l, quota):
    total = 0
    for v in values:
        above = min(residue[v] - level, min(held[v], rows // l))
        quota[v] = max(above, _fewest_of(v, rows, residue, size, l))
        total += quota[v]
    return total


@loop
def _take(
    first, following, tuple_of, sensitive, left, tuples, residue, quota, number,
    entry, group, taken,
):  # fmt: skip
    """Move the rows of the quota from a bucket to a group; return the stars of each."""
    d = tuples.shape[1]
    starred = np.zeros(d, np.bool_)
    example, i = -1, first
    while i >= 0:
        v = sensitive[i]
        rows = min(left[i], quota[v])
        if rows > 0:
            entry.append(i)
            group.append(number)
            taken.append(rows)
            left[i] -= rows
            quota[v] -= rows
            residue[v] -= rows
            if example < 0:
                example = tuple_of[i]
            for j in range(d):
                starred[j] |= tuples[tuple_of[i], j] != tuples[example, j]
        i = following[i]
    return starred.sum()
