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

from anonpaper.partition.klt.distances import (
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
    box : numpy.ndarray, shape (2 * leaves, 1 + 2u), dtype float64
        What is below each node: the least size, then for each of u univariate attributes the
        least and the greatest mean.
    bits : numpy.ndarray, shape (2 * leaves, 1 + s), dtype uint64
        What is below each node: the tags, then for each of s set attributes the values that
        clusters are of (codes from 62 on share bit 62), and bit 63 for clusters of several.
    """

    leaf: np.ndarray
    cluster: np.ndarray
    turn: np.ndarray
    box: np.ndarray
    bits: np.ndarray


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
        box=np.zeros((2 * leaves, 1 + 2 * u)),
        bits=np.zeros((2 * leaves, 1 + s), np.uint64),
    )
    _fill(tree, clusters, turns, np.full(c, ANY, np.uint64) if tags is None else tags, order)
    return tree


@njit(cache=True)
def _similar_together(how, clusters, order, leaves):
    """Sort clusters so that every node of the tree divides its own along one attribute.

    Each node is divided along the attribute that adds most to the distances within it; clusters
    at no distance from each other stay in their order, so that the first turns are together.
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
                by_axis = np.argsort(clusters.means[mine, axis], kind="mergesort")
            else:
                by_axis = np.argsort(clusters.only[mine, axis - u], kind="mergesort")
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
    tree.box[node, 0] = clusters.size[i]
    for u in range(clusters.means.shape[1]):
        tree.box[node, 1 + 2 * u] = clusters.means[i, u]
        tree.box[node, 2 + 2 * u] = clusters.means[i, u]
    tree.bits[node, 0] = tags
    for s in range(tree.bits.shape[1] - 1):
        tree.bits[node, 1 + s] = _bit(clusters.only[i, s])


@njit(cache=True)
def _bit(code):
    place = _SEVERAL_BIT if code == SEVERAL else min(code & 63, _SEVERAL_BIT - 1)
    return np.uint64(1) << np.uint64(place)


@njit(cache=True)
def _join_boxes(tree, node):
    """Make the box of a node from those of its children; boxes of clusters taken out are empty."""
    left, right = 2 * node, 2 * node + 1
    if tree.turn[left] == NEVER:
        left = right
    elif tree.turn[right] == NEVER:
        right = left
    tree.turn[node] = min(tree.turn[left], tree.turn[right])
    tree.box[node, 0] = min(tree.box[left, 0], tree.box[right, 0])
    for low in range(1, tree.box.shape[1], 2):
        high = low + 1
        tree.box[node, low] = min(tree.box[left, low], tree.box[right, low])
        tree.box[node, high] = max(tree.box[left, high], tree.box[right, high])
    for b in range(tree.bits.shape[1]):
        tree.bits[node, b] = tree.bits[left, b] | tree.bits[right, b]


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
    aparts, turns, nodes = search.distance, search.turn, search.node
    cluster, turn, box, bits = tree.cluster, tree.turn, tree.box, tree.bits
    leaves = len(cluster)
    scale, set_weight = how.scale, how.set_weight
    size, means, only = seekers.size, seekers.means, seekers.only
    length = search.length[0]
    node, reached = 0, 0.0
    while length and node < leaves:
        node, reached = nodes[0], aparts[0]
        length -= 1
        _sift_down(aparts, turns, nodes, length)
        # Go down as long as a child is nearer than all nodes that wait.
        while 0 < node < leaves:
            parent, node = node, 0
            for child in range(2 * parent, 2 * parent + 2):
                if turn[child] == NEVER or not bits[child, 0] & tag:
                    continue
                if child >= leaves:
                    apart = distance_between(how, seekers, i, clusters, cluster[child - leaves])
                else:
                    apart = _distance_to_box(
                        scale, set_weight, size, means, only, i, box, bits, child
                    )
                if node == 0:
                    node, reached = child, apart
                elif (apart, turn[child]) < (reached, turn[node]):
                    _sift_up(aparts, turns, nodes, length, reached, turn[node], node)
                    node, reached = child, apart
                    length += 1
                else:
                    _sift_up(aparts, turns, nodes, length, apart, turn[child], child)
                    length += 1
            if node and length and (aparts[0], turns[0]) < (reached, turn[node]):
                _sift_up(aparts, turns, nodes, length, reached, turn[node], node)
                length += 1
                node = 0
    search.length[0], search.reached[0] = length, reached
    return cluster[node - leaves] if node else -1


@njit(cache=True)
def _distance_to_box(scale, set_weight, size, means, only, i, box, bits, node):
    """Return a lower bound of the distance of cluster i to every cluster below a node."""
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
