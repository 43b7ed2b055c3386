"""Evidence on another tool's rows, and the report: its numbers against pandas, one page."""

import hashlib
import math
import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import people, tried

import anonpaper as ap
from anonpaper import errors
from anonpaper.owner.cli import main
from anonpaper.owner.report import page as page_of


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
    right = ap.measure.definetti(ap.anatomize(m, p))["learned"]
    for door in (ap.swap, ap.anatomize):
        row = ap.audit(m, door(m, p)).attackers.iloc[-1]
        assert (row["played"], row["sure"]) == ("on average", right)
    assert ap.audit(m, ap.generalize(m, p)).attackers.iloc[-1]["note"].endswith("no groups")


NOT_THESE = {
    "of 120 rows fit nobody": lambda rows: rows.assign(ill="a"),
    "120 of 120 rows fit": lambda rows: rows.assign(ill="z"),
    "lacks .'zip'": lambda rows: rows.drop(columns="zip"),
    "no row": lambda rows: rows[:0],
    "Release or a DataFrame": lambda rows: "rows.csv",
    "another table": lambda rows: ap.generalize(m := table(1), ap.mondrian(m, 5)),
}


@pytest.mark.parametrize("said", NOT_THESE)
def test_rows_that_are_nobodys_are_refused(said):
    m = table()
    rows = ap.generalize(m, ap.mondrian(m, 5)).public_frame()
    with pytest.raises(errors.AnonpaperError, match=said):
        ap.audit(m, NOT_THESE[said](rows))


TEXTS = st.text(st.sampled_from("ab,\"{}[]()<>=;\n\r\t *?-–.1+'|\xa0"), max_size=5)
PUBLISHED = {
    form: lambda m, form=form: getattr(ap, form)(m, ap.mondrian(m, k=2))
    for form in ("suppress", "generalize", "swap", "anatomize")
} | {
    "shallow": lambda m: ap.shallow_generalize(m, ap.mondrian(m, k=2), {}),
    "shallow by a tree": lambda m: ap.shallow_generalize(
        m, ap.mondrian(m, k=2), {"q": ap.Hierarchy.balanced(m.attribute("q").values, 2)}
    ),
    "full_domain": lambda m: ap.recode(m, ap.full_domain(m, k=2)),
    "tds": lambda m: ap.recode(m, ap.tds(m, l=2)),
}


@settings(max_examples=tried(20), deadline=None)
@given(st.data())
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", PUBLISHED)
def test_what_is_written_is_read_again(form, tmp_path_factory, data):
    values = data.draw(st.lists(TEXTS, min_size=2, max_size=5, unique=True))
    q = data.draw(st.lists(st.sampled_from(values), min_size=6, max_size=12))
    s = (data.draw(st.lists(TEXTS, min_size=2, max_size=4, unique=True)) * 6)[: len(q)]
    column = pd.Categorical(q, values, ordered=True) if data.draw(st.booleans()) else q
    m = ap.Microdata(pd.DataFrame({"q": column, "s": s}), ["q"], "s")
    try:
        rel = PUBLISHED[form](m)
    except errors.AnonpaperError as error:
        # the name of a hierarchy's root, and an odd number of rows of two secrets
        assert "*" in values or isinstance(error, errors.InfeasibleError)
        return
    folder = tmp_path_factory.mktemp("out")
    try:
        paths = [*rel.write(folder / "out.csv"), *rel.write(folder / "out.parquet")]
    except errors.ColumnError as error:
        assert "meanings" in str(error)
        return
    tables = [
        pd.read_csv(path, dtype=str, keep_default_na=False) if path.suffix == ".csv"
        else pd.read_parquet(path).astype(str) for path in paths
    ]  # fmt: skip
    if form in ("swap", "anatomize"):
        for table in tables:
            rows = table.index.repeat(table["count"].astype(int) if "count" in table else 1)
            for name, wanted in {"q": q, "s": s}.items():
                assert name not in table or sorted(table.loc[rows, name]) == sorted(wanted)
        return
    assert Counter(map(tuple, tables[0].values)) == Counter(map(tuple, tables[1].values))
    found = ap.audit(m, tables[0], rel.promised).release
    pd.testing.assert_frame_equal(levels(found), levels(rel))
    assert found.kept() == dict.fromkeys(rel.promised)


class Page(HTMLParser):
    """Tags that are closed in order, cells of tables, and what is loaded."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.loaded, self.rows = [], "", [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.open += [tag] * (tag != "meta")
        self.loaded += [value for name, value in attrs if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def page(rel, **options):
    found = Page(page_of(rel, **options))
    assert found.open == [] and found.loaded == []
    return found


def test_before_and_after_are_what_pandas_counts():
    m = people()
    rel = ap.generalize(m, ap.mondrian(m, 4, l=2))
    found = page(rel)
    cells = {row[0]: row[1:] for row in found.rows if len(row) == 3}
    for side, frame in ((0, m.frame), (1, rel.frame)):
        sizes = frame.groupby(["age", "zip"]).size()
        assert cells["rows"][side] == "60"
        assert cells["rows that are unique"][side] == str((sizes == 1).sum())
        assert cells["rows in classes below 5"][side] == str(sizes[sizes < 5].sum())
        assert cells["prosecutor: highest risk"][side] == f"{1 / sizes.min():.2%}"
        above = sizes[sizes < 5].sum() / 60
        assert cells["prosecutor: rows above one in five"][side] == f"{above:.2%}"
        assert cells["marketer: links that are right"][side] == f"{len(sizes) / 60:.2%}"
        k = next(cell for name, cell in cells.items() if name.startswith("k-anonymity"))
        assert k[side] == str(sizes.min())
    for word in ("KAnonymity(k=4) holds", "FrequencyLDiversity(l=2) holds",
                 "ap.generalize(m, ap.mondrian(m, k=4, l=2))", "Do not publish this page",
                 "Composition", "pandas " + pd.__version__):  # fmt: skip
        assert word in found.text


def test_every_way_to_publish_has_its_page(tmp_path):
    m, p = people(), ap.mondrian(people(), 4)
    trees = {a.name: ap.Hierarchy.balanced(a.values) for a in m.attributes}
    for rel in [
        ap.suppress(m, p), ap.shallow_generalize(m, p, trees), ap.swap(m, p), ap.anatomize(m, p),
        ap.recode(m, ap.full_domain(m, 4)), ap.suppress(m.with_roles(sensitive=None), p),
        ap.suppress(m, ap.Partition(np.full(60, -1))),
    ]:  # fmt: skip
        assert "Report on a release" in page(rel).text
    assert "Do not publish the table either" in page(ap.swap(m, p, seed=1)).text
    assert "everybody sees who is in it" in page(ap.anatomize(m, p)).text
    assert "None" not in [cell for row in page(ap.suppress(m, p)).rows for cell in row]


def test_who_is_withheld_and_who_is_nobody_is_said():
    m = people()
    labels = np.where(np.arange(60) < 50, np.arange(60) // 10, -1)
    shown = page(ap.suppress(m, ap.Partition(labels)))
    assert ["published", "60", "50"] in shown.rows and ["withheld", "0", "10"] in shown.rows
    assert "is told the values of other" in shown.text
    mixed = m.replace(synthetic=np.arange(60) % 3 == 0)
    rows = page(ap.suppress(mixed, ap.mondrian(mixed, 6))).rows
    assert ["synthetic rows", "20"] in rows and ["rows", "40", "60", "40"] in rows
    assert ["", "before", "after", "after, real people only"] in rows


def test_names_and_values_are_text_and_never_code():
    frame = pd.DataFrame({"<b>": ["<script>x</script>"] * 3, "ill": ["<i>", "&", '"']})
    m = ap.Microdata(frame, ["<b>"], "ill", origin="<script>")
    text = page_of(ap.suppress(m, ap.Partition([0, 0, 0])), call="<script>")
    assert "<script" not in text and "&lt;script&gt;" in text
    assert Page(text).open == []


def test_the_command_line_writes_it_beside_the_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    people().frame.to_csv("people.csv", index=False)
    command = ["anonymize", "people.csv", "--qi", "age,zip", "--sensitive", "ill", "--type",
               "zip=text", "--method", "full_domain", "--k", "4", "--hierarchy",
               "age=widths:5,10", "--hierarchy", "zip=prefixes"]  # fmt: skip
    assert main([*command, "-o", "out.csv", "--report", "r.html"]) == 0
    printed = capsys.readouterr()
    assert "do not publish r.html" in printed.err
    found = Page((tmp_path / "r.html").read_text())
    assert "anonpaper anonymize people.csv" in found.text
    digest = re.search(r"people\.csv, sha256 ([0-9a-f]{64})", found.text)[1]
    assert digest == hashlib.sha256((tmp_path / "people.csv").read_bytes()).hexdigest()
    shown = set(pd.read_csv("out.csv", dtype=str)["zip"]) - set(people().frame["zip"])
    assert all("*" in text for text in shown)
    for wrong in ("r.html", "r.csv", "people.csv", "none/r.html"):
        assert main([*command, "-o", "out2.csv", "--report", wrong]) == 2
    assert not (tmp_path / "out2.csv").exists()
    assert main([*command, "-o", "out.csv", "--force", "--report", "r.html"]) == 0


def test_people_are_counted_and_every_secret_has_its_levels():
    frame = people(3, 90).frame.assign(drug=list("xyz") * 30, who=np.arange(90) // 2)
    frame[["age", "zip"]] = frame.groupby("who")[["age", "zip"]].transform("first")
    m = ap.Microdata(frame, ["age", "zip"], ["ill", "drug"], person="who")
    found = page(ap.generalize(m, ap.mondrian(m, 5)))
    who = m.frame.groupby(["age", "zip"])["who"].nunique()
    cells = {row[0]: row[1:] for row in found.rows if len(row) == 3}
    assert cells["people that are unique"][0] == str((who == 1).sum())
    assert cells["people in classes below 5"] == [str(who[who < 5].sum()), "0"]
    assert "45, by who" in found.text and "theta of drug" in found.text
