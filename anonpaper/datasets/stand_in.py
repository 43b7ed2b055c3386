"""Stand-ins: tables with the published schema and counts, for files that cannot be fetched.

``stand_in_<name>.json`` summarizes the published file without its records: per column the numbers
of distinct and missing values, and the counts of its values (if there are many: quantiles, or only
their number). A few columns are counted jointly, all others are independent. It is made by
``write_summary(name, summarize(name, frame))`` from the parsed published file.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anonpaper.datasets.registry import listed
from anonpaper.files import write_whole
from anonpaper.randomness import generator

__all__ = ["VERSION", "generate", "published_summary", "summarize", "write_summary"]

#: Part of every cache key: raise it when the generator changes.
VERSION = 1

#: Columns with more distinct values have quantiles (numbers) or only their number (text).
MOST_COUNTED = 450
QUANTILES = 21
MOST_DECIMALS = 9


def _summary_file(name: str) -> Path:
    return Path(__file__).with_name(f"stand_in_{name}.json")


def published_summary(name: str) -> dict[str, Any]:
    """Return the published summary of a data set."""
    return json.loads(_summary_file(name).read_text(encoding="utf-8"))


def write_summary(name: str, summary: dict[str, Any]) -> Path:
    """Write a summary to its place in the package, one column per line."""
    lines, joint = (",\n".join(map(json.dumps, summary[key])) for key in ("columns", "joint"))
    text = f'{{"rows": {summary["rows"]},\n"columns": [\n{lines}\n],\n"joint": [\n{joint}\n]}}\n'
    write_whole(_summary_file(name), text)
    return _summary_file(name)


def summarize(name: str, frame: pd.DataFrame) -> dict[str, Any]:
    """Summarize a parsed table of the data set, published or generated."""
    about = listed("tables")[name]
    joint = [{"columns": columns, "cells": _cells(frame[columns])} for columns in about["joint"]]
    counted = {column for columns in about["joint"] for column in columns}
    columns = [
        _describe(frame, column, column in counted, about.get("within", {}).get(column))
        for column in frame
    ]
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


def generate(summary: dict[str, Any], seed: int = 0) -> pd.DataFrame:
    """Generate a table from a summary; its values are plain numbers and text."""
    rng = generator(seed)
    rows = summary["rows"]
    made: dict[str, pd.Series] = {}
    for table in summary["joint"]:
        values = _repeated(table["cells"], rng.permutation(rows))
        made.update(zip(table["columns"], values, strict=True))
    makers = {"counts": _counts, "labels": _labels, "numbers": _numbers}
    for column in summary["columns"]:
        if column["kind"] in makers:
            made[column["name"]] = makers[column["kind"]](column, rows, rng)
        elif column["kind"] == "within":
            made[column["name"]] = _within(column, made[column["parent"]], rng)
    return pd.DataFrame({column["name"]: made[column["name"]] for column in summary["columns"]})


def _repeated(cells: list[list[Any]], order: np.ndarray) -> list[pd.Series]:
    """Return one column per value of the cells, every cell as often as its count says."""
    *columns, counts = zip(*cells, strict=True)
    places = np.repeat(np.arange(len(cells)), counts)[order]
    return [pd.Series(list(values)).take(places).reset_index(drop=True) for values in columns]


def _counts(column: dict[str, Any], rows: int, rng: np.random.Generator) -> pd.Series:
    return _repeated(column["counts"], rng.permutation(rows))[0]


def _with_missing(values: list[Any], missing: int, rng: np.random.Generator) -> pd.Series:
    series = pd.Series(values + [None] * missing)
    return series.take(rng.permutation(len(series))).reset_index(drop=True)


def _labels(column: dict[str, Any], rows: int, rng: np.random.Generator) -> pd.Series:
    """Return made-up labels: the most frequent as often as published, the others a long tail."""
    size, distinct = rows - column["missing"], column["distinct"]
    counts = np.ones(distinct, dtype=np.int64)
    counts[0] = column["most"]
    spare = size - counts.sum()
    share = 1 / np.arange(2, distinct + 1) ** 0.9
    extra = np.floor(spare * share / share.sum()).astype(np.int64)
    counts[1:] += np.minimum(extra, column["most"] - 1)
    while (spare := size - counts.sum()) > 0:  # left over by rounding and the cap
        room = np.flatnonzero(counts < column["most"])[:spare]
        counts[room] += 1
    names = [f"{column['name']} {number:05d}" for number in range(1, distinct + 1)]
    values = np.repeat(np.array(names, dtype=object), counts).tolist()
    return _with_missing(values, column["missing"], rng)


def _numbers(column: dict[str, Any], rows: int, rng: np.random.Generator) -> pd.Series:
    """Return numbers along the published quantiles, with the exact number of distinct values."""
    size, distinct, unit = rows - column["missing"], column["distinct"], 10 ** column["decimals"]
    share = np.linspace(0, 1, distinct)
    along = np.interp(share, np.linspace(0, 1, QUANTILES), column["quantiles"])
    units = np.round(along * unit).astype(np.int64)
    # Move equal neighbours apart by one unit each, within the published range.
    steps = np.arange(distinct)
    last = units[-1]
    units = np.maximum.accumulate(units - steps) + steps
    units = np.minimum(units, last - steps[::-1])
    values = units if unit == 1 else units / unit
    again = values[rng.integers(distinct, size=size - distinct)]
    return _with_missing(np.concatenate([values, again]).tolist(), column["missing"], rng)


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
