import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees import preference as referee
from referees.tables import adult_in_intervals, tables

import anonpaper as ap
from anonpaper import errors
from anonpaper.recoders.branch_and_bound import MOST_VALUES, TOLERANCE


@pytest.fixture(scope="module")
def adult():
    return adult_in_intervals()


PREFERENCES = st.tuples(st.floats(0, 1), st.floats(0, 1))


@st.composite
def problems(draw, preferences=PREFERENCES):
    m = draw(tables(min_rows=4, max_rows=40, max_qi=3, max_values=4))
    weights = None
    if draw(st.booleans()):
        share = draw(st.lists(st.integers(0, 3), min_size=m.d, max_size=m.d).filter(any))
        weights = dict(zip(m.qi, (np.array(share) / sum(share)).tolist(), strict=True))
    return m, draw(st.integers(1, min(m.n, 6))), draw(preferences), weights


@settings(max_examples=300)
@given(problems())
def test_the_optimum_is_that_of_exhaustive_search(case):
    m, k, preference, weights = case
    r, least = (f(m, k, preference, weights) for f in (ap.branch_and_bound, ap.exhaustive))
    assert r.info["optimal"] and r.info["effective_k"] >= k
    assert r.info["ach"] == pytest.approx(least.info["ach"], rel=0, abs=2 * TOLERANCE)
    assert least.info["ach"] - 2 * TOLERANCE <= r.info["lower_bound"] <= least.info["ach"]


@settings(max_examples=100)
@given(problems(st.just((0.2, 1.0))), st.integers(1, 6))
def test_a_search_given_up_says_what_holds_of_all_recodings(case, nodes):
    """By plain loops over all recodings, which know nothing of the package's evaluation."""
    m, k, preference, _ = case
    info = ap.branch_and_bound(m, k, preference, nodes=nodes).info
    rows, sizes = m.codes.tolist(), [a.size for a in m.attributes]
    for bits in itertools.product([0, 1], repeat=sum(sizes) - m.d):
        if min(referee.class_sizes(rows, sizes, bits)) >= k:
            loss = referee.nwp(rows, sizes, bits, [1 / m.d] * m.d)
            ach = referee.ach(loss, referee.necd(rows, sizes, bits), preference)
            assert ach >= info["lower_bound"] - 1e-15
            assert not info["optimal"] or ach >= info["ach"] - 2 * TOLERANCE
    assert info["nodes"] <= nodes
    assert info["lower_bound"] <= info["ach"]


@pytest.mark.parametrize(("attributes", "k"), [
    (["workclass", "marital-status", "race", "sex", "salary-class"], 5),
    (["occupation", "race", "sex"], 50),
])  # fmt: skip
def test_people_too(adult, attributes, k):
    m = adult.with_roles(qi=attributes)
    r, least = ap.branch_and_bound(m, k), ap.exhaustive(m, k)
    assert r.info["optimal"] and r.info["evaluations"] < 5_000
    assert r.info["ach"] == pytest.approx(least.info["ach"], rel=0, abs=2 * TOLERANCE)


SIX = ["age", "education", "race", "sex", "marital-status", "native-country"]


def test_a_proof_repeated_in_integers_by_other_code(adult):
    """40 bits, too many for exhaustive search."""
    m = adult.with_roles(qi=["age", "education", "race", "sex"])
    r = ap.branch_and_bound(m, 50)
    rel = ap.recode(m, r)
    assert r.info["optimal"] and ap.measure.effective_k(rel) >= 50
    assert r.info["nwp"] == pytest.approx(ap.measure.nwp(rel))
    rows, sizes = m.codes, [a.size for a in m.attributes]
    loss = referee.loss_in_integers(rows, sizes, r.encode().tolist())
    assert referee.none_loses_less(rows, sizes, 50, loss)
    assert not referee.none_loses_less(rows, sizes, 50, loss + 1)


def test_longer_searches_know_more(adult):
    m = adult.with_roles(qi=SIX)
    found = [ap.branch_and_bound(m, nodes=nodes).info for nodes in (1, 50, 200, 100_000)]
    bounds, best = ([info[name] for info in found] for name in ("lower_bound", "ach"))
    assert bounds == sorted(bounds) and best == sorted(best, reverse=True)
    assert [info["optimal"] for info in found] == [False, False, False, True]
    assert bounds[0] < bounds[-1] and best[-1] - bounds[-1] <= 2 * TOLERANCE
    assert found[1]["nodes"] == 50


def test_the_same_table_has_the_same_search(adult):
    m = adult.with_roles(qi=SIX)
    first, again = (ap.branch_and_bound(m, 10, nodes=60) for _ in range(2))
    assert first == again and first.info == again.info


def test_what_cannot_be_searched_is_refused():
    m = ap.examples.hospital()
    with pytest.raises(errors.ParameterError, match="nodes must"):
        ap.branch_and_bound(m, 2, nodes=0)
    with pytest.raises(errors.ParameterError, match="k must"):
        ap.branch_and_bound(m, 11)
    wide = ap.Microdata(pd.DataFrame({"zip": range(MOST_VALUES + 1)}), ["zip"])
    with pytest.raises(errors.SizeLimitError, match="1,001 values, more than 1,000"):
        ap.branch_and_bound(wide, 2)
