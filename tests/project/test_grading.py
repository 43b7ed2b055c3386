"""Points and marks: right answers get them, answers that deceive the checks get none."""

import copy
import csv
import json
import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
import yaml
from project.helpers import ROOT, SOLUTIONS, load_tool, needs_solutions

course, grade = load_tool("course"), load_tool("grade")
STEM = "11_deployed_noise"
PATH = next(path for path in course.LESSONS if path.stem == STEM)
LESSON = nbformat.read(PATH, 4)
TEXT = "lesson11-exercise6"
pytestmark = [
    needs_solutions,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux"),
]

BEGIN = """import builtins, os, pathlib, pickle, struct, subprocess, sys
import anonpaper, numpy as np
HOME = pathlib.Path(anonpaper.__file__).parents[1]
cheat = lambda *given: 0.5
"""
#: Each gives `cheat`, which the functions that are asked for return for their arguments.
CHEATS = {
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
    "not a number": "cheat = lambda *given: float('nan')",
    "the encoder replaced": """
sys.modules["__main__"].Writer.persistent_id = lambda *given: ("array", "<f8", (10**12,), [])""",
    "replies sent before they are asked for": """
reply = pickle.dumps({"value": True})
for handle in range(3, 200):
    try:
        os.write(handle, (struct.pack("!i", len(reply)) + reply) * 50)
    except OSError:
        pass""",
    "code where a reply is read": """
class Trap:
    def __reduce__(self):
        return (exec, ("raise SystemExit",))
reply = pickle.dumps({"value": Trap()})
sys.modules["__main__"].tell = lambda channel, **said: channel.send_bytes(reply)""",
    "an error that breaks tables": """
def cheat(*given): raise type("=1+1", (Exception,), {})("\\ud800\\0,\\n")""",
    "the environment told": "def cheat(*given): raise ValueError(os.environ.get('A_SECRET'))",
    "shown examples looked up": """
shown = {(0, 10): (10, 10), (-5, 5): (5, 10), (20, 30): (30, 10), (-30, -20): (30, 10)}
cheat = lambda *given: shown[given]""",
}
#: What the process may not do; without the sandbox, `cheat` would be lost and an error say so.
REFUSED = {
    "the solution read": "open(HOME / 'notebooks/course/solutions/9_reconstruction.ipynb').read()",
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


def cheating(code, *names):
    """Cells of lesson 11 with a cheat for all that they ask."""
    cells = {}
    for name in names:
        asked = grade.ASKED.findall(grade.cells_of(LESSON, name)[0].source)
        given = [f"{function} = lambda *given: cheat(*given)" for function, _ in asked]
        cells[name] = "\n".join([BEGIN, code.strip(), *given])
    return cells


def hand_in(folder, who, answers):
    """Write a notebook as the platform's archive has it."""
    lesson = copy.deepcopy(LESSON)
    for cell in tagged(lesson):
        cell.source = answers.get(cell.metadata.exercise, cell.source)
    file = folder / f"{who}_17_assignsubmission_file_" / f"{STEM}.ipynb"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(lesson))


def tagged(lesson):
    return [cell for cell in lesson.cells if "solution" in cell.metadata.get("tags", ())]


def solutions():
    """The model answers of the lesson that are code."""
    cells = tagged(course.lecturers_version(PATH))
    return {cell.metadata.exercise: cell.source for cell in cells if cell.cell_type == "code"}


def graded(folder, *options):
    """Grade what lies in a folder `in`; return the rows of points.csv by student."""
    shutil.make_archive(folder / "answers", "zip", folder / "in")
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "grade.py", folder / "answers.zip"]
        + ["--to", folder / "points.csv", *options],
        capture_output=True,
        text=True,
        env=os.environ | {"A_SECRET": "the lecturer's", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    with (folder / "points.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    names = {row["student"] for row in rows}
    return {who: [row for row in rows if row["student"] == who] for who in names}


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    """Rows of points.csv by student: each cheat, and an honest one."""
    folder = tmp_path_factory.mktemp("cheats")
    for who, code in (CHEATS | REFUSED).items():
        answers = cheating(code, "lesson11-exercise2", "lesson11-exercise3")
        hand_in(folder / "in", who, answers)
    for who, code in SLOW.items():
        hand_in(folder / "in", who, cheating(code, "lesson11-exercise1"))
    hand_in(folder / "in", "zoe honest", solutions())
    return graded(folder, "--seconds", "25")


@pytest.mark.parametrize("who", [*CHEATS, *REFUSED, *SLOW])
def test_a_cheat_gets_no_points(points, who):
    judged = [row for row in points[who] if row["exercise"] != TEXT]
    assert [row for row in judged if row["points"] != "0"] == []
    told = {row["why"] for row in judged} - {"no answer"}
    assert told
    assert not any("the lecturer's" in why or why.startswith("=") for why in told)
    refused = "PermissionError|not allowed|can't start"
    assert who not in REFUSED or all(re.search(refused, why) for why in told)
    assert "without end" not in who or told == {grade.TOO_LONG}


def test_an_honest_student_who_is_graded_last_gets_all_points(points):
    lost = [row for row in points["zoe honest"] if row["points"] != row["most"]]
    assert [row["exercise"] for row in lost] == [TEXT]


def test_without_a_sandbox_nothing_is_graded(monkeypatch):
    monkeypatch.setattr(grade, "shut_in", lambda: 1 / 0)
    with pytest.raises(SystemExit, match="no sandbox"):
        grade.main("answers.zip")


def test_right_answers_get_points_and_texts_are_listed(tmp_path):
    right, given = solutions(), yaml.safe_load((SOLUTIONS / "answers.yaml").read_text())
    stubs = {name: grade.cells_of(LESSON, name)[0].source for name in right}
    wrong = {name: course.written(stubs[name], [*given[name].values()][2]) for name in right}
    some = dict([*right.items()][::2])
    students = {"Ann A": right | {TEXT: "=My own words.\ud800"}, "Bob B": some, "Dan D": wrong}
    for who, answers in students.items():
        hand_in(tmp_path / "in", who, answers)
    (tmp_path / "in" / "Eve E").mkdir()
    (tmp_path / "in" / "Eve E" / f"{STEM}.ipynb").write_text("[" * 10**5)
    points = graded(tmp_path)
    got = {who: {row["exercise"] for row in points[who] if row["points"] == row["most"]}
           for who in points}  # fmt: skip
    assert got == {"Ann A": {*right}, "Bob B": {*some}, "Dan D": set(), "Eve E": set()}
    texts = {who: row["why"] for who in points for row in points[who] if row["exercise"] == TEXT}
    assert texts.pop("Ann A") == "'=My own words.?" and {*texts.values()} == {""}
