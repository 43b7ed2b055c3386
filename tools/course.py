"""Write the folders of students and instructors of the course, for the Makefile.

    course.py                                notebooks/course -> build/course/student, instructor
    course.py --seed 7 --students 30         also build/course/variants and the key to them
    course.py --seed 7 --students names.txt  a name per line

A student's version is the source lesson without its solutions, model answers and outputs; its
self-checks stay, and running all cells goes on where one finds no answer yet. nbgrader's own
preprocessors take the solutions out, so that a course that uses nbgrader gets the same lessons
from the sources. The instructor's folder has the lessons with their solutions, the guide and the
answers that the checks refuse and take. A variant is a student's version whose parameters were
drawn for one student; the key has them all, with the solutions. The folders appear
whole or not at all.
"""

import argparse
import ast
import csv
import os
import random
import re
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
import yaml
from nbgrader import preprocessors
from nbgrader.nbgraderformat import ValidationError

from anonpaper.files import project_root

ROOT = project_root(Path(__file__).parent)
LESSONS = ROOT / "notebooks" / "course"
COURSE = ROOT / "build" / "course"
CODE_STUB = "# YOUR CODE HERE"
TEXT_STUB = "*Your answer here.*"
INDEX = Path(__file__).parent / "templates" / "COURSE.md"


class LessonError(Exception):
    """A lesson cannot be made into a student's version; the message names the cell."""


def main(arguments: list[str] | None = None) -> int:
    """Write build/course anew and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", help="a number or a text from which variants are drawn")
    parser.add_argument("--students", help="how many, or a file with a name per line")
    options = parser.parse_args(arguments)
    if options.students and not options.seed:
        parser.error("variants need a seed: --seed, or SEED=... with make")
    lessons = all_lessons()
    COURSE.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=COURSE.parent) as folder:
        staging = Path(folder) / "course"
        try:
            write_students(lessons, staging / "student")
            if options.students:
                names = names_of(options.students)
                write_variants(lessons, options.seed, names, staging / "variants")
        except LessonError as error:
            print(f"course: {error}", file=sys.stderr)
            return 1
        write_instructors(LESSONS, staging / "instructor")
        shutil.rmtree(COURSE, ignore_errors=True)
        os.replace(staging, COURSE)
    print(f"{COURSE.relative_to(ROOT)}/student: {len(lessons)} lessons without their solutions")
    print(f"{COURSE.relative_to(ROOT)}/instructor: the guide and the lessons with solutions")
    if options.students:
        print(f"{COURSE.relative_to(ROOT)}/variants: a folder per student, and the key")
    return 0


def all_lessons() -> list[Path]:
    """Return the files of the lessons, in the order of their numbers."""
    return sorted(LESSONS.glob("*.ipynb"), key=lambda path: int(path.stem.partition("_")[0]))


def write_students(lessons: list[Path], folder: Path) -> None:
    """Write the students' versions of the lessons and an index, and nothing else."""
    rows = []
    for path in lessons:
        lesson = nbformat.read(path, as_version=4)
        rows.append(index_row(lesson, path.name))
        write(student_version(lesson), folder / path.name)
    index = INDEX.read_text().format(lessons=len(rows), rows="\n".join(rows))
    (folder / "README.md").write_text(index)


def write(lesson, file: Path) -> None:
    """Write a lesson."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(nbformat.writes(lesson, indent=1) + "\n")


def write_instructors(sources: Path, folder: Path) -> None:
    """Copy the lessons with their solutions, the guide and the wrong answers."""
    folder.mkdir(parents=True)
    for path in (
        path for ending in ("ipynb", "md", "yaml") for path in sources.glob(f"*.{ending}")
    ):
        shutil.copyfile(path, folder / path.name)


def names_of(students: str) -> list[str]:
    """Return the names of a file, or as many numbered ones as are asked for."""
    if students.isdigit():
        digits = len(students)
        return [f"student-{number:0{digits}}" for number in range(1, int(students) + 1)]
    names = [line.strip() for line in Path(students).read_text(encoding="utf-8").splitlines()]
    names = [name for name in names if name]
    unfit = [name for name in names if not re.fullmatch(r"[\w.@ -]+", name) or name[0] == "."]
    if unfit or len({*names}) < len(names):
        raise LessonError(f"{students}: names are unique and fit for folders, not {unfit}")
    return names


def write_variants(lessons: list[Path], seed: str, students: list[str], folder: Path) -> None:
    """Write every student's lessons, and the key: their parameters and the solutions.

    What is drawn depends on the seed and the student's name alone: students can be added later.
    """
    rows = []
    for student in students:
        for path in lessons:
            lesson = nbformat.read(path, as_version=4)
            drawn = drawn_parameters(path.stem, f"{seed}/{student}/{path.stem}")
            set_parameters(lesson, drawn)
            rows += [(student, path.stem, name, value) for name, value in drawn.items()]
            write(student_version(lesson), folder / "students" / student / path.name)
            without_outputs, _ = preprocessors.ClearOutput().preprocess(lesson, {})
            write(without_outputs, folder / "key" / student / path.name)
    with (folder / "key" / "parameters.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("student", "lesson", "parameter", "value"), *rows])


def drawn_parameters(lesson: str, seed: str) -> dict:
    """Return a value of each parameter that variants.yaml lists for a lesson."""
    listed = yaml.safe_load((LESSONS / "variants.yaml").read_text())[lesson]
    draw = random.Random(seed)  # the same numbers for the same text, on every machine
    return {
        name: draw.randrange(10**6) if values == "any" else draw.choice(values)
        for name, values in listed.items()
    }


def set_parameters(lesson, values: dict) -> None:
    """Set values in a lesson's parameters cell, in place; LessonError if it lacks one of them."""
    cell = next(cell for cell in lesson.cells if "parameters" in cell.metadata.get("tags", []))
    known = {node.targets[0].id: node for node in ast.parse(cell.source).body}
    unknown = values.keys() - known.keys()
    if unknown:
        raise LessonError(f"{lesson.cells[0].source.splitlines()[0]}: no parameter {unknown}")
    cell.source = "\n".join(
        f"{name} = {values[name]!r}" if name in values else ast.unparse(node)
        for name, node in known.items()
    )


def student_version(lesson):
    """Return a copy of a lesson without solutions, model answers and outputs.

    Raises
    ------
    LessonError
        nbgrader finds no end of a solution, a solution outside of a solution cell, or metadata
        that are not valid.
    """
    student = nbformat.from_dict(lesson)
    for step in (
        preprocessors.CheckCellMetadata(),
        preprocessors.ClearSolutions(code_stub={"python": CODE_STUB}, text_stub=TEXT_STUB),
        preprocessors.ClearHiddenTests(),
        preprocessors.ClearOutput(),
    ):
        step.log.propagate = False  # its errors are raised as well
        try:
            student, _ = step.preprocess(student, {})
        except (RuntimeError, ValidationError) as error:
            raise LessonError(f"{lesson.cells[0].source.splitlines()[0]}: {error}") from None
    for cell in student.cells:
        tags = cell.metadata.get("tags", [])
        if {"self-check", "hidden-tests"} & {*tags}:  # JupyterLab runs on after it
            cell.metadata["tags"] = [*tags, "raises-exception"]
    nbformat.validate(student)
    return student


def public_version(lesson):
    """Return the student's version with the outputs of all cells that belong to no exercise."""
    lesson = nbformat.from_dict(lesson)
    for cell in lesson.cells:
        cell.source = "".join(cell.source)
    public = student_version(lesson)
    for shown, cell in zip(public.cells, lesson.cells, strict=True):
        if cell.cell_type == "code" and "nbgrader" not in cell.metadata:
            shown.update(outputs=cell.outputs, execution_count=cell.execution_count)
    return public


def describe(lesson, name: str) -> None:
    """Say of each figure of a lesson what it shows, in place, where myst-nb and nbconvert look."""
    texts = yaml.safe_load((LESSONS / "alt_texts.yaml").read_text(encoding="utf-8"))
    for cell in lesson["cells"]:
        if text := texts.get(name, {}).get(cell["id"]):
            cell["metadata"]["mystnb"] = {"image": {"alt": text}}
            for output in cell["outputs"]:
                if "image/png" in output.get("data", {}):
                    output["metadata"]["alt"] = text


def index_row(lesson, name: str) -> str:
    """Return a lesson's line of the index: its title and the first sentence below it."""
    title, _, text = lesson.cells[0].source.partition("\n")
    sentence = re.match(r".*?[.?!](?=\s|$)", " ".join(text.split()))
    return f"| [{title.removeprefix('# ')}]({name}) | {sentence[0] if sentence else ''} |"


if __name__ == "__main__":
    sys.exit(main())
