"""Imbalance of the sensitive attribute: whether, where, and how many rows would balance it.

Algorithms 1 and 2 of majeed2024 (sections 4.1.3 to 4.1.5) compare the frequencies of two sensitive
values. Here every value is compared with the most frequent one, for any number of values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from anonpaper.errors import InfeasibleError, check_number
from anonpaper.microdata import Microdata, check_microdata

__all__ = ["Imbalance", "find_imbalance"]


@dataclass(frozen=True, eq=False)
class Imbalance:
    """How uneven the sensitive values of a table are; values that occur, in domain order."""

    values: np.ndarray  # (s,), dtype object
    counts: np.ndarray  # (s,), rows of each
    threshold: float  # gap, in rows, above which a value is rare

    @property
    def gaps(self) -> np.ndarray:
        """Rows by which every value is behind the most frequent one."""
        return self.counts.max() - self.counts

    @property
    def is_rare(self) -> np.ndarray:
        """Whether a value's gap exceeds the threshold."""
        return self.gaps > self.threshold

    @property
    def vulnerable(self) -> bool:
        """Algorithm 1's tau: whether any value is rare."""
        return bool(self.is_rare.any())

    @property
    def needed(self) -> dict[object, int]:
        """Rows to add per value for a balanced table; values that need none are omitted."""
        return {value: int(gap) for value, gap in zip(self.values, self.gaps, strict=True) if gap}

    def frame(self) -> pd.DataFrame:
        """Return one row per value: rows, share, gap to the most frequent one, rare or not."""
        columns = {"value": self.values, "rows": self.counts}
        columns |= {"share": self.counts / self.counts.sum(), "gap": self.gaps}
        return pd.DataFrame(columns | {"rare": self.is_rare})


def find_imbalance(m: Microdata, threshold: float = 0.5) -> Imbalance:
    """Compare the frequencies of all sensitive values of `m`; majeed2024, Algorithm 1. O(n).

    `threshold` is the share of the rows, in [0, 1], above which a gap is a vulnerability; one half
    in the paper. ColumnError without a sensitive attribute, InfeasibleError for a single value.

    >>> m = Microdata(pd.DataFrame({"age": range(10), "ill": [0] * 9 + [1]}), ["age"], "ill")
    >>> found = find_imbalance(m)
    >>> found.vulnerable, found.needed
    (True, {1: 8})
    """
    threshold = check_number("threshold", threshold, 0, 1)
    counts = check_microdata(m).sensitive_counts  # lines 4 to 8
    present = np.flatnonzero(counts)
    values = m.sensitive_attribute.values[present]
    if len(present) == 1:
        raise InfeasibleError(
            f"every row has {m.sensitive!r} = {values[0]!r}: no added rows can balance a single "
            "value, and no grouping can be 2-diverse; choose another sensitive attribute"
        )
    return Imbalance(values, counts[present], threshold * m.n)  # lines 2, 3; gaps: line 9
