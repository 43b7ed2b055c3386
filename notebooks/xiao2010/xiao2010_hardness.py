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

from anonpaper.groups import Partition
from anonpaper.microdata import Microdata


def table_of(points: Sequence[tuple[int, ...]], q: int, m: int | None = None) -> Microdata:
    """Write an instance as a table with m sensitive values, lq by default, none in two sets."""
    l = len(points[0])
    dimension, element = np.divmod(np.arange(l * q), q)  # line 1
    share = np.full(l, (m or l * q) // l) + (np.arange(l) < (m or l * q) % l)
    sensitive = np.cumsum([1, *share[:-1]])[dimension] + element % share[dimension]  # line 2
    columns = {
        f"p{i}": np.where(np.array(point)[dimension] == element, 0, sensitive)  # lines 3 and 4
        for i, point in enumerate(points, start=1)
    }
    names = [f"D{a + 1}:{b}" for a, b in zip(dimension, element, strict=True)]
    return Microdata(pd.DataFrame({**columns, "SA": sensitive}, index=names), [*columns], "SA")


def least_stars(table: Microdata) -> int:
    """Return lq(t - 1): no l-diverse suppression of the table has fewer stars (Property 4)."""
    return table.n * (table.d - 1)


def matching_of(table: Microdata, p: Partition) -> list[int] | None:
    """Return the places of the points of a matching that an l-diverse grouping shows, or None."""
    # With lq(t - 1) stars every group has l rows that agree, at 0, on exactly one attribute: that
    # of the point whose coordinates the l rows are (Property 3, Lemma 4.5).
    is_zero = table.frame[table.qi].to_numpy() == 0
    l = is_zero[:, 0].sum()  # Property 1: a column has one 0 for every dimension
    agreed = [np.flatnonzero(is_zero[rows].all(axis=0)) for rows in p.groups()]
    if any(len(rows) != l for rows in p.groups()) or any(len(one) != 1 for one in agreed):
        return None
    return sorted(int(one) for (one,) in agreed)
