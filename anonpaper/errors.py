"""Errors of the package: each message names the problem, its place, and a remedy.

All derive from :class:`AnonpaperError`, a :class:`ValueError`. The checks below return their value
in one form, or raise ParameterError.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

__all__ = [
    "AnonpaperError", "BudgetExceededError", "ChecksumError", "ColumnError", "ConstraintError",
    "DatasetError", "DatasetUnavailableError", "EmptyTableError", "FileError", "HierarchyError",
    "InfeasibleError", "MissingValueError", "NotInstalledError", "ParameterError",
    "PromiseError", "RowsError", "SizeLimitError",
]  # fmt: skip


class AnonpaperError(ValueError):
    """Base class of all errors that the package raises on purpose."""


class ColumnError(AnonpaperError):
    """A column is unknown, used twice, or has values that cannot be coded."""


class EmptyTableError(AnonpaperError):
    """A table has no rows, or no quasi-identifiers."""


class MissingValueError(AnonpaperError):
    """Missing values occur in a column where they were declared an error."""


class ParameterError(AnonpaperError):
    """A parameter has a wrong type or is out of its range."""


class InfeasibleError(AnonpaperError):
    """No grouping of this table can meet the required principle."""


class PromiseError(AnonpaperError):
    """A release keeps less than what made it promised; the message says what would work."""


class ConstraintError(AnonpaperError):
    """A diversity constraint, or a set of them, cannot be satisfied."""


class DatasetError(AnonpaperError):
    """Something is wrong with a data set or one of its files."""


class ChecksumError(DatasetError):
    """A file does not have the sha256 that the registry gives for it."""


class DatasetUnavailableError(DatasetError):
    """A data set is neither on disk nor available from any source."""


class HierarchyError(AnonpaperError):
    """A generalization hierarchy is inconsistent or lacks a value."""


class FileError(AnonpaperError):
    """A file cannot be read or written; the message says what to change."""


class RowsError(AnonpaperError):
    """Single rows are needed, but the table knows only how many of each kind there are."""


class SizeLimitError(AnonpaperError):
    """A table is too large for an algorithm of exponential cost."""


class BudgetExceededError(AnonpaperError):
    """A search ran out of its time or steps."""


class NotInstalledError(ModuleNotFoundError, AnonpaperError):
    """A package is not installed; the message names the extra of anonpaper that brings it."""


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Raise NotInstalledError if the block imports a package that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise NotInstalledError(
            f"{error.name} is not installed, and this needs it: pip install 'anonpaper[{extra}]', "
            f"or pip install '.[{extra}]' in a clone of anonpaper",
            name=error.name,
        ) from None


def check_integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return `value` as an int from `low` to `high`; not a bool or float."""
    try:
        number = operator.index(None if isinstance(value, bool) else value)
    except TypeError:
        number = low - 1
    if number < low or (high is not None and number > high):
        reach = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ParameterError(f"{name} must be an integer {reach}, got {value!r}")
    return number


def check_number(name: str, value: object, low: float, high: float, *, open_low=False) -> float:
    """Return `value` as a float from `low` (excluded if `open_low`) to `high`."""
    try:
        number = float(None if isinstance(value, (bool, str, bytes, bytearray)) else value)
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not low <= number <= high or (open_low and number == low):
        reach = f"{'(' if open_low else '['}{low}, {high}]"
        raise ParameterError(f"{name} must be a number in {reach}, got {value!r}")
    return number


def check_choice(name: str, value: object, choices: Collection) -> object:
    """Return the element of `choices`, text or booleans, that equals `value`."""
    choices = list(choices)
    if is_among(value, choices):
        return choices[choices.index(value)]
    wanted = " or ".join(map(repr, choices))
    raise ParameterError(f"{name} must be {wanted}, got {value!r}")


def is_among(value: object, choices: Sequence) -> bool:
    """Whether `value` equals one of `choices`; False for arrays and missing values."""
    try:
        return value in choices
    except (TypeError, ValueError):  # neither equal nor different
        return False


def check_sequence(name: str, values: object, kind: type | None = None) -> list:
    """Return `values` as a list if they are ordered; all of type `kind`, if given."""
    plain = not isinstance(values, (str, bytes, set, frozenset, Mapping))
    try:  # a DataFrame or a matrix is no sequence
        found = list(values if plain and getattr(values, "ndim", 1) == 1 else None)
    except TypeError:
        raise ParameterError(f"{name} must be a sequence, got {values!r}") from None
    if kind is not None and not all(isinstance(value, kind) for value in found):
        raise ParameterError(f"{name} must hold objects of class {kind.__name__}, got {found!r}")
    return found


def check_named(name: str, given: Mapping | None, columns: Sequence) -> dict:
    """Return values given by column as a dict; ColumnError for one that is not in `columns`."""
    if not isinstance(given, Mapping | None):
        raise ParameterError(f"{name} must map column names, got {given!r}")
    given = dict(given or {})
    unknown = [column for column in given if not is_among(column, columns)]
    if unknown:
        raise ColumnError(f"{name} names {unknown}; the columns are {list(columns)}")
    return given


def check_weights(names: Sequence, weights: Mapping | None, left_out: float = 1.0) -> np.ndarray:
    """Return each quasi-identifier's weight: `left_out` if it is not named."""
    weights, most = check_named("weights", weights, names), np.finfo(float).max
    checked = {name: check_number(f"weights[{name!r}]", w, 0, most) for name, w in weights.items()}
    return np.array([checked.get(name, left_out) for name in names])
