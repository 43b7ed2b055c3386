"""Loops are compiled anew where what they use has changed; a line on a terminal says so."""

import ast
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import anonpaper

ROOT = Path(anonpaper.__file__).parents[1]
CALL = "import anonpaper as ap; ap.mondrian(ap.examples.hospital(), k=2)"


def seen_on_a_terminal(cache):
    """Return what a process that calls an algorithm writes to its terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    environment.pop("TQDM_DISABLE", None)
    running = subprocess.Popen([sys.executable, "-c", CALL], stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 1024)
        except OSError:  # the other end is closed
            part = b""
        if not part:
            break
        shown += part
    os.close(ours)
    assert running.wait() == 0
    return shown.decode()


def test_a_first_call_says_that_it_compiles_and_a_second_one_nothing(tmp_path):
    first = seen_on_a_terminal(tmp_path)
    assert "compiling once" in first
    assert "Error" not in first
    assert seen_on_a_terminal(tmp_path) == ""


USED = """
from typing import NamedTuple
from anonpaper.compiled import {kind}
STEP = {step}
class Pair(NamedTuple):
    {fields[0]}: int
    {fields[1]}: int
@{kind}
def called(x):
    return {factor} * x
"""
USING = """
from used import STEP, Pair, called
from anonpaper.compiled import loop
@loop
def calling(pair):
    return called(pair.high) + STEP
"""
OUTER = """
from using import Pair, calling
from anonpaper.compiled import loop
@loop
def outer(pair):
    return calling(pair)
print(outer(Pair(1, 10)), sum(outer.stats.cache_hits.values()))
"""


def test_a_loop_is_compiled_anew_where_what_it_uses_of_other_modules_has_changed(tmp_path):
    """Several times removed, too: the file of the loop itself stays as it is."""

    def answer(**changed):
        given = {"kind": "inner", "step": 0, "fields": ("low", "high"), "factor": 1} | changed
        (tmp_path / "used.py").write_text(USED.format(**given))
        (tmp_path / "using.py").write_text(USING)
        (tmp_path / "outer.py").write_text(OUTER)
        command = [sys.executable, "-B", "-c", "import outer"]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        }
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        return [int(word) for word in done.stdout.split()]

    assert answer() == [10, 0]
    assert answer() == [10, 1]  # as long as nothing has changed, out of the cache
    assert answer(factor=2) == [20, 0]
    assert answer(step=5) == [15, 0]
    assert answer(fields=("high", "low")) == [1, 0]
    assert answer(kind="part", factor=3) == [30, 0]
    assert answer(kind="part", factor=4) == [40, 0]


def test_every_loop_of_the_package_is_compiled_that_way():
    for path in (ROOT / "anonpaper").rglob("*.py"):
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and node.module == "numba"
            for alias in node.names
        }
        assert names <= {"prange"} or path.name == "compiled.py", path


COMPILED_TWICE = """
import sys
from numba.core.dispatcher import Dispatcher
import warm
print("called:")
for name, module in sorted(sys.modules.items()):
    for loop in vars(module).values() if name.startswith("anonpaper.") else ():
        is_line = getattr(loop, "__name__", "") == "squared_distance_gain"  # ints and floats
        if isinstance(loop, Dispatcher) and len(loop.signatures) > 1 and not is_line:
            print(name, loop.__name__, loop.signatures)
"""


def test_no_loop_that_python_calls_is_compiled_twice_by_one_call_of_every_algorithm():
    # as it is where an array comes in rows at one time and in columns at another
    done = subprocess.run(
        [sys.executable, "-c", COMPILED_TWICE],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tools'}"},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.partition("called:\n")[2] == ""
