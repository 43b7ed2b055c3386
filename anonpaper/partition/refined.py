r"""TP refined: the idea of TP's first phase on every projection, then a local search from TP+.

Rows that keep the same attributes and agree on them are a *bucket*. The fewest stars come from the
cheapest kept attributes of every row such that all buckets are l-eligible. TP keeps all or none;
here all :math:`2^d` choices are possible.
"""

from __future__ import annotations

import copy
import itertools
import time
from bisect import bisect_left
from math import inf

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import loop, number_keys
from anonpaper.errors import check_number
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.partition.tp import eligible_height, tp_plus_groups
from anonpaper.principles import FrequencyLDiversity, require_diverse
from anonpaper.randomness import generator

__all__ = ["attributes_kept", "tp_refined"]

_NEIGHBOURHOOD = 300  # entries (cells in groups) that are regrouped at a time
_ENTRIES, _FEWEST, _MOST = 4_000_000, 10, 400  # entries regrouped in all; bounds of the rounds
_IN_VAIN = 40  # rounds without a star saved after which the search ends
_ORDERS = 4  # orders of attributes tried with all groups at once, beside the given and reverse one
_CHOICES = 1024  # of attributes to keep, where there are more
_LARGE = 1_000  # groups of more rows are not split


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
        No round begins later. By default the size of the table fixes the rounds: machines agree.

    Returns
    -------
    Partition
        ``info`` is the start's, from :func:`anonpaper.tp_plus`, with ``stars_of_tp_plus``,
        ``stars`` and ``search_rounds``, the number of passes over all groups.

    References
    ----------
    xiao2010, sections 5.2, 5.6 and 6.1; the search is this package's. A round is O(f·2^d·d) for f
    cells listed in groups, with at most 1,024 choices of attributes.

    Examples
    --------
    >>> p = tp_refined(ap.examples.hospital(), l=2)
    >>> p.sizes().tolist(), p.info["stars_of_tp_plus"], p.info["stars"]
    ([4, 2, 2, 2], 6, 6)
    """
    l = require_diverse(m, l)
    until, in_vain = inf, _IN_VAIN
    if seconds is not None:
        until, in_vain = time.monotonic() + check_number("seconds", seconds, 0, inf), _MOST
    rng, kept, given = generator(seed), attributes_kept(m.d, _CHOICES), np.arange(m.d)
    *entries, info = tp_plus_groups(m, l, apart=False)
    start = _Groups(m, *entries)
    starred, tried = start.stars > 0, []
    for order in [given, given[::-1], *(rng.permutation(given) for _ in range(_ORDERS))]:
        tried.append(copy.copy(start))  # all groups with stars are regrouped together
        entries = np.count_nonzero(starred[start.group])
        tried[-1].regroup(l, kept[:, order], np.argsort(~starred, kind="stable"), entries)
    groups = min(tried, key=lambda groups: groups.stars.sum())
    rounds = min(max(_ENTRIES // len(groups.cell), _FEWEST), _MOST) if seconds is None else inf
    done, saved_in, least = 0, 0, groups.stars.sum()
    while least > 0 and done < min(rounds, saved_in + in_vain) and time.monotonic() < until:
        groups.split(l, rng)
        order, passes_over = groups.neighbours(rng), rng.integers(1, 2**63)
        groups.regroup(l, _in_other_order(kept, rng), order, _NEIGHBOURHOOD, passes_over)
        done += 1
        if groups.stars.sum() < least:
            saved_in, least = done, groups.stars.sum()
    groups.split(l, rng)
    stars = {"stars_of_tp_plus": int(start.stars.sum()), "stars": int(groups.stars.sum())}
    info, name = info | stars | {"search_rounds": done}, f"TP refined, l = {l}"
    return Partition.of_cells(m.cells, groups.cell, groups.group, groups.rows, info, name)


def attributes_kept(d: int, most: int) -> np.ndarray:
    """Return choices (p, d) of attributes to keep, from all to none, by the number they star.

    If there are more than `most`, the choices that star or keep fewest are taken.
    """
    sizes = sorted(range(d + 1), key=lambda few: min(few, d - few))
    found = itertools.chain.from_iterable(itertools.combinations(range(d), few) for few in sizes)
    starred = np.array([np.isin(range(d), some) for some in itertools.islice(found, most)])
    return ~starred[np.argsort(starred.sum(axis=1), kind="stable")]


def _in_other_order(kept: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Mix choices of equally many stars, sometimes of one more; all first, none last."""
    starred = (~kept).sum(axis=1) + 1.5 * rng.random(len(kept))
    starred[0], starred[-1] = -inf, inf
    return kept[np.argsort(starred)]


class _Groups:
    """l-eligible groups: ``rows[i]`` rows of ``cell[i]`` are in ``group[i]``, which ascend."""

    def __init__(self, m: Microdata, cell: np.ndarray, group: np.ndarray, rows: np.ndarray):
        self.cells, self.n_values = m.cells, m.sensitive_attribute.size
        # Tuples that agree on some attributes have the same sum of their numbers there. Where
        # others have it too, they share a bucket: eligible as any, only not as cheap.
        draw, columns = np.random.default_rng(0), zip(m.attributes, m.cells.tuples.T, strict=True)
        numbers = [draw.integers(0, 2**64, a.size, dtype=np.uint64)[of] for a, of in columns]
        self.numbers, self.tuples = np.column_stack(numbers), np.ascontiguousarray(m.cells.tuples)
        self._put(cell, group, rows)

    def _put(self, cell: np.ndarray, group: np.ndarray, rows: np.ndarray) -> None:
        """Store groups, merge groups that publish the same tuple, and count their stars."""
        order = np.argsort(group, kind="stable")
        cell, group, rows = cell[order], group[order], rows[order]
        tuple_of = self.cells.tuple_of_cell[cell]
        first, codes = np.flatnonzero(np.diff(group, prepend=-1)), self.tuples[tuple_of]
        low, high = np.minimum.reduceat(codes, first), np.maximum.reduceat(codes, first)
        stars = (low != high).sum(axis=1) * np.add.reduceat(rows, first)
        group = np.where(stars[group], len(self.cells) + group, tuple_of)
        order = np.lexsort([cell, group])
        group, cell = group[order], cell[order]
        new_group = np.diff(group, prepend=-1) > 0
        first = np.flatnonzero(new_group | (np.diff(cell, prepend=-1) > 0))
        self.cell, self.group = cell[first], np.cumsum(new_group)[first] - 1
        self.rows = np.add.reduceat(rows[order], first)
        self.start = np.searchsorted(self.group, np.arange(self.group[-1] + 2))
        free = np.zeros(np.count_nonzero(new_group) - np.count_nonzero(stars), np.intp)
        self.stars = np.r_[free, stars[stars > 0]]

    def split(self, l: int, rng: np.random.Generator) -> None:
        """Split groups with stars into as many as possible; no star is added."""
        # A group of g rows becomes q = g // l groups: its rows, sorted by sensitive value, are
        # dealt out one by one. No value has more than g / l rows: at most one in each.
        size = np.add.reduceat(self.rows, self.start[:-1])
        parts = np.where((self.stars > 0) & (size <= _LARGE), size // l, 1)
        dealt = parts[self.group] > 1
        cell, group = np.repeat([self.cell[dealt], self.group[dealt]], self.rows[dealt], axis=1)
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
        cell, place, rows = self.cell[in_order], place[in_order], self.rows[in_order]
        start = np.searchsorted(place, np.arange(len(order) + 1)).tolist()
        stars_before = np.cumsum(np.append(0, self.stars[order])).tolist()
        tuple_of, sensitive = self.cells.tuple_of_cell[cell], self.cells.sensitive[cell]
        codes, numbers = self.tuples[tuple_of], self.numbers[tuple_of]
        kept, passes_over = np.ascontiguousarray(kept), np.uint64(passes_over)
        found, first, n_groups = [], 0, 0
        while first < len(order):
            last = min(bisect_left(start, start[first] + max(entries, 1)), len(order))
            at, stars = slice(start[first], start[last]), stars_before[last] - stars_before[first]
            part = np.arange(at.start, at.stop), place[at] - first, rows[at]
            if stars:
                residue = np.bincount(sensitive[at], rows[at], self.n_values).astype(np.intp)
                rest = numbers[at], codes[at], sensitive[at], rows[at].copy(), residue
                entry, group, taken, after = _regroup(*rest, kept, passes_over, l)
                if after <= stars:
                    part = at.start + entry, group, taken
            found.append((part[0], part[1] + n_groups, part[2]))
            first, n_groups = last, n_groups + part[1][-1] + 1
        entry, group, rows = map(np.concatenate, zip(*found, strict=True))
        self._put(cell[entry], group, rows)


# -- the search on entries ------------------------------------------------------------------------
#
# Every bucket gives as many rows as it can so that both the rows G taken and the rows R left are
# l-eligible: l·G_v <= |G| and l·(R_v - G_v) <= |R| - |G| for all v. The last choice keeps nothing
# and takes all that is left.


@loop
def _regroup(numbers, codes, sensitive, left, residue, kept, passes_over, l):
    """Group all rows left, residue[v] of each v; return entries, groups, rows, and the stars."""
    entry, group, taken, stars, n_groups = [0][:0], [0][:0], [0][:0], 0, 0
    for choice in range(len(kept)):
        live = np.flatnonzero(left)
        if len(live) == 0:
            break
        key, order, start, end = _bucketed(numbers, live, kept[choice])
        for b in np.flatnonzero(end - start >= l):
            # one bucket in about thirty is passed over: its rows may be more useful elsewhere
            mixed = (key[order[start[b]]] ^ passes_over) * np.uint64(0x9E3779B97F4A7C15)
            if passes_over != 0 and mixed >> np.uint64(59) == 0 and choice < len(kept) - 1:
                continue
            bucket, held, values = live[order[start[b] : end[b]]], np.zeros_like(residue), 0
            for i in bucket:
                values += held[sensitive[i]] == 0
                held[sensitive[i]] += left[i]
            rows = _most_rows(held, residue, l) if values >= l else 0
            if rows == 0:
                continue
            quota = _quota(held, residue, rows, l, sensitive[bucket])
            starred, example = np.zeros(codes.shape[1], np.bool_), -1
            for i in bucket:
                here = min(left[i], quota[sensitive[i]])
                if here > 0:
                    entry.append(i)
                    group.append(n_groups)
                    taken.append(here)
                    left[i] -= here
                    quota[sensitive[i]] -= here
                    residue[sensitive[i]] -= here
                    example = i if example < 0 else example
                    for j in range(len(starred)):
                        starred[j] |= codes[i, j] != codes[example, j]
            stars += rows * starred.sum()
            n_groups += 1
    return np.array(entry), np.array(group), np.array(taken), stars


@loop
def _bucketed(numbers, live, kept):
    """Keys of entries, places by key, and where each key, as they appear, starts and ends."""
    key = np.zeros(len(live), np.uint64)
    for j in np.flatnonzero(kept):
        key += numbers[live, j]
    number = key.astype(np.int64)
    number_keys(number)
    end = np.cumsum(np.bincount(number))
    start, order = end.copy(), np.empty(len(key), np.intp)
    for place in range(len(key)):
        start[number[place]] -= 1
        order[start[number[place]]] = place
    return key, order, start, end


@loop
def _most_rows(held, residue, l):
    """Return how many rows of a bucket can be taken: they and the rest of R stay l-eligible."""
    _, rows = eligible_height(held, l, held.max())  # the most that are l-eligible, as TP's line 1
    while rows > 0:
        least, most = _bounds(held, residue, rows, l)
        if (least <= most).all() and least.sum() <= rows <= most.sum():
            break
        rows -= 1
    return rows


@loop
def _bounds(held, residue, rows, l):
    """How many of `rows` rows must have a value, for l (R_v - G_v) <= |R| - |G|, and may have."""
    least = np.maximum(0, (rows - residue.sum() + l * residue + l - 1) // l)
    return least, np.minimum(held, rows // l)


@loop
def _quota(held, residue, rows, l, values):
    """Return how many rows of every value are taken, those most frequent in R first."""
    # All that is above a level of R is taken, as far as it may be; bisection finds the level.
    least, most = _bounds(held, residue, rows, l)
    low, high = 0, residue.max()
    while low < high:
        level = (low + high) // 2
        if np.maximum(np.minimum(residue - level, most), least).sum() <= rows:
            high = level
        else:
            low = level + 1
    quota = np.maximum(np.minimum(residue - low, most), least)
    missing = rows - quota.sum()
    for v in values:
        # one below the level; with a row of every value that has one, nothing is missing
        if missing > 0 and quota[v] < most[v] and residue[v] - quota[v] >= low:
            quota[v] += 1
            missing -= 1
    return quota
