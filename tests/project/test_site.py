"""The site: its links resolve, and a browser without a network shows every page well."""

import functools
import re
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from project.browsers import FAULTS, PHONE, SCREEN, WIDE, opened, serious
from project.lessons import exam_answers, secrets_of_lessons
from project.tools import load_tool

from anonpaper.compendium import papers

ROOT = Path(__file__).parents[2]
KEYS = [*papers()]


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
        self.links, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs.get("id"), attrs.get("name")}
        self.links += [
            attrs[key]
            for key in ("href", "src")
            if attrs.get(key) and not (tag == "link" and attrs.get("rel") == "canonical")
        ]


@pytest.fixture(scope="module")
def parsed(site):
    """What the pages name, by path."""
    return {path: Links(path) for path in site.rglob("*.html")}


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
  .filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.innerHTML.slice(0, 80))"""


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
            found += [(here, fault) for fault in page.evaluate(FAULTS)]
            found += [(here, f"moves, and does not say so: {picture}")
                      for picture in page.evaluate(MOVES)]  # fmt: skip
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


def test_it_works_from_a_folder_of_any_host(site, browser, tmp_path):
    (tmp_path / "anonpaper").symlink_to(site)
    handler = functools.partial(SimpleHTTPRequestHandler, directory=tmp_path)
    handler.log_message = lambda *words: None
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, opened(browser) as page:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        lost = []
        page.on("response", lambda answer: answer.status >= 400 and lost.append(answer.url))
        page.goto(f"http://127.0.0.1:{server.server_port}/anonpaper/index.html")
        page.locator('a[href^="theatre/"]').first.click()
        page.wait_for_selector("#lines li")
        page.locator("main a").first.click()
        page.wait_for_selector("article")
        server.shutdown()
    assert [url for url in lost if not url.endswith("favicon.ico")] == []


def test_everybody_can_read_the_pages(site, browser):
    names = ["index", f"figures/{KEYS[0]}", "notebooks/course/1_linking"]
    with opened(browser, color_scheme="light") as page:
        for name in names:
            page.goto((site / f"{name}.html").as_uri())
            assert serious(page) == [], name


def test_pictures_are_described_in_words(site):
    for path in site.rglob("*.html"):
        alts = re.findall(r'<img [^>]*alt="([^"]*)"', path.read_text())
        assert [alt for alt in alts if re.search(r"\.(png|svg)$", alt)] == [], path


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
