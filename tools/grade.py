"""Grade answers to the course outside of the students' notebooks: build/grading/points.csv.

    grade.py answers.zip

Of a notebook only the source of the exercise cells is taken. Each answer runs in a process of its
own (student.py), which comes from one that has read no test. The checks, hidden ones included, run
in another one: there a student's function is a name that asks that process.
"""

import argparse
import ast
import io
import json
import os
import pickle
import re
import signal
import sys
import tempfile
import types
import zipfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir
from functools import partial
from multiprocessing import Pipe, get_context
from pathlib import Path

import course
import nbformat
import numpy as np
import pandas as pd
import student

NEEDED = "PATH|HOME|LANG|LC_|TMP|XDG_|PYTHON|ANONPAPER_|NUMBA_|OMP_|MPL"  # of the environment
TOO_LONG = "it takes too long: right answers are judged in seconds"
MOST_BYTES = 1 << 27
COLUMNS = ["lesson", "student", "exercise", "points", "most", "why"]
Fork = get_context("fork").Process


# ---- the exercises of a lesson ----------------------------------------------------------------


class Exercise:
    """An exercise: its cell without and with the answer, its checks and points."""

    def __init__(self, source: str) -> None:
        marked = r"### BEGIN SOLUTION.*?### END SOLUTION"
        self.stub = re.sub(marked, course.CODE_STUB, source, flags=re.DOTALL)
        self.solution = re.sub(r" *### (BEGIN|END) SOLUTION\n?", "", source)
        self.checks: list[str] = []
        self.points = 0

    @property
    def asked(self) -> dict[str, bool]:
        """The names that an answer gives, and whether each is a function."""
        first, *_ = body = ast.parse(self.stub).body
        if isinstance(first, ast.FunctionDef):
            return {first.name: True}
        stored = [node for part in body for node in ast.walk(part) if isinstance(node, ast.Name)]
        return {node.id: False for node in stored if isinstance(node.ctx, ast.Store)}


def exercises(lesson) -> dict[str, Exercise]:
    """Return the exercises of a lesson; a text has no checks."""
    found = {}
    for cell in lesson.cells:
        if marks := cell.metadata.get("nbgrader", {}):
            if marks["solution"]:
                latest = found[marks["grade_id"]] = Exercise(cell.source)
            else:
                latest.checks.append(cell.source)
            latest.points += marks.get("points", 0)
    return found


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


# ---- one answer, judged -----------------------------------------------------------------------


def ask(channel, kind: str, name: str, *given, **named):
    """Have a student's process do something, and return the value."""
    functions, content = [], io.BytesIO()

    def numbered(one):  # functions of the checks stay here and are asked from there
        if not isinstance(one, types.FunctionType) or one.__module__ != "lesson":
            return None
        functions.append(one)
        return len(functions) - 1

    writer = pickle.Pickler(content)
    writer.persistent_id = numbered
    writer.dump((kind, name, given, named))
    for one in given:
        if isinstance(one, np.random.Generator):  # other numbers next time
            one.bit_generator.advance(1 << 64)
    sent = content.getvalue()
    while True:
        channel.send_bytes(sent)
        reader = student.Reader(io.BytesIO(channel.recv_bytes(MOST_BYTES)))
        ((kind, value),) = reader.load().items()
        if kind == "error":
            raise RuntimeError(value)
        if kind == "value":
            return value
        number, *asked = value
        sent = pickle.dumps(functions[number](*asked))


def judge(one: Exercise, source: str, names: dict, channel, seconds: int) -> tuple[int, str]:
    """Return the points of an answer, and why it has none: all points if every check takes it.

    Examples that a check shows can be copied into an answer, so they alone are worth nothing.
    """
    if "".join(source.split()) in ("", "".join(one.stub.split())):
        return 0, "no answer"

    def too_long(*given):
        raise RuntimeError(TOO_LONG)

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(seconds)
    try:
        ask(channel, "run", source)
        for name, is_function in one.asked.items():
            call = partial(ask, channel, "call", name)
            names[name] = call if is_function else ask(channel, "value", name)
        for check in one.checks:
            course.run(check, names)
    except EOFError:
        return 0, "its process ended: too much memory"
    except Exception as error:  # whatever a check raises refuses the answer
        kind = "" if isinstance(error, AssertionError | RuntimeError) else type(error).__name__
        return 0, plain(f"{kind} {error}".strip())[:600]
    finally:
        signal.alarm(0)
    return one.points, ""


def plain(text: str) -> str:
    """Return what a student wrote as a cell of a table that no program takes for a formula."""
    text = text[:30_000].encode("utf-8", "replace").decode().replace("\0", "")
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def judge_notebook(result, path, names, file, channels, seconds) -> None:
    """Send a row for each answer of a student to a lesson; texts get no points."""
    student.limit_memory()
    answers, found = answers_of(file), []
    for name, one in exercises(nbformat.read(path, 4)).items():
        points, why = None, plain(answer := answers.get(name, ""))
        if one.checks:
            points, why = judge(one, answer, names[name], channels[name], seconds)
        found.append((path.stem, student_of(file), name, points, one.points, why))
    result.send(found)


def answers_of(file: Path) -> dict[str, str]:
    """Return the source of a notebook's exercise cells by grade id, of copies the first."""
    try:
        cells = json.loads(file.read_text("utf-8"))["cells"][::-1]
        marked = [(cell["metadata"].get("nbgrader"), "".join(cell["source"])) for cell in cells]
        found = {marks["grade_id"]: text for marks, text in marked if marks}
        return {name: text for name, text in found.items() if text.strip() != course.TEXT_STUB}
    except Exception as error:  # whatever is wrong with a file, the others are graded
        print(f"{file.parent.name}: {file.name} is no notebook: {error}", file=sys.stderr)
        return {}


def student_of(file: Path) -> str:
    """Return a student's name, to which the folder's adds an underscore and a number."""
    return re.sub(r"_\d+(_assignsubmission_.*)?$", "", file.parent.name)


# ---- all that was handed in -------------------------------------------------------------------


def grade_lesson(path, lesson, files, seconds: int) -> list[tuple]:
    """Judge all answers to a lesson, of which the students' version is given, in a new process.

    It runs the lesson and then only forks: a process for each answer, and one that judges them.
    Tests and answers are read in the latter.
    """
    names, found = played(lesson), []
    for file in files:
        answering = {name: forked(student.serve, names[name]) for name in names}
        channels = {name: channel for name, (_, channel) in answering.items()}
        judging = forked(judge_notebook, path, names, file, channels, seconds)
        try:
            found += judging[1].recv()
        except EOFError:
            print(f"{student_of(file)}: the judge of {file.name} ended", file=sys.stderr)
        for process, channel in (judging, *answering.values()):
            process.kill()
            process.join()
            channel.close()
    return found


def forked(target, *given):
    """Start a process with an end of a pipe; return it and our end."""
    ours, theirs = Pipe()
    process = Fork(target=target, args=(theirs, *given))
    process.start()
    theirs.close()
    return process, ours


def main(arguments: list[str] | None = None) -> None:
    """Judge the notebooks in the platform's archive, which has one folder per student."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("handed_in", type=Path, help="the platform's archive")
    parser.add_argument("--to", type=Path, default=course.ROOT / "build/grading/points.csv")
    parser.add_argument("--seconds", type=int, default=60, help="for an answer and its tests")
    given = parser.parse_args(arguments)
    if any(course.ROOT.is_relative_to(folder) for folder in student.READABLE):
        raise SystemExit(f"grade: {course.ROOT} lies in a folder that answers may read")
    (trial := Fork(target=student.shut_in)).start()
    trial.join()
    if trial.exitcode:
        raise SystemExit("grade: no sandbox on this machine")
    for name in [name for name in os.environ if not re.match(NEEDED, name)]:
        del os.environ[name]  # a student's code might tell it
    os.environ |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    spawn = get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as scratch,
        ProcessPoolExecutor(None, spawn, max_tasks_per_child=1) as pool,
    ):
        zipfile.ZipFile(given.handed_in).extractall(scratch)
        lessons = {path.name: path for path in course.all_lessons()}
        files, tasks = sorted(Path(scratch).glob("*/*.ipynb")), []
        for file in files:
            if file.name not in lessons:
                print(f"{student_of(file)} handed in {file.name}, which is no lesson: left out")
        for name, path in lessons.items():
            if of_lesson := [file for file in files if file.name == name]:
                bare = course.student_version(nbformat.read(path, 4))
                tasks.append(pool.submit(grade_lesson, path, bare, of_lesson, given.seconds))
        rows = [row for task in tasks for row in task.result()]
    table = pd.DataFrame(rows, columns=COLUMNS).sort_values(COLUMNS[:3])
    given.to.parent.mkdir(parents=True, exist_ok=True)
    table.astype({"points": "Int64"}).to_csv(given.to, index=False)


if __name__ == "__main__":
    main()
