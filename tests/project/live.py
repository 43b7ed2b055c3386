"""The live page in a browser: built once, served from this machine, driven as a user does."""

import re
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import nbformat
import pytest
from project.browsers import PATIENCE

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "site" / "live"))
import glue  # noqa: E402, F401
from kernel import shown  # noqa: E402

METHODS = {
    "mondrian": ("generalize", {"k": 5, "l": 2}),
    "full_domain": ("recode", {"k": 5, "l": 2, "diversity": "frequency"}),
    "tds": ("recode", {"l": 2}),
    "tp_plus": ("suppress", {"l": 2}),
    "tp": ("suppress", {"l": 2}),
    "hilbert": ("generalize", {"l": 2}),
}


def build(folder):
    """Write the page; a skip says why Pyodide cannot be had."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "live.py", "--to", folder],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    if done.returncode == 1 and "cannot be had" in done.stderr:
        pytest.skip(f"no Pyodide: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return folder


class Served:
    """A folder at an address of this machine; ``asked`` lists what was requested."""

    def __init__(self, folder):
        self.asked = asked = []

        class Handler(SimpleHTTPRequestHandler):
            def log_request(self, code="-", size="-"):
                asked.append((self.path, int(code)))

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}/"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class LiveNotebook:
    """A notebook's page, with all that it asks for and complains about; ``name`` of the source."""

    def __init__(self, page, address, name):
        self.page, self.requests, self.faults = page, [], []
        self.source = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
        page.set_default_timeout(10 * PATIENCE)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.on("console", lambda m: m.type == "error" and self.faults.append(m.text))
        page.goto(f"{address}{name.replace('/', '-')}.html")

    def load(self):
        """Load Python, and run the page as it is offered; return what the page says in the end."""
        self.page.click("#load")
        return self.ended()

    def ended(self):
        ends = time.monotonic() + 10 * PATIENCE / 1000
        while (said := self.page.inner_text("#loaded"))[:3] not in ("All", "Cel", "The"):
            assert time.monotonic() < ends, said
            time.sleep(0.2)
        return said

    def run_source(self):
        """Run all cells with their solutions; return the ids of those that differ, and how."""
        cells = [cell for cell in self.source.cells if cell.cell_type == "code"]
        for cell in cells:
            self.page.evaluate(
                "([id, source]) => { $(id).textContent = source }", [cell.id, cell.source]
            )
        self.page.evaluate("$('loaded').textContent = ''; $('all').click()")
        said, differ = self.ended(), {}
        for cell in cells:
            if "nbval-ignore-output" in cell.metadata.get("tags", ()):
                continue
            made, committed = self.page.evaluate(
                """([id, outputs]) => {
                    const words = of => [of.querySelectorAll("img").length, of.textContent];
                    const place = make("div");
                    show(place, outputs);
                    return [words($(id).nextElementSibling), words(place)];
                }""",
                [cell.id, shown(cell.outputs)],
            )
            if not alike(made, committed):
                differ[cell.id] = made, committed
        return said, differ


def alike(made, committed):
    """Whether two outputs have as many pictures, the same words, and numbers equal to 0.1 %."""
    if made == committed:  # digits of hexadecimal numbers are none of the numbers below
        return True
    number = r"-?\d[\d,]*\.?\d*(?:e[+-]?\d+)?"
    texts = [re.sub(number, "0", " ".join(text.split())) for _, text in (made, committed)]
    numbers = [[float(one.replace(",", "")) for one in re.findall(number, text)]
               for _, text in (made, committed)]  # fmt: skip
    close = all(abs(a - b) <= 1e-3 * abs(b) for a, b in zip(*numbers, strict=False))
    return made[0] == committed[0] and texts[0] == texts[1] and close


class Live:
    """The page, with all that it asks for and complains about."""

    def __init__(self, page, address):
        self.page, self.requests, self.faults = page, [], []
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        page.on("console", lambda m: m.type == "error" and self.faults.append(m.text))
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        page.goto(address)

    def load(self):
        """Load the tool; return the seconds until it was ready."""
        if self.page.locator("#load").is_enabled():
            self.page.click("#load")
        self.page.wait_for_selector("#s-table:visible")
        self.requests_of_load = len(self.requests)
        return int(self.page.evaluate("document.body.dataset.ready")) / 1000

    @property
    def requests_since(self):
        return [url for url in self.requests[self.requests_of_load :] if url[:5] != "blob:"]

    def choose(self, path):
        """Choose a file; return what the page says of it, and whether it is an error."""
        self.page.evaluate("document.getElementById('told').textContent = ''")
        self.page.set_input_files("#file", path)
        return self.said("#told")

    def said(self, place):
        self.page.wait_for_selector(f"{place}:is(.bad, .good, .note):not(:empty)")
        text = self.page.inner_text(place)
        return text, "bad" in self.page.get_attribute(place, "class")

    def roles(self, **roles):
        """Give columns their roles."""
        for name, role in roles.items():
            self.page.get_by_label(f"What {name} is", exact=True).select_option(role)

    def idle(self):
        """Wait until nothing runs and nothing is about to."""
        self.page.wait_for_timeout(250)
        self.until("!running && !again && waiting.size === 0")

    def until(self, condition):
        """Wait for a condition; the page's policy keeps Playwright from doing it by itself."""
        ends = time.monotonic() + PATIENCE / 1000
        while not self.page.evaluate(condition):
            assert time.monotonic() < ends, condition
            time.sleep(0.05)

    def protect(self, method, form):
        """Run a method; return what it made, as the page got it from Python."""
        self.idle()
        self.page.evaluate("table.result = null")
        self.page.select_option("#method", method)
        self.page.select_option("#form", form)
        self.page.dispatch_event("#method", "input")
        self.until("table.result || document.querySelector('#working.bad')")
        self.idle()
        assert self.page.inner_text("#working") == ""
        return self.page.evaluate("table.result")

    def save(self, button="#save"):
        """Save the table or the report; return its bytes."""
        with self.page.expect_download() as download:
            self.page.click(button)
        return Path(download.value.path()).read_bytes()
