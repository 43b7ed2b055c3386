"""swap and anatomize: what stays, what is permuted, what the two tables say."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap


@pytest.fixture(scope="module")
def adult():
    return ap.load("adult")


@pytest.fixture(scope="module")
def groups(adult):
    return ap.klt(adult, seed=0)


def test_swap_keeps_schema_index_and_quasi_identifiers(adult, groups):
    published = ap.swap(adult, groups, seed=1).frame
    roles = [column for column in adult.frame.columns if column in [*adult.qi, "occupation"]]
    original = adult.frame[roles]
    assert list(published.columns) == roles
    assert published.index.equals(original.index)
    pd.testing.assert_frame_equal(published[adult.qi], original[adult.qi])
    assert published["occupation"].dtype == original["occupation"].dtype
    counts = [frame["occupation"].value_counts(dropna=False) for frame in (published, original)]
    pd.testing.assert_series_equal(*counts)
    assert original["occupation"].isna().sum() == 1_843


def test_all_permutations_of_a_group_are_equally_likely():
    m = ap.Microdata(pd.DataFrame({"q": [1, 2, 3], "s": list("abc")}), ["q"], "s")
    p = ap.Partition([0, 0, 0])
    rng = np.random.default_rng(0)
    seen = ["".join(ap.swap(m, p, rng).frame["s"]) for _ in range(3000)]
    counts = pd.Series(seen).value_counts()
    assert len(counts) == 6
    # 500 expected, standard deviation 20.4
    assert counts.between(400, 600).all()


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_rows_withheld_are_not_published(rows):
    labels, values = map(list, zip(*rows, strict=True))
    present = sorted(set(labels) - {-1})
    labels = [present.index(label) if label >= 0 else -1 for label in labels]
    frame = pd.DataFrame(
        {"q": range(len(rows)), "s": values}, index=[f"r{i}" for i in range(len(rows))]
    )
    m, p = ap.Microdata(frame, ["q"], "s"), ap.Partition(labels)
    kept = frame[np.array(labels) >= 0]
    published = ap.swap(m, p, seed=0).frame
    assert published.index.equals(kept.index) and published["q"].equals(kept["q"])
    assert sorted(published["s"]) == sorted(kept["s"])
    anatomy = ap.anatomize(m, p)
    assert anatomy.qit.index.equals(kept.index)
    assert anatomy.st["count"].sum() == len(kept)


def test_anatomy_joins_to_the_groups(adult, groups):
    anatomy = ap.anatomize(adult, groups)
    assert list(anatomy.qit.columns) == ["age", "education", "race", "sex", "group"]
    counts = anatomy.qit["group"].map(anatomy.st.groupby("group")["count"].sum())
    assert counts.tolist() == groups.sizes()[groups.labels].tolist()
    table = anatomy.st.pivot(index="group", columns="occupation", values="count").fillna(0)
    expected = pd.crosstab(groups.labels, adult.frame["occupation"].astype(object).fillna("?"))
    assert np.array_equal(table[expected.columns].to_numpy(), expected.to_numpy())
    assert anatomy.audit().set_index("principle").loc["theta", "level"] <= 0.3 + 1e-12
