"""A digest changes with the code and not with what is said about it."""

import sys

import pytest

from anonpaper.compendium import provenance


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A package, a paper and a folder of own questions, with a module each."""
    found = [tmp_path / name for name in ("anonpaper", "notebooks/one2001", "notebooks/together")]
    for folder in found:
        folder.mkdir(parents=True)
        (folder / f"{folder.name}.py").write_text(
            "def f(x):\n    '''Words.'''\n    return x + 1\n"
        )
        monkeypatch.syspath_prepend(folder)
    (found[1] / "paper.toml").touch()
    monkeypatch.delitem(sys.modules, "together", raising=False)  # imported by another test
    monkeypatch.setattr(provenance, "notebooks_folder", lambda: tmp_path / "notebooks")
    monkeypatch.setattr(provenance, "PACKAGE", found[0])
    return dict(zip(("package", "paper", "own"), found, strict=True))


@pytest.mark.parametrize(
    ("place", "name", "text", "changed"),
    [
        ("package", "table.toml", "y = 2\n", (True, True)),
        ("paper", "one2001_topic.py", "y = 2\n", (True, True)),
        ("own", "together_topic.py", "y = 2\n", (False, True)),
        ("paper", "claims.py", "y = 2\n", (False, False)),
        (
            "paper",
            "one2001.py",
            "# said\ndef f(x):\n    '''Other.'''\n\n    return x + 1\n",
            (0, 0),
        ),
        ("paper", "one2001.py", "def f():\n    '''Words.'''\n    return 2\n", (1, 1)),
    ],
)
def test_a_digest_covers_the_package_and_what_lies_beside_a_notebook(
    places, place, name, text, changed
):
    """An edit of words, of a claim, or of another paper, makes nothing again."""
    before = [provenance.code_digest(module) for module in ("one2001", "together")]
    (places[place] / name).write_text(text)
    after = [provenance.code_digest(module) for module in ("one2001", "together")]
    assert tuple(was != now for was, now in zip(before, after, strict=True)) == changed
