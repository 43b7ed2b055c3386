"""K,L,theta-diversity by greedy clustering: the algorithm of boger2020, section 3.1, step by step.

The paper leaves choices open. Here a seed puts the rows in random order. The *arbitrary* point of
step 1 is the first unassigned row in that order. Ties go to the first row or cluster. Step 5 takes
clusters as they were formed; a merged one keeps the place of the older one.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Literal

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
    Distance,
    Metric,
    Summaries,
    distance_kinds,
    metric,
    summaries_of_tuples,
)
from anonpaper.partition.klt.state import (
    Clusters,
    Rows,
    Rule,
    holds,
    is_eligible,
    join,
    merge,
    no_clusters,
    put_back,
    queued,
    set_all_tags,
    tag,
    tags_of,
    take,
)
from anonpaper.partition.klt.tree import (
    ANY,
    NOTHING,
    next_nearest,
    plant,
    search_again,
    set_tags,
    start_search,
    widen,
)
from anonpaper.principles import DistinctLDiversity, KAnonymity, Theta
from anonpaper.randomness import generator

__all__ = ["UnplacedRowsWarning", "klt"]

#: Shares are computed in floating point: equality up to rounding counts as met, as in Theta.
_ROUNDING = 1e-9


class UnplacedRowsWarning(UserWarning):
    """Some rows fit into no group and are not published."""


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
    boger2020, section 3.1. O((1 + M)·n·(d + m)·log n) where boxes separate; at worst n²·d.

    Examples
    --------
    >>> p = klt(ap.examples.hospital(), k=4, l=2, theta=0.5)
    >>> p.sizes().tolist(), p.info["unplaced_rows"]
    ([6, 4], 0)
    """
    check_choice("withheld", withheld, ("merge", "drop"))
    rule = _checked_rule(check_microdata(m), k, l, theta, withheld)
    kinds = distance_kinds(m, distance)
    how = metric(m, kinds, check_weights(m.qi, weights))
    rng = generator(seed)
    cell, order = m.cells.handed_out(rng), rng.permutation(m.n)
    rows = queued(m, m.cells.tuple_of_cell[cell[order]], m.cells.sensitive[cell[order]])
    tuples = summaries_of_tuples(m, kinds, how)
    clusters = no_clusters(how, m.n, m.sensitive_attribute.size)
    formed, repeats = _steps_1_to_4(how, rule, rows, tuples, clusters)
    became = np.arange(formed)
    others = plant(how, clusters.summaries, became, np.full(formed, ANY))
    _step_5(how, rule, clusters, others, withheld == "merge", became)
    labels = np.empty(m.n, np.intp)
    labels[order] = _at_last(became)[rows.cluster]  # step 6
    labels, info = dense_labels(labels), {"repeats": repeats, "formed": formed}
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


def _steps_1_to_4(
    how: Metric, rule: Rule, rows: Rows, tuples: Summaries, clusters: Clusters
) -> tuple[int, int]:
    """Assign every row to a cluster; return how many are formed and the repeats."""
    every = np.arange(len(tuples.size))
    points = plant(how, tuples, every, np.full(len(every), ANY))
    formed, repeats = 0, -1
    while rows.waiting.any():  # step 4
        repeats += 1
        formed, in_queue = steps_1_and_2(how, rule, rows, tuples, points, clusters, formed)
        tags = np.empty(formed, np.uint64)
        set_all_tags(rule, clusters, tags)
        takers = plant(how, clusters.summaries, np.flatnonzero(tags), tags)
        for values in clusters.summaries:
            values[-1] = values[formed - 1]  # the last cluster as step 2 left it
        _step_3(how, rule, rows, tuples, points, in_queue, clusters, formed, takers)
    return formed, repeats


@loop
def steps_1_and_2(how, rule, rows, tuples, points, clusters, formed):
    """Form clusters of l distinct values; return their number and the length of the queue."""
    in_queue = 0  # points left at the end are queued by step 3
    # Step 1. If there are any unassigned points, take an arbitrary point and assign it to a new
    # cluster with this point as the only element.
    for first in range(len(rows.tuple_of)):
        t, c = rows.tuple_of[first], formed
        if rows.head[t] == rows.end[t] or rows.turn[t] != first:  # it is assigned
            continue
        formed += 1
        join(how, rows, clusters, c, take(rows, points, t), tuples)
        # Step 2. Find the closest unassigned point to the current cluster. If the new point has a
        # sensitive value not present in the cluster, assign it to the cluster. Otherwise, assign
        # it to a backup queue which will be emptied later. Repeat this step until the cluster has
        # L distinct values, then go back to step 1. If there are no more unassigned points, go to
        # the next step instead.
        start_search(points)
        while clusters.distinct[c] < rule.l and _has_new_value(rows, clusters, c):
            t = next_nearest(points, how, clusters.summaries, c, tuples, rows.turn, ANY)
            r = take(rows, points, t)
            if clusters.counts[c, rows.value_of[r]] == 0:
                join(how, rows, clusters, c, r, tuples)
                start_search(points)
            else:
                rows.backup[in_queue] = r
                in_queue += 1
                search_again(points, t, rows.turn[t])
        if clusters.distinct[c] < rule.l:
            break
    return formed, in_queue


@inner
def _has_new_value(rows, clusters, c):
    """Whether some unassigned row has a sensitive value that a cluster lacks."""
    for v in range(len(rows.waiting)):
        if rows.waiting[v] and clusters.counts[c, v] == 0:
            return True
    return False


@loop
def _step_3(how, rule, rows, tuples, points, in_queue, clusters, formed, takers):
    """Empty the backup queue."""
    # Step 3. For each point in the backup queue, find the closest eligible cluster. An eligible
    # cluster must have fewer than K elements and adding this new point must not violate the
    # theta-diversity property. If no clusters are eligible, unassign this new point. Otherwise,
    # add this point to this closest eligible cluster.
    unassigned, summaries, turns = 0, clusters.summaries, np.arange(formed)
    start_search(points)
    for i in range(len(rows.backup)):
        if i == in_queue and _any_fits(rows, takers):  # the next closest to the last cluster
            t = next_nearest(points, how, summaries, -1, tuples, rows.turn, ANY)
            rows.backup[i] = take(rows, points, t)
            search_again(points, t, rows.turn[t])
            in_queue += 1
        if i == in_queue:
            break
        r = rows.backup[i]
        v, t = rows.value_of[r], rows.tuple_of[r]
        start_search(takers)
        c = next_nearest(takers, how, tuples, t, summaries, turns, tag(v))
        while c >= 0 and not is_eligible(rule, clusters, c, v):
            c = next_nearest(takers, how, tuples, t, summaries, turns, tag(v))
        if c < 0:
            rows.backup[unassigned] = r
            unassigned += 1
        else:
            join(how, rows, clusters, c, r, tuples)
            widen(takers, summaries, c)
            set_tags(takers, c, tags_of(rule, clusters, c))
    # Rows of a tuple were taken in their order: backwards, each comes before those put back.
    for i in range(unassigned - 1, -1, -1):
        put_back(rows, points, rows.backup[i])


@inner
def _any_fits(rows, takers):
    """Whether some cluster takes an unassigned row; else queueing all would be in vain."""
    for v in range(len(rows.waiting)):
        if rows.waiting[v] and takers.tags[1] & tag(v):
            return True
    return False


@loop
def _step_5(how, rule, clusters, others, may_lack_room, became):
    """Merge clusters until all are satisfied; record the target of each, -1 if withheld."""
    # Step 5. For each cluster with K, L, or theta diversity unsatisfied, evaluate merging it with
    # each other cluster. [...] If none exist, this cluster cannot be included in the output.
    turns = np.arange(len(became))
    for formed in range(len(became)):
        c = formed
        while became[c] == c and not holds(rule, clusters, c):
            set_tags(others, c, NOTHING)
            other = partner(how, rule, clusters, others, turns, c, may_lack_room)
            if other < 0:
                became[c] = -1
            else:
                c, younger = min(c, other), max(c, other)
                merge(how, clusters, c, younger)
                widen(others, clusters.summaries, c)
                set_tags(others, c, ANY)
                set_tags(others, younger, NOTHING)
                became[younger] = c


@loop
def partner(how, rule, clusters, others, turns, c, may_lack_room):
    """Return the cluster that step 5 merges with c, -1 if there is none."""
    # Identify the closest cluster where, if merged, the result would satisfy all diversity
    # requirements. If one exists, merge those clusters. Otherwise, merge it with the closest
    # cluster that does not violate the theta diversity requirement if one exists. Beyond the
    # paper, otherwise with the closest that has room for the most frequent value of c. Rooms for a
    # value, theta·size - count, add up when clusters merge. As those of the whole table are not
    # negative, a cluster that lacks room finds one that has some.
    fair, roomy, summaries = -1, -1, clusters.summaries
    most_frequent = clusters.counts[c].argmax()
    lacks_room = clusters.largest[c] / summaries.size[c] > rule.theta
    start_search(others)
    while True:
        other = next_nearest(others, how, summaries, c, summaries, turns, ANY)
        if other < 0:
            return fair if fair >= 0 or not may_lack_room else roomy
        size, distinct, largest = summaries.size[c] + summaries.size[other], 0, 0
        for v in range(clusters.counts.shape[1]):
            together = clusters.counts[c, v] + clusters.counts[other, v]
            distinct += together > 0
            largest = max(largest, together)
        if largest / size <= rule.theta:
            if size >= rule.k and distinct >= rule.l:
                return other
            if fair < 0:
                fair = other
        room = rule.theta * summaries.size[other] - clusters.counts[other, most_frequent]
        if roomy < 0 and (room > 0 or not lacks_room):
            roomy = other


def _at_last(became: np.ndarray) -> np.ndarray:
    """The final cluster of each, if each joined an older one; -1 stays -1."""
    for c, joined in enumerate(became):
        if joined >= 0:
            became[c] = became[joined]
    return became
