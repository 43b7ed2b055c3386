"""The report: its numbers against pandas, whom it is for, and that it is one page."""

import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from referees.tables import people

import anonpaper as ap
from anonpaper import errors
from anonpaper.owner.cli import main
from anonpaper.owner.page import page as page_of

VOID = {"br", "meta", "rect", "link", "img"}


class Page(HTMLParser):
    """Tags that are closed in order, cells of tables by their heading, and what is loaded."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.loaded, self.rows = [], "", [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag not in VOID:
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
    for word in ("KAnonymity(k=4) holds", "FrequencyLDiversity(l=2) holds", "sha256",
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
    found = page(ap.suppress(m, ap.Partition(labels)))
    assert (
        "50 published, 10 withheld" in found.text and "is told the values of other" in found.text
    )
    mixed = m.replace(synthetic=np.arange(60) % 3 == 0)
    found = page(ap.suppress(mixed, ap.mondrian(mixed, 6)))
    assert ["synthetic rows", "20"] in found.rows
    assert ["", "before", "after", "after, real people only"] in found.rows
    assert next(row for row in found.rows if row[0] == "rows" and len(row) == 4)[1:] == [
        "40",
        "60",
        "40",
    ]


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
    assert shown <= {"*", "02***", "10***", "021**",
                                                              "024**", "100**"}  # fmt: skip
    for wrong in ("r.html", "r.csv", "people.csv", "none/r.html"):
        assert main([*command, "-o", "out2.csv", "--report", wrong]) == 2
    assert not (tmp_path / "out2.csv").exists()
    assert main([*command, "-o", "out.csv", "--force", "--report", "r.html"]) == 0


def visits(rows=90):
    frame = people(3, rows).frame.assign(drug=list("xyz") * (rows // 3))
    frame["who"] = np.arange(rows) // 2
    frame[["age", "zip"]] = frame.groupby("who")[["age", "zip"]].transform("first")
    return ap.Microdata(frame, ["age", "zip"], ["ill", "drug"], person="who")


def test_people_are_counted_and_every_secret_has_its_levels():
    m = visits()
    rel = ap.generalize(m, ap.mondrian(m, 5))
    found = page(rel)
    people = m.frame.groupby(["age", "zip"])["who"].nunique()
    cells = {row[0]: row[1:] for row in found.rows if len(row) == 3}
    assert cells["people that are unique"][0] == str((people == 1).sum())
    assert cells["people in classes below 5"] == [str(people[people < 5].sum()), "0"]
    assert "45, by who" in found.text and "theta of drug" in found.text
    with pytest.raises(errors.ColumnError):
        rel.public_tables(keep=["who"])
