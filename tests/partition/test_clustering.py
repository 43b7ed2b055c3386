import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.clustering import k_member_rows, strict_mondrian_rows

import anonpaper as ap
from anonpaper import errors
from anonpaper.randomness import generator


@st.composite
def tables(draw, max_rows=24, numbers=False):
    n = draw(st.integers(4, max_rows))
    d = draw(st.integers(1, 4))
    values = st.integers(0, 6) if numbers else st.sampled_from("abcd")
    columns = {f"q{j}": draw(st.lists(values, min_size=n, max_size=n)) for j in range(d)}
    columns["s"] = draw(st.lists(st.sampled_from("xyz"), min_size=n, max_size=n))
    m = ap.Microdata(pd.DataFrame(columns), [f"q{j}" for j in range(d)], "s")
    return m, draw(st.integers(2, min(5, n)))


@settings(max_examples=150)
@given(tables(), st.integers(0, 5))
def test_k_member_takes_the_choices_of_the_row_by_row_algorithm(case, seed):
    m, k = case
    p = ap.k_member(m, k, seed)
    expected = k_member_rows(m.codes, k, first=int(generator(seed).integers(m.n)))

    # Copies of a tuple are interchangeable: clusters are compared by the tuples in them.
    def tuples(groups):
        return [sorted(map(tuple, m.codes[list(rows)])) for rows in groups]

    assert tuples(p.groups()) == tuples(expected)


@settings(max_examples=100)
@given(tables())
def test_k_member_and_oka_make_floor_n_over_k_clusters_of_at_least_k(case):
    m, k = case
    for p in (ap.k_member(m, k), ap.oka(m, k)):
        assert p.n_groups == m.n // k and p.sizes().min() >= k and p.sizes().sum() == m.n
    assert (ap.k_member(m, k).sizes() == k).sum() >= m.n // k - m.n % k


@settings(max_examples=100)
@given(tables(max_rows=40, numbers=True))
def test_parts_of_mondrian_are_as_small_as_its_paper_says(case):
    m, k = case
    sizes = ap.mondrian(m, k).sizes()
    assert k <= sizes.min() and sizes.max() <= 2 * m.d * (k - 1) + m.cells.tuple_sizes.max()


@settings(max_examples=150)
@given(tables(max_rows=40), st.sampled_from(["frequency", "distinct"]))
def test_mondrian_is_l_diverse_or_says_that_the_table_cannot_be(case, diversity):
    m, k = case
    principle = {"frequency": ap.FrequencyLDiversity(2), "distinct": ap.DistinctLDiversity(2)}
    one_group = np.zeros(m.n, int)
    if not principle[diversity].holds(m, one_group):
        with pytest.raises(errors.InfeasibleError):
            ap.mondrian(m, k, 2, diversity=diversity)
        return
    p = ap.mondrian(m, k, 2, diversity=diversity)
    assert principle[diversity].holds(m, p.labels) and p.sizes().min() >= k


def test_a_wide_sparse_attribute_is_cut_like_any_other():
    rng = np.random.default_rng(0)
    m = ap.Microdata(pd.DataFrame({"a": rng.choice(100_000, 300, replace=False)}), ["a"])
    p = ap.mondrian(m, 5)
    expected = strict_mondrian_rows(m, lambda rows: len(rows) >= 5)
    assert sorted(rows.tolist() for rows in p.groups()) == sorted(expected)
