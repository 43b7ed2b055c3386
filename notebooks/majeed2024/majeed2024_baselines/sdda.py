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
from majeed2024_baselines.simple import checked


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
        sensitive[rows], k, l or 1,
    )  # fmt: skip


@loop
def _cut_fragment(codes, ordered, sizes, sensitive, k, l):
    """Label the rows of a fragment; parts are cut first in, first out."""
    n, d = codes.shape
    labels, groups = np.empty(n, np.int64), 0
    counts = np.zeros((d, sizes.max()), np.int64)
    queue = [np.arange(n)]
    head = 0
    while head < len(queue):
        rows = queue[head]
        head += 1
        is_cut = False
        if len(rows) >= 2 * k:
            counts[:] = 0
            scores = np.empty(d)
            for j in range(d):
                for i in rows:
                    counts[j, codes[i, j]] += 1
                scores[j] = _entropy(counts[j])
            # Ascending and stable, walked from behind: ties to the last column.
            for j in np.argsort(scores, kind="mergesort")[::-1]:
                if scores[j] <= 0:
                    break
                left = _left_values(counts[j, : sizes[j]], ordered[j], len(rows))[
                    codes[:, j][rows]
                ]
                if _valid(sensitive[rows[left]], k, l) and _valid(sensitive[rows[~left]], k, l):
                    queue.append(rows[left])
                    queue.append(rows[~left])
                    is_cut = True
                    break
        if not is_cut:
            labels[rows] = groups
            groups += 1
    return labels


@loop
def _entropy(counts):
    """Entropy of counts, natural logarithm."""
    score, rows = 0.0, counts.sum()
    for count in counts:
        if count > 0:
            score -= count / rows * np.log(count / rows)
    return score


@loop
def _left_values(counts, ordered, rows):
    """Which values of a column go left."""
    left = np.zeros(len(counts), np.bool_)
    if ordered:
        # Twice the median: the mean of the two middle values, where there are two.
        seen = np.cumsum(counts)
        low = np.searchsorted(seen, (rows - 1) // 2, side="right")
        high = np.searchsorted(seen, rows // 2, side="right")
        return 2 * np.arange(len(counts)) < low + high
    taken = 0
    for value in np.argsort(-counts, kind="mergesort"):
        if taken + counts[value] >= rows / 2:
            # The boundary value goes to the lighter side.
            left[value] = taken < rows - taken - counts[value]
            break
        left[value] = True
        taken += counts[value]
    return left


@loop
def _valid(values, k, l):
    """Whether rows of these sensitive values are enough, and of enough values."""
    return len(values) >= k and len(np.unique(values)) >= l
