"""xiao2010: TP, TP+ and Hilbert on sal (600,000 rows, seven QI, l = 6), coded table given.

The yardstick is one pandas groupby over the same seven integer columns. A run takes the coded
table and ends with the labels: grouping equal rows is part of it.
"""

import measure
from referees.rows import TupleMinimization

import anonpaper as ap

L = 6


def rows():
    sal = ap.load("sal")
    yardstick = measure.groupby_seconds(sal)
    for name, algorithm, limit in (
        ("tp", ap.tp, 3), ("tp_plus", ap.tp_plus, 6), ("hilbert", ap.hilbert, 6)
    ):  # fmt: skip
        seconds = measure.best_seconds(lambda: measure.ungrouped(algorithm, sal, L), repeat=5)  # noqa: B023
        yield measure.against(f"{name}, seconds", seconds, "pandas groupby", yardstick, limit)

    seconds = measure.best_seconds(lambda: ap.load("sal"), repeat=5)
    yield measure.against("reading sal from the cache", seconds, "pandas groupby", yardstick, 10)

    table = sal.codes.nbytes + sal.sensitive_codes.nbytes
    for name, algorithm in (("tp", ap.tp), ("tp_plus", ap.tp_plus), ("hilbert", ap.hilbert)):
        peak = measure.peak_bytes(lambda: measure.ungrouped(algorithm, sal, L))  # noqa: B023
        yield measure.against(f"{name}, peak memory, MB", peak / 1e6, "coded table",
                              table / 1e6, 4)  # fmt: skip

    sixth = sal.sample(100_000, seed=0)
    for name, algorithm in (("tp", ap.tp), ("tp_plus", ap.tp_plus), ("hilbert", ap.hilbert)):
        large = measure.best_seconds(lambda: measure.ungrouped(algorithm, sal, L), repeat=5)  # noqa: B023
        small = measure.best_seconds(lambda: measure.ungrouped(algorithm, sixth, L), repeat=5)  # noqa: B023
        yield measure.against(f"{name}, 600,000 rows", large, "100,000 rows", small, 6)

    few = sal.sample(2_000, seed=0)
    arguments = few.codes.tolist(), few.sensitive_codes.tolist(), L
    fast = measure.best_seconds(lambda: measure.ungrouped(ap.tp, few, L))
    plain = measure.best_seconds(lambda: TupleMinimization(*arguments).run(), repeat=1)
    yield measure.against("tp by rows (the paper's text), 2,000 rows", plain, "tp by cells",
                          fast, None)  # fmt: skip
