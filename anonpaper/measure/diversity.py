"""What diversity costs, and whose values a release keeps (diva2021, section 4)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anonpaper.errors import check_choice, check_integer
from anonpaper.measure.loss import star_pattern, stars
from anonpaper.publish import Release, check_release

__all__ = ["discernibility_ratio", "penalized_discernibility", "values_kept"]


def penalized_discernibility(rel: Release, k: int) -> int:
    r"""Discernibility with a penalty for classes below k, disc(R', k): from n to n².

    .. math:: \sum_{|E| \ge k} |E|^2 + \sum_{|E| < k} n |E|

    over the classes E of equal published rows; a row withheld pays n.

    Parameters
    ----------
    rel : Release
    k : int
        The class size asked for, from 1 to n.

    References
    ----------
    Bayardo and Agrawal, ICDE 2005; diva2021, section 4, takes the formula from another text.

    Examples
    --------
    >>> import anonpaper as ap
    >>> rel = ap.suppress(ap.examples.patients(), ap.examples.patients_diverse())
    >>> penalized_discernibility(rel, k=2), penalized_discernibility(rel, k=3)
    (20, 100)
    """
    n = check_release(rel).microdata.n
    k = check_integer("k", k, 1, n)
    sizes = rel.classes.sizes().astype(object)  # Python integers do not overflow
    penalties = [size * size if size >= k else n * size for size in sizes]
    return int(sum(penalties) + n * rel.classes.n_unpublished)


def discernibility_ratio(rel: Release, k: int, of: str = "ratio") -> float:
    r"""Least possible discernibility over that of a k-anonymous release, from 0 to 1.

    With D = disc(R', k), D_min its value for the most even partition into floor(n/k) groups,
    and n² its largest. Classes smaller than those of an even partition count as the optimum.

    ========= ============================================ ======================================
    ``of``    formula                                      behaviour
    ========= ============================================ ======================================
    ratio     :math:`\min(1, D_{min}/D)`                   the headline; spreads well
    log       :math:`1 - \ln(D/D_{min})/\ln(n^2/D_{min})`  spreads the scale, 0 for one class
    range     :math:`1 - (D - D_{min})/(n^2 - D_{min})`    near 1 for any sane result if n >> k
    stars     :math:`1 - stars / (n d)`                    what the problem statement minimizes
    ========= ============================================ ======================================

    Parameters
    ----------
    rel, k
        As for :func:`penalized_discernibility`.
    of : {"ratio", "range", "log", "stars"}

    Raises
    ------
    ParameterError
        k or `of` is out of range.

    References
    ----------
    The *accuracy* of diva2021, which does not say how discernibility becomes a share: the formulas
    are ours, so its curves can be compared in their order only.

    Examples
    --------
    >>> import anonpaper as ap
    >>> rel = ap.suppress(ap.examples.patients(), ap.examples.patients_diverse())
    >>> discernibility_ratio(rel, k=2), discernibility_ratio(rel, k=2, of="stars")
    (1.0, 0.48)
    """
    check_choice("of", of, ("ratio", "range", "log", "stars"))
    m = check_release(rel).microdata
    n = m.n
    if of == "stars":
        return 1 - stars(rel) / (n * m.d)
    disc = penalized_discernibility(rel, k)
    groups = n // k
    small, larger = n // groups, n % groups
    least = (groups - larger) * small**2 + larger * (small + 1) ** 2
    if of == "ratio":
        return min(1.0, least / disc)
    if least == n * n:  # a single group is the optimum
        return 1.0
    if of == "range":
        return min(1.0, 1 - (disc - least) / (n * n - least))
    return min(1.0, 1 - float(np.log(disc / least) / np.log(n * n / least)))


def values_kept(rel: Release, by: object) -> pd.DataFrame:
    """Share of the rows of every value of an attribute that still show it, with their stars.

    Parameters
    ----------
    rel : Release
        A release by suppression.
    by : column label
        A quasi-identifier or the sensitive attribute, whose values make the groups of people.

    Returns
    -------
    pandas.DataFrame
        One row per value that occurs, the most frequent first: `by`, ``rows``, ``stars_per_row``
        and, for a quasi-identifier, ``shown``: the share of the rows that still show the value.

    Examples
    --------
    >>> import anonpaper as ap
    >>> rel = ap.suppress(ap.examples.patients(), ap.examples.patients_three_anonymous())
    >>> values_kept(rel, "ETH")
             ETH  rows  stars_per_row  shown
    0  Caucasian     5            2.8    0.6
    1      Asian     3            3.0    1.0
    2    African     2            4.0    0.0
    """
    m = check_release(rel).microdata
    attribute = m.attribute(by)
    is_qi = by in m.qi
    codes = m.codes[:, m.attribute_index(by)] if is_qi else m.sensitive_codes
    per_row = np.where(rel.is_published, star_pattern(rel).sum(axis=1), m.d)
    rows = np.bincount(codes, minlength=attribute.size)
    present = np.flatnonzero(rows)
    frame = pd.DataFrame(
        {
            by: attribute.values[present],
            "rows": rows[present],
            "stars_per_row": np.bincount(codes, per_row, attribute.size)[present] / rows[present],
        }
    )
    if is_qi:
        published = rel.published[m.attribute_index(by)]
        shows = rel.is_published.copy()
        shows[shows] = published.sub_domains.is_kept[published.index[shows]]
        frame["shown"] = np.bincount(codes, shows, attribute.size)[present] / rows[present]
    return frame.sort_values("rows", ascending=False, kind="stable", ignore_index=True)
