"""The published tables: tables.toml lists how files are read, and columns, orders and codes.

In a parsed table text is categorical. Its categories are the attribute's domain, in their
meaningful order if there is one, otherwise sorted. Missing values are NA.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from anonpaper.datasets.registry import listed

__all__ = ["VERSION", "finish", "parse"]

#: Part of every cache key: raise it when a parser changes.
VERSION = 1


def parse(name: str, files: Mapping[str, Path]) -> pd.DataFrame:
    """Return the table of a data set from its files, given by name."""
    about = listed("tables")[name]
    # Only the listed marks mean missing.
    options = {"names": about.get("columns"), "keep_default_na": False} | about["read"]
    parts = []
    for file, path in files.items():
        skipped = int(file == "adult.test")  # its first line is not a record
        part = pd.read_csv(path, low_memory=False, skiprows=skipped, **options)
        if name == "census":  # its files have no column that distinguishes them
            part["part"] = "train" if file.endswith(".data") else "test"
        parts.append(part)
    frame = pd.concat(parts, ignore_index=True)
    text = frame.select_dtypes(exclude="number").columns
    if name == "adult":  # the labels of adult.test end in a full stop
        frame["salary-class"] = frame["salary-class"].str.rstrip(".")
    if name == "german":
        for column, meaning in about["codes"].items():
            frame[column] = frame[column].map(meaning)
    if name == "census":
        frame[text] = frame[text].apply(lambda column: column.str.strip())
        frame["income"] = frame["income"].map({"- 50000.": "-50000", "50000+.": "50000+"})
    if name == "pantheon":
        frame[text] = frame[text].replace("", pd.NA)
    return finish(name, frame)


def finish(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Make every text column categorical: in the declared order, otherwise sorted.

    Declared orders may have values that do not occur but are in the data set's documentation.
    """
    about = listed("tables")[name]
    orders = {of: order["values"] for order in about.get("orders", ()) for of in order["of"]}
    orders |= {column: [*codes.values()] for column, codes in about.get("codes", {}).items()}
    if name == "pantheon":  # years are whole numbers or missing
        frame["birthyear"] = pd.to_numeric(frame["birthyear"], errors="coerce").astype("Int64")
    for column in frame.columns:
        if column in orders:
            frame[column] = pd.Categorical(frame[column], orders[column], ordered=True)
        elif not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype("category")
    return frame
