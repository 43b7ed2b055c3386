"""Seven methods that majeed2024 compares its own with, each from its published description.

Names end in ``-core`` where only an abstract is known; of DCA we know the title alone. All take
``(m, k, l, hierarchies, *, seed)`` and publish the lowest common level of the hierarchies, as the
proposed method does. With ``l=None`` only k is enforced, as section 1.2 describes other methods.
"""

from collections.abc import Callable

import numpy as np
from majeed2024_noise import hyobscure, lopub
from scipy.stats import entropy
from scipy.stats.contingency import association, crosstab

import anonpaper as ap
from anonpaper.compiled import loop
from anonpaper.errors import check_integer
from anonpaper.groups import Entries
from anonpaper.principles import require_diverse
from anonpaper.publish import PublishedAttribute
from anonpaper.published_values import SubDomains

_WIDEST, _INTERVALS, _NEGLIGIBLE = 3, 10, 0.1  # columns of a group; of a number; association
FRAGMENTS = 16
_ITERATIONS, _PENALTY = 10, 0.5


def l_diversity(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Generalize every attribute to one level so that the table is k-anonymous and l-diverse.

    A. Machanavajjhala et al., TKDE 1(1), 2007. Distinct diversity is our reading: frequency and
    entropy 2-diversity are impossible on these tables. The levels of least loss (NCP) are taken.
    """
    return ap.recode(m, ap.full_domain(m, k, hierarchies, l, diversity="distinct"))


def mrmondrian(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Publish Mondrian's classes: cuts in rounds, until a part fits into memory, end in the same.

    X. Zhang et al., IEEE Trans. Big Data 8(1), 2022, known by its abstract alone.
    """
    return ap.shallow_generalize(m, ap.mondrian(m, k, l, diversity="distinct"), hierarchies)


class SlicedRelease(ap.Release):
    """A release whose rows are linked to people by bucket only; its buckets are the classes."""

    @property
    def classes(self) -> ap.Partition:
        """The buckets."""
        return self.partition


def afa_core(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Cut numbers into intervals and permute categories within buckets.

    J. A. Onesimu et al., IEEE Access 10, 2022, known by its abstract alone; slicing after T. Li et
    al., TKDE 24(3), 2012. Equal widths, columns grouped by Cramér's V and Mondrian's buckets are
    our choices. Equation 9 counts exact categories as not generalized.
    """
    p = ap.mondrian(m, k, l, diversity="distinct")
    rng, published = np.random.default_rng(seed), [None] * m.d
    by_bucket = np.argsort(p.labels, kind="stable")
    for group in _column_groups(m):
        shuffled, source = rng.permutation(m.n), np.empty(m.n, np.int64)
        source[by_bucket] = shuffled[np.argsort(p.labels[shuffled], kind="stable")]
        for j in group:
            values = np.arange(m.attributes[j].size)
            kept = SubDomains.runs(m.attributes[j], values, values)
            published[j] = PublishedAttribute(kept, m.codes[source, j].astype(np.int32))
    for j, a in enumerate(m.attributes):
        if a.ordered:
            place = (a.positions - a.positions[0]) / (a.width or 1.0) * _INTERVALS
            place = np.minimum(place.astype(int), _INTERVALS - 1)
            interval = np.unique(place, return_inverse=True)[1].astype(np.int32)
            values = SubDomains.sets(a, interval, np.arange(a.size))
            published[j] = PublishedAttribute(values, interval[m.codes[:, j]])
    p = ap.Partition(p.labels, p.info, f"AFA-core, k = {k}")
    return SlicedRelease(Entries.of(m, p), published, "slice", p)


def _column_groups(m: ap.Microdata) -> list[list[int]]:
    """Group the unordered quasi-identifiers by association, at most three to a group."""
    groups: list[list[int]] = []
    for j in (j for j, attribute in enumerate(m.attributes) if not attribute.ordered):
        ties = {
            np.mean([_cramers_v(m.codes[:, j], m.codes[:, i]) for i in group]): group
            for group in reversed(groups) if len(group) < _WIDEST
        }  # fmt: skip
        if ties and max(ties) >= _NEGLIGIBLE:
            ties[max(ties)].append(j)
        else:
            groups.append([j])
    return groups


def _cramers_v(a: np.ndarray, b: np.ndarray) -> float:
    """Return Cramér's V of two columns of codes, from 0 (independent or constant) to 1."""
    table = crosstab(a, b).count
    return float(association(table)) if min(table.shape) > 1 else 0.0


def sdda(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Cut a table into fragments, cut each by itself, and publish the classes.

    S. De Capitani di Vimercati et al., IEEE Trans. Big Data 9(3), 2023, and the facts of the
    authors' public code: fragments by quantiles of the best-scoring column, columns by descending
    entropy, numbers cut at the median, unordered values by frequency up to half of the rows. Ours:
    common hierarchies; a fragment that is not valid by itself joins the next.
    """
    # Columns in alphabetical order: of equal scores the last is tried first.
    by_name = sorted(range(m.d), key=lambda j: str(m.qi[j]))
    codes = np.ascontiguousarray(m.codes[:, by_name])

    def halves(rows):
        part = codes[rows]
        scores = _entropies(part)
        for j in np.argsort(scores, kind="mergesort")[::-1]:
            if scores[j] > 0:
                yield ~_goes_left(part[:, j], m.attributes[by_name[j]].ordered)

    p = cut_up(m, _fragments(m, is_valid(m, k, l)), halves, k, l, "SDDA")
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


def dhkmeans_core(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Split a table by 2-means as long as both clusters are valid, and publish the clusters.

    F. Ashkouti et al., J. Supercomputing 78(2), 2022, known by its abstract alone: the phases are
    our reconstruction. Seeds are the row farthest from the mean and the row farthest from it.
    Lloyd's iterations add a penalty where a cluster has more of the row's sensitive value than the
    part. Invalid splits are replaced by halves by the difference of distances, or else none.
    """
    # A centre holds the shares of the values of a column, or the mean of an ordered one, at 0.
    place, weight = np.column_stack([m.codes, m.sensitive_codes]), np.ones((m.n, m.d + 1))
    place = place.astype(np.int64)
    ordered = np.array([a.ordered for a in m.attributes])
    for j, a in enumerate(m.attributes):
        if a.ordered:
            weight[:, j] = (a.positions[m.codes[:, j]] - a.positions[0]) / (a.width or 1.0)
            place[:, j] = 0

    def halves(rows):
        margin = _two_means(place[rows], weight[rows], ordered)
        yield margin > 0
        yield np.argsort(np.argsort(margin, kind="stable")) >= len(rows) // 2

    p = cut_up(m, [np.arange(m.n)], halves, k, l, "DHkmeans-LD-core")
    return ap.shallow_generalize(m, p, hierarchies)


@loop
def _two_means(place, weight, ordered):
    """How much nearer rows are to the second of two clusters than to the first."""
    largest, right = place.max() + 1, np.zeros(len(place), np.bool_)
    whole = _centre(place, weight, largest)
    centres = [whole, whole]
    for side in (1, 0):
        costs = _costs(place, weight, ordered, centres[side], whole)
        seed = np.flatnonzero(costs > costs.max() - 1e-12)[:1]
        centres[1] = centres[0]
        centres[0] = _centre(place[seed], weight[seed], largest)
        centres[0][-1] = whole[-1]
    margin = np.zeros(len(place))
    for _ in range(_ITERATIONS):
        margin = _costs(place, weight, ordered, centres[0], whole)
        margin -= _costs(place, weight, ordered, centres[1], whole)
        moved = (margin > 0) != right
        right = margin > 0
        if not moved.any() or right.all() or not right.any():
            break
        centres[0] = _centre(place[~right], weight[~right], largest)
        centres[1] = _centre(place[right], weight[right], largest)
    return margin


@loop
def _centre(place, weight, largest):
    """Mean of ordered columns, shares of the values of others."""
    centre = np.empty((place.shape[1], largest))
    for j in range(place.shape[1]):
        centre[j] = np.bincount(place[:, j], weight[:, j] / len(place), largest)
    return centre


@loop
def _costs(place, weight, ordered, centre, whole):
    """Squared distances of rows and a centre, with the penalty for their sensitive value."""
    total = np.zeros(len(place))
    for j in range(len(ordered)):
        share = centre[j][place[:, j]]
        if ordered[j]:
            total += (weight[:, j] - share) ** 2
        else:
            total += (1 - 2 * share + (centre[j] ** 2).sum()) / 2
    return total + _PENALTY * np.maximum(0.0, centre[-1][place[:, -1]] - whole[-1][place[:, -1]])


#: Name in tables and figures -> method, in the paper's order.
BASELINES = {
    "LD": l_diversity,
    "AFA-core": afa_core,
    "MRMondrian": mrmondrian,
    "LoPub": lopub,
    "DHkmeans-LD-core": dhkmeans_core,
    "SDDA": sdda,
    "HyObscure": hyobscure,
}
