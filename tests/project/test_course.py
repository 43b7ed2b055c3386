"""What a student's version of a lesson may not show, and what its self-checks must refuse.

That every self-check passes on the solutions is seen by `make`, which executes the sources.
"""

import csv
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
BEGIN, END, HIDDEN, run = grade.BEGIN, grade.END, grade.HIDDEN, grade.run
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
    stub = {"answer": of.stub, "message": ""}
    found = [
        (one["answer"], repr(error))
        for one in [stub, *answers("wrong")[name]]
        if type(error := attempt(of, one["answer"])) is not AssertionError
        or one["message"] not in str(error)
        or len(str(error).split()) < 3
    ]
    assert found == []


def test_right_answers_are_taken_also_by_the_hidden_tests(exercise):
    name, of = exercise
    listed = answers("right")[name]
    errors = [attempt(of, answer) for answer in [of.solution, *listed]]
    assert [repr(error) for error in errors if error] == []


# ---- variants ---------------------------------------------------------------------------------


def test_answers_of_a_variant_are_right_for_it_and_mostly_wrong_for_another(path):
    lesson, one, other = (
        grade.exercises(course.variant(read(path), seed), names_of(path))
        for seed in (None, "7/one", "7/other")
    )
    varied = {name for name in one if one[name] != lesson[name]}
    assert varied == course.varied().keys() & one.keys() != set()
    for name in varied:
        drawn, others = (course.drawn_constants(name, f"7/{who}") for who in ("one", "other"))
        error = attempt(one[name], one[name].solution)
        assert error is None, f"{name} with {drawn}: {error!r}"
        assert attempt(one[name], one[name].stub) is not None
        assert drawn == others or attempt(other[name], one[name].solution) is not None, name


def test_the_course_is_written_with_variants_and_their_key(tmp_path, monkeypatch):
    monkeypatch.setattr(course, "COURSE", tmp_path)
    monkeypatch.setattr(course, "all_lessons", lambda: PATHS[:2])
    (tmp_path / "names.csv").write_text("Full name,Grade\nAnn,\nBob,\n")
    course.main(["--seed", "7", "--students", str(tmp_path / "names.csv")])
    index = (tmp_path / "student" / "README.md").read_text()
    names = {path.name for path in PATHS[:2]}
    assert set(re.findall(r"\]\((\S+\.ipynb)\)", index)) == names
    assert {path.name for path in (tmp_path / "student").iterdir()} == names | {"README.md"}
    rows = list(csv.DictReader((tmp_path / "variants" / "key" / "constants.csv").open()))
    own = {(row["student"], row["exercise"], row["constant"]): row["value"] for row in rows}
    assert {row["student"] for row in rows} == {"Ann", "Bob"} and len(own) == len(rows)
    for who in ("Ann", "Bob"):
        folders = (tmp_path / "variants" / part / who for part in ("students", "key"))
        given, key = ((folder / PATHS[0].name).read_text() for folder in folders)
        assert "SOLUTION" not in given and "SOLUTION" in key
        a, b = (own[who, "lesson1-exercise3", of] for of in "ab")
        for text in (given, key):
            assert f"use only the two values {a} and {b}." in text
