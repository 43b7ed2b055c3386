"""Hierarchies: trees over the values of one attribute, level by level, as ARX reads them."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper import hierarchy_rows
from anonpaper.errors import (
    HierarchyError,
    ParameterError,
    check_integer,
    check_named,
    check_sequence,
)
from anonpaper.files import named_by_user, write_named
from anonpaper.hierarchy_rows import ISO_DATE, STAR, exact_number
from anonpaper.microdata import MISSING, Attribute

__all__ = ["ISO_DATE", "STAR", "Hierarchy", "check_hierarchies", "exact_number"]

_N = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_ARX = {"header": False, "index": False, "lineterminator": "\n"}


class Hierarchy:
    """A generalization hierarchy of one attribute: every value with its name on each level.

    Parameters
    ----------
    rows : sequence of sequence of str
        One row per value: the value, then its generalizations from the lowest level up. All rows
        have the same length, and every value occurs once. A name has one parent and one set of
        values, on all its levels; otherwise HierarchyError.

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
        for row in rows:
            if "" in row[1:]:
                raise HierarchyError(f"{row[0]!r} has an empty name on level {row.index('', 1)}")
        self._row_of = {row[0]: row for row in rows}
        self._row_of_number = {
            Decimal(t): row for t, row in self._row_of.items() if _N.fullmatch(t)
        }
        if len(self._row_of) < len(rows):
            counts = Counter(row[0] for row in rows)
            twice = sorted(value for value, count in counts.items() if count > 1)
            raise HierarchyError(f"values that occur twice: {twice}; keep one row of each")
        for level in range(1, len(rows[0]) - 1):
            parent: dict[str, str] = {}
            for row in rows:
                if parent.setdefault(row[level], row[level + 1]) != row[level + 1]:
                    raise HierarchyError(
                        f"{row[level]!r} on level {level} belongs to both "
                        f"{parent[row[level]]!r} and {row[level + 1]!r} on level {level + 1}"
                    )
        self.rows = rows
        # A name must mean one set. Sets of a tree are nested: equal sets have the same first
        # value and the same size.
        known: dict[str, tuple[str, int]] = {}
        for level in range(self.height + 1):
            column = [row[level] for row in self.rows]
            first = {row[level]: row[0] for row in reversed(self.rows)}
            for name, size in Counter(column).items():
                node = (first[name], size)
                if known.setdefault(name, node) != node:
                    meant = " and ".join(f"{n} from {v!r} on" for v, n in (known[name], node))
                    raise HierarchyError(f"{name!r} means two sets of values, {meant}: rename one")

    @property
    def height(self) -> int:
        """Highest level; level 0 has the values themselves."""
        return len(self.rows[0]) - 1

    def names(self, level: int) -> list[str]:
        """Names on a level, in the order of their first value."""
        level = check_integer("level", level, 0, self.height)
        return list(dict.fromkeys(row[level] for row in self.rows))

    def generalize(self, value: object, level: int) -> str:
        """Return the name of a value on a level; HierarchyError for an unknown value."""
        level = check_integer("level", level, 0, self.height)
        row = self._row(value)
        if row is None:
            raise HierarchyError(f"the hierarchy lacks the value {value!r}")
        return row[level]

    def _row(self, value: object) -> list[str] | None:
        """The row of a value; numbers are equal however they are written."""
        text, is_number = str(value), not isinstance(value, bool | str)
        if text not in self._row_of and is_number and _N.fullmatch(text):
            return self._row_of_number.get(Decimal(text))
        return self._row_of.get(text)

    def written(self, value: object, level: int) -> object:
        """Return the published form of a value on a level: the value if its name is the same."""
        name = self.generalize(value, level)
        return value if name in (str(value), self._row(value)[0]) else name

    def maps(self, attribute: Attribute) -> np.ndarray:
        """Return the sub-domain of every value on every level, shape (height + 1, size), int32.

        Sub-domains are numbered in the order of their first value in the attribute's domain.
        HierarchyError names the values that the hierarchy lacks.
        """
        rows = [self._row(value) for value in attribute.values]
        if None in rows:
            lacking = attribute.values[[row is None for row in rows]].tolist()
            raise HierarchyError(
                f"the hierarchy of {attribute.name!r} lacks {len(lacking)} of its values: "
                f"{lacking[:20]}{' ...' if len(lacking) > 20 else ''}; it begins with "
                f"{list(self._row_of)[:3]}: add a row for each, or make it from this column"
            )
        maps = np.empty((self.height + 1, attribute.size), np.int32)
        for level, ids in enumerate(maps):
            ids[:] = pd.factorize(np.array([row[level] for row in rows], dtype=object))[0]
        return maps

    def preorder(self) -> list[str]:
        """Return the values in preorder: then every node is an interval of the domain.

        Children of a node are ordered by their first value in `rows` (dewri2009, section 3).

        Examples
        --------
        >>> Hierarchy([["a", "x", "*"], ["b", "y", "*"], ["c", "x", "*"]]).preorder()
        ['a', 'c', 'b']
        """
        met = [self.names(level) for level in range(self.height + 1)]
        met = [{name: i for i, name in enumerate(names)} for names in met]

        def place(row: list[str]) -> list[int]:
            return [places[name] for places, name in zip(met, row, strict=True)][::-1]

        return [row[0] for row in sorted(self.rows, key=place)]

    @classmethod
    def flat(cls, values: Sequence) -> Hierarchy:
        """Return the hierarchy of height 1: the value, or a star."""
        return cls([[value, STAR] for value in hierarchy_rows.listed(values)])

    @classmethod
    def balanced(cls, values: Sequence, fan_out: int = 4) -> Hierarchy:
        """Return a tree that joins up to `fan_out` neighbours per level, up to a star.

        Examples
        --------
        >>> Hierarchy.balanced(["a", "b", "c"], fan_out=2).rows
        [['a', '{a, b}', '*'], ['b', '{a, b}', '*'], ['c', 'c', '*']]
        """
        return cls(hierarchy_rows.balanced(values, fan_out))

    @classmethod
    def of_shown(cls, attribute: Attribute, shown: np.ndarray, fan_out: int = 4) -> Hierarchy:
        """Return a balanced tree over the values that `shown`, a mask of (size,), selects.

        Its names do not show other values. Such a value is on its own below the star, or, in
        an ordered domain, where both neighbours among the shown ones have one name.

        Examples
        --------
        >>> ages = ap.Microdata(pd.DataFrame({"age": [1, 2, 3, 9]}), ["age"]).attribute("age")
        >>> Hierarchy.of_shown(ages, ages.values != 9, fan_out=3).rows[-1]
        ['9', '*']
        """
        tree = cls.balanced(attribute.values[shown], fan_out)
        rows, (places,) = list(tree.rows), np.nonzero(shown)
        for code in np.flatnonzero(~shown):
            after = np.searchsorted(places, code)
            around = tree.rows[max(after - 1, 0) : after + 1] if attribute.ordered else []
            value = str(attribute.values[code])
            names = [value] * tree.height
            if len(around) == 2:
                names = [one if one == two else value for one, two in zip(*around, strict=True)]
            rows.append([value, *names[1 : tree.height], STAR])
        return cls([rows[i] for i in np.argsort(np.r_[places, np.flatnonzero(~shown)])])

    @classmethod
    def intervals(cls, values: Sequence[float], widths: Sequence[float]) -> Hierarchy:
        """Return a hierarchy of numbers: half-open intervals of growing width, then a star.

        `widths` has one number above 0 per level, each a multiple of the previous one (else
        ParameterError). Intervals begin at multiples of their width; bounds are exact decimals.

        Examples
        --------
        >>> Hierarchy.intervals([17, 23, 24], widths=[5, 10]).rows[0]
        ['17', '[15, 20)', '[10, 20)', '*']
        """
        return cls(hierarchy_rows.intervals(values, widths))

    @classmethod
    def prefixes(cls, values: Sequence, keep: Sequence[int] | None = None) -> Hierarchy:
        """Return a hierarchy of codes by their first characters, such as zip codes, then a star.

        `keep` has the number of characters kept per level, at least 1 and descending (else
        ParameterError), by default one less on every level. Codes that are not longer stay.

        Examples
        --------
        >>> Hierarchy.prefixes(["02139", "02446"], keep=[3, 2]).rows
        [['02139', '021**', '02***', '*'], ['02446', '024**', '02***', '*']]
        """
        return cls(hierarchy_rows.prefixes(values, keep))

    @classmethod
    def dates(
        cls,
        values: Sequence,
        levels: Sequence[str] = ("month", "quarter", "year"),
        form: str | None = None,
    ) -> Hierarchy:
        """Return a hierarchy of dates or timestamps, then a star; else ParameterError.

        `levels` are of "day", "month", "quarter", "year" and "decade", each coarser than the one
        before. Texts are like ``2024-12-31 10:15``, or of a `form` such as ``%d.%m.%Y``, which has
        the part of a date that the lowest level names, and all coarser ones.

        Examples
        --------
        >>> Hierarchy.dates(["2024-12-31"]).rows
        [['2024-12-31', '2024-12', '2024-Q4', '2024', '*']]
        >>> Hierarchy.dates(["31.12.2024"], ["year"], form="%d.%m.%Y").rows
        [['31.12.2024', '2024', '*']]
        """
        return cls(hierarchy_rows.dates(values, levels, form))

    @classmethod
    def from_csv(cls, path: str | Path, sep: str = ";") -> Hierarchy:
        """Read a hierarchy in ARX's format: a line per value, no header, UTF-8, `sep` between.

        A line that begins with an empty field is the one of missing values.
        FileError if the file cannot be read, HierarchyError if it is not a hierarchy,
        ParameterError for a wrong separator.
        """
        _check_separator(sep)
        with named_by_user(path):
            content = Path(path).read_bytes()
        try:
            lines = io.StringIO(content.decode("utf-8-sig"), newline="")
            rows = [row for row in csv.reader(lines, delimiter=sep) if row]
            return cls([[row[0] or MISSING, *row[1:]] for row in rows])
        except (csv.Error, UnicodeDecodeError) as error:
            raise HierarchyError(f"{path} is not a table in UTF-8: {error}") from None

    def to_csv(self, path: str | Path, sep: str = ";") -> None:
        """Write the hierarchy in ARX's format, completely or not at all.

        Errors are as for :meth:`from_csv`; FileError also for a name that is not Unicode.
        """
        _check_separator(sep)
        content = pd.DataFrame(self.rows).to_csv(None, sep=sep, **_ARX)
        # readers would misunderstand these two
        if "\r" in content or content.startswith("\ufeff"):
            content = pd.DataFrame(self.rows).to_csv(None, sep=sep, quoting=csv.QUOTE_ALL, **_ARX)
        write_named(path, content)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.rows)} values, height {self.height})"


def check_hierarchies(
    hierarchies: Mapping[object, Hierarchy] | None, names: Sequence
) -> dict[object, Hierarchy]:
    """Return hierarchies by attribute name as a dict; ColumnError for an unknown name."""
    hierarchies = check_named("hierarchies", hierarchies, names)
    for name, hierarchy in hierarchies.items():
        if not isinstance(hierarchy, Hierarchy):
            raise ParameterError(
                f"hierarchies[{name!r}] is a {type(hierarchy).__name__}: make it an "
                "ap.Hierarchy, by ap.Hierarchy(rows)"
            )
    return hierarchies


def _check_separator(sep: object) -> None:
    if not isinstance(sep, str) or len(sep) != 1 or sep in '"\r\n\0':
        raise ParameterError(f"sep must be one character such as ';', got {sep!r}")
