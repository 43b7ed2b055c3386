r"""Mondrian: cut the table at medians, attribute by attribute, as long as both sides stay private.

Starting from the whole table, a part is cut at the median of its widest attribute; if a side would
fail, the next widest is tried; a part that no attribute can cut is a group. With d attributes and
at most :math:`\mu` copies of one QI tuple, the groups of k-anonymity have

* strict cuts (values up to the median go left): at most :math:`2d(k-1) + \mu` rows, and their
  bounding boxes do not overlap;
* relaxed cuts (rows that have the median go to whichever side needs them): at most
  :math:`2k - 1` rows.

Source: K. LeFevre, D. DeWitt, R. Ramakrishnan, *Mondrian multidimensional k-anonymity*, ICDE 2006.
Diversity is required of both sides of a cut beside their size. Frequency and distinct diversity
are kept by union, so a part that fails cannot be mended by cutting it further, and stopping there
loses nothing.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numba import njit

from anonpaper.algorithm import algorithm
from anonpaper.errors import check_choice, check_integer
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import DIVERSITY, FrequencyLDiversity, KAnonymity, require_diverse

__all__ = ["median_cut", "mondrian"]

_NO_DIVERSITY, _FREQUENCY, _DISTINCT = 0, 1, 2
_TRIED = -1.0  # the width of an attribute that could not be cut


@algorithm(
    "k-anonymity by median cuts, l-diverse if asked",
    promises={"k": KAnonymity, "l": FrequencyLDiversity},
)
def mondrian(
    m: Microdata,
    k: int = 10,
    l: int | None = None,
    *,
    diversity: Literal["frequency", "distinct"] = "frequency",
    relaxed: bool = False,
) -> Partition:
    """Guarantee k-anonymity, and l-diversity if asked: cut the table at medians.

    Nothing is said about how many values are generalized.

    With l, whoever knows the algorithm can conclude more than the groups show: a cut that k
    allows and l forbids says that a side of it is not diverse. In the example below, at l = 2,
    that gives two of ten people's values for certain (:func:`anonpaper.measure.minimality`).

    Parameters
    ----------
    m : Microdata
        A table of n rows; with l it needs a sensitive attribute.
    k : int
        Smallest group size, from 2 to n.
    l : int, optional
        The diversity asked for, from 2 to the largest feasible one; left out, none is.
    diversity : {"frequency", "distinct"}
        At most one l-th of a group shares a sensitive value, or it has l distinct ones.
    relaxed : bool
        Whether rows with the median value may be dealt to both sides.

    Returns
    -------
    Partition
        Groups in the order of the cuts, left before right. ``info`` holds ``depth``, the most
        cuts above one group.

    Raises
    ------
    ParameterError
        k or l is out of its range, or `diversity` is none of the two.
    ColumnError
        l is given and the table has no sensitive attribute.
    InfeasibleError
        The table as a whole is not l-diverse.

    Notes
    -----
    O(n·d) per level of cuts, O(n·d·log(n/k)) on balanced ones. The width of an attribute in a part
    is its range (for an unordered one its number of distinct values, less one) over that of the
    whole domain; of equally wide ones the first is tried. The median v is the lower one; of
    "up to v" and "below v" the cut of more even halves is tried first, then the other.
    Unordered values lie in the order of their codes. Relaxed cuts with diversity deal the rows of
    every sensitive value with the median in turns; where a side fails nevertheless, the
    attribute's strict cuts are tried.

    References
    ----------
    LeFevre et al., ICDE 2006, sections 3.1 and 3.2; diva2021, section 4.2.

    Examples
    --------
    >>> import anonpaper as ap
    >>> mondrian(ap.examples.hospital(), k=2).sizes().tolist()
    [3, 5, 2]
    >>> mondrian(ap.examples.hospital(), k=2, l=2).sizes().tolist()
    [4, 4, 2]
    """
    k = check_integer("k", k, 2, check_microdata(m).n)
    relaxed = check_choice("relaxed", relaxed, (False, True))
    check_choice("diversity", diversity, DIVERSITY)
    if l is None:
        required, sensitive, values = _NO_DIVERSITY, np.zeros(m.n, np.int32), 1
    else:
        l = require_diverse(m, l, diversity)
        required = _FREQUENCY if diversity == "frequency" else _DISTINCT
        sensitive, values = m.sensitive_codes, m.sensitive_attribute.size
    start = np.cumsum([0, *(a.size for a in m.attributes)])
    labels, n_groups, depth = _cut_all(
        m.codes, np.concatenate([a.positions for a in m.attributes]), start,
        np.array([a.ordered for a in m.attributes]), _no_counts(start, values),
        sensitive, k, l or 0, required, relaxed,
    )  # fmt: skip
    name = f"{'relaxed ' if relaxed else ''}Mondrian, k = {k}"
    if l is not None:
        name += f", l = {l}" + (" distinct" if diversity == "distinct" else "")
    return Partition(labels, {"depth": int(depth)}, name)


def median_cut(
    m: Microdata,
    rows: np.ndarray,
    k: int,
    l: int | None = None,
    *,
    diversity: str = "frequency",
    attributes: np.ndarray | None = None,
) -> np.ndarray | None:
    """Cut some rows of a table once, at the median and strictly, as :func:`mondrian` would.

    Parameters
    ----------
    m : Microdata
        The table.
    rows : array of int, shape (r,)
        The rows of the part, ascending.
    k, l, diversity
        As for :func:`mondrian`; nothing is checked here.
    attributes : array of int, optional
        Places of the quasi-identifiers that may be cut; all by default.

    Returns
    -------
    numpy.ndarray of bool, shape (r,), or None
        Which rows go left; None if no attribute can be cut.
    """
    if len(rows) < 2 * k:
        return None
    rows = np.asarray(rows, dtype=np.int64)
    chosen = np.arange(m.d) if attributes is None else np.asarray(attributes)
    domains = [m.attributes[j] for j in chosen]
    start = np.cumsum([0, *(a.size for a in domains)])
    required = _NO_DIVERSITY if l is None else (_FREQUENCY, _DISTINCT)[diversity == "distinct"]
    sensitive = np.zeros(m.n, np.int32) if l is None else m.sensitive_codes
    values = 1 if l is None else m.sensitive_attribute.size
    counts = _no_counts(start, values)
    side = np.empty(len(rows), np.bool_)
    codes = m.codes[:, chosen]
    widths = _widths(
        codes, np.concatenate([a.positions for a in domains]), start,
        np.array([a.ordered for a in domains]), rows, counts,
    )  # fmt: skip
    for j in np.argsort(-widths, kind="mergesort"):
        if widths[j] > 0 and _choose_sides(
            codes[:, j], rows, side, counts, sensitive, k, l or 0, required, False
        ):
            return side
    return None


def _no_counts(start: np.ndarray, values: int) -> np.ndarray:
    """Return zeros, as many as any attribute or the sensitive one has values."""
    return np.zeros(max(int(np.diff(start).max()), values) + 1, np.int64)


# -- the cuts ------------------------------------------------------------------------------
#
# `order[first:last]` are the rows of a part. A cut leaves the left ones first.


@njit(cache=True, nogil=True)  # components of diva run in threads
def _cut_all(codes, positions, start, ordered, counts, sensitive, k, l, required, relaxed):
    """Return the labels, the number of groups and the depth of the deepest one."""
    n, d = codes.shape
    order = np.arange(n)
    buffer = np.empty(n, np.int64)
    side = np.empty(n, np.bool_)  # whether a row of the part goes left
    labels = np.empty(n, np.int64)
    n_groups, deepest = 0, 0
    stack = [(0, n, 0)]
    while len(stack) > 0:
        first, last, depth = stack.pop()
        middle = first
        if last - first >= 2 * k:
            widths = _widths(codes, positions, start, ordered, order[first:last], counts)
            for _ in range(d):
                j = widths.argmax()
                if widths[j] == 0 and not relaxed:
                    break
                if _choose_sides(
                    codes[:, j], order[first:last], side, counts,
                    sensitive, k, l, required, relaxed,
                ):  # fmt: skip
                    middle = _scatter(order, buffer, side, first, last)
                    break
                widths[j] = _TRIED
        if middle == first:
            for place in range(first, last):
                labels[order[place]] = n_groups
            n_groups += 1
            deepest = max(deepest, depth)
        else:
            stack.append((middle, last, depth + 1))
            stack.append((first, middle, depth + 1))
    return labels, n_groups, deepest


@njit(cache=True)
def _widths(codes, positions, start, ordered, rows, counts):
    """Extent of every attribute in a part as a share of its extent in the domain."""
    d = codes.shape[1]
    widths = np.zeros(d)
    for j in range(d):
        size = start[j + 1] - start[j]
        if size == 1:
            continue
        if ordered[j]:
            low, high = codes[rows[0], j], codes[rows[0], j]
            for i in rows:
                low, high = min(low, codes[i, j]), max(high, codes[i, j])
            whole = positions[start[j + 1] - 1] - positions[start[j]]
            widths[j] = (positions[start[j] + high] - positions[start[j] + low]) / whole
        else:
            distinct = 0
            for i in rows:
                if counts[codes[i, j]] == 0:
                    distinct += 1
                    counts[codes[i, j]] = 1
            for i in rows:
                counts[codes[i, j]] = 0
            widths[j] = (distinct - 1) / (size - 1)
    return widths


@njit(cache=True)
def _choose_sides(column, rows, side, counts, sensitive, k, l, required, relaxed):
    """Set `side` to the first allowed cut of the attribute; return whether there is one."""
    v = _median(column, rows, counts)
    below, equal = 0, 0
    for i in rows:
        below += column[i] < v
        equal += column[i] == v
    if relaxed:
        _deal(column, rows, side, counts, sensitive, v, len(rows) // 2 - below, equal)
        if _is_allowed(rows, side, counts, sensitive, k, l, required):
            return True
    up_to_v_is_more_even = abs(len(rows) - 2 * (below + equal)) <= abs(len(rows) - 2 * below)
    for attempt in range(2):
        bound = v if (attempt == 0) == up_to_v_is_more_even else v - 1
        for place in range(len(rows)):
            side[place] = column[rows[place]] <= bound
        if _is_allowed(rows, side, counts, sensitive, k, l, required):
            return True
    return False


@njit(cache=True)
def _median(column, rows, counts):
    """Return the lower median: the least value that at least half of the rows do not exceed."""
    low, high = column[rows[0]], column[rows[0]]
    for i in rows:
        low, high = min(low, column[i]), max(high, column[i])
    if high - low > 8 * len(rows):  # counting would cost more than halving the range
        while low < high:
            middle = (low + high) // 2
            seen = 0
            for i in rows:
                seen += column[i] <= middle
            low, high = (low, middle) if 2 * seen >= len(rows) else (middle + 1, high)
        return low
    for i in rows:
        counts[column[i]] += 1
    v, seen = low, counts[low]
    while 2 * seen < len(rows):
        v += 1
        seen += counts[v]
    for i in rows:
        counts[column[i]] = 0
    return v


@njit(cache=True)
def _deal(column, rows, side, counts, sensitive, v, wanted_left, equal):
    """Send rows below v left, above v right, and `wanted_left` of the `equal` ones with v left.

    The rows with v are dealt in turns, sensitive value by sensitive value, until one side has its
    share.
    """
    values = 0  # the sensitive values of the rows with v are below this
    for place in range(len(rows)):
        side[place] = column[rows[place]] < v
        if column[rows[place]] == v:
            counts[sensitive[rows[place]]] += 1
            values = max(values, sensitive[rows[place]] + 1)
    turn = 0
    for value in range(values):  # counts become the first turn of every value
        turn, counts[value] = turn + counts[value], turn
    # The left side gets every second turn until it is full, and all turns once the right one is.
    wanted_right = equal - wanted_left
    for place in range(len(rows)):
        if column[rows[place]] == v:
            turn = counts[sensitive[rows[place]]]
            counts[sensitive[rows[place]]] += 1
            side[place] = (turn % 2 == 0 and turn < 2 * wanted_left) or turn >= 2 * wanted_right
    for value in range(values):
        counts[value] = 0


@njit(cache=True)
def _is_allowed(rows, side, counts, sensitive, k, l, required):
    n_left = 0
    for place in range(len(rows)):
        n_left += side[place]
    if n_left < k or len(rows) - n_left < k:
        return False
    if required == 0:
        return True
    for which in (True, False):
        if not _is_diverse(rows, side, which, counts, sensitive, l, required):
            return False
    return True


@njit(cache=True)
def _is_diverse(rows, side, which, counts, sensitive, l, required):
    """Whether one side is frequency (1) or distinct (2) l-diverse."""
    size, distinct, most = 0, 0, 0
    for place in range(len(rows)):
        if side[place] == which:
            v = sensitive[rows[place]]
            counts[v] += 1
            size += 1
            distinct += counts[v] == 1
            most = max(most, counts[v])
    for i in rows:
        counts[sensitive[i]] = 0
    return most * l <= size if required == 1 else distinct >= l


@njit(cache=True)
def _scatter(order, buffer, side, first, last):
    """Move the left rows to the front, keeping their order; return where the right ones begin."""
    middle = first
    for place in range(first, last):
        if side[place - first]:
            buffer[middle] = order[place]
            middle += 1
    right = middle
    for place in range(first, last):
        if not side[place - first]:
            buffer[right] = order[place]
            right += 1
    for place in range(first, last):
        order[place] = buffer[place]
    return middle
