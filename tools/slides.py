"""Write slides of the lessons, from their own cells, for the Makefile.

    slides.py build/slides   notebooks/course -> build/course/slides; reveal.js is in build/slides

Slides follow from the public version of a lesson, so that no solution is on them. A heading begins
a slide; of a paragraph the first sentence is shown, and all of it is in the speaker's notes (key
S); lists, tables, formulas, notes on ethics and exercises are shown whole. Of a cell with code its
picture is shown, or else its output, below the code if that is short. Set-up, answers and checks
are left out. reveal.js and MathJax lie beside the slides, which fetch nothing.
"""

import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import nbformat
from course import COURSE, ROOT, all_lessons, describe, index_row, public_version
from nbconvert import SlidesExporter
from nbformat.v4 import new_markdown_cell, new_notebook

SLIDES = COURSE / "slides"
TEMPLATES = Path(__file__).parent / "templates"
LEFT_OUT = {"parameters", "solution", "self-check", "hidden-tests"}
SHORT = 12  # lines of code that fit on a slide above their output
MATHJAX = ("sphinx-mathjax-offline", "static/mathjax/tex-svg-full.js")
REVEAL = "sphinx_revealjs/_static/revealjs"


def main(packages: str) -> int:
    """Write the slides of all lessons anew, and return the exit code."""
    shutil.rmtree(SLIDES, ignore_errors=True)
    SLIDES.mkdir(parents=True)
    for part in ("dist", "plugin/notes"):
        shutil.copytree(Path(packages, REVEAL, part), SLIDES / "reveal.js" / part)
    shutil.copy(Path(packages, REVEAL, "LICENSE"), SLIDES / "reveal.js")
    package, script = MATHJAX
    shutil.copy(Path(find_spec(package).origin).parent / script, SLIDES / "mathjax.js")
    rows = []
    for path in all_lessons():
        lesson = nbformat.read(path, as_version=4)
        (SLIDES / f"{path.stem}.html").write_text(slides_of(lesson, path.stem), encoding="utf-8")
        rows.append(index_row(lesson, f"{path.stem}.html"))
    index = (TEMPLATES / "slides" / "README.md").read_text().format(rows="\n".join(rows))
    (SLIDES / "README.md").write_text(index)
    print(f"{SLIDES.relative_to(ROOT)}: slides of {len(rows)} lessons, to show offline")
    return 0


def slides_of(lesson, name: str) -> str:
    """Return the slides of a lesson, which has a name, as a page."""
    exporter = SlidesExporter(
        template_name="slides",
        extra_template_basedirs=[str(TEMPLATES)],
        reveal_url_prefix="reveal.js",
        reveal_theme="white",
        exclude_anchor_links=True,
    )
    public = public_version(lesson)
    describe(public, name)
    title = lesson.cells[0].source.partition("\n")[0].removeprefix("# ")
    slides = new_notebook(cells=marked(public.cells), metadata={"title": title})
    return exporter.from_notebook_node(slides)[0]


def marked(cells) -> list:
    """Return the cells of the slides, with nbconvert's marks."""
    found = []
    for cell, after in zip(cells, [*cells[1:], cells[-1]], strict=True):
        tags = {*cell.metadata.get("tags", [])}
        about_parameters = "parameters" in after.metadata.get("tags", [])
        if tags & LEFT_OUT or about_parameters or (cell.cell_type == "code" and not cell.outputs):
            continue
        if cell.cell_type == "code":
            pictures = any("image/png" in output.get("data", {}) for output in cell.outputs)
            hidden = pictures or len(cell.source.splitlines()) > SHORT
            cell.metadata.update(slideshow={"slide_type": "subslide"})
            cell.metadata.transient = {"remove_source": hidden}
            found.append(cell)
            continue
        for part in re.split(r"\n(?=#{1,3} )", cell.source):
            heading = re.match("#*", part)[0]
            kind = "subslide" if len(heading) == 3 or "ethics" in tags else "slide"
            shown, spoken = split(part)
            found.append(slide(shown, kind if heading or "ethics" in tags else "-"))
            if spoken:
                found.append(slide(spoken, "notes"))
    return found


def slide(source: str, kind: str):
    """Return a cell of text with nbconvert's mark."""
    return new_markdown_cell(source, metadata={"slideshow": {"slide_type": kind}})


def split(text: str) -> tuple[str, str]:
    """Return what of a text is shown, and what of it is for the speaker."""
    if text.startswith("### Exercise"):
        return text, ""
    shown, spoken = [], []
    for block in text.strip().split("\n\n"):
        if re.match(r"[#>|$-]|\d\.|\*\*(Time|Before)", block):
            shown.append(block)
        else:
            shown.append(re.match(r".*?[.?!:](?=\s|$)|.*", block, re.DOTALL)[0])
            spoken.append(block)
    return "\n\n".join(shown), "\n\n".join(spoken)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
