"""Tests run again when what they read has changed, and executed notebooks are not run again."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from project.builds import Build, small_project, write_profile
from project.tools import load_tool

ROOT = Path(__file__).parents[2]
FILES = {
    "tests/test_reads.py": """
from pathlib import Path
import helper
def test_file():
    assert Path("data/a.txt").read_text() in ("a", "b") and helper.VALUE
""",
    "tests/test_starts.py": """
import subprocess
def test_program():
    assert subprocess.run(["cat", "data/a.txt"]).returncode == 0
""",
    "tests/test_child.py": """
import subprocess, sys
def test_program():
    code = "import sys; sys.exit(open('data/b.txt').read()[0] != 'b')"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
""",
    "tests/test_copy.py": """
import subprocess
def test_program(tmp_path):
    (tmp_path / "Makefile").write_text("all:\\n\\t@true\\n")
    assert subprocess.run(["make"], cwd=tmp_path).returncode == 0
""",
    "tests/test_writes.py": "def test_nothing(tmp_path):\n    assert tmp_path.exists()\n",
    "tests/helper.py": "VALUE = 1\n",
    "data/a.txt": "a",
    "data/b.txt": "b",
    "data/c.txt": "c",
    "requirements.lock": "",
}
WRITES = "tests/test_writes.py"
ALL = ["child", "copy", "reads", "starts", "writes"]
START = """
import check, sys
check.LIBRARIES, check.entry_points = "", lambda group: []
sys.exit(check.main(sys.argv[1:]))
"""
BARE = {"PYTHONPATH": "tools", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@pytest.fixture
def checked(tmp_path):
    """Run the tests of a small project; return which ran, and what was printed."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for name in ("tools/check.py", "tools/opened/sitecustomize.py", "tests/project/tools.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".gitignore").write_text("data/cache/\n__pycache__/\n")

    def run(*options, fails=False):
        kept = {key: v for key, v in os.environ.items() if not key.startswith("ANONPAPER_")}
        done = subprocess.run(
            [sys.executable, "-c", START, "--workers=2", *options],
            cwd=tmp_path,
            env=kept | BARE,
            capture_output=True,
            text=True,
        )
        assert (done.returncode != 0) is fails, done.stdout + done.stderr
        ran = [line.split()[0] for line in done.stdout.splitlines() if " passed  " in line]
        return sorted(Path(name).stem.removeprefix("test_") for name in ran), done.stdout

    return run


def test_only_tests_whose_files_have_changed_run_again(checked, tmp_path):
    assert checked()[0] == ALL
    os.utime(tmp_path / "data/a.txt")
    ran, printed = checked()
    assert ran == []
    assert "passed and nothing that they open has changed: tests (5)" in printed
    for readers, changed in [
        (["starts"], {"data/c.txt": "d"}),  # what a program reads that notes nothing
        (["child", "starts"], {"data/b.txt": "b "}),
        (["reads", "starts"], {"tests/helper.py": "VALUE = 2"}),
    ]:
        for name, text in changed.items():
            (tmp_path / name).write_text(text)
        assert checked()[0] == readers, changed
    assert checked("--all")[0] == ALL


def test_what_fails_dies_or_is_skipped_runs_again(checked, tmp_path):
    checked()
    (tmp_path / "data/a.txt").write_text("c")
    (tmp_path / WRITES).write_text("import os\n\ndef test():\n    os._exit(0)\n")
    printed = checked(fails=True)[1]
    assert "FAILED tests/test_reads.py" in printed and "assert ('c' in ('a', 'b')" in printed
    assert f"FAILED {WRITES}" in printed and printed.endswith("\n1 passed, 2 failed\n")
    (tmp_path / WRITES).write_text("import pytest\n\ndef test():\n    pytest.skip('no browser')\n")
    assert checked(fails=True)[0] == ["reads", "starts", "writes"]
    assert checked(fails=True)[0] == ["reads", "writes"]


def test_names_locked_versions_and_variables_count_for_all_tests(checked, tmp_path, monkeypatch):
    check = load_tool("check")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    seen = [check.contents()[check.AROUND]]
    (tmp_path / "data/a.txt").write_text("other")
    assert check.contents()[check.AROUND] == seen[0]
    for change in (
        lambda: (tmp_path / "data/new.txt").touch(),  # a test may have listed the folder
        lambda: (tmp_path / "requirements.lock").write_text("numpy==1"),
        lambda: monkeypatch.setenv("ANONPAPER_FUZZ", "7"),
    ):
        change()
        seen.append(check.contents()[check.AROUND])
    assert len(set(seen)) == len(seen)


# ---- notebooks --------------------------------------------------------------------------------


@pytest.fixture
def compared(tmp_path):
    """Run nbval on a notebook and on its executed copy, each with the output given."""
    build = Build(small_project(tmp_path / "build", package="*.py"))
    write_profile(build.root, "one/1_first: {}\ntwo/1_second: {}\n")
    (build.root / "tests").mkdir()
    shutil.copy(ROOT / "tests/replayed.py", build.root / "tests")
    build("notebooks", "make")
    committed = build.root / "notebooks/one/1_first.ipynb"
    expected = build.root / "figures/expected/quick/notebooks/one/1_first.ipynb"

    def run(ours, executed, code=None):
        expected.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(committed, expected)
        for path, text in [
            (expected, ours),
            (build.root / "figures/quick/notebooks/one/1_first.ipynb", executed),
        ]:
            notebook = nbformat.read(path, 4)
            stream = {"output_type": "stream", "name": "stdout", "text": text}
            notebook.cells[1] |= {"execution_count": 2, "outputs": [nbformat.from_dict(stream)]}
            nbformat.write(notebook, path)
        if code:
            notebook = nbformat.read(committed, 4)
            notebook.cells[2].source = code
            nbformat.write(notebook, committed)
        command = f"-m pytest -q --nbval -p replayed -p no:cacheprovider {expected}"
        done = subprocess.run(
            [sys.executable, "-P", *command.split()],
            cwd=build.root,
            env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{build.root / 'tests'}"},
            capture_output=True,
            text=True,
        )
        return done.stdout

    return run


def test_outputs_of_the_last_run_are_compared(compared):
    assert "3 passed" in compared("a\n", "a\n")
    printed = compared("a\n", "b\n")
    assert "1 failed, 2 passed" in printed and "mismatch 'stdout'" in printed
    assert "has no current run" in compared("a\n", "a\n", code="rows + 1")


def test_tests_do_not_know_what_make_was_told(monkeypatch):
    monkeypatch.setattr(
        os, "environ", {"MAKEFLAGS": " -- FRESH=yes", "MAKELEVEL": "1", "HOME": "/"}
    )
    monkeypatch.setitem(os.environ, "FRESH", "yes")
    load_tool("check").forget_make()
    assert os.environ == {"HOME": "/"}
