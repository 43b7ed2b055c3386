"""Slides of the lessons: a browser shows each of them well, and no solution is on them."""

import re

import matplotlib
import pytest
from project.browsers import opened
from project.lessons import secrets_of_lessons
from project.tools import load_tool

slides = load_tool("slides")
pictures = slides.course_pictures
LESSONS = slides.all_lessons()
FIGURES = [name for name, of in vars(pictures).items() if "\n\n" in (of.__doc__ or "")
           and getattr(of, "__module__", "") == "course_pictures"]  # fmt: skip
LEAST = 20  # pixels of the type in a picture that fills a slide

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
    }
    for (const block of slide.querySelectorAll("pre"))
      if (block.scrollWidth > block.clientWidth) said("code is wider than the slide");
    for (const block of slide.querySelectorAll("p, li")) {
      const end = block.lastChild;
      if (block.querySelector("ul, ol, img") || (end && end.nodeName == "MJX-CONTAINER")) continue;
      if (!/[.?!:"*)]$|answers$/.test(block.innerText.trim() || "."))
        said("a sentence without an end: " + block.innerText.trim().slice(-40));
    }
    if (!slide.querySelector("aside").textContent.trim()) said("no notes");
    const texts = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const {data, parentElement: parent} = texts.currentNode;
      if (!data.trim() || parent.closest("mjx-container, style, script")) continue;
      const code = parent.closest("pre, code");
      if (!code && /\*\*|`|\]\(|\$|^#|^\||Notes:/.test(data.trim()))
        said("raw markup: " + data.trim());
      const size = parseFloat(getComputedStyle(parent).fontSize);
      if (!parent.closest("aside") && size < (code ? 20 : 28)) said(`${size} px: ${data.trim()}`);
    }
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


@pytest.fixture(scope="module")
def shown(browser):
    """A screen as wide as that of a lecture room, without a network."""
    with opened(browser, viewport={"width": 1280, "height": 720}, offline=True) as page:
        yield page


def test_every_lesson_has_slides_for_two_lectures(folder):
    for path in LESSONS:
        page = (folder / f"{path.stem}.html").read_text()
        assert 14 <= page.count("<section>") <= 20, path.stem
        assert page.count("<blockquote>") >= 5, path.stem
        assert len(set(re.findall(r'<img class="\w+" alt="([^"]*)"', page))) >= 2, path.stem


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_slide_can_be_shown(path, folder, shown):
    shown.goto((folder / f"{path.stem}.html").as_uri())
    assert shown.evaluate(FAULTS) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text: text.replace("<h2", "<p>" + "A long sentence. " * 90 + "</p><h2"), "out of"),
        (lambda text: text.replace("<h2", '<p style="font-size: 20px">Small.</p><h2'), "20 px"),
        (lambda text: text.replace("<h2", "<p>A **raw** mark.</p><h2"), "raw markup"),
        (lambda text: text.replace("<h2", "<p>A sentence that is</p><h2"), "without an end"),
        (lambda text: re.sub(' alt="[^"]*"', "", text), "without a text"),
    ],
)
def test_a_slide_with_a_fault_is_found(change, fault, folder, shown):
    page = folder / f"{LESSONS[0].stem}.html"
    broken = page.with_name("broken.html")
    broken.write_text(change(page.read_text()))
    shown.goto(broken.as_uri())
    assert any(fault in found for found in shown.evaluate(FAULTS))


def test_slides_load_nothing_from_elsewhere_and_have_no_solution(folder):
    secrets = secrets_of_lessons()
    for path in LESSONS:
        page = (folder / f"{path.stem}.html").read_text()
        loaded = re.findall(r'(?:src|href)="(?!data:|#)([^"]*)"', page)
        assert {*loaded} >= {"mathjax.js", "reveal.js/dist/reveal.js"}
        assert all((folder / one).is_file() for one in loaded), loaded
        text = " ".join(re.sub("<[^>]*>", "", page).split())
        assert [secret for secret in secrets if secret in text] == []


def test_code_on_slides_is_short():
    for path in LESSONS:
        text = (slides.LESSONS / "slides" / f"{path.stem}.md").read_text()
        for demo in re.findall(r"^```python demo\n(.*?)^```$", text, re.M | re.S):
            assert demo.count("\n") <= 10, demo


@pytest.mark.parametrize("name", FIGURES)
def test_a_picture_has_a_text_and_type_that_can_be_read(name):
    assert 50 < len(pictures.about(name)) < 320
    figure = getattr(pictures, name)()
    figure.canvas.draw()
    texts = [one for one in figure.findobj(matplotlib.text.Text) if one.get_text().strip()]
    smallest = min(one.get_fontsize() for one in texts)
    assert smallest / 72 / figure.get_figwidth() * 1160 >= LEAST
    pictures.plt.close(figure)


def test_every_lesson_shows_two_pictures_of_concepts_as_they_are_drawn():
    for path in LESSONS:
        found = {}
        for cell in slides.nbformat.read(path, 4).cells:
            for text, name in pictures.PICTURE.findall(cell.source):
                assert text == pictures.about(name)
                found[name] = cell.attachments[f"{name}.png"]["image/png"]
        assert len(found) >= 2, path.stem
        for name, picture in found.items():
            held = matplotlib.image.imread(slides.io.BytesIO(slides.base64.b64decode(picture)))
            new = matplotlib.image.imread(
                slides.io.BytesIO(pictures.png(getattr(pictures, name)()))
            )
            assert held.shape == new.shape and abs(held - new).mean() < 0.01, name
