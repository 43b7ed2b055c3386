"""Loss and bias of many recodings at once, as dewri2009 defines them (sections 3.1 and 3.2).

Searches evaluate thousands of recodings in one compiled call on the distinct QI tuples of a
table. The cost depends on the tuples, not on the rows. `anonpaper.preference_point` has the
formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numba import prange

from anonpaper.compiled import loop
from anonpaper.errors import ParameterError, check_weights
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.preference_point import dispersion, penalty

__all__ = [
    "Evaluation", "Evaluator", "Table", "class_keys", "number_keys", "sub_domains",
    "weight_vector",
]  # fmt: skip

# Looking up so many codes takes about a millisecond; waking threads can take longer than that.
_WORTH_A_THREAD = 1_000_000


def weight_vector(names: Sequence, weights: Mapping[object, float] | None) -> np.ndarray:
    """Return the weights of attributes: equal ones, or those given, 0 where left out; sum 1."""
    if weights is None:
        return np.full(len(names), 1 / len(names))
    vector = check_weights(names, weights, left_out=0.0)
    if abs(vector.sum() - 1) > 1e-9:
        raise ParameterError(f"weights must sum to 1, got {vector.sum():.12g}: {dict(weights)}")
    return vector


class Evaluation(NamedTuple):
    """What recodings do to a table, one entry per recoding."""

    nwp: np.ndarray  # normalized weighted penalty, in [0, 1]
    smallest: np.ndarray  # rows of the smallest equivalence class: the effective k
    largest: np.ndarray  # rows of the largest one
    necd: np.ndarray  # normalized equivalence class dispersion, in [0, 1]


class Table(NamedTuple):
    """A table for compiled loops: d attributes of at most S values, c distinct QI tuples."""

    sizes: np.ndarray  # (d,)
    first: np.ndarray  # (d,), the first bit of each attribute
    codes: np.ndarray  # (d, c)
    rows: np.ndarray  # (c,)
    value_rows: np.ndarray  # (d, S)
    penalty: np.ndarray  # (d,), of a row per value that its sub-domain holds beyond the first
    k: int = 1  # the effective k asked for, where a loop needs it


class Evaluator:
    """Evaluates recodings of one table, given as chromosomes; O(c·d) each for c QI tuples.

    One thread evaluates a recoding, in integers and a fixed order of additions. So results do not
    depend on the number of threads (``NUMBA_NUM_THREADS``).

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> Evaluator(m).evaluate([[0, 0, 0, 0, 0], [1, 0, 0, 0, 0]]).smallest.tolist()
    [10, 3]
    """

    def __init__(self, m: Microdata, weights: Mapping[object, float] | None = None) -> None:
        self.n = check_microdata(m).n
        sizes = np.array([attribute.size for attribute in m.attributes])
        self.n_bits = int((sizes - 1).sum())
        self.n_tuples = len(m.cells)
        codes, rows = np.ascontiguousarray(m.cells.tuples.T), m.cells.tuple_sizes
        value_rows = np.array([np.bincount(of, rows, sizes.max()) for of in codes], np.int64)
        unit_penalty = penalty(2, sizes, weight_vector(m.qi, weights))
        first = np.cumsum(sizes - 1) - (sizes - 1)
        self.table = Table(sizes, first, codes, rows, value_rows, unit_penalty)

    def evaluate(self, bits: np.ndarray) -> Evaluation:
        """Evaluate chromosomes, shape (p, n_bits), as :meth:`Recoding.encode` gives them."""
        bits = np.ascontiguousarray(bits, dtype=bool)
        work = len(bits) * self.table.codes.size
        evaluate = _evaluate_in_parallel if work > _WORTH_A_THREAD else _evaluate_serially
        found = evaluate(bits, self.table)
        smallest, largest = found[:, 1:].T.astype(np.int64)
        necd = dispersion(smallest, largest, self.n)
        return Evaluation(found[:, 0] / self.n, smallest, largest, necd)


@loop
def _evaluate_serially(bits, table):
    """Total penalty, smallest and largest class of every chromosome."""
    found = np.empty((len(bits), 3))
    for p in range(len(bits)):
        found[p, 0], found[p, 1], found[p, 2] = _evaluate(bits[p], table)
    return found


@loop(parallel=True)
def _evaluate_in_parallel(bits, table):
    """The same, chromosomes spread over threads."""
    found = np.empty((len(bits), 3))
    for p in prange(len(bits)):
        found[p, 0], found[p, 1], found[p, 2] = _evaluate(bits[p], table)
    return found


@loop
def _evaluate(bits, table):
    """Total penalty, smallest and largest class of one chromosome."""
    maps = sub_domains(bits, table.sizes)
    smallest, largest = _class_range(maps, table)
    return _penalty(maps, table), smallest, largest


@loop
def sub_domains(bits, sizes):
    """The number of the sub-domain of every attribute's every value."""
    maps = np.zeros((len(sizes), sizes.max()), np.int64)
    bit = 0
    for j in range(len(sizes)):
        for value in range(1, sizes[j]):
            maps[j, value] = maps[j, value - 1] + bits[bit]
            bit += 1
    return maps


@loop
def _penalty(maps, table):
    """Sum of the penalties of all rows: those of a sub-domain pay for its size, empty or not."""
    total = 0.0
    for j in range(len(table.sizes)):
        start = 0
        while start < table.sizes[j]:
            rows = table.value_rows[j, start]
            end = start + 1
            while end < table.sizes[j] and maps[j, end] == maps[j, start]:
                rows += table.value_rows[j, end]
                end += 1
            total += table.penalty[j] * rows * (end - start - 1)
            start = end
    return total


@loop
def _class_range(maps, table):
    """Rows of the smallest and of the largest equivalence class."""
    key, span = class_keys(maps, table.codes, table.sizes, np.int64(-1))
    if span > 4 * len(key):
        span = number_keys(key)
    rows = np.zeros(span, np.int64)
    for i in range(len(key)):
        rows[key[i]] += table.rows[i]
    smallest, largest = rows[key[0]], 0
    for number in range(span):
        if rows[number] > 0:
            smallest = min(smallest, rows[number])
            largest = max(largest, rows[number])
    return smallest, largest


@loop
def class_keys(maps, codes, sizes, left_out):
    """A key per tuple, equal where all attributes but one are, and the span [0, s) of keys."""
    key = np.zeros(codes.shape[1], np.int64)
    span = 1
    for j in range(len(sizes)):
        parts = maps[j, sizes[j] - 1] + 1
        if j == left_out or parts == 1:
            continue
        if span > 2**62 // parts:
            span = number_keys(key)
        for i in range(len(key)):
            key[i] = key[i] * parts + maps[j, codes[j, i]]
        span *= parts
    return key, span


@loop
def number_keys(key):
    """Replace keys by 0, 1, ... in order of appearance, in place; return how many there are."""
    slots, shift = 2, 63  # 2^(64 - shift) slots, at most half of them taken
    while slots < 2 * len(key):
        slots *= 2
        shift -= 1
    number_in = np.full(slots, -1, np.int64)
    key_in = np.empty(slots, np.int64)
    found = 0
    for i in range(len(key)):
        # Fibonacci hashing: the highest bits of the product are well mixed.
        slot = np.int64((np.uint64(key[i]) * np.uint64(11400714819323198485)) >> np.uint64(shift))
        while number_in[slot] >= 0 and key_in[slot] != key[i]:
            slot = (slot + 1) & (slots - 1)
        if number_in[slot] < 0:
            number_in[slot] = found
            key_in[slot] = key[i]
            found += 1
        key[i] = number_in[slot]
    return found
