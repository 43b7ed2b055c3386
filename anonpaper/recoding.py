"""Recodings: every value of a quasi-identifier belongs to exactly one sub-domain."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.cells import distinct
from anonpaper.errors import ParameterError, check_sequence, is_among
from anonpaper.files import named_by_user, write_named
from anonpaper.groups import Entries
from anonpaper.hierarchy import STAR, Hierarchy
from anonpaper.microdata import MISSING, Attribute, Microdata
from anonpaper.principles import Principle, read_principle
from anonpaper.published_values import SubDomains

__all__ = ["Recoding", "failing", "over_shown_values"]

_FORMAT = "anonpaper recoding 1"


@dataclass(eq=False, repr=False)
class Recoding:
    """One sub-domain per value and attribute: single-dimensional generalization.

    `maps` has for every attribute the sub-domain of each value, shape (size,), numbered 0, 1, ...
    without gaps, else ParameterError. `names` has the different names of its sub-domains, shape
    (r,), or None if they are written as their values; `trees`, by attribute, the hierarchies that
    gave names, whose further values are recoded too (:meth:`of_values`). Classes of a published
    table that fail a principle of `withhold` are withheld. `info` is the algorithm's report.

    >>> m = ap.examples.hospital()
    >>> r = Recoding(m.attributes, [[0, 0, 1], [0, 1], [0, 1, 1]])
    >>> r.sub_domains("Age")
    [['<30', '[30, 50)'], ['>=50']]
    """

    attributes: Sequence[Attribute]
    maps: Sequence
    info: dict[str, object] = field(default_factory=dict)
    algorithm: str = field(default_factory=str)  # the class has none, unlike functions
    names: Sequence[np.ndarray | None] | None = None
    trees: Mapping[object, Hierarchy] = field(default_factory=dict)
    withhold: Sequence[Principle] = ()
    #: Per attribute, which values published rows have, (size,); set by `withholding`.
    shown_values: list[np.ndarray] | None = None
    call: str = ""  # this and the next are set by what makes it: see anonpaper.algorithm
    promised: tuple[Principle, ...] = ()

    def __post_init__(self) -> None:
        self.attributes = tuple(check_sequence("attributes", self.attributes, Attribute))
        maps = check_sequence("maps", self.maps)
        if len(maps) != len(self.attributes):
            raise ParameterError(f"{len(self.attributes)} attributes, but {len(maps)} maps")
        self.maps = tuple(map(_checked_map, self.attributes, maps))
        self.withhold = tuple(check_sequence("withhold", self.withhold))
        self.names = tuple(self.names or [None] * len(self.maps))
        for attribute, size, written in zip(self.attributes, self.sizes, self.names, strict=True):
            if written is not None and not len(set(map(str, written))) == len(written) == size:
                raise ParameterError(f"{attribute.name!r} needs {size} different names")

    @classmethod
    def identity(cls, attributes: Sequence[Attribute]) -> Recoding:
        """Return the recoding that keeps every value."""
        return cls(attributes, [np.arange(a.size) for a in attributes], algorithm="identity")

    @classmethod
    def from_levels(
        cls, attributes: Sequence, trees: Mapping[object, Hierarchy], levels: Mapping
    ) -> Recoding:
        """Return a full-domain recoding: each attribute at a level of its hierarchy."""
        maps, names = [], []
        for a in attributes:
            tree, level = trees[a.name], levels[a.name]
            maps.append(tree.maps(a)[level])
            first = a.values[np.unique(maps[-1], return_index=True)[1]]
            names.append(np.fromiter((tree.written(value, level) for value in first), object))
        trees = {name: tree for name, tree in trees.items() if levels[name]}
        return cls(attributes, maps, {"levels": levels}, "full domain", names, trees)

    @classmethod
    def decode(cls, attributes: Sequence[Attribute], bits: str | Sequence[int]) -> Recoding:
        """Return the recoding that a chromosome encodes (dewri2009, section 5.1, after Iyengar).

        `bits`, a text or integers, has one bit between two successive values of each domain,
        attribute by attribute: 0 joins them, 1 separates them; else ParameterError.

        >>> m = ap.examples.hospital()
        >>> Recoding.decode(m.attributes, "01" "0" "11").sub_domains("Age")
        [['<30', '[30, 50)'], ['>=50']]
        """
        attributes = check_sequence("attributes", attributes, Attribute)
        ends = np.cumsum([0, *(attribute.size - 1 for attribute in attributes)])
        digits = list(bits) if isinstance(bits, str) else np.asarray(bits).ravel().tolist()
        if len(digits) != ends[-1] or not all(is_among(bit, [0, 1, "0", "1"]) for bit in digits):
            raise ParameterError(f"bits must be {ends[-1]} digits 0 or 1, got {digits[:100]}")
        parts = np.split(np.array(digits, np.int32), ends[1:-1])
        return cls(attributes, [np.r_[0, np.cumsum(part)] for part in parts])

    def encode(self) -> np.ndarray:
        """Return the recoding as a chromosome, shape (bits,), bool; the inverse of `decode`.

        ParameterError if a sub-domain is not a run of successive values: bits cannot express it.
        """
        cuts = [np.diff(ids) != 0 for ids in self.maps]
        if tuple(1 + cut.sum() for cut in cuts) != self.sizes:
            raise ParameterError("a sub-domain is no run of values")
        return np.concatenate(cuts)

    def sub_domains(self, name: object) -> list[list]:
        """Return the sub-domains of an attribute as lists of values."""
        members = self.members(name)
        return [members.attribute.values[members.members(i)].tolist() for i in range(len(members))]

    def members(self, name: object) -> SubDomains:
        """Return the sub-domains of an attribute as they are published."""
        names = [a.name for a in self.attributes]
        j = names.index(errors.check_choice("the name of an attribute", name, names))
        return _members(self.attributes[j], self.maps[j], self.names[j])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of sub-domains of every attribute."""
        return tuple(int(ids.max()) + 1 for ids in self.maps)

    def classes(self, e: Entries) -> Entries:
        """Return entries, grouped by their sub-domains."""
        columns = [ids[codes] for ids, codes in zip(self.maps, e.codes.T, strict=True)]
        return e.in_groups(distinct(columns, self.sizes)[0])

    def withholding(self, m: Microdata, principles: Sequence[Principle]) -> Recoding:
        """Return the recoding that withholds failing classes, and values that only they have."""
        classes = self.classes(Entries.whole(m))
        each = zip(self.attributes, classes.codes[~failing(classes, principles)].T, strict=True)
        shown = [np.isin(np.arange(attribute.size), codes) for attribute, codes in each]
        return replace(self, withhold=principles, shown_values=shown)

    def _told(self) -> list[tuple]:
        """Attributes, maps and names as others may know them: of no value that is not shown."""
        shown = self.shown_values or [np.ones(a.size, bool) for a in self.attributes]
        trees = [self.trees.get(attribute.name) for attribute in self.attributes]
        return [*map(_told, self.attributes, self.maps, self.names, trees, shown)]

    def of_values(self, attributes: Sequence[Attribute]) -> tuple[Recoding, dict[object, list]]:
        """Return the same recoding for another table's values, and the values that are new.

        A value is known if this recoding has it; if it is a number within a published interval, or
        a text within an interval of alphabetical texts; if the naming hierarchy has it below a
        name in use; or if the whole column is suppressed. The last sub-domain has all new values.
        ParameterError for attributes of other names, or in another order.
        """
        theirs, mine = [a.name for a in attributes], [a.name for a in self.attributes]
        if theirs != mine:
            raise ParameterError(f"the recoding has the attributes {mine}, the table {theirs}")
        maps, names, new = [], [], {}
        for told, attribute in zip(self._told(), attributes, strict=True):
            place, labels = _places(attribute.values, *told)
            if (place < 0).any():
                new[attribute.name] = attribute.values[place < 0].tolist()
                labels.append(STAR * (1 + max(len(str(label)) for label in labels)))
            used, place = np.unique(place % len(labels), return_inverse=True)  # -1 is the last
            maps.append(place)
            names.append(np.fromiter((labels[i] for i in used), object))
        marks = {"names": names, "shown_values": None, "call": ""}
        return replace(self, attributes=attributes, maps=maps, **marks), new

    def save(self, path: str | os.PathLike) -> None:
        """Write the recoding to a JSON file for :meth:`load`, completely or not at all.

        The file has the promises, which a release of any table then has to keep, and what a
        release shows: no row, no count, and no value within an interval, below a star or only in
        withheld rows. Two things exceed a release: all values that a hierarchy has below the names
        in use; and the categories within an interval of an ordered Categorical that is not
        alphabetical. FileError if it cannot be written; ParameterError for what is no text, number
        or timestamp, and for a principle that is not the package's.
        """
        parts = [
            {"name": a.name, "numeric": a.numeric, "ordered": a.ordered, "values": [*a.values],
             "map": [*map(int, ids)], "names": None if names is None else [*names]}
            for a, ids, names in self._told()
        ]  # fmt: skip
        content = {"format": _FORMAT, "algorithm": self.algorithm, "attributes": parts}
        for name in ("withhold", "promised"):
            content[name] = [repr(p) for p in getattr(self, name) if read_principle(repr(p))]
        try:
            for part in parts:
                _part(**part)  # as it will be read
            text = json.dumps(content, default=lambda t: {"time": t.isoformat()}, indent=1) + "\n"
        except (TypeError, ValueError) as error:
            raise ParameterError(f"convert to texts, numbers or timestamps: {error}") from None
        write_named(path, text)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Recoding:
        """Read a recoding that :meth:`save` wrote; FileError for anything else."""
        with named_by_user(path):
            held = Path(path).read_bytes()
        try:
            told = json.loads(held.decode(), object_hook=_with_times)
            json.dumps(told, ensure_ascii=False, default=str).encode()  # half a character
            if told["format"] != _FORMAT:
                raise KeyError(f"format {_FORMAT!r}")
            parts = [_part(**part) for part in told["attributes"]]
            attributes, maps, names = zip(*parts, strict=True)
            texts = {name: told.get(name, ()) for name in ("withhold", "promised")}
            marks = {name: tuple(map(read_principle, of)) for name, of in texts.items()}
            return cls(attributes, maps, {}, str(told["algorithm"]), names, **marks)
        except Exception as error:  # whatever is wrong with a file
            why = f"{type(error).__name__}: {str(error)[:200]}"
            raise errors.FileError(f"{path} is not a saved recoding: {why}") from None

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Recoding) and self.withhold == other.withhold
        return same and [*map(list, self.maps)] == [*map(list, other.maps)]

    def __repr__(self) -> str:
        each = zip(self.attributes, self.sizes, strict=True)
        kept = ", ".join(f"{a.name}: {k} of {a.size}" for a, k in each)
        return f"Recoding({self.algorithm + ': ' if self.algorithm else ''}{kept})"


def failing(classes: Entries, principles: Sequence[Principle]) -> np.ndarray:
    """Whether the class of an entry fails a principle, or it has none (-1), shape (f,)."""
    failing = [principle.failing(classes) for principle in principles]
    return np.isin(classes.group, np.concatenate([[-1], *failing]))


def over_shown_values(m: Microdata, names: Sequence, search: Callable[[dict], Recoding]):
    """Return a recoding whose trees, if feasible, show no value that only withheld rows have.

    `search` makes a Recoding from masks, by name, of the values that trees are made of.
    """
    shown = {name: np.ones(m.attribute(name).size, bool) for name in names}
    r = search(shown)
    while r.shown_values is not None:
        left = {name: shown[name] & r.shown_values[m.attribute_index(name)] for name in names}
        same = all(np.array_equal(left[name], shown[name]) for name in names)
        if same or not all(mask.any() for mask in left.values()):
            break
        try:
            r, shown = search(left), left
        except errors.InfeasibleError:
            break
    return r


def _checked_map(attribute: Attribute, ids) -> np.ndarray:
    ids = np.asarray(ids)
    fits = ids.shape == (attribute.size,) and np.issubdtype(ids.dtype, np.integer)
    if not fits or ids.min() < 0 or len(np.unique(ids)) - 1 != ids.max():
        what = f"the map of {attribute.name!r} must number sub-domains 0, 1, ... without gaps"
        raise ParameterError(f"{what}, {attribute.size} integers, one per value; got {ids}")
    return ids.astype(np.int32)


def _told(attribute: Attribute, ids: np.ndarray, names, tree: Hierarchy | None, shown) -> tuple:
    """What a release tells: ends of intervals, one star, and all that a tree has below a name."""
    used, ids = np.unique(ids[shown], return_inverse=True)
    names = None if names is None else names[used]
    attribute = _with_values(attribute, attribute.values[shown])
    members = _members(attribute, ids, names)
    below = {}
    if members.labels.tolist() == [STAR]:
        below, names = {STAR: 0}, members.labels
    elif names is not None and tree is not None:
        number = {str(label): i for i, label in enumerate(names)}
        below = {row[0]: number[name] for row in tree.rows for name in row if name in number}
    if below:
        attribute = replace(attribute, numeric=False)
        return _with_values(attribute, below), [*below.values()], names
    told = np.ones(attribute.size, dtype=bool)
    for _, low, high in _intervals(attribute, members):
        told[low + 1 : high] = False
    return _with_values(attribute, attribute.values[told]), ids[told], names


def _members(attribute: Attribute, ids, names) -> SubDomains:
    return SubDomains.sets(attribute, np.asarray(ids), np.arange(attribute.size), names)


def _with_values(attribute: Attribute, values: Iterable) -> Attribute:
    values = np.fromiter(values, object)
    positions = values.astype(float) if attribute.numeric else np.arange(len(values), dtype=float)
    return replace(attribute, values=values, positions=positions)


def _intervals(attribute: Attribute, members: SubDomains) -> list[tuple[int, int, int]]:
    """Sub-domains written as intervals of sorted values: numbers, first and last codes."""
    ascend = all(_lies_within(low, low, high) for low, high in pairwise(attribute.values))
    if members.names is not None or not (attribute.ordered and ascend):
        return []
    runs = np.flatnonzero((members.sizes > 1) & ~members.has_gaps & ~members.is_star)
    return [(int(i), int(members.low[i]), int(members.high[i])) for i in runs]


def _places(values: np.ndarray, known: Attribute, ids, names) -> tuple[np.ndarray, list]:
    """The sub-domain of given values, shape (len(values),), -1 if new; and all labels."""
    labels = (members := _members(known, ids, names)).labels.tolist()
    if labels == [STAR]:
        return np.zeros(len(values), np.intp), labels
    pairs = zip(known.values, ids, strict=True)
    number = {text: i for value, i in pairs for text in _texts(value)}
    runs = [(i, *known.values[[low, high]]) for i, low, high in _intervals(known, members)]

    def place(value):
        found = (number[text] for text in _texts(value) if text in number)
        within = (i for i, low, high in runs if _lies_within(value, low, high))
        return next(found, next(within, -1))

    return np.fromiter(map(place, values), np.intp, len(values)), labels


def _texts(value: object) -> list[str]:
    """How a value may be written: 5.0 equals 5, but True is not 1."""
    if isinstance(value, Real) and not isinstance(value, bool) and float(value).is_integer():
        return [str(value), str(int(value)), f"{int(value)}.0"]
    return [str(value)]


def _part(name, numeric, ordered, values: list, map: list, names) -> tuple:
    """An attribute, its map and its names from its entry in a file."""
    for value in [name, *values, *(names or [])]:
        if not isinstance(value, str | int | float | pd.Timestamp):
            raise TypeError(f"{str(value)[:40]!r} is a {type(value).__name__}")
    # values of named trees are texts
    attribute = Attribute(name, values, bool(numeric) and names is None, bool(ordered), values)
    attribute = _with_values(attribute, values)
    if len(set(values)) < len(values) or not (np.diff(attribute.positions) > 0).all():
        raise ValueError("a value occurs twice, or numbers do not ascend")
    return attribute, map, names and np.fromiter(names, object)


def _lies_within(value: object, low: object, high: object) -> bool:
    """Whether a value is between two bounds: none that is missing, or of another type."""
    if isinstance(value, bool) or MISSING in (value, low, high):
        return False
    try:
        return bool(low <= value <= high)
    except TypeError:
        return False


def _with_times(told: dict) -> object:
    """Instants, the only type that JSON lacks, are written as ``{"time": ...}``."""
    return pd.Timestamp(told["time"]) if set(told) == {"time"} else told
