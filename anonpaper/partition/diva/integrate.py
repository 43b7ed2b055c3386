"""Integrate (diva2021, section 3.1): suppress values of the rest beyond upper bounds."""

from __future__ import annotations

import numpy as np

from anonpaper.partition.diva.targets import Targets

__all__ = ["fewest_rows", "integrate", "restorable"]


def integrate(
    targets: Targets, labels: np.ndarray, shown: np.ndarray, n_clusters: int
) -> np.ndarray:
    """Choose values of other groups to suppress until no upper bound is exceeded."""
    # Constraint by constraint, that of the largest surplus first, groups are chosen whose rows sum
    # to the surplus or as little more as possible; in them one of the attributes that the
    # constraint names is suppressed, the one that relieves most other exceeded constraints.
    columns, sizes = targets.columns, np.bincount(labels)
    counts = targets.counts(shown, labels)
    allowed = targets.high - counts[:n_clusters].sum(axis=0)
    counts[:n_clusters] = 0
    starred = np.zeros_like(shown)
    while (counts.sum(axis=0) > allowed).any():
        surplus = counts.sum(axis=0) - allowed
        v = int(surplus.argmax())
        exceeded = [u for u in range(len(targets)) if surplus[u] > 0]
        column = max(sorted(columns[v]), key=lambda j: sum(j in columns[u] for u in exceeded))
        relieved = [u for u in range(len(targets)) if column in columns[u]]
        groups = np.flatnonzero(counts[:, v] > 0)
        relief = counts[np.ix_(groups, [u for u in relieved if u in exceeded])].sum(axis=1)
        groups = groups[np.lexsort((groups, -relief))]
        chosen = groups[fewest_rows(counts[groups, v], sizes[groups], int(surplus[v]))]
        starred[chosen, column] = True
        counts[np.ix_(chosen, relieved)] = 0
    return starred


def fewest_rows(adds: np.ndarray, sizes: np.ndarray, surplus: int) -> np.ndarray:
    """Choose groups that publish at least `surplus` target rows and have few rows in total."""
    # Where all rows are target rows no choice has fewer: it is a subset sum, solved over the
    # multiplicities of the sizes. Else those of the largest share of target rows are taken.
    if (adds < sizes).any():
        order = np.argsort(-adds / sizes, kind="stable")
        enough = int(np.searchsorted(np.cumsum(adds[order]), surplus)) + 1
        return np.sort(order[:enough])
    # Bit b of reachable[i] says that some of the first i items sum to b; an item is a power of
    # two many groups of one size, so that few items make up any number of them.
    items, reachable = [], [1]
    limit = (1 << (surplus + int(sizes.max()))) - 1
    for size, number in zip(*np.unique(sizes, return_counts=True), strict=True):
        left, many = int(number), 1
        while left:
            many = min(many, left)
            items.append((int(size), many))
            reachable.append((reachable[-1] | reachable[-1] << int(size) * many) & limit)
            left, many = left - many, 2 * many
    total = reachable[-1] >> surplus
    total = surplus + (total & -total).bit_length() - 1
    needed: dict[int, int] = {}
    for (size, many), before in zip(reversed(items), reversed(reachable[:-1]), strict=True):
        if not before >> total & 1:
            total -= size * many
            needed[size] = needed.get(size, 0) + many
    return np.sort(
        np.concatenate([np.flatnonzero(sizes == size)[:number] for size, number in needed.items()])
    )


def restorable(
    targets: Targets, labels: np.ndarray, agrees: np.ndarray, starred: np.ndarray
) -> np.ndarray:
    """Choose suppressed values to show again, where groups agree; larger groups first."""
    shown = agrees & ~starred
    room = targets.high - targets.counts(shown, labels).sum(axis=0)
    if_shown = targets.counts(agrees, labels)
    restored = np.zeros_like(starred)
    for group in np.argsort(-np.bincount(labels), kind="stable"):
        for column in np.flatnonzero(agrees[group] & ~shown[group]):
            shown[group, column] = True
            now_shown = set(np.flatnonzero(shown[group]).tolist())
            gained = [v for v, named in enumerate(targets.columns) if column in named <= now_shown]
            if (if_shown[group, gained] <= room[gained]).all():
                room[gained] -= if_shown[group, gained]
                restored[group, column] = True
            else:
                shown[group, column] = False
    return restored
