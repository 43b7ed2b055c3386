from __future__ import annotations

import pytest

from anonpaper.datasets import fetching


@pytest.fixture
def empty_house(tmp_path, monkeypatch):
    """An empty data folder and an empty cache, no package index, no memory of hosts."""
    (tmp_path / "raw").mkdir()
    monkeypatch.setenv("ANONPAPER_DATA", str(tmp_path / "raw"))
    monkeypatch.setenv("ANONPAPER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setattr(fetching, "_unreachable", set())
    fetching._pip.cache_clear()
    return tmp_path


@pytest.fixture
def no_network(empty_house, monkeypatch):
    """The same, and none of the registered hosts can be reached."""
    hosts = {"archive.ics.uci.edu", "dataverse.harvard.edu"}
    monkeypatch.setattr(fetching, "_unreachable", hosts)
    return empty_house
