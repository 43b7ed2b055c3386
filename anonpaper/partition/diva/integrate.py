"""Integrate (diva2021, section 3.1): suppress what the rest published beyond upper bounds."""

from __future__ import annotations

import numpy as np

__all__ = ["fewest_rows", "restorable", "surplus_to_star"]


def surplus_to_star(
    counts: np.ndarray,
    sizes: np.ndarray,
    columns: tuple[frozenset, ...],
    allowed: np.ndarray,
    d: int,
) -> np.ndarray:
    """Choose values of whole groups to suppress, so that no count exceeds what is allowed.

    Constraint by constraint, that of the largest surplus first, groups are chosen whose rows sum
    to the surplus or as little more as possible; in them one of the attributes that the
    constraint names is suppressed, the one that relieves most other exceeded constraints. For a
    single constraint on quasi-identifiers no choice suppresses fewer values.

    Parameters
    ----------
    counts : numpy.ndarray, shape (G, s), dtype int64
        Published target rows of every group and constraint.
    sizes : numpy.ndarray, shape (G,), dtype int64
        Rows of every group.
    columns : tuple of frozenset of int
        The quasi-identifiers that every constraint names.
    allowed : numpy.ndarray, shape (s,), dtype int64
        How many target rows these groups may publish, at least 0.
    d : int
        Number of quasi-identifiers.

    Returns
    -------
    numpy.ndarray, shape (G, d), dtype bool
        What to suppress.
    """
    counts = counts.copy()
    starred = np.zeros((len(sizes), d), dtype=bool)
    while (counts.sum(axis=0) > allowed).any():
        surplus = counts.sum(axis=0) - allowed
        v = int(surplus.argmax())
        exceeded = [u for u in range(len(columns)) if surplus[u] > 0]
        column = max(sorted(columns[v]), key=lambda j: sum(j in columns[u] for u in exceeded))
        relieved = [u for u in range(len(columns)) if column in columns[u]]
        groups = np.flatnonzero(counts[:, v] > 0)
        relief = counts[np.ix_(groups, [u for u in relieved if u in exceeded])].sum(axis=1)
        groups = groups[np.lexsort((groups, -relief))]
        chosen = groups[fewest_rows(counts[groups, v], sizes[groups], int(surplus[v]))]
        starred[chosen, column] = True
        counts[np.ix_(chosen, relieved)] = 0
    return starred


def fewest_rows(adds: np.ndarray, sizes: np.ndarray, surplus: int) -> np.ndarray:
    """Choose groups that publish at least `surplus` target rows and have few rows in all.

    Where all rows of the groups are target rows no choice has fewer: it is a subset sum, solved
    over the multiplicities of the sizes. Else groups with the largest share of target rows are
    taken until it is enough.

    Parameters
    ----------
    adds, sizes : numpy.ndarray, shape (g,), dtype int64
        Target rows and rows of every group, 0 < adds <= sizes; adds sum to at least `surplus`.
    surplus : int
        At least 1.

    Returns
    -------
    numpy.ndarray of int
        Places of the chosen groups; of equal ones those that stand first.

    Examples
    --------
    >>> sizes = np.array([4, 5, 7, 5])
    >>> fewest_rows(sizes, sizes, surplus=9).tolist()
    [0, 1]
    """
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
    agrees: np.ndarray,
    starred: np.ndarray,
    if_shown: np.ndarray,
    columns: tuple[frozenset, ...],
    room: np.ndarray,
    sizes: np.ndarray,
) -> np.ndarray:
    """Choose suppressed values of groups that can be shown after all, larger groups first.

    Parameters
    ----------
    agrees, starred : numpy.ndarray, shape (G, d), dtype bool
        On which attributes a group agrees, and which are suppressed in it nevertheless.
    if_shown : numpy.ndarray, shape (G, s), dtype int64
        Target rows of every group and constraint if all on which it agrees were shown.
    columns : tuple of frozenset of int
        The quasi-identifiers that every constraint names.
    room : numpy.ndarray, shape (s,), dtype int64
        By how many rows the published count of every constraint may still grow.
    sizes : numpy.ndarray, shape (G,), dtype int64
        Rows of every group.

    Returns
    -------
    numpy.ndarray, shape (G, d), dtype bool
        What need not be suppressed.
    """
    room = room.copy()
    shown = agrees & ~starred
    restored = np.zeros_like(starred)
    named = [sorted(c) for c in columns]
    for group in np.argsort(-sizes, kind="stable"):
        for column in np.flatnonzero(agrees[group] & ~shown[group]):
            shown[group, column] = True
            gained = [
                v for v in range(len(columns))
                if column in columns[v] and shown[group, named[v]].all()
            ]  # fmt: skip
            if (if_shown[group, gained] <= room[gained]).all():
                room[gained] -= if_shown[group, gained]
                restored[group, column] = True
            else:
                shown[group, column] = False
    return restored
