"""Evidence on another tool's rows equals that on the release which they were taken from."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import people

import anonpaper as ap
from anonpaper import errors


def table(seed=0, n=120):
    return people(seed, n, ["age", "zip", "sex"])


def levels(rel):
    found = ap.measure.attackers(rel)
    return found[["principle", "promised", "file", "concluded", "people"]]


@pytest.mark.parametrize("make", [
    lambda m: ap.generalize(m, ap.mondrian(m, 5, l=2)), lambda m: ap.suppress(m, ap.tp(m, l=2)),
    lambda m: ap.suppress(m, ap.klt(m, k=5, l=2, theta=0.6)), lambda m: ap.recode(m, ap.tds(m, 2)),
    lambda m: ap.recode(m, ap.full_domain(m, 4)),
    lambda m: ap.suppress(m, ap.Partition(np.r_[np.arange(m.n - 7) // 8, np.full(7, -1)])),
])  # fmt: skip
def test_rows_in_any_order_are_as_good_as_the_release(make):
    for seed in range(3):
        m = table(seed)
        rel = make(m)
        found = ap.audit(m, rel.public_frame(), rel.promised)
        pd.testing.assert_frame_equal(levels(found.release), levels(rel))
        own = ap.audit(m, rel)
        assert found.risk == own.risk
        assert found.utility == pytest.approx(own.utility, nan_ok=True)
        for text in ("promises", "attackers", "risk", "utility"):
            assert text in str(found)


@pytest.mark.parametrize("written", [
    "[{low}, {high})", "{low}-{last}", "[{low} - {last}]", "[{low};{last}]", "{low}..{last}",
])  # fmt: skip
def test_texts_of_other_tools(written):
    m = table()
    low = m.frame["age"] // 10 * 10
    texts = [written.format(low=a, high=a + 10, last=a + 9) for a in low]
    rows = m.frame.assign(age=texts, zip=m.frame["zip"].str[:3] + "**")
    found = ap.audit(m, rows.sample(frac=1, random_state=0).reset_index(drop=True))
    sizes = m.frame.groupby([low, m.frame["zip"].str[:3], "sex"]).size()
    assert found.promises["file"][0] == sizes.min()
    assert found.release.classes.n_groups == len(sizes)
    assert found.risk["marketer: links that are right"] == f"{len(sizes) / m.n:.2%}"


def test_bounds_names_of_hierarchies_and_missing_values():
    m = table()
    tree = {"sex": ap.Hierarchy([["f", "anybody", "*"], ["m", "anybody", "*"]])}
    young = m.frame["age"] < 40
    age = np.where(young, "<40", np.where(m.frame["age"] < 50, "[40 - 49]", "50+"))
    rows = m.frame.assign(age=age, zip=np.nan, sex="anybody")
    found = ap.audit(m, rows, hierarchies=tree)
    assert found.promises["file"][0] == pd.Series(age).value_counts().min()
    with pytest.raises(errors.ParameterError, match="'anybody' of 'sex' is not understood"):
        ap.audit(m, rows)


def test_who_is_withheld_is_counted_and_what_is_not_known_is_said():
    m = table()
    rel = ap.generalize(m, ap.mondrian(m, 5))
    rows = rel.public_frame()
    rows = rows[rows["ill"] != "a"]
    found = ap.audit(m, rows)
    assert found.utility["withheld"] == (m.frame["ill"] == "a").sum() > 0
    tried = found.attackers.set_index("attacker")
    assert tried.loc["is told the values of other withheld people", "sure"] == 1
    assert "not known" in tried.loc["repeats the method (minimality)", "note"]
    for _, row in tried.iterrows():
        assert math.isnan(row["sure"]) == (row["played"] == "no") and (row["note"] or row["sure"])
        assert row["played"] != "at most"


def test_every_attacker_is_tried_where_there_is_something_to_try(tmp_path):
    frame = table(n=24).frame
    frame.loc[:2, "ill"] = None
    m = ap.Microdata(
        frame, ["age", "sex"], "ill", missing="category", synthetic=np.arange(24) > 20
    )
    rel = ap.generalize(m, ap.mondrian(m, 4))
    found = ap.audit(m, rel)
    tried = found.attackers.set_index("attacker")["sure"]
    for who in ("counts the file", "takes missing values as unknown",
                "sees which rows are synthetic",
                "knows the secrets of 1 in the group"):  # fmt: skip
        assert 0 < tried[who] <= 1
    text = found.report(tmp_path / "page.html").read_text()
    assert "Attackers tried" in text
    m = ap.examples.hospital()
    seen = ap.audit(m, ap.generalize(m, ap.mondrian(m, k=2, l=2))).attackers
    repeats = seen.set_index("attacker").loc["repeats the method (minimality)"]
    assert (repeats["sure"], repeats["played"]) == (1, "exactly")


@pytest.mark.parametrize(("n", "make", "played", "note"), [
    (2_000, lambda m: ap.suppress(m, ap.tp(m, l=2)), "at least", "was not run on them"),
    (300, lambda m: ap.generalize(m, ap.mondrian(m, 5, l=2)), "no", "more than 26 tables"),
    (300, lambda m: ap.generalize(m, ap.hilbert(m, 2)), "no", "cannot be run again"),
    (8_001, lambda m: ap.generalize(m, ap.mondrian(m, 5, l=2)), "no", "up to 8,000 rows"),
    (300, lambda m: ap.generalize(m, ap.mondrian(m, 5)), "no", "looks at no sensitive value"),
])  # fmt: skip
def test_what_was_not_tried_of_repeating_the_method_is_said(n, make, played, note):
    m = table(n=n)
    tried = ap.audit(m, make(m)).attackers.set_index("attacker")
    row = tried.loc["repeats the method (minimality)"]
    assert row["played"] == played and note in row["note"]
    assert played == "no" or tried.loc["counts the file", "sure"] <= row["sure"] <= 1


def test_definettis_attack_is_measured_where_groups_are_shown():
    m = table(n=200)
    p = ap.mondrian(m, 5, l=2)
    for door in (ap.swap, ap.anatomize):
        row = ap.audit(m, door(m, p)).attackers.iloc[-1]
        assert row["played"] == "on average"
        assert row["sure"] == ap.measure.definetti(ap.anatomize(m, p))["learned"]
    assert ap.audit(m, ap.generalize(m, p)).attackers.iloc[-1]["note"].endswith("no groups")


def test_rows_that_are_nobodys_are_refused():
    m = table()
    rows = ap.generalize(m, ap.mondrian(m, 5)).public_frame()
    with pytest.raises(errors.ParameterError, match="of 120 rows fit nobody"):
        ap.audit(m, rows.assign(ill="a"))
    with pytest.raises(errors.ParameterError, match="'z' of 'ill' is not in the original table"):
        ap.audit(m, rows.assign(ill="z"))
    with pytest.raises(errors.ColumnError, match="lacks .'zip'"):
        ap.audit(m, rows.drop(columns="zip"))
    with pytest.raises(errors.ParameterError, match="no row"):
        ap.audit(m, rows[:0])
    with pytest.raises(errors.ParameterError, match="Release or a DataFrame"):
        ap.audit(m, "rows.csv")
    with pytest.raises(errors.ParameterError, match="another table"):
        ap.audit(table(1), ap.generalize(m, ap.mondrian(m, 5)))


TEXTS = st.text(st.sampled_from('ab,"{}[];\n *?-1'), min_size=1, max_size=5)


@settings(max_examples=150, deadline=None)
@given(st.data())
@pytest.mark.parametrize("publish", ["suppress", "generalize", "recode"])
def test_what_is_written_is_read_again(publish, tmp_path_factory, data):
    values = data.draw(st.lists(TEXTS, min_size=2, max_size=5, unique=True))
    q = data.draw(st.lists(st.sampled_from(values), min_size=6, max_size=12))
    frame = pd.DataFrame({"q": q, "s": (["a, b", "c"] * 6)[: len(q)]})
    m = ap.Microdata(frame, ["q"], "s")
    if publish == "recode" and "*" in q and len({*q}) > 1:  # the name of a hierarchy's root
        with pytest.raises(errors.HierarchyError, match="means two sets of values"):
            ap.full_domain(m, k=2)
        return
    made = ap.full_domain(m, k=2) if publish == "recode" else ap.mondrian(m, k=2)
    rel, folder = getattr(ap, publish)(m, made), tmp_path_factory.mktemp("out")
    for ending in ("csv", "parquet"):
        try:
            [path] = rel.write(folder / f"out.{ending}")
        except errors.ColumnError as error:
            assert "meanings" in str(error)
            return
        shown = (pd.read_parquet(path) if ending == "parquet"
                 else pd.read_csv(path, dtype=str, keep_default_na=False))  # fmt: skip
        found = ap.audit(m, shown, [ap.KAnonymity(2)]).promises
        assert found["people"][0] == 0
