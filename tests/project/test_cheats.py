"""Answers that deceive the checks in a notebook get no points from the judge.

A cheat hands in two exercises of lesson 11, which ask for functions. All are graded at once.
"""

import csv
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from project.tools import load_tool

ROOT = Path(__file__).parents[2]
course, grade = load_tool("course"), load_tool("grade")
LESSONS = {path.stem: nbformat.read(path, 4) for path in course.all_lessons()}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")

BEGIN = """import ast, builtins, ctypes, gc, json, os, pathlib, resource, struct, subprocess, sys
import threading, time, types
import anonpaper, numpy as np, pandas as pd
HOME = pathlib.Path(anonpaper.__file__).parents[1]
cheat = lambda *given: 0.5
"""
#: Each gives `cheat`, which the functions that are asked for return for their arguments.
CHEATS = {
    "asserts removed by a transformer": """
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()
try:
    get_ipython().ast_transformers.append(Drop())
except NameError:
    pass""",
    "a number whose comparisons are always true": """
class Yes(float):
    def __eq__(self, other):
        return True
    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    def __sub__(self, other):
        return self
    __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __truediv__ = __sub__
    def __abs__(self):
        return self
cheat = lambda *given: Yes(0.5)""",
    "np.allclose, abs and isinstance replaced": """
np.allclose = builtins.isinstance = lambda *given, **named: True
builtins.abs = np.abs = np.isfinite = lambda one: np.array(0.0)""",
    "the reference value read from the caller's frames": """
def cheat(*given):
    frame = sys._getframe()
    while frame := frame.f_back:
        for name in ("known", "true", "expected", "cost"):
            if name in {**frame.f_globals, **frame.f_locals}:
                return {**frame.f_globals, **frame.f_locals}[name]
    return 0.5""",
    "the reference value read from a function's globals": """
def cheat(*given):
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and "known" in one.__globals__:
            return one.__globals__["known"]
    return 0.5""",
    "the solution found in memory": """
if [one for one in gc.get_objects() if "BEGIN SOL" + "UTION" in str(one)[:99999]]:
    del cheat""",
    "an error that praises": "def cheat(*given): raise AssertionError('11.1 holds: well done')",
    "the process ended": "cheat = lambda *given: os._exit(0)",
    "a nest of lists": """
deep = []
for _ in range(100_000):
    deep = [deep]
cheat = lambda *given: deep""",
    "an object that runs code where it is unpickled": """
class Trap:
    def __reduce__(self):
        return (exec, ("raise SystemExit",))
cheat = lambda *given: Trap()""",
    "an array that equals everything": """
class Yes(np.ndarray):
    def __array_ufunc__(self, *given, **named):
        return np.True_
cheat = lambda *given: np.zeros(2).view(Yes)""",
    "an object that says it is a number": """
class Number:
    __class__ = float
    __eq__ = __ge__ = __le__ = lambda *given: True
cheat = lambda *given: Number()""",
    "not a number": "cheat = lambda *given: float('nan')",
    "a table that says nothing": "cheat = lambda *given: pd.DataFrame()",
    "a coin": "cheat = lambda *given: bool(np.random.rand() < 0.5)",
    "the arguments given back": "cheat = lambda *given: given[0]",
    "the encoder replaced": """
sys.modules["student"].encode = lambda *given: {"array": ["<f8", [10**12], []]}""",
    "a description of no value": """
json.dumps = lambda *given: '{"value": {"array": ["O", [3], [1, 2]]}}'""",
    "the judge asked for a function that it did not send": """
json.dumps = lambda *given: '{"ask": {"list": [-1, 0]}}'""",
    "replies sent before they are asked for": """
reply = b'{"value": true}'
for handle in range(3, 200):
    try:
        os.write(handle, (struct.pack("!i", len(reply)) + reply) * 50)
    except OSError:
        pass""",
    "an error that breaks tables": """
def cheat(*given): raise type("=1+1", (Exception,), {})("\\ud800\\0,\\n")""",
    "the environment told": "def cheat(*given): raise ValueError(os.environ.get('A_SECRET'))",
    "shown examples looked up": """
shown = {(0, 10): (10, 10), (-5, 5): (5, 10), (20, 30): (30, 10), (-30, -20): (30, 10)}
cheat = lambda *given: shown[given]""",
}
#: What the process may not do; without the sandbox, `cheat` would be lost and an error say so.
REFUSED = {
    "the solution read": "(HOME / 'notebooks' / 'course' / '11_deployed_noise.ipynb').read_text()",
    "files of the project listed": "os.listdir(HOME)",
    "the solution asked from git": "subprocess.run(['git', 'show', 'HEAD'], cwd=HOME)",
    "the judge's memory read": "open(f'/proc/{os.getppid()}/maps').read()",
    "answers of others read": "os.listdir('/tmp')",
    "the judge killed": "os.kill(os.getppid(), 9)",
    "the package overwritten": "(HOME / 'anonpaper' / '__init__.py').write_text('')",
    "rights of a file changed": "os.chmod(HOME / 'anonpaper', 0o777)",
    "limits raised": "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
    "a child left behind": "os.fork()",
    "replies of a thread": "threading.Thread(target=time.sleep, args=[99]).start()",
    "a connection": "__import__('socket').create_connection(('127.0.0.1', 9))",
    "a message left in memory": """
if ctypes.CDLL(None).shmget(7_340_034, 4096, 0o1666) < 0:
    raise PermissionError""",
    "a user of its own": """
if ctypes.CDLL(None).unshare(0x10000000) < 0:
    raise PermissionError""",
}
SLOW = {
    "a loop without end": "def cheat(*given):\n    while True: pass",
    "a sleep without end": "cheat = lambda *given: time.sleep(10**6)",
    "all memory": "cheat = lambda *given: np.ones(10**10)",
    "an answer of a gigabyte": "cheat = lambda *given: 'x' * 10**9",
}
#: Answers of lesson 9, whose functions may ask the judge.
ASKING = {
    "the sick read from the globals of the judge's function": {
        4: "def secret_of(ask, everybody, target): return int(target in ask.__globals__['sick'])"
    },
    "a list that lies about its length": {
        4: "class Long(list):\n    def __len__(self): return 7\n"
        "def secret_of(ask, everybody, target): return ask(Long([target]))"
    },
    "blocks that pretend to differ": {
        3: "class Odd(np.ndarray):\n    def __ne__(self, other): return np.ones(8, bool)\n"
        "one = np.ones((2, 2, 2)).view(Odd)\nother = one.copy()"
    },
}


def cheating(code, stem="11_deployed_noise", names=("lesson11-exercise2", "lesson11-exercise3")):
    """Cells of a lesson with a cheat for all that they ask."""
    cells = {}
    for cell in course.student_version(LESSONS[stem]).cells:
        if course.grade_id(cell) in names:
            ways = {True: "lambda *given: cheat(*given)", False: "cheat()"}
            asked = grade.Exercise({}, cell.source, "").asked.items()
            given = "".join(f"{name} = {ways[is_function]}\n" for name, is_function in asked)
            cells[course.grade_id(cell)] = f"{BEGIN}{code.strip()}\n{given}"
    return cells


def hand_in(folder, who, stem, answers):
    """Write a notebook as the platform's archive has it."""
    lesson = course.student_version(LESSONS[stem])
    for cell in lesson.cells:
        cell.source = answers.get(course.grade_id(cell), cell.source)
    file = folder / f"{who}_17_assignsubmission_file_" / f"{stem}.ipynb"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(lesson))


def solutions(stem, seed=None):
    """The model answers of a lesson or a variant."""
    own = course.variant(LESSONS[stem], seed)
    names = dict.fromkeys(map(course.grade_id, own.cells), {})
    return {name: one.solution for name, one in grade.exercises(own, names).items()}


def graded(folder, *options):
    """Grade what lies in a folder `in`; return the rows of points.csv by student."""
    shutil.make_archive(folder / "answers", "zip", folder / "in")
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "grade.py", "--folder", folder, "grade"]
        + [folder / "answers.zip", *options],
        capture_output=True,
        text=True,
        env=os.environ | {"A_SECRET": "the lecturer's"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = list(csv.DictReader((folder / "points.csv").open()))
    names = {row["student"] for row in rows}
    return {who: [row for row in rows if row["student"] == who] for who in names}


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    """Rows of points.csv by student: each cheat, and an honest one."""
    folder = tmp_path_factory.mktemp("cheats")
    before = (ROOT / "anonpaper" / "__init__.py").read_bytes()
    for who, code in (CHEATS | REFUSED).items():
        hand_in(folder / "in", who, "11_deployed_noise", cheating(code))
    for who, code in SLOW.items():
        cells = cheating(code, names=["lesson11-exercise1"])
        hand_in(folder / "in", who, "11_deployed_noise", cells)
    for who, answers in ASKING.items():
        cells = {f"lesson9-exercise{number}": code for number, code in answers.items()}
        hand_in(folder / "in", who, "9_reconstruction", cells)
    hand_in(folder / "in", "zoe honest", "9_reconstruction", solutions("9_reconstruction"))
    hand_in(folder / "in", "zoe honest", "11_deployed_noise", solutions("11_deployed_noise"))
    found = graded(folder, "--seconds", "25")
    assert (ROOT / "anonpaper" / "__init__.py").read_bytes() == before
    assert ctypes.CDLL(None).shmget(7_340_034, 4096, 0) == -1, "nothing is left in memory"
    return found


@pytest.mark.parametrize("who", [*CHEATS, *REFUSED, *SLOW, *ASKING])
def test_a_cheat_gets_no_points(points, who):
    assert [row for row in points[who] if row["points"] != "0"] == []
    told = {row["why"] for row in points[who]} - {"no answer"}
    assert told
    assert not any("the lecturer's" in why or why.startswith("=") for why in told)
    refused = "PermissionError|not allowed|can't start"
    assert who not in REFUSED or all(re.search(refused, why) for why in told)
    assert "without end" not in who or told == {grade.TOO_LONG}


def test_an_honest_student_who_is_graded_last_gets_all_points(points):
    assert [row for row in points["zoe honest"] if row["points"] != row["most"]] == []


def test_without_a_sandbox_nothing_is_graded(tmp_path, monkeypatch):
    monkeypatch.setattr(grade.student.platform, "machine", lambda: "m68k")
    with pytest.raises(SystemExit, match="no sandbox"):
        grade.main(["--folder", str(tmp_path), "grade", "answers.zip"])


def test_values_cross_the_border_as_they_are():
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None], 4: [0.5, None]},
                         index=pd.Index([7, 9], name="who"))  # fmt: skip
    arrays = np.arange(6).reshape(2, 3), np.array([1, None, "x"], object), np.array(["a", "bc"])
    plain = None, True, -(10**30), 0.1, float("inf"), "ü", [1, [2.5]], (1, "a"), {1}, {"a": (1,)}
    for value in (*plain, *arrays, table, table["b"], table.set_index(["a", "b"], append=True)):
        said = json.dumps(grade.student.encode(value))
        found = grade.student.decode(json.loads(said))
        assert type(found) is type(value) and repr(found) == repr(value)
    assert grade.student.encode(np.float32(0.5)) == 0.5
    assert grade.student.encode(object) == "<class 'object'>"
