"""Grids give the same rows in any number of processes; results and digests say of what."""

import importlib
import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from html import unescape

import numpy as np
import pandas as pd
import pytest

from anonpaper import plots
from anonpaper.compendium import claims, grids
from anonpaper.compendium.grids import run_grid
from anonpaper.compendium.results import COLOURS, Results
from anonpaper.errors import ParameterError
from anonpaper.microdata import Microdata

CELLS = '''
    import os
    import time
    from pathlib import Path

    import numpy as np

    from anonpaper.compendium import timed


    def draw(seed, count, scale=1):
        """Return `count` numbers that depend on the seed alone."""
        numbers = np.random.default_rng(seed).normal(size=count) * scale
        return [{"place": place, "number": number} for place, number in enumerate(numbers)]


    def log(setting, folder, tables=None):
        """Leave a file for each call, and say who made it."""
        handle = os.open(Path(folder, f"{setting}-{os.getpid()}"), os.O_CREAT)
        os.close(handle)
        return {"threads": os.environ.get("OMP_NUM_THREADS", "unset")}


    def fail_at(step, at):
        if step == at:
            raise ZeroDivisionError("as asked")
        return {"fine": True}


    def clock(setting):
        """Measure a run, and say in which process and when it began and ended."""
        began = time.monotonic()
        seconds, _ = timed(sum, 2, fresh=lambda: range(10_000))
        about = {"process": os.getpid(), "began": began, "ended": time.monotonic()}
        return {"seconds": seconds} | about

'''


@pytest.fixture
def cells(tmp_path, monkeypatch):
    """A module as it may lie beside a notebook, and a cache of its own."""
    monkeypatch.setenv("ANONPAPER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TQDM_DISABLE", "1")
    (tmp_path / "grid_cells.py").write_text(textwrap.dedent(CELLS))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "grid_cells", raising=False)
    yield importlib.import_module("grid_cells")
    sys.modules.pop("grid_cells", None)


def table():
    frame = pd.DataFrame({"age": [30, 40, 50], "disease": ["flu", "cold", "flu"]})
    return Microdata(frame, qi=["age"], sensitive="disease")


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

    def test_changed_code_is_computed_anew(self, cells, tmp_path):
        grid = [{"step": 1}]
        assert run_grid(cells.fail_at, grid, common={"at": 0})["fine"].tolist() == [True]
        source = tmp_path / "grid_cells.py"
        script = (
            "import grid_cells; from anonpaper.compendium.grids import run_grid;"
            "print(run_grid(grid_cells.fail_at, [{'step': 1}], common={'at': 0})['fine'].tolist())"
        )
        path = os.pathsep.join([str(tmp_path), os.getcwd()])
        source.write_text(source.read_text().replace('"fine": True', '"fine": "anew"'))
        given = os.environ | {"PYTHONPATH": path}
        assert subprocess.check_output([sys.executable, "-c", script], env=given) == b"['anew']\n"

    def test_run_times_are_measured_one_after_the_other_and_never_kept(self, cells, tmp_path):
        grid = [{"setting": n} for n in range(4)]
        for _ in range(2):
            frame = run_grid(cells.clock, grid, timing=True, workers=2)
            assert (frame["process"] == os.getpid()).all() and (frame["seconds"] > 0).all()
            assert (frame["ended"][:-1].to_numpy() <= frame["began"][1:].to_numpy()).all()
        again = run_grid(cells.clock, grid, timing=True)
        assert (again["began"] > frame["ended"].max()).all()
        assert not list((tmp_path / "cache").rglob("*.pkl"))


@dataclass(frozen=True)
class Source:
    """An origin as the data sets have it."""

    dataset: str = "stroke"
    sha256: str = "ab12"
    stand_in: bool = False
    substitute_for: str | None = None

    def __str__(self):
        return f"{self.dataset}, somewhere"


def from_source(**source):
    m = table()
    return Microdata(m.frame, qi=m.qi, sensitive=m.sensitive, origin=Source(**source))


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
        results = Results(
            "xiao2010",
            notebook="1_example",
            parameters={"l": np.int64(4)},
            microdata=[from_source()],
        )
        results.figure(figure, "fig2a", data=NUMBERS, of="Figure 2a", timing=True)
        results.table(NUMBERS, "stars", caption="Stars")
        with pytest.raises(ParameterError, match="two outputs of 1_example are named 'stars'"):
            results.figure(figure, "stars", data=NUMBERS)
        manifest = json.loads((root / "manifest.json").read_text())["xiao2010/1_example"]
        assert manifest["parameters"] == {"l": 4}
        assert manifest["data"][0]["origin"] == "stroke, somewhere"
        assert manifest["data"][0]["sha256"] == "ab12"
        assert sorted(manifest["outputs"]) == [
            "xiao2010/fig2a.csv",
            "xiao2010/fig2a.png",
            "xiao2010/stars.csv",
        ]
        assert manifest["outputs"]["xiao2010/fig2a.png"]["timing"]
        assert not manifest["outputs"]["xiao2010/stars.csv"]["timing"]

    @pytest.mark.parametrize(
        ("source", "texts"),
        [
            ({}, []),
            ({"stand_in": True}, ["stand-in data"]),
            ({"substitute_for": "OCC (by IPUMS)"}, ["data: stroke, in place of OCC"]),
        ],
    )
    def test_figures_say_what_data_they_show(self, root, figure, source, texts):
        results = Results("xiao2010", notebook="1_example", microdata=[from_source(**source)])
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
        monkeypatch.setattr("anonpaper.compendium.results.folders", lambda: {"paper": edition})
        (edition / "xiao2010").mkdir(parents=True)
        (edition / "xiao2010" / "phases.csv").write_text("stars\n7\n")
        results = Results("xiao2010", notebook="1_example")
        results.table(pd.DataFrame({"stars": [0]}), "phases", caption="")
        results.table(pd.DataFrame({"seconds": [1.0]}), "times", caption="", timing=True)
        yield results
        claims._module.cache_clear()

    def test_claims_are_judged_from_the_saved_tables(self, notebook):
        """Beside a smaller run's verdict stands that of the paper's sizes."""
        shown = notebook.claims()
        assert shown["verdict, quick profile"].to_dict() == {"fewest": "reproduced"}
        assert shown["verdict, paper profile"].to_dict() == {"fewest": "not reproduced"}
        assert set(notebook.claims(timing=True).index) == {"slow"}
        html = shown._repr_html_()
        assert html == notebook.claims()._repr_html_(), "nothing random is in it"
        assert all(told in unescape(html) for told in [*shown.index, *shown.to_numpy().ravel()])
        assert "&lt;none&gt;" in html and COLOURS["not reproduced"] in html

    def test_parameters_are_those_of_the_notebook_as_they_are_now(self, tmp_path, monkeypatch):
        folder = tmp_path / "notebooks" / "xiao2010"
        folder.mkdir(parents=True)
        (tmp_path / "anonpaper").mkdir()
        cell = {"source": ["levels = [2]\n", "seed = 0"], "metadata": {"tags": ["parameters"]}}
        other = {"source": ["unrelated = 1"], "metadata": {}}
        (folder / "1_one.ipynb").write_text(json.dumps({"cells": [cell, other]}))
        monkeypatch.chdir(folder)
        here = {"Results": Results, "levels": [2, 3], "seed": 7, "unrelated": 1}
        exec('results = Results.from_parameters("xiao2010", "1_one")', here)
        assert here["results"].parameters == {"levels": [2, 3], "seed": 7}


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A package, a paper and a folder of own questions, with a module each."""
    found = [tmp_path / name for name in ("anonpaper", "notebooks/one2001", "notebooks/together")]
    for folder in found:
        folder.mkdir(parents=True)
        (folder / f"{folder.name}.py").write_text(
            "def f(x):\n    '''Words.'''\n    return x + 1\n"
        )
        monkeypatch.syspath_prepend(folder)
    (found[1] / "paper.toml").touch()
    monkeypatch.delitem(sys.modules, "together", raising=False)  # imported by another test
    monkeypatch.setattr(grids, "notebooks_folder", lambda: tmp_path / "notebooks")
    monkeypatch.setattr(grids, "PACKAGE", found[0])
    return dict(zip(("package", "paper", "own"), found, strict=True))


@pytest.mark.parametrize(
    ("place", "name", "text", "changed"),
    [
        ("package", "table.toml", "y = 2\n", (True, True)),
        ("paper", "one2001_topic.py", "y = 2\n", (True, True)),
        ("own", "together_topic.py", "y = 2\n", (False, True)),
        ("paper", "claims.py", "y = 2\n", (False, False)),
        (
            "paper",
            "one2001.py",
            "# said\ndef f(x):\n    '''Other.'''\n\n    return x + 1\n",
            (0, 0),
        ),
        ("paper", "one2001.py", "def f():\n    '''Words.'''\n    return 2\n", (1, 1)),
    ],
)
def test_a_digest_covers_the_package_and_what_lies_beside_a_notebook(
    places, place, name, text, changed
):
    """An edit of words, of a claim, or of another paper, makes nothing again."""
    before = [grids.code_digest(module) for module in ("one2001", "together")]
    (places[place] / name).write_text(text)
    after = [grids.code_digest(module) for module in ("one2001", "together")]
    assert tuple(was != now for was, now in zip(before, after, strict=True)) == changed
