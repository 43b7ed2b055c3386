"""Files appear whole; a digest changes with the code and not with what is said about it."""

import os
import sys
from pathlib import Path

import pytest

from anonpaper import files
from anonpaper.compendium import papers, provenance


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "file.txt"
    files.write_whole(path, "old")

    def full_disk(source, target):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(OSError, match="no space"):
        files.write_whole(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == ["file.txt"]


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ("# a comment\ndef f(x):\n    '''Other words.'''\n\n    return x + 1\n", True),
        ("def f(x):\n    '''Words.'''\n    return x + 2\n", False),
    ],
)
def test_the_digest_sees_code_only(tmp_path, monkeypatch, changed, same):
    monkeypatch.syspath_prepend(tmp_path)
    digests = []
    for name, source in (("a", "def f(x):\n    '''Words.'''\n    return x + 1\n"), ("b", changed)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "digested.py").write_text(source)
        monkeypatch.syspath_prepend(folder)
        sys.path_importer_cache.clear()
        digests.append(provenance.code_digest("digested"))
    assert (digests[0] == digests[1]) is same


def test_the_digest_follows_imports_wherever_they_stand(tmp_path, monkeypatch):
    package = tmp_path / "anonpaper"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "top.py").write_text("def f():\n    from anonpaper import middle\n")
    (package / "middle.py").write_text("from .low import x\n")
    (package / "low.py").write_text("x = 1\n")
    (package / "apart.py").write_text("import anonpaper\n")
    monkeypatch.setattr(provenance, "PACKAGE", package)
    assert set(provenance._reachable_files("anonpaper.top")) == {
        "anonpaper.top",
        "anonpaper.middle",
        "anonpaper.low",
    }
    assert package / "low.py" in provenance._reachable_files("anonpaper.apart").values()


def test_the_whole_package_counts_with_its_data_files():
    names = set(provenance._reachable_files("anonpaper"))
    assert {"errors.py", "anonpaper.mplstyle", "datasets/registry.toml"} <= names


@pytest.mark.parametrize("grid", papers())
def test_what_a_grid_keeps_does_not_depend_on_claims_or_on_other_papers(grid):
    """Else an edit of a claim's words would have every release made again."""
    reached = set(provenance._reachable_files(grid))
    assert "anonpaper.microdata" in reached
    assert "anonpaper.compendium.judge" not in reached
    assert set(papers()) & {name.partition("_")[0] for name in reached} == {grid}


def test_the_digest_follows_modules_beside_notebooks(tmp_path, monkeypatch):
    home = tmp_path / "notebooks" / "one2001"
    home.mkdir(parents=True)
    (home / "one2001.py").write_text("def f():\n    import one2001_topic\n")
    (home / "one2001_topic.py").write_text("import numpy\n")
    monkeypatch.syspath_prepend(home)
    monkeypatch.setattr(provenance, "notebooks_folder", lambda: tmp_path / "notebooks")
    assert set(provenance._reachable_files("one2001")) == {"one2001", "one2001_topic"}


def test_a_module_without_source_is_named():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        provenance.code_digest("no_such_module")


def test_the_project_is_found_upwards(tmp_path):
    (tmp_path / "notebooks" / "course").mkdir(parents=True)
    (tmp_path / "anonpaper").mkdir()
    assert files.project_root(tmp_path / "notebooks" / "course") == tmp_path
    assert files.project_root(Path("/")) is None
