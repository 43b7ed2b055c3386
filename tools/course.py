"""Write the lessons with their solutions: build/course/lecturer.

Lessons are what students get. The folder notebooks/course/solutions is not public: its notebooks
have cells that replace the stubs of a lesson's cells (by id), or stand below them (hidden tests).
"""

import io
import re
import textwrap
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import nbformat
from inputs import LESSONS, NOTEBOOKS, ROOT
from traitlets.config import Config

SOLUTIONS = NOTEBOOKS / "course" / "solutions"
STUB = re.compile(r"^( *)(# YOUR CODE HERE|\*Your answer here\.\*)$", re.M)


def main(folder: Path = ROOT / "build" / "course" / "lecturer") -> None:
    """Write the lecturer's lessons."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in LESSONS:
        nbformat.write(lecturers_version(path), folder / path.name)


def run(source: str, names: dict) -> str:
    """Run a cell among names, as a notebook does; return what it prints, or raise its error."""
    from IPython.core.interactiveshell import InteractiveShell  # slow to import

    config = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell.instance(config=config, user_ns={"__name__": "lesson"})
    shell.showtraceback = lambda *told, **options: None
    shell.user_module, shell.user_ns = shell.prepare_user_module(user_ns=names)
    with redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings(action="ignore"):
        shell.run_cell(source, silent=True).raise_error()
    return printed.getvalue()


def written(stub: str, answer: str) -> str:
    """Return a cell with an answer in place of its stub, or below it if it has none."""
    if place := STUB.search(stub):
        return stub.replace(place[0], textwrap.indent(answer, place[1]))
    return f"{stub}\n{answer}"


def lecturers_version(path: Path):
    """Return a lesson with its solutions, model answers and hidden tests."""
    lesson = nbformat.read(path, 4)
    cells = {cell.id: cell for cell in lesson.cells}
    for given in nbformat.read(SOLUTIONS / path.name, 4).cells:
        cells[given.id].source = written(cells[given.id].source, given.source)
    for cell in lesson.cells:
        if "raises-exception" in cell.metadata.get("tags", ()):
            cell.metadata.tags.remove("raises-exception")
    return lesson


if __name__ == "__main__":
    main()
