"""Runs the cells of a notebook, in the page's worker, and says how outputs are shown."""

import json
import logging
import os
import re
import sys
from collections.abc import Callable

import numpy as np
from markdown_it import MarkdownIt

markdown = MarkdownIt().enable("table")


def shown(outputs: list) -> list:
    """Return how the page shows outputs of the notebook format: kind, content, other words."""
    found = []
    for output in outputs:
        data = {kind: "".join(text) for kind, text in output.get("data", {}).items()}
        kind, content = "text", "".join(output.get("text", data.get("text/plain", "")))
        if "traceback" in output:
            kind, content = "error", re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output["traceback"]))
        elif "image/png" in data:
            kind, content = "png", data["image/png"]
        elif "text/markdown" in data:
            kind, content = "html", markdown.render(data["text/markdown"])
        elif "text/html" in data:
            kind, content = "html", data["text/html"]
        alt = output.get("metadata", {}).get("alt", "figure")
        found.append({"kind": kind, "content": content} | ({"alt": alt} if kind == "png" else {}))
    return found


class Shell:
    """IPython without a terminal: what cells print and show goes to a list."""

    encoding = "utf-8"

    def __init__(self) -> None:
        from IPython.core.displayhook import CapturingDisplayHook
        from IPython.core.displaypub import CapturingDisplayPublisher
        from IPython.core.interactiveshell import InteractiveShell

        self.outputs = []
        self.shell = shell = InteractiveShell.instance(colors="NoColor")
        shell.history_manager.enabled = False
        shell.display_pub = CapturingDisplayPublisher()
        shell.display_pub.outputs = self.outputs
        shell.display_trap.hook = CapturingDisplayHook(shell, self.outputs)
        shell._showtraceback = lambda kind, error, lines: self.outputs.append({"traceback": lines})
        sys.stdout = sys.stderr = self

    def write(self, text: str) -> None:
        """Print a text."""
        if self.outputs and "text" in self.outputs[-1]:
            self.outputs[-1]["text"] += text
        else:
            self.outputs.append({"text": text})

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def run(self, source: str) -> list:
        """Run a cell; return what it shows."""
        self.outputs.clear()
        self.shell.run_cell(source)
        return shown(self.outputs)


def call(name: str, arguments: str) -> str:
    """Run a cell; what it shows, as JSON."""
    return json.dumps({"answer": kernel.run(json.loads(arguments)["source"])})


def narrowed(function: Callable, place: int) -> Callable:
    """Return a function of numpy that takes whole numbers of 64 bits for places, as elsewhere."""

    def call(*args, **options):
        args = [*args]
        if len(args) > place and (given := np.asarray(args[place])).dtype.kind in "iu":
            args[place] = given.astype(np.intp)
        return function(*args, **options)

    return call


if sys.platform == "emscripten":
    np.repeat, np.bincount = narrowed(np.repeat, 1), narrowed(np.bincount, 0)
    logging.getLogger("matplotlib.font_manager").setLevel("ERROR")
    os.environ |= {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    os.environ |= {"ANONPAPER_WORKERS": "1", "TQDM_DISABLE": "1"}
    for folder in ("anonpaper", "notebooks"):  # by which the package knows a checkout
        os.makedirs(f"/project/{folder}", exist_ok=True)
    sys.path.append(os.getcwd())  # where the packages are
    os.chdir("/project/notebooks")
    kernel = Shell()
