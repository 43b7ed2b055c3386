"""Cleaning, imbalance, pattern-friendly quasi-identifiers, chromosomes and intervals."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper.repair import clean, find_imbalance, pattern_friendly


def with_counts(counts):
    values = np.repeat(np.arange(len(counts)), counts)
    return ap.Microdata(pd.DataFrame({"q": np.arange(len(values)), "s": values}), ["q"], "s")


@given(st.lists(st.integers(1, 30), min_size=2, max_size=5), st.sampled_from([0.0, 0.2, 0.5]))
def test_added_rows_balance_the_table(counts, threshold):
    m = with_counts(counts)
    found = find_imbalance(m, threshold)
    needed = [counts[v] + found.needed.get(v, 0) for v in range(len(counts))]
    assert set(needed) == {max(counts)}
    rare = {v for v, c in enumerate(counts) if max(counts) - c > threshold * m.n}
    assert set(found.values[found.is_rare]) == rare
    assert found.vulnerable == bool(rare)


FRAME = pd.DataFrame({
    "name": ["Ann", "Bob", "Cid", "Dan"], "age": [30.0, np.nan, 150.0, 30.0],
    "job": ["a", "b", None, "a"], "ill": [0, 1, 0, 0],
})  # fmt: skip
QI = ["age", "job"]


def test_the_account_adds_up():
    possible = FRAME[FRAME["age"] != 150]
    frame, account = clean(possible, QI, "ill", ranges={"age": (0, 120)}, missing="drop")
    # Bob has no age
    assert frame.index.tolist() == [0, 3] and frame.columns.tolist() == [*QI, "ill"]
    steps = account.set_index("step")
    assert steps["rows_removed"].to_dict() == {
        "attribute arrangement": 0, "NSA and EI removal": 0, "outlier removal": 0,
        "missing values": 1, "attribute type checks": 0, "value formatting": 0,
    }  # fmt: skip
    assert steps["rows"].tolist() == [3, 3, 3, 2, 2, 2]
    assert steps["columns"].tolist() == [4, 3, 3, 3, 3, 3]


def test_rows_go_only_when_asked():
    full = FRAME.assign(age=30)
    frame, account = clean(full, QI, "ill")
    assert frame["job"].tolist() == ["a", "b", "?", "a"]
    assert account["values_changed"].tolist() == [0, 0, 0, 1, 0, 0]
    assert account["rows_removed"].sum() == 0
    # a missing value is no outlier
    kept, _ = clean(FRAME, ["age"], "ill", ranges={"age": (0, 200)}, missing="drop")
    assert kept["age"].tolist() == [30, 150, 30]


def planted(seed=0, n=900):
    """`cause` decides the sensitive value, `common` is mostly one value, `even` is noise."""
    rng = np.random.default_rng(seed)
    cause = rng.choice(list("ab"), n, p=[0.7, 0.3])
    frame = pd.DataFrame({
        "cause": cause,
        "common": rng.choice(list("xy"), n, p=[0.9, 0.1]),
        "even": rng.choice(list("pqr"), n),
        "age": np.where(rng.random(n) < 0.8, 40, 50),
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


def test_preorder_keeps_the_rows_and_puts_missing_values_last():
    frame = pd.DataFrame({"work": ["none", "federal", None, "local"]})
    m = ap.Microdata(frame, ["work"], missing="category")
    tree = ap.Hierarchy([["federal", "state"], ["none", "other"], ["local", "state"]])
    ordered = ap.in_preorder(m, {"work": tree})
    assert ordered.attributes[0].values.tolist() == ["federal", "local", "none", "?"]
    before = m.attributes[0].values[m.codes[:, 0]].tolist()
    assert ordered.attributes[0].values[ordered.codes[:, 0]].tolist() == before
