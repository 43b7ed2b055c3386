"""The programs of tools/, as modules for the tests, and the files of the project."""

import importlib.util
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools"


@cache
def load_tool(name):
    """Return a program as a module; what it imports of its neighbours is found beside it."""
    spec = importlib.util.spec_from_file_location(f"tools.{name}", TOOLS / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(TOOLS))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(TOOLS))
    return module


def files_of_the_project(root=ROOT):
    """Return the names of all files that git has or would add, also where there is no .git."""
    listed = ["--cached", "--others", "--exclude-standard"]
    with tempfile.TemporaryDirectory() as nothing:  # an image or an unpacked archive has none
        if not (root / ".git").exists():
            subprocess.run(["git", "init", "-q", "--bare", nothing], check=True)
            listed = [f"--git-dir={nothing}", f"--work-tree={root}", "ls-files", *listed]
        else:
            listed = ["ls-files", *listed]
        done = subprocess.run(
            ["git", *listed], cwd=root, check=True, capture_output=True, text=True
        )
    return [name for name in done.stdout.splitlines() if (root / name).is_file()]
