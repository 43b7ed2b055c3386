"""Write the folders of students and instructors of the course, for the Makefile.

    course.py            notebooks/course -> build/course/student, build/course/instructor

A student's version is the source lesson without its solutions, model answers and outputs; its
self-checks stay. nbgrader's own preprocessors take the solutions out, so that a course that uses
nbgrader gets the same lessons from the sources. The instructor's folder has the lessons with
their solutions, the guide and the wrong answers. Both folders appear whole or not at all.
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from anonpaper.files import project_root

ROOT = project_root(Path(__file__).parent)
LESSONS = ROOT / "notebooks" / "course"
COURSE = ROOT / "build" / "course"
CODE_STUB = "# YOUR CODE HERE"
TEXT_STUB = "*Your answer here.*"
INDEX = """# The course

{lessons} lessons on publishing tables of people, for a master's course in data privacy. Every
exercise is followed by a cell that checks the answer and says what is wrong with it; it does not
need to be changed. The lessons do not depend on each other's answers.

| lesson | asks |
|---|---|
{rows}

Open a lesson in JupyterLab with the project's environment; it runs offline with the data sets that
`make data` has fetched.
"""


class LessonError(Exception):
    """A lesson cannot be made into a student's version; the message names the cell."""


def main() -> int:
    """Write build/course anew and return the exit code."""
    lessons = sorted(LESSONS.glob("*.ipynb"))
    COURSE.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=COURSE.parent) as folder:
        staging = Path(folder) / "course"
        try:
            write_students(lessons, staging / "student")
        except LessonError as error:
            print(f"course: {error}", file=sys.stderr)
            return 1
        write_instructors(LESSONS, staging / "instructor")
        shutil.rmtree(COURSE, ignore_errors=True)
        os.replace(staging, COURSE)
    print(f"{COURSE.relative_to(ROOT)}/student: {len(lessons)} lessons without their solutions")
    print(f"{COURSE.relative_to(ROOT)}/instructor: the guide and the lessons with solutions")
    return 0


def write_students(lessons: list[Path], folder: Path) -> None:
    """Write the students' versions of the lessons and an index, and nothing else."""
    import nbformat

    folder.mkdir(parents=True)
    rows = []
    for path in lessons:
        lesson = nbformat.read(path, as_version=4)
        rows.append(index_row(lesson, path.name))
        (folder / path.name).write_text(nbformat.writes(student_version(lesson), indent=1) + "\n")
    (folder / "README.md").write_text(INDEX.format(lessons=len(rows), rows="\n".join(rows)))


def write_instructors(sources: Path, folder: Path) -> None:
    """Copy the lessons with their solutions, the guide and the wrong answers."""
    folder.mkdir(parents=True)
    for path in sorted(sources.iterdir()):
        if path.suffix in (".ipynb", ".md", ".yaml"):
            shutil.copyfile(path, folder / path.name)


def student_version(lesson):
    """Return a copy of a lesson without solutions, model answers and outputs.

    Raises
    ------
    LessonError
        nbgrader finds no end of a solution, a solution outside of a solution cell, or metadata
        that are not valid.
    """
    import nbformat
    from nbgrader.nbgraderformat import ValidationError
    from nbgrader.preprocessors import (
        CheckCellMetadata, ClearHiddenTests, ClearOutput, ClearSolutions,
    )

    student = nbformat.from_dict(lesson)
    for step in (
        CheckCellMetadata(),
        ClearSolutions(code_stub={"python": CODE_STUB}, text_stub=TEXT_STUB),
        ClearHiddenTests(),
        ClearOutput(),
    ):
        step.log.propagate = False   # its errors are raised as well
        try:
            student, _ = step.preprocess(student, {})
        except (RuntimeError, ValidationError) as error:
            raise LessonError(f"{lesson.cells[0].source.splitlines()[0]}: {error}") from None
    nbformat.validate(student)
    return student


def public_version(lesson):
    """Return the student's version with the outputs of all cells that belong to no exercise."""
    import nbformat

    lesson = nbformat.from_dict(lesson)
    for cell in lesson.cells:
        cell.source = "".join(cell.source)
    public = student_version(lesson)
    for shown, cell in zip(public.cells, lesson.cells, strict=True):
        if cell.cell_type == "code" and "nbgrader" not in cell.metadata:
            shown.update(outputs=cell.outputs, execution_count=cell.execution_count)
    return public


def index_row(lesson, name: str) -> str:
    """Return a lesson's line of the index: its title and the first sentence below it."""
    title, _, text = lesson.cells[0].source.partition("\n")
    sentence = re.match(r".*?[.?!](?=\s|$)", " ".join(text.split()))
    return f"| [{title.removeprefix('# ')}]({name}) | {sentence[0] if sentence else ''} |"


if __name__ == "__main__":
    sys.exit(main())
