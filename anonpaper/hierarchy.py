"""Hierarchies: trees over the values of one attribute, level by level, as ARX reads them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import floor
from numbers import Integral
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.errors import (
    HierarchyError,
    ParameterError,
    check_integer,
    check_named,
    check_number,
    check_sequence,
)
from anonpaper.microdata import Attribute

__all__ = ["STAR", "Hierarchy", "check_hierarchies", "exact_number"]

#: How a suppressed value is written.
STAR = "*"


class Hierarchy:
    """A generalization hierarchy of one attribute: every value with its name on each level.

    Parameters
    ----------
    rows : sequence of sequence of str
        One row per value: the value, then its generalizations from the lowest level up. All rows
        are of one length; equal names on a level must stay equal on every higher level, and a
        name that stands on several levels must be of the same values on each.

    Raises
    ------
    HierarchyError
        Rows of different length, a value that stands twice, a name with two parents, or one that
        stands for two sets of values: published, it would not say which is meant.

    Examples
    --------
    >>> h = Hierarchy([["BSc", "higher", "*"], ["MSc", "higher", "*"], ["9th", "low", "*"]])
    >>> h.height, h.names(1)
    (2, ['higher', 'low'])
    """

    def __init__(self, rows: Sequence[Sequence]) -> None:
        rows = check_sequence("rows", rows)
        rows = [[str(name) for name in check_sequence("a row", row)] for row in rows]
        if not rows or not all(rows):
            raise HierarchyError("a hierarchy needs at least one value, and a value in every row")
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            short = min(rows, key=len)
            raise HierarchyError(
                f"all rows must have the same number of levels; {short[0]!r} has {len(short)}, "
                f"others up to {max(lengths)}"
            )
        self._row_of = {row[0]: row for row in rows}
        if len(self._row_of) < len(rows):
            seen: set[str] = set()
            twice = sorted({row[0] for row in rows if row[0] in seen or seen.add(row[0])})
            raise HierarchyError(f"values that stand twice: {twice}")
        for level in range(1, len(rows[0]) - 1):
            parent: dict[str, str] = {}
            for row in rows:
                if parent.setdefault(row[level], row[level + 1]) != row[level + 1]:
                    raise HierarchyError(
                        f"{row[level]!r} on level {level} belongs to both "
                        f"{parent[row[level]]!r} and {row[level + 1]!r} on level {level + 1}"
                    )
        self.rows = rows
        self._check_names()

    def _check_names(self) -> None:
        """Refuse a name that stands for two sets of values.

        Sets of a tree are nested: equal ones have the same first value and the same size.
        """
        known: dict[str, tuple[str, int]] = {}
        for level in range(self.height + 1):
            column = [row[level] for row in self.rows]
            first = {row[level]: row[0] for row in reversed(self.rows)}
            for name, size in Counter(column).items():
                node = (first[name], size)
                if known.setdefault(name, node) != node:
                    meant = " and ".join(f"{n} from {v!r} on" for v, n in (known[name], node))
                    raise HierarchyError(
                        f"{name!r} stands for two sets of values, {meant}: rename one of the two"
                    )

    @property
    def height(self) -> int:
        """Highest level; level 0 holds the values themselves."""
        return len(self.rows[0]) - 1

    def names(self, level: int) -> list[str]:
        """Names on a level, in the order of their first value."""
        level = check_integer("level", level, 0, self.height)
        return list(dict.fromkeys(row[level] for row in self.rows))

    def generalize(self, value: object, level: int) -> str:
        """Return the name of a value on a level; HierarchyError if the value is not in it."""
        level = check_integer("level", level, 0, self.height)
        if str(value) not in self._row_of:
            raise HierarchyError(f"the hierarchy lacks the value {value!r}")
        return self._row_of[str(value)][level]

    def written(self, value: object, level: int) -> object:
        """Return what is published of a value on a level: itself if it is its own name there."""
        name = self.generalize(value, level)
        return value if name == str(value) else name

    def map_at(self, attribute: Attribute, level: int) -> np.ndarray:
        """Return the sub-domain of every value of an attribute at a level: a row of `maps`."""
        return self.maps(attribute)[check_integer("level", level, 0, self.height)]

    def maps(self, attribute: Attribute) -> np.ndarray:
        """Return the sub-domain of every value of an attribute on every level.

        Returns
        -------
        numpy.ndarray, shape (height + 1, size), dtype int32
            Sub-domains numbered in the order of their first value in the attribute's domain.

        Raises
        ------
        HierarchyError
            If the hierarchy lacks values of the attribute; the message names them.
        """
        rows = [self._row_of.get(str(value)) for value in attribute.values]
        if None in rows:
            lacking = attribute.values[[row is None for row in rows]].tolist()
            raise HierarchyError(
                f"the hierarchy of {attribute.name!r} lacks {len(lacking)} of its values: "
                f"{lacking[:5]}{' ...' if len(lacking) > 5 else ''}"
            )
        maps = np.empty((self.height + 1, attribute.size), np.int32)
        for level, ids in enumerate(maps):
            ids[:] = pd.factorize(np.array([row[level] for row in rows], dtype=object))[0]
        return maps

    def preorder(self) -> list[str]:
        """Return the values in the order in which a preorder walk through the tree meets them.

        Children of a node are met in the order of their first value in `rows`. Values that a
        node covers are successive then, so that every node is an interval of the domain
        (dewri2009, section 3).

        Examples
        --------
        >>> Hierarchy([["a", "x", "*"], ["b", "y", "*"], ["c", "x", "*"]]).preorder()
        ['a', 'c', 'b']
        """
        met = [
            {name: i for i, name in enumerate(self.names(level))}
            for level in range(self.height, -1, -1)
        ]
        rows = sorted(
            self.rows,
            key=lambda row: [
                places[name] for places, name in zip(met, reversed(row), strict=True)
            ],
        )
        return [row[0] for row in rows]

    # -- ways to make one ----------------------------------------------------------------

    @classmethod
    def flat(cls, values: Sequence) -> Hierarchy:
        """Return the hierarchy of height 1: the value, or a star."""
        return cls([[value, STAR] for value in _values(values)])

    @classmethod
    def balanced(cls, values: Sequence, fan_out: int = 4) -> Hierarchy:
        """Return a tree that joins up to `fan_out` neighbours at a time, up to a star.

        Examples
        --------
        >>> Hierarchy.balanced(["a", "b", "c"], fan_out=2).rows
        [['a', '{a, b}', '*'], ['b', '{a, b}', '*'], ['c', 'c', '*']]
        """
        fan_out = check_integer("fan_out", fan_out, 2)
        values = _values(values)
        blocks = [[place] for place in range(len(values))]
        rows = [[str(value)] for value in values]
        while len(blocks) > 1:
            blocks = [sum(blocks[i : i + fan_out], []) for i in range(0, len(blocks), fan_out)]
            for block in blocks:
                name = _block_name(values, block)
                for place in block:
                    rows[place].append(name)
        return cls(rows) if len(values) != 1 else cls.flat(values)

    @classmethod
    def intervals(cls, values: Sequence[float], widths: Sequence[float]) -> Hierarchy:
        """Return a hierarchy of numbers: half-open intervals of growing width, then a star.

        Parameters
        ----------
        values : sequence of numbers
            The domain, finite.
        widths : sequence of numbers
            Width per level, in the unit of the values, above 0 and each a multiple of the one
            before. Intervals begin at multiples of their width.

        Raises
        ------
        ParameterError
            A value or a width is not a number of that kind.

        Notes
        -----
        Bounds are computed and written exactly, in the decimal digits that the numbers are
        written in.

        Examples
        --------
        >>> Hierarchy.intervals([17, 23, 24], widths=[5, 10]).rows[0]
        ['17', '[15, 20)', '[10, 20)', '*']
        >>> Hierarchy.intervals([0.7], widths=[0.1]).rows[0]
        ['0.7', '[0.7, 0.8)', '*']
        """
        values, widths = _values(values), check_sequence("widths", widths)
        exact = [exact_number("a value", value, -np.inf) for value in values]
        steps = [exact_number("a width", width, 0) for width in widths]
        for width, wider in pairwise(steps):
            if wider % width:
                raise ParameterError(
                    f"each width must be a multiple of the one before, got {list(widths)}"
                )
        rows = []
        for value, place in zip(values, exact, strict=True):
            lows = [(floor(place / width) * width, width) for width in steps]
            names = [f"[{_decimal(low)}, {_decimal(low + width)})" for low, width in lows]
            rows.append([value, *names, STAR])
        return cls(rows)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Hierarchy:
        """Read a hierarchy from a DataFrame: first column the value, then one per level."""
        if not isinstance(frame, pd.DataFrame):
            raise ParameterError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
        return cls(frame.astype(str).to_numpy().tolist())

    @classmethod
    def from_csv(cls, path: str | Path, sep: str = ";") -> Hierarchy:
        """Read a hierarchy in ARX's format: one line per value, no header.

        Parameters
        ----------
        path : str or Path
            The file, UTF-8.
        sep : str
            Separator, one character; ARX writes semicolons.

        Raises
        ------
        HierarchyError
            The file is no such table, or its lines are no hierarchy.
        ParameterError
            The separator is not one character.
        """
        if not isinstance(sep, str) or len(sep) != 1:
            raise ParameterError(f"sep must be one character, got {sep!r}")
        try:
            with Path(path).open(encoding="utf-8-sig", newline="") as file:
                return cls([row for row in csv.reader(file, delimiter=sep) if row])
        except (csv.Error, UnicodeDecodeError) as error:
            raise HierarchyError(f"{path} is no table in UTF-8: {error}") from None

    def to_csv(self, path: str | Path, sep: str = ";") -> None:
        """Write the hierarchy in ARX's format."""
        pd.DataFrame(self.rows).to_csv(path, sep=sep, header=False, index=False)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.rows)} values, height {self.height})"


def check_hierarchies(
    hierarchies: Mapping[object, Hierarchy] | None, names: Sequence
) -> dict[object, Hierarchy]:
    """Return hierarchies by attribute name as a dict, empty where none are given.

    Raises
    ------
    ColumnError
        A name is no quasi-identifier.
    ParameterError
        Something else than a mapping to hierarchies.
    """
    hierarchies = check_named("hierarchies", hierarchies, names)
    for name, hierarchy in hierarchies.items():
        if not isinstance(hierarchy, Hierarchy):
            raise ParameterError(
                f"the hierarchy of {name!r} is a {type(hierarchy).__name__}: "
                "ap.Hierarchy(rows) makes one"
            )
    return hierarchies


def _values(values: object) -> list:
    """Return a domain as a list; a string is the list of its letters."""
    return check_sequence("values", list(values) if isinstance(values, str) else values)


def exact_number(name: str, value: object, low: float) -> Fraction:
    """Return a number above `low` as it is written: 0.1 is a tenth.

    Raises
    ------
    ParameterError
        If `value` is no finite number above `low`.

    Examples
    --------
    >>> exact_number("width", 0.1, 0)
    Fraction(1, 10)
    """
    number = check_number(name, value, low, np.finfo(float).max, open_low=True)
    return Fraction(int(value) if isinstance(value, Integral) else repr(number))


def _decimal(number: Fraction) -> str:
    """Write a decimal number without an exponent and without rounding."""
    places = 0
    while (number * 10**places).denominator > 1:
        places += 1
    sign, digits = "-" * (number < 0), f"{abs(number * 10**places).numerator:0{places + 1}d}"
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else sign + digits


def _block_name(values: list, block: list[int]) -> str:
    if len(block) == 1:
        return str(values[block[0]])
    if len(block) == len(values):
        return STAR
    return "{" + ", ".join(str(values[place]) for place in block) + "}"
