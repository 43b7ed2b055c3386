"""DCA, core: divide the attributes, then cut the rows block of attributes by block.

R. Wang, J. Liang, S. Wang, C.-C. Chang, J. Information Security and Applications 83, 2024. Only
the title and the blocks by normalized mutual information are known; all else is a stand-in. Blocks
published side by side would not be k-anonymous together, so one partition is made: rows are cut
at medians of the first block's attributes down to `_COARSE`·k rows, then of the next block's.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.partition.mondrian import median_cut
from anonpaper.publish import Release, shallow_generalize
from majeed2024_baselines.simple import checked

_COARSE = 8  # all blocks but the last cut parts of more than 8k rows only


def dca_core(m: Microdata, k: int, l: int | None, hierarchies, *, seed=0) -> Release:
    """Cut rows by one block of attributes after the other and publish the parts."""
    k, l = checked(m, k, l)
    blocks = attribute_blocks(m)
    parts = [np.arange(m.n)]
    for number, block in enumerate(blocks):
        down_to = 2 * k - 1 if number == len(blocks) - 1 else _COARSE * k
        table = m.with_roles(qi=[m.qi[j] for j in block])
        parts = [piece for rows in parts for piece in _cut(table, rows, k, l, down_to)]
    labels = np.empty(m.n, np.int64)
    for label, rows in enumerate(parts):
        labels[rows] = label
    p = Partition(labels, {"blocks": len(blocks)}, f"DCA-core, k = {k}")
    return shallow_generalize(m, p, hierarchies)


def attribute_blocks(m: Microdata, widest: int = 3) -> list[list[int]]:
    """Join attributes, the most informative pairs first, into blocks of at most `widest`."""
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


def _cut(m, rows, k, l, down_to) -> list[np.ndarray]:
    """Cut a part at medians of the attributes as long as it has more than `down_to` rows."""
    done, waiting = [], [rows]
    while waiting:
        part = waiting.pop()
        left = None
        if len(part) > down_to:
            left = median_cut(m, part, k, l)
        if left is None:
            done.append(part)
        else:
            waiting += [part[~left], part[left]]
    return done
