"""Rules of the house: imports point one way, style, and what the repository may not say."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from project.tools import ROOT, files_of_the_project

TEXTS = set(".cff .cfg .ipynb .json .lock .md .mplstyle .py .sh .toml .yaml .yml".split())
RUFF = [sys.executable, "-m", "ruff"]
COMMANDS = {
    "imports point one way": [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
    "style": [*RUFF, "check", "--no-cache", "."],
    "format": [*RUFF, "format", "--check", "--no-cache", "."],
}


@pytest.mark.parametrize("rule", COMMANDS)
def test_linters_find_nothing(rule):
    done = subprocess.run(COMMANDS[rule], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


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
