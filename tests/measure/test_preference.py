import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees import preference as referee
from referees.tables import tables

import anonpaper as ap
from anonpaper.recoders.evaluation import Evaluator


@st.composite
def recoded_tables(draw):
    m = draw(tables(max_qi=4, max_values=5))
    n_bits = sum(a.size - 1 for a in m.attributes)
    bits = draw(st.lists(st.integers(0, 1), min_size=n_bits, max_size=n_bits))
    shares = draw(st.lists(st.integers(0, 5), min_size=m.d, max_size=m.d))
    weights = np.array([shares[0] + 1, *shares[1:]]) / (sum(shares) + 1)
    preference = (draw(st.floats(0, 1)), draw(st.floats(0, 1)))
    return m, bits, weights, preference


@settings(max_examples=150)
@given(recoded_tables())
def test_measures_and_the_compiled_evaluation_agree_with_plain_loops(case):
    m, bits, weights, preference = case
    rows, sizes = m.codes.tolist(), [a.size for a in m.attributes]
    rel = ap.recode(m, ap.Recoding.decode(m.attributes, bits))
    named = dict(zip(m.qi, weights, strict=True))
    loss = referee.nwp(rows, sizes, bits, weights)
    bias = referee.necd(rows, sizes, bits)
    assert ap.measure.nwp(rel, named) == pytest.approx(loss, abs=1e-12)
    assert ap.measure.necd(rel) == pytest.approx(bias, abs=1e-12)
    assert ap.measure.effective_k(rel) == min(referee.class_sizes(rows, sizes, bits))
    plain = referee.ach(referee.nwp(rows, sizes, bits, [1 / m.d] * m.d), bias, preference)
    assert ap.measure.ach(rel, preference) == pytest.approx(plain, rel=1e-9, abs=1e-12)
    found = Evaluator(m, named).evaluate(np.array([bits], bool))
    ec = referee.class_sizes(rows, sizes, bits)
    assert (found.smallest[0], found.largest[0]) == (min(ec), max(ec))
    assert [found.nwp[0], found.necd[0]] == pytest.approx([loss, bias], abs=1e-12)


def test_keys_beyond_64_bits_are_renumbered_without_error():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 40, (300, 14))  # 40^14 > 2^64
    codes[:, 2:12] = codes[:, :1]
    m = ap.Microdata(pd.DataFrame(codes, columns=list("abcdefghijklmn")), list("abcdefghijklmn"))
    bits = rng.random((6, sum(a.size - 1 for a in m.attributes))) < np.array(
        [[1.0], [0.9], [0.5], [0.1], [0.05], [0.0]]
    )
    found = Evaluator(m).evaluate(bits)
    for i, row in enumerate(bits):
        sizes = ap.recode(m, ap.Recoding.decode(m.attributes, row.astype(int))).classes.sizes()
        assert (found.smallest[i], found.largest[i]) == (sizes.min(), sizes.max())
