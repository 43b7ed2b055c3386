"""Cleaning: basic repairs of a table, one step after another, each recorded.

Source: majeed2024, section 4.1.2 and Table 4, which name techniques without details. Here they
remove nobody: people with equal quasi-identifiers are mostly different people, and an outlier is
a person, or an error to correct.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from anonpaper.errors import MissingValueError, ParameterError
from anonpaper.microdata import MISSING
from anonpaper.roles import checked_roles

__all__ = ["clean"]

_STEPS = ["attribute arrangement", "NSA and EI removal", "outlier removal", "missing values",
          "attribute type checks", "value formatting"]  # fmt: skip


def clean(
    frame: pd.DataFrame, qi: Sequence, sensitive: object
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Apply the steps of Table 4 in its order and record each of them.

    Only the columns `qi` and `sensitive` are kept, in this order; missing values become ``"?"``.
    The account has one row per step: ``step``, ``rows`` and ``columns`` after it,
    ``values_changed``, ``rows_removed``, ``columns_removed``. ColumnError for a column that is
    unknown or used twice, MissingValueError for a missing number.

    >>> frame = pd.DataFrame({"ill": [1, 0], "job": ["nurse", None], "name": ["Ann", "Bob"]})
    >>> table, account = clean(frame, ["job"], "ill")
    >>> table["job"].tolist(), account["columns_removed"].sum().item()
    (['nurse', '?'], 1)
    """
    if not isinstance(frame, pd.DataFrame):
        raise ParameterError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
    qi, sensitives = checked_roles(list(frame.columns), qi, sensitive)
    kept = frame[[*qi, *sensitives]]
    account = pd.DataFrame({"step": _STEPS, "rows": len(frame), "columns": kept.shape[1]})
    account.loc[0, "columns"] = frame.shape[1]
    account[["values_changed", "rows_removed", "columns_removed"]] = 0
    account.loc[3, "values_changed"] = kept.isna().to_numpy().sum()
    account.loc[1, "columns_removed"] = frame.shape[1] - kept.shape[1]
    return kept.apply(_filled), account


def _filled(column: pd.Series) -> pd.Series:
    """Return a column with "?" for missing values; MissingValueError for numbers."""
    if not column.isna().any():
        return column
    if pd.api.types.is_numeric_dtype(column):
        raise MissingValueError(f"numbers are missing in {column.name!r}: drop their rows first")
    if isinstance(column.dtype, pd.CategoricalDtype) and MISSING not in column.cat.categories:
        column = column.cat.add_categories([MISSING])
    return column.fillna(MISSING)
