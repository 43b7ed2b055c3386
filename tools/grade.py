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
import shutil
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
        body = ast.parse(self.stub).body
        targets = [
            one for node in body for of in getattr(node, "targets", ()) for one in ast.walk(of)
        ]
        values = {one.id: False for one in targets if isinstance(one, ast.Name)}
        return values | {one.name: True for one in body if isinstance(one, ast.FunctionDef)}


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
        ((kind, said),) = json.loads(channel.recv_bytes(MOST_BYTES)).items()
        if kind == "error":
            raise RuntimeError(said)
        value = student.decode(said)
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


def judge_notebook(path, names, seed, file, channels, seconds, to) -> None:
    """Write points and reasons of a student's answers to a lesson as a file; texts get none."""
    answers, found = answers_of(file), []
    for name, one in exercises(nbformat.read(path, 4), names).items():
        answer = answers.get(name, "")
        points, why = None, plain(answer)
        if one.checks:
            points, why = judge(one, answer, channels[name], seconds)
        found.append((path.stem, file.parent.name, name, points, one.points, why))
    to.write_text(json.dumps(found))


def grade_lesson(path, lesson, files, seed: str | None, seconds: int, to: Path) -> None:
    """Judge all answers to a lesson, of which the students' version is given, in a new process.

    It runs the lesson and then only forks: a process for each answer, and one that judges them.
    Tests and answers are read in the latter.
    """
    names = played(lesson)
    for file in files:
        channels, answering = {}, []
        for name in names:
            channels[name], theirs = Pipe()
            answering.append(Fork(target=student.serve, args=(theirs, names[name])))
            answering[-1].start()
            theirs.close()
        place = to / f"{file.parent.name} {path.stem}.json"
        judging = Fork(
            target=judge_notebook, args=(path, names, seed, file, channels, seconds, place)
        )
        judging.start()
        judging.join()
        for one in answering:
            one.kill()
            one.join()
        for channel in channels.values():
            channel.close()


# ---- all that was handed in -------------------------------------------------------------------


def grade(handed_in: Path, to: Path, seed: str | None, seconds: int) -> None:
    """Judge the notebooks in the platform's archive.

    The archive has one folder per student, whose name begins with the student's and may go on with
    an underscore and a number.
    """
    check_sandbox()
    for name in [name for name in os.environ if not re.match(NEEDED, name)]:
        del os.environ[name]  # a student's code might tell it
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")  # they start none
    lessons = {path.name: path for path in course.all_lessons()}
    with (
        tempfile.TemporaryDirectory() as scratch,
        ProcessPoolExecutor(None, get_context("spawn"), max_tasks_per_child=1) as pool,
    ):
        unpacked, submitted = Path(scratch, "unpacked"), Path(scratch, "submitted")
        zipfile.ZipFile(handed_in).extractall(unpacked)
        for file in sorted(unpacked.glob("*/*.ipynb")):
            who = re.sub(r"_\d+(_assignsubmission_.*)?$", "", file.parent.name)
            if file.name in lessons:
                (submitted / who).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, submitted / who / file.name)
            else:
                print(f"{who} handed in {file.name}, which is no lesson: left out")
        tasks = []
        for path in lessons.values():
            if files := sorted(submitted.glob(f"*/{path.name}")):
                bare = course.student_version(nbformat.read(path, 4))
                given = (path, bare, files, seed, seconds, Path(scratch))
                tasks.append(pool.submit(grade_lesson, *given))
        for task in tasks:
            task.result()
        rows = []
        for file in submitted.glob("*/*.ipynb"):
            rows += json.loads(Path(scratch, f"{file.parent.name} {file.stem}.json").read_text())
    columns = ["lesson", "student", "exercise", "points", "most", "why"]
    table = pd.DataFrame(rows, columns=columns).sort_values(columns[:3])
    to.parent.mkdir(parents=True, exist_ok=True)
    table.astype({"points": "Int64"}).to_csv(to, index=False)


def answers_of(file: Path) -> dict[str, str]:
    """Return the source of a notebook's exercise cells, by grade id or, without it, by heading."""
    found, heading = {}, ""
    try:
        for cell in json.loads(file.read_text("utf-8"))["cells"]:
            source, marks = "".join(cell["source"]), cell["metadata"].get("nbgrader", {})
            title = re.match(r"### Exercise (\d+)\.(\d+) ", source)
            name = marks.get("grade_id", heading)
            heading = "lesson{}-exercise{}".format(*title.groups()) if title else ""
            if "-exercise" in name and not title and source.strip() != course.TEXT_STUB:
                found.setdefault(name, source)
    except Exception as error:  # whatever is wrong with a file, the others are graded
        print(f"{file.parent.name}: {file.name} is no notebook: {error}", file=sys.stderr)
    return found


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
    """Parse the command line and grade."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("handed_in", type=Path, help="the platform's archive")
    parser.add_argument("--to", type=Path, default=course.ROOT / "build/grading/points.csv")
    parser.add_argument("--seed", help="of the variants; without it there are none")
    parser.add_argument("--seconds", type=int, default=60, help="for an answer and its tests")
    options = parser.parse_args(arguments)
    grade(options.handed_in, options.to, options.seed, options.seconds)


if __name__ == "__main__":
    main()
