"""What lessons and slides may not show, and what self-checks must refuse.

That every self-check passes on the solutions is seen by `make`, which executes the sources.
"""

import functools
import json
import re

import nbformat
import pytest
import yaml
from project.helpers import load_tool, opened, told, written

course, grade, slides = map(load_tool, ("course", "grade", "slides"))
ANSWERS = yaml.safe_load((course.LESSONS / "answers.yaml").read_text())
RIGHT = ("right", "also right")
LESSONS = {path.stem: nbformat.read(path, 4) for path in course.all_lessons()}
BARE = {stem: course.student_version(lesson) for stem, lesson in LESSONS.items()}


def tagged(cells, tag):
    return [cell for cell in cells if tag in cell.metadata.get("tags", [])]


def test_students_get_no_solution_no_model_answer_and_no_output(tmp_path):
    course.main(tmp_path / "student")
    written = {file.name: file.read_text() for file in (tmp_path / "student").iterdir()}
    assert written.keys() == {f"{stem}.ipynb" for stem in LESSONS} | {"README.md"}
    assert not [name for name, text in written.items() if "### BEGIN" in text]
    cells = [cell for stem in LESSONS for cell in json.loads(written[f"{stem}.ipynb"])["cells"]]
    assert not [cell for cell in cells if cell.get("outputs")]
    assert told(" ".join("".join(cell["source"]) for cell in cells)) == []


@pytest.mark.parametrize("stem", LESSONS)
def test_a_note_on_ethics_stands_before_every_attack(stem):
    cells = LESSONS[stem].cells
    attacks = [cells.index(cell) for cell in tagged(cells, "attack")]
    assert attacks
    for place in attacks:
        heading = max(n for n in range(place) if cells[n].source.startswith("## "))
        assert tagged(cells[heading - 1 : place], "ethics")


# ---- the self-checks --------------------------------------------------------------------------


def attempt(of, names: dict, answer: str) -> BaseException | None:
    """Return what the self-check, or the answer itself, raises; None if it is taken.

    It runs in a copy of the names before the answer, as in a notebook.
    """
    names = dict(names)
    try:
        for source in (answer, *of.checks):
            course.run(source, names)
    except Exception as error:  # whatever an attempt may raise is what is asked for
        return error
    return None


@functools.cache
def names_of(stem):
    return grade.played(BARE[stem])


@pytest.fixture(
    params=[
        (stem, cell.metadata.nbgrader.grade_id)
        for stem in LESSONS
        for cell in tagged(LESSONS[stem].cells, "solution")
        if cell.cell_type == "code"
    ],
    ids=lambda of: of[1],
)
def exercise(request):
    """An exercise, and answers to it by what the check says of them, if it is no right one."""
    stem, name = request.param
    of, stub = (grade.exercises(lesson[stem])[name] for lesson in (LESSONS, BARE))
    given = {said: written(stub.source, answer) for said, answer in ANSWERS[name].items()}
    return of, names_of(stem)[name], {"": stub.source} | given


def test_the_empty_cell_and_wrong_answers_are_refused_for_what_is_wrong(exercise):
    of, names, answers = exercise
    found = [
        (answer, repr(error))
        for message, answer in answers.items()
        if message not in RIGHT
        if type(error := attempt(of, names, answer)) is not AssertionError
        or message not in str(error)
        or len(str(error).split()) < 3
    ]
    assert found == []


def test_right_answers_are_taken_also_by_the_hidden_tests(exercise):
    of, names, answers = exercise
    errors = [attempt(of, names, answer) for answer in [of.source, *map(answers.get, RIGHT)]]
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
    if (!slide.querySelector("aside").textContent.trim()) said("no notes");
  }
  return faults;
}"""


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


def test_no_slide_shows_a_solution(folder):
    for stem in LESSONS:
        assert told(re.sub("<[^>]*>", "", (folder / f"{stem}.html").read_text())) == []
