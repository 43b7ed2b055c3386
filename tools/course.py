"""Write the students' versions of the lessons.

    course.py                     notebooks/course -> build/course/student
    course.py 7 worksheet.csv     also build/course/variants, drawn from a seed, and their key

A student's version is the source lesson without its solutions, model answers, hidden tests and
outputs, which nbgrader's preprocessors take out. Its self-checks stay, and running all cells goes
on where one finds no answer yet. A variant has a number of one student's own in its exercises;
the key has all of them, with the solutions. Students are rows of the learning platform's table,
in its column `Full name`.
"""

import copy
import functools
import io
import itertools
import random
import re
import shutil
import string
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import nbformat
import pandas as pd
import yaml
from nbgrader import preprocessors
from traitlets.config import Config

ROOT = Path(__file__).parents[1]
LESSONS = ROOT / "notebooks" / "course"
COURSE = ROOT / "build" / "course"
CODE_STUB = "# YOUR CODE HERE"
TEXT_STUB = "*Your answer here.*"
TEXTS = r"""(#.*|"(?:\\.|[^"\n])*"|'(?:\\.|[^'\n])*')"""  # comments and texts in code
#: what a variant adds to a solution and to its check
ANSWER = """plain_$f = $f

def $f(*given):
    given = [*given]
    for place in $at:
        one = given[place]
        given[place] = $take
    return plain_$f(*given)
"""
CHECK = """def checked_$f(*given):   # the form of your version is given to your function
    given, drawn = [*given], np.random.default_rng()
    far = drawn.integers(9999)
    for place in $at:
        one = given[place]
        given[place] = $give
    return $f(*given)
"""


def main(seed: str = "", students: str = "") -> None:
    """Write the students' lessons and what students are told about them; variants if asked for."""
    if students and not seed:
        raise SystemExit("variants need a seed, a number or a text: SEED=... with make")
    for part in ("student", "variants"):
        shutil.rmtree(COURSE / part, ignore_errors=True)
    if students:
        write_variants(seed, Path(students), COURSE / "variants")
    for path in all_lessons():
        write(student_version(nbformat.read(path, 4)), COURSE / "student" / path.name)
    told = Path(__file__).parent / "templates" / "COURSE.md"
    shutil.copy(told, COURSE / "student" / "README.md")
    print(f"{COURSE}: {len(all_lessons())} lessons without their solutions")


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


def grade_id(cell) -> str:
    """Return the name by which an exercise's cell is graded, or an empty text."""
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def write(lesson, file: Path) -> None:
    """Write a lesson."""
    file.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(lesson, file)


# ---- variants ---------------------------------------------------------------------------------


def write_variants(seed: str, students: Path, folder: Path) -> None:
    """Write every student's lessons, and the key: their numbers and the solutions.

    What is drawn depends on the seed and the student's name alone: students can be added later.
    """
    names = [name.strip() for name in pd.read_csv(students, dtype=str)["Full name"]]
    unfit = [name for name in names if not re.fullmatch(r"(?!\.)[\w.@ -]+", name)]
    if unfit or len({*names}) < len(names):
        raise SystemExit(f"{students}: names are unique and fit for folders, not {unfit}")
    for path, student in itertools.product(all_lessons(), names):
        own = variant(nbformat.read(path, 4), f"{seed}/{student}")
        write(student_version(own), folder / "students" / student / path.name)
        write(own, folder / "key" / student / path.name)
    rows = {who: {one: drawn(one, f"{seed}/{who}") for one in varied()} for who in names}
    pd.DataFrame(rows).T.rename_axis("student").to_csv(folder / "key" / "numbers.csv")


@functools.cache
def varied() -> dict[str, dict]:
    """Return the form in which an exercise's arguments come, by grade id."""
    forms = yaml.safe_load((LESSONS / "variants.yaml").read_text(encoding="utf-8")).values()
    return {name: form | {"at": at} for form in forms for name, at in form["to"].items()}


def drawn(exercise: str, seed: str) -> int:
    """Return a student's number in an exercise, on every machine the same for the same seed."""
    draw, among = random.Random(f"{seed}/{exercise}"), varied()[exercise].get("n", [11, 499])
    return draw.randint(*among) if len(among) == 2 else draw.choice(among)


def variant(lesson, seed: str):
    """Return a copy of a lesson, without outputs, whose exercises have a student's numbers."""
    own, _ = preprocessors.ClearOutput().preprocess(copy.deepcopy(lesson), {})
    places = {grade_id(cell): place for place, cell in enumerate(own.cells)}
    for exercise in varied().keys() & places:
        question, answer, *checks = own.cells[places[exercise] - 1 :]
        f, *arguments = re.findall(r"\w+", answer.source.partition("\n")[0])[1:]
        form = varied()[exercise] | {"n": drawn(exercise, seed), "f": f}
        form["name"] = arguments[form["at"][0]]

        def filled(text, form=form):
            return string.Template(string.Template(text).substitute(form)).substitute(form)

        question.source += f"\n\n**Your version:** {filled(form['said'])}"
        answer.source = answer.source.replace("    ### END", "### END")
        answer.source = answer.source.replace("### END", f"{filled(ANSWER)}### END")
        for cell in itertools.takewhile(grade_id, checks):
            cell.source = renamed(cell.source, f, f"checked_{f}")
        checks[0].source = filled(CHECK) + checks[0].source
    return own


def renamed(source: str, name: str, new: str) -> str:
    """Return a cell in which a name, wherever it is no text, is another one."""
    return re.sub(rf"{TEXTS}|\b{name}\b", lambda found: found[1] or new, source)


# ---- versions ---------------------------------------------------------------------------------


def student_version(lesson):
    """Return a copy of a lesson without solutions, model answers and outputs.

    nbgrader raises an error where it finds no end of a solution, a solution outside of a solution
    cell, or metadata that are not valid.
    """
    student = copy.deepcopy(lesson)
    for step in (
        preprocessors.CheckCellMetadata(),
        preprocessors.ClearSolutions(code_stub={"python": CODE_STUB}, text_stub=TEXT_STUB),
        preprocessors.ClearHiddenTests(),
        preprocessors.ClearOutput(),
    ):
        student, _ = step.preprocess(student, {})
    for cell in student.cells:
        tags = cell.metadata.get("tags", [])
        if {"self-check", "hidden-tests"} & {*tags}:  # JupyterLab runs on after it
            cell.metadata["tags"] = [*tags, "raises-exception"]
    return student


def public_version(lesson):
    """Return the student's version with the outputs of all cells that belong to no exercise.

    Pictures in texts stand in their addresses, and those of outputs have their alternative texts
    where myst-nb and the live page look for them.
    """
    lesson = nbformat.from_dict(lesson)
    for cell in lesson.cells:
        cell.source = "".join(cell.source)
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
    main(*sys.argv[1:])
