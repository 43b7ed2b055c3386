"""AFA, core: fixed intervals for numbers, l-diverse slicing for categories.

Source: J. A. Onesimu, J. Karthikeyan, J. Eunice, M. Pomplun, H. Dang, *Privacy preserving
attribute-focused anonymization scheme for healthcare data publishing*, IEEE Access 10, 2022. Only
its abstract was at hand: hence *core*. Slicing after T. Li, N. Li, J. Zhang, I. Molloy, *Slicing:
a new approach for privacy preserving data publishing*, TKDE 24(3), 2012.

How sure: numbers by fixed intervals and categories by an improved l-diverse slicing is what the
abstract says. Number of intervals, grouping of columns and buckets are choices made here:

1. numbers: equal-width intervals over the range, published as such;
2. columns: each unordered quasi-identifier joins the group (of at most three columns) with whose
   members its mean association, Cramér's V, is greatest; the sensitive attribute stays with none,
   so that its link is broken as well;
3. rows: buckets by Mondrian on the whole table;
4. in every bucket each column group is permuted by itself.

An attacker sees buckets, so these are the classes of the release. Categories keep their exact
values: distortion (Eq. 9) counts them as not generalized, though they stand beside others' values.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anonpaper.errors import check_integer
from anonpaper.groups import Partition
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Attribute, Microdata
from anonpaper.partition.mondrian import mondrian
from anonpaper.publish import PublishedAttribute, Release
from anonpaper.randomness import generator
from anonpaper.subdomains import SubDomains
from majeed2024_baselines.association import cramers_v

_WIDEST = 3


class SlicedRelease(Release):
    """A release whose rows are linked to people by bucket only; its buckets are the classes."""

    @property
    def classes(self) -> Partition:
        """The buckets."""
        return self.partition


def afa_core(
    m: Microdata,
    k: int,
    l: int | None,
    hierarchies: Mapping[object, Hierarchy],
    *,
    intervals: int = 10,
    seed: int = 0,
) -> Release:
    """Cut numbers into intervals and permute categories within buckets."""
    intervals = check_integer("intervals", intervals, 1)
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
            published.append(_interval(attribute, m.codes[:, j], intervals))
        else:
            values = np.arange(attribute.size)
            kept = SubDomains.runs(attribute, values, values)
            published.append(PublishedAttribute(kept, index[j].astype(np.int32)))
    info = Partition(p.labels, p.info, f"AFA-core, k = {k}")
    return SlicedRelease(m, tuple(published), "slice", partition=info)


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


def _interval(attribute: Attribute, codes: np.ndarray, intervals: int) -> PublishedAttribute:
    scaled = (attribute.positions - attribute.positions[0]) / (attribute.width or 1.0)
    of_value = np.minimum((scaled * intervals).astype(int), intervals - 1)
    _, of_value = np.unique(of_value, return_inverse=True)
    values = SubDomains.sets(attribute, of_value, np.arange(attribute.size))
    return PublishedAttribute(values, of_value[codes].astype(np.int32))
