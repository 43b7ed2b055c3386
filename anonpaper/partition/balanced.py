"""Balanced classes: compact classes of k to 2k - 1 rows, each with at least l sensitive values.

Algorithm 3 of majeed2024 fills one class after another: a record becomes the centre, and the most
similar records join as long as the class can still become diverse. The rest finally joins the most
similar classes. Source: majeed2024, section 4.2.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import inner, loop
from anonpaper.errors import InfeasibleError, check_integer, check_number
from anonpaper.groups import Entries, Partition
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.partition.tp import eligible_height
from anonpaper.principles import DistinctLDiversity, GroupCounts, KAnonymity
from anonpaper.randomness import generator

__all__ = ["balanced_classes"]

#: T_Sm of the paper, and the cells of every sensitive value that are compared with a centre: up to
#: four times as many if none of them reaches T_Sm.
_SIMILARITY, _REACH, _FARTHER = 0.88, 256, 4


@algorithm(
    "classes of k to 2k - 1 similar rows with l distinct secrets",
    promises={"k": KAnonymity, "l": DistinctLDiversity},
    publications=("shallow", "suppress", "generalize", "swap", "anatomize"),
    needs_sensitive=True,
)
def balanced_classes(
    m: Microdata,
    k: int,
    l: int = 2,
    seed: int | np.random.Generator = 0,
    *,
    largest_share: float = 1.0,
) -> Partition:
    """Guarantee classes of k to 2k - 1 rows with at least l *distinct* sensitive values.

    One value may still have nearly all rows of a class.

    Parameters
    ----------
    m, k, l, seed : see :mod:`anonpaper.partition`
        l is at most k; the seed decides with which record the first class begins.
    largest_share : float
        What one value should not exceed in a class, in (0, 1], where the other rows allow it.

    Returns
    -------
    Partition
        ``info`` has ``base_size`` and ``residue`` (rows of a class at first, rows that joined at
        the end), ``mean_similarity`` of rows and centre, ``similar_share`` (of rows at or above
        T_Sm = 0.88) and ``least_entropy`` of a class (Eq. 4, nats).

    Raises
    ------
    ColumnError, ParameterError, InfeasibleError
        See :mod:`anonpaper.partition`; for too few rare values the message gives a feasible k.

    References
    ----------
    majeed2024, Algorithm 3. O(e log e + n·m·d) for e cells, m sensitive values, d attributes.

    Examples
    --------
    >>> balanced_classes(ap.examples.hospital(), k=4, l=3).sizes().tolist()
    [5, 5]
    """
    m = check_microdata(m)
    k = check_integer("k", k, 2, m.n)  # lines 1, 2
    l = check_integer("l", l, 2, k)
    largest_share = check_number("largest_share", largest_share, 0, 1, open_low=True)
    n_classes = _number_of_classes(m, k, l)  # line 5

    rng = generator(seed)
    cell = m.cells.handed_out(rng)
    order = _cells_in_order(m, rng)
    base = m.n // n_classes
    search = _search(m, order, base, l)
    cap = max(int(np.ceil(base * largest_share)), 1)
    taken, centres, total, similar = _fill_classes(search, n_classes, cap)  # lines 6 to 26
    place, labels = np.argsort(order)[cell], np.empty(m.n, np.intp)
    labels[np.argsort(place, kind="stable")] = taken
    lost = np.flatnonzero(labels < 0)
    room = np.full(n_classes, 2 * k - 1 - base)
    # lines 27 to 31
    labels[lost], values = _join_residue(search.encoded, place[lost], centres, room)
    info = {
        "base_size": base,
        "residue": m.n - base * n_classes,
        "mean_similarity": float((total + values.sum()) / m.n),
        "similar_share": float((similar + np.count_nonzero(values >= _SIMILARITY)) / m.n),
    }
    name = f"balanced classes, k = {k}, l = {l}"
    p = Partition.of_cells(m.cells, cell, labels, None, info, name)
    counts = GroupCounts.of(Entries.of(m, p), m.sensitive)
    p.info["least_entropy"] = abs(float(counts.entropy().min()))
    return p


def _number_of_classes(m: Microdata, k: int, l: int) -> int:
    """Return the most classes that k and l allow; InfeasibleError if 2k - 1 rows are too few."""
    counts = m.sensitive_counts
    present = int(np.count_nonzero(counts))
    if present < l:
        raise InfeasibleError(
            f"no class can have {l} distinct values of {m.sensitive!r}: the table has {present}; "
            f"the largest feasible l is {present}"
        )
    # the largest G with sum_v min(counts_v, G) >= l·G
    diverse = int(eligible_height(counts, l, m.n // l)[0])
    needed = -(-m.n // (2 * k - 1))
    if diverse < needed:
        enough = -(-(-(-m.n // diverse) + 1) // 2)
        raise InfeasibleError(
            f"{m.n} rows in classes of at most 2k - 1 = {2 * k - 1} make {needed} classes, but "
            f"the values of {m.sensitive!r} suffice for {diverse} classes with {l} distinct ones: "
            f"use k >= {enough}, or add rows of the rare values (anonpaper.repair.synthesis)"
        )
    return min(m.n // k, diverse)


def _cells_in_order(m: Microdata, rng: np.random.Generator) -> np.ndarray:
    """Order the cells: attributes with dominant values first, beginning at a random record."""
    cells = m.cells
    concentration = [
        (a.ordered, -float(np.square(np.bincount(codes, cells.tuple_sizes) / m.n).sum()))
        for a, codes in zip(m.attributes, cells.tuples.T, strict=True)
    ]
    last_to_first = sorted(range(m.d), key=lambda j: concentration[j])[::-1]
    rank = np.argsort(np.lexsort(cells.tuples.T[last_to_first]))
    order = np.argsort(rank[cells.tuple_of_cell], kind="stable")
    record = np.searchsorted(np.cumsum(cells.counts[order]), rng.integers(m.n), side="right")
    return np.roll(order, -int(record))


# -- kernels -------------------------------------------------------------------------------


class _Encoded(NamedTuple):
    """The cells for Eq. 3: attributes scaled to [0, 1], and the lengths."""

    scaled: np.ndarray
    ordered: np.ndarray
    norms: np.ndarray


class _Search(NamedTuple):
    """The cells in the order of the search, and their remaining rows."""

    encoded: _Encoded
    sensitive: np.ndarray
    start: np.ndarray  # place of the first row of every cell
    head: np.ndarray  # the first cell with rows left of every value, -1 if there is none
    following: np.ndarray  # the next cell of the same value
    left_in_cell: np.ndarray
    left: np.ndarray  # rows left of every value
    in_class: np.ndarray  # rows of every value in the class that is filled
    may_join: np.ndarray  # whether a value may join this class
    cells: np.ndarray  # candidates
    closeness: np.ndarray  # their similarity to the centre
    base: int
    l: int


def _search(m: Microdata, order: np.ndarray, base: int, l: int) -> _Search:
    """Return the search before the first class."""
    # Eq. 3: an ordered attribute, x scaled to [0, 1], is the pair (1 - x, x); else one-hot
    tuples, ordered = m.cells.tuples[m.cells.tuple_of_cell[order]], []
    scaled, squares = np.empty(tuples.shape), 0.0
    for a, codes, x in zip(m.attributes, tuples.T, scaled.T, strict=True):
        ordered.append(a.ordered)
        x[:] = (a.positions[codes] - a.positions[0]) / (a.width or 1.0)
        squares = squares + (x * x + (1 - x) * (1 - x) if a.ordered else np.ones(len(x)))
    sensitive, rows = m.cells.sensitive[order].astype(np.intp), m.cells.counts[order]
    by_value, values = np.argsort(sensitive, kind="stable"), len(m.sensitive_counts)
    following, head = np.full(len(order), -1), np.full(values, -1)
    alike = sensitive[by_value[1:]] == sensitive[by_value[:-1]]
    following[by_value[:-1][alike]] = by_value[1:][alike]
    head[sensitive[::-1]] = np.arange(len(order))[::-1]
    candidates = min(len(order), values * max(_REACH * _FARTHER, base))
    return _Search(
        _Encoded(scaled, np.array(ordered), np.sqrt(squares)), sensitive, np.cumsum(rows) - rows,
        head, following, rows.astype(np.intp), m.sensitive_counts.copy(),
        np.zeros(values, np.intp), np.zeros(values, bool),
        np.empty(candidates, np.intp), np.empty(candidates), base, l,
    )  # fmt: skip


@inner
def _cosine(encoded, i, other):
    """Cosine of two encoded cells (Eq. 3)."""
    product = 0.0
    for j in range(encoded.scaled.shape[1]):
        x, y = encoded.scaled[i, j], encoded.scaled[other, j]
        if encoded.ordered[j]:
            product += x * y + (1 - x) * (1 - y)
        elif x == y:
            product += 1.0
    return product / (encoded.norms[i] * encoded.norms[other])


@loop
def _fill_classes(search, n_classes, cap):
    """Fill classes of `base` rows one after another.

    Return the class of every row (cell by cell; -1 for the residue), the cell of every centre, the
    sum of the similarities of rows and centres, and the number that reach the threshold.
    """
    taken = np.full(search.left.sum(), -1, np.intp)
    centres = np.empty(n_classes, np.intp)
    total, similar = 0.0, 0
    for c in range(n_classes):
        after = n_classes - c - 1
        search.in_class[:] = 0
        candidates = _first_cells(search)
        for size in range(search.base):
            best = _most_similar(search, candidates, size, after, cap)
            if best < 0:
                best = _most_similar(search, candidates, size, after, search.base)
            cell = search.cells[best]
            if size == 0:  # lines 6 to 11
                centres[c] = cell
                candidates = _candidates(search, cell)
            v = search.sensitive[cell]
            search.left_in_cell[cell] -= 1
            taken[search.start[cell] + search.left_in_cell[cell]] = c
            search.left[v] -= 1
            search.in_class[v] += 1
            closeness = _cosine(search.encoded, centres[c], cell)
            total += closeness
            similar += closeness >= _SIMILARITY - 1e-12
            while search.head[v] >= 0 and search.left_in_cell[search.head[v]] == 0:
                search.head[v] = search.following[search.head[v]]
    return taken, centres, total, similar


@inner
def _first_cells(search):
    """List the first cell left of every sensitive value as candidates for a centre."""
    count = 0
    for cell in search.head:
        if cell >= 0:
            search.cells[count], search.closeness[count] = cell, -cell  # the first one is taken
            count += 1
    return count


@inner
def _candidates(search, centre):
    """List the next cells of every sensitive value with their similarity to the centre."""
    # They hold at least as many rows as a class, where so many are left: a list never runs dry.
    count, following = 0, search.following
    for v in range(len(search.head)):
        cell, looked, rows, best, previous = search.head[v], 0, 0, -1.0, -1
        while cell >= 0 and (
            looked < _REACH
            or rows < search.base
            or (best < _SIMILARITY and looked < _REACH * _FARTHER)
        ):
            if search.left_in_cell[cell] == 0:  # used up, and not the first
                following[previous] = following[cell]
            else:
                search.cells[count] = cell
                search.closeness[count] = _cosine(search.encoded, centre, cell)
                best = max(best, search.closeness[count])
                rows += search.left_in_cell[cell]
                count += 1
                looked += 1
                previous = cell
            cell = following[cell]
    return count


@inner
def _most_similar(search, candidates, size, after, limit):
    """Place of the most similar candidate whose value may join, or -1."""
    may_join, closeness = search.may_join, search.closeness
    for v in range(len(may_join)):
        may_join[v] = _may_join(search, v, size, after, limit)
    best = -1
    for i in range(candidates):
        cell = search.cells[i]
        if (
            may_join[search.sensitive[cell]]
            and search.left_in_cell[cell] > 0
            and (best < 0 or closeness[i] > closeness[best])
        ):
            best = i
    return best


@inner
def _may_join(search, v, size, after, limit):
    """Whether this and the following classes stay feasible if a row of value v joins."""
    # With `after` classes to come and c_v rows left of value v, they are feasible iff
    # sum_v min(c_v, after) >= l·after. A value with more rows left than that is *plentiful*: a row
    # of it costs nothing. Any other row lowers the sum, which must suffice when the class is full;
    # one is kept back for each distinct value that the class still lacks and that no plentiful
    # value can bring.
    left, in_class, room = search.left, search.in_class, search.base - size - 1
    if left[v] == 0 or in_class[v] >= limit:
        return False
    slack, plentiful, lacking = -search.l * after, 0, search.l
    for w in range(len(left)):
        slack += min(left[w], after)
        lacking -= in_class[w] > 0
        if w != v and in_class[w] == 0 and left[w] > after:
            plentiful += 1
    lacking = max(lacking - (in_class[v] == 0), 0)
    if room < lacking:
        return False
    # Under a cap on the share, rows of a value must not pile up for the classes to come.
    if limit < search.base:
        obliged = 0
        for w in range(len(left)):
            obliged += max(left[w] - (w == v) - limit * after, 0)
        if obliged > room and left[v] <= limit * after:
            return False
    cost = 0 if left[v] > after else 1
    return slack - cost >= max(lacking - plentiful, 0)


@loop
def _join_residue(encoded, cells, centres, room):
    """Return the most similar class with room for every row of the residue, and its similarity."""
    joined, values = np.empty(len(cells), np.intp), np.full(len(cells), -1.0)
    for i in range(len(cells)):
        for c in range(len(centres)):
            value = _cosine(encoded, cells[i], centres[c])
            if room[c] > 0 and value > values[i]:
                joined[i], values[i] = c, value
        room[joined[i]] -= 1
    return joined, values
