"""The build on a small project: what runs, what does not, and what a killed run leaves.

Most tests call the programs in this process, with cells executed in it. Those that call `make`
run real kernels.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell
from project.builds import environment, make, ran, small_project, write_notebook, write_profile

ROOT = Path(__file__).parents[2]
BOTH = ["one/1_first", "two/1_second"]
WORKER = """
def twice(value):
    from anonpaper.partition import mondrian
    return {"value of it": 2 * value}
"""
GRID = """
from anonpaper.compendium.grids import run_grid
import helper
found = run_grid(helper.twice, [{"value": 1}, {"value": 2}], workers=2)
results.table(found, "found", caption="Found");
"""
MEET = """
from pathlib import Path
import time
here, met = Path("{here}"), Path("{there}")
here.touch()
for _ in range(1200):
    time.sleep(0 if met.exists() else 0.1)
assert met.exists()
assert not [path for path in Path().iterdir() if path.name.startswith("kernel")]
"""


@pytest.fixture
def made(build):
    """A build that ran once."""
    build("notebooks", "make")
    return build


def quick(build, path):
    return build.root / "figures" / "quick" / path


# ---- with kernels -----------------------------------------------------------------------------


def test_make_runs_what_changed_side_by_side(project):
    """Each notebook waits for the other to have begun, and no file of a kernel lies beside it."""
    here, there = project / "one_is_here", project / "two_is_here"
    write_notebook(project, "one/1_first", more=MEET.format(here=here, there=there))
    write_notebook(project, "two/1_second", more=MEET.format(here=there, there=here) + GRID)
    helper = project / "notebooks" / "two" / "helper.py"
    helper.write_text(WORKER)
    assert ran(make(project, "figures", "JOBS=2")) == BOTH
    results = project / "figures" / "quick"
    assert (results / "one/table_1_first.csv").read_text() == "row\n0\n1\n2\n"
    first, second = (json.loads((results / f"manifest/{n}.json").read_text()) for n in BOTH)
    assert sorted(first["outputs"]) == ["one/table_1_first.csv", "one/table_1_first.tex"]
    assert {"two/found.csv", "two/table_1_second.csv"} < {*second["outputs"]}
    assert first["parameters"] == {"rows": 3}
    executed = nbformat.read(results / "notebooks/one/1_first.ipynb", as_version=4)
    assert set(executed.metadata) == {"kernelspec", "language_info"}
    assert second["functions"] == ["notebooks/two/helper.py:twice"]
    helper.write_text(WORKER.replace("2 * value", "3 * value"))
    assert ran(make(project, "figures", "JOBS=2")) == ["two/1_second"]


def test_a_killed_run_leaves_nothing_half_written_and_the_next_resumes(project):
    write_notebook(project, "two/1_second", more="import time\ntime.sleep(3600)")
    running = subprocess.Popen(
        ["make", "JOBS=1"],
        cwd=project,
        env=environment(project),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    results = project / "figures" / "quick"
    staged = results / ".staging/two/1_second/two/table_1_second.csv"
    while not staged.exists() and running.poll() is None:
        time.sleep(0.1)
    assert running.poll() is None
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert (results / "one/table_1_first.csv").exists()
    assert not (results / "two").exists()
    assert not (results / "notebooks/two/1_second.ipynb").exists()
    assert not (results / "manifest/two").exists()

    write_notebook(project, "two/1_second")
    assert ran(make(project)) == ["two/1_second"]
    assert (results / "manifest/two/1_second.json").exists()
    assert not list((results / ".staging").rglob("*.*"))


def test_notebooks_are_executed_in_place_the_same_each_time(project):
    notebook = project / "notebooks/one/1_first.ipynb"
    shutil.rmtree(project / "notebooks/two")
    make(project, "PROFILE=paper", "figures")
    make(project, "notebooks")
    first = notebook.read_bytes()
    executed = nbformat.reads(first.decode(), as_version=4)
    assert executed.cells[1].outputs[-1].data["text/plain"].split()[:2] == ["row", "0"]
    assert [cell.id for cell in executed.cells] == ["parameters", "results", "more"]
    assert executed.cells[1].metadata == {}
    make(project, "refresh-one/1_first")
    assert notebook.read_bytes() == first


# ---- without ----------------------------------------------------------------------------------


def test_only_what_depends_on_a_change_runs_again(made):
    assert ran(made("notebooks", "make")) == []
    write_profile(made.root, "one/1_first: {rows: 4}\ntwo/1_second: {}\n")
    assert ran(made("notebooks", "make")) == ["one/1_first"]
    assert quick(made, "one/table_1_first.csv").read_text().endswith("3\n")
    write_notebook(made.root, "two/1_second", more="rows + seed")
    assert ran(made("notebooks", "make")) == ["two/1_second"]
    quick(made, "one/table_1_first.csv").unlink()
    assert ran(made("notebooks", "make")) == ["one/1_first"]

    notebook = made.root / "notebooks/two/1_second.ipynb"
    executed = nbformat.read(notebook, as_version=4)
    executed.cells[0].execution_count = 7  # outputs are no input, and texts are none
    executed.cells.insert(1, new_markdown_cell("What is shown", id="shown"))
    nbformat.write(executed, notebook)
    source = made.root / "anonpaper" / "groups.py"
    source.write_text("# a comment\n" + source.read_text())
    (made.root / "notebooks/one/claims.toml").write_text("")
    (made.root / "notebooks/one/checks.py").write_text("CHECKED = 1")
    assert ran(made("notebooks", "make")) == []

    (made.root / "notebooks/one/one.py").write_text("BESIDE = 1")  # and `two` may build on papers
    assert ran(made("notebooks", "make")) == BOTH
    source.write_text(source.read_text() + "\nANOTHER_NAME = 1\n")
    assert ran(made("notebooks", "make", "two")) == ["two/1_second"]
    assert ran(made("notebooks", "make")) == ["one/1_first"]


def test_larger_sizes_leave_out_notebooks_that_save_no_results(made):
    path = made.root / "notebooks" / f"{BOTH[1]}.ipynb"
    lesson = nbformat.read(path, as_version=4)
    lesson.cells[1].source = "rows"
    nbformat.write(lesson, path)
    assert ran(made("notebooks", "make", "--profile=paper")) == [BOTH[0]]
    assert ran(made("notebooks", "make")) == [BOTH[1]]
    assert ran(made("notebooks", "make", BOTH[1], "--profile=paper")) == []


def test_outputs_that_are_no_longer_made_disappear(made):
    write_notebook(made.root, "one/1_first", table="other")
    shutil.rmtree(made.root / "notebooks/two")
    assert ran(made("notebooks", "make")) == ["one/1_first"]
    files = [path.name for path in quick(made, "").glob("*/*.csv")]
    assert files == ["other.csv"]
    (share,) = quick(made, "manifest").rglob("*.json")
    assert sorted(json.loads(share.read_text())["outputs"]) == ["one/other.csv", "one/other.tex"]


def test_the_paper_profile_has_its_own_results_and_the_readme_lists_them(build):
    build("notebooks", "make", "--profile=paper")
    assert (build.root / "figures/paper/one/table_1_first.csv").read_text().endswith("29\n")
    assert not quick(build, "").exists()
    share = build.root / "figures/paper/manifest/one/1_first.json"
    functions = {"functions": ["notebooks/one/one.py:twice", "anonpaper/groups.py:grouped"]}
    share.write_text(json.dumps(json.loads(share.read_text()) | functions))
    build("results")
    readme = (build.root / "figures/README.md").read_text()
    place = "[1_first](../notebooks/one/1_first.ipynb)"
    assert f"| Table table_1_first | [table_1_first](paper/one/table_1_first.csv) | {place} |" in (
        readme
    )
    called = "[twice](../notebooks/one/one.py), [grouped](../anonpaper/groups.py)"
    assert f"| {place} | {called} | `make paper-one` | 0.1 |\n" in readme
    timings = (build.root / "figures/timings.csv").read_text()
    assert timings.splitlines()[:2] == ["notebook,quick,paper", "notebooks/one/1_first.ipynb,,0.1"]


def test_a_failing_notebook_fails_make_and_keeps_what_was_there(made):
    write_notebook(made.root, "two/1_second", more="seed / 0")
    printed = made("notebooks", "make", fails=True)
    assert "ZeroDivisionError" in printed
    assert "figures/quick/.failed/two/1_second.ipynb" in printed
    assert "failed: two/1_second; the causes are above" in printed
    assert quick(made, "two/table_1_second.csv").exists()
    write_notebook(made.root, "one/1_first", more="seed")
    assert ran(made("notebooks", "make", fails=True)) == ["one/1_first"]  # the others run


def test_unknown_profiles_and_names_are_named(build):
    printed = build("notebooks", "make", "--profile=big", fails=True)
    assert "no profile 'big'" in printed
    assert "no such notebook or folder: three" in build("notebooks", "make", "three", fails=True)


def test_results_must_name_their_notebook(build):
    wrong = build.root / "notebooks/two/1_second.ipynb"
    shutil.copy(build.root / "notebooks/one/1_first.ipynb", wrong)
    assert "this is one/1_first; give it the names" in build("notebooks", "make", fails=True)


# ---- the Makefile -----------------------------------------------------------------------------


def test_help_has_a_line_for_each_target(project):
    printed = make(project, "help").splitlines()
    targets = {line.split()[0] for line in printed}
    assert targets >= set(
        "help env data figures notebooks test test-fast lab bench lock clean "
        "report verify paper-<folder> refresh-<notebook>".split()
    )
    assert all(len(line.split()) > 2 for line in printed)
    assert "what changed of the notebooks in one of one two" in "\n".join(printed)
    assert "e.g. refresh-two/1_second" in "\n".join(printed)


def test_what_is_made_and_what_is_kept_are_cleaned_apart(tmp_path):
    made = ("figures/quick/a.csv", "build/a.zip")
    kept = ("data/cache/grids/a", ".ruff_cache/a")
    placed, loop = "data/cache/package-index/a", "anonpaper/__pycache__/a.nbc"
    for name in (*made, *kept, placed, loop):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    for name in ("tests", "tools", "benchmarks", "notebooks"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "Makefile", tmp_path)
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True)
    there = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("a*") if p.is_file()}
    assert there == {*kept, placed, loop}
    subprocess.run(["make", "distclean"], cwd=tmp_path, check=True)
    assert [p for p in tmp_path.rglob("a*") if p.is_file()] == [tmp_path / placed]


@pytest.mark.parametrize("tool", ["conda", "mamba", "micromamba"])
def test_conda_is_used_where_it_is_on_the_path(tmp_path, tool):
    project = small_project(tmp_path / "project", package="__init__.py")
    shutil.rmtree(project / ".venv")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / tool).write_text("#!/bin/sh\n")
    (folder / tool).chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    printed = make(project, "-n", "env", PATH=path)
    assert f"{folder / tool} env $action" in printed
    assert "--file environment.yml" in printed
    assert "-m venv" in make(project, "-n", "env", "CONDA=", PATH=path)
