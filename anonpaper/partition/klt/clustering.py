"""K,L,theta-diversity by greedy clustering: the algorithm of boger2020, section 3.1, step by step.

The paper leaves choices open. Here a seed puts the rows in random order. The *arbitrary* point of
step 1 is the first unassigned row in that order. Ties go to the first row or cluster. Step 5 takes
clusters as they were formed; a merged one keeps the place of the older one.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import inner, loop
from anonpaper.errors import (
    InfeasibleError,
    check_choice,
    check_integer,
    check_number,
    check_weights,
)
from anonpaper.groups import Partition, dense_labels
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.partition.klt.distances import (
    FAR,
    Blocks,
    Distance,
    Items,
    absorb,
    distance_between,
    mark,
    nearest,
    plant,
    set_apart,
    summarized,
    widen,
)
from anonpaper.principles import DistinctLDiversity, KAnonymity, Theta
from anonpaper.randomness import generator

__all__ = ["UnplacedRowsWarning", "klt"]

#: Shares are computed in floating point: equality up to rounding counts as met, as in Theta.
_ROUNDING = 1e-9


class UnplacedRowsWarning(UserWarning):
    """Some rows fit into no group and are not published."""


class Rule(NamedTuple):
    """K,L,theta-diversity."""

    k: int
    l: int
    theta: float


class Rows(NamedTuple):
    """The rows in the order of the seed."""

    tuple_of: np.ndarray
    value_of: np.ndarray
    cluster: np.ndarray  # -1 while a row is unassigned


class Waiting(NamedTuple):
    """Rows that are neither assigned nor queued: queue[head[t]:end[t]] for QI tuple t."""

    queue: np.ndarray
    head: np.ndarray
    end: np.ndarray
    tuples: Blocks  # those with such rows are open


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
    distance: Mapping[object, Distance] | None = None,
    seed: int | np.random.Generator | None = 0,
    *,
    withheld: Literal["merge", "drop"] = "merge",
) -> Partition:
    """Guarantee k-anonymity, *distinct* l-diversity and theta-diversity by greedy clustering.

    Rows that are withheld may share a sensitive value (``info["unplaced_share"]``).

    Parameters
    ----------
    m, k, l, seed : see :mod:`anonpaper.partition`
    theta : float, the largest share of one sensitive value in a group, in (0, 1]
    weights : mapping of column label to float, at least 0; 1 by default
    distance : mapping of column label to {"univariate", "set"} or function, optional
        Of mean places (default for numeric and two-valued attributes), whether sets of values
        differ (for others), or the mean of a symmetric function over all pairs of rows.
    withheld : {"merge", "drop"}
        What step 5 cannot merge joins the closest cluster with room; or, as in the paper, leaves.

    Returns
    -------
    Partition
        ``info`` has the paper's M (``repeats``), clusters ``formed`` in step 2, withheld rows
        (``unplaced_rows``) and the largest share of one value among them (``unplaced_share``).

    Raises
    ------
    ColumnError, ParameterError, InfeasibleError
        See :mod:`anonpaper.partition`; a distance or weight is none; no grouping meets theta.

    References
    ----------
    boger2020, section 3.1. O((1 + M)·n·√n·d) where boxes separate; at worst n²·d.

    Examples
    --------
    >>> p = klt(ap.examples.hospital(), k=4, l=2, theta=0.5)
    >>> p.sizes().tolist(), p.info["unplaced_rows"]
    ([6, 4], 0)
    """
    check_choice("withheld", withheld, ("merge", "drop"))
    rule = _checked_rule(check_microdata(m), k, l, theta, withheld)
    weights, rng = check_weights(m.qi, weights), generator(seed)
    cell, order = m.cells.handed_out(rng), rng.permutation(m.n)
    items = summarized(m, distance, weights)
    tuple_of, value_of = m.cells.tuple_of_cell[cell[order]], m.cells.sensitive[cell[order]]
    rows = Rows(tuple_of.astype(np.intp), value_of.astype(np.intp), np.full(m.n, -1))
    counts = np.zeros((m.n, m.sensitive_attribute.size), np.int32)  # of clusters
    repeats = _steps_1_to_4(rule, items, rows, counts)
    formed = rows.cluster.max() + 1
    became = np.arange(formed)
    others = plant(items, len(m.cells) + became, 1, True)
    _step_5(rule, items, counts, others, withheld == "merge", became)
    labels = np.empty(m.n, np.intp)
    labels[order] = became[rows.cluster]  # step 6
    labels, info = dense_labels(labels), {"repeats": repeats, "formed": int(formed)}
    name = f"K,L,theta: k = {k}, l = {l}, theta = {theta:g}"
    p = Partition.of_cells(m.cells, cell, labels, None, info, name)
    left_out = np.bincount(m.cells.sensitive[cell[labels < 0]], minlength=1)
    p.info["unplaced_rows"] = p.n_unpublished
    p.info["unplaced_share"] = float(left_out.max() / max(p.n_unpublished, 1))
    if p.n_unpublished:
        warnings.warn(
            f"{p.n_unpublished} of {m.n} rows fit into no group with k = {k}, l = {l}, "
            f"theta = {theta:g} and are labelled -1; {p.info['unplaced_share']:.0%} of them have "
            f"the same {m.sensitive!r}",
            UnplacedRowsWarning,
            stacklevel=2,
        )
    return p


def _checked_rule(m: Microdata, k: int, l: int, theta: float, withheld: str) -> Rule:
    """Return the rule if all rows, or with "drop" some rows, can meet it."""
    # With at most h rows of every value, T(h) = sum_v min(count of v, h) rows can be gathered, and
    # h/theta rows are needed for a share of theta; h rows of one value suffice for l values.
    counts, values = m.sensitive_counts, int(np.count_nonzero(m.sensitive_counts))
    k = check_integer("k", k, 1, m.n)
    l = check_integer("l", l, 1)
    theta = check_number("theta", theta, 0, 1, open_low=True)
    rule = Rule(k, l, theta + _ROUNDING)
    if l > values:
        raise InfeasibleError(f"l = {l} is too large: {m.sensitive!r} has {values} values")
    heights = np.arange(1, counts.max() + 1)
    gathered = np.cumsum(len(counts) - np.searchsorted(np.sort(counts), heights))
    needed = np.maximum(np.ceil(heights / rule.theta), max(k, l))
    if not (gathered >= needed).any():
        raise InfeasibleError(
            f"no choice of rows meets k = {k} and theta = {theta:g}: theta needs at least "
            f"{int(np.ceil(1 / rule.theta))} distinct values of {m.sensitive!r}, evenly "
            f"frequent; {values} occur. A larger theta or a smaller k would work"
        )
    if withheld == "merge" and counts.max() / m.n > rule.theta:
        value, least = m.sensitive_attribute.values[counts.argmax()], counts.max() / m.n
        raise InfeasibleError(
            f"no grouping of all rows meets theta = {theta:g}: {counts.max()} of {m.n} rows have "
            f"{value!r}. A theta of {np.ceil(least * 1e4) / 1e4:.4f} would work; "
            'withheld="drop" drops rows, but everybody then knows that most have that value'
        )
    return rule


def _steps_1_to_4(rule: Rule, items: Items, rows: Rows, counts: np.ndarray) -> int:
    """Assign every row to a cluster; return the number of repeats."""
    formed, repeats, tuples = 0, -1, len(items.size) - len(counts)
    while (rows.cluster < 0).any():  # step 4
        repeats += 1
        left = np.flatnonzero(rows.cluster < 0)
        number = np.bincount(rows.tuple_of[left], minlength=tuples)
        end, queue = np.cumsum(number), left[np.argsort(rows.tuple_of[left], kind="stable")]
        waiting = Waiting(queue, end - number, end, plant(items, np.flatnonzero(number), 1, True))
        formed, backup = _steps_1_and_2(rule, items, rows, waiting, left, counts, formed)
        small = np.flatnonzero(items.size[tuples : tuples + formed] < rule.k)
        takers = plant(items, tuples + small, counts.shape[1], False)
        _step_3(rule, items, rows, counts, takers, backup)
    return repeats


@loop
def _steps_1_and_2(rule, items, rows, waiting, left, counts, formed):
    """Form clusters of l distinct values; return their number and the backup queue."""
    queued, backup, is_waiting = 0, np.empty(len(left), np.intp), rows.cluster < 0
    # Step 1. If there are any unassigned points, take an arbitrary point and assign it to a new
    # cluster with this point as the only element.
    for first in left:
        if not is_waiting[first]:
            continue
        c, near, distinct = formed, np.array([first]), 0
        formed += 1
        # Step 2. Find the closest unassigned point to the current cluster. If the new point has a
        # sensitive value not present in the cluster, assign it to the cluster. Otherwise, assign
        # it to a backup queue which will be emptied later. Repeat this step until the cluster has
        # L distinct values, then go back to step 1. If there are no more unassigned points, go to
        # the next step instead.
        while len(near):
            for r in near:
                t, is_waiting[r] = rows.tuple_of[r], False
                waiting.head[t] += 1
                if waiting.head[t] == waiting.end[t]:
                    mark(waiting.tuples, t, 0, False)
                if counts[c, rows.value_of[r]] == 0:
                    _join(items, rows, counts, r, c)
                    distinct += 1
                else:
                    backup[queued] = r
                    queued += 1
            near = near[:0]
            if distinct < rule.l:
                near = _up_to_new_value(items, rows, waiting, counts, c)
    return formed, backup[:queued]


@loop
def _up_to_new_value(items, rows, waiting, counts, c):
    """The unassigned rows up to the first of a value that a cluster lacks, the closest first."""
    item, blocks, closest, new = len(items.size) - len(counts) + c, waiting.tuples, FAR, -1
    near, apart = [0][:0], [0.0][:0]
    set_apart(items, item, blocks, 0)
    while True:
        b = blocks.apart.argmin()
        if blocks.apart[b] > closest:
            break
        blocks.apart[b] = np.inf
        for t in blocks.items[b * blocks.width : (b + 1) * blocks.width]:
            to_tuple = distance_between(items, item, t) if blocks.open[t, 0] else np.inf
            if to_tuple <= closest:
                for r in waiting.queue[waiting.head[t] : waiting.end[t]]:
                    near.append(r)
                    apart.append(to_tuple)
                    if counts[c, rows.value_of[r]] == 0:
                        if (to_tuple, r) < (closest, new):
                            closest, new = to_tuple, r
                        break
    found, order = np.array(near), np.argsort(np.array(near))
    found = found[order[np.argsort(np.array(apart)[order], kind="mergesort")]]
    return found if new < 0 else found[: np.flatnonzero(found == new)[0] + 1]


@inner
def _join(items, rows, counts, r, c):
    """Assign a row to a cluster."""
    absorb(items, len(items.size) - len(counts) + c, rows.tuple_of[r])
    counts[c, rows.value_of[r]] += 1
    rows.cluster[r] = c


@loop
def _step_3(rule, items, rows, counts, takers, backup):
    """Empty the backup queue."""
    # Step 3. For each point in the backup queue, find the closest eligible cluster. An eligible
    # cluster must have fewer than K elements and adding this new point must not violate the
    # theta-diversity property. If no clusters are eligible, unassign this new point. Otherwise,
    # add this point to this closest eligible cluster.
    for item in takers.items:
        _mark_eligible(rule, items, counts, takers, item)
    for r in backup:
        item = nearest(items, rows.tuple_of[r], takers, rows.value_of[r])
        if item >= 0:
            _join(items, rows, counts, r, item - len(items.size) + len(counts))
            widen(items, takers, item)
            _mark_eligible(rule, items, counts, takers, item)


@inner
def _mark_eligible(rule, items, counts, takers, item):
    """Mark the values of which a cluster takes a row."""
    c, size, largest = item - len(items.size) + len(counts), items.size[item], 0
    for v in range(counts.shape[1]):
        largest = max(largest, counts[c, v])
    for v in range(counts.shape[1]):
        share = max(largest, counts[c, v] + 1) / (size + 1)
        mark(takers, item, v, size < rule.k and share <= rule.theta)


@loop
def _step_5(rule, items, counts, others, may_lack_room, became):
    """Merge clusters until all are satisfied; record the target of each, -1 if withheld."""
    # Step 5. For each cluster with K, L, or theta diversity unsatisfied, evaluate merging it with
    # each other cluster. [...] If none exist, this cluster cannot be included in the output.
    n = len(items.size) - len(counts)
    for formed in range(len(became)):
        c = formed
        while became[c] == c and not holds(rule, counts[c]):
            other = partner(rule, items, counts, others, c, may_lack_room)
            if other < 0:
                became[c] = -1
                mark(others, n + c, 0, False)
            else:
                c, younger = min(c, other), max(c, other)
                absorb(items, n + c, n + younger)
                counts[c] += counts[younger]
                widen(items, others, n + c)
                became[younger] = c
                mark(others, n + younger, 0, False)
    for c in range(len(became)):  # each joined an older one
        if became[c] >= 0:
            became[c] = became[became[c]]


@inner
def holds(rule, counts):
    """Whether a cluster is K,L,theta-diverse, by its rows of every sensitive value."""
    size, distinct, largest = 0, 0, 0
    for rows in counts:
        size, distinct, largest = size + rows, distinct + (rows > 0), max(largest, rows)
    return size >= rule.k and distinct >= rule.l and largest / size <= rule.theta


@loop
def partner(rule, items, counts, others, c, may_lack_room):
    """Return the cluster that step 5 merges with c, -1 if there is none."""
    # Identify the closest cluster where, if merged, the result would satisfy all diversity
    # requirements. If one exists, merge those clusters. Otherwise, merge it with the closest
    # cluster that does not violate the theta diversity requirement if one exists. Beyond the
    # paper, otherwise with the closest that has room for the most frequent value of c. Rooms for a
    # value, theta·size - count, add up when clusters merge. As those of the whole table are not
    # negative, a cluster that lacks room finds one that has some.
    n, found, closest = len(items.size) - len(counts), np.full(3, -1), np.full(3, FAR)
    most_frequent = counts[c].argmax()
    lacks_room = counts[c].max() / items.size[n + c] > rule.theta
    set_apart(items, n + c, others, 0)
    while others.apart.min() <= closest[0]:
        b = others.apart.argmin()
        others.apart[b] = np.inf
        for item in others.items[b * others.width : (b + 1) * others.width]:
            other, apart = item - n, distance_between(items, n + c, item)
            if other == c or apart > closest[0] or not others.open[item, 0]:
                continue
            size, distinct, largest = items.size[n + c] + items.size[item], 0, 0
            for v in range(counts.shape[1]):
                together = counts[c, v] + counts[other, v]
                distinct += together > 0
                largest = max(largest, together)
            room = rule.theta * items.size[item] - counts[other, most_frequent]
            if largest / size <= rule.theta:
                kind = 1 - (size >= rule.k and distinct >= rule.l)
            elif may_lack_room and (room > 0 or not lacks_room):
                kind = 2
            else:
                continue
            if (apart, other) < (closest[kind], found[kind]):
                found[kind], closest[kind] = other, apart
    for other in found:
        if other >= 0:
            return other
    return -1
