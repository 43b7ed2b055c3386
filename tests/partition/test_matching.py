import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper import errors


@st.composite
def halved_tables(draw, max_pairs=12):
    pairs = draw(st.integers(1, max_pairs))
    d = draw(st.integers(1, 3))
    value = st.integers(0, 2)
    frame = pd.DataFrame(
        {f"q{j}": draw(st.lists(value, min_size=2 * pairs, max_size=2 * pairs)) for j in range(d)}
    )
    frame["s"] = draw(st.permutations(["x", "y"] * pairs))
    return ap.Microdata(frame, [f"q{j}" for j in range(d)], "s")


@settings(max_examples=30)
@given(halved_tables(max_pairs=5))
def test_the_matching_is_as_good_as_exhaustive_search(m):
    p = ap.optimal_two_diverse(m)
    assert p.info["stars"] == ap.exact(m, 2).info["cost"]


def test_tables_that_cannot_be_matched_are_refused():
    with pytest.raises(errors.ParameterError, match="exactly two"):
        ap.optimal_two_diverse(ap.examples.hospital())
    uneven = pd.DataFrame({"a": [0, 1, 1], "s": [0, 0, 1]})
    with pytest.raises(errors.InfeasibleError):
        ap.optimal_two_diverse(ap.Microdata(uneven, ["a"], "s"))
