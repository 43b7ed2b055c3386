"""K,L,theta-diversity by greedy clustering: the algorithm of boger2020, section 3.1, step by step.

Choices that the paper leaves open: a seed puts the rows in random order. The *arbitrary* point of
step 1 is the first unassigned row, and ties go to the first row or cluster. Step 5 takes clusters
as they were formed; a merged one keeps the place of the older one.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.algorithm import algorithm
from anonpaper.compiled import inner, loop
from anonpaper.errors import InfeasibleError
from anonpaper.groups import Partition, dense_labels
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import DistinctLDiversity, KAnonymity, Theta
from anonpaper.randomness import generator

__all__ = ["UnplacedRowsWarning", "klt"]

_ROUNDING = 1e-9  # equality of shares up to it counts as met, as in Theta
_FAR = 1e300  # farther than all items


class UnplacedRowsWarning(UserWarning):
    """Some rows fit into no group and are not published."""


class Rule(NamedTuple):
    """K,L,theta-diversity, and what attributes weigh in a distance."""

    k: int
    l: int
    theta: float
    scale: np.ndarray  # weight over squared width of every univariate attribute
    weight: np.ndarray  # of every set attribute
    attribute: np.ndarray  # the set attribute of each of their values
    number: np.ndarray  # of each value, drawn: different sets have equal sums once in 2^58 pairs


class Items(NamedTuple):
    """QI tuples, or clusters of rows, by number; a tuple is a cluster of size 1."""

    size: np.ndarray
    sums: np.ndarray  # of the places of the rows on every univariate attribute
    means: np.ndarray
    held: np.ndarray  # whether a row has a value of a set attribute
    sets: np.ndarray  # the sum of the numbers of the values that are held


class Blocks(NamedTuple):
    """Items in blocks of similar ones, each with a box around it that only grows."""

    of: Items
    order: np.ndarray  # `width` items after the other are a block
    width: int
    block: np.ndarray  # of every item
    rank: np.ndarray  # of items equally near the one of least rank is found
    open: np.ndarray  # whether an item is seen by a search of each of some kinds
    number: np.ndarray  # open items of every block and kind
    least: np.ndarray  # the least size in a block
    low: np.ndarray  # least and greatest mean of univariate attributes
    high: np.ndarray
    bits: np.ndarray  # which sets occur, by the last six bits of their sums
    apart: np.ndarray  # how far the item that seeks is from a block that is not searched yet


@algorithm(
    "groups of k rows with l distinct secrets, none above a share theta",
    promises={"k": KAnonymity, "l": DistinctLDiversity, "theta": Theta},
    publications=("swap", "anatomize", "suppress", "generalize", "shallow"),
    needs_sensitive=True,
)
def klt(
    m: Microdata,
    k: int = 10,
    l: int = 5,
    theta: float = 0.3,
    weights: Mapping[object, float] | None = None,
    seed: int | np.random.Generator | None = 0,
    *,
    withheld: Literal["merge", "drop"] = "merge",
) -> Partition:
    """Guarantee k-anonymity, *distinct* l-diversity and theta-diversity by greedy clustering.

    The distance of clusters is a weighted sum: of squared differences of means for numeric and
    two-valued attributes, and of whether the sets of values differ for others.

    Parameters
    ----------
    m, k, l, seed : see :mod:`anonpaper.partition`
    theta : float, the largest share of one sensitive value in a group, in (0, 1]
    weights : mapping of column label to float, at least 0; 1 by default
    withheld : {"merge", "drop"}
        What step 5 cannot merge joins the closest cluster with room; or, as in the paper, leaves.

    Returns
    -------
    Partition
        ``info`` has the paper's M (``repeats``), clusters ``formed`` in step 2, ``unplaced_rows``
        and the largest share of one sensitive value among them (``unplaced_share``).

    References
    ----------
    boger2020, section 3.1. O((1 + M)·n·√n·d) where boxes separate; at worst n²·d.

    Examples
    --------
    >>> p = klt(ap.examples.hospital(), k=4, l=2, theta=0.5)
    >>> p.sizes().tolist(), p.info["unplaced_rows"]
    ([6, 4], 0)
    """
    errors.check_choice("withheld", withheld, ("merge", "drop"))
    k, l, theta = _checked(check_microdata(m), k, l, theta, withheld)
    weights, rng = errors.check_weights(m.qi, weights), generator(seed)
    cell, order = m.cells.handed_out(rng), rng.permutation(m.n)
    rule, tuples, clusters = _summarized(m, (k, l, theta + _ROUNDING), weights)
    tuple_of = m.cells.tuple_of_cell[cell[order]].astype(np.intp)
    value_of = m.cells.sensitive[cell[order]].astype(np.intp)
    counts = np.zeros((m.n, m.sensitive_attribute.size), np.int32)  # of clusters
    cluster = np.full(m.n, -1)  # while a row is unassigned
    formed, repeats = 0, -1
    while len(left := np.flatnonzero(cluster < 0)):  # step 4
        repeats += 1
        # the first row of every tuple, and the next one of the same tuple after every row
        rank, after = np.full(len(m.cells), -1), np.full(m.n, -1)
        rank[tuple_of[left[::-1]]] = left[::-1]
        after[left] = pd.Series(left).groupby(tuple_of[left]).shift(-1, fill_value=-1)
        waiting = _plant(rule, tuples, np.flatnonzero(rank >= 0), rank, 1)
        rows = tuple_of, value_of, cluster
        formed, backup = _steps_1_and_2(rule, rows, after, waiting, clusters, counts, left, formed)
        small = np.flatnonzero(clusters.size[:formed] < k)
        takers = _plant(rule, clusters, small, np.arange(m.n), counts.shape[1])
        _step_3(rule, rows, tuples, counts, takers, backup)
    became = np.arange(formed)
    _step_5(rule, clusters, counts, withheld == "merge", became)
    labels = np.empty(m.n, np.intp)
    labels[order] = became[cluster]  # step 6
    left_out = np.bincount(m.cells.sensitive[cell[labels < 0]], minlength=1)
    unplaced = int(left_out.sum())
    info = {"repeats": repeats, "formed": int(formed), "unplaced_rows": unplaced}
    info["unplaced_share"] = float(left_out.max() / max(unplaced, 1))
    asked = f"k = {k}, l = {l}, theta = {theta:g}"
    if unplaced:
        said = f"{unplaced} of {m.n} rows fit into no group with {asked}"
        if unplaced == m.n:
            raise InfeasibleError(f"{said}: a larger theta or a smaller k would work")
        share = f"{info['unplaced_share']:.0%} of them have the same {m.sensitive!r}"
        warnings.warn(f"{said} and are labelled -1; {share}", UnplacedRowsWarning, stacklevel=3)
    name, labels = f"K,L,theta: {asked}", dense_labels(labels)
    return Partition.of_cells(m.cells, cell, labels, None, info, name)


def _checked(m: Microdata, k: int, l: int, theta: float, withheld: str) -> tuple:
    """Return k, l and theta if all rows can meet them, or with "drop" have values enough."""
    counts, values = m.sensitive_counts, int(np.count_nonzero(m.sensitive_counts))
    k, l = errors.check_integer("k", k, 1, m.n), errors.check_integer("l", l, 1)
    theta, most = errors.check_number("theta", theta, 0, 1, open_low=True), int(counts.max())
    needed = max(l, int(np.ceil(1 / (theta + _ROUNDING))))
    if needed > values:
        told = f"{needed} distinct values of {m.sensitive!r}, the table has {values}"
        way = "a smaller l or a larger theta would work"
        raise InfeasibleError(f"l = {l} and theta = {theta:g} need at least {told}: {way}")
    if withheld == "merge" and most / m.n > theta + _ROUNDING:
        value, least = m.sensitive_attribute.values[counts.argmax()], np.ceil(most / m.n * 1e4)
        raise InfeasibleError(
            f"no grouping of all rows meets theta = {theta:g}: {most} of {m.n} rows have "
            f"{value!r}. A theta of {least / 1e4:.4f} would work; "
            'in Python withheld="drop" drops rows, but all then know that most have that value'
        )
    return k, l, theta


def _summarized(m: Microdata, asked: tuple, weights: np.ndarray) -> tuple[Rule, Items, Items]:
    """Return the rule, the QI tuples, and room for n clusters."""
    tuples, attributes = m.cells.tuples, m.attributes
    mean = np.array([a.numeric or a.size <= 2 for a in attributes])
    width = np.array([a.width or 1.0 for a in attributes])
    places = [a.positions[codes] for a, codes in zip(attributes, tuples.T, strict=True)]
    places = np.ascontiguousarray(np.column_stack(places)[:, mean], float)
    size = np.array([a.size for a in attributes], np.intp)[~mean]
    first, attribute = np.cumsum(size) - size, np.repeat(np.arange(len(size)), size)
    code = (np.arange(len(attribute)) - first[attribute]).astype(np.uint64)
    number = np.random.default_rng(0).integers(2**58, size=len(code), dtype=np.uint64)
    number = number * np.uint64(64) + code % np.uint64(64)
    value, held = tuples[:, ~mean] + first, np.zeros((len(tuples), len(code)), bool)
    np.put_along_axis(held, value, True, axis=1)
    rule = Rule(*asked, (weights / width**2)[mean], weights[~mean], attribute, number)
    items = Items(np.ones(len(tuples), np.intp), places, places.copy(), held, number[value])
    room = (np.zeros((m.n, *part.shape[1:]), part.dtype) for part in items)
    return rule, items, Items(*room)


@loop
def _steps_1_and_2(rule, rows, after, waiting, clusters, counts, left, formed):
    """Form clusters of l distinct values; return their number and the backup queue."""
    tuple_of, value_of, cluster = rows
    backup = [0][:0]
    # Step 1. If there are any unassigned points, take an arbitrary point and assign it to a new
    # cluster with this point as the only element.
    for r in left:
        t, c, distinct = tuple_of[r], formed, 0
        if waiting.rank[t] != r:  # it is assigned or queued
            continue
        formed += 1
        # Step 2. Find the closest unassigned point to the current cluster. If the new point has a
        # sensitive value not present in the cluster, assign it to the cluster. Otherwise, assign
        # it to a backup queue which will be emptied later. Repeat this step until the cluster has
        # L distinct values, then go back to step 1. If there are no more unassigned points, go to
        # the next step instead.
        while t >= 0:
            point = waiting.rank[t]
            waiting.rank[t] = after[point]
            if after[point] < 0:
                _mark(waiting, t, 0, False)
            if counts[c, value_of[point]] == 0:
                _absorb(rule, clusters, c, waiting.of, t)
                counts[c, value_of[point]] = 1
                cluster[point] = c
                distinct += 1
            else:
                backup.append(point)
            t = _nearest(rule, clusters, c, waiting, 0) if distinct < rule.l else -1
    return formed, np.array(backup, np.intp)


@loop
def _step_3(rule, rows, tuples, counts, takers, backup):
    """Empty the backup queue."""
    # Step 3. For each point in the backup queue, find the closest eligible cluster. An eligible
    # cluster must have fewer than K elements and adding this new point must not violate the
    # theta-diversity property. If no clusters are eligible, unassign this new point. Otherwise,
    # add this point to this closest eligible cluster.
    tuple_of, value_of, cluster = rows
    for c in takers.order:
        _mark_eligible(rule, counts, takers, c)
    for r in backup:
        c = _nearest(rule, tuples, tuple_of[r], takers, value_of[r])
        if c >= 0:
            _absorb(rule, takers.of, c, tuples, tuple_of[r])
            counts[c, value_of[r]] += 1
            cluster[r] = c
            _widen(takers, c)
            _mark_eligible(rule, counts, takers, c)


@loop
def _mark_eligible(rule, counts, takers, c):
    """Mark the sensitive values that a cluster still takes."""
    size, largest = takers.of.size[c], counts[c].max()
    for v in range(counts.shape[1]):
        share = max(largest, counts[c, v] + 1) / (size + 1)
        _mark(takers, c, v, size < rule.k and share <= rule.theta)


@loop
def _step_5(rule, clusters, counts, may_lack_room, became):
    """Merge clusters until all are satisfied; record the target of each, -1 if withheld."""
    # Step 5. For each cluster with K, L, or theta diversity unsatisfied, evaluate merging it with
    # each other cluster. [...] If none exist, this cluster cannot be included in the output.
    for formed in range(len(became)):
        c = formed
        while became[c] == c and _unmet(rule, counts[c]) > 0:
            other = _partner(rule, clusters, counts, became, c, may_lack_room)
            if other < 0:
                became[c] = -1
            else:
                c, younger = min(c, other), max(c, other)
                _absorb(rule, clusters, c, clusters, younger)
                counts[c] += counts[younger]
                became[younger] = c
    for c in range(len(became)):  # each joined an older one
        if became[c] >= 0:
            became[c] = became[became[c]]


@loop
def _unmet(rule, counts):
    """Return 0 if a cluster with these counts is K,L,theta-diverse, 1 if theta is met, else 2."""
    if counts.max() / counts.sum() > rule.theta:
        return 2
    return int(counts.sum() < rule.k or np.count_nonzero(counts) < rule.l)


@loop
def _partner(rule, clusters, counts, became, c, may_lack_room):
    """Return the cluster that step 5 merges with c, or -1."""
    # Identify the closest cluster where, if merged, the result would satisfy all diversity
    # requirements. If one exists, merge those clusters. Otherwise, merge it with the closest
    # cluster that does not violate the theta diversity requirement if one exists. Beyond the
    # paper, otherwise with the closest that has room for the most frequent value of c. Rooms for a
    # value, theta·size - count, add up when clusters merge. As those of the whole table are not
    # negative, a cluster that lacks room finds one that has some.
    found, closest, most_frequent = np.full(3, -1), np.full(3, _FAR), counts[c].argmax()
    lacks_room = _unmet(rule, counts[c]) == 2
    for other in range(len(became)):
        if other == c or became[other] != other:
            continue
        apart = _distance(rule, clusters, c, clusters, other)
        if apart < closest[0]:
            kind = _unmet(rule, counts[c] + counts[other])
            room = rule.theta * clusters.size[other] - counts[other, most_frequent]
            fits = kind < 2 or (may_lack_room and (room > 0 or not lacks_room))
            if fits and apart < closest[kind]:
                found[kind], closest[kind] = other, apart
    return found[(found >= 0).argmax()]  # -1 if all are


# -- distances -----------------------------------------------------------------------------
#
# The nearest item is found in blocks of similar ones. The distance to a box is at most that to any
# item in it, also in floating point: both use the same monotone steps. So what is found does not
# depend on the blocks.


@inner
def _absorb(rule, a, i, b, j):
    """Add item j of b to cluster i of a."""
    a.size[i] += b.size[j]
    for u in range(len(rule.scale)):
        a.sums[i, u] += b.sums[j, u]
        a.means[i, u] = a.sums[i, u] / a.size[i]
    for v in range(len(rule.number)):
        if b.held[j, v] and not a.held[i, v]:
            a.held[i, v] = True
            a.sets[i, rule.attribute[v]] += rule.number[v]


@inner
def _distance(rule, a, i, b, j):
    """Distance of item i of a and item j of b."""
    total, gain = 0.0, a.size[i] * b.size[j] / (a.size[i] + b.size[j])
    for u in range(len(rule.scale)):
        gap = a.means[i, u] - b.means[j, u]
        total += rule.scale[u] * gain * gap * gap
    for s in range(len(rule.weight)):
        if a.sets[i, s] != b.sets[j, s]:
            total += rule.weight[s]
    return total


def _plant(rule: Rule, items: Items, chosen: np.ndarray, rank: np.ndarray, kinds: int) -> Blocks:
    """Put the chosen items, in order, into blocks that are open to searches of all kinds."""
    bits = (items.sets[chosen] % np.uint64(64)).astype(np.intp)
    columns = np.hstack([items.means[chosen], bits]).T  # those of few values sort first
    along = np.lexsort(sorted(columns, key=lambda column: -len(np.unique(column))))
    order = chosen[along]
    width = int(np.sqrt(len(order)) / 2) + 1
    first, means = np.arange(0, len(order), width), items.means[order]
    block, is_open = np.zeros(len(items.size), np.intp), np.zeros((len(items.size), kinds), bool)
    block[order], is_open[order] = np.arange(len(order)) // width, True
    return Blocks(
        items, order, width, block, rank, is_open,
        np.add.reduceat(is_open[order], first, dtype=np.intp),
        np.minimum.reduceat(items.size[order], first),
        np.minimum.reduceat(means, first), np.maximum.reduceat(means, first),
        np.bitwise_or.reduceat(np.uint64(1) << bits[along].astype(np.uint64), first),
        np.empty(len(first)),
    )  # fmt: skip


@inner
def _widen(blocks, i):
    """Widen the box around item i, which has grown."""
    b = blocks.block[i]
    for u in range(blocks.low.shape[1]):
        blocks.low[b, u] = min(blocks.low[b, u], blocks.of.means[i, u])
        blocks.high[b, u] = max(blocks.high[b, u], blocks.of.means[i, u])
    for s in range(blocks.bits.shape[1]):
        blocks.bits[b, s] |= np.uint64(1) << (blocks.of.sets[i, s] & np.uint64(63))


@inner
def _mark(blocks, i, kind, is_open):
    """Open or close item i to searches of a kind."""
    b = blocks.block[i]
    blocks.number[b, kind] += np.intp(is_open) - np.intp(blocks.open[i, kind])
    blocks.open[i, kind] = is_open


@inner
def _nearest(rule, a, i, blocks, kind):
    """Return the open item of blocks that is nearest to item i of a, or -1."""
    _set_apart(rule, a, i, blocks, kind)
    found, closest, least = -1, _FAR, 0
    while len(blocks.apart):
        b = blocks.apart.argmin()
        if blocks.apart[b] > closest:
            break
        blocks.apart[b] = np.inf
        for j in blocks.order[b * blocks.width : (b + 1) * blocks.width]:
            if blocks.open[j, kind]:
                apart = _distance(rule, a, i, blocks.of, j)
                if (apart, blocks.rank[j]) < (closest, least):
                    found, closest, least = j, apart, blocks.rank[j]
    return found


@inner
def _set_apart(rule, a, i, blocks, kind):
    """Set lower bounds of the distance from item i to all open items of each block."""
    for b in range(len(blocks.apart)):
        blocks.apart[b] = np.inf
        if blocks.number[b, kind]:
            total, gain = 0.0, a.size[i] * blocks.least[b] / (a.size[i] + blocks.least[b])
            for u in range(len(rule.scale)):
                mean = a.means[i, u]
                gap = max(blocks.low[b, u] - mean, mean - blocks.high[b, u], 0.0)
                total += rule.scale[u] * gain * gap * gap
            for s in range(len(rule.weight)):
                if not blocks.bits[b, s] >> (a.sets[i, s] & np.uint64(63)) & np.uint64(1):
                    total += rule.weight[s]
            blocks.apart[b] = total
