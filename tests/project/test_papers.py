"""A paper is three folders: taking them out takes it out, and a new one begins with a command."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from project.cells import NAMES, code_cells, python_of
from project.tools import files_of_the_project

from anonpaper.errors import ParameterError
from anonpaper.compendium import judge, overview, papers
from anonpaper.compendium.catalogue import _read, asked

ROOT = Path(__file__).parents[2]
FOLDERS = ("anonpaper/papers", "notebooks", "tests/papers")
KEYS = list(papers())


@pytest.fixture
def scratch(tmp_path):
    """A copy of the project, pictures left out, with the environment of the tests."""
    for name in files_of_the_project():
        if not name.endswith((".svg", ".png", ".tex")):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(
        f'#!/bin/sh\n[ "$1" = tools/warm.py ] && exit 0\nexec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    (tmp_path / "data" / "cache").mkdir()
    for stamp in (".venv/.packages-installed", ".venv/.package-installed", "data/cache/.fetched"):
        (tmp_path / stamp).touch()
    return tmp_path


def run(folder, *command):
    """Run a command in a copy of the project, on its own package, and return what it printed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ANONPAPER_", "MAKE"))}
    done = subprocess.run(
        command,
        cwd=folder,
        text=True,
        capture_output=True,
        env=kept | {"PYTHONPATH": str(folder), "TQDM_DISABLE": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# ---- what is said of a paper ------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_a_paper_is_three_folders_and_described_in_one(key):
    for folder in FOLDERS:
        assert (ROOT / folder / key).is_dir()
    paper = papers()[key]
    assert set(paper.sizes) == {"quick", "paper"}
    assert judge.of_paper(key)
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["references"]
    authors = [
        [f"{author['family-names']}, {author['given-names']}" for author in entry["authors"]]
        for entry in cited
        if entry["title"].lower() == paper.title.lower() and entry["year"] == paper.year
    ]
    assert authors == [list(paper.authors)]


def test_the_overview_has_a_row_per_paper():
    assert overview().index.tolist() == KEYS
    assert overview().loc["xiao2010", "paper"] == "Xiao, Yi, Tao 2010"


def test_a_description_with_an_unknown_field_is_named(tmp_path):
    text = (ROOT / "anonpaper/papers/xiao2010/paper.toml").read_text()
    assert "colour" not in tomllib.loads(text)
    file = tmp_path / "paper.toml"
    file.write_text("colour = 1\n" + text)
    with pytest.raises(ParameterError, match="paper.toml: .*colour"):
        _read(file)


def test_what_is_asked_beyond_papers_is_three_folders_that_the_map_names():
    said = (ROOT / "CONTRIBUTING.md").read_text()
    for key in asked():
        for folder in FOLDERS:
            assert (ROOT / folder / key).is_dir()
        assert f"`anonpaper/papers/{key}`" in said


def test_the_number_of_papers_is_written_nowhere():
    count = re.compile(r"\b(five|six|seven)\s+papers\b|\b(fifth|sixth|seventh)\s+paper\b", re.I)
    texts = {".cff", ".ipynb", ".md", ".py", ".toml", ".jinja"}
    found = [
        name
        for name in files_of_the_project()
        if Path(name).suffix in texts and name != "tests/project/test_papers.py"
        if count.search((ROOT / name).read_text())
    ]
    assert found == []


# ---- out and in -------------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_nothing_but_the_paper_imports_it(key):
    own = tuple(f"{folder}/{key}/" for folder in FOLDERS)
    # what goes beyond a paper builds on it, in notebooks and in the modules that they call
    beyond = ("anonpaper/papers/beyond/", "tests/papers/beyond/")
    general = ("tests/papers/test_", "notebooks/", *beyond)
    for name in files_of_the_project():
        if not name.endswith(".py") or name.startswith((*own, *general, "tools/templates/")):
            continue
        for node in ast.walk(ast.parse((ROOT / name).read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            assert not any(f"papers.{key}" in imported for imported in names), (name, names)


PAPER_OR_BEYOND = re.compile(r"anonpaper\.papers\.(\w+)(?:\.(\w+))?")


def imported(trees):
    """Yield what is imported of anonpaper.papers, as the folder and the module in it or None."""
    for node in (node for tree in trees for node in ast.walk(tree)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        yield from (match.groups() for name in names if (match := PAPER_OR_BEYOND.match(name)))


def papers_under(name):
    """Return the papers that a notebook imports, by itself or by a module of `beyond`."""
    found = set()
    for folder, module in imported([python_of(cell) for cell in code_cells(name)]):
        file = ROOT / "anonpaper" / "papers" / folder / f"{module}.py"
        if folder in asked() and file.exists():
            found |= {folder for folder, _ in imported([ast.parse(file.read_text())])}
        found.add(folder)
    return found & {*KEYS}


def test_what_goes_with_a_paper_is_said():
    """The map has a row for every paper, with the notebooks of others that import it."""
    under = {name: papers_under(name) for name in NAMES}
    said = (ROOT / "CONTRIBUTING.md").read_text()
    assert any(under.values())
    for key in KEYS:
        others = {n for n, of in under.items() if key in of and not n.startswith(f"{key}/")}
        [row] = re.findall(rf"^\| {key} \| (.*) \|$", said, re.M)
        assert set(re.findall(r"`([^`]+)`", row)) == others
        assert others or row == "none"


IMPORT_ALL = """
import importlib, pkgutil
import anonpaper
for module in pkgutil.walk_packages(anonpaper.__path__, "anonpaper."):
    if not module.name.endswith("__main__") and ".papers.beyond." not in module.name:
        importlib.import_module(module.name)
from anonpaper.compendium import papers
print(anonpaper.__file__, *papers())
"""


def test_taking_the_three_folders_out_takes_the_paper_out(scratch):
    gone = "majeed2024"
    for folder in FOLDERS:
        shutil.rmtree(scratch / folder / gone)
    printed = run(scratch, sys.executable, "-c", IMPORT_ALL).split()
    assert printed[0].startswith(str(scratch))
    assert printed[1:] == [key for key in KEYS if key != gone]
    linter = Path(sys.executable).with_name("lint-imports")
    assert "0 broken" in run(scratch, str(linter), "--no-cache")
    run(scratch, sys.executable, "tools/report.py", "--profile", "paper")
    report = (scratch / "figures/paper/REPORT.md").read_text()
    assert f"## {gone}:" not in report and "## xiao2010:" in report
    assert f"**{gone}**" not in (scratch / "README.md").read_text()


def test_a_new_paper_runs_by_the_commands_of_contributing(scratch):
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (commands,) = re.findall(r"```\n(make new-paper .*?)```", text, flags=re.DOTALL)
    for command in commands.splitlines():
        run(scratch, *command.split())
    assert "wong2006" in run(scratch, sys.executable, "-c", IMPORT_ALL).split()
    report = (scratch / "figures/quick/REPORT.md").read_text()
    assert "## wong2006: An example of a paper" in report
    cards = (scratch / "figures/quick/wong2006/REPORT.md").read_text()
    assert '<a id="wong2006-stars-l"></a>' in cards
    assert "**reproduced**, quick profile" in cards
    assert (scratch / "figures/quick/wong2006/figure_1.svg").is_file()
    notebook = (scratch / "notebooks/wong2006/1_first.ipynb").read_text()
    assert '"execution_count": 6' in notebook and "paper0000" not in notebook
    again = subprocess.run(
        [sys.executable, "tools/new_paper.py", "wong2006"],
        cwd=scratch,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(scratch)},
    )
    assert again.returncode == 2 and "is there already" in again.stderr
