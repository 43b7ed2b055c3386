"""Tables that notebooks saved, for notebooks that sum up others."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from anonpaper.errors import DatasetUnavailableError
from anonpaper.files import project_root
from anonpaper.papers.claims import read_table
from anonpaper.papers.results import stamp_data

__all__ = ["data_behind", "folders", "saved", "stamp_saved"]


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
    profile, folder = _place_of(table)
    return read_table(folder / f"{table}.csv"), profile


def data_behind(table: str) -> list[dict]:
    """Return what the manifest says of the data that a saved table was made from.

    Parameters
    ----------
    table : str
        As for `saved`, and of the same profile.

    Raises
    ------
    DatasetUnavailableError
        No profile of this checkout has the table, or its manifest does not name it.

    Examples
    --------
    >>> [about["dataset"] for about in data_behind("beyond/gaps")]
    ['occ']
    """
    _, folder = _place_of(table)
    for share in sorted((folder / "manifest").glob("*/*.json")):
        outputs = json.loads(share.read_text(encoding="utf-8"))["outputs"]
        if f"{table}.csv" in outputs:
            return outputs[f"{table}.csv"]["data"]
    raise DatasetUnavailableError(f"no manifest names {table}.csv: run the notebook that saves it")


def stamp_saved(figure: Figure, *tables: str) -> None:
    """Say on a figure of saved tables which of their data take the place of others.

    `Results` says it of the figures that it saves; this is for those that are only shown.

    Parameters
    ----------
    figure : Figure
    *tables : str
        Those that it shows, named as for `saved`.

    Raises
    ------
    DatasetUnavailableError
        As for `data_behind`.
    """
    stamp_data(figure, [about for table in tables for about in data_behind(table)])


def _place_of(table: str) -> tuple[str, Path]:
    """Return the profile whose table `saved` gives, and its folder, or raise."""
    for profile, folder in folders().items():
        if (folder / f"{table}.csv").is_file():
            return profile, folder
    raise DatasetUnavailableError(
        f"no profile has saved {table}.csv: run the notebook that does, in a checkout"
    )
