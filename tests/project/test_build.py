"""The build on a small project: what runs, what does not, and what a killed run leaves.

Most tests call the programs in this process, with cells executed in it. Those that call `make`
run real kernels.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell
from project.builds import (
    Build,
    environment,
    make,
    ran,
    small_project,
    write_notebook,
    write_profile,
)

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


def planned(printed):
    """Return the notebooks that `make plan` says have changed."""
    return [line.split(":")[0].strip() for line in printed.splitlines() if " changed" in line]


def quick(build, path):
    return build.root / "figures" / "quick" / path


# ---- with kernels -----------------------------------------------------------------------------


def test_make_runs_what_changed_side_by_side_and_clean_takes_no_run_away(project):
    """A run depends on the modules that it opened, also in workers of grids.

    Each notebook waits for the other to have begun, and no file of a kernel lies beside it.
    """
    here, there = project / "one_is_here", project / "two_is_here"
    oka = "from anonpaper.partition import oka"
    write_notebook(project, "one/1_first", more=MEET.format(here=here, there=there) + oka)
    write_notebook(project, "two/1_second", more=MEET.format(here=there, there=here) + GRID)
    helper = project / "notebooks" / "two" / "helper.py"
    helper.write_text(WORKER)
    printed = make(project, "JOBS=2")
    assert ran(printed) == BOTH
    assert "0 figures, 2 tables" in printed
    results = project / "figures" / "quick"
    assert (results / "one/table_1_first.csv").read_text() == "row\n0\n1\n2\n"
    first, second = (json.loads((results / f"manifest/{n}.json").read_text()) for n in BOTH)
    assert sorted(first["outputs"]) == ["one/table_1_first.csv", "one/table_1_first.tex"]
    assert {"two/found.csv", "two/table_1_second.csv"} < {*second["outputs"]}
    assert first["parameters"] == {"rows": 3}
    assert first["notebook"] == "notebooks/one/1_first.ipynb"
    executed = nbformat.read(results / "notebooks/one/1_first.ipynb", as_version=4)
    assert set(executed.metadata) == {"kernelspec", "language_info"}
    assert second["functions"] == ["notebooks/two/helper.py:twice"]

    for module, readers in {
        "partition/oka": [BOTH[0]],
        "partition/mondrian": [BOTH[1]],
        "partition/tp": [],
        "compendium/judge": [],
        "groups": BOTH,
    }.items():
        shares = [json.loads((results / f"manifest/{name}.json").read_text()) for name in BOTH]
        noted = [name for name, share in zip(BOTH, shares, strict=True)
                 if f"anonpaper/{module}.py" in share["inputs"]["files"]]  # fmt: skip
        assert noted == readers, module
    helper.write_text(WORKER.replace("2 * value", "3 * value"))
    assert planned(make(project, "plan")) == ["two/1_second"]
    helper.write_text("# words\n" + WORKER)

    make(project, "clean")
    printed = make(project, "JOBS=2")
    assert ran(printed) == []
    assert "2 taken from the cache" in printed
    assert (results / "one/table_1_first.csv").read_text() == "row\n0\n1\n2\n"
    assert "--jobs 2 --fresh" in make(project, "-n", "FRESH=yes", "JOBS=2")


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
    assert "2 notebooks up to date, nothing to be done" in made("notebooks", "make")
    write_profile(made.root, "one/1_first: {rows: 4}\ntwo/1_second: {}\n")
    assert ran(made("notebooks", "make")) == ["one/1_first"]
    assert quick(made, "one/table_1_first.csv").read_text().endswith("3\n")

    write_notebook(made.root, "two/1_second", more="rows + seed")
    assert ran(made("notebooks", "make")) == ["two/1_second"]

    notebook = made.root / "notebooks/two/1_second.ipynb"
    executed = nbformat.read(notebook, as_version=4)
    executed.cells[0].execution_count = 7  # outputs are no input
    nbformat.write(executed, notebook)
    source = made.root / "anonpaper" / "groups.py"
    source.write_text("# a comment\n" + source.read_text())
    (made.root / "notebooks/one/claims.toml").write_text("")
    (made.root / "notebooks/one/checks.py").write_text("CHECKED = 1")
    assert ran(made("notebooks", "make")) == []

    source.write_text(source.read_text() + "\nANOTHER_NAME = 1\n")
    assert ran(made("notebooks", "make", "two")) == ["two/1_second"]
    assert ran(made("notebooks", "make")) == ["one/1_first"]


def test_texts_run_nothing(made):
    place = made.root / "notebooks/one/1_first.ipynb"
    notebook = nbformat.read(place, as_version=4)
    notebook.cells.insert(1, new_markdown_cell("What is shown", id="shown"))
    nbformat.write(notebook, place)
    assert ran(made("notebooks", "make")) == []


def test_a_kept_run_is_used_while_it_is_whole_and_its_inputs_are_the_same(made):
    kept = made.root / "data/cache/runs/quick/one"
    shutil.rmtree(made.root / "figures")
    printed = made("notebooks", "make")
    assert ran(printed) == []
    assert "2 taken from the cache" in printed
    assert {path.name for path in kept.iterdir()} == {"table_1_first.csv", "table_1_first.tex"}
    for path in kept.iterdir():
        assert quick(made, f"one/{path.name}").read_bytes() == path.read_bytes()

    quick(made, "one/table_1_first.csv").unlink()
    assert ran(made("notebooks", "make")) == []
    (kept / "table_1_first.csv").write_text("row\n7\n")
    quick(made, "one/table_1_first.csv").unlink()
    assert ran(made("notebooks", "make")) == ["one/1_first"]

    shutil.rmtree(made.root / "figures")
    write_notebook(made.root, "two/1_second", more="rows")
    assert ran(made("notebooks", "make")) == ["two/1_second"]
    shutil.rmtree(made.root / "notebooks/two")
    made("notebooks", "make")
    assert not [*(made.root / "data/cache/runs").rglob("*1_second*")]
    assert ran(made("notebooks", "make", "--fresh")) == ["one/1_first"]
    assert ran(made("notebooks", "make", "--fresh")) == []


def test_what_has_run_counts_in_a_fresh_clone(build, tmp_path):
    build("notebooks", "make", "--profile=paper")
    clone = tmp_path / "elsewhere"
    shutil.copytree(build.root, clone, copy_function=shutil.copy)  # with the time of now
    shutil.rmtree(clone / "figures" / "paper" / "notebooks")
    shutil.rmtree(clone / "data" / "cache" / "runs")
    printed = Build(clone)("notebooks", "make", "--profile=paper")
    assert "2 notebooks up to date, nothing to be done" in printed
    source = clone / "anonpaper" / "groups.py"
    source.write_text(source.read_text() + "ANOTHER_NAME = 1\n")
    lock = clone / "requirements.lock"
    lock.write_text(lock.read_text().replace("numpy==", "numpy==9."))
    printed = Build(clone)("notebooks", "plan", "--profile=paper")
    assert "one/1_first: its versions changed, anonpaper/groups.py changed" in printed


def test_larger_sizes_leave_out_notebooks_that_save_no_results(made):
    path = made.root / "notebooks" / f"{BOTH[1]}.ipynb"
    lesson = nbformat.read(path, as_version=4)
    lesson.cells[1].source = "rows"
    nbformat.write(lesson, path)
    assert ran(made("notebooks", "make", "--profile=paper")) == [BOTH[0]]
    assert ran(made("notebooks", "make")) == [BOTH[1]]
    assert ran(made("notebooks", "make", BOTH[1], "--profile=paper")) == []


def test_other_code_with_the_same_quick_tables_runs_nothing_at_larger_sizes(build):
    """Run times are not among what has to be the same."""
    write_profile(build.root, "one/1_first: {}\ntwo/1_second: {}\n")
    timed = "results.table(pd.DataFrame({'seconds': [time.time()]}), 't', caption='', timing=True)"
    write_notebook(build.root, BOTH[0], more=f"import time\n{timed};")
    build("notebooks", "refresh")
    build("notebooks", "make", "--profile=paper")
    source, larger = build.root / "anonpaper/groups.py", "--profile=paper"
    source.write_text(source.read_text() + "\nUNUSED = 1\n")
    printed = build("notebooks", "plan", larger)
    assert "figures/paper: 2 notebooks up to date" in printed
    assert "2 of other code are judged by figures/expected/quick" in printed
    printed = build("notebooks", "make", larger)
    assert "figures/quick: 2 of 2 notebooks to run" in printed and ran(printed) == BOTH
    assert printed.split("figures/paper: ")[1] == "2 notebooks up to date, nothing to be done\n"

    write_notebook(build.root, BOTH[1], saves=(
        "results.table(pd.DataFrame({'row': [rows, 1.5]}), 'table_1_second', caption='Rows')"
    ))  # fmt: skip
    printed = build("notebooks", "make", larger)
    assert ran(printed) == [BOTH[1], BOTH[1]]  # quick, and then larger
    assert "two/1_second: its cells changed" in printed
    assert ran(build("notebooks", "make", larger)) == []

    for change in (
        lambda: write_profile(build.root, f"{BOTH[0]}: {{rows: 31}}\n{BOTH[1]}: {{}}", "paper"),
        lambda: (build.root / "notebooks/one/read.csv").write_text("b"),
    ):
        change()
        assert ran(build("notebooks", "make", larger)) == [BOTH[0]]
        build.opened[BOTH[0]] = ["notebooks/one/read.csv"]
        (build.root / "notebooks/one/read.csv").write_text("a")
        shutil.rmtree(build.root / "figures/paper")
        build("notebooks", "make", larger, "--fresh")


def test_one_figure_or_table_is_made_again(made):
    printed = made("notebooks", "figure", "one/table_1_first")
    assert ran(printed) == ["one/1_first"]
    assert "figures/quick/one/table_1_first.csv" in printed
    assert "one/small: reproduced (quick profile)" in printed
    assert "one/small: reproduced" in made("notebooks", "claim", "one/small")
    printed = made("notebooks", "figure", "one/table_1", fails=True)
    assert "no such figure or table; there are one/table_1_first" in printed
    assert "no such claim; there are one/small" in made("notebooks", "claim", "one/no", fails=True)
    quick(made, "one/table_1_first.csv").unlink()
    printed = made("notebooks", "claim", "one/small", fails=True)
    assert "run `make figure PROFILE=quick NAME=one/table_1_first` first" in printed


def test_the_longest_notebook_runs_first(made):
    for name, seconds in zip(BOTH, (1, 1000), strict=True):
        share = quick(made, f"manifest/{name}.json")
        share.write_text(json.dumps(json.loads(share.read_text()) | {"seconds": seconds}))
    write_profile(made.root, "one/1_first: {rows: 5}\ntwo/1_second: {rows: 5}\n")
    printed = made("notebooks", "make")
    order = [line.split()[0] for line in printed.splitlines() if " figures, " in line]
    assert order == BOTH[::-1]


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
def test_names_in_a_profile_are_checked(build, profile, message):
    write_profile(build.root, profile)
    assert message in build("notebooks", "make", fails=True)


def test_a_profile_says_something_of_every_notebook_of_its_folder(build):
    write_notebook(build.root, "one/2_more")
    printed = build("notebooks", "make", "--profile=paper", fails=True)
    assert "one/profiles/paper.yaml has no section of one/2_more; add `2_more: {}`" in printed
    (build.root / "notebooks/two/profiles/paper.yaml").unlink()
    write_profile(build.root, "one/1_first: {}\none/2_more: {}\n", "paper")
    printed = build("notebooks", "make", "--profile=paper", fails=True)
    assert "two/profiles/paper.yaml has no section of two/1_second" in printed


def test_unknown_profiles_and_names_are_named(build):
    printed = build("notebooks", "make", "--profile=big", fails=True)
    assert "no profile 'big'; there are paper, quick" in printed
    assert "no such notebook or folder: three" in build("notebooks", "plan", "three", fails=True)


def test_two_notebooks_cannot_write_one_file(build):
    write_notebook(build.root, "one/2_again", table="table_1_first")
    write_profile(build.root, "one/1_first: {rows: 3}\none/2_again: {}\n")
    printed = build("notebooks", "make", fails=True)
    assert "writes one/table_1_first.csv, which one/1_first writes too" in printed


def test_results_must_name_their_notebook(build):
    wrong = build.root / "notebooks/two/1_second.ipynb"
    shutil.copy(build.root / "notebooks/one/1_first.ipynb", wrong)
    assert "this is one/1_first; give it the names" in build("notebooks", "make", fails=True)


# ---- the Makefile -----------------------------------------------------------------------------


def test_help_has_a_line_for_each_target(project):
    printed = make(project, "help").splitlines()
    targets = {line.split()[0] for line in printed}
    assert targets >= set(
        "help env data figures notebooks test test-fast lab bench lock clean figure "
        "report verify paper-<folder> refresh-<notebook>".split()
    )
    assert all(len(line.split()) > 2 for line in printed)
    assert "what changed of the notebooks in one of one two" in "\n".join(printed)
    assert "e.g. refresh-two/1_second" in "\n".join(printed)


def test_what_is_made_and_what_is_kept_are_cleaned_apart(tmp_path):
    made = ("figures/quick/a.csv", "build/a.zip")
    kept = ("data/cache/grids/a", "data/cache/runs/a", ".ruff_cache/a")
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


def test_a_light_environment_takes_part_of_the_lock_and_is_completed(tmp_path):
    project = small_project(tmp_path / "project", package="__init__.py")
    (project / "binder").mkdir()
    shutil.copy(ROOT / "binder" / "requirements.txt", project / "binder")
    planned = partial(make, project, "-n", "CONDA=", "env")
    assert "awk" not in planned("LIGHT=1")  # the whole one is there
    (project / ".venv/.packages-installed").unlink()
    light = planned("LIGHT=1")
    assert "torch" not in light
    part = re.search(r"<\((awk .*)\)", light)[1]
    done = subprocess.run(part, shell=True, cwd=project, capture_output=True, text=True)
    pins = [line.split()[0] for line in done.stdout.splitlines() if "==" in line]
    assert pins == (project / "binder" / "requirements.txt").read_text().split()
    assert done.stdout.count("--hash=") >= len(pins)
    (project / ".venv/.light-installed").touch()
    assert "awk" not in planned("LIGHT=1")
    assert "--requirement requirements.lock" in planned()


def test_light_leaves_out_what_needs_more_and_says_so(project):
    write_notebook(project, "majeed2024/1_first")
    printed = make(project, "-n", "LIGHT=1", "figures")
    assert "leaves out notebooks that need SDV: majeed2024/1_first" in printed
    assert "tools/notebooks.py make one/1_first two/1_second --profile" in printed
    assert "run this target without it" in make(project, "LIGHT=1", "test", fails=True)


def test_notebooks_that_call_sdv_or_an_engine_are_among_those_that_light_leaves_out():
    calls = re.compile(r"\b(ap\.scan|synthesize)\(")
    needy = {path for path in (ROOT / "notebooks").rglob("*") if path.suffix in (".ipynb", ".py")
             and calls.search(path.read_text())}  # fmt: skip
    places = {path.relative_to(ROOT / "notebooks").as_posix() for path in needy}
    assert places
    assert all(place.startswith("majeed2024/") for place in places)
