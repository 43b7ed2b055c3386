"""Write the students' versions of the lessons: notebooks/course -> build/course/student.

A student's version is the source lesson without its solutions, model answers, hidden tests and
outputs, which nbgrader's preprocessors take out. Its self-checks stay, and running all cells goes
on where one finds no answer yet.
"""

import copy
import io
import shutil
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import nbformat
from nbgrader import preprocessors
from traitlets.config import Config

ROOT = Path(__file__).parents[1]
LESSONS = ROOT / "notebooks" / "course"
COURSE = ROOT / "build" / "course"
TEXT_STUB = "*Your answer here.*"


def main(folder: Path = COURSE / "student") -> None:
    """Write the students' lessons and what students are told about them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in all_lessons():
        nbformat.write(student_version(nbformat.read(path, 4)), folder / path.name)
    shutil.copy(Path(__file__).parent / "templates" / "COURSE.md", folder / "README.md")
    print(f"{folder}: {len(all_lessons())} lessons without their solutions")


def all_lessons() -> list[Path]:
    """Return the files of the lessons, in the order of their numbers."""
    return sorted(LESSONS.glob("*.ipynb"), key=lambda path: int(path.stem.partition("_")[0]))


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


# ---- versions ---------------------------------------------------------------------------------


def student_version(lesson):
    """Return a copy of a lesson without solutions, model answers and outputs.

    nbgrader raises an error where it finds no end of a solution, a solution outside of a solution
    cell, or metadata that are not valid.
    """
    student = copy.deepcopy(lesson)
    for step in (
        preprocessors.CheckCellMetadata(),
        preprocessors.ClearSolutions(
            code_stub={"python": "# YOUR CODE HERE"}, text_stub=TEXT_STUB
        ),
        preprocessors.ClearHiddenTests(),
        preprocessors.ClearOutput(),
    ):
        student, _ = step.preprocess(student, {})
    for cell in student.cells:
        tags = cell.metadata.get("tags", [])
        if {"self-check", "hidden-tests"} & {*tags}:  # JupyterLab runs on after it
            cell.metadata["tags"] = [*tags, "raises-exception"]
    return student


def public_version(path: Path):
    """Return the student's version of a lesson, with outputs of cells that belong to no exercise.

    Pictures in texts stand in their addresses, and those of outputs have their alternative texts
    where myst-nb and the live page look for them.
    """
    lesson = nbformat.read(path, 4)
    public = student_version(lesson)
    for shown, cell in zip(public.cells, lesson.cells, strict=True):
        for picture, held in cell.get("attachments", {}).items():
            address = f"data:image/png;base64,{held['image/png']}"
            shown.source = shown.source.replace(f"attachment:{picture}", address)
        if cell.cell_type == "code" and "nbgrader" not in cell.metadata:
            shown.update(outputs=cell.outputs, execution_count=cell.execution_count)
            for output in shown.outputs:
                if "image/png" in output.get("data", {}):
                    output.metadata |= cell.metadata.get("mystnb", {}).get("image", {})
    return public


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
