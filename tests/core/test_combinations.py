"""Where two papers meet: every grouping x every publication x every mark, held by plain pandas.

Nothing here calls an audit or a measure to judge another: groups are those of the labels, classes
those of the published frame, and values are read as they are written.
"""

import numpy as np
import pandas as pd
import pytest
from referees.published import covers

import anonpaper as ap

SEXES, TOWNS, ILLS = ["f", "m"], ["north", "middle", "south", "west"], ["flu", "hiv", "ulcer"]
ORDER = {"town": TOWNS}  # an ordered categorical; "sex" has no order, "age" is a number
K, L = 3, 2

GROUPINGS = {
    "tp": lambda m: ap.tp(m, L),
    "tp_plus": lambda m: ap.tp_plus(m, L),
    "tp_refined": lambda m: ap.tp_refined(m, L, seed=1),
    "hilbert": lambda m: ap.hilbert(m, L),
    "mondrian": lambda m: ap.mondrian(m, K),
    "mondrian with l": lambda m: ap.mondrian(m, K, L),
    "mondrian with distinct l": lambda m: ap.mondrian(m, K, L, diversity="distinct"),
    "k_member": lambda m: ap.k_member(m, K, seed=1),
    "oka": lambda m: ap.oka(m, K, seed=1),
    "klt": lambda m: ap.klt(m, K, L, 0.7, seed=1),
    "diva": lambda m: ap.diva(m, CONSTRAINTS, K, seed=1),
    "diva with l": lambda m: ap.diva(m, CONSTRAINTS, K, l=L, seed=1),
    "balanced_classes": lambda m: ap.balanced_classes(m, K, L, seed=1),
}
CONSTRAINTS = [
    ap.DiversityConstraint({"sex": "f"}, 3, 12),
    ap.DiversityConstraint({"town": "west"}, 0, 4),
]
FREQUENT = {"tp", "tp_plus", "tp_refined", "hilbert", "mondrian with l", "diva with l"}
DISTINCT = FREQUENT | {"mondrian with distinct l", "klt", "balanced_classes"}
K_ANONYMOUS = set(GROUPINGS) - {"tp", "tp_plus", "tp_refined", "hilbert"}
RECODINGS = {
    "tds": lambda m: ap.tds(m, L),
    "full_domain": lambda m: ap.full_domain(m, K, l=L),
    "preference_search": lambda m: ap.preference_search(
        m, K, population=20, evaluations=400, seed=1
    ),
}
PUBLICATIONS = ["suppress", "generalize", "shallow_generalize", "swap", "anatomize"]
MARKS = ["none", "synthetic", "dropped", "synthetic and dropped", "taken"]


def people(rows=60):
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": rng.integers(20, 26, rows) * 10,
            "ill": rng.choice(ILLS, rows, p=[0.4, 0.3, 0.3]),
            "sex": rng.choice(SEXES, rows),
            "town": pd.Categorical(rng.choice(TOWNS, rows), TOWNS, ordered=True),
        },
        index=[f"row {i}" for i in range(rows)],
    )


def marked(mark):
    """A table with a mark, and the frame of the rows that it stands for."""
    frame = people()
    synthetic = np.zeros(len(frame), bool)
    if "synthetic" in mark:
        synthetic[[3, 4, 11, 12, 30, 31, 32, 59]] = True
    if "dropped" in mark:
        frame.loc[["row 5", "row 30", "row 44"], "sex"] = None
    m = ap.Microdata(frame, ["age", "sex", "town"], "ill", missing="drop", synthetic=synthetic)
    if mark == "taken":
        rows = np.r_[40:60, 0:30]
        return m.take(rows), frame.iloc[rows], synthetic[rows]
    whole = frame["sex"].notna().to_numpy()
    return m, frame[whole], synthetic[whole]


def trees(m):
    return {a.name: ap.Hierarchy.balanced(a.values) for a in m.attributes}


def publish(m, p, publication):
    if publication == "shallow_generalize":
        return ap.shallow_generalize(m, p, trees(m))
    if publication == "swap":
        return ap.swap(m, p, seed=1)
    if publication == "anatomize":
        try:
            return ap.anatomize(m, p)
        except ap.errors.ParameterError as error:  # tp tells who was removed
            if "shows which rows" not in str(error):
                raise
            return ap.anatomize(m, ap.Partition(p.labels))
    return getattr(ap, publication)(m, p)


def check_rows(frame, source, shown):
    """Every published row is of its own person: index, values within what is published."""
    assert frame.index.tolist() == source.index[shown].tolist()
    assert "name" not in frame.columns
    for name in ("age", "sex", "town"):
        pairs = zip(frame[name], source[name][shown], strict=True)
        assert all(covers(written, value, ORDER.get(name)) for written, value in pairs)


def check_promise(name, groups):
    sizes = groups.size()
    if name in K_ANONYMOUS:
        assert sizes.min() >= K
    if name in FREQUENT:
        assert (groups["ill"].agg(lambda s: s.value_counts().max()) * L <= sizes).all()
    if name in DISTINCT:
        assert (groups["ill"].nunique() >= L).all()


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("name", GROUPINGS)
def test_groupings_and_publications(name, mark):
    m, source, synthetic = marked(mark)
    p = GROUPINGS[name](m)
    assert m.synthetic.tolist() == synthetic.tolist()
    shown = p.labels >= 0
    for publication in PUBLICATIONS:
        if publication in ("swap", "anatomize") and p.starred is not None and p.starred.any():
            with pytest.raises(ap.errors.ParameterError, match="stars values"):
                publish(m, p, publication)
            continue
        rel = publish(m, p, publication)
        assert rel.is_published.tolist() == shown.tolist()
        assert rel.is_synthetic.tolist() == synthetic.tolist()
        assert rel.microdata.dropped == (3 if "dropped" in mark else 0)
        if publication == "anatomize":
            check_anatomy(name, rel, source, p)
            continue
        frame = rel.frame
        check_rows(frame, source, shown)
        if publication == "swap":
            labels = p.labels[shown]
            for column in ("age", "sex", "town"):
                assert frame[column].tolist() == source[column][shown].tolist()
            swapped = frame.groupby(labels)["ill"].agg(sorted).tolist()
            assert swapped == source[shown].groupby(labels)["ill"].agg(sorted).tolist()
            check_promise(name, frame.groupby(labels))
        else:
            assert frame["ill"].tolist() == source["ill"][shown].tolist()
            texts = frame[["age", "sex", "town"]].astype(str)
            check_promise(name, frame.groupby([texts[c] for c in texts], observed=True))
        check_stars(p, frame, shown, publication)
        check_real_people(rel, source, synthetic)


def check_anatomy(name, rel, source, p):
    shown = p.labels >= 0
    assert rel.qit[["age", "sex", "town"]].equals(source.loc[shown, ["age", "sex", "town"]])
    rows = source[shown].assign(group=p.labels[shown])
    counts = rows.groupby(["group", "ill"]).size().rename("count").reset_index()
    found = rel.st.sort_values(["group", "ill"]).reset_index(drop=True)
    assert found.to_numpy().tolist() == counts.to_numpy().tolist()
    check_promise(name, rows.groupby("group"))
    assert not hasattr(rel, "sensitive_codes")


def check_stars(p, frame, shown, publication):
    """A value that must be hidden is not shown, whatever the publication."""
    if p.starred is None or publication == "swap":
        return
    starred = p.starred[p.labels[shown]]
    for j, column in enumerate(["age", "sex", "town"]):
        assert (frame[column].astype(str)[starred[:, j]] == "*").all()


def check_real_people(rel, source, synthetic):
    """Without the invented rows the release is that of the real ones, values and secrets."""
    if not synthetic.any():
        return
    real = rel.without_synthetic()
    expected = rel.frame[~synthetic[rel.is_published]]
    assert real.frame.astype(str).to_numpy().tolist() == expected.astype(str).to_numpy().tolist()
    assert real.frame.index.tolist() == expected.index.tolist()
    assert not real.is_synthetic.any()
    assert real.sensitive_codes.tolist() == rel.sensitive_codes[~synthetic].tolist()


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("name", RECODINGS)
def test_recodings(name, mark):
    m, source, synthetic = marked(mark)
    rel = ap.recode(m, RECODINGS[name](m))
    frame = rel.frame
    check_rows(frame, source, np.ones(m.n, bool))
    assert frame["ill"].tolist() == source["ill"].tolist()
    texts = frame[["age", "sex", "town"]].astype(str)
    groups = frame.groupby([texts[column] for column in texts])
    if name != "tds":
        assert groups.size().min() >= K
    if name in ("tds", "full_domain"):
        assert (groups["ill"].nunique() >= L).all()
    for column in texts:  # one sub-domain per value, the same for all rows
        assert (texts[column].groupby(source[column].astype(str)).nunique() == 1).all()
    assert rel.is_synthetic.tolist() == synthetic.tolist()
    check_real_people(rel, source, synthetic)


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("publication", PUBLICATIONS)
def test_rows_withheld_stay_out_of_every_publication(publication, mark):
    m, source, synthetic = marked(mark)
    labels = ap.mondrian(m, K).labels.copy()
    labels[labels == labels.max()] = -1
    labels[labels == 0] = labels.max() + 1
    p = ap.Partition(ap.groups.dense_labels(labels))
    rel = publish(m, p, publication)
    shown = labels >= 0
    assert 0 < shown.sum() < m.n
    assert rel.frame.index.tolist() == source.index[shown].tolist()
    assert rel.is_published.tolist() == shown.tolist()
    if publication == "anatomize":
        assert rel.st["count"].sum() == shown.sum()
    elif publication != "swap":
        check_rows(rel.frame, source, shown)
    if synthetic.any() and publication != "anatomize":
        check_real_people(rel, source, synthetic)
