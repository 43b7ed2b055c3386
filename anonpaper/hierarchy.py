"""Hierarchies: trees over the values of one attribute, level by level, as ARX reads them."""

from __future__ import annotations

import csv
import io
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from math import floor
from numbers import Integral
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper.display import html, html_table
from anonpaper.errors import (
    HierarchyError,
    ParameterError,
    check_choice,
    check_integer,
    check_named,
    check_number,
    check_sequence,
    is_among,
)
from anonpaper.files import named_by_user, write_named
from anonpaper.microdata import MISSING, Attribute

__all__ = ["ISO_DATE", "STAR", "Hierarchy", "check_hierarchies", "exact_number"]

#: How a suppressed value is written.
STAR = "*"

#: An unambiguous date or timestamp in text: a part of ISO 8601.
ISO_DATE = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"

_ARX = {"header": False, "index": False, "lineterminator": "\n"}
#: For every level of dates how it is written, and the codes that a form needs for it.
_DATES = {
    "day": (lambda when: f"{when.date()}", "%[dj]"),
    "month": (lambda when: f"{when.date()}"[:7], "%[mbBj]"),
    "quarter": (lambda when: f"{when.year:04d}-Q{when.quarter}", "%[mbBj]"),
    "year": (lambda when: f"{when.year:04d}", "%[Yy]"),
    "decade": (lambda when: f"{when.year // 10 * 10}s", "%[Yy]"),
}


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
        self._row_of = {row[0]: row for row in rows}
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
        if str(value) not in self._row_of:
            raise HierarchyError(f"the hierarchy lacks the value {value!r}")
        return self._row_of[str(value)][level]

    def written(self, value: object, level: int) -> object:
        """Return the published form of a value on a level: the value if its name is the same."""
        name = self.generalize(value, level)
        return value if name == str(value) else name

    def map_at(self, attribute: Attribute, level: int) -> np.ndarray:
        """Return the sub-domain of every value of an attribute at a level: a row of `maps`."""
        return self.maps(attribute)[check_integer("level", level, 0, self.height)]

    def maps(self, attribute: Attribute) -> np.ndarray:
        """Return the sub-domain of every value on every level, shape (height + 1, size), int32.

        Sub-domains are numbered in the order of their first value in the attribute's domain.
        HierarchyError names the values that the hierarchy lacks.
        """
        rows = [self._row_of.get(str(value)) for value in attribute.values]
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
        return cls([[value, STAR] for value in _values(values)])

    @classmethod
    def balanced(cls, values: Sequence, fan_out: int = 4) -> Hierarchy:
        """Return a tree that joins up to `fan_out` neighbours per level, up to a star.

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
                name = ", ".join(str(values[place]) for place in block)
                if len(block) > 1:
                    name = STAR if len(blocks) == 1 else f"{{{name}}}"
                for place in block:
                    rows[place].append(name)
        return cls(rows) if len(values) != 1 else cls.flat(values)

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

        Parameters
        ----------
        values : sequence of numbers, or a column
            The domain, finite.
        widths : sequence of numbers
            Width per level, above 0 and each a multiple of the previous one (else ParameterError).
            Intervals begin at multiples of their width. Bounds are exact decimal numbers.

        Examples
        --------
        >>> Hierarchy.intervals([17, 23, 24], widths=[5, 10]).rows[0]
        ['17', '[15, 20)', '[10, 20)', '*']
        """
        steps = [exact_number("a width", w, 0) for w in check_sequence("widths", widths)]
        for width, wider in pairwise(steps):
            if wider % width:
                raise ParameterError(
                    f"each width must be a multiple of the one before, got {list(widths)}"
                )

        def names(value):
            place = exact_number("a value", value, -np.inf)
            lows = [(floor(place / width) * width, width) for width in steps]
            return [f"[{_decimal(low)}, {_decimal(low + width)})" for low, width in lows]

        return cls(_rows(_values(values), names))

    @classmethod
    def cuts(cls, values: Sequence[float], levels: Sequence[Sequence[float]]) -> Hierarchy:
        """Return a hierarchy of numbers: a list of interval bounds per level, then a star.

        Parameters
        ----------
        values
            As for :meth:`intervals`.
        levels : sequence of sequences of numbers
            The bounds between intervals, ascending, for every level from the lowest up. The bounds
            of a level are also bounds of the level below (else ParameterError).

        Examples
        --------
        >>> Hierarchy.cuts([17, 30, 70], [[18, 30, 65], [30]]).rows
        [['17', '<18', '<30', '*'], ['30', '[30, 65)', '>=30', '*'], ['70', '>=65', '>=30', '*']]
        """
        levels = [check_sequence("a level", level) for level in check_sequence("levels", levels)]
        bounds = [[exact_number("a bound", b, -np.inf) for b in level] for level in levels]
        for level, places in zip(levels, bounds, strict=True):
            if not places or any(low >= high for low, high in pairwise(places)):
                raise ParameterError(f"the bounds of a level must ascend, got {level}")
        for (lower, inner), (upper, outer) in pairwise(zip(levels, bounds, strict=True)):
            if not set(outer) <= set(inner):
                raise ParameterError(
                    f"the bounds {upper} of a level must be among those of the one below, {lower}"
                )

        def names(value):
            place = exact_number("a value", value, -np.inf)
            return [_between(places, bisect_right(places, place)) for places in bounds]

        return cls(_rows(_values(values), names))

    @classmethod
    def quantiles(cls, values: Sequence[float], parts: Sequence[int] = (8, 4, 2)) -> Hierarchy:
        """Return a hierarchy of numbers: parts with similar numbers of rows, then a star.

        A part is written ``[first - last]`` with values that occur, which reveals them.

        Parameters
        ----------
        values : sequence of numbers, or a column
            The rows, finite numbers, with repetitions. Equal numbers stay together, so there may
            be fewer parts than requested.
        parts : sequence of int
            Number of parts per level, at least 2 and each a multiple of the next (else
            ParameterError).

        Examples
        --------
        >>> Hierarchy.quantiles([1, 1, 2, 3, 3, 9], parts=[3]).rows
        [['1', '1', '*'], ['2', '2', '*'], ['3', '[3 - 9]', '*'], ['9', '[3 - 9]', '*']]
        """
        parts = [check_integer("parts", part, 2) for part in check_sequence("parts", parts)]
        if not parts or any(finer % coarser for finer, coarser in pairwise(parts)):
            raise ParameterError(f"each of parts must be a multiple of the next, got {parts}")
        if not isinstance(values, pd.Series):
            values = pd.Series(check_sequence("values", values), dtype=object)
        try:
            rows = values.value_counts().to_dict()
        except TypeError:
            raise ParameterError("values must be numbers, got lists, sets or dicts") from None
        missing = [MISSING] * (rows.pop(MISSING, 0) > 0 or values.hasnans)
        ascending = sorted(rows, key=lambda value: exact_number("a value", value, -np.inf))
        counts = np.array([rows[value] for value in ascending], dtype=np.int64)
        # A value belongs to the part that contains the middle of its rows.
        finest = (2 * np.cumsum(counts) - counts) * parts[0] // (2 * max(counts.sum(), 1))
        names: dict[object, list[str]] = {value: [] for value in ascending}
        for part in parts:
            part_of = finest // (parts[0] // part)
            for number in np.unique(part_of):
                held = [ascending[i] for i in np.flatnonzero(part_of == number)]
                name = str(held[0]) if len(held) == 1 else f"[{held[0]} - {held[-1]}]"
                for value in held:
                    names[value].append(name)
        return cls(_rows([*ascending, *missing], names.get, levels=len(parts)))

    @classmethod
    def prefixes(cls, values: Sequence, keep: Sequence[int] | None = None) -> Hierarchy:
        """Return a hierarchy of codes by their first characters, such as zip codes, then a star.

        Parameters
        ----------
        values : sequence, or a column
            The domain; codes are read as text. Codes that are not longer than the prefix stay.
        keep : sequence of int, optional
            Characters kept per level, at least 1 and descending (else ParameterError). By default
            one less on every level.

        Examples
        --------
        >>> Hierarchy.prefixes(["02139", "02446"], keep=[3, 2]).rows
        [['02139', '021**', '02***', '*'], ['02446', '024**', '02***', '*']]
        """
        values = [str(value) for value in _values(values)]
        longest = max(map(len, values), default=0)
        keep = range(longest - 1, 0, -1) if keep is None else check_sequence("keep", keep)
        keep = [check_integer("keep", length, 1) for length in keep]
        if any(longer <= shorter for longer, shorter in pairwise(keep)):
            raise ParameterError(f"keep must descend from level to level, got {keep}")

        def names(value):
            return [
                value if len(value) <= length else value[:length] + STAR * (longest - length)
                for length in keep
            ]

        return cls(_rows(values, names))

    @classmethod
    def dates(
        cls,
        values: Sequence,
        levels: Sequence[str] = ("month", "quarter", "year"),
        form: str | None = None,
    ) -> Hierarchy:
        """Return a hierarchy of dates or timestamps, then a star; else ParameterError.

        Parameters
        ----------
        values : sequence, or a column
            Dates and timestamps, in their own time zones, or texts: by default like ``2024-12-31``
            and ``2024-12-31 10:15``, which are unambiguous.
        levels : sequence of {"day", "month", "quarter", "year", "decade"}
            From the lowest level up, each coarser than the previous one.
        form : str, optional
            The form of all texts, as for :meth:`datetime.datetime.strptime`: ``%d.%m.%Y``. It must
            include the part of a date that the lowest level names, and all coarser parts.

        Examples
        --------
        >>> Hierarchy.dates(["2024-12-31"]).rows
        [['2024-12-31', '2024-12', '2024-Q4', '2024', '*']]
        >>> Hierarchy.dates(["31.12.2024"], ["year"], form="%d.%m.%Y").rows
        [['31.12.2024', '2024', '*']]
        """
        levels = [check_choice("a level", n, _DATES) for n in check_sequence("levels", levels)]
        order = list(_DATES)
        if any(order.index(finer) >= order.index(coarser) for finer, coarser in pairwise(levels)):
            raise ParameterError(f"levels must become coarser in the order {order}, got {levels}")

        if form is not None:
            told = form.replace("%%", "") if isinstance(form, str) else ""
            needed = order[order.index(levels[0] if levels else "year") :]
            if not all(re.search(_DATES[name][1], told) for name in needed):
                raise ParameterError(
                    f"form must be a text such as '%d.%m.%Y' with the {needed[0]} and all coarser "
                    f"parts of a date, got {form!r}"
                )

        def names(value):
            when = _instant(value, form)
            return [_DATES[name][0](when) for name in levels]

        return cls(_rows(_values(values), names, levels=len(levels)))

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Hierarchy:
        """Read a hierarchy from a DataFrame: first column the value, then one per level."""
        if not isinstance(frame, pd.DataFrame):
            raise ParameterError(f"frame must be a pandas DataFrame, got {type(frame).__name__}")
        return cls(frame.astype(str).to_numpy().tolist())

    @classmethod
    def from_csv(cls, path: str | Path, sep: str = ";") -> Hierarchy:
        """Read a hierarchy in ARX's format: a line per value, no header, UTF-8, `sep` between.

        FileError if the file cannot be read, HierarchyError if it is not a hierarchy,
        ParameterError for a wrong separator.
        """
        _check_separator(sep)
        with named_by_user(path):
            content = Path(path).read_bytes()
        try:
            lines = io.StringIO(content.decode("utf-8-sig"), newline="")
            return cls([row for row in csv.reader(lines, delimiter=sep) if row])
        except (csv.Error, UnicodeDecodeError) as error:
            raise HierarchyError(f"{path} is not a table in UTF-8: {error}") from None

    def to_csv(self, path: str | Path, sep: str = ";") -> None:
        """Write the hierarchy in ARX's format, completely or not at all.

        Errors are those of :meth:`from_csv`; FileError also for a name that is not Unicode.
        """
        _check_separator(sep)
        content = pd.DataFrame(self.rows).to_csv(None, sep=sep, **_ARX)
        # readers would misunderstand these two
        if "\r" in content or content.startswith("\ufeff"):
            content = pd.DataFrame(self.rows).to_csv(None, sep=sep, quoting=csv.QUOTE_ALL, **_ARX)
        write_named(path, content)

    def __repr__(self) -> str:
        return f"Hierarchy({len(self.rows)} values, height {self.height})"

    def _repr_html_(self) -> str:
        names = [self.names(level) for level in range(self.height + 1)]
        sizes = [(f"level {level}", f"{len(known):,} names") for level, known in enumerate(names)]
        table = pd.DataFrame(self.rows, columns=[name for name, _ in sizes])
        return html(f"Hierarchy, {len(self.rows):,} values", sizes, html_table(table, index=False))


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


def _instant(value: object, form: str | None) -> pd.Timestamp:
    """Return a date, or a text in the given form or in ISO format, as a timestamp."""
    try:
        when = value
        if isinstance(value, str) and form is not None:
            when = datetime.strptime(value, form)
        elif isinstance(value, str) and re.fullmatch(ISO_DATE, value, re.ASCII):
            when = datetime.fromisoformat(value)
        if not isinstance(when, (date, np.datetime64)) or pd.isna(when):
            raise TypeError(value)
        return pd.Timestamp(when)
    except (TypeError, ValueError, OverflowError):
        wanted = "such as 2024-12-31" if form is None else f"of the form {form}"
        hint = "; form='%d.%m.%Y' reads others" if form is None and isinstance(value, str) else ""
        raise ParameterError(f"{value!r} is not a date {wanted}{hint}") from None


def _check_separator(sep: object) -> None:
    if not isinstance(sep, str) or len(sep) != 1 or sep in '"\r\n\0':
        raise ParameterError(f"sep must be one character such as ';', got {sep!r}")


def _values(values: object) -> list:
    """Return a domain as a list, also from an attribute, a column, or the letters of a text."""
    if isinstance(values, Attribute):
        return list(values.values)
    if isinstance(values, pd.Series):
        known = pd.Series(values.dropna().unique(), dtype=object).tolist()
        return known + [MISSING] * (values.hasnans and MISSING not in known)
    return check_sequence("values", list(values) if isinstance(values, str) else values)


def _rows(values: list, names: Callable[[object], list[str]], levels: int = 0) -> list[list]:
    """Return a row per value with its names and a star; a missing value keeps its own name."""
    rows = [None if is_among(value, [MISSING]) else names(value) for value in values]
    levels = max((len(row) for row in rows if row is not None), default=levels)
    rows = [[MISSING] * levels if row is None else row for row in rows]
    return [[value, *row, STAR] for value, row in zip(values, rows, strict=True)]


def _between(bounds: list[Fraction], place: int) -> str:
    """Write the interval below the bound at `place`; after the last bound, the last interval."""
    if place == 0:
        return f"<{_decimal(bounds[0])}"
    if place == len(bounds):
        return f">={_decimal(bounds[-1])}"
    return f"[{_decimal(bounds[place - 1])}, {_decimal(bounds[place])})"


def exact_number(name: str, value: object, low: float) -> Fraction:
    """Return a finite number above `low` exactly as written: 0.1 is a tenth."""
    number = check_number(name, value, low, np.finfo(float).max, open_low=True)
    return Fraction(int(value) if isinstance(value, Integral) else repr(number))


def _decimal(number: Fraction) -> str:
    """Write a decimal number without an exponent and without rounding."""
    places = 0
    while (number * 10**places).denominator > 1:
        places += 1
    sign, digits = "-" * (number < 0), f"{abs(number * 10**places).numerator:0{places + 1}d}"
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else sign + digits
