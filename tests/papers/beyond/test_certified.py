"""What notebooks/beyond/certified_optimum runs: arrivals at an optimum, shares of a front."""

import beyond_certified as protocol
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper import plots
from anonpaper.recoders.archive import non_dominated

NEARLY_LOSS = (0.2, 1.0)


@pytest.fixture(scope="module")
def m():
    return ap.examples.hospital()


def test_what_is_certified_can_be_decoded_and_measured(m):
    row = protocol.certified(m, 2, NEARLY_LOSS, 1_000)
    r = ap.Recoding.decode(m.attributes, [border == "|" for border in row["borders"]])
    rel = ap.recode(m, r)
    assert row["optimal"] and row["effective_k"] == ap.measure.effective_k(rel) >= 2
    assert row["ach"] == pytest.approx(ap.measure.ach(rel, NEARLY_LOSS))
    assert row["lower bound"] == pytest.approx(ap.exhaustive(m, 2).info["ach"], abs=1e-11)


@pytest.mark.parametrize("method", protocol.METHODS)
def test_arrivals_are_the_first_evaluations_that_are_good_enough(m, method):
    least = ap.exhaustive(m, 2).info["ach"]
    seen = protocol.METHODS[method](m, 2, NEARLY_LOSS, evaluations=400, seed=3)
    row = protocol.arrival(m, 2, NEARLY_LOSS, method, 400, 3, least)
    good = seen[(seen["effective_k"] >= 2) & (seen["ach"] <= least + 1e-9)]
    assert row["at the optimum"] == good["evaluation"].iloc[0] <= 400
    assert row["within 1 %"] <= row["at the optimum"] and row["ach"] == pytest.approx(least)
    missed = protocol.arrival(m, 2, NEARLY_LOSS, method, 400, 3, least / 2)
    assert missed["within 1 %"] is missed["at the optimum"] is None


def test_who_sees_the_whole_front_has_its_hypervolume(m):
    seen = protocol.front_reached(m, m.qi, 2, NEARLY_LOSS, "refined", 400, 0)
    table = ap.exhaustive(m, 2).info["evaluated"]
    points = table.loc[table["effective_k"] >= 2, ["nwp", "necd"]].to_numpy()
    assert seen["recodings"] == 32 and seen["found"] == seen["hypervolume"] == 1
    assert seen["points"] == len(np.unique(points[non_dominated(*points.T)], axis=0))
    little = protocol.front_reached(m, m.qi, 2, NEARLY_LOSS, "hill climbing", 1, 0)
    assert little["hypervolume"] == 0 and little["found"] < 1  # of full generalization, (1, 0)


def test_the_share_drawn_is_that_of_all_seeds(m):
    runs = pd.DataFrame({"method": ["a", "a", "b", "b"], "within 1 %": [10, None, 20.0, 40.0]})
    figure, ax = plots.subplots()
    protocol.draw_arrivals(ax, runs, "within 1 %", 100)
    a, b = ax.get_lines()
    assert a.get_ydata().tolist() == [0, 0.5, 0.5] and b.get_ydata().tolist() == [0, 0.5, 1, 1]
    assert b.get_xdata().tolist() == [1, 20, 40, 100]
    plt.close(figure)
