"""Recodings and hierarchies: how the values of an attribute are joined into sub-domains.

A :class:`Recoding` maps every value of every quasi-identifier to exactly one sub-domain
(single-dimensional generalization). A :class:`Hierarchy` is a tree over the values of one
attribute, level by level, in the CSV format that ARX reads and writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.display import html, html_table
from anonpaper.errors import HierarchyError, ParameterError, check_integer
from anonpaper.microdata import Attribute

__all__ = ["STAR", "Hierarchy", "Recoding", "label_values"]

#: How a suppressed value is written.
STAR = "*"


def label_values(attribute: Attribute, members: np.ndarray) -> object:
    """Write a sub-domain: the value itself, an interval, a set, or a star for the whole domain.

    Parameters
    ----------
    attribute : Attribute
        The attribute whose domain is divided.
    members : numpy.ndarray, shape (size,), dtype bool
        The values in the sub-domain.

    Returns
    -------
    object
        A single value stays what it is; a run of successive values of an ordered attribute is
        written ``[first - last]`` (successive intervals as one), other sets ``{a, b, c}``.

    Examples
    --------
    >>> import anonpaper as ap
    >>> age = ap.examples.hospital().attribute("Age")
    >>> label_values(age, np.array([True, True, False]))
    '[<30 - [30, 50)]'
    """
    places = np.flatnonzero(members)
    if len(places) == 1:
        return attribute.values[places[0]]
    if len(places) == attribute.size:
        return STAR
    if attribute.ordered and places[-1] - places[0] == len(places) - 1:
        first, last = attribute.values[places[0]], attribute.values[places[-1]]
        if isinstance(first, pd.Interval):
            return str(pd.Interval(first.left, last.right, first.closed))
        return f"[{first} - {last}]"
    return "{" + ", ".join(str(attribute.values[place]) for place in places) + "}"


class Recoding:
    """One sub-domain per value and attribute.

    Parameters
    ----------
    attributes : sequence of Attribute
        The quasi-identifiers, in the order of the table.
    maps : sequence of array of int
        For every attribute the sub-domain of each value, shape (size,), numbered 0, 1, ...
        without gaps.
    info : mapping, optional
        What the algorithm says about its run.
    algorithm : str, optional
        How the recoding was made.

    Raises
    ------
    ParameterError
        If a map has the wrong length or its numbers leave a gap.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> r = Recoding(m.attributes, [[0, 0, 1], [0, 1], [0, 1, 1]])
    >>> r.sub_domains("Age")
    [['<30', '[30, 50)'], ['>=50']]
    """

    def __init__(
        self,
        attributes: Sequence[Attribute],
        maps: Sequence,
        info: Mapping[str, object] | None = None,
        algorithm: str = "",
    ) -> None:
        self.attributes = tuple(attributes)
        if len(maps) != len(self.attributes):
            raise ParameterError(f"{len(self.attributes)} attributes, but {len(maps)} maps")
        self.maps = tuple(
            _checked_map(attribute, values)
            for attribute, values in zip(self.attributes, maps, strict=True)
        )
        self.info = dict(info or {})
        self.algorithm = algorithm

    @classmethod
    def identity(cls, attributes: Sequence[Attribute]) -> Recoding:
        """Return the recoding that leaves every value as it is."""
        return cls(attributes, [np.arange(a.size) for a in attributes], algorithm="identity")

    @classmethod
    def from_levels(
        cls,
        attributes: Sequence[Attribute],
        hierarchies: Mapping[object, Hierarchy],
        levels: Mapping[object, int],
    ) -> Recoding:
        """Return a full-domain recoding: every attribute at one level of its hierarchy.

        Parameters
        ----------
        attributes : sequence of Attribute
            The quasi-identifiers.
        hierarchies : mapping of attribute name to Hierarchy
            Only needed for attributes that `levels` names.
        levels : mapping of attribute name to int
            Level 0 leaves the attribute as it is; names left out stay at 0.
        """
        unknown = set(levels) - {a.name for a in attributes}
        if unknown:
            raise ParameterError(f"levels name no quasi-identifier: {sorted(map(str, unknown))}")
        maps = [
            hierarchies[a.name].map_at(a, levels[a.name])
            if levels.get(a.name, 0)
            else np.arange(a.size)
            for a in attributes
        ]
        return cls(attributes, maps, info={"levels": dict(levels)}, algorithm="full domain")

    @classmethod
    def decode(cls, attributes: Sequence[Attribute], bits: str | Sequence[int]) -> Recoding:
        """Return the recoding that a chromosome stands for.

        Every attribute has one bit between two successive values of its domain: 0 joins them, 1
        keeps them apart. The strings of the attributes stand one after the other.

        Parameters
        ----------
        attributes : sequence of Attribute
            The quasi-identifiers; `m.attributes` of a Microdata.
        bits : str or sequence of int
            As many zeros and ones as the attributes have values, less one for each attribute.

        Raises
        ------
        ParameterError
            Another number of bits, or something else than 0 and 1.

        References
        ----------
        dewri2009, section 5.1, after Iyengar (KDD 2002). O(bits).

        Examples
        --------
        >>> import anonpaper as ap
        >>> m = ap.examples.hospital()
        >>> Recoding.decode(m.attributes, "01" "0" "11").sub_domains("Age")
        [['<30', '[30, 50)'], ['>=50']]
        """
        wanted = sum(attribute.size - 1 for attribute in attributes)
        digits = list(bits) if isinstance(bits, str) else np.asarray(bits).ravel().tolist()
        if len(digits) != wanted or not set(digits) <= {0, 1, "0", "1"}:
            raise ParameterError(
                f"the encoding of these attributes has {wanted} bits, each 0 or 1, got "
                f"{len(digits)} of {sorted(set(map(str, digits)))[:5]}"
            )
        cuts = np.array(digits, dtype=np.int32)
        ends = np.cumsum([attribute.size - 1 for attribute in attributes])[:-1]
        return cls(attributes, [np.r_[0, np.cumsum(part)] for part in np.split(cuts, ends)])

    def encode(self) -> np.ndarray:
        """Return the recoding as a chromosome; the inverse of :meth:`decode`.

        Returns
        -------
        numpy.ndarray, shape (bits,), dtype bool
            True where two successive values of a domain are kept apart.

        Raises
        ------
        ParameterError
            If a sub-domain is no run of successive values: bits cannot say that.

        Examples
        --------
        >>> import anonpaper as ap
        >>> m = ap.examples.hospital()
        >>> Recoding(m.attributes, [[0, 0, 1], [0, 0], [0, 1, 2]]).encode().astype(int).tolist()
        [0, 1, 0, 1, 1]
        """
        for attribute, ids in zip(self.attributes, self.maps, strict=True):
            if np.count_nonzero(np.diff(ids)) != ids.max():
                raise ParameterError(
                    f"a sub-domain of {attribute.name!r} is no run of successive values of its "
                    "domain, so the bit encoding cannot express it"
                )
        return np.concatenate([np.diff(ids) != 0 for ids in self.maps])

    def sub_domains(self, name: object) -> list[list]:
        """Return the sub-domains of an attribute as lists of values."""
        j = self._index(name)
        values, ids = self.attributes[j].values, self.maps[j]
        return [values[ids == i].tolist() for i in range(ids.max() + 1)]

    def members(self, name: object) -> np.ndarray:
        """Return the sub-domains of an attribute as masks, shape (r, size), dtype bool."""
        ids = self.maps[self._index(name)]
        return np.arange(ids.max() + 1)[:, None] == ids

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of sub-domains of every attribute."""
        return tuple(int(ids.max()) + 1 for ids in self.maps)

    def _index(self, name: object) -> int:
        names = [a.name for a in self.attributes]
        if name not in names:
            raise ParameterError(f"{name!r} is not an attribute of this recoding: {names}")
        return names.index(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recoding) and all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(self.maps, other.maps, strict=False)
        ) and len(self.maps) == len(other.maps)

    __hash__ = None

    def __repr__(self) -> str:
        kept = ", ".join(
            f"{a.name}: {k} of {a.size}" for a, k in zip(self.attributes, self.sizes, strict=True)
        )
        return f"Recoding({self.algorithm + ': ' if self.algorithm else ''}{kept})"

    def _repr_html_(self) -> str:
        facts = [("algorithm", self.algorithm)] if self.algorithm else []
        facts += [(name, value) for name, value in self.info.items()
                  if isinstance(value, (bool, int, float, str, np.number))]
        rows = []
        for attribute, size in zip(self.attributes, self.sizes, strict=True):
            labels = [label_values(attribute, mask) for mask in self.members(attribute.name)[:8]]
            named = ", ".join(map(str, labels)) + (", ..." if size > 8 else "")
            rows.append((attribute.name, f"{size} of {attribute.size}", named))
        table = pd.DataFrame(rows, columns=["attribute", "values left", "which"])
        return html("Recoding", facts, html_table(table, index=False, rows=len(table)))


def _checked_map(attribute: Attribute, ids) -> np.ndarray:
    ids = np.asarray(ids)
    if ids.shape != (attribute.size,) or not np.issubdtype(ids.dtype, np.integer):
        raise ParameterError(
            f"the map of {attribute.name!r} must hold {attribute.size} integers, one per value, "
            f"got shape {ids.shape} and dtype {ids.dtype}"
        )
    if ids.min() < 0 or len(np.unique(ids)) != ids.max() + 1:
        raise ParameterError(f"the map of {attribute.name!r} must number sub-domains 0, 1, ...")
    return ids.astype(np.int32)


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

    def map_at(self, attribute: Attribute, level: int) -> np.ndarray:
        """Return the sub-domain of every value of an attribute at a level.

        Returns
        -------
        numpy.ndarray, shape (size,), dtype int32
            Sub-domains numbered in the order of their first value in the attribute's domain.

        Raises
        ------
        HierarchyError
            If the hierarchy lacks values of the attribute; the message names them.
        """
        level = check_integer("level", level, 0, self.height)
        lacking = [value for value in attribute.values if str(value) not in self._row_of]
        if lacking:
            raise HierarchyError(
                f"the hierarchy of {attribute.name!r} lacks {len(lacking)} of its values: "
                f"{lacking[:5]}{' ...' if len(lacking) > 5 else ''}"
            )
        number: dict[str, int] = {}
        names = [self._row_of[str(value)][level] for value in attribute.values]
        return np.array([number.setdefault(name, len(number)) for name in names], dtype=np.int32)

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
        met = [{name: i for i, name in enumerate(self.names(level))}
               for level in range(self.height, -1, -1)]
        rows = sorted(self.rows, key=lambda row: [
            places[name] for places, name in zip(met, reversed(row), strict=True)
        ])
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
