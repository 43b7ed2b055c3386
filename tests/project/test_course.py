"""Rules for the lessons: their form, and what a student's version may not show and must refuse.

That every self-check passes on the solutions is seen by nbval, which executes the sources.
"""

import ast
import importlib.util
import re
from pathlib import Path

import nbformat
import pytest
import yaml
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell
from nbgrader.nbgraderformat import MetadataValidator

ROOT = Path(__file__).parents[2]
LESSONS = ROOT / "notebooks" / "course"
PATHS = sorted(LESSONS.glob("*.ipynb"))
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
PLAIN = {"return", "else:", "pass"}  # lines of a solution that tell nothing


def load_tool():
    spec = importlib.util.spec_from_file_location("course", ROOT / "tools" / "course.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


course = load_tool()


def read(path):
    return nbformat.read(path, as_version=4)


def tagged(notebook, tag):
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]


def grade_id(cell):
    return cell.metadata["nbgrader"]["grade_id"]


def region_of(cell):
    """Return the lines of a solution cell that students do not get."""
    lines = cell.source.splitlines()
    marks = [number for number, line in enumerate(lines) if line.strip() in (BEGIN, END)]
    assert [lines[number].strip() for number in marks] == [BEGIN, END], grade_id(cell)
    return lines[marks[0] + 1 : marks[1]]


def is_telling(line):
    """Whether a line gives something of a solution away."""
    return len(line.strip()) > 10 and line.strip() not in PLAIN


def wrong_answers():
    return yaml.safe_load((LESSONS / "wrong_answers.yaml").read_text())


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
    minutes = re.search(r"\*\*Time:\*\* (\d+) minutes: ", text)
    assert 60 <= int(minutes[1]) <= 90


def test_exercises_are_numbered_and_each_is_followed_by_its_answer_and_check(path, lesson):
    number = path.stem.partition("_")[0]
    starts = [
        place
        for place, cell in enumerate(lesson.cells)
        if cell.cell_type == "markdown" and re.match(r"### Exercise", cell.source)
    ]
    assert 4 <= len(starts) <= 6
    for exercise, place in enumerate(starts, start=1):
        question, answer, check = lesson.cells[place : place + 3]
        assert question.source.startswith(f"### Exercise {number}.{exercise} ")
        assert grade_id(answer) == f"lesson{number}-exercise{exercise}"
        if answer.cell_type == "code":
            assert answer.metadata["tags"] == ["solution"]
            assert check.metadata["tags"] == ["self-check"]
            assert grade_id(check) == f"lesson{number}-check{exercise}"
    assert len(tagged(lesson, "solution")) == len(starts)


def test_nbgrader_accepts_the_metadata(lesson):
    MetadataValidator().validate_nb(lesson)
    for cell in lesson.cells:
        tags = set(cell.metadata.get("tags", [])) & {"solution", "self-check"}
        assert bool(tags) == ("nbgrader" in cell.metadata), cell.source
    for cell in tagged(lesson, "solution"):
        marks = cell.metadata["nbgrader"]
        is_text = cell.cell_type == "markdown"
        assert (marks["solution"], marks["grade"], marks["locked"]) == (True, is_text, False)
        assert is_text == ("model-answer" in cell.metadata["tags"])
    for cell in tagged(lesson, "self-check"):
        marks = cell.metadata["nbgrader"]
        assert (marks["solution"], marks["grade"], marks["locked"]) == (False, True, True)
        assert marks["points"] > 0


def test_grade_ids_are_unique_over_the_course():
    ids = [
        grade_id(cell)
        for path in PATHS
        for cell in read(path).cells
        if "nbgrader" in cell.metadata
    ]
    assert ids
    assert len(set(ids)) == len(ids)


def test_a_note_on_ethics_stands_before_every_attack(lesson):
    attacks = [
        place
        for place, cell in enumerate(lesson.cells)
        if "attack" in cell.metadata.get("tags", [])
    ]
    assert attacks
    for place in attacks:
        heading = max(
            before
            for before, cell in enumerate(lesson.cells[:place])
            if cell.cell_type == "markdown" and cell.source.startswith("## ")
        )
        near = lesson.cells[heading - 1 : place]
        notes = [cell for cell in near if "ethics" in cell.metadata.get("tags", [])]
        assert notes, lesson.cells[place].source
        assert all(len(note.source.split()) > 20 for note in notes)


def test_self_checks_assert_with_messages_and_end_in_one_sentence(lesson):
    for cell in tagged(lesson, "self-check"):
        *_, last = body = ast.parse(cell.source).body
        asserts = [
            node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Assert)
        ]
        assert len(asserts) >= 3, grade_id(cell)
        assert all(node.msg is not None for node in asserts), grade_id(cell)
        assert not any(isinstance(node, ast.Try) for node in ast.walk(ast.parse(cell.source)))
        exercise = re.search(r"lesson(\d+)-check(\d+)", grade_id(cell))
        said = last.value.args[0]
        said = said.values[0].value if isinstance(said, ast.JoinedStr) else said.value
        assert said.startswith(f"{exercise[1]}.{exercise[2]} holds: "), grade_id(cell)
        prints = [
            node
            for node in ast.walk(ast.Module(body, []))
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("print", "display")
        ]
        assert prints == [last.value], "the sentence at the end is all that a self-check prints"


def test_self_checks_do_not_tell_the_solution(lesson):
    solutions = {
        grade_id(cell).replace("exercise", "check"): region_of(cell)
        for cell in tagged(lesson, "solution")
        if cell.cell_type == "code"
    }
    for cell in tagged(lesson, "self-check"):
        told = [
            line
            for line in solutions[grade_id(cell)]
            if is_telling(line) and line.strip() in cell.source
        ]
        assert told == [], grade_id(cell)


def test_lessons_name_neither_files_nor_links_beside_them(path, lesson):
    for cell in lesson.cells:
        assert path.name not in cell.source
        assert not re.search(r"\]\((?!https?://)", cell.source), cell.source


# ---- the student's version --------------------------------------------------------------------


def test_no_solution_no_model_answer_and_no_output_is_left(lesson, student):
    text = "\n".join(cell.source for cell in student.cells)
    for cell in tagged(lesson, "solution"):
        secret = (
            region_of(cell)
            if cell.cell_type == "code"
            else re.split(r"(?<=[.;:?!])\s", cell.source)
        )
        assert any(is_telling(line) for line in secret), grade_id(cell)
        assert [line for line in secret if is_telling(line) and line.strip() in text] == []
    assert BEGIN not in text
    assert END not in text
    for cell in student.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_all_else_is_as_it_was(lesson, student):
    assert student.metadata == lesson.metadata
    assert [cell.id for cell in student.cells] == [cell.id for cell in lesson.cells]
    for before, after in zip(lesson.cells, student.cells, strict=True):
        assert after.metadata == before.metadata
        if "solution" not in before.metadata.get("tags", []):
            assert after.source == before.source
        elif before.cell_type == "markdown":
            assert after.source == course.TEXT_STUB
        else:
            kept, _, rest = before.source.partition(BEGIN)
            assert after.source == kept + course.CODE_STUB + rest.partition(END)[2]


def test_nbgrader_accepts_the_students_version(student):
    nbformat.validate(student)
    MetadataValidator().validate_nb(student)


class SocketKernelManager(AsyncKernelManager):
    transport = "ipc"  # kernels started side by side may be given one free port


def with_attempts(lesson, student):
    """Return the student's version with wrong answers and the solution after each self-check.

    Every attempt is a pair of cells: the answer, from the student's start on, and the self-check.
    """
    sources = {cell.id: cell for cell in lesson.cells}
    notebook = nbformat.from_dict(student)
    notebook.cells = []
    expected = {}
    for cell in student.cells:
        notebook.cells.append(cell)
        if "self-check" not in cell.metadata.get("tags", []):
            continue
        expected[cell.id] = r"\w+ \w+"
        start = notebook.cells[-2]
        exercise = grade_id(start)
        attempts = [
            (wrong["answer"], re.escape(wrong["message"]))
            for wrong in wrong_answers().get(exercise, [])
        ]
        attempts.append(
            (
                "\n".join(
                    line
                    for line in sources[start.id].source.splitlines()
                    if line.strip() not in (BEGIN, END)
                ),
                None,
            )
        )
        for number, (answer, message) in enumerate(attempts):
            check = new_code_cell(cell.source, id=f"{cell.id}-{number}")
            expected[check.id] = message
            notebook.cells += [new_code_cell(answer, id=f"{start.id}-{number}"), check]
    return notebook, expected


@pytest.fixture(scope="module")
def executed(lesson, student, tmp_path_factory):
    """The student's version with attempts, executed; and what each self-check should say."""
    notebook, expected = with_attempts(lesson, student)
    manager = SocketKernelManager(
        kernel_name="python3", connection_file=str(tmp_path_factory.mktemp("kernel") / "k")
    )
    client = NotebookClient(
        notebook,
        km=manager,
        allow_errors=True,
        timeout=240,
        resources={"metadata": {"path": str(LESSONS)}},
    )
    client.execute()
    return notebook, expected


def errors_of(cell):
    return [output for output in cell.get("outputs", []) if output.output_type == "error"]


def test_self_checks_refuse_empty_cells_and_wrong_answers_and_take_the_solution(executed):
    notebook, expected = executed
    cells = {cell.id: cell for cell in notebook.cells}
    assert expected
    for name, message in expected.items():
        errors = errors_of(cells[name])
        if message is None:
            assert errors == [], f"{name} refuses the solution"
        else:
            assert [error.ename for error in errors] == ["AssertionError"], name
            assert re.search(message, errors[0].evalue), f"{name}: {errors[0].evalue}"


def test_no_other_cell_of_the_students_version_fails(executed):
    notebook, expected = executed
    failed = [cell.id for cell in notebook.cells if errors_of(cell) and cell.id not in expected]
    assert failed == []


def test_messages_are_sentences(executed):
    notebook, expected = executed
    for cell in notebook.cells:
        for error in errors_of(cell):
            assert len(error.evalue.split()) >= 4, cell.id


def test_every_exercise_has_wrong_answers_and_every_wrong_answer_its_exercise():
    exercises = {
        grade_id(cell)
        for path in PATHS
        for cell in tagged(read(path), "solution")
        if cell.cell_type == "code"
    }
    assert set(wrong_answers()) == exercises
    for exercise, answers in wrong_answers().items():
        assert answers, exercise
        assert all(set(answer) == {"answer", "why", "message"} for answer in answers)


# ---- the tool ---------------------------------------------------------------------------------


def test_the_folder_of_students_has_lessons_and_index_and_nothing_for_instructors(tmp_path):
    folder = tmp_path / "course" / "student"
    course.write_students(PATHS, folder)
    names = {path.name for path in PATHS}
    assert {path.name for path in folder.iterdir()} == names | {"README.md"}
    guide = (LESSONS / "INSTRUCTOR.md").read_text()
    answers = [line.strip() for line in guide.splitlines() if re.match(r"   \S", line)]
    assert len(answers) == 2 * len(PATHS)
    given_out = "\n".join(path.read_text() for path in folder.iterdir())
    assert not [answer for answer in answers if answer in given_out]
    index = (folder / "README.md").read_text()
    assert set(re.findall(r"\]\((\S+\.ipynb)\)", index)) == names
    for name in names:
        assert not [cell for cell in read(folder / name).cells if cell.get("outputs")]


def test_the_folder_of_instructors_has_lessons_with_solutions_guide_and_wrong_answers(tmp_path):
    folder = tmp_path / "course" / "instructor"
    course.write_instructors(LESSONS, folder)
    names = {path.name for path in PATHS} | {"INSTRUCTOR.md", "wrong_answers.yaml"}
    assert {path.name for path in folder.iterdir()} == names
    for name in names:
        assert (folder / name).read_bytes() == (LESSONS / name).read_bytes()


def test_the_course_is_written_into_two_folders(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(course, "ROOT", tmp_path)
    monkeypatch.setattr(course, "COURSE", tmp_path / "build" / "course")
    stale = tmp_path / "build" / "course" / "INSTRUCTOR.md"
    stale.parent.mkdir(parents=True)
    stale.touch()
    assert course.main() == 0
    written = tmp_path / "build" / "course"
    assert {path.name for path in written.iterdir()} == {"student", "instructor"}
    assert "build/course/student: 8 lessons" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda cell: cell.update(source=cell.source.replace(END, "")), "no end solution"),
        (lambda cell: cell.metadata["nbgrader"].update(solution=False), "non-solution cell"),
        (lambda cell: cell.metadata["nbgrader"].pop("grade_id"), "metadata may be corrupted"),
    ],
)
def test_a_lesson_that_would_leak_is_refused(change, message):
    lesson = read(PATHS[0])
    change(next(cell for cell in tagged(lesson, "solution") if cell.cell_type == "code"))
    with pytest.raises(course.LessonError, match=message):
        course.student_version(lesson)
