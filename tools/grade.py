"""Grade the course outside of the students' notebooks, in five steps.

    grade.py collect moodle.zip    what was handed in -> build/grading/submitted, texts.csv
    grade.py grade --seed 2027     points.csv; the seed is that of the variants
    grade.py similar --seed 2027   similar.csv: pairs of students with equal answers
    grade.py feedback              a page per student
    grade.py marks worksheet.csv   marks.csv: the learning platform's table, filled in
    grade.py scoreboard FOLDER     scoreboard.csv: teams of the project, who attack each other

and `grade.py scoreboard FOLDER` for the project: teams publish one table and attack each other.

Of a notebook only the source of the exercise cells is taken: other changes of students, in
asserts, outputs and checks, have no effect. Each answer runs in a process of its own (student.py).
The checks of the lessons, hidden ones included, run here: a student's function is a name that asks
that process. No learning platform is called, only files are read and written.
"""

import argparse
import ast
import io
import itertools
import json
import os
import pickle
import random
import re
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
import tomllib
import traceback
import types
import warnings
import zipfile
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir, closing, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import course
import nbformat
import numpy as np
import pandas as pd
import student
from dateutil.parser import parse as date_of

import anonpaper as ap
from anonpaper.files import cache_folder, raw_folder

GRADING = course.ROOT / "build" / "grading"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS\n.*?^### END HIDDEN TESTS\n?", re.DOTALL | re.M)
NEEDED = "PATH|HOME|LANG|LC_|TMP|XDG_|PYTHON|ANONPAPER_|NUMBA_|OMP_|MPL"  # of the environment
READABLE = [
    *map(Path, (sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", "/etc")),
    *map(Path, (os.devnull, "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo")),
    Path("/sys/devices/system/cpu"),
    course.ROOT / "anonpaper",
    raw_folder(),
    *(cache_folder() / name for name in ("parquet", "official", "package-index")),
]


SECONDS = 20  # of a processor, for an answer; so many by the clock if the processor is idle
TOO_LONG = "it was stopped: it waits, or computes too long. Right answers are judged in seconds"


class StudentError(Exception):
    """A student's code raised an error, took too long, or handed over nothing."""


# ---- the exercises of a lesson ----------------------------------------------------------------


@dataclass
class Exercise:
    """An exercise with code: the names before its answer, its cells and its checks."""

    names: dict
    stub: str
    solution: str = ""
    checks: list[str] = field(default_factory=list)
    points: list[int] = field(default_factory=list)

    @property
    def asked(self) -> dict[str, bool]:
        """The names that an answer gives, and whether each is a function."""
        found = {}
        for node in ast.parse(self.stub).body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = True
            for target in getattr(node, "targets", []):
                found |= {
                    name.id: False for name in ast.walk(target) if isinstance(name, ast.Name)
                }
        return found


def played(cells: list[tuple[str, str, str]]) -> dict[str, Exercise]:
    """Run a lesson as a student does who answers nothing; return its exercises, without checks.

    A cell is its kind (`code`, `solution` or `check`), its grade id and its source.
    """
    from matplotlib import pyplot, rc_context

    found, names = {}, {"__name__": "lesson", "display": lambda *shown: None}
    with chdir(course.LESSONS), rc_context({"backend": "agg"}):
        for kind, grade_id, source in cells:
            if kind != "check":
                run(source, names)
                pyplot.close("all")
            if kind == "solution":
                found[grade_id] = Exercise(dict(names), source)
    return found


def run(source: str, names: dict, file: str = "<cell>") -> None:
    """Run a cell without its prints and warnings."""
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(source, file, "exec"), names)


def cells_of(lesson) -> list[tuple[str, str, str]]:
    """Return the code cells of a lesson: kind, grade id and source of each."""
    kinds = {"solution": "solution", "self-check": "check", "hidden-tests": "check"}
    return [
        (
            next((kinds[tag] for tag in cell.metadata.get("tags", []) if tag in kinds), "code"),
            cell.metadata.get("nbgrader", {}).get("grade_id", ""),
            cell.source,
        )
        for cell in lesson.cells
        if cell.cell_type == "code"
    ]


def add_checks(exercises: dict[str, Exercise], lesson) -> dict[str, Exercise]:
    """Return copies of the exercises with solution, checks and points of a lesson or a variant."""
    made, latest = {}, None
    for cell in lesson.cells:
        if cell.cell_type != "code" or "nbgrader" not in cell.metadata:
            continue
        marks = cell.metadata["nbgrader"]
        if marks["solution"]:
            latest = made[marks["grade_id"]] = Exercise(
                exercises[marks["grade_id"]].names,
                re.sub(f"{BEGIN}.*?{END}", course.CODE_STUB, cell.source, flags=re.DOTALL),
            )
            lines = cell.source.splitlines()
            latest.solution = "\n".join(x for x in lines if x.strip() not in (BEGIN, END))
        else:
            latest.checks.append(cell.source)
            latest.points.append(marks["points"])
    return made


# ---- one answer, judged -----------------------------------------------------------------------


class Answer:
    """A student's process, as the judge sees it."""

    def __init__(self, control: socket.socket, exercise: str, source: str, seconds: int):
        self.scratch = tempfile.TemporaryDirectory()
        self.channel, theirs = socket.socketpair()
        self.control, self.seconds = control, seconds
        self.end = time.monotonic() + 10 * seconds  # on a busy machine
        socket.send_fds(control, [b"s"], [theirs.fileno()])
        theirs.close()
        self.clock = ~int(control.recv(20)) << 3 | 2  # of the processor time of that process
        student.send(self.channel, pickle.dumps((exercise, source, self.scratch.name)))

    def start(self) -> None:
        """Wait until the cell has run; StudentError if it fails."""
        self._reply([])

    def close(self) -> None:
        """End the process, whatever it does."""
        self.control.send(b"e")
        self.control.recv(1)
        self.channel.close()
        self.scratch.cleanup()

    def value(self, name: str):
        """Return a name's value."""
        return self._ask(("value", name), [])

    def function(self, name: str):
        """Return a function that has the student's process compute."""

        def ask(*given, **named):
            return self._ask(("call", name, given, named), given)

        ask.__name__ = name
        return ask

    def _ask(self, request: tuple, given: tuple):
        """Send a request; functions among the arguments stay here and are called from there."""
        asked, content = [], io.BytesIO()

        class Pickler(pickle.Pickler):
            def persistent_id(self, one):
                if not isinstance(one, types.FunctionType):
                    return None
                if getattr(sys.modules.get(one.__module__), one.__name__, None) is one:
                    return None  # of a library
                asked.append(one)
                return len(asked) - 1

        Pickler(content).dump(request)
        student.send(self.channel, content.getvalue())
        for one in given:
            if isinstance(one, np.random.Generator):  # other numbers next time
                one.bit_generator.state = type(one.bit_generator)().state
        return self._reply(asked)

    def _wait(self) -> None:
        """Wait for a message; TimeoutError if the process sleeps, or has had its time."""
        used = time.clock_gettime(self.clock)
        while not select.select([self.channel], [], [], self.seconds)[0]:
            before, used = used, time.clock_gettime(self.clock)
            if used - before < 0.01 * self.seconds or time.monotonic() > self.end:
                raise TimeoutError
        self.channel.settimeout(max(self.end - time.monotonic(), 0.001))

    def _reply(self, asked: list):
        """Return what the process replies, and answer its questions until it does."""
        raised = None
        while True:
            try:
                self._wait()
                ((kind, content),) = json.loads(student.receive(self.channel)).items()
                if kind == "error":
                    break
                value = student.decode(content)
                if kind == "value":
                    return value
                number, *parts = value
                function = asked[number]
            except TimeoutError:
                raise StudentError(TOO_LONG) from None
            except (EOFError, OSError):
                raise StudentError("its process ended: too much memory or time") from None
            except Exception as error:  # a student can hand over anything
                raise StudentError(f"what it handed over is no value: {error}") from None
            try:
                said = (False, function(*parts))
            except Exception as error:  # the question was refused: the student's code may go on
                raised, said = error, (True, str(error))
            student.send(self.channel, pickle.dumps(said))
        raise raised if isinstance(raised, AssertionError) else StudentError(str(content))


@dataclass
class Verdict:
    """Points of an answer, the most there are, and why some are missing."""

    points: int
    most: int
    why: str = ""
    hidden: bool = False  # the reason is a hidden test: students are not shown it


def judge(exercise: Exercise, name: str, source: str, control, seconds: int) -> Verdict:
    """Return the points of an answer: all if every check takes it, also the hidden ones, or none.

    Examples that a check shows can be copied into an answer, so they alone are worth nothing.
    """
    most = sum(exercise.points)
    if "".join(source.split()) in ("", "".join(exercise.stub.split())):
        return Verdict(0, most, "no answer")
    verdict, names = Verdict(0, most), dict(exercise.names)
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(20 * seconds)  # for what the judge does with a huge answer
    with closing(Answer(control, name, source, seconds)) as answer:
        try:
            check = ""
            answer.start()
            for asked, is_function in exercise.asked.items():
                names[asked] = answer.function(asked) if is_function else answer.value(asked)
            for check in exercise.checks:
                run(check, names, "<check>")
            verdict.points = most
        except Exception as error:  # whatever a check raises refuses the answer
            verdict.why, verdict.hidden = reason(error, check)
        signal.alarm(0)
    return verdict


def too_long(*given) -> None:
    """End what takes too long."""
    raise StudentError(TOO_LONG)


def reason(error: Exception, check: str) -> tuple[str, bool]:
    """Return what a check says of an answer, and whether a hidden test says it."""
    lines = [
        f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == "<check>"
    ]
    is_hidden = any(
        check[: part.start()].count("\n") < lines[0] <= check[: part.end()].count("\n")
        for part in HIDDEN.finditer(check)
        if lines
    )
    kind = "" if isinstance(error, AssertionError | StudentError) else f"{type(error).__name__}: "
    return plain(f"{kind}{error}")[:600], is_hidden


def plain(text: str) -> str:
    """Return what a student wrote as a cell of a table that no program takes for a formula."""
    text = text[:30_000].encode("utf-8", "replace").decode().replace("\0", "")
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def check_sandbox() -> None:
    """Shut in a process of our own, which ends; SandboxError with the reason if that fails."""
    if any(course.ROOT.is_relative_to(folder) for folder in READABLE):
        raise student.SandboxError(f"{course.ROOT} lies in a folder that answers may read")
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            student.shut_in(READABLE, Path(tempfile.gettempdir()), seconds=60, megabytes=2000)
        except Exception as error:  # which the parent raises
            os.write(writing, f"no sandbox on this machine: {error!r}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    if said := os.read(reading, 9999).decode():
        raise student.SandboxError(said)


def judge_lesson(path: Path, cells: list, answers: Path, seed: str | None, seconds: int) -> list:
    """Return (student, exercise, Verdict) of all answers to a lesson, which are in a file.

    To be called in a new process: it runs the lesson, forks the process from which students'
    processes come, and only then reads the tests and the answers.
    """
    exercises = played(cells)
    control, theirs = socket.socketpair()
    attendant = os.fork()
    if not attendant:
        try:
            places = {name: one.names for name, one in exercises.items()}
            control.close()
            student.attend(theirs, places, READABLE, seconds=seconds, megabytes=2000)
        finally:
            os._exit(1)
    theirs.close()
    lesson, found = nbformat.read(path, as_version=4), []
    for who, given in pickle.loads(answers.read_bytes()).items():
        own = add_checks(exercises, course.variant(lesson, seed and f"{seed}/{who}"))
        for name, one in own.items():
            found.append((who, name, judge(one, name, given.get(name, ""), control, seconds)))
    control.close()
    os.waitpid(attendant, 0)
    return found


def grade(
    answers: dict[str, dict[str, dict[str, str]]], seed: str | None, jobs: int, seconds: int
) -> list:
    """Return (lesson, student, exercise, Verdict) for answers by student, lesson and exercise."""
    found, tasks = [], {}
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), max_tasks_per_child=1)
    with tempfile.TemporaryDirectory() as scratch, pool:
        for path in course.all_lessons():
            of = {who: given[path.stem] for who, given in answers.items() if path.stem in given}
            if of:
                file = Path(scratch, path.stem)
                file.write_bytes(pickle.dumps(of))
                cells = cells_of(course.student_version(nbformat.read(path, as_version=4)))
                tasks[path.stem] = pool.submit(judge_lesson, path, cells, file, seed, seconds)
        for lesson, task in tasks.items():
            found += [(lesson, *row) for row in task.result()]
            print(f"{lesson}: graded", flush=True)
    return found


# ---- the five steps ---------------------------------------------------------------------------

POINTS = ("lesson", "student", "exercise", "points", "most", "why", "hidden")


def collect(handed_in: Path, folder: Path, drawn: int, seed: str | None) -> None:
    """Take the notebooks that were handed in, and write the texts that a person marks.

    `handed_in` is the platform's archive, or a folder, with one folder per student, whose name
    begins with the student's and may go on with an underscore and a number. `drawn` texts of each
    student are to be marked. Nobody without the seed can tell which.
    """
    shutil.rmtree(folder / "submitted", ignore_errors=True)
    lessons, rows = {path.name for path in course.all_lessons()}, []
    with tempfile.TemporaryDirectory() as unpacked:
        if handed_in.is_file():
            zipfile.ZipFile(handed_in).extractall(unpacked)
            handed_in = Path(unpacked)
        for path in sorted(handed_in.glob("*/*.ipynb")):
            who = re.sub(r"_\d+(_assignsubmission_.*)?$", "", path.parent.name)
            if path.name not in lessons:
                print(f"collect: {who} handed in {path.name}, which is no lesson: left out")
                continue
            (folder / "submitted" / who).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / "submitted" / who / path.name)
    asked = {path.stem: texts_of(nbformat.read(path, 4)) for path in course.all_lessons()}
    for who, given in submitted(folder, "markdown").items():
        texts = [(lesson, name) for lesson in given for name in asked[lesson]]
        for lesson, name in random.Random(f"{seed}/{who}").sample(texts, min(drawn, len(texts))):
            if name in given[lesson]:
                rows.append((lesson, who, name, "", plain(given[lesson][name])))
    write(folder / "texts.csv", ("lesson", "student", "exercise", "points", "text"), rows)
    print(f"{folder}: {len(submitted(folder))} students, {len(rows)} texts to mark in texts.csv")


def texts_of(lesson) -> list[str]:
    """Return the grade ids of the questions to discuss."""
    cells = [cell for cell in lesson.cells if cell.cell_type == "markdown"]
    return [course.grade_id(cell) for cell in cells if course.grade_id(cell)]


def submitted(folder: Path, kind: str = "code") -> dict[str, dict[str, dict[str, str]]]:
    """Return the answers handed in, by student, lesson and exercise."""
    found = defaultdict(dict)
    for path in sorted((folder / "submitted").glob("*/*.ipynb")):
        try:
            found[path.parent.name][path.stem] = answers_of(path.read_text("utf-8"), path, kind)
        except Exception as error:  # whatever is wrong with a file, the others are graded
            print(f"{path.parent.name}: {path.name} is no notebook: {error}", file=sys.stderr)
            found[path.parent.name][path.stem] = {}
    return dict(found)


def answers_of(notebook: str, path: Path, kind: str) -> dict[str, str]:
    """Return the source of a notebook's exercise cells, by grade id or, without it, by heading."""
    found, heading = {}, None
    for cell in json.loads(notebook)["cells"]:
        source, marks = "".join(cell["source"]), cell["metadata"].get("nbgrader", {})
        title = re.match(r"### Exercise (\d+)\.(\d+) ", source)
        name = marks.get("grade_id", heading)
        heading = "lesson{}-exercise{}".format(*title.groups()) if title else None
        is_answer = cell["cell_type"] == kind and "-exercise" in (name or "") and not title
        if is_answer and source.strip() != course.TEXT_STUB:
            found.setdefault(name, source)
    return found


def marks(worksheet: Path, folder: Path, deadline: str | None, late: float) -> None:
    """Fill in the learning platform's table: grade and comment of each student.

    The table has the columns `Full name` and `Grade`. By `Last modified (submission)`, what was
    handed in after the deadline loses a share `late` of its points for each day begun.
    """
    points = Counter()
    for row in read(folder / "points.csv") + read(folder / "texts.csv"):
        points[row["student"]] += float(row["points"] or 0)
    rows = read(worksheet)
    for row in rows:
        grade, said = points[row["Full name"]], f"{points[row['Full name']]:g} points"
        changed = row.get("Last modified (submission)", "-")
        if deadline and changed not in ("", "-"):
            over = (date_of(changed) - date_of(deadline)).total_seconds()
            days = max(0, -int(-over // 86400))
            grade *= max(0, 1 - late * days)
            said += f", {days} days late: {grade:g}" if days else ""
        row["Grade"] = f"{grade:g}"
        row["Feedback comments"] = said
    write(folder / "marks.csv", tuple(rows[0]), [tuple(row.values()) for row in rows])
    strangers = points.keys() - {row["Full name"] for row in rows}
    if strangers:
        raise SystemExit(f"marks: not in {worksheet}: {', '.join(sorted(strangers))}")


def feedback(folder: Path) -> None:
    """Write a page per student: points, and what visible checks said; no hidden tests."""
    pages = defaultdict(list)
    for row in read(folder / "points.csv"):
        why = "a further test, which is not shown, refuses it" if row["hidden"] else row["why"]
        pages[row["student"]].append((row["exercise"], row["points"], row["most"], why))
    for row in read(folder / "texts.csv"):
        pages[row["student"]].append((row["exercise"], row["points"], "", "marked by a person"))
    (folder / "feedback").mkdir(exist_ok=True)
    for who, rows in pages.items():
        lines = [f"# {who}", "", "| exercise | points | of | why |", "|---|---|---|---|"]
        for name, points, most, why in rows:
            said = " ".join(why.split()).replace("|", "\\|")
            lines.append(f"| {name} | {points} | {most} | {said} |")
        (folder / "feedback" / f"{who}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def similar(folder: Path, seed: str | None) -> None:
    """List pairs of students with answers that are equal but for names, comments and spaces.

    An answer that more than a tenth of the students gave says nothing without constants of
    another's version, and short ones do not.
    `constants of the other` counts answers that hold a constant of the other's version.
    """
    given, found = submitted(folder), defaultdict(list)
    for lesson in course.all_lessons():
        groups = defaultdict(list)
        for who in given:
            for name, source in given[who].get(lesson.stem, {}).items():
                if shape := shape_of(source):
                    groups[name, shape].append(who)
        for (name, shape), people in groups.items():
            is_rare = len(people) <= max(2, len(given) // 10)
            for pair in itertools.combinations(sorted(people), 2) if len(shape) > 200 else ():
                is_foreign = bool(seed) and any(
                    has_constants(given[a][lesson.stem][name], name, seed, a, b)
                    for a, b in (pair, pair[::-1])
                )
                if is_rare or is_foreign:
                    found[pair].append((name, is_foreign))
    rows = [
        (*pair, len(of), sum(foreign for _, foreign in of), " ".join(sorted(n for n, _ in of)))
        for pair, of in found.items()
    ]
    head = ("student", "other", "equal answers", "constants of the other", "exercises")
    write(folder / "similar.csv", head, sorted(rows, key=lambda row: (-row[3], -row[2])))


def scoreboard(folder: Path) -> None:
    """Write scoreboard.csv: what teams promised of one table, what they kept, what was guessed.

    The folder has the people (`table.csv`), the roles of the columns (`game.toml`: `qi` and
    `sensitive`), and a folder per team: `release.csv`, `promise.toml` (`k`, `l`) and
    `against-<other team>.csv`, with a column `row` (of `table.csv`, from 0) and a column `guess`.
    An attack counts by its right guesses beyond those of somebody who always says the most
    frequent value of the table, as a share of all people. So guesses at random lose. The column
    `faults` says what is wrong with a team's files.
    """
    game = tomllib.loads((folder / "game.toml").read_text("utf-8"))
    people = ap.Microdata(pd.read_csv(folder / "table.csv"), game["qi"], game["sensitive"])
    truth = people.frame[game["sensitive"]].astype(str).reset_index(drop=True)
    teams, rows = sorted(path.name for path in folder.glob("[!._]*/")), []
    gained = pd.DataFrame(np.nan, teams, teams)  # by the attacker and by whom was attacked
    faults = defaultdict(list)

    @contextmanager
    def reading(team, name):
        try:
            yield folder / team / name
        except Exception as error:  # a team can hand in anything: the others are judged
            said = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            faults[team].append(plain(f"{name}: {said}"))

    for one, other in itertools.permutations(teams, 2):
        if (folder / one / f"against-{other}.csv").exists():
            with reading(one, f"against-{other}.csv") as file:
                gained.loc[one, other] = round(gain(file, truth) / people.n, 4)
    for team in teams:
        promise, kept, loss = {"k": "", "l": ""}, "no: see faults", ""
        with reading(team, "promise.toml") as file:
            said = tomllib.loads(file.read_text("utf-8"))
            promised = [ap.KAnonymity(said["k"]), ap.FrequencyLDiversity(said["l"])]
            promise = said
        with reading(team, "release.csv") as file:
            table = pd.read_csv(file, dtype=str, keep_default_na=False)
            if promise["k"]:
                found = ap.audit(people, table, promised)
                missed = ", ".join(found.promises.query("file < promised")["principle"])
                kept = f"no: {missed}" if missed else "yes"
                loss = round(found.utility["share of detail lost (GCP)"], 4)
        numbers = (promise["k"], promise["l"], loss, gained[team].max(), gained.loc[team].mean())
        rows.append((team, kept, *numbers, "; ".join(faults[team])))
    head = "promise kept,k,l,detail lost,worst attack on it,own attacks,faults".split(",")
    write(folder / "scoreboard.csv", ("team", *head), rows)


def gain(file: Path, truth: pd.Series) -> int:
    """Return how many more people a team guesses than who says the most frequent value."""
    guesses = pd.read_csv(
        file, usecols=["row", "guess"], dtype={"row": int, "guess": str}, keep_default_na=False
    )
    guesses = guesses.drop_duplicates("row").set_index("row")["guess"]
    guesses = guesses.reindex(truth.index).dropna()
    right, common = (truth[guesses.index] == by for by in (guesses, truth.mode()[0]))
    return right.sum() - common.sum()


def shape_of(source: str) -> str:
    """Return an answer's syntax tree without names and constants; '' if it has none."""
    try:
        shape = ast.dump(ast.parse(source))
    except Exception:  # no Python, or too deep
        return ""
    return re.sub(r"\b(id|arg|name|value)=('(?:[^'\\]|\\.)*'|\d[\w.+-]*)", r"\1=_", shape)


def has_constants(source: str, exercise: str, seed: str, own: str, other: str) -> bool:
    """Whether an answer holds a number of the other student's version and none of the own."""
    if exercise not in course.varied():
        return False
    texts = {*re.findall(r"\d+(?:\.\d+)?", source)}
    mine, theirs = (
        {
            str(value)
            for value in course.drawn_constants(exercise, f"{seed}/{who}").values()
            if isinstance(value, int | float)
        }
        for who in (own, other)
    )
    return bool(texts & theirs - mine) and not texts & mine


def read(file: Path) -> list[dict[str, str]]:
    """Return the rows of a table; none if there is no such file."""
    if not file.exists():
        return []
    return pd.read_csv(file, dtype=str, keep_default_na=False).to_dict("records")


def write(file: Path, head: tuple, rows: list) -> None:
    """Write a table."""
    file.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows, columns=head).to_csv(file, index=False)


def main(arguments: list[str] | None = None) -> int:
    """Do one of the steps and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=GRADING, help="where results are written")
    steps = parser.add_subparsers(dest="step", required=True)
    step = steps.add_parser("collect", help="take what was handed in")
    step.add_argument("handed_in", type=Path, help="the platform's archive, or a folder")
    step.add_argument("--texts", type=int, default=99, help="so many texts of each are marked")
    for name in ("grade", "similar", "collect"):
        step = steps.choices.get(name) or steps.add_parser(name, help=f"write {name}.csv")
        step.add_argument("--seed", help="the seed of the variants; without it there are none")
    step = steps.choices["grade"]
    step.add_argument("--jobs", type=int, default=os.cpu_count(), help="lessons at a time")
    step.add_argument("--seconds", type=int, default=SECONDS, help="of a processor, for an answer")
    step = steps.add_parser("marks", help="fill in the platform's table")
    step.add_argument("worksheet", type=Path, help="a csv file with `Full name` and `Grade`")
    step.add_argument("--deadline", help="after it a share of the points is lost")
    step.add_argument("--late", type=float, default=0.1, help="the share lost per day begun")
    steps.add_parser("feedback", help="write a page per student")
    step = steps.add_parser("scoreboard", help="judge the teams of the project")
    step.add_argument("teams", type=Path, help="the folder with the people and the teams")
    options = parser.parse_args(arguments)
    match options.step:
        case "collect":
            collect(options.handed_in, options.folder, options.texts, options.seed)
        case "grade":
            for name in {name for name in os.environ if not re.match(NEEDED, name)}:
                del os.environ[name]  # a student's code might tell it
            try:
                check_sandbox()
                found = grade(
                    submitted(options.folder), options.seed, options.jobs, options.seconds
                )
            except student.SandboxError as error:
                raise SystemExit(f"grade: {error}") from None
            rows = [(*row[:3], v.points, v.most, v.why, v.hidden or "") for *row, v in found]
            write(options.folder / "points.csv", POINTS, rows)
        case "marks":
            marks(options.worksheet, options.folder, options.deadline, options.late)
        case "feedback":
            feedback(options.folder)
        case "similar":
            similar(options.folder, options.seed)
        case "scoreboard":
            scoreboard(options.teams)
    return 0


if __name__ == "__main__":
    sys.exit(main())
