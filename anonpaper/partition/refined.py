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

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.errors import check_number
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.partition.regroup import Search, regroup_all
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

    So at most :math:`l \cdot d` times the fewest stars; more rows than with TP may have one.

    Parameters
    ----------
    m, l, seed : see :mod:`anonpaper.partition`
    seconds : float, optional
        No round begins later. By default the size of the table fixes the rounds: machines agree.

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
    """Mix choices of equally many stars, sometimes of one more; all first, none last."""
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
        search = Search(
            self.cells.tuple_of_cell[cell], self.cells.sensitive[cell].astype(np.intp),
            self.rows[in_order], self.tuples, self.numbers, np.ascontiguousarray(kept),
            np.uint64(passes_over), self.n_values, l,
        )  # fmt: skip
        start = np.searchsorted(place, np.arange(len(order) + 1))
        entry, group, rows = regroup_all(search, start, self.stars[order], entries)
        self._put(cell[entry], group, rows)
