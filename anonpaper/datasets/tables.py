"""The published tables: how each file is parsed; tables.toml lists columns, orders and codes.

In a parsed table text is categorical: its categories are the attribute's domain, in the order
that matters where there is one, else sorted. Missing values are NA.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from anonpaper.datasets.registry import listed

__all__ = ["VERSION", "finish", "parse"]

#: Part of every cache key: raise it when a parser changes.
VERSION = 1


def parse(name: str, files: Mapping[str, Path]) -> pd.DataFrame:
    """Return the table of a data set's files, given by name."""
    return finish(name, _PARSERS[name](files))


def finish(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Make every text column categorical: in the declared order, else sorted.

    Declared orders may name values that do not occur: the data set's documentation lists them.
    """
    about = listed("tables")[name]
    orders = {of: order["values"] for order in about.get("orders", ()) for of in order["of"]}
    orders |= {column: [*codes.values()] for column, codes in about.get("codes", {}).items()}
    if name == "pantheon":  # years are whole numbers or missing
        frame["birthyear"] = pd.to_numeric(frame["birthyear"], errors="coerce").astype("Int64")
    for column in frame.columns:
        if column in orders:
            frame[column] = pd.Categorical(frame[column], orders[column], ordered=True)
        elif frame[column].dtype == object:
            frame[column] = frame[column].astype("category")
    return frame


def _read(path: Path, **options: object) -> pd.DataFrame:
    """Read a delimited file in which only the given marks mean missing."""
    return pd.read_csv(path, keep_default_na=False, low_memory=False, **options)


def _read_headless(name: str, path: Path, skiprows: int = 0) -> pd.DataFrame:
    """Read a file of a data set that has no header, and blanks after its commas."""
    columns = listed("tables")[name]["columns"]
    return _read(path, names=columns, na_values=["?"], skipinitialspace=True, skiprows=skiprows)


def _only(files: Mapping[str, Path]) -> Path:
    """Return the path of a data set that consists of one file."""
    (path,) = files.values()
    return path


def _parse_adult(files: Mapping[str, Path]) -> pd.DataFrame:
    # adult.test opens with a line that is no record, and its labels end in a full stop.
    parts = [
        _read_headless("adult", path, skiprows=int(name == "adult.test"))
        for name, path in files.items()
    ]
    frame = pd.concat(parts, ignore_index=True)
    frame["salary-class"] = frame["salary-class"].str.rstrip(".")
    return frame


def _parse_german(files: Mapping[str, Path]) -> pd.DataFrame:
    about = listed("tables")["german"]
    frame = _read(_only(files), names=about["columns"], sep=" ", dtype={"credit-risk": str})
    for column, meaning in about["codes"].items():
        frame[column] = frame[column].map(meaning)
    return frame


def _parse_census(files: Mapping[str, Path]) -> pd.DataFrame:
    # Column `part` tells the files apart.
    parts = [
        _read_headless("census", path).assign(part="train" if name.endswith(".data") else "test")
        for name, path in files.items()
    ]
    frame = pd.concat(parts, ignore_index=True)
    for column in frame.select_dtypes(object):
        frame[column] = frame[column].str.strip()
    frame["income"] = frame["income"].map({"- 50000.": "-50000", "50000+.": "50000+"})
    return frame


def _parse_diabetes(files: Mapping[str, Path]) -> pd.DataFrame:
    # "None" is a result (not measured). Diagnoses look like numbers in part of the rows.
    text = dict.fromkeys(listed("tables")["diabetes"]["text"], str)
    return _read(_only(files), na_values=["?"], dtype=text)


def _parse_stroke(files: Mapping[str, Path]) -> pd.DataFrame:
    # "Unknown" smoking is a value.
    return _read(_only(files), na_values={"bmi": ["N/A"]})


def _parse_pantheon(files: Mapping[str, Path]) -> pd.DataFrame:
    missing = {"birthyear": ["", "Unknown"], "LAT": [""], "LON": [""]}
    frame = _read(_only(files), sep="\t", encoding="latin-1", quoting=3, na_values=missing)
    text = frame.select_dtypes(object).columns
    frame[text] = frame[text].replace("", pd.NA)
    return frame


_PARSERS: dict[str, Callable[[Mapping[str, Path]], pd.DataFrame]] = {
    "adult": _parse_adult, "german": _parse_german, "census": _parse_census,
    "diabetes": _parse_diabetes, "stroke": _parse_stroke, "pantheon": _parse_pantheon,
}  # fmt: skip
