"""Information loss: information of the table that its release no longer has.

A withheld row counts as suppressed in every attribute, and a measure costs O(n·d). Measures of
classes, whose sizes count rows, raise EmptyTableError if no row is published.

>>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
>>> stars(rel), suppressed_rows(rel), generalizations(rel), ncp(rel), round(gcp(rel), 3)
(8, 4, 8, 8.0, 0.267)
>>> discernibility(rel), average_class_size(rel), effective_k(rel), round(necd(rel), 3)
(36, 3.3333333333333335, 2, 0.222)
>>> round(nwp(rel), 3), round(ach(rel), 3), round(kl_divergence(rel), 4)
(0.267, 0.222, 0.8789)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.cells import distinct
from anonpaper.hierarchy import Hierarchy, check_hierarchies
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.principles import GroupCounts
from anonpaper.publish import Release, check_release
from anonpaper.published_values import SubDomains, codes_in, rows_at
from anonpaper.recoders import evaluation as formulas

__all__ = [
    "ach", "average_class_size", "discernibility", "discernibility_ratio", "distortion",
    "effective_k", "gcp", "generalizations", "kl_divergence", "marginal_similarity", "ncp", "necd",
    "nwp", "stars", "suppressed_rows", "values_kept",
]  # fmt: skip


def costs(rel: Release, cost: Callable) -> list[np.ndarray]:
    """Return what each attribute's values cost by sub-domain, (f,) each; every withheld one 1."""
    shown = check_release(rel).shown
    return [np.append(cost(p), True)[np.where(shown, p.index, -1)] for p in rel.published]


def star_pattern(rel: Release) -> np.ndarray:
    """Return which values of entries are stars, (f, d), dtype bool; all of withheld rows."""
    return np.column_stack(costs(rel, lambda p: p.is_star))


def total(rel: Release, cost: Callable) -> float:
    """Return the sum over all values of a cost per sub-domain; a withheld value costs 1."""
    return float(sum(column @ rel.entries.counts for column in costs(rel, cost)))


def stars(rel: Release) -> int:
    """Number of values published as a whole domain of several, 0 to n·d; xiao2010, Problem 1."""
    return int(total(rel, lambda p: p.is_star))


def suppressed_rows(rel: Release) -> int:
    """Number of withheld rows and rows with a star, from 0 to n; xiao2010, Problem 2."""
    return check_release(rel).entries.rows(star_pattern(rel).any(axis=1))


def discernibility(rel: Release, k: int = 1) -> int:
    """Sum of the sizes of all rows' equivalence classes, from n (all rows distinct) to n².

    A row that is withheld, or in a class below `k` rows, adds n (Bayardo, Agrawal, ICDE 2005).
    """
    n, sizes = check_release(rel).microdata.n, rel.classes.sizes().astype(np.int64)
    k = errors.check_integer("k", k, 1, n)
    of_shown = int((sizes * np.where(sizes >= k, sizes, n)).sum())
    return of_shown + n * rel.classes.n_unpublished


def discernibility_ratio(rel: Release, k: int, of: str = "ratio") -> float:
    r"""Least possible discernibility over the discernibility of a release, from 0 to 1.

    D is :func:`discernibility` for k, D_min its value for the most even partition into floor(n/k)
    groups. ``of="ratio"`` is min(1, D_min/D), ``"log"`` 1 - ln(D/D_min)/ln(n²/D_min), ``"range"``
    1 - (D - D_min)/(n² - D_min), and ``"stars"`` 1 - stars/(n d), as the problem is stated.

    This is the *accuracy* of diva2021. The paper does not define how discernibility becomes a
    share: the formulas are ours, so only the order of its curves can be compared.

    >>> rel = ap.suppress(ap.examples.patients(), ap.examples.patients_diverse())
    >>> discernibility_ratio(rel, k=2), discernibility_ratio(rel, k=2, of="stars")
    (1.0, 0.48)
    """
    disc, n = discernibility(rel, k), rel.microdata.n
    small, larger = divmod(n, n // k)
    least = (n // k - larger) * small**2 + larger * (small + 1) ** 2
    worst = n * n  # the optimum too, if there is a single group: then 1, not 0 / 0
    found = {
        "ratio": least / disc,
        "range": 1 - (disc - least) / (worst - least or 1),
        "log": 1 - np.log(disc / least) / (np.log(worst / least) or 1),
        "stars": 1 - stars(rel) / (n * rel.microdata.d),
    }
    return float(min(1.0, found[errors.check_choice("of", of, found)]))


def average_class_size(rel: Release) -> float:
    """Mean size of the equivalence classes, in people if these have several rows; at least 1."""
    classes = check_release(rel, shown=True).classes
    return float(GroupCounts.of(rel.entries.in_groups(classes.group)).sizes.mean())


def ncp(rel: Release) -> float:
    """Normalized certainty penalty, the uncertainty of all values: from 0 to n·d.

    A sub-domain costs its extent over the domain's extent: max - min of a numeric attribute, size
    - 1 of any other. Source: Xu et al., *Utility-based anonymization using local recoding*, KDD
    2006, whose penalty for a set of categorical values is size / domain size.
    """
    return total(rel, lambda p: p.sub_domains.extents)


def gcp(rel: Release) -> float:
    """NCP as a share of its maximum, from 0 to 1: the GCP of Ghinita et al., VLDB 2007."""
    return min(1.0, ncp(rel) / (rel.microdata.n * rel.microdata.d))  # above 1 by rounding only


def values_kept(rel: Release, by: object) -> pd.DataFrame:
    """Share of each quasi-identifier value's rows that still show the value, with their stars.

    The frame has one row per value of `by` that occurs, the most frequent first: the value,
    ``rows``, ``stars_per_row``, and ``shown``, the share, after suppression.

    >>> rel = ap.suppress(ap.examples.patients(), ap.examples.patients_three_anonymous())
    >>> values_kept(rel, "ETH")["shown"].tolist()
    [0.6, 1.0, 0.0]
    """
    m, e = check_release(rel).microdata, rel.entries
    kept = ~costs(rel, lambda p: ~p.sub_domains.is_kept)[m.attribute_index(by)]
    starred = e.counts * star_pattern(rel).sum(axis=1)
    sums = {"rows": e.counts, "stars_per_row": starred, "shown": e.counts * kept}
    frame = pd.DataFrame(sums).groupby(e.codes_of(by)).sum()
    frame = frame.sort_values("rows", ascending=False, kind="stable")
    frame = frame.assign(**{name: frame[name] / frame["rows"] for name in [*frame][1:]})
    frame.insert(0, by, m.attribute(by).values[frame.index])
    return frame.reset_index(drop=True)


def kl_divergence(rel: Release) -> float:
    r"""How far the release's distribution is from its table's, by KL-divergence: 0 if equal.

    The table is a distribution f on QI × SA, and the release another, f*: every published row is
    spread evenly over the values in its sub-domains (of the declared domain), with its exact
    sensitive value. Then

    .. math:: KL(f, f^*) = \sum_{p: f(p) > 0} f(p) \ln\frac{f(p)}{f^*(p)}

    with natural logarithm (xiao2010, equation 2, after Kifer and Gehrke, SIGMOD 2006): infinite if
    no published row covers some point of the table. ColumnError without a sensitive attribute. At
    worst O(e · r) for e cells and r distinct published rows.
    """
    m, shown = check_release(rel).microdata, rel.shown
    cells, values = m.cells, m.sensitive_attribute.size
    # a point is a cell, or the cells of several people
    of_cells = [cells.tuple_of_cell, cells.sensitive]
    _, first, counts = distinct(of_cells, [len(cells), values], cells.counts)
    points, kinds = cells.tuples[cells.tuple_of_cell[first]], cells.sensitive[first]
    domains, index = zip(*((p.sub_domains, p.index[shown]) for p in rel.published), strict=True)
    rows = rel.entries.counts[shown]
    density = rows_at(points, domains, index, rows, kinds, rel.secrets[shown])  # lines 2, 3
    f = counts / m.n  # line 1
    with np.errstate(divide="ignore"):
        divergence = float((f * np.log(f / (density / m.n))).sum())  # line 4
    return max(divergence, 0.0)  # below 0 by rounding only


def nwp(rel: Release, weights: Mapping[object, float] | None = None) -> float:
    """Normalized weighted penalty: the loss of the values, from 0 (kept) to 1 (all suppressed).

    A sub-domain of s of S > 1 values costs the attribute's weight times (s - 1) / (S - 1).
    `weights` per attribute must sum to 1, 0 where omitted, else ParameterError; equal by default.
    """
    weights = formulas.weight_vector(check_release(rel).microdata.qi, weights)
    lost = weights @ costs(rel, lambda p: formulas.penalty(p.sizes, p.attribute.size))
    return min(1.0, float(lost @ rel.entries.counts) / rel.microdata.n)  # above by rounding only


def effective_k(rel: Release) -> int:
    """Rows of the smallest equivalence class: the k that a release reaches, from 1 to n."""
    return int(check_release(rel, shown=True).classes.sizes().min())


def necd(rel: Release) -> float:
    """Normalized equivalence class dispersion: how uneven class sizes are, from 0 to below 1.

    (largest class - smallest class) / (n - 1), where n includes withheld rows.
    """
    sizes = check_release(rel, shown=True).classes.sizes()
    return float(formulas.dispersion(sizes.min(), sizes.max(), rel.microdata.n))


def ach(rel: Release, preference: tuple[float, float] = (0.2, 1.0)) -> float:
    """Achievement: the larger of weighted loss and bias, at least 0; smaller is better.

    At the `preference` point (NWP, NECD) it is NWP·NECD / (NWP + NECD), up to epsilon = 1e-6.
    """
    preference = formulas.check_preference(preference)
    return float(formulas.achievement(nwp(rel), necd(rel), preference))


def distortion(rel: Release, hierarchies: Mapping[object, Hierarchy]) -> float:
    """Mean level of the published values over the hierarchy's height, from 0 to 1.

    This is Eq. 9 of majeed2024 per row, with equal weights w_Q. The level of a sub-domain is the
    lowest on which all its values have one name. HierarchyError if a hierarchy is missing, lacks
    values, or does not join a sub-domain.

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
    """Number of values not published as themselves, from 0 to n·d, as in majeed2024, Table 12.

    A value that was moved to another row counts too; a set of only one value does not.
    """
    shown, m, kept = check_release(rel).entries.take(rel.shown), rel.microdata, 0
    for p, codes in zip(rel.published, shown.codes.T, strict=True):
        index = p.index[rel.shown]
        kept += shown.rows((p.sizes[index] == 1) & (p.sub_domains.low[index] == codes))
    return m.n * m.d - kept


def marginal_similarity(m: Microdata, rel: Release) -> float:
    """One minus the mean distance of all one- and two-way marginals, from 0 to 1 (equal).

    The distance is total variation, the second interpretation of majeed2024's Eq. 8. Rows need not
    correspond. A published sub-domain spreads its row evenly over its values. Values that the real
    table `m` lacks count as differences.

    >>> m = ap.examples.hospital()
    >>> marginal_similarity(m, ap.suppress(m, ap.Partition(m.cells.tuple_of_row)))
    1.0
    """
    shown, columns = check_roles(rel, m).shown, []
    theirs = [(p.sub_domains, p.index[shown]) for p in rel.published]
    if m.sensitive is not None:
        attribute = rel.microdata.sensitive_attribute
        values = np.arange(attribute.size)
        theirs.append((SubDomains.runs(attribute, values, values), rel.secrets[shown]))
    for (domain, index), name in zip(theirs, [*m.qi, *m.sensitives], strict=True):
        ours = codes_in(domain.attribute, m.attribute(name))[m.codes_of_cells(name)]
        columns.append((domain, index, ours))
    distances = []
    for some in (*combinations(columns, 1), *combinations(columns, 2)):
        domains, index, ours = zip(*some, strict=True)
        # one more code, the first, for values that the release does not have
        sizes = [domain.attribute.size + 1 for domain in domains]
        _, first, counts = distinct([codes + 1 for codes in ours], sizes, m.cells.counts)
        points = np.column_stack([codes[first] for codes in ours])
        published = rows_at(points, domains, index, rel.entries.counts[shown])
        # both have mass 1, so where the table has more, the release has as much less
        more = counts / m.n - published / rel.entries.rows(shown)
        distances.append(np.maximum(more, 0).sum())
    return float(1 - np.mean(distances))


def check_roles(rel: Release, m: Microdata) -> Release:
    """Return a release if it has rows and the roles of a table; else ColumnError or so."""
    mine, _ = check_release(rel, shown=True).microdata, check_microdata(m, people=True)
    if (mine.qi, mine.sensitives) != (m.qi, m.sensitives):
        told = f"{mine.qi} and {mine.sensitive!r}, the table must have them"
        raise errors.ColumnError(f"the release has the roles {told}")
    return rel
