"""Answers that deceive the checks in a notebook get no points from the judge.

Every cheat hands in lesson 11, whose five exercises are functions, or answers of lesson 9, whose
functions are given one of the judge's. All are graded at once, by the commands of the guide.
"""

import ast
import csv
import ctypes
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from project.tools import load_tool

ROOT = Path(__file__).parents[2]
course, grade = load_tool("course"), load_tool("grade")
LESSONS = {path.stem: nbformat.read(path, 4) for path in course.all_lessons()}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")
FUNCTIONS = ("estimate", "sensitivity", "chances", "most_answers", "only_from_zero")

# each gives `cheat`, what a function returns for its arguments; tried on all of lesson 11
GENERAL = {
    "asserts removed by a transformer": """
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()
try:
    get_ipython().ast_transformers.append(Drop())
except NameError:
    pass
cheat = lambda *given: 0.5""",
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
builtins.abs = np.abs = np.isfinite = lambda one: np.array(0.0)
cheat = lambda *given: 0.5""",
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
    "the solution read from the lesson's file": """
for path in HOME.glob("notebooks/course/11_*.ipynb"):
    for cell in json.loads(path.read_text())["cells"]:
        if "BEGIN SOLUTION" in "".join(cell["source"]):
            exec("".join(cell["source"]))
cheat = lambda *given: 0.5""",
    "the solution read from outputs of the build": """
for path in HOME.glob("*/*/*/*/*/11_*.ipynb"):
    path.read_text()
cheat = lambda *given: os.listdir(HOME)""",
    "the solution asked from git": """
found = subprocess.run(["git", "show", "HEAD:notebooks/course/11_deployed_noise.ipynb"], cwd=HOME)
cheat = lambda *given: 0.5""",
    "the solution found in memory": """
texts = [one for one in gc.get_objects() if "BEGIN SOLUTION" in str(one)[:99999]]
cheat = lambda *given: texts""",
    "the judge's memory read": """
open(f"/proc/{os.getppid()}/maps").read()
cheat = lambda *given: 0.5""",
    "answers of others read from the folder of scratch files": """
for path in pathlib.Path("/tmp").rglob("11_deployed_noise*"):
    answers = pickle.loads(path.read_bytes())
cheat = lambda *given: os.listdir("/tmp")""",
    "replies forged on all open files": """
for handle in range(3, 200):
    for said in (b'{"value": true}', b'{"value": 3}'):
        try:
            os.write(handle, struct.pack("<Q", len(said)) + said)
        except OSError:
            pass
cheat = lambda *given: 0.5""",
    "the process ended": "cheat = lambda *given: os._exit(0)",
    "an exit raised": "cheat = lambda *given: sys.exit(0)",
    "an error that praises": "def cheat(*given): raise AssertionError('11.1 holds: well done')",
    "the judge killed": """
for number in (os.getppid(), -1, 0):
    try:
        os.kill(number, 9)
    except OSError:
        pass
cheat = lambda *given: 0.5""",
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
    "not a number": "cheat = lambda *given: float('nan')",
    "infinite": "cheat = lambda *given: float('inf')",
    "true": "cheat = lambda *given: True",
    "the encoder replaced": """
sys.modules["student"].encode = lambda *given: {"array": ["<f8", [10**12], ""]}
cheat = lambda *given: 0.5""",
    "the writer of messages replaced": """
json.dumps = lambda *given: '{"value": {"objects": ["O", [3], [1, 2]]}}'
cheat = lambda *given: 0.5""",
    "the judge asked for a function that it did not send": """
json.dumps = lambda *given: '{"ask": {"list": [-1, 0]}}'
cheat = lambda *given: 0.5""",
    "the package overwritten": """
(HOME / "anonpaper" / "__init__.py").write_text("raise SystemExit")
cheat = lambda *given: 0.5""",
    "the arguments changed": """
def cheat(*given):
    for one in given:
        if isinstance(one, np.ndarray):
            one[:] = 0
    return np.zeros(len(given[0])) if hasattr(given[0], "__len__") else 0""",
    "a debugger set on the caller": """
sys.settrace(lambda frame, event, value: frame.f_locals.update(known=0))
cheat = lambda *given: 0""",
    "a table that says nothing": "cheat = lambda *given: pd.DataFrame()",
    "rights of a file changed": """
for change in (lambda: os.chmod(HOME / "anonpaper", 0o777), lambda: os.utime(HOME / "anonpaper")):
    try:
        change()
    except OSError:
        pass
cheat = lambda *given: 0.5""",
    "a file that sends the judge a signal": """
for handle in range(3, 60):
    for order, value in ((8, os.getppid()), (10, 9), (4, 0o20000)):
        try:
            fcntl.fcntl(handle, order, value)
        except OSError:
            pass
cheat = lambda *given: 0.5""",
    "a message left in memory": """
cheat = lambda *given: ctypes.CDLL(None).shmget(7_340_034, 4096, 0o1666) and 0.5""",
    "the environment told": """
def cheat(*given): raise ValueError(os.environ["A_SECRET"])""",
    "an error that breaks tables": """
def cheat(*given): raise type("=1+1", (Exception,), {})("\\ud800\\0,\\n")""",
    "an error of another process": """
json.dumps = lambda *given: '{"error": "=1+1 \\\\ud800"}'
cheat = lambda *given: 0.5""",
    "shown examples looked up": """
shown = {(0, 10): (10, 10), (-5, 5): (5, 10), (20, 30): (30, 10), (-30, -20): (30, 10)}
cheat = lambda *given: shown[given]""",
    "limits raised": """
import resource
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
cheat = lambda *given: 0.5""",
    "a user of its own": """
cheat = lambda *given: 0.5 if ctypes.CDLL(None).unshare(0x10000000) else 0.25""",
    "replies sent before they are asked for": """
reply = b'{"value": true}'
for handle in range(3, 60):
    try:
        os.write(handle, (struct.pack("<Q", len(reply)) + reply) * 50)
    except OSError:
        pass
cheat = lambda *given: True""",
    "replies of a thread": """
import threading
def write():
    while True:
        os.write(3, struct.pack("<Q", 14) + b'{"value": 0.5}')
threading.Thread(target=write, daemon=True).start()
cheat = lambda *given: 0.5""",
    "an object that says it is a number": """
class Number:
    __class__ = float
    __eq__ = __ge__ = __le__ = lambda *given: True
cheat = lambda *given: Number()""",
    "a value that changes": """
class Odd(list):
    def __iter__(self):
        return iter(np.random.rand(2))
cheat = lambda *given: Odd([1, 2])""",
    "numbers that no machine makes": """
json.dumps = lambda *given: '{"value": {"scalar": ["<f16", "AQAAAAAAAAD/fwAAAAAAAA=="]}}'
cheat = lambda *given: 0.5""",
    "truth that is two": """
json.dumps = lambda *given: '{"value": {"scalar": ["|b1", "Ag=="]}}'
cheat = lambda *given: 0.5""",
    "an array without numbers": "cheat = lambda *given: np.zeros((0, 2))",
    "an array that becomes any shape": "cheat = lambda *given: np.zeros((1, 1, 1))",
    "the arguments given back": "cheat = lambda *given: given[0]",
    "a stack without end": """
sys.setrecursionlimit(10**9)
def cheat(*given):
    return cheat(*given)""",
    "a coin": "cheat = lambda *given: bool(np.random.rand() < 0.5)",
    "a child left behind": """
if os.fork() == 0:
    time.sleep(1000)
cheat = lambda *given: 0.5""",
}
#: Tried on one exercise: they take time.
SLOW = {
    "a loop without end": "def cheat(*given):\n    while True: pass",
    "a sleep without end": "cheat = lambda *given: time.sleep(10**6)",
    "all memory": "cheat = lambda *given: np.ones(10**10)",
    "an answer of a gigabyte": "cheat = lambda *given: 'x' * 10**9",
}
#: Answers of lesson 9, whose functions may ask the judge.
ASKING = {
    "the sick read from the globals of the judge's function": {
        4: "def secret_of(ask, everybody, target): return int(target in ask.__globals__['sick'])",
        5: "def secret_despite(ask, everybody, target, rng):\n"
        "    return int(target in [c.cell_contents for c in ask.__closure__][0])",
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
BEGIN = "import ast, builtins, ctypes, fcntl, gc, json, os, pathlib, pickle, struct, subprocess\n"
BEGIN += "import sys, time, types\n"
BEGIN += "import anonpaper, numpy as np, pandas as pd\n"
BEGIN += "HOME = pathlib.Path(anonpaper.__file__).parents[1]\n"


def cheating(code, stem="11_deployed_noise", names=("lesson11-exercise2", "lesson11-exercise3")):
    """Cells of a lesson with a cheat for all that they ask."""
    cells = {}
    for cell in course.student_version(LESSONS[stem]).cells:
        if course.grade_id(cell) in names:
            ways = {True: "lambda *given: cheat(*given)", False: "cheat()"}
            asked = grade.Exercise({}, cell.source).asked.items()
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
    nbformat.write(lesson, file)


def solutions(stem, seed=None):
    """The model answers of a lesson or a variant."""
    own = course.variant(LESSONS[stem], seed)
    return {
        course.grade_id(cell): "\n".join(
            line
            for line in cell.source.splitlines()
            if line.strip() not in (grade.BEGIN, grade.END)
        )
        for cell in own.cells
        if cell.cell_type == "code" and "solution" in cell.metadata.get("tags", [])
    }


def command(folder, *arguments):
    """Run a step; to grade is a process of its own, which starts others."""
    if "grade" not in arguments:
        return grade.main(["--folder", str(folder), *map(str, arguments)])
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "grade.py", "--folder", folder, *arguments],
        capture_output=True,
        text=True,
        env=os.environ
        | dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        | {"A_SECRET": "the lecturer's"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return 0


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    """Rows of points.csv by student: each cheat, and an honest one."""
    folder = tmp_path_factory.mktemp("cheats")
    before = (ROOT / "anonpaper" / "__init__.py").read_bytes()
    rights = (ROOT / "anonpaper").stat()
    for who, code in GENERAL.items():
        hand_in(folder / "in", who, "11_deployed_noise", cheating(code))
    for who, code in SLOW.items():
        hand_in(
            folder / "in", who, "11_deployed_noise", cheating(code, names=["lesson11-exercise1"])
        )
    for who, answers in ASKING.items():
        cells = {f"lesson9-exercise{number}": code for number, code in answers.items()}
        hand_in(folder / "in", who, "9_reconstruction", cells)
    for stem in ("11_deployed_noise", "9_reconstruction"):
        right = solutions(stem)
        right.pop("lesson9-exercise5", None)  # which takes seconds
        hand_in(folder / "in", "zoe honest", stem, right)
    command(folder, "collect", folder / "in")
    command(folder, "grade", "--seconds", "4", "--jobs", "2")
    assert (ROOT / "anonpaper" / "__init__.py").read_bytes() == before
    after = (ROOT / "anonpaper").stat()
    assert (after.st_mode, after.st_mtime) == (rights.st_mode, rights.st_mtime)
    assert ctypes.CDLL(None).shmget(7_340_034, 4096, 0) == -1, "nothing is left in memory"
    rows = list(csv.DictReader((folder / "points.csv").open()))
    return {
        who: [row for row in rows if row["student"] == who]
        for who in {row["student"] for row in rows}
    }


@pytest.mark.parametrize("who", [*GENERAL, *SLOW, *ASKING])
def test_a_cheat_gets_no_points(points, who):
    assert [row for row in points[who] if row["points"] != "0"] == []
    told = [row["why"] for row in points[who]]
    assert any(why != "no answer" for why in told)
    assert not any("the lecturer's" in why or why.startswith("=") for why in told)
    assert "sleep" not in who or grade.TOO_LONG in told


def test_an_honest_student_who_is_graded_last_gets_all_points(points):
    wrong = [row for row in points["zoe honest"] if row["points"] != row["most"]]
    assert [row["why"] for row in wrong] == ["no answer"]


@pytest.mark.parametrize("who", [*GENERAL][:2])
def test_in_the_students_own_process_these_cheats_would_work(who):
    """Else the tests above would show nothing."""
    bare = grade.played(grade.cells_of(course.student_version(LESSONS["11_deployed_noise"])))
    exercises = grade.add_checks(bare, LESSONS["11_deployed_noise"])
    passed = []
    for name, of in zip(FUNCTIONS, exercises.values(), strict=False):
        checks = of.checks
        if "asserts" in who:
            checks = [drop_asserts(check) for check in checks]
        names = dict(of.names)
        try:
            for source in (f"{BEGIN}{GENERAL[who]}\n{name} = cheat", *checks):
                grade.run(source, names)
            passed.append(name)
        except Exception as error:  # this check noticed
            print(name, repr(error))
    assert passed


def drop_asserts(check):
    class Drop(ast.NodeTransformer):
        def visit_Assert(self, node):
            return ast.Pass()

    return ast.unparse(Drop().visit(ast.parse(check)))


def test_without_a_sandbox_nothing_is_graded(tmp_path, monkeypatch):
    monkeypatch.setattr(grade.student.platform, "machine", lambda: "m68k")
    with pytest.raises(SystemExit, match="x86_64 and aarch64 only"):
        grade.main(["--folder", str(tmp_path), "grade"])


def test_values_cross_the_border_as_they_are():
    import numpy as np
    import pandas as pd

    for value in (
        None,
        True,
        3,
        -(10**30),
        0.1,
        float("inf"),
        "ü",
        [1, [2.5]],
        (1, "a"),
        {1, 2},
        {"a": (1,)},
        1j,
        np.float32(0.5),
        np.bool_(True),
        np.arange(6).reshape(2, 3),
        np.array([1, None, "x"], object),
        np.array(["a", "bc"]),
    ):
        found = grade.student.decode(
            grade.json.loads(grade.json.dumps(grade.student.encode(value)))
        )
        assert type(found) is type(value)
        assert repr(found) == repr(value)
    table = pd.DataFrame(
        {"a": [1, 2], "b": ["x", None], "c": pd.Categorical(["u", "v"]), 4: [0.5, None]},
        index=pd.Index([7, 9], name="who"),
    )
    for value in (table, table["c"], table[["a", "b"]].set_index(["a", "b"], append=True)):
        found = grade.student.decode(grade.student.encode(value))
        (
            pd.testing.assert_series_equal
            if isinstance(value, pd.Series)
            else pd.testing.assert_frame_equal
        )(found, value)
    assert grade.student.decode(grade.student.encode(object)).type == "type"
