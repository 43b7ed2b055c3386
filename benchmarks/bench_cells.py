"""Cells of 3,000,000 rows, checked against a plain sort.

Every row has a QI tuple of its own and secrets are many, so that tuple, secret and row number do
not fit into one 64-bit key together. The yardstick is numpy's lexicographic sort of the same
columns, which is the referee too: rows and cells must be the same.
"""

import measure
import numpy as np

from anonpaper.cells import Cells

ROWS = 3_000_000
SIZES = (4_000_000, 1_000, 300)


def rows():
    for secrets in (50, 2**21):
        codes, sensitive = table(secrets)
        columns, sizes = [*codes.T, sensitive], [*SIZES, secrets]
        cells = Cells.of(columns, sizes, len(SIZES))
        by_hand = np.lexsort([sensitive, *codes.T[::-1]])
        check(cells, codes, sensitive, by_hand)
        seconds = measure.best_seconds(lambda: Cells.of(columns, sizes, len(SIZES)))  # noqa: B023
        plain = measure.best_seconds(lambda: np.lexsort([sensitive, *codes.T[::-1]]), repeat=1)  # noqa: B023
        yield measure.against(f"cells, {secrets:,} secrets", seconds, "numpy lexsort", plain, 1)


def table(secrets):
    """Tuples that are unique in nine of ten rows; the others repeat one of those."""
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, size, ROWS) for size in SIZES]).astype(np.int32)
    codes[-ROWS // 10 :] = codes[: ROWS // 10]
    return np.asfortranarray(codes), rng.integers(0, secrets, ROWS).astype(np.int32)


def check(cells, codes, sensitive, by_hand):
    """Compare with the sorted rows, in which a cell begins wherever something changes."""
    assert (cells.rows == by_hand).all()
    full = np.column_stack([codes[by_hand], sensitive[by_hand]])
    changes = (full[1:] != full[:-1]).any(axis=1)
    first = np.flatnonzero(np.r_[True, changes])
    assert (cells.row_start == np.r_[first, ROWS]).all()
    assert (
        np.column_stack([cells.tuples[cells.tuple_of_cell], cells.sensitive]) == full[first]
    ).all()
