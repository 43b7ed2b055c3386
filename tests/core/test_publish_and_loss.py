import numpy as np
import pandas as pd
import pytest

import anonpaper as ap


def test_a_recoding_publishes_intervals_and_sets():
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "city": list("abca")})
    m = ap.Microdata(frame, ["age", "city"])
    rel = ap.recode(m, ap.Recoding(m.attributes, [[0, 0, 0, 1], [0, 1, 0]]))
    assert rel.frame["age"].tolist() == ["[20 - 40]"] * 3 + [50]
    assert rel.frame["city"].tolist() == ["{a, c}", "b", "{a, c}", "{a, c}"]
    assert ap.measure.ncp(rel, {"age": 1, "city": 0}) == pytest.approx(3 * 20 / 30)
    assert ap.measure.ncp(rel, {"age": 0, "city": 1}) == pytest.approx(3 * 1 / 2)
    assert rel.partition.sizes().tolist() == rel.classes.sizes().tolist()
    assert rel.audit()["principle"].tolist() == ["k-anonymity"]


@pytest.mark.parametrize("dtype", ["string", "object", "category", "Int64", "float", "bool"])
def test_columns_without_stars_keep_their_type(dtype):
    values = [0, 1, 0, 1] if dtype in ("Int64", "float", "bool") else list("abab")
    frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype), "y": [1, 1, 2, 2]})
    m = ap.Microdata(frame, ["x"], "y")
    whole = ap.Partition(m.cells.tuple_of_row)
    for rel in (ap.suppress(m, whole), ap.generalize(m, whole)):
        pd.testing.assert_frame_equal(rel.frame, frame)
    starred = ap.suppress(m, ap.Partition([0, 0, 0, 0])).frame
    assert starred["x"].tolist() == ["*"] * 4 and starred["y"].dtype == frame["y"].dtype


def test_all_permutations_of_a_group_are_equally_likely():
    m = ap.Microdata(pd.DataFrame({"q": [1, 2, 3], "s": list("abc")}), ["q"], "s")
    p = ap.Partition([0, 0, 0])
    rng = np.random.default_rng(0)
    seen = ["".join(ap.swap(m, p, rng).frame["s"]) for _ in range(3000)]
    counts = pd.Series(seen).value_counts()
    assert len(counts) == 6
    # 500 expected, standard deviation 20.4
    assert counts.between(400, 600).all()
