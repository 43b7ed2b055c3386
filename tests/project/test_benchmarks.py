"""The harness of the benchmarks tells a ratio above its limit from one below."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd

import anonpaper as ap

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MODULE = '''"""Adding up.

More words.
"""

from measure import against, best_seconds, peak_bytes


def rows():
    few = best_seconds(lambda: sum(range(10_000)))
    many = best_seconds(lambda: sum(range(1_000_000)))
    yield against("a million", many, "ten thousand", few, limit={limit})
    held = peak_bytes(lambda: bytearray(1_000_000))
    yield against("memory", held, "a megabyte", 1e6, limit=1.5)
'''


def run(folder, limit):
    for name in ("run.py", "measure.py"):
        shutil.copy(BENCHMARKS / name, folder)
    (folder / "bench_adding.py").write_text(MODULE.format(limit=limit))
    return subprocess.run([sys.executable, folder / "run.py"], capture_output=True, text=True)


def test_ratios_below_their_limits_pass(tmp_path):
    done = run(tmp_path, limit=100_000)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith("Adding up.")
    assert "ABOVE" not in done.stdout


def test_a_ratio_above_its_limit_fails(tmp_path):
    done = run(tmp_path, limit=0.001)
    assert done.returncode == 1
    assert done.stdout.count("ABOVE") == 1


def test_every_cell_of_the_table_of_features_says_where_it_was_read():
    table = pd.read_csv(BENCHMARKS / "tools" / "features.csv", keep_default_na=False)
    assert not table.eq("").any(axis=None)
    assert table.groupby("feature")["tool"].agg(set).map(len).eq(table["tool"].nunique()).all()
    assert not table.duplicated(["feature", "tool"]).any()
    assert table.groupby("tool")[["version", "where"]].nunique().eq(1).all(axis=None)
    for source in table.query("tool == 'anonpaper'")["source"]:
        for path in re.findall(r"anonpaper\.([\w.]+)", source):
            thing = ap
            for name in path.split("."):
                thing = getattr(thing, name)


def test_what_was_measured_says_on_what_and_by_which_versions():
    tools = pd.read_csv(BENCHMARKS / "tools" / "tools.csv").set_index("tool")
    on = r".+ cores, load \d+\.\d at most, Python 3\.\d+\.\d+, [\d-]+"
    assert tools["on"].str.fullmatch(on).all() and tools["seed"].nunique() == 1
    measured = pd.read_csv(BENCHMARKS / "tools" / "measured.csv")
    ran = tools.index[tools["state"] == "run"]
    assert set(ran) == set(measured["tool"]) and len(ran) >= 6
    assert tools.loc[~tools["state"].eq("run"), "state"].str.startswith("not run here: ").all()
    features = pd.read_csv(BENCHMARKS / "tools" / "features.csv")
    versions = dict(zip(features["tool"], features["version"], strict=True))
    for tool in {"anjana", "anonypy", "ARX"}:
        assert tools["version"][tool] == versions[tool]
