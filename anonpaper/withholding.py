"""Which classes of a recoding are withheld, and what a register tells of the people in them.

A recoding is the same for all rows, so a register shows the class of everybody. A class that fails
with any values, such as one below k people, tells nothing by its absence. Another class was
withheld for its values, unless further classes are withheld as *cover*.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonpaper.groups import dense_labels
from anonpaper.microdata import Microdata
from anonpaper.principles import GroupCounts, Principle

__all__ = ["withheld_classes"]


def withheld_classes(
    m: Microdata, labels: np.ndarray, principles: Sequence[Principle], *, cover: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Which rows are withheld, and the groups that are withheld for their values.

    Parameters
    ----------
    m : Microdata
        A listed table.
    labels : array of int, shape (n,)
        The class of every row, numbered in an order that depends on no sensitive value; -1 for
        rows that are withheld anyway.
    principles : sequence of Principle
        Classes that fail one of them are withheld.
    cover : bool
        Whether to withhold further classes, until each group, and all other withheld people
        together, meet the principles on sensitive values. The groups are runs of 2, 4, 8, ...
        successive classes. The rest is joined by the smallest classes.

    Returns
    -------
    withheld : array of bool, shape (n,)
    groups : array of int, shape (n,)
        The class, or with `cover` the run of classes; -1 for all other rows. O(n log² n).
    """
    failing = [principle.failing(m, labels) for principle in principles]
    fails = np.isin(labels, np.concatenate([[-1], *failing]))
    tells = _must_fail(m, dense_labels(np.where(fails, labels, -1)), principles)
    if cover:
        return _covered(m, labels, fails & ~tells, tells, principles)
    return fails, np.where(tells, labels, -1)


def _must_fail(m: Microdata, labels: np.ndarray, principles: Sequence[Principle]) -> np.ndarray:
    """Whether the class of a row fails for its values: the most even ones would not, (n,)."""
    tell = np.ones(labels.max(initial=-1) + 1, bool)
    for principle in principles if len(tell) else ():
        for table in principle.tables(m):
            sizes, place = np.unique(GroupCounts.of(table, labels).sizes, return_inverse=True)
            of = 1 if table.sensitive is None else np.count_nonzero(table.sensitive_counts)
            even = sizes[:, None] // of + (np.arange(of) < sizes[:, None] % of)
            tell &= principle.satisfied(GroupCounts.of_table(even))[place]
    return np.r_[tell, False][labels]  # the last is for -1


def _covered(m, labels, rest, tells, principles) -> tuple[np.ndarray, np.ndarray]:
    """Add cover to the rows of classes that tell something, and to the rest of the withheld."""
    asked = [principle for principle in principles if principle.needs_sensitive]
    people = ~m.synthetic
    groups, bare, width = np.full(len(labels), -1), tells.copy(), 1
    while bare.any():
        width *= 2
        run = np.where(rest, -1, labels // width)
        poor = _failing(m, np.where(people, run, -1), asked)
        if width > labels.max():  # nothing is left to cover with
            poor = poor[:0]
        covered = np.isin(run, np.setdiff1d(run[bare], poor))
        groups[covered] = run[covered] * width  # replaces shorter runs within
        bare &= ~covered
    shown, sizes = np.unique(labels[~rest & (groups < 0)], return_counts=True)
    smallest, more = shown[np.argsort(sizes, kind="stable")], 0
    while rest.any() and more < len(smallest):
        if not len(_failing(m, np.where(people & rest, 0, -1), asked)):
            break
        more = max(1, 2 * more)
        rest = rest | np.isin(labels, smallest[:more])
    return rest | (groups >= 0), groups


def _failing(m: Microdata, labels: np.ndarray, principles: Sequence[Principle]) -> np.ndarray:
    """The labels, with gaps, of groups that fail."""
    numbers, dense = np.unique(labels[labels >= 0]), dense_labels(labels)
    found = [numbers[principle.failing(m, dense)] for principle in principles]
    return np.unique(np.concatenate([numbers[:0], *found]))
