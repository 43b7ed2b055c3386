"""Partition: which rows, or how many of each cell, are published as one group."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from anonpaper.cells import CellTable, CountedCells, no_rows
from anonpaper.compiled import loop
from anonpaper.display import html, plain_facts
from anonpaper.errors import ParameterError
from anonpaper.microdata import Microdata

__all__ = [
    "CountedPartition", "Partition", "check_partition", "checked_labels", "dense_labels",
    "group_bounds",
]  # fmt: skip


_NOT_OF_ONE_KIND = (
    "partition and microdata do not match: one was made from rows, the other from counts; run the "
    "algorithm again on this microdata"
)


class Partition:
    """A grouping of the rows of a table.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The group of every row, ``0..G-1`` without gaps; -1 for a row that is not published.
        ParameterError for other labels.
    info, algorithm : mapping and str, optional
        The algorithm's report about its run, and its name.
    starred : array of bool, shape (G, d), optional
        Attributes that a group suppresses even if its rows agree, as a constraint with an upper
        bound may require.
    weights : array of int, shape (n,), optional
        How many rows of the table each listed row represents; one by default.

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
        weights=None,
    ) -> None:
        self.labels = checked_labels(labels)
        self.weights = weights = None if weights is None else np.asarray(weights)
        if weights is not None:
            integers = weights.shape == self.labels.shape and weights.dtype.kind in "iu"
            if not integers or (weights < 0).any():
                raise ParameterError(
                    "weights must be integers of at least 0, one number of rows for every label, "
                    f"or None; got shape {weights.shape} for {len(self.labels)} labels"
                )
        shown = self.labels >= 0
        held = np.bincount(self.labels[shown], None if weights is None else weights[shown])
        self._sizes = held.astype(np.intp)
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

    @staticmethod
    def of_cells(cells: CellTable, cell, group, counts, info=None, algorithm="", times=None):
        """Return the partition with ``counts[i]`` rows of ``cell[i]`` in ``group[i]``; O(n).

        Cells that know their rows deal them in the order of the entries, lowest number first.
        Group g represents ``times[g]`` groups of equal cells, which share its rows.
        """
        if times is None:
            times = np.ones(int(group.max()) + 1, np.intp)
        if isinstance(cells, CountedCells):
            return CountedPartition(cell, group, counts, times, info, algorithm)
        first = np.cumsum(times) - times
        order = np.argsort(cell, kind="stable")
        labels = np.empty(len(cells.rows), np.intp)
        _deal(labels, cells.rows, group[order], counts[order], times, first)
        return Partition(labels, info, algorithm)

    def divided(self, entry: np.ndarray, counts: np.ndarray) -> Partition:
        """Return the same groups of other entries: ``counts[i]`` rows of ``entry[i]`` each."""
        return self._with(self.labels[entry], counts)

    def apart(self) -> Partition:
        """Return the same groups, each once; labels are never repeated."""
        return self

    def listed(self, m: Microdata) -> tuple[Microdata, Partition]:
        """Return table and groups row by row; for counts, a row per cell and group."""
        if not m.has_rows:
            raise ParameterError(_NOT_OF_ONE_KIND)
        return m, self

    def _with(self, labels: np.ndarray, weights: np.ndarray) -> Partition:
        """Return a partition of other labels with everything else from this one."""
        p = Partition(labels, self.info, self.algorithm, starred=self.starred, weights=weights)
        p.call, p.promised = self.call, self.promised
        return p

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
        return len(self) - int(self._sizes.sum())

    def __len__(self) -> int:
        return len(self.labels) if self.weights is None else int(self.weights.sum())

    def __repr__(self) -> str:
        name = f"{self.algorithm}: " if self.algorithm else ""
        withheld = f", {self.n_unpublished} not published" if self.n_unpublished else ""
        return f"Partition({name}{len(self)} rows in {self.n_groups} groups{withheld})"

    def _repr_html_(self) -> str:
        facts = [("algorithm", self.algorithm)] if self.algorithm else []
        if self.n_groups:
            least, most, mean = self._sizes.min(), self._sizes.max(), self._sizes.mean()
            facts.append(("rows in a group", f"{least:,} to {most:,}, mean {mean:.1f}"))
        if self.n_unpublished:
            facts.append(("not published", f"{self.n_unpublished:,} rows"))
        title = f"Partition, {len(self):,} rows in {self.n_groups:,} groups"
        return html(title, facts + plain_facts(self.info))


class CountedPartition(Partition):
    """How many rows of every cell are in which group (:meth:`Partition.of_cells`), -1 for none."""

    def __init__(
        self, cell, group, counts, times, info=None, algorithm="", *, starred=None
    ) -> None:
        super().__init__(np.empty(0, np.intp), info, algorithm)
        del self.labels
        self.cell, self.group, self.counts, self.times = cell, group, counts, times
        self.starred = starred
        shown = group >= 0
        held = np.bincount(group[shown], weights=counts[shown], minlength=len(times))
        self._sizes = np.repeat(held.astype(np.intp) // times, times)

    @staticmethod
    def of_rows(p: Partition, cell: np.ndarray) -> CountedPartition:
        """Count the rows of each cell in each group, row by row; O(n log n)."""
        G = p.n_groups
        keys, counts = np.unique(cell * np.int64(G + 1) + p.labels + 1, return_counts=True)
        cell, group = np.array(np.divmod(keys, G + 1), np.intp)
        times = np.ones(G, np.intp)
        return CountedPartition(
            cell, group - 1, counts, times, p.info, p.algorithm, starred=p.starred
        )

    def apart(self) -> CountedPartition:
        """Return the same groups, each once; O(n / least size)."""
        if (self.times == 1).all():
            return self
        is_withheld = self.group < 0
        times = np.where(is_withheld, 1, self.times[self.group])
        entry = np.repeat(np.arange(len(times)), times)
        turn = np.arange(len(entry)) - np.repeat(np.cumsum(times) - times, times)
        first = np.cumsum(self.times) - self.times
        group = np.where(is_withheld, self.group, first[self.group])[entry] + turn
        p = CountedPartition(
            self.cell[entry], group, (self.counts // times)[entry],
            np.ones(self.times.sum(), np.intp), self.info, self.algorithm,
        )  # fmt: skip
        p.call, p.promised = self.call, self.promised
        return p

    def __getattr__(self, name: str):
        if name == "labels":
            no_rows()
        raise AttributeError(name)

    def listed(self, m: Microdata) -> tuple[Microdata, Partition]:  # noqa: D102
        if m.has_rows:
            raise ParameterError(_NOT_OF_ONE_KIND)
        rows = m.counted()
        held = np.bincount(self.cell, self.counts, len(rows.weights))
        if not np.array_equal(held, rows.weights):
            raise ParameterError("the partition belongs to another table: run the algorithm again")
        return rows.take(self.cell, self.counts), self._with(self.group, self.counts)

    def __len__(self) -> int:
        return int(self.counts.sum())


def check_partition(p: object, n: int | None = None) -> Partition:
    """Return `p` if it is a Partition, with n rows if n is given; else ParameterError."""
    if not isinstance(p, Partition):
        raise ParameterError(
            f"expected a Partition, got {type(p).__name__}: make one with ap.Partition(labels), "
            "or publish a Recoding with ap.recode(m, r)"
        )
    if n is not None and len(p) != n:
        raise ParameterError(f"the partition has {len(p)} rows, the table {n}: group this table")
    return p


def checked_labels(labels, n: int | None = None) -> np.ndarray:
    """Return n labels as int64 if they are groups 0, 1, ... without a gap, or -1; O(n)."""
    labels = np.asarray(labels)
    wanted = labels.shape if n is None else (n,)
    if labels.ndim != 1 or labels.shape != wanted or not np.issubdtype(labels.dtype, np.integer):
        raise ParameterError(
            f"labels must be a one-dimensional array of {'' if n is None else f'{n} '}integers, "
            f"got shape {labels.shape} and dtype {labels.dtype}"
        )
    if len(labels) and labels.min() < -1:
        raise ParameterError(f"labels must be -1 or a group number, got {labels.min()}")
    # There are at most as many groups as rows: a greater number leaves a gap.
    present = np.zeros(len(labels) + 1, dtype=bool)
    present[np.minimum(labels[labels >= 0], len(labels)).astype(np.intp)] = True
    gap = int(present.argmin())
    if len(labels) and labels.max() >= gap:
        raise ParameterError(f"group {gap} has no rows: close such gaps by dense_labels()")
    return labels.astype(np.intp, copy=False)


def dense_labels(labels: np.ndarray) -> np.ndarray:
    """Renumber labels without gaps; their order and every -1 stay.

    Examples
    --------
    >>> dense_labels(np.array([7, -1, 2, 7])).tolist()
    [1, -1, 0, 1]
    """
    labels = np.asarray(labels, dtype=np.intp)
    dense = np.full(len(labels), -1, dtype=np.intp)
    dense[labels >= 0] = pd.factorize(labels[labels >= 0], sort=True)[0]
    return dense


@loop
def _deal(labels, rows, group, counts, times, first):
    """Label the rows of cells, entry by entry; represented groups get equal shares."""
    place = 0
    for i in range(len(group)):
        share = counts[i] // times[group[i]]
        for j in range(counts[i]):
            labels[rows[place + j]] = first[group[i]] + j // share
        place += counts[i]


@loop
def group_bounds(codes, labels, n_groups):
    """Return the least and the greatest code of every group and column, shape (G, d) each."""
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
