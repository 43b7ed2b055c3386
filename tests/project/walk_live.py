"""A longer walk through the live page, `make live-walk`: awkward files, all methods, addresses.

A file either gets an error that says what is wrong, or is published as the library publishes it.
Nothing in a file runs, no request is made, and the page never stops answering.
"""

import gzip
import io
import json
import shlex
import subprocess
import sys
import time
import zipfile

import pandas as pd
import pytest
from project.live import METHODS, ROOT, Live, LiveNotebook, Served, build

import anonpaper as ap
from anonpaper.files import cache_folder
from anonpaper.owner import cli
from anonpaper.owner.reader import read_table
from anonpaper.publish import writing

sys.path.append(str(ROOT / "tools"))
from live import PINNED, notebooks

MARKUP = '<img src=x onerror="alert(1)">'
PEOPLE = [(20 + 7 * i % 50, "fm"[i % 2], ["Köln", "Ålesund", "Brno"][i % 3]) for i in range(40)]
LONGEST_PAUSE = 10_000  # milliseconds that the page may not answer, on a busy machine


def lines(header, rows, separator=",", end="\n"):
    return end.join(separator.join(map(str, row)) for row in [header, *rows]) + end


PLAIN = lines(["age", "sex", "town"], PEOPLE)


def column(*values, name="value"):
    """A table with one awkward column beside a plain one, each value in eight rows."""
    quoted = ['"{}"'.format(str(value).replace('"', '""')) for value in values]
    return lines([f'"{name}"', "sex"], [(one, "fm"[i % 2]) for one in quoted for i in range(8)])


def workbook(*sheets):
    packages = [*cache_folder().glob("live/openpyxl*"), *cache_folder().glob("live/et_*")]
    sys.path[:0] = map(str, packages)  # wheels of the page: the environment has no openpyxl
    import openpyxl

    book, stream = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for place, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet {place}")
        for row in rows:
            sheet.append(row)
    book.save(stream)
    return stream.getvalue()


def zipped():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("people.csv", PLAIN)
    return stream.getvalue()


WIDE = lines(
    [f"column {i}" for i in range(300)], [[i * j % 5 for j in range(300)] for i in range(60)]
)
DATES = [["born", "sex", "sum"], *([pd.Timestamp(1960 + i % 30, 1, 1), "fm"[i % 2], i / 2]
                                   for i in range(40))]  # fmt: skip

#: File name -> content, and a part of the error that is expected; None if it is published.
AWKWARD = {
    "plain.csv": (PLAIN, None),
    "bom.csv": (PLAIN.encode("utf-8-sig"), None),
    "windows.csv": (PLAIN.encode("cp1252"), None),
    "utf16le.csv": (b"\xff\xfe" + PLAIN.encode("utf-16-le"), None),
    "utf16be.csv": (b"\xfe\xff" + PLAIN.encode("utf-16-be"), None),
    "semicolon.csv": (lines(["age", "sex", "town"], PEOPLE, ";"), None),
    "tab.tsv": (lines(["age", "sex", "town"], PEOPLE, "\t"), None),
    "bar.txt": (lines(["age", "sex", "town"], PEOPLE, "|"), None),
    "crlf.csv": (lines(["age", "sex", "town"], PEOPLE, end="\r\n"), None),
    "blank_lines.csv": ("\n\n" + PLAIN.replace("\n", "\n\n"), None),
    "no_last_line_feed.csv": (PLAIN.rstrip(), None),
    "empty.csv": ("", "is empty"),
    "only_bom.csv": (b"\xef\xbb\xbf", "is empty"),
    "only_line_feeds.csv": ("\n\n\n", "is empty"),
    "only_header.csv": ("age,sex\n", "no rows"),
    "one_row.csv": ("age,sex\n3,f\n", "at most 1"),
    "one_column.csv": (lines(["age"], [[i % 4] for i in range(20)]), None),
    "all_equal.csv": (lines(["age", "sex"], [[3, "f"]] * 30), None),
    "short_row.csv": ("a,b\n1,2\n3\n", "line 3: 1 fields"),
    "long_row.csv": ("a,b\n1,2\n3,4,5\n", "line 3: 3 fields"),
    "doubled.csv": ("a,a\n1,2\n", "several columns named"),
    "no_name.csv": (lines(["", "sex"], [[i % 3, "f"] for i in range(20)]), None),
    "two_without_name.csv": (",\n1,2\n", "several columns named"),
    "quotes.csv": (column("a, b", 'he said "no"', "plain"), None),
    "line_feeds.csv": (column("one\ntwo", "three\r\nfour"), None),
    "name_with_line_feed.csv": (column("a", "b", name="one\ntwo"), None),
    "open_quote.csv": ('a,b\n1,"2\n3,4\n', "line"),
    "text_after_quote.csv": ('a,b\n1,"2"x\n', "line"),
    "markup.csv": (column(MARKUP, "<script>alert(2)</script>", "&lt;b&gt;"), None),
    "markup_name.csv": (column("a", "b", name=MARKUP.replace('"', '""')), None),
    f"{MARKUP.replace('/', '')}.csv": (PLAIN, None),
    "formulas.csv": (column("=1+1", "@sum(a)", "+cmd", "-cmd"), None),
    "javascript.csv": (column("javascript:alert(1)", "data:text/html,x", "${1}", "{{1}}"), None),
    "prototype.csv": (
        lines(["__proto__", "constructor"], [[i % 2, "f"] for i in range(20)]),
        None,
    ),
    "nul.csv": (b"a,b\n1,\x002\n", "is no text"),
    "picture.csv": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "is no text"),
    "archive.csv": (zipped(), "is no text"),
    "packed.csv.gz": (gzip.compress(PLAIN.encode()), None),
    "broken.csv.gz": (gzip.compress(PLAIN.encode())[:-20], "broken.csv.gz"),
    "not_packed.csv.gz": (PLAIN, "not_packed.csv.gz"),
    "book.xlsx": (
        lambda: workbook([["age", "sex"], *([i % 9, "fm"[i % 2]] for i in range(40))]),
        None,
    ),
    "dates.xlsx": (lambda: workbook(DATES), None),
    "two_sheets.xlsx": (lambda: workbook(DATES, [["other"], [1]]), None),
    "no_rows.xlsx": (lambda: workbook([]), "is empty"),
    "broken.xlsx": (zipped()[:50], "no workbook"),
    "csv_named.xlsx": (PLAIN, "no workbook"),
    "star.csv": (column("*", "a", "b"), None),
    "large_numbers.csv": (column("12345678901234567890", "9" * 40), None),
    "decimals.csv": (column("1.50", "2.25", "1e3"), None),
    "decimal_commas.csv": (lines(["x", "sex"], [["1,5", "f"], ["22,25", "m"]] * 9, ";"), None),
    "german_dates.csv": (column("31.12.1999", "01.02.2003"), None),
    "iso_dates.csv": (column("1999-12-31", "2003-02-01"), None),
    "letters.csv": (column("😀", "עברית", "\u202egnp", "e\u0301", "é"), None),
    "control.csv": (column("a\x07b", "a\x1bb", "\x7f"), None),
    "long_cell.csv": (column("x" * 1_000_000, "y"), None),
    "not_numbers.csv": (column("NaN", "inf", "None", "NA", "-0", "007"), None),
    "spaces.csv": (column(" a", "a ", "A"), None),
    "mostly_empty.csv": (column("", "", "a"), None),
    "wide.csv": (WIDE, "at least one column"),
    "huge.csv": (b"a,b\n" + b"1234567,abcdefg\n" * 6_500_000, "takes up to"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build(tmp_path_factory.mktemp("live") / "page")


@pytest.fixture(scope="module")
def live(folder, browser):
    """The page opened as a file, and offline."""
    context = browser.new_context(offline=True)
    live = Live(context.new_page(), (folder / "index.html").as_uri())
    live.load()
    live.page.evaluate("""() => {
        let last = performance.now();
        setInterval(() => {
            window.pause = Math.max(window.pause, performance.now() - last);
            last = performance.now();
        }, 10);
    }""")
    yield live
    context.close()


def published(path, name, page):
    """What the library publishes for the roles and settings that the page shows, sorted."""
    told = page.evaluate("({roles, table, asked: asked()})")
    table = read_table(str(path), delimiter=told["table"]["separator"],
                       encoding=told["table"]["encoding"])  # fmt: skip
    pairs = zip(table.frame, told["roles"], strict=True)
    m = ap.Microdata(table.frame, [column for column, role in pairs if role == "known"])
    rel = ap.generalize(m, ap.mondrian(m, told["asked"]["k"]))
    return sorted_rows(writing.as_csv(rel.public_frame(), table.delimiter), table.delimiter)


def sorted_rows(content, separator):
    table = pd.read_csv(
        io.BytesIO(content), sep=separator, header=None, dtype=str, keep_default_na=False
    )
    return sorted(map(tuple, table.to_numpy()))


@pytest.mark.parametrize("name", AWKWARD)
def test_an_awkward_file_is_refused_or_published_right(live, tmp_path, name):
    content, error = AWKWARD[name]
    content = content() if callable(content) else content
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    live.faults.clear()
    live.page.evaluate("window.pause = 0")
    text, bad = live.choose(path)
    live.idle()
    if not bad and live.page.locator("#columns-told.bad").is_visible():
        text, bad = live.page.inner_text("#columns-told"), True
    if not bad and live.page.locator("#working.bad").is_visible():
        text, bad = live.page.inner_text("#working"), True
    assert bad == (error is not None), text
    if bad:
        assert error in text and "fault of this page" not in text
        assert not live.page.locator("#s-save").is_visible()
    else:
        saved = live.save()
        separator = live.page.evaluate("table.separator")
        if not name.endswith(".xlsx"):
            assert sorted_rows(saved, separator) == published(path, name, live.page)
        assert b"<!DOCTYPE html>" in live.save("#save-report")
    assert live.faults == []
    assert live.requests_since == []
    assert live.page.evaluate("window.pause") < LONGEST_PAUSE


def test_all_methods_and_forms(live, tmp_path):
    live.page.click("#example")
    live.page.wait_for_selector("#result:visible")
    for method in METHODS:
        for form in live.page.evaluate(f"FORMS[{method!r}]"):
            found = live.protect(method, form)
            assert all(one["holds"] for one in found["promises"])
            assert live.save().count(b"\n") == 601
    live.protect("mondrian", "generalize")
    live.page.fill("#t", "0.4")
    for method in ("mondrian", "full_domain"):
        found = live.protect(method, "recode" if method == "full_domain" else "generalize")
        assert any("TCloseness" in one["text"] and one["holds"] for one in found["promises"])
    assert live.faults == [] == live.requests_since


def test_a_kind_that_does_not_fit_is_an_error_and_changes_nothing(live):
    live.page.click("#example")
    live.page.wait_for_selector("#result:visible")
    live.idle()
    live.page.get_by_label("How town is read").select_option("integer")
    text, bad = live.said("#told")
    assert bad and "'town' is not all integer" in text
    live.idle()
    assert live.page.get_by_label("How town is read").input_value() == "text"
    live.page.get_by_label("How age is read").select_option("text")
    live.idle()
    assert live.page.evaluate("table.columns[1].kind") == "text"


def test_work_can_be_stopped(live, tmp_path):
    rows = [[i % 97, i % 89, i % 83, i % 79, i % 7] for i in range(150_000)]
    path = tmp_path / "many.csv"
    path.write_text(lines("abcde", rows))
    live.page.set_input_files("#file", path)
    live.page.wait_for_selector("#stop:visible")
    live.page.click("#stop")
    live.until("document.querySelector('.message.bad')")
    assert "Stopped" in live.page.inner_text(".message.bad")
    (tmp_path / "plain.csv").write_text(PLAIN)
    live.choose(tmp_path / "plain.csv")
    live.page.wait_for_selector("#result:visible")
    assert live.requests_since == []


@pytest.mark.parametrize("name", ["", "00_start_here", "course/1_linking"])
def test_the_second_visit_comes_from_the_cache(folder, browser, launched, tmp_path, name):
    served = Served(folder)  # the cache of a context that keeps nothing is small
    context = browser.browser_type.launch_persistent_context(tmp_path, **launched)
    for is_first in (True, False):
        served.asked.clear()
        page = context.new_page()
        began = time.monotonic()
        if name:
            LiveNotebook(page, served.address, name).load()
        else:
            Live(page, served.address).load()
        print(f"{name or 'the page'}: {time.monotonic() - began:.1f} s, first visit: {is_first}")
        sent = [path for path, code in served.asked if code == 200 and "assets" in path]
        assert bool(sent) == is_first, sent
    context.close()
    served.close()


@pytest.mark.parametrize("method", METHODS)
def test_the_command_on_the_page_does_the_same(live, tmp_path, monkeypatch, method):
    monkeypatch.chdir(tmp_path)
    rows = [[a, s, t, a / 4, "abc"[i % 3]] for i, (a, s, t) in enumerate(PEOPLE)]
    (tmp_path / "my people.csv").write_text(lines(["age", "sex", '"a, b"', "share", "ill"], [
        [a, s, f'"{t}, x"', share, ill] for a, s, t, share, ill in rows]))  # fmt: skip
    live.choose(tmp_path / "my people.csv")
    live.idle()
    live.roles(ill="secret")
    found = live.protect(method, METHODS[method][0])
    assert cli.main([*shlex.split(found["command"])[1:], "--quiet"]) == 0
    saved = (tmp_path / "safe.csv").read_bytes()
    assert sorted(saved.splitlines()) == sorted(live.save().splitlines())


#: Cells that differ from the committed ones, as notes on their pages say.
DIFFER = {"course/6_trade_off": {"search"}, "course/10_membership": {"attack"}}


@pytest.mark.parametrize("name", notebooks())
def test_a_notebook_runs_offline_as_it_is_committed(folder, browser, name):
    context = browser.new_context(offline=True)
    page = LiveNotebook(context.new_page(), f"{folder.as_uri()}/", name)
    said = page.load()
    print(f"{name}: {page.seconds()}")
    assert PINNED["notes"].get(name, "") in page.page.inner_text("section")
    assert said.startswith("All")
    if name.startswith("course/"):
        said, differ = page.run_source()
        print(f"{name}, solved: {page.seconds()}")
        assert said.startswith("All") and {*differ} == DIFFER.get(name, set()), differ
    else:  # it shows the paper edition until it is run
        assert page.page.locator(".error").count() == 0
    assert page.faults == []
    context.close()


def test_every_algorithm_gives_the_same_labels_and_a_cell_can_be_stopped(folder, browser):
    program = ROOT / "tests" / "core" / "every_algorithm.py"
    given = ["without", "1000"]
    native = subprocess.run([sys.executable, program, *given], capture_output=True, check=True)
    context = browser.new_context(offline=True)
    page = LiveNotebook(context.new_page(), f"{folder.as_uri()}/", "00_start_here")
    page.load()
    found = page.python(f"import sys; sys.argv = ['', *{given}]\n{program.read_text()}")
    assert json.loads(found.splitlines()[-1]) == json.loads(native.stdout)  # above it: progress
    page.page.evaluate("cells[0].textContent = 'while True: pass'; run(cells[0]); 0")
    page.page.click("#stop")
    assert "Stopped" in page.page.inner_text(".code + .outputs .error")
    assert page.python("print(6 * 7)") == "42\n"
    context.close()
