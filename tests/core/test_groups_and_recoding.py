import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper import errors
from anonpaper.groups import dense_labels


@given(st.lists(st.integers(-1, 9), max_size=30))
def test_dense_labels_keep_order_and_groups(labels):
    dense = dense_labels(np.array(labels, dtype=int))
    used = sorted(set(labels) - {-1})
    assert dense.tolist() == [-1 if x < 0 else used.index(x) for x in labels]


def test_groups_and_sizes():
    p = ap.Partition([1, -1, 0, 1])
    assert p.n_groups == 2 and p.sizes().tolist() == [1, 2] and p.n_unpublished == 1
    assert [rows.tolist() for rows in p.groups()] == [[2], [0, 3]]
    assert ap.Partition([-1, -1]).groups() == []


@pytest.mark.parametrize("labels", [[0, 2], [-2, 0], [0.5, 1.0], [[0], [1]]])
def test_labels_with_gaps_or_of_wrong_type_are_refused(labels):
    with pytest.raises(errors.ParameterError):
        ap.Partition(labels)


AGES = pd.DataFrame({"age": [17, 23, 24, 41], "sex": list("fmfm")})


def test_recodings_divide_domains():
    m = ap.Microdata(AGES, ["age", "sex"])
    r = ap.Recoding(m.attributes, [[0, 1, 1, 2], [0, 0]])
    assert r.sub_domains("age") == [[17], [23, 24], [41]]
    assert r.members("sex").labels.tolist() == ["*"]
    assert r.sizes == (3, 1)
    assert r == ap.Recoding(m.attributes, [[0, 1, 1, 2], [0, 0]])
    assert r != ap.Recoding.identity(m.attributes)


@pytest.mark.parametrize("maps", [[[0, 1, 1], [0, 0]], [[0, 1, 1, 3], [0, 0]], [[0, 0, 0, 0]]])
def test_maps_that_fit_no_domain_are_refused(maps):
    m = ap.Microdata(AGES, ["age", "sex"])
    with pytest.raises(errors.ParameterError):
        ap.Recoding(m.attributes, maps)


def test_full_domain_recoding_by_levels():
    m = ap.Microdata(AGES, ["age", "sex"])
    hierarchy = ap.Hierarchy.intervals([17, 23, 24, 41], [10, 20])
    r = ap.Recoding.from_levels(m.attributes, {"age": hierarchy}, {"age": 1})
    assert r.sub_domains("age") == [[17], [23, 24], [41]]
    r = ap.Recoding.from_levels(m.attributes, {"age": hierarchy}, {"age": 3})
    assert r.sub_domains("age") == [[17, 23, 24, 41]]
    with pytest.raises(errors.ParameterError, match="height"):
        ap.Recoding.from_levels(m.attributes, {"age": hierarchy}, {"height": 1})


def test_a_hierarchy_survives_the_csv_format(tmp_path):
    hierarchy = ap.Hierarchy.balanced(list("abcdefg"), fan_out=2)
    assert hierarchy.height == 3
    assert hierarchy.names(2) == ["{a, b, c, d}", "{e, f, g}"]
    hierarchy.to_csv(tmp_path / "h.csv")
    assert (tmp_path / "h.csv").read_text().splitlines()[0] == "a;{a, b};{a, b, c, d};*"
    assert ap.Hierarchy.from_csv(tmp_path / "h.csv").rows == hierarchy.rows


def test_what_is_wrong_with_a_hierarchy_is_named():
    with pytest.raises(errors.HierarchyError, match="same number of levels"):
        ap.Hierarchy([["a", "x", "*"], ["b", "*"]])
    with pytest.raises(errors.HierarchyError, match="twice"):
        ap.Hierarchy([["a", "*"], ["a", "*"]])
    with pytest.raises(errors.HierarchyError, match="belongs to both"):
        ap.Hierarchy([["a", "x", "y"], ["b", "x", "z"]])
    with pytest.raises(errors.HierarchyError):
        ap.Hierarchy([])
    m = ap.Microdata(AGES, ["sex"])
    with pytest.raises(errors.HierarchyError, match="'m'"):
        ap.Hierarchy.flat(["f"]).map_at(m.attributes[0], 1)
    with pytest.raises(errors.HierarchyError, match="'x'"):
        ap.Hierarchy.flat(["f"]).generalize("x", 1)


def zip_table():
    zips = ["02138", "02139", "02141", "02142", "10001"]
    m = ap.Microdata(pd.DataFrame({"zip": zips * 2, "s": [0] * 5 + [1] * 5}), ["zip"], "s")
    rows = [[code, code[:4] + "*", code[:3] + "**", "*"] for code in zips]
    return m, ap.Hierarchy(rows)


def test_a_recoding_by_levels_publishes_the_names_of_its_tree():
    m, tree = zip_table()
    published = {
        level: ap.recode(m, ap.Recoding.from_levels(m.attributes, {"zip": tree}, {"zip": level}))
        for level in range(4)
    }
    for level, rel in published.items():
        expected = [tree.generalize(code, level) for code in m.frame["zip"]]
        assert rel.frame["zip"].tolist() == expected
    # a prefix of a single code is no less a prefix
    assert published[2].frame["zip"].iloc[4] == "100**"
    assert ap.measure.generalizations(published[2]) == m.n
    assert ap.measure.generalizations(published[0]) == 0


def test_searches_publish_the_names_of_the_trees_they_are_given():
    m, tree = zip_table()
    found = ap.full_domain(m, k=4, hierarchies={"zip": tree})
    assert ap.recode(m, found).frame["zip"].tolist() == ["*"] * 10
    five = m.take(np.r_[0:4, 5:9])
    assert set(
        ap.recode(five, ap.full_domain(five, k=4, hierarchies={"zip": tree})).frame["zip"]
    ) == {"0213*", "0214*"}
    # a code has one secret, so that only prefixes are diverse
    diverse = ap.Microdata(m.frame.assign(s=[0, 1, 0, 1, 0, 0, 1, 0, 1, 1]), ["zip"], "s")
    shown = ap.recode(diverse, ap.tds(diverse, 2, hierarchies={"zip": tree})).frame["zip"]
    assert shown.tolist() == ["0213*", "0213*", "0214*", "0214*", "100**"] * 2
    # a tree of the search's own gives no names
    assert ap.recode(m, ap.full_domain(m, k=10)).frame["zip"].tolist() == ["*"] * 10


def test_names_are_one_for_each_sub_domain_and_all_different():
    m, _ = zip_table()
    for names in (["a"], ["a", "a"]):
        with pytest.raises(errors.ParameterError, match="different names"):
            ap.Recoding(m.attributes, [[0, 0, 0, 1, 1]], names=[np.array(names, dtype=object)])
