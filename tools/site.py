"""Write the site: every notebook, lesson, figure and the report as pages that need no network.

    site.py --profile quick                 -> build/site/quick/index.html
    site.py --profile quick --instructor    -> build/site/quick-instructor/index.html
    site.py --profile quick --to DIR        -> DIR/index.html

The public site shows the lessons as students get them; with --instructor it shows the lessons with
their solutions, and the guide with the exam questions and their answers.

Notebooks are those that the profile executed, or else the committed ones. Pages are staged in a
temporary folder, with links between files made links between pages, and Sphinx turns them into
HTML. The folder of the site is replaced as a whole.
"""

import argparse
import ast
import csv
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath

from course import describe, public_version
from results import kept, place_in_paper

from anonpaper.files import project_root, sha256
from anonpaper.compendium import judge
from anonpaper.compendium.catalogue import asked

ROOT = project_root(Path(__file__).parent)
CONFIGURATION = ROOT / "site"
SUFFIXES = {".css", ".csv", ".ipynb", ".json", ".md", ".png", ".py", ".svg", ".tex"}
HIDDEN = {".state", ".staging", ".failed", ".ipynb_checkpoints", "__pycache__"}
ROWS_SHOWN = 30  # of a table among the figures

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
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
        source, html = Path(folder, "source"), Path(folder, "html")
        stage(Site(source, options.profile, options.instructor))
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "sphinx",
                "-b",
                "html",
                "-q",
                "--fail-on-warning",
                "--keep-going",
                "-c",
                CONFIGURATION,
                "-d",
                Path(folder, "doctrees"),
                source,
                html,
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        if done.returncode:
            print(done.stderr.replace(f"{source}/", ""), file=sys.stderr)
            return 1
        (html / "_static" / "webpack-macros.html").unlink()  # a template of the theme
        name_toggles(html)
        write_excerpts(html)
        (html / note.name).write_text(inputs)
        replace_folder(html, target)
    pages = sum(1 for _ in target.rglob("*.html"))
    print(f"site: {pages} pages; open {os.path.relpath(target / 'index.html')}")
    return 0


class Text(HTMLParser):
    """The text of a page's article, its headings' signs and its scripts left out."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words, self.inside, self.silent = [], False, 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list) -> None:  # noqa: D102
        self.inside |= tag == "article"
        self.silent += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:  # noqa: D102
        self.inside &= tag != "article"
        self.silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:  # noqa: D102
        if self.inside and not self.silent:
            self.words.append(data)


def name_toggles(html: Path) -> None:
    """Say what the toggles of the theme's navigation do, to those who do not see them."""
    for path in html.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        named = '<summary aria-label="show or hide its pages"><span class="toctree-toggle"'
        path.write_text(text.replace('<summary><span class="toctree-toggle"', named), "utf-8")


def write_excerpts(html: Path) -> None:
    """Write the texts of all pages for the search, which may not read a file by itself."""
    texts = {
        path.relative_to(html).with_suffix("").as_posix(): " ".join(
            "".join(Text(path.read_text(encoding="utf-8")).words).replace("#", "").split()
        )
        for path in sorted(html.rglob("*.html"))
        if path.stem not in ("search", "genindex", "py-modindex")
    }
    text = f"window.TEXTS = {json.dumps(texts)};\n"
    (html / "_static" / "texts.js").write_text(text, encoding="utf-8")


def digest_of_inputs(profile: str) -> str:
    """Return one digest of all files that the site is made from."""
    folders = [
        "site",
        "tools",
        "anonpaper",
        "notebooks",
        "data/reference",
        f"figures/{profile}",
        "figures/paper",
    ]
    files = [ROOT / "README.md", ROOT / "data" / "README.md"]
    for folder in folders:
        files += [
            path
            for path in (ROOT / folder).rglob("*")
            if path.suffix in SUFFIXES and not {*path.parts} & HIDDEN
        ]
    digest = hashlib.sha256()
    for path in sorted({*files}):
        digest.update(f"{path.relative_to(ROOT)}\0{sha256(path.read_bytes())}\0".encode())
    return digest.hexdigest()


def replace_folder(new: Path, target: Path) -> None:
    """Put a finished folder in the place of the old one."""
    old = new.with_name("old")
    if target.exists():
        os.replace(target, old)
    os.replace(new, target)


# -- what is where -------------------------------------------------------------------------


@dataclass
class Site:
    """The pages to be: what is staged, and which file of the project became which page.

    Attributes
    ----------
    source : Path
        The folder that Sphinx reads.
    profile : str
        Whose results are shown.
    instructor : bool
        Whether lessons are shown with their solutions, and the guide with them.
    pages : dict
        File or folder of the project -> its page, both as posix paths.
    """

    source: Path
    profile: str
    instructor: bool = False
    pages: dict[str, str] = field(default_factory=dict)

    @property
    def results(self) -> Path:
        """The folder of the profile's results, or that of the paper profile, which is there."""
        own = ROOT / "figures" / self.profile
        return own if (own / "manifest.json").exists() else ROOT / "figures" / "paper"

    @property
    def manifest(self) -> dict:
        """What the figures were made from."""
        return json.loads((self.results / "manifest.json").read_text())

    @property
    def report(self) -> str | None:
        """The report of the profile, else of the paper profile, if there is one."""
        found = [f"figures/{profile}/REPORT.md" for profile in (self.profile, "paper")]
        return next((report for report in found if (ROOT / report).exists()), None)

    def notebook(self, name: str) -> tuple[Path, bool]:
        """Return the notebook to be shown, and whether it is the profile's own."""
        executed = ROOT / "figures" / self.profile / "notebooks" / f"{name}.ipynb"
        if executed.exists():
            return executed, True
        return ROOT / "notebooks" / f"{name}.ipynb", False

    def write(self, page: str, text: str) -> None:
        """Write a staged page."""
        path = self.source / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def stage(site: Site) -> None:
    """Write all pages of the site, not yet as HTML."""
    found = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("notebooks/*/*.ipynb")]
    names = [path.relative_to(ROOT / "notebooks").with_suffix("").as_posix() for path in found]
    names.sort(
        key=lambda name: [
            int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)
        ]
    )
    papers = sorted(
        {Path(name).parts[0] for name in names} & {*papers_of_readme()},
        key=[*papers_of_readme()].index,
    )
    lessons = [name for name in names if name.startswith("course/")]
    modules = package_modules()
    site.pages = known_pages(site, names, papers, modules)

    for name in names:
        stage_notebook(site, name)
    stage_papers(site, papers, names)
    if lessons:
        stage_course(site, lessons)
    stage_figures(site, papers)
    stage_modules(site, modules)
    stage_use(site)
    stage_text(site, "data/README.md")
    for report in [site.report, *reports_of(site, papers)] if site.report else []:
        stage_text(site, report)
    others = [name for name in names if name.startswith(("together/", "beyond/"))]
    stage_start(site, papers, lessons, others)


def known_pages(site: Site, names, papers, modules) -> dict[str, str]:
    """Return which page stands for which file or folder of the project."""
    pages = {
        "README.md": "use.md",
        "data/README.md": "data.md",
        "figures": "figures/index.md",
        "figures/README.md": "figures/index.md",
        "notebooks": "papers/index.md",
        "figures/paper": "figures/index.md",
        f"figures/{site.profile}": "figures/index.md",
    }
    for name in names:
        pages[f"notebooks/{name}.ipynb"] = f"notebooks/{name}.ipynb"
    for paper in papers:
        pages[f"notebooks/{paper}"] = f"papers/{paper}.md"
        pages[f"figures/paper/{paper}"] = f"figures/{paper}.md"
    if any(name.startswith("course/") for name in names):
        pages["notebooks/course"] = "course.md"
        for path in sorted((ROOT / "notebooks" / "course").glob("*.md")) * site.instructor:
            file = path.relative_to(ROOT).as_posix()
            pages[file] = file
    pages["anonpaper"] = "api/index.md"
    for module, path in modules.items():
        pages[PurePosixPath(path).parent.as_posix()] = "api/index.md"
        pages[path] = f"api/{module}.rst"
    for module, path in modules.items():
        pages[path.removesuffix("/__init__.py")] = f"api/{module}.rst"
    if site.report:
        for profile in (site.profile, "paper", "quick"):
            for ending in ("md", "html"):
                pages[f"figures/{profile}/REPORT.{ending}"] = "report.md"
                for paper in (*papers, *asked()):
                    pages[f"figures/{profile}/{paper}/REPORT.{ending}"] = f"reports/{paper}.md"
    return pages


def reports_of(site: Site, papers: list[str]) -> list[str]:
    """Return the reports on single papers that are there, and on what we ask."""
    folder = PurePosixPath(site.report).parent
    found = [(folder / paper / "REPORT.md").as_posix() for paper in (*papers, *asked())]
    return [report for report in found if (ROOT / report).exists()]


# -- pages from files ----------------------------------------------------------------------


def relinked(site: Site, text: str, file: str, page: str) -> str:
    """Return a text of a file as a text of its page: links lead to pages, pictures come along.

    A link to a file that has no page becomes plain text.
    """

    def replace(match: re.Match) -> str:
        picture, label, target = match.groups()
        label = name_of(label) if label in papers_of_readme() else label
        address, _, anchor = target.partition("#")
        if not address or re.match(r"\w+:", address):
            return f"{picture}[{label}]({target})"
        known = os.path.normpath(PurePosixPath(file).parent / address)
        if picture or known.endswith((".svg", ".png", ".csv", ".tex")):
            if not (ROOT / known).is_file():
                return label
            copied = site.source / "files" / known
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / known, copied)
            return f"{picture}[{label}]({_relative(f'files/{known}', page)})"
        if known not in site.pages:
            return label
        anchor = f"#{anchor}" if anchor else ""
        return f"[{label}]({_relative(site.pages[known], page)}{anchor})"

    return LINK.sub(replace, text)


def _relative(target: str, page: str) -> str:
    return os.path.relpath(target, PurePosixPath(page).parent)


def stage_text(site: Site, file: str) -> None:
    """Stage a Markdown file of the project."""
    page = site.pages[file]
    text = (ROOT / file).read_text(encoding="utf-8")
    text = re.sub(r'^<a id="([\w-]+)"></a>$', r"(\1)=", text, flags=re.MULTILINE)  # an anchor
    text = relinked(site, text, file, page)
    if file == site.report:
        pages = [_relative(site.pages[one], page) for one in reports_of(site, known_papers(site))]
        text += "\n\n" + contents(pages, hidden=True)
    site.write(page, text)


def known_papers(site: Site) -> list[str]:
    """Return the papers that have a page."""
    return [paper for paper in papers_of_readme() if f"notebooks/{paper}" in site.pages]


def readme_parts() -> tuple[str, str, str]:
    """Return the README's first paragraph, what stands between its table and its use, and that."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    before, heading, use = text.partition("## Two commands")
    introduction, _, rest = before.partition("\n|")
    return introduction.partition("\n")[2].strip(), rest.partition("\n\n")[2], heading + use


def stage_use(site: Site) -> None:
    """Stage what the README says on the use of the project."""
    use = readme_parts()[2]
    site.write("use.md", "# Install and use\n\n" + relinked(site, use, "README.md", "use.md"))


def stage_notebook(site: Site, name: str) -> None:
    """Stage a notebook, with a line under every figure that says what made it."""
    path, own = site.notebook(name)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    if name.startswith("course/") and not site.instructor:
        notebook = public_version(notebook)
    describe(notebook, PurePosixPath(name).name)
    page = file = f"notebooks/{name}.ipynb"
    outputs = site.manifest["outputs"] if own else {}
    cells = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            cell["source"] = relinked(site, source, file, page)
        cells.append(cell)
        for figure in FIGURE.findall(source) if _has_picture(cell) else []:
            about = outputs.get(f"{Path(name).parent}/{figure}.svg")
            if about:
                text = f'<p class="made-from">{made_from(figure, about)}</p>'
                cells.append(
                    {
                        "cell_type": "markdown",
                        "id": f"made-{len(cells)}",
                        "metadata": {},
                        "source": text,
                    }
                )
    notebook["cells"] = cells
    site.write(page, json.dumps(notebook))


def _has_picture(cell: dict) -> bool:
    return any(
        kind.startswith("image/")
        for output in cell.get("outputs", [])
        for kind in output.get("data", {})
    )


def made_from(figure: str, about: dict) -> str:
    """Return a line, as HTML, that says what a figure is and what it was made from."""
    data = "; ".join(dict.fromkeys(str(table["origin"]) for table in about["data"]))
    stand_in = any(table.get("stand_in") for table in about["data"])
    parts = [
        f"<code>{escape(figure)}</code>",
        escape(about["of"]) or "not in the paper",
        f"made from {escape(data)}" if data else "made from no data set",
    ]
    if stand_in:
        parts.append("<b>stand-in data</b>")
    return " · ".join(parts)


@functools.cache
def papers_of_readme() -> dict[str, tuple[str, str]]:
    """Return the reference and the question of every paper, from the README's table."""
    rows = re.findall(
        r"^\| \*\*(\w+)\*\* (.+?) \| (.+?) \|",
        (ROOT / "README.md").read_text(),
        flags=re.MULTILINE,
    )
    return {paper: (reference, question) for paper, reference, question in rows}


def name_of(paper: str) -> str:
    """Return the authors and the year of a paper, by which lists name it."""
    return f"{papers_of_readme()[paper][0].partition(':')[0]} {paper[-4:]}"


def contents(entries: list[str], *, hidden: bool = False) -> str:
    """Return a table of contents of pages."""
    options = [":hidden:"] if hidden else []
    return "\n".join(["```{toctree}", ":maxdepth: 1", *options, "", *entries, "```", ""])


def stage_papers(site: Site, papers: list[str], names: list[str]) -> None:
    """Stage a page for every paper, with what it asks and its notebooks, and one for all."""
    for paper in papers:
        reference, question = papers_of_readme()[paper]
        notebooks = [
            f"../notebooks/{name}.ipynb" for name in names if name.startswith(f"{paper}/")
        ]
        figures = f"[Figures and tables](../figures/{paper}.md)" if outputs_of(site, paper) else ""
        site.write(
            f"papers/{paper}.md",
            "\n".join(
                [
                    f"# {name_of(paper)}",
                    "",
                    f"{reference} ({paper} in names of files)",
                    "",
                    f"It asks: {question}",
                    "",
                    contents(notebooks),
                    "",
                    figures,
                ]
            ),
        )
    site.write(
        "papers/index.md",
        "\n".join(
            [
                "# Papers",
                "",
                table_of_papers(papers, "."),
                "",
                contents([f"{paper}.md" for paper in papers], hidden=True),
            ]
        ),
    )


def table_of_papers(papers: list[str], folder: str) -> str:
    """Return the papers and their questions as a table; their pages lie in the folder."""
    rows = ["| paper | asks |", "|---|---|"]
    for paper in papers:
        reference, question = papers_of_readme()[paper]
        title = reference.partition(": ")[2]
        rows.append(f"| **[{name_of(paper)}]({folder}/{paper}.md)** {title} | {question} |")
    return "\n".join(rows)


def stage_course(site: Site, lessons: list[str]) -> None:
    """Stage the page of the course, and the texts that lie beside its lessons."""
    texts = [file for file in site.pages if re.match(r"notebooks/course/.*\.md", file)]
    for file in texts:
        stage_text(site, file)
    site.write(
        "course.md",
        "\n".join(
            [
                "# Course",
                "",
                "Lessons of a master's course in data privacy, "
                + (
                    "with their solutions, and the instructor's guide."
                    if site.instructor
                    else "as students get them; `make course` writes the notebooks."
                ),
                "",
                contents([*(f"notebooks/{name}.ipynb" for name in lessons), *texts]),
            ]
        ),
    )


# -- figures -------------------------------------------------------------------------------


def outputs_of(site: Site, paper: str) -> list[tuple[str, dict]]:
    """Return the figures and tables of a paper that are there, those of the paper first."""
    found = [
        (path, about)
        for path, about in site.manifest["outputs"].items()
        if path.startswith(f"{paper}/")
        and path.endswith((".svg", ".tex"))
        and (site.results / kept(path)).exists()
    ]
    return sorted(found, key=place_in_paper)


def verdicts_on(site: Site, paper: str) -> dict[str, list[str]]:
    """Return for every table of a paper the claims that are judged from it, as lines."""
    tables = {claim.id: claim.tables for claim in judge.of_paper(paper)}
    judged = judge.judge(paper, site.results / paper)
    lines: dict[str, list[str]] = {}
    for claim in judged.to_dict("records"):
        line = (
            f"- The paper says: {claim['claim']}. **{claim['verdict'].capitalize()}** "
            f"({site.results.name} profile), measured: {claim['measured'] or 'nothing'}."
        )
        for table in tables[claim["id"]]:
            lines.setdefault(table, []).append(line.replace("..", "."))
    return lines


def question_of(site: Site, notebook: str, figure: str) -> str:
    """Return what a notebook asks before it shows a figure: the paragraph before its cell."""
    name = PurePosixPath(notebook).relative_to("notebooks").with_suffix("").as_posix()
    cells = json.loads(site.notebook(name)[0].read_text(encoding="utf-8"))["cells"]
    asked = ""
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            paragraphs = [part for part in source.split("\n\n") if not part.startswith("#")]
            asked = paragraphs[0] if paragraphs else asked
        elif f'"{figure}"' in source:
            return asked
    return ""


def stage_figures(site: Site, papers: list[str]) -> None:
    """Stage a page of figures and tables for every paper, and one that lists those."""
    entries, gallery = [], []
    for paper in papers:
        outputs = outputs_of(site, paper)
        if not outputs:
            continue
        page = f"figures/{paper}.md"
        entries.append(f"{paper}.md")
        lines = [
            f"# Figures and tables of {name_of(paper)}",
            "",
            f"From the {site.results.name} profile; `make PROFILE={site.results.name} "
            f"paper-{paper}` makes them.",
            "",
        ]
        verdicts = verdicts_on(site, paper)
        for path, about in outputs:
            lines += [*_shown(site, path, about, page, verdicts.get(Path(path).stem, [])), ""]
        site.write(page, "\n".join(lines))
        gallery += [f"## {name_of(paper)}", "", papers_of_readme()[paper][1].capitalize(), ""]
        gallery += gallery_of(site, outputs, verdicts, page)
    site.write(
        "figures/index.md",
        "\n".join(
            [
                "# Figures",
                "",
                f"What the papers measured, measured again ({site.results.name} profile), each "
                "with the verdicts on the claims that are judged from it. A figure leads to its "
                "page, which says what it shows, what it was made from, and the claims in full.",
                "",
                *gallery,
                contents(entries, hidden=True) if entries else "No notebook has run yet.",
            ]
        ),
    )


def heading_of(path: str, about: dict) -> str:
    """Return what a figure or table is called: what it is in the paper, and its name in words."""
    words = Path(path).stem.replace("_", " ")
    if not about["of"]:
        return f"Not in the paper: {words}"
    known = about["of"].lower().replace("figures", "figure") == words.replace("figures", "figure")
    return about["of"] if known else f"{about['of']}: {words}"


def alternative(path: str, about: dict) -> str:
    """Return in words what a picture is of, for whoever does not see it."""
    data = ", ".join(dict.fromkeys(table.get("dataset") or "made data" for table in about["data"]))
    said = about.get("caption") or heading_of(path, about)
    text = f"{said}; made from {data or 'no data set'}; its numbers are in the csv file"
    return re.sub(r"[\[\]]", "", text)


def gallery_of(site: Site, outputs: list, verdicts: dict, page: str) -> list[str]:
    """Return the pictures of a paper, each with its name and the verdicts under it."""
    lines = ["::::{container} gallery"]
    for path, about in outputs:
        if not path.endswith(".svg"):
            continue
        picture = f"![{alternative(path, about)}](figures/{site.results.name}/{kept(path)})"
        heading = heading_of(path, about)
        counted = Counter(
            re.search(r"\*\*(.+?)\*\*", line)[1].lower()
            for line in verdicts.get(Path(path).stem, [])
        )
        found = ", ".join(f"{number} {verdict}" for verdict, number in counted.items())
        claimed = verdicts.get(Path(path).stem, [""])[0].partition(". **")[0].lstrip("- ")
        more = f" and {counted.total() - 1} more" if counted.total() > 1 else ""
        lines += [
            ":::{container} shown",
            relinked(site, picture, "", "figures/index.md"),
            "",
            f"[{heading}]({PurePosixPath(page).name}#{slug(heading)})",
            "",
            f"{claimed}{more}: **{found}** ({site.results.name} profile)"
            if counted
            else "No claim is judged from it.",
            ":::",
        ]
    return [*lines, "::::", ""]


def slug(heading: str) -> str:
    """Return the anchor that MyST gives a heading."""
    return re.sub(r"[^\w\u4e00-\u9fff\- ]", "", heading.lower().replace(" ", "-"))


def _shown(site: Site, path: str, about: dict, page: str, verdicts: list[str]) -> list[str]:
    """Return the lines of one figure or table: what is asked, picture or rows, claims, origin."""
    name = Path(path).stem
    heading = f"## {heading_of(path, about)}"
    asked = relinked(site, question_of(site, about["notebook"], name), about["notebook"], page)
    file = f"figures/{site.results.name}/{path}"
    notebook = (
        f"[{Path(about['notebook']).stem}]({_relative(about['notebook'], page)})"
        if about["notebook"] in site.pages
        else Path(about["notebook"]).stem
    )
    origin = f'<p class="made-from">{made_from(name, about)}</p>'
    if path.endswith(".svg"):
        picture = Path(file).with_suffix(".png").as_posix()
        body = relinked(site, f"![{alternative(path, about)}]({picture})", "", page)
    else:
        body = table_of(ROOT / Path(file).with_suffix(".csv"))
    judged = [*verdicts, ""] if verdicts else []
    return [heading, "", asked, "", body, "", *judged, origin, "", f"Notebook: {notebook}"]


def table_of(path: Path) -> str:
    """Return the rows of a csv file as an HTML table; a long one is cut."""
    with path.open(newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    cells = "".join(
        "<tr>" + "".join(f"<td>{escape(_rounded(value))}</td>" for value in row) + "</tr>"
        for row in rows[:ROWS_SHOWN]
    )
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    more = f"<p>{ROWS_SHOWN} of {len(rows)} rows.</p>" if len(rows) > ROWS_SHOWN else ""
    return (
        '<div class="pst-scrollable-table-container"><table class="docutils">'
        f"<thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table></div>{more}"
    )


def _rounded(text: str) -> str:
    return f"{float(text):.4g}" if re.fullmatch(r"-?\d+\.\d{5,}(e[+-]\d+)?", text) else text


# -- the package ---------------------------------------------------------------------------


def package_modules() -> dict[str, str]:
    """Return the file of every module whose names a user of the package calls, by its name."""
    stub = ast.parse((ROOT / "anonpaper" / "__init__.pyi").read_text(encoding="utf-8"))
    shown = {
        f"anonpaper.{node.module or name.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    found = {}
    for module in sorted(shown - {"anonpaper.compendium"}):
        path = ROOT.joinpath(*module.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if "__all__" in path.read_text(encoding="utf-8"):
            found[module] = path.relative_to(ROOT).as_posix()
    return found


def stage_modules(site: Site, modules: dict[str, str]) -> None:
    """Stage one page per module, made from its docstrings."""
    for module, file in modules.items():
        # |S|, the size of a set, is a substitution to Sphinx; a room shows its modules' docstrings
        path = ROOT / file
        files = path.parent.rglob("*.py") if path.name == "__init__.py" else [path]
        text = "".join(one.read_text(encoding="utf-8") for one in files)
        sets = sorted(set(re.findall(r"\|(\w+)\|", text)))
        site.write(
            f"api/{module}.rst",
            "\n".join(
                [
                    module,
                    "=" * len(module),
                    "",
                    *(f".. |{name}| replace:: \\|{name}\\|" for name in sets),
                    "",
                    f".. automodule:: {module}",
                    "   :members:",
                    "   :imported-members:",
                    "",
                ]
            ),
        )
    rows = ["| module | |", "|---|---|"]
    for module, file in modules.items():
        docstring = ast.get_docstring(ast.parse((ROOT / file).read_text(encoding="utf-8")))
        title = re.sub(r":math:`([^`]*)`", r"$\1$", docstring.partition("\n\n")[0])
        rows.append(f"| [{module}]({module}.rst) | {title.replace(chr(10), ' ')} |")
    site.write(
        "api/index.md",
        "\n".join(
            [
                "# Package",
                "",
                "The modules of the package and their docstrings.",
                "",
                *rows,
                "",
                contents([f"{module}.rst" for module in modules], hidden=True),
            ]
        ),
    )


# -- the start page ------------------------------------------------------------------------


def stage_start(site: Site, papers: list[str], lessons: list[str], others: list[str]) -> None:
    """Stage the start page, with what the README says first."""
    introduction, results, _ = readme_parts()
    first = f"papers/{papers[0]}.md" if papers else "papers/index.md"
    ways = [
        "## To see what this is about",
        "",
        "[Start here](notebooks/00_start_here.ipynb): ten minutes, one small table, no code to "
        "write.",
        "",
        "## To reproduce",
        "",
        "The [figures](figures/index.md) of the papers, regenerated, each with the claims that "
        "are judged from it"
        + ("; the [report](report.md) on all claims;" if site.report else ";")
        + f" and the notebooks behind them by paper, for instance [{name_of(papers[0])}]({first})."
        if papers
        else "",
        "",
    ]
    if lessons:
        ways += [
            "## To teach or learn",
            "",
            f"The [course](course.md): {len(lessons)} lessons of 75 to 90 minutes, each with an "
            "attack on real data and exercises that check themselves.",
            "",
        ]
    if others:
        ways += [
            "## To compare, and to go further",
            "",
            *(
                f"- [{name.split('/')[1].lstrip('0123456789_').replace('_', ' ')}]"
                f"(notebooks/{name}.ipynb)"
                for name in others
            ),
            "",
        ]
    ways += [
        "## To use it on your own table",
        "",
        "[Install and use](use.md): a table goes in, one that may be published comes out, with "
        "an account of what it promises. The [data sets](data.md) that come with it.",
        "",
        "## To read an algorithm",
        "",
        "The [package](api/index.md): one module each, its guarantee first, in the paper's words.",
        "",
    ]
    pages = [
        "Start here <notebooks/00_start_here.ipynb>",
        "papers/index.md",
        *(["course.md"] if lessons else []),
        *(["Report <report.md>"] if site.report else []),
        "figures/index.md",
        "Use <use.md>",
        "Data <data.md>",
        "api/index.md",
        *[f"notebooks/{name}.ipynb" for name in others],
    ]
    site.write(
        "index.md",
        "\n".join(
            [
                "# anonpaper",
                "",
                introduction,
                "",
                *ways,
                "## The papers",
                "",
                table_of_papers(papers, "papers"),
                "",
                f"Notebooks and figures are those of the {site.profile} profile where it has run.",
                "",
                relinked(site, results, "README.md", "index.md"),
                "",
                contents(pages, hidden=True),
            ]
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
