"""The nearest item, from blocks of neighbours on a Hilbert curve, each with a box around it.

The distance to a box is at most that to any item in it, also in floating point: both use the same
monotone steps. Blocks are opened nearest first, so what is found does not depend on them. Ties go
to the lowest item. A search sees only items *open* to it. Boxes only grow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonpaper.compiled import inner, loop
from anonpaper.partition.hilbert import hilbert_index
from anonpaper.partition.klt.distances import Items, distance_between, squared_distance_gain

__all__ = ["FAR", "Blocks", "plant"]

#: Farther than all items.
FAR = 1e300


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


def plant(items: Items, chosen: np.ndarray, kinds: int, is_open: bool) -> Blocks:
    """Put the chosen items into blocks, open or closed to searches of all kinds."""
    order = _along_curve(items, chosen)
    width = max(int(np.sqrt(len(order))), 1)
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
        np.bitwise_or.reduceat(items.bits[order], first),
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


@loop
def boxes_apart(items, i, blocks, kind):
    """Return lower bounds of the distance of item i to all open items of each block."""
    apart = np.full(len(blocks.least), np.inf)
    for b in range(len(apart)):
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
            apart[b] = total
    return apart


@loop
def nearest(items, i, blocks, kind):
    """Return the open item that is nearest to item i, or -1."""
    boxes, found, closest = boxes_apart(items, i, blocks, kind), -1, FAR
    while len(boxes):
        b = boxes.argmin()
        if boxes[b] > closest:
            break
        boxes[b] = np.inf
        for j in blocks.items[b * blocks.width : (b + 1) * blocks.width]:
            if blocks.open[j, kind]:
                apart = distance_between(items, i, j)
                if (apart, j) < (closest, found):
                    found, closest = j, apart
    return found
