"""A tree of boxes around items that change, which are tuples or clusters.

The distance to a box is at most that to any item in it, also in floating point: both use the same
monotone steps. A search always opens the nearest box, so items come in the order of their
distance, whatever the shape of the tree. Ties go to the lowest *turn*. A search sees only items
with a *tag*, one bit of 64. Boxes only grow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonpaper.compiled import inner, lean
from anonpaper.partition.hilbert import hilbert_index
from anonpaper.partition.klt.distances import (
    Metric,
    Summaries,
    distance_between,
    squared_distance_gain,
)

__all__ = ["ANY", "Tree", "plant"]

# Numbers of numpy, not literal ones, for which numba would compile what takes them once more.
ANY = np.uint64(2**64 - 1)
NOTHING = np.uint64(0)
_ROOT = np.intp(1)


class Tree(NamedTuple):
    """Boxes around items, the children of node i being 2i and 2i + 1, and one search."""

    item: np.ndarray  # at every leaf
    leaf: np.ndarray  # the node of every item
    tags: np.ndarray  # of the items below each node
    box: np.ndarray  # the least size, then least and greatest mean of univariate attributes
    bits: np.ndarray  # the values of set attributes
    heap: np.ndarray  # nodes that the search has still to open, by distance and turn
    apart: np.ndarray  # their distances
    turn: np.ndarray  # turns of items, and -1 of other nodes
    length: np.ndarray  # their number
    reached: np.ndarray  # the distance of the item found last


def plant(how: Metric, items: Summaries, chosen: np.ndarray, tags: np.ndarray) -> Tree:
    """Put the chosen items into a tree, with their tags."""
    leaves = 1 << max(len(chosen) - 1, 0).bit_length()
    tree = Tree(
        item=np.zeros(leaves, np.intp),
        leaf=np.zeros(len(items.size), np.intp),
        tags=np.zeros(2 * leaves, np.uint64),
        box=np.full((2 * leaves, 1 + 2 * len(how.scale)), np.inf),
        bits=np.zeros((2 * leaves, len(how.set_weight)), np.uint64),
        heap=np.empty(2 * leaves, np.intp),
        apart=np.empty(2 * leaves),
        turn=np.empty(2 * leaves, np.intp),
        length=np.zeros(1, np.intp),
        reached=np.zeros(1),
    )
    tree.box[:, 2::2] = -np.inf
    _fill(tree, items, _along_curve(how, items, chosen), tags)
    return tree


def _along_curve(how: Metric, items: Summaries, order: np.ndarray) -> np.ndarray:
    """Sort items along a Hilbert curve, where neighbours are similar and boxes are small."""
    last = np.log2(items.words[order][:, how.word[:-1]] + 1.0)  # the last value of a set, or so
    last *= np.sqrt(how.set_weight) / np.maximum(last.max(axis=0, initial=1), 1)
    places = np.hstack([items.means[order] * np.sqrt(how.scale / 2), last])[:, :64]
    if not places.size:
        return order
    places -= places.min(axis=0)
    bits = min(64 // places.shape[1], 31)
    grid = places / (places.max() or 1.0) * (2.0**bits - 1)
    return order[np.argsort(hilbert_index(grid.astype(np.int64, order="C"), bits), kind="stable")]


@lean
def _fill(tree, items, order, tags):
    """Put items at the leaves in an order."""
    for place in range(len(order)):
        i = order[place]
        tree.item[place] = i
        tree.leaf[i] = len(tree.item) + place
        widen(tree, items, i)
        set_tags(tree, i, tags[i])


@inner
def widen(tree, items, i):
    """Widen all boxes around item i, which has grown."""
    node = tree.leaf[i]
    while node >= _ROOT:
        box = tree.box[node]
        box[0] = min(box[0], items.size[i])
        for u in range(items.means.shape[1]):
            box[1 + 2 * u] = min(box[1 + 2 * u], items.means[i, u])
            box[2 + 2 * u] = max(box[2 + 2 * u], items.means[i, u])
        for s in range(tree.bits.shape[1]):
            tree.bits[node, s] |= items.bits[i, s]
        node //= 2


@inner
def set_tags(tree, i, tags):
    """Give item i other tags."""
    node = tree.leaf[i]
    tree.tags[node] = tags
    while node > _ROOT:
        node //= 2
        tree.tags[node] = tree.tags[2 * node] | tree.tags[2 * node + 1]


@inner
def start_search(tree):
    """Begin a search."""
    tree.length[0] = 0
    _push(tree, 0.0, -1, _ROOT)


@inner
def search_again(tree, i, turn):
    """Let the item found last come again in the same search, at a later turn."""
    _push(tree, tree.reached[0], turn, tree.leaf[i])


@inner
def next_nearest(tree, how, seekers, i, items, turns, tag):
    """Return the item with a tag that is next nearest to item i of the seekers, or -1."""
    tags, leaves = tree.tags, len(tree.item)
    while tree.length[0]:
        node, apart = tree.heap[0], tree.apart[0]
        _pop(tree)
        if not tags[node] & tag:
            continue
        if node >= leaves:
            tree.reached[0] = apart
            return tree.item[node - leaves]
        for child in range(2 * node, 2 * node + 2):
            if not tags[child] & tag:
                continue
            if child >= leaves:
                j = tree.item[child - leaves]
                _push(tree, distance_between(how, seekers, i, items, j), turns[j], child)
            else:
                _push(tree, _distance_to_box(tree, how, seekers, i, child), -1, child)
    return -1


@inner
def _push(tree, apart, turn, node):
    """Put a node into the heap."""
    aparts, turns, nodes, place = tree.apart, tree.turn, tree.heap, tree.length[0]
    tree.length[0] += 1
    while place:
        parent = (place - 1) // 2
        if (aparts[parent], turns[parent]) <= (apart, turn):
            break
        aparts[place], turns[place], nodes[place] = aparts[parent], turns[parent], nodes[parent]
        place = parent
    aparts[place], turns[place], nodes[place] = apart, turn, node


@inner
def _pop(tree):
    """Take the first node out of the heap."""
    aparts, turns, nodes = tree.apart, tree.turn, tree.heap
    tree.length[0] -= 1
    length = tree.length[0]
    apart, turn, node = aparts[length], turns[length], nodes[length]
    place, child = 0, 1
    while child < length:
        if child + 1 < length and (aparts[child + 1], turns[child + 1]) < (
            aparts[child], turns[child]
        ):  # fmt: skip
            child += 1
        if (apart, turn) <= (aparts[child], turns[child]):
            break
        aparts[place], turns[place], nodes[place] = aparts[child], turns[child], nodes[child]
        place, child = child, 2 * child + 1
    aparts[place], turns[place], nodes[place] = apart, turn, node


@inner
def _distance_to_box(tree, how, seekers, i, node):
    """Return a lower bound of the distance of item i to every item below a node."""
    total, box = 0.0, tree.box[node]
    gain = squared_distance_gain(seekers.size[i], box[0])
    for u in range(len(how.scale)):
        mean = seekers.means[i, u]
        gap = max(box[1 + 2 * u] - mean, mean - box[2 + 2 * u], 0.0)
        total += how.scale[u] * gain * gap * gap
    for s in range(len(how.set_weight)):
        if not tree.bits[node, s] & seekers.bits[i, s]:
            total += how.set_weight[s]
    return total
