"""MRMondrian: Mondrian on parts of a table that is too large for one machine.

X. Zhang, L. Qi, W. Dou, Q. He, C. Leckie, R. Kotagiri, Z. Salcic, IEEE Trans. Big Data 8(1), 2022,
of which only the abstract was at hand: cut in rounds until a part fits into memory, then Mondrian
within the part. The result is Mondrian's whatever the memory. No noise is added, no tree index
kept, and medians are exact.
"""

from __future__ import annotations

import numpy as np

from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.partition.mondrian import median_cut, mondrian
from anonpaper.publish import Release, shallow_generalize
from majeed2024_baselines.cluster import checked, labels_of_parts, on_parts


def mrmondrian(
    m: Microdata, k: int, l: int | None, hierarchies, *, memory_rows=10_000, client=None, seed=0
) -> Release:
    """Cut a table in rounds, then within parts, and publish its classes."""
    p = mrmondrian_classes(m, k, l, memory_rows=memory_rows, client=client)
    return shallow_generalize(m, p, hierarchies)


def mrmondrian_classes(
    m: Microdata, k: int, l: int | None = None, *, memory_rows: int = 10_000, client=None
) -> Partition:
    """Return Mondrian's classes, found part by part."""
    k, l = checked(m, k, l)
    parts, rounds = [(np.arange(m.n), False)], 0  # rows, and whether no cut is possible
    while any(len(rows) > memory_rows and not is_final for rows, is_final in parts):
        rounds += 1
        parts = [
            piece
            for rows, is_final in parts
            for piece in (
                [(rows, is_final)]
                if is_final or len(rows) <= memory_rows
                else _cut_in_two(m, rows, k, l)
            )
        ]
    parts = [rows for rows, _ in parts]
    within = on_parts(_classes_within, parts, client, m=m, k=k, l=l)
    info = {"parts": len(parts), "rounds": rounds}
    return Partition(labels_of_parts(m.n, parts, within), info, f"MRMondrian, k = {k}")


def _cut_in_two(m: Microdata, rows: np.ndarray, k: int, l: int | None) -> list[tuple]:
    """Return both sides of Mondrian's cut, or the part itself as a final one."""
    left = median_cut(m, rows, k, l, diversity="distinct")
    return [(rows, True)] if left is None else [(rows[left], False), (rows[~left], False)]


def _classes_within(rows: np.ndarray, m: Microdata, k: int, l: int | None) -> np.ndarray:
    return mondrian(m.take(rows), k, l, diversity="distinct").labels
