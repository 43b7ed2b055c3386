"""Distances between clusters of rows, from summaries that grow with the clusters.

The distance of two clusters is a weighted sum over the attributes: ``"univariate"``, ``"set"`` or
a function of two values, see :func:`anonpaper.klt`. It needs only a *summary* of each cluster,
which grows by a row or a cluster in time independent of their sizes. A row is a cluster of size 1.

The nearest item is found in blocks of neighbours on a Hilbert curve, each with a box around it.
The distance to a box is at most that to any item in it, also in floating point: both use the same
monotone steps. Ties go to the lowest item: what is found does not depend on the blocks. A search
sees only items *open* to it. Boxes only grow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from anonpaper.compiled import inner
from anonpaper.errors import ParameterError, check_named
from anonpaper.microdata import Attribute, Microdata
from anonpaper.partition.hilbert import hilbert_index

__all__ = ["FAR", "Blocks", "Items"]

Distance = str | Callable[[object, object], float]

#: The bit of all sets of several values; one value has another bit, with those 63 codes apart.
_SEVERAL = np.uint64(1)

#: Farther than all items.
FAR = 1e300


class Items(NamedTuple):
    """A weighted sum of attribute distances, and summaries of QI tuples, then of n clusters."""

    scale: np.ndarray  # weight over squared width of every univariate attribute
    set_weight: np.ndarray
    word: np.ndarray  # words word[s]:word[s + 1] of a summary hold the set of set attribute s
    between: np.ndarray  # weighted distances of all values of pair attributes; 0 across attributes
    size: np.ndarray
    sums: np.ndarray  # of the places of the rows on every univariate attribute
    means: np.ndarray
    words: np.ndarray  # sets of values as bits
    bits: np.ndarray  # one bit for each set; where two share it, boxes are wider
    held: np.ndarray  # rows with every value of the pair attributes
    distances: np.ndarray  # the sum of the distances of all rows to every such value


def summarized(
    m: Microdata, distance: Mapping[object, Distance] | None, weights: np.ndarray
) -> Items:
    """Summarize the QI tuples, with room for n clusters; O(size^2) calls of a function."""
    chosen, kinds = check_named("distance", distance, m.qi), []
    for a in m.attributes:
        kinds.append(chosen.get(a.name, "univariate" if a.numeric or a.size <= 2 else "set"))
        if not callable(kinds[-1]) and kinds[-1] not in ("univariate", "set"):
            raise ParameterError(
                f"the distance of {a.name!r} must be 'univariate', 'set' or a function of two "
                f"values, got {kinds[-1]!r}"
            )
    univariate, sets = (
        [j for j, of in enumerate(kinds) if of == kind] for kind in ("univariate", "set")
    )
    pairs = [j for j, of in enumerate(kinds) if callable(of)]
    widths = np.array([m.attributes[j].width or 1.0 for j in univariate])
    tables = [weights[j] * _tabulated(m.attributes[j], kinds[j]) for j in pairs]
    word = np.cumsum([0, *((m.attributes[j].size + 63) // 64 for j in sets)])
    between = block_diag(*tables) if tables else np.zeros((0, 0))

    codes, each = m.cells.tuples, np.arange(len(m.cells))
    u, v, items = (
        len(univariate),
        len(between),
        len(m.cells) + m.n,
    )  # memory never used is not taken
    size = np.zeros(items, np.intp)
    sums, means, held, distances = (np.zeros((items, width)) for width in (u, u, v, v))
    words, bits = (np.zeros((items, width), np.uint64) for width in (word[-1], len(sets)))
    size[each] = 1
    for u, j in enumerate(univariate):
        sums[each, u] = means[each, u] = m.attributes[j].positions[codes[:, j]]
    for s, j in enumerate(sets):
        code = codes[:, j].astype(np.uint64)
        words[each, word[s] + codes[:, j] // 64] = np.uint64(1) << code % 64
        bits[each, s] = np.uint64(2) << code % 63
    first = 0
    for j in pairs:
        held[each, first + codes[:, j]] = 1
        first += m.attributes[j].size
    distances[each] = held[each] @ between
    return Items(
        weights[univariate] / widths**2, weights[sets], word, between,
        size, sums, means, words, bits, held, distances,
    )  # fmt: skip


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


@inner
def absorb(items, i, j):
    """Add item j to cluster i."""
    items.size[i] += items.size[j]
    for u in range(len(items.scale)):
        items.sums[i, u] += items.sums[j, u]
        items.means[i, u] = items.sums[i, u] / items.size[i]
    for s in range(len(items.set_weight)):
        if not _same_set(items, i, j, s):
            items.bits[i, s] = _SEVERAL if items.bits[i, s] else items.bits[j, s]
            for w in range(items.word[s], items.word[s + 1]):
                items.words[i, w] |= items.words[j, w]
    for v in range(len(items.between)):
        items.held[i, v] += items.held[j, v]
        items.distances[i, v] += items.distances[j, v]


@inner
def _same_set(items, i, j, s):
    """Whether two items have the same values of set attribute s."""
    for w in range(items.word[s], items.word[s + 1]):
        if items.words[i, w] != items.words[j, w]:
            return False
    return True


@inner
def squared_distance_gain(n1, n2):
    """Return n1·n2/(n1+n2), the weight of a squared distance of means; grows with n1 and n2."""
    return n1 * n2 / (n1 + n2)


@inner
def distance_between(items, i, j):
    """Distance of two items."""
    total = 0.0
    gain = squared_distance_gain(items.size[i], items.size[j])
    for u in range(len(items.scale)):
        gap = items.means[i, u] - items.means[j, u]
        total += items.scale[u] * gain * gap * gap
    for s in range(len(items.set_weight)):
        if not _same_set(items, i, j, s):
            total += items.set_weight[s]
    apart = 0.0
    for v in range(len(items.between)):
        apart += items.held[i, v] * items.distances[j, v]
    return total + apart / (items.size[i] * items.size[j])


class Blocks(NamedTuple):
    """Items in blocks along the curve."""

    items: np.ndarray
    width: int  # items of a block
    block: np.ndarray  # of every item
    open: np.ndarray  # whether an item is seen by a search of each of some kinds
    number: np.ndarray  # open items of every block and kind
    least: np.ndarray  # the least size in a block
    low: np.ndarray  # least and greatest mean of univariate attributes
    high: np.ndarray
    bits: np.ndarray  # the values of set attributes
    apart: np.ndarray  # how far the item that seeks is from a block that is not searched yet


def plant(items: Items, chosen: np.ndarray, kinds: int, is_open: bool) -> Blocks:
    """Put the chosen items into blocks, open or closed to searches of all kinds."""
    order = _along_curve(items, chosen)
    width = int(np.sqrt(len(order)) / 2) + 1
    first = np.arange(0, len(order), width)
    block, means = np.zeros(len(items.size), np.intp), items.means[order]
    block[order] = np.arange(len(order)) // width
    opened = np.zeros((len(items.size), kinds), np.intp)
    opened[order] = is_open
    return Blocks(
        order, width, block,
        opened, np.add.reduceat(opened[order], first),
        np.minimum.reduceat(items.size[order], first),
        np.minimum.reduceat(means, first), np.maximum.reduceat(means, first),
        np.bitwise_or.reduceat(items.bits[order], first), np.empty(len(first)),
    )  # fmt: skip


def _along_curve(items: Items, order: np.ndarray) -> np.ndarray:
    """Sort items along a Hilbert curve, where neighbours are similar and boxes are small."""
    last = np.log2(items.words[order][:, items.word[:-1]] + 1.0)  # the last value of a set, or so
    last *= np.sqrt(items.set_weight) / np.maximum(last.max(axis=0, initial=1), 1)
    places = np.hstack([items.means[order] * np.sqrt(items.scale / 2), last])[:, :64]
    if not places.size:
        return order
    places -= places.min(axis=0)
    bits = min(64 // places.shape[1], 31)
    grid = places / (places.max() or 1.0) * (2.0**bits - 1)
    return order[np.argsort(hilbert_index(grid.astype(np.int64, order="C"), bits), kind="stable")]


@inner
def widen(items, blocks, i):
    """Widen the box around item i, which has grown."""
    b = blocks.block[i]
    for u in range(len(items.scale)):
        blocks.low[b, u] = min(blocks.low[b, u], items.means[i, u])
        blocks.high[b, u] = max(blocks.high[b, u], items.means[i, u])
    for s in range(len(items.set_weight)):
        blocks.bits[b, s] |= items.bits[i, s]


@inner
def mark(blocks, i, kind, is_open):
    """Open or close item i to searches of a kind."""
    blocks.number[blocks.block[i], kind] += is_open - blocks.open[i, kind]
    blocks.open[i, kind] = is_open


@inner
def set_apart(items, i, blocks, kind):
    """Set lower bounds of the distance of item i to all open items of each block."""
    for b in range(len(blocks.apart)):
        blocks.apart[b] = np.inf
        if blocks.number[b, kind]:
            total = 0.0
            gain = squared_distance_gain(items.size[i], blocks.least[b])
            for u in range(len(items.scale)):
                mean = items.means[i, u]
                gap = max(blocks.low[b, u] - mean, mean - blocks.high[b, u], 0.0)
                total += items.scale[u] * gain * gap * gap
            for s in range(len(items.set_weight)):
                if not blocks.bits[b, s] & items.bits[i, s]:
                    total += items.set_weight[s]
            blocks.apart[b] = total


@inner
def nearest(items, i, blocks, kind):
    """Return the open item that is nearest to item i, or -1."""
    found, closest = -1, FAR
    set_apart(items, i, blocks, kind)
    while len(blocks.apart):
        b = blocks.apart.argmin()
        if blocks.apart[b] > closest:
            break
        blocks.apart[b] = np.inf
        for place in range(b * blocks.width, min((b + 1) * blocks.width, len(blocks.items))):
            j = blocks.items[place]
            if blocks.open[j, kind]:
                apart = distance_between(items, i, j)
                if (apart, j) < (closest, found):
                    found, closest = j, apart
    return found
