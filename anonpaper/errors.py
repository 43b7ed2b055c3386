"""Errors of the package: every one says what was wrong, where, and what would work.

All derive from :class:`AnonpaperError`, itself a :class:`ValueError`, so that one
``except`` clause can catch whatever the package has to say about its input.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

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
    "RowsError",
    "SizeLimitError",
    "check_choice",
    "check_integer",
    "check_named",
    "check_number",
    "check_numbers",
    "check_range",
    "check_sequence",
    "check_weights",
    "is_among",
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


class RowsError(AnonpaperError):
    """The rows of a table are asked for, and it knows only how many of each kind there are."""


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
        if isinstance(value, (bool, str, bytes, bytearray)):
            raise TypeError("not a number")
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} must be {wanted}, got {value!r}") from None
    below = number <= low if open_low else number < low
    if not number <= high or below:
        raise ParameterError(f"{name} must be {wanted}, got {value}")
    return number


def check_numbers(name: str, values: object) -> np.ndarray:
    """Return `values` as an array of float; ParameterError if there is anything else in them."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} must be numbers, got {values!r}") from None


def check_choice(name: str, value: object, choices: Collection) -> object:
    """Return the one of `choices` that equals `value`, or say which there are.

    Parameters
    ----------
    name : str
        The parameter's name, for the message.
    value : object
        What was given.
    choices : collection
        What may be given, text or booleans.

    Raises
    ------
    ParameterError
        If `value` equals none of them.

    Examples
    --------
    >>> check_choice("side", "left", ("left", "right"))
    'left'
    >>> check_choice("side", "up", ("left", "right"))
    Traceback (most recent call last):
        ...
    anonpaper.errors.ParameterError: side must be 'left' or 'right', got 'up'
    """
    choices = list(choices)
    if is_among(value, choices):
        return choices[choices.index(value)]
    *others, last = map(repr, choices)
    wanted = f"{', '.join(others)} or {last}" if others else last
    raise ParameterError(f"{name} must be {wanted}, got {value!r}")


def is_among(value: object, choices: Sequence) -> bool:
    """Whether `value` equals one of `choices`; False for arrays and missing values."""
    try:
        return value in choices
    except (TypeError, ValueError):  # neither equal nor different
        return False


def check_range(name: object, pair: object) -> tuple[float, float]:
    """Return the range of a column, given as a pair of finite numbers, the lower one first.

    Raises
    ------
    ParameterError
        If `pair` is none, or the range is empty.
    """
    try:
        low, high = pair
    except (TypeError, ValueError):
        raise ParameterError(f"the range of {name!r} must be a pair, got {pair!r}") from None
    bound = np.finfo(float).max
    low = check_number(f"the lower end of the range of {name!r}", low, -bound, bound)
    high = check_number(f"the upper end of the range of {name!r}", high, -bound, bound)
    if low > high:
        raise ParameterError(f"the range of {name!r} is empty: {low:g} to {high:g}")
    return low, high


def check_sequence(name: str, values: object, kind: type | None = None) -> list:
    """Return `values` as a list if they have an order and are of a kind, if one is given.

    Raises
    ------
    ParameterError
        If `values` is text, a set, a mapping or no collection, or holds something else.

    Examples
    --------
    >>> check_sequence("qi", ("age", "sex"))
    ['age', 'sex']
    """
    if isinstance(values, (str, bytes, set, frozenset, Mapping)) or not isinstance(
        values, Iterable
    ):
        raise ParameterError(f"{name} must be a sequence, got {values!r}")
    try:
        values = list(values)
    except TypeError:  # an array without a dimension
        raise ParameterError(f"{name} must be a sequence, got {values!r}") from None
    if kind is not None and not all(isinstance(value, kind) for value in values):
        raise ParameterError(f"{name} must hold objects of class {kind.__name__}, got {values!r}")
    return values


def check_named(name: str, given: Mapping | None, columns: Sequence) -> dict:
    """Return what is given per quasi-identifier as a dict, empty where nothing is.

    Parameters
    ----------
    name : str
        The parameter's name, for the message.
    given : mapping of column label to object, or None
        What was given.
    columns : sequence of column labels
        The quasi-identifiers.

    Raises
    ------
    ColumnError
        `given` names something else.
    ParameterError
        `given` is no mapping.

    Examples
    --------
    >>> check_named("hierarchies", None, ["age"])
    {}
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ParameterError(f"{name} must map column names, got {given!r}")
    unknown = [column for column in given if not is_among(column, columns)]
    if unknown:
        raise ColumnError(f"{name} names {unknown}; the quasi-identifiers are {list(columns)}")
    return dict(given)


def check_weights(
    names: Sequence, weights: Mapping[object, float] | None, *, left_out: float = 1.0
) -> np.ndarray:
    """Return the weight of every quasi-identifier, in order.

    Parameters
    ----------
    names : sequence
        The quasi-identifiers.
    weights : mapping of name to float, optional
        Finite numbers of at least 0; None gives every attribute the weight 1.
    left_out : float
        The weight of an attribute that a mapping does not name.

    Returns
    -------
    numpy.ndarray, shape (len(names),), dtype float64

    Raises
    ------
    ColumnError
        A weight for a column that is no quasi-identifier.
    ParameterError
        `weights` is no mapping, or a weight no finite number of at least 0.

    Examples
    --------
    >>> check_weights(["age", "sex"], {"age": 5}).tolist()
    [5.0, 1.0]
    """
    if weights is None:
        return np.ones(len(names))
    weights = check_named("weights", weights, names)
    for name, weight in weights.items():
        number = isinstance(weight, (int, float, np.number)) and not isinstance(weight, bool)
        if not number or not 0 <= weight < np.inf:
            raise ParameterError(
                f"the weight of {name!r} must be a finite number of at least 0, got {weight!r}"
            )
    return np.array([float(weights.get(name, left_out)) for name in names])
