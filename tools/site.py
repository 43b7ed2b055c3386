"""Write the site: every notebook, lesson, figure and the report as pages that need no network.

    site.py             -> build/site/index.html
    site.py --to DIR    -> DIR/index.html

Lessons are shown as students get them, and results are those of the paper edition. Pages made from
site/pages are staged beside files of the project. Sphinx makes HTML from them, and site/conf.py
leads links to pages. The folder of the site is replaced as a whole.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from importlib.util import find_spec
from pathlib import Path

import inputs
import pandas as pd
import report
from course import describe, public_version
from PIL import Image
from results import place_in_paper

from anonpaper.compendium import judge
from anonpaper.files import project_root, write_whole

ROOT = project_root(Path(__file__).parent)
NOTEBOOKS = ROOT / "notebooks"
PAPER = ROOT / "figures" / "paper"
CONFIGURATION = ROOT / "site"
TEXTS = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "data/README.md")
PICTURE = ROOT / "figures" / "before_and_after.png"  # at the top of the README
LIVE = ROOT / "build" / "live" / "index.html"  # made by `make live`; it names its other files
ROWS_SHOWN = 12  # of a table that is not folded
MOST_ROWS = 400  # of a table that the paper has; a page weighs at most 2 MB
LINE = 90  # letters of a heading
SMALL = 720  # pixels, the width of a picture in a list
PLACES = r"(Figure|Table)s? (\d+[a-z]?(?:(?:, | and | to )\d+[a-z]?)*)"


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, write the site and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "site")
    target = parser.parse_args(arguments).to
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".site-") as folder:
        source, html = Path(folder, "source"), Path(folder, "html")
        Site(source).stage()
        sphinx = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going"]
        sphinx += ["-c", CONFIGURATION, "-d", Path(folder, "doctrees"), source, html]
        path = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(sphinx, cwd=ROOT, capture_output=True, text=True, env=path)
        if done.returncode:
            print(done.stderr.replace(f"{source}/", ""), file=sys.stderr)
            return 1
        if LIVE.exists():
            shutil.copytree(LIVE.parent, html / "live")
        shutil.rmtree(target, ignore_errors=True)
        os.replace(html, target)
    print(f"site: open {os.path.relpath(target / 'index.html')}")
    return 0


class Site:
    """The pages to be, in the folder that Sphinx reads."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.papers = report.judged_papers(PAPER)
        self.templates = report.templates(CONFIGURATION / "pages")
        self.templates.filters |= {"tally": report.tally, "small": self.small}
        self.templates.filters["otherwise"] = otherwise
        self.templates.filters["data"] = lambda one: "; ".join(report.data_of({"": one}))
        files = [*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("*/*.ipynb")]
        names = [path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in files]
        self.notebooks = {name: Notebook(name) for name in sorted(names, key=by_number)}
        self.captions = {k: v for one in self.notebooks.values() for k, v in one.captions.items()}
        self.figures = {paper["key"]: self.figures_of(paper) for paper in self.papers}
        self.home = {  # of each figure or table: the page that shows it
            f"{key}/{one['name']}": page
            for key, (pages, _) in self.figures.items()
            for page in reversed(pages)
            for one in page["outputs"]
        }

    def write(self, place: str, template: str, **values: object) -> None:
        """Write a page from a template."""
        write_whole(self.source / place, self.templates.get_template(template).render(values))

    def stage(self) -> None:
        """Write all pages, not yet as HTML."""
        lessons = self.stage_notebooks()
        for paper in self.papers:
            key, (pages, others) = paper["key"], self.figures[paper["key"]]
            own = [one for name, one in self.notebooks.items() if name.startswith(f"{key}/")]
            there = {Path(one.name).name: one for one in own}
            told = [there[name].answer for name in paper["about"].answers if name in there]
            best = self.home.get(f"{key}/{paper['about'].picture}")
            given = {"paper": paper, "pages": pages, "others": others, "notebooks": own}
            self.write(f"papers/{key}.md", "paper.md", answers=told, best=best, **given)
            self.write(f"figures/{key}.md", "figures_of_paper.md", **given)
            for page in pages:
                self.write(f"figures/{key}/{page['name']}.md", "figure.md", page=page, **given)
        shown = [(paper, self.figures[paper["key"]][0]) for paper in self.papers]
        self.write("papers/index.md", "papers.md", papers=self.papers)
        self.write("figures/index.md", "figures.md", shown=shown)
        self.write("api/index.rst", "api.rst", modules=package_modules())
        texts = (*map(ROOT.joinpath, TEXTS), *CONFIGURATION.glob("*.md"), PICTURE)
        for file in (*texts, *PAPER.glob("*/*.png"), *PAPER.glob("*/*.csv")):
            if file.exists():
                self.copy(file)
        given = {"papers": self.papers, "lessons": lessons, "live": LIVE.exists()}
        given["findings"] = [one for one in report.findings() if one[2] in self.notebooks]
        self.write("index.md", "index.md", reports=self.stage_reports(), **given)

    def stage_notebooks(self) -> list[str]:
        """Write the pages of notebooks and of the course, and return those of lessons."""
        for name, notebook in self.notebooks.items():
            content = with_link(self.shown(notebook), name)
            write_whole(self.source / f"notebooks/{name}.ipynb", json.dumps(content))
        lessons = [f"notebooks/{name}" for name in self.notebooks if name.startswith("course/")]
        if lessons:
            self.write("course.md", "course.md", pages=lessons)
        return lessons

    def copy(self, file: Path) -> str:
        """Copy a file of the project to its place among the pages, and return its page."""
        page = file.relative_to(ROOT)
        (self.source / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, self.source / page)
        return page.with_suffix("").as_posix()

    def small(self, picture: str, width: int = SMALL) -> str:
        """Write a copy of a picture of figures/paper, about that wide, and return its path."""
        file = self.source / "figures" / f"width-{width}" / picture
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            with Image.open(PAPER / picture) as pixels:
                few = pixels.convert("RGB").reduce(max(1, pixels.width // width))
                few.quantize(64).save(file, optimize=True)
        return file.relative_to(self.source).as_posix()

    def stage_reports(self) -> list[str]:
        """Stage the report and those on single papers, and return the pages that are there."""
        parts = [PAPER / paper["key"] / "REPORT.md" for paper in self.papers]
        files = [file for file in (PAPER / "REPORT.md", *parts) if file.exists()]
        pages = [file.relative_to(ROOT).with_suffix("").as_posix() for file in files]
        for file in files:
            text = file.read_text(encoding="utf-8")
            text = re.sub(r'^<a id="([\w-]+)"></a>$', r"(\1)=", text, flags=re.MULTILINE)
            if file == files[0]:
                macros = self.templates.get_template("_macros.md").module
                text += "\n" + macros.contents([f"/{page}" for page in pages[1:]])
            write_whole(self.source / file.relative_to(ROOT), text)
        return pages

    # -- notebooks ----------------------------------------------------------------------------

    def shown(self, notebook: "Notebook") -> dict:
        """Return a notebook as its page shows it: alt texts, folded code, lines under figures."""
        content, macros = notebook.content, self.templates.get_template("_macros.md").module
        if notebook.name.startswith("course/"):
            content = public_version(content)
            describe(content, Path(notebook.name).name)
            return content
        cells, heading = [], ""
        for number, cell in enumerate(content["cells"]):
            cells.append(cell)
            source, tags = "".join(cell["source"]), cell["metadata"].get("tags", [])
            heading = next(iter(re.findall(r"^#+ (.*)$", source, re.M)[::-1]), heading)
            if cell["cell_type"] != "code":
                heading = re.sub(r"[*`$\[\]]", "", heading)
                continue
            named = notebook.figures.get(number, [])
            said = [self.captions.get(name) or self.home[name]["title"]
                    for name in named if name in self.home]  # fmt: skip
            picture = {"alt": " ".join(said) or f"Picture to: {heading}"}
            folded = {"code_prompt_show": "code", "code_prompt_hide": "code"}
            cell["metadata"]["mystnb"] = {"image": picture, **folded}
            if "answer" in tags:
                cell["metadata"]["tags"] = [*tags, "remove-input"]
            elif "plumbing" in tags or source.startswith(("import ", "from ")):
                cell["metadata"]["tags"] = [*tags, "hide-input"]
            pages = {id(page): page for name in named if (page := self.home.get(name))}.values()
            if pages and any("image/png" in out.get("data", {}) for out in cell["outputs"]):
                line = macros.origin([*pages])
                cells.append({"cell_type": "markdown", "source": line, "metadata": {},
                              "id": f"made-{number}"})  # fmt: skip
        return content | {"cells": cells}

    # -- figures ------------------------------------------------------------------------------

    def figures_of(self, paper: dict) -> tuple[list[dict], list[dict]]:
        """Return the pages of a paper's figures and tables, and the tables that have no page."""
        pages, others = [], []
        claims = paper["claims"].to_dict("records")
        for one in sorted(self.outputs_of(paper["key"]), key=first_named):
            homes = [page for page in pages if page["places"] & places_in(one["of"])]
            for page in homes:
                page["outputs"].append(one)
            if not homes and (places_in(one["of"]) or one["kind"] == "figure"):
                pages.append({"name": one["name"], "key": paper["key"], "of": one["of"],
                              "places": places_in(one["of"]), "outputs": [one]})  # fmt: skip
            elif not homes:
                own = [claim for claim in claims if one["name"] in claim["tables"].split()]
                others.append(one | {"claims": own})
        for page in pages:
            if page["of"].startswith("Figure"):
                page["outputs"].sort(key=lambda one: one["kind"] != "figure")
            names = {one["name"] for one in page["outputs"]}
            page["claims"] = [claim for claim in claims if is_about(claim, page["places"], names)]
            theirs = [claim for claim in page["claims"] if claim["kind"] != judge.OURS]
            page["short"] = report.in_short(theirs or page["claims"])
            sentence = re.sub(r" \([^()]*\)", "", page["outputs"][0]["caption"].partition(". ")[0])
            shows = textwrap.shorten(sentence.rstrip("."), LINE, placeholder=" …")
            shows = shows or page["name"].replace("_", " ")
            page["label"] = ": ".join(filter(None, [page["of"], shows]))
            label = page["of"] if page["places"] else page["label"]
            title = f"{page['of']} of {paper['about'].name}" if page["of"] else ""
            page["title"] = label.replace(page["of"], title, 1)
            page["entry"] = f"{label} <{paper['key']}/{page['name']}>"
        return sorted(pages, key=lambda page: place_in_paper((page["name"], page))), others

    def outputs_of(self, key: str) -> list[dict]:
        """Return the figures and tables of a paper."""
        found = []
        mine = {n: of for n, of in inputs.known_shares(PAPER).items() if n.startswith(f"{key}/")}
        for name, share in mine.items():
            for path, about in share["outputs"].items():
                if not path.endswith(".csv"):
                    continue
                one = about | {"name": Path(path).stem, "notebook": name, "csv": path}
                one["caption"] = self.captions.get(path[:-4]) or about.get("caption", "")
                picture = f"{path[:-4]}.png"
                one["picture"] = picture if (PAPER / picture).is_file() else ""
                most = MOST_ROWS if places_in(one["of"]) else ROWS_SHOWN
                shown = table_of(PAPER / path, most) if one["kind"] == "table" else ("", 0)
                found.append(one | {"rows": shown[0], "long": shown[1]})
        return found


class Notebook:
    """What pages say of a notebook: its title, its answer, and the figures that its cells show."""

    def __init__(self, name: str) -> None:
        self.name, self.captions, self.figures = name, {}, {}
        self.content = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
        texts = ["".join(cell["source"]) for cell in self.content["cells"][:3]
                 if cell["cell_type"] == "markdown"]  # fmt: skip
        self.title, _, text = "\n".join(texts).removeprefix("# ").partition("\n")
        sentence = re.match(r".*?[.?!](?=\s|$)", " ".join(text.split()))
        self.answer = {"text": sentence[0] if sentence else "", "found": False, "shown": ""}
        self.answer["from"], self.entry = self, f"../notebooks/{name}"
        for number, cell in enumerate(self.content["cells"]):
            if cell["cell_type"] == "code" and "/" in name:
                self.read(number, "".join(cell["source"]))
                if "answer" in cell["metadata"].get("tags", []):
                    self.read_answer(cell, self.figures.get(number, [""])[0])

    def read(self, number: int, source: str) -> None:
        """Note which figures the code of a cell names, and their captions."""
        for call in calls_in(source):
            called = getattr(call.func, "attr", getattr(call.func, "id", ""))
            given = {word.arg: word.value for word in call.keywords}
            if called == "figure" and len(call.args) > 1:
                figure, caption = literal(call.args[1]), literal(given.get("caption"))
                if figure:
                    key = f"{self.name.partition('/')[0]}/{figure}"
                    self.figures.setdefault(number, []).append(key)
                    self.captions |= {key: " ".join(caption.split())} if caption else {}
            elif called == "answer" and literal(given.get("shown")):
                self.figures.setdefault(number, []).append(literal(given["shown"]))

    def read_answer(self, cell: dict, shown: str) -> None:
        """Note the bold sentence of an answer, and the figure shown."""
        texts = ["".join(out.get("data", {}).get("text/markdown", "")) for out in cell["outputs"]]
        if found := re.match(r"\*\*(.+?)\*\*", "\n".join(texts), re.DOTALL):
            self.answer |= {"text": found[1], "found": True, "shown": shown}


def with_link(content: dict, name: str) -> dict:
    """Return a notebook with a link to its live page below the title, if it has one."""
    live = f"{name.replace('/', '-')}.html"
    if not (LIVE.parent / live).exists():
        return content
    first, *others = content["cells"]
    title, _, text = "".join(first["source"]).partition("\n")
    place = "../" * (name.count("/") + 1) + f"live/{live}"
    link = f'<a class="run" href="{place}">Run this page</a> in this browser: nothing to install.'
    return content | {"cells": [first | {"source": f"{title}\n\n{link}\n{text}"}, *others]}


def calls_in(source: str) -> list[ast.Call]:
    """Return the calls in the code of a cell."""
    code = re.sub(r"^[%!].*$", "", source, flags=re.M)
    return [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]


def literal(node: ast.AST | None) -> str:
    """Return a literal text; nothing of all else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def places_in(text: str) -> set[str]:
    """Return the figures and tables of a paper that a text names, "Figures 2 to 4" as three."""
    found = set()
    for kind, numbers in re.findall(PLACES, text):
        for first, last in re.findall(r"(\d+[a-z]?)(?: to (\d+))?", numbers):
            listed = range(int(first), int(last) + 1) if last else [first]
            found |= {f"{kind} {number}" for number in listed}
    return found


def first_named(one: dict) -> tuple:
    """Return a key that puts first what is named as in the paper, then figures."""
    named = one["name"] == one["of"].lower().replace(" ", "_")
    return not named, one["kind"] != "figure", *place_in_paper((one["name"], one))


def is_about(claim: dict, places: set[str], names: set[str]) -> bool:
    """Return whether a claim is about figures or tables: it says so, or is judged from them."""
    said = places_in(claim["where"]) if places else set()
    if said:
        whole = {place.rstrip("abcdefgh") for place in places}
        return bool(said & (places | whole) or {p.rstrip("abcdefgh") for p in said} & places)
    return bool(names.intersection(claim["tables"].split()))


def otherwise(claim: dict) -> str:
    """Return the other verdicts that other interpretations of the paper give, if decided."""
    same = {claim["verdict"], judge.UNDECIDED, judge.NOT_TESTABLE}
    return " or ".join(dict.fromkeys(v for *_, v in claim["readings"][1:] if v not in same))


def by_number(name: str) -> list:
    """Return a key that puts lesson 10 after lesson 9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def table_of(path: Path, most: int) -> tuple[str, int]:
    """Return the first rows of a csv file as an HTML table, and how many a long one has."""
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows.columns = ["" if name.startswith("Unnamed: ") else name for name in rows]
    long = r"-?\d+\.\d{5,}(e[+-]\d+)?"
    head = rows.head(most).map(
        lambda text: f"{float(text):.4g}" if re.fullmatch(long, text) else text
    )
    more = f"<p>{most} of {len(rows)} rows.</p>" if len(rows) > most else ""
    table = head.to_html(index=False, border=0, classes="docutils", justify="unset")
    shown = f'<div class="pst-scrollable-table-container">{table}</div>{more}'
    return shown, len(rows) if len(rows) > ROWS_SHOWN else 0


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
