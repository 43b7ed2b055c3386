"""The six steps on every pair: the text takes them as `klt`, the program as its code does."""

import warnings

import numpy as np
import pandas as pd
from boger2020 import grouped_by_pairs
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap


@st.composite
def tables(draw):
    n, rng = draw(st.integers(4, 40)), np.random.default_rng(draw(st.integers(0, 10**6)))
    towns, ills = (pd.Categorical(rng.choice([*names], n)) for names in ("abcd", "uvwxyz"))
    frame = pd.DataFrame({"age": rng.choice([17, 20, 61, 90], n), "town": towns, "ill": ills})
    return ap.Microdata(frame.assign(sex=rng.choice(["f", "m"], n)), ["age", "sex", "town"], "ill")


RULES = st.tuples(st.integers(2, 4), st.integers(1, 2), st.sampled_from([0.5, 0.75, 1.0]))


@settings(max_examples=60)
@given(tables(), RULES, st.sampled_from([{}, {"sex": 5}, {"town": 0}]), st.integers(0, 3))
def test_by_the_text_groups_are_those_of_klt(m, rule, weights, seed):
    warnings.simplefilter("ignore", ap.partition.klt.UnplacedRowsWarning)
    try:
        expected = ap.klt(m, *rule, weights, seed=seed, withheld="drop")
    except ap.errors.InfeasibleError:
        return
    p, steps = grouped_by_pairs(m, *rule, weights, seed)
    assert np.array_equal(p.labels, expected.labels)
    assert p.info == {name: expected.info[name] for name in ("repeats", "formed")}
    assert (steps[-1][1] >= 0).sum() == m.n - expected.n_unpublished


def test_where_the_program_departs_by_hand():
    """It begins with row 0, serves row 3 before row 2, and counts 2 of 2 rows above theta."""
    m = ap.Microdata(pd.DataFrame({"x": [0, 9, 1, 2, 8], "ill": [*"abaab"]}), ["x"], "ill")
    _, steps = grouped_by_pairs(m, 3, 2, 0.75, program=True)
    assert [labels.tolist() for _, labels in steps] == [
        [0, 1, -1, -1, 0], [0, 1, -1, 1, 0], [0, 1, 2, 1, 0], [0, 1, 2, 1, 0], [2, 2, 2, 2, 2],
    ]  # fmt: skip
