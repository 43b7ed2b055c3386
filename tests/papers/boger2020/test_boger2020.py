"""The experiments: what they return, from which settings, and that seeds decide everything."""

import boger2020
import numpy as np
import pandas as pd
import pytest

import anonpaper as ap


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
    errors = rows.pivot(index=["varied", "values"], columns="table", values="chi_square")
    relative = rows.pivot(index=["varied", "values"], columns="table", values="relative_error_pct")
    assert np.allclose(100 * errors.div(errors["BaseTable"].clip(lower=1), axis=0), relative)
    published = ap.compendium.reference("boger2020_fig9-12_relative_error")
    for name, percents in published.groupby("varied_qi")["selectivity_pct"]:
        ours = rows.loc[rows["varied"] == name, "selectivity_pct"]
        assert np.allclose(np.unique(percents), np.unique(ours), atol=0.01)
    again = pd.DataFrame(boger2020.errors_by_selectivity(adult, queries=100, seed=3))
    pd.testing.assert_frame_equal(rows, again)


def test_searches_by_rows_make_the_same_groups(adult):
    few = adult.sample(600, 3)
    by_rows = boger2020.groups_by_rows(boger2020.numbered(few), seed=5)
    assert np.array_equal(by_rows.labels, ap.klt(few, seed=5).labels)
    assert len(boger2020.numbered(few).cells) == few.n
    assert boger2020.time_klt(adult, 300, 2, 0, by_rows=True)["seconds"] > 0
