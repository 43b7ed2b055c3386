"""Note which files of the project a process opens; Python runs this at its start.

The builder puts this folder on the module path of a notebook's kernel, and the workers that the
kernel starts inherit it: modules, data files and published numbers are all seen, however they are
imported or read. Names go to $ANONPAPER_OPENED, one file for each process. A program that cannot
note what it reads is noted as ``*``: it may have read anything.
"""

import contextlib
import os
import sys

STARTS = {"os.exec", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn"}
READ_NOTHING = ({"git", "ls-files"}, {"git", "init"}, {"node"})  # node: the driver of the browser


def note_opened(event: str, arguments: tuple) -> None:
    """Write down a file of the project the first time that it is opened."""
    if event == "open" and isinstance(arguments[0], str):
        path = os.path.abspath(arguments[0])
        if path.startswith(_project) and path not in _seen:
            _seen.add(path)
            note(path.removeprefix(_project))
    elif event == "subprocess.Popen" and not notes_too(*arguments) or event in STARTS:
        note("*")


def note(name: str) -> None:
    """Write a line; a process that has shut itself in loaded its files before, and cannot."""
    with contextlib.suppress(OSError):
        notes = os.open(_notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(notes, f"{name}\n".encode(errors="backslashreplace"))
        os.close(notes)


def notes_too(program: object, arguments: object, folder: object, environment: object) -> bool:
    """Return whether a program notes what it reads, or reads nothing of the project.

    Makefiles elsewhere are those of copies, and files were opened to be copied.
    """
    said = [arguments] if isinstance(arguments, str | bytes | os.PathLike) else list(arguments)
    name, *options = (os.path.basename(os.fsdecode(part)) for part in (program, *said[1:]))
    elsewhere = folder and not os.path.abspath(os.fsdecode(folder)).startswith(_project)
    if elsewhere and name in ("make", "sh"):
        return True
    if any(words <= {name, *options} for words in READ_NOTHING):
        return True
    given = os.environ if environment is None else environment
    path = str(given.get("PYTHONPATH", "")).split(os.pathsep)
    inherits = os.path.dirname(__file__) in path and not {"-E", "-I", "-S"} & {*options}
    return name.startswith("python") and inherits and "ANONPAPER_OPENED" in given


if "ANONPAPER_OPENED" in os.environ:
    _seen: set[str] = set()
    _project = os.environ["ANONPAPER_PROJECT"] + os.sep
    _notes = f"{os.environ['ANONPAPER_OPENED']}/{os.getpid()}"
    sys.addaudithook(note_opened)
