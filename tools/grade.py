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
import warnings
import zipfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pipe, get_context
from pathlib import Path

import course
import nbformat
import numpy as np
import pandas as pd
import student

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
NEEDED = "PATH|HOME|LANG|LC_|TMP|XDG_|PYTHON|ANONPAPER_|NUMBA_|OMP_|MPL"  # of the environment
TOO_LONG = "it takes too long: right answers are judged in seconds"
MOST_BYTES = 1 << 27
Fork = get_context("fork").Process


# ---- the exercises of a lesson ----------------------------------------------------------------


@dataclass
class Exercise:
    """An exercise: the names before its answer, its cells, its checks and points."""

    names: dict
    stub: str
    solution: str
    checks: list[str] = field(default_factory=list)
    points: int = 0

    @property
    def asked(self) -> dict[str, bool]:
        """The names that an answer gives, and whether each is a function."""
        tree = ast.parse(self.stub)
        if isinstance(tree.body[0], ast.FunctionDef):
            return {tree.body[0].name: True}
        stored = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        return {node.id: False for node in stored if isinstance(node.ctx, ast.Store)}


def played(lesson) -> dict[str, dict]:
    """Run a lesson as a student does who answers nothing; return the names at each answer."""
    from matplotlib import pyplot, rc_context

    found, names = {}, {"__name__": "lesson", "display": lambda *shown: None}
    with chdir(course.LESSONS), rc_context({"backend": "agg"}):
        for cell in (cell for cell in lesson.cells if cell.cell_type == "code"):
            marks = cell.metadata.get("nbgrader", {})
            if not marks.get("grade"):
                run(cell.source, names)
                pyplot.close("all")
            if marks.get("solution"):
                found[marks["grade_id"]] = dict(names)
    return found


def run(source: str, names: dict) -> None:
    """Run a cell without its prints and warnings."""
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, "<cell>", "exec"), names)


def exercises(lesson, names: dict[str, dict]) -> dict[str, Exercise]:
    """Return the exercises of a lesson, with the names at each answer; a text has no checks."""
    found = {}
    for cell in lesson.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            name = marks["grade_id"]
            stub = re.sub(f"{BEGIN}.*?{END}", course.CODE_STUB, cell.source, flags=re.DOTALL)
            solution = re.sub(rf" *({BEGIN}|{END})\n?", "", cell.source)
            latest = found[name] = Exercise(names.get(name, {}), stub, solution)
        elif marks:
            latest.checks.append(cell.source)
        if marks:
            latest.points += marks.get("points", 0)
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


def judge(one: Exercise, source: str, channel, seconds: int) -> tuple[int, str]:
    """Return the points of an answer, and why it has none: all points if every check takes it.

    Examples that a check shows can be copied into an answer, so they alone are worth nothing.
    """
    if "".join(source.split()) in ("", "".join(one.stub.split())):
        return 0, "no answer"
    names = dict(one.names)
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(seconds)
    try:
        ask(channel, "run", source)
        for name, is_function in one.asked.items():
            call = partial(ask, channel, "call", name)
            names[name] = call if is_function else ask(channel, "value", name)
        for check in one.checks:
            run(check, names)
    except EOFError:
        return 0, "its process ended: too much memory"
    except Exception as error:  # whatever a check raises refuses the answer
        kind = "" if isinstance(error, AssertionError | RuntimeError) else type(error).__name__
        return 0, plain(f"{kind} {error}".strip())[:600]
    finally:
        signal.alarm(0)
    return one.points, ""


def too_long(*given) -> None:
    """End what takes too long."""
    raise RuntimeError(TOO_LONG)


def plain(text: str) -> str:
    """Return what a student wrote as a cell of a table that no program takes for a formula."""
    text = text[:30_000].encode("utf-8", "replace").decode().replace("\0", "")
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def judge_notebook(path, names, own, file, channels, seconds, result) -> None:
    """Send points and reasons of a student's answers to a lesson; texts get none."""
    student.limit_memory()
    answers, found, lesson = answers_of(file), [], nbformat.read(path, 4)
    for name, one in exercises(course.variant(lesson, own) if own else lesson, names).items():
        answer = answers.get(name, "")
        points, why = None, plain(answer)
        if one.checks:
            points, why = judge(one, answer, channels[name], seconds)
        found.append((path.stem, student_of(file), name, points, one.points, why))
    result.send(found)


def answers_of(file: Path) -> dict[str, str]:
    """Return the source of a notebook's exercise cells by grade id, of copies the first."""
    try:
        cells = json.loads(file.read_text("utf-8"))["cells"][::-1]
        cells = [cell for cell in cells if "nbgrader" in cell["metadata"]]
        found = {
            cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"]) for cell in cells
        }
        return {name: text for name, text in found.items() if text.strip() != course.TEXT_STUB}
    except Exception as error:  # whatever is wrong with a file, the others are graded
        print(f"{file.parent.name}: {file.name} is no notebook: {error}", file=sys.stderr)
        return {}


def grade_lesson(path, lesson, files, seed: str | None, seconds: int) -> list[tuple]:
    """Judge all answers to a lesson, of which the students' version is given, in a new process.

    It runs the lesson and then only forks: a process for each answer, and one that judges them.
    Tests and answers are read in the latter.
    """
    names, found = played(lesson), []
    for file in files:
        channels, answering = {}, []
        for name in names:
            channels[name], theirs = Pipe()
            answering.append(Fork(target=student.serve, args=(theirs, names[name])))
            answering[-1].start()
            theirs.close()
        result, theirs = Pipe()
        own = seed and f"{seed}/{student_of(file)}"
        given = (path, names, own, file, channels, seconds, theirs)
        judging = Fork(target=judge_notebook, args=given)
        judging.start()
        theirs.close()
        try:
            found += result.recv()
        except EOFError:
            print(f"{student_of(file)}: the judge of {file.name} ended", file=sys.stderr)
        for one in (judging, *answering):
            one.kill()
            one.join()
        for channel in (result, *channels.values()):
            channel.close()
    return found


# ---- all that was handed in -------------------------------------------------------------------


def student_of(file: Path) -> str:
    """Return a student's name, to which the folder's adds an underscore and a number."""
    return re.sub(r"_\d+(_assignsubmission_.*)?$", "", file.parent.name)


def check_sandbox() -> None:
    """Shut in a process of our own, and end with the reason if that fails."""
    if any(course.ROOT.is_relative_to(folder) for folder in student.READABLE):
        raise SystemExit(f"grade: {course.ROOT} lies in a folder that answers may read")
    trial = Fork(target=student.shut_in)
    trial.start()
    trial.join()
    if trial.exitcode:
        raise SystemExit("grade: no sandbox on this machine")


def main(arguments: list[str] | None = None) -> None:
    """Judge the notebooks in the platform's archive, which has one folder per student."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("handed_in", type=Path, help="the platform's archive")
    parser.add_argument("--to", type=Path, default=course.ROOT / "build/grading/points.csv")
    parser.add_argument("--seed", help="of the variants; without it there are none")
    parser.add_argument("--seconds", type=int, default=60, help="for an answer and its tests")
    given = parser.parse_args(arguments)
    check_sandbox()
    for name in [name for name in os.environ if not re.match(NEEDED, name)]:
        del os.environ[name]  # a student's code might tell it
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")  # they start none
    spawn = get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as scratch,
        ProcessPoolExecutor(None, spawn, max_tasks_per_child=1) as pool,
    ):
        zipfile.ZipFile(given.handed_in).extractall(scratch)
        files, tasks = sorted(Path(scratch).glob("*/*.ipynb")), []
        for path in course.all_lessons():
            if of_lesson := [file for file in files if file.name == path.name]:
                bare = course.student_version(nbformat.read(path, 4))
                options = (of_lesson, given.seed, given.seconds)
                tasks.append(pool.submit(grade_lesson, path, bare, *options))
                files = [file for file in files if file.name != path.name]
        for file in files:
            print(f"{student_of(file)} handed in {file.name}, which is no lesson: left out")
        rows = [row for task in tasks for row in task.result()]
    columns = ["lesson", "student", "exercise", "points", "most", "why"]
    table = pd.DataFrame(rows, columns=columns).sort_values(columns[:3])
    given.to.parent.mkdir(parents=True, exist_ok=True)
    table.astype({"points": "Int64"}).to_csv(given.to, index=False)


if __name__ == "__main__":
    main()
