"""Cleaning, imbalance, pattern-friendly quasi-identifiers, chromosomes and intervals."""

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper.repair import clean, find_imbalance, pattern_friendly


@given(st.lists(st.integers(1, 30), min_size=2, max_size=5), st.sampled_from([0.0, 0.2, 0.5]))
def test_added_rows_balance_the_table(counts, threshold):
    values = np.repeat(np.arange(len(counts)), counts)
    nobody = {"s": [*range(len(counts) + 1)]}  # a value that no row has
    m = ap.Microdata(pd.DataFrame({"q": 0, "s": values}), ["q"], "s", domains=nobody)
    found = find_imbalance(m, threshold)
    needed = [counts[v] + found.needed.get(v, 0) for v in range(len(counts))]
    assert set(needed) == {max(counts)}
    rare = {v for v, c in enumerate(counts) if max(counts) - c > threshold * m.n}
    assert set(found.values[found.is_rare]) == rare
    assert found.vulnerable == bool(rare)


def test_cleaning_keeps_every_row_and_the_account_adds_up():
    ages, ills = [30, 41, 150], [0, 1, 0]
    frame = pd.DataFrame({"name": list("ABC"), "age": ages, "job": ["a", None, "a"], "ill": ills})
    cleaned, account = clean(frame, ["age", "job"], "ill")
    assert cleaned.to_dict("list") == {"age": ages, "job": ["a", "?", "a"], "ill": ills}
    assert account.set_index("step").T.to_dict("list") == {
        "attribute arrangement": [3, 4, 0, 0, 0], "NSA and EI removal": [3, 3, 0, 0, 1],
        "outlier removal": [3, 3, 0, 0, 0], "missing values": [3, 3, 1, 0, 0],
        "attribute type checks": [3, 3, 0, 0, 0], "value formatting": [3, 3, 0, 0, 0],
    }  # fmt: skip


def planted(seed=0, n=900):
    """`cause` decides the sensitive value, `common` is mostly one value, `even` is noise."""
    rng = np.random.default_rng(seed)
    cause = rng.choice(list("ab"), n, p=[0.7, 0.3])
    frame = pd.DataFrame({
        "cause": cause, "common": rng.choice(list("xy"), n, p=[0.9, 0.1]),
        "even": rng.choice(list("pqr"), n), "age": np.where(rng.random(n) < 0.8, 40, 50),
        "ill": np.where(rng.random(n) < 0.9, cause == "a", cause != "a").astype(int),
    })  # fmt: skip
    return ap.Microdata(frame, ["cause", "common", "even", "age"], "ill")


def test_a_common_value_on_which_nothing_depends_is_pattern_friendly():
    found = pattern_friendly(planted(), trees=10).set_index("qid")
    # `cause` is common but telling, `even` is not common, `age` is ordered
    assert found.index[found["friendly"]].tolist() == ["common"]
    assert found["weight"].idxmax() == "cause"
    assert found["weight"].sum() == pytest.approx(1)
    again = pattern_friendly(planted(), trees=10).set_index("qid")
    pd.testing.assert_frame_equal(found, again)


def test_neighbours_are_joined_exactly_where_the_bit_is_zero():
    frame = pd.DataFrame({f"q{s}": pd.Categorical.from_codes([0], range(s)) for s in (3, 1, 4)})
    attributes = ap.Microdata(frame, list(frame)).attributes
    for bits in product("01", repeat=5):
        r = ap.Recoding.decode(attributes, "".join(bits))
        assert ap.Recoding.decode(attributes, [*map(int, bits)]) == r
        apart = [left != right for ids in r.maps for left, right in pairwise(ids)]
        assert apart == [bit == "1" for bit in bits]


def test_every_row_lies_in_its_interval_and_joined_ones_are_written_as_one():
    values = [17, 20, 24.5, 25, 90]
    m = ap.granularize(ap.Microdata(pd.DataFrame({"age": values}), ["age"]), {"age": 5})
    age = m.attributes[0]
    for value, code in zip(values, m.codes[:, 0], strict=True):
        assert age.values[code].left <= value < age.values[code].right
    assert age.values[0].left == 15 and age.values[-1].right == 95
    rel = ap.recode(m, ap.Recoding.decode(m.attributes, "1" + "0" * 14))
    assert rel.frame["age"].astype(str).tolist() == ["[15, 20)"] + ["[20, 95)"] * 4


def test_preorder_keeps_the_rows_and_puts_missing_values_last():
    frame = pd.DataFrame({"work": ["none", "federal", None, "local"]})
    m = ap.Microdata(frame, ["work"], missing="category")
    tree = ap.Hierarchy([["federal", "state"], ["none", "other"], ["local", "state"]])
    ordered = ap.in_preorder(m, {"work": tree})
    assert ordered.attributes[0].values.tolist() == ["federal", "local", "none", "?"]
    before = m.attributes[0].values[m.codes[:, 0]].tolist()
    assert ordered.attributes[0].values[ordered.codes[:, 0]].tolist() == before
