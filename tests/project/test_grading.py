"""Points and marks: right answers get them, answers that deceive the checks get none."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from project.tools import load_tool

ROOT = Path(__file__).parents[2]
course, grade = load_tool("course"), load_tool("grade")
LESSONS = {path.stem: nbformat.read(path, 4) for path in course.all_lessons()}
STEMS = ("10_membership", "11_deployed_noise")
TEXT = {"10_membership": "lesson10-exercise6", "11_deployed_noise": "lesson11-exercise6"}
SEED = "2027"
WRONG = yaml.safe_load((course.LESSONS / "wrong_answers.yaml").read_text())
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")

BEGIN = """import ast, builtins, os, pathlib, struct, subprocess, sys, time
import anonpaper, numpy as np
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
    "an object that says it is a number": """
class Number:
    __class__ = float
    __eq__ = __ge__ = __le__ = lambda *given: True
cheat = lambda *given: Number()""",
    "not a number": "cheat = lambda *given: float('nan')",
    "a coin": "cheat = lambda *given: bool(np.random.rand() < 0.5)",
    "the encoder replaced": """
sys.modules["student"].encode = lambda *given: {"array": ["<f8", [10**12], []]}""",
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
    "the solution asked from git": "subprocess.run(['git', 'show', 'HEAD'], cwd=HOME)",
    "the judge's memory read": "open(f'/proc/{os.getppid()}/maps').read()",
    "answers of others read": "os.listdir('/tmp')",
    "the judge killed": "os.kill(os.getppid(), 9)",
    "the package overwritten": "(HOME / 'anonpaper' / '__init__.py').write_text('')",
    "a child left behind": "os.fork()",
    "a connection": "__import__('socket').create_connection(('127.0.0.1', 9))",
}
SLOW = {
    "a loop without end": "def cheat(*given):\n    while True: pass",
    "all memory": "cheat = lambda *given: np.ones(10**10)",
}


def cheating(code, names):
    """Cells of lesson 11 with a cheat for all that they ask."""
    cells = {}
    for cell in course.student_version(LESSONS["11_deployed_noise"]).cells:
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
    rows = rows_of(folder / "points.csv")
    names = {row["student"] for row in rows}
    return {who: [row for row in rows if row["student"] == who] for who in names}


def rows_of(file):
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    """Rows of points.csv by student: each cheat, and an honest one."""
    folder = tmp_path_factory.mktemp("cheats")
    for who, code in (CHEATS | REFUSED).items():
        answers = cheating(code, ["lesson11-exercise2", "lesson11-exercise3"])
        hand_in(folder / "in", who, STEMS[1], answers)
    for who, code in SLOW.items():
        hand_in(folder / "in", who, STEMS[1], cheating(code, ["lesson11-exercise1"]))
    hand_in(folder / "in", "zoe honest", STEMS[1], solutions(STEMS[1]))
    return graded(folder, "--seconds", "25")


@pytest.mark.parametrize("who", [*CHEATS, *REFUSED, *SLOW])
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


def simulate(folder, students):
    """Hand in the lessons of students, by their kind, and write the platform's worksheet."""
    for who, kind in students.items():
        for stem in STEMS:
            right = solutions(stem, f"{SEED}/{who}")
            given = {
                "right": right,
                "half": dict([*right.items()][::2]),
                "wrong": {name: WRONG[name][0]["answer"] for name in right},
                "copy": solutions(stem, f"{SEED}/Ann Abt"),
            }[kind]
            hand_in(folder / "in", who, stem, given | {TEXT[stem]: "=My own words.\ud800"})
    rows = [(f"Participant {n}", who, "", "") for n, who in enumerate(students)]
    with (folder / "worksheet.csv").open("w", newline="") as stream:
        head = ("Identifier", "Full name", "Grade", "Feedback comments")
        csv.writer(stream).writerows([head, *rows])


def test_marks_are_right_and_points_of_texts_are_kept_when_it_is_graded_again(tmp_path):
    students = {"Ann Abt": "right", "Bob Bo": "half", "Cyd Co": "copy", "Dan Du": "wrong"}
    simulate(tmp_path, students)
    (tmp_path / "in" / "Eve E").mkdir()
    (tmp_path / "in" / "Eve E" / f"{STEMS[0]}.ipynb").write_text("[" * 10**5)  # no notebook
    points = graded(tmp_path, "--seed", SEED)
    most = sum(float(row["most"]) for row in points["Ann Abt"])
    total = {who: sum(float(row["points"]) for row in points[who]) for who in points}
    half = sum(float(row["most"]) for row in points["Ann Abt"][::2])
    assert total["Ann Abt"] == most and 0 < total["Bob Bo"] == half
    assert 0 < total["Cyd Co"] < most / 2  # exercises without variants
    assert total["Dan Du"] == total["Eve E"] == 0
    texts = rows_of(tmp_path / "texts.csv")
    assert {row["text"] for row in texts} == {"'=My own words.?"}
    texts[0]["points"] = "3"
    with (tmp_path / "texts.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([texts[0], *(row.values() for row in texts)])
    graded(tmp_path, "--seed", SEED)
    with pytest.raises(SystemExit, match="not in .*: Eve E"):
        grade.main(["--folder", str(tmp_path), "marks", str(tmp_path / "worksheet.csv")])
    marks = {row["Full name"]: float(row["Grade"]) for row in rows_of(tmp_path / "marks.csv")}
    assert marks == {who: total[who] + 3 * (who == "Ann Abt") for who in students}
