"""Write the folders of students and instructors of the course, for the Makefile.

    course.py                                notebooks/course -> build/course/student, instructor
    course.py --seed 7 --students 30         also build/course/variants and the key to them
    course.py --seed 7 --students names.txt  a name per line

A student's version is the source lesson without its solutions, model answers and outputs; its
self-checks stay, and running all cells goes on where one finds no answer yet. nbgrader's own
preprocessors take the solutions out, so that a course that uses nbgrader gets the same lessons
from the sources. The instructor's folder has the lessons with their solutions, the guide and the
answers that the checks refuse and take. A variant is a student's version with constants of one
student's own in its exercises; the key has all of them, with the solutions. The folders appear
whole or not at all.
"""

import argparse
import csv
import functools
import io
import os
import random
import re
import shutil
import string
import sys
import tempfile
import tokenize
from pathlib import Path

import inputs
import nbformat
import yaml
from nbgrader import preprocessors
from nbgrader.nbgraderformat import ValidationError

ROOT = inputs.ROOT
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
    parser.add_argument("--students", help="how many, or a file of names, a line each")
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
    """Return the names of a file, or as many numbered ones as are asked for.

    A csv file is a table of a learning platform, with a column `Full name`.
    """
    if students.isdigit():
        digits = len(students)
        return [f"student-{number:0{digits}}" for number in range(1, int(students) + 1)]
    lines = Path(students).read_text(encoding="utf-8-sig").splitlines()
    if students.endswith(".csv"):
        lines = [row["Full name"] for row in csv.DictReader(lines)]
    names = [line.strip() for line in lines]
    names = [name for name in names if name]
    unfit = [name for name in names if not re.fullmatch(r"[\w.@ -]+", name) or name[0] == "."]
    if unfit or len({*names}) < len(names):
        raise LessonError(f"{students}: names are unique and fit for folders, not {unfit}")
    return names


def write_variants(lessons: list[Path], seed: str, students: list[str], folder: Path) -> None:
    """Write every student's lessons, and the key: their constants and the solutions.

    What is drawn depends on the seed and the student's name alone: students can be added later.
    """
    rows = []
    for path in lessons:
        lesson = nbformat.read(path, as_version=4)
        for student in students:
            own = variant(lesson, f"{seed}/{student}")
            for exercise in varied() & {grade_id(cell) for cell in own.cells}:
                drawn = drawn_constants(exercise, f"{seed}/{student}")
                rows += [(student, exercise, name, value) for name, value in drawn.items()]
            write(student_version(own), folder / "students" / student / path.name)
            write(own, folder / "key" / student / path.name)
    with (folder / "key" / "constants.csv").open("w", newline="", encoding="utf-8") as stream:
        head = ("student", "exercise", "constant", "value")
        csv.writer(stream).writerows([head, *sorted(rows, key=str)])


# ---- variants ---------------------------------------------------------------------------------


@functools.cache
def listed_variants() -> dict:
    """Return what variants.yaml says."""
    return yaml.safe_load((LESSONS / "variants.yaml").read_text(encoding="utf-8"))


def varied() -> set[str]:
    """Return the grade ids of the exercises that have constants of a student's own."""
    listed = listed_variants()
    of_forms = [name for form in listed["forms"].values() for name in form["to"]]
    return {*listed["own"], *of_forms}


def rules_of(exercise: str) -> dict:
    """Return how an exercise varies: what is drawn, replaced and added."""
    listed = listed_variants()
    if exercise in listed["own"]:
        return listed["own"][exercise]
    for form in listed["forms"].values():
        if exercise in form["to"]:
            own = {"draw": {"n": [11, 499]}, "at": form["to"][exercise]}
            return own | form | listed["given"]
    raise LessonError(f"variants.yaml has no constants for {exercise}")


def drawn_constants(exercise: str, seed: str) -> dict:
    """Return a student's constants of an exercise, on every machine the same for the same seed."""
    draw, found = random.Random(f"{seed}/{exercise}"), {}
    rules = rules_of(exercise)
    for name, values in rules["draw"].items():
        first = values[0]
        if isinstance(first, int | float) and len(values) == 2:
            found[name] = draw.randint(*values)
        else:
            found[name] = draw.choice(values)
    for name, text in rules.get("derive", {}).items():
        found[name] = eval(text, {"random": draw}, found)
    return found


def grade_id(cell) -> str:
    """Return the name by which an exercise's cell is graded, or an empty text."""
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def variant(lesson, seed: str | None):
    """Return a copy of a lesson, without outputs, in which a student's constants are set.

    Raises
    ------
    LessonError
        variants.yaml replaces a text that the exercise does not have.
    """
    own = nbformat.from_dict(
        {**lesson, "cells": [{**cell, "metadata": {**cell.metadata}} for cell in lesson.cells]}
    )
    for cell in own.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    places = {grade_id(cell): place for place, cell in enumerate(own.cells)}
    for exercise in varied() & {*places} if seed else ():
        first = places[exercise] - 1
        stop = re.compile(exercise.replace("exercise", "(exercise|check|hidden)") + r"\b")
        last = max(place for name, place in places.items() if stop.match(name))
        vary(own.cells[first : last + 1], rules_of(exercise), drawn_constants(exercise, seed))
    return own


def vary(cells: list, rules: dict, drawn: dict) -> None:
    """Set a student's constants in the cells of an exercise: question, answer and checks."""

    def filled(text):
        return string.Template(text).safe_substitute(drawn)

    question, answer, *checks = cells
    drawn["f"] = name = re.search(r"^(?:def )?(\w+)", answer.source, re.MULTILINE)[1]
    if "at" in rules:
        drawn |= {key: rules[key] for key in ("said", "take", "give", "at")}
        drawn["name"] = re.findall(r"\w+", answer.source.partition("\n")[0])[2 + rules["at"][0]]
    for old, new in rules.get("replace", {}).items():
        if not any(old in cell.source for cell in cells):
            raise LessonError(f"variants.yaml replaces {old!r}, which {name} has not")
        for cell in cells:
            cell.source = cell.source.replace(old, filled(new))
    if "question" in rules:
        question.source += f"\n\n**Your version:** {filled(filled(rules['question']))}"
    if "answer" in rules:
        end = answer.source.rindex("### END SOLUTION")
        end = answer.source.rindex("\n", 0, end) + 1
        added = filled(filled(rules["answer"]))
        if answer.source.startswith("def "):  # what is added follows the function
            end = answer.source.rindex("    ### END SOLUTION")
            added, answer.source = f"\n{added}", answer.source.replace("    ### END", "### END")
        answer.source = answer.source[:end] + added + answer.source[end:]
    if "check" in rules:
        for cell in checks if "checked_" in rules["check"] else ():
            cell.source = renamed(cell.source, name, f"checked_{name}")
        checks[0].source = filled(filled(rules["check"])) + checks[0].source


def renamed(source: str, name: str, new: str) -> str:
    """Return a cell in which a name, wherever it is no text, is another one."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines = source.splitlines(keepends=True)
    for token in reversed([one for one in tokens if one.type == tokenize.NAME]):
        if token.string == name:
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = line[:column] + new + line[column + len(name) :]
    return "".join(lines)


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
        for picture, held in cell.get("attachments", {}).items():
            address = f"data:image/png;base64,{held['image/png']}"
            cell["source"] = "".join(cell["source"]).replace(f"attachment:{picture}", address)
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
