r"""Why l-diversity is hard: l-dimensional matching as a table to be made l-diverse.

For l >= 3, l-dimensional matching (3DM for l = 3) asks, for disjoint sets D1, ..., Dl of q
elements each and t points of D1 × ... × Dl, for q points that together use every element exactly
once. The reduction of xiao2010, section 4, writes an instance as a table of lq rows (one per
element) and t quasi-identifiers (one per point) such that

    the instance has a matching  iff  the table has an l-diverse suppression with lq(t - 1) stars,

and no l-diverse suppression has fewer. The paper prints it for l = 3 and calls the extension to
larger l straightforward (Theorem 4.7). :func:`matching_of` goes back from such a suppression.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anonpaper.errors import ParameterError, check_integer
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata

__all__ = ["least_stars", "matching_of", "table_of"]


def table_of(points: Sequence[tuple[int, ...]], q: int, m: int | None = None) -> Microdata:
    """Write an instance of l-dimensional matching as a table.

    Parameters
    ----------
    points : sequence of t tuples of l integers
        Coordinates in ``[0, q)``, one per dimension, for l >= 3; no point twice.
    q : int
        Size of each of the l sets.
    m : int, optional
        Number of sensitive values, from l to lq (the default); a value never stands in two
        dimensions.

    Returns
    -------
    Microdata
        Rows ``D1:0 .. D1:q-1, D2:0 .., D3:..``; QI ``p1 .. pt``; sensitive attribute ``SA``.
        The row of an element holds 0 on the points that have it as a coordinate, and its own
        sensitive value (from 1) on all others.

    Raises
    ------
    ParameterError
        q, m or a point is out of range, a point stands twice, or there are no points.

    References
    ----------
    xiao2010, section 4, Properties 1 to 4. The paper's assignment of sensitive values is one of
    many that do: elements of different dimensions differ, and m values are used in all.

    Examples
    --------
    >>> table = table_of([(0, 0, 0), (1, 1, 1), (0, 1, 1)], q=2)
    >>> table.frame.loc["D1:0"].tolist()
    [0, 1, 0, 1]
    """
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
    """Read a matching off a 3-diverse grouping, if it shows one.

    Parameters
    ----------
    table : Microdata
        As :func:`table_of` makes it.
    p : Partition
        Any l-diverse grouping of its rows, l being the number of dimensions.

    Returns
    -------
    list of int or None
        The places of q points that use every element once, ascending; None if the grouping has
        more than lq(t - 1) stars or leaves rows out.

    Notes
    -----
    In a grouping of lq(t - 1) stars every group has l rows that agree, at 0, on exactly one
    attribute: that of the point whose coordinates the l rows are (Property 3, Lemma 4.5).

    Examples
    --------
    >>> import anonpaper as ap
    >>> table = table_of([(0, 0, 0), (1, 1, 1), (0, 1, 1)], q=2)
    >>> matching_of(table, ap.exact(table, l=3))
    [0, 1]
    """
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
