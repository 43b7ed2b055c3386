"""Write the site: every notebook, lesson, figure and the report as pages that need no network.

    site.py --profile quick                 -> build/site/quick/index.html
    site.py --profile quick --instructor    -> build/site/quick-instructor/index.html
    site.py --profile quick --to DIR        -> DIR/index.html

The public site shows the lessons as students get them; with --instructor it shows the lessons with
their solutions, and the guide with the exam questions and their answers.

Notebooks are those that the profile executed, or else the committed ones. Files are staged in a
temporary folder under the names that they have in the project, beside pages made from site/pages.
Sphinx makes HTML from them, and site/conf.py leads links to pages. The folder of the site is
replaced as a whole.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import jinja2
import pandas as pd
from course import describe, public_version
from report import judged
from results import kept, place_in_paper

from anonpaper.compendium import judge, papers
from anonpaper.compendium.catalogue import asked
from anonpaper.files import project_root, write_whole

ROOT = project_root(Path(__file__).parent)
NOTEBOOKS = ROOT / "notebooks"
CONFIGURATION = ROOT / "site"
TEXTS = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "data/README.md")
PICTURE = ROOT / "figures" / "before_and_after.png"  # at the top of the README
INPUTS = [*TEXTS, PICTURE, *"data/reference site tools anonpaper notebooks".split()]
SUFFIXES = set(".css .csv .ipynb .js .json .md .png .py .pyi .rst .svg .tex .toml .yaml".split())
HIDDEN = {".state", ".staging", ".failed", ".ipynb_checkpoints", "__pycache__"}
ROWS_SHOWN = 30  # of a table among the figures
FIGURE = re.compile(r"\.figure\(\s*\w[\w.]*,\s*\"([^\"]+)\"")


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, write the site and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--instructor", action="store_true")
    parser.add_argument("--to", type=Path)
    options = parser.parse_args(arguments)
    folder = options.profile + ("-instructor" if options.instructor else "")
    target = options.to or ROOT / "build" / "site" / folder
    inputs = digest_of_inputs(options.profile)
    note = target / ".inputs.sha256"
    if note.exists() and note.read_text() == inputs:
        print(f"{os.path.relpath(target)}: up to date, nothing to be done")
        return 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".site-") as folder:
        source, html, old = (Path(folder, name) for name in ("source", "html", "old"))
        Site(source, options.profile, options.instructor).stage()
        sphinx = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going"]
        sphinx += ["-c", CONFIGURATION, "-d", Path(folder, "doctrees"), source, html]
        path = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(sphinx, cwd=ROOT, capture_output=True, text=True, env=path)
        if done.returncode:
            print(done.stderr.replace(f"{source}/", ""), file=sys.stderr)
            return 1
        (html / note.name).write_text(inputs)
        if target.exists():
            os.replace(target, old)
        os.replace(html, target)
    pages = sum(1 for _ in target.rglob("*.html"))
    print(f"site: {pages} pages; open {os.path.relpath(target / 'index.html')}")
    return 0


def digest_of_inputs(profile: str) -> str:
    """Return one digest of all files that the site is made from."""
    places = [ROOT / name for name in (*INPUTS, f"figures/{profile}", "figures/paper")]
    files = {file for place in places for file in (place, *place.rglob("*")) if file.is_file()}
    digest = hashlib.sha256()
    for file in sorted(files):
        if file.suffix in SUFFIXES and not {*file.parts} & HIDDEN:
            digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()


class Site:
    """The pages to be, in the folder that Sphinx reads, with the results of one profile."""

    def __init__(self, source: Path, profile: str, instructor: bool = False) -> None:
        own = ROOT / "figures" / profile
        self.source, self.profile, self.instructor = source, profile, instructor
        self.results = own if (own / "manifest.json").exists() else own.with_name("paper")
        self.manifest = json.loads((self.results / "manifest.json").read_text())
        self.reports = own if (own / "REPORT.md").exists() else own.with_name("paper")

    @cached_property
    def pages(self) -> jinja2.Environment:
        """The templates of pages that are no files of the project."""
        loader = jinja2.FileSystemLoader(CONFIGURATION / "pages")
        found = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True)
        found.filters["stem"] = lambda name: Path(name).stem
        found.globals |= {"profile": self.profile, "results": self.results.name}
        return found

    @property
    def macros(self) -> jinja2.environment.TemplateModule:
        """What several pages say."""
        return self.pages.get_template("_macros.md").module

    def write(self, page: str, template: str, **values: object) -> None:
        """Write a page from a template."""
        write_whole(self.source / page, self.pages.get_template(template).render(values))

    def stage(self) -> None:
        """Write all pages, not yet as HTML."""
        found = [*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("*/*.ipynb")]
        names = sorted((path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in found),
                       key=by_number)  # fmt: skip
        for name in names:
            write_whole(self.source / "notebooks" / f"{name}.ipynb", json.dumps(self.shown(name)))
        there = [paper for key, paper in papers().items() if (NOTEBOOKS / key).is_dir()]
        outputs = {paper.key: self.outputs_of(paper.key) for paper in there}
        for paper in there:
            own = [f"../notebooks/{name}" for name in names if name.startswith(f"{paper.key}/")]
            given = {"paper": paper, "outputs": outputs[paper.key]}
            self.write(f"papers/{paper.key}.md", "paper.md", notebooks=own, **given)
            if outputs[paper.key]:
                self.write(f"figures/{paper.key}.md", "figures_of_paper.md", **given)
        self.write("papers/index.md", "papers.md", papers=there)
        shown = [(paper, outputs[paper.key]) for paper in there if outputs[paper.key]]
        self.write("figures/index.md", "figures.md", shown=shown)
        lessons = [f"notebooks/{name}" for name in names if name.startswith("course/")]
        if lessons:
            texts = sorted(NOTEBOOKS.glob("course/*.md")) if self.instructor else []
            pages = lessons + [self.copy(text) for text in texts]
            self.write("course.md", "course.md", pages=pages, instructor=self.instructor)
        self.write("api/index.rst", "api.rst", modules=package_modules())
        self.copy_files()
        others = [name for name in names if name.startswith(("together/", "beyond/"))]
        given = {"papers": there, "lessons": lessons, "others": others}
        self.write("index.md", "index.md", reports=self.stage_reports(), **given)

    def copy(self, file: Path) -> str:
        """Copy a file of the project to its place among the pages, and return its page."""
        page = file.relative_to(ROOT)
        (self.source / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, self.source / page)
        return page.with_suffix("").as_posix()

    def copy_files(self) -> None:
        """Copy the texts of the project, and the pictures and numbers that pages lead to."""
        for file in (*map(ROOT.joinpath, TEXTS), *CONFIGURATION.glob("*.md"), PICTURE):
            if file.exists():
                self.copy(file)
        for folder in {self.results, ROOT / "figures" / "paper"}:
            for ending in ("png", "csv"):
                for file in folder.glob(f"*/*.{ending}"):
                    self.copy(file)

    def stage_reports(self) -> list[str]:
        """Stage the report and those on single papers, and return the pages that are there."""
        parts = [self.reports / key / "REPORT.md" for key in (*papers(), *asked())]
        files = [file for file in (self.reports / "REPORT.md", *parts) if file.exists()]
        pages = [file.relative_to(ROOT).with_suffix("").as_posix() for file in files]
        for file in files:
            text = file.read_text(encoding="utf-8")
            text = re.sub(r'^<a id="([\w-]+)"></a>$', r"(\1)=", text, flags=re.MULTILINE)
            if file == files[0]:
                text += "\n" + self.macros.contents([f"/{page}" for page in pages[1:]])
            write_whole(self.source / file.relative_to(ROOT), text)
        return pages

    # -- notebooks ----------------------------------------------------------------------------

    def notebook(self, name: str) -> tuple[dict, bool]:
        """Return the notebook to be shown, and whether it is the profile's own."""
        executed = ROOT / "figures" / self.profile / "notebooks" / f"{name}.ipynb"
        own = executed.exists()
        path = executed if own else NOTEBOOKS / f"{name}.ipynb"
        return json.loads(path.read_text(encoding="utf-8")), own

    def shown(self, name: str) -> dict:
        """Return a notebook with a line under every figure that says what made it."""
        notebook, own = self.notebook(name)
        if name.startswith("course/") and not self.instructor:
            notebook = public_version(notebook)
        describe(notebook, Path(name).name)
        cells = []
        for cell in notebook["cells"]:
            cells.append(cell)
            for figure in FIGURE.findall("".join(cell["source"])) if own else []:
                about = self.manifest["outputs"].get(f"{Path(name).parent}/{figure}.svg")
                if about and any("image/png" in out.get("data", {}) for out in cell["outputs"]):
                    line = {"cell_type": "markdown", "source": self.macros.origin(figure, about)}
                    cells.append(line | {"id": f"made-{len(cells)}", "metadata": {}})
        return notebook | {"cells": cells}

    def question(self, notebook: str, figure: str) -> str:
        """Return what a notebook asks before it shows a figure: the paragraph before its cell."""
        name = Path(notebook).relative_to("notebooks").with_suffix("").as_posix()
        found = ""
        for cell in self.notebook(name)[0]["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                paragraphs = [part for part in source.split("\n\n") if not part.startswith("#")]
                found = paragraphs[0] if paragraphs else found
            elif f'"{figure}"' in source:
                return found
        return ""

    # -- figures ------------------------------------------------------------------------------

    def outputs_of(self, paper: str) -> list[dict]:
        """Return what pages say of the figures and tables of a paper, those of the paper first."""
        found = [
            (path, about)
            for path, about in self.manifest["outputs"].items()
            if path.startswith(f"{paper}/")
            and path.endswith((".svg", ".tex"))
            and (self.results / kept(path)).exists()
        ]
        tables = {claim.id: claim.tables for claim in judge.of_paper(paper)}
        claims = judged(paper, self.results).to_dict("records")
        return [
            about
            | {
                "name": Path(path).stem,
                "file": f"{self.results.name}/{kept(path)}",
                "rows": "" if path.endswith(".svg") else table_of(self.results / kept(path)),
                "asked": self.question(about["notebook"], Path(path).stem),
                "claims": [one for one in claims if Path(path).stem in tables[one["id"]]],
            }
            for path, about in sorted(found, key=place_in_paper)
        ]


def by_number(name: str) -> list:
    """Return a key that puts lesson 10 after lesson 9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def table_of(path: Path) -> str:
    """Return the rows of a csv file as an HTML table; a long one is cut."""
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows.columns = ["" if name.startswith("Unnamed: ") else name for name in rows]
    long = r"-?\d+\.\d{5,}(e[+-]\d+)?"
    head = rows.head(ROWS_SHOWN).map(
        lambda text: f"{float(text):.4g}" if re.fullmatch(long, text) else text
    )
    more = f"<p>{ROWS_SHOWN} of {len(rows)} rows.</p>" if len(rows) > ROWS_SHOWN else ""
    table = head.to_html(index=False, border=0, classes="docutils", justify="unset")
    return f'<div class="pst-scrollable-table-container">{table}</div>{more}'


def package_modules() -> list[str]:
    """Return the modules whose names a user of the package calls."""
    stub = (ROOT / "anonpaper" / "__init__.pyi").read_text(encoding="utf-8")
    found = re.findall(r"^from \.(\S*) import (\w+)", stub, re.MULTILINE)
    modules = {f"anonpaper.{module or name}" for module, name in found} - {"anonpaper.compendium"}
    return sorted(
        name for name in modules if "__all__" in Path(find_spec(name).origin).read_text()
    )


if __name__ == "__main__":
    sys.exit(main())
