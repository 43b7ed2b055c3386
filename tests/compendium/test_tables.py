"""Tables that other notebooks saved."""

import json

import pytest

from anonpaper import plots
from anonpaper.compendium import results, tables
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


def test_a_figure_of_saved_tables_says_what_its_results_would(project):
    """The manifest of the profile that the table is read from counts, and no other."""
    about = {"dataset": "diabetes", "stand_in": True, "substitute_for": "Diabetes 130 (UCI)"}
    for folder, data in (("expected/quick", [about]), ("paper", [about | {"stand_in": False}])):
        place = project / "figures" / folder
        (place / "together").mkdir(parents=True)
        (place / "together" / "points.csv").write_text("of\n1\n")
        with pytest.raises(DatasetUnavailableError, match="no manifest names together/points"):
            tables.data_behind("together/points")
        (place / "manifest" / "together").mkdir(parents=True)
        (place / "manifest" / "together" / "points.json").write_text(
            json.dumps({"outputs": {"together/points.csv": {"data": data}}})
        )
        figure, _ = plots.subplots()
        results.stamp_saved(figure, "together/points")
        texts = ["data: diabetes, in place of Diabetes 130"]
        assert [text.get_text() for text in figure.texts] == (
            ["stand-in data", *texts] if data[0]["stand_in"] else texts
        )
        plots.plt.close(figure)
