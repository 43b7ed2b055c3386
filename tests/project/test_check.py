"""Tests run again when what they read has changed, and executed notebooks are not run again."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from project.builds import Build, small_project, write_profile

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
    code = "import sys; sys.exit(open('data/b.txt').read() != 'b')"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
""",
    "tests/test_writes.py": "def test_nothing(tmp_path):\n    assert tmp_path.exists()\n",
    "tests/helper.py": "VALUE = 1\n",
    "data/a.txt": "a",
    "data/b.txt": "b",
    "data/c.txt": "c",
    "requirements.lock": "",
}
WRITES = "tests/test_writes.py"
ALL = ["child", "reads", "starts", "writes"]
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

    def run(*options, fails=False, **changes):
        kept = {key: v for key, v in os.environ.items() if not key.startswith("ANONPAPER_")}
        done = subprocess.run(
            [sys.executable, "-c", START, "--workers=2", *options],
            cwd=tmp_path,
            env=kept | BARE | changes,
            capture_output=True,
            text=True,
        )
        assert (done.returncode != 0) is fails, done.stdout + done.stderr
        ran = [line.split()[0] for line in done.stdout.splitlines() if " passed  " in line]
        return sorted(Path(name).stem.removeprefix("test_") for name in ran), done.stdout

    return run


def test_only_tests_whose_files_have_changed_run_again(checked, tmp_path):
    assert checked()[0] == ALL
    ran, printed = checked()
    assert ran == []
    assert "passed and nothing that they open has changed: tests (4)" in printed
    os.utime(tmp_path / "data/a.txt")
    assert checked("--all")[0] == ALL
    assert checked(ANONPAPER_FUZZ="7")[0] == ALL
    assert checked()[0] == ALL
    for readers, changed in [
        (["child", "starts"], {"data/b.txt": "b\n"}),
        (["child", "reads", "starts"], {"data/b.txt": "b", "data/a.txt": "b"}),
        (["starts"], {"data/c.txt": "d"}),  # what a program reads that notes nothing
        (["reads", "starts"], {"tests/helper.py": "VALUE = 2"}),
        (["starts", "writes"], {WRITES: FILES[WRITES] * 2}),
        (ALL, {"data/new.txt": ""}),  # a test may have listed the folder
        (ALL, {"requirements.lock": "numpy==1"}),
    ]:
        for name, text in changed.items():
            (tmp_path / name).write_text(text)
        assert checked(fails="b\n" in changed.values())[0] == readers, changed


def test_what_failed_runs_again_and_is_shown(checked, tmp_path):
    checked()
    (tmp_path / "data/a.txt").write_text("c")
    printed = checked(fails=True)[1]
    assert "FAILED tests/test_reads.py" in printed and "assert ('c' in ('a', 'b')" in printed
    assert printed.endswith("\n1 passed, 1 failed\n")
    assert checked(fails=True)[0] == ["reads"]


def test_a_process_that_dies_has_failed_and_what_is_skipped_has_not_passed(checked, tmp_path):
    (tmp_path / WRITES).write_text("import pytest\n\ndef test():\n    pytest.skip('no browser')\n")
    assert checked()[1].endswith("\n3 passed, 0 failed, 1 skipped\n")
    assert checked()[0] == ["writes"]
    (tmp_path / WRITES).write_text("import os\n\ndef test():\n    os._exit(0)\n")
    assert f"FAILED {WRITES}" in checked(fails=True)[1]


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

    def run(ours, executed, code=None):
        for path, text in [
            (committed, ours),
            (build.root / "figures/quick/notebooks/one/1_first.ipynb", executed),
        ]:
            notebook = nbformat.read(path, 4)
            stream = {"output_type": "stream", "name": "stdout", "text": text}
            notebook.cells[1] |= {"execution_count": 2, "outputs": [nbformat.from_dict(stream)]}
            notebook.cells[2].source = code or notebook.cells[2].source
            nbformat.write(notebook, path)
        command = f"-m pytest -q --nbval -p replayed -p no:cacheprovider {committed}"
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
