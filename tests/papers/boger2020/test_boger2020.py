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
