"""What data sets there are, where each would come from now, and fetching them ahead."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import pandas as pd

from anonpaper.datasets.fetching import fetched_before, placed_by_hand
from anonpaper.datasets.loading import load_table
from anonpaper.datasets.origin import Origin, StandInWarning
from anonpaper.datasets.registry import Dataset, RegisteredFile, dataset, registry
from anonpaper.errors import DatasetError

__all__ = ["available", "fetch"]


def available() -> pd.DataFrame:
    """List the data sets, and where each would come from now.

    Returns
    -------
    DataFrame
        One row per data set: ``name``, ``rows``, ``licence``, ``origin`` (on disk, and how it
        got there; "to be fetched"; or "stand-in"), ``how_to_get``. Nothing is fetched.

    Examples
    --------
    >>> available()[["name", "rows"]].head(2)
         name   rows
    0   adult  32561
    1  german   1000
    """
    columns = ["name", "rows", "licence", "origin", "how_to_get"]
    listed = [vars(entry) | {"origin": _origin_now(entry)} for entry in registry().values()]
    return pd.DataFrame(listed, columns=columns)


def _origin_now(entry: Dataset) -> str:
    if entry.derived_from is not None:
        return f"from {entry.derived_from}: {_origin_now(dataset(entry.derived_from))}"
    places = dict.fromkeys(_file_now(file, entry.stand_in) for file in entry.files)
    return " + ".join(places)


def _file_now(file: RegisteredFile, stand_in: bool) -> str:
    try:
        found = placed_by_hand(file) or fetched_before(file)
    except DatasetError as error:
        return f"unusable: {error}"
    if found is not None:
        return found.how
    if file.official is None and file.mirror is None:
        return "stand-in" if stand_in else "not at hand"
    return "to be fetched, else stand-in" if stand_in else "to be fetched"


def fetch(names: Sequence[str] | None = None) -> dict[str, Origin]:
    """Fetch and parse data sets ahead of their use, into the cache.

    Parameters
    ----------
    names : sequence of str, optional
        Which; all without it.

    Returns
    -------
    dict of str to Origin
        Where each came from. A stand-in raises no warning here: its origin says so.

    Raises
    ------
    DatasetError
        As :func:`load` does.

    Examples
    --------
    >>> fetch(["german"])["german"].stand_in
    False
    """
    origins = {}
    for name in registry() if names is None else names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StandInWarning)
            _, origins[name] = load_table(name)
    return origins
