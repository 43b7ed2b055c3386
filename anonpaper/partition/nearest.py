"""Nearest clusters first: a tree of boxes over summaries that change.

Clusters stand at the leaves of a binary tree in an order that keeps similar ones together; every
node holds a *box* around its clusters: the range of their means, the values that their sets may
be, their least size. The distance to a box is at most the distance to any cluster in it, in
floating point as well, since both are built by the same monotone steps in the same order. A
search always opens the nearest box, so clusters come out in the order of their distance: the
order that sorting all of them would give, whatever the shape of the tree.

Among clusters at the same distance the one with the lowest `turn` goes first. A cluster is taken
out by giving it the turn `NEVER`.

Changing one of c clusters takes O(d log c); its nearest one is found in O(d log c) at best and
O(d c + c log c) at worst.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from anonpaper.partition.distances import (
    SEVERAL,
    Metric,
    Summaries,
    distance_between,
    squared_distance_gain,
)

__all__ = [
    "ANY",
    "NEVER",
    "ROOT",
    "NearestTree",
    "Search",
    "build_tree",
    "change_turn",
    "next_nearest",
    "is_next",
    "refresh",
    "room_to_search",
    "search_again",
    "start_search",
]

NEVER = np.iinfo(np.int64).max
ANY = np.uint64(2**64 - 1)
ROOT = 1
_SEVERAL_BIT = 63


class NearestTree(NamedTuple):
    """Boxes around clusters; the children of node i are 2i and 2i + 1.

    Attributes
    ----------
    leaf : numpy.ndarray, shape (c,), dtype int64
        The node of every cluster.
    cluster : numpy.ndarray, shape (leaves,), dtype int64
        The cluster at every leaf, or -1.
    turn : numpy.ndarray, shape (2 * leaves,), dtype int64
        The lowest turn of the clusters below each node.
    tags : numpy.ndarray, shape (2 * leaves,), dtype uint64
        The tags that clusters below each node have, one bit each; a search can ask for one.
    least_size : numpy.ndarray, shape (2 * leaves,), dtype int64
        The least size of the clusters below each node.
    low, high : numpy.ndarray, shape (2 * leaves, u), dtype float64
        The range of the means below each node.
    values : numpy.ndarray, shape (2 * leaves, s), dtype uint64
        Bit (code mod 63) is set if a cluster below may be of that one value, bit 63 if one is of
        several values.
    """

    leaf: np.ndarray
    cluster: np.ndarray
    turn: np.ndarray
    tags: np.ndarray
    least_size: np.ndarray
    low: np.ndarray
    high: np.ndarray
    values: np.ndarray


def build_tree(
    how: Metric, clusters: Summaries, turns: np.ndarray, tags: np.ndarray | None = None
) -> NearestTree:
    """Build the tree of the first ``len(turns)`` clusters; those whose turn is NEVER are out."""
    c = len(turns)
    leaves = 1 << max(c - 1, 0).bit_length()
    u, s = len(how.scale), len(how.set_weight)
    order = _similar_together(how, clusters, np.flatnonzero(turns != NEVER), leaves)
    tree = NearestTree(
        leaf=np.full(c, ROOT, np.int64),
        cluster=np.full(leaves, -1, np.int64),
        turn=np.full(2 * leaves, NEVER, np.int64),
        tags=np.zeros(2 * leaves, np.uint64),
        least_size=np.full(2 * leaves, NEVER, np.int64),
        low=np.full((2 * leaves, u), np.inf),
        high=np.full((2 * leaves, u), -np.inf),
        values=np.zeros((2 * leaves, s), np.uint64),
    )
    _fill(tree, clusters, turns, np.full(c, ANY, np.uint64) if tags is None else tags, order)
    return tree


@njit(cache=True)
def _similar_together(how, clusters, order, leaves):
    """Sort clusters so that every node of the tree divides its own along one attribute.

    Each node is divided along the attribute that adds most to the distances within it.
    """
    u, s = len(how.scale), len(how.set_weight)
    stack = [(0, leaves)]
    while len(stack):
        first, width = stack.pop()
        last = min(first + width, len(order))
        middle = first + width // 2
        if last <= middle:
            if last - first > 1:
                stack.append((first, width // 2))
            continue
        mine = order[first:last]
        widest, axis = 0.0, -1
        for a in range(u):
            places = clusters.means[mine, a]
            spread = how.scale[a] * 0.5 * (places.max() - places.min()) ** 2
            if spread > widest:
                widest, axis = spread, a
        for a in range(s):
            codes = clusters.only[mine, a]
            spread = how.set_weight[a] * (codes.max() != codes.min())
            if spread > widest:
                widest, axis = spread, u + a
        if axis >= 0:
            if axis < u:
                by_axis = np.argsort(clusters.means[mine, axis])
            else:
                by_axis = np.argsort(clusters.only[mine, axis - u])
            order[first:last] = mine[by_axis]
            stack.append((first, width // 2))
            stack.append((middle, width // 2))
    return order


@njit(cache=True)
def _fill(tree, clusters, turns, tags, order):
    leaves = len(tree.cluster)
    for place in range(len(order)):
        i = order[place]
        tree.cluster[place] = i
        tree.leaf[i] = leaves + place
        _set_leaf(tree, clusters, i, turns[i], tags[i])
    for node in range(leaves - 1, 0, -1):
        _join_boxes(tree, node)


@njit(cache=True)
def _set_leaf(tree, clusters, i, turn, tags):
    node = tree.leaf[i]
    tree.turn[node] = turn
    tree.tags[node] = tags
    tree.least_size[node] = clusters.size[i]
    tree.low[node] = clusters.means[i]
    tree.high[node] = clusters.means[i]
    for s in range(tree.values.shape[1]):
        tree.values[node, s] = _bit(clusters.only[i, s])


@njit(cache=True)
def _bit(code):
    return np.uint64(1) << np.uint64(_SEVERAL_BIT if code == SEVERAL else code % _SEVERAL_BIT)


@njit(cache=True)
def _join_boxes(tree, node):
    """Make the box of a node from those of its children; boxes of clusters taken out are empty."""
    left, right = 2 * node, 2 * node + 1
    if tree.turn[left] == NEVER:
        left = right
    elif tree.turn[right] == NEVER:
        right = left
    tree.turn[node] = min(tree.turn[left], tree.turn[right])
    tree.tags[node] = tree.tags[left] | tree.tags[right]
    tree.least_size[node] = min(tree.least_size[left], tree.least_size[right])
    for u in range(tree.low.shape[1]):
        tree.low[node, u] = min(tree.low[left, u], tree.low[right, u])
        tree.high[node, u] = max(tree.high[left, u], tree.high[right, u])
    for s in range(tree.values.shape[1]):
        tree.values[node, s] = tree.values[left, s] | tree.values[right, s]


@njit(cache=True)
def refresh(tree, clusters, i, turn, tags):
    """Take over the changed summary of cluster i, its turn and its tags."""
    _set_leaf(tree, clusters, i, turn, tags)
    node = tree.leaf[i] // 2
    while node >= ROOT:
        _join_boxes(tree, node)
        node //= 2


@njit(cache=True)
def change_turn(tree, i, turn):
    """Give cluster i another turn; NEVER takes it out of all boxes."""
    node = tree.leaf[i]
    box_stays = tree.turn[node] != NEVER and turn != NEVER
    tree.turn[node] = turn
    node //= 2
    while node >= ROOT:
        if box_stays:
            tree.turn[node] = min(tree.turn[2 * node], tree.turn[2 * node + 1])
        else:
            _join_boxes(tree, node)
        node //= 2


# -- the search -------------------------------------------------------------------------------


class Search(NamedTuple):
    """Nodes still to be opened, a binary heap by distance and turn.

    Attributes
    ----------
    distance : numpy.ndarray, dtype float64
        Distance to the box of a node; of a leaf, to its cluster.
    turn, node : numpy.ndarray, dtype int64
        The lowest turn below the node, and the node.
    length : numpy.ndarray, shape (1,), dtype int64
        Number of nodes in the heap.
    reached : numpy.ndarray, shape (1,), dtype float64
        Distance of the cluster found last.
    """

    distance: np.ndarray
    turn: np.ndarray
    node: np.ndarray
    length: np.ndarray
    reached: np.ndarray


def room_to_search(tree: NearestTree) -> Search:
    """Return the room that searches in a tree need."""
    nodes = len(tree.turn)
    return Search(
        distance=np.empty(nodes),
        turn=np.empty(nodes, np.int64),
        node=np.empty(nodes, np.int64),
        length=np.zeros(1, np.int64),
        reached=np.zeros(1),
    )


@njit(cache=True)
def start_search(search, tree):
    """Begin a search for the neighbours of a cluster."""
    search.length[0] = 0
    if tree.turn[ROOT] != NEVER:
        _push(search, 0.0, tree.turn[ROOT], ROOT)


@njit(cache=True)
def search_again(search, tree, i):
    """Let the cluster found last come again in the same search, at its new turn."""
    if tree.turn[tree.leaf[i]] != NEVER:
        _push(search, search.reached[0], tree.turn[tree.leaf[i]], tree.leaf[i])


@njit(cache=True, inline="always")
def is_next(search, turn):
    """Whether the cluster found last, at this turn, would be the next one found."""
    if search.length[0] == 0:
        return True
    return (search.reached[0], turn) < (search.distance[0], search.turn[0])


@njit(cache=True)
def next_nearest(search, how, seekers, i, clusters, tree, tag):
    """Take the next nearest cluster with a tag out of a search; -1 if there is none left.

    Parameters
    ----------
    search : Search
        A search that was started for the same seeker; neither the seeker nor clusters that are
        still to come may have changed since.
    how : Metric
    seekers, i : Summaries, int
        The cluster whose neighbours are sought.
    clusters, tree : Summaries, NearestTree
        Where they are sought.
    tag : numpy.uint64
        One bit, or `ANY`; the same during a search.
    """
    # This loop is where the time goes: it reads arrays of its own, not fields of tuples.
    apart, turns, nodes = search.distance, search.turn, search.node
    cluster, turn, tags = tree.cluster, tree.turn, tree.tags
    leaves = len(cluster)
    least_size, low, high, values = tree.least_size, tree.low, tree.high, tree.values
    scale, set_weight = how.scale, how.set_weight
    size, means, only = seekers.size, seekers.means, seekers.only
    length = search.length[0]
    found = -1
    while length and found < 0:
        node, search.reached[0] = nodes[0], apart[0]
        length -= 1
        _sift_down(apart, turns, nodes, length)
        if node >= leaves:
            found = cluster[node - leaves]
            continue
        for child in range(2 * node, 2 * node + 2):
            if turn[child] == NEVER or not tags[child] & tag:
                continue
            if child >= leaves:
                away = distance_between(how, seekers, i, clusters, cluster[child - leaves])
            else:
                away = _distance_to_box(
                    scale, set_weight, size, means, only, i, least_size, low, high, values, child
                )
            _sift_up(apart, turns, nodes, length, away, turn[child], child)
            length += 1
    search.length[0] = length
    return found


@njit(cache=True)
def _distance_to_box(
    scale, set_weight, size, means, only, i, least_size, low, high, values, node
):  # fmt: skip
    """Return a lower bound of the distance of cluster i to every cluster below a node."""
    total = 0.0
    gain = squared_distance_gain(size[i], least_size[node])
    for u in range(len(scale)):
        gap = max(low[node, u] - means[i, u], means[i, u] - high[node, u], 0.0)
        total += scale[u] * gain * gap * gap
    for s in range(len(set_weight)):
        if not values[node, s] & _bit(only[i, s]):
            total += set_weight[s]
    return total


@njit(cache=True)
def _push(search, apart, turn, node):
    """Put a node into the heap of a search."""
    _sift_up(search.distance, search.turn, search.node, search.length[0], apart, turn, node)
    search.length[0] += 1


@njit(cache=True)
def _sift_up(aparts, turns, nodes, place, apart, turn, node):
    """Put a node into a heap of `place` nodes."""
    while place:
        parent = (place - 1) // 2
        if (aparts[parent], turns[parent]) <= (apart, turn):
            break
        aparts[place], turns[place], nodes[place] = aparts[parent], turns[parent], nodes[parent]
        place = parent
    aparts[place], turns[place], nodes[place] = apart, turn, node


@njit(cache=True)
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
