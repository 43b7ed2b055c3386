import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import grouped_tables

import anonpaper as ap


def random_recoding(m, draw):
    maps = []
    for a in m.attributes:
        ids = draw(st.lists(st.integers(0, 2), min_size=a.size, max_size=a.size))
        maps.append([sorted(set(ids)).index(i) for i in ids])
    return ap.Recoding(m.attributes, maps)


@settings(max_examples=50)
@given(grouped_tables())
def test_suppression_stars_exactly_where_a_group_differs(grouped):
    m, p = grouped
    rel = ap.suppress(m, p)
    stars = suppressed = 0
    for rows in p.groups():
        members = m.frame.iloc[rows]
        differing = [name for name in m.qi if members[name].nunique() > 1]
        stars += len(rows) * len(differing)
        suppressed += len(rows) * bool(differing)
        for row in members.index:
            for name in m.qi:
                expected = "*" if name in differing else members.loc[row, name]
                assert rel.frame.loc[row, name] == expected
            assert rel.frame.loc[row, "s"] == m.frame.loc[row, "s"]
    assert rel.frame.columns.tolist() == m.frame.columns.tolist()
    assert rel.frame.index.tolist() == m.frame.index[p.labels >= 0].tolist()
    assert ap.measure.stars(rel) == stars + p.n_unpublished * m.d
    assert ap.measure.suppressed_rows(rel) == suppressed + p.n_unpublished


def brute_force_kl(rel):
    """Equation 2 over the whole domain, point by point."""
    m = rel.microdata
    f, f_star = {}, {}
    domain = itertools.product(*(range(a.size) for a in m.attributes))
    shown = np.flatnonzero(rel.is_published)
    for point in domain:
        for v in range(m.sensitive_attribute.size):
            same = (m.codes == point).all(axis=1) & (m.sensitive_codes == v)
            f[point, v] = same.sum() / m.n
            f_star[point, v] = 0.0
            for i in shown:
                entry = rel.entries.of_row[i]
                sets = [p.sub_domains.members(p.index[entry]) for p in rel.published]
                if m.sensitive_codes[i] == v and all(
                    c in held for held, c in zip(sets, point, strict=True)
                ):
                    f_star[point, v] += 1 / math.prod(map(len, sets)) / m.n
    assert sum(f_star.values()) == pytest.approx(len(shown) / m.n)
    if any(f[x] > 0 and f_star[x] == 0 for x in f):
        return math.inf
    return sum(f[x] * math.log(f[x] / f_star[x]) for x in f if f[x] > 0)


@settings(max_examples=25)
@given(grouped_tables(max_rows=12), st.data())
def test_kl_divergence_is_equation_2(grouped, data):
    m, p = grouped
    releases = [ap.suppress(m, p), ap.generalize(m, p)]
    releases.append(ap.recode(m, random_recoding(m, data.draw)))
    for rel in releases:
        assert ap.measure.kl_divergence(rel) == pytest.approx(brute_force_kl(rel), abs=1e-9)


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


@settings(max_examples=60)
@given(grouped_tables())
def test_rows_withheld_are_not_published(grouped):
    m, p = grouped
    kept = m.frame[p.labels >= 0]
    swapped, anatomy = ap.swap(m, p, seed=0).frame, ap.anatomize(m, p)
    assert swapped.index.equals(kept.index) and swapped[m.qi].equals(kept[m.qi])
    assert sorted(swapped["s"]) == sorted(kept["s"])
    assert anatomy.qit.index.equals(kept.index) and anatomy.st["count"].sum() == len(kept)
