"""What lessons and slides may not show, and what self-checks must refuse.

That every self-check passes on the solutions is seen by `make test`, which executes them.
"""

import functools
import io
import os
import re
import subprocess
import sys
import tarfile

import nbformat
import pytest
import yaml
from project.helpers import ROOT, SOLUTIONS, load_tool, needs_solutions, opened, told

course, grade, slides = map(load_tool, ("course", "grade", "slides"))
PATHS = {path.stem: path for path in course.LESSONS}
LESSONS = {stem: nbformat.read(path, 4) for stem, path in PATHS.items()}
RIGHT = ("right", "also right")


def tagged(cells, tag):
    return [cell for cell in cells if tag in cell.metadata.get("tags", [])]


@needs_solutions
def test_lessons_show_no_solution_no_model_answer_and_no_check_that_holds():
    for stem, path in PATHS.items():
        assert told(path.read_text()) == [], stem
    cells = [cell for lesson in LESSONS.values() for cell in lesson.cells]
    answers = tagged(cells, "solution")
    assert len(answers) > 70 and all(course.STUB.search(cell.source) for cell in answers)
    assert not [cell for cell in cells if "exercise" in cell.metadata and cell.get("outputs")]


@needs_solutions
def test_a_public_copy_has_no_solution_and_tests_it_without_them(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("no repository here")
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(tmp_path, filter="data")
    assert not [*tmp_path.rglob("*solutions*"), *tmp_path.rglob("answers.yaml")]
    for name, left_out in {".dockerignore": course.SOLUTIONS.relative_to(ROOT).as_posix(),
                           "MANIFEST.in": "prune notebooks"}.items():  # fmt: skip
        assert left_out in (ROOT / name).read_text().splitlines()
    for path in tmp_path.rglob("*.*"):
        if path.is_file() and path.suffix not in (".png", ".webp", ".gz"):
            assert told(path.read_text("utf-8")) == [], path
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]
    command += ["tests/project/test_course.py", "tests/project/test_grading.py", "-k", "not slide"]
    here = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=here)
    assert done.returncode == 0 and "not in the public archive" in done.stdout, done.stdout


@pytest.mark.parametrize("stem", LESSONS)
def test_a_note_on_ethics_stands_before_every_attack(stem):
    cells = LESSONS[stem].cells
    attacks = [cells.index(cell) for cell in tagged(cells, "attack")]
    assert attacks
    for place in attacks:
        heading = max(n for n in range(place) if cells[n].source.startswith("## "))
        assert tagged(cells[heading - 1 : place], "ethics")


# ---- the self-checks --------------------------------------------------------------------------


def attempt(checks, names: dict, answer: str) -> BaseException | None:
    """Return what the self-check, or the answer itself, raises; None if it is taken.

    It runs in a copy of the names before the answer, as in a notebook.
    """
    names = dict(names)
    try:
        for source in (answer, *checks):
            course.run(source, names)
    except Exception as error:  # whatever an attempt may raise is what is asked for
        return error
    return None


@functools.cache
def names_of(stem):
    return dict(grade.played(LESSONS[stem]))


@functools.cache
def solved(stem):
    return course.lecturers_version(PATHS[stem])


@pytest.fixture(
    params=[
        (stem, cell.metadata.exercise)
        for stem in LESSONS
        for cell in tagged(LESSONS[stem].cells, "solution")
        if cell.cell_type == "code"
    ],
    ids=lambda of: of[1],
)
def exercise(request):
    """Solution, checks and names of an exercise, and answers by what the check says of them."""
    stem, name = request.param
    stub = grade.cells_of(LESSONS[stem], name)[0].source
    answers = yaml.safe_load((SOLUTIONS / "answers.yaml").read_text())[name]
    given = {said: course.written(stub, answer) for said, answer in answers.items()}
    solution, *checks = (cell.source for cell in grade.cells_of(solved(stem), name))
    return solution, checks, names_of(stem)[name], {"": stub} | given


@needs_solutions
def test_the_empty_cell_and_wrong_answers_are_refused_for_what_is_wrong(exercise):
    _, checks, names, answers = exercise
    found = [
        (answer, repr(error))
        for message, answer in answers.items()
        if message not in RIGHT
        if type(error := attempt(checks, names, answer)) is not AssertionError
        or message not in str(error)
        or len(str(error).split()) < 3
    ]
    assert found == []


@needs_solutions
def test_right_answers_are_taken_also_by_the_hidden_tests(exercise):
    solution, checks, names, answers = exercise
    errors = [attempt(checks, names, answer) for answer in [solution, *map(answers.get, RIGHT)]]
    assert [repr(error) for error in errors if error] == []


# ---- slides -----------------------------------------------------------------------------------

# what a class could trip over, looked up in the page itself, slide after slide
FAULTS = r"""async () => {
  await MathJax.startup.promise;
  const faults = [];
  for (const [number, slide] of Reveal.getSlides().entries()) {
    Reveal.slide(number);
    const said = text => faults.push(`slide ${number + 1}: ${text}`);
    for (const image of slide.querySelectorAll("img")) {
      await image.decode().catch(() => said("a picture that cannot be seen"));
      if (image.alt.length < 50) said("a picture without a text");
      if (image.clientHeight < 250) said("a picture that is too small");
    }
    for (const node of slide.querySelectorAll("*")) {
      if (node.closest("aside, mjx-assistive-mml")) continue;
      const place = node.getBoundingClientRect();
      if (place.width && (place.bottom > 720 || place.right > 1280 || place.left < 0))
        said(`out of the slide: ${node.tagName} ${node.textContent.trim().slice(0, 40)}`);
      if (node.tagName == "PRE" && node.scrollWidth > node.clientWidth) said("code is too wide");
    }
    if (NOTES && !slide.querySelector("aside").textContent.trim()) said("no notes");
  }
  return faults;
}""".replace("NOTES", str(SOLUTIONS.is_dir()).lower())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The slides of all lessons, written as `make slides` writes them."""
    folder = tmp_path_factory.mktemp("slides")
    assert slides.main(folder) == 0
    return folder


@pytest.mark.parametrize("stem", LESSONS)
def test_every_slide_can_be_shown_without_a_network(stem, folder, browser):
    with opened(browser, viewport={"width": 1280, "height": 720}, offline=True) as page:
        page.goto((folder / f"{stem}.html").as_uri())
        assert page.evaluate(FAULTS) == []


@needs_solutions
def test_no_slide_shows_a_solution(folder):
    for stem in LESSONS:
        assert told(re.sub("<[^>]*>", "", (folder / f"{stem}.html").read_text())) == []
