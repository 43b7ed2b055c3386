"""Claims of papers on tables whose verdict is known."""

import numpy as np
import pandas as pd
import pytest

from anonpaper.compendium import claims, reference

SO, NOT = claims.REPRODUCED, claims.NOT_REPRODUCED


def verdict(paper, name, *tables):
    (one,) = [one for one in claims.claims_of(paper) if one.name == name]
    return one.judge(*tables).verdict


@pytest.mark.parametrize(
    ("lost", "expected"), [([3.0, 3.1, 3.2] * 3, SO), ([0.0] * 9, claims.UNDECIDED)]
)
def test_one_other_setting_at_which_rows_are_lost_is_enough(lost, expected):
    settings = [(10, 5, 0.3, [0.0] * 9), (50, 5, 0.3, lost), (10, 12, 0.3, [0.0] * 9)]
    runs = pd.DataFrame(
        {"data": "adult", "k": k, "l": l, "theta": theta, "seed": seed, "left_out_pct": value}
        for k, l, theta, values in settings for seed, value in enumerate(values)
    )  # fmt: skip
    assert verdict("boger2020", "rows_are_lost_elsewhere", runs) == expected


@pytest.mark.parametrize(("moved", "expected"), [(0, SO), (30, NOT)])
def test_a_printed_run_may_miss_as_many_points_as_runs_of_ours(moved, expected):
    rng = np.random.default_rng(1)
    printed = reference("boger2020_fig8_default_selectivity").set_index("table").squeeze()
    runs = pd.DataFrame(
        {"reading": reading, "seed": seed, "table": table,
         "relative error, %": printed[table] + rng.normal(0, 2) + moved * (reading == "text")}
        for reading in ("text", "program") for seed in range(40) for table in printed.index
    )  # fmt: skip
    assert verdict("boger2020", "figure_8_could_be_a_run", runs) == expected


@pytest.mark.parametrize(
    ("at_1", "at_21", "expected"),
    [((5, 10, 30, 57, 140), (5, 10, 40, 60, 120), SO),
     ((5, 10, 30, 57, 140), (5, 18, 26, 51, 101), claims.CANNOT_BE_TESTED),
     ((5, 10, 25, 50, 100), (5, 10, 25, 50, 100), NOT)],
)  # fmt: skip
def test_what_an_order_of_countries_decides_cannot_be_tested(at_1, at_21, expected):
    found = pd.DataFrame(
        {"place": place, "k": k, "effective_k": effective}
        for place, row in ((1, at_1), (21, at_21))
        for k, effective in zip([5, 10, 25, 50, 100], row, strict=True)
    )
    assert verdict("dewri2009", "effective_k_is_close_or_higher", found) == expected


@pytest.mark.parametrize(
    ("stars_of_tp", "expected"), [("1133", SO), ("1313", NOT), ("1111", NOT), ("3311", NOT)]
)
def test_the_curves_have_to_cross_once(stars_of_tp, expected):
    stars = {"TP": [*map(int, stars_of_tp)], "Hilbert": [2] * 4, "TP+": [1] * 4}
    figure = pd.DataFrame(stars).assign(table="T", d=[1, 2, 3, 4])
    figure = figure.melt(["table", "d"], var_name="algorithm", value_name="thousand stars")
    assert verdict("xiao2010", "curves_cross", figure) == expected
