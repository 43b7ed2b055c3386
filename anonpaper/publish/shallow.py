"""Shallow generalization: every class on the lowest level on which its rows agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from anonpaper import errors
from anonpaper.errors import ColumnError, HierarchyError
from anonpaper.groups import Partition, group_bounds
from anonpaper.hierarchy import Hierarchy, check_hierarchies
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.publish.methods import by_groups
from anonpaper.publish.release import Release
from anonpaper.published_values import SubDomains

__all__ = ["shallow_generalize"]


def shallow_generalize(
    m: Microdata,
    p: Partition,
    hierarchies: Mapping[object, Hierarchy],
    pattern_friendly: Sequence = (),
    *,
    least_level: int = 0,
) -> Release:
    """Publish every class on the lowest level of each hierarchy on which its rows agree.

    Parameters
    ----------
    m, p
        As for :func:`suppress`.
    hierarchies : mapping of attribute name to Hierarchy
        One for every quasi-identifier, with a single name on its highest level.
    pattern_friendly : sequence of attribute name
        Quasi-identifiers in which most people share one value; they begin at level 0.
    least_level : int
        Of all others; the paper does not say which. 1 comes close to the counts of Table 12.

    Returns
    -------
    Release

    Raises
    ------
    ColumnError, HierarchyError, ParameterError
        An unknown name; a hierarchy is missing, too low, or lacks values or a single top.

    References
    ----------
    majeed2024, section 4.2.3 and Algorithm 3. O(n·d + h·G) for height h and G classes.

    Examples
    --------
    >>> m = ap.examples.hospital()
    >>> trees = {a.name: ap.Hierarchy.balanced(a.values, fan_out=2) for a in m.attributes}
    >>> shallow_generalize(m, ap.examples.hospital_two_diverse(), trees).frame.loc["Adam"].tolist()
    ['{<30, [30, 50)}', 'M', '*', 'HIV']
    """
    m = check_microdata(m, people=True)
    pattern_friendly = errors.check_sequence("pattern_friendly", pattern_friendly)
    hierarchies = check_hierarchies(hierarchies, m.qi)
    if unknown := [name for name in pattern_friendly if not errors.is_among(name, m.qi)]:
        raise ColumnError(f"{unknown} are not quasi-identifiers; these are {m.qi}")
    if lacking := [name for name in m.qi if name not in hierarchies]:
        raise HierarchyError(f"hierarchies lacks {lacking}: make one with Hierarchy.balanced")

    def node(attribute, codes, group, starred):
        tree = hierarchies[attribute.name]
        maps, top = tree.maps(attribute), tree.height
        if maps[top].any():
            raise HierarchyError(
                f"the highest level of the hierarchy of {attribute.name!r} has "
                f"{maps[top].max() + 1} names: it must join all values under one name"
            )
        floor = 0 if attribute.name in pattern_friendly else least_level
        errors.check_integer("least_level", floor, 0, top)
        # Per class, the lowest level from `floor` up on which its rows agree, and the node there.
        low, high = group_bounds(np.ascontiguousarray(maps[:, codes].T), group, len(starred))
        agrees = low == high
        agrees[:, :floor] = False
        agrees[starred, :top] = False  # a suppressed value of a group shows nothing
        level = agrees.argmax(axis=1)
        return _nodes(attribute, tree, maps, level, low[np.arange(len(level)), level])

    return by_groups(m, p, "shallow", node)


def _nodes(attribute, tree, maps, level, node) -> tuple[SubDomains, np.ndarray]:
    """The sub-domains in use, and the one of each group; nodes with the same values are one."""
    # Nodes of all levels are numbered one after the other, from the lowest level up.
    first = np.r_[0, np.cumsum(maps.max(axis=1) + 1)]
    owner = (maps + first[:-1, None]).ravel()
    nodes = SubDomains.sets(attribute, owner, np.tile(np.arange(attribute.size), len(maps)))
    used, of_group = np.unique(first[level] + node, return_inverse=True)
    nodes = nodes.take(used)
    # A node of one value is written as the value, any other by its name.
    levels = np.where(nodes.sizes == 1, 0, np.searchsorted(first, used, side="right") - 1)
    written = map(tree.written, attribute.values[nodes.low], levels.tolist())
    nodes = replace(nodes, names=np.fromiter(written, object, len(used)))
    distinct, number = nodes.distinct()
    return distinct, number[of_group]
