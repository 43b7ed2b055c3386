"""The protocols: what they return, from which settings, and that seeds decide everything."""

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.papers.boger2020 import protocol as boger2020


@pytest.fixture(scope="module")
def adult():
    return ap.load("adult", qi=list(boger2020.QI), rows=1500, seed=1)


def test_rounds_of_the_figures(adult):
    rows = pd.DataFrame(boger2020.errors_by_selectivity(adult, queries=100, seed=3))
    rounds = rows.groupby("varied")["values"].nunique()
    assert rounds.to_dict() == {"none": 1, "race": 5, "education": 16, "sex": 2, "age": 14}
    assert (rows.groupby(["varied", "values"])["table"].nunique() == 5).all()
    base = rows.loc[rows["table"] == "BaseTable", "relative_error_pct"]
    assert np.allclose(base, 100)
    published = ap.papers.reference("boger2020_fig9-12_relative_error")
    for name, percents in published.groupby("varied_qi")["selectivity_pct"]:
        ours = rows.loc[rows["varied"] == name, "selectivity_pct"]
        assert np.allclose(np.unique(percents), np.unique(ours), atol=0.01)
    again = pd.DataFrame(boger2020.errors_by_selectivity(adult, queries=100, seed=3))
    pd.testing.assert_frame_equal(rows, again)


def test_both_groupings_hold_and_knowing_nothing_rules_out_nothing(adult):
    rows = pd.DataFrame(boger2020.compare_groupings(adult, [[], ["age"]], [0.02, 0.1], seed=0))
    assert len(rows) == 2 + 2 * 2
    nothing = rows[rows["knowledge"] == "nothing"]
    assert (nothing["worst_group"] <= 0.3 + 1e-9).all() and (nothing["ruled_out"] == 0).all()
    assert rows["success"].between(0, 1).all()


def test_members_are_always_found(adult):
    outsiders = ap.load("adult", part="test", rows=500, seed=1)
    rows = pd.DataFrame(boger2020.compare_membership(adult, outsiders, boger2020.QI, seed=0))
    assert (rows["members"] == 1).all()
    advantage = rows.set_index("method")["advantage"]
    assert advantage["swapping"] >= advantage["generalization"] >= 0


def test_timing_says_what_was_clustered(adult):
    row = boger2020.time_klt(adult, rows=800, repeats=1, seed=0)
    assert row["seconds"] > 0 and row["unplaced_rows"] == 0
    assert row["groups"] == ap.klt(adult.sample(800, 0), seed=0).n_groups
