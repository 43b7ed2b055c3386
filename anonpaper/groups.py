"""Partition: which rows are published as one group, and what the algorithm has to say."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from anonpaper.compiled import loop
from anonpaper.display import html
from anonpaper.errors import ParameterError

__all__ = ["Partition", "check_partition", "checked_labels", "dense_labels", "group_bounds"]


class Partition:
    """A grouping of the rows of a table.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The group of every row, ``0..G-1`` without gaps; -1 for a row that is not published.
    info : mapping, optional
        What the algorithm says about its run: phase, bounds, iterations, ...
    algorithm : str, optional
        How the partition was made, for titles and audits.
    starred : array of bool, shape (G, d), optional
        Which attributes are suppressed in which group though its rows may agree: diversity
        constraints have upper bounds, and a value that a group shares may be one too many.

    Raises
    ------
    ParameterError
        If labels are not integers, below -1, or leave a gap, or `starred` has not one row per
        group.

    Examples
    --------
    >>> p = Partition([0, 0, 1, -1])
    >>> p.n_groups, p.sizes().tolist(), [rows.tolist() for rows in p.groups()]
    (2, [2, 1], [[0, 1], [2]])
    """

    def __init__(
        self,
        labels,
        info: Mapping[str, object] | None = None,
        algorithm: str = "",
        *,
        starred=None,
    ) -> None:
        self.labels = checked_labels(labels)
        self._sizes = np.bincount(self.labels[self.labels >= 0])
        if info is not None and not isinstance(info, Mapping):
            raise ParameterError(f"info must be a mapping, got {info!r}")
        self.info = dict(info or {})
        self.algorithm = algorithm
        self.call, self.promised = "", ()  # set by what makes it: see anonpaper.algorithm
        self.starred = None if starred is None else np.asarray(starred)
        if self.starred is not None:
            shape, kind = self.starred.shape, self.starred.dtype.kind
            if len(shape) != 2 or shape[0] != self.n_groups or kind not in "bui":
                raise ParameterError(
                    f"starred must hold booleans, one row for each of the {self.n_groups} groups, "
                    f"got shape {shape} and dtype {self.starred.dtype}"
                )
            self.starred = self.starred.astype(bool)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self._sizes)

    def sizes(self) -> np.ndarray:
        """Number of rows of every group, shape (G,), dtype int64."""
        return self._sizes.copy()

    def groups(self) -> list[np.ndarray]:
        """Row numbers of every group, ascending; a list of G arrays. O(n log n)."""
        order = np.argsort(self.labels, kind="stable")
        published = order[np.count_nonzero(self.labels < 0) :]
        return np.split(published, np.cumsum(self._sizes)[:-1]) if self.n_groups else []

    @property
    def n_unpublished(self) -> int:
        """Number of rows with label -1."""
        return int(np.count_nonzero(self.labels < 0))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        name = f"{self.algorithm}: " if self.algorithm else ""
        withheld = f", {self.n_unpublished} not published" if self.n_unpublished else ""
        return f"Partition({name}{len(self)} rows in {self.n_groups} groups{withheld})"

    def _repr_html_(self) -> str:
        facts = [("algorithm", self.algorithm)] if self.algorithm else []
        if self.n_groups:
            sizes = self._sizes
            facts.append(
                ("rows in a group", f"{sizes.min():,} to {sizes.max():,}, mean {sizes.mean():.1f}")
            )
        if self.n_unpublished:
            facts.append(("not published", f"{self.n_unpublished:,} rows"))
        facts += [
            (name, value)
            for name, value in self.info.items()
            if isinstance(value, (bool, int, float, str, np.number))
        ]
        return html(f"Partition, {len(self):,} rows in {self.n_groups:,} groups", facts)


def check_partition(p: object, n: int | None = None) -> Partition:
    """Return `p` if it is a Partition, of n rows if n is given; say how to make one if not.

    Raises
    ------
    ParameterError
        If `p` is anything else, such as labels, or of another number of rows.
    """
    if not isinstance(p, Partition):
        raise ParameterError(
            f"expected a Partition, got {type(p).__name__}: ap.Partition(labels) makes one, "
            "and ap.recode(m, r) publishes a Recoding"
        )
    if n is not None and len(p) != n:
        raise ParameterError(f"the partition labels {len(p)} rows, the table has {n}")
    return p


def checked_labels(labels, n: int | None = None) -> np.ndarray:
    """Return labels as int64 if they are groups 0, 1, ... without a gap, or -1; O(n).

    Parameters
    ----------
    labels : array of int, shape (n,)
        The group of every row.
    n : int, optional
        How many there must be.

    Raises
    ------
    ParameterError
        If labels are not integers, below -1, leave a gap, or are of another number.
    """
    labels = np.asarray(labels)
    wanted = labels.shape if n is None else (n,)
    if labels.ndim != 1 or labels.shape != wanted or not np.issubdtype(labels.dtype, np.integer):
        raise ParameterError(
            f"labels must be a one-dimensional array of {'' if n is None else f'{n} '}integers, "
            f"got shape {labels.shape} and dtype {labels.dtype}"
        )
    if len(labels) and labels.min() < -1:
        raise ParameterError(f"labels must be -1 or a group number, got {labels.min()}")
    # As many groups as rows at most: a greater number leaves a gap, which is found all the same.
    present = np.zeros(len(labels) + 1, dtype=bool)
    present[np.minimum(labels[labels >= 0], len(labels)).astype(np.int64)] = True
    gap = int(present.argmin())
    if len(labels) and labels.max() >= gap:
        raise ParameterError(
            f"group numbers must have no gap, but {gap} has no rows: dense_labels() closes gaps"
        )
    return labels.astype(np.int64, copy=False)


def dense_labels(labels: np.ndarray) -> np.ndarray:
    """Renumber labels so that they have no gap; their order and every -1 are kept.

    Examples
    --------
    >>> dense_labels(np.array([7, -1, 2, 7])).tolist()
    [1, -1, 0, 1]
    """
    labels = np.asarray(labels, dtype=np.int64)
    dense = np.full(len(labels), -1, dtype=np.int64)
    dense[labels >= 0] = pd.factorize(labels[labels >= 0], sort=True)[0]
    return dense


@loop
def group_bounds(codes, labels, n_groups):
    """Return the least and the greatest code of every group and column, shape (G, d) each.

    Groups are numbered 0..G-1 in `labels`; rows labelled -1 do not count.
    """
    n, d = codes.shape
    low = np.full((n_groups, d), np.iinfo(np.int32).max, np.int32)
    high = np.full((n_groups, d), -1, np.int32)
    for j in range(d):
        for i in range(n):
            group = labels[i]
            if group >= 0:
                low[group, j] = min(low[group, j], codes[i, j])
                high[group, j] = max(high[group, j], codes[i, j])
    return low, high
