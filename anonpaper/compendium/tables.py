"""Files of a checkout: the papers' own numbers, and tables that notebooks saved."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from anonpaper.errors import DatasetError, DatasetUnavailableError
from anonpaper.files import project_root

__all__ = ["folders", "made_by", "notebooks_folder", "read_table", "reference", "saved"]


def notebooks_folder() -> Path | None:
    """Return the folder of notebooks; None if the package is installed without a checkout."""
    root = project_root()
    return root / "notebooks" if root is not None and (root / "notebooks").is_dir() else None


def read_table(path: Path) -> pd.DataFrame:
    """Return a saved table with its exact numbers; only empty cells are missing values."""
    return pd.read_csv(path, float_precision="round_trip", keep_default_na=False, na_values=[""])


def reference(name: str) -> pd.DataFrame:
    """Return numbers of a paper; data/reference/README.md names table or figure.

    `name` is a file without ``.csv``: paper, table or figure, content. DatasetError lists all
    names, if none is that.

    Examples
    --------
    >>> reference("xiao2010_tab6_domain_sizes").head(2)
      attribute role  domain_size
    0       Age   QI           79
    1    Gender   QI            2
    """
    folder = (project_root() or Path()) / "data" / "reference"
    known = sorted(path.stem for path in folder.glob("*.csv"))
    if name not in known:
        raise DatasetError(f"no reference table is called {name!r}; a checkout has {known}")
    return pd.read_csv(folder / f"{name}.csv")


def folders() -> dict[str, Path]:
    """Return the folder of saved tables by profile, the paper profile first; else empty."""
    root = project_root()
    if root is None:
        return {}
    figures = root / "figures"
    return {"paper": figures / "paper", "quick": figures / "quick"}


def saved(table: str) -> tuple[pd.DataFrame, str]:
    """Return a saved table, of the paper profile if that was run, and its profile.

    `table` is folder and name, without ``.csv``. DatasetUnavailableError if no profile of this
    checkout has it.

    Examples
    --------
    >>> table, profile = saved("beyond/gaps")
    >>> profile, {"asked", "n", "algorithm", "mean"} <= set(table)
    ('paper', True)
    """
    profile, folder = _place_of(table)
    return read_table(folder / f"{table}.csv"), profile


def made_by(table: str) -> str:
    """Return the name of the notebook that saved a table, as the manifest says."""
    _, folder = _place_of(table)
    for share in sorted((folder / "manifest").glob("*/*.json")):
        if f"{table}.csv" in json.loads(share.read_text(encoding="utf-8"))["outputs"]:
            return share.stem
    raise DatasetUnavailableError(f"no manifest names {table}.csv: run the notebook that saves it")


def _place_of(table: str) -> tuple[str, Path]:
    """Return the profile whose table `saved` gives, and its folder, or raise."""
    for profile, folder in folders().items():
        if (folder / f"{table}.csv").is_file():
            return profile, folder
    raise DatasetUnavailableError(f"{table}.csv is not saved: run its notebook in a checkout")
