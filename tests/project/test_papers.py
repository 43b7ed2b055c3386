"""A paper is two folders, and described in one."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from project.cells import NAMES, code_cells, python_of
from project.tools import files_of_the_project

from anonpaper.compendium import judge, overview, papers
from anonpaper.compendium.catalogue import Paper, _read, asked
from anonpaper.compendium.claims import claims_of
from anonpaper.compendium.tables import references
from anonpaper.errors import ParameterError

ROOT = Path(__file__).parents[2]
FOLDERS = ("notebooks", "tests/papers")
KEYS = list(papers())
BUILT_ON = ("beyond", "together")  # folders that may build on papers
TEXTS = {".cff", ".ipynb", ".md", ".py", ".toml", ".jinja"}


@pytest.mark.parametrize("key", KEYS)
def test_a_paper_is_two_folders_and_described_in_one(key):
    for folder in FOLDERS:
        assert (ROOT / folder / key).is_dir()
    paper = papers()[key]
    assert set(paper.sizes) == {"quick", "paper"}
    assert judge.of_paper(key) or claims_of(key)
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
    """Return the names of the modules beside the notebooks of a folder, without judges."""
    home = ROOT / "notebooks" / folder
    files = [path.stem for path in home.glob("*.py") if path.stem not in ("checks", "claims")]
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
        if name.endswith(".py") and not name.startswith(allowed):
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
