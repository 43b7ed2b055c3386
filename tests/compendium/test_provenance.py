"""Files appear whole; a digest changes with the code and not with what is said about it."""

import os
import sys

import pytest

from anonpaper import files
from anonpaper.compendium import provenance


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


def test_a_digest_covers_the_package_and_what_lies_beside_a_notebook(tmp_path, monkeypatch):
    """An edit of a claim's words, or of another paper, makes nothing again."""
    package, home = tmp_path / "anonpaper", tmp_path / "notebooks" / "one2001"
    other = tmp_path / "notebooks" / "together"
    for folder in (package, home, other):
        folder.mkdir(parents=True)
        (folder / f"{folder.name}.py").write_text("x = 1\n")
    (home / "paper.toml").touch()
    monkeypatch.syspath_prepend(home)
    monkeypatch.syspath_prepend(other)
    monkeypatch.delitem(sys.modules, "together", raising=False)  # imported by another test
    monkeypatch.setattr(provenance, "notebooks_folder", lambda: tmp_path / "notebooks")
    monkeypatch.setattr(provenance, "PACKAGE", package)

    def changed(path):
        before = [provenance.code_digest(name) for name in ("one2001", "together")]
        path.write_text("y = 2\n")
        after = [provenance.code_digest(name) for name in ("one2001", "together")]
        return [was != now for was, now in zip(before, after, strict=True)]

    assert changed(package / "table.toml") == [True, True]
    assert changed(home / "one2001_topic.py") == [True, True]
    assert changed(other / "together_topic.py") == [False, True]
    assert changed(home / "claims.py") == [False, False]
