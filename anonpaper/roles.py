"""The roles of a table's columns, as they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.coding import MISSING
from anonpaper.errors import ColumnError, EmptyTableError, MissingValueError

#: What ``missing=`` can be.
HOW_MISSING = ("category", "drop", "error")


def missing_values(rows: Mapping[object, int]) -> MissingValueError:
    """Return the error on missing values, with their number of rows by column."""
    return MissingValueError(
        f'missing values in {rows} (column: rows): missing="drop" (--missing drop) leaves out '
        'their rows, and missing="category" (--missing category) keeps them as the value '
        f"{MISSING!r}, except in the person column"
    )


def checked_roles(columns: list, qi: Sequence, sensitive: object, person: object = None) -> tuple:
    """Return QI and sensitive attributes; ColumnError for unknown or repeated columns."""
    one = [] if sensitive is None else [sensitive]
    several = isinstance(sensitive, (list, np.ndarray, pd.Index))
    sensitives = errors.check_sequence("sensitive", sensitive) if several else one
    qi = errors.check_sequence("qi", qi)
    if not qi:
        raise EmptyTableError(f"qi (--qi) must name columns that others may know, of {columns}")
    roles = [*qi, *sensitives, *([] if person is None else [person])]
    if unknown := [name for name in roles if not errors.is_among(name, columns)]:
        raise ColumnError(f"unknown columns {unknown}; the table has {columns}")
    if doubled := [name for name in roles if roles.count(name) > 1 or columns.count(name) > 1]:
        raise ColumnError(f"used twice, or the name of several columns of the table: {doubled}")
    return qi, sensitives


def only_one(sensitive: object) -> object:
    """Return the sensitive attribute; ColumnError for no or several attributes."""
    if sensitive is None or isinstance(sensitive, list):
        told = f"this needs one sensitive attribute, but the table has {sensitive or 'none'}"
        raise ColumnError(f"{told}: choose one as sensitive (--sensitive)")
    return sensitive
