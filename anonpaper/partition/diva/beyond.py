"""What goes beyond diva2021 once a diverse clustering stands: joins and restored values.

Left-over rows, fewer than a group needs, join clusters; a table that satisfies all as it is stays
as it is; and what was suppressed for an upper bound that is not reached is shown again. Starred
clusters, the fourth thing, are candidates of the search
(:mod:`~anonpaper.partition.diva.clusterings`).
"""

from __future__ import annotations

import numpy as np

from anonpaper.groups import group_bounds
from anonpaper.microdata import Microdata
from anonpaper.partition.diva.targets import Privacy, Targets

__all__ = ["is_satisfied", "join_clusters", "restorable"]


def is_satisfied(m: Microdata, targets: Targets, privacy: Privacy) -> bool:
    """Whether the table's own QI-groups satisfy all constraints and are private."""
    labels = m.cells.tuple_of_row.astype(np.int64)
    counts = targets.is_target.sum(axis=0)
    return targets.allow(counts) and all(p.holds(m, labels) for p in privacy.principles)


def join_clusters(
    m: Microdata,
    targets: Targets,
    privacy: Privacy,
    labels: np.ndarray,
    starred: np.ndarray,
    at_most: int,
) -> bool:
    """Put the rows labelled -1 into the clusters where they cost fewest stars.

    Parameters
    ----------
    m, targets, privacy
        The table and what is asked of its groups.
    labels : numpy.ndarray, shape (n,), dtype int64
        The cluster of every row; changed in place.
    starred : numpy.ndarray, shape (G, d), dtype bool
        What is suppressed in a cluster though its rows may agree.
    at_most : int
        Clusters that are tried for a row.

    Returns
    -------
    bool
        Whether all found a cluster in which the constraints still hold.
    """
    for row in np.flatnonzero(labels < 0):
        low, high = group_bounds(m.codes, labels, len(starred))
        shown = (low == high) & ~starred
        counts = targets.counts(shown, labels)
        breaks = shown & (m.codes[row] != low)
        sizes = np.bincount(labels[labels >= 0], minlength=len(starred))
        cost = breaks.sum(axis=1) * (sizes + 1) + (m.d - shown.sum(axis=1))
        for cluster in np.argsort(cost, kind="stable")[:at_most]:
            members = np.r_[np.flatnonzero(labels == cluster), row]
            joined = np.where(np.isin(np.arange(m.n), members), 0, -1)
            adds = targets.counts((shown & ~breaks)[[cluster]], joined)[0]
            after = counts.sum(axis=0) - counts[cluster] + adds
            if targets.allow(after) and privacy.holds(members):
                labels[row] = cluster
                break
        else:
            return False
    return True


def restorable(
    targets: Targets, labels: np.ndarray, agrees: np.ndarray, starred: np.ndarray
) -> np.ndarray:
    """Choose suppressed values of groups that can be shown after all, larger groups first.

    Parameters
    ----------
    targets : Targets
    labels : numpy.ndarray, shape (n,), dtype int64
        The group of every row.
    agrees, starred : numpy.ndarray, shape (G, d), dtype bool
        On which attributes a group agrees, and which are suppressed in it nevertheless.

    Returns
    -------
    numpy.ndarray, shape (G, d), dtype bool
        What need not be suppressed.
    """
    shown = agrees & ~starred
    room = targets.high - targets.counts(shown, labels).sum(axis=0)
    if_shown = targets.counts(agrees, labels)
    restored = np.zeros_like(starred)
    named = [sorted(columns) for columns in targets.columns]
    for group in np.argsort(-np.bincount(labels), kind="stable"):
        for column in np.flatnonzero(agrees[group] & ~shown[group]):
            shown[group, column] = True
            gained = [
                v for v in range(len(targets))
                if column in targets.columns[v] and shown[group, named[v]].all()
            ]  # fmt: skip
            if (if_shown[group, gained] <= room[gained]).all():
                room[gained] -= if_shown[group, gained]
                restored[group, column] = True
            else:
                shown[group, column] = False
    return restored
