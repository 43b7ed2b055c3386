"""Recodings: every value of a quasi-identifier belongs to exactly one sub-domain."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from anonpaper import recoding_files
from anonpaper.cells import distinct
from anonpaper.errors import (
    HierarchyError,
    InfeasibleError,
    ParameterError,
    check_integer,
    check_named,
    check_sequence,
    is_among,
)
from anonpaper.files import write_named
from anonpaper.groups import Entries
from anonpaper.hierarchy import STAR, Hierarchy, check_hierarchies
from anonpaper.microdata import Attribute, Microdata
from anonpaper.principles import Principle
from anonpaper.published_values import SubDomains

__all__ = ["Recoding", "failing", "over_shown_values"]


class Recoding:
    """One sub-domain per value and attribute: single-dimensional generalization.

    Parameters
    ----------
    attributes, maps : sequence of Attribute, and sequence of array of int
        The quasi-identifiers, in the order of the table, and for each the sub-domain of every
        value, shape (size,), numbered 0, 1, ... without gaps; otherwise ParameterError.
    info, algorithm : mapping and str, optional
        The algorithm's report about its run, and its name.
    names : sequence of (array of object, or None), optional
        For every attribute the different names of its sub-domains, shape (r,), if a hierarchy
        names them; None if they are written as their values.
    trees : mapping of attribute name to Hierarchy, optional
        The hierarchies of the names: their further values are recoded too (:meth:`of_values`).
    withhold : sequence of Principle, optional
        Classes of a published table that fail one of these are withheld.

    Examples
    --------
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
        names: Sequence[np.ndarray | None] | None = None,
        trees: Mapping[object, Hierarchy] | None = None,
        withhold: Sequence = (),
    ) -> None:
        self.attributes = tuple(check_sequence("attributes", attributes, Attribute))
        maps = check_sequence("maps", maps)
        if len(maps) != len(self.attributes):
            raise ParameterError(f"{len(self.attributes)} attributes, but {len(maps)} maps")
        self.maps = tuple(
            _checked_map(attribute, values)
            for attribute, values in zip(self.attributes, maps, strict=True)
        )
        self.info = dict(info or {})
        self.algorithm = algorithm
        self.withhold = tuple(check_sequence("withhold", withhold))
        #: Per attribute, which values published rows have, (size,); set by `withholding`.
        self.shown_values: list[np.ndarray] | None = None
        self.names = tuple(names or [None] * len(self.attributes))
        self.trees = dict(trees or {})
        self.call, self.promised = "", ()  # set by what makes it: see anonpaper.algorithm
        for attribute, size, written in zip(self.attributes, self.sizes, self.names, strict=True):
            if written is not None and not len(set(map(str, written))) == len(written) == size:
                raise ParameterError(
                    f"{attribute.name!r} needs {size} different names, got {list(written[:5])}"
                )

    @classmethod
    def identity(cls, attributes: Sequence[Attribute]) -> Recoding:
        """Return the recoding that keeps every value."""
        attributes = check_sequence("attributes", attributes, Attribute)
        return cls(attributes, [np.arange(a.size) for a in attributes], algorithm="identity")

    @classmethod
    def from_levels(
        cls,
        attributes: Sequence[Attribute],
        hierarchies: Mapping[object, Hierarchy],
        levels: Mapping[object, int],
    ) -> Recoding:
        """Return a full-domain recoding: every attribute at its level, an integer, by default 0.

        Level 0 keeps the values; attributes at another level need a hierarchy.
        """
        attributes = check_sequence("attributes", attributes, Attribute)
        levels = check_named("levels", levels, [a.name for a in attributes])
        hierarchies = check_hierarchies(hierarchies, [a.name for a in attributes])
        lacking = [name for name, level in levels.items() if level and name not in hierarchies]
        if lacking:
            raise HierarchyError(f"hierarchies lacks {lacking}: make one with Hierarchy.balanced")
        maps, names = [], []
        for a in attributes:
            level, tree = levels.get(a.name, 0), hierarchies.get(a.name)
            level = check_integer("level", level, 0, tree.height) if level else 0
            maps.append(tree.maps(a)[level] if level else np.arange(a.size))
            first = a.values[np.unique(maps[-1], return_index=True)[1]]
            written = (tree.written(value, level) for value in first) if level else first
            names.append(np.fromiter(written, object, len(first)))
        trees = {name: tree for name, tree in hierarchies.items() if levels.get(name)}
        return cls(attributes, maps, {"levels": dict(levels)}, "full domain", names, trees)

    @classmethod
    def decode(cls, attributes: Sequence[Attribute], bits: str | Sequence[int]) -> Recoding:
        """Return the recoding that a chromosome encodes (dewri2009, section 5.1, after Iyengar).

        `bits`, a text or integers, has one bit between two successive values of each domain,
        attribute by attribute: 0 joins them, 1 separates them. ParameterError for another number.

        Examples
        --------
        >>> m = ap.examples.hospital()
        >>> Recoding.decode(m.attributes, "01" "0" "11").sub_domains("Age")
        [['<30', '[30, 50)'], ['>=50']]
        """
        attributes = check_sequence("attributes", attributes, Attribute)
        wanted = sum(attribute.size - 1 for attribute in attributes)
        digits = list(bits) if isinstance(bits, str) else np.asarray(bits).ravel().tolist()
        if len(digits) != wanted or not all(is_among(digit, [0, 1, "0", "1"]) for digit in digits):
            raise ParameterError(
                f"bits must be {wanted} digits 0 or 1, got {len(digits)}, among them "
                f"{sorted(set(map(str, digits)))[:5]}"
            )
        cuts = np.array(digits, dtype=np.int32)
        ends = np.cumsum([attribute.size - 1 for attribute in attributes])[:-1]
        return cls(attributes, [np.r_[0, np.cumsum(part)] for part in np.split(cuts, ends)])

    def encode(self) -> np.ndarray:
        """Return the recoding as a chromosome, shape (bits,), bool; the inverse of `decode`.

        ParameterError if a sub-domain is not a run of successive values: bits cannot express it.
        """
        for attribute, ids in zip(self.attributes, self.maps, strict=True):
            if np.count_nonzero(np.diff(ids)) != ids.max():
                raise ParameterError(f"a sub-domain of {attribute.name!r} is no run of values")
        return np.concatenate([np.diff(ids) != 0 for ids in self.maps])

    def sub_domains(self, name: object) -> list[list]:
        """Return the sub-domains of an attribute as lists of values."""
        j = self._index(name)
        values, ids = self.attributes[j].values, self.maps[j]
        return [values[ids == i].tolist() for i in range(ids.max() + 1)]

    def members(self, name: object) -> SubDomains:
        """Return the sub-domains of an attribute as they are published."""
        j = self._index(name)
        codes = np.arange(self.attributes[j].size)
        return SubDomains.sets(self.attributes[j], self.maps[j], codes, self.names[j])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of sub-domains of every attribute."""
        return tuple(int(ids.max()) + 1 for ids in self.maps)

    def withholding(self, m: Microdata, principles: Sequence[Principle]) -> Recoding:
        """Return the recoding that withholds failing classes, and values that only they have."""
        cells, each = m.cells, zip(self.maps, m.cells.tuples.T, strict=True)
        labels, *_ = distinct([of_value[codes] for of_value, codes in each], self.sizes)
        classes = Entries.of_cells(m, labels[cells.tuple_of_cell])
        shown = cells.tuples[classes.tuples[~failing(classes, principles)]]
        r = copy(self)
        r.withhold = tuple(principles)
        r.shown_values = [
            np.bincount(codes, minlength=attribute.size) > 0
            for attribute, codes in zip(self.attributes, shown.T, strict=True)
        ]
        return r

    def _for_others(self) -> Recoding:
        """Return the recoding of the values that are not withheld."""
        if self.shown_values is None:
            return self
        attributes, maps, names = [], [], []
        each = zip(self.attributes, self.maps, self.names, self.shown_values, strict=True)
        for attribute, ids, written, told in each:
            used, ids = np.unique(ids[told], return_inverse=True)
            places = attribute.positions[told] if attribute.numeric else np.arange(len(ids)) * 1.0
            attributes.append(replace(attribute, values=attribute.values[told], positions=places))
            maps.append(ids)
            names.append(None if written is None else written[used])
        return self._of(attributes, maps, names)

    def _of(self, attributes: Sequence[Attribute], maps: Sequence, names: Sequence) -> Recoding:
        """Return a recoding of other values with everything else from this one."""
        marks = {"trees": self.trees, "withhold": self.withhold}
        r = Recoding(attributes, maps, self.info, self.algorithm, names, **marks)
        r.promised = self.promised
        return r

    def of_values(self, attributes: Sequence[Attribute]) -> tuple[Recoding, dict[object, list]]:
        """Return the same recoding for another table's values, and the values that are new.

        A value is known if this recoding has it; if it is a number within a published interval, or
        a text within an interval of alphabetical texts; if the naming hierarchy has it below a
        name in use; or if the whole column is suppressed. Sub-domains are written as in this
        recoding; the last one has all new values. The attributes need the same names, in this
        order; otherwise ParameterError.
        """
        attributes = check_sequence("attributes", attributes, Attribute)
        if self.shown_values is not None:
            return self._for_others().of_values(attributes)
        theirs, mine = [a.name for a in attributes], [a.name for a in self.attributes]
        if theirs != mine:
            raise ParameterError(f"the recoding has the attributes {mine}, the table {theirs}")
        maps, names, new = [], [], {}
        for j, attribute in enumerate(attributes):
            ids = recoding_files.sub_domains_of(self, j, attribute.values)
            labels = recoding_files.labels(self, j)
            used, ids = np.unique(np.where(ids < 0, len(labels), ids), return_inverse=True)
            if used[-1] == len(labels):
                new[attribute.name] = attribute.values[ids == len(used) - 1].tolist()
                labels = [*labels, STAR * (1 + max(len(str(label)) for label in labels))]
            maps.append(ids)
            names.append(np.fromiter((labels[i] for i in used), object, len(used)))
        return self._of(attributes, maps, names), new

    def save(self, path: str | os.PathLike) -> None:
        """Write the recoding to a JSON file for :meth:`load`, completely or not at all.

        The file has the promises, which a release of any table then has to keep, and what a
        release shows: no row, no count, and no value within an interval, below a star or only in
        withheld rows; such values are new later. Two things exceed a release: all values that a
        hierarchy has below the names in use, which reveals a column's values if the hierarchy was
        made from it; and the categories within an interval of an ordered Categorical that is not
        alphabetical. FileError if it cannot be written; ParameterError for a name or value that is
        not a text, number or timestamp, and for a principle that is not the package's.

        Examples
        --------
        >>> import tempfile
        >>> m = ap.examples.hospital()
        >>> path = tempfile.mkdtemp() + "/recoding.json"
        >>> ap.full_domain(m, k=2).save(path)
        >>> ap.recode(m, Recoding.load(path)).frame.loc["Adam"].tolist()
        ['*', 'M', 'Master', 'HIV']
        """
        write_named(path, recoding_files.content(self._for_others()))

    @classmethod
    def load(cls, path: str | os.PathLike) -> Recoding:
        """Read a recoding that :meth:`save` wrote; FileError for anything else."""
        return recoding_files.read(path, cls)

    def _index(self, name: object) -> int:
        names = [a.name for a in self.attributes]
        if not is_among(name, names):
            raise ParameterError(f"{name!r} is not an attribute of this recoding: {names}")
        return names.index(name)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Recoding)
            and len(self.maps) == len(other.maps)
            and all(map(np.array_equal, self.maps, other.maps))
            and self.withhold == other.withhold
        )

    __hash__ = None

    def __repr__(self) -> str:
        kept = ", ".join(
            f"{a.name}: {k} of {a.size}" for a, k in zip(self.attributes, self.sizes, strict=True)
        )
        return f"Recoding({self.algorithm + ': ' if self.algorithm else ''}{kept})"


def failing(classes: Entries, principles: Sequence[Principle]) -> np.ndarray:
    """Whether the class of an entry fails a principle, or it has none (-1), shape (f,)."""
    failing = [principle.failing(classes) for principle in principles]
    return np.isin(classes.group, np.concatenate([[-1], *failing]))


def over_shown_values(m: Microdata, names: Sequence, search: Callable[[dict], Recoding]):
    """Return a recoding whose trees do not show values that only withheld rows have.

    `search` makes a Recoding from masks, by name, of the values that trees are made of: first all
    of them, then those that published rows have. It stops if no such recoding is feasible.
    """
    shown = {name: np.ones(m.attribute(name).size, bool) for name in names}
    r = search(shown)
    while r.shown_values is not None:
        left = {name: shown[name] & r.shown_values[m.attribute_index(name)] for name in names}
        lost = any(mask.sum() < shown[name].sum() for name, mask in left.items())
        if not lost or not all(mask.any() for mask in left.values()):
            break
        try:
            r, shown = search(left), left
        except InfeasibleError:
            break
    return r


def _checked_map(attribute: Attribute, ids) -> np.ndarray:
    ids = np.asarray(ids)
    if ids.shape != (attribute.size,) or not np.issubdtype(ids.dtype, np.integer):
        raise ParameterError(
            f"the map of {attribute.name!r} must be {attribute.size} integers, one per value, got "
            f"shape {ids.shape} and dtype {ids.dtype}"
        )
    if ids.min() < 0 or len(np.unique(ids)) - 1 != ids.max():
        raise ParameterError(f"the map of {attribute.name!r} must number sub-domains 0, 1, ...")
    return ids.astype(np.int32)
