"""Distances between clusters of rows, from summaries that grow with the clusters.

The distance of two clusters is a weighted sum over the attributes: ``"univariate"``, ``"set"`` or
a function of two values, see :func:`anonpaper.klt`. It needs only a *summary* of each cluster,
which grows by a row or a cluster in time independent of their sizes. A row is a cluster of size 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from anonpaper.compiled import inner
from anonpaper.errors import ParameterError, check_named
from anonpaper.microdata import Attribute, Microdata

__all__ = ["Metric", "Summaries"]

Distance = str | Callable[[object, object], float]

#: The bit of all sets of several values; one value has another bit, with those 63 codes apart.
_SEVERAL = np.uint64(1)


class Metric(NamedTuple):
    """A weighted sum of attribute distances, its attributes sorted by kind."""

    scale: np.ndarray  # weight over squared width of every univariate attribute
    set_weight: np.ndarray
    word: np.ndarray  # words word[s]:word[s + 1] of a summary hold the set of set attribute s
    between: np.ndarray  # weighted distances of all values of pair attributes; 0 across attributes


class Summaries(NamedTuple):
    """Summaries of c clusters; all zero while a cluster is empty."""

    size: np.ndarray
    sums: np.ndarray  # of the places of the rows on every univariate attribute
    means: np.ndarray
    words: np.ndarray  # sets of values as bits
    bits: np.ndarray  # one bit for each set; where two share it, boxes are wider
    held: np.ndarray  # rows with every value of the pair attributes
    distances: np.ndarray  # the sum of the distances of all rows to every such value


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
    univariate, sets, pairs = _by_kind(kinds)
    widths = np.array([m.attributes[j].width for j in univariate])
    tables = [weights[j] * _tabulated(m.attributes[j], kinds[j]) for j in pairs]
    return Metric(
        scale=weights[univariate] / np.where(widths > 0, widths, 1.0) ** 2,
        set_weight=weights[sets],
        word=np.cumsum([0, *((m.attributes[j].size + 63) // 64 for j in sets)]),
        between=block_diag(*tables) if tables else np.zeros((0, 0)),
    )


def _by_kind(kinds: list[Distance]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The places of univariate, set and pair attributes among the quasi-identifiers."""
    ranks = np.array([2 if callable(kind) else kind == "set" for kind in kinds], int)
    return tuple(np.flatnonzero(ranks == rank) for rank in range(3))


def _tabulated(attribute: Attribute, function: Callable[[object, object], float]) -> np.ndarray:
    """Distances of all pairs of values of an attribute, shape (size, size)."""
    table = np.array([[function(a, b) for b in attribute.values] for a in attribute.values], float)
    for wrong, must in (
        (~(np.isfinite(table) & (table >= 0)), "a finite number of at least 0"),
        (table != table.T, "symmetric"),
    ):
        for a, b in np.argwhere(wrong)[:1]:
            raise ParameterError(
                f"the distance of {attribute.name!r} must be {must}; of {attribute.values[a]!r} "
                f"and {attribute.values[b]!r} it is {table[a, b]}, the other way {table[b, a]}"
            )
    return table


def summaries_of_tuples(m: Microdata, kinds: list[Distance], how: Metric) -> Summaries:
    """Summarize every distinct QI tuple as a cluster of one row."""
    univariate, sets, pairs = _by_kind(kinds)
    codes, found = m.cells.tuples, empty_summaries(how, len(m.cells))
    each = np.arange(len(codes))
    found.size[:] = 1
    for u, j in enumerate(univariate):
        found.sums[:, u] = found.means[:, u] = m.attributes[j].positions[codes[:, j]]
    for s, j in enumerate(sets):
        code = codes[:, j].astype(np.uint64)
        found.words[each, how.word[s] + codes[:, j] // 64] = np.uint64(1) << code % 64
        found.bits[:, s] = np.uint64(2) << code % 63
    first = 0
    for j in pairs:
        found.held[each, first + codes[:, j]] = 1
        first += m.attributes[j].size
    found.distances[:] = found.held @ how.between
    return found


def empty_summaries(how: Metric, number: int) -> Summaries:
    """Return empty clusters; pages of memory that are never used are not taken."""
    u, v = len(how.scale), len(how.between)
    sums, means, held, distances = (np.zeros((number, width)) for width in (u, u, v, v))
    words, bits = (np.zeros((number, s), np.uint64) for s in (how.word[-1], len(how.set_weight)))
    return Summaries(np.zeros(number, np.intp), sums, means, words, bits, held, distances)


@inner
def absorb(how, mine, i, other, j):
    """Add cluster j of `other` to cluster i of `mine`."""
    mine.size[i] += other.size[j]
    for u in range(mine.sums.shape[1]):
        mine.sums[i, u] += other.sums[j, u]
        mine.means[i, u] = mine.sums[i, u] / mine.size[i]
    for s in range(len(how.set_weight)):
        if not _same_set(how, mine, i, other, j, s):
            mine.bits[i, s] = _SEVERAL if mine.bits[i, s] else other.bits[j, s]
            for w in range(how.word[s], how.word[s + 1]):
                mine.words[i, w] |= other.words[j, w]
    for v in range(mine.held.shape[1]):
        mine.held[i, v] += other.held[j, v]
        mine.distances[i, v] += other.distances[j, v]


@inner
def _same_set(how, a, i, b, j, s):
    """Whether two clusters have the same values of set attribute s."""
    if a.bits[i, s] != b.bits[j, s]:
        return False
    for w in range(how.word[s], how.word[s + 1]):
        if a.words[i, w] != b.words[j, w]:
            return False
    return True


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
    for s in range(len(how.set_weight)):
        if not _same_set(how, a, i, b, j, s):
            total += how.set_weight[s]
    apart = 0.0
    for v in range(len(how.between)):
        apart += a.held[i, v] * b.distances[j, v]
    return total + apart / (a.size[i] * b.size[j])
