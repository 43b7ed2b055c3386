"""The notebooks and their cells, for the rules about them."""

import ast
import re
from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAMES = sorted(
    path.relative_to(NOTEBOOKS).with_suffix("").as_posix()
    for path in NOTEBOOKS.rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)


def read(name):
    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


def code_cells(name):
    return [cell for cell in read(name).cells if cell.cell_type == "code"]


def python_of(cell):
    """Return the cell's syntax tree, lines that only IPython understands left out."""
    lines = [line for line in cell.source.splitlines() if not re.match(r"\s*[%!]", line)]
    return ast.parse("\n".join(lines))
