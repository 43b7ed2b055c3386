"""Errors of the package: every one says what was wrong, where, and what would work.

All derive from :class:`AnonpaperError`, itself a :class:`ValueError`, so that one
``except`` clause can catch whatever the package has to say about its input.
"""

from __future__ import annotations

import operator

__all__ = [
    "AnonpaperError",
    "BudgetExceededError",
    "ChecksumError",
    "ColumnError",
    "ConstraintError",
    "DatasetError",
    "DatasetUnavailableError",
    "EmptyTableError",
    "FileError",
    "HierarchyError",
    "InfeasibleError",
    "MissingValueError",
    "NoSensitiveValueError",
    "ParameterError",
    "SizeLimitError",
    "check_integer",
    "check_number",
]


class AnonpaperError(ValueError):
    """Base class of all errors that the package raises on purpose."""


class ColumnError(AnonpaperError):
    """A column is unknown, used twice, or holds values that cannot be coded."""


class EmptyTableError(AnonpaperError):
    """A table without rows, or without quasi-identifiers, was given."""


class MissingValueError(AnonpaperError):
    """Missing values stand in a column where they were declared an error."""


class ParameterError(AnonpaperError):
    """A parameter is of the wrong type or out of its range."""


class NoSensitiveValueError(ParameterError, AttributeError):
    """A release gives its rows no sensitive value of their own: an anatomy."""


class InfeasibleError(AnonpaperError):
    """No grouping of this table can meet the principle that was asked for."""


class ConstraintError(AnonpaperError):
    """A diversity constraint, or a set of them, cannot be satisfied."""


class DatasetError(AnonpaperError):
    """Something is wrong with a data set or one of its files."""


class ChecksumError(DatasetError):
    """A file does not have the sha256 that the registry gives for it."""


class DatasetUnavailableError(DatasetError):
    """A data set is neither on disk nor to be had from any of its sources."""


class HierarchyError(AnonpaperError):
    """A generalization hierarchy is inconsistent or lacks a value."""


class FileError(AnonpaperError):
    """A file cannot be read or written as it is; the message says what to change."""


class SizeLimitError(AnonpaperError):
    """A table is too large for an algorithm of exponential cost."""


class BudgetExceededError(AnonpaperError):
    """A search ran out of the time or the steps it was given."""


def check_integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return `value` as an int, or say why it is none in the range.

    Parameters
    ----------
    name : str
        The parameter's name, for the message.
    value : int
        An integer of any type (``numpy.int64`` too; ``bool`` and ``float`` are refused).
    low, high : int
        The smallest and the largest value allowed; ``high=None`` leaves the range open.

    Raises
    ------
    ParameterError
        If `value` is not an integer or outside of ``[low, high]``.

    Examples
    --------
    >>> check_integer("k", 5, 2, 10)
    5
    >>> check_integer("k", 1, 2, 10)
    Traceback (most recent call last):
        ...
    anonpaper.errors.ParameterError: k must be an integer from 2 to 10, got 1
    """
    if high is not None and high < low:
        raise ParameterError(
            f"{name} must be at least {low}, but this table allows {high} at most: it is too small"
        )
    reach = f"of at least {low}" if high is None else f"from {low} to {high}"
    wanted = f"an integer {reach}"
    try:
        if isinstance(value, bool):
            raise TypeError("bool")
        number = operator.index(value)
    except TypeError:
        raise ParameterError(f"{name} must be {wanted}, got {value!r}") from None
    if number < low or (high is not None and number > high):
        raise ParameterError(f"{name} must be {wanted}, got {number}")
    return number


def check_number(
    name: str, value: object, low: float, high: float, *, open_low: bool = False
) -> float:
    """Return `value` as a float, or say why it is none in the range.

    Parameters
    ----------
    name : str
        The parameter's name, for the message.
    value : float
        A real number; NaN is refused.
    low, high : float
        The range, both ends included unless `open_low`.
    open_low : bool
        Whether `low` itself is excluded.

    Raises
    ------
    ParameterError
        If `value` is not a number or outside of the range.

    Examples
    --------
    >>> check_number("theta", 0.3, 0, 1, open_low=True)
    0.3
    >>> check_number("theta", 0, 0, 1, open_low=True)
    Traceback (most recent call last):
        ...
    anonpaper.errors.ParameterError: theta must be a number in (0, 1], got 0
    """
    wanted = f"a number in {'(' if open_low else '['}{low}, {high}]"
    try:
        if isinstance(value, (bool, str)):
            raise TypeError("not a number")
        number = float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be {wanted}, got {value!r}") from None
    below = number <= low if open_low else number < low
    if not number <= high or below:
        raise ParameterError(f"{name} must be {wanted}, got {value}")
    return number
