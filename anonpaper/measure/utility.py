"""Utility: published values, distributions, and a classifier trained on a release."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.cells import distinct
from anonpaper.hierarchy import Hierarchy, check_hierarchies
from anonpaper.measure.loss import total
from anonpaper.microdata import Attribute, Microdata, check_microdata
from anonpaper.publish import Release, check_release
from anonpaper.published_values import SubDomains, codes_in, rows_at
from anonpaper.randomness import generator
from anonpaper.roles import only_one

__all__ = [
    "Classification", "classification", "distortion", "generalizations", "marginal_similarity",
]  # fmt: skip

#: A classifier is trained on at most this many numbers, of four bytes each.
_MOST_FEATURES = 500_000_000
_ROWS_OF_A_TREE = 20_000  # drawn for each tree, if there are more


def distortion(rel: Release, hierarchies: Mapping[object, Hierarchy]) -> float:
    """Mean level of the published values over the hierarchy's height, from 0 to 1.

    This is Eq. 9 of majeed2024 per row, with equal weights w_Q. The level of a sub-domain is the
    lowest on which all its values have one name, even if the release was made otherwise; a
    withheld row is on the highest. HierarchyError if a hierarchy is missing, lacks values, or does
    not join a sub-domain.

    >>> m = ap.examples.hospital()
    >>> trees = {a.name: ap.Hierarchy.flat(a.values) for a in m.attributes}
    >>> distortion(ap.suppress(m, ap.Partition([0] * m.n)), trees)
    1.0
    """
    m = check_release(rel).microdata
    hierarchies = check_hierarchies(hierarchies, m.qi)

    def level(p):
        name = p.attribute.name
        if name not in hierarchies:
            raise errors.HierarchyError(f"hierarchies lacks {name!r}: add one")
        ids = hierarchies[name].maps(p.attribute).T.astype(float)
        agree = p.sub_domains.means(ids**2) == p.sub_domains.means(ids) ** 2  # no variance
        if not agree.any(axis=1).all():
            raise errors.HierarchyError(f"the top of hierarchies[{name!r}] must join all values")
        return agree.argmax(axis=1) / max(hierarchies[name].height, 1)

    return total(rel, level) / (m.n * m.d)


def generalizations(rel: Release) -> int:
    """Number of values not published as themselves, from 0 to n·d.

    A value that was moved to another row counts too. A hierarchy node that covers only one value
    is no generalization. Table 12 of majeed2024 counts all n·d values of the *augmented* table for
    "existing methods".

    >>> generalizations(ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_anonymous()))
    2
    """
    e, shown = check_release(rel).entries, rel.shown
    changed = e.rows(~shown) * e.m.d
    for p, codes in zip(rel.published, e.codes[shown].T, strict=True):
        index = p.index[shown]
        moved = (p.sizes[index] > 1) | (p.sub_domains.low[index] != codes)
        changed += int(e.counts[shown][moved].sum())
    return changed


def marginal_similarity(m: Microdata, rel: Release) -> float:
    """One minus the mean distance of all one- and two-way marginals, from 0 to 1 (equal).

    The distance is total variation, the second interpretation of majeed2024's Eq. 8. Rows need not
    correspond, so it also works for synthetic tables. A published sub-domain spreads its row
    evenly over its values. Values that the real table `m` lacks count as differences.

    >>> m = ap.examples.hospital()
    >>> marginal_similarity(m, ap.suppress(m, ap.Partition(m.cells.tuple_of_row)))
    1.0
    """
    shown = _check_roles(rel, m).shown
    theirs = [(p.sub_domains, p.index[shown]) for p in rel.published]
    if m.sensitive is not None:
        attribute = rel.microdata.sensitive_attribute
        values = np.arange(attribute.size)
        theirs.append((SubDomains.runs(attribute, values, values), rel.secrets[shown]))
    ours = [
        codes_in(of.attribute, m.attribute(name))[m.codes_of_cells(name)]
        for (of, _), name in zip(theirs, [*m.qi, *m.sensitives], strict=True)
    ]
    distances = []
    for i, j in combinations_with_replacement(range(len(ours)), 2):
        columns = sorted({i, j})
        domains, index = zip(*(theirs[i] for i in columns), strict=True)
        # one more code, the first, for values that the release does not have
        sizes = [domain.attribute.size + 1 for domain in domains]
        _, first, counts = distinct([ours[i] + 1 for i in columns], sizes, m.cells.counts)
        points = np.column_stack([ours[i][first] for i in columns])
        published = rows_at(points, domains, index, rel.entries.counts[shown])
        # both have mass 1, so where the table has more, the release has as much less
        more = counts / m.n - published / rel.entries.rows(shown)
        distances.append(np.maximum(more, 0).sum())
    return float(1 - np.mean(distances))


class Classification(NamedTuple):
    """How a classifier trained on a release predicts people it has not seen."""

    confusion: pd.DataFrame  # test rows by true sensitive value (rows) and predicted (columns)
    accuracy: float  # share of the test rows predicted correctly (Eq. 10)
    balanced_accuracy: float  # mean recall over the values that occur


def classification(
    rel: Release,
    test: Microdata,
    *,
    trees: int = 50,
    balanced: bool = False,
    seed: int | np.random.Generator = 0,
) -> Classification:
    """How a random forest trained on a release predicts original rows: scores from 0 to 1.

    A sub-domain is encoded by the mean of its values if they are ordered, otherwise by the share
    of each value in it. `test` has held-out real people with the same roles, else ColumnError. The
    forest has `trees`, each of at most 20,000 rows; if `balanced`, all sensitive values, rather
    than all rows, weigh the same in training. SizeLimitError above 500 million rows times features
    (one for every value of an unordered attribute).

    >>> m = ap.examples.hospital()
    >>> release = ap.suppress(m, ap.examples.hospital_two_diverse())
    >>> classification(release, m, trees=5).confusion.to_numpy().sum().item()
    10
    """
    with errors.needs("learning"):
        from sklearn.ensemble import RandomForestClassifier

    balanced = errors.check_choice("balanced", balanced, (False, True))
    mine, shown = _check_roles(rel, test).microdata, rel.entries.of_row[rel.is_published]
    secret = only_one(mine.sensitive)
    if test.synthetic.any():
        raise errors.ParameterError(
            f"{int(test.synthetic.sum())} test rows are synthetic: test on real people"
        )
    forest = RandomForestClassifier(
        errors.check_integer("trees", trees, 1), min_samples_leaf=2,
        random_state=int(generator(seed).integers(2**31)),
        max_samples=None if len(shown) <= _ROWS_OF_A_TREE else _ROWS_OF_A_TREE,
        class_weight="balanced" if balanced else None,
    )  # fmt: skip
    width = sum(1 if a.ordered else a.size for a in mine.attributes)
    if width * max(len(shown), test.n) > _MOST_FEATURES:
        raise errors.SizeLimitError(
            f"{max(len(shown), test.n):,} rows have {width:,} features, one per unordered value; "
            f"the limit is {_MOST_FEATURES:,} numbers: group values, or take fewer rows"
        )
    forest.fit(_published_features(rel, shown), rel.sensitive_codes[rel.is_published])
    said = forest.predict(_plain_features(rel, test))
    values, theirs = (table.attribute(secret).values for table in (mine, test))
    domain = list(dict.fromkeys([*values, *theirs]))
    true = pd.Categorical(theirs[test.sensitive_codes], domain)
    table = pd.crosstab(true, pd.Categorical(values[said], domain), dropna=False)
    table = table.rename_axis(index="true", columns="predicted")
    right, rows = np.diag(table), table.sum(axis=1)
    recall = (right / rows.where(rows > 0)).mean()
    return Classification(table, float(right.sum() / test.n), float(recall))


def _check_roles(rel: Release, m: Microdata) -> Release:
    """Return a release if it has rows and the roles of a table; else EmptyTableError or so."""
    mine, _ = check_release(rel).microdata, check_microdata(m, people=True)
    if (mine.qi, mine.sensitives) != (m.qi, m.sensitives):
        raise errors.ColumnError(
            f"the release has the roles {mine.qi} and {mine.sensitive!r}, the table {m.qi} and "
            f"{m.sensitive!r}: use the same quasi-identifiers and sensitive attribute"
        )
    return check_release(rel, shown=True)


def _features(attribute: Attribute) -> np.ndarray:
    """Encode the values of an attribute: the position of ordered ones, one-hot for others."""
    return attribute.positions[:, None] if attribute.ordered else np.eye(attribute.size)


def _published_features(rel: Release, entries: np.ndarray) -> np.ndarray:
    """Encode published entries: mean position of ordered values, shares of unordered ones."""
    parts = ((p.sub_domains.means(_features(p.attribute)), p.index) for p in rel.published)
    return np.hstack([part.astype(np.float32)[index[entries]] for part, index in parts])


def _plain_features(rel: Release, test: Microdata) -> np.ndarray:
    """Encode original rows in the release's domains; unknown categories are all zeros."""
    parts = []
    for p, theirs, codes in zip(rel.published, test.attributes, test.codes.T, strict=True):
        own = p.attribute
        part = np.pad(_features(own), [(0, 1), (0, 0)], constant_values=-1 * own.ordered)
        part = part[codes_in(own, theirs)]
        if own.numeric:
            part = theirs.values.astype(float)[:, None]
        parts.append(part.astype(np.float32)[codes])
    return np.hstack(parts)
