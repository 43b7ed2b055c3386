"""Loops give the same compiled and interpreted, and are compiled again after a change."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anonpaper
from anonpaper import compiled

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
