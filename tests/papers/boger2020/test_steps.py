"""The steps that notebook 1 draws give the groups of `klt`."""

import numpy as np
import pandas as pd
import pytest
from boger2020_steps import clustering_steps

import anonpaper as ap
from anonpaper.partition.klt import UnplacedRowsWarning


def ten():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({
        "age": rng.integers(20, 60, 10),
        "sex": rng.choice(["F", "M"], 10),
        "education": rng.choice(["School", "College", "Doctorate"], 10),
        "occupation": ["Sales"] * 4 + ["Clerk"] * 2 + ["Repair"] * 2 + ["Manager"] * 2,
    })  # fmt: skip
    return ap.Microdata(frame, qi=["age", "sex", "education"], sensitive="occupation")


@pytest.mark.filterwarnings(f"ignore::{UnplacedRowsWarning.__module__}.UnplacedRowsWarning")
@pytest.mark.parametrize(("k", "l", "theta"), [(4, 3, 0.5), (3, 2, 0.5), (5, 3, 0.4)])
def test_the_steps_end_in_the_groups_of_klt(k, l, theta):
    m = ten()
    for seed in range(10):
        _, groups, left = clustering_steps(m, k, l, theta, seed)[-1]
        p = ap.klt(m, k, l, theta, seed=seed, withheld="drop")
        assert sorted(map(sorted, groups)) == sorted(rows.tolist() for rows in p.groups())
        assert sorted(left) == np.flatnonzero(p.labels < 0).tolist()
