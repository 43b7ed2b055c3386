"""The state of klt: rows in queues by QI tuple, and clusters with their counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from anonpaper.compiled import inner, part
from anonpaper.microdata import Microdata
from anonpaper.partition.klt.distances import Metric, Summaries, empty_summaries
from anonpaper.partition.klt.nearest import (
    ANY,
    NEVER,
    all_tags,
    change_turn,
    next_nearest,
    search_again,
)

__all__ = ["Clusters", "Rows", "Rule"]


class Rule(NamedTuple):
    """K,L,theta-diversity."""

    k: int
    l: int
    theta: float


class Rows(NamedTuple):
    """The rows in the order of the seed: row r is the r-th one."""

    tuple_of: np.ndarray  # QI tuple of every row
    value_of: np.ndarray  # sensitive code of every row
    cluster: np.ndarray  # the cluster that a row was assigned to
    queue: np.ndarray  # rows sorted by tuple, then order
    head: np.ndarray  # queue[head[t]:end[t]] are the unassigned rows of tuple t
    end: np.ndarray
    waiting: np.ndarray  # unassigned rows of every sensitive value
    backup: np.ndarray  # room for the backup queue


class Clusters(NamedTuple):
    """Clusters and their sensitive values."""

    summaries: Summaries
    counts: np.ndarray  # rows of every cluster and sensitive value
    distinct: np.ndarray  # number of sensitive values
    largest: np.ndarray  # rows of the most frequent one


# -- rows ---------------------------------------------------------------------------------------


def rows_in_order(m: Microdata, cell: np.ndarray) -> Rows:
    """Return all rows, of these cells, unassigned."""
    cells = m.cells
    tuple_of = cells.tuple_of_cell[cell]
    return Rows(
        tuple_of=tuple_of,
        value_of=cells.sensitive[cell].astype(np.intp),  # as all numbers: one compilation
        cluster=np.empty(m.n, np.intp),
        queue=np.argsort(tuple_of, kind="stable"),
        head=cells.tuple_start[:-1].copy(),
        end=cells.tuple_start[1:],
        waiting=m.sensitive_counts.copy(),
        backup=np.empty(m.n, np.intp),
    )


@inner
def next_row(rows, t):
    """The first unassigned row of a tuple, which is the tuple's turn; NEVER if there is none."""
    return rows.queue[rows.head[t]] if rows.head[t] < rows.end[t] else NEVER


@inner
def take(rows, t):
    """Take the first unassigned row of a tuple."""
    r = rows.queue[rows.head[t]]
    rows.head[t] += 1
    rows.waiting[rows.value_of[r]] -= 1
    return r


@inner
def put_back(rows, r):
    """Unassign a row that comes before all unassigned rows of its tuple."""
    t = rows.tuple_of[r]
    rows.head[t] -= 1
    rows.queue[rows.head[t]] = r
    rows.waiting[rows.value_of[r]] += 1


# -- rows that nobody can take are not looked at ------------------------------------------------
#
# Where step 4 repeats often, few values are left, and steps 2 and 3 would queue and unassign again
# nearly all unassigned rows each time. Their values tell beforehand that this is in vain.


@inner
def has_new_value(rows, clusters, c):
    """Whether some unassigned row has a sensitive value that a cluster lacks."""
    for v in range(len(rows.waiting)):
        if rows.waiting[v] and clusters.counts[c, v] == 0:
            return True
    return False


@part
def queue_if_any_fits(how, rows, tuples, points, clusters, c, takers, queued):
    """Queue the unassigned row next closest to cluster c, if some unassigned row can be taken."""
    taken = all_tags(takers)
    for v in range(len(rows.waiting)):
        if rows.waiting[v] and taken & tag(v):
            t = next_nearest(points, how, clusters.summaries, c, tuples, ANY)
            rows.backup[queued] = take(rows, t)
            change_turn(points, t, next_row(rows, t))
            search_again(points, t)
            return queued + 1
    return queued


# -- clusters -----------------------------------------------------------------------------------


def no_clusters(how: Metric, values: int) -> Clusters:
    """Return an empty set of clusters for a number of sensitive values."""
    none = np.zeros(0, np.intp)
    return Clusters(empty_summaries(how, 0), np.zeros((0, values), np.int32), none, none)


def the_first(clusters: Clusters, number: int) -> Clusters:
    """Return the first clusters, without room for others."""
    summaries, *values = clusters
    return Clusters(Summaries(*(a[:number] for a in summaries)), *(a[:number] for a in values))


def with_room(clusters: Clusters, capacity: int) -> Clusters:
    """Return the same clusters with room for more; at least doubled if it is too small."""
    present = len(clusters.distinct)
    if capacity <= present:
        return clusters
    more = max(capacity, 2 * present) - present

    def longer(arrays: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        return (np.concatenate([a, np.zeros((more, *a.shape[1:]), a.dtype)]) for a in arrays)

    summaries, *values = clusters
    return Clusters(Summaries(*longer(summaries)), *longer(values))


@inner
def count_row(rows, clusters, c, r):
    """Count the sensitive value of a row that is assigned to a cluster."""
    v = rows.value_of[r]
    rows.cluster[r] = c
    clusters.counts[c, v] += 1
    clusters.distinct[c] += clusters.counts[c, v] == 1
    clusters.largest[c] = max(clusters.largest[c], clusters.counts[c, v])


@inner
def united(counts, other_counts):
    """Distinct values of two clusters together, and rows of the most frequent one."""
    distinct, largest = 0, 0
    for v in range(len(counts)):
        together = counts[v] + other_counts[v]
        distinct += together > 0
        largest = max(largest, together)
    return distinct, largest


@inner
def unite_counts(clusters, older, younger):
    """Add the sensitive values of a cluster to those of an older one."""
    clusters.distinct[older], clusters.largest[older] = united(
        clusters.counts[older], clusters.counts[younger]
    )
    for v in range(clusters.counts.shape[1]):
        clusters.counts[older, v] += clusters.counts[younger, v]


@inner
def holds(rule, size, distinct, largest):
    """Whether a cluster is K,L,theta-diverse."""
    return size >= rule.k and distinct >= rule.l and largest / size <= rule.theta


@inner
def is_eligible(rule, clusters, c, v):
    """Whether a row of value v may join: fewer than k rows so far, theta-diverse with it."""
    size = clusters.summaries.size[c]
    largest = max(clusters.largest[c], clusters.counts[c, v] + 1)
    return size < rule.k and largest / (size + 1) <= rule.theta


# -- which clusters a search looks at -----------------------------------------------------------


@inner
def tag(v):
    """The bit of a sensitive value; values 64 apart share one, which only slows the search."""
    return np.uint64(1) << np.uint64(v & 63)


@inner
def tags(rule, clusters, c):
    """The bits of the values for which a cluster is eligible."""
    bits = np.uint64(0)
    for v in range(clusters.counts.shape[1]):
        if is_eligible(rule, clusters, c, v):
            bits |= tag(v)
    return bits


@part
def note_takers(rule, rows, queued, clusters, formed, turns, bits):
    """Record the turns of clusters that take an unassigned or queued row, and the tags of all."""
    wanted = np.uint64(0)
    for v in range(len(rows.waiting)):
        if rows.waiting[v]:
            wanted |= tag(v)
    for i in range(queued):
        wanted |= tag(rows.value_of[rows.backup[i]])
    for c in range(formed):
        is_open = clusters.summaries.size[c] < rule.k
        bits[c] = tags(rule, clusters, c) if is_open else np.uint64(0)
        turns[c] = c if bits[c] & wanted else NEVER
