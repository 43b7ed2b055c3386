"""Grade answers to the course outside of the students' notebooks: build/grading/points.csv.

    grade.py answers.zip

Of a notebook only the source of the exercise cells is taken. Each answer runs in a process of its
own, without files, network and further processes, which comes from one that has read no test. The
checks, hidden ones included, run in another one: there a student's function is a name that asks
that process. What comes back names no class: numbers, texts, collections, arrays and tables.
"""

import ctypes
import io
import json
import os
import pickle
import re
import resource
import struct
import sys
import zipfile
from functools import partial
from multiprocessing import Pipe, get_context
from numbers import Real
from pathlib import Path

import course
import nbformat
import numpy as np
import pandas as pd
import typer

from anonpaper.files import cache_folder, raw_folder

TOO_LONG = "it takes too long: right answers are judged in seconds"
MOST_BYTES, MEMORY = 1 << 27, 4 << 30  # of a message, and of a process
RUN = "run the answer"
ASKED = re.compile(r"^def (\w+)|^([\w, ]+) =", re.M)  # functions and values, in a stub
COLUMNS = ["lesson", "student", "exercise", "points", "most", "why"]
Fork = get_context("fork").Process


def main(
    handed_in: Path, to: Path = course.BUILD / "grading" / "points.csv", seconds: int = 60
) -> None:
    """Judge the notebooks in the platform's archive, which has one folder per student."""
    if not course.SOLUTIONS.is_dir():
        raise SystemExit(f"grade: no {course.SOLUTIONS}: INSTRUCTOR.md says who has it")
    if any(course.ROOT.is_relative_to(folder) for folder in READABLE):
        raise SystemExit(f"grade: {course.ROOT} lies in a folder that answers may read")
    (trial := Fork(target=shut_in)).start()
    trial.join()
    if trial.exitcode:
        raise SystemExit("grade: no sandbox on this machine")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with zipfile.ZipFile(handed_in) as archive:
        names = [name for name in archive.namelist() if name.endswith(".ipynb")]
        answers = {Path(name): answers_of(name, archive.read(name)) for name in names}
    rows = [row for path in course.all_lessons() for row in graded(path, answers, seconds)]
    table = pd.DataFrame(rows, columns=COLUMNS).sort_values(COLUMNS[:3])
    to.parent.mkdir(parents=True, exist_ok=True)
    table.astype({"points": "Int64"}).to_csv(to, index=False)


def answers_of(name: str, text: bytes) -> dict[str, str]:
    """Return the source of a notebook's answers by exercise, of copies the first."""
    try:
        cells = json.loads(text)["cells"][::-1]
        return {cell["metadata"].get("exercise"): "".join(cell["source"]) for cell in cells}
    except Exception as error:  # whatever is wrong with a file, the others are graded
        print(f"{name} is no notebook: {error}", file=sys.stderr)
        return {}


def graded(path: Path, answers: dict[Path, dict], seconds: int):
    """Yield a row for each answer to a lesson; this process reads no test."""
    files, lesson = [file for file in answers if file.name == path.name], nbformat.read(path, 4)
    for exercise, names in played(lesson) if files else ():
        stub, *checks = cells_of(lesson, exercise)
        most = sum(cell.metadata.points for cell in checks or [stub])
        for file in files:
            who = re.sub(r"_\d+(_assignsubmission_.*)?$", "", file.parent.name)
            answer = answers[file].get(exercise, "")
            points, why = None, plain(answer if answer != stub.source else "")
            if checks:
                why = fault(path, exercise, stub.source, answer, names, seconds)
                points = 0 if why else most
            yield path.stem, who, exercise, points, most, why


def played(lesson):
    """Run a lesson as a student does who answers nothing; yield exercises, each with the names."""
    names = {"__name__": "lesson"}
    for cell in lesson.cells:
        if "solution" in cell.metadata.get("tags", ()):
            yield cell.metadata.exercise, dict(names)
        if cell.cell_type == "code" and "points" not in cell.metadata:
            course.run(cell.source, names)


def cells_of(lesson, exercise: str) -> list:
    """Return the cells of an exercise: the answer, then its checks; a text has none."""
    return [cell for cell in lesson.cells if cell.metadata.get("exercise") == exercise]


def plain(text: str) -> str:
    """Return what a student wrote as a cell of a table that no program takes for a formula."""
    text = text[:30_000].encode("utf-8", "replace").decode().replace("\0", "")
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


# ---- one answer: the judge's process ----------------------------------------------------------


def fault(path: Path, exercise: str, stub: str, answer: str, names: dict, seconds: int) -> str:
    """Return why an answer gets no points, or an empty text if every check takes it.

    Examples that a check shows can be copied into an answer, so they alone are worth nothing.
    """
    if "".join(answer.split()) in ("", "".join(stub.split())):
        return "no answer"
    (asking, answering), (result, judging) = Pipe(), Pipe(duplex=False)
    processes = [
        Fork(target=serve, args=(answering, answer, names)),
        Fork(target=judge, args=(judging, asking, path, exercise, stub, names)),
    ]
    for process, end in zip(processes, (answering, judging), strict=True):
        process.start()
        end.close()
    try:
        return result.recv() if result.poll(seconds) else TOO_LONG
    except EOFError:
        return "its process ended: too much memory"
    finally:
        for process in processes:
            process.kill()
            process.join()


def judge(result, asking, path: Path, exercise: str, stub: str, names: dict) -> None:
    """Read the tests, run them on what the student's process says, and send why one refuses it."""
    why = ""
    try:
        ask(asking, RUN)
        for function, values in ASKED.findall(stub):
            names |= {name: ask(asking, name) for name in re.findall(r"\w+", values)}
            if function:
                names[function] = partial(ask, asking, function)
        for check in cells_of(course.lecturers_version(path), exercise)[1:]:
            course.run(check.source, names)
    except EOFError:
        return
    except Exception as error:  # whatever a check raises refuses the answer
        kind = "" if isinstance(error, AssertionError | RuntimeError) else type(error).__name__
        why = plain(f"{kind} {error} ".lstrip())[:600]
    result.send(why)


def ask(channel, name: str, *given):
    """Return a value of a student's process, or of a function there, which may ask given ones."""
    functions = {place: one for place, one in enumerate(given) if callable(one)}
    given = [None if place in functions else one for place, one in enumerate(given)]
    for place, one in enumerate(given):
        if isinstance(one, np.random.Generator):  # other numbers next time
            given[place] = one.spawn(1)[0]
    channel.send((name, given, [*functions]))
    while True:
        reader = Reader(io.BytesIO(channel.recv_bytes(MOST_BYTES)))
        ((kind, value),) = reader.load().items()
        if kind == "error":
            raise RuntimeError(value)
        if kind == "value":
            return value
        place, *asked = value
        channel.send(functions[place](*asked))


# ---- values that cross the border -------------------------------------------------------------

PLAIN = (bool, int, float, str, list, tuple, set, frozenset, dict)


class Writer(pickle.Pickler):
    """Write plain values as they are, arrays and tables as plain values, all else as a text."""

    def persistent_id(self, value):
        """Return what stands for a value; None for one that stands for itself."""
        if value is None or type(value) in PLAIN:
            return None
        match value:
            case np.ndarray():
                return "array", str(value.dtype), value.shape, value.ravel().tolist()
            case pd.Series():
                return "series", value.to_frame(), value.name
            case pd.DataFrame():
                return "frame", value.to_dict("tight")
            case np.generic() | pd.Index():
                return "plain", value.tolist()
            case Real():
                return "plain", float(value)
        kind = next((kind for kind in PLAIN if isinstance(value, kind)), "{!r:.200}".format)
        return "plain", kind(value)


MADE = {
    "plain": lambda value: value,
    "array": lambda dtype, shape, items: np.fromiter(items, "O").astype(dtype).reshape(shape),
    "series": lambda frame, name: frame.iloc[:, 0].rename(name),
    "frame": partial(pd.DataFrame.from_dict, orient="tight"),
}


class Reader(pickle.Unpickler):
    """Read what a Writer has written, and nothing that names a class or a function."""

    def find_class(self, module, name):
        """Refuse it."""
        raise pickle.UnpicklingError(f"{module}.{name} is no plain value")

    def persistent_load(self, said):
        """Return the value that something stands for."""
        return MADE[said[0]](*said[1:])


def written(value) -> bytes:
    """Return a value as it crosses the border."""
    Writer(content := io.BytesIO()).dump(value)
    return content.getvalue()


# ---- one answer: the student's process --------------------------------------------------------

READABLE = [sys.prefix, sys.base_prefix, course.ROOT / "anonpaper", raw_folder(), "/usr", "/lib"]
READABLE += ["/lib64", "/etc"]
READABLE += map(cache_folder().joinpath, ("parquet", "official", "package-index"))
#: system calls for memory, for files that are readable, for time and for the process itself
ALLOWED = """
read readv pread64 write writev lseek open openat close stat fstat lstat newfstatat statx access
faccessat faccessat2 readlink readlinkat getdents64 getcwd poll ppoll mmap munmap mremap mprotect
madvise brk futex sched_yield sched_getaffinity clock_gettime clock_nanosleep gettimeofday time
getrusage getrandom getpid getppid gettid getuid geteuid getgid getegid rt_sigaction rt_sigprocmask
rt_sigreturn exit exit_group uname sysinfo
"""
ALL_OF_FILES, READ = 0x7FFF, 0x1 | 0x4 | 0x8  # read: map a library, read a file, list a folder
ALLOW, NOT_PERMITTED = 0x7FFF0000, 0x00050001


def serve(channel, answer: str, names: dict) -> None:
    """Run an answer among names, and send the values that the judge asks for."""
    try:
        os.closerange(3, channel.fileno())  # pipes of the judge and of other answers
        os.closerange(channel.fileno() + 1, 1 << 16)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        for name in os.environ.keys() - {"ANONPAPER_DATA", "HOME"}:
            del os.environ[name]
        shut_in()
        names[RUN] = partial(course.run, answer, names)
        while True:
            name, given, places = channel.recv()  # the judge is trusted
            for place in places:
                given[place] = partial(ask_back, channel, place)
            try:
                value = names[name](*given) if callable(names[name]) else names[name]
                said = written({"value": value})
            except BaseException as error:  # students' code may raise anything, and is told so
                said = written({"error": f"{type(error).__name__}: {error!s:.500}"})
            channel.send_bytes(said)
    finally:
        os._exit(0)


def ask_back(channel, place: int, *given):
    """Have the judge call a function of the checks, and return the value."""
    channel.send_bytes(written({"ask": (place, *given)}))
    return channel.recv()


def shut_in() -> None:
    """Take from this process all files but libraries and data, and all calls but `ALLOWED`.

    Landlock and seccomp do so, which Linux offers to everybody. OSError if one of them is missing.
    """
    libc, seccomp = ctypes.CDLL(None, use_errno=True), ctypes.CDLL("libseccomp.so.2")
    libc.prctl(38, 1, 0, 0, 0)  # no process below has more rights
    rules = libc.syscall(444, ctypes.byref(ctypes.c_uint64(ALL_OF_FILES)), 8, 0)
    for path in filter(os.path.isdir, READABLE):
        libc.syscall(445, rules, 1, struct.pack("=Qi", READ, os.open(path, os.O_PATH)), 0)
    if libc.syscall(446, rules, 0):
        raise OSError("no Landlock, or too old a one: grade on Linux 6.2 or newer")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    calls = ctypes.c_void_p(seccomp.seccomp_init(NOT_PERMITTED))
    for name in ALLOWED.split():
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        seccomp.seccomp_rule_add(calls, ALLOW, number, 0)
    if seccomp.seccomp_load(calls):
        raise OSError("this kernel has no seccomp filters")


if __name__ == "__main__":
    typer.run(main)
