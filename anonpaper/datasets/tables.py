"""The published tables: how files are read; columns.csv and orders.csv list columns and values.

In a parsed table text is categorical. Its categories are the attribute's domain, in their
meaningful order if there is one, otherwise sorted. Missing values are NA.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

__all__ = ["VERSION", "finish", "parse"]

#: Part of every cache key: raise it when a parser changes.
VERSION = 1

#: Options of pandas.read_csv. Only the marks listed here mean missing.
_READ: dict[str, dict] = {
    "adult": {"na_values": ["?"], "skipinitialspace": True},
    "german": {"sep": " ", "dtype": {"credit-risk": "str"}},
    "census": {"na_values": ["?"], "skipinitialspace": True},
    # "None" is a result (not measured). Diagnoses look like numbers in part of the rows.
    "diabetes": {
        "na_values": ["?"],
        "dtype": dict.fromkeys(["diag_1", "diag_2", "diag_3"], "str"),
    },
    "stroke": {"na_values": {"bmi": ["N/A"]}},  # "Unknown" smoking is a value
    "pantheon": {
        "sep": "\t",
        "encoding": "latin-1",
        "quoting": 3,  # quotes are characters like others
        "na_values": {"birthyear": ["", "Unknown"], "LAT": [""], "LON": [""]},
    },
}


def _listed(file: str, name: str) -> pd.DataFrame:
    """Return the lines of a csv of this folder on one data set."""
    path = Path(__file__).with_name(file)
    lines = pd.read_csv(path, dtype=str, keep_default_na=False)
    return lines[lines["data"] == name]


def parse(name: str, files: Mapping[str, Path]) -> pd.DataFrame:
    """Return the table of a data set from its files, given by name."""
    columns = _listed("columns.csv", name)["column"].tolist()
    parts = []
    for file, path in files.items():
        skipped = int(file == "adult.test")  # its first line is not a record
        part = pd.read_csv(
            path, low_memory=False, skiprows=skipped, names=columns or None,
            **{"keep_default_na": False} | _READ[name],
        )  # fmt: skip
        if name == "census":  # its files have no column that distinguishes them
            part["part"] = "train" if file.endswith(".data") else "test"
        parts.append(part)
    frame = pd.concat(parts, ignore_index=True)
    text = frame.select_dtypes(exclude="number").columns
    if name == "adult":  # the labels of adult.test end in a full stop
        frame["salary-class"] = frame["salary-class"].str.rstrip(".")
    if name == "german":
        for column, codes in _listed("orders.csv", name).groupby("column"):
            frame[column] = frame[column].map(codes.set_index("code")["value"])
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
    orders = dict(list(_listed("orders.csv", name).groupby("column")["value"]))
    if name == "pantheon":  # years are whole numbers or missing
        frame["birthyear"] = pd.to_numeric(frame["birthyear"], errors="coerce").astype("Int64")
    for column in frame.columns:
        if column in orders:
            frame[column] = pd.Categorical(frame[column], orders[column].tolist(), ordered=True)
        elif not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype("category")
    return frame
