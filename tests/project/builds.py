"""A small project with the real build in it: make run in it, or its programs in this process."""

import contextlib
import importlib
import io
import os
import shutil
import subprocess
import sys
import traceback
from pathlib import Path
from unittest import mock

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


PAPER = """
title = "One"
authors = ["One, Someone"]
year = 2000
venue = "2000"
question = "is it small?"
[sizes]
quick = "small"
paper = "larger"
"""
CLAIM = """
[one.{id}]
notebook = "1_first"
where = "Table 1"
claim = "it is small"
table = "{table}"
says = "all: {column} < {limit}"
"""
PROGRAMS = ("inputs", "kernels", "notebooks", "report", "results", "verify")


def write_claims(root, *claims):
    """Write claims of the paper `one`, each given by id, table, column and limit."""
    keys = ("id", "table", "column", "limit")
    text = "".join(CLAIM.format(**dict(zip(keys, claim, strict=True))) for claim in claims)
    (root / "notebooks/one/claims.toml").write_text(text)


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


def small_project(root, package="**/*"):
    """Make a copy of the build with two notebooks, its environment that of the tests.

    Programs in this process import the tests' own package: a part of the copy is enough for them.
    """
    root.mkdir()
    for name in ("Makefile", "pyproject.toml", "setup.py", "requirements.lock", "environment.yml"):
        shutil.copy(ROOT / name, root)
    for path in [*ROOT.glob("tools/**/*"), *ROOT.glob(f"anonpaper/{package}")]:
        if path.is_file() and "__pycache__" not in path.parts:
            (root / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, root / path.relative_to(ROOT))
    write_notebook(root, "one/1_first")
    write_notebook(root, "two/1_second")
    (root / "notebooks/one/paper.toml").write_text(PAPER)
    write_claims(root, ("small", "table_1_first", "row", 100))
    write_profile(root, "one/1_first: {rows: 3}\ntwo/1_second: {}\n")
    write_profile(root, "one/1_first: {rows: 30}\ntwo/1_second: {}\n", "paper")
    python = root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    # nothing is installed from here: the environment is the tests' own
    python.write_text(f'#!/bin/sh\n[ "$2" = pip ] && exit 0\nexec "{sys.executable}" "$@"\n')
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
    )
    assert (done.returncode != 0) is fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def ran(printed):
    """Return the notebooks that a run of make executed."""
    return sorted(line.split()[0] for line in printed.splitlines() if " figures, " in line)


class Build:
    """The programs of a small project, called in this process; no kernel is started."""

    def __init__(self, root):
        self.root = root

    def __call__(self, program, *arguments, fails=False):
        """Call a program of tools/ as `make` does and return what it printed."""
        printed = io.StringIO()
        out, error = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed)
        with self.programs(), out, error:
            importlib.import_module("notebooks").run_kernel = self.run_kernel
            module = importlib.import_module(program)
            found = getattr(module, "main", lambda _: module.write_readme())(list(arguments))
        assert bool(found) is fails, printed.getvalue()
        return printed.getvalue()

    @contextlib.contextmanager
    def programs(self):
        """Have the project's own programs imported, and its folder as the working directory."""
        before = {name: sys.modules.pop(name, None) for name in PROGRAMS}
        sys.path.insert(0, str(self.root / "tools"))
        kept = {k: v for k, v in os.environ.items() if not k.startswith("ANONPAPER_")}
        try:
            with contextlib.chdir(self.root), mock.patch.dict(os.environ, kept, clear=True):
                yield
        finally:
            sys.path.remove(str(self.root / "tools"))
            for name, module in before.items():
                sys.modules.pop(name, None)
                sys.modules.update({name: module} if module else {})

    def run_kernel(self, source, target, parameters, environment):
        """Execute a notebook's cells as papermill would."""
        notebook, scope, wrong = nbformat.read(source, 4), {}, ""
        if parameters:
            text = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
            injected = new_code_cell(text, metadata={"tags": ["injected-parameters"]})
            notebook.cells.insert(1, injected)
        with mock.patch.dict(os.environ, environment):
            try:
                for cell in notebook.cells:
                    exec(cell.source if cell.cell_type == "code" else "", scope)
            except Exception:
                wrong = traceback.format_exc()
        nbformat.write(notebook, target)
        return wrong
