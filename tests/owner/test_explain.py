"""Why a row looks as it does: against pandas, and for recodings against the lattice."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper import errors

QI = ["age", "zip", "sex"]


def table(seed, rows=40):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 40, rows),
            "zip": rng.choice(["02139", "02446", "02467", "10001"], rows),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(list("abc"), rows),
        }
    )
    return ap.Microdata(frame, QI, "ill")


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(2, 8))
def test_every_finer_neighbour_of_a_full_domain_recoding_fails_as_it_says(seed, k):
    m = table(seed)
    trees = {
        "age": ap.Hierarchy.intervals(m.attribute("age"), [5, 10]),
        "zip": ap.Hierarchy.prefixes(m.attribute("zip")),
        "sex": ap.Hierarchy.flat(["f", "m"]),
    }
    r = ap.full_domain(m, k, trees)
    rel = ap.recode(m, r)
    why = rel.explain(0)
    assert why.promised == (ap.KAnonymity(k),)
    assert why.rows == (rel.frame[QI] == rel.frame.loc[0, QI]).all(axis=1).sum()
    for entry in why.attributes.to_dict("records"):
        level = r.info["levels"][entry["attribute"]]
        if not level:
            assert entry["finer"] == entry["breaks"] == ""
            continue
        below = r.info["levels"] | {entry["attribute"]: level - 1}
        neighbour = ap.recode(m, ap.Recoding.from_levels(m.attributes, trees, below)).frame
        sizes = neighbour.groupby(QI, sort=False).size()
        failing = sizes[sizes < k]
        assert len(failing)  # else it would be the optimum
        assert entry["finer"].startswith(f"level {level - 1} in the whole column")
        assert f"in {len(failing):,} groups of {failing.sum():,} rows" in entry["breaks"]
        assert f"the smallest ({failing.min()})" in entry["breaks"]


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(0, 39))
def test_of_a_group_it_names_what_differs_and_what_the_values_would_break(seed, row):
    m = table(seed)
    rel = ap.suppress(m, ap.mondrian(m, k=4))
    why = rel.explain(row, require=[ap.KAnonymity(3)])
    labels = rel.classes.labels
    group = m.frame[labels == labels[row]]
    assert why.rows == len(group)
    assert why.sensitive == {"ill": group["ill"].value_counts().to_dict()}
    for name, entry in why.attributes.set_index("attribute").iterrows():
        others = group[name][group[name] != m.frame.at[row, name]].value_counts()
        first = f"{others.index[0]} ({others.iloc[0]})" if len(others) else ""
        assert entry["in the way"].count("(") == min(len(others), 5)
        assert {int(n) for n in [first[first.find("(") + 1 : -1]] if n} <= set(others)
        parts = group.groupby(name).size()
        failing = parts[parts < 3]
        if entry["published"] == "*":
            expected = (
                f"in {len(failing)} groups of {failing.sum()} rows"
                if len(failing)
                else "no promise"
            )
            assert expected in entry["breaks"]
        else:
            assert entry["breaks"] == ""
    printed = str(why)
    assert "for the owner of the table: do not pass it on" in printed
    assert "KAnonymity(k=3)" in printed and "<table" in why._repr_html_()


def test_trees_of_tds_are_gone_down_in_the_sub_domain():
    m = table(1)
    tree = ap.Hierarchy.prefixes(m.attribute("zip"), keep=[3, 1])
    rel = ap.recode(m, ap.tds(m, 2, hierarchies={"zip": tree}))
    for row in m.frame.index:
        entry = rel.explain(row).attributes.set_index("attribute").loc["zip"]
        if str(entry["published"]).endswith("*"):
            assert "in this sub-domain" in entry["finer"]


def test_rows_withheld_unknown_or_of_no_promise():
    m = table(2)
    p = ap.Partition(np.where(np.arange(40) < 30, 0, -1))
    why = ap.suppress(m, p).explain(35)
    assert why.rows == 0 and "withheld" in str(why) and len(why.attributes) == 0
    assert ap.suppress(m, p).explain(3).promised == (ap.KAnonymity(30),)
    rel = ap.suppress(m, p)
    for row in (99, "nobody", None, [1], ap, float("nan")):
        with pytest.raises(errors.ColumnError, match="0 rows of the table have the index label"):
            rel.explain(row)
    twice = m.replace(frame=m.frame.set_axis([0] * 40))
    with pytest.raises(errors.ColumnError, match="40 rows"):
        ap.suppress(twice, p).explain(0)
    with pytest.raises(errors.ParameterError, match="require"):
        rel.explain(3, require=3)
