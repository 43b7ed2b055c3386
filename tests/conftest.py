"""What every test can rely on: no results in the project, no window, no warning left open."""

import matplotlib as mpl
import pytest

mpl.use("agg")


@pytest.fixture(autouse=True)
def results_elsewhere(tmp_path_factory, monkeypatch):
    """Keep what a test writes out of the project's figures and its cache of grids."""
    monkeypatch.setenv("ANONPAPER_FIGURES", str(tmp_path_factory.mktemp("figures")))
