"""Begin a paper, say what it lacks, or take it out, for the Makefile.

paper.py new wong2006       notebooks/wong2006 and tests/papers/wong2006, with an example
paper.py check wong2006     what a complete paper has and this one has not, in words
paper.py remove xiao2010    its two folders and results, and all that is built on it
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import inputs
import report
import yaml
from results import drop_orphans

from anonpaper.compendium import judge
from anonpaper.compendium.catalogue import Paper, papers
from anonpaper.errors import AnonpaperError
from anonpaper.files import project_root, write_whole

ROOT = project_root(Path(__file__).parent)
TEMPLATE = ROOT / "tools" / "templates" / "paper"
EXAMPLE = "paper0000"  # what the template calls the paper
BUILT_ON = ("beyond/", "together/")  # folders whose notebooks may build on papers


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, do what it asks and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("new", "check", "remove"))
    parser.add_argument("name", help="first author and year, e.g. wong2006")
    given = parser.parse_args(arguments)
    if not re.fullmatch(r"[a-z]+\d{4}", given.name):
        parser.error(
            f"a paper is called by first author and year, as wong2006; got {given.name!r}"
        )
    if given.what == "new":
        if there := [folder for folder in folders(given.name) if folder.exists()]:
            parser.error(f"{there[0].relative_to(ROOT)} is there already")
        begin(given.name)
        return 0
    if not (ROOT / "notebooks" / given.name).is_dir():
        parser.error(f"notebooks/{given.name} is not there; papers: {', '.join(papers())}")
    if given.what == "remove":
        remove(given.name)
        return 0
    lacking = [*lacks(given.name)]
    print("\n".join(f"- {line}" for line in lacking) or f"{given.name} has all that a paper has.")
    return 1 if lacking else 0


def folders(name: str) -> list[Path]:
    """Return the two folders that make a paper."""
    return [ROOT / "notebooks" / name, ROOT / "tests" / "papers" / name]


# ---- a new one --------------------------------------------------------------------------------


def begin(name: str) -> None:
    """Write the two folders with an example that runs, and an entry of CITATION.cff."""
    for source in sorted(path for path in TEMPLATE.rglob("*") if path.is_file()):
        if "__pycache__" not in source.parts:
            target = ROOT / str(source.relative_to(TEMPLATE)).replace(EXAMPLE, name)
            write_whole(target, source.read_text(encoding="utf-8").replace(EXAMPLE, name))
            print(target.relative_to(ROOT))
    paper = papers()[name]
    entry = (
        f'  - type: article\n    title: "{paper.title}"\n    year: {paper.year}\n    authors:\n'
    )
    for author in paper.authors:
        family, given = author.split(", ")
        entry += f"      - {{ family-names: {family}, given-names: {given} }}\n"
    citation = ROOT / "CITATION.cff"
    write_whole(citation, citation.read_text(encoding="utf-8").rstrip("\n") + "\n" + entry)
    print("CITATION.cff")


# ---- what one lacks ---------------------------------------------------------------------------


def lacks(name: str) -> Iterator[str]:
    """Yield in words what a complete paper has and this one has not."""
    home, tests = folders(name)
    try:
        paper, claims = papers().get(name), judge.of_paper(name)
    except AnonpaperError as error:
        yield f"notebooks/{name}: {error}"
        return
    if paper is None:
        yield f"notebooks/{name}/paper.toml says what the paper is: title, authors, question"
    else:
        yield from _lacks_about(name, paper)
    if not [*tests.glob("test_*.py")]:
        yield f"tests/papers/{name} has a test of what its notebooks measure"
    notebooks = {path.stem: path for path in sorted(home.glob("*.ipynb"))}
    if not notebooks:
        yield f"notebooks/{name} has a notebook"
    sizes = home / "profiles" / "paper.yaml"
    known = yaml.safe_load(sizes.read_text()) or {} if sizes.exists() else {}
    for stem, path in notebooks.items():
        yield from _lacks_notebook(name, stem, path, known)
    if not claims:
        yield f"notebooks/{name}/claims.toml has a claim"
    results = ROOT / "figures" / "paper" / name
    for claim in claims:
        if claim.notebook not in notebooks:
            yield f"claim {claim.id} names a notebook that is there, not {claim.notebook!r}"
        for table in claim.tables:
            if not (results / f"{table}.csv").exists():
                yield (
                    f"claim {claim.id} has figures/paper/{name}/{table}.csv: "
                    f"make PROFILE=paper paper-{name}"
                )


def _lacks_about(name: str, paper: Paper) -> Iterator[str]:
    """Yield what is missing where a paper is named outside of its folders."""
    if paper.title == "An example of a paper":
        yield f"notebooks/{name}/paper.toml has the paper's own title, authors and question"
    if paper.title.lower() not in (ROOT / "CITATION.cff").read_text().lower():
        yield f"CITATION.cff has an entry with the title {paper.title!r}"
    if f"**{name}**" not in (ROOT / "README.md").read_text():
        yield "README.md lists it: make PROFILE=paper report"
    verdicts = ROOT / "figures" / "paper" / "verdicts.csv"
    if not verdicts.exists() or f"{name}," not in verdicts.read_text():
        yield "the report has its verdicts: make PROFILE=paper report"


def _lacks_notebook(name: str, stem: str, path: Path, sizes: dict) -> Iterator[str]:
    """Yield what is missing of one notebook."""
    place = f"notebooks/{name}/{stem}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    if not any(cell.get("outputs") for cell in code):
        yield f"{place} is executed: make refresh-{name}/{stem}"
    if not any("parameters" in cell["metadata"].get("tags", ()) for cell in code):
        yield f"{place} has a cell tagged `parameters`"
    if long := [cell["id"] for cell in code if len(cell["source"]) > 25]:
        yield f"{place} has no cell above 25 lines: {', '.join(long)}"
    if stem not in sizes:
        yield f"notebooks/{name}/profiles/paper.yaml has a section {stem}"


# ---- taking one out ---------------------------------------------------------------------------


def remove(name: str) -> None:
    """Delete a paper's two folders and results, all that imports it, and its mentions."""
    title = papers()[name].title.lower()
    modules, notebooks = built_on(name)
    imported = {name, *(path.stem for path in modules)}
    tests = [path for path in sorted((ROOT / "tests" / "papers").rglob("*.py"))
             if imported & _imports(path.read_text())]  # fmt: skip
    for path in notebooks:
        _drop_claims(path.parent / "claims.toml", path.stem)
        for profile in (path.parent / "profiles").glob("*.yaml"):
            section = rf"(?m)^{path.stem}:.*\n(?:[ \t].*\n|\n)*"
            write_whole(profile, re.sub(section, "", profile.read_text(encoding="utf-8")))
    results = [inputs.FIGURES / "quick", *map(inputs.reference, ("quick", "paper"))]
    gone = [*folders(name), *modules, *notebooks, *tests, *(folder / name for folder in results)]
    for path in [*gone, *(ROOT / "data" / "reference").glob(f"{name}_*.csv")]:
        if path.exists():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            print(f"deleted {path.relative_to(ROOT)}")
    for folder in results:
        drop_orphans(folder)
    citation = ROOT / "CITATION.cff"
    entries = re.split(r"(?m)^(?=  - type)", citation.read_text(encoding="utf-8"))
    write_whole(citation, "".join(e for e in entries if f'title: "{title}' not in e.lower()))
    report.write_verdicts(inputs.reference("quick"))
    print("Now run: make PROFILE=paper report; make notebooks")


def built_on(name: str) -> tuple[list[Path], list[Path]]:
    """Return the modules and the notebooks outside a paper's folder that build on it."""
    modules, known, found = [], {name}, None
    while found != len(known):  # modules that import a module that imports the paper
        found = len(known)
        for path in sorted((ROOT / "notebooks").glob("*/*.py")):
            outside = path.parent.name != name and path not in modules
            if outside and path.stem != "checks" and known & _imports(path.read_text()):
                modules.append(path)
                known.add(path.stem)
    notebooks = [
        inputs.NOTEBOOKS / f"{other}.ipynb"
        for other in inputs.notebook_names()
        if other.startswith(BUILT_ON)
        if any(known & _imports("".join(cell["source"])) for cell in inputs.cells_of(other))
    ]
    return modules, notebooks


def _imports(source: str) -> set[str]:
    """Return the papers and the modules beside notebooks that a source imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found | {module.partition("_")[0] for module in found}


def _drop_claims(file: Path, notebook: str) -> None:
    """Delete the entries of claims.toml that a notebook measures."""
    paper = file.parent.name
    ids = [claim.id for claim in judge.of_paper(paper) if claim.notebook == notebook]
    entry = re.compile(rf"\[{paper}\.({'|'.join(map(re.escape, ids))})[.\]]")
    parts = re.split(r"(?m)^(?=\[)", file.read_text(encoding="utf-8"))
    write_whole(file, "".join(part for part in parts if not (ids and entry.match(part))))


if __name__ == "__main__":
    sys.exit(main())
