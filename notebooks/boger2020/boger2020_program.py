"""The author's program as another reading of section 3.1, to compare with `anonpaper.klt`.

The program (the paper's reference [1], as of December 2020) departs from the text, or decides what
the text leaves open. Each departure can be switched on alone; with none of them the groups are
those of ``klt(..., withheld="drop")``. https://github.com/SamBoger/Query-Accuracy-on-l-Diversity
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from anonpaper.compiled import loop
from anonpaper.errors import check_weights
from anonpaper.groups import Partition, dense_labels
from anonpaper.microdata import Microdata
from anonpaper.partition.klt.clustering import _step_5, partner, steps_1_and_2
from anonpaper.partition.klt.distances import distance_kinds, metric, summaries_of_tuples
from anonpaper.partition.klt.state import (
    Rule,
    holds,
    is_eligible,
    join,
    merge,
    no_clusters,
    queued,
    tag,
    take,
)
from anonpaper.partition.klt.tree import (
    ANY,
    NOTHING,
    next_nearest,
    plant,
    set_tags,
    start_search,
    widen,
)
from anonpaper.randomness import generator

#: How the program's groups depart from the text; two departures of the queries are in boger2020.
DEPARTURES = (
    "file order",  # rows are considered in the order of the file, not in a random one
    # the backup queue is served from its end; rows left of it are considered in that order then
    "last in first out",
    # step 3 divides by the cluster's size before the row is added; new values always fit
    "theta before",
    # step 5 merges every unsatisfied cluster once: groups may miss the principles, no row is lost
    "one pass",
    "ages by 90",  # numbers are divided by the largest of them, not mapped to [0, 1]
)

_ROUNDING = 1e-9  # as in klt


def program_groups(
    m: Microdata,
    k: int = 10,
    l: int = 5,
    theta: float = 0.3,
    weights: Mapping[object, float] | None = None,
    seed: int | np.random.Generator | None = 0,
    *,
    departures: Collection[str] = DEPARTURES,
) -> Partition:
    """Group rows by the steps of section 3.1, with some departures of the author's program."""
    rule = Rule(k, l, theta + _ROUNDING)
    kinds = distance_kinds(m, None)
    weight = check_weights(m.qi, weights)
    if "ages by 90" in departures:
        numeric = [a.numeric for a in m.attributes]
        largest = np.array([a.positions[-1] or 1 for a in m.attributes])
        weight[numeric] *= (np.array([a.width for a in m.attributes]) / largest)[numeric] ** 2
    how = metric(m, kinds, weight)
    tuples = summaries_of_tuples(m, kinds, how)
    clusters = no_clusters(how, m.n, m.sensitive_attribute.size)
    order = np.arange(m.n) if "file order" in departures else generator(seed).permutation(m.n)

    cluster_of, place = np.full(m.n, -1), np.empty(m.n, np.intp)
    place[order] = np.arange(m.n)
    formed, repeats = 0, -1
    before, last_first = (name in departures for name in ("theta before", "last in first out"))
    while len(order):  # step 4
        repeats += 1
        rows = queued(m, m.cells.tuple_of_row[order], m.sensitive_codes[order])
        waiting = np.flatnonzero(rows.head < rows.end)
        points = plant(how, tuples, waiting, np.full(len(tuples.size), ANY))
        formed, in_queue = steps_1_and_2(how, rule, rows, tuples, points, clusters, formed)
        in_queue = _queue_the_rest(how, rows, tuples, points, in_queue, clusters, formed)
        tags = _tags(rule, before, clusters, formed)
        takers = plant(how, clusters.summaries, np.flatnonzero(tags), tags)
        backup = rows.backup[:in_queue][:: -1 if last_first else 1].copy()
        unassigned = _step_3(how, rule, before, rows, tuples, backup, clusters, takers, formed)
        cluster_of[order] = rows.cluster
        order = order[unassigned]
        if not last_first:
            order = order[np.argsort(place[order])]
    others = plant(how, clusters.summaries, np.arange(formed), np.full(formed, ANY))
    became = np.arange(formed)
    if "one pass" in departures:
        _merge_once(how, rule, clusters, others, became)
    else:
        _step_5(how, rule, clusters, others, False, became)
    return Partition(
        dense_labels(_at_last(became)[cluster_of]),
        info={"repeats": repeats, "formed": formed},
        algorithm=f"the author's program: k = {k}, l = {l}, theta = {theta:g}",
    )


@loop
def _queue_the_rest(how, rows, tuples, points, in_queue, clusters, formed):
    """Queue the rows that step 2 leaves, the next one being the closest to the last cluster."""
    while rows.waiting.any():
        start_search(points)
        t = next_nearest(points, how, clusters.summaries, formed - 1, tuples, rows.turn, ANY)
        rows.backup[in_queue] = take(rows, points, t)
        in_queue += 1
    return in_queue


@loop
def _takes(rule, before, clusters, c, v):
    """Return whether a cluster is eligible for a row of value v, by the text or the program."""
    if not before:
        return is_eligible(rule, clusters, c, v)
    count, size = clusters.counts[c, v], clusters.summaries.size[c]
    largest = max(clusters.largest[c], count + 1)
    return size < rule.k and (count == 0 or largest / size < rule.theta - 2 * _ROUNDING)


@loop
def _tags_of(rule, before, clusters, c):
    """Return the bits of the values for which a cluster is eligible."""
    bits = np.uint64(0)
    for v in range(clusters.counts.shape[1]):
        if _takes(rule, before, clusters, c, v):
            bits |= tag(v)
    return bits


@loop
def _tags(rule, before, clusters, formed):
    """Return the bits of all clusters."""
    bits = np.zeros(formed, np.uint64)
    for c in range(formed):
        bits[c] = _tags_of(rule, before, clusters, c)
    return bits


@loop
def _step_3(how, rule, before, rows, tuples, backup, clusters, takers, formed):
    """Assign the rows of the backup queue to their closest eligible clusters; return the rest."""
    unassigned, summaries, turns = 0, clusters.summaries, np.arange(formed)
    for r in backup:
        v, t = rows.value_of[r], rows.tuple_of[r]
        start_search(takers)
        c = next_nearest(takers, how, tuples, t, summaries, turns, tag(v))
        while c >= 0 and not _takes(rule, before, clusters, c, v):
            c = next_nearest(takers, how, tuples, t, summaries, turns, tag(v))
        if c < 0:
            backup[unassigned] = r
            unassigned += 1
        else:
            join(how, rows, clusters, c, r, tuples)
            widen(takers, summaries, c)
            set_tags(takers, c, _tags_of(rule, before, clusters, c))
    return backup[:unassigned]


@loop
def _merge_once(how, rule, clusters, others, became):
    """Merge every unsatisfied cluster once, into the place that it has; leave out none."""
    turns = np.arange(len(became))
    for c in range(len(became)):
        if became[c] == c and not holds(rule, clusters, c):
            set_tags(others, c, NOTHING)
            other = partner(how, rule, clusters, others, turns, c, False)
            if other >= 0:
                merge(how, clusters, c, other)
                set_tags(others, other, NOTHING)
                became[other] = c
                widen(others, clusters.summaries, c)
            set_tags(others, c, ANY)


def _at_last(became: np.ndarray) -> np.ndarray:
    """Return what every cluster is part of in the end; -1 stays -1."""
    while True:
        further = np.where(became >= 0, became[became], -1)
        if np.array_equal(further, became):
            return became
        became = further
