"""The site: its links resolve, and a browser without a network shows every page well."""

import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from project.helpers import (
    FAULTS,
    PHONE,
    ROOT,
    SCREEN,
    SOLUTIONS,
    WIDE,
    load_tool,
    needs_solutions,
    opened,
    serious,
    told,
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built from what is committed or was run."""
    folder = tmp_path_factory.mktemp("site") / "html"
    assert load_tool("site").main(folder) == 0
    return folder


class Page(HTMLParser):
    """The addresses that a page names, its anchors and its words."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.words = [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs.get("id"), attrs.get("name")}
        if attrs.get("rel") != "canonical":
            self.links += filter(None, map(attrs.get, ("href", "src")))

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def parsed(site):
    """What the pages name, by path."""
    return {path: Page(path) for path in site.rglob("*.html")}


def test_internal_links_and_their_anchors_resolve(site, parsed):
    names = [path for path in (ROOT / "notebooks").glob("[!.]*/*.ipynb")]
    broken = [path.name for path in names
              if site / path.relative_to(ROOT).with_suffix(".html") not in parsed]  # fmt: skip
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


LOCAL = ("file:", "data:", "blob:")
MOVES = """() => [...document.querySelectorAll("article p:has(img):not(.moves)")]
  .filter(box => box.scrollWidth > box.clientWidth + 1)
  .map(box => "moves, and does not say so: " + box.innerHTML.slice(0, 80))"""


def test_every_page_reads_well_on_a_phone_and_fits_a_screen(site, browser):
    with opened(browser, viewport=PHONE, color_scheme="light") as page:
        found, here = [], ""
        said = {"console": lambda it: it.type == "error" and it.text, "pageerror": str,
                "request": lambda it: not it.url.startswith(LOCAL) and it.url}  # fmt: skip
        for kind, of in said.items():
            page.on(kind, lambda it, of=of: of(it) and found.append((here, of(it))))
        for path in sorted(site.rglob("*.html")):
            here = path.relative_to(site).as_posix()
            page.goto(path.as_uri())
            found += [(here, fault) for fault in [*page.evaluate(FAULTS), *page.evaluate(MOVES)]]
            page.set_viewport_size(SCREEN)
            found += [(here, f"{fault}, on a screen") for fault in page.evaluate(WIDE)]
            page.set_viewport_size(PHONE)
    assert found == []


@pytest.mark.parametrize("query, first", [
    ("homogeneity", "Lesson 2"), ("Figure 4 Xiao", "Xiao et al."), ("Table 3 Milani", "Milani"),
])  # fmt: skip
def test_search_finds_pages_without_a_server(site, browser, query, first):
    with opened(browser) as page:
        page.goto(f"{(site / 'search.html').as_uri()}?q={query}")
        page.wait_for_selector("#search-results li a")
        assert page.locator("#search-results li").count() > 1
        assert page.locator("#search-results li a").first.inner_text().startswith(first)
        with page.expect_navigation():
            page.locator("#search-results li a").first.click()
        assert query.split()[-1].lower() in page.locator("main").inner_text().lower()


def test_everybody_can_read_the_pages(site, browser):
    with opened(browser, color_scheme="light") as page:
        for name in ("index", "figures/xiao2010", "notebooks/course/1_linking"):
            page.goto((site / f"{name}.html").as_uri())
            assert serious(page) == [], name


def test_pictures_are_described_in_words(site):
    for path in site.rglob("*.html"):
        alts = re.findall(r'<img [^>]*alt="([^"]*)"', path.read_text())
        assert [alt for alt in alts if re.search(r"\.(png|svg)$", alt)] == [], path


@needs_solutions
def test_the_public_site_has_no_solution_and_no_exam_answer(site, parsed):
    guide = (SOLUTIONS / "LESSONS.md").read_text()
    answers = [" ".join(line.split())[:60] for line in guide.splitlines() if line[:3] == "   "]
    assert len(answers) >= 16 and not [*site.rglob("*LESSONS*")]
    shown = " ".join(word for page in parsed.values() for word in page.words)
    shown = " ".join((shown + (site / "searchindex.js").read_text()).split())
    assert told(shown) == [] == [answer for answer in answers if answer in shown]
    assert "# YOUR CODE HERE" in shown and "one person in 26" in shown.lower()
