"""The site: its links resolve, and a browser without a network shows every page well."""

import functools
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from project.browsers import FAULTS, PHONE, SCREEN, WIDE, opened
from project.lessons import exam_answers, secrets_of_lessons
from project.tools import load_tool

from anonpaper.compendium import papers

ROOT = Path(__file__).parents[2]
KEYS = [*papers()]
FIRST = min((ROOT / "notebooks" / KEYS[0]).glob("*.ipynb"))  # a notebook of a paper


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built from what is committed or was run."""
    folder = tmp_path_factory.mktemp("site") / "html"
    assert load_tool("site").main(["--to", str(folder)]) == 0
    return folder


class Links(HTMLParser):
    """The addresses that a page names, and its anchors."""

    def __init__(self, path):
        super().__init__()
        self.links, self.pictures, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs.get("id"), attrs.get("name")}
        inside = attrs.get("src", "").startswith("data:")  # and so counted with the page
        self.pictures += [attrs["src"]] if tag == "img" and not inside else []
        self.links += [
            attrs[key]
            for key in ("href", "src")
            if attrs.get(key) and not (tag == "link" and attrs.get("rel") == "canonical")
        ]


@pytest.fixture(scope="module")
def parsed(site):
    """What the pages name, by path."""
    return {path: Links(path) for path in site.rglob("*.html")}


def test_every_notebook_and_lesson_has_a_page(site):
    names = [
        path.relative_to(ROOT).with_suffix(".html")
        for pattern in ("*.ipynb", "[!.]*/*.ipynb")
        for path in (ROOT / "notebooks").glob(pattern)
    ]
    assert len(names) > 20
    assert [name for name in names if not (site / name).exists()] == []


def test_internal_links_and_their_anchors_resolve(site, parsed):
    assert len(parsed) > 50
    broken = []
    for path, page in parsed.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = parsed.get(target)
            lost = parts.fragment and known and unquote(parts.fragment) not in known.anchors
            if not target.exists() or lost:
                broken.append((path.relative_to(site).as_posix(), link))
    assert broken == []


def test_nothing_is_asked_of_the_network(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert 'src="http' not in text, path
        assert 'rel="stylesheet" type="text/css" href="http' not in text, path


MOVES = """() => [...document.querySelectorAll("article p:has(img):not(.moves)")]
  .filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.innerHTML.slice(0, 80))"""


def test_every_page_reads_well_on_a_phone_and_fits_a_screen(site, browser):
    with opened(browser, viewport=PHONE, color_scheme="light") as page:
        found, here = [], ""
        page.on(
            "console",
            lambda message: (
                message.type == "error" and found.append((here, f"console: {message.text}"))
            ),
        )
        page.on("pageerror", lambda error: found.append((here, f"script: {error}")))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("file:", "data:", "blob:"))
                or found.append((here, f"request: {request.url}"))
            ),
        )
        for path in sorted(site.rglob("*.html")):
            here = path.relative_to(site).as_posix()
            page.goto(path.as_uri())
            found += [(here, fault) for fault in page.evaluate(FAULTS)]
            found += [(here, f"moves, and does not say so: {picture}")
                      for picture in page.evaluate(MOVES)]  # fmt: skip
            page.set_viewport_size(SCREEN)
            found += [(here, f"{fault}, on a screen") for fault in page.evaluate(WIDE)]
            page.set_viewport_size(PHONE)
    assert found == []


def test_search_finds_pages_without_a_server_and_lessons_first(site, browser):
    with opened(browser) as page:
        page.goto(f"{(site / 'search.html').as_uri()}?q=homogeneity")
        page.wait_for_selector("#search-results li a")
        assert page.locator("#search-results li").count() > 1
        assert page.locator("#search-results li a").first.inner_text().startswith("Lesson 2")
        with page.expect_navigation():
            page.locator("#search-results li a").first.click()
        assert "homogeneity" in page.locator("main").inner_text().lower()


READ_BY_EVERYBODY = [
    "index",
    "figures/README",
    "figures/paper/REPORT",
    f"papers/{KEYS[0]}",
    FIRST.relative_to(ROOT).with_suffix("").as_posix(),
    *sorted(f"notebooks/course/{path.stem}" for path in ROOT.glob("notebooks/course/*.ipynb")),
]


@pytest.fixture(scope="module")
def page(browser):
    with opened(browser, color_scheme="light") as page:
        yield page


@pytest.mark.parametrize("name", READ_BY_EVERYBODY)
def test_axe_finds_nothing_serious(site, page, name):
    page.goto((site / f"{name}.html").as_uri())
    found = Axe().run(page).response["violations"]
    assert [
        (rule["id"], [node["html"][:200] for node in rule["nodes"][:3]])
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ] == []


def test_pictures_are_described_in_words(site):
    for path in site.rglob("*.html"):
        alts = re.findall(r'<img [^>]*alt="([^"]*)"', path.read_text())
        assert [alt for alt in alts if re.search(r"\.(png|svg)$", alt)] == [], path


def test_the_navigation_leads_from_page_to_page(site, browser):
    with opened(browser, viewport={"width": 1280, "height": 900}) as page:
        page.goto((site / "index.html").as_uri())
        page.get_by_role("link", name="Papers").first.click()
        title = nbformat.read(FIRST, as_version=4).cells[0].source.partition("\n")[0].strip("# ")
        page.get_by_role("link", name=papers()[KEYS[0]].name).first.click()
        page.get_by_role("link", name=title).first.click()
        assert title in page.locator("h1").inner_text()


# ---- what the public may not see --------------------------------------------------------------


@functools.cache
def texts_of(folder):
    """Return the text of every page as a reader sees it, markup left out, in one line."""

    class Text(HTMLParser):
        def handle_data(self, data):
            words.append(data)

    texts = {}
    for path in folder.rglob("*.html"):
        words = []
        Text().feed(path.read_text(encoding="utf-8"))
        texts[path.relative_to(folder).as_posix()] = " ".join("".join(words).split())
    return texts


def test_the_public_site_has_no_solution_and_no_exam_answer(site):
    texts = texts_of(site)
    assert not [name for name in texts if "INSTRUCTOR" in name]
    all_text = "\n".join(texts.values()) + (site / "searchindex.js").read_text()
    assert [secret for secret in secrets_of_lessons() if secret in all_text] == []
    assert [answer for answer in exam_answers() if answer in all_text] == []
    lesson = texts["notebooks/course/1_linking.html"]
    assert "# YOUR CODE HERE" in lesson
    assert "one person in 26" in lesson.lower()
