"""Branch and bound proves what exhaustive search and other code find."""

import itertools

import dewri2009
import dewri2009_optimum as optimum
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees import preference as referee
from referees.tables import tables

import anonpaper as ap

NEARLY_LOSS = (0.2, 1.0)


@st.composite
def problems(draw):
    m = draw(tables(min_rows=4, max_rows=40, max_qi=3, max_values=4))
    preference = draw(st.tuples(st.floats(0, 1), st.floats(0, 1)))
    return m, draw(st.integers(1, min(m.n, 6))), preference


@settings(max_examples=200)
@given(problems())
def test_the_optimum_is_that_of_exhaustive_search(case):
    m, k, preference = case
    row, least = optimum.certified(m, k, preference, 100_000), ap.exhaustive(m, k, preference)
    assert row["optimal"] and row["effective_k"] >= k
    assert row["ach"] == pytest.approx(least.info["ach"], rel=0, abs=2 * optimum.TOLERANCE)
    assert least.info["ach"] - 2 * optimum.TOLERANCE <= row["lower bound"] <= least.info["ach"]
    r = ap.Recoding.decode(m.attributes, [border == "|" for border in row["borders"]])
    assert ap.measure.ach(ap.recode(m, r), preference) == pytest.approx(row["ach"])


@settings(max_examples=60)
@given(problems(), st.integers(1, 6))
def test_a_search_given_up_says_what_holds_of_all_recodings(case, nodes):
    """By plain loops over all recodings, which know nothing of the package's evaluation."""
    m, k, _ = case
    row = optimum.certified(m, k, NEARLY_LOSS, nodes)
    rows, sizes = m.codes.tolist(), [a.size for a in m.attributes]
    for bits in itertools.product([0, 1], repeat=sum(sizes) - m.d):
        if min(referee.class_sizes(rows, sizes, bits)) >= k:
            loss = referee.nwp(rows, sizes, bits, [1 / m.d] * m.d)
            ach = referee.ach(loss, referee.necd(rows, sizes, bits), NEARLY_LOSS)
            assert ach >= row["lower bound"] - 1e-15
            assert not row["optimal"] or ach >= row["ach"] - 2 * optimum.TOLERANCE
    assert row["nodes"] <= nodes and row["lower bound"] <= row["ach"]


def test_a_proof_repeated_in_integers_by_other_code():
    """40 bits, too many for exhaustive search."""
    m = dewri2009.adult().with_roles(qi=["age", "education", "race", "sex"])
    row = optimum.certified(m, 50, NEARLY_LOSS, 100_000)
    bits = [int(border == "|") for border in row["borders"]]
    rows, sizes = m.codes, [a.size for a in m.attributes]
    loss = referee.loss_in_integers(rows, sizes, bits)
    assert row["optimal"] and referee.none_loses_less(rows, sizes, 50, loss)
    assert not referee.none_loses_less(rows, sizes, 50, loss + 1)


def test_only_the_place_of_the_united_states_changes():
    m = dewri2009.adult().with_roles(qi=["sex", "native-country"])
    moved = dewri2009.with_us_at(m, 21)
    before, after = (list(one.attribute("native-country").values) for one in (m, moved))
    assert before.index("United-States") == 0 and after.index("United-States") == 20
    assert [v for v in after if v != "United-States"] == before[1:]
    assert (moved.frame.astype(str) == m.frame.astype(str)).all(axis=None)
    found = optimum.certified(m, 50, NEARLY_LOSS, 50, place=21)
    assert found == optimum.certified(moved, 50, NEARLY_LOSS, 50)
