"""A paper is two folders: taking them out takes it out, and a new one begins with a command."""

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
from project.tools import files_of_the_project, load_tool

from anonpaper.compendium import judge, overview, papers
from anonpaper.compendium.catalogue import Paper, _read, asked
from anonpaper.compendium.tables import references
from anonpaper.errors import ParameterError

ROOT = Path(__file__).parents[2]
FOLDERS = ("notebooks", "tests/papers")
KEYS = list(papers())
BUILT_ON = ("beyond", "together")  # folders that may build on papers
TEXTS = {".cff", ".ipynb", ".md", ".py", ".toml", ".jinja"}


@pytest.fixture
def scratch(tmp_path):
    """A copy of the project, pictures left out, with the environment of the tests."""
    for name in files_of_the_project():
        if not name.endswith((".svg", ".png", ".tex")):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (tmp_path / "data" / "cache").mkdir(exist_ok=True)
    judged = ROOT / "data" / "cache" / "judged"  # by content: what is the same is not judged twice
    judged.mkdir(parents=True, exist_ok=True)
    (tmp_path / "data" / "cache" / "judged").symlink_to(judged)
    for stamp in (".venv/.packages-installed", ".venv/.package-installed", "data/cache/.fetched"):
        (tmp_path / stamp).touch()
    return tmp_path


def run(folder, *command, rc=0):
    """Run a command in a copy of the project, on its own package, and return what it printed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ANONPAPER_", "MAKE"))}
    done = subprocess.run(
        command,
        cwd=folder,
        text=True,
        capture_output=True,
        env=kept | {"PYTHONPATH": str(folder), "TQDM_DISABLE": "1"},
    )
    assert done.returncode == rc, done.stdout + done.stderr
    return done.stdout


# ---- what is said of a paper ------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_a_paper_is_two_folders_and_described_in_one(key):
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
    assert overview()["paper"].tolist() == [paper.name for paper in papers().values()]


def test_a_description_with_an_unknown_field_is_named(tmp_path):
    text = (ROOT / f"notebooks/{KEYS[0]}/paper.toml").read_text()
    assert "colour" not in tomllib.loads(text)
    file = tmp_path / "paper.toml"
    file.write_text("colour = 1\n" + text)
    with pytest.raises(ParameterError, match="paper.toml: .*colour"):
        _read(file, Paper)


def test_the_number_of_papers_is_written_nowhere():
    count = re.compile(r"\b(five|six|seven)\s+papers\b|\b(fifth|sixth|seventh)\s+paper\b", re.I)
    found = [
        name
        for name in files_of_the_project()
        if Path(name).suffix in TEXTS and name != "tests/project/test_papers.py"
        if count.search((ROOT / name).read_text())
    ]
    assert found == []


# ---- modules beside notebooks -----------------------------------------------------------------


def modules_of(folder):
    """Return the names of the modules beside the notebooks of a folder, checks.py left out."""
    home = ROOT / "notebooks" / folder
    files = [path.stem for path in home.glob("*.py") if path.stem != "checks"]
    return {*files, *(path.parent.name for path in home.glob("*/__init__.py"))}


def imported(trees):
    """Return the first parts of the names of all modules that are imported."""
    found = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("folder", [*KEYS, *asked()])
def test_a_module_beside_a_notebook_is_named_after_its_folder(folder):
    """So that all of them can lie on one path."""
    assert {name.partition("_")[0] for name in modules_of(folder)} <= {folder}


@pytest.mark.parametrize("key", KEYS)
def test_only_what_goes_beyond_a_paper_builds_on_it(key):
    own = modules_of(key)
    allowed = tuple(
        f"{folder}/{name}/" for folder in FOLDERS for name in (key, *BUILT_ON)
    )  # fmt: skip
    for name in files_of_the_project():
        if name.endswith(".py") and not name.startswith((*allowed, "tools/templates/")):
            found = imported([ast.parse((ROOT / name).read_text())])
            assert not own & found, (name, own & found)
    for name in NAMES:
        if not name.startswith((f"{key}/", *(f"{folder}/" for folder in BUILT_ON))):
            found = imported([python_of(cell) for cell in code_cells(name)])
            assert not own & found, (name, own & found)


@pytest.mark.parametrize("key", KEYS)
def test_a_paper_names_no_other_papers_numbers(key):
    """So that its verdicts are kept while those change."""
    files = [path for path in (ROOT / "notebooks" / key).rglob("*.*") if path.suffix in TEXTS]
    text = "\n".join(path.read_text() for path in files)
    assert [name for name in references() if name in text and not name.startswith(key)] == []


# ---- out and in -------------------------------------------------------------------------------

IMPORT_ALL = """
import importlib, pathlib
import anonpaper.compendium
for path in pathlib.Path("notebooks").glob("*/*.py"):
    if path.stem != "checks":
        importlib.import_module(path.stem)
from anonpaper.compendium import papers
print(anonpaper.__file__, *papers())
"""
REPORT_AND_PLAN = """
import sys
sys.path.insert(0, "tools")
import notebooks, report
assert report.main() == 0 and notebooks.main(["plan", "--profile=paper"]) == 0
"""


@pytest.mark.parametrize("gone", KEYS)
def test_taking_a_paper_out_leaves_all_else_whole(scratch, gone):
    """Modules beside notebooks import, and the report and the plan are made, in one process."""
    run(scratch, "make", "remove-paper", f"NAME={gone}")
    for folder in FOLDERS:
        assert not (scratch / folder / gone).exists()
    printed = run(scratch, sys.executable, "-c", IMPORT_ALL + REPORT_AND_PLAN)
    package, *others = printed.splitlines()[0].split()
    assert package.startswith(str(scratch))
    assert others == [key for key in KEYS if key != gone]
    report = (scratch / "figures/paper/REPORT.md").read_text()
    assert f"## {gone}:" not in report and "## " in report
    assert waiting(scratch) <= waiting(ROOT)
    assert f"**{gone}**" not in (scratch / "README.md").read_text()
    if gone != KEYS[-1]:  # one paper's tests are enough here; CONTRIBUTING asks for all of them
        return
    tests = [f"tests/{name}.py" for name in ("compendium/test_judge", "project/test_papers",
             "project/test_report")]  # fmt: skip
    slow = "taking_a_paper_out or new_paper or verdict_depends or random_tables or interval_of"
    here = ("-k", f"not ({slow})", "-p", "no:cacheprovider")
    run(scratch, sys.executable, "-m", "pytest", "-q", "-x", *here, *tests)


def test_a_new_paper_runs_by_the_commands_of_contributing(scratch):
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (commands,) = re.findall(r"```\n(make new-paper .*?)```", text, flags=re.DOTALL)
    for command in commands.splitlines():
        run(scratch, *command.split())
    assert "wong2006" in run(scratch, sys.executable, "-c", IMPORT_ALL).split()
    report = (scratch / "figures/paper/REPORT.md").read_text()
    assert "*An example of a paper* (wong2006)" in report
    cards = (scratch / "figures/paper/wong2006/REPORT.md").read_text()
    assert '<a id="wong2006-stars-l"></a>' in cards
    assert "**reproduced**" in cards
    assert (scratch / "figures/paper/wong2006/figure_1.svg").is_file()
    notebook = (scratch / "notebooks/wong2006/1_first.ipynb").read_text()
    assert '"execution_count": 6' in notebook and "paper0000" not in notebook
    lacking = run(scratch, sys.executable, "tools/paper.py", "check", "wong2006", rc=1)
    assert lacking == (
        "- notebooks/wong2006/paper.toml has the paper's own title, authors and question\n"
    )
    run(scratch, sys.executable, "tools/paper.py", "new", "wong2006", rc=2)


@pytest.mark.parametrize("key", KEYS)
def test_nothing_is_missing_of_the_papers_that_are_here(key):
    """Tables of claims may wait for their run, of which the plan knows: see test_report."""
    waits = tuple(f"claim {id} has figures/paper/" for paper, id in waiting(ROOT) if paper == key)
    lacks = [
        said for said in load_tool("paper").lacks(key) if not said.startswith(waits or "nothing")
    ]
    assert lacks == []


def waiting(root):
    """Return the claims that were not run at the papers' sizes, as (paper, id)."""
    lines = (root / "figures/paper/verdicts.csv").read_text().splitlines()
    rows = (line.split(",") for line in lines)
    return {(paper, id) for paper, id, verdict, *_ in rows if verdict == "not run"}
