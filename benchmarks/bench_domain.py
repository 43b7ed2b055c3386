"""Large domains: 1,000,000 rows with a QI of 1,000,000 distinct values against one of 100.

The yardstick of memory is 2 GB, that of time the same steps on the table of 100 values.
"""

import measure
import numpy as np
import pandas as pd

import anonpaper as ap

ROWS = 1_000_000


def rows():
    few = {kind: table(100, kind) for kind in ("numbers", "words")}
    many = {kind: table(ROWS, kind) for kind in ("numbers", "words")}
    for kind in few:
        for step in (suppressed, generalized, recoded):
            short = measure.best_seconds(lambda: step(few[kind]), repeat=1)  # noqa: B023
            long = measure.best_seconds(lambda: step(many[kind]), repeat=1)  # noqa: B023
            yield measure.against(
                f"{step.__name__}, {kind}, seconds", long, "100 values", short, 3
            )
            peak = measure.peak_bytes(lambda: step(many[kind]))  # noqa: B023
            yield measure.against(f"{step.__name__}, {kind}, bytes", peak, "2 GB", 2e9, 1)


def table(size, kind):
    """Return a coded table, groups of ten neighbours, and a recoding into 50 sub-domains."""
    rng = np.random.default_rng(0)
    values = rng.permutation(ROWS) % size
    frame = pd.DataFrame(
        {
            "q": values if kind == "numbers" else np.char.add("v", values.astype(str)),
            "r": rng.integers(0, 50, ROWS),
            "s": rng.integers(0, 10, ROWS),
        }
    )
    m = ap.Microdata(frame, ["q", "r"], "s")
    labels = np.empty(ROWS, np.int64)
    labels[m.cells.rows] = np.arange(ROWS) // 10
    maps = [np.arange(a.size) // max(1, a.size // 50) for a in m.attributes]
    return m, ap.Partition(labels), ap.Recoding(m.attributes, maps)


def suppressed(case):
    m, p, _ = case
    measured(ap.suppress(m, p))


def generalized(case):
    m, p, _ = case
    measured(ap.generalize(m, p))


def recoded(case):
    m, _, r = case
    measured(ap.recode(m, r))


def measured(rel):
    """Write a release and take its measures."""
    rel.frame  # noqa: B018
    for take in (
        ap.measure.stars, ap.measure.ncp, ap.measure.nwp, ap.measure.kl_divergence,
        ap.measure.discernibility, ap.measure.generalizations, ap.measure.reconstruction,
        ap.measure.disclosure_risk,
    ):  # fmt: skip
        take(rel)
    ap.measure.marginal_similarity(rel.microdata, rel)
