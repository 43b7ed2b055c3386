"""Summaries of tables as stand_in_<name>.json has them, from published or generated tables."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

# Columns that are counted jointly; of pantheon, a column whose values each belong to a country.
JOINT = {
    "diabetes": [["diabetesMed", "insulin", "change"]],
    "stroke": [["stroke", "age"]],
    "pantheon": [
        ["gender", "domain", "industry", "occupation"],
        ["countryCode", "countryCode3", "countryName", "continentName"],
    ],
}
WITHIN = {"birthcity": "countryCode"}
# Columns with more distinct values have quantiles (numbers) or only their number (text).
MOST_COUNTED = 450
QUANTILES = 21
MOST_DECIMALS = 9


def summarize(name: str, frame: pd.DataFrame) -> dict[str, Any]:
    """Summarize a parsed table of the data set, published or generated."""
    joint = [{"columns": columns, "cells": _cells(frame[columns])} for columns in JOINT[name]]
    counted = {column for columns in JOINT[name] for column in columns}
    columns = [_describe(frame, column, column in counted, WITHIN.get(column)) for column in frame]
    return {"rows": len(frame), "columns": columns, "joint": joint}


def _cells(frame: pd.DataFrame) -> list[list[Any]]:
    """Return the distinct rows followed by their counts; missing values are None."""
    plain = frame.astype(object).where(frame.notna(), None)
    counts = Counter(zip(*(plain[column].tolist() for column in plain), strict=True))
    ordered = sorted(counts.items(), key=lambda item: [(v is None, str(v)) for v in item[0]])
    return [[*row, count] for row, count in ordered]


def _describe(frame: pd.DataFrame, name: str, counted_jointly: bool, parent: str | None) -> dict:
    column = frame[name]
    values = column.dropna()
    distinct, missing = int(values.nunique()), int(column.isna().sum())
    described: dict[str, Any] = {"name": name, "distinct": distinct, "missing": missing}
    if counted_jointly:
        return described | {"kind": "joint"}
    if parent is not None:
        homes = _homes(frame, name, parent)
        return described | {"kind": "within", "parent": parent, "per_value": homes}
    if distinct <= MOST_COUNTED:
        return described | {"kind": "counts", "counts": _cells(frame[[name]])}
    if not pd.api.types.is_numeric_dtype(values):
        return described | {"kind": "labels", "most": int(values.value_counts().iloc[0])}
    numbers = values.to_numpy(dtype=float)
    exact = (np.array_equal(np.round(numbers, places), numbers) for places in range(MOST_DECIMALS))
    decimals = next((places for places, is_exact in enumerate(exact) if is_exact), MOST_DECIMALS)
    quantiles = np.quantile(numbers, np.linspace(0, 1, QUANTILES)).round(decimals)
    return described | {"kind": "numbers", "decimals": decimals, "quantiles": quantiles.tolist()}


def _homes(frame: pd.DataFrame, name: str, parent: str) -> list[list[Any]]:
    """Return how many values of the column occur mostly with each value of the parent."""
    pairs = pd.DataFrame(_cells(frame[[name, parent]]), columns=["value", "home", "rows"])
    pairs = pairs.sort_values("rows", ascending=False, kind="stable").drop_duplicates("value")
    return _cells(pairs[["home"]])
