"""Rules for the lessons: their form, and what a student's version may not show and must refuse.

That every self-check passes on the solutions is seen by `make`, which executes the sources.
"""

import copy
import csv
import functools
import itertools
import re
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
import yaml
from nbgrader.nbgraderformat import MetadataValidator, ValidationError
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
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]


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


# ---- the form of a lesson ---------------------------------------------------------------------


def test_a_lesson_has_its_parts_in_order(path, lesson):
    number = path.stem.partition("_")[0]
    assert re.match(rf"# Lesson {number} · \S.*\n\n\S", lesson.cells[0].source)
    text = "\n".join(cell.source for cell in lesson.cells if cell.cell_type == "markdown")
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    assert headings[:2] == ["Learning goals", "Prerequisites"]
    assert headings[-2:] == ["Summary", "Further reading"]
    kinds = [heading.partition(":")[0] for heading in headings]
    assert kinds.index("Tiny") < kinds.index("Real") < kinds.index("Broken")
    assert lesson.cells[-1].source.endswith(
        "Text: [CC BY 4.0](https://creativecommons.org/licenses/by/4.0/). Code: MIT licence."
    )
    for cell in lesson.cells:  # neither files nor links beside it
        assert path.name not in cell.source
        assert not re.search(r"\]\((?!https?://|attachment:)", cell.source), cell.source


def test_exercises_are_numbered_and_each_has_its_answer_checks_and_points(path, lesson):
    number = path.stem.partition("_")[0]
    MetadataValidator().validate_nb(lesson)
    starts = [
        place
        for place, cell in enumerate(lesson.cells)
        if cell.cell_type == "markdown" and re.match(r"### Exercise", cell.source)
    ]
    assert 6 <= len(starts) <= 7
    assert len(tagged(lesson, "solution")) == len(starts)
    for exercise, place in enumerate(starts, start=1):
        question, answer, check = lesson.cells[place : place + 3]
        assert question.source.startswith(f"### Exercise {number}.{exercise} ")
        assert course.grade_id(answer) == f"lesson{number}-exercise{exercise}"
        if answer.cell_type == "code":
            assert answer.metadata["tags"] == ["solution"]
            assert check.metadata["tags"] == ["self-check"]
            assert course.grade_id(check) == f"lesson{number}-check{exercise}"
        else:
            rubric = answer.source.partition("\n\n**Rubric.** ")[2]
            points = sum(int(number) for number in re.findall(r"(\d) point", rubric))
            assert points == answer.metadata["nbgrader"]["points"], course.grade_id(answer)
    assert tagged(lesson, "model-answer"), "a lesson has a question to discuss"
    names = dict.fromkeys(map(course.grade_id, lesson.cells), {})
    for name, one in grade.exercises(lesson, names).items():
        assert one.points > 0 and any(map(HIDDEN.search, one.checks)), name


def test_a_note_on_ethics_stands_before_every_attack(lesson):
    attacks = [lesson.cells.index(cell) for cell in tagged(lesson, "attack")]
    assert attacks
    for place in attacks:
        heading = max(n for n in range(place) if lesson.cells[n].source.startswith("## "))
        near = lesson.cells[heading - 1 : place]
        notes = [cell for cell in near if "ethics" in cell.metadata.get("tags", [])]
        assert notes and all(len(note.source.split()) > 20 for note in notes)


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda cell: cell.update(source=cell.source.replace(END, "")), "no end solution"),
        (lambda cell: cell.metadata["nbgrader"].update(solution=False), "non-solution cell"),
        (lambda cell: cell.metadata["nbgrader"].pop("grade_id"), "metadata may be corrupted"),
    ],
)
def test_a_lesson_that_would_leak_is_refused(change, message):
    lesson = copy.deepcopy(read(PATHS[0]))
    change(next(cell for cell in tagged(lesson, "solution") if cell.cell_type == "code"))
    with pytest.raises((RuntimeError, ValidationError), match=message):
        course.student_version(lesson)


# ---- the self-checks --------------------------------------------------------------------------
#
# A lesson's cells run in one namespace, as in a notebook; every attempt at an exercise runs in a
# copy of it: the answer, then the self-check with its hidden tests.

WRONG_TYPES = [
    "'x'", "(1, 2)", "[]", "{}", "set()", "[None]", "['a', 'b']", "True", "1j", "-1", "0.5",
    "float('nan')", "float('inf')", "print", "(x for x in [1, 2])", "[[1, 2], [3]]", "{'a': 1}",
    "__import__('numpy').zeros(3)", "__import__('pandas').DataFrame({'a': [1, 2]})",
]  # fmt: skip
RIGHT_AS_IT_IS = {("pairs_exact", "[]"), ("pairs_exact", "set()"), ("predicted", "0.5")}


def attempt(of, answer: str) -> BaseException | None:
    """Return what the self-check, or the answer itself, raises; None if it is taken."""
    names = dict(of.names)
    try:
        for source in (answer, *of.checks):
            run(source, names)
    except Exception as error:  # whatever an attempt may raise is what is asked for
        return error
    return None


class Heavy:
    """Refuses what students need not install."""

    names = frozenset(
        {"copulas", "ctgan", "nbgrader", "papermill", "rdt", "sdv", "sphinx", "torch"}
    )

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in cls.names:
            raise ModuleNotFoundError(f"a student has no {name}", name=name)


@contextmanager
def only_light_packages():
    """Make imports of heavy packages fail, also of those that this process has imported."""
    known = {name: sys.modules.pop(name) for name in [*sys.modules] if name in Heavy.names}
    sys.meta_path.insert(0, Heavy)
    try:
        yield
    finally:
        sys.meta_path.remove(Heavy)
        sys.modules.update(known)


@functools.cache
def names_of(path: Path) -> dict:
    """Run a lesson as a student does who answers nothing; return the names at each answer."""
    with only_light_packages():
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


def test_every_exercise_has_enough_answers_and_every_answer_its_exercise():
    for kind, least in (("wrong", 3), ("right", 2)):
        assert set(answers(kind)) == {name for _, name in EXERCISES}
        for name, listed in answers(kind).items():
            assert len({*map(str, listed)}) >= least, name


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
    errors = [attempt(of, answer) for answer in [of.solution, *answers("right")[name]]]
    assert [repr(error) for error in errors if error] == []


def test_an_answer_of_another_type_is_refused_with_a_sentence(exercise):
    _, of = exercise
    is_function = any(of.asked.values())
    if not is_function:  # all else is as it shall be
        of = replace(of, names=dict(of.names))
        run(of.solution, of.names)
    found = []
    for name, value in itertools.product(of.asked, WRONG_TYPES):
        answer = f"def {name}(*given):\n    return {value}" if is_function else f"{name} = {value}"
        error = attempt(of, answer)
        refused = type(error) is AssertionError and len(str(error).split()) >= 3
        if not refused and (name, value) not in RIGHT_AS_IT_IS:
            found.append((name, value, repr(error)))
    assert found == []


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


# ---- the tool ---------------------------------------------------------------------------------


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
