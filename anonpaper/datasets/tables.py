"""The published tables: read from files, or generated with the published schema and counts.

columns.csv and orders.csv list columns, and values in their meaningful order. A
``stand_in_<name>.json`` summarizes a file without its records. It counts the values of a column,
or of a few columns together. Many numbers are summarized by quantiles, many texts by their number.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path

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
    orders = _listed("orders.csv", name).groupby("column")["value"].agg(list)
    if name == "pantheon":  # years are whole numbers or missing
        frame["birthyear"] = pd.to_numeric(frame["birthyear"], errors="coerce").astype("Int64")
    kinds = dict.fromkeys(frame.select_dtypes(exclude="number"), "category")
    return frame.astype(kinds | {of: pd.CategoricalDtype(o, True) for of, o in orders.items()})


def generate(data: str) -> pd.DataFrame:
    """Generate the stand-in of a data set from its summary."""
    summary = json.loads(Path(__file__).with_name(f"stand_in_{data}.json").read_text("utf-8"))
    rng, rows, made = generator(0), summary["rows"], pd.DataFrame(index=range(summary["rows"]))
    for table in summary["counted"]:
        cells = pd.DataFrame(table["cells"], columns=[*table["columns"], "count"])
        drawn = rng.permutation(np.repeat(cells.index, cells.pop("count")))
        made[table["columns"]] = cells.take(drawn).reset_index(drop=True)
    for name, column in summary["numbers"].items():
        levels = np.linspace(0, 1, len(column["quantiles"]))
        values = np.interp(rng.random(rows), levels, column["quantiles"])
        made[name] = values.round(column["decimals"]).astype(float if column["decimals"] else int)
    for name, column in summary["labels"].items():
        within = made.get(column["within"], pd.Series("", made.index)).fillna("")
        distinct = within.map(column["distinct"])
        place = within.sample(frac=1, random_state=rng).groupby(within).cumcount().sort_index()
        # every label once; then early labels are more frequent
        drawn = (distinct * rng.random(rows) ** 3).astype(int)
        made[name] = name + " " + within + place.where(place < distinct, drawn).map(" {}".format)
    for name, column in (summary["numbers"] | summary["labels"]).items():
        made[name] = made[name].mask(rng.permutation(rows) < column["missing"])
    return finish(data, made[summary["order"]])
