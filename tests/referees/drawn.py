"""Small tables drawn at random that have an l-diverse grouping."""

from __future__ import annotations

import numpy as np
import pandas as pd

import anonpaper as ap


def drawn_tables(number, seed=0):
    rng = np.random.default_rng(seed)
    while number:
        n, l = int(rng.integers(4, 40)), int(rng.integers(2, 5))
        values = {"group": rng.integers(0, rng.integers(1, 6), n),
                  "value": rng.integers(0, rng.integers(l, 8), n)}  # fmt: skip
        m = ap.Microdata(pd.DataFrame(values), ["group"], "value")
        if m.sensitive_counts.max() * l <= n:
            number -= 1
            yield m, l
