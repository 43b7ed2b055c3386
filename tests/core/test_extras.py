"""Without an extra everything else works, and its part of the library says what to install."""

import sys
from pathlib import Path

import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.datasets import loading
from anonpaper.errors import NotInstalledError

M = ap.examples.hospital()
A_CSV = Path(ap.__file__).parent / "datasets" / "schooling.csv"


def written(path):
    ap.suppress(M, ap.tp(M, l=2)).write(path)


CALLS = {
    "learning: sklearn.ensemble": lambda path: ap.repair.pattern_friendly(M),
    "excel: openpyxl": lambda path: ap.read(path.with_suffix(".xlsx"), ["age"]),
    "parquet: pyarrow": written,
    "plots: matplotlib": lambda path: ap.plots,
    "scale: ibis": lambda path: ap.scan(A_CSV, qi=["level"]),
    "search: pymoo.algorithms.moo.nsga2": lambda path: ap.preference_search(M, k=2),
}


@pytest.mark.parametrize("needed", CALLS)
def test_what_an_extra_brings_is_named_where_it_is_missing(needed, tmp_path, monkeypatch):
    extra, _, package = needed.partition(": ")
    monkeypatch.setitem(sys.modules, package, None)
    for module in ("anonpaper.plots", "anonpaper.recoders.nsga2"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.delattr(ap, "plots", raising=False)
    monkeypatch.delattr(ap.recoders, "nsga2", raising=False)
    with pytest.raises(NotInstalledError, match=rf"{package} .*pip install '\.\[{extra}\]'"):
        CALLS[needed](tmp_path / "table.parquet")
    assert not [*tmp_path.iterdir()]


def test_without_pyarrow_a_data_set_is_built_each_time(tmp_path, monkeypatch):
    monkeypatch.setenv("ANONPAPER_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    made = [loading.parsed("one", (), lambda n=n: pd.DataFrame({"n": [n]})) for n in (1, 2)]
    assert [frame["n"].item() for frame in made] == [1, 2]
    assert not [*tmp_path.iterdir()]
