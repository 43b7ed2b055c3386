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
from anonpaper.errors import check_integer
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.principles import require_diverse
from anonpaper.publish import Release, shallow_generalize

FRAGMENTS = 16


def sdda(m: Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> Release:
    """Cut a table into fragments, cut each by itself, and publish the classes."""
    sensitive, k, l = checked(m, k, l)
    # Columns in alphabetical order: of equal scores the last is tried first.
    by_name = sorted(range(m.d), key=lambda j: str(m.qi[j]))
    ordered = np.array([m.attributes[j].ordered for j in by_name])
    labels, groups, parts = np.empty(m.n, np.int64), 0, _fragments(m, sensitive, k, l)
    for rows in parts:
        codes = np.ascontiguousarray(m.codes[rows][:, by_name])
        labels[rows] = groups + _cut_fragment(codes, ordered, sensitive[rows], k, l)
        groups = labels[rows].max() + 1
    p = Partition(labels, {"fragments": len(parts)}, f"SDDA, k = {k}")
    return shallow_generalize(m, p, hierarchies)


def checked(m: Microdata, k: int, l: int | None) -> tuple[np.ndarray, int, int]:
    """Return the sensitive codes, k and l (1 for None) if the table can meet them, or raise."""
    k = check_integer("k", k, 2, m.n)
    l = 1 if l is None else require_diverse(m, l, "distinct")
    return m.sensitive_codes.astype(np.int64), k, l


@loop
def is_valid(sensitive, k, l):
    """Whether rows of these sensitive values are enough, and of enough values."""
    return len(sensitive) >= k and len(np.unique(sensitive)) >= l


def _fragments(m: Microdata, sensitive: np.ndarray, k: int, l: int) -> list[np.ndarray]:
    """Cut at the quantiles of the best-scoring ordered column whose quantiles all differ."""
    scores = {
        (entropy(np.bincount(m.codes[:, j])), str(m.qi[j])): m.codes[:, j]
        for j in range(m.d) if m.attributes[j].ordered
    }  # fmt: skip
    for _, codes in sorted(scores.items(), key=lambda scored: scored[0], reverse=True):
        edges = np.quantile(codes, np.arange(1, FRAGMENTS) / FRAGMENTS, method="higher")
        if len(np.unique(edges)) == FRAGMENTS - 1:
            break
    else:
        return [np.arange(m.n)]
    place, parts, begin = np.searchsorted(edges, codes, side="right"), [], 0
    for end in range(1, FRAGMENTS + 1):
        rows = np.flatnonzero((begin <= place) & (place < end))
        if is_valid(sensitive[rows], k, l):
            parts.append(rows)
            begin = end
    if len(rest := np.flatnonzero(place >= begin)):
        parts[-1:] = [np.sort(np.concatenate([*parts[-1:], rest]))]
    return parts


@loop
def _cut_fragment(codes, ordered, sensitive, k, l):
    """Label the rows of a fragment; parts are cut first in, first out."""
    labels, groups, queue, head = np.empty(len(codes), np.int64), 0, [np.arange(len(codes))], 0
    while head < len(queue):
        rows, is_cut = queue[head], False
        head += 1
        if len(rows) >= 2 * k:
            scores = np.array([_entropy(codes[rows, j]) for j in range(len(ordered))])
            for j in np.argsort(scores, kind="mergesort")[::-1]:
                if scores[j] <= 0:
                    break
                left = _goes_left(codes[rows, j], ordered[j])
                halves = [rows[left], rows[~left]]
                if is_valid(sensitive[halves[0]], k, l) and is_valid(sensitive[halves[1]], k, l):
                    queue += halves
                    is_cut = True
                    break
        if not is_cut:
            labels[rows] = groups
            groups += 1
    return labels


@loop
def _entropy(column):
    """Entropy of the values of a column, natural logarithm."""
    score = 0.0
    for count in np.bincount(column):
        if count > 0:
            score -= count / len(column) * np.log(count / len(column))
    return score


@loop
def _goes_left(column, ordered):
    """Which rows go left: below the median, or of frequent values up to half of the rows."""
    if ordered:
        return column < np.median(column)
    counts = np.bincount(column)
    order, left = np.argsort(-counts, kind="mergesort"), np.zeros(len(counts), np.bool_)
    after = np.cumsum(counts[order])
    left[order] = 2 * after - counts[order] < len(column)  # the last one to the lighter side
    return left[column]
