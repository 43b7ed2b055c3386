"""What recodings cost in dewri2009: information loss and bias of many at once.

The search algorithms ask for thousands of recodings at once, so all of them are evaluated in one
compiled call on the distinct QI tuples of the table; the cost depends on these, not on the rows.

Source: dewri2009, sections 3.1 and 3.2; the formulas are those of `anonpaper.preference`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numba import prange

from anonpaper.compiled import loop
from anonpaper.errors import ParameterError, check_weights
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.preference import dispersion, penalty

__all__ = ["Evaluation", "Evaluator", "number_keys", "sub_domains", "weight_vector"]

# Looking up so many codes takes about a millisecond; waking threads can take longer than that.
_WORTH_A_THREAD = 1_000_000


def weight_vector(names: Sequence, weights: Mapping[object, float] | None) -> np.ndarray:
    """Return the attributes' weights in order: equal ones, or those given, 0 where left out.

    Raises
    ------
    ColumnError
        Weights name no quasi-identifier.
    ParameterError
        Weights are no numbers of at least 0, or do not sum to 1.
    """
    if weights is None:
        return np.full(len(names), 1 / len(names))
    vector = check_weights(names, weights, left_out=0.0)
    if abs(vector.sum() - 1) > 1e-9:
        raise ParameterError(f"weights must sum to 1, got {vector.sum():.12g}: {dict(weights)}")
    return vector


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What recodings do to a table, one entry per recoding.

    Attributes
    ----------
    nwp : numpy.ndarray, shape (p,), dtype float64
        Normalized weighted penalty, in [0, 1].
    smallest, largest : numpy.ndarray, shape (p,), dtype int64
        Rows of the smallest and the largest equivalence class; the smallest is the effective k.
    necd : numpy.ndarray, shape (p,), dtype float64
        Normalized equivalence class dispersion, in [0, 1].
    """

    nwp: np.ndarray
    smallest: np.ndarray
    largest: np.ndarray
    necd: np.ndarray


class Evaluator:
    """Evaluates recodings of one table, given as chromosomes.

    Parameters
    ----------
    m : Microdata
        The table, n rows with c distinct QI tuples.
    weights : mapping of attribute name to float, optional
        Weights that sum to 1, 0 where left out; equal ones by default.

    Raises
    ------
    ParameterError
        As :func:`weight_vector`.

    Notes
    -----
    A recoding costs O(c·d). Recodings are spread over the threads that numba may use
    (``NUMBA_NUM_THREADS``); every one is evaluated by one thread in integers and a fixed order of
    additions, so that results do not depend on the number of threads.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> Evaluator(m).evaluate([[0, 0, 0, 0, 0], [1, 0, 0, 0, 0]]).smallest.tolist()
    [10, 3]
    """

    def __init__(self, m: Microdata, weights: Mapping[object, float] | None = None) -> None:
        self.n = check_microdata(m).n
        self.sizes = np.array([attribute.size for attribute in m.attributes])
        self.n_bits = int((self.sizes - 1).sum())
        self.n_tuples = len(m.cells)
        vector = weight_vector(m.qi, weights)
        # Penalty of a row per value that its sub-domain holds beyond the first.
        self.unit_penalty = penalty(2, self.sizes, vector)
        self.codes = np.ascontiguousarray(m.cells.tuples.T)
        self.tuple_sizes = m.cells.tuple_sizes
        self.value_rows = np.zeros((m.d, self.sizes.max()), np.int64)
        for j, codes in enumerate(self.codes):
            np.add.at(self.value_rows[j], codes, self.tuple_sizes)

    def evaluate(self, bits: np.ndarray) -> Evaluation:
        """Evaluate recodings.

        Parameters
        ----------
        bits : array of bool, shape (p, n_bits)
            One chromosome per row, as :meth:`Recoding.encode` gives it.
        """
        bits = np.ascontiguousarray(bits, dtype=bool)
        work = len(bits) * self.codes.size
        evaluate = _evaluate_in_parallel if work > _WORTH_A_THREAD else _evaluate_serially
        nwp, smallest, largest = evaluate(
            bits, self.sizes, self.value_rows, self.unit_penalty, self.codes, self.tuple_sizes
        )
        nwp /= self.n
        return Evaluation(nwp, smallest, largest, dispersion(smallest, largest, self.n))


@loop
def _evaluate_serially(bits, sizes, value_rows, unit_penalty, codes, tuple_sizes):
    """Total penalty, smallest and largest class of every chromosome."""
    penalty = np.empty(len(bits))
    smallest = np.empty(len(bits), np.int64)
    largest = np.empty(len(bits), np.int64)
    for p in range(len(bits)):
        maps = sub_domains(bits[p], sizes)
        penalty[p] = _penalty(maps, sizes, value_rows, unit_penalty)
        smallest[p], largest[p] = _class_range(maps, sizes, codes, tuple_sizes)
    return penalty, smallest, largest


@loop(parallel=True)
def _evaluate_in_parallel(bits, sizes, value_rows, unit_penalty, codes, tuple_sizes):
    """The same, chromosomes spread over threads."""
    penalty = np.empty(len(bits))
    smallest = np.empty(len(bits), np.int64)
    largest = np.empty(len(bits), np.int64)
    for p in prange(len(bits)):
        maps = sub_domains(bits[p], sizes)
        penalty[p] = _penalty(maps, sizes, value_rows, unit_penalty)
        smallest[p], largest[p] = _class_range(maps, sizes, codes, tuple_sizes)
    return penalty, smallest, largest


@loop
def sub_domains(bits, sizes):
    """The number of the sub-domain of every attribute's every value."""
    widest = 0
    for size in sizes:
        widest = max(widest, size)
    maps = np.zeros((len(sizes), widest), np.int64)
    bit = 0
    for j in range(len(sizes)):
        for value in range(1, sizes[j]):
            maps[j, value] = maps[j, value - 1] + bits[bit]
            bit += 1
    return maps


@loop
def _penalty(maps, sizes, value_rows, unit_penalty):
    """Sum of the penalties of all rows: those of a sub-domain pay for its size, empty or not."""
    total = 0.0
    for j in range(len(sizes)):
        start = 0
        while start < sizes[j]:
            rows = value_rows[j, start]
            end = start + 1
            while end < sizes[j] and maps[j, end] == maps[j, start]:
                rows += value_rows[j, end]
                end += 1
            total += unit_penalty[j] * rows * (end - start - 1)
            start = end
    return total


@loop
def _class_range(maps, sizes, codes, tuple_sizes):
    """Rows of the smallest and of the largest equivalence class."""
    n_tuples = len(tuple_sizes)
    key = np.zeros(n_tuples, np.int64)
    span = 1  # keys lie in [0, span)
    for j in range(len(sizes)):
        parts = maps[j, sizes[j] - 1] + 1
        if parts == 1:
            continue
        if span > 2**62 // parts:
            span = number_keys(key)
        for i in range(n_tuples):
            key[i] = key[i] * parts + maps[j, codes[j, i]]
        span *= parts
    if span > 4 * n_tuples:
        span = number_keys(key)
    rows = np.zeros(span, np.int64)
    for i in range(n_tuples):
        rows[key[i]] += tuple_sizes[i]
    smallest, largest = rows[key[0]], 0
    for number in range(span):
        if rows[number] > 0:
            smallest = min(smallest, rows[number])
            largest = max(largest, rows[number])
    return smallest, largest


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
