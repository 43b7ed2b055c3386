"""Balanced classes: compact classes of k to 2k - 1 rows, each with at least l sensitive values.

One class after another is filled: a record becomes the centre, and the most similar records join
as long as the class can still become diverse. The rest joins the most similar classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import loop
from anonpaper.errors import InfeasibleError, check_integer, check_number
from anonpaper.groups import Entries, Partition
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.partition.tp import eligible_height
from anonpaper.principles import DistinctLDiversity, GroupCounts, KAnonymity, require_diverse
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
    l = require_diverse(m, check_integer("l", l, 2, k), "distinct")
    largest_share = check_number("largest_share", largest_share, 0, 1, open_low=True)
    n_classes, rng = _number_of_classes(m, k, l), generator(seed)  # line 5
    cell, order = m.cells.handed_out(rng), _cells_in_order(m, rng)
    cells, base = _encoded(m, order), m.n // n_classes
    cap = max(int(np.ceil(base * largest_share)), 1)
    taken, centres = _fill_classes(cells, m.sensitive_counts.copy(), n_classes, base, l, cap)
    place, labels = np.argsort(order)[cell], np.empty(m.n, np.intp)
    labels[np.argsort(place, kind="stable")] = taken
    lost = np.flatnonzero(labels < 0)
    room = np.full(n_classes, 2 * k - 1 - base)
    for row in lost:  # lines 27 to 31
        closeness = _similarities(cells, place[row], centres)
        labels[row] = np.where(room > 0, closeness, -1).argmax()
        room[labels[row]] -= 1
    similarity = _similarities(cells, place, centres[labels])
    info = {
        "base_size": base,
        "residue": len(lost),
        "mean_similarity": float(similarity.mean()),
        "similar_share": float((similarity >= _SIMILARITY - 1e-12).mean()),
    }
    name = f"balanced classes, k = {k}, l = {l}"
    p = Partition.of_cells(m.cells, cell, labels, None, info, name)
    counts = GroupCounts.of(Entries.of(m, p), m.sensitive)
    p.info["least_entropy"] = abs(float(counts.entropy().min()))
    return p


def _number_of_classes(m: Microdata, k: int, l: int) -> int:
    """Return the most classes that k and l allow; InfeasibleError if 2k - 1 rows are too few."""
    counts = m.sensitive_counts
    # the largest G with sum_v min(counts_v, G) >= l·G
    diverse = int(eligible_height(counts, l, m.n // l)[0])
    needed = -(-m.n // (2 * k - 1))
    if diverse < needed:
        enough = -(-(-(-m.n // diverse) + 1) // 2)
        told = f"{m.n} rows in classes of at most 2k - 1 = {2 * k - 1} make {needed} classes"
        but = f"the values of {m.sensitive!r} suffice for {diverse} classes with {l} distinct ones"
        way = f"use k >= {enough}, or add rows of the rare values"
        raise InfeasibleError(f"{told}, but {but}: {way}")
    return min(m.n // k, diverse)


def _cells_in_order(m: Microdata, rng: np.random.Generator) -> np.ndarray:
    """Order the cells: attributes with dominant values first, beginning at a random record."""
    cells = m.cells
    shares = [np.bincount(codes, cells.tuple_sizes) / m.n for codes in cells.tuples.T]
    by = [(a.ordered, -np.square(of).sum()) for a, of in zip(m.attributes, shares, strict=True)]
    last_to_first = sorted(range(m.d), key=by.__getitem__)[::-1]
    rank = np.argsort(np.lexsort(cells.tuples.T[last_to_first]))
    order = np.argsort(rank[cells.tuple_of_cell], kind="stable")
    record = np.searchsorted(np.cumsum(cells.counts[order]), rng.integers(m.n), side="right")
    return np.roll(order, -int(record))


# -- kernels -------------------------------------------------------------------------------


class _Cells(NamedTuple):
    """The cells in the order of the search, and their remaining rows."""

    scaled: np.ndarray  # attributes scaled to [0, 1], for Eq. 3
    ordered: np.ndarray
    norms: np.ndarray
    sensitive: np.ndarray
    left: np.ndarray  # rows left
    following: np.ndarray  # the next cell of the same value; at e + v the first one of value v


def _encoded(m: Microdata, order: np.ndarray) -> _Cells:
    """Return the cells before the first class."""
    # Eq. 3: an ordered attribute, x scaled to [0, 1], is the pair (1 - x, x); else one-hot
    codes = zip(m.attributes, m.cells.tuples[m.cells.tuple_of_cell[order]].T, strict=True)
    x = np.column_stack([(a.positions[of] - a.positions[0]) / (a.width or 1.0) for a, of in codes])
    ordered = np.array([a.ordered for a in m.attributes])
    squares = np.where(ordered, x * x + (1 - x) * (1 - x), 1.0).cumsum(axis=1)[:, -1]
    sensitive, e = m.cells.sensitive[order].astype(np.intp), len(order)
    following = np.full(e + len(m.sensitive_counts), -1)
    for v in np.unique(sensitive):
        of_value = np.flatnonzero(sensitive == v)
        following[np.r_[e + v, of_value[:-1]]] = of_value
    rows = m.cells.counts[order].astype(np.intp)
    return _Cells(x, ordered, np.sqrt(squares), sensitive, rows, following)


@loop
def _cosine(cells, i, other):
    """Cosine of two encoded cells (Eq. 3)."""
    product = 0.0
    for j in range(cells.scaled.shape[1]):
        x, y = cells.scaled[i, j], cells.scaled[other, j]
        if cells.ordered[j]:
            product += x * y + (1 - x) * (1 - y)
        elif x == y:
            product += 1.0
    return product / (cells.norms[i] * cells.norms[other])


def _similarities(cells: _Cells, these: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Cosines of pairs of cells."""
    x, y = cells.scaled[these], cells.scaled[others]
    products = np.where(cells.ordered, x * y + (1 - x) * (1 - y), x == y)
    # summed up in the order of the loop above, so that both give the same
    return products.cumsum(axis=-1)[..., -1] / (cells.norms[these] * cells.norms[others])


@loop
def _fill_classes(cells, left, n_classes, base, l, cap):
    """Fill classes of `base` rows (lines 6 to 26); `left` are the rows left of every value.

    Return the class of every row, cell by cell, -1 for the residue, and the cells of the centres.
    """
    start = np.cumsum(cells.left) - cells.left
    taken, centres = np.full(left.sum(), -1), np.empty(n_classes, np.intp)
    most = min(len(start), len(left) * max(_REACH * _FARTHER, base))
    candidates, closeness = np.empty(most, np.intp), np.empty(most)
    for c in range(n_classes):
        in_class, after = np.zeros(len(left), np.intp), n_classes - c - 1
        count = _list_candidates(cells, -1, base, candidates, closeness)
        for room in range(base - 1, -1, -1):
            best = -1
            for limit in (cap, base):
                may_join = _may_join(left, in_class, room, after, limit, base, l)
                for i in range(count if best < 0 else 0):
                    cell = candidates[i]
                    if (
                        may_join[cells.sensitive[cell]]
                        and cells.left[cell] > 0
                        and (best < 0 or closeness[i] > closeness[best])
                    ):
                        best = i
            cell = candidates[best]
            if room == base - 1:  # lines 6 to 11
                centres[c] = cell
                count = _list_candidates(cells, cell, base, candidates, closeness)
            cells.left[cell] -= 1
            taken[start[cell] + cells.left[cell]] = c
            left[cells.sensitive[cell]] -= 1
            in_class[cells.sensitive[cell]] += 1
    return taken, centres


@loop
def _list_candidates(cells, centre, base, candidates, closeness):
    """List the next cells of every sensitive value with their similarity to the centre."""
    # They hold at least as many rows as a class, where so many are left: a list never runs dry.
    # Without a centre (-1) the first cell of every value is enough.
    count, e = 0, len(cells.left)
    for v in range(len(cells.following) - e):
        previous, looked, rows, best = e + v, 0, 0, -1.0
        cell = cells.following[previous]
        while cell >= 0 and (
            looked < _REACH or rows < base or (best < _SIMILARITY and looked < _REACH * _FARTHER)
        ):
            if cells.left[cell] == 0:
                cells.following[previous] = cells.following[cell]
            else:
                candidates[count] = cell
                closeness[count] = -cell if centre < 0 else _cosine(cells, centre, cell)
                best = max(best, closeness[count])
                rows += cells.left[cell]
                count += 1
                looked += 1
                previous = cell
                if centre < 0:
                    break
            cell = cells.following[cell]
    return count


@loop
def _may_join(left, in_class, room, after, limit, base, l):
    """Whether this and the following classes stay feasible if a row of each value joins."""
    # With `after` classes to come and c_v rows left of value v, they are feasible iff
    # sum_v min(c_v, after) >= l·after. A value with more rows left than that is *plentiful*: a row
    # of it costs nothing. Any other row lowers the sum, which must suffice when the class is full;
    # one is kept back for each distinct value that the class still lacks and that no plentiful
    # value can bring.
    new, plentiful = in_class == 0, left > after
    lacking = np.maximum(l - len(new) + new.sum() - new, 0)
    helpful = new & plentiful
    slack = np.minimum(left, after).sum() - l * after - ~plentiful
    kept_back = np.maximum(lacking - (helpful.sum() - helpful), 0)
    may_join = (left > 0) & (in_class < limit) & (lacking <= room) & (slack >= kept_back)
    # Under a cap on the share, rows of a value must not pile up for the classes to come.
    beyond = np.maximum(left - limit * after, 0)
    if limit < base:
        may_join &= (beyond > 0) | (beyond.sum() <= room)
    return may_join
