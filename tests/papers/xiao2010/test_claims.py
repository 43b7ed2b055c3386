"""Claims of xiao2010 on tables whose verdict is known."""

import numpy as np
import pandas as pd
import pytest

from anonpaper.compendium import judge
from anonpaper.compendium.intervals import DIRECTION, NOT_REPRODUCED, REPRODUCED, UNDECIDED

CLAIMS = {claim.id: claim for claim in judge.of_paper("xiao2010")}


def verdicts(id, *tables):
    return [finding.verdict for finding in CLAIMS[id].found(*tables)]


@pytest.mark.parametrize(
    "power, verdict", [(1.0, REPRODUCED), (1.2, UNDECIDED), (1.4, NOT_REPRODUCED)]
)
def test_times_are_judged_by_the_power_of_n_that_fits_them(power, verdict):
    rng = np.random.default_rng(0)
    times = pd.DataFrame(
        {"table": "T", "algorithm": name, "way": way, "n": n, "repeat": repeat,
         "seconds": n**power * rng.uniform(0.9, 1.1)}
        for way in ("rows", "cells") for repeat in range(10)
        for name in ("TP", "Hilbert") for n in (100, 200, 300, 400)
    )  # fmt: skip
    assert verdicts("time-n", times)[0] == verdict


@pytest.mark.parametrize("walk, verdict", [(1.3, REPRODUCED), (1.0, NOT_REPRODUCED)])
def test_walks_are_told_from_sorts(walk, verdict):
    powers = {"grouping": 1.1, "curve": 1.05, "walk": walk}
    times = pd.DataFrame(
        {"table": "T", "algorithm": name, "way": "rows", "n": n, "repeat": repeat}
        | {part: n**power for part, power in powers.items()}
        for repeat in range(2) for name in ("TP", "TP+", "Hilbert") for n in (100, 200, 400)
    )  # fmt: skip
    reason = CLAIMS["time-n"].fields["reason"]
    assert judge._finding("xiao2010", reason, {"figure_6": times}).verdict == verdict


@pytest.mark.parametrize(
    "stars_of_tp, verdict",
    [([1, 1], REPRODUCED), ([1, 3], NOT_REPRODUCED), ([3, 3], NOT_REPRODUCED)],
)
def test_one_order_is_judged_exactly(stars_of_tp, verdict):
    runs = [
        {"vary": vary, "table": "T", "l": l, "d": 4, "order": order, "algorithm": name,
         "thousand stars": stars}
        for vary, orders in (("curve", 2), ("ties", 2), ("frequent first", 1))
        for l in (2, 6) for order in range(orders)
        for name, stars in (("Hilbert", 2), ("TP", stars_of_tp[order]), ("TP+", 1))
    ]  # fmt: skip
    orders = pd.DataFrame(runs)
    figure_2 = orders[(orders["vary"] == "ties") & (orders["order"] == 1)]
    figure_2 = figure_2.drop(columns=["vary", "d", "order"])
    assert verdicts("tp-hilbert", figure_2, orders) == [verdict]


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
    drawn = [figure_3.assign(vary=vary, l=6, order=0) for vary in ("curve", "ties")]
    orders = pd.concat([*drawn, figure_3.assign(vary="frequent first", l=6, order=0)])
    assert verdicts("crossing", figure_3, orders)[0] == verdict


@pytest.mark.parametrize(
    "equal, more, expected",
    [(0, 0, [REPRODUCED, REPRODUCED]), (1, 0, [DIRECTION, REPRODUCED]),
     (4, 0, [NOT_REPRODUCED, REPRODUCED]), (0, 1, [DIRECTION, DIRECTION])],
)  # fmt: skip
def test_as_many_stars_are_not_fewer(equal, more, expected):
    runs = pd.DataFrame({"d": [1], "fewer": 10 - equal - more, "equal": equal, "more": more})
    assert verdicts("tp-plus-tp", runs) == expected


def test_table_5_is_compared_cell_by_cell():
    table_1, *others = (
        pd.DataFrame({"Name": ["A", "B"], "Age": ages, "Gender": "M", "Education": ["x", "y"]})
        for ages in (["<30", ">50"], ["*", "*"], ["<30", "[<30 - >50]"], ["<30", ">50"])
    )
    assert verdicts("table-5", table_1, *others) == [REPRODUCED]
    (found,) = CLAIMS["table-5"].found(table_1, others[0], others[2], others[1])
    assert found.verdict == NOT_REPRODUCED
    assert found.measured == ("6 of 6 values at least as accurate as in Table 3, 5 as in Table 4")


@pytest.mark.parametrize(
    "best, verdict", [([4, 4], REPRODUCED), ([1, 4], DIRECTION), ([1, 1], NOT_REPRODUCED)]
)
def test_coarsening_has_to_pay_on_both_tables(best, verdict):
    coarsening = pd.DataFrame(
        {"table": table, "algorithm": "TP+", "width": width, "share of values starred": 0.1,
         "divergence": float(width != least)}
        for table, least in zip(("OCC", "SAL"), best, strict=True) for width in (1, 4)
    )  # fmt: skip
    assert verdicts("coarsening-pays", coarsening) == [verdict]
