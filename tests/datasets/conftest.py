from __future__ import annotations

import pytest

from anonpaper.datasets import loading


@pytest.fixture
def empty_house(tmp_path, monkeypatch):
    """An empty data folder and an empty cache, no package index."""
    (tmp_path / "raw").mkdir()
    monkeypatch.setenv("ANONPAPER_DATA", str(tmp_path / "raw"))
    monkeypatch.setenv("ANONPAPER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return tmp_path


@pytest.fixture
def no_network(empty_house, monkeypatch):
    """The same, and no address can be reached."""

    def out_of_reach(url, *_):
        raise OSError(f"{url} is out of reach")

    monkeypatch.setattr(loading, "_download", out_of_reach)
    return empty_house
