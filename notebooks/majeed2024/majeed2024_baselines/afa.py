"""AFA, core: fixed intervals for numbers, l-diverse slicing for categories.

J. A. Onesimu, J. Karthikeyan, J. Eunice, M. Pomplun, H. Dang, IEEE Access 10, 2022, of which only
the abstract was at hand; slicing after T. Li, N. Li, J. Zhang, I. Molloy, TKDE 24(3), 2012. The
number of intervals (equal width), the grouping of columns (Cramér's V) and the buckets (Mondrian)
are our choices. Categories keep their exact values: Equation 9 counts them as not generalized.
"""

from __future__ import annotations

import numpy as np

from anonpaper.groups import Entries, Partition
from anonpaper.microdata import Attribute, Microdata
from anonpaper.partition.mondrian import mondrian
from anonpaper.publish import PublishedAttribute, Release
from anonpaper.published_values import SubDomains
from anonpaper.randomness import generator
from majeed2024_baselines.simple import cramers_v

_WIDEST, _INTERVALS = 3, 10


class SlicedRelease(Release):
    """A release whose rows are linked to people by bucket only; its buckets are the classes."""

    @property
    def classes(self) -> Partition:
        """The buckets."""
        return self.partition


def afa_core(m: Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> Release:
    """Cut numbers into intervals and permute categories within buckets."""
    p = mondrian(m, k, l, diversity="distinct")
    rng = generator(seed)
    index = [None] * m.d
    for group in column_groups(m):
        order = _permuted_within(p, rng)
        for j in group:
            index[j] = m.codes[order, j]
    published = []
    for j, attribute in enumerate(m.attributes):
        if attribute.ordered:
            published.append(_interval(attribute, m.codes[:, j]))
        else:
            values = np.arange(attribute.size)
            kept = SubDomains.runs(attribute, values, values)
            published.append(PublishedAttribute(kept, index[j].astype(np.int32)))
    info = Partition(p.labels, p.info, f"AFA-core, k = {k}")
    return SlicedRelease(Entries.of(m, info), published, "slice", info)


def column_groups(m: Microdata) -> list[list[int]]:
    """Group the unordered quasi-identifiers by association, at most three to a group."""
    groups: list[list[int]] = []
    for j, attribute in enumerate(m.attributes):
        if attribute.ordered:
            continue
        open_ = [group for group in groups if len(group) < _WIDEST]
        ties = [
            np.mean([cramers_v(m.codes[:, j], m.codes[:, i]) for i in group]) for group in open_
        ]
        # An association below 0.1 is commonly called negligible.
        if ties and max(ties) >= 0.1:
            open_[int(np.argmax(ties))].append(j)
        else:
            groups.append([j])
    return groups


def _permuted_within(p: Partition, rng: np.random.Generator) -> np.ndarray:
    """Return the row whose values every row publishes: a permutation within each bucket."""
    by_bucket = np.argsort(p.labels, kind="stable")
    shuffled = rng.permutation(len(p))
    source = np.empty(len(p), np.int64)
    source[by_bucket] = shuffled[np.argsort(p.labels[shuffled], kind="stable")]
    return source


def _interval(attribute: Attribute, codes: np.ndarray) -> PublishedAttribute:
    """Cut an ordered attribute into intervals of equal width."""
    scaled = (attribute.positions - attribute.positions[0]) / (attribute.width or 1.0)
    of_value = np.minimum((scaled * _INTERVALS).astype(int), _INTERVALS - 1)
    _, of_value = np.unique(of_value, return_inverse=True)
    values = SubDomains.sets(attribute, of_value, np.arange(attribute.size))
    return PublishedAttribute(values, of_value[codes].astype(np.int32))
