"""The state of klt: rows in queues by QI tuple, and clusters with their counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonpaper.compiled import inner, lean
from anonpaper.microdata import Microdata
from anonpaper.partition.klt.distances import Metric, Summaries, absorb, empty_summaries
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
    """Clusters and their sensitive values; the last one is a copy."""

    summaries: Summaries
    counts: np.ndarray  # rows of every cluster and sensitive value
    distinct: np.ndarray  # number of sensitive values
    largest: np.ndarray  # rows of the most frequent one


def queued(m: Microdata, tuple_of: np.ndarray, value_of: np.ndarray) -> Rows:
    """Return rows of these tuples and sensitive values in their order, unassigned."""
    n, queue = len(tuple_of), np.argsort(tuple_of, kind="stable")
    start = np.searchsorted(tuple_of[queue], np.arange(len(m.cells) + 1))
    waiting = np.bincount(value_of, minlength=m.sensitive_attribute.size)
    # of no tuple without rows is the turn looked at; all numbers are of one type: compiled once
    return Rows(
        tuple_of, value_of.astype(np.intp), np.full(n, -1), queue, start[:-1].copy(), start[1:],
        np.append(queue, 0)[start[:-1]], waiting, np.empty(n, np.intp),
    )  # fmt: skip


def no_clusters(how: Metric, n: int, values: int) -> Clusters:
    """Return room for n clusters and a copy; pages that are never used take no memory."""
    distinct, largest = np.zeros((2, n + 1), np.intp)
    counts = np.zeros((n + 1, values), np.int32)
    return Clusters(empty_summaries(how, n + 1), counts, distinct, largest)


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
def join(how, rows, clusters, c, r, tuples):
    """Assign a row to a cluster."""
    absorb(how, clusters.summaries, c, tuples, rows.tuple_of[r])
    _count(clusters, c, rows.value_of[r], 1)
    rows.cluster[r] = c


@inner
def merge(how, clusters, c, other):
    """Add another cluster to cluster c."""
    absorb(how, clusters.summaries, c, clusters.summaries, other)
    for v in range(clusters.counts.shape[1]):
        _count(clusters, c, v, clusters.counts[other, v])


@inner
def _count(clusters, c, v, rows):
    """Count rows of sensitive value v that come to a cluster."""
    if rows > 0:
        clusters.distinct[c] += clusters.counts[c, v] == 0
        clusters.counts[c, v] += rows
        clusters.largest[c] = max(clusters.largest[c], clusters.counts[c, v])


@inner
def holds(rule, clusters, c):
    """Whether a cluster is K,L,theta-diverse."""
    size = clusters.summaries.size[c]
    share = clusters.largest[c] / size
    return size >= rule.k and clusters.distinct[c] >= rule.l and share <= rule.theta


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


@lean
def set_all_tags(rule, clusters, tags):
    """Set the tags of the first clusters."""
    for c in range(len(tags)):
        tags[c] = tags_of(rule, clusters, c)
