"""Stand-ins: tables with the published schema and counts, for files that cannot be fetched.

``stand_in_<name>.json`` summarizes the published file without its records: per column the numbers
of distinct and missing values, and the counts of its values (if there are many: quantiles, or only
their number). A few columns are counted jointly, all others are independent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anonpaper.randomness import generator

__all__ = ["VERSION", "generate", "published_summary"]

#: Part of every cache key: raise it when the generator changes.
VERSION = 2


def published_summary(name: str) -> dict[str, Any]:
    """Return the published summary of a data set."""
    path = Path(__file__).with_name(f"stand_in_{name}.json")
    return json.loads(path.read_text(encoding="utf-8"))


def generate(summary: dict[str, Any], seed: int = 0) -> pd.DataFrame:
    """Generate a table from a summary; its values are plain numbers and text."""
    rng = generator(seed)
    rows = summary["rows"]
    made: dict[str, pd.Series] = {}
    for table in summary["joint"]:
        values = _repeated(table["cells"], rng.permutation(rows))
        made.update(zip(table["columns"], values, strict=True))
    for column in summary["columns"]:
        name, kind = column["name"], column["kind"]
        if kind == "counts":
            (made[name],) = _repeated(column["counts"], rng.permutation(rows))
        elif kind == "within":
            made[name] = _within(column, made[column["parent"]], rng)
        elif kind != "joint":
            values = (_labels if kind == "labels" else _numbers)(column, rows, rng)
            made[name] = pd.Series(values + [None] * column["missing"])
            made[name] = made[name].take(rng.permutation(rows)).reset_index(drop=True)
    return pd.DataFrame({column["name"]: made[column["name"]] for column in summary["columns"]})


def _repeated(cells: list[list[Any]], order: np.ndarray) -> list[pd.Series]:
    """Return one column per value of the cells, every cell as often as its count says."""
    *columns, counts = zip(*cells, strict=True)
    places = np.repeat(np.arange(len(cells)), counts)[order]
    return [pd.Series(list(values)).take(places).reset_index(drop=True) for values in columns]


def _labels(column: dict[str, Any], rows: int, _: np.random.Generator) -> list:
    """Return made-up labels: the most frequent as often as published, the others alike."""
    most, others = column["most"], rows - column["missing"] - column["most"]
    labels = [f"{column['name']} {number:05d}" for number in range(1, column["distinct"] + 1)]
    return labels[:1] * most + [labels[1 + i % (len(labels) - 1)] for i in range(others)]


def _numbers(column: dict[str, Any], rows: int, rng: np.random.Generator) -> list:
    """Return numbers along the published quantiles, with the exact number of distinct values."""
    size, distinct, unit = rows - column["missing"], column["distinct"], 10 ** column["decimals"]
    share = np.linspace(0, 1, distinct)
    quantiles = column["quantiles"]
    along = np.interp(share, np.linspace(0, 1, len(quantiles)), quantiles)
    units = np.round(along * unit).astype(np.int64)
    # Move equal neighbours apart by one unit each, within the published range.
    steps = np.arange(distinct)
    last = units[-1]
    units = np.maximum.accumulate(units - steps) + steps
    units = np.minimum(units, last - steps[::-1])
    values = units if unit == 1 else units / unit
    again = values[rng.integers(distinct, size=size - distinct)]
    return np.concatenate([values, again]).tolist()


def _within(column: dict[str, Any], parent: pd.Series, rng: np.random.Generator) -> pd.Series:
    """Return made-up labels, each of which belongs to one value of the parent column."""
    first = 1
    labels = np.full(len(parent), f"{column['name']} 00001", dtype=object)
    for value, distinct in column["per_value"]:
        home = parent.isna() if value is None else parent == value
        rows = rng.permutation(np.flatnonzero(home.to_numpy()))
        # Every label once; then early labels are more frequent.
        drawn = np.floor(distinct * rng.random(len(rows)) ** 3).astype(np.int64)
        drawn[:distinct] = np.arange(distinct)
        labels[rows] = [f"{column['name']} {first + number:05d}" for number in drawn]
        first += distinct
    return pd.Series(labels)
