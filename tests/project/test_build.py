"""The Makefile on a small project: what runs, what does not, and what a killed run leaves."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import nbformat
import pytest
from project.builds import environment, make, ran, small_project, write_notebook, write_profile

BOTH = ["one/1_first", "two/1_second"]
WORKER = """
def twice(value):
    from anonpaper.partition import mondrian
    return {"value of it": 2 * value}
"""
TIMED = """
import time
def twice(value):
    return {"seconds": time.time()}
"""
GRID = """
from anonpaper.compendium.grids import run_grid
import helper
found = run_grid(helper.twice, [{"value": 1}, {"value": 2}], workers=2)
"""


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """A project in which `make` ran once, and what that printed."""
    root = small_project(tmp_path_factory.mktemp("build") / "project")
    return root, make(root, "JOBS=2")


@pytest.fixture
def made(first_run, tmp_path):
    """A copy of that project for one test."""
    return shutil.copytree(first_run[0], tmp_path / "project")


def planned(printed):
    """Return the notebooks that `make plan` says have changed."""
    return [line.split(":")[0].strip() for line in printed.splitlines() if " changed" in line]


def test_make_runs_every_notebook_once_and_lists_what_it_wrote(first_run):
    project, printed = first_run
    assert ran(printed) == BOTH
    assert "one/1_first" in printed
    assert "0 figures, 1 tables" in printed
    results = project / "figures" / "quick"
    assert (results / "one/table_1_first.csv").read_text() == "row\n0\n1\n2\n"
    manifest = json.loads((results / "manifest.json").read_text())
    assert sorted(manifest["outputs"]) == [
        "one/table_1_first.csv",
        "one/table_1_first.tex",
        "two/table_1_second.csv",
        "two/table_1_second.tex",
    ]
    output = manifest["outputs"]["one/table_1_first.csv"]
    assert output["parameters"] == {"rows": 3}
    assert output["notebook"] == "notebooks/one/1_first.ipynb"
    executed = nbformat.read(results / "notebooks/one/1_first.ipynb", as_version=4)
    assert set(executed.metadata) == {"kernelspec", "language_info"}
    assert not list(results.rglob("executed.ipynb"))

    printed = make(project)
    assert "2 notebooks up to date, nothing to be done" in printed
    assert ran(printed) == []


def test_kernels_have_their_sockets_elsewhere(project):
    """In the notebooks' folder kernels that start at once would take each other's."""
    alone = (
        "from pathlib import Path\nassert "
        "[f.name for f in Path().iterdir() if f.is_file()] == ['1_first.ipynb']"
    )
    write_notebook(project, "one/1_first", more=alone)
    assert ran(make(project)) == BOTH


def test_only_what_depends_on_a_change_runs_again(made):
    write_profile(made, "one/1_first: {rows: 4}\ntwo/1_second: {}\n")
    assert ran(make(made)) == ["one/1_first"]
    assert (made / "figures/quick/one/table_1_first.csv").read_text().endswith("3\n")

    write_notebook(made, "two/1_second", more="rows + seed")
    assert ran(make(made)) == ["two/1_second"]

    notebook = made / "notebooks/two/1_second.ipynb"
    executed = nbformat.read(notebook, as_version=4)
    executed.cells[0].execution_count = 7  # outputs are no input
    nbformat.write(executed, notebook)
    source = made / "anonpaper" / "papers" / "results.py"
    source.write_text("# a comment\n" + source.read_text())
    assert ran(make(made)) == []

    source.write_text(source.read_text() + "\nANOTHER_NAME = 1\n")
    assert ran(make(made, "paper-two")) == ["two/1_second"]
    assert ran(make(made)) == ["one/1_first"]

    (made / "figures/quick/one/table_1_first.csv").unlink()
    assert ran(make(made)) == ["one/1_first"]


def test_an_edit_runs_the_readers_of_a_module_only(project):
    """Imported by the notebook, in a function, or in a worker of a grid; words run nothing."""
    write_notebook(project, "one/1_first", more="from anonpaper.partition import oka")
    helper = project / "notebooks" / "two" / "helper.py"
    write_notebook(project, "two/1_second", more=GRID)
    helper.write_text(WORKER)
    assert ran(make(project)) == BOTH

    for module, readers in {
        "partition/oka": ["one/1_first"],
        "partition/mondrian": ["two/1_second"],
        "partition/tp": [],
        "papers/xiao2010/claims": [],
        "papers/claims": [],
        "groups": BOTH,
    }.items():
        source = project / "anonpaper" / f"{module}.py"
        code = source.read_text()
        source.write_text(code + "\nANOTHER_NAME = 1\n")
        assert planned(make(project, "plan")) == readers, module
        source.write_text("# words\n" + code)
        assert planned(make(project, "plan")) == [], module
        source.write_text(code)
    helper.write_text(WORKER.replace("2 * value", "3 * value"))
    assert planned(make(project, "plan")) == ["two/1_second"]
    assert ran(make(project)) == ["two/1_second"]


def test_what_has_run_counts_in_a_fresh_clone(project, tmp_path):
    make(project, "PROFILE=paper")
    clone = tmp_path / "elsewhere"
    shutil.copytree(project, clone, copy_function=shutil.copy)  # with the time of now
    shutil.rmtree(clone / "figures" / "paper" / "notebooks")
    printed = make(clone, "figures", "PROFILE=paper")
    assert "2 notebooks up to date, nothing to be done" in printed
    source = clone / "anonpaper" / "microdata.py"
    source.write_text(source.read_text() + "ANOTHER_NAME = 1\n")
    lock = clone / "requirements.lock"
    lock.write_text(lock.read_text().replace("numpy==", "numpy==9."))
    for stamp in (".packages-installed", ".package-installed"):
        (clone / ".venv" / stamp).touch()
    printed = make(clone, "plan", "PROFILE=paper")
    assert "one/1_first: its versions changed, anonpaper/microdata.py changed" in printed


def test_run_times_are_measured_each_time(project):
    """Also where a grid would have them in the cache, of another profile for instance."""
    more = GRID + "results.table(found, 'found', caption='Found', timing=True);"
    write_notebook(project, "two/1_second", more=more)
    (project / "notebooks" / "two" / "helper.py").write_text(TIMED)
    make(project, "paper-two")
    first = (project / "figures/quick/two/found.csv").read_text()
    make(project, "paper-two", "PROFILE=paper")
    assert (project / "figures/paper/two/found.csv").read_text() != first


def test_one_figure_or_table_is_made_anew(made):
    printed = make(made, "figure", "NAME=one/table_1_first")
    assert ran(printed) == ["one/1_first"]
    assert "figures/quick/one/table_1_first.csv" in printed
    printed = make(made, "figure", "NAME=one/table_1", fails=True)
    assert "no such figure or table; there are one/table_1_first" in printed
    assert "no such claim; there are" in make(made, "report", "CLAIM=one/none", fails=True)
    printed = make(made, "report", "CLAIM=xiao2010/crossing", fails=True)
    assert "run `make figure PROFILE=quick NAME=xiao2010/" in printed


def test_notebooks_run_side_by_side(project):
    """Each waits for the other to have begun."""
    meet = """
from pathlib import Path
import time
here, met = Path("{here}"), Path("{there}")
here.touch()
for _ in range(1200):
    time.sleep(0 if met.exists() else 0.1)
assert met.exists()
"""
    here, there = project / "one_is_here", project / "two_is_here"
    write_notebook(project, "one/1_first", more=meet.format(here=here, there=there))
    write_notebook(project, "two/1_second", more=meet.format(here=there, there=here))
    assert ran(make(project, "figures", "JOBS=2")) == BOTH


def test_the_longest_notebook_runs_first(made):
    for name, seconds in zip(BOTH, (1, 1000), strict=True):
        share = made / "figures" / "quick" / "manifest" / f"{name}.json"
        share.write_text(json.dumps(json.loads(share.read_text()) | {"seconds": seconds}))
    write_profile(made, "one/1_first: {rows: 5}\ntwo/1_second: {rows: 5}\n")
    printed = make(made, "figures", "JOBS=1")
    order = [line.split()[0] for line in printed.splitlines() if " figures, " in line]
    assert order == BOTH[::-1]


def test_outputs_that_are_no_longer_made_disappear(made):
    write_notebook(made, "one/1_first", table="other")
    shutil.rmtree(made / "notebooks/two")
    assert ran(make(made)) == ["one/1_first"]
    files = [path.name for path in (made / "figures/quick").glob("*/*.csv")]
    assert files == ["other.csv"]
    manifest = json.loads((made / "figures/quick/manifest.json").read_text())
    assert sorted(manifest["outputs"]) == ["one/other.csv", "one/other.tex"]


def test_the_paper_profile_has_its_own_results_and_writes_the_readme(project):
    make(project, "JOBS=2", "PROFILE=paper")
    assert (project / "figures/paper/one/table_1_first.csv").read_text().endswith("29\n")
    assert not (project / "figures/quick").exists()
    readme = (project / "figures/README.md").read_text()
    assert "| Table table_1_first | [table_1_first](paper/one/table_1_first.csv) " in readme
    assert "`make paper-one`" in readme


def test_a_killed_run_leaves_nothing_half_written_and_the_next_resumes(project):
    write_notebook(project, "two/1_second", more="import time\ntime.sleep(60)")
    running = subprocess.Popen(
        ["make", "JOBS=1"],
        cwd=project,
        env=environment(project),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    results = project / "figures" / "quick"
    deadline = time.monotonic() + 180
    staged = results / ".staging/two/1_second/two/table_1_second.csv"
    while not staged.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert staged.exists()
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert (results / "one/table_1_first.csv").exists()
    assert not (results / "two").exists()
    assert not (results / "notebooks/two/1_second.ipynb").exists()
    assert not (results / "manifest.json").exists()

    write_notebook(project, "two/1_second")
    assert ran(make(project)) == ["two/1_second"]
    assert (results / "manifest.json").exists()
    assert not list((results / ".staging").rglob("*.*"))


def test_a_failing_notebook_fails_make_and_keeps_what_was_there(made):
    write_notebook(made, "two/1_second", more="seed / 0")
    printed = make(made, fails=True)
    assert "ZeroDivisionError" in printed
    assert "figures/quick/.failed/two/1_second.ipynb" in printed
    assert "failed: two/1_second; the causes are above" in printed
    assert (made / "figures/quick/two/table_1_second.csv").exists()
    write_notebook(made, "one/1_first", more="seed")
    assert ran(make(made, fails=True)) == ["one/1_first"]  # the others run nevertheless


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        (
            "one/1_first: {rwos: 3}\ntwo/1_second: {}",
            "sets rwos, but the notebook's parameters are rows, seed",
        ),
        ("one/first: {rows: 3}", "has sections of no notebook: one/first"),
    ],
)
def test_names_in_a_profile_are_checked(project, profile, message):
    write_profile(project, profile)
    assert message in make(project, fails=True)


def test_a_profile_says_something_of_every_notebook_of_its_folder(project):
    write_notebook(project, "one/2_more")
    printed = make(project, "PROFILE=paper", fails=True)
    assert "one/profiles/paper.yaml has no section of one/2_more; add `2_more: {}`" in printed
    (project / "notebooks/two/profiles/paper.yaml").unlink()
    write_profile(project, "one/1_first: {}\none/2_more: {}\n", "paper")
    printed = make(project, "PROFILE=paper", fails=True)
    assert "two/profiles/paper.yaml has no section of two/1_second" in printed


def test_an_unknown_profile_is_named(project):
    printed = make(project, "PROFILE=big", fails=True)
    assert "no profile 'big'; there are paper, quick" in printed


def test_two_notebooks_cannot_write_one_file(project):
    write_notebook(project, "one/2_again", table="table_1_first")
    write_profile(project, "one/1_first: {rows: 3}\none/2_again: {}\n")
    printed = make(project, fails=True)  # whichever comes second
    assert "writes one/table_1_first.csv, which one/1_first writes too" in printed or (
        "writes one/table_1_first.csv, which one/2_again writes too" in printed
    )


def test_results_must_name_their_notebook(project):
    wrong = project / "notebooks/two/1_second.ipynb"
    shutil.copy(project / "notebooks/one/1_first.ipynb", wrong)
    assert "this is one/1_first; give it the names" in make(project, fails=True)


def test_notebooks_are_executed_in_place_the_same_each_time(project):
    notebook = project / "notebooks/one/1_first.ipynb"
    make(project, "notebooks")
    first = notebook.read_bytes()
    executed = nbformat.reads(first.decode(), as_version=4)
    assert executed.cells[1].outputs[0].data["text/plain"].startswith("   row")
    assert [cell.id for cell in executed.cells] == ["parameters", "results", "more"]
    assert executed.cells[1].metadata == {}
    make(project, "refresh-one/1_first")
    assert notebook.read_bytes() == first


def test_help_has_a_line_for_each_target(project):
    printed = make(project, "help").splitlines()
    targets = {line.split()[0] for line in printed}
    assert targets >= {
        "help",
        "env",
        "data",
        "figures",
        "notebooks",
        "test",
        "test-fast",
        "lab",
        "bench",
        "lock",
        "clean",
        "figure",
        "report",
        "verify",
        "paper-<folder>",
        "refresh-<notebook>",
    }
    assert all(len(line.split()) > 2 for line in printed)
    assert "what changed of the notebooks in one of one two" in "\n".join(printed)
    assert "e.g. refresh-two/1_second" in "\n".join(printed)


def test_what_is_made_and_what_is_kept_are_cleaned_apart(tmp_path):
    made, kept = ("figures/quick/a.csv", "build/a.zip"), ("data/cache/grids/a", ".ruff_cache/a")
    placed, loop = "data/cache/package-index/a", "anonpaper/__pycache__/a.nbc"
    for name in (*made, *kept, placed, loop):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    for name in ("tests", "tools", "benchmarks", "notebooks"):
        (tmp_path / name).mkdir()
    shutil.copy(Path(__file__).parents[2] / "Makefile", tmp_path)
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True)
    there = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("a*") if p.is_file()}
    assert there == {*kept, placed, loop}
    subprocess.run(["make", "distclean"], cwd=tmp_path, check=True)
    assert [p for p in tmp_path.rglob("a*") if p.is_file()] == [tmp_path / placed]


@pytest.mark.parametrize("tool", ["conda", "mamba", "micromamba"])
def test_conda_is_used_where_it_is_on_the_path(project, tmp_path, tool):
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
