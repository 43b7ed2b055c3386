"""MRMondrian: Mondrian on parts of a table that is too large for one machine.

Source: X. Zhang, L. Qi, W. Dou, Q. He, C. Leckie, R. Kotagiri, Z. Salcic, *MRMondrian: scalable
multidimensional anonymisation for big data privacy preservation*, IEEE Transactions on Big Data
8(1), 2022. Only the abstract was at hand.

How sure: the scheme (cut in rounds until a part fits into memory, then Mondrian within the part)
is in the abstract; the cuts are Mondrian's, strict. The result is Mondrian's whatever the memory,
and a test holds that. majeed2024 calls the method "DP-like"; the abstract says only that it can
also serve differential privacy, so no noise is added here.

Simplified: no MapReduce and no tree index; medians are exact.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anonpaper.errors import check_integer
from anonpaper.groups import Partition
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Microdata
from majeed2024_baselines.cluster import Client, labels_of_parts, on_parts
from anonpaper.partition.mondrian import median_cut, mondrian
from anonpaper.principles import require_diverse
from anonpaper.publish import Release, shallow_generalize

__all__ = ["mrmondrian", "mrmondrian_classes"]


def mrmondrian(
    m: Microdata,
    k: int,
    l: int | None,
    hierarchies: Mapping[object, Hierarchy],
    *,
    memory_rows: int = 10_000,
    client: Client | None = None,
    seed: int = 0,
) -> Release:
    """Cut a table in rounds, then within parts, and publish its classes.

    Parameters
    ----------
    m, k, l, hierarchies
        As for :func:`~majeed2024_baselines.l_diversity.l_diversity`.
    memory_rows : int
        Parts of at most so many rows are cut within one task, at least 1.
    client : Client, optional
        A Dask client for the parts.
    seed : int
        Not used: Mondrian is deterministic.

    Returns
    -------
    Release
    """
    p = mrmondrian_classes(m, k, l, memory_rows=memory_rows, client=client)
    return shallow_generalize(m, p, hierarchies)


def mrmondrian_classes(
    m: Microdata,
    k: int,
    l: int | None = None,
    *,
    memory_rows: int = 10_000,
    client: Client | None = None,
) -> Partition:
    """Return Mondrian's classes, found part by part.

    Raises
    ------
    InfeasibleError
        The table has fewer than l sensitive values.
    ParameterError
        k, l or `memory_rows` is out of range.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> whole, parts = ap.mondrian(m, k=2), mrmondrian_classes(m, k=2, memory_rows=3)
    >>> bool((whole.labels == parts.labels).all())
    True
    """
    k = check_integer("k", k, 2, m.n)
    memory_rows = check_integer("memory_rows", memory_rows, 1)
    if l is not None:
        l = require_diverse(m, l, "distinct")
    parts, rounds = [np.arange(m.n)], 0
    final = [False]
    while not all(
        done or len(rows) <= memory_rows for rows, done in zip(parts, final, strict=True)
    ):
        rounds += 1
        cut_parts, cut_final = [], []
        for rows, done in zip(parts, final, strict=True):
            left = None
            if len(rows) > memory_rows and not done:
                left = median_cut(m, rows, k, l, diversity="distinct")
                done = left is None
            for piece in (rows,) if left is None else (rows[left], rows[~left]):
                cut_parts.append(piece)
                cut_final.append(done)
        parts, final = cut_parts, cut_final
    within = on_parts(_classes_within, parts, client, m=m, k=k, l=l)
    info = {"parts": len(parts), "rounds": rounds}
    return Partition(labels_of_parts(m.n, parts, within), info, f"MRMondrian, k = {k}")


def _classes_within(rows: np.ndarray, m: Microdata, k: int, l: int | None) -> np.ndarray:
    return mondrian(m.take(rows), k, l, diversity="distinct").labels
