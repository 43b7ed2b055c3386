"""Parts of a table on a cluster, or one after the other: the same result either way.

MRMondrian, DHkmeans-LD and SDDA were published for Hadoop and Spark. Here their partition step
takes any client with the ``map`` and ``gather`` of ``dask.distributed.Client``, or none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from anonpaper.errors import check_integer
from anonpaper.microdata import Microdata
from anonpaper.principles import require_diverse


def checked(m: Microdata, k: int, l: int | None) -> tuple[int, int | None]:
    """Return k and l if the table has as many rows and sensitive values, or raise."""
    return check_integer("k", k, 2, m.n), None if l is None else require_diverse(m, l, "distinct")


def on_parts(function, parts: Sequence[np.ndarray], client, **fixed) -> list[np.ndarray]:
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
