"""DCA, core: divide the attributes, then cut the rows block of attributes by block.

Source: R. Wang, J. Liang, S. Wang, C.-C. Chang, *A divide-and-conquer approach to
privacy-preserving high-dimensional big data release*, Journal of Information Security and
Applications 83, 2024. Little more than the title was at hand: hence *core*, and out of every
ranking (:data:`majeed2024_baselines.UNRANKED`).

How sure: that attributes are divided into blocks of low dimension by normalized mutual information
is known; all else is a stand-in. Publishing blocks side by side for the same rows would not be
k-anonymous in all attributes together, so one partition is made here: the table is cut at medians
of the first block's attributes as long as parts have more than `coarse`·k rows, then of the
second's, and so on; the last block cuts down to k.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from anonpaper.errors import check_integer
from anonpaper.groups import Partition
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Microdata
from anonpaper.partition.mondrian import median_cut
from anonpaper.principles import require_diverse
from anonpaper.publish import Release, shallow_generalize

__all__ = ["attribute_blocks", "dca_core"]


def dca_core(
    m: Microdata,
    k: int,
    l: int | None,
    hierarchies: Mapping[object, Hierarchy],
    *,
    widest: int = 3,
    coarse: int = 8,
    seed: int = 0,
) -> Release:
    """Cut rows by one block of attributes after the other and publish the parts.

    Parameters
    ----------
    m, k, l, hierarchies
        As for :func:`~majeed2024_baselines.l_diversity.l_diversity`.
    widest : int
        Most attributes in a block, at least 1.
    coarse : int
        All blocks but the last cut parts of more than `coarse`·k rows only; at least 1.
    seed : int
        Not used: the method is deterministic.

    Returns
    -------
    Release
    """
    k = check_integer("k", k, 2, m.n)
    coarse = check_integer("coarse", coarse, 1)
    if l is not None:
        l = require_diverse(m, l, "distinct")
    blocks = attribute_blocks(m, widest)
    parts = [np.arange(m.n)]
    for number, block in enumerate(blocks):
        down_to = 2 * k - 1 if number == len(blocks) - 1 else coarse * k
        parts = [piece for rows in parts for piece in _cut(m, rows, k, l, block, down_to)]
    labels = np.empty(m.n, np.int64)
    for label, rows in enumerate(parts):
        labels[rows] = label
    p = Partition(labels, {"blocks": len(blocks)}, f"DCA-core, k = {k}")
    return shallow_generalize(m, p, hierarchies)


def attribute_blocks(m: Microdata, widest: int = 3) -> list[list[int]]:
    """Join attributes, the most informative pairs first, into blocks of at most `widest`.

    Examples
    --------
    >>> import anonpaper as ap
    >>> attribute_blocks(ap.examples.hospital(), widest=2)
    [[0, 2], [1]]
    """
    widest = check_integer("widest", widest, 1)
    blocks = [[j] for j in range(m.d)]
    pairs = sorted(
        ((i, j) for i in range(m.d) for j in range(i + 1, m.d)),
        key=lambda pair: -_information(*m.codes[:, list(pair)].T),
    )
    for i, j in pairs:
        first = next(block for block in blocks if i in block)
        second = next(block for block in blocks if j in block)
        if first is not second and len(first) + len(second) <= widest:
            first += second
            blocks.remove(second)
    return [sorted(block) for block in blocks]


def _information(a: np.ndarray, b: np.ndarray) -> float:
    """Return I(a, b) / sqrt(H(a) H(b)), from 0 to 1; 0 if a column is constant."""
    if min(np.ptp(a), np.ptp(b)) == 0:
        return 0.0
    return normalized_mutual_info_score(a, b, average_method="geometric")


def _cut(m, rows, k, l, block, down_to) -> list[np.ndarray]:
    """Cut a part at medians of the block's attributes as long as it has more than `down_to`."""
    done, waiting = [], [rows]
    while waiting:
        part = waiting.pop()
        left = None
        if len(part) > down_to:
            left = median_cut(m, part, k, l, diversity="distinct", attributes=np.array(block))
        if left is None:
            done.append(part)
        else:
            waiting += [part[~left], part[left]]
    return done
