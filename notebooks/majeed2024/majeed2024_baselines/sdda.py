"""SDDA: Mondrian on fragments of a table, each anonymized by itself.

S. De Capitani di Vimercati et al., IEEE Trans. Big Data 9(3), 2023, and the facts of the authors'
public code: fragments by quantiles of the best-scoring column, columns by descending entropy,
numbers cut at the median, unordered values by frequency up to half of the rows. Simplified:
published on the common hierarchies; a fragment that is not valid by itself joins the next.
"""

from collections.abc import Callable

import numpy as np
from scipy.stats import entropy

import anonpaper as ap
from anonpaper.compiled import loop
from anonpaper.errors import check_integer
from anonpaper.principles import require_diverse

FRAGMENTS = 16


def sdda(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Cut a table into fragments, cut each by itself, and publish the classes."""
    # Columns in alphabetical order: of equal scores the last is tried first.
    by_name = sorted(range(m.d), key=lambda j: str(m.qi[j]))
    codes = np.ascontiguousarray(m.codes[:, by_name])

    def halves(rows):
        part = codes[rows]
        scores = _entropies(part)
        for j in np.argsort(scores, kind="mergesort")[::-1]:
            if scores[j] > 0:
                yield ~_goes_left(part[:, j], m.attributes[by_name[j]].ordered)

    fragments = _fragments(m, is_valid(m, k, l))
    p = cut_up(m, fragments, halves, k, l, "SDDA")
    p.info["fragments"] = len(fragments)
    return ap.shallow_generalize(m, p, hierarchies)


def is_valid(m: ap.Microdata, k: int, l: int | None) -> Callable[[np.ndarray], bool]:
    """Return whether rows are enough and of enough values; an error if the table is not."""
    k = check_integer("k", k, 2, m.n)
    l = 1 if l is None else require_diverse(m, l, "distinct")
    return lambda rows: len(rows) >= k and len(np.unique(m.sensitive_codes[rows])) >= l


def cut_up(m: ap.Microdata, parts: list, halves: Callable, k, l, name: str) -> ap.Partition:
    """Cut parts of the rows by the first of several halves of which both are valid."""
    valid, parts, labels, groups = is_valid(m, k, l), [*parts], np.empty(m.n, np.int64), 0
    while parts:
        rows = parts.pop()
        for right in halves(rows) if len(rows) >= 2 * k else ():
            if valid(rows[~right]) and valid(rows[right]):
                parts += [rows[right], rows[~right]]
                break
        else:
            labels[rows] = groups
            groups += 1
    return ap.Partition(labels, {}, f"{name}, k = {k}")


def _fragments(m: ap.Microdata, valid: Callable) -> list[np.ndarray]:
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
        if valid(rows):
            parts.append(rows)
            begin = end
    if len(rest := np.flatnonzero(place >= begin)):
        parts[-1:] = [np.sort(np.concatenate([*parts[-1:], rest]))]
    return parts


@loop
def _entropies(part):
    """Entropy of the values of every column, natural logarithm."""
    scores = np.zeros(part.shape[1])
    for j in range(part.shape[1]):
        for count in np.bincount(part[:, j]):
            if count > 0:
                scores[j] -= count / len(part) * np.log(count / len(part))
    return scores


def _goes_left(column: np.ndarray, ordered: bool) -> np.ndarray:
    """Return which rows go left: below the median, or frequent values up to half of all."""
    if ordered:
        return column < np.median(column)
    counts = np.bincount(column)
    order, left = np.argsort(-counts, kind="mergesort"), np.zeros(len(counts), bool)
    after = np.cumsum(counts[order])
    left[order] = 2 * after - counts[order] < len(column)  # the last one to the lighter side
    return left[column]
