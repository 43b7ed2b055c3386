"""Which functions compute each figure and table of a notebook, read off its cells.

From the call that saves an output one goes back through the statements that its data come from:
to the function that a grid calls for every setting, or where there is no grid to the nearest
statement that names functions of the package.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType

__all__ = ["functions_of", "matching"]

SAVE = ("figure", "table")  # methods of Results
NO_WORK = (
    "anonpaper.plots",
    "anonpaper.randomness",
    "anonpaper.compendium.grids",
    "anonpaper.compendium.shown",
)
DATA = ("anonpaper.datasets", "anonpaper.compendium.tables")  # named where nothing else is
PUBLISH = "anonpaper.publish"  # says less than the algorithm whose groups it publishes

Found = tuple[str, str]  # module and name


def functions_of(notebook: Path) -> dict[str, list[Found]]:
    """Return, by the name of each figure and table, what computes its data.

    Parameters
    ----------
    notebook : Path

    Returns
    -------
    dict
        Module and name of each function (of a constant, where the data are nothing else). A part
        of an output's name that the notebook fills in is ``*``.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    source = re.sub(r"(?m)^\s*[%!].*$", "", source)  # lines that only IPython understands
    nodes = ast.parse(source).body
    known = {}
    for node in nodes:
        known |= imported(node)
    statements = [Statement.of(node, known) for node in nodes]
    return {
        name: computing([Statement.of(data, known), *reached(statements[:place], data, known)])
        for place, node in enumerate(nodes)
        for name, data in saved(node)
    }


def matching(functions: dict[str, list[Found]], name: str) -> list[Found]:
    """Return the functions of one output, if need be of the names that a notebook fills in."""
    fits = sorted(key for key in functions if fnmatchcase(name, key))
    return functions[name] if name in functions else functions[fits[0]] if fits else []


@dataclass(frozen=True)
class Statement:
    """A statement: the names that it sets, changes and reads, the functions it names or runs."""

    sets: set[str]
    forgets: set[str]  # of these, what they were before does not matter
    reads: set[str]
    named: list[Found]
    gridded: list[Found]

    @classmethod
    def of(cls, node: ast.AST, known: dict) -> Statement:
        """Read a statement, or an expression, off its syntax tree."""
        parts = list(ast.walk(node))
        loops = {base(part.target) for part in parts if isinstance(part, ast.For)}
        changed = [part.value for part in parts if isinstance(part, ast.Expr)]
        changed += [
            part
            for part in parts
            if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.ctx, ast.Store)
        ]
        grids = [
            part.args[0]
            for part in parts
            if isinstance(part, ast.Call) and base(part) == "run_grid" and part.args
        ]
        stored = names_in(node, ast.Store)
        return cls(
            sets=stored | set(map(base, changed)),
            forgets=stored if isinstance(node, ast.Assign) else loops,
            reads=names_in(node, ast.Load) - set(known) - loops,
            named=named_in(node, known),
            gridded=[found for grid in grids for found in named_in(grid, known)],
        )


def names_in(node: ast.AST, context: type) -> set[str]:
    """Return the names that a tree sets or reads, those of its comprehensions left out."""
    parts = list(ast.walk(node))
    inner = [part.target for part in parts if isinstance(part, ast.comprehension)]
    inner += [part.args for part in parts if isinstance(part, ast.Lambda)]
    own = {name.id for target in inner for name in ast.walk(target) if isinstance(name, ast.Name)}
    own |= {name.arg for target in inner for name in ast.walk(target) if isinstance(name, ast.arg)}
    names = [part for part in parts if isinstance(part, ast.Name)]
    return {name.id for name in names if isinstance(name.ctx, context)} - own


def reached(before: list[Statement], data: ast.expr, known: dict) -> Iterator[Statement]:
    """Yield the statements that some data depend on, the last one first."""
    needed = names_in(data, ast.Load) - set(known)
    for statement in reversed(before):
        if needed & statement.sets:
            needed = (needed - statement.forgets) | statement.reads
            yield statement


def computing(chain: list[Statement]) -> list[Found]:
    """Return what computes data: the functions of grids, and the nearest that are named."""
    gridded = [found for statement in chain for found in statement.gridded]
    near, far = [], []
    for statement in chain:
        if statement.gridded:
            break
        near += [found for found in statement.named if not is_data(found)]
        far += [found for found in statement.named if is_data(found)]
        if any(not module.startswith(PUBLISH) for module, _ in near):
            break
    return list(dict.fromkeys([*gridded, *near] or far))


def is_data(found: Found) -> bool:
    """Return whether a name stands for data or constants instead of for a computation."""
    return found[0].startswith(DATA) or found[1].isupper()


def saved(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield (name, data) of the figures and tables that a statement saves."""
    for call in ast.walk(node):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        if call.func.attr in SAVE and base(call.func) == "results":
            data = {word.arg: word.value for word in call.keywords}.get("data", call.args[0])
            yield text_of(call.args[1]), data


def text_of(name: ast.expr) -> str:
    """Return a string, with ``*`` for each part of it that is filled in."""
    if isinstance(name, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else "*" for part in name.values
        )
    return ast.literal_eval(name)


def imported(node: ast.stmt) -> dict:
    """Return what a statement imports, by the name it gets; only of the package what it is."""
    if isinstance(node, ast.Import):
        return {a.asname or a.name: importlib.import_module(a.name)
                if a.name == "anonpaper" else None for a in node.names}  # fmt: skip
    if isinstance(node, ast.ImportFrom):
        ours = node.module.startswith("anonpaper")
        return {a.asname or a.name: member(node.module, a.name) if ours else None
                for a in node.names}  # fmt: skip
    return {}


def member(module: str, name: str):
    """Return a name of a module, or the module of that name in a package."""
    found = getattr(importlib.import_module(module), name, None)
    return found if found is not None else importlib.import_module(f"{module}.{name}")


def named_in(node: ast.AST, known: dict) -> list[Found]:
    """Return the functions of the package, and constants of papers, that a tree names."""
    found = []
    for part in ast.walk(node):
        value = value_of(part, known)
        if inspect.isfunction(value) and value.__module__.startswith("anonpaper."):
            found.append((value.__module__, value.__name__))
        elif isinstance(part, ast.Attribute) and part.attr.isupper():
            module = value_of(part.value, known)
            if isinstance(module, ModuleType):
                found.append((module.__name__, part.attr))
    return [(module, name) for module, name in found if module not in NO_WORK]


def value_of(node: ast.AST, known: dict):
    """Return what a dotted name stands for, or None if it is not the package's."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(value_of(node.value, known), node.attr, None)
    return None


def base(node: ast.AST) -> str:
    """Return the name that a dotted, subscripted or called expression begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
