"""AFA, core: fixed intervals for numbers, l-diverse slicing for categories.

J. A. Onesimu, J. Karthikeyan, J. Eunice, M. Pomplun, H. Dang, IEEE Access 10, 2022, of which only
the abstract was at hand; slicing after T. Li, N. Li, J. Zhang, I. Molloy, TKDE 24(3), 2012. The
number of intervals (equal width), the grouping of columns (Cramér's V) and the buckets (Mondrian)
are our choices. Categories keep their exact values: Equation 9 counts them as not generalized.
"""

import numpy as np
from scipy.stats.contingency import association, crosstab

import anonpaper as ap
from anonpaper.groups import Entries
from anonpaper.publish import PublishedAttribute
from anonpaper.published_values import SubDomains

_WIDEST, _INTERVALS, _NEGLIGIBLE = 3, 10, 0.1  # columns of a group; of a number; association


class SlicedRelease(ap.Release):
    """A release whose rows are linked to people by bucket only; its buckets are the classes."""

    @property
    def classes(self) -> ap.Partition:
        """The buckets."""
        return self.partition


def afa_core(m: ap.Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> ap.Release:
    """Cut numbers into intervals and permute categories within buckets."""
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
