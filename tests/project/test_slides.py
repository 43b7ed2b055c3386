"""Slides of the lessons: what is on them, and what is not."""

import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from project.lessons import secrets_of_lessons
from project.tools import load_tool

ROOT = Path(__file__).parents[2]
LESSON = ROOT / "notebooks" / "course" / "12_cases_and_law.ipynb"


slides = load_tool("slides")


class Page(HTMLParser):
    """The parts of a page of slides, and what it asks a browser to load."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.tags, self.alternatives = [], [], []
        self.inside, self.texts = [], {"section": "", "aside": ""}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        if tag in self.texts:
            self.inside.append(tag)
        if tag == "img":
            self.alternatives.append(attrs.get("alt", ""))
        if tag != "a":
            self.loaded += [attrs[key] for key in ("href", "src") if attrs.get(key)]

    def handle_endtag(self, tag):
        if tag in self.texts:
            assert self.inside.pop() == tag

    def handle_data(self, data):
        if self.inside:
            self.texts[self.inside[-1]] += data


@pytest.fixture(scope="module")
def page():
    return slides.slides_of(nbformat.read(LESSON, as_version=4), LESSON.stem)


def test_headings_begin_slides_and_paragraphs_are_in_the_notes(page):
    found = Page(page)
    lesson = nbformat.read(LESSON, as_version=4)
    text = "\n".join(cell.source for cell in lesson.cells if cell.cell_type == "markdown")
    headings = len(re.findall(r"^#{1,3} ", text, flags=re.M))
    assert found.tags.count("section") > headings
    assert found.tags.count("h1") + found.tags.count("h2") + found.tags.count("h3") == headings
    assert found.texts["section"].count("Exercise 12.") == 6
    assert "AOL took the file down and apologized" in found.texts["aside"]
    assert "AOL took the file down and apologized" not in found.texts["section"]
    assert "Before you attack." in found.texts["section"]
    assert "share of cabs singled out" in found.texts["section"]
    assert found.alternatives
    assert all(text.startswith("Two lines over the number") for text in found.alternatives)


def test_slides_load_nothing_from_elsewhere(page):
    loaded = [address for address in Page(page).loaded if not address.startswith("data:")]
    assert {"mathjax.js", "reveal.js/dist/reveal.js", "reveal.js/dist/theme/white.css"} <= {
        *loaded
    }
    assert [address for address in loaded if re.match(r"\w+:|//", address)] == []
    assert not re.search(r"""(import|url|fetch|require)\W[^;\n]{0,40}https?://""", page)


def test_slides_have_no_solution(page):
    text = " ".join(" ".join(Page(page).texts.values()).split())
    assert [secret for secret in secrets_of_lessons() if secret in text] == []
    assert not re.search("(BEGIN|END) (SOLUTION|HIDDEN)|Rubric", page)


def test_pages_lie_beside_what_they_load(tmp_path, monkeypatch, capsys):
    for name in ("dist/reveal.js", "dist/theme/white.css", "plugin/notes/notes.js", "LICENSE"):
        file = tmp_path / "packages" / slides.REVEAL / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    monkeypatch.setattr(slides, "ROOT", tmp_path)
    monkeypatch.setattr(slides, "SLIDES", tmp_path / "slides")
    monkeypatch.setattr(slides, "all_lessons", lambda: [LESSON])
    (tmp_path / "slides").mkdir()
    (tmp_path / "slides" / "stale.html").touch()
    assert slides.main(str(tmp_path / "packages")) == 0
    names = {
        path.relative_to(tmp_path / "slides").as_posix()
        for path in (tmp_path / "slides").rglob("*")
        if path.is_file()
    }
    assert names == {
        "12_cases_and_law.html",
        "README.md",
        "mathjax.js",
        "reveal.js/LICENSE",
        "reveal.js/dist/reveal.js",
        "reveal.js/dist/theme/white.css",
        "reveal.js/plugin/notes/notes.js",
    }
    assert "slides of 1 lessons" in capsys.readouterr().out
