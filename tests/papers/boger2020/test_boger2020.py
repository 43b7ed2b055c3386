"""The experiments: what they return, from which settings, and that seeds decide everything."""

import boger2020
import numpy as np
import pandas as pd

import anonpaper as ap


def test_rounds_of_the_figures():
    adult = ap.load("adult", qi=list(boger2020.QI), rows=1500, seed=1)
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
