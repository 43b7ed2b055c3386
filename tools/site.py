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
from dataclasses import dataclass, field
from html import escape
from pathlib import Path, PurePosixPath

from course import public_version
from results import place_in_paper

from anonpaper.files import project_root, sha256

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
        (html / note.name).write_text(inputs)
        replace_folder(html, target)
    pages = sum(1 for _ in target.rglob("*.html"))
    print(f"site: {pages} pages; open {os.path.relpath(target / 'index.html')}")
    return 0


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
    names = [
        path.relative_to(ROOT / "notebooks").with_suffix("").as_posix()
        for path in sorted([*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("notebooks/*/*.ipynb")])
    ]
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
    if site.report:
        stage_text(site, site.report)
    stage_start(site, papers, lessons, [name for name in names if name.startswith("together/")])


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
    return pages


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
    site.write(page, relinked(site, text, file, page))


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


def title_of(site: Site, name: str) -> str:
    """Return the first heading of a notebook."""
    notebook = json.loads(site.notebook(name)[0].read_text(encoding="utf-8"))
    text = "\n".join(
        "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"
    )
    found = re.search(r"^# (.+)$", text, flags=re.MULTILINE)
    return found[1].strip() if found else name


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
        and (site.results / path).exists()
    ]
    return sorted(found, key=place_in_paper)


def stage_figures(site: Site, papers: list[str]) -> None:
    """Stage a page of figures and tables for every paper, and one that lists those."""
    entries = []
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
        for path, about in outputs:
            lines += [*_shown(site, path, about, page), ""]
        site.write(page, "\n".join(lines))
    site.write(
        "figures/index.md",
        "\n".join(
            [
                "# Figures",
                "",
                "Every figure and table, regenerated, by paper.",
                "",
                contents(entries) if entries else "No notebook has run yet.",
            ]
        ),
    )


def _shown(site: Site, path: str, about: dict, page: str) -> list[str]:
    """Return the lines of one figure or table: heading, picture or rows, what it was made from."""
    name = Path(path).stem
    words = name.replace("_", " ")
    known = about["of"].lower().replace("figures", "figure") == words.replace("figures", "figure")
    heading = f"## {about['of']}: {words}" if about["of"] and not known else f"## {about['of']}"
    heading = heading if about["of"] else f"## Not in the paper: {words}"
    file = f"figures/{site.results.name}/{path}"
    notebook = (
        f"[{Path(about['notebook']).stem}]({_relative(about['notebook'], page)})"
        if about["notebook"] in site.pages
        else Path(about["notebook"]).stem
    )
    origin = f'<p class="made-from">{made_from(name, about)}</p>'
    if path.endswith(".svg"):
        picture = Path(file).with_suffix(".png").as_posix()
        body = relinked(site, f"![{about['of'] or name}](/{picture})".replace("(/", "("), "", page)
    else:
        body = table_of(ROOT / Path(file).with_suffix(".csv"))
    return [heading, "", body, "", origin, "", f"Notebook: {notebook}"]


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
    for module in sorted(shown - {"anonpaper.papers"}):
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


def stage_start(site: Site, papers: list[str], lessons: list[str], together: list[str]) -> None:
    """Stage the start page, with what the README says first."""
    introduction, results, _ = readme_parts()
    ways = ["- **Begin** with [Start here](notebooks/00_start_here.ipynb)."]
    if site.report:
        ways.append(
            "- **Judge:** the [report](report.md) sets every claim of the papers beside "
            "what was measured."
        )
    ways.append(
        "- **Look:** all [figures and tables](figures/index.md), with what they were made from."
    )
    if lessons:
        ways.append(f"- **Learn or teach:** the [course](course.md), {len(lessons)} lessons.")
    ways += [
        f"- **Compare:** [{Path(name).stem[2:].replace('_', ' ')}](notebooks/{name}.ipynb)."
        for name in together
    ]
    ways.append(
        "- **Use** it on a table of yours: [install and use](use.md), and the "
        "[package](api/index.md)."
    )
    pages = [
        "Start here <notebooks/00_start_here.ipynb>",
        "papers/index.md",
        *(["course.md"] if lessons else []),
        *[f"notebooks/{name}.ipynb" for name in together],
        *(["Report <report.md>"] if site.report else []),
        "figures/index.md",
        "Use <use.md>",
        "Data <data.md>",
        "api/index.md",
    ]
    site.write(
        "index.md",
        "\n".join(
            [
                "# anonpaper",
                "",
                introduction,
                "",
                table_of_papers(papers, "papers"),
                "",
                *ways,
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
