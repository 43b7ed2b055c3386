"""How the objects show themselves in Jupyter: complete, escaped, and small."""

from html.parser import HTMLParser

import pandas as pd
import pytest

import anonpaper as ap

VOID = {"br", "hr", "col"}


class Balanced(HTMLParser):
    """Collects the text of a page whose tags are all closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.tags = [], "", set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def shown(thing):
    page = Balanced()
    page.feed(thing._repr_html_())
    page.close()
    assert page.open == []
    return page


@pytest.fixture
def release():
    return ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())


def test_microdata_show_roles_sizes_and_first_rows():
    text = shown(ap.examples.hospital()).text
    assert "Microdata, 10 rows" in text
    assert "quasi-identifiers: Age (3 values), Gender (2 values), Education (3 values)" in text
    assert "sensitive: Disease (4 values)" in text
    assert "Adam" in text
    assert "Jane" not in text
    assert "5 of 10 rows" in text


def test_a_partition_shows_its_groups():
    text = shown(ap.klt(ap.examples.hospital(), k=4, l=2, theta=0.5)).text
    assert "10 rows in 2 groups" in text
    assert "4 to 6" in text
    assert "1 rows" in shown(ap.Partition([0, 0, -1])).text
    assert "0 groups" in shown(ap.Partition([-1, -1])).text


def test_a_recoding_shows_what_is_left_of_every_attribute():
    text = shown(ap.full_domain(ap.examples.hospital(), k=2)).text
    assert "1 of 3" in text
    assert "High school, Bachelor, Master" in text


def test_a_release_shows_its_levels_and_first_rows(release):
    text = shown(release).text
    for line in ("published by: suppress", "k-anonymity: 2", "theta: 0.5", "10 of 10"):
        assert line in text
    assert "pneumonia" in text


def test_an_anatomy_shows_both_tables():
    m, p = ap.examples.hospital(), ap.examples.hospital_two_diverse()
    text = shown(ap.anatomize(m, p)).text
    assert "group" in text
    assert "count" in text


def test_a_release_without_a_row_has_no_levels():
    m = ap.examples.hospital()
    assert "0 of 10" in shown(ap.suppress(m, ap.Partition([-1] * 10))).text


def test_everything_is_escaped():
    bad = "<script>alert(1)</script>"
    frame = pd.DataFrame({bad: [bad, bad], "ill": [bad, "&lt;"]}, index=[bad, "b"])
    frame.index.name = bad
    m = ap.Microdata(frame, [bad], "ill", origin=bad)
    p = ap.Partition([0, 0], {bad: bad}, algorithm=bad)
    recoding = ap.Recoding(m.attributes, [[0]], {bad: bad}, algorithm=bad)
    for thing in (m, p, recoding, ap.suppress(m, p), ap.swap(m, p, 0), ap.anatomize(m, p)):
        page = shown(thing)
        assert "script" not in page.tags
        if thing is not p:
            assert bad in page.text


def test_a_large_table_stays_small():
    frame = pd.DataFrame({"age": range(5000), "note": ["x" * 500] * 5000})
    m = ap.Microdata(frame, ["age"], "note")
    assert len(m._repr_html_()) < 5000
    assert len(ap.suppress(m, ap.Partition([0] * 5000))._repr_html_()) < 5000
    identity = ap.Recoding.identity(m.attributes)
    assert len(identity._repr_html_()) < 2000


def test_a_hierarchy_shows_its_levels():
    page = shown(ap.Hierarchy.intervals(range(40), [5, 10]))
    assert "Hierarchy, 40 values" in page.text and "level 1: 8 names" in page.text
    assert "[0, 5)" in page.text and "5 of 40 rows" in page.text
