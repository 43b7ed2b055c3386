"""Chromosomes, intervals of equal width, and the preorder of taxonomies."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper import errors


@st.composite
def attributes_and_bits(draw):
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    frame = pd.DataFrame(
        {
            f"q{j}": pd.Categorical.from_codes([0], list(range(size)))
            for j, size in enumerate(sizes)
        }
    )
    n_bits = sum(sizes) - len(sizes)
    bits = draw(st.lists(st.integers(0, 1), min_size=n_bits, max_size=n_bits))
    return ap.Microdata(frame, list(frame)).attributes, bits


@settings(max_examples=100)
@given(attributes_and_bits())
def test_neighbours_are_joined_exactly_where_the_bit_is_zero(case):
    attributes, bits = case
    r = ap.Recoding.decode(attributes, bits)
    assert ap.Recoding.decode(attributes, "".join(map(str, bits))) == r
    bits = iter(bits)
    for ids in r.maps:
        for left, right in zip(ids[:-1], ids[1:], strict=True):
            assert (left == right) == (next(bits) == 0)


def test_every_row_lies_in_its_interval_and_joined_ones_are_written_as_one():
    values = [17, 20, 24.5, 25, 90]
    m = ap.granularize(ap.Microdata(pd.DataFrame({"age": values}), ["age"]), {"age": 5})
    age = m.attributes[0]
    for value, code in zip(values, m.codes[:, 0], strict=True):
        assert age.values[code].left <= value < age.values[code].right
    assert age.values[0].left == 15 and age.values[-1].right == 95
    rel = ap.recode(m, ap.Recoding.decode(m.attributes, "1" + "0" * 14))
    assert rel.frame["age"].astype(str).tolist() == ["[15, 20)"] + ["[20, 95)"] * 4


def test_other_columns_keep_their_domains():
    frame = pd.DataFrame({"age": [1, 2, 9], "sex": list("fmf"), "ill": list("xyz")})
    m = ap.Microdata(frame, ["age", "sex"], "ill", domains={"sex": ["m", "f", "d"]})
    cut = ap.granularize(m.take([0, 2]), {"age": 5})
    assert cut.attribute("sex").values.tolist() == ["m", "f", "d"]
    assert cut.sensitive_attribute.values.tolist() == ["x", "y", "z"]
    assert cut.n == 2


def test_preorder_keeps_the_rows_and_puts_missing_values_last():
    frame = pd.DataFrame({"work": ["none", "federal", None, "local"]})
    m = ap.Microdata(frame, ["work"], missing="category")
    tree = ap.Hierarchy([["federal", "state"], ["none", "other"], ["local", "state"]])
    ordered = ap.in_preorder(m, {"work": tree})
    assert ordered.attributes[0].values.tolist() == ["federal", "local", "none", "?"]
    before = m.attributes[0].values[m.codes[:, 0]].tolist()
    assert ordered.attributes[0].values[ordered.codes[:, 0]].tolist() == before
    with pytest.raises(errors.HierarchyError, match="local"):
        ap.in_preorder(m, {"work": ap.Hierarchy.flat(["none", "federal"])})
    with pytest.raises(errors.ColumnError, match="job"):
        ap.in_preorder(m, {"job": ap.Hierarchy.flat(["none"])})
