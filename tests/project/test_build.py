"""The Makefile on a small project: what runs, what does not, and what a killed run leaves."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).parents[2]
RESULTS = """
import pandas as pd
from anonpaper.papers.results import Results
results = Results("{paper}", notebook="{notebook}", parameters={{"rows": rows}})
results.table(pd.DataFrame({{"row": range(rows)}}), "{name}", caption="Rows", of="Table {name}")
"""


def write_notebook(root, name, *, table=None, more=""):
    """Write notebooks/<name>.ipynb: parameters rows and seed, and one table."""
    paper, notebook = name.split("/")
    body = RESULTS.format(paper=paper, notebook=notebook, name=table or f"table_{notebook}")
    cells = [
        new_code_cell("rows = 2\nseed = 0", metadata={"tags": ["parameters"]}, id="parameters"),
        new_code_cell(body.strip(), id="results"),
        new_code_cell(more, id="more"),
    ]
    path = root / "notebooks" / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)


def write_profile(root, text, profile="quick"):
    (root / "notebooks" / "profiles" / f"{profile}.yaml").write_text(text)


@pytest.fixture
def project(tmp_path):
    """A copy of the build with two notebooks, its environment that of the tests."""
    root = tmp_path / "project"
    root.mkdir()
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "environment.yml"):
        shutil.copy(ROOT / name, root)
    for folder in ("tools", "anonpaper"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "notebooks" / "profiles").mkdir(parents=True)
    write_notebook(root, "one/1_first")
    write_notebook(root, "two/1_second")
    write_profile(root, "one/1_first: {rows: 3}\n")
    write_profile(root, "one/1_first: {rows: 30}\n", "paper")
    python = root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (root / "data" / "cache").mkdir(parents=True)
    for stamp in (".venv/.packages-installed", ".venv/.package-installed", "data/cache/.fetched"):
        (root / stamp).touch()
    return root


def environment(root, **changes):
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ANONPAPER_", "MAKE", "MFLAGS"))
    }
    return kept | {"PYTHONPATH": str(root)} | changes


def make(root, *arguments, fails=False, **changes):
    """Run make in the project and return what it printed."""
    done = subprocess.run(
        ["make", *arguments],
        cwd=root,
        text=True,
        capture_output=True,
        env=environment(root, **changes),
        timeout=240,
    )
    assert (done.returncode != 0) is fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def ran(printed):
    """Return the notebooks that a run of make executed."""
    return sorted(line.split()[0] for line in printed.splitlines() if " figures, " in line)


BOTH = ["one/1_first", "two/1_second"]


def test_make_runs_every_notebook_once_and_lists_what_it_wrote(project):
    printed = make(project, "-j2")
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
        "from pathlib import Path\nassert [f.name for f in Path().iterdir()] == ['1_first.ipynb']"
    )
    write_notebook(project, "one/1_first", more=alone)
    assert ran(make(project)) == BOTH


def test_only_what_depends_on_a_change_runs_again(project):
    make(project, "-j2")

    write_profile(project, "one/1_first: {rows: 4}\n")
    assert ran(make(project)) == ["one/1_first"]
    assert (project / "figures/quick/one/table_1_first.csv").read_text().endswith("3\n")

    write_notebook(project, "two/1_second", more="rows + seed")
    assert ran(make(project)) == ["two/1_second"]

    notebook = project / "notebooks/two/1_second.ipynb"
    executed = nbformat.read(notebook, as_version=4)
    executed.cells[0].execution_count = 7  # outputs are no input
    nbformat.write(executed, notebook)
    source = project / "anonpaper" / "papers" / "results.py"
    source.write_text("# a comment\n" + source.read_text())
    assert ran(make(project)) == []

    source.write_text(source.read_text() + "\nANOTHER_NAME = 1\n")
    assert ran(make(project, "paper-two")) == ["two/1_second"]
    assert ran(make(project)) == ["one/1_first"]

    (project / "figures/quick/one/table_1_first.csv").unlink()
    assert ran(make(project)) == ["one/1_first"]


def test_outputs_that_are_no_longer_made_disappear(project):
    make(project, "-j2")
    write_notebook(project, "one/1_first", table="other")
    (project / "notebooks/two/1_second.ipynb").unlink()
    assert ran(make(project)) == ["one/1_first"]
    files = [path.name for path in (project / "figures/quick").glob("*/*.csv")]
    assert files == ["other.csv"]
    manifest = json.loads((project / "figures/quick/manifest.json").read_text())
    assert sorted(manifest["outputs"]) == ["one/other.csv", "one/other.tex"]


def test_the_paper_profile_has_its_own_results_and_writes_the_readme(project):
    make(project, "-j2", "PROFILE=paper")
    assert (project / "figures/paper/one/table_1_first.csv").read_text().endswith("29\n")
    assert not (project / "figures/quick").exists()
    readme = (project / "figures/README.md").read_text()
    assert "| Table table_1_first | [table_1_first](paper/one/table_1_first.tex) " in readme
    assert "`make paper-one`" in readme


def test_a_killed_run_leaves_nothing_half_written_and_the_next_resumes(project):
    write_notebook(project, "two/1_second", more="import time\ntime.sleep(60)")
    running = subprocess.Popen(
        ["make"],
        cwd=project,
        env=environment(project),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    results = project / "figures" / "quick"
    deadline = time.monotonic() + 60
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


def test_a_failing_notebook_stops_make_and_keeps_what_was_there(project):
    make(project, "-j2")
    write_notebook(project, "two/1_second", more="seed / 0")
    printed = make(project, fails=True)
    assert "ZeroDivisionError" in printed
    assert "figures/quick/.failed/two/1_second.ipynb" in printed
    assert (project / "figures/quick/two/table_1_second.csv").exists()
    make(project, fails=True)


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ("one/1_first: {rwos: 3}", "sets rwos, but the notebook's parameters are rows, seed"),
        ("one/first: {rows: 3}", "has sections of no notebook: one/first"),
    ],
)
def test_names_in_a_profile_are_checked(project, profile, message):
    write_profile(project, profile)
    assert message in make(project, fails=True)


def test_an_unknown_profile_is_named(project):
    printed = make(project, "PROFILE=big", fails=True)
    assert "no profile 'big'; there are paper, quick" in printed


def test_two_notebooks_cannot_write_one_file(project):
    write_notebook(project, "one/2_again", table="table_1_first")
    assert "writes one/table_1_first.csv, which 1_first writes too" in make(project, fails=True)


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
        "paper-one",
        "paper-two",
    }
    assert all(len(line.split()) > 2 for line in printed)


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
