"""Write the slides of the lessons as pages of reveal.js, for the Makefile.

    slides.py   notebooks/course/slides -> build/course/slides

A file of slides belongs to the lesson of its name. A line `---` begins a slide, and a quotation is
a poll. What the speaker says (key S) is not public: solutions/notes has it, slide after slide.
`![](cell-14)` is the figure of a cell of the lesson, `![](linking(1))` a picture that
`course_pictures` draws. Code marked `demo` is run while the slides are written and shown above
what it prints. Code marked `setup` is only run. The pages fetch nothing.
"""

import base64
import re
import shutil
import struct
import sys
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import nbformat
from course import SOLUTIONS, run
from inputs import LESSONS, NOTEBOOKS, ROOT
from jinja2 import Template
from nbconvert.filters import markdown2html
from pygments.formatters import HtmlFormatter

sys.path.insert(0, str(NOTEBOOKS / "course"))
import course_pictures

PAGE = Path(__file__).parent / "templates" / "slides.html"


def main(folder: Path = ROOT / "build" / "course" / "slides") -> int:
    """Write the slides of all lessons anew, and return the exit code."""
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("dist", "plugin/notes", "LICENSE"):
        copy("sphinx_revealjs", f"_static/revealjs/{part}", folder / "reveal.js" / part)
    copy("sphinx-mathjax-offline", "static/mathjax/tex-svg-full.js", folder / "mathjax.js")
    for path in LESSONS:
        (folder / f"{path.stem}.html").write_text(slides_of(path), encoding="utf-8")
    print(f"{folder}: slides of {len(LESSONS)} lessons, to show offline")
    return 0


def copy(package: str, path: str, to: Path) -> None:
    """Copy a file or a folder that a package carries."""
    source = Path(find_spec(package).origin).parent / path
    to.parent.mkdir(parents=True, exist_ok=True)
    (shutil.copytree if source.is_dir() else shutil.copy)(source, to)


def slides_of(path: Path) -> str:
    """Return the slides of a lesson, which has a file, as a page."""
    source = (path.parent / "slides" / f"{path.stem}.md").read_text(encoding="utf-8")
    source = re.sub(r"^```python (setup|demo)\n(.*?)^```$", partial(ran, names={}), source,
                    flags=re.M | re.S)  # fmt: skip
    source = re.sub(r"!\[\]\((.+)\)$", partial(drawn, path=path), source, flags=re.M)
    slides = [markdown2html(slide) for slide in re.split(r"^---$", source, flags=re.M)]
    spoken = [""] * len(slides)
    if (notes := SOLUTIONS / "notes" / f"{path.stem}.md").exists():
        texts = re.split(r"^#+ .*$", notes.read_text(encoding="utf-8"), flags=re.M)[1:]
        spoken = map(markdown2html, texts)
    return Template(PAGE.read_text()).render(
        title=source.partition("\n")[0].removeprefix("# "),
        style=HtmlFormatter().get_style_defs(".highlight"),
        slides=[*zip(slides, spoken, strict=True)],
    )


def ran(code: re.Match, names: dict) -> str:
    """Run code among the names of earlier code; return what its slide shows of it."""
    shown = f"```python\n{code[2]}```\n\n```text\n{run(code[2], names)}```"
    return shown if code[1] == "demo" else ""


@cache
def texts() -> dict[str, str]:
    """Return the alternative texts of pictures, which stand in the lessons, by their names."""
    sources = [cell.source for path in LESSONS for cell in nbformat.read(path, 4).cells]
    return {name: text for text, name in course_pictures.PICTURE.findall("\n".join(sources))}


def drawn(mark: re.Match, path: Path) -> str:
    """Return the picture that a mark names, with its alternative text."""
    if concept := re.fullmatch(r"(\w+)\((\d*)\)", mark[1]):
        picture = course_pictures.draw(concept[1], *map(int, filter(None, [concept[2]])), dpi=240)
        text = texts()[concept[1]]
    else:
        cell = next(cell for cell in nbformat.read(path, 4).cells if cell.id == mark[1])
        made = {kind: data for one in cell.outputs for kind, data in one.get("data", {}).items()}
        shows = cell.metadata.get("mystnb", {}).get("image", {})
        text, picture = shows.get("alt"), made.get("image/png")
        if picture is None:  # what a slider shows first
            shown = re.search(r'alt="([^"]*)" src="[^",]*,([^"]*)">', made["text/html"])
            text, picture = shown.groups()
        picture = base64.b64decode(picture)
    width, height = struct.unpack(">2I", picture[16:24])
    kind = "beside" if width < 2 * height else "below"
    data = base64.b64encode(picture).decode()
    return f'<img class="{kind}" alt="{text}" src="data:image/png;base64,{data}">'


if __name__ == "__main__":
    sys.exit(main())
