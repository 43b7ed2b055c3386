"""l-dimensional matching as a table to be made l-diverse (xiao2010, section 4).

An instance has l >= 3 disjoint sets of q elements and t points with a coordinate in each. The
reduction writes it as lq rows (elements) and t quasi-identifiers (points). It has q points that
use every element once, a matching, iff the table has an l-diverse suppression with lq(t - 1)
stars; none has fewer. The paper prints l = 3 and calls larger l straightforward (Theorem 4.7).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anonpaper.errors import ParameterError, check_integer
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata


def table_of(points: Sequence[tuple[int, ...]], q: int, m: int | None = None) -> Microdata:
    """Write an instance as a table with m sensitive values, lq by default, none in two sets."""
    # The row of an element holds 0 on its points and its sensitive value on all others. The
    # paper's sensitive values are one of many choices that do (Properties 1 to 4).
    q = check_integer("q", q, 1)
    if not len(points):
        raise ParameterError("an instance needs at least one point")
    l = max(np.asarray(points[0]).size, 3)
    m = check_integer("m", l * q if m is None else m, l, l * q)
    for point in points:
        coordinates = np.asarray(point)
        integers = np.issubdtype(coordinates.dtype, np.integer) and coordinates.shape == (l,)
        if not integers or coordinates.min() < 0 or coordinates.max() >= q:
            raise ParameterError(
                f"a point needs {l} integers from 0 to {q - 1} as coordinates, got {point!r}"
            )
    points = [tuple(int(c) for c in point) for point in points]
    if len(set(points)) < len(points):
        raise ParameterError("a point stands twice")

    sensitive = np.concatenate(_sensitive_values(l, q, m))
    dimension, element = np.divmod(np.arange(l * q), q)
    frame = pd.DataFrame(
        {
            f"p{i}": np.where(np.array(point)[dimension] == element, 0, sensitive)
            for i, point in enumerate(points, start=1)
        },
        index=[f"D{a + 1}:{b}" for a, b in zip(dimension, element, strict=True)],
    )
    qi = list(frame.columns)
    frame["SA"] = sensitive
    return Microdata(frame, qi, "SA", origin=f"{l}DM instance, q = {q}, t = {len(points)}")


def _sensitive_values(l: int, q: int, m: int) -> list[np.ndarray]:
    """Share m values among l dimensions, at most q for each, none for two of them."""
    shares = np.full(l, m // l) + (np.arange(l) < m % l)
    starts = np.cumsum([1, *shares[:-1]])
    return [start + np.arange(q) % share for start, share in zip(starts, shares, strict=True)]


def least_stars(table: Microdata) -> int:
    """Return lq(t - 1): no l-diverse suppression of the table has fewer stars (Property 4)."""
    return table.n * (table.d - 1)


def matching_of(table: Microdata, p: Partition) -> list[int] | None:
    """Return the places of the points of a matching that an l-diverse grouping shows, or None."""
    # With lq(t - 1) stars every group has l rows that agree, at 0, on exactly one attribute: that
    # of the point whose coordinates the l rows are (Property 3, Lemma 4.5).
    is_zero = table.frame[table.qi].to_numpy() == 0
    if p.n_unpublished or len(p) != table.n:
        return None
    l = int(is_zero[:, 0].sum())  # Property 1: a column has one 0 for every dimension
    chosen = []
    for rows in p.groups():
        agreed = np.flatnonzero(is_zero[rows].all(axis=0))
        if len(rows) != l or len(agreed) != 1:
            return None
        chosen.append(int(agreed[0]))
    return sorted(chosen)
