"""Tables that other notebooks saved."""

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
