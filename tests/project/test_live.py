"""The page that anonymizes a table in the browser."""

import html
import re

import pytest
from project.browsers import BROKEN, FAULTS, PHONE, serious
from project.lessons import secrets_of_lessons
from project.live import METHODS, Live, LiveNotebook, Served, build
from project.tools import load_tool

import anonpaper as ap
from anonpaper.owner.reader import read_table

LESSON = "course/9_reconstruction"  # the quickest one
MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build(tmp_path_factory.mktemp("live") / "page")


@pytest.fixture(scope="module")
def live(browser, folder):
    """The page, loaded from a server that is then closed, in a browser that is then offline."""
    served = Served(folder)
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    live = Live(context.new_page(), served.address)
    live.axe_before = serious(live.page)
    print(f"ready after {live.load():.1f} s")
    live.asked, live.address = len(served.asked), served.address
    live.megabytes = sum((folder / path[1:]).stat().st_size for path, _ in served.asked[1:]) / 1e6
    context.set_offline(True)
    served.close()
    yield live
    context.close()


def test_pages_of_lessons_carry_no_solution(folder):
    tool, secrets = load_tool("live"), secrets_of_lessons()
    pages = [name for name in tool.notebooks() if name.startswith("course/")]
    assert len(pages) == 12
    for name in pages:
        page = html.unescape((folder / f"{name.replace('/', '-')}.html").read_text())
        text = " ".join(page.replace(r"\"", '"').split())
        assert [secret for secret in secrets if secret in text] == []
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
    live.roles(occupation="secret")
    ours = ap.Microdata(read_table(str(path)).frame, m.qi, "occupation")
    took = {}
    for method, (form, arguments) in METHODS.items():
        found = live.protect(method, form)
        took[method] = found["seconds"]
        result = getattr(ap, method)(ours, **arguments)
        [file] = getattr(ap, form)(ours, result).write(tmp_path / f"{method}.csv")
        assert sorted(live.save().splitlines()) == sorted(file.read_bytes().splitlines()), method
    print({name: round(seconds, 1) for name, seconds in took.items()})
    assert b"<!DOCTYPE html>" in live.save("#save-report")
    assert live.requests_since == []
    assert live.faults == []


def test_a_lesson_runs_without_a_network_as_it_is_committed(folder, browser):
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    lesson = LiveNotebook(context.new_page(), f"{folder.as_uri()}/", LESSON)
    before = len(lesson.requests)
    assert re.fullmatch(r"All \d+ cells were run\..*", lesson.load())
    checks = lesson.page.locator(".code[data-goes-on] + .outputs .error").all_inner_texts()
    assert checks and all("AssertionError" in one for one in checks)  # nothing is solved yet
    lesson.page.set_viewport_size(PHONE)
    assert lesson.page.evaluate(BROKEN) == []
    assert lesson.page.evaluate(FAULTS) == []
    said, differ = lesson.run_source()
    assert said.startswith("All") and differ == {}
    assert all(url.startswith(("file:", "blob:", "data:")) for url in lesson.requests[before:])
    assert lesson.faults == []
    assert serious(lesson.page) == []  # axe itself tries to connect
    context.close()


def test_markup_in_a_table_is_text(live, tmp_path):
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


def test_a_file_that_cannot_be_read_gets_a_clear_error(live, tmp_path):
    path = tmp_path / "short.csv"
    path.write_text("a,b\n1,2\n3\n")
    text, bad = live.choose(path)
    assert bad and "short.csv, line 3: 1 fields, but the header has 2" in text
    assert not live.page.locator("#s-columns").is_visible()


def test_everybody_can_use_it(live):
    live.page.click("#example")
    live.page.wait_for_selector("#result:visible")
    live.idle()
    assert live.axe_before == []
    assert serious(live.page) == []
    live.page.set_viewport_size(PHONE)
    assert live.page.evaluate(FAULTS) == []
    live.page.set_viewport_size({"width": 1280, "height": 900})
    live.page.focus("#k")
    before = live.page.inner_text("#finding")
    live.page.keyboard.press("ArrowRight")
    live.idle()
    assert live.page.inner_text("#finding") != before
    assert live.requests_since == []
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
    live.faults.clear()  # the browser reported what it refused
    live.requests[live.requests_of_load :] = []
