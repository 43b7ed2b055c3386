"""Claims of xiao2010 on tables whose verdict is known."""

import numpy as np
import pandas as pd
import pytest

from anonpaper.compendium.claims import IN_PART, NOT_REPRODUCED, REPRODUCED, UNDECIDED, claims_of

CLAIMS = {claim.name: claim for claim in claims_of("xiao2010")}


@pytest.mark.parametrize(
    "power, verdict", [(1.0, REPRODUCED), (1.2, UNDECIDED), (1.4, NOT_REPRODUCED)]
)
def test_times_are_judged_by_the_power_of_n_that_fits_them(power, verdict):
    rng = np.random.default_rng(0)
    times = pd.DataFrame(
        {"table": "T", "algorithm": name, "way": "rows", "n": n, "repeat": repeat,
         "seconds": n**power * rng.uniform(0.9, 1.1)}
        for repeat in range(10) for name in ("TP", "Hilbert") for n in (100, 200, 300, 400)
    )  # fmt: skip
    assert CLAIMS["times_are_linear"](times).verdict == verdict


@pytest.mark.parametrize(
    "stars_of_tp, verdict",
    [([1, 1, 3, 3], REPRODUCED), ([1, 3, 1, 3], NOT_REPRODUCED), ([1, 1, 1, 1], NOT_REPRODUCED),
     ([3, 3, 1, 1], NOT_REPRODUCED)],
)  # fmt: skip
def test_the_curves_have_to_cross_once(stars_of_tp, verdict):
    stars = {"TP": stars_of_tp, "Hilbert": [2] * 4, "TP+": [1] * 4}
    figure_3 = pd.DataFrame(
        {"table": "T", "d": d, "algorithm": name, "thousand stars": of[d - 1]}
        for name, of in stars.items() for d in (1, 2, 3, 4)
    )  # fmt: skip
    assert CLAIMS["curves_cross"](figure_3).verdict == verdict


@pytest.mark.parametrize(
    "equal, more, verdict, otherwise",
    [(0, 0, REPRODUCED, ""), (1, 0, IN_PART, REPRODUCED), (4, 0, NOT_REPRODUCED, REPRODUCED),
     (0, 1, IN_PART, NOT_REPRODUCED)],
)  # fmt: skip
def test_as_many_stars_are_not_fewer(equal, more, verdict, otherwise):
    runs = pd.DataFrame({"d": [1], "fewer": 10 - equal - more, "equal": equal, "more": more})
    found = CLAIMS["tp_plus_always_beats_tp"](runs)
    assert found.verdict == verdict and found.otherwise.endswith(f"{otherwise}." * bool(otherwise))


def test_table_5_is_compared_cell_by_cell():
    table_1, *others = (
        pd.DataFrame({"Name": ["A", "B"], "Age": ages, "Gender": "M", "Education": ["x", "y"]})
        for ages in (["<30", ">50"], ["*", "*"], ["<30", "[<30 - >50]"], ["<30", ">50"])
    )
    losses = pd.DataFrame({"way": ["suppression", "multi-dimensional"], "stars": 0, "KL": [2, 1]})
    card = CLAIMS["table_5_is_most_accurate"]
    assert card(table_1, *others, losses).verdict == REPRODUCED
    found = card(table_1, others[0], others[2], others[1], losses)
    assert found.verdict == NOT_REPRODUCED
    assert found.measured == "at least as accurate in 6 and 5 of 6 values"
