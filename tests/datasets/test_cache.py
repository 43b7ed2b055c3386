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


class Builder:
    """Counts how often it is asked for the table."""

    def __init__(self, table=TABLE):
        self.calls, self.table = 0, table

    def __call__(self):
        self.calls += 1
        return self.table


def cached_files(house):
    return sorted((house / "cache").rglob("*.*"))


def test_a_table_is_built_once_and_comes_back_the_same(empty_house):
    build = Builder()
    first, second = parsed("t", ("key", 1), build), parsed("t", ("key", 1), build)
    assert build.calls == 1
    pd.testing.assert_frame_equal(first, TABLE)
    pd.testing.assert_frame_equal(second, TABLE)
    assert second["text"].cat.categories.tolist() == ["c", "b", "a"]


@pytest.mark.parametrize("damage", [b"", b"PAR1 no parquet", None])
def test_a_damaged_file_is_rebuilt(empty_house, damage):
    build = Builder()
    parsed("t", ("key",), build)
    (file,) = cached_files(empty_house)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    with pytest.warns(UserWarning, match="damaged"):
        pd.testing.assert_frame_equal(parsed("t", ("key",), build), TABLE)
    assert file.read_bytes() == whole
    assert build.calls == 2


def test_a_cache_that_cannot_be_written_to_is_warned_of(empty_house, monkeypatch):
    (empty_house / "file").write_text("in the way")
    monkeypatch.setenv("ANONPAPER_CACHE", str(empty_house / "file" / "cache"))
    with pytest.warns(UserWarning, match="cannot be written to"):
        pd.testing.assert_frame_equal(parsed("t", ("key",), Builder()), TABLE)


def test_the_folders_follow_the_environment(empty_house, monkeypatch):
    assert cache_folder() == empty_house / "cache"
    assert raw_folder() == empty_house / "raw"
    monkeypatch.delenv("ANONPAPER_DATA")
    monkeypatch.delenv("ANONPAPER_CACHE")
    monkeypatch.setattr("anonpaper.files.project_root", lambda: Path("project"))
    assert raw_folder() == Path("project/data/raw")
    assert cache_folder() == Path("project/data/cache")
    monkeypatch.setattr("anonpaper.files.project_root", lambda: None)
    assert cache_folder().name == "cache"
    assert "anonpaper" in cache_folder().parts


def test_another_key_is_another_table(empty_house):
    build = Builder()
    for key in (("sha", 1), ("sha", 2), ("other", 1)):
        parsed("t", key, build)
    assert build.calls == 3
