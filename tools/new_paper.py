"""Begin a paper: three folders with an example that runs, for the Makefile.

    new_paper.py wong2006    anonpaper/papers/wong2006, notebooks/wong2006, tests/papers/wong2006

CONTRIBUTING.md says what to put in the example's place.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from anonpaper.files import project_root, write_whole

__all__ = ["main"]

ROOT = project_root(Path(__file__).parent)
TEMPLATE = Path(__file__).parent / "templates" / "paper"
NAME = "paper0000"  # what the template calls the paper


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, write the folders and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", help="first author and year, e.g. wong2006")
    name = parser.parse_args(arguments).name
    if not re.fullmatch(r"[a-z]+\d{4}", name):
        parser.error(f"a paper is called by first author and year, as in wong2006; got {name!r}")
    files = {
        ROOT / str(path.relative_to(TEMPLATE)).replace(NAME, name): path
        for path in sorted(TEMPLATE.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    there = {target.parent for target in files if target.parent.exists()}
    if there:
        parser.error(f"{min(there).relative_to(ROOT)} is there already")
    for target, source in files.items():
        write_whole(target, source.read_text(encoding="utf-8").replace(NAME, name))
        print(target.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
