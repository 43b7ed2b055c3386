"""The papers' own numbers, read off their tables and figures."""

from __future__ import annotations

import difflib
from pathlib import Path

import pandas as pd

from anonpaper.errors import DatasetError, DatasetUnavailableError
from anonpaper.files import project_root

__all__ = ["reference", "reference_folder", "references"]


def reference_folder() -> Path | None:
    """Return data/reference of the checked-out project, or None for an installed package."""
    root = project_root()
    return None if root is None else root / "data" / "reference"


def references() -> list[str]:
    """Return the names of all reference tables, as in data/reference.

    Raises
    ------
    DatasetUnavailableError
        The package is installed without the project's files.

    Examples
    --------
    >>> references()[0]
    'boger2020_fig5_runtime'
    """
    folder = reference_folder()
    if folder is None:
        raise DatasetUnavailableError(
            "the papers' numbers are files of the project (data/reference) and are not part of "
            "the installed package: work in a checkout, installed with pip install -e ."
        )
    return sorted(path.stem for path in folder.glob("*.csv"))


def reference(name: str) -> pd.DataFrame:
    """Return numbers of a paper; data/reference/README.md names table or figure.

    Parameters
    ----------
    name : str
        File name without ``.csv``: paper, table or figure, content.

    Raises
    ------
    DatasetError
        If there is none of that name; the message suggests close ones.

    Examples
    --------
    >>> reference("xiao2010_tab6_domain_sizes").head(2)
      attribute role  domain_size
    0       Age   QI           79
    1    Gender   QI            2
    """
    known = references()
    if name not in known:
        close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4)
        hint = f" did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise DatasetError(f"no reference table is called {name!r};{hint} there are: {known}")
    return pd.read_csv(reference_folder() / f"{name}.csv")
