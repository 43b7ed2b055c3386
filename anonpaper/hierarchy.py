"""Hierarchies: trees over the values of one attribute, level by level, as ARX reads them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.errors import HierarchyError, check_integer
from anonpaper.microdata import Attribute

__all__ = ["STAR", "Hierarchy"]

#: How a suppressed value is written.
STAR = "*"


class Hierarchy:
    """A generalization hierarchy of one attribute: every value with its name on each level.

    Parameters
    ----------
    rows : sequence of sequence of str
        One row per value: the value, then its generalizations from the lowest level up. All rows
        are of one length; equal names on a level must stay equal on every higher level.

    Raises
    ------
    HierarchyError
        Rows of different length, a value that stands twice, or a name with two parents.

    Examples
    --------
    >>> h = Hierarchy([["BSc", "higher", "*"], ["MSc", "higher", "*"], ["9th", "low", "*"]])
    >>> h.height, h.names(1)
    (2, ['higher', 'low'])
    """

    def __init__(self, rows: Sequence[Sequence]) -> None:
        rows = [[str(name) for name in row] for row in rows]
        if not rows:
            raise HierarchyError("a hierarchy needs at least one value")
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
        return cls([[value, STAR] for value in values])

    @classmethod
    def balanced(cls, values: Sequence, fan_out: int = 4) -> Hierarchy:
        """Return a tree that joins up to `fan_out` neighbours at a time, up to a star.

        Examples
        --------
        >>> Hierarchy.balanced(["a", "b", "c"], fan_out=2).rows
        [['a', '{a, b}', '*'], ['b', '{a, b}', '*'], ['c', 'c', '*']]
        """
        fan_out = check_integer("fan_out", fan_out, 2)
        values = list(values)
        blocks = [[place] for place in range(len(values))]
        rows = [[str(value)] for value in values]
        while len(blocks) > 1:
            blocks = [sum(blocks[i : i + fan_out], []) for i in range(0, len(blocks), fan_out)]
            for block in blocks:
                name = _block_name(values, block)
                for place in block:
                    rows[place].append(name)
        return cls(rows if len(values) > 1 else [[values[0], STAR]])

    @classmethod
    def intervals(cls, values: Sequence[float], widths: Sequence[float]) -> Hierarchy:
        """Return a hierarchy of numbers: half-open intervals of growing width, then a star.

        Parameters
        ----------
        values : sequence of numbers
            The domain.
        widths : sequence of numbers
            Width per level, in the unit of the values, each a multiple of the one before.
            Intervals begin at multiples of their width.

        Examples
        --------
        >>> Hierarchy.intervals([17, 23, 24], widths=[5, 10]).rows[0]
        ['17', '[15, 20)', '[10, 20)', '*']
        """
        rows = []
        for value in values:
            bounds = [(np.floor(value / width) * width, width) for width in widths]
            rows.append([value, *(f"[{low:g}, {low + width:g})" for low, width in bounds), STAR])
        return cls(rows)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Hierarchy:
        """Read a hierarchy from a DataFrame: first column the value, then one per level."""
        return cls(frame.astype(str).to_numpy().tolist())

    @classmethod
    def from_csv(cls, path: str | Path, sep: str = ";") -> Hierarchy:
        """Read a hierarchy in ARX's format: one line per value, no header.

        Parameters
        ----------
        path : str or Path
            The file, UTF-8.
        sep : str
            Separator; ARX writes semicolons.
        """
        frame = pd.read_csv(path, sep=sep, header=None, dtype=str, keep_default_na=False)
        return cls.from_frame(frame)

    def to_csv(self, path: str | Path, sep: str = ";") -> None:
        """Write the hierarchy in ARX's format."""
        pd.DataFrame(self.rows).to_csv(path, sep=sep, header=False, index=False)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.rows)} values, height {self.height})"


def _block_name(values: list, block: list[int]) -> str:
    if len(block) == 1:
        return str(values[block[0]])
    if len(block) == len(values):
        return STAR
    return "{" + ", ".join(str(values[place]) for place in block) + "}"
