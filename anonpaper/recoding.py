"""Recodings: how the values of every quasi-identifier are joined into sub-domains.

Every value belongs to exactly one sub-domain: single-dimensional generalization.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from anonpaper.display import html, html_table
from anonpaper.errors import HierarchyError, ParameterError, check_named, check_sequence, is_among
from anonpaper.hierarchy import Hierarchy, check_hierarchies
from anonpaper.microdata import Attribute
from anonpaper.subdomains import SubDomains

__all__ = ["Recoding"]


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
    names : sequence of (array of object, or None), optional
        For every attribute how its sub-domains are written, shape (r,), where a hierarchy names
        them; None where they are written as the values they hold.
    withhold : sequence of Principle, optional
        Classes of a table that fail one of these are withheld where it is published.

    Raises
    ------
    ParameterError
        If a map has the wrong length or its numbers leave a gap, or names are not one for each
        sub-domain, all different.

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
        names: Sequence[np.ndarray | None] | None = None,
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
        self.names = tuple(names or [None] * len(self.attributes))
        for attribute, size, written in zip(self.attributes, self.sizes, self.names, strict=True):
            if written is not None and not len(set(map(str, written))) == len(written) == size:
                raise ParameterError(
                    f"{attribute.name!r} needs {size} different names, got {list(written[:5])}"
                )

    @classmethod
    def identity(cls, attributes: Sequence[Attribute]) -> Recoding:
        """Return the recoding that leaves every value as it is."""
        attributes = check_sequence("attributes", attributes, Attribute)
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
        attributes = check_sequence("attributes", attributes, Attribute)
        levels = check_named("levels", levels, [a.name for a in attributes])
        hierarchies = check_hierarchies(hierarchies, [a.name for a in attributes])
        lacking = [name for name, level in levels.items() if level and name not in hierarchies]
        if lacking:
            raise HierarchyError(
                f"a hierarchy is needed for {lacking}: Hierarchy.balanced makes one"
            )
        maps, names = [], []
        for a in attributes:
            level, tree = levels.get(a.name, 0), hierarchies.get(a.name)
            maps.append(tree.map_at(a, level) if level else np.arange(a.size))
            first = a.values[np.unique(maps[-1], return_index=True)[1]]
            written = (tree.written(value, level) for value in first) if level else first
            names.append(np.fromiter(written, object, len(first)))
        return cls(attributes, maps, {"levels": dict(levels)}, "full domain", names)

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
        attributes = check_sequence("attributes", attributes, Attribute)
        wanted = sum(attribute.size - 1 for attribute in attributes)
        digits = list(bits) if isinstance(bits, str) else np.asarray(bits).ravel().tolist()
        if len(digits) != wanted or not all(is_among(digit, [0, 1, "0", "1"]) for digit in digits):
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

    def members(self, name: object) -> SubDomains:
        """Return the sub-domains of an attribute as they are published."""
        j = self._index(name)
        codes = np.arange(self.attributes[j].size)
        return SubDomains.sets(self.attributes[j], self.maps[j], codes, self.names[j])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of sub-domains of every attribute."""
        return tuple(int(ids.max()) + 1 for ids in self.maps)

    def _index(self, name: object) -> int:
        names = [a.name for a in self.attributes]
        if not is_among(name, names):
            raise ParameterError(f"{name!r} is not an attribute of this recoding: {names}")
        return names.index(name)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Recoding)
            and all(
                np.array_equal(mine, theirs)
                for mine, theirs in zip(self.maps, other.maps, strict=False)
            )
            and len(self.maps) == len(other.maps)
            and self.withhold == other.withhold
        )

    __hash__ = None

    def __repr__(self) -> str:
        kept = ", ".join(
            f"{a.name}: {k} of {a.size}" for a, k in zip(self.attributes, self.sizes, strict=True)
        )
        return f"Recoding({self.algorithm + ': ' if self.algorithm else ''}{kept})"

    def _repr_html_(self) -> str:
        facts = [("algorithm", self.algorithm)] if self.algorithm else []
        facts += [
            (name, value)
            for name, value in self.info.items()
            if isinstance(value, (bool, int, float, str, np.number))
        ]
        rows = []
        for attribute, size in zip(self.attributes, self.sizes, strict=True):
            labels = self.members(attribute.name).take(np.arange(min(size, 8))).labels
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
