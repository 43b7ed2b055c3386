"""SDDA: Mondrian on fragments of a table, each anonymized by itself.

S. De Capitani di Vimercati et al., IEEE Trans. Big Data 9(3), 2023, and the facts of the authors'
public code: fragments by quantiles of the best-scoring column, columns by descending entropy,
numbers cut at the median, unordered values by frequency up to half of the rows. Simplified:
published on the common hierarchies; a fragment that is not valid by itself joins the next.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import entropy

from anonpaper.compiled import loop
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.publish import Release, shallow_generalize
from majeed2024_baselines.asked import checked


def sdda(m: Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> Release:
    """Cut a table into fragments, cut each by itself, and publish the classes."""
    return shallow_generalize(m, sdda_classes(m, k, l), hierarchies)


def sdda_classes(m: Microdata, k: int, l: int | None = None, *, fragments: int = 16) -> Partition:
    """Return the classes of all fragments."""
    k, l = checked(m, k, l)
    parts = _fragments(m, k, l, fragments)
    labels, groups = np.empty(m.n, np.int64), 0
    for rows in parts:
        labels[rows] = groups + _classes_within(rows, m, k, l)
        groups = labels[rows].max() + 1
    return Partition(labels, {"fragments": len(parts)}, f"SDDA, k = {k}")


def _fragments(m: Microdata, k: int, l: int | None, wanted: int) -> list[np.ndarray]:
    """Cut at the quantiles of the best-scoring ordered column whose quantiles all differ."""
    sizes = [np.bincount(codes) for codes in m.codes.T]
    by_score = sorted(
        (j for j in range(m.d) if m.attributes[j].ordered),
        key=lambda j: (entropy(sizes[j]), str(m.qi[j])), reverse=True,
    )  # fmt: skip
    for j in by_score:
        edges = np.quantile(m.codes[:, j], np.arange(1, wanted) / wanted, method="higher")
        if len(np.unique(edges)) == wanted - 1:
            of_row = np.searchsorted(edges, m.codes[:, j], side="right")
            pieces = [np.flatnonzero(of_row == i) for i in range(wanted)]
            return _joined_until_valid(m, [p for p in pieces if len(p)], k, l)
    return [np.arange(m.n)]


def _joined_until_valid(m: Microdata, pieces: list, k: int, l: int | None) -> list[np.ndarray]:
    parts: list[np.ndarray] = []
    pending = np.zeros(0, np.int64)
    for piece in pieces:
        pending = np.sort(np.r_[pending, piece])
        diverse = l is None or len(np.unique(m.sensitive_codes[pending])) >= l
        if len(pending) >= k and diverse:
            parts.append(pending)
            pending = np.zeros(0, np.int64)
    if len(pending):
        parts.append(np.sort(np.r_[parts.pop(), pending] if parts else pending))
    return parts


def _classes_within(rows: np.ndarray, m: Microdata, k: int, l: int | None) -> np.ndarray:
    # Columns in alphabetical order: of equal scores the last is tried first.
    by_name = sorted(range(m.d), key=lambda j: str(m.qi[j]))
    sensitive = np.zeros(m.n, np.int64) if l is None else m.sensitive_codes.astype(np.int64)
    return _cut_fragment(
        np.ascontiguousarray(m.codes[rows][:, by_name]),
        np.array([m.attributes[j].ordered for j in by_name]),
        np.array([m.attributes[j].size for j in by_name]),
        sensitive[rows], 1 if l is None else m.sensitive_attribute.size, k, l or 1,
    )  # fmt: skip


@loop
def _cut_fragment(codes, ordered, sizes, sensitive, n_values, k, l):
    """Label the rows of a fragment; parts are cut first in, first out."""
    n, d = codes.shape
    order, buffer = np.arange(n), np.empty(n, np.int64)
    labels = np.empty(n, np.int64)
    counts = np.zeros(max(sizes.max(), n_values) + 1, np.int64)
    left = np.empty(max(sizes.max(), 1), np.bool_)
    queue = [(0, n)]
    head, groups = 0, 0
    while head < len(queue):
        first, last = queue[head]
        head += 1
        rows = order[first:last]
        middle = first
        if last - first >= 2 * k:
            scores = np.empty(d)
            for j in range(d):
                scores[j] = _score(codes[:, j], rows, sizes[j], counts)
            # Ascending and stable, walked from behind: ties to the last column.
            for j in np.argsort(scores, kind="mergesort")[::-1]:
                if scores[j] <= 0:
                    break
                _choose_left(codes[:, j], rows, sizes[j], ordered[j], counts, left)
                if _valid(codes[:, j], rows, left, sensitive, n_values, counts, k, l):
                    middle = first
                    for i in rows:
                        if left[codes[i, j]]:
                            buffer[middle] = i
                            middle += 1
                    behind = middle
                    for i in rows:
                        if not left[codes[i, j]]:
                            buffer[behind] = i
                            behind += 1
                    for place in range(first, last):
                        order[place] = buffer[place]
                    break
        if middle == first:
            labels[order[first:last]] = groups
            groups += 1
        else:
            queue.append((first, middle))
            queue.append((middle, last))
    return labels


@loop
def _score(column, rows, size, counts):
    """Entropy of the values of a column in a part, natural logarithm."""
    for i in rows:
        counts[column[i]] += 1
    score = 0.0
    for value in range(size):
        if counts[value] > 0:
            share = counts[value] / len(rows)
            score -= share * np.log(share)
            counts[value] = 0
    return score


@loop
def _choose_left(column, rows, size, ordered, counts, left):
    """Which values of a column go left."""
    for i in rows:
        counts[column[i]] += 1
    half = len(rows) / 2
    if ordered:
        # Twice the median: the mean of the two middle values, where there are two.
        low, high, seen = -1, -1, 0
        for value in range(size):
            seen += counts[value]
            if low < 0 and seen > (len(rows) - 1) // 2:
                low = value
            if high < 0 and seen > len(rows) // 2:
                high = value
        for value in range(size):
            left[value] = 2 * value < low + high
    else:
        taken = 0
        by_frequency = np.argsort(-counts[:size], kind="mergesort")
        left[:size] = False
        for value in by_frequency:
            if taken + counts[value] >= half:
                # The boundary value goes to the lighter side.
                left[value] = taken < len(rows) - taken - counts[value]
                break
            left[value] = True
            taken += counts[value]
    counts[:size] = 0


@loop
def _valid(column, rows, left, sensitive, n_values, counts, k, l):
    """Whether both sides have k rows and l distinct sensitive values."""
    for side in range(2):
        size, distinct = 0, 0
        for i in rows:
            if left[column[i]] == (side == 0):
                size += 1
                counts[sensitive[i]] += 1
                distinct += counts[sensitive[i]] == 1
        counts[:n_values] = 0
        if size < k or distinct < l:
            return False
    return True
