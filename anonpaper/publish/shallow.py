"""Shallow generalization: every class is generalized as little as its own rows allow.

Source: A. Majeed, S. O. Hwang, *A data-centric l-diversity model for securely publishing personal
data with enhanced utility*, section 4.2.3. Unlike full-domain generalization, the level may differ
from class to class (local recoding).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from anonpaper.errors import ColumnError, HierarchyError, check_integer, check_sequence, is_among
from anonpaper.groups import Partition, group_bounds
from anonpaper.hierarchy import Hierarchy, check_hierarchies
from anonpaper.microdata import Attribute, Microdata, check_microdata
from anonpaper.publish.attribute import PublishedAttribute
from anonpaper.publish.methods import listed, rows_of_groups
from anonpaper.publish.release import Release
from anonpaper.subdomains import SubDomains

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

    Where they agree already, that is level 0: the value itself. A *pattern-friendly*
    quasi-identifier, one value of which is common to most people, keeps it. The paper can be read
    either way for the others, so `least_level` says where they begin.

    Parameters
    ----------
    m, p : Microdata, Partition
        The table, n rows, and its classes; rows labelled -1 are withheld.
    hierarchies : mapping of attribute name to Hierarchy
        One for every quasi-identifier, with a single name on its highest level.
    pattern_friendly : sequence of attribute name
        Quasi-identifiers whose value is kept wherever a class agrees on it.
    least_level : int
        Lowest level of all other quasi-identifiers. 0 keeps their values too where a class agrees
        on them; 1 generalizes them always, which comes close to the counts of Table 12.

    Returns
    -------
    Release
        ``method`` is ``"shallow"``.

    Raises
    ------
    ColumnError, HierarchyError
        `pattern_friendly` or `hierarchies` names no quasi-identifier; a hierarchy is missing,
        lacks values, or its top does not join them all.
    ParameterError
        The partition is of another number of rows, or `least_level` above a hierarchy's height.

    References
    ----------
    majeed2024, section 4.2.3 and Algorithm 3. O(n·d + h·G) per attribute for hierarchies of
    height h and G classes.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.examples.hospital()
    >>> trees = {a.name: ap.Hierarchy.balanced(a.values, fan_out=2) for a in m.attributes}
    >>> release = shallow_generalize(m, ap.examples.hospital_two_diverse(), trees)
    >>> release.frame.loc["Adam"].tolist()
    ['{<30, [30, 50)}', 'M', '*', 'HIV']
    """
    m = check_microdata(m, people=True)
    pattern_friendly = check_sequence("pattern_friendly", pattern_friendly)
    hierarchies = check_hierarchies(hierarchies, m.qi)
    unknown = [name for name in pattern_friendly if not is_among(name, m.qi)]
    if unknown:
        raise ColumnError(f"{unknown} are no quasi-identifiers; those are {m.qi}")
    lacking = [name for name in m.qi if name not in hierarchies]
    if lacking:
        raise HierarchyError(f"a hierarchy is needed for {lacking}: Hierarchy.balanced makes one")
    m, p = listed(m, p)
    starred = np.zeros((p.n_groups, m.d), bool) if p.starred is None else p.starred
    published = []
    for j, attribute in enumerate(m.attributes):
        maps = _maps(attribute, hierarchies[attribute.name])
        floor = 0 if attribute.name in pattern_friendly else least_level
        check_integer("least_level", floor, 0, len(maps) - 1)
        level, node = _lowest_common_nodes(m.codes[:, j], p, maps, floor)
        # Nothing is shown where a group is suppressed.
        level = np.where(starred[:, j], len(maps) - 1, level)
        node = np.where(starred[:, j], 0, node)
        published.append(_published(attribute, hierarchies[attribute.name], maps, level, node, p))
    return Release(m, tuple(published), "shallow", partition=p)


def _maps(attribute: Attribute, tree: Hierarchy) -> np.ndarray:
    """Node of every value on every level, shape (height + 1, size)."""
    maps = tree.maps(attribute)
    if maps[-1].max() > 0:
        raise HierarchyError(
            f"the highest level of the hierarchy of {attribute.name!r} has {maps[-1].max() + 1} "
            "names: it must join all values, or some classes could not be published"
        )
    return maps


def _lowest_common_nodes(codes: np.ndarray, p: Partition, maps: np.ndarray, floor: int):
    """Per class, the lowest level from `floor` up on which its rows agree, and the node there."""
    low, high = group_bounds(maps[:, codes].T.astype(np.int32), p.labels, p.n_groups)
    agrees = low == high
    agrees[:, :floor] = False
    level = agrees.argmax(axis=1)
    return level, low[np.arange(p.n_groups), level]


def _published(attribute, tree, maps, level, node, p: Partition) -> PublishedAttribute:
    """Number the sub-domains in use; two nodes of the same values are one."""
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
    return PublishedAttribute(distinct, rows_of_groups(number[of_group], p.labels))
