"""xiao2010: TP, TP+ and Hilbert on sal (600,000 rows, seven QI, l = 6), coded table given.

The yardstick is one pandas groupby over the same seven integer columns. A run takes the coded
table and ends with the labels: grouping equal rows is part of it.
"""

import sys
from pathlib import Path

import measure
import pandas as pd

import anonpaper as ap

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from referees.rows import TupleMinimization

L = 6


def rows():
    sal = ap.load("sal")
    coded = pd.DataFrame(sal.codes, columns=sal.qi)
    yardstick = measure.best_seconds(lambda: coded.groupby(sal.qi, sort=False).ngroup(), repeat=5)
    for name, algorithm, limit in (
        ("tp", ap.tp, 3), ("tp_plus", ap.tp_plus, 6), ("hilbert", ap.hilbert, 6)
    ):  # fmt: skip
        seconds = measure.best_seconds(lambda: from_codes(algorithm, sal), repeat=5)  # noqa: B023
        yield measure.against(f"{name}, seconds", seconds, "pandas groupby", yardstick, limit)

    seconds = measure.best_seconds(lambda: ap.load("sal"), repeat=5)
    yield measure.against("reading sal from the cache", seconds, "pandas groupby", yardstick, 10)

    table = sal.codes.nbytes + sal.sensitive_codes.nbytes
    for name, algorithm in (("tp", ap.tp), ("tp_plus", ap.tp_plus), ("hilbert", ap.hilbert)):
        peak = measure.peak_bytes(lambda: from_codes(algorithm, sal))  # noqa: B023
        yield measure.against(f"{name}, peak memory, MB", peak / 1e6, "coded table",
                              table / 1e6, 4)  # fmt: skip

    sixth = sal.sample(100_000, seed=0)
    for name, algorithm in (("tp", ap.tp), ("tp_plus", ap.tp_plus), ("hilbert", ap.hilbert)):
        large = measure.best_seconds(lambda: from_codes(algorithm, sal), repeat=5)  # noqa: B023
        small = measure.best_seconds(lambda: from_codes(algorithm, sixth), repeat=5)  # noqa: B023
        yield measure.against(f"{name}, 600,000 rows", large, "100,000 rows", small, 6)

    few = sal.sample(2_000, seed=0)
    arguments = few.codes.tolist(), few.sensitive_codes.tolist(), L
    fast = measure.best_seconds(lambda: from_codes(ap.tp, few))
    plain = measure.best_seconds(lambda: TupleMinimization(*arguments).run(), repeat=1)
    yield measure.against("tp by rows (the paper's text), 2,000 rows", plain, "tp by cells",
                          fast, None)  # fmt: skip


def from_codes(algorithm, m):
    """Run an algorithm on the coded table, with nothing grouped before."""
    m.__dict__.pop("cells", None)
    return algorithm(m, L)
