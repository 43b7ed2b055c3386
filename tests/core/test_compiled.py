"""Loops give the same compiled, interpreted, and without any package that is not needed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import anonpaper
import anonpaper as ap
from anonpaper import compiled
from anonpaper.datasets import loading
from anonpaper.errors import NotInstalledError

ROOT = Path(anonpaper.__file__).parents[1]


def of_every_algorithm(way):
    """Return hashes of what every algorithm returns in a process of its own."""
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("every_algorithm.py"), way],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def interpreted():
    return of_every_algorithm("interpreted")


def test_compiled_loops_give_the_same(interpreted):
    assert of_every_algorithm("compiled") == interpreted


def test_nothing_changes_without_numba(interpreted):
    found = of_every_algorithm("without")
    assert set(interpreted) - set(found) == {"preference_search"}  # it needs pymoo
    assert found == {name: interpreted[name] for name in found}


def test_small_tables_are_not_compiled():
    program = """
import sys, anonpaper as ap, pandas as pd
m = ap.examples.hospital()
ap.generalize(m, ap.mondrian(m, 2)).audit()
ap.suppress(m, ap.tp(m, 2)).audit()
rows = {name: [i % size for i in range(1000)] for name, size in zip("abc", (1000, 37, 7))}
m = ap.Microdata(pd.DataFrame(rows), ["a", "b"], "c")
for group in (ap.tp_plus, ap.hilbert, ap.balanced_classes, ap.k_member):
    group(m, 3)
ap.klt(m, 10, 5, 0.5)  # the tree of its search has two places for each of 1,024 leaves
print({"numba", "pymoo", "sklearn"} & set(sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "set()\n"


@compiled.loop
def total(numbers):
    """Sum that wraps around, as integers of numba do."""
    found = numbers[0]
    for i in range(1, len(numbers)):
        found += numbers[i]
    return found


def test_a_loop_is_compiled_for_many_rows_or_after_long_and_wraps_around(monkeypatch):
    few, many = np.ones(10, np.uint64), np.ones(compiled.MOST_ROWS + 1, np.uint64)
    two = np.array([2**64 - 1, 2], np.uint64)  # a warning would be an error
    by_rows, by_time = (compiled.loop(total.__wrapped__) for _ in range(2))
    assert (by_rows(few), by_rows(two)) == (10, 1) and "compiled" not in vars(by_rows)
    assert by_rows(many) == len(many) and "compiled" in vars(by_rows) and by_rows(two) == 1
    monkeypatch.setattr(compiled, "MOST_SECONDS", -1.0)
    assert by_time(few) == 10 and "compiled" in vars(by_time)


M = ap.examples.hospital()
A_CSV = Path(ap.__file__).parent / "datasets" / "schooling.csv"


def written(path):
    ap.suppress(M, ap.tp(M, l=2)).write(path)


def workbook(path):
    beside = path.parents[1] / "table.xlsx"
    beside.write_bytes(b"PK")
    return beside


CALLS = {
    "learning: sklearn.ensemble": lambda path: ap.repair.pattern_friendly(M),
    "excel: openpyxl": lambda path: ap.read(workbook(path), ["age"]),
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
    assert not [*tmp_path.rglob("*.parquet")]
