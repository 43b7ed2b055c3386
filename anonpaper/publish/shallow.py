"""Shallow generalization: every class on the lowest level on which its rows agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from anonpaper import errors
from anonpaper.errors import ColumnError
from anonpaper.groups import Partition, group_bounds
from anonpaper.hierarchy import Hierarchy, check_hierarchies
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.publish.methods import entries_of, of_entries
from anonpaper.publish.release import PublishedAttribute, Release
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

    Unlike in full-domain generalization, the level may differ from class to class. The paper does
    not say whether values on which a class agrees are kept; `least_level` decides.

    Parameters
    ----------
    m, p
        As for :func:`suppress`.
    hierarchies : mapping of attribute name to Hierarchy
        One for every quasi-identifier, with a single name on its highest level.
    pattern_friendly : sequence of attribute name
        Quasi-identifiers in which most people share one value; they begin at level 0.
    least_level : int
        Lowest level of all others. 0 also keeps values on which a class agrees. 1 always
        generalizes, which comes close to the counts of Table 12.

    Returns
    -------
    Release
        ``method`` is ``"shallow"``.

    Raises
    ------
    ColumnError, HierarchyError, ParameterError
        `pattern_friendly` or `hierarchies` has an unknown name; a hierarchy is missing, lacks
        values or a single top; `least_level` exceeds its height; or as for :func:`suppress`.

    References
    ----------
    A. Majeed, S. O. Hwang, *A data-centric l-diversity model for securely publishing personal data
    with enhanced utility*, section 4.2.3 and Algorithm 3. O(n·d + h·G) per attribute for
    hierarchies of height h and G classes.

    Examples
    --------
    >>> m = ap.examples.hospital()
    >>> trees = {a.name: ap.Hierarchy.balanced(a.values, fan_out=2) for a in m.attributes}
    >>> release = shallow_generalize(m, ap.examples.hospital_two_diverse(), trees)
    >>> release.frame.loc["Adam"].tolist()
    ['{<30, [30, 50)}', 'M', '*', 'HIV']
    """
    m = check_microdata(m, people=True)
    pattern_friendly = errors.check_sequence("pattern_friendly", pattern_friendly)
    hierarchies = check_hierarchies(hierarchies, m.qi)
    if unknown := [name for name in pattern_friendly if not errors.is_among(name, m.qi)]:
        raise ColumnError(f"{unknown} are not quasi-identifiers; these are {m.qi}")
    if lacking := [name for name in m.qi if name not in hierarchies]:
        raise errors.HierarchyError(
            f"hierarchies lacks {lacking}: make one with Hierarchy.balanced"
        )
    e = entries_of(m, p)
    published, codes = [], e.codes
    for j, attribute in enumerate(m.attributes):
        tree = hierarchies[attribute.name]
        maps, top = tree.maps(attribute), tree.height
        if maps[top].any():
            raise errors.HierarchyError(
                f"the highest level of the hierarchy of {attribute.name!r} has "
                f"{maps[top].max() + 1} names: it must join all values under one name"
            )
        floor = 0 if attribute.name in pattern_friendly else least_level
        errors.check_integer("least_level", floor, 0, top)
        # Per class, the lowest level from `floor` up on which its rows agree, and the node there.
        low, high = group_bounds(maps[:, codes[:, j]].T, e.group, p.n_groups)
        agrees = low == high
        agrees[:, :floor] = False
        if p.starred is not None:  # a suppressed value of a group shows nothing
            agrees[p.starred[:, j], :top] = False
        level = agrees.argmax(axis=1)
        node = low[np.arange(len(level)), level]
        values, of_group = _nodes(attribute, tree, maps, level, node)
        published.append(PublishedAttribute(values, of_entries(of_group, e)))
    return Release(e, published, "shallow", p)


def _nodes(attribute, tree, maps, level, node) -> tuple[SubDomains, np.ndarray]:
    """The sub-domains in use, and that of each group; nodes with the same values are one."""
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
