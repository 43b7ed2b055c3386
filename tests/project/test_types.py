"""mypy accepts the types of the public face."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_mypy_accepts_the_public_face(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
