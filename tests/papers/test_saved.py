"""Tables that other notebooks saved or show."""

import json

import pandas as pd
import pytest

from anonpaper.errors import DatasetUnavailableError
from anonpaper.papers import saved


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(saved, "project_root", lambda: tmp_path)
    return tmp_path


def test_a_saved_table_is_of_the_larger_profile_that_was_run(project):
    with pytest.raises(DatasetUnavailableError, match="no profile"):
        saved.saved("together/points")
    for folder, profile in (("expected/quick", "quick"), ("paper", "paper")):
        file = project / "figures" / folder / "together" / "points.csv"
        file.parent.mkdir(parents=True)
        file.write_text(f"of\n{profile}\n")
        table, said = saved.saved("together/points")
        assert (table["of"].tolist(), said) == ([profile], profile)


def test_what_a_cell_displays_is_the_frame_that_it_showed(project):
    frame = pd.DataFrame({"few": [3, 1_000_000], "a < b": [0.5, 2.0]}, index=[10, 100])
    shown = {"data": {"text/html": frame.rename_axis("rows").to_html()}}
    cell = {"cell_type": "code", "source": ["frame.pivot()"], "outputs": [shown]}
    cells = [{"cell_type": "markdown", "source": ["frame.pivot()"]}, cell]
    file = project / "notebooks" / "beyond" / "one.ipynb"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"cells": cells}))
    read = saved.displayed("beyond/one", "frame.pivot")
    assert read.to_numpy().tolist() == frame.to_numpy().tolist()
    assert read.columns.tolist() == ["few", "a < b"] and read.index.tolist() == ["10", "100"]
    for notebook, source in (("beyond/one", "other"), ("beyond/none", "frame.pivot")):
        with pytest.raises(DatasetUnavailableError, match="0 tables"):
            saved.displayed(notebook, source)
