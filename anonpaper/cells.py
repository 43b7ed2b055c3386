"""Cells: the distinct rows of a table as codes, with their counts: all that algorithms see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonpaper.errors import RowsError


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct rows of a table: e cells of c tuples of quasi-identifiers, and n rows in all.

    A *cell* is a tuple of quasi-identifiers (a QI-group of the microdata) with the sensitive codes
    and, where somebody has several rows, a person; cells are sorted by these.
    """

    tuples: np.ndarray  # (c, d), int32: the codes of every tuple
    start: np.ndarray  # (c + 1,), int64: cells start[i]:start[i + 1] are of tuple i
    secrets: np.ndarray  # (e, s), int32: the sensitive codes of every cell
    person: np.ndarray | None  # (e,): the number of a person, where somebody has several rows
    counts: np.ndarray  # (e,), int64: the number of rows of every cell
    rows: np.ndarray | None  # (n,), int32: row numbers, cell by cell; None if rows are outside

    @classmethod
    def of(
        cls, columns: Sequence, sizes: Sequence, d: int, *, people: bool = False, weights=None
    ) -> Cells:
        """Group rows by codes, column j below ``sizes[j]``, the first d quasi-identifiers.

        With `people` the last column is the person; with `weights` a row is several outside.
        """
        rows, new, counts = _in_order(columns, sizes, weights)
        codes = np.array([column[rows[new]] for column in columns], np.int32)
        changes = (codes[:d, 1:] != codes[:d, :-1]).any(axis=0)
        start = np.flatnonzero(np.r_[True, changes])
        tuples, secrets = codes[:d].take(start, axis=1).T, codes[d : len(codes) - people].T
        person, rows_at_hand = codes[-1] if people else None, rows if weights is None else None
        return cls(tuples, np.r_[start, len(counts)], secrets, person, counts, rows_at_hand)

    @property
    def sensitive(self) -> np.ndarray:
        """The code of the only sensitive attribute of every cell, ascending in a tuple; (e,)."""
        return self.secrets[:, 0]

    @property
    def tuple_start(self) -> np.ndarray:
        """Tuple i has ``rows[tuple_start[i]:tuple_start[i + 1]]``, shape (c + 1,)."""
        return np.r_[0, np.cumsum(self.counts)][self.start]

    @property
    def tuple_sizes(self) -> np.ndarray:
        """Number of rows of every tuple, shape (c,), dtype int64."""
        return np.diff(self.tuple_start)

    @cached_property
    def tuple_of_cell(self) -> np.ndarray:
        """The number of every cell's tuple, shape (e,), dtype int64."""
        return np.repeat(np.arange(len(self.tuples)), np.diff(self.start))

    @cached_property
    def cell_of_row(self) -> np.ndarray:
        """The cell of every row, shape (n,), dtype int64; RowsError if rows are outside."""
        return self.dealt(np.arange(len(self.counts)), self.counts)

    @property
    def tuple_of_row(self) -> np.ndarray:
        """The number of every row's tuple, shape (n,), dtype int64."""
        return self.tuple_of_cell[self.cell_of_row]

    def dealt(self, cell: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """The entry of every row: rows of a cell, lowest first, go to its entries as listed."""
        if self.rows is None:
            no_rows()
        order = np.argsort(cell, kind="stable")
        entry = np.empty(len(self.rows), np.intp)
        entry[self.rows] = np.repeat(order, counts[order])
        return entry

    def handed_out(self, rng: np.random.Generator) -> np.ndarray:
        """The cell of every row, in row order; in random order if rows are outside."""
        if self.rows is not None:
            return self.cell_of_row
        cell = np.repeat(np.arange(len(self.counts), dtype=np.int32), self.counts)
        rng.shuffle(cell)
        return cell

    def by_sensitive_value(
        self, values: int, order: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """List the cells of each of `values` sensitive values, in an order of the tuples.

        Returns `start`, `cell` and `place`: ``cell[start[v]:start[v + 1]]`` are the cells of value
        v, and `place` is the position of their tuples in the order.
        """
        place = self.tuple_of_cell if order is None else np.argsort(order)[self.tuple_of_cell]
        # numpy sorts integers of up to 16 bits without comparing them
        codes = self.sensitive.astype(np.min_scalar_type(values))
        cell = np.lexsort([place, codes])
        return np.cumsum([0, *np.bincount(codes, minlength=values)]), cell, place[cell]

    def __len__(self) -> int:
        return len(self.tuples)


def no_rows() -> None:
    """Raise RowsError: the table has only counts, and the caller needs its rows."""
    told = "but a table of counts has only distinct rows and their numbers"
    way = "read rows that fit into memory into a DataFrame for ap.Microdata"
    raise RowsError(f"this needs single rows, {told}: {way}")


def distinct(
    columns: Sequence[np.ndarray], sizes: Sequence[int], weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number distinct rows of codes in lexicographic order, column j being below ``sizes[j]``.

    Returns the number of every row, the first row that has each number, and how many rows have it,
    or the sum of their `weights`: [1, 0, 1], [1, 0], [1, 2] for 1, 0, 1. O(n log n).
    """
    rows, new, counts = _in_order(columns, sizes, weights)
    number = np.empty(len(rows), np.intp)
    number[rows] = np.cumsum(new) - 1
    return number, rows[new], counts


def _in_order(columns: Sequence[np.ndarray], sizes: Sequence[int], weights) -> tuple:
    """Rows sorted by their codes, equal ones by number; which are the first, and all weights."""
    n = len(columns[0])
    row_bits = max(int(n - 1).bit_length(), 1)
    # one key of 64 bits, in mixed radix, sorts faster than several columns
    key, span = columns[0].astype(np.uint64), int(sizes[0])
    for column, size in zip(columns[1:], map(int, sizes[1:]), strict=True):
        if span * size >= 2**64:  # ranks, at most n, leave room for any column
            _, key = np.unique(key, return_inverse=True)
            key, span = key.astype(np.uint64), n
        key *= np.uint64(size)
        key += column.astype(np.uint64)
        span *= size
    if span << row_bits <= 2**64:  # with the row number: plain integers are sorted faster
        key <<= np.uint64(row_bits)
        key |= np.arange(n, dtype=np.uint64)
        key.sort()
        rows = (key & np.uint64((1 << row_bits) - 1)).astype(np.int32)
        key >>= np.uint64(row_bits)
    else:
        rows = np.argsort(key, kind="stable").astype(np.int32)
        key = key[rows]
    new = np.r_[True, key[1:] != key[:-1]][:n]
    (first,) = np.nonzero(new)
    if weights is None:
        return rows, new, np.diff(first, append=n)
    return rows, new, np.add.reduceat(weights[rows], first)
