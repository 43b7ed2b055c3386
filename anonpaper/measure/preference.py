"""Loss, bias and achievement of a release, as dewri2009 defines them (sections 3 and 4).

These read the published table row by row; the searches apply the same formulas
(`anonpaper.preference`) to counts, and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anonpaper import preference as formulas
from anonpaper.errors import ParameterError
from anonpaper.publish import Release, check_release
from anonpaper.recoders.objectives import weight_vector

__all__ = ["ach", "effective_k", "necd", "nwp", "prefdev"]


def nwp(rel: Release, weights: Mapping[object, float] | None = None) -> float:
    """Normalized weighted penalty: the loss of the values, from 0 (as they were) to 1 (all stars).

    A value published as a sub-domain of s of the domain's S values costs the attribute's weight
    times (s - 1) / (S - 1), where values count whether they occur or not; a row withheld costs 1.
    An attribute of a single value cannot lose anything and costs 0. O(n·d).

    Parameters
    ----------
    rel : Release
    weights : mapping of attribute name to float, optional
        Weights in [0, 1] that sum to 1, 0 where left out; equal by default.

    Raises
    ------
    ParameterError
        Weights name no quasi-identifier, are out of range, or do not sum to 1.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> r = ap.Recoding(m.attributes, [[0, 0, 1], [0, 1], [0, 1, 1]])
    >>> round(nwp(ap.recode(m, r)), 3)
    0.267
    """
    m, shown = check_release(rel).microdata, rel.is_published
    total = float(np.count_nonzero(~shown))
    for weight, p in zip(weight_vector(m.qi, weights), rel.published, strict=True):
        total += formulas.penalty(p.sizes, p.attribute.size, weight)[p.index[shown]].sum()
    return min(1.0, float(total / m.n))  # above 1 by rounding only


def effective_k(rel: Release) -> int:
    """Rows of the smallest equivalence class: the k that a release reaches, from 1 to n.

    ParameterError if no row is published. O(n log n).

    Examples
    --------
    >>> import anonpaper as ap
    >>> effective_k(ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse()))
    2
    """
    return int(_class_sizes(rel).min())


def necd(rel: Release) -> float:
    """Normalized equivalence class dispersion: how unevenly privacy is spread, from 0 below 1.

    (largest class - smallest class) / (n - 1), where n counts rows withheld too: 0 if all classes
    have one size, and for a table of one row. ParameterError if no row is published. O(n log n).

    Examples
    --------
    >>> import anonpaper as ap
    >>> rel = ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())
    >>> round(necd(rel), 3)
    0.222
    """
    sizes = _class_sizes(rel)
    return float(formulas.dispersion(sizes.min(), sizes.max(), rel.microdata.n))


def ach(
    rel: Release,
    preference: tuple[float, float] = (0.2, 1.0),
    weights: Mapping[object, float] | None = None,
) -> float:
    """Achievement: loss or bias, weighted by preference, the worse of the two; at least 0.

    Smaller is better; at the preference point NWP·NECD / (NWP + NECD), up to epsilon = 1e-6.

    Parameters
    ----------
    rel : Release
    preference : (float, float)
        The preference point (NWP, NECD), each in [0, 1].
    weights : mapping of attribute name to float, optional
        As for :func:`nwp`.

    Raises
    ------
    ParameterError
        The preference or the weights are out of range, or no row is published.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> r = ap.Recoding(m.attributes, [[0, 0, 1], [0, 1], [0, 1, 1]])
    >>> round(ach(ap.recode(m, r), preference=(0.2, 1.0)), 3)
    0.222
    """
    preference = formulas.check_preference(preference)
    return float(formulas.achievement(nwp(rel, weights), necd(rel), preference))


def prefdev(
    rel: Release,
    preference: tuple[float, float] = (0.2, 1.0),
    weights: Mapping[object, float] | None = None,
) -> float:
    """Preference deviation: by how much loss and bias exceed the preference, from -2 to 2.

    Negative where the preference is overachieved in sum. Parameters and errors are as for
    :func:`ach`.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> r = ap.Recoding(m.attributes, [[0, 0, 1], [0, 1], [0, 1, 1]])
    >>> round(prefdev(ap.recode(m, r), preference=(0.2, 1.0)), 3)
    -0.711
    """
    preference = formulas.check_preference(preference)
    return float(formulas.preference_deviation(nwp(rel, weights), necd(rel), preference))


def _class_sizes(rel: Release) -> np.ndarray:
    sizes = check_release(rel).classes.sizes()
    if len(sizes) == 0:
        raise ParameterError("no row is published: there is no equivalence class")
    return sizes
