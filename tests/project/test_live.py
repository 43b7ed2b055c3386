"""The pages that run in the browser: built once, served from this machine, driven as users do."""

import html
import json
import re
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from project.helpers import (
    FAULTS,
    PHONE,
    ROOT,
    SCREEN,
    SOLUTIONS,
    load_tool,
    needs_solutions,
    opened,
    read,
    serious,
    told,
)

import anonpaper as ap
from anonpaper.owner.reader import Table

LESSON = "course/9_reconstruction"  # the quickest one
MARKUP = "<img src=x onerror=alert(1)>"
METHODS = {
    "mondrian": (ap.generalize, {"k": 5, "l": 2}),
    "full_domain": (ap.recode, {"k": 5, "l": 2, "diversity": "frequency"}),
    "tds": (ap.recode, {"l": 2}),
    "tp_plus": (ap.suppress, {"l": 2}),
    "hilbert": (ap.generalize, {"l": 2}),
}


class Live:
    """A page, with all that it asks for and complains about."""

    def __init__(self, page, address):
        self.page, self.requests, self.faults = page, [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.on("console", lambda m: m.type == "error" and self.faults.append(m.text))
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        page.goto(address)

    def until(self, condition):
        """Wait for a condition; the page's policy keeps Playwright from doing it by itself."""
        ends = time.monotonic() + 1_200
        while not self.page.evaluate(condition):
            assert time.monotonic() < ends, condition
            time.sleep(0.1)

    def choose(self, path):
        """Choose a file; return what the page says of it, and whether it is an error."""
        self.page.evaluate("document.getElementById('told').textContent = ''")
        self.page.set_input_files("#file", path)
        self.page.wait_for_selector("#told:is(.bad, .good, .note):not(:empty)")
        return self.page.inner_text("#told"), "bad" in self.page.get_attribute("#told", "class")

    def idle(self):
        """Wait until nothing runs and nothing is about to."""
        self.page.wait_for_timeout(250)
        self.until("!running && !again && waiting.size === 0")

    def protect(self, method):
        """Run a method, and save its table; return the bytes."""
        self.idle()
        self.page.evaluate("table.result = null")
        self.page.select_option("#method", method)
        self.page.dispatch_event("#method", "input")
        self.until("table.result || document.querySelector('#working.bad')")
        self.idle()
        assert self.page.inner_text("#working") == ""
        with self.page.expect_download() as download:
            self.page.click("#save")
        return Path(download.value.path()).read_bytes()

    def ran(self, start):
        """Start the cells of a notebook's page; return what the page says in the end."""
        self.page.evaluate(f"$('loaded').textContent = ''; $('{start}').click()")
        self.until("/^(All|Cell|The)/.test($('loaded').textContent)")
        return self.page.inner_text("#loaded")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The pages; a skip says why Pyodide cannot be had."""
    folder = tmp_path_factory.mktemp("live") / "page"
    build = [sys.executable, ROOT / "tools" / "live.py", folder]
    done = subprocess.run(build, capture_output=True, text=True, cwd=ROOT)
    if done.returncode == 1 and "cannot be had" in done.stderr:
        pytest.skip(f"no Pyodide: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def live(browser, folder):
    """The page, loaded from a server that is then closed, in a browser that is then offline."""
    handler = partial(SimpleHTTPRequestHandler, directory=folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with opened(browser, viewport=SCREEN, color_scheme="light") as page:
        live = Live(page, f"http://127.0.0.1:{server.server_port}/")
        live.axe_before = serious(page)
        page.click("#load")
        page.wait_for_selector("#s-table:visible")
        live.requests.clear()
        page.context.set_offline(True)
        server.shutdown()
        server.server_close()
        yield live


@needs_solutions
def test_pages_of_lessons_carry_no_solution(folder):
    tool = load_tool("live")
    pages = [name for name in tool.notebooks() if name.startswith("course/")]
    assert len(pages) == 12
    for name in pages:
        page = html.unescape((folder / f"{name.replace('/', '-')}.html").read_text())
        assert told(page) == []
        assert not [place for place in tool.own_tree(name) if place.endswith((".ipynb", ".yaml"))]


@pytest.mark.filterwarnings("ignore:minimality attack")
def test_adult_through_all_methods_without_a_request(live, tmp_path):
    m = ap.load("adult", qi=["age", "education", "race", "sex"], missing="drop")
    frame = m.frame[[*m.qi, *m.sensitives]]
    path = tmp_path / "adult.csv"
    frame.to_csv(path, index=False)
    text, bad = live.choose(path)
    assert not bad and f"{len(frame):,} rows" in text
    live.idle()
    live.page.get_by_label("What occupation is", exact=True).select_option("secret")
    ours = ap.Microdata(Table.opened(str(path)).read().frame, m.qi, "occupation")
    for method, (publish, arguments) in METHODS.items():
        saved = live.protect(method)
        result = getattr(ap, method)(ours, **arguments)
        [file] = publish(ours, result).write(tmp_path / f"{method}.csv")
        assert sorted(saved.splitlines()) == sorted(file.read_bytes().splitlines()), method
    assert [url for url in live.requests if url[:5] != "blob:"] == live.faults == []


def test_a_lesson_runs_without_a_network(folder, browser):
    with opened(browser, offline=True, viewport=PHONE) as page:
        lesson = Live(page, f"{folder.as_uri()}/{LESSON.replace('/', '-')}.html")
        assert re.fullmatch(r"All \d+ cells were run\..*", lesson.ran("load"))
        checks = page.locator(".code[data-goes-on] + .outputs .error").all_inner_texts()
        assert checks and all("AssertionError" in one for one in checks)  # nothing is solved yet
        assert page.evaluate(FAULTS) == []
        if SOLUTIONS.is_dir():
            for cell in read(LESSON, solved=True).cells:
                if cell.cell_type == "code":
                    page.evaluate(
                        "([id, text]) => { $(id).textContent = text }", [cell.id, cell.source]
                    )
            assert lesson.ran("all").startswith("All")
            assert page.locator(".outputs .error").count() == 0
        assert all(url.startswith(("file:", "blob:", "data:")) for url in lesson.requests)
        assert lesson.faults == []
        assert serious(page) == []  # axe itself tries to connect


def test_markup_in_a_table_is_text_and_a_broken_file_a_clear_error(live, tmp_path):
    path = tmp_path / "markup.csv"
    header = f"{MARKUP},<script>alert(2)</script>,=cmd()"
    rows = [f"{MARKUP},<b>{i % 3}</b>,=1+{i % 2}" for i in range(30)]
    path.write_text("\n".join([header, *rows]) + "\n")
    text, bad = live.choose(path)
    assert not bad
    live.idle()
    assert live.page.locator("#columns img, #rows img, #rows b, #columns script").count() == 0
    assert MARKUP in live.page.inner_text("#rows")
    assert "spreadsheet may run" in live.page.inner_text("#warnings")
    assert live.faults == []
    path.write_text("a,b\n1,2\n3\n")
    text, bad = live.choose(path)
    assert bad and "markup.csv, line 3: 1 fields, but the header has 2" in text
    assert not live.page.locator("#s-columns").is_visible()


def test_everybody_can_use_it(live):
    live.page.click("#example")
    live.page.wait_for_selector("#result:visible")
    live.idle()
    assert live.axe_before == serious(live.page) == []
    assert "-anonymity: everybody looks like at least" in live.page.inner_text("#promises")
    live.page.emulate_media(color_scheme="dark")
    assert serious(live.page) == []
    live.page.set_viewport_size(PHONE)
    assert live.page.evaluate(FAULTS) == []
    live.page.set_viewport_size(SCREEN)
    live.page.focus("#k")
    before = live.page.inner_text("#finding")
    live.page.keyboard.press("ArrowRight")
    live.idle()
    assert live.page.inner_text("#finding") != before
    assert live.faults == []


def test_no_connection_is_possible_even_for_a_script_in_the_page(live):
    tried = live.page.evaluate("fetch('/').then(() => 'connected', error => 'refused')")
    assert tried == "refused"
    loaded = live.page.evaluate("""() => new Promise(done => {
        const script = document.createElement('script');
        script.onload = () => done('loaded');
        script.onerror = () => done('refused');
        try { script.src = policy.createScriptURL(ASSETS[0].at); } catch { done('refused'); }
        document.head.append(script);
    })""")
    assert loaded == "refused"
    markup = live.page.evaluate("""() => {
        try { document.body.innerHTML = '<b>'; return 'taken'; } catch { return 'refused'; }
    }""")
    assert markup == "refused"


def test_the_theatre_runs_the_package_on_an_edited_table(folder, browser, monkeypatch):
    site = load_tool("site")
    monkeypatch.setattr(site, "LIVE", folder / "index.html")
    (folder.parent / "live").symlink_to(folder)
    site.write_theatre(folder.parent / "theatre")
    cells = [row[1:] for row in site.scenes.people_of(ap.examples.hospital())]
    cells[7][3] = "dyspepsia"
    given = {"method": "TP", "l": 3, "table": "Table 1 of the paper"}
    steps = json.loads(site.scenes.edited("xiao2010", cells, given))["steps"]
    with opened(browser) as page:
        page.goto(
            (folder.parent / "theatre" / "xiao2010.html").as_uri()
            + "#method=TP&l=3&table=Table 1 of the paper"
        )
        assert "Not possible" in page.locator("#say").inner_text()
        page.locator("#change").click()
        page.locator("#people tbody tr").nth(7).locator("select").nth(3).select_option("dyspepsia")
        page.locator("#load").click()
        page.get_by_text("These steps are those of the edited table").wait_for()
        page.keyboard.press("End")
        said = page.locator("#say").inner_text()
        assert page.locator("#people select").count() == 0
        assert "*" in page.locator("#people tbody").inner_text()
        page.locator("#p-l").fill("0")  # runs the edited table again
        page.get_by_text("These steps are those of the edited table").wait_for()
    assert said == f"{len(steps)} of {len(steps)}: {steps[-1]['say']}"
