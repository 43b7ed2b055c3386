r"""Lower bounds on the number of stars that hold for every algorithm.

Rows that keep the same attributes A and agree on them are a *bucket* S. A grouping is frequency
l-diverse if every bucket has h(S, v) <= \|S\|/l, where h counts the rows of value v.
"""

from __future__ import annotations

import numpy as np

from anonpaper.errors import ParameterError, SizeLimitError, check_integer, check_number
from anonpaper.groups import group_bounds
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.partition.refined import attributes_kept
from anonpaper.principles import require_diverse

_UNIT = 1 << 20  # prices are multiples of its inverse
_MOST_VARIABLES = 2_000_000  # of a linear program; and choices of attributes


def fewest_stars(
    m: Microdata, *, l: int | None = None, k: int | None = None, seconds: float = 60.0
) -> int:
    r"""Lower bound of the stars of every l-diverse, or k-anonymous, grouping, from 0 to n·d.

    Every grouping that publishes all rows has at least this many; the optimum may be higher. Give
    either `l` (frequency l-diversity, with the errors of :func:`~anonpaper.partition.tp.tp`) or
    `k`, from 2 to n. If `seconds` run out, the bound is weaker. SizeLimitError above 2,000,000
    variables; at most e·2^d for e cells.

    The program and its bound are this package's: rows t choose attributes A with shares x(t, A)
    (xiao2010, Problem 1). By weak duality *any* prices w(S, v) >= 0 of its inequalities prove the
    second line, S being the bucket of t and A; they are rounded and summed in integers. For
    k-anonymity, k replaces l and every row has its own value.

    .. math:: \min \sum_{t, A} (d - |A|)\, x(t, A), \qquad \sum_A x(t, A) = 1, \qquad
        l \cdot h(S, v) \le |S| \quad\text{for every bucket } S \text{ and value } v \\
        \ge \sum_t \min_A \Bigl( d - |A| + l\, w(S, v_t) - \sum_u w(S, u) \Bigr)

    >>> m = ap.examples.hospital()
    >>> fewest_stars(m, l=2), ap.exact(m, l=2).info["cost"], fewest_stars(m, k=2)
    (6, 6, 2)
    """
    if (l is None) == (k is None):
        raise ParameterError("give either l, for l-diversity, or k, for k-anonymity")
    check_number("seconds", seconds, 0, np.inf, open_low=True)
    if k is None:
        l = require_diverse(m, l)
        program = _Program(m, l, m.cells.sensitive, np.ones(len(m.cells.counts), int))
    else:
        # every row has its own value; rows of one tuple share a variable and an inequality
        l = check_integer("k", k, 2, check_microdata(m).n)
        m = m.about(None)
        program = _Program(m, l, np.arange(len(m.cells)), m.cells.counts)
    return program.bound(program.prices(seconds))


class _Program:
    """The linear program of a table, and the bound that any prices prove.

    A variable is a cell and a choice of attributes. Omitted are buckets whose rows agree on
    further attributes (keeping these gives the same bucket with fewer stars) and buckets without l
    rows of different values. The rows of a cell have its `value`, `different` ones: l·h(S, v) may
    be that many times the rows of S.
    """

    def __init__(self, m: Microdata, l: int, value, different) -> None:
        self.l, self.rows, self.d = l, m.cells.counts, m.d
        _check_size(1 << m.d)
        found, size = [], 0
        for number, kept in enumerate(attributes_kept(m.d, 1 << m.d)):
            cell, bucket = _possible(m, kept, l, value, different)
            stars = np.full(len(cell), m.d - kept.sum())
            found.append((cell, bucket + number * len(m.cells), stars))
            size += len(cell)
            _check_size(size)
        self.cell, bucket, self.stars = map(np.concatenate, zip(*found, strict=True))
        order = np.argsort(self.cell, kind="stable")
        self.cell, self.stars = self.cell[order], self.stars[order]
        self.bucket = np.unique(bucket[order], return_inverse=True)[1]
        key = self.bucket * (int(value.max()) + 1) + value[self.cell]
        _, first, self.slot = np.unique(key, return_index=True, return_inverse=True)
        self.bucket_of_slot, self.times = self.bucket[first], different[self.cell[first]]

    def prices(self, seconds: float) -> np.ndarray:
        """Solve it; return the prices of the inequalities in 1 / _UNIT, 0 if time runs out."""
        import scipy.sparse as sp  # here: the browser edition measures without scipy
        from scipy.optimize import linprog

        x, y, b = len(self.cell), len(self.times), int(self.bucket.max()) + 1
        e, variable, sizes = len(self.rows), np.arange(x), np.arange(b)
        # l h(S, v) - times |S| <= 0, with a variable for every |S|
        row, column = np.r_[self.slot, np.arange(y)], np.r_[variable, x + self.bucket_of_slot]
        entries = np.r_[np.full(x, float(self.l)), -self.times]
        inequalities = sp.csr_array((entries, (row, column)), shape=(y, x + b))
        # all rows of a cell choose, and |S| is the sum of those that chose S
        row = np.r_[self.cell, e + self.bucket, e + sizes]
        column = np.r_[variable, variable, x + sizes]
        entries = np.r_[np.ones(2 * x), -np.ones(b)]
        equations = sp.csr_array((entries, (row, column)), shape=(e + b, x + b))
        solved = linprog(
            np.r_[self.stars, np.zeros(b)], inequalities, np.zeros(y), equations,
            np.r_[self.rows, np.zeros(b)], method="highs-ipm", options={"time_limit": seconds},
        )  # fmt: skip
        if solved.status != 0:
            return np.zeros(y, np.int64)
        prices = np.clip(-solved.ineqlin.marginals, 0, self.d * self.rows.sum())
        return np.rint(prices * _UNIT).astype(np.int64)

    def bound(self, prices: np.ndarray) -> int:
        """Return the bound that prices prove, in integers; any prices of at least 0 prove one."""
        heaviest = self.l * (self.times * prices.astype(float)).sum() + self.d * _UNIT
        if heaviest * self.rows.sum() >= 2**62:  # integers of 64 bits would not hold the sum
            prices = np.zeros_like(prices)
        of_bucket = np.zeros(int(self.bucket.max()) + 1, np.int64)
        np.add.at(of_bucket, self.bucket_of_slot, self.times * prices)
        reduced = self.stars * _UNIT + self.l * prices[self.slot] - of_bucket[self.bucket]
        first = np.searchsorted(self.cell, np.arange(len(self.rows)))
        proved = int((self.rows * np.minimum.reduceat(reduced, first)).sum())
        return max(-(-proved // _UNIT), 0)


def _possible(m: Microdata, kept, l: int, value, different) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells that can make a choice, and the bucket of each, numbered from 0."""
    tuples = m.cells.tuples
    bucket = np.unique(tuples[:, kept], axis=0, return_inverse=True)[1].ravel()
    low, high = group_bounds(np.ascontiguousarray(tuples), bucket, bucket.max() + 1)
    closed = ((low != high) | kept).all(axis=1)
    of_cell = bucket[m.cells.tuple_of_cell]
    _, slot = np.unique(of_cell * (int(value.max()) + 1) + value, return_index=True)
    values = np.bincount(of_cell[slot], different[slot], len(low))
    possible = (closed & (values >= l))[of_cell]
    return np.flatnonzero(possible), of_cell[possible]


def _check_size(size: int) -> None:
    if size > _MOST_VARIABLES:
        told = f"more than {_MOST_VARIABLES} variables or choices of attributes"
        way = "use a sample of the rows or fewer quasi-identifiers"
        raise SizeLimitError(f"the linear program has {told}: {way}")
