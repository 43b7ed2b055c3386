"""Tables that notebooks saved or show, for notebooks that sum up others."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pandas as pd

from anonpaper.errors import DatasetUnavailableError
from anonpaper.files import project_root
from anonpaper.papers.claims import read_table

__all__ = ["displayed", "folders", "saved"]


def folders() -> dict[str, Path]:
    """Return by profile the folder of its saved tables, the paper profile first; none outside."""
    root = project_root()
    if root is None:
        return {}
    figures = root / "figures"
    return {"paper": figures / "paper", "quick": figures / "expected" / "quick"}


def saved(table: str) -> tuple[pd.DataFrame, str]:
    """Return a saved table, of the paper profile where that was run, and its profile.

    Parameters
    ----------
    table : str
        Folder and name, without ``.csv``.

    Returns
    -------
    table : DataFrame
    profile : {"paper", "quick"}

    Raises
    ------
    DatasetUnavailableError
        No profile of this checkout has it.

    Examples
    --------
    >>> table, profile = saved("beyond/gaps")
    >>> profile, len(table)
    ('paper', 55)
    """
    for profile, folder in folders().items():
        if (file := folder / f"{table}.csv").is_file():
            return read_table(file), profile
    raise DatasetUnavailableError(
        f"no profile has saved {table}.csv: run the notebook that does, in a checkout"
    )


def displayed(notebook: str, source: str) -> pd.DataFrame:
    """Return the table of numbers that a cell of a committed notebook displays, quick profile.

    Parameters
    ----------
    notebook : str
        Folder and name, without ``.ipynb``.
    source : str
        What that cell alone says.

    Returns
    -------
    DataFrame
        float64; its index and columns are texts and lose their names.

    Raises
    ------
    DatasetUnavailableError
        There is no checkout, or not one such cell with a table.

    Examples
    --------
    >>> displayed("beyond/large_tables", "grown.pivot").shape
    (3, 3)
    """
    root = project_root()
    file = root / "notebooks" / f"{notebook}.ipynb" if root else None
    cells = json.loads(file.read_text())["cells"] if file and file.is_file() else []
    pages = [
        "".join(output["data"]["text/html"])
        for cell in cells
        if cell["cell_type"] == "code" and source in "".join(cell["source"])
        for output in cell["outputs"]
        if "text/html" in output.get("data", {})
    ]
    if len(pages) != 1:
        raise DatasetUnavailableError(
            f"{len(pages)} tables of {notebook} come from a cell with {source!r}: name one cell"
        )
    head, _, body = pages[0].partition("<tbody>")
    rows = [re.findall("<t[hd]>(.*?)</t[hd]>", row) for row in body.split("</tr>")[:-1]]
    columns = [unescape(name) for name in re.findall("<th>(.*?)</th>", head)[1 : len(rows[0])]]
    numbers = [[float(number) for number in row[1:]] for row in rows]
    return pd.DataFrame(numbers, index=[row[0] for row in rows], columns=columns)
