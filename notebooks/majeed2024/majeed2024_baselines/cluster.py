"""Parts of a table on a cluster, or one after the other: the same result either way.

MRMondrian, DHkmeans-LD and SDDA were published for Hadoop and Spark. Here their partition step
takes any client with Dask's ``map`` and ``gather``; without one it runs in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np


class Client(Protocol):
    """What is used of ``dask.distributed.Client``."""

    def map(self, function: Callable, *iterables: Sequence, **options: Any) -> Sequence:
        """Start a call for every element; return futures."""

    def gather(self, futures: Sequence) -> Sequence:
        """Wait for futures and return their results in order."""


def on_parts(
    function: Callable[..., np.ndarray],
    parts: Sequence[np.ndarray],
    client: Client | None,
    **fixed: Any,
) -> list[np.ndarray]:
    """Call a function of a module for every part and return the results in the order of parts."""
    call = partial(function, **fixed)
    if client is None:
        return [call(rows) for rows in parts]
    return list(client.gather(client.map(call, list(parts), pure=False)))


def labels_of_parts(
    n: int, parts: Sequence[np.ndarray], within: Sequence[np.ndarray]
) -> np.ndarray:
    """Number the groups of all parts one after the other, shape (n,)."""
    labels = np.full(n, -1, dtype=np.int64)
    first = 0
    for rows, groups in zip(parts, within, strict=True):
        labels[rows] = first + groups
        first += int(groups.max()) + 1
    return labels
