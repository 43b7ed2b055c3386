"""Sub-domains: the sets of values that are published in place of a value.

A kept value is a set of one, a star the whole domain; each set is stored as its runs of values.
Rows of sub-domains are boxes, which may overlap, and tuples of codes are points.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from anonpaper.cells import distinct
from anonpaper.compiled import loop
from anonpaper.errors import is_among
from anonpaper.hierarchy import STAR, quoted
from anonpaper.microdata import MISSING, Attribute

_WIDTH = re.compile(r"\[(-?[\d.]+), (-?[\d.]+)\)")  # of Hierarchy.intervals


@dataclass(eq=False)
class SubDomains:
    """Sets of values of one attribute, r of them, none empty; each set has one form only."""

    attribute: Attribute
    start: np.ndarray  # (r + 1,), int64: runs start[i]:start[i + 1] are i's, ascending
    first: np.ndarray  # (c,), int64: the first code of every run of successive values, and
    last: np.ndarray  # (c,), int64: the last
    names: np.ndarray | None = None  # (r,), object: their names where a hierarchy has them

    @classmethod
    def runs(cls, attribute: Attribute, low: np.ndarray, high: np.ndarray) -> SubDomains:
        """Return sub-domains without gaps from their first and last codes, shape (r,) each."""
        low, high = np.asarray(low, dtype=np.intp), np.asarray(high, dtype=np.intp)
        return cls(attribute, np.arange(len(low) + 1), low, high)

    @classmethod
    def sets(cls, attribute: Attribute, owner, codes, names=None) -> SubDomains:
        """Return sub-domains from pairs, which may repeat: ``owner[i]`` has ``codes[i]``."""
        pairs = np.sort(owner * np.int64(attribute.size) + codes)
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]  # np.unique hashes, which takes ten times
        owner, codes = np.array(np.divmod(pairs, attribute.size), np.intp)
        begins = (np.diff(pairs, prepend=-2) > 1) | (codes == 0)
        ends = (np.diff(pairs, append=2**62) > 1) | (codes == attribute.size - 1)
        start = np.searchsorted(owner[begins], np.arange(owner.max(initial=-1) + 2))
        return cls(attribute, start, codes[begins], codes[ends], names)

    def __post_init__(self) -> None:
        #: The first and last code of every sub-domain, shape (r,), and how many values it has
        self.low, self.high = self.first[self.start[:-1]], self.last[self.start[1:] - 1]
        self.sizes = np.add.reduceat(self.last - self.first + 1, self.start[:-1])
        #: Whether it lacks a value between its first and its last
        self.has_gaps = np.diff(self.start) > 1

    @property
    def extents(self) -> np.ndarray:
        """Extent of every sub-domain as a share of the domain's, its NCP; shape (r,)."""
        attribute = self.attribute
        if attribute.numeric:
            reach = attribute.positions[self.high] - attribute.positions[self.low]
            return reach / (attribute.width or 1.0)
        return (self.sizes - 1) / max(attribute.size - 1, 1)

    @property
    def is_star(self) -> np.ndarray:
        """Whether a sub-domain is the whole domain, and not written as its only value; (r,)."""
        return (self.sizes == self.attribute.size) & ~self.is_kept

    @property
    def is_kept(self) -> np.ndarray:
        """Whether a sub-domain is one value, written as that value, shape (r,), dtype bool."""
        if self.names is None:
            return self.sizes == 1
        as_it_is = np.equal(self.names, self.attribute.values[self.low], dtype=object)
        return (self.sizes == 1) & as_it_is.astype(bool)

    @cached_property
    def labels(self) -> np.ndarray:
        """The text of every sub-domain, shape (r,), dtype object: a name, value, star or set.

        A run of an ordered attribute is ``[first - last]``, with missing values ``{[first - last],
        ?}``, any other set ``{a, b, c}``. Unordered values are sorted in it, whatever the order in
        which they were declared, and quoted as in a csv if they could be misunderstood.
        """
        if self.names is not None:
            return self.names
        labels = self.attribute.values[self.low]
        labels[self.is_star] = STAR
        several = np.flatnonzero((self.sizes > 1) & ~self.is_star)
        of, stop = self.take(several), np.cumsum(self.sizes[several])
        runs = of.last - of.first + 1
        codes = np.repeat(of.first - np.cumsum(runs) + runs, runs) + np.arange(runs.sum())
        values, codes = self.attribute.values[codes].tolist(), codes.tolist()
        ends = itertools.pairwise([0, *stop.tolist()])
        labels[several] = [self._written(values[i:j], codes[i:j]) for i, j in ends]
        return labels

    def _written(self, values: list, codes: list) -> str:
        if self.attribute.ordered:
            last = len(codes) - 1 - is_among(values[-1], [MISSING])
            apart = not any(" - " in str(end) for end in (values[0], values[last]))
            if apart and 0 < last == codes[last] - codes[0]:
                run = f"[{values[0]} - {values[last]}]"
                if isinstance(values[0], pd.Interval):
                    run = str(pd.Interval(values[0].left, values[last].right, values[0].closed))
                return run if codes[last] == codes[-1] else f"{{{run}, {MISSING}}}"
        else:
            marked = [values.pop(values.index(MISSING))] if is_among(MISSING, values) else []
            try:
                values.sort()
            except TypeError:
                values.sort(key=str)
            values += marked
        texts = [*map(str, values)]
        is_plain = all(texts) and "".join(texts).isalnum()  # most are, and this is seen at once
        return f"{{{', '.join(texts if is_plain else map(quoted, texts))}}}"

    def members(self, i: int) -> np.ndarray:
        """Return the codes of sub-domain i, ascending."""
        runs = range(*self.start[i : i + 2].tolist())
        return np.concatenate([np.arange(self.first[r], self.last[r] + 1) for r in runs])

    def contains(self, which: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return whether sub-domains have codes; `which` and `codes` are broadcast."""
        size = np.int64(self.attribute.size)
        begins = np.repeat(np.arange(len(self)), np.diff(self.start)) * size + self.first
        run = np.searchsorted(begins, which * size + codes, side="right") - 1
        return (run >= self.start[which]) & (codes <= self.last[run])

    def means(self, values: np.ndarray) -> np.ndarray:
        """Return the means of numbers, shape (size,) or (size, k), over every sub-domain."""
        values = np.asarray(values, dtype=float)
        until = np.concatenate([np.zeros_like(values[:1]), np.cumsum(values, axis=0)])
        total = np.add.reduceat(until[self.last + 1] - until[self.first], self.start[:-1])
        means = (total.T / self.sizes).T
        kept = self.sizes == 1
        means[kept] = values[self.low[kept]]  # differences of sums are rounded
        return means

    def take(self, which: np.ndarray) -> SubDomains:
        """Return some of the sub-domains, in the order given."""
        held = np.diff(self.start)[which]
        start = np.r_[0, np.cumsum(held)]
        runs = np.repeat(self.start[which] - start[:-1], held) + np.arange(start[-1])
        names = None if self.names is None else self.names[which]
        return SubDomains(self.attribute, start, self.first[runs], self.last[runs], names)

    def distinct(self) -> tuple[SubDomains, np.ndarray]:
        """Return every sub-domain once, the first of equal ones, and the new number of each."""
        size = np.int64(self.attribute.size)
        key, numbers = self.low * size + self.high, {}
        runs = np.column_stack([self.first, self.last])
        for i in np.flatnonzero(self.has_gaps):
            held = runs[self.start[i] : self.start[i + 1]].tobytes()
            key[i] = size * size + numbers.setdefault(held, len(numbers))
        _, first, number = np.unique(key, return_index=True, return_inverse=True)
        return self.take(first), number

    def __len__(self) -> int:
        return len(self.start) - 1


def codes_in(domain: Attribute, values: Attribute) -> np.ndarray:
    """Return the code of every value of an attribute in another domain, -1 if it lacks it."""
    code = {value: code for code, value in enumerate(domain.values)}
    return np.array([code.get(value, -1) for value in values.values])


def fitting(column, other: Attribute) -> np.ndarray:
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


def rows_at(points, domains: Sequence[SubDomains], index, rows, kinds=0, kind=None) -> np.ndarray:
    """Return how many rows are at each point if published rows spread evenly over their boxes.

    The numbers of sub-domains, `index`, have the shape (d, f), and `rows` (f,). Rows of a `kind`
    are only at points of this kind, if given. None is at code -1.
    """
    kind = np.zeros(len(rows), np.intp) if kind is None else kind
    sizes = [*map(len, domains), kind.max(initial=0) + 1]
    _, one, rows = distinct([*index, kind], sizes, rows)  # every box once
    points, weights = np.ascontiguousarray(points, dtype=np.int64), rows.astype(float)
    keys, parts, held = [], [], 0
    for domain, of, codes in zip(domains, index, points.T, strict=True):
        box, span = of[one], domain.attribute.size + 2
        weights /= domain.sizes[box]
        keys.append(kinds * span + codes + 1)
        ends = kind[one] * span + [domain.low[box] + 1, domain.high[box] + 2]
        if ends.max(initial=0) < 16 * len(points):  # then counting takes less than searching
            within = np.cumsum(np.bincount(keys[-1] + 1, minlength=ends.max(initial=0) + 1))[ends]
        else:
            within = np.searchsorted(np.sort(keys[-1]), ends)
        parts.append([*within, held + domain.start[box], held + domain.start[box + 1]])
        held += len(domain.first)
    parts = np.array(parts)
    by = (parts[:, 1] - parts[:, 0]).argmin(axis=0)
    first = np.concatenate([domain.first for domain in domains])
    last = np.concatenate([domain.last for domain in domains])
    found = np.zeros(len(points))
    for j in np.unique(by):
        order, boxes = np.argsort(keys[j], kind="stable"), np.flatnonzero(by == j)
        found[order] += _rows_at(points[order], first, last, parts, j, boxes, weights)
    return found


@loop
def _rows_at(points, first, last, parts, by, boxes, weights):
    found = np.zeros(len(points))
    for box in boxes:
        for i in range(parts[by, 0, box], parts[by, 1, box]):
            for j in range(points.shape[1]):
                code, run, end = points[i, j], parts[j, 2, box], parts[j, 3, box]
                if end - run > 1:
                    run += max(np.searchsorted(first[run:end], code, side="right") - 1, 0)
                if code < first[run] or code > last[run]:
                    break
            else:
                found[i] += weights[box]
    return found
