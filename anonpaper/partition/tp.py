"""TP, the three-phase l-approximation of tuple minimization, and TP+.

Move as few rows as possible into a *residue* R so that every remaining QI-group (rows with equal
quasi-identifiers) and R itself are l-eligible: at most |S|/l rows of a set S share a sensitive
value. Rows of a group with the same sensitive value are interchangeable: counts are the state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonpaper.algorithm import algorithm
from anonpaper.compiled import loop
from anonpaper.groups import Partition
from anonpaper.microdata import Cells, Microdata
from anonpaper.partition.hilbert import group_along_curve
from anonpaper.principles import FrequencyLDiversity, require_diverse

__all__ = ["eligible_height", "tp", "tp_plus", "tp_plus_groups", "tp_steps"]


@algorithm(
    "frequency l-diversity, at most l times the fewest suppressed rows",
    promises={"l": FrequencyLDiversity},
)
def tp(m: Microdata, l: int) -> Partition:
    r"""Guarantee frequency l-diversity; remove at most l times as many rows as an optimum.

    The removed rows R are a group as well. :math:`|R| = OPT` if TP ends after phase one, and at
    most :math:`OPT + l - 1` after phase two, as always for l = 2. In any case it is at most
    :math:`l \cdot OPT`, with at most l·d times the fewest stars. An attacker concludes that a
    removed row had a most frequent value of its QI-group.

    Parameters
    ----------
    m, l : see :mod:`anonpaper.partition`

    Returns
    -------
    Partition
        The QI-groups in lexicographic order, then R. ``info`` has the last ``phase``, ``rounds``
        of phase three, a ``lower_bound`` of OPT, ``residue_size`` and ``removed_by_phase``.

    References
    ----------
    xiao2010, sections 5.2 to 5.4. O(n log n + e log n + r·m) for e cells, r removed rows and m
    sensitive values, and O(e·l) for a round of phase three.

    Examples
    --------
    >>> p = tp(ap.examples.hospital(), l=2)
    >>> p.sizes().tolist(), p.info["phase"], p.info["residue_size"]
    ([4, 2, 4], 1, 4)
    """
    kept, info = _reduce(m, l)
    removed = m.cells.counts - kept
    leave = np.flatnonzero(removed)
    groups = _kept_and(m.cells, kept, leave, np.zeros_like(leave), removed[leave])
    return Partition.of_cells(m.cells, *groups, info, f"TP, l = {l}")


@algorithm(
    "tp, then the suppressed rows grouped by hilbert: never more stars",
    promises={"l": FrequencyLDiversity},
)
def tp_plus(m: Microdata, l: int) -> Partition:
    """Guarantee frequency l-diversity with never more stars than TP.

    Parameters
    ----------
    m, l : see :mod:`anonpaper.partition`

    Returns
    -------
    Partition
        TP's star-free QI-groups, then the groups that :func:`anonpaper.hilbert` makes of R.
        ``info`` is TP's, with their number ``residue_groups``.

    References
    ----------
    xiao2010, sections 5.6 and 6.1. The time of tp and of hilbert on the residue: O(n log n).

    Examples
    --------
    >>> tp_plus(ap.examples.hospital(), l=2).sizes().tolist()
    [4, 2, 2, 2]
    """
    groups = tp_plus_groups(m, l)
    return Partition.of_cells(m.cells, *groups, f"TP+, l = {l}")


def tp_plus_groups(m: Microdata, l: int, *, apart: bool = True) -> tuple:
    """Return cell, group, counts and info of TP+, for ``Partition.of_cells`` if `apart`."""
    kept, info = _reduce(m, l)  # line 1
    *residue, _ = group_along_curve(m, m.cells.counts - kept, l, apart=apart)  # lines 2 to 4
    _, first = np.unique(residue[1], return_index=True)
    info["residue_groups"] = int(residue[2][first].sum())
    return *_kept_and(m.cells, kept, *residue), info


def tp_steps(m: Microdata, l: int) -> pd.DataFrame:
    """Show the rows that TP keeps in every QI-group and moves to the residue, phase by phase.

    `m` and `l`: see :mod:`anonpaper.partition`. The DataFrame has h(S, v): one row per step
    (``"microdata"``, ``"phase 1"``, ...) and set (``"Q1"``, ..., ``"R"``), one column per value.

    >>> steps = tp_steps(ap.examples.hospital(), l=2)
    >>> steps.loc[("phase 1", "R")].to_dict()
    {'HIV': 2, 'bronchitis': 1, 'dyspepsia': 0, 'pneumonia': 1}
    """
    tables = {}
    for phase, (state, _) in enumerate(_phases(m, l)):
        names = [*(f"Q{i}" for i in range(1, len(state.size) + 1)), "R"]
        table = np.zeros((len(names), len(state.residue)), np.intp)
        table[m.cells.tuple_of_cell, m.cells.sensitive] = state.counts
        table[-1] = state.residue
        frame = pd.DataFrame(table, index=names, columns=m.sensitive_attribute.values)
        tables[f"phase {phase}" if phase else "microdata"] = frame
    return pd.concat(tables, names=["step", "set"])


class _State(NamedTuple):
    """The QI-groups and R for compiled code."""

    start: np.ndarray  # cells start[q]:start[q + 1] are those of QI-group q
    sensitive: np.ndarray  # the sensitive value v of every cell
    counts: np.ndarray  # h(Q, v) of every cell
    size: np.ndarray  # |Q|
    height: np.ndarray  # h(Q), the rows of a most frequent value: a pillar of Q
    residue: np.ndarray  # h(R, v)
    l: int


def _phases(m: Microdata, l: int) -> Iterator[tuple[_State, int]]:
    """Run phases until R is l-eligible; yield the state before, and it and the rounds of each."""
    l = require_diverse(m, l)
    cells, residue = m.cells, np.zeros(m.sensitive_attribute.size, np.intp)
    size, height = np.zeros((2, len(cells)), np.intp)
    state = _State(cells.start, cells.sensitive, cells.counts.copy(), size, height, residue, l)
    yield state, 0
    _phase_one(state)
    yield state, 0
    if _missing(state) > 0:  # line 2
        _phase_two(state, *cells.by_sensitive_value(len(residue)))
        yield state, 0
    if _missing(state) > 0:
        yield state, _phase_three(state, cells.tuple_of_cell)


def _reduce(m: Microdata, l: int) -> tuple[np.ndarray, dict[str, object]]:
    """Run TP: how many rows of every cell stay, and the report about the run."""
    sizes, heights, rounds = [], [], 0
    for state, rounds in _phases(m, l):  # noqa: B007
        sizes.append(int(state.residue.sum()))
        heights.append(int(state.residue.max()))
    removed = np.diff(sizes).tolist()
    return state.counts, {
        "phase": len(removed),
        "residue_size": sizes[-1],
        "lower_bound": state.l * heights[1],
        "rounds": rounds,
        "removed_by_phase": (*removed, 0, 0)[:3],
    }


def _kept_and(cells: Cells, kept: np.ndarray, cell, group, counts) -> tuple[np.ndarray, ...]:
    """Cells, groups and numbers of the rows that stay, then of the given groups of the residue."""
    survives = np.add.reduceat(kept, cells.start[:-1]) > 0
    number, stay = np.cumsum(survives) - survives, np.flatnonzero(kept)
    group = np.r_[number[cells.tuple_of_cell[stay]], survives.sum() + group]
    return np.r_[stay, cell], group, np.r_[kept[stay], counts]


# -- the algorithm, on counts ---------------------------------------------------------------
#
# A QI-group Q is *thin* if |Q| = l·h(Q) and else *fat*, *conflicting* if it shares a pillar with
# R, *dead* if thin and conflicting, else *alive*.


@loop
def _missing(state):
    """l·h(R) - |R|, the rows that R needs to be l-eligible; at most 0 if it is."""
    return state.l * state.residue.max() - state.residue.sum()


@loop
def eligible_height(counts, l, high):
    """Return the greatest h up to `high` with f(h) = sum_v min(counts[v], h) >= l·h, and f(h)."""
    # f is concave and f(0) = 0, so h is found by bisection.
    low, below = 0, 0
    while low < high:
        middle = (low + high + 1) // 2
        rows = 0
        for held in counts:
            rows += min(held, middle)
        if rows >= l * middle:
            low, below = middle, rows
        else:
            high = middle - 1
    return low, below


@loop
def _phase_one(state):
    """Cut the pillars of every QI-group until it is l-eligible."""
    # Removing one row from a pillar over and over levels the group at some height: every count
    # becomes min(h(Q, v), h). The result does not depend on the order of removals (section 5.2).
    start, counts = state.start, state.counts
    for q in range(len(start) - 1):
        held = counts[start[q] : start[q + 1]]
        state.height[q], state.size[q] = eligible_height(held, state.l, held.max())  # line 1
        for e in range(start[q], start[q + 1]):
            if counts[e] > state.height[q]:
                state.residue[state.sensitive[e]] += counts[e] - state.height[q]
                counts[e] = state.height[q]


@loop
def _phase_two(state, list_start, cell_of, group_of):
    """Move rows of the rarest alive sensitive values to R until it is eligible or all is dead."""
    # h(R) does not grow here (Lemma 5.11), so a pillar of R stays one and a dead QI-group stays
    # dead: for every value v it is enough to walk once along the QI-groups that have it, with
    # `candidate[v]` at the first that may be alive (the candidate list of section 5.5).
    candidate, end = list_start[:-1].copy(), list_start[1:]
    missing, height_of_r = _missing(state), state.residue.max()
    while missing > 0 and (candidate < end).any():  # line 5
        v = np.where(candidate < end, state.residue, height_of_r + 1).argmin()  # line 3
        while candidate[v] < end[v]:
            e, q = cell_of[candidate[v]], group_of[candidate[v]]
            if state.counts[e] > 0 and not _is_dead(state, height_of_r, q):
                missing -= _remove(state, q, e)  # line 4
                break
            candidate[v] += 1


@loop
def _is_dead(state, height_of_r, q):
    """Whether Q is thin and shares a pillar with R. A QI-group without rows counts as dead."""
    if state.size[q] > state.l * state.height[q]:
        return False
    for e in range(state.start[q], state.start[q + 1]):
        if state.counts[e] == state.height[q] and state.residue[state.sensitive[e]] == height_of_r:
            return True
    return state.size[q] == 0


@loop
def _remove(state, q, chosen):
    """Move a row of a cell to R if Q is fat, else one of each pillar of Q; return their number."""
    size, height, first, last = state.size[q], state.height[q], state.start[q], state.start[q + 1]
    for e in range(first, last):
        if e == chosen if size > state.l * height else state.counts[e] == height:
            state.counts[e] -= 1
            state.residue[state.sensitive[e]] += 1
            state.size[q] -= 1
    state.height[q] = state.counts[first:last].max()
    return size - state.size[q]


def _phase_three(state: _State, group_of: np.ndarray) -> int:
    """Raise h(R) a little and |R| by more, in rounds, until R is eligible; return the rounds."""
    rounds = 0
    while True:  # every QI-group is dead
        rounds += 1
        # Line 6. P are the pillars of R, C(Q) the conflicting pillars of Q: take the Q for which
        # P & C(Q) is smallest, set P to P & C(Q), until P is empty. By Lemma 5.14 this ends.
        of_r = state.residue == state.residue.max()
        pillars = (state.counts == state.height[group_of]) & (state.counts > 0)
        picked = []
        while of_r.any():
            conflicting = pillars & of_r[state.sensitive]
            shared = np.add.reduceat(conflicting, state.start[:-1], dtype=np.intp)
            picked.append(np.where(state.size > 0, shared, len(of_r) + 1).argmin())
            cells = slice(state.start[picked[-1]], state.start[picked[-1] + 1])
            of_r = np.isin(np.arange(len(of_r)), state.sensitive[cells][conflicting[cells]])
        if _round(state, np.array(picked)):
            return rounds


@loop
def _round(state, picked):
    """Remove pillars of the picked QI-groups, then drain all; return whether R is eligible."""
    for q in picked:
        _remove(state, q, -1)  # line 7
    if _missing(state) <= 0:  # line 9
        return True
    height_of_r = state.residue.max()
    for q in range(len(state.size)):
        # Line 8. A fat QI-group gives the value that is rarest in R, which is not a pillar of R:
        # an eligible group has l values, R has fewer pillars as long as it is not eligible.
        cells = slice(state.start[q], state.start[q + 1])
        while not _is_dead(state, height_of_r, q):
            rows_in_r = state.residue[state.sensitive[cells]]
            rarest = np.where(state.counts[cells] > 0, rows_in_r, height_of_r + 1).argmin()
            _remove(state, q, state.start[q] + rarest)
            if _missing(state) <= 0:
                return True
    return False
