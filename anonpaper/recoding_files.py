"""Recodings beyond their table: the values of other tables, and files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import pairwise
from math import isfinite
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.errors import AnonpaperError, FileError, ParameterError, is_among
from anonpaper.files import named_by_user
from anonpaper.hierarchy import STAR
from anonpaper.microdata import MISSING, Attribute
from anonpaper.principles import read_principle

__all__ = ["content", "labels", "read", "sub_domains_of"]

_FORMAT = "anonpaper recoding 1"


def labels(r, j: int) -> list:
    """Return how the sub-domains of attribute j are written."""
    return r.members(r.attributes[j].name).labels.tolist()


def sub_domains_of(r, j: int, values: np.ndarray) -> np.ndarray:
    """The sub-domain of given values of attribute j, shape (len(values),); -1 if new."""
    attribute, ids = r.attributes[j], r.maps[j]
    if labels(r, j) == [STAR]:
        return np.zeros(len(values), np.intp)
    number = dict(zip(*_named_by_tree(r, j), strict=True))
    pairs = zip(attribute.values, ids, strict=True)
    number |= {text: i for value, i in pairs for text in _texts(value)}
    intervals = _intervals(r, j)

    def of(value):
        found = next((number[text] for text in _texts(value) if text in number), -1)
        within = (i for i, low, high in intervals if _lies_within(value, low, high))
        return found if found >= 0 else next(within, -1)

    return np.fromiter(map(of, values), np.intp, len(values))


def _texts(value: object) -> list[str]:
    """How a value may be written: 5.0 equals 5, but True is not 1."""
    whole = [str(int(value))] if _is_number(value) and float(value).is_integer() else []
    return [str(value), *whole]


def _intervals(r, j: int) -> list[tuple[int, object, object]]:
    """Sub-domains written as intervals of an ordered domain: numbers, first and last values."""
    attribute, members = r.attributes[j], r.members(r.attributes[j].name)
    values = attribute.values
    is_sorted = attribute.numeric or (
        attribute.ordered and all(_lies_within(low, low, high) for low, high in pairwise(values))
    )
    if r.names[j] is not None or not is_sorted:
        return []
    runs = np.flatnonzero((members.sizes > 1) & ~members.has_gaps & ~members.is_star)
    return [(int(i), values[members.low[i]], values[members.high[i]]) for i in runs]


def _named_by_tree(r, j: int) -> tuple[list[str], list[int]]:
    """Values of the tree below a name in use, as text, and the sub-domains of that name."""
    tree = r.trees.get(r.attributes[j].name)
    if tree is None or r.names[j] is None:
        return [], []
    number = {str(label): i for i, label in enumerate(labels(r, j))}
    found = {row[0]: [number[name] for name in row if name in number] for row in tree.rows}
    held = {value: numbers[0] for value, numbers in found.items() if numbers}
    return list(held), list(held.values())


def _told(r, j: int) -> dict[str, list]:
    """The entry of attribute j in a saved file."""
    attribute, ids, written = r.attributes[j], r.maps[j], labels(r, j)
    if written == [STAR]:
        return {"values": [STAR], "map": [0], "names": [STAR]}
    texts, numbers = _named_by_tree(r, j)
    if texts:
        return {"values": texts, "map": numbers, "names": written}
    told = np.ones(attribute.size, dtype=bool)
    for i, low, high in _intervals(r, j):
        told[ids == i] = [value in (low, high) for value in attribute.values[ids == i]]
    names = None if r.names[j] is None else r.names[j].tolist()
    values = attribute.values[told].tolist()
    return {"values": values, "map": ids[told].tolist(), "names": names}


def content(r) -> str:
    """Return the JSON text of a recoding that has no withheld value."""
    parts = [
        {"name": a.name, "numeric": a.numeric, "ordered": a.ordered, **_told(r, j)}
        for j, a in enumerate(r.attributes)
    ]
    told = {"format": _FORMAT, "algorithm": r.algorithm, "attributes": parts}
    for name in ("withhold", "promised"):
        told[name] = [repr(p) for p in getattr(r, name) if read_principle(repr(p))]
    try:
        for part in parts:  # JSON would give a tuple back as a list
            _check_plain([part["name"], *part["values"], *(part["names"] or [])])
        return json.dumps(told, default=_time, indent=1, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"only texts, numbers and timestamps can be saved ({error}): convert columns first"
        ) from None


def read(path: str | os.PathLike, kind: Callable):
    """Return the recoding in a file, made by `kind`, the class; FileError for anything else."""
    with named_by_user(path):
        held = Path(path).read_bytes()
    try:
        told = json.loads(held.decode(), object_hook=_with_times)
        json.dumps(told, ensure_ascii=False, default=str).encode()  # half a character
        if told["format"] != _FORMAT:
            raise KeyError(f"format {_FORMAT!r}")
        parts = told["attributes"]
        attributes = [_attribute(**part) for part in parts]
        if len({a.name for a in attributes}) < len(attributes):
            raise ValueError("two attributes of one name")
        names = [p["names"] and np.array([*p["names"], None], object)[:-1] for p in parts]
        withhold = [read_principle(text) for text in told["withhold"]]
        maps = [part["map"] for part in parts]
        r = kind(attributes, maps, None, str(told["algorithm"]), names, withhold=withhold)
        r.promised = tuple(map(read_principle, told.get("promised", [])))
        return r
    except (AnonpaperError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError,
            RecursionError) as error:  # fmt: skip
        raise FileError(
            f"{path} is not a recoding written by Recoding.save "
            f"({type(error).__name__}: {str(error)[:200]})"
        ) from None


def _check_plain(values: list) -> None:
    for value in values:
        if not isinstance(value, str | int | float | np.generic | pd.Timestamp):
            raise TypeError(f"{str(value)[:40]!r} is a {type(value).__name__}")


def _attribute(name, numeric: bool, ordered: bool, values: list, map: list, names) -> Attribute:
    """Return an attribute from its entry in a file: text, numbers and booleans."""
    if not (type(numeric) is type(ordered) is bool and all(type(i) is int for i in map)):
        raise TypeError("numeric, ordered or map has a wrong type")
    _check_plain([name, *values, *(names or [])])
    if len(set(values)) < len(values) or not isinstance(values, list):
        raise ValueError("a value occurs twice")
    numeric = numeric and names is None  # values of named trees are texts
    values = np.array([*values, None], dtype=object)[:-1]
    positions = values.astype(float) if numeric else np.arange(len(values), dtype=float)
    if numeric and not (all(_is_number(v) for v in values) and (np.diff(positions) > 0).all()):
        raise ValueError("numbers do not ascend")
    if not all(isfinite(value) for value in [*values, *(names or [])] if _is_number(value)):
        raise ValueError("a number is not finite")
    return Attribute(name, values, numeric, ordered, positions)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _lies_within(value: object, low: object, high: object) -> bool:
    """Whether a value has the type of two bounds and is between them; a missing one is not."""
    ends = value, low, high
    texts = all(isinstance(end, str) for end in ends) and not is_among(MISSING, ends)
    instants = all(isinstance(end, pd.Timestamp) for end in ends)
    try:
        return bool((texts or instants or all(map(_is_number, ends))) and low <= value <= high)
    except TypeError:  # one of two instants has no time zone
        return False


def _time(told: object) -> dict:
    """Return the JSON form of an instant, the only type that JSON lacks."""
    if not isinstance(told, pd.Timestamp):
        raise TypeError(f"{told!r} is a {type(told).__name__}")
    return {"time": told.isoformat()}


def _with_times(told: dict) -> object:
    if set(told) != {"time"}:
        return told
    time = pd.Timestamp(told["time"])
    if not isinstance(told["time"], str) or time.isoformat() != told["time"]:
        raise ValueError(f"{told['time']!r} is not a timestamp")
    return time
