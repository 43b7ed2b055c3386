"""Tables that other notebooks saved, and the papers' own numbers."""

import re
from pathlib import Path

import pytest

from anonpaper.compendium import tables
from anonpaper.compendium.tables import reference, references
from anonpaper.errors import DatasetUnavailableError


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "project_root", lambda: tmp_path)
    return tmp_path


def test_a_saved_table_is_of_the_larger_profile_that_was_run(project):
    with pytest.raises(DatasetUnavailableError, match="points.csv is not saved"):
        tables.saved("together/points")
    for folder, profile in (("expected/quick", "quick"), ("paper", "paper")):
        file = project / "figures" / folder / "together" / "points.csv"
        file.parent.mkdir(parents=True)
        file.write_text(f"of\n{profile}\n")
        table, said = tables.saved("together/points")
        assert (table["of"].tolist(), said) == ([profile], profile)


# -- the papers' numbers -------------------------------------------------------------------


def test_every_reference_table_is_read_and_its_source_is_named():
    folder = Path(__file__).parents[2] / "data" / "reference"
    sources = (folder / "README.md").read_text(encoding="utf-8")
    assert {*references()} <= {*re.findall(r"(?m)^\| (\S+)\.csv \|", sources)}
    for name in references():
        table = reference(name)
        assert len(table) > 0
        assert not table.isna().any().any()
