"""Where results go, and one digest of the code that they depend on."""

from __future__ import annotations

import ast
import os
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from anonpaper.compendium.tables import notebooks_folder
from anonpaper.files import project_root, sha256

__all__ = ["code_digest", "figures_root", "profile", "sources_digest"]

PACKAGE = Path(__file__).parents[1]
_SOURCES = {".csv", ".json", ".mplstyle", ".py", ".toml"}
_JUDGES = re.compile(r"compendium/(claims|intervals)\.py$|/claims\.py$|/paper\.toml$|/slides/")


def profile() -> str:
    """Return the name of the profile: $ANONPAPER_PROFILE, or "quick"."""
    return os.environ.get("ANONPAPER_PROFILE") or "quick"


def figures_root() -> Path:
    """Return the folder of all results: $ANONPAPER_FIGURES, or figures/<profile>."""
    given = os.environ.get("ANONPAPER_FIGURES")
    if given:
        return Path(given).resolve()
    return (project_root(Path.cwd()) or Path.cwd()) / "figures" / profile()


def code_digest(module: str) -> str:
    """Return one digest of the code that a module can run, 64 hexadecimal digits.

    It covers the module, those in its folder if that is one of notebooks, and the package.
    """
    spec = find_spec(module)
    if spec is None or not spec.origin:
        raise ModuleNotFoundError(f"no source file for module {module!r}", name=module)
    path, folder = Path(spec.origin), notebooks_folder()
    beside = path
    if folder is not None and path.is_relative_to(folder):
        beside = folder / path.relative_to(folder).parts[0]
        if not (beside / "paper.toml").is_file():  # what asks our own questions builds on papers
            beside = folder
    return sha256(f"{sources_digest(PACKAGE)} {sources_digest(beside)}")


def sources_digest(place: Path) -> str:
    """Return one digest of the code and data in a folder, or of a file.

    Comments and docstrings do not count, nor what judges results.
    """
    files = sorted(place.rglob("*")) if place.is_dir() else [place]
    lines = []
    for file in files:
        name = file.relative_to(place.parent).as_posix()
        if file.suffix in _SOURCES and not _JUDGES.search(name):
            content = file.read_bytes()
            lines.append(f"{name} {sha256(_bare(content) if file.suffix == '.py' else content)}\n")
    return sha256("".join(lines))


@cache  # by content: a file may change while this process runs
def _bare(source: bytes) -> bytes:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree).encode()
