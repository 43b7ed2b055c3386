"""Grade answers to the course outside of the students' notebooks: build/grading/points.csv.

    grade.py answers.zip

Of a notebook only the answers are taken. Each runs in a process of its own, without files, network
and further processes, which comes from one that has read no test. The checks, hidden ones too, run
in another process: there a student's function is a name that asks the first one. What comes back
names no class: numbers, texts, collections, arrays and tables.
"""

import ctypes
import io
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
from inputs import LESSONS, ROOT

from anonpaper.files import cache_folder, raw_folder

TOO_LONG = "it takes too long: right answers are judged in seconds"
MOST_BYTES, MEMORY = 1 << 27, 4 << 30  # of a message, and of a process
RUN = "run the answer"
ASKED = re.compile(r"^def (\w+)|^([\w, ]+) =", re.M)  # functions and values, in a stub
POINTS = ROOT / "build" / "grading" / "points.csv"
COLUMNS = ["lesson", "student", "exercise", "points", "most", "why"]
Fork = get_context("fork").Process


def main(handed_in: Path, to: Path = POINTS, seconds: int = 60) -> None:
    """Judge the notebooks in the platform's archive, which has one folder per student."""
    if not course.SOLUTIONS.is_dir():
        raise SystemExit(f"grade: no {course.SOLUTIONS}: INSTRUCTOR.md says who has it")
    if any(ROOT.is_relative_to(folder) for folder in READABLE):
        raise SystemExit(f"grade: {ROOT} lies in a folder that answers may read")
    (trial := Fork(target=shut_in)).start()
    trial.join()
    if trial.exitcode:
        raise SystemExit("grade: no sandbox on this machine")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with zipfile.ZipFile(handed_in) as archive:
        names = [name for name in archive.namelist() if name.endswith(".ipynb")]
        answers = {Path(name): answers_of(name, archive.read(name)) for name in names}
    rows = [row for path in LESSONS for row in graded(path, answers, seconds)]
    table = pd.DataFrame(rows, columns=COLUMNS, dtype=object).sort_values(COLUMNS[:3])
    why = table["why"].str[:30_000].str.encode("utf-8", "replace").str.decode("utf-8")
    # no program takes what a student wrote for a formula
    table["why"] = why.str.replace("\0", "").str.replace("^(?=[=+@-])", "'", regex=True)
    to.parent.mkdir(parents=True, exist_ok=True)
    table.astype({"points": "Int64"}).to_csv(to, index=False)


def answers_of(name: str, text: bytes) -> dict[str, str]:
    """Return the source of a notebook's answers by exercise, of copies the first."""
    try:
        cells = nbformat.reads(text.decode(), 4).cells[::-1]
        return {cell.metadata.get("exercise"): cell.source for cell in cells}
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
            points, why = None, answer if answer != stub.source else ""
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


# ---- one answer: the judge's process ----------------------------------------------------------


def fault(path: Path, exercise: str, stub: str, answer: str, names: dict, seconds: int) -> str:
    """Return why an answer gets no points; an empty text if every check takes it: all points."""
    if answer.split() in ([], stub.split()):
        return "no answer"
    result, judging = Pipe(duplex=False)
    process = Fork(target=judge, args=(judging, path, exercise, stub, answer, names))
    process.start()
    judging.close()
    try:
        return result.recv() if result.poll(seconds) else TOO_LONG
    except EOFError:
        return "its process ended: too much memory"
    finally:
        process.kill()
        process.join()


def judge(result, path: Path, exercise: str, stub: str, answer: str, names: dict) -> None:
    """Have an answer run, then read the tests, run them, and send why one refuses the answer."""
    asking, answering = Pipe()
    Fork(target=serve, args=(answering, answer, names), daemon=True).start()
    answering.close()
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
        why = f"{type(error).__name__}: {error}"[:600]
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


def tell(channel, **said) -> None:
    """Send values across the border, by what they are."""
    Writer(content := io.BytesIO()).dump(said)
    channel.send_bytes(content.getvalue())


# ---- one answer: the student's process --------------------------------------------------------

READABLE = ["/usr", "/lib", "/lib64", "/etc", sys.prefix, sys.base_prefix, ROOT / "anonpaper"]
READABLE += [raw_folder(), *map(cache_folder().joinpath, ("parquet", "official", "package-index"))]
#: system calls for memory, for files that are readable, for time and for the process itself
ALLOWED = """
read readv pread64 write writev lseek open openat close stat fstat lstat newfstatat statx access
faccessat faccessat2 readlink readlinkat getdents64 getcwd poll ppoll mmap munmap mremap mprotect
madvise brk futex sched_yield sched_getaffinity clock_gettime clock_nanosleep gettimeofday time
getrusage getrandom getpid getppid gettid getuid geteuid getgid getegid rt_sigaction rt_sigprocmask
rt_sigreturn exit exit_group uname sysinfo
"""
ALL_OF_FILES, READ = 0x7FFF, 0x1 | 0x4 | 0x8  # read: map a library, read a file, list a folder


def serve(channel, answer: str, names: dict) -> None:
    """Run an answer among names, and send the values that the judge asks for."""
    try:
        os.closerange(3, channel.fileno())  # pipes of the judge and of other answers
        os.closerange(channel.fileno() + 1, 1 << 16)
        for standard in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), standard)
        for name in os.environ.keys() - {"ANONPAPER_DATA", "HOME"}:
            del os.environ[name]
        shut_in()
        names[RUN] = partial(course.run, answer, names)
        while True:
            name, given, places = channel.recv()  # the judge is trusted
            for place in places:
                given[place] = partial(ask_back, channel, place)
            try:
                one = names[name]
                tell(channel, value=one(*given) if callable(one) else one)
            except BaseException as error:  # students' code may raise anything, and is told so
                tell(channel, error=f"{type(error).__name__}: {error!s:.500}")
    finally:
        os._exit(0)


def ask_back(channel, place: int, *given):
    """Have the judge call a function of the checks, and return the value."""
    tell(channel, ask=(place, *given))
    return channel.recv()


def shut_in() -> None:
    """Take from this process all files but libraries and data, and all calls but `ALLOWED`.

    Landlock and seccomp do so, which Linux offers to everybody. OSError if one of them is missing.
    """
    libc, seccomp = ctypes.CDLL(None, use_errno=True), ctypes.CDLL("libseccomp.so.2")
    libc.prctl(1, 9, 0, 0, 0)  # it ends when the judge does
    libc.prctl(38, 1, 0, 0, 0)  # it gets no further rights
    rules = libc.syscall(444, ctypes.byref(ctypes.c_uint64(ALL_OF_FILES)), 8, 0)
    for path in filter(os.path.isdir, READABLE):
        libc.syscall(445, rules, 1, struct.pack("=Qi", READ, os.open(path, os.O_PATH)), 0)
    if libc.syscall(446, rules, 0):
        raise OSError("no Landlock, or too old a one: grade on Linux 6.2 or newer")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    calls = ctypes.c_void_p(seccomp.seccomp_init(0x00050001))  # PermissionError for all
    for name in ALLOWED.split():
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        seccomp.seccomp_rule_add(calls, 0x7FFF0000, number, 0)  # but these
    if seccomp.seccomp_load(calls):
        raise OSError("this kernel has no seccomp filters")


if __name__ == "__main__":
    typer.run(main)
