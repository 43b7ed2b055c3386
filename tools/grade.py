"""Grade the course outside of the students' notebooks.

    grade.py grade answers.zip --seed 2027   build/grading: submitted, points.csv, texts.csv
    grade.py marks worksheet.csv             marks.csv: the learning platform's table, filled in

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

GRADING = course.ROOT / "build" / "grading"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS\n.*?^### END HIDDEN TESTS\n?", re.DOTALL | re.M)
NEEDED = "PATH|HOME|LANG|LC_|TMP|XDG_|PYTHON|ANONPAPER_|NUMBA_|OMP_|MPL"  # of the environment
SECONDS = 60  # by the clock, for an answer and its tests
TOO_LONG = "it takes too long: right answers are judged in seconds"
MOST_BYTES = 1 << 27
KEY = ["lesson", "student", "exercise"]


# ---- the exercises of a lesson ----------------------------------------------------------------


@dataclass
class Exercise:
    """An exercise with code: the names before its answer, its cells, its checks and points."""

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


def marks_of(cell) -> dict:
    """Return nbgrader's marks of a cell with code, or none."""
    return cell.metadata.get("nbgrader", {}) if cell.cell_type == "code" else {}


def played(lesson) -> dict[str, dict]:
    """Run a lesson as a student does who answers nothing; return the names at each answer."""
    from matplotlib import pyplot, rc_context

    found, names = {}, {"__name__": "lesson", "display": lambda *shown: None}
    with chdir(course.LESSONS), rc_context({"backend": "agg"}):
        for cell in lesson.cells:
            if cell.cell_type == "code" and not marks_of(cell).get("grade"):
                run(cell.source, names)
                pyplot.close("all")
            if marks_of(cell).get("solution"):
                found[course.grade_id(cell)] = dict(names)
    return found


def run(source: str, names: dict) -> None:
    """Run a cell without its prints and warnings."""
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, "<cell>", "exec"), names)


def exercises(lesson, names: dict[str, dict]) -> dict[str, Exercise]:
    """Return the exercises of a lesson or a variant, with the names at each answer."""
    found, latest = {}, None
    for cell in lesson.cells:
        marks = marks_of(cell)
        if marks.get("solution"):
            stub = re.sub(f"{BEGIN}.*?{END}", course.CODE_STUB, cell.source, flags=re.DOTALL)
            lines = cell.source.splitlines()
            solution = "\n".join(line for line in lines if line.strip() not in (BEGIN, END))
            latest = Exercise(names[marks["grade_id"]], stub, solution)
            found[marks["grade_id"]] = latest
        elif marks:
            latest.checks.append(cell.source)
            latest.points += marks["points"]
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
    """Write points and reasons of a student's answers to a lesson as a file."""
    lesson = course.variant(nbformat.read(path, 4), seed and f"{seed}/{file.parent.name}")
    given, found = answers_of(file, "code"), []
    for name, one in exercises(lesson, names).items():
        points, why = judge(one, given.get(name, ""), channels[name], seconds)
        found.append((path.stem, file.parent.name, name, points, one.points, why))
    to.write_text(json.dumps(found))


def grade_lesson(path, lesson, files, seed: str | None, seconds: int, to: Path) -> None:
    """Judge all answers to a lesson, of which the students' version is given, in a new process.

    It runs the lesson and then only forks: a process for each answer, and one that judges them.
    Tests and answers are read in the latter.
    """
    names = played(lesson)
    for file in files:
        channels, children = {}, []
        for name in names:
            channels[name], theirs = Pipe()
            children.append(forked(student.serve, theirs, names[name]))
            theirs.close()
        place = to / f"{file.parent.name} {path.stem}"
        judging = forked(judge_notebook, path, names, seed, file, channels, seconds, place)
        os.waitpid(judging, 0)
        for name, child in zip(names, children, strict=True):
            channels[name].close()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def forked(work, *given) -> int:
    """Do something in a copy of this process, which ends then; return its number."""
    child = os.fork()
    if not child:
        try:
            work(*given)
            os._exit(0)
        except BaseException as error:
            print(f"grade: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(1)
    return child


# ---- the two steps ----------------------------------------------------------------------------


def grade(handed_in: Path, folder: Path, seed: str | None, seconds: int) -> None:
    """Take notebooks from the platform's archive, judge them, and write the texts to mark.

    The archive has one folder per student, whose name begins with the student's and may go on with
    an underscore and a number. Points of texts that were marked before are kept.
    """
    check_sandbox()
    for name in [name for name in os.environ if not re.match(NEEDED, name)]:
        del os.environ[name]  # a student's code might tell it
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")  # they start none
    submitted, lessons = folder / "submitted", {path.name: path for path in course.all_lessons()}
    shutil.rmtree(submitted, ignore_errors=True)
    context = get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as scratch,
        ProcessPoolExecutor(None, context, max_tasks_per_child=1) as pool,
    ):
        zipfile.ZipFile(handed_in).extractall(Path(scratch, "unpacked"))
        for file in sorted(Path(scratch, "unpacked").glob("*/*.ipynb")):
            who = re.sub(r"_\d+(_assignsubmission_.*)?$", "", file.parent.name)
            if file.name in lessons:
                (submitted / who).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, submitted / who / file.name)
            else:
                print(f"{who} handed in {file.name}, which is no lesson: left out")
        tasks, texts, rows = [], [], []
        for path in lessons.values():
            lesson, files = nbformat.read(path, 4), sorted(submitted.glob(f"*/{path.name}"))
            asked = {*map(course.grade_id, lesson.cells)}
            for file in files:
                given = answers_of(file, "markdown")
                texts += [
                    (path.stem, file.parent.name, name, plain(given[name]))
                    for name in given
                    if name in asked
                ]
            if files:
                bare = course.student_version(lesson)
                tasks.append(
                    pool.submit(grade_lesson, path, bare, files, seed, seconds, Path(scratch))
                )
        for task in tasks:
            task.result()
        for file in submitted.glob("*/*.ipynb"):
            rows += json.loads(Path(scratch, f"{file.parent.name} {file.stem}").read_text())
    pd.DataFrame(sorted(rows), columns=[*KEY, "points", "most", "why"]).to_csv(
        folder / "points.csv", index=False
    )
    texts, marked = pd.DataFrame(texts, columns=[*KEY, "text"]), read(folder / "texts.csv")
    marked = marked if len(marked) else texts.assign(points="")
    texts.merge(marked, "left").to_csv(folder / "texts.csv", index=False)


def answers_of(file: Path, kind: str) -> dict[str, str]:
    """Return the source of a notebook's exercise cells, by grade id or, without it, by heading."""
    found, heading = {}, ""
    try:
        for cell in json.loads(file.read_text("utf-8"))["cells"]:
            source, marks = "".join(cell["source"]), cell["metadata"].get("nbgrader", {})
            title = re.match(r"### Exercise (\d+)\.(\d+) ", source)
            name = marks.get("grade_id", heading)
            heading = "lesson{}-exercise{}".format(*title.groups()) if title else ""
            is_answer = cell["cell_type"] == kind and "-exercise" in name and not title
            if is_answer and source.strip() != course.TEXT_STUB:
                found.setdefault(name, source)
    except Exception as error:  # whatever is wrong with a file, the others are graded
        print(f"{file.parent.name}: {file.name} is no notebook: {error}", file=sys.stderr)
    return found


def check_sandbox() -> None:
    """Shut in a process of our own, and end with the reason if that fails."""
    if any(course.ROOT.is_relative_to(folder) for folder in student.READABLE):
        raise SystemExit(f"grade: {course.ROOT} lies in a folder that answers may read")
    if os.waitpid(forked(student.shut_in), 0)[1]:
        raise SystemExit("grade: no sandbox on this machine")


def marks(worksheet: Path, folder: Path) -> None:
    """Fill in the platform's table, which has a column `Full name`: grade and points of each."""
    rows = pd.concat([read(folder / "points.csv"), read(folder / "texts.csv")])
    rows = rows.assign(points=pd.to_numeric(rows["points"]).fillna(0))
    table, total = read(worksheet), rows.groupby("student")["points"].sum()
    said = rows["exercise"] + ": " + rows["points"].map("{:g}".format)
    table["Grade"] = table["Full name"].map(total).fillna(0)
    table["Feedback comments"] = table["Full name"].map(
        said.groupby(rows["student"]).agg("; ".join)
    )
    table.to_csv(folder / "marks.csv", index=False)
    if strangers := {*total.index} - {*table["Full name"]}:
        raise SystemExit(f"marks: not in {worksheet}: {', '.join(sorted(strangers))}")


def read(file: Path) -> pd.DataFrame:
    """Return a table of texts; an empty one if there is no such file."""
    if not file.exists():
        return pd.DataFrame()
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def main(arguments: list[str] | None = None) -> None:
    """Do one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=GRADING, help="where results are written")
    steps = parser.add_subparsers(dest="step", required=True)
    step = steps.add_parser("grade", help="judge what was handed in")
    step.add_argument("handed_in", type=Path, help="the platform's archive")
    step.add_argument("--seed", help="the seed of the variants; without it there are none")
    step.add_argument("--seconds", type=int, default=SECONDS, help="for an answer and its tests")
    step = steps.add_parser("marks", help="fill in the platform's table")
    step.add_argument("worksheet", type=Path, help="a csv file with the column `Full name`")
    options = parser.parse_args(arguments)
    if options.step == "grade":
        grade(options.handed_in, options.folder, options.seed, options.seconds)
    else:
        marks(options.worksheet, options.folder)


if __name__ == "__main__":
    main()
