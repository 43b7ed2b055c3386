"""Cells: the distinct rows of a table as codes, with their counts.

Rows with equal quasi-identifiers (QI) and equal sensitive value are interchangeable for all
algorithms. So these work on the :class:`CellTable`: the distinct QI tuples with their counts per
sensitive value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonpaper.errors import RowsError

__all__ = ["CellTable", "CountedCells", "build_cells", "no_rows"]


@dataclass(frozen=True, eq=False)
class CellTable:
    """The distinct QI tuples of a table with their counts per sensitive value.

    A *cell* is a pair (QI tuple, sensitive value) that occurs. Cells are sorted by tuple, tuples
    lexicographically by code. Without a sensitive attribute every tuple is one cell. There are n
    rows, e cells and c tuples, the QI-groups of the microdata.
    """

    tuples: np.ndarray  # (c, d), int32: the codes of every tuple
    start: np.ndarray  # (c + 1,), int64: cells start[i]:start[i + 1] are of tuple i
    sensitive: np.ndarray  # (e,), int32: the sensitive code of every cell, ascending in a tuple
    counts: np.ndarray  # (e,), int64: the number of rows of every cell
    row_start: np.ndarray  # (e + 1,), int64: rows[row_start[j]:row_start[j + 1]] are of cell j
    rows: np.ndarray  # (n,), int32: row numbers by tuple, sensitive value and row number

    @property
    def tuple_start(self) -> np.ndarray:
        """Tuple i has the rows ``rows[tuple_start[i]:tuple_start[i + 1]]``."""
        return self.row_start[self.start]

    @property
    def tuple_sizes(self) -> np.ndarray:
        """Number of rows of every tuple, shape (c,), dtype int64."""
        return np.diff(self.tuple_start)

    @cached_property
    def tuple_of_row(self) -> np.ndarray:
        """The number of every row's tuple, shape (n,), dtype int32."""
        tuple_of_row = np.empty(len(self.rows), np.int32)
        tuple_of_row[self.rows] = np.repeat(np.arange(len(self), dtype=np.int32), self.tuple_sizes)
        return tuple_of_row

    @cached_property
    def tuple_of_cell(self) -> np.ndarray:
        """The number of every cell's tuple, shape (e,), dtype int64."""
        return np.repeat(np.arange(len(self.tuples)), np.diff(self.start))

    def by_sensitive_value(
        self, values: int, order: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """List the cells of each of `values` sensitive values, in an order of the tuples; O(e).

        Returns `list_start`, `cell` and `place`: ``cell[list_start[v]:list_start[v + 1]]`` are the
        cells of value v, and `place` is the position of their tuples in the order.
        """
        if order is None:
            order = np.arange(len(self))
        sizes = np.diff(self.start)[order]
        before = np.cumsum(sizes) - sizes
        cell = np.repeat(self.start[order] - before, sizes) + np.arange(len(self.sensitive))
        # numpy sorts integers of up to 16 bits without comparing them
        codes = self.sensitive[cell].astype(np.min_scalar_type(values))
        by_value = np.argsort(codes, kind="stable")
        list_start = np.cumsum([0, *np.bincount(codes, minlength=values)])
        place = np.repeat(np.arange(len(self)), sizes)
        return list_start, cell[by_value], place[by_value]

    def __len__(self) -> int:
        return len(self.tuples)


def no_rows(*_) -> None:
    """Raise RowsError: the table has only counts, and the caller needs its rows."""
    raise RowsError(
        "this needs single rows, but a table of counts has only distinct rows and their numbers. "
        "These work: all algorithms except mondrian(relaxed=True), all forms of publication, "
        "rel.audit(), stars, classes, NCP, GCP and KL divergence. For anything else, read rows "
        "that fit into memory into a DataFrame for ap.Microdata"
    )


class CountedCells(CellTable):
    """A cell table without row numbers: asking for `rows` raises RowsError."""

    rows = property(no_rows, lambda self, rows: None)


def build_cells(
    codes: np.ndarray,
    sizes: Sequence[int],
    sensitive: np.ndarray | None,
    m: int,
    weights: np.ndarray | None = None,
) -> CellTable:
    """Group rows by QI tuple (code j below ``sizes[j]``) and sensitive code below m; O(n log n).

    Listed rows may represent several: with `weights` the result counts these, but has no `rows`.
    """
    # Tuple and sensitive value are one 64-bit key. If the row number fits into it too, plain
    # integers are sorted, which is faster.
    n, m = len(codes), int(m)
    row_bits = max(int(n - 1).bit_length(), 1)
    key, span = _tuple_keys(codes, sizes, 2**64 // m)
    if span * m << row_bits > 2**64:
        key, span = _ranks(key)
    if sensitive is not None:
        key *= np.uint64(m)
        key += sensitive.astype(np.uint64)
    if span * m << row_bits <= 2**64:
        key <<= np.uint64(row_bits)
        key |= np.arange(n, dtype=np.uint64)
        key.sort()
        rows = (key & np.uint64((1 << row_bits) - 1)).astype(np.int32)
        key >>= np.uint64(row_bits)
    else:
        rows = np.argsort(key, kind="stable").astype(np.int32)
        key = key[rows]

    first_of_cell = _first_of_equal(key)
    tuple_key, cell_sensitive = np.divmod(key[first_of_cell], np.uint64(m))
    first_of_tuple = _first_of_equal(tuple_key)
    row_start = np.r_[first_of_cell, n]
    kind = CellTable
    if weights is not None:
        kind, row_start = CountedCells, np.r_[0, np.cumsum(weights[rows])][row_start]
    return kind(
        tuples=codes[rows[first_of_cell[first_of_tuple]]],
        start=np.r_[first_of_tuple, len(first_of_cell)],
        sensitive=cell_sensitive.astype(np.int32),
        counts=np.diff(row_start),
        row_start=row_start,
        rows=rows,
    )


def _first_of_equal(keys: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)])


def _tuple_keys(codes: np.ndarray, sizes: Sequence[int], limit: int) -> tuple[np.ndarray, int]:
    """Number the tuples in lexicographic order by uint64 keys; also return a bound of the keys."""
    # columns are joined in mixed radix; keys that would reach the limit, at least 2^33, are
    # replaced by their ranks, at most n
    key, span = codes[:, 0].astype(np.uint64), int(sizes[0])
    for j in range(1, len(sizes)):
        size = int(sizes[j])
        if span * size >= 2**64:
            key, span = _ranks(key)
        key *= np.uint64(size)
        key += codes[:, j].astype(np.uint64)
        span *= size
    return (key, span) if span <= limit else _ranks(key)


def _ranks(key: np.ndarray) -> tuple[np.ndarray, int]:
    distinct, ranks = np.unique(key, return_inverse=True)
    return ranks.astype(np.uint64), len(distinct)
