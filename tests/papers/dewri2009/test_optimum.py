"""Branch and bound proves what exhaustive search finds."""

import itertools

import dewri2009
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees import preference as referee
from referees.tables import tables


@st.composite
def problems(draw):
    m = draw(tables(min_rows=4, max_rows=40, max_qi=3, max_values=4))
    return m, draw(st.integers(1, min(m.n, 6))), draw(st.tuples(st.floats(0, 1), st.floats(0, 1)))


@settings(max_examples=150)
@given(problems(), st.sampled_from([1, 2, 3, 5, 100_000]))
def test_what_is_proved_holds_of_all_recodings(case, nodes):
    """By plain loops over all recodings, which know nothing of the package's evaluation."""
    m, k, preference = case
    row = dewri2009.certified(m, k, preference, nodes)
    rows, sizes = m.codes.tolist(), [a.size for a in m.attributes]

    def ach(bits):
        loss = referee.nwp(rows, sizes, bits, [1 / m.d] * m.d)
        return referee.ach(loss, referee.necd(rows, sizes, bits), preference)

    every = itertools.product([0, 1], repeat=sum(sizes) - m.d)
    least = min(ach(bits) for bits in every if min(referee.class_sizes(rows, sizes, bits)) >= k)
    assert row["nodes"] <= nodes and row["effective_k"] >= k
    assert row["lower bound"] - 1e-15 <= least <= row["ach"] + 1e-15
    assert not row["optimal"] or row["ach"] - row["lower bound"] <= 2 * dewri2009.TOLERANCE
    assert row["optimal"] or nodes < 100_000
    assert ach([border == "|" for border in row["borders"]]) == pytest.approx(row["ach"])
