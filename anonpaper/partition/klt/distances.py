"""Distances between clusters of rows, from summaries that grow with the clusters.

The distance of two clusters is a weighted sum over the attributes: ``"univariate"``, ``"set"`` or
a function of two values, see :func:`anonpaper.klt`. It needs only a *summary* of each cluster.
Adding a row or a cluster to a summary takes time independent of the size. A row is a cluster of
size 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from anonpaper.compiled import inner
from anonpaper.errors import ParameterError, check_named
from anonpaper.microdata import Attribute, Microdata

__all__ = ["Metric", "Summaries"]

#: More than one value: what `only` says of a cluster that is not of one value.
SEVERAL = -1

Distance = str | Callable[[object, object], float]


class Metric(NamedTuple):
    """A weighted sum of attribute distances, its attributes sorted by kind."""

    scale: np.ndarray  # weight over squared width of every univariate attribute
    set_weight: np.ndarray
    word: np.ndarray  # words word[j]:word[j + 1] of a summary hold the set of set attribute j
    pair_weight: np.ndarray
    value: np.ndarray  # places value[j]:value[j + 1] of a summary are of pair attribute j
    between: np.ndarray  # the distances of values, attribute after attribute, row by row
    between_start: np.ndarray  # where each attribute begins in `between`


class Summaries(NamedTuple):
    """Summaries of c clusters."""

    size: np.ndarray
    sums: np.ndarray  # of the places of the rows on every univariate attribute
    means: np.ndarray
    only: np.ndarray  # the code that all rows share on a set or pair attribute, or SEVERAL
    words: np.ndarray  # sets of values as bits, where there are several values
    value_counts: np.ndarray  # rows with every value of a pair attribute, where there are several
    distances: np.ndarray  # the sum of the distances of all rows to every value, likewise


# -- which distance, and which weight ---------------------------------------------------------


def distance_kinds(m: Microdata, distance: Mapping[object, Distance] | None) -> list[Distance]:
    """Return the kind of distance of every quasi-identifier, by default the paper's."""
    chosen = check_named("distance", distance, m.qi)
    kinds = []
    for attribute in m.attributes:
        default = "univariate" if attribute.numeric or attribute.size <= 2 else "set"
        kind = chosen.get(attribute.name, default)
        if not callable(kind) and kind not in ("univariate", "set"):
            raise ParameterError(
                f"the distance of {attribute.name!r} must be 'univariate', 'set' or a function "
                f"of two values, got {kind!r}"
            )
        kinds.append(kind)
    return kinds


def metric(m: Microdata, kinds: list[Distance], weights: np.ndarray) -> Metric:
    """Return the weighted sum of the attributes' distances; O(size^2) calls of a function."""
    univariate, sets, pairs = attributes_by_kind(kinds)
    tables = [_tabulated(m.attributes[j], kinds[j]) for j in pairs]
    widths = np.array([m.attributes[j].width for j in univariate])
    return Metric(
        scale=weights[univariate] / np.where(widths > 0, widths, 1.0) ** 2,
        set_weight=weights[sets],
        word=_offsets([(m.attributes[j].size + 63) // 64 for j in sets]),
        pair_weight=weights[pairs],
        value=_offsets([m.attributes[j].size for j in pairs]),
        between=np.concatenate([np.zeros(0), *(table.ravel() for table in tables)]),
        between_start=_offsets([table.size for table in tables]),
    )


def attributes_by_kind(kinds: list[Distance]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the places of univariate, set and pair attributes among the quasi-identifiers."""
    univariate = [j for j, kind in enumerate(kinds) if kind == "univariate"]
    sets = [j for j, kind in enumerate(kinds) if kind == "set"]
    pairs = [j for j, kind in enumerate(kinds) if callable(kind)]
    return tuple(np.array(places, dtype=np.intp) for places in (univariate, sets, pairs))


def _offsets(lengths: list[int]) -> np.ndarray:
    return np.cumsum([0, *lengths], dtype=np.intp)


def _tabulated(attribute: Attribute, function: Callable[[object, object], float]) -> np.ndarray:
    """Distances of all pairs of values of an attribute, shape (size, size)."""
    table = np.array(
        [[function(a, b) for b in attribute.values] for a in attribute.values], dtype=np.float64
    )
    if not (np.isfinite(table) & (table >= 0)).all():
        a, b = np.argwhere(~(np.isfinite(table) & (table >= 0)))[0]
        raise ParameterError(
            f"the distance of {attribute.name!r} must be a finite number of at least 0; of "
            f"{attribute.values[a]!r} and {attribute.values[b]!r} it is {table[a, b]}"
        )
    if not np.array_equal(table, table.T):
        a, b = np.argwhere(table != table.T)[0]
        raise ParameterError(
            f"the distance of {attribute.name!r} must be symmetric; of {attribute.values[a]!r} "
            f"and {attribute.values[b]!r} it is {table[a, b]}, the other way round {table[b, a]}"
        )
    return table


# -- summaries --------------------------------------------------------------------------------


def summaries_of_tuples(m: Microdata, kinds: list[Distance], how: Metric) -> Summaries:
    """Summarize every distinct QI tuple as a cluster of one row."""
    tuples = m.cells.tuples
    univariate, sets, pairs = attributes_by_kind(kinds)
    places = [m.attributes[j].positions[tuples[:, j]] for j in univariate]
    summaries = empty_summaries(how, len(tuples))
    summaries.size[:] = 1
    summaries.sums[:] = np.array(places).reshape(len(univariate), len(tuples)).T
    summaries.means[:] = summaries.sums
    summaries.only[:] = tuples[:, np.r_[sets, pairs]]
    # Of one value, a tuple needs no sets and no counts.
    return summaries._replace(
        words=summaries.words[:0],
        value_counts=summaries.value_counts[:0],
        distances=summaries.distances[:0],
    )


def empty_summaries(how: Metric, capacity: int) -> Summaries:
    """Return room for the summaries of a number of clusters."""
    u, s, p = len(how.scale), len(how.set_weight), len(how.pair_weight)
    return Summaries(
        size=np.zeros(capacity, np.intp),
        sums=np.zeros((capacity, u)),
        means=np.zeros((capacity, u)),
        only=np.zeros((capacity, s + p), np.int32),
        words=np.zeros((capacity, how.word[-1]), np.uint64),
        value_counts=np.zeros((capacity, how.value[-1])),
        distances=np.zeros((capacity, how.value[-1])),
    )


@inner
def copy_summary(source, i, target, j):
    """Copy the summary of tuple i of `source`, which has one value each, to j of `target`."""
    target.size[j] = source.size[i]
    for a in range(source.sums.shape[1]):
        target.sums[j, a] = source.sums[i, a]
        target.means[j, a] = source.means[i, a]
    for a in range(source.only.shape[1]):
        target.only[j, a] = source.only[i, a]


@inner
def absorb(how, mine, i, other, j):
    """Add cluster j of `other` to cluster i of `mine`."""
    for a in range(mine.only.shape[1]):
        alike = mine.only[i, a] == other.only[j, a] and mine.only[i, a] != SEVERAL
        if not alike:
            if a < len(how.set_weight):
                _unite_sets(how, mine, i, other, j, a)
            else:
                _add_value_counts(how, mine, i, other, j, a)
            mine.only[i, a] = SEVERAL
    mine.size[i] += other.size[j]
    for a in range(mine.sums.shape[1]):
        mine.sums[i, a] += other.sums[j, a]
        mine.means[i, a] = mine.sums[i, a] / mine.size[i]


@inner
def _unite_sets(how, mine, i, other, j, a):
    """Unite two sets of set attribute a; the result has several values."""
    first = how.word[a]
    if mine.only[i, a] != SEVERAL:
        mine.words[i, first : how.word[a + 1]] = 0
        _include(mine.words, i, first, mine.only[i, a])
    if other.only[j, a] != SEVERAL:
        _include(mine.words, i, first, other.only[j, a])
    else:
        for w in range(first, how.word[a + 1]):
            mine.words[i, w] |= other.words[j, w]


@inner
def _include(words, i, first, code):
    """Put a code into a set of values."""
    words[i, first + code // 64] |= np.uint64(1) << np.uint64(code % 64)


@inner
def _add_value_counts(how, mine, i, other, j, a):
    """Add the counts of pair attribute a, and the distances of all rows to each of its values."""
    pair = a - len(how.set_weight)
    first, last = how.value[pair], how.value[pair + 1]
    if mine.only[i, a] != SEVERAL:
        mine.value_counts[i, first:last] = 0
        mine.distances[i, first:last] = 0
        _add_rows(how, mine, i, pair, mine.only[i, a], mine.size[i])
    if other.only[j, a] != SEVERAL:
        _add_rows(how, mine, i, pair, other.only[j, a], other.size[j])
    else:
        for v in range(first, last):
            mine.value_counts[i, v] += other.value_counts[j, v]
            mine.distances[i, v] += other.distances[j, v]


@inner
def _add_rows(how, mine, i, pair, code, rows):
    """Add rows of one value of a pair attribute."""
    first, values = how.value[pair], how.value[pair + 1] - how.value[pair]
    mine.value_counts[i, first + code] += rows
    for v in range(values):
        between = how.between[how.between_start[pair] + code * values + v]
        mine.distances[i, first + v] += rows * between


# -- distances --------------------------------------------------------------------------------


@inner
def squared_distance_gain(n1, n2):
    """Return n1·n2/(n1+n2), the weight of a squared distance of means; grows with n1 and n2."""
    return n1 * n2 / (n1 + n2)


@inner
def distance_between(how, a, i, b, j):
    """Distance of cluster i of `a` and cluster j of `b`."""
    total = 0.0
    gain = squared_distance_gain(a.size[i], b.size[j])
    for u in range(len(how.scale)):
        gap = a.means[i, u] - b.means[j, u]
        total += how.scale[u] * gain * gap * gap
    sets = len(how.set_weight)
    for s in range(sets):
        if not _same_set(how, a, i, b, j, s):
            total += how.set_weight[s]
    for p in range(len(how.pair_weight)):
        between = _sum_between(how, a, i, b, j, p)
        total += how.pair_weight[p] * (between / (a.size[i] * b.size[j]))
    return total


@inner
def _same_set(how, a, i, b, j, s):
    """Whether two clusters have the same values of set attribute s."""
    if a.only[i, s] != b.only[j, s]:
        return False
    if a.only[i, s] != SEVERAL:
        return True
    for w in range(how.word[s], how.word[s + 1]):
        if a.words[i, w] != b.words[j, w]:
            return False
    return True


@inner
def _sum_between(how, a, i, b, j, p):
    """Sum of the distances of all pairs of rows on pair attribute p."""
    place = len(how.set_weight) + p
    first, values = how.value[p], how.value[p + 1] - how.value[p]
    mine, theirs = a.only[i, place], b.only[j, place]
    if mine != SEVERAL and theirs != SEVERAL:
        between = how.between[how.between_start[p] + mine * values + theirs]
        return a.size[i] * b.size[j] * between
    if mine != SEVERAL:
        return a.size[i] * b.distances[j, first + mine]
    if theirs != SEVERAL:
        return b.size[j] * a.distances[i, first + theirs]
    total = 0.0
    for v in range(first, first + values):
        total += a.value_counts[i, v] * b.distances[j, v]
    return total
