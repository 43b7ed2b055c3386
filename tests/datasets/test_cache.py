"""The parquet cache: keyed by content, whole or absent, rebuilt when damaged."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from anonpaper.datasets.loading import parsed
from anonpaper.files import cache_folder, raw_folder

pytest.importorskip("pyarrow", reason="parquet is read by pyarrow: anonpaper[parquet]")

TABLE = pd.DataFrame(
    {
        "text": pd.Categorical(["b", "a", None], ["c", "b", "a"], ordered=True),
        "number": [1, 2, 3],
        "year": pd.array([1, None, 3], dtype="Int64"),
    }
)


def calls_of_build(*keys):
    """How often the table is built if it is asked for by these keys; each result is checked."""
    calls = []
    for key in keys:
        pd.testing.assert_frame_equal(parsed("t", key, lambda: calls.append(0) or TABLE), TABLE)
    return len(calls)


def test_a_table_is_built_once_for_each_key_and_comes_back_the_same(empty_house):
    assert calls_of_build(("sha", 1), ("sha", 1), ("sha", 2), ("other", 1), ("sha", 2)) == 3


@pytest.mark.parametrize("damage", [b"", b"PAR1 no parquet", None])
def test_a_damaged_file_is_rebuilt(empty_house, damage):
    assert calls_of_build(("key",)) == 1
    (file,) = (empty_house / "cache").rglob("*.*")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    with pytest.warns(UserWarning, match="damaged"):
        assert calls_of_build(("key",)) == 1
    assert file.read_bytes() == whole


def test_a_cache_that_cannot_be_written_to_is_warned_of(empty_house, monkeypatch):
    (empty_house / "file").write_text("in the way")
    monkeypatch.setenv("ANONPAPER_CACHE", str(empty_house / "file" / "cache"))
    with pytest.warns(UserWarning, match="cannot be written to"):
        calls_of_build(("key",))


def test_the_folders_follow_the_environment(empty_house, monkeypatch):
    assert (cache_folder(), raw_folder()) == (empty_house / "cache", empty_house / "raw")
    monkeypatch.delenv("ANONPAPER_DATA")
    monkeypatch.delenv("ANONPAPER_CACHE")
    monkeypatch.setattr("anonpaper.files.project_root", lambda: Path("project"))
    assert (cache_folder(), raw_folder()) == (Path("project/data/cache"), Path("project/data/raw"))
    monkeypatch.setattr("anonpaper.files.project_root", lambda: None)
    assert cache_folder().name == "cache" and "anonpaper" in cache_folder().parts
