"""The k-anonymous recoding of least loss, proved: branch and bound over the borders of domains.

A *node* keeps some borders, joins some and leaves the others free. Its bound on NWP has two parts:

1. A recoding that keeps a border divides the rows at least as finely as the kept borders do. So a
   sub-domain of one attribute that leaves 1 to k - 1 rows in a class of the *other* attributes'
   kept borders is in no k-anonymous recoding of the node.
2. NWP is a sum over attributes: for each, the cheapest division into sub-domains that are not
   excluded is a shortest path through its domain.

A free border is fixed if the other choice raises that sum to the best loss known. The node of
least bound is visited first, so its bound holds for all recodings not evaluated. Hill climbing, to
compare with, flips single bits.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from anonpaper import plots
from anonpaper.compendium.intervals import share_interval
from anonpaper.compiled import loop, part
from anonpaper.microdata import Microdata
from anonpaper.randomness import generator
from anonpaper.recoders.evaluation import (
    EPSILON,
    Archive,
    achievement,
    class_keys,
    loss_weight,
    number_keys,
    sub_domains,
)
from anonpaper.recoding import Recoding

#: Far above the rounding of the sums that are compared, numbers in [0, 1] of a few hundred terms;
#: recodings whose NWP differs by less are not told apart.
TOLERANCE = 1e-12

_JOINED, _FREE, _KEPT = -1, 0, 1
_PROBES = 10  # borders tried at a node before it is divided at one of them
_CLIMB_EVERY = 100  # nodes


def hill_climbing(
    m: Microdata, k: int, preference: tuple[float, float], evaluations: int, seed: int
) -> Recoding:
    """Climb from full generalization, as often as there are evaluations, and return the best.

    A climb passes over the bits in random order and keeps each flip that lowers ach and keeps the
    table k-anonymous, until a whole pass keeps none.
    """
    archive, rng = Archive(m, k, preference, None), generator(seed)
    n_bits = archive.evaluator.n_bits
    while archive.evaluations < evaluations:
        here = np.zeros(n_bits, dtype=bool)
        ach = _feasible_ach(archive, here)
        improved = n_bits > 0
        while improved:
            improved = False
            for bit in rng.permutation(n_bits):
                if archive.evaluations >= evaluations:
                    break
                here[bit] ^= True
                there = _feasible_ach(archive, here)
                if there < ach:
                    ach, improved = there, True
                else:
                    here[bit] ^= True
    solutions = archive.frame()
    return archive.recoding(solutions, "hill climbing", evaluated=solutions)


def _feasible_ach(archive: Archive, bits: np.ndarray) -> float:
    """Return the ach of one chromosome, infinite if it is not k-anonymous."""
    (place,) = archive.look_up(bits[None])
    is_feasible = archive.values("effective_k")[place] >= archive.k
    return float(archive.values("ach")[place]) if is_feasible else np.inf


# -- branch and bound --------------------------------------------------------------------------


class _Table(NamedTuple):
    """A table for compiled loops: d attributes of at most S values, c distinct QI tuples."""

    sizes: np.ndarray  # (d,)
    first: np.ndarray  # (d,), the first bit of each attribute
    codes: np.ndarray  # (d, c)
    rows: np.ndarray  # (c,)
    value_rows: np.ndarray  # (d, S)
    penalty: np.ndarray  # (d,), NWP of a row per value that its sub-domain holds beyond the first
    k: int


def certified(m: Microdata, k: int, preference: Sequence[float], at_most: int) -> dict:
    """Return the best k-anonymous recoding found, and what is proved of all others.

    None has an ach below the lower bound. If the search ends within `at_most` nodes, the recoding
    is ``optimal``: its ach is at most 1e-12 above the bound.
    """
    archive = Archive(m, k, tuple(preference), None)
    of_loss, t = loss_weight(archive.preference), archive.evaluator.table
    first = np.cumsum(t.sizes - 1) - (t.sizes - 1)
    penalty = t.penalty / archive.evaluator.n
    table = _Table(t.sizes, first, t.codes, t.rows, t.value_rows, penalty, archive.k)

    def limit() -> float:
        """The NWP from which a recoding has no less ach than the best one known."""
        return archive.least_ach / of_loss - EPSILON - TOLERANCE

    archive.look_up(np.zeros((1, archive.evaluator.n_bits), dtype=bool))  # k-anonymous for every k
    waiting = [(0.0, 0, bytes(archive.evaluator.n_bits))]
    visited = born = 0
    while waiting and visited < at_most and waiting[0][0] < limit():
        state = np.frombuffer(heapq.heappop(waiting)[-1], np.int8).copy()
        bound, division, gain, border, if_kept, if_joined = _visit(table, state, limit())
        if np.isfinite(bound):
            archive.look_up(division[None])
            if visited % _CLIMB_EVERY == 0:
                _climb(archive, state, gain)
        visited += 1
        for choice, least in ((_KEPT, if_kept), (_JOINED, if_joined)):
            if border >= 0 and least < limit():
                born += 1
                state[border] = choice
                heapq.heappush(waiting, (least, born, state.tobytes()))

    optimal = not waiting or waiting[0][0] >= limit()
    loss = limit() if optimal else max(waiting[0][0] - TOLERANCE, 0.0)
    lower_bound = min(float(achievement(loss, 0.0, archive.preference)), archive.least_ach)
    r = archive.recoding(archive.frame(), "branch and bound")
    return {
        **{name: r.info[name] for name in ("nwp", "necd", "effective_k", "ach")},
        "lower bound": lower_bound,
        "optimal": bool(optimal),
        "nodes": visited,
        # the recoding: a bar for a border that is kept
        "borders": "".join(np.where(r.encode(), "|", ".")),
    }


def _climb(archive: Archive, state: np.ndarray, gain: np.ndarray) -> None:
    """Keep free borders besides the kept ones, most useful first, while classes keep k rows."""
    here = state == _KEPT
    for border in np.argsort(-gain, kind="stable"):
        if state[border] == _FREE:
            here[border] = True
            here[border] = np.isfinite(_feasible_ach(archive, here))


@loop
def _visit(table, state, limit):
    """Bound a node, fixing borders in place, and find the border to divide it at.

    Returns the bound, the division of all attributes that reaches it, the cost of joining each
    free border of that division (0 for other borders), the border (-1 if none is free, or the node
    is closed) and the bounds of the two nodes on either side of it.
    """
    d, widest = len(table.sizes), table.value_rows.shape[1] + 1
    excluded = np.zeros((d, widest, widest), np.bool_)
    bound, division, gain = _bound(table, state, limit, excluded)
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
        raised = _bound(table, tried, limit, excluded.copy())[0]
        worth = min(raised - bound, gain[candidate])
        worth += 0.1 * min(max(raised - bound, gain[candidate]), limit - bound)
        if worth > best:
            border, if_kept, if_joined, best = candidate, raised, bound + gain[candidate], worth
    return bound, division, gain, border, if_kept, if_joined


@loop
def _bound(table, state, limit, excluded):
    """Bound the NWP of a node, and fix borders until nothing more follows."""
    d, n_bits = len(table.sizes), len(state)
    loss = np.empty(d)
    kept, joined, division = np.empty(n_bits), np.empty(n_bits), np.empty(n_bits, np.bool_)
    grown = True  # whether more borders are kept than `excluded` knows of
    while True:
        if grown:
            _exclude(table, state, excluded)
        for j in range(d):
            mine = slice(table.first[j], table.first[j] + table.sizes[j] - 1)
            cost = _costs(table, j, state[mine], excluded[j])
            loss[j] = _divide(cost, kept[mine], joined[mine], division[mine])
        bound = loss.sum()
        gain = np.zeros(n_bits)
        if bound >= limit:
            return bound, division, gain
        grown = fixed = False
        for j in range(d):
            others = bound - loss[j]
            for border in range(table.first[j], table.first[j] + table.sizes[j] - 1):
                if state[border] != _FREE:
                    continue
                if others + kept[border] >= limit:
                    state[border], fixed = _JOINED, True
                elif others + joined[border] >= limit:
                    state[border], grown = _KEPT, True
                elif division[border]:
                    gain[border] = joined[border] - loss[j]
        if not (grown or fixed):
            return bound, division, gain


@part
def _exclude(table, state, excluded):
    """Mark [j, a, b] where values a to b - 1 of j leave a class of 1 to k - 1 rows."""
    d, n_tuples = table.codes.shape
    maps = sub_domains(state == _KEPT, table.sizes)
    class_of, _ = class_keys(maps, table.codes, table.sizes)
    of_class = np.empty((d, number_keys(class_of)), table.codes.dtype)  # codes of one tuple each
    for j in range(d):
        for i in range(n_tuples):
            of_class[j, class_of[i]] = table.codes[j, i]
    for j in range(d):
        others = maps.copy()
        others[j] = 0
        other, _ = class_keys(others, of_class, table.sizes)
        n_others = number_keys(other)
        rows = np.zeros((n_others, table.sizes[j]), np.intp)
        for i in range(n_tuples):
            rows[other[class_of[i]], table.codes[j, i]] += table.rows[i]
        for number in range(n_others):
            for a in range(table.sizes[j]):
                held = 0
                for b in range(a + 1, table.sizes[j] + 1):
                    held += rows[number, b - 1]
                    if held >= table.k:
                        break
                    if held > 0:
                        excluded[j, a, b] = True


@part
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
            ends = b == size or state[b - 1] != _JOINED
            if ends and not excluded[a, b]:
                cost[a, b] = table.penalty[j] * rows * (b - a - 1)
            if b < size and state[b - 1] == _KEPT:
                break
    return cost


@part
def _divide(cost, kept, joined, division):
    """Return the cost of the cheapest division; fill in the costs of keeping and joining a border.

    Ties go to the division with the longest last sub-domain, and so on.
    """
    size = len(cost) - 1
    before, after = np.full(size + 1, np.inf), np.full(size + 1, np.inf)
    previous = np.zeros(size + 1, np.intp)
    before[0] = after[size] = 0
    for b in range(1, size + 1):
        for a in range(b - 1, -1, -1):
            if before[a] + cost[a, b] <= before[b]:
                before[b], previous[b] = before[a] + cost[a, b], a
    for a in range(size - 1, -1, -1):
        for b in range(a + 1, size + 1):
            after[a] = min(after[a], cost[a, b] + after[b])
    for border in range(size - 1):
        kept[border], joined[border] = before[border + 1] + after[border + 1], np.inf
    for a in range(size):
        least = np.inf  # of the divisions with a sub-domain from a to b or beyond
        for b in range(size, a + 1, -1):
            least = min(least, before[a] + cost[a, b] + after[b])
            joined[b - 2] = min(joined[b - 2], least)
    division[:] = False
    at = previous[size]
    while at > 0:
        division[at - 1] = True
        at = previous[at]
    return before[size]


# -- when searches arrive at the optimum -------------------------------------------------------


def draw_arrivals(ax: Axes, runs: pd.DataFrame, arrived: str, budget: int) -> None:
    """Draw the share of seeds that have arrived, over evaluations, and its final interval."""
    for place, (look, (method, own)) in enumerate(
        zip(plots.LOOKS, runs.groupby("method", sort=False), strict=False)
    ):
        at = np.sort(own[arrived].dropna())
        share = np.arange(len(at) + 1) / len(own)
        ax.step([1, *at, budget], [*share, share[-1]], where="post", label=method,
                color=look["color"], linestyle=look["linestyle"])  # fmt: skip
        low, high = share_interval(len(at), len(own))
        ax.vlines(budget * 1.25 ** (place + 1), low, high, color=look["color"])
    ax.set(xscale="log", xlabel="evaluations", ylim=(-0.04, 1.04), title=arrived,
           xlim=(max(1, budget / 1000), 3.2 * budget))  # fmt: skip
