"""Tables that notebooks saved, for notebooks that sum up others."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from anonpaper.errors import DatasetUnavailableError
from anonpaper.files import project_root
from anonpaper.papers.claims import read_table

__all__ = ["folders", "saved"]


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
    >>> profile, {"asked", "n", "algorithm", "mean"} <= set(table)
    ('paper', True)
    """
    for profile, folder in folders().items():
        if (file := folder / f"{table}.csv").is_file():
            return read_table(file), profile
    raise DatasetUnavailableError(
        f"no profile has saved {table}.csv: run the notebook that does, in a checkout"
    )
