"""Which published rows cover a point: rows of sub-domains are boxes, tuples of codes are points.

Boxes overlap. Every box tests only the points between its bounds in one attribute, the attribute
that leaves the fewest points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from anonpaper.cells import distinct
from anonpaper.compiled import loop
from anonpaper.microdata import Attribute
from anonpaper.published_values import SubDomains

__all__ = ["boxes_of", "codes_in", "weight_at"]


def codes_in(domain: Attribute, values: Attribute) -> np.ndarray:
    """Return the code of every value of an attribute in another domain, -1 if it lacks it."""
    if domain is values:
        return np.arange(domain.size)
    code = {value: code for code, value in enumerate(domain.values)}
    return np.array([code.get(value, -1) for value in values.values])


class Boxes(NamedTuple):
    """Distinct published rows, b of them."""

    index: np.ndarray  # (b, d): the number of a box's sub-domain of every attribute
    kind: np.ndarray  # its sensitive code, where one is given
    counts: np.ndarray  # rows that are published so
    volume: np.ndarray  # QI tuples in a box, as a float that does not overflow


def boxes_of(
    domains: Sequence[SubDomains], index: Sequence, kind=None, kinds: int = 1, weights=None
) -> Boxes:
    """Return the distinct rows of sub-domains; a kind in ``[0, kinds)`` distinguishes more."""
    kind = np.zeros(len(index[0]), np.int32) if kind is None else kind
    _, first, counts = distinct([*index, kind], [*map(len, domains), kinds], weights)
    index = np.column_stack([of_row[first] for of_row in index])
    sizes = [domain.sizes[held] for domain, held in zip(domains, index.T, strict=True)]
    return Boxes(index, kind[first], counts, np.prod(sizes, axis=0, dtype=float))


def weight_at(
    points: np.ndarray, domains: Sequence[SubDomains], boxes: Boxes, weights: np.ndarray, kind=0
) -> np.ndarray:
    """Sum the weights of the boxes of the same kind that cover each point; none covers code -1."""
    points = np.ascontiguousarray(points, dtype=np.int64)
    index, weights = boxes.index, np.asarray(weights, dtype=float)
    low, high, start, stop, first, last = np.empty((6, *index.shape), np.intp)
    orders, held = [], 0
    for j, domain in enumerate(domains):
        low[:, j], high[:, j] = domain.low[index[:, j]], domain.high[index[:, j]]
        start[:, j] = held + domain.start[index[:, j]]
        stop[:, j] = held + domain.start[index[:, j] + 1]
        held += len(domain.codes)
        span = 2 + max(points[:, j].max(initial=0), high[:, j].max(initial=0))
        key = kind * span + points[:, j] + 1
        orders.append(np.argsort(key, kind="stable"))
        key = key[orders[j]]
        first[:, j] = np.searchsorted(key, boxes.kind * span + low[:, j] + 1)
        last[:, j] = np.searchsorted(key, boxes.kind * span + high[:, j] + 2)
    by = (last - first).argmin(axis=1)
    codes = np.concatenate([domain.codes for domain in domains])
    weight = np.zeros(len(points))
    for j in np.unique(by):
        order, of_j = orders[j], by == j
        between = first[of_j, j], last[of_j, j]
        parts = (*between, *(part[of_j] for part in (low, high, start, stop, weights)))
        weight[order] += _weight_at(points[order], codes, *parts)
    return weight


@loop
def _weight_at(points, codes, first, last, low, high, start, stop, weights):
    weight = np.zeros(len(points))
    for box in range(len(first)):
        for i in range(first[box], last[box]):
            covers = True
            for j in range(points.shape[1]):
                code = points[i, j]
                if code < low[box, j] or code > high[box, j]:
                    covers = False
                elif start[box, j] < stop[box, j]:
                    held = codes[start[box, j] : stop[box, j]]
                    covers = held[np.searchsorted(held, code)] == code
                if not covers:
                    break
            if covers:
                weight[i] += weights[box]
    return weight
