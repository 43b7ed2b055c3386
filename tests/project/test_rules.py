"""Rules of the house: imports, style, types, help, versions, and what no text may say."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
import yaml
from packaging.utils import canonicalize_name
from project import public_face
from project.helpers import ROOT, files_of_the_project

import anonpaper as ap

TEXTS = set(".cff .cfg .ipynb .json .lock .md .mplstyle .py .sh .toml .yaml .yml".split())
PYTHON = [sys.executable, "-m"]
COMMANDS = {
    "imports point one way": [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
    "style": [*PYTHON, "ruff", "check", "--no-cache", "."],
    "format": [*PYTHON, "ruff", "format", "--check", "--no-cache", "."],
    "types of right calls and no wrong one": [*PYTHON, "mypy", "--no-incremental"],
}


@pytest.mark.parametrize("rule", COMMANDS)
def test_linters_find_nothing(rule):
    done = subprocess.run(COMMANDS[rule], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_program_that_mypy_accepts_runs():
    public_face.right(ap.examples.hospital())


#: What takes long to import; who asks for help or reads a table waits for none of them.
HEAVY = ["ctgan", "duckdb", "ibis", "joblib", "matplotlib", "scipy.stats", "sdv"]
HEAVY += ["sklearn", "torch", "pymoo", "numba"]


@pytest.mark.parametrize("arguments", [
    ["--help"],
    ["audit", "people.csv", "--qi", "age", "--sensitive", "ill"],
    "anonymize people.csv --qi=age --sensitive=ill --method=mondrian --k=2".split(),
], ids=lambda given: given[0])  # fmt: skip
def test_nothing_heavy_is_imported_without_need(arguments, tmp_path):
    (tmp_path / "people.csv").write_text("age,ill\n34,a\n34,b\n41,a\n52,c\n")
    lines = f"""
import io, sys, anonpaper
assert not {{"numpy", "pandas"}} & {{*sys.modules}}
from anonpaper.owner.cli import main
sys.stdout = io.TextIOWrapper(io.BytesIO())
try:
    code = main({arguments})
except SystemExit as end:
    code = end.code
assert not code, code  # what is refused loads nothing
print([name for name in {HEAVY} if name in sys.modules], file=sys.__stdout__)
"""
    done = subprocess.run(
        [sys.executable, "-c", lines], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert ast.literal_eval(done.stdout) == []


def test_no_path_of_one_machine_and_no_package_index_is_named():
    # each is split here, so that this file does not name it either
    hosts = [r"py" r"pi\.org", r"files\.python" r"hosted", r"anaconda\.(org|com)"]
    places = [r"/wor" r"k/", r"/home/\w", r"/Users/\w", r"/roo" r"t/"]
    forbidden = re.compile("|".join([*places, *hosts, r"download\.py" r"torch\.org"]))
    texts = [ROOT / name for name in files_of_the_project()
             if Path(name).suffix in TEXTS or Path(name).name in ("Makefile", "run")]  # fmt: skip
    assert len(texts) > 20
    found = [(path.relative_to(ROOT).as_posix(), match[0]) for path in texts
             if (match := forbidden.search(path.read_text()))]  # fmt: skip
    assert found == []


# ---- what `help` says -------------------------------------------------------------------------

FUNCTIONS = [name for name in ap.__all__ if inspect.isfunction(getattr(ap, name))]
SECTIONS = ["Parameters", "Returns", "References", "Examples"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_says_all_that_a_user_needs(name):
    function = getattr(ap, name)
    documented = inspect.getdoc(function)
    assert ">>> " in documented
    assert set(inspect.signature(function).parameters) <= set(re.findall(r"\w+", documented))
    if hasattr(function, "algorithm"):
        assert documented.startswith("Guarantee")
        said = re.findall(r"^(\w+)\n-+$", documented, flags=re.M)
        assert [section for section in SECTIONS if section not in said] == []


# ---- versions ---------------------------------------------------------------------------------

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_this_environment_is_the_locked_one():
    locked = re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "requirements.lock").read_text(), re.M)
    installed = {canonicalize_name(one.name): one.version.partition("+")[0]
                 for one in [*distributions()][::-1]}  # the first on the path counts  # fmt: skip
    assert {n: pin for n, pin in locked if installed.get(canonicalize_name(n)) != pin} == {}


def test_one_version_is_said_everywhere():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    assert PROJECT["tool"]["setuptools_scm"]["fallback_version"] == cited
