"""Slides of the lessons: a browser shows each of them well, and no solution is on them."""

import re

import pytest
from project.helpers import load_tool, opened, told

slides = load_tool("slides")
LESSONS = slides.all_lessons()

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
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(slides, "ROOT", tmp_path_factory.getbasetemp())
        changed.setattr(slides, "SLIDES", tmp_path_factory.mktemp("slides"))
        assert slides.main() == 0
        return slides.SLIDES


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_slide_can_be_shown_without_a_network(path, folder, browser):
    with opened(browser, viewport={"width": 1280, "height": 720}, offline=True) as page:
        page.goto((folder / f"{path.stem}.html").as_uri())
        assert page.evaluate(FAULTS) == []


def test_no_slide_shows_a_solution(folder):
    for path in LESSONS:
        assert told(re.sub("<[^>]*>", "", (folder / f"{path.stem}.html").read_text())) == []
