"""The k-anonymous recoding of least loss, proved: branch and bound over the borders of domains.

A recoding that keeps a border divides the rows at least as finely as the kept borders do: a
sub-domain that leaves 1 to k - 1 rows in a class of the other attributes' kept borders is excluded
below this node. NWP is a sum over attributes, each at least its cheapest division into sub-domains
that are not excluded, a shortest path. The node of least bound is visited first.
"""

from __future__ import annotations

import heapq

import numpy as np
from dewri2009 import with_us_at

from anonpaper.compiled import loop
from anonpaper.microdata import Microdata

from anonpaper.recoders.evaluation import (  # isort: skip
    EPSILON, Archive, achievement, class_keys, loss_weight, number_keys, sub_domains,
)  # fmt: skip

TOLERANCE = 1e-12  # far above rounding: recodings whose NWP differs by less are not told apart

_JOINED, _FREE, _KEPT = -1, 0, 1
_PROBES = 10  # borders tried at a node before it is divided at one of them


def certified(m: Microdata, k: int, preference, at_most: int, place: int = 1) -> dict:
    """Return the best k-anonymous recoding found, and what is proved of all others.

    None has an ach below the lower bound. If the search ends within `at_most` nodes, the recoding
    is ``optimal``: its ach is at most 1e-12 above the bound. `place` is where the United States
    stand in the order of countries.
    """
    archive = Archive(with_us_at(m, place) if place > 1 else m, k, preference, None)
    evaluator, of_loss = archive.evaluator, loss_weight(archive.preference)
    table = evaluator.table._replace(penalty=evaluator.table.penalty / evaluator.n)

    def limit() -> float:
        """The NWP from which a recoding has no less ach than the best one known."""
        return archive.least_ach / of_loss - EPSILON - TOLERANCE

    archive.look_up(np.zeros((1, evaluator.n_bits), dtype=bool))  # k-anonymous for every k
    waiting = [(0.0, 0, bytes(evaluator.n_bits))]  # line 1
    visited = born = 0
    while waiting and visited < at_most and waiting[0][0] < limit():
        state = np.frombuffer(heapq.heappop(waiting)[-1], np.int8).copy()  # line 2
        bound, division, border, if_kept, if_joined = _visit(table, k, state, limit())
        if np.isfinite(bound):
            archive.look_up(division[None])  # line 6
        visited += 1
        for choice, least in ((_KEPT, if_kept), (_JOINED, if_joined)):
            if border >= 0 and least < limit():  # line 7
                born += 1
                state[border] = choice
                heapq.heappush(waiting, (least, born, state.tobytes()))

    optimal = not waiting or waiting[0][0] >= limit()  # line 8
    loss = limit() if optimal else max(waiting[0][0] - TOLERANCE, 0.0)
    r = archive.recoding(archive.frame(), "branch and bound")
    return {
        **{name: r.info[name] for name in ("nwp", "necd", "effective_k", "ach")},
        "lower bound": float(min(achievement(loss, 0.0, archive.preference), archive.least_ach)),
        "optimal": bool(optimal),
        "nodes": visited,
        "borders": "".join(np.where(r.encode(), "|", ".")),  # a bar for a border that is kept
    }


@loop
def _visit(table, k, state, limit):
    """Bound a node, fix borders in place, and find the border to divide it at (-1 if none).

    Returns the bound, the division of all attributes that reaches it, the border and the bounds of
    the two nodes on either side of it.
    """
    d, widest = len(table.sizes), table.value_rows.shape[1] + 1
    excluded = np.zeros((d, widest, widest), np.bool_)
    bound, division, gain = _bound(table, k, state, limit, excluded)
    border, if_kept, if_joined, best = -1, bound, bound, -1.0
    untried = state == _FREE
    for _ in range(_PROBES):
        if bound >= limit or not untried.any():
            break
        candidate = np.where(untried, gain, -1.0).argmax()  # the dearest to join
        if gain[candidate] <= best:
            break
        untried[candidate] = False
        tried = state.copy()
        tried[candidate] = _KEPT
        raised = _bound(table, k, tried, limit, excluded.copy())[0]
        worth = min(raised - bound, gain[candidate])
        worth += 0.1 * min(max(raised - bound, gain[candidate]), limit - bound)
        if worth > best:
            border, if_kept, if_joined, best = candidate, raised, bound + gain[candidate], worth
    return bound, division, border, if_kept, if_joined


@loop
def _bound(table, k, state, limit, excluded):
    """Bound the NWP of a node, and fix borders until nothing more follows."""
    d, n_bits = len(table.sizes), len(state)
    loss, ends = np.empty(d), np.cumsum(table.sizes - 1)
    kept, joined, division = np.empty(n_bits), np.empty(n_bits), np.empty(n_bits, np.bool_)
    grown = True  # whether more borders are kept than `excluded` knows of
    while True:
        if grown:
            _exclude(table, k, state, excluded)
        for j in range(d):
            mine = slice(ends[j] - table.sizes[j] + 1, ends[j])
            cost = _costs(table, j, state[mine], excluded[j])
            loss[j] = _divide(cost, kept[mine], joined[mine], division[mine])
        bound, gain = loss.sum(), np.zeros(n_bits)
        if bound >= limit:
            return bound, division, gain
        grown = fixed = False
        for border in range(n_bits):
            j = np.searchsorted(ends, border, side="right")
            if state[border] != _FREE:
                continue
            if bound - loss[j] + kept[border] >= limit:
                state[border], fixed = _JOINED, True
            elif bound - loss[j] + joined[border] >= limit:
                state[border], grown = _KEPT, True
            elif division[border]:
                gain[border] = joined[border] - loss[j]
        if not (grown or fixed):
            return bound, division, gain


@loop
def _exclude(table, k, state, excluded):
    """Mark [j, a, b] where values a to b - 1 of j leave a class of 1 to k - 1 rows."""
    maps = sub_domains(state == _KEPT, table.sizes)
    class_of, _ = class_keys(maps, table.codes, table.sizes)
    of_class = np.empty((len(table.sizes), number_keys(class_of)), table.codes.dtype)
    of_class[:, class_of] = table.codes  # the codes of one tuple of each class
    for j in range(len(table.sizes)):
        others = maps.copy()
        others[j] = 0
        other, _ = class_keys(others, of_class, table.sizes)
        rows = np.zeros((number_keys(other), table.sizes[j]), np.intp)
        for i in range(len(class_of)):
            rows[other[class_of[i]], table.codes[j, i]] += table.rows[i]
        for number in range(len(rows)):
            for a in range(table.sizes[j]):
                held = 0
                for b in range(a + 1, table.sizes[j] + 1):
                    held += rows[number, b - 1]
                    if held >= k:
                        break
                    if held > 0:
                        excluded[j, a, b] = True


@loop
def _costs(table, j, state, excluded):
    """NWP of [a, b], the values a to b - 1 as one sub-domain; infinite if excluded."""
    size = table.sizes[j]
    cost = np.full((size + 1, size + 1), np.inf)
    for a in range(size):
        if a > 0 and state[a - 1] == _JOINED:
            continue
        rows = 0
        for b in range(a + 1, size + 1):
            rows += table.value_rows[j, b - 1]
            if not excluded[a, b] and (b == size or state[b - 1] != _JOINED):
                cost[a, b] = table.penalty[j] * rows * (b - a - 1)
            if b < size and state[b - 1] == _KEPT:
                break
    return cost


@loop
def _divide(cost, kept, joined, division):
    """Return the cost of the cheapest division; fill in the costs of keeping and joining a border.

    Ties go to the division with the longest last sub-domain, and so on.
    """
    size = len(cost) - 1
    before, after = np.full(size + 1, np.inf), np.full(size + 1, np.inf)
    previous = np.zeros(size + 1, np.intp)
    before[0] = after[size] = 0
    for b in range(1, size + 1):
        previous[b] = (before + cost[:, b]).argmin()
        before[b] = before[previous[b]] + cost[previous[b], b]
    for a in range(size - 1, -1, -1):
        after[a] = (cost[a] + after).min()
    for border in range(size - 1):
        kept[border], joined[border] = before[border + 1] + after[border + 1], np.inf
        for a in range(border + 1):  # a sub-domain from a to b or beyond
            least = (before[a] + cost[a, border + 2 :] + after[border + 2 :]).min()
            joined[border] = min(joined[border], least)
    division[:] = False
    at = previous[size]
    while at > 0:
        division[at - 1] = True
        at = previous[at]
    return before[size]
