"""Information loss: what a release no longer says about the table it was made from."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from anonpaper.errors import ParameterError, check_integer, check_weights
from anonpaper.measure.boxes import boxes_of, weight_at
from anonpaper.microdata import build_cells
from anonpaper.principles import GroupCounts
from anonpaper.publish import PublishedAttribute, Release, check_release

__all__ = [
    "average_class_size",
    "discernibility",
    "gcp",
    "kl_divergence",
    "ncp",
    "stars",
    "suppressed_rows",
]


def stars(rel: Release) -> int:
    """Number of suppressed QI values, from 0 to n·d.

    A published value counts as a star if it is the whole domain of an attribute of at least two
    values. A row that is withheld counts as d stars.

    References
    ----------
    xiao2010, Problem 1. O(n·d).

    Examples
    --------
    >>> import anonpaper as ap
    >>> stars(ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_anonymous()))
    2
    """
    check_release(rel, weights=True)
    starred = star_pattern(rel) | ~rel.is_published[:, None]
    return sum(map(rel.microdata.count, starred.T))


def suppressed_rows(rel: Release) -> int:
    """Number of rows with at least one star and of those withheld, from 0 to n.

    References
    ----------
    xiao2010, Problem 2. O(n·d).

    Examples
    --------
    >>> import anonpaper as ap
    >>> suppressed_rows(ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse()))
    4
    """
    check_release(rel, weights=True)
    return rel.microdata.count(star_pattern(rel).any(axis=1) | ~rel.is_published)


def star_pattern(rel: Release) -> np.ndarray:
    """Return which values are stars, shape (n, d), dtype bool; False for rows withheld."""
    shown = rel.is_published
    pattern = np.zeros((len(shown), len(rel.published)), dtype=bool)
    for j, p in enumerate(rel.published):
        pattern[shown, j] = p.is_star[p.index[shown]]
    return pattern


def discernibility(rel: Release) -> int:
    """Sum over rows of how many rows they cannot be told from, from n (all distinct) to n².

    A published row pays the size of its equivalence class, a row withheld pays n. It tells the
    detail of the table, so it counts rows, also where people have several.

    References
    ----------
    Bayardo and Agrawal, *Data privacy through optimal k-anonymization*, ICDE 2005.

    Examples
    --------
    >>> import anonpaper as ap
    >>> discernibility(ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse()))
    36
    """
    sizes = check_release(rel, weights=True).classes.sizes()
    return int((sizes**2).sum()) + rel.classes.n_unpublished * rel.microdata.n


def average_class_size(rel: Release, k: int = 1) -> float:
    """Mean size of the equivalence classes in units of k, at least 1 / k.

    It tells by how much classes exceed what k asks for, so it counts what k counts: rows, or
    people where they have several.

    Parameters
    ----------
    rel : Release
    k : int
        With the k asked for this is C_avg of LeFevre et al. (ICDE 2006), at best 1.

    Raises
    ------
    ParameterError
        If k is below 1 or no row is published.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> average_class_size(ap.suppress(m, ap.examples.hospital_two_anonymous()), k=2)
    1.25
    """
    k = check_integer("k", k, 1)
    if check_release(rel, weights=True).classes.n_groups == 0:
        raise ParameterError("no row is published: there is no class to average over")
    sizes = GroupCounts.of(rel.microdata.about(None), rel.classes.labels).sizes
    return float(sizes.mean() / k)


def ncp(rel: Release, weights: Mapping[object, float] | None = None) -> float:
    """Normalized certainty penalty, the uncertainty of all values: from 0 to n·d.

    A value published as a sub-domain costs its extent over the extent of the domain: for a
    numeric attribute (max - min) / (domain max - domain min), for any other (size - 1) /
    (domain size - 1). A kept value costs 0, a star 1; a row withheld costs 1 per attribute.

    Parameters
    ----------
    rel : Release
    weights : mapping of attribute name to float, optional
        Weight per attribute, 1 where left out; n times their sum is the largest penalty.

    Raises
    ------
    ColumnError, ParameterError
        If weights name no quasi-identifier, or a weight is no finite number of at least 0.

    References
    ----------
    Xu et al., *Utility-based anonymization using local recoding*, KDD 2006. Their penalty of a
    set of categorical values is size / domain size; with the two subtracted ones the range is
    exactly [0, 1] for categorical attributes as it is for numeric ones.

    Examples
    --------
    >>> import anonpaper as ap
    >>> ncp(ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse()))
    8.0
    """
    weights = _checked_weights(rel, weights)
    shown, rows = rel.is_published, rel.microdata.weights
    rows = 1 if rows is None else rows[shown]
    withheld = rel.microdata.count(~shown)
    return float(
        sum(
            weight * ((rows * certainty_penalty(p)[p.index[shown]]).sum() + withheld)
            for p, weight in zip(rel.published, weights, strict=True)
        )
    )


def gcp(rel: Release, weights: Mapping[object, float] | None = None) -> float:
    """Global certainty penalty: NCP as a share of its maximum, from 0 to 1.

    Parameters
    ----------
    rel, weights
        As for :func:`ncp`.

    Raises
    ------
    ColumnError, ParameterError
        As :func:`ncp`, or all weights are 0.

    References
    ----------
    Ghinita et al., VLDB 2007.

    Examples
    --------
    >>> import anonpaper as ap
    >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> round(gcp(rel), 3)
    0.267
    """
    given = _checked_weights(rel, weights)
    if not given.any():
        raise ParameterError("all weights are 0")
    # By a power of two, which rounds nothing: sums of large weights would be infinite.
    scaled = np.ldexp(given, -np.frexp(given.max())[1])
    lost = ncp(rel, dict(zip(rel.microdata.qi, scaled, strict=True)))
    return min(1.0, lost / float(scaled.sum() * rel.microdata.n))  # above 1 by rounding only


def certainty_penalty(p: PublishedAttribute) -> np.ndarray:
    """Return the extent of every sub-domain as a share of the domain, shape (r,)."""
    values, attribute = p.sub_domains, p.attribute
    if attribute.size == 1:
        return np.zeros(len(values))
    if not attribute.numeric:
        return (values.sizes - 1) / (attribute.size - 1)
    return (attribute.positions[values.high] - attribute.positions[values.low]) / attribute.width


def _checked_weights(rel: Release, weights: Mapping[object, float] | None) -> np.ndarray:
    """Return the weights in the order of the attributes, 1 where none is given."""
    published = check_release(rel, weights=True).published
    return check_weights([p.attribute.name for p in published], weights)


# -- Kullback-Leibler divergence -------------------------------------------------------------


def kl_divergence(rel: Release) -> float:
    r"""Divergence of the distribution that a release suggests from its table's: at least 0.

    The table is a distribution f on QI × SA. The release is one too, f*: every published row is
    spread evenly over the values that its sub-domains allow, its sensitive value stays exact, and
    the domain is the declared one, occurring or not. Then

    .. math:: KL(f, f^*) = \sum_{p: f(p) > 0} f(p) \ln\frac{f(p)}{f^*(p)}

    It is 0 if nothing was generalized, and infinite where rows are withheld such that no published
    row covers a point of the table. ColumnError if the table has no sensitive attribute.

    Notes
    -----
    The domain is never enumerated. With stars alone, O(2^d · e log e) for e points: one look-up
    for every *star pattern* (which attributes are stars). For a recoding, where sub-domains do
    not overlap, O(e log e). Of overlapping sub-domains every distinct published row looks through
    the points between its bounds in one attribute, at worst O(e · r) for r such rows.

    References
    ----------
    xiao2010, equation 2, after Kifer and Gehrke, SIGMOD 2006; natural logarithm.

    Examples
    --------
    >>> import anonpaper as ap
    >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> round(kl_divergence(rel), 4)
    0.8789
    """
    m = check_release(rel, weights=True).microdata
    cells = m.cells
    points = np.repeat(cells.tuples, np.diff(cells.start), axis=0)
    if not rel.is_published.any():
        return float("inf")
    if rel.recoding is not None:
        density = _density_of_recoding(rel, points)
    elif all(((p.sizes == 1) | p.is_star).all() for p in rel.published):
        density = _density_of_suppression(rel, points)
    else:
        boxes = boxes_of(rel, rel.sensitive_codes, m.sensitive_attribute.size)
        density = weight_at(
            points, cells.sensitive, [p.sub_domains for p in rel.published],
            boxes.index, boxes.sensitive, boxes.counts / boxes.volume,
        )  # fmt: skip
    f = cells.counts / m.n
    with np.errstate(divide="ignore"):
        divergence = float((f * np.log(f / (density / m.n))).sum())
    # Rounding can leave a hair below zero where f and f* are equal.
    return max(divergence, 0.0)


def _density_of_suppression(rel: Release, points: np.ndarray) -> np.ndarray:
    """Expected number of rows at every point, star pattern by star pattern."""
    m = rel.microdata
    sizes = np.array([a.size for a in m.attributes])
    bits = star_pattern(rel) @ (1 << np.arange(m.d))
    density = np.zeros(len(points))
    for mask in np.unique(bits[rel.is_published]):
        rows = np.flatnonzero(rel.is_published & (bits == mask))
        starred = (mask >> np.arange(m.d) & 1).astype(bool)
        kept = np.flatnonzero(~starred)
        matches = _count_matches(
            [m.codes[rows, j] for j in kept] + [rel.sensitive_codes[rows]],
            [points[:, j] for j in kept] + [m.cells.sensitive],
            [int(sizes[j]) for j in kept] + [m.sensitive_attribute.size],
            None if m.weights is None else m.weights[rows],
        )
        density += matches / np.prod(sizes[starred], dtype=float)
    return density


def _density_of_recoding(rel: Release, points: np.ndarray) -> np.ndarray:
    """Expected number of rows at every point where sub-domains do not overlap."""
    m = rel.microdata
    places = [part[codes] for part, codes in zip(rel.recoding.maps, points.T, strict=True)]
    matches = _count_matches(
        [p.index for p in rel.published] + [rel.sensitive_codes],
        [*places, m.cells.sensitive],
        [len(p.sub_domains) for p in rel.published] + [m.sensitive_attribute.size],
        m.weights,
    )
    volume = np.ones(len(points))
    for p, place in zip(rel.published, places, strict=True):
        volume *= p.sizes[place]
    return matches / volume


def _count_matches(rows: list, points: list, sizes: list[int], weights=None) -> np.ndarray:
    """Count, for every point, the rows that are equal to it in all columns."""
    places = math.prod(sizes)
    if places <= 8 * (len(rows[0]) + len(points[0])):  # room to count without sorting
        of_rows, of_points = np.zeros(len(rows[0]), np.int64), np.zeros(len(points[0]), np.int64)
        for row, point, size in zip(rows, points, sizes, strict=True):
            of_rows = of_rows * size + row
            of_points = of_points * size + point
        return np.bincount(of_rows, weights, minlength=places)[of_points]
    both = np.column_stack([np.concatenate(pair) for pair in zip(rows, points, strict=True)])
    key = build_cells(both, sizes, None, 1).tuple_of_row
    n = len(rows[0])
    return np.bincount(key[:n], weights, minlength=key.max() + 1)[key[n:]]
