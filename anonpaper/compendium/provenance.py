"""Where results go, and the code they depend on: a digest without comments and docstrings."""

from __future__ import annotations

import ast
import hashlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from anonpaper.compendium.tables import notebooks_folder
from anonpaper.files import project_root

__all__ = ["PACKAGE", "bare_content", "code_digest", "figures_root", "profile"]

PACKAGE = Path(__file__).parents[1]


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

    It covers the module and all modules of anonpaper, or beside a notebook, that it imports
    directly or indirectly. ``import anonpaper`` counts as an import of the whole package.
    """
    digest = hashlib.sha256()
    for name, path in sorted(_reachable_files(module).items()):
        content = bare_content(path)
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _reachable_files(module: str) -> dict[str, Path]:
    """Return the sources of a module and of the project's modules it imports, by name."""
    found, waiting = {}, [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        if name == "anonpaper":
            found |= {
                path.relative_to(PACKAGE).as_posix(): path
                for path in PACKAGE.rglob("*")
                if path.suffix in (".py", ".toml", ".mplstyle", ".json", ".csv")
            }
        found[name] = _source_of(name)
        waiting.extend(_imports_from_project(name))
    return found


def _source_of(module: str) -> Path:
    if module.partition(".")[0] == "anonpaper":
        path = PACKAGE.joinpath(*module.split(".")[1:])
        return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    spec = find_spec(module)
    if spec is None or not spec.origin:
        raise ModuleNotFoundError(f"no source file for module {module!r}", name=module)
    return Path(spec.origin)


def _imports_from_project(module: str) -> set[str]:
    """Return the modules of the project that a module's source names in import statements."""
    path = _source_of(module)
    if module == "anonpaper":
        return set()
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    names = set()
    stub = path.with_suffix(".pyi")  # of a package whose names are imported on first use
    source = path.read_bytes() + (b"\n" + stub.read_bytes() if stub.is_file() else b"")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, *filter(None, [node.module])]) if node.level else node.module
            submodules = {f"{base}.{alias.name}" for alias in node.names}
            submodules = {name for name in submodules if _is_of_project(name)}
            names.update(submodules)
            if len(submodules) < len(node.names):
                names.add(base)
    return {name for name in names if _is_of_project(name)}


def _is_of_project(name: str) -> bool:
    """Return whether a dotted name is a module of anonpaper or of a folder of notebooks."""
    first, _, rest = name.partition(".")
    if first == "anonpaper":
        return _source_of(name).is_file()
    folder = notebooks_folder()
    if folder is None or not _beside(folder, first):
        return False
    if not rest:
        return True
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@cache
def _beside(folder: Path, module: str) -> bool:
    """Return whether a module or package of that name lies beside a notebook."""
    return any(folder.glob(f"*/{module}.py")) or any(folder.glob(f"*/{module}/__init__.py"))


def bare_content(path: Path) -> bytes:
    """Return a file's content; of Python, the code without comments and docstrings."""
    content = path.read_bytes()
    return _bare(content) if path.suffix == ".py" else content


@cache  # by content: a file may change while this process runs
def _bare(source: bytes) -> bytes:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree).encode()
