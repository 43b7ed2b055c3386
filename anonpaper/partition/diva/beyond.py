"""Steps beyond diva2021 when a diverse clustering is published."""

from __future__ import annotations

import numpy as np

from anonpaper.groups import group_bounds
from anonpaper.microdata import Microdata
from anonpaper.partition.diva.targets import Privacy, Targets

__all__ = ["is_satisfied", "join_clusters", "restorable"]

_CLUSTERS = 24  # tried for a left-over row


def is_satisfied(m: Microdata, targets: Targets, privacy: Privacy) -> bool:
    """Whether the table's own QI-groups satisfy all constraints and are private."""
    allowed = targets.allow(targets.is_target.sum(axis=0))
    return allowed and privacy.holds_of_groups(m, m.cells.tuple_of_row)


def join_clusters(
    m: Microdata, targets: Targets, privacy: Privacy, labels: np.ndarray, starred: np.ndarray
) -> bool:
    """Put the rows labelled -1 into the clusters where they cost the fewest stars."""
    for row in np.flatnonzero(labels < 0):
        low, high = group_bounds(np.ascontiguousarray(m.codes), labels, len(starred))
        shown = (low == high) & ~starred
        counts = targets.counts(shown, labels)
        breaks = shown & (m.codes[row] != low)
        sizes = np.bincount(labels[labels >= 0], minlength=len(starred))
        cost = breaks.sum(axis=1) * (sizes + 1) + (m.d - shown.sum(axis=1))
        for cluster in np.argsort(cost, kind="stable")[:_CLUSTERS]:
            members = np.r_[np.flatnonzero(labels == cluster), row]
            joined = np.full(m.n, -1)
            joined[members] = 0
            after = counts.sum(axis=0) - counts[cluster]
            after += targets.counts((shown & ~breaks)[[cluster]], joined)[0]
            if targets.allow(after) and privacy.holds(members):
                labels[row] = cluster
                break
        else:
            return False
    return True


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
