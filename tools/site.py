"""Write the site: every notebook and lesson, the report and the guides, to read without a network.

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
from importlib.util import find_spec
from pathlib import Path

import inputs
import report
from course import describe, public_version
from inputs import NOTEBOOKS, ROOT

from anonpaper.files import write_whole

PAPER = inputs.FIGURES / "paper"
CONFIGURATION = ROOT / "site"
TEXTS = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "data/README.md", "figures/README.md")
PICTURE = inputs.FIGURES / "before_and_after.png"  # at the top of the README
LIVE = ROOT / "build" / "live" / "index.html"  # made by `make live`; it names its other files


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, write the site and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "site")
    target = parser.parse_args(arguments).to
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".site-") as folder:
        source, html = Path(folder, "source"), Path(folder, "html")
        stage(source)
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


def stage(source: Path) -> None:
    """Write all pages to the folder that Sphinx reads."""
    pages = report.templates(CONFIGURATION / "pages")
    pages.filters["tally"] = report.tally

    def write(place: str, template: str, **values: object) -> None:
        write_whole(source / place, pages.get_template(template).render(values))

    papers = report.judged_papers(PAPER)
    files = [*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("*/*.ipynb")]
    names = [path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in files]
    notebooks = {name: shown(name) for name in sorted(names, key=by_number)}
    for name, content in notebooks.items():
        write_whole(source / f"notebooks/{name}.ipynb", json.dumps(content))
    for paper in papers:
        key = paper["key"]
        own = {name: opening(notebooks[name]) for name in notebooks if name.startswith(f"{key}/")}
        best = {"path": f"{key}/{paper['about'].picture}", "caption": ""}
        for share in inputs.known_shares(PAPER).values():
            best |= share["outputs"].get(f"{best['path']}.png", {})
        write(f"papers/{key}.md", "paper.md", paper=paper, best=best, notebooks=own)
    write("papers/index.md", "papers.md", papers=papers)
    write("api/index.rst", "api.rst", modules=package_modules())
    lessons = [f"notebooks/{name}" for name in notebooks if name.startswith("course/")]
    if lessons:
        write("course.md", "course.md", pages=lessons)
    texts = (*map(ROOT.joinpath, TEXTS), *CONFIGURATION.glob("*.md"), PICTURE)
    for file in (*texts, *PAPER.glob("*/*.png"), *PAPER.glob("*/*.csv")):
        if file.exists():
            write_whole(source / file.relative_to(ROOT), file.read_bytes())
    given = {"papers": papers, "lessons": lessons, "live": LIVE.exists()}
    given["findings"] = [one for one in report.findings() if one[2] in notebooks]
    macros = pages.get_template("_macros.md").module
    write("index.md", "index.md", reports=stage_reports(source, papers, macros), **given)


def stage_reports(source: Path, papers: list[dict], macros: object) -> list[str]:
    """Stage the report and those on single papers, and return the pages that are there."""
    parts = [PAPER / paper["key"] / "REPORT.md" for paper in papers]
    files = [file for file in (PAPER / "REPORT.md", *parts) if file.exists()]
    pages = [file.relative_to(ROOT).with_suffix("").as_posix() for file in files]
    for file in files:
        text = file.read_text(encoding="utf-8")
        text = re.sub(r'^<a id="([\w-]+)"></a>$', r"(\1)=", text, flags=re.MULTILINE)
        if file == files[0]:
            text += "\n" + macros.contents([f"/{page}" for page in pages[1:]])
        write_whole(source / file.relative_to(ROOT), text)
    return pages


# ---- notebooks --------------------------------------------------------------------------------


def shown(name: str) -> dict:
    """Return a notebook as its page shows it: pictures in words, folded code, a link to run it."""
    content = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    if name.startswith("course/"):
        content = public_version(content)
        describe(content, Path(name).name)
        return with_link(content, name)
    heading = ""
    for cell in content["cells"]:
        source, tags = "".join(cell["source"]), cell["metadata"].get("tags", [])
        heading = next(iter(re.findall(r"^#+ (.*)$", source, re.M)[::-1]), heading)
        if cell["cell_type"] != "code":
            heading = re.sub(r"[*`$\[\]]", "", heading)
            continue
        picture = {"alt": " ".join(captions(source)) or f"Picture to: {heading}"}
        folded = {"code_prompt_show": "code", "code_prompt_hide": "code"}
        cell["metadata"]["mystnb"] = {"image": picture, **folded}
        if "answer" in tags:
            cell["metadata"]["tags"] = [*tags, "remove-input"]
        elif "plumbing" in tags or source.startswith(("import ", "from ")):
            cell["metadata"]["tags"] = [*tags, "hide-input"]
    return with_link(content, name)


def captions(source: str) -> list[str]:
    """Return the literal captions of figures that the code of a cell saves."""
    code = re.sub(r"^[%!].*$", "", source, flags=re.M)
    called = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    said = [
        word.value.value
        for call in called
        for word in call.keywords
        if getattr(call.func, "attr", "") == "figure" and word.arg == "caption"
        if isinstance(word.value, ast.Constant)
    ]
    return [" ".join(text.split()) for text in said]


def opening(content: dict) -> dict[str, str]:
    """Return a notebook's title, and its answer or else its first sentence."""
    texts = [
        "".join(cell["source"]) for cell in content["cells"][:3] if cell["cell_type"] == "markdown"
    ]
    title, _, text = "\n".join(texts).removeprefix("# ").partition("\n")
    sentence = re.match(r".*?[.?!](?=\s|$)", " ".join(re.sub("<.*", "", text).split()))
    answers = [
        "".join(output.get("data", {}).get("text/markdown", ""))
        for cell in content["cells"]
        if "answer" in cell["metadata"].get("tags", [])
        for output in cell["outputs"]
    ]
    found = re.match(r"\*\*(.+?)\*\*", "\n".join(answers), re.DOTALL)
    return {"title": title, "says": (found and found[1]) or (sentence[0] if sentence else "")}


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


def by_number(name: str) -> list:
    """Return a key that puts lesson 10 after lesson 9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


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
