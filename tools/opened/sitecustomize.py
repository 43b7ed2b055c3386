"""Note which files of the project a process opens; Python runs this at its start.

The builder puts this folder on the module path of a notebook's kernel, and the workers that the
kernel starts inherit it: modules, data files and published numbers are all seen, however they are
imported or read. Names go to $ANONPAPER_OPENED, one file for each process.
"""

import os
import sys


def note_opened(event: str, arguments: tuple) -> None:
    """Write down a file of the project the first time that it is opened."""
    if event == "open" and isinstance(arguments[0], str):
        path = os.path.abspath(arguments[0])
        if path.startswith(_project) and path not in _seen:
            _seen.add(path)
            os.write(_notes, f"{path.removeprefix(_project)}\n".encode())


_seen: set[str] = set()
_project = os.environ["ANONPAPER_PROJECT"] + os.sep
_notes = os.open(
    f"{os.environ['ANONPAPER_OPENED']}/{os.getpid()}",
    os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    0o644,
)
sys.addaudithook(note_opened)
