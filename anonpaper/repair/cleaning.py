"""Cleaning: basic repairs of a table, one step after another, each recorded.

Source: majeed2024, section 4.1.2 and Table 4, which name techniques without details. Two of them
remove nobody here: people with equal quasi-identifiers are mostly different people, so removing
"redundant records" would distort counts; and an outlier is a person, or an error to correct.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from anonpaper.errors import (
    ColumnError,
    EmptyTableError,
    MissingValueError,
    ParameterError,
    check_choice,
    check_named,
    check_range,
)
from anonpaper.microdata import MISSING
from anonpaper.roles import checked_roles

__all__ = ["clean"]


def clean(
    frame: pd.DataFrame,
    qi: Sequence,
    sensitive: object,
    *,
    ranges: Mapping[object, tuple[float, float]] | None = None,
    missing: str = "category",
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Apply the steps of Table 4 in its order and record each of them.

    Parameters
    ----------
    frame, qi, sensitive
        A DataFrame, and its columns to keep, in this order; all others, also names, are removed.
    ranges : mapping of column to (low, high), optional
        The least and greatest plausible numbers; missing values are not outliers.
    missing : {"category", "drop"}
        Drop rows with missing values, or write ``"?"``, which only columns of text can hold.

    Returns
    -------
    frame, account : pandas.DataFrame
        The table after the last step, and one row per step: ``step``, ``rows`` and ``columns``
        after it, ``values_changed``, ``rows_removed``, ``columns_removed``, ``note``.

    Raises
    ------
    ColumnError, EmptyTableError, MissingValueError, ParameterError
        A column is unknown, used twice or of mixed kinds; no row is left; a value that may not
        be missing is; a range is empty, or a number is out of it.

    Examples
    --------
    >>> frame = pd.DataFrame({"ill": [1, 0], "age": [30, None], "name": ["Ann", "Bob"]})
    >>> table, account = clean(frame, ["age"], "ill", missing="drop")
    >>> table.columns.tolist(), account["rows_removed"].sum().item()
    (['age', 'ill'], 1)
    """
    if not isinstance(frame, pd.DataFrame):
        raise ParameterError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
    check_choice("missing", missing, ("category", "drop"))
    columns = list(frame.columns)
    qi, sensitives = checked_roles(columns, qi, sensitive)
    roles = [*qi, *sensitives]
    ranges = check_named("ranges", ranges, roles)
    numeric = sum(pd.api.types.is_numeric_dtype(frame[name]) for name in qi)
    others = [name for name in columns if name not in roles]
    account = []

    def record(step: str, after: pd.DataFrame, note: str, changed: int = 0) -> pd.DataFrame:
        if after.empty:
            raise EmptyTableError(f"no row is left after {step!r}")
        account.append({
            "step": step, "rows": len(after), "columns": after.shape[1],
            "values_changed": changed, "rows_removed": len(frame) - len(after),
            "columns_removed": frame.shape[1] - after.shape[1], "note": note,
        })  # fmt: skip
        return after

    note = f"{len(qi)} quasi-identifiers, sensitive {sensitive!r}, {len(others)} others"
    frame = record("attribute arrangement", frame[roles + others], note)
    frame = record("NSA and EI removal", frame[roles], ", ".join(map(str, others)))
    outside = pd.DataFrame(False, frame.index, list(ranges))
    for name, pair in ranges.items():
        low, high = check_range(name, pair)
        if not pd.api.types.is_numeric_dtype(frame[name]):
            raise ColumnError(f"{name!r} is not numeric: remove it from ranges")
        outside[name] = frame[name].notna() & ~frame[name].between(low, high)
    note = _counted(outside)
    if outside.any(axis=None):
        raise ParameterError(f"values out of range ({note}): correct or drop their rows first")
    frame = record("outlier removal", frame, note)
    lacking = frame.isna()
    whole = frame.dropna() if missing == "drop" else frame.apply(_filled)
    filled = int(lacking.to_numpy().sum()) if missing == "category" else 0
    frame = record("missing values", whole, _counted(lacking), filled)
    for name in roles:
        known = frame[name].dropna().unique()
        kinds = sorted({type(value).__name__ for value in known})
        if frame[name].dtype == object and len(kinds) > 1:
            raise ColumnError(f"{name!r} mixes {', '.join(kinds)}: {list(known[:5])}")
    frame = record("attribute type checks", frame, f"{numeric} columns of numbers")
    frame = record("value formatting", frame, "nothing to format")
    return frame, pd.DataFrame(account)


def _filled(column: pd.Series) -> pd.Series:
    """Return a column with "?" for missing values; MissingValueError for numbers."""
    if not column.isna().any():
        return column
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        raise MissingValueError(f'numbers are missing in {column.name!r}: use missing="drop"')
    if isinstance(column.dtype, pd.CategoricalDtype) and MISSING not in column.cat.categories:
        column = column.cat.add_categories([MISSING])
    return column.fillna(MISSING)


def _counted(mask: pd.DataFrame) -> str:
    counts = mask.sum()
    return "; ".join(f"{name}: {n}" for name, n in counts[counts > 0].items()) or "none found"
