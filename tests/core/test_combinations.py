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
MARKS = ["none", "synthetic and dropped", "taken"]
QI = ["age", "sex", "town"]


def marked(mark, rows=60):
    """A table with a mark, and the frame of the rows that it stands for."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": rng.integers(20, 26, rows) * 10,
            "ill": rng.choice(ILLS, rows, p=[0.4, 0.3, 0.3]),
            "sex": rng.choice(SEXES, rows),
            "town": pd.Categorical(rng.choice(TOWNS, rows), TOWNS, ordered=True),
        },
        index=[f"row {i}" for i in range(rows)],
    )
    synthetic = np.zeros(len(frame), bool)
    if "synthetic" in mark:
        synthetic[[3, 4, 11, 12, 30, 31, 32, 59]] = True
        frame.loc[["row 5", "row 30", "row 44"], "sex"] = None
    m = ap.Microdata(frame, QI, "ill", missing="drop", synthetic=synthetic)
    if mark == "taken":
        rows = np.r_[40:60, 0:30]
        return m.take(rows), frame.iloc[rows], synthetic[rows]
    whole = frame["sex"].notna().to_numpy()
    return m, frame[whole], synthetic[whole]


def publish(m, p, publication):
    if publication == "shallow_generalize":
        trees = {a.name: ap.Hierarchy.balanced(a.values) for a in m.attributes}
        return ap.shallow_generalize(m, p, trees)
    if publication == "swap":
        return ap.swap(m, p, seed=1)
    if publication == "anatomize" and "removed_by_phase" in p.info and p.info["residue_size"]:
        with pytest.raises(ap.errors.ParameterError, match="shows which rows"):
            ap.anatomize(m, p)
        p = ap.Partition(p.labels)
    return getattr(ap, publication)(m, p)


def check_rows(frame, source, shown):
    """Every published row is of its own person: index, values within what is published."""
    assert frame.index.tolist() == source.index[shown].tolist()
    assert "name" not in frame.columns
    for name in QI:
        pairs = zip(frame[name], source[name][shown], strict=True)
        assert all(covers(written, value, ORDER.get(name)) for written, value in pairs)


def check_promise(name, groups):
    sizes = groups.size()
    assert name not in K_ANONYMOUS or sizes.min() >= K
    if name in FREQUENT:
        assert (groups["ill"].agg(lambda s: s.value_counts().max()) * L <= sizes).all()
    assert name not in DISTINCT or (groups["ill"].nunique() >= L).all()


def by_published(frame):
    """The classes of rows whose published values read the same."""
    return frame.groupby([frame[column].astype(str) for column in QI])


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
        if publication == "anatomize":
            check_anatomy(name, rel, source, p)
            continue
        frame = rel.frame
        if publication == "swap":
            labels = p.labels[shown]
            assert all(frame[c].tolist() == source[c][shown].tolist() for c in QI)
            swapped = frame.groupby(labels)["ill"].agg(sorted).tolist()
            assert swapped == source[shown].groupby(labels)["ill"].agg(sorted).tolist()
            check_promise(name, frame.groupby(labels))
        else:
            check_rows(frame, source, shown)
            assert frame["ill"].tolist() == source["ill"][shown].tolist()
            check_promise(name, by_published(frame))
            if p.starred is not None:  # a value that must be hidden is not shown
                starred = p.starred[p.labels[shown]]
                for j, column in enumerate(QI):
                    assert (frame[column].astype(str)[starred[:, j]] == "*").all()
        check_real_people(rel, source, synthetic)


def check_anatomy(name, rel, source, p):
    shown = p.labels >= 0
    assert rel.qit[QI].equals(source.loc[shown, QI])
    rows = source[shown].assign(group=p.labels[shown])
    counts = rows.groupby(["group", "ill"]).size().rename("count").reset_index()
    found = rel.st.sort_values(["group", "ill"]).reset_index(drop=True)
    assert found.to_numpy().tolist() == counts.to_numpy().tolist()
    check_promise(name, rows.groupby("group"))
    assert not hasattr(rel, "sensitive_codes")


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
    groups = by_published(frame)
    assert name == "tds" or groups.size().min() >= K
    assert name == "preference_search" or (groups["ill"].nunique() >= L).all()
    for column in QI:  # one sub-domain per value, the same for all rows
        texts = frame[column].astype(str).groupby(source[column].astype(str))
        assert (texts.nunique() == 1).all()
    assert rel.is_synthetic.tolist() == synthetic.tolist()
    check_real_people(rel, source, synthetic)
