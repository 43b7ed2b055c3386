"""One digest of the code that results depend on."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from anonpaper.compendium.tables import notebooks_folder
from anonpaper.files import sha256

__all__ = ["code_digest"]

PACKAGE = Path(__file__).parents[1]
_SOURCES = {".csv", ".json", ".py", ".toml"}
_JUDGES = re.compile(r"compendium/(claims|intervals)\.py$|/claims\.py$|/paper\.toml$|/slides/")


def code_digest(module: str) -> str:
    """Return one digest of the code that a module can run, 64 hexadecimal digits.

    It covers the module, those in its folder if that is one of notebooks, and the package.
    Comments and docstrings do not count, nor what judges results.
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
    return sha256(f"{_digest(PACKAGE)} {_digest(beside)}")


def _digest(place: Path) -> str:
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
