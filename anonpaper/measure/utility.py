"""Utility: what can still be done with a release.

Numbers about the published values (distortion, generalizations), about distributions, and about a
classifier that is trained on the release and tested on people it has never seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anonpaper.errors import (
    ColumnError,
    EmptyTableError,
    HierarchyError,
    ParameterError,
    check_integer,
    check_weights,
)
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Attribute, Microdata, check_microdata
from anonpaper.publish import PublishedAttribute, Release, check_release
from anonpaper.randomness import generator

__all__ = [
    "Classification",
    "classification",
    "distortion",
    "generalizations",
    "marginal_similarity",
]


def distortion(
    rel: Release,
    hierarchies: Mapping[object, Hierarchy],
    weights: Mapping[object, float] | None = None,
) -> float:
    """Mean level that values are published on, as a share of the hierarchy's height.

    Parameters
    ----------
    rel : Release
        The release.
    hierarchies : mapping of attribute name to Hierarchy
        One for every quasi-identifier. The level of a sub-domain is the lowest one on which all
        its values have one name, whether or not the release was made from this hierarchy.
    weights : mapping of attribute name to float, optional
        w_Q of Eq. 9, at least 0 and scaled to add up to 1; equal by default.

    Returns
    -------
    float
        From 0 (every value as it is) to 1 (every value on the highest level, or withheld).

    Raises
    ------
    HierarchyError
        A hierarchy is missing or lacks values.
    ParameterError
        `weights` names no quasi-identifier, holds a negative number, or only zeros.

    References
    ----------
    majeed2024, Eq. 9, divided by the number of rows so that tables of different sizes compare.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> trees = {a.name: ap.Hierarchy.flat(a.values) for a in m.attributes}
    >>> distortion(ap.suppress(m, ap.Partition([0] * m.n)), trees)
    1.0
    """
    m = check_release(rel).microdata
    share = _scaled_weights(m, weights)
    shown = rel.is_published
    total = 0.0
    for p, weight in zip(rel.published, share, strict=True):
        if p.attribute.name not in hierarchies:
            raise HierarchyError(f"a hierarchy is needed for {p.attribute.name!r}")
        tree = hierarchies[p.attribute.name]
        level = _levels(p, tree)[p.index[shown]]
        total += weight * (level.sum() / tree.height + np.count_nonzero(~shown)) / m.n
    return float(total)


def generalizations(rel: Release) -> int:
    """Count the values that are published otherwise than they are.

    Returns
    -------
    int
        From 0 to n·d. A value that was moved to another row counts too; a row that is withheld
        counts d values.

    References
    ----------
    majeed2024, Table 12, counts the generalizations of "existing methods" as all n·d of the
    *augmented* table.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> generalizations(ap.suppress(m, ap.examples.hospital_two_anonymous()))
    2
    """
    shown = check_release(rel).is_published
    changed = np.count_nonzero(~shown) * rel.microdata.d
    for p, codes in zip(rel.published, rel.microdata.codes.T, strict=True):
        kept = (p.sizes == 1)[p.index] & (p.members.argmax(axis=1)[p.index] == codes)
        changed += np.count_nonzero(shown & ~kept)
    return int(changed)


def marginal_similarity(m: Microdata, rel: Release) -> float:
    """One minus the mean total variation distance of all one- and two-way marginals.

    The other reading of majeed2024's Eq. 8: how nearly the published distribution of QI and SA
    is the real one. It needs no correspondence of rows, so it holds for synthetic tables too.
    A published sub-domain spreads its row evenly over its values.

    Parameters
    ----------
    m : Microdata
        The real table, with the roles of the release.
    rel : Release
        The release; values that `m` lacks count as differences.

    Returns
    -------
    float
        From 0 to 1 (equal marginals).

    Raises
    ------
    ColumnError
        The two tables have other roles.
    EmptyTableError
        The release has no row.

    Notes
    -----
    O(d²·(n + size²)): pairs of sub-domains are counted, then spread.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> marginal_similarity(m, ap.suppress(m, ap.Partition(m.cells.tuple_of_row)))
    1.0
    """
    m, rel = check_microdata(m), check_release(rel)
    if m.qi != rel.microdata.qi or m.sensitive != rel.microdata.sensitive:
        raise ColumnError("marginals compare tables of the same quasi-identifiers and sensitive")
    shown = np.flatnonzero(rel.is_published)
    if len(shown) == 0:
        raise EmptyTableError("no row is published")
    theirs = [(p.index[shown], p.members / p.sizes[:, None]) for p in rel.published]
    places = [_places(p.attribute, a) for p, a in zip(rel.published, m.attributes, strict=True)]
    ours = list(m.codes.T)
    if m.sensitive is not None:
        attribute = rel.microdata.sensitive_attribute
        theirs.append((rel.sensitive_codes[shown], np.eye(attribute.size)))
        places.append(_places(attribute, m.sensitive_attribute))
        ours.append(m.sensitive_codes)
    distances = []
    for i in range(len(ours)):
        for j in range(i, len(ours)):
            real = _joint((ours[i], places[i][1]), (ours[j], places[j][1]))
            published = _joint(
                (theirs[i][0], theirs[i][1] @ places[i][0]),
                (theirs[j][0], theirs[j][1] @ places[j][0]),
            )
            if i == j:
                real = np.bincount(ours[i], minlength=len(places[i][1])) @ places[i][1] / m.n
                spread = np.bincount(theirs[i][0], minlength=len(theirs[i][1])) @ theirs[i][1]
                published = spread @ places[i][0] / len(shown)
            distances.append(np.abs(real - published).sum() / 2)
    return float(1 - np.mean(distances))


@dataclass(frozen=True, eq=False)
class Classification:
    """How a classifier that was trained on a release does on people it has not seen.

    Attributes
    ----------
    confusion : pandas.DataFrame
        Rows: true sensitive values; columns: predicted ones; test rows.
    """

    confusion: pd.DataFrame

    @property
    def accuracy(self) -> float:
        """Share of the test rows that are predicted right (Eq. 10)."""
        table = self.confusion.to_numpy()
        return float(np.trace(table) / table.sum())

    @property
    def recall(self) -> pd.Series:
        """Share of every true value's rows that are predicted right; NaN where it has none."""
        table = self.confusion.to_numpy().astype(float)
        rows = table.sum(axis=1)
        rows[rows == 0] = np.nan
        return pd.Series(np.diag(table) / rows, index=self.confusion.index, name="recall")

    @property
    def balanced_accuracy(self) -> float:
        """Mean recall over the values that occur: 0.5 for whoever always says the same of two."""
        return float(self.recall.mean())


def classification(
    rel: Release,
    test: Microdata,
    *,
    trees: int = 50,
    rows: int | None = 20_000,
    seed: int | np.random.Generator = 0,
) -> Classification:
    """Train a random forest on a release and test it on rows as they are.

    Parameters
    ----------
    rel : Release
        The release. A sub-domain of an ordered attribute is encoded by the mean of its values, one
        of another by the share of each value in it (one-hot for a value as it is).
    test : Microdata
        Held-out rows of the same roles. They should be real people who are not in the release.
    trees : int
        Trees of the forest, at least 1.
    rows : int, optional
        Rows drawn for each tree where the release has more; all with None.
    seed : int or numpy.random.Generator
        Of the forest.

    Returns
    -------
    Classification

    Raises
    ------
    ColumnError
        The tables have other roles, or no sensitive attribute.
    EmptyTableError
        The release has no row.
    ParameterError
        `test` has synthetic rows.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> release = ap.suppress(m, ap.examples.hospital_two_diverse())
    >>> classification(release, m, trees=5).confusion.to_numpy().sum().item()
    10
    """
    from sklearn.ensemble import RandomForestClassifier

    mine, test = check_release(rel).microdata, check_microdata(test)
    if mine.qi != test.qi or mine.sensitive != test.sensitive or mine.sensitive is None:
        raise ColumnError(
            f"the release has the roles {mine.qi} and {mine.sensitive!r}, the test rows "
            f"{test.qi} and {test.sensitive!r}: both need the same, and a sensitive attribute"
        )
    if test.synthetic.any():
        raise ParameterError(
            f"{int(test.synthetic.sum())} test rows are synthetic: test on real people"
        )
    check_integer("trees", trees, 1)
    shown = np.flatnonzero(rel.is_published)
    if len(shown) == 0:
        raise EmptyTableError("no row is published")
    forest = RandomForestClassifier(
        trees, min_samples_leaf=2, random_state=int(generator(seed).integers(2**31)),
        max_samples=None if rows is None or rows >= len(shown) else rows,
    )  # fmt: skip
    values = mine.sensitive_attribute.values
    forest.fit(_published_features(rel, shown), rel.sensitive_codes[shown])
    said = forest.predict(_plain_features(rel, test))
    lookup = {value: code for code, value in enumerate(values)}
    extra = [value for value in test.sensitive_attribute.values if value not in lookup]
    domain = [*values, *extra]
    lookup |= {value: len(values) + i for i, value in enumerate(extra)}
    true = np.array([lookup[v] for v in test.sensitive_attribute.values])[test.sensitive_codes]
    table = np.zeros((len(domain), len(domain)), dtype=np.int64)
    np.add.at(table, (true, said), 1)
    return Classification(pd.DataFrame(
        table, pd.Index(domain, name="true"), pd.Index(domain, name="predicted")
    ))  # fmt: skip


def _scaled_weights(m: Microdata, weights: Mapping[object, float] | None) -> np.ndarray:
    share = check_weights(m.qi, weights, left_out=0.0)
    if share.sum() == 0:
        raise ParameterError("all weights are 0")
    return share / share.sum()


def _levels(p: PublishedAttribute, tree: Hierarchy) -> np.ndarray:
    """Lowest level on which all values of a sub-domain have one name, per sub-domain."""
    level = np.full(len(p.members), tree.height + 1)
    for height in range(tree.height, -1, -1):
        nodes = tree.map_at(p.attribute, height)
        low = np.where(p.members, nodes, len(nodes)).min(axis=1)
        high = np.where(p.members, nodes, -1).max(axis=1)
        level[low == high] = height
    if (level > tree.height).any():
        raise HierarchyError(
            f"the highest level of the hierarchy of {p.attribute.name!r} does not join all values"
        )
    return level


def _places(theirs: Attribute, ours: Attribute) -> tuple[np.ndarray, np.ndarray]:
    """Matrices that carry codes of two domains to those of their union, one 1 in each row."""
    union = {value: i for i, value in enumerate(dict.fromkeys([*ours.values, *theirs.values]))}
    matrices = []
    for attribute in (theirs, ours):
        matrix = np.zeros((attribute.size, len(union)))
        matrix[np.arange(attribute.size), [union[value] for value in attribute.values]] = 1
        matrices.append(matrix)
    return matrices[0], matrices[1]


def _joint(first: tuple, second: tuple) -> np.ndarray:
    """Joint distribution of two columns of codes, each code spread over values by a matrix."""
    (a, spread_a), (b, spread_b) = first, second
    size = len(spread_b)
    counts = np.bincount(a * np.int64(size) + b, minlength=len(spread_a) * size)
    return spread_a.T @ counts.reshape(len(spread_a), size) @ spread_b / len(a)


def _published_features(rel: Release, rows: np.ndarray) -> np.ndarray:
    """Encode published rows: mean position of ordered values, shares of unordered ones."""
    parts = []
    for p in rel.published:
        share = p.members / p.sizes[:, None]
        encoded = share @ p.attribute.positions[:, None] if p.attribute.ordered else share
        parts.append(encoded[p.index[rows]])
    return np.hstack(parts).astype(np.float32)


def _plain_features(rel: Release, test: Microdata) -> np.ndarray:
    """Encode rows as they are, in the release's domains; unknown categories are all zeros."""
    parts = []
    for p, attribute, codes in zip(rel.published, test.attributes, test.codes.T, strict=True):
        encoded = _encoding(p.attribute, attribute.values)
        parts.append(encoded[codes])
    return np.hstack(parts).astype(np.float32)


def _encoding(attribute: Attribute, values: Sequence) -> np.ndarray:
    """Encode single values in an attribute's domain."""
    if attribute.numeric:
        return np.array([[float(value)] for value in values])
    place = {value: code for code, value in enumerate(attribute.values)}
    if attribute.ordered:
        return np.array([[float(place.get(value, -1))] for value in values])
    encoded = np.zeros((len(values), attribute.size))
    for row, value in enumerate(values):
        if value in place:
            encoded[row, place[value]] = 1
    return encoded
