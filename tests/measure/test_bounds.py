import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import eligible_tables, tables, tried

import anonpaper as ap
from anonpaper import errors


def of_different_people(m):
    """The table with a secret of its own for every row: then l-diversity is k-anonymity."""
    return ap.Microdata(m.frame[m.qi].assign(s=range(m.n)), m.qi, "s")


@settings(max_examples=tried(60), deadline=None)
@given(eligible_tables(max_rows=10))
def test_no_bound_is_above_the_fewest_stars_of_diverse_groups(case):
    m, l = case
    assert ap.measure.fewest_stars(m, l=l) <= ap.exact(m, l).info["cost"]


@settings(max_examples=tried(60), deadline=None)
@given(tables(max_rows=9), st.integers(2, 3))
def test_no_bound_is_above_the_fewest_stars_of_anonymous_groups(m, k):
    k = min(k, m.n)
    people = of_different_people(m)
    bound = ap.measure.fewest_stars(m, k=k)
    assert bound <= ap.exact(people, k).info["cost"]
    assert bound == ap.measure.fewest_stars(people, l=k)


def test_what_cannot_be_bounded_is_said():
    m = ap.examples.hospital()
    for both in ({}, {"l": 2, "k": 2}):
        with pytest.raises(errors.ParameterError, match="either l"):
            ap.measure.fewest_stars(m, **both)
    with pytest.raises(errors.ParameterError, match="k must be"):
        ap.measure.fewest_stars(m, k=11)
    with pytest.raises(errors.InfeasibleError):
        ap.measure.fewest_stars(m, l=4)
    wide = ap.Microdata(pd.DataFrame(np.eye(40, dtype=int)), list(range(40)))
    with pytest.raises(errors.SizeLimitError):
        ap.measure.fewest_stars(wide, k=2)
