r"""TP, the three-phase l-approximation of tuple minimization, and TP+.

Given microdata whose QI-groups are the rows with equal quasi-identifiers, remove as few rows as
possible into a *residue* R so that every remaining QI-group and R itself are l-eligible: at most
|S|/l rows of a set S share a sensitive value. :func:`tp` guarantees

* :math:`|R| = OPT` if it ends in phase one,
* :math:`|R| \le OPT + l - 1` if it ends in phase two (always so for l = 2, then
  :math:`|R| \le OPT + 1`),
* :math:`|R| \le l \cdot OPT` in any case.

A solution of tuple minimization is an l·d-approximation of the fewest stars. The names of the
paper are kept: h(S, v) is the number of rows of S with sensitive value v, the *pillars* of S are
its most frequent values, their height is h(S); a QI-group Q is *thin* if |Q| = l·h(Q) and else
*fat*, *conflicting* if it shares a pillar with R, *dead* if thin and conflicting, else *alive*.

Rows of a group with the same sensitive value are interchangeable, so nothing here looks at rows:
the state is the counts of the cell table, and which rows leave is settled at the end (of every
cell, the rows of lowest number stay; of a table of counts nobody can say). Where the paper breaks
ties arbitrarily, the lowest sensitive code and then the lowest QI-group (lexicographic order of
the tuples) are taken.

Source: X. Xiao, K. Yi, Y. Tao, *The hardness and approximation algorithms for l-diversity*,
EDBT 2010, section 5.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from anonpaper.algorithm import algorithm
from anonpaper.compiled import loop
from anonpaper.groups import Partition
from anonpaper.microdata import CellTable, Microdata
from anonpaper.partition.hilbert import group_along_curve, places_on_curve
from anonpaper.principles import FrequencyLDiversity, require_eligible

__all__ = ["tp", "tp_plus", "tp_plus_groups", "tp_steps"]


@algorithm(
    "frequency l-diversity, at most l times the fewest suppressed rows",
    promises={"l": FrequencyLDiversity},
)
def tp(m: Microdata, l: int) -> Partition:
    r"""Guarantee frequency l-diversity; remove at most l times as many rows as an optimum.

    Rows of equal QI are a group, and at most one l-th of every group share a sensitive value. The
    removed rows, the residue R, are a group as well; :math:`|R| = OPT` if the algorithm ends in
    phase one, :math:`|R| \le OPT + l - 1` if in phase two, :math:`|R| \le l \cdot OPT` in any
    case.

    Whoever knows the algorithm concludes more than one l-th allows. Rows are removed because
    their value was too frequent in their QI-group, so it is a most frequent one of what is left
    of it. Where groups show who is in them (:func:`anonpaper.swap`, :func:`anonpaper.anatomize`)
    this names the values of removed people: of the 414 people of Adult (four QI, occupation) of
    whom only one value is possible at l = 2, all 414 are named rightly. With suppression it is
    less certain, 0.9 on the same table. :func:`anonpaper.measure.minimality` measures it.

    Parameters
    ----------
    m : Microdata
        A table with a sensitive attribute, n rows.
    l : int
        The diversity asked for, from 2 to the largest feasible one.

    Returns
    -------
    Partition
        The remaining QI-groups in lexicographic order and, as last group, the residue R (absent
        if empty). ``info`` holds

        - ``phase``: the phase in which the algorithm ended, 1, 2 or 3;
        - ``residue_size``: the size of R, the number of suppressed rows;
        - ``lower_bound``: l·h(R1), a lower bound of OPT (Corollary 5.10), R1 being R after
          phase one;
        - ``rounds``: rounds of phase three;
        - ``removed_by_phase``: rows that each of the three phases removed.

    Raises
    ------
    ColumnError
        The table has no sensitive attribute.
    ParameterError
        l is not an integer from 2 to n.
    InfeasibleError
        The table itself is not l-eligible.

    Notes
    -----
    Once the cells are built (one sort, O(n log n)), phase one takes time O(e log n) for e cells,
    phase two O(e + r·m) for r removed rows and m sensitive values, a round of phase three O(e·l).

    References
    ----------
    xiao2010, sections 5.2 to 5.4.

    Examples
    --------
    >>> import anonpaper as ap
    >>> p = tp(ap.examples.hospital(), l=2)
    >>> p.sizes().tolist(), p.info["phase"], p.info["residue_size"]
    ([4, 2, 4], 1, 4)
    """
    kept, info = _reduce(m, l)
    return Partition.of_cells(m.cells, *_kept_and_residue(m.cells, kept), info, f"TP, l = {l}")


@algorithm(
    "tp, then the suppressed rows grouped by hilbert: never more stars",
    promises={"l": FrequencyLDiversity},
)
def tp_plus(m: Microdata, l: int) -> Partition:
    """Guarantee frequency l-diversity with never more stars than TP.

    TP runs first, then its residue is grouped as :func:`~anonpaper.partition.hilbert.hilbert`
    does; TP's guarantee is kept (xiao2010, sections 5.6 and 6.1); what :func:`tp` says of those
    who know the algorithm holds here too, and a group of the residue shows fewer values than the
    whole: see :func:`anonpaper.measure.minimality`.

    Parameters
    ----------
    m : Microdata
        A table with a sensitive attribute, n rows.
    l : int
        The diversity asked for, from 2 to the largest feasible one.

    Returns
    -------
    Partition
        TP's star-free QI-groups, then the groups of the residue. ``info`` is TP's, with
        ``residue_groups``, the number of groups that the residue was split into.

    Raises
    ------
    ColumnError, ParameterError, InfeasibleError
        As :func:`tp`.

    References
    ----------
    xiao2010, sections 5.6 and 6.1. O(n log n + e log n + r·m) for e cells, r removed rows and m
    sensitive values.

    Examples
    --------
    >>> import anonpaper as ap
    >>> tp_plus(ap.examples.hospital(), l=2).sizes().tolist()
    [4, 2, 2, 2]
    """
    *entries, info, times = tp_plus_groups(m, l)
    return Partition.of_cells(m.cells, *entries, info, f"TP+, l = {l}", times)


def tp_plus_groups(m: Microdata, l: int) -> tuple[np.ndarray, ...]:
    """Return how many rows of which cell are in which group of TP+, before rows are dealt.

    Returns
    -------
    cell, group, counts : numpy.ndarray, shape (f,), dtype int64
    info : dict
    times : numpy.ndarray, shape (G,), dtype int64
        As :meth:`Partition.of_cells <anonpaper.groups.Partition.of_cells>` takes them.
    """
    kept, info = _reduce(m, l)
    cell, group, counts = _kept_and_residue(m.cells, kept)
    times = np.ones(group.max() + 1, np.int64)
    info["residue_groups"] = 0
    if info["residue_size"]:
        stay = np.count_nonzero(kept)  # entries of QI-groups; those of the residue follow
        places, _ = places_on_curve(m.cells.tuples, [a.size for a in m.attributes])
        along_curve = np.argsort(places, kind="stable")
        of_residue, grouped, taken = group_along_curve(
            m.cells, along_curve, m.cells.counts - kept, l
        )
        cell = np.r_[cell[:stay], of_residue]
        counts = np.r_[counts[:stay], taken[grouped]]
        group = np.r_[group[:stay], group.max() + grouped]
        times = np.r_[times[:-1], taken]
        info["residue_groups"] = int(taken.sum())
    return cell, group, counts, info, times


def tp_steps(m: Microdata, l: int) -> pd.DataFrame:
    """Show what TP leaves in every QI-group and moves to the residue, phase by phase.

    Parameters
    ----------
    m : Microdata
        A table with a sensitive attribute, better a small one.
    l : int
        The diversity asked for, from 2 to the largest feasible one.

    Returns
    -------
    pandas.DataFrame
        h(S, v): one row per step (``"microdata"``, ``"phase 1"``, ... up to the phase in which TP
        ends) and set S (``"Q1"``, ``"Q2"``, ... in lexicographic order, and ``"R"``), one column
        per sensitive value.

    Raises
    ------
    ColumnError, ParameterError, InfeasibleError
        As :func:`tp`.

    References
    ----------
    xiao2010, sections 5.2 to 5.4: its running example is told in such steps. O(phases) runs of TP.

    Examples
    --------
    >>> import anonpaper as ap
    >>> steps = tp_steps(ap.examples.hospital(), l=2)
    >>> steps.loc[("phase 1", "R")].to_dict()
    {'HIV': 2, 'bronchitis': 1, 'dyspepsia': 0, 'pneumonia': 1}
    """
    l = require_eligible(m, l)
    state = _State(m)
    steps = {"microdata": state.table()}
    for number, _ in enumerate(_three_phases(state, l), start=1):
        steps[f"phase {number}"] = state.table()
    sets, values = [*(f"Q{i}" for i in range(1, len(m.cells) + 1)), "R"], m.sensitive_attribute
    return pd.concat(
        [pd.DataFrame(table, index=sets, columns=values.values) for table in steps.values()],
        keys=steps,
        names=["step", "set"],
    )


class _State:
    """The counts that the phases work on."""

    def __init__(self, m: Microdata) -> None:
        self.cells = m.cells
        self.counts = self.cells.counts.copy()
        self.residue = np.zeros(m.sensitive_attribute.size, np.int64)
        self.size = np.zeros(len(self.cells), np.int64)
        self.height = np.zeros(len(self.cells), np.int64)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return what every phase is called with."""
        start, sensitive = self.cells.start, self.cells.sensitive
        return start, sensitive, self.counts, self.size, self.height, self.residue

    def table(self) -> np.ndarray:
        """h(S, v) of every QI-group and, in the last row, of R."""
        table = np.zeros((len(self.cells) + 1, len(self.residue)), np.int64)
        table[self.cells.tuple_of_cell, self.cells.sensitive] = self.counts
        table[-1] = self.residue
        return table


def _three_phases(state: _State, l: int) -> Iterator[int]:
    """Run the phases one after the other until R is l-eligible; yield the rounds of each."""
    _phase_one(*state.arrays(), l)
    yield 0
    if _missing(state.residue, l) > 0:
        _phase_two(*state.arrays(), l, *state.cells.by_sensitive_value(len(state.residue)))
        yield 0
    if _missing(state.residue, l) > 0:
        yield _phase_three(*state.arrays(), l)


def _reduce(m: Microdata, l: int) -> tuple[np.ndarray, dict[str, object]]:
    """Run TP: how many rows of every cell stay, and what is said of the run."""
    l = require_eligible(m, l)
    state = _State(m)
    sizes, heights, rounds = zip(
        *((int(state.residue.sum()), int(state.residue.max()), rounds)
          for rounds in _three_phases(state, l)),
        strict=True,
    )  # fmt: skip
    removed = np.diff(sizes, prepend=0).tolist()
    return state.counts, {
        "phase": len(removed),
        "residue_size": sizes[-1],
        "lower_bound": l * heights[0],
        "rounds": rounds[-1],
        "removed_by_phase": (*removed, 0, 0)[:3],
    }


def _kept_and_residue(cells: CellTable, kept: np.ndarray) -> tuple[np.ndarray, ...]:
    """Cells, groups and numbers of the rows that stay, by QI-group, then of the residue's.

    The residue is the last group.
    """
    survives = np.add.reduceat(kept, cells.start[:-1]) > 0
    number = np.cumsum(survives) - survives
    (stay,), (leave,) = np.nonzero(kept), np.nonzero(cells.counts - kept)
    return (
        np.r_[stay, leave],
        np.r_[number[cells.tuple_of_cell[stay]], np.full(len(leave), survives.sum())],
        np.r_[kept[stay], (cells.counts - kept)[leave]],
    )


# -- the algorithm, on counts ---------------------------------------------------------------
#
# `start` and `sensitive` are those of the cell table. `counts` of the cells of Q are h(Q, v);
# `size` and `height` are |Q| and h(Q); `residue[v]` is h(R, v).


@loop
def _height(residue):
    """h(R), the rows of the most frequent value."""
    height = 0
    for rows in residue:
        height = max(height, rows)
    return height


@loop
def _missing(residue, l):
    """l·h(R) - |R|, the rows that R lacks to be l-eligible; not above 0 if it is."""
    missing = l * _height(residue)
    for rows in residue:
        missing -= rows
    return missing


@loop
def _phase_one(start, sensitive, counts, size, height, residue, l):
    """Cut the pillars of every QI-group until it is l-eligible.

    Removing one row from a pillar over and over levels the group at some height h: every count
    becomes min(h(Q, v), h). That leaves f(h) = sum_v min(h(Q, v), h) rows, eligible iff
    f(h) >= l·h; as f is concave and f(0) = 0, the eligible heights are 0..h* and h* is found by
    bisection. The result does not depend on the order of removals (section 5.2).
    """
    for q in range(len(start) - 1):
        low, high = 0, 0
        for e in range(start[q], start[q + 1]):
            high = max(high, counts[e])
        while low < high:
            middle = (low + high + 1) // 2
            if _rows_below(counts, start[q], start[q + 1], middle) >= l * middle:
                low = middle
            else:
                high = middle - 1
        for e in range(start[q], start[q + 1]):
            if counts[e] > low:
                residue[sensitive[e]] += counts[e] - low
                counts[e] = low
            size[q] += counts[e]
        height[q] = low


@loop
def _rows_below(counts, first, last, h):
    rows = 0
    for e in range(first, last):
        rows += min(counts[e], h)
    return rows


@loop
def _phase_two(start, sensitive, counts, size, height, residue, l, list_start, cell_of, group_of):
    """Move rows of the rarest alive sensitive values to R until it is eligible or all is dead.

    h(R) does not grow here (Lemma 5.11), so a pillar of R stays one and a dead QI-group stays
    dead: for every value v it is enough to walk once along the QI-groups that have it, with
    `candidate[v]` pointing at the first one that may still be alive (the candidate list of
    section 5.5).
    """
    candidate = list_start[:-1].copy()
    missing = _missing(residue, l)
    while missing > 0:
        v = _rarest_alive_value(
            start, sensitive, counts, size, height, residue, l,
            list_start, cell_of, group_of, candidate,
        )  # fmt: skip
        if v < 0:
            return
        q = group_of[candidate[v]]
        if size[q] > l * height[q]:
            e = cell_of[candidate[v]]
            missing -= _remove_row(start, sensitive, counts, size, height, residue, q, e)
        else:
            missing -= _remove_pillars(start, sensitive, counts, size, height, residue, q)


@loop
def _rarest_alive_value(
    start, sensitive, counts, size, height, residue, l,
    list_start, cell_of, group_of, candidate,
):  # fmt: skip
    """Return the alive v of least h(R, v), its candidate being an alive QI-group; -1 if none."""
    height_of_r = _height(residue)
    while True:
        rarest = -1
        for v in range(len(residue)):
            if candidate[v] < list_start[v + 1] and (rarest < 0 or residue[v] < residue[rarest]):
                rarest = v
        if rarest < 0:
            return -1
        while candidate[rarest] < list_start[rarest + 1]:
            i = candidate[rarest]
            q = group_of[i]
            if counts[cell_of[i]] > 0 and not _is_dead(
                start, sensitive, counts, size, height, residue, height_of_r, l, q
            ):
                return rarest
            candidate[rarest] += 1


@loop
def _is_dead(start, sensitive, counts, size, height, residue, height_of_r, l, q):
    """Whether Q is thin and shares a pillar with R. A QI-group without rows counts as dead."""
    if size[q] > l * height[q]:
        return False
    if size[q] == 0:
        return True
    for e in range(start[q], start[q + 1]):
        if counts[e] == height[q] and residue[sensitive[e]] == height_of_r:
            return True
    return False


@loop
def _remove_row(start, sensitive, counts, size, height, residue, q, e):
    """Move one row of cell e from Q to R; return the number of rows moved."""
    was_pillar = counts[e] == height[q]
    counts[e] -= 1
    size[q] -= 1
    residue[sensitive[e]] += 1
    if was_pillar:
        height[q] = 0
        for other in range(start[q], start[q + 1]):
            height[q] = max(height[q], counts[other])
    return 1


@loop
def _remove_pillars(start, sensitive, counts, size, height, residue, q):
    """Move one row from each pillar of Q to R; return the number of rows moved."""
    moved = 0
    for e in range(start[q], start[q + 1]):
        if counts[e] == height[q]:
            counts[e] -= 1
            residue[sensitive[e]] += 1
            moved += 1
    size[q] -= moved
    height[q] -= 1
    return moved


@loop
def _phase_three(start, sensitive, counts, size, height, residue, l):
    """Raise h(R) a little and |R| by more, in rounds, until R is eligible; return the rounds.

    At the start of a round every QI-group is dead.
    """
    rounds = 0
    while True:
        rounds += 1
        for q in _groups_that_cover_the_pillars(start, sensitive, counts, size, height, residue):
            _remove_pillars(start, sensitive, counts, size, height, residue, q)
        if _missing(residue, l) <= 0:
            return rounds
        for q in range(len(start) - 1):
            if _drain(start, sensitive, counts, size, height, residue, l, q):
                return rounds


@loop
def _groups_that_cover_the_pillars(start, sensitive, counts, size, height, residue):
    """Pick QI-groups greedily until no pillar of R is a conflicting pillar of all of them.

    With P the pillars of R and C(Q) the conflicting pillars of Q: take the Q for which
    P & C(Q) is smallest, set P to P & C(Q), until P is empty. By Lemma 5.14 that comes to an end.
    """
    height_of_r = _height(residue)
    picked = np.empty(len(residue), np.int64)
    n_picked, left = 0, 0
    within = np.zeros(len(residue), np.int64)  # v is in P as long as it is in all C(Q) picked
    for v in range(len(residue)):
        within[v] = 0 if residue[v] == height_of_r else -1
        left += residue[v] == height_of_r
    while left > 0:
        best = -1
        for q in range(len(start) - 1):
            if size[q] == 0:
                continue
            shared = 0
            for e in range(start[q], start[q + 1]):
                if counts[e] == height[q] and within[sensitive[e]] == n_picked:
                    shared += 1
            if shared < left:
                best, left = q, shared
        for e in range(start[best], start[best + 1]):
            if counts[e] == height[best] and within[sensitive[e]] == n_picked:
                within[sensitive[e]] += 1
        picked[n_picked] = best
        n_picked += 1
    return picked[:n_picked]


@loop
def _drain(start, sensitive, counts, size, height, residue, l, q):
    """Move rows from Q to R until Q is dead again; return whether R became eligible.

    A fat QI-group gives the value that is rarest in R, which is not a pillar of R: an eligible
    group has at least l values, R has fewer than l pillars as long as it is not eligible.
    """
    height_of_r = _height(residue)
    missing = _missing(residue, l)
    while not _is_dead(start, sensitive, counts, size, height, residue, height_of_r, l, q):
        if size[q] > l * height[q]:
            rarest = np.int64(-1)
            for e in range(start[q], start[q + 1]):
                if counts[e] > 0 and (
                    rarest < 0 or residue[sensitive[e]] < residue[sensitive[rarest]]
                ):
                    rarest = e
            missing -= _remove_row(start, sensitive, counts, size, height, residue, q, rarest)
        else:
            missing -= _remove_pillars(start, sensitive, counts, size, height, residue, q)
        if missing <= 0:
            return True
    return False
