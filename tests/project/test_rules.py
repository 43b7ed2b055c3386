"""Rules of the house: imports point one way, style, and what the repository may not say."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = {
    ".cff",
    ".cfg",
    ".ipynb",
    ".json",
    ".lock",
    ".md",
    ".mplstyle",
    ".py",
    ".sh",
    ".toml",
    ".yaml",
    ".yml",
}


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return [ROOT / name for name in listed if (ROOT / name).is_file()]


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_imports_point_one_way():
    linter = Path(sys.executable).with_name("lint-imports")
    done = run(linter, "--no-cache")
    assert done.returncode == 0, done.stdout
    assert re.search(r"Contracts: \d+ kept, 0 broken", done.stdout)


def test_style():
    done = run(sys.executable, "-m", "ruff", "check", "--no-cache", ".")
    assert done.returncode == 0, done.stdout


#: What takes long to import, from what no command line needs to what nearly all do.
HEAVY = ["ctgan", "distributed", "duckdb", "ibis", "joblib", "matplotlib", "scipy.stats", "sdv"]
HEAVY += ["sklearn", "torch", "networkx", "pymoo", "numba", "pandas", "scipy"]
FOR_GRAPHS, FOR_TABLES = {"networkx"}, {"pandas", "scipy"}


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (None, set()),
        (["--help"], set()),
        (["audit", "--help"], set()),
        (["datasets"], FOR_TABLES),
        (["audit", "people.csv", "--qi", "age", "--sensitive", "ill"], FOR_TABLES),
        (["anonymize", "--help"], FOR_TABLES | FOR_GRAPHS),
        (
            [
                "anonymize",
                "people.csv",
                "--qi=age",
                "--sensitive=ill",
                "--method=mondrian",
                "--k=2",
            ],
            FOR_TABLES | FOR_GRAPHS,
        ),
    ],
    ids=lambda given: " ".join(given or ["import"]) if not isinstance(given, set) else "",
)
def test_nothing_heavy_is_imported_without_need(arguments, needed, tmp_path):
    (tmp_path / "people.csv").write_text("age,ill\n34,a\n34,b\n41,a\n52,c\n")
    lines = ["import io, sys, anonpaper"]
    if arguments is not None:
        lines += [
            "from anonpaper.owner.cli import main",
            "sys.stdout = io.TextIOWrapper(io.BytesIO())",
        ]
        lines += [f"try: code = main({arguments})", "except SystemExit as end: code = end.code"]
        lines += ["assert not code, code"]  # what is refused loads nothing
    lines += [f"print([name for name in {HEAVY} if name in sys.modules], file=sys.__stdout__)"]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert set(ast.literal_eval(done.stdout)) <= needed


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the rule is about tracked files")
def test_no_path_of_one_machine_and_no_package_index_is_named():
    # each is split here, so that this file does not name it either
    forbidden = re.compile(
        "|".join(
            [
                r"/wor" r"k/",
                r"/home/\w",
                r"/Users/\w",
                r"/roo" r"t/",
                r"py" r"pi\.org",
                r"files\.python" r"hosted",
                r"anaconda\.(org|com)",
                r"download\.py" r"torch\.org",
            ]
        )
    )
    texts = [
        path
        for path in tracked_files()
        if path.suffix in TEXTS or path.name in ("Makefile", "run")
    ]
    assert len(texts) > 20
    found = [
        (path.relative_to(ROOT).as_posix(), match[0])
        for path in texts
        if (match := forbidden.search(path.read_text()))
    ]
    assert found == []
