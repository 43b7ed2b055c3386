"""Grade answers to the course outside of the students' notebooks: build/grading/points.csv.

    grade.py answers.zip

Of a notebook only the source of the exercise cells is taken. Each answer runs in a process of its
own (student.py), which comes from one that has read no test. The checks, hidden ones included, run
in another one: there a student's function is a name that asks that process.
"""

import io
import json
import os
import pickle
import re
import subprocess
import symtable
import sys
import tempfile
import types
import zipfile
from contextlib import ExitStack, chdir, contextmanager, suppress
from functools import partial
from multiprocessing import Pipe, get_context
from pathlib import Path

import course
import nbformat
import numpy as np
import pandas as pd
import student
import typer

NEEDED = "PATH|HOME|LANG|LC_|TMP|XDG_|PYTHON|ANONPAPER_|NUMBA_|OMP_|MPL"  # of the environment
TOO_LONG = "it takes too long: right answers are judged in seconds"
MOST_BYTES = 1 << 27
COLUMNS = ["lesson", "student", "exercise", "points", "most", "why"]
POINTS = course.ROOT / "build" / "grading" / "points.csv"
Fork = get_context("fork").Process


def exercises(lesson) -> dict[str, types.SimpleNamespace]:
    """Return the source, checks and points of each exercise by its name; a text has no checks."""
    found = {}
    for cell in lesson.cells:
        if marks := cell.metadata.get("nbgrader", {}):
            if marks["solution"]:
                latest = types.SimpleNamespace(source=cell.source, checks=[], points=0)
                found[marks["grade_id"]] = latest
            else:
                latest.checks.append(cell.source)
            latest.points += marks.get("points", 0)
    return found


def asked(stub: str) -> dict[str, bool]:
    """Return the names that an answer gives, and whether each is a function."""
    names = symtable.symtable(stub, "stub", "exec").get_symbols()
    return {name.get_name(): name.is_namespace() for name in names if name.is_assigned()}


def played(lesson) -> dict[str, dict]:
    """Run a lesson as a student does who answers nothing; return the names at each answer."""
    found, names = {}, {"__name__": "lesson"}
    with chdir(course.LESSONS):
        for cell in (cell for cell in lesson.cells if cell.cell_type == "code"):
            marks = cell.metadata.get("nbgrader", {})
            if not marks.get("grade"):
                course.run(cell.source, names)
            if marks.get("solution"):
                found[marks["grade_id"]] = dict(names)
    return found


def answers_of(file: Path) -> dict[str, str]:
    """Return the source of a notebook's exercise cells by grade id, of copies the first."""
    try:
        cells = json.loads(file.read_text("utf-8"))["cells"][::-1]
        marked = [(cell["metadata"].get("nbgrader"), "".join(cell["source"])) for cell in cells]
        return {marks["grade_id"]: text for marks, text in marked if marks}
    except Exception as error:  # whatever is wrong with a file, the others are graded
        print(f"{file.parent.name}: {file.name} is no notebook: {error}", file=sys.stderr)
        return {}


def plain(text: str) -> str:
    """Return what a student wrote as a cell of a table that no program takes for a formula."""
    text = text[:30_000].encode("utf-8", "replace").decode().replace("\0", "")
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


# ---- one answer -------------------------------------------------------------------------------


@contextmanager
def forked(target, *given):
    """Run a function in a process of its own, with an end of a pipe; give our end."""
    ours, theirs = Pipe()
    process = Fork(target=target, args=(theirs, *given))
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        process.kill()
        process.join()
        ours.close()


def marked(lesson: str, name: str, stub: str, answer: str, names: dict, seconds: int):
    """Return the points of an answer, and why it has none: all points if every check takes it.

    Examples that a check shows can be copied into an answer, so they alone are worth nothing.
    """
    if "".join(answer.split()) in ("", "".join(stub.split())):
        return 0, "no answer"
    with (
        suppress(EOFError),
        forked(student.serve, names) as answering,
        forked(judge, answering, lesson, name, stub, answer, names) as judging,
    ):
        return judging.recv() if judging.poll(seconds) else (0, TOO_LONG)
    return 0, "its process ended: too much memory"


def judge(result, answering, lesson: str, name: str, stub: str, answer: str, names: dict) -> None:
    """Read the tests, have the student's process run the answer, and send points and why."""
    student.limit_memory()
    one, ask = exercises(nbformat.read(course.LESSONS / lesson, 4))[name], partial(sent, answering)
    try:
        answering.recv_bytes()  # it is ready
        ask("run", answer)
        for given, is_function in asked(stub).items():
            names[given] = partial(ask, "call", given) if is_function else ask("value", given)
        for check in one.checks:
            course.run(check, names)
        result.send((one.points, ""))
    except EOFError:
        return
    except Exception as error:  # whatever a check raises refuses the answer
        kind = "" if isinstance(error, AssertionError | RuntimeError) else type(error).__name__
        result.send((0, plain(f"{kind} {error}".strip())[:600]))


def sent(channel, kind: str, *given, **named):
    """Have a student's process do something, and return the value."""
    functions, content = [], io.BytesIO()

    def numbered(one):  # functions of the checks stay here and are asked from there
        if not isinstance(one, types.FunctionType) or one.__module__ != "lesson":
            return None
        functions.append(one)
        return len(functions) - 1

    writer = pickle.Pickler(content)
    writer.persistent_id = numbered
    writer.dump((kind, given, named))
    for one in given:
        if isinstance(one, np.random.Generator):  # other numbers next time
            one.bit_generator.advance(1 << 64)
    said = content.getvalue()
    while True:
        channel.send_bytes(said)
        reader = student.Reader(io.BytesIO(channel.recv_bytes(MOST_BYTES)))
        ((kind, value),) = reader.load().items()
        if kind == "error":
            raise RuntimeError(value)
        if kind == "value":
            return value
        number, *asked = value
        said = pickle.dumps(functions[number](*asked))


# ---- all that was handed in -------------------------------------------------------------------


def grade_lesson(result, path: Path, files: list[Path], seconds: int) -> None:
    """Send a row for each answer to a lesson, whose students' version is given.

    This process runs the lesson and reads no test. For each answer it forks one process that runs
    it and one that judges it.
    """
    lesson, rows = nbformat.read(path, 4), []
    names = played(lesson)
    for file in files:
        answers = answers_of(file)
        who = re.sub(r"_\d+(_assignsubmission_.*)?$", "", file.parent.name)
        for name, one in exercises(lesson).items():
            answer = answers.get(name, "")
            points, why = None, plain(answer.replace(course.TEXT_STUB, ""))
            if one.checks:
                points, why = marked(path.name, name, one.source, answer, names[name], seconds)
            rows.append((path.stem, who, name, points, one.points, why))
    result.send(rows)


def main(handed_in: Path, to: Path = POINTS, seconds: int = 60) -> None:
    """Judge the notebooks in the platform's archive, which has one folder per student."""
    if any(course.ROOT.is_relative_to(folder) for folder in student.READABLE):
        raise SystemExit(f"grade: {course.ROOT} lies in a folder that answers may read")
    (trial := Fork(target=student.shut_in)).start()
    trial.join()
    if trial.exitcode:
        raise SystemExit("grade: no sandbox on this machine")
    for name in [name for name in os.environ if not re.match(NEEDED, name)]:
        del os.environ[name]  # a student's code might tell it
    os.environ |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as running:
        lessons, answers = Path(scratch, "lessons"), Path(scratch, "answers")
        # another process reads the tests
        subprocess.run([sys.executable, course.__file__, lessons], check=True, capture_output=True)
        zipfile.ZipFile(handed_in).extractall(answers)
        judged = []
        for path in sorted(lessons.glob("*.ipynb")):
            if files := sorted(answers.glob(f"*/{path.name}")):
                lesson = forked(grade_lesson, path, files, seconds)
                judged.append(running.enter_context(lesson))
        for file in answers.glob("*/*.ipynb"):
            if not (lessons / file.name).exists():
                print(f"{file.parent.name} handed in {file.name}, which is no lesson: left out")
        rows = [row for channel in judged for row in channel.recv()]
    table = pd.DataFrame(rows, columns=COLUMNS).sort_values(COLUMNS[:3])
    to.parent.mkdir(parents=True, exist_ok=True)
    table.astype({"points": "Int64"}).to_csv(to, index=False)


if __name__ == "__main__":
    typer.run(main)
