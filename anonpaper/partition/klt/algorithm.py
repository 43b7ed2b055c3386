r"""K,L,theta-diversity by greedy clustering with a customized distance.

The clusters that come out have at least K rows, at least L distinct sensitive values and no value
with a share above theta. Nothing is optimal: every step is greedy, and a row may be left out.
Rows close in a distance of the analyst's choice come together, so that swapping the sensitive
values within a cluster changes little of what is counted along the attributes that weigh most.

The paper leaves choices open; here they are, so that a run is repeatable. A seed puts the rows in
a random order. The *arbitrary* point of step 1 is the first unassigned row in that order, of
equally close rows the first one goes first, and of equally close clusters the one formed first.
The backup queue is served in the order in which it filled. Step 5 takes the unsatisfied clusters
in the order in which they were formed, a merged cluster keeping the place of the older one.

Rows with equal quasi-identifiers are at the same distance of everything, so steps 1 and 2 search
distinct QI tuples, each with a queue of its rows; clusters are summaries
(:mod:`~anonpaper.partition.klt.distances`) and come nearest first out of a tree of boxes
(:mod:`~anonpaper.partition.klt.nearest`). The groups are the same as those of a scan of all rows.

Source: S. Boger, *L-diversity for data analysis: data swapping with customized clustering*,
Brown University, 2020, section 3.1.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numba import njit

from anonpaper.algorithm import algorithm
from anonpaper.errors import InfeasibleError, check_integer, check_number
from anonpaper.groups import Partition, dense_labels
from anonpaper.microdata import Microdata
from anonpaper.partition.klt.distances import (
    Distance,
    Metric,
    Summaries,
    absorb,
    copy_summary,
    distance_kinds,
    empty_summaries,
    metric,
    summaries_of_tuples,
    weights_of,
)
from anonpaper.partition.klt.nearest import (
    ANY,
    NEVER,
    ROOT,
    build_tree,
    change_turn,
    is_next,
    next_nearest,
    refresh,
    room_to_search,
    search_again,
    start_search,
)
from anonpaper.principles import DistinctLDiversity, KAnonymity, Theta
from anonpaper.randomness import generator

__all__ = ["UnplacedRowsWarning", "klt"]

#: Shares are computed in floating point: equality up to rounding counts as met, as in Theta.
_ROUNDING = 1e-9

#: Rooms below this many rows may be rounding.
_LITTLE = 1e-3


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
    seed: int | np.random.Generator = 0,
) -> Partition:
    """Cluster rows into groups that are k-anonymous, distinct l-diverse and theta-diverse.

    Parameters
    ----------
    m : Microdata
        A table with a sensitive attribute, n rows.
    k : int
        Least number of rows of a group, from 1 to n.
    l : int
        Least number of distinct sensitive values of a group, from 1 to those that occur.
    theta : float
        Largest share of one sensitive value in a group, in (0, 1].
    weights : mapping of column label to float, optional
        Weights of the attributes in the distance, at least 0; 1 for those not named.
    distance : mapping of column label to {"univariate", "set"} or function, optional
        How far two clusters are apart on an attribute: the weighted univariate distance of their
        mean places, whether their sets of values differ, or the mean of your own function of two
        values over all pairs of their rows (symmetric, at least 0). Numeric and two-valued
        attributes not named are ``"univariate"``, others ``"set"``.
    seed : int or numpy.random.Generator
        Seed of the order in which rows are considered.

    Returns
    -------
    Partition
        Groups in the order in which they were formed; -1 for rows that fit into none. ``info``
        holds

        - ``repeats``: how often step 4 went back to step 1, the paper's M;
        - ``formed``: clusters formed in step 2;
        - ``unplaced_rows``: rows labelled -1.

    Raises
    ------
    ColumnError
        The table has no sensitive attribute, or `weights` or `distance` name a column that is no
        quasi-identifier.
    ParameterError
        A parameter is out of its range, a weight negative, a distance unknown or not symmetric.
    InfeasibleError
        Not a single group of this table can hold: fewer than l sensitive values, or no choice of
        rows in which all shares are at most theta.

    Warns
    -----
    UnplacedRowsWarning
        Some rows are labelled -1.

    Notes
    -----
    The paper's steps take O((1 + M)·n²·d) for M repeats. Here a row costs a few searches in a
    tree: O((1 + M)·n·(d + m)·log n) as long as boxes separate near from far, for m sensitive
    values; at worst what the paper's steps take, with c tuples in place of n rows.

    References
    ----------
    boger2020, sections 3.1 and 4.4.

    Examples
    --------
    >>> import anonpaper as ap
    >>> p = klt(ap.examples.hospital(), k=4, l=2, theta=0.5)
    >>> p.sizes().tolist(), p.info["unplaced_rows"]
    ([6, 4], 0)
    """
    rule = _checked_rule(m, k, l, theta)
    kinds = distance_kinds(m, distance)
    how = metric(m, kinds, weights_of(m, weights))
    order = generator(seed).permutation(m.n)
    rows = _rows_in_order(m, order)
    tuples = summaries_of_tuples(m, kinds, how)
    clusters, repeats = _form_all(how, rule, rows, tuples)
    became = _merge_all(how, rule, clusters)

    labels = np.empty(m.n, np.int64)
    labels[order] = became[rows.cluster]
    p = Partition(
        dense_labels(labels),
        info={"repeats": repeats, "formed": len(became)},
        algorithm=f"K,L,theta: k = {k}, l = {l}, theta = {theta:g}",
    )
    p.info["unplaced_rows"] = p.n_unpublished
    if p.n_unpublished:
        warnings.warn(
            f"{p.n_unpublished} of {m.n} rows fit into no group of k = {k}, l = {l}, "
            f"theta = {theta:g} and are labelled -1",
            UnplacedRowsWarning,
            stacklevel=2,
        )
    return p


# -- what the steps work on -------------------------------------------------------------------


class Rule(NamedTuple):
    """K,L,theta-diversity."""

    k: int
    l: int
    theta: float


class Rows(NamedTuple):
    """The rows in the order of the seed: row r is the r-th one of it.

    Attributes
    ----------
    tuple_of, value_of : numpy.ndarray, shape (n,)
        QI tuple and sensitive code of every row.
    cluster : numpy.ndarray, shape (n,), dtype int64
        The cluster a row was assigned to.
    queue : numpy.ndarray, shape (n,), dtype int64
        Rows sorted by tuple, then order.
    head, end : numpy.ndarray, shape (c,), dtype int64
        ``queue[head[t]:end[t]]`` are the unassigned rows of tuple t.
    waiting : numpy.ndarray, shape (m,), dtype int64
        Unassigned rows of every sensitive value.
    aside : numpy.ndarray, shape (n,), dtype int64
        Room for the backup queue.
    """

    tuple_of: np.ndarray
    value_of: np.ndarray
    cluster: np.ndarray
    queue: np.ndarray
    head: np.ndarray
    end: np.ndarray
    waiting: np.ndarray
    aside: np.ndarray


class Clusters(NamedTuple):
    """Clusters: their summaries (see :class:`Summaries`) and their sensitive values.

    Attributes
    ----------
    counts : numpy.ndarray, shape (c, m), dtype int32
        Rows of every sensitive value.
    distinct, largest : numpy.ndarray, shape (c,), dtype int64
        Number of sensitive values, and rows of the most frequent one.
    """

    size: np.ndarray
    sums: np.ndarray
    means: np.ndarray
    only: np.ndarray
    words: np.ndarray
    value_counts: np.ndarray
    distances: np.ndarray
    counts: np.ndarray
    distinct: np.ndarray
    largest: np.ndarray


def _checked_rule(m: Microdata, k: int, l: int, theta: float) -> Rule:
    """Return the rule if a group that meets it exists.

    With at most h rows of every value, T(h) = sum_v min(count of v, h) rows can be gathered, and
    h/theta rows are needed for a share of theta; h rows of one value suffice for l values.
    """
    values = int(np.count_nonzero(m.sensitive_counts))
    k = check_integer("k", k, 1, m.n)
    l = check_integer("l", l, 1)
    theta = check_number("theta", theta, 0, 1, open_low=True)
    if l > values:
        raise InfeasibleError(
            f"no group can hold l = {l} distinct values of {m.sensitive!r}: only {values} occur"
        )
    heights = np.arange(1, m.sensitive_counts.max() + 1)
    at_least = np.searchsorted(np.sort(m.sensitive_counts), heights)
    gathered = np.cumsum(len(m.sensitive_counts) - at_least)
    needed = np.maximum(np.ceil(heights / (theta + _ROUNDING)), max(k, l))
    if not (gathered >= needed).any():
        raise InfeasibleError(
            f"no choice of rows meets k = {k} and theta = {theta:g}: theta needs at least "
            f"{int(np.ceil(1 / (theta + _ROUNDING)))} distinct values of {m.sensitive!r}, evenly "
            f"frequent; {values} occur. A larger theta or a smaller k would work"
        )
    return Rule(k, l, theta + _ROUNDING)


def _rows_in_order(m: Microdata, order: np.ndarray) -> Rows:
    cells = m.cells
    tuple_of = cells.tuple_of_row[order]
    return Rows(
        tuple_of=tuple_of,
        value_of=m.sensitive_codes[order],
        cluster=np.empty(m.n, np.int64),
        queue=np.argsort(tuple_of, kind="stable"),
        head=cells.tuple_start[:-1].copy(),
        end=cells.tuple_start[1:],
        waiting=m.sensitive_counts.copy(),
        aside=np.empty(m.n, np.int64),
    )


def _with_room(clusters: Clusters, capacity: int) -> Clusters:
    """Return the same clusters with room for so many; at least doubled where it is too small."""
    present = len(clusters.distinct)
    if capacity <= present:
        return clusters
    more = max(capacity, 2 * present) - present
    return Clusters(*(_longer(array, more) for array in clusters))


def _longer(array: np.ndarray, more: int) -> np.ndarray:
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])


# -- steps 1 to 4 -----------------------------------------------------------------------------
#
# Small functions are inlined: handing over a few dozen arrays would cost more than what they do.


def _form_all(how: Metric, rule: Rule, rows: Rows, tuples: Summaries) -> tuple[Clusters, int]:
    """Assign every row to a cluster; return the clusters and the repeats of steps 1 to 3."""
    values = len(rows.waiting)
    tuple_tree = build_tree(how, tuples, rows.queue[rows.head])
    tuple_search = room_to_search(tuple_tree)
    clusters = Clusters(
        *empty_summaries(how, 0),
        np.zeros((0, values), np.int32),
        np.zeros(0, np.int64),
        np.zeros(0, np.int64),
    )
    last_formed = empty_summaries(how, 1)
    open_for = np.zeros(values, np.int64)
    formed, repeats = 0, -1
    while rows.waiting.any():
        repeats += 1
        # All clusters of a round but its last one have at least l rows.
        clusters = _with_room(clusters, formed + rows.waiting.sum() // rule.l + 1)
        first = formed
        formed, set_aside = _form_clusters(
            how, rule, rows, tuples, tuple_tree, tuple_search, clusters, first
        )
        _count_open(rule, clusters, first, formed, open_for)
        copy_summary(clusters, formed - 1, last_formed, 0)
        sought = rows.waiting + np.bincount(
            rows.value_of[rows.aside[:set_aside]], minlength=values
        )
        # Where no row can be placed, there is nothing to search.
        searched = formed if open_for[sought > 0].any() else 0
        cluster_tree = build_tree(how, clusters, *_turns_and_tags(rule, clusters, searched))
        _place_set_aside(
            how, rule, rows, tuples, tuple_tree, tuple_search, set_aside, last_formed,
            clusters, cluster_tree, room_to_search(cluster_tree), open_for,
        )  # fmt: skip
    return Clusters(*(array[:formed] for array in clusters)), repeats


@njit(cache=True)
def _form_clusters(how, rule, rows, tuples, tuple_tree, search, clusters, formed):
    """Steps 1 and 2: form clusters of l distinct values, setting other rows aside.

    Where no unassigned row has a value that the last cluster lacks, step 2 would set all of them
    aside. They are left where they are: `_place_set_aside` goes on with them.
    """
    set_aside = 0
    while tuple_tree.turn[ROOT] != NEVER:
        t = rows.tuple_of[tuple_tree.turn[ROOT]]
        c = formed
        formed += 1
        copy_summary(tuples, t, clusters, c)
        _count_row(rows, clusters, c, _take(rows, t))
        change_turn(tuple_tree, t, _next_row(rows, t))
        start_search(search, tuple_tree)
        while clusters.distinct[c] < rule.l and _has_new_value(rows, clusters, c):
            t = next_nearest(search, how, clusters, c, tuples, tuple_tree, ANY)
            r = _next_row(rows, t)
            while r != NEVER and is_next(search, r) and _has_value(rows, clusters, c, r):
                rows.aside[set_aside] = _take(rows, t)
                set_aside += 1
                r = _next_row(rows, t)
            if r != NEVER and is_next(search, r):
                absorb(how, clusters, c, tuples, t)
                _count_row(rows, clusters, c, _take(rows, t))
                change_turn(tuple_tree, t, _next_row(rows, t))
                start_search(search, tuple_tree)
            else:
                change_turn(tuple_tree, t, r)
                search_again(search, tuple_tree, t)
        if clusters.distinct[c] < rule.l:
            break
    return formed, set_aside


@njit(cache=True, inline="always")
def _next_row(rows, t):
    """The first unassigned row of a tuple; it is the tuple's turn."""
    return rows.queue[rows.head[t]] if rows.head[t] < rows.end[t] else NEVER


@njit(cache=True, inline="always")
def _take(rows, t):
    """Take the first unassigned row of a tuple."""
    r = rows.queue[rows.head[t]]
    rows.head[t] += 1
    rows.waiting[rows.value_of[r]] -= 1
    return r


@njit(cache=True, inline="always")
def _put_back(rows, r):
    """Unassign a row that comes before all unassigned rows of its tuple."""
    t = rows.tuple_of[r]
    rows.head[t] -= 1
    rows.queue[rows.head[t]] = r
    rows.waiting[rows.value_of[r]] += 1


@njit(cache=True, inline="always")
def _has_value(rows, clusters, c, r):
    return clusters.counts[c, rows.value_of[r]] > 0


@njit(cache=True, inline="always")
def _count_row(rows, clusters, c, r):
    v = rows.value_of[r]
    rows.cluster[r] = c
    clusters.counts[c, v] += 1
    clusters.distinct[c] += clusters.counts[c, v] == 1
    clusters.largest[c] = max(clusters.largest[c], clusters.counts[c, v])


@njit(cache=True, inline="always")
def _has_new_value(rows, clusters, c):
    for v in range(len(rows.waiting)):
        if rows.waiting[v] and clusters.counts[c, v] == 0:
            return True
    return False


@njit(cache=True)
def _place_set_aside(
    how, rule, rows, tuples, tuple_tree, tuple_search, set_aside, last_formed,
    clusters, cluster_tree, search, open_for,
):  # fmt: skip
    """Step 3: put every row set aside into its closest eligible cluster, else unassign it."""
    homeless = 0
    for i in range(set_aside):
        r = rows.aside[i]
        if open_for[rows.value_of[r]]:
            _place(how, rule, rows, tuples, r, clusters, cluster_tree, search, open_for)
        else:
            rows.aside[homeless] = r
            homeless += 1
    # Rows that step 2 left for us, in the order in which it would have set them aside.
    start_search(tuple_search, tuple_tree)
    while _any_open(rows, open_for):
        t = next_nearest(tuple_search, how, last_formed, 0, tuples, tuple_tree, ANY)
        r = _take(rows, t)
        change_turn(tuple_tree, t, _next_row(rows, t))
        search_again(tuple_search, tuple_tree, t)
        if open_for[rows.value_of[r]]:
            _place(how, rule, rows, tuples, r, clusters, cluster_tree, search, open_for)
        else:
            rows.aside[homeless] = r
            homeless += 1
    # Rows of a tuple were taken in their order: backwards, each comes before those put back.
    for i in range(homeless - 1, -1, -1):
        _put_back(rows, rows.aside[i])
    for i in range(homeless):
        t = rows.tuple_of[rows.aside[i]]
        if tuple_tree.turn[tuple_tree.leaf[t]] != _next_row(rows, t):
            change_turn(tuple_tree, t, _next_row(rows, t))


@njit(cache=True, inline="always")
def _any_open(rows, open_for):
    for v in range(len(open_for)):
        if rows.waiting[v] and open_for[v]:
            return True
    return False


@njit(cache=True, inline="always")
def _place(how, rule, rows, tuples, r, clusters, cluster_tree, search, open_for):
    """Put a row into its closest eligible cluster, of which there is one."""
    v, t = rows.value_of[r], rows.tuple_of[r]
    start_search(search, cluster_tree)
    c = -1
    while c < 0 or not _is_eligible(rule, clusters, c, v):
        c = next_nearest(search, how, tuples, t, clusters, cluster_tree, _tag(v))
    for other in range(len(open_for)):
        open_for[other] -= _is_eligible(rule, clusters, c, other)
    absorb(how, clusters, c, tuples, t)
    _count_row(rows, clusters, c, r)
    for other in range(len(open_for)):
        open_for[other] += _is_eligible(rule, clusters, c, other)
    turn = c if clusters.size[c] < rule.k else NEVER
    refresh(cluster_tree, clusters, c, turn, _tags(rule, clusters, c))


@njit(cache=True, inline="always")
def _tag(v):
    """The bit of a sensitive value: 64 apart share one, which only makes a search look at more."""
    return np.uint64(1) << np.uint64(v & 63)


@njit(cache=True, inline="always")
def _tags(rule, clusters, c):
    """The bits of the values for which a cluster is eligible."""
    tags = np.uint64(0)
    for v in range(clusters.counts.shape[1]):
        if _is_eligible(rule, clusters, c, v):
            tags |= _tag(v)
    return tags


@njit(cache=True, inline="always")
def _is_eligible(rule, clusters, c, v):
    """Whether a row of value v may join: fewer than k rows so far, theta-diverse with it."""
    size = clusters.size[c]
    largest = max(clusters.largest[c], clusters.counts[c, v] + 1)
    return size < rule.k and largest / (size + 1) <= rule.theta


@njit(cache=True)
def _turns_and_tags(rule, clusters, formed):
    """Turns of the clusters that take rows, those formed first going first, and their tags."""
    turns = np.full(formed, NEVER, np.int64)
    tags = np.zeros(formed, np.uint64)
    for c in range(formed):
        tags[c] = _tags(rule, clusters, c)
        if tags[c]:
            turns[c] = c
    return turns, tags


@njit(cache=True)
def _count_open(rule, clusters, first, formed, open_for):
    """Add the clusters just formed to the number of clusters eligible for every value."""
    for c in range(first, formed):
        for v in range(len(open_for)):
            open_for[v] += _is_eligible(rule, clusters, c, v)


# -- steps 5 and 6 ----------------------------------------------------------------------------


def _merge_all(how: Metric, rule: Rule, clusters: Clusters) -> np.ndarray:
    """Merge clusters; return the cluster that each became part of at last, -1 if left out."""
    turns, tags = _turns_and_rooms(rule, clusters)
    tree = build_tree(how, clusters, turns, tags)
    became = _merge_unsatisfied(how, rule, clusters, tree, room_to_search(tree))
    for c in range(len(became)):
        if became[c] not in (c, -1):  # joined an older cluster, which may have joined another
            became[c] = became[became[c]]
    return became


@njit(cache=True)
def _merge_unsatisfied(how, rule, clusters, tree, search):
    """Step 5: merge each unsatisfied cluster with others until it holds or none is possible."""
    became = np.arange(len(clusters.largest))
    stuck = -1  # the last cluster that could not be merged, as long as nothing changed
    for c in range(len(became)):
        while became[c] == c and not _holds(
            rule, clusters.size[c], clusters.distinct[c], clusters.largest[c]
        ):
            change_turn(tree, c, NEVER)
            # A cluster of the same counts as one that was stuck has no more choice than it had.
            partner = -1
            if stuck < 0 or not np.array_equal(clusters.counts[stuck], clusters.counts[c]):
                partner = _partner(how, rule, clusters, tree, search, c)
            if partner < 0:
                became[c] = -1
                stuck = c
            else:
                _merge(how, rule, clusters, tree, min(c, partner), max(c, partner))
                became[max(c, partner)] = min(c, partner)
                stuck = -1
    return became


@njit(cache=True, inline="always")
def _holds(rule, size, distinct, largest):
    return size >= rule.k and distinct >= rule.l and largest / size <= rule.theta


@njit(cache=True)
def _partner(how, rule, clusters, tree, search, c):
    """Return the closest cluster with which all holds, else the closest with which theta holds."""
    closest_for_theta = -1
    tag = ANY
    for v in range(clusters.counts.shape[1]):
        if _room(rule, clusters, c, v) < -_LITTLE:
            tag = _tag(v)
    start_search(search, tree)
    while True:
        other = next_nearest(search, how, clusters, c, clusters, tree, tag)
        if other < 0:
            return closest_for_theta
        size = clusters.size[c] + clusters.size[other]
        distinct, largest = _united(clusters.counts[c], clusters.counts[other])
        if _holds(rule, size, distinct, largest):
            return other
        if closest_for_theta < 0 and largest / size <= rule.theta:
            closest_for_theta = other


@njit(cache=True, inline="always")
def _united(counts, other_counts):
    """Distinct values of two clusters together, and rows of the most frequent one."""
    distinct, largest = 0, 0
    for v in range(len(counts)):
        together = counts[v] + other_counts[v]
        distinct += together > 0
        largest = max(largest, together)
    return distinct, largest


@njit(cache=True)
def _merge(how, rule, clusters, tree, older, younger):
    absorb(how, clusters, older, clusters, younger)
    clusters.counts[older] += clusters.counts[younger]
    clusters.distinct[older], clusters.largest[older] = _united(
        clusters.counts[older], np.zeros_like(clusters.counts[older])
    )
    change_turn(tree, younger, NEVER)
    refresh(tree, clusters, older, older, _rooms(rule, clusters, older))


@njit(cache=True, inline="always")
def _room(rule, clusters, c, v):
    """How many rows of a value theta allows beyond those that a cluster has; negative if too many.

    Rooms add up when clusters merge: one that lacks room for a value needs another that has some.
    """
    return rule.theta * clusters.size[c] - clusters.counts[c, v]


@njit(cache=True)
def _rooms(rule, clusters, c):
    """The bits of the values for which a cluster has room."""
    rooms = np.uint64(0)
    for v in range(clusters.counts.shape[1]):
        if _room(rule, clusters, c, v) >= _LITTLE:
            rooms |= _tag(v)
    return rooms


@njit(cache=True)
def _turns_and_rooms(rule, clusters):
    """Turns of all clusters, those formed first going first, and their rooms."""
    turns = np.arange(len(clusters.size))
    rooms = np.zeros(len(turns), np.uint64)
    for c in turns:
        rooms[c] = _rooms(rule, clusters, c)
    return turns, rooms
