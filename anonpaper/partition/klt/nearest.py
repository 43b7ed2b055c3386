"""Nearest items first: a tree of boxes over tuples or clusters that change.

Every node of a binary tree has a *box* around its items. The distance to a box is at most the
distance to any item in it, also in floating point: both use the same monotone steps. A search
always opens the nearest box, so items come in the order of their distance, whatever the shape of
the tree. Ties go to the lowest *turn*; `NEVER` removes an item. A search can be limited to items
with a *tag*, one bit of 64. With ``by_tree=False`` it tests all items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonpaper.compiled import inner, lean
from anonpaper.partition.hilbert import hilbert_index
from anonpaper.partition.klt.distances import (
    SEVERAL,
    Metric,
    Summaries,
    distance_between,
    squared_distance_gain,
)

__all__ = ["ANY", "NEVER", "Index", "build_index"]

# Numbers of numpy, not literal ones, for which numba would compile what takes them once more.
NEVER = np.int64(2**63 - 1)
ANY = np.uint64(2**64 - 1)
_ROOT = np.int64(1)
_NOWHERE = np.int64(0)
_SEVERAL_BIT = 63


class Index(NamedTuple):
    """Items, the boxes around them, and one search among them."""

    turns: np.ndarray  # of every item
    tags: np.ndarray
    leaf: np.ndarray  # the node of every item; the children of node i are 2i and 2i + 1
    item: np.ndarray  # the item at every leaf, or -1
    turn: np.ndarray  # the lowest turn below each node
    box: np.ndarray  # the least size, then the least and greatest mean of univariate attributes
    bits: np.ndarray  # the tags, then the values of set attributes; bit 63 for items of several
    heap_distance: np.ndarray  # nodes that the search has still to open, a heap by distance, turn
    heap_turn: np.ndarray
    heap_node: np.ndarray
    heap_length: np.ndarray
    reached: np.ndarray  # distance of the item found last
    reached_turn: np.ndarray
    by_tree: bool


def build_index(
    how: Metric,
    items: Summaries,
    turns: np.ndarray,
    tags: np.ndarray | None = None,
    *,
    by_tree: bool = True,
) -> Index:
    """Build the index of the first ``len(turns)`` items, without those whose turn is NEVER."""
    c, present = len(turns), np.flatnonzero(turns != NEVER)
    leaves = 1 << max(len(present) - 1, 0).bit_length()
    index = Index(
        turns=turns.astype(np.int64),
        tags=np.full(c, ANY, np.uint64) if tags is None else tags,
        leaf=np.full(c, _ROOT, np.int64),
        item=np.full(leaves, -1, np.int64),
        turn=np.full(2 * leaves, NEVER, np.int64),
        box=np.zeros((2 * leaves, 1 + 2 * len(how.scale))),
        bits=np.zeros((2 * leaves, 1 + len(how.set_weight)), np.uint64),
        heap_distance=np.empty(2 * leaves),
        heap_turn=np.empty(2 * leaves, np.int64),
        heap_node=np.empty(2 * leaves, np.int64),
        heap_length=np.zeros(1, np.int64),
        reached=np.zeros(1),
        reached_turn=np.zeros(1, np.int64),
        by_tree=by_tree,
    )
    _fill(index, items, _along_curve(how, items, present))
    return index


def _along_curve(how: Metric, items: Summaries, order: np.ndarray) -> np.ndarray:
    """Sort items along a Hilbert curve, where neighbours are similar, so that boxes are small."""
    only = items.only[order, : len(how.set_weight)]
    only = only * np.sqrt(how.set_weight) / np.maximum(only.max(axis=0, initial=1), 1)
    places = np.hstack([items.means[order] * np.sqrt(how.scale / 2), only])[:, :64]
    if not places.size:
        return order
    places -= places.min(axis=0)
    bits = min(64 // places.shape[1], 31)
    grid = places / (places.max() or 1.0) * (2.0**bits - 1)
    return order[np.argsort(hilbert_index(grid.astype(np.int64, order="C"), bits), kind="stable")]


@lean
def _fill(index, items, order):
    """Put items at the leaves in an order, and make all boxes."""
    leaves = len(index.item)
    for place in range(len(order)):
        index.item[place] = order[place]
        index.leaf[order[place]] = leaves + place
        _set_leaf(index, items, order[place])
    for node in range(leaves - 1, 0, -1):
        _join_boxes(index, node)


@inner
def _set_leaf(index, items, i):
    """Make the box of a leaf from its item."""
    node = index.leaf[i]
    index.turn[node] = index.turns[i]
    index.box[node, 0] = items.size[i]
    for u in range(items.means.shape[1]):
        index.box[node, 1 + 2 * u] = items.means[i, u]
        index.box[node, 2 + 2 * u] = items.means[i, u]
    index.bits[node, 0] = index.tags[i]
    for s in range(index.bits.shape[1] - 1):
        index.bits[node, 1 + s] = _bit(items.only[i, s])


@inner
def _bit(code):
    """The bit of a set of values: codes from 62 on share bit 62."""
    place = _SEVERAL_BIT if code == SEVERAL else min(code & 63, _SEVERAL_BIT - 1)
    return np.uint64(1) << np.uint64(place)


@inner
def _join_boxes(index, node):
    """Make the box of a node from its children's; boxes of removed items are empty."""
    turn, box, bits = index.turn, index.box, index.bits
    left, right = 2 * node, 2 * node + 1
    if turn[left] == NEVER:
        left = right
    elif turn[right] == NEVER:
        right = left
    turn[node] = min(turn[left], turn[right])
    box[node, 0] = min(box[left, 0], box[right, 0])
    for u in range(1, box.shape[1], 2):
        box[node, u] = min(box[left, u], box[right, u])
        box[node, u + 1] = max(box[left, u + 1], box[right, u + 1])
    for b in range(bits.shape[1]):
        bits[node, b] = bits[left, b] | bits[right, b]


@inner
def _join_above(index, node):
    """Update the boxes of all nodes above one."""
    while node > _ROOT:
        node //= 2
        _join_boxes(index, node)


@inner
def refresh(index, items, i, turn, tags):
    """Update item i after a change of its summary, turn or tags."""
    index.turns[i], index.tags[i] = turn, tags
    _set_leaf(index, items, i)
    _join_above(index, index.leaf[i])


@inner
def change_turn(index, i, turn):
    """Give item i another turn; NEVER removes it from all boxes."""
    box_stays = index.turns[i] != NEVER and turn != NEVER
    index.turns[i] = turn
    node = index.leaf[i]
    index.turn[node] = turn
    if not box_stays:
        _join_above(index, node)
    while box_stays and node > _ROOT:
        node //= 2
        index.turn[node] = min(index.turn[2 * node], index.turn[2 * node + 1])


@inner
def first_turn(index):
    """The lowest turn of all items."""
    return index.turn[_ROOT]


@inner
def all_tags(index):
    """The tags of all items together; a search for any other tag is unnecessary."""
    return index.bits[_ROOT, 0] if index.turn[_ROOT] != NEVER else np.uint64(0)


# -- the search -------------------------------------------------------------------------------


@inner
def start_search(index):
    """Begin a search for the neighbours of an item."""
    index.reached[0], index.reached_turn[0] = -1.0, -1
    index.heap_length[0] = 0
    if index.turn[_ROOT] != NEVER:
        _push(index, 0.0, _ROOT)


@inner
def search_again(index, i):
    """Let the item found last come again in the same search, at its new, later turn."""
    if index.by_tree and index.turns[i] != NEVER:
        _push(index, index.reached[0], index.leaf[i])


@inner
def next_nearest(index, how, seekers, i, items, tag):
    """Return the next nearest item with a tag; -1 if there is none left."""
    if not index.by_tree:
        return _next_of_all(index, how, seekers, i, items, tag)
    # This loop is where the time goes: it reads arrays of its own, not fields of tuples.
    aparts, turns, nodes = index.heap_distance, index.heap_turn, index.heap_node
    item, turn, box, bits = index.item, index.turn, index.box, index.bits
    leaves = len(item)
    scale, set_weight = how.scale, how.set_weight
    size, means, only = seekers.size, seekers.means, seekers.only
    length = index.heap_length[0]
    node, reached = _NOWHERE, 0.0
    while length:
        node, reached = nodes[0], aparts[0]
        length -= 1
        _sift_down(aparts, turns, nodes, length)
        if node >= leaves:
            break
        for child in range(2 * node, 2 * node + 2):
            if turn[child] == NEVER or not bits[child, 0] & tag:
                continue
            if child >= leaves:
                apart = distance_between(how, seekers, i, items, item[child - leaves])
            else:
                apart = _distance_to_box(scale, set_weight, size, means, only, i, box, bits, child)
            _sift_up(aparts, turns, nodes, length, apart, turn[child], child)
            length += 1
    index.heap_length[0], index.reached[0] = length, reached
    return item[node - leaves] if node >= leaves else -1


@inner
def _next_of_all(index, how, seekers, i, items, tag):
    """The nearest item beyond the one found last."""
    nearest, reached, turn = -1, np.inf, NEVER
    for j in range(len(index.turns)):
        if index.turns[j] != NEVER and index.tags[j] & tag:
            apart = distance_between(how, seekers, i, items, j)
            is_beyond = (index.reached[0], index.reached_turn[0]) < (apart, index.turns[j])
            if is_beyond and (apart, index.turns[j]) < (reached, turn):
                nearest, reached, turn = j, apart, index.turns[j]
    index.reached[0], index.reached_turn[0] = reached, turn
    return nearest


@inner
def _distance_to_box(scale, set_weight, size, means, only, i, box, bits, node):
    """Return a lower bound of the distance of item i to every item below a node."""
    total = 0.0
    gain = squared_distance_gain(size[i], box[node, 0])
    for u in range(len(scale)):
        mean = means[i, u]
        gap = max(box[node, 1 + 2 * u] - mean, mean - box[node, 2 + 2 * u], 0.0)
        total += scale[u] * gain * gap * gap
    for s in range(len(set_weight)):
        if not bits[node, 1 + s] & _bit(only[i, s]):
            total += set_weight[s]
    return total


@inner
def _push(index, apart, node):
    """Put a node into the heap of a search."""
    _sift_up(
        index.heap_distance, index.heap_turn, index.heap_node, index.heap_length[0],
        apart, index.turn[node], node,
    )  # fmt: skip
    index.heap_length[0] += 1


@inner
def _sift_up(aparts, turns, nodes, place, apart, turn, node):
    """Put a node into a heap of `place` nodes."""
    while place:
        parent = (place - 1) // 2
        if (aparts[parent], turns[parent]) <= (apart, turn):
            break
        aparts[place], turns[place], nodes[place] = aparts[parent], turns[parent], nodes[parent]
        place = parent
    aparts[place], turns[place], nodes[place] = apart, turn, node


@inner
def _sift_down(aparts, turns, nodes, length):
    """Put the node after a heap of `length` nodes in place of its first one."""
    apart, turn, node = aparts[length], turns[length], nodes[length]
    place = 0
    while 2 * place + 1 < length:
        child = 2 * place + 1
        if child + 1 < length and (aparts[child + 1], turns[child + 1]) < (
            aparts[child], turns[child]
        ):  # fmt: skip
            child += 1
        if (apart, turn) <= (aparts[child], turns[child]):
            break
        aparts[place], turns[place], nodes[place] = aparts[child], turns[child], nodes[child]
        place = child
    aparts[place], turns[place], nodes[place] = apart, turn, node
