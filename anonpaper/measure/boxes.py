"""Which published rows cover a point: rows of sub-domains are boxes, tuples of codes are points.

Boxes overlap. Every box tests only the points between its bounds in one attribute, the attribute
that leaves the fewest points.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from anonpaper.cells import distinct
from anonpaper.compiled import loop
from anonpaper.hierarchy import STAR
from anonpaper.microdata import Attribute
from anonpaper.publish import PublishedAttribute
from anonpaper.published_values import SubDomains

__all__ = ["codes_in", "fitting", "rows_at"]

_WIDTH = re.compile(r"\[(-?[\d.]+), (-?[\d.]+)\)")  # of Hierarchy.intervals


def codes_in(domain: Attribute, values: Attribute) -> np.ndarray:
    """Return the code of every value of an attribute in another domain, -1 if it lacks it."""
    if domain is values:
        return np.arange(domain.size)
    code = {value: code for code, value in enumerate(domain.values)}
    return np.array([code.get(value, -1) for value in values.values])


def fitting(column: PublishedAttribute, other: Attribute) -> np.ndarray:
    """Return which values of another table each sub-domain allows, shape (r, size), bool.

    A number fits an interval, any value a star, and other values that the table lacks nothing.
    """
    sub, own = column.sub_domains, column.attribute
    fits = sub.contains(np.arange(len(sub))[:, None], codes_in(own, other))
    if own.numeric and other.numeric:
        numbers = other.positions
        if sub.names is None:
            low, high = own.positions[[sub.low, sub.high]][:, :, None]
            fits |= ~sub.has_gaps[:, None] & (low <= numbers) & (numbers <= high)
        for row, label in zip(fits, column.labels, strict=True):
            if ends := _WIDTH.fullmatch(str(label)):
                row |= (float(ends[1]) <= numbers) & (numbers < float(ends[2]))
    return fits | (column.labels == STAR)[:, None]


def rows_at(
    points: np.ndarray, domains: Sequence[SubDomains], index: Sequence, rows, kinds=0, kind=None
) -> np.ndarray:
    """Return how many rows are at each point if published rows spread evenly over their boxes.

    The numbers of sub-domains, `index`, have the shape (d, f), and `rows` (f,). Rows of a `kind`
    are only at points of this kind, if given. None is at code -1.
    """
    kind = np.zeros(len(rows), np.intp) if kind is None else kind
    sizes = [*map(len, domains), kind.max(initial=0) + 1]
    _, one, rows = distinct([*index, kind], sizes, rows)  # every box once
    kind, points = kind[one], np.ascontiguousarray(points, dtype=np.int64)
    start, stop, least, most = np.empty((4, len(one), len(domains)), np.intp)
    orders, held, weights = [], 0, rows.astype(float)
    for j, (domain, of_box) in enumerate(zip(domains, (of[one] for of in index), strict=True)):
        start[:, j], stop[:, j] = held + domain.start[of_box], held + domain.start[of_box + 1]
        held += len(domain.first)
        weights /= domain.sizes[of_box]
        span = domain.attribute.size + 2
        key = kinds * span + points[:, j] + 1
        orders.append(np.argsort(key, kind="stable"))
        key = key[orders[j]]
        least[:, j] = np.searchsorted(key, kind * span + domain.low[of_box] + 1)
        most[:, j] = np.searchsorted(key, kind * span + domain.high[of_box] + 2)
    by = (most - least).argmin(axis=1)
    first = np.concatenate([domain.first for domain in domains])
    last = np.concatenate([domain.last for domain in domains])
    found = np.zeros(len(points))
    for j in np.unique(by):
        some = by == j
        parts = least[some, j], most[some, j], start[some], stop[some], weights[some]
        found[orders[j]] += _rows_at(points[orders[j]], first, last, *parts)
    return found


@loop
def _rows_at(points, first, last, least, most, start, stop, weights):
    found = np.zeros(len(points))
    for box in range(len(least)):
        for i in range(least[box], most[box]):
            covers = True
            for j in range(points.shape[1]):
                code, begin, end = points[i, j], start[box, j], stop[box, j]
                if code < first[begin] or code > last[end - 1]:
                    covers = False
                elif end - begin > 1:
                    run = np.searchsorted(first[begin:end], code, side="right") - 1
                    covers = code <= last[begin + run]
                if not covers:
                    break
            if covers:
                found[i] += weights[box]
    return found
