"""What a student's version of a lesson may not show, and what its self-checks must refuse.

That every self-check passes on the solutions is seen by `make`, which executes the sources.
"""

import functools
import re
from pathlib import Path

import nbformat
import pytest
import yaml
from project.tools import load_tool

ROOT = Path(__file__).parents[2]
LESSONS = ROOT / "notebooks" / "course"
PLAIN = {"return", "else:", "pass"}  # lines of a solution that tell nothing

course, grade = load_tool("course"), load_tool("grade")
BEGIN, END, run = grade.BEGIN, grade.END, grade.run
PATHS = course.all_lessons()


@functools.cache
def read(path):
    return nbformat.read(path, as_version=4)


def tagged(notebook, tag):
    return [cell for cell in notebook["cells"] if tag in cell.metadata.get("tags", [])]


def telling(lines):
    """Return the lines that give something of a solution away."""
    return [line for line in lines if len(line.strip()) > 10 and line.strip() not in PLAIN]


@pytest.fixture(params=PATHS, ids=lambda path: path.stem, scope="module")
def path(request):
    return request.param


@pytest.fixture(scope="module")
def lesson(path):
    return read(path)


@pytest.fixture(scope="module")
def student(lesson):
    return course.student_version(lesson)


# ---- the student's version --------------------------------------------------------------------


def test_no_solution_no_model_answer_and_no_output_is_left(lesson, student):
    text = "\n".join(cell.source for cell in student.cells)
    for cell in tagged(lesson, "solution"):
        if cell.cell_type == "code":
            secret = cell.source.partition(BEGIN)[2].partition(END)[0].splitlines()
        else:
            secret = re.split(r"(?<=[.;:?!])\s", cell.source)
        assert telling(secret), course.grade_id(cell)
        assert [line for line in telling(secret) if line.strip() in text] == []
    assert not re.search(r"(BEGIN|END) (SOLUTION|HIDDEN)", text)
    assert not [cell for cell in student.cells if cell.get("outputs")]


def test_a_note_on_ethics_stands_before_every_attack(lesson):
    attacks = [lesson.cells.index(cell) for cell in tagged(lesson, "attack")]
    assert attacks
    for place in attacks:
        heading = max(n for n in range(place) if lesson.cells[n].source.startswith("## "))
        assert tagged({"cells": lesson.cells[heading - 1 : place]}, "ethics")


# ---- the self-checks --------------------------------------------------------------------------
#
# A lesson's cells run in one namespace, as in a notebook; every attempt at an exercise runs in a
# copy of it: the answer, then the self-check with its hidden tests.


def attempt(of, answer: str) -> BaseException | None:
    """Return what the self-check, or the answer itself, raises; None if it is taken."""
    names = dict(of.names)
    try:
        for source in (answer, *of.checks):
            run(source, names)
    except Exception as error:  # whatever an attempt may raise is what is asked for
        return error
    return None


@functools.cache
def names_of(path: Path) -> dict:
    """Run a lesson as a student does who answers nothing; return the names at each answer."""
    return grade.played(course.student_version(read(path)))


EXERCISES = [
    (path, course.grade_id(cell))
    for path in PATHS
    for cell in tagged(read(path), "solution")
    if cell.cell_type == "code"
]


@pytest.fixture(params=EXERCISES, ids=lambda of: of[1])
def exercise(request):
    path, name = request.param
    return name, grade.exercises(read(path), names_of(path))[name]


@functools.cache
def answers(kind):
    return yaml.safe_load((LESSONS / f"{kind}_answers.yaml").read_text())


def test_the_empty_cell_and_wrong_answers_are_refused_for_what_is_wrong(exercise):
    name, of = exercise
    found = [
        (answer, repr(error))
        for message, answer in [("", of.stub), *answers("wrong")[name].items()]
        if type(error := attempt(of, answer)) is not AssertionError
        or message not in str(error)
        or len(str(error).split()) < 3
    ]
    assert found == []


def test_right_answers_are_taken_also_by_the_hidden_tests(exercise):
    name, of = exercise
    errors = [attempt(of, answer) for answer in [of.solution, *answers("right")[name]]]
    assert [repr(error) for error in errors if error] == []


def test_the_course_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(course, "STUDENT", tmp_path / "student")
    course.main()
    written = {file.name: file.read_text() for file in (tmp_path / "student").iterdir()}
    assert written.keys() == {path.name for path in PATHS} | {"README.md"}
    assert not [name for name, text in written.items() if "SOLUTION" in text]
