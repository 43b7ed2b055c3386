"""Grids give the same rows in any number of processes; results and digests say of what."""

import importlib
import json
import os
import re
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest

from anonpaper import plots
from anonpaper.compendium import claims, grids
from anonpaper.compendium.grids import run_grid
from anonpaper.compendium.results import COLOURS, Results
from anonpaper.datasets.loading import Origin
from anonpaper.errors import ParameterError
from anonpaper.microdata import Microdata

CELLS = """
import os, time
import numpy as np
from anonpaper.compendium import timed

def draw(seed, count):
    numbers = np.random.default_rng(seed).normal(size=count)
    return [{"place": place, "number": number} for place, number in enumerate(numbers)]

def log(setting, folder):
    os.close(os.open(f"{folder}/{setting}-{os.getpid()}", os.O_CREAT))
    return {}

def fail_at(step, at):
    if step == at:
        raise ZeroDivisionError("as asked")
    return {"fine": True}

def clock(setting):
    seconds, _ = timed(sum, 2, fresh=lambda: range(10_000))
    return {"seconds": seconds, "process": os.getpid(), "began": time.monotonic()}
"""


@pytest.fixture
def cells(tmp_path, monkeypatch):
    """A module as it may lie beside a notebook, and a cache of its own."""
    monkeypatch.setenv("ANONPAPER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TQDM_DISABLE", "1")
    (tmp_path / "grid_cells.py").write_text(CELLS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "grid_cells", raising=False)
    yield importlib.import_module("grid_cells")
    sys.modules.pop("grid_cells", None)


class TestRunGrid:
    GRID = [{"seed": seed, "count": count} for seed in (3, 1, 2) for count in (1, 4)]

    def test_rows_are_the_same_for_any_number_of_workers(self, cells, monkeypatch, tmp_path):
        one = run_grid(cells.draw, self.GRID, workers=1)
        monkeypatch.setenv("ANONPAPER_CACHE", str(tmp_path / "another"))
        two = run_grid(cells.draw, self.GRID, workers=2)
        pd.testing.assert_frame_equal(one, two, check_exact=True)
        assert list(one.columns) == ["seed", "count", "place", "number"]
        assert one["seed"].drop_duplicates().tolist() == [3, 1, 2]
        expected = np.random.default_rng(1).normal(size=4)
        kept = run_grid(cells.draw, self.GRID)
        pd.testing.assert_frame_equal(one, kept, check_exact=True)
        assert one.query("seed == 1 and count == 4")["number"].tolist() == expected.tolist()

    def test_only_what_is_missing_is_computed(self, cells, tmp_path):
        calls = tmp_path / "calls"
        calls.mkdir()
        common = {"folder": str(calls)}
        run_grid(cells.log, [{"setting": n} for n in (1, 2)], workers=1, common=common)
        run_grid(cells.log, [{"setting": n} for n in (2, 3)], workers=1, common=common)
        assert sorted(path.name[0] for path in calls.iterdir()) == ["1", "2", "3"]

    def test_a_failing_setting_is_named_and_the_others_are_kept(self, cells):
        grid = [{"step": step} for step in range(3)]
        for workers in (1, 2):
            with pytest.raises(ZeroDivisionError) as caught:
                run_grid(cells.fail_at, grid, workers=workers, common={"at": 2})
            assert caught.value.__notes__ == ["in the setting {'step': 2}"]
        assert len(run_grid(cells.fail_at, grid[:2], workers=1, common={"at": 2})) == 2

    def test_run_times_are_measured_one_after_the_other_and_never_kept(self, cells, tmp_path):
        grid = [{"setting": n} for n in range(4)]
        for _ in range(2):
            frame = run_grid(cells.clock, grid, timing=True, workers=2)
            assert (frame["process"] == os.getpid()).all() and (frame["seconds"] > 0).all()
            assert frame["began"].is_monotonic_increasing
        again = run_grid(cells.clock, grid, timing=True)
        assert (again["began"] > frame["began"].max()).all()
        assert not list((tmp_path / "cache").rglob("*.pkl"))


def from_source(**about):
    origin = Origin("stroke", "official address", "stroke.csv", "ab12", **about)
    frame = pd.DataFrame({"age": [30, 40, 50], "disease": ["flu", "cold", "flu"]})
    return Microdata(frame, qi=["age"], sensitive="disease", origin=origin)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("ANONPAPER_FIGURES", str(tmp_path / "figures"))
    monkeypatch.setenv("ANONPAPER_PROFILE", "quick")
    return tmp_path / "figures"


@pytest.fixture
def figure():
    figure, ax = plots.subplots()
    ax.plot([1, 2], [3, 4])
    yield figure
    plots.plt.close(figure)


NUMBERS = pd.DataFrame({"l": [2, 4], "stars": [1 / 3, 2.0]})


class TestResults:
    def test_the_manifest_lists_each_file_with_what_it_was_made_from(self, root, figure):
        about = {"parameters": {"l": np.int64(4)}, "microdata": [from_source()]}
        results = Results("xiao2010", notebook="1_example", **about)
        results.figure(figure, "fig2a", data=NUMBERS, of="Figure 2a", timing=True)
        results.table(NUMBERS, "stars", caption="Stars")
        with pytest.raises(ParameterError, match="two outputs of 1_example are named 'stars'"):
            results.figure(figure, "stars", data=NUMBERS)
        manifest = json.loads((root / "manifest.json").read_text())["xiao2010/1_example"]
        assert manifest["parameters"] == {"l": 4}
        (data,) = manifest["data"]
        assert data["origin"] == "stroke: stroke.csv (official address, sha256 ab12)"
        assert (data["rows"], data["qi"], data["sensitive"]) == (3, ["age"], "disease")
        timing = {path: about["timing"] for path, about in manifest["outputs"].items()}
        assert timing.pop("xiao2010/stars.csv") is False
        assert timing == {"xiao2010/fig2a.csv": True, "xiao2010/fig2a.png": True}

    @pytest.mark.parametrize(("about", "texts"), [
        ({}, []),
        ({"stand_in": True}, ["stand-in data"]),
        ({"substitute_for": "OCC (by IPUMS)"}, ["data: stroke, in place of OCC"]),
    ])  # fmt: skip
    def test_figures_say_what_data_they_show(self, root, figure, about, texts):
        results = Results("xiao2010", notebook="1_example", microdata=[from_source(**about)])
        results.figure(figure, "fig2a", data=NUMBERS)
        assert [text.get_text() for text in figure.texts] == texts

    @pytest.fixture
    def notebook(self, root, monkeypatch):
        """Results of a notebook with two claims, one of them about times."""
        home = root / "notebooks" / "xiao2010"
        home.mkdir(parents=True)
        text = """
            from anonpaper.compendium.claims import claim, holds

            @claim("Figure 2")
            def fewest(phases):
                "TP has the fewest."
                return holds(phases["stars"] == 0, measured="<none>")

            @claim("Figure 4")
            def slow(times):
                "TP is slow."
                return holds(times["seconds"] > 9)
        """
        (home / "claims.py").write_text(textwrap.dedent(text))
        claims._module.cache_clear()
        monkeypatch.setattr(claims, "notebooks_folder", lambda: root / "notebooks")
        edition = root / "edition"
        monkeypatch.setattr("anonpaper.compendium.tables.folders", lambda: {"paper": edition})
        (edition / "xiao2010").mkdir(parents=True)
        (edition / "xiao2010" / "phases.csv").write_text("stars\n7\n")
        results = Results("xiao2010", notebook="1_example")
        results.table(pd.DataFrame({"stars": [0]}), "phases", caption="")
        results.table(pd.DataFrame({"seconds": [1.0]}), "times", caption="", timing=True)
        yield results
        claims._module.cache_clear()

    def test_claims_are_judged_from_the_saved_tables(self, notebook):
        """Beside a smaller run's verdict stands that of the paper's sizes."""
        shown = notebook.claims().data
        assert shown == notebook.claims().data, "nothing random is in it"
        fewest, slow = (" ".join(re.sub("<.*?>", " ", one, flags=re.S).split())
                        for one in shown.split("<code>")[1:])  # fmt: skip
        assert fewest.startswith("fewest ) measured: &lt;none&gt;")
        assert "quick profile: reproduced paper profile: not reproduced" in fewest
        assert slow.startswith("slow ) measured: quick profile: not reproduced")
        assert COLOURS["not reproduced"] in shown


@pytest.mark.parametrize(("name", "changed"), [
    ("anonpaper/table.toml", True), ("notebooks/one2001/topic.py", True),
    ("notebooks/one2001/claims.py", False), ("notebooks/one2001/1_one.ipynb", False),
])  # fmt: skip
def test_a_digest_covers_the_package_and_what_lies_beside_notebooks(
    tmp_path, monkeypatch, name, changed
):
    (tmp_path / "notebooks" / "one2001").mkdir(parents=True)
    (tmp_path / "anonpaper").mkdir()
    monkeypatch.setattr(grids, "notebooks_folder", lambda: tmp_path / "notebooks")
    monkeypatch.setattr(grids, "PACKAGE", tmp_path / "anonpaper")
    before = grids.code_digest()
    (tmp_path / name).write_text("y = 2\n")
    assert (grids.code_digest() != before) == changed
