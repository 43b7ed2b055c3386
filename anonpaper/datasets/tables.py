"""The published tables: read from files, or generated with the published schema and counts.

columns.csv and orders.csv list columns, and values in their meaningful order. A
``stand_in_<name>.json`` summarizes a file without its records: per column the numbers of distinct
and missing values, and the counts of its values (if there are many: quantiles, or only their
number). A few columns are counted jointly, all others are independent.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anonpaper.randomness import generator

#: Options of pandas.read_csv. Only the marks listed here mean missing.
_READ: dict[str, dict] = {
    "adult": {"skipinitialspace": True},
    "german": {"sep": " ", "dtype": {"credit-risk": "str"}},
    "census": {"skipinitialspace": True},
    # "None" is a result (not measured). Diagnoses look like numbers in part of the rows.
    "diabetes": {"dtype": dict.fromkeys(["diag_1", "diag_2", "diag_3"], "str")},
    "stroke": {"na_values": ["N/A"]},  # "Unknown" smoking is a value
    "pantheon": {"sep": "\t", "encoding": "latin-1", "quoting": csv.QUOTE_NONE, "na_values": [""]},
}


def _listed(file: str, name: str) -> pd.DataFrame:
    """Return the lines of a csv of this folder on one data set."""
    lines = pd.read_csv(Path(__file__).with_name(file), dtype=str, keep_default_na=False)
    return lines[lines["data"] == name]


def parse(name: str, files: Mapping[str, Path]) -> pd.DataFrame:
    """Return the table of a data set from its files, given by name."""
    options = {"na_values": ["?"], "keep_default_na": False, "low_memory": False} | _READ[name]
    options["names"] = _listed("columns.csv", name)["column"].tolist() or None
    parts = []
    for file, path in files.items():
        part = pd.read_csv(path, skiprows=int(file == "adult.test"), **options)  # no record
        if name == "census":  # its files have no column that distinguishes them
            part["part"] = "train" if file.endswith(".data") else "test"
        parts.append(part)
    frame = pd.concat(parts, ignore_index=True)
    if name == "adult":  # the labels of adult.test end in a full stop
        frame["salary-class"] = frame["salary-class"].str.rstrip(".")
    if name == "german":
        for column, codes in _listed("orders.csv", name).groupby("column"):
            frame[column] = frame[column].map(codes.set_index("code")["value"])
    if name == "census":
        for column in frame.select_dtypes(exclude="number"):
            frame[column] = frame[column].str.strip()
        frame["income"] = frame["income"].map({"- 50000.": "-50000", "50000+.": "50000+"})
    return finish(name, frame)


def finish(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Make every text column categorical, in an order of the documentation or else sorted."""
    orders = dict(list(_listed("orders.csv", name).groupby("column")["value"]))
    if name == "pantheon":  # years are whole numbers or missing
        frame["birthyear"] = pd.to_numeric(frame["birthyear"], errors="coerce").astype("Int64")
    kinds = dict.fromkeys(frame.select_dtypes(exclude="number"), "category")
    return frame.astype(kinds | {of: pd.CategoricalDtype(o, True) for of, o in orders.items()})


def generate(data: str) -> pd.DataFrame:
    """Generate the stand-in of a data set from its summary."""
    summary = json.loads(Path(__file__).with_name(f"stand_in_{data}.json").read_text("utf-8"))
    rng, rows, made = generator(0), summary["rows"], {}
    for table in summary["joint"]:
        made |= _repeated(table["columns"], table["cells"], rng.permutation(rows))
    for column in summary["columns"]:
        name, kind = column["name"], column["kind"]
        if kind == "counts":
            made |= _repeated([name], column["counts"], rng.permutation(rows))
        elif kind == "within":
            made[name] = _within(column, made[column["parent"]], rng)
        elif kind != "joint":
            values = (_labels if kind == "labels" else _numbers)(column, rows, rng)
            values = pd.Series(values + [None] * column["missing"])
            made[name] = values.take(rng.permutation(rows)).reset_index(drop=True)
    return finish(data, pd.DataFrame(made)[[column["name"] for column in summary["columns"]]])


def _repeated(names: list[str], cells: list[list], order: np.ndarray) -> pd.DataFrame:
    """Return columns of values, every cell as often as its count, which comes last, says."""
    table = pd.DataFrame(cells, columns=[*names, "count"])
    places = np.repeat(np.arange(len(cells)), table.pop("count"))[order]
    return table.take(places).reset_index(drop=True)


def _labels(column: dict[str, Any], rows: int, _: np.random.Generator) -> list:
    """Return made-up labels: the most frequent as often as published, the others alike."""
    first, *others = [f"{column['name']} {n:05d}" for n in range(1, column["distinct"] + 1)]
    most = column["most"]
    return [first] * most + np.resize(others, rows - column["missing"] - most).tolist()


def _numbers(column: dict[str, Any], rows: int, rng: np.random.Generator) -> list:
    """Return numbers along the published quantiles, with the exact number of distinct values."""
    unit, quantiles, steps = 10 ** column["decimals"], column["quantiles"], column["distinct"]
    place = np.arange(steps)
    along = np.interp(np.linspace(0, 1, steps), np.linspace(0, 1, len(quantiles)), quantiles)
    units = np.round(along * unit).astype(np.int64)
    # Move equal neighbours apart by one unit each, within the published range.
    apart = np.maximum.accumulate(units - place) + place
    units = np.minimum(apart, units[-1] - place[::-1])
    values = units if unit == 1 else units / unit
    again = rng.integers(steps, size=rows - column["missing"] - steps)
    return [*values.tolist(), *values[again].tolist()]


def _within(column: dict[str, Any], parent: pd.Series, rng: np.random.Generator) -> pd.Series:
    """Return made-up labels, each of which belongs to one value of the parent column."""
    numbers, first = np.ones(len(parent), int), 1
    for value, distinct in column["per_value"]:
        home = parent.isna() if value is None else parent == value
        rows = rng.permutation(np.flatnonzero(home.to_numpy()))
        # Every label once; then early labels are more frequent.
        drawn = np.floor(distinct * rng.random(len(rows)) ** 3).astype(np.int64)
        drawn[:distinct] = np.arange(distinct)
        numbers[rows] = first + drawn
        first += distinct
    return pd.Series([f"{column['name']} {number:05d}" for number in numbers])
