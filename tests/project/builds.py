"""A small project with the real build in it, and make run in it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).parents[2]
RESULTS = """
import pandas as pd
from anonpaper.compendium.results import Results
results = Results("{paper}", notebook="{notebook}", parameters={{"rows": rows}})
"""
TABLE = """
results.table(pd.DataFrame({{"row": range(rows)}}), "{name}", caption="Rows", of="Table {name}")
"""


def write_notebook(root, name, *, table=None, saves=None, more=""):
    """Write notebooks/<name>.ipynb: parameters rows and seed, and one table unless it saves."""
    paper, notebook = name.split("/")
    given = {"paper": paper, "notebook": notebook, "name": table or f"table_{notebook}"}
    body = RESULTS.format(**given).strip() + (
        TABLE.format(**given).rstrip() if saves is None else f"\n{saves}"
    )
    cells = [
        new_code_cell("rows = 2\nseed = 0", metadata={"tags": ["parameters"]}, id="parameters"),
        new_code_cell(body, id="results"),
        new_code_cell(more, id="more"),
    ]
    path = root / "notebooks" / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)


def write_profile(root, text, profile="quick"):
    """Write notebooks/<folder>/profiles/<profile>.yaml for each folder that the text names."""
    folders = {}
    for name, values in yaml.safe_load(text).items():
        folder, notebook = name.split("/")
        folders.setdefault(folder, {})[notebook] = values
    for folder, sections in folders.items():
        path = root / "notebooks" / folder / "profiles" / f"{profile}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(sections))


def small_project(root):
    """Make a copy of the build with two notebooks, its environment that of the tests."""
    root.mkdir()
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "environment.yml"):
        shutil.copy(ROOT / name, root)
    for folder in ("tools", "anonpaper"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("*.nb[ic]"))
    write_notebook(root, "one/1_first")
    write_notebook(root, "two/1_second")
    write_profile(root, "one/1_first: {rows: 3}\ntwo/1_second: {}\n")
    write_profile(root, "one/1_first: {rows: 30}\ntwo/1_second: {}\n", "paper")
    python = root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    # nothing is installed or compiled from here: the environment is the tests' own
    python.write_text(
        '#!/bin/sh\n[ "$2" = pip ] || [ "$1" = tools/warm.py ] && exit 0\n'
        f'exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    (root / "data" / "cache").mkdir(parents=True)
    for stamp in (".venv/.packages-installed", ".venv/.package-installed", "data/cache/.fetched"):
        (root / stamp).touch()
    return root


def environment(root, **changes):
    """Return the variables that make runs with, those of the tests' own make left out."""
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
