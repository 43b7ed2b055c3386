"""The state of klt: rows in queues by QI tuple, and clusters with their counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonpaper.compiled import inner
from anonpaper.microdata import Microdata
from anonpaper.partition.klt.distances import Metric, Summaries, empty_summaries
from anonpaper.partition.klt.tree import ANY, NOTHING, set_tags

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
    turn: np.ndarray  # the first of them
    waiting: np.ndarray  # unassigned rows of every sensitive value
    backup: np.ndarray  # room for the backup queue


class Clusters(NamedTuple):
    """Clusters and their sensitive values."""

    summaries: Summaries
    counts: np.ndarray  # rows of every cluster and sensitive value
    distinct: np.ndarray  # number of sensitive values
    largest: np.ndarray  # rows of the most frequent one


def rows_in_order(m: Microdata, cell: np.ndarray) -> Rows:
    """Return all rows, of these cells, unassigned."""
    cells = m.cells
    tuple_of, head = cells.tuple_of_cell[cell], cells.tuple_start[:-1].copy()
    queue = np.argsort(tuple_of, kind="stable")
    return Rows(
        tuple_of=tuple_of,
        value_of=cells.sensitive[cell].astype(np.intp),  # as all numbers: one compilation
        cluster=np.empty(m.n, np.intp),
        queue=queue,
        head=head,
        end=cells.tuple_start[1:],
        turn=queue[head],
        waiting=m.sensitive_counts.copy(),
        backup=np.empty(m.n, np.intp),
    )


@inner
def take(rows, points, t):
    """Take the first unassigned row of a tuple."""
    r = rows.queue[rows.head[t]]
    rows.head[t] += 1
    rows.waiting[rows.value_of[r]] -= 1
    if rows.head[t] < rows.end[t]:
        rows.turn[t] = rows.queue[rows.head[t]]
    else:
        set_tags(points, t, NOTHING)
    return r


@inner
def put_back(rows, points, r):
    """Unassign a row that comes before all unassigned rows of its tuple."""
    t = rows.tuple_of[r]
    rows.head[t] -= 1
    rows.queue[rows.head[t]] = r
    rows.turn[t] = r
    rows.waiting[rows.value_of[r]] += 1
    set_tags(points, t, ANY)


@inner
def has_new_value(rows, clusters, c):
    """Whether some unassigned row has a sensitive value that a cluster lacks."""
    for v in range(len(rows.waiting)):
        if rows.waiting[v] and clusters.counts[c, v] == 0:
            return True
    return False


def room_for_clusters(how: Metric, number: int, values: int) -> Clusters:
    """Return room for a number of clusters; pages of it that are never used take no memory."""
    distinct, largest = np.zeros((2, number), np.intp)
    counts = np.zeros((number, values), np.int32)
    return Clusters(empty_summaries(how, number), counts, distinct, largest)


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


@inner
def tag(v):
    """The bit of a sensitive value; values 64 apart share one, which only slows the search."""
    return np.uint64(1) << np.uint64(v & 63)


@inner
def tags_of(rule, clusters, c):
    """The bits of the values for which a cluster is eligible."""
    bits = np.uint64(0)
    for v in range(clusters.counts.shape[1]):
        if is_eligible(rule, clusters, c, v):
            bits |= tag(v)
    return bits
