r"""Balanced classes: compact classes of k to 2k - 1 rows, each with at least l sensitive values.

Algorithm 3 of majeed2024 fills one class after the other: a record becomes the centre, and the
records most similar to it join, as long as the class can still become diverse; what remains at the
end joins the most similar classes. Guarantee: every row is in exactly one class, every class has
k to 2k - 1 rows and at least l distinct sensitive values; a table for which that is impossible is
refused beforehand.

Three things the paper leaves open are settled here.

* *Encoding.* Cosine similarity (Eq. 3) needs numbers. An unordered attribute is one-hot encoded.
  Of an ordered one, x scaled to [0, 1] becomes the pair (1 - x, x): with x alone the least value
  would be the zero vector, which has no cosine, and on a table of one attribute all rows would be
  alike.
* *Search.* Rows that are equal in QI and SA are interchangeable, so cells are compared, not rows.
  Cells lie in lexicographic order, attributes with dominant values first; of every sensitive value
  the next `reach` cells are compared with the centre. If none of them reaches the threshold, the
  search goes on up to four times as far, and the best match found is taken.
* *Diversity.* With G' classes to fill and c_v rows left of value v, the rest of the table stays
  feasible iff :math:`\sum_v \min(c_v, G') \ge l G'`. A row may join only if that stays true: so no
  class ever fails for want of values that were used up before.

Source: A. Majeed, S. O. Hwang, *A data-centric l-diversity model for securely publishing personal
data with enhanced utility*, section 4.2.2.
"""

from __future__ import annotations

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.compiled import loop
from anonpaper.errors import InfeasibleError, check_integer, check_number
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import DistinctLDiversity, GroupCounts, KAnonymity
from anonpaper.randomness import generator

__all__ = ["balanced_classes", "class_entropy", "most_classes"]

_FARTHER = 4


@algorithm(
    "classes of k to 2k - 1 similar rows with l distinct secrets",
    promises={"k": KAnonymity, "l": DistinctLDiversity},
    publications=("shallow", "suppress", "generalize", "swap", "anatomize"),
    needs_sensitive=True,
    by_rows=True,
)
def balanced_classes(
    m: Microdata,
    k: int,
    l: int = 2,
    seed: int | np.random.Generator = 0,
    *,
    similarity: float = 0.88,
    largest_share: float = 1.0,
    reach: int = 256,
) -> Partition:
    """Guarantee classes of k to 2k - 1 rows with at least l *distinct* sensitive values.

    This is distinct l-diversity: one value may still have nearly all rows of a class. Similarity
    is sought and not guaranteed.

    Parameters
    ----------
    m : Microdata
        A table of n rows with a sensitive attribute.
    k : int
        Smallest class size, from 2 to n.
    l : int
        Distinct sensitive values in every class, from 2 to k.
    seed : int or numpy.random.Generator
        Decides with which record the first class begins.
    similarity : float
        The threshold T_Sm, in [0, 1]: how similar to its centre a record should be for the
        search to end.
    largest_share : float
        The share of a class that one sensitive value should not exceed, in (0, 1]. It is kept as
        long as the records left allow it; 1 asks for nothing, 0.5 for classes of even halves, as
        the paper's threshold of 0.69 (ln 2) does.
    reach : int
        Cells of every sensitive value that are compared with a centre, at least 1.

    Returns
    -------
    Partition
        ``info`` holds ``base_size`` (rows of a class before the residue), ``residue`` (rows that
        joined at the end), ``mean_similarity`` of rows and their centre, ``similar_share`` (of the
        rows, at or above the threshold) and ``least_entropy`` of a class (Eq. 4, nats).

    Raises
    ------
    ColumnError
        The table has no sensitive attribute.
    ParameterError
        k, l, `reach` or a threshold is out of range.
    InfeasibleError
        No such classes exist: too few distinct values, or too few rows of all but the most
        frequent ones. The message says which k would do, or how many rows lack.

    Notes
    -----
    O(e log e + n·m·reach·d) for e cells, m sensitive values, d attributes. Of equally similar
    cells the first in the order of the search is taken.

    References
    ----------
    majeed2024, Algorithm 3 and section 4.2.2.

    Examples
    --------
    >>> import anonpaper as ap
    >>> balanced_classes(ap.examples.hospital(), k=4, l=3).sizes().tolist()
    [5, 5]
    """
    m = check_microdata(m)
    k = check_integer("k", k, 2, m.n)
    l = check_integer("l", l, 2, k)
    reach = check_integer("reach", reach, 1)
    similarity = check_number("similarity", similarity, 0, 1)
    largest_share = check_number("largest_share", largest_share, 0, 1, open_low=True)
    n_classes = _number_of_classes(m, k, l)

    order, tuple_of_cell, rows_of_cell = _cells_in_order(m, generator(seed))
    sensitive = m.cells.sensitive[order].astype(np.int64)
    ordered = np.array([attribute.ordered for attribute in m.attributes])
    scaled = np.column_stack(
        [
            (a.positions[codes] - a.positions[0]) / (a.width or 1.0)
            for a, codes in zip(m.attributes, m.cells.tuples[tuple_of_cell].T, strict=True)
        ]
    )
    norms = _norms(scaled, ordered)
    base = m.n // n_classes
    cap = max(int(np.ceil(base * largest_share)), 1)
    taken, centres, total, similar = _fill_classes(
        scaled, ordered, norms, sensitive, rows_of_cell, m.sensitive_counts, n_classes, base, l,
        cap, similarity, reach,
    )  # fmt: skip
    residue = m.n - base * n_classes
    labels = np.empty(m.n, np.int64)
    rows = _deal_rows(m, order)
    labels[rows] = taken
    if residue:
        lost = np.flatnonzero(labels < 0)
        cell_of_row = np.empty(m.n, np.int64)
        cell_of_row[rows] = np.repeat(np.arange(len(order)), rows_of_cell)
        joined, values = _join_residue(
            scaled, ordered, norms, cell_of_row[lost], centres,
            np.full(n_classes, 2 * k - 1 - base),
        )  # fmt: skip
        labels[lost] = joined
        total += values.sum()
        similar += np.count_nonzero(values >= similarity)
    info = {
        "base_size": base,
        "residue": residue,
        "mean_similarity": float(total / m.n),
        "similar_share": float(similar / m.n),
        "least_entropy": float(class_entropy(m, labels).min()),
    }
    return Partition(labels, info, f"balanced classes, k = {k}, l = {l}")


def class_entropy(m: Microdata, labels: np.ndarray, base: float = np.e) -> np.ndarray:
    """Return the diversity of every class, the entropy of its sensitive values (Eq. 4).

    Parameters
    ----------
    m : Microdata
        The table, n rows.
    labels : array of int, shape (n,)
        Class numbers without gaps, -1 for rows that are not published.
    base : float
        Base of the logarithm, above 1. The paper prints base 2, in which two values have at most
        1; its threshold of 0.69 is ln 2, their maximum in base e.

    Returns
    -------
    numpy.ndarray, shape (G,)
        From 0 (one value) to the logarithm of the number of values.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> class_entropy(m, ap.examples.hospital_two_anonymous().labels, base=2)[0].item()
    0.0
    """
    base = check_number("base", base, 1, np.inf, open_low=True)
    return np.abs(GroupCounts.of(m, labels).entropy()) / np.log(base)


def most_classes(counts: np.ndarray, l: int) -> int:
    """Return how many classes with l distinct values each the rows suffice for, whatever its size.

    The largest G with sum over v of min(counts_v, G) >= l·G.

    Parameters
    ----------
    counts : array of int
        Rows of every sensitive value.
    l : int
        Distinct values in every class, at least 1.

    Examples
    --------
    >>> most_classes([24720, 7841], l=2)
    7841
    """
    counts = np.sort(np.asarray(counts, dtype=np.int64))[::-1]
    # Values rarer than G fill G·(l - i) places if i values are more frequent.
    low, high = 0, int(counts.sum()) // max(l, 1)
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(counts, middle).sum() >= l * middle:
            low = middle
        else:
            high = middle - 1
    return low


def _number_of_classes(m: Microdata, k: int, l: int) -> int:
    """Return as many classes as k and l allow; InfeasibleError if 2k - 1 rows are not enough."""
    counts = m.sensitive_counts
    present = int(np.count_nonzero(counts))
    if present < l:
        raise InfeasibleError(
            f"no class can have {l} distinct values of {m.sensitive!r}: the table has {present}; "
            f"the largest feasible l is {present}"
        )
    diverse = most_classes(counts, l)
    needed = -(-m.n // (2 * k - 1))
    if diverse < needed:
        enough = -(-(-(-m.n // diverse) + 1) // 2)
        raise InfeasibleError(
            f"{m.n} rows in classes of at most 2k - 1 = {2 * k - 1} make {needed} classes, but "
            f"the values of {m.sensitive!r} suffice for {diverse} classes with {l} distinct ones: "
            f"use k >= {enough}, or add rows of the rare values (anonpaper.prepare.synthesis)"
        )
    return min(m.n // k, diverse)


# -- cells in the order of the search ------------------------------------------------------


def _cells_in_order(m: Microdata, rng: np.random.Generator):
    """Order the cells: attributes with dominant values first, beginning at a random record."""
    cells = m.cells
    concentration = [
        (attribute.ordered, -float(np.square(np.bincount(codes) / m.n).sum()))
        for attribute, codes in zip(m.attributes, m.codes.T, strict=True)
    ]
    first_to_last = sorted(range(m.d), key=lambda j: concentration[j])
    tuple_order = np.lexsort([cells.tuples[:, j] for j in reversed(first_to_last)])
    rank = np.empty(len(tuple_order), np.int64)
    rank[tuple_order] = np.arange(len(tuple_order))
    tuple_of_cell = cells.tuple_of_cell
    order = np.argsort(rank[tuple_of_cell], kind="stable")
    record = np.searchsorted(np.cumsum(cells.counts[order]), rng.integers(m.n), side="right")
    order = np.roll(order, -int(record))
    return order, tuple_of_cell[order], cells.counts[order].astype(np.int64)


def _deal_rows(m: Microdata, order: np.ndarray) -> np.ndarray:
    """Row numbers cell by cell in the order of the search."""
    start, stop = m.cells.row_start[order], m.cells.row_start[order + 1]
    offsets = np.repeat(start - np.r_[0, np.cumsum(stop - start)[:-1]], stop - start)
    return m.cells.rows[offsets + np.arange(m.n)]


# -- kernels -------------------------------------------------------------------------------


@loop
def _norms(scaled, ordered):
    """Lengths of the encoded cells."""
    norms = np.zeros(len(scaled))
    for j in range(scaled.shape[1]):
        for i in range(len(scaled)):
            x = scaled[i, j]
            norms[i] += x * x + (1 - x) * (1 - x) if ordered[j] else 1.0
    return np.sqrt(norms)


@loop
def _cosine(scaled, ordered, norms, i, other):
    """Cosine of two encoded cells (Eq. 3)."""
    product = 0.0
    for j in range(scaled.shape[1]):
        x, y = scaled[i, j], scaled[other, j]
        if ordered[j]:
            product += x * y + (1 - x) * (1 - y)
        elif x == y:
            product += 1.0
    return product / (norms[i] * norms[other])


@loop
def _fill_classes(
    scaled, ordered, norms, sensitive, rows_of_cell, counts, n_classes, base, l,
    cap, threshold, reach,
):  # fmt: skip
    """Fill classes of `base` rows one after the other.

    Return the class of every row (cell by cell; -1 for the residue), the cell of every centre,
    the sum of the similarities of rows and centres, and how many reach the threshold.
    """
    e, m = len(sensitive), len(counts)
    following, preceding, head = _lists(sensitive, m)
    left_in_cell, left = rows_of_cell.copy(), counts.copy()
    start = np.zeros(e + 1, np.int64)
    for cell in range(e):
        start[cell + 1] = start[cell] + rows_of_cell[cell]
    taken = np.full(start[e], -1, np.int64)
    centres = np.empty(n_classes, np.int64)
    longest = max(reach * _FARTHER, base)
    cells, values = np.empty(m * longest, np.int64), np.empty(m * longest)
    in_class = np.empty(m, np.int64)
    total, similar = 0.0, 0
    for c in range(n_classes):
        after = n_classes - c - 1
        in_class[:] = 0
        centre, n_candidates = -1, np.int64(0)
        for size in range(base):
            best = -1
            for attempt in range(2):
                limit = cap if attempt == 0 else base
                if centre < 0:
                    best = _first_allowed(head, in_class, left, after, size, base, l, limit)
                else:
                    best = _most_similar(
                        cells, values, n_candidates, sensitive, left_in_cell, in_class, left,
                        after, size, base, l, limit,
                    )  # fmt: skip
                if best >= 0:
                    break
            if centre < 0:
                centre = best
                centres[c] = centre
                n_candidates = _candidates(
                    scaled, ordered, norms, centre, head, following, left_in_cell, base,
                    threshold, reach, cells, values,
                )  # fmt: skip
                cell = centre
            else:
                cell = cells[best]
            v = sensitive[cell]
            left_in_cell[cell] -= 1
            taken[start[cell] + left_in_cell[cell]] = c
            left[v] -= 1
            in_class[v] += 1
            closeness = _cosine(scaled, ordered, norms, centre, cell)
            total += closeness
            similar += closeness >= threshold - 1e-12
            if left_in_cell[cell] == 0:
                _unlink(cell, v, following, preceding, head)
    return taken, centres, total, similar


@loop
def _lists(sensitive, m):
    """A doubly linked list of the cells of every sensitive value; -1 ends it."""
    e = len(sensitive)
    following, preceding = np.full(e, -1, np.int64), np.full(e, -1, np.int64)
    head, last = np.full(m, -1, np.int64), np.full(m, -1, np.int64)
    for cell in range(e):
        v = sensitive[cell]
        if last[v] < 0:
            head[v] = cell
        else:
            following[last[v]] = cell
            preceding[cell] = last[v]
        last[v] = cell
    return following, preceding, head


@loop
def _unlink(cell, v, following, preceding, head):
    before, behind = preceding[cell], following[cell]
    if before < 0:
        head[v] = behind
    else:
        following[before] = behind
    if behind >= 0:
        preceding[behind] = before


@loop
def _candidates(
    scaled, ordered, norms, centre, head, following, left_in_cell, base, threshold, reach, cells,
    values,
):  # fmt: skip
    """List the next cells of every sensitive value with their similarity to the centre.

    They hold at least as many rows as a class, where so many are left: a list never runs dry.
    """
    count = 0
    for v in range(len(head)):
        cell, looked, rows, best = head[v], 0, 0, -1.0
        while cell >= 0 and (
            looked < reach or rows < base or (best < threshold and looked < reach * _FARTHER)
        ):
            cells[count] = cell
            values[count] = _cosine(scaled, ordered, norms, centre, cell)
            best = max(best, values[count])
            rows += left_in_cell[cell]
            count += 1
            looked += 1
            cell = following[cell]
    return count


@loop
def _first_allowed(head, in_class, left, after, size, base, l, limit):
    """The first cell left whose value may join, or -1."""
    first = -1
    for v in range(len(head)):
        if (
            head[v] >= 0
            and (first < 0 or head[v] < first)
            and _may_join(v, in_class, left, after, size, base, l, limit)
        ):
            first = head[v]
    return first


@loop
def _most_similar(
    cells, values, n_candidates, sensitive, left_in_cell, in_class, left, after, size, base,
    l, limit,
):  # fmt: skip
    """Place of the most similar candidate whose value may join, or -1."""
    may_join = np.zeros(len(left), np.bool_)
    for v in range(len(left)):
        may_join[v] = _may_join(v, in_class, left, after, size, base, l, limit)
    best = -1
    for i in range(n_candidates):
        if (
            may_join[sensitive[cells[i]]]
            and left_in_cell[cells[i]] > 0
            and (best < 0 or values[i] > values[best])
        ):
            best = i
    return best


@loop
def _may_join(v, in_class, left, after, size, base, l, limit):
    """Whether a row of value v leaves this class and those after it feasible.

    A value with more rows left than classes to come is *plentiful*: a row of it costs nothing.
    Any other row lowers sum_v min(c_v, after), which must stay at least l·after when the class is
    full; one is kept back for each distinct value the class still lacks and that no plentiful
    value can bring.
    """
    if left[v] == 0 or in_class[v] >= limit:
        return False
    slack, plentiful, lacking = -l * after, 0, l
    for w in range(len(left)):
        slack += min(left[w], after)
        lacking -= in_class[w] > 0
        if w != v and in_class[w] == 0 and left[w] > after:
            plentiful += 1
    lacking = max(lacking - (in_class[v] == 0), 0)
    if base - size - 1 < lacking:
        return False
    # Under a cap on the share, rows of a value must not pile up for the classes to come.
    if limit < base:
        obliged = 0
        for w in range(len(left)):
            obliged += max(left[w] - (w == v) - limit * after, 0)
        if obliged > base - size - 1 and left[v] <= limit * after:
            return False
    cost = 0 if left[v] > after else 1
    return slack - cost >= max(lacking - plentiful, 0)


@loop
def _join_residue(scaled, ordered, norms, cells, centres, room):
    """Return the most similar class with room for every row of the residue, and how similar."""
    joined, values = np.empty(len(cells), np.int64), np.empty(len(cells))
    for i in range(len(cells)):
        best, best_value = -1, -1.0
        for c in range(len(centres)):
            if room[c] > 0:
                value = _cosine(scaled, ordered, norms, cells[i], centres[c])
                if value > best_value:
                    best, best_value = c, value
        joined[i], values[i] = best, best_value
        room[best] -= 1
    return joined, values
