"""A partition some of whose groups must be suppressed beyond where their rows differ."""

from __future__ import annotations

import numpy as np

from anonpaper.errors import ParameterError
from anonpaper.groups import Partition

__all__ = ["StarredPartition"]


class StarredPartition(Partition):
    """Groups, and the attributes that are suppressed in a group though its rows may agree.

    Diversity constraints have upper bounds: a value that a whole group shares may be one too many.
    :func:`~anonpaper.publish.suppress` and :func:`~anonpaper.publish.generalize` publish the whole
    domain there.

    Parameters
    ----------
    labels, info, algorithm
        As for :class:`~anonpaper.groups.Partition`.
    starred : array of bool, shape (G, d)
        Which attributes are suppressed in which group.

    Raises
    ------
    ParameterError
        If `starred` has not one row per group.

    Examples
    --------
    >>> p = StarredPartition([0, 0, 1, 1], [[True, False], [False, False]])
    >>> p.starred[p.labels, 0].tolist()
    [True, True, False, False]
    """

    def __init__(self, labels, starred, info=None, algorithm: str = "") -> None:
        super().__init__(labels, info, algorithm)
        self.starred = np.asarray(starred, dtype=bool)
        if self.starred.ndim != 2 or len(self.starred) != self.n_groups:
            raise ParameterError(
                f"starred must have one row for each of the {self.n_groups} groups, "
                f"got shape {self.starred.shape}"
            )
