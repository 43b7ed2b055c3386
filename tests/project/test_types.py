"""Types of the public face: mypy accepts them and a program that uses them, which runs."""

import subprocess
import sys
from pathlib import Path

from project import public_face

ROOT = Path(__file__).parents[2]


def test_mypy_accepts_right_calls_and_no_wrong_one(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_program_that_mypy_accepts_runs():
    public_face.right()
