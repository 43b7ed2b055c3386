"""majeed2024: balanced classes, shallow generalization and measures on Census.

The yardstick is one pandas groupby over the quasi-identifiers of the same table.
"""

import numpy as np
from measure import against, best_seconds, peak_bytes

import anonpaper as ap
from anonpaper.repair.synthesis import fuse


def rows():
    qi = list(ap.hierarchies.LEVELS["census"])
    # people with a missing value are left out: no synthetic row may have one
    real = ap.load("census", part="train", qi=qi, sensitive="income", missing="drop")
    rng = np.random.default_rng(0)
    ((value, needed),) = ap.find_imbalance(real).needed.items()
    rare = real.frame[real.frame[real.sensitive] == value]
    # not a model's rows, but as many, and spread over as many cells
    added = rare.iloc[rng.integers(len(rare), size=needed)].reset_index(drop=True)
    for name in real.qi:
        added[name] = rng.permutation(added[name].to_numpy())
    fused = fuse(real, added)
    grouping = best_seconds(
        lambda: fused.frame.groupby(fused.qi, observed=True, sort=False).size(), repeat=3
    )
    what = f"census, {fused.n:,} rows x {fused.d}"
    for k, limit in ((2, 600), (10, 120), (100, 60)):
        seconds = best_seconds(lambda k=k: ap.balanced_classes(fused, k), repeat=1)
        yield against(f"balanced classes, k = {k}, {what}", seconds, "groupby", grouping, limit)
        if k == 10:
            yield against(f"the same, k = {k}, seconds", seconds, "30 seconds", 30.0, 1)
    p = ap.balanced_classes(fused, 10)
    trees = ap.hierarchies.hierarchies("census", fused)
    release = ap.shallow_generalize(fused, p, trees)
    shallow = best_seconds(lambda: ap.shallow_generalize(fused, p, trees), repeat=2)
    yield against("shallow generalization, k = 10", shallow, "groupby", grouping, 20)
    risk = best_seconds(lambda: ap.measure.disclosure_risk(release, "own"), repeat=2)
    yield against("disclosure risk", risk, "groupby", grouping, 20)
    size = fused.frame.memory_usage(deep=True).sum()
    yield against(
        "peak of balanced classes, bytes",
        peak_bytes(lambda: ap.balanced_classes(fused, 10)),
        "size of the frame",
        size,
        30,
    )
