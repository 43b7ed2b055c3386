"""From groups or sub-domains to the published table. Rows of no group (-1) are withheld."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from anonpaper import errors
from anonpaper.errors import ColumnError, HierarchyError, ParameterError, is_among
from anonpaper.groups import Entries, GroupCounts, Partition, dense_labels, group_bounds
from anonpaper.hierarchy import STAR, Hierarchy, check_hierarchies
from anonpaper.microdata import MISSING, Microdata, check_microdata
from anonpaper.principles import Principle
from anonpaper.publish.judging import has_residue
from anonpaper.publish.release import Anatomy, PublishedAttribute, Release
from anonpaper.publish.writing import secret_order
from anonpaper.published_values import SubDomains
from anonpaper.randomness import generator
from anonpaper.recoding import Recoding, failing
from anonpaper.roles import only_one

__all__ = ["anatomize", "generalize", "recode", "shallow_generalize", "suppress", "swap"]


def suppress(m: Microdata, p: Partition) -> Release:
    """Publish groups by suppression: a star wherever the rows of a group differ.

    ParameterError if `p` is no Partition of the table `m`. Source: xiao2010, Definition 1. O(n·d).

    >>> m = ap.examples.hospital()
    >>> suppress(m, ap.examples.hospital_two_diverse()).frame.loc["Adam"].tolist()
    ['*', 'M', '*', 'HIV']
    """

    def kept_or_star(attribute, codes, group, starred):
        low, high = _bounds(attribute, codes, group, starred)
        # Sub-domain number = code of the kept value; one more, the last, is the star.
        every = np.arange(attribute.size)
        values = SubDomains.runs(attribute, np.r_[every, 0], np.r_[every, every[-1]])
        values.names = np.append(attribute.values, STAR)
        return values, np.where((low == high) & ~starred, low, attribute.size)

    return _by_groups(m, p, "suppress", kept_or_star)


def generalize(m: Microdata, p: Partition) -> Release:
    """Publish groups by multi-dimensional generalization: the values that a group holds.

    Ordered attributes are published as the interval from the least to the greatest value of the
    group, others as the set of its values. ParameterError if `p` is no Partition of the table `m`.
    Source: xiao2010, sections 2 and 6.2. O(n·d log n).

    >>> m = ap.examples.hospital()
    >>> generalize(m, ap.examples.hospital_two_diverse()).frame.loc["Adam", "Education"]
    '[Bachelor - Master]'
    """
    return _by_groups(m, p, "generalize", _held)


def _held(attribute, codes, group, starred) -> tuple[SubDomains, np.ndarray]:
    """The interval or set of values that each group holds."""
    if attribute.ordered and not is_among(attribute.values[-1], [MISSING]):
        return SubDomains.runs(attribute, *_bounds(attribute, codes, group, starred)).distinct()
    # pairs of a group and a code; starred groups have all codes
    (stars,), (shown,) = np.nonzero(starred), np.nonzero(group >= 0)
    every = np.arange(attribute.size, dtype=np.int32)
    owner = np.r_[group[shown], np.repeat(stars, attribute.size)]
    codes = np.r_[codes[shown], np.tile(every, len(stars))]
    if attribute.ordered:  # an interval of the other values, and the missing one, the last
        known = codes < every[-1]
        low, high = group_bounds(codes[known, None], owner[known], len(starred))
        sets, between = np.nonzero((low <= every) & (every <= high))
        owner, codes = np.r_[owner[~known], sets], np.r_[codes[~known], between]
    return SubDomains.sets(attribute, owner, codes).distinct()


def shallow_generalize(
    m: Microdata,
    p: Partition,
    hierarchies: Mapping[object, Hierarchy],
    pattern_friendly: Sequence = (),
    *,
    least_level: int = 0,
) -> Release:
    """Publish every class of `p` on the lowest level of each hierarchy on which its rows agree.

    `hierarchies`, by quasi-identifier, have a single name on top, else HierarchyError. The default
    is Hierarchy.balanced, written as intervals and sets of values. Quasi-identifiers among
    `pattern_friendly`, in which most people share one value, begin at level 0, all others at
    `least_level`: the paper does not say at which, 1 comes close to Table 12. Source: majeed2024,
    section 4.2.3 and Algorithm 3. O(n·d + h·G) for height h and G classes.

    >>> m = ap.examples.hospital()
    >>> trees = {a.name: ap.Hierarchy.balanced(a.values, fan_out=2) for a in m.attributes}
    >>> shallow_generalize(m, ap.examples.hospital_two_diverse(), trees).frame.loc["Adam"].tolist()
    ['{<30, "[30, 50)"}', 'M', '*', 'HIV']
    """
    m = check_microdata(m, people=True)
    friendly = errors.check_sequence("pattern_friendly", pattern_friendly)
    hierarchies = check_hierarchies(hierarchies, m.qi)
    if unknown := [name for name in friendly if not is_among(name, m.qi)]:
        raise ColumnError(f"{unknown} are not quasi-identifiers; these are {m.qi}")

    def agreed(attribute, codes, group, starred):
        tree = hierarchies.get(attribute.name) or Hierarchy.balanced(attribute.values)
        maps, top = tree.maps(attribute), tree.height
        if maps[top].any():
            what = f"the highest level of the hierarchy of {attribute.name!r}"
            raise HierarchyError(f"{what} must join all values under one name")
        floor = 0 if attribute.name in friendly else least_level
        errors.check_integer("least_level", floor, 0, top)
        # Per class, the lowest level from `floor` up on which its rows agree, and the node there.
        low, high = group_bounds(np.ascontiguousarray(maps[:, codes].T), group, len(starred))
        agrees = low == high
        agrees[:, :floor] = False
        agrees[starred, :top] = False  # a suppressed value of a group shows nothing
        level = agrees.argmax(axis=1)
        # Nodes of all levels are numbered one after the other, from the lowest level up.
        first = np.r_[0, np.cumsum(maps.max(axis=1) + 1)]
        owner, every = (maps + first[:-1, None]).ravel(), np.arange(attribute.size)
        node = first[level] + low[np.arange(len(level)), level]
        used, of_group = np.unique(node, return_inverse=True)
        nodes = SubDomains.sets(attribute, owner, np.tile(every, top + 1)).take(used)
        if attribute.name in hierarchies:
            # A node of one value is written as the value; nodes with the same values are one.
            levels = np.where(nodes.sizes == 1, 0, np.searchsorted(first, used, side="right") - 1)
            written = map(tree.written, attribute.values[nodes.low], levels.tolist())
            nodes.names = np.fromiter(written, object, len(used))
        nodes, number = nodes.distinct()
        return nodes, number[of_group]

    return _by_groups(m, p, "shallow", agreed)


def _by_groups(m: Microdata, p: Partition, method: str, sub_domains: Callable) -> Release:
    """Publish groups by the sub-domains in use, and the number of each group's sub-domain."""
    e, published = Entries.of(check_microdata(m, people=True), p), []
    for j, (attribute, codes) in enumerate(zip(m.attributes, e.codes.T, strict=True)):
        starred = np.zeros(p.n_groups, bool) if p.starred is None else p.starred[:, j]
        published.append(_of_groups(sub_domains, attribute, codes, e.group, starred))
    return Release(e, published, method, p)


def _of_groups(sub_domains: Callable, attribute, codes, group, starred) -> PublishedAttribute:
    values, of_group = sub_domains(attribute, codes, group, starred)
    return PublishedAttribute(values, np.append(of_group, 0)[group].astype(np.int32))  # 0 for -1


def _bounds(attribute, codes, group, starred) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest code of every group; a suppressed one spans its whole domain."""
    low, high = group_bounds(codes[:, None], group, len(starred))
    return np.where(starred, 0, low[:, 0]), np.where(starred, attribute.size - 1, high[:, 0])


def recode(m: Microdata, r: Recoding, unseen: Literal["error", "suppress"] = "error") -> Release:
    """Publish every value as its sub-domain: single-dimensional generalization.

    Classes of `m` that fail the ``withhold`` of `r`, a Recoding, are withheld; values that only
    they have are in no interval or set. Values that the recoding lacks raise ColumnError, or with
    ``unseen="suppress"`` their rows are withheld; other attributes raise ParameterError. If
    promises of last year's recoding do not hold here, ``write`` raises PromiseError. Source:
    xiao2010, section 2. O(n·d).

    >>> m = ap.examples.hospital()
    >>> r = ap.Recoding(m.attributes, [[0, 0, 1], [0, 0], [0, 1, 1]])
    >>> recode(m, r).frame.loc["Adam"].tolist()
    ['[<30 - [30, 50)]', '*', '[Bachelor - Master]', 'HIV']
    """
    check_microdata(m, people=True)
    if not isinstance(r, Recoding):
        got = type(r).__name__
        raise ParameterError(f"expected a Recoding, got {got}: publish groups by ap.suppress")
    errors.check_choice("unseen", unseen, ("error", "suppress"))
    # another table's sets would reveal values of its withheld rows
    r, new = (r, {}) if m.attributes == r.attributes else r.of_values(m.attributes)
    if new and unseen == "error":
        named = "; ".join(f"{n!r}: {v[:10]}{' ...' * (len(v) > 10)}" for n, v in new.items())
        way = 'unseen="suppress" (--unseen suppress) withholds their rows'
        raise ColumnError(f"new to the recoding: {named}; {way}")
    e, published = Entries.whole(m), []
    for name, ids, codes in zip(m.qi, r.maps, e.codes.T, strict=True):
        published.append(PublishedAttribute(r.members(name), ids[codes]))
    telling = np.full(len(e.group), -1)
    if new or r.withhold:
        e = r.classes(e)
        lost = [p.index == len(p.sub_domains) - 1 for p in published if p.attribute.name in new]
        e = e.in_groups(dense_labels(np.where(np.logical_or.reduce(lost), -1, e.group)))
        fails = failing(e, r.withhold)
        groups = dense_labels(np.where(fails, e.group, -1))
        telling = np.where(_must_fail(e.in_groups(groups), r.withhold), groups, -1)
        e = e.in_groups(dense_labels(np.where(fails, -1, e.group)))
        for j, column in enumerate(published if fails.any() else ()):
            if r.names[j] is None:  # values that only withheld rows have are in no set
                group = dense_labels(np.where(fails, -1, column.index))
                starred = column.is_star[np.unique(column.index[~fails])]
                codes = e.codes[:, j]
                published[j] = _of_groups(_held, column.attribute, codes, group, starred)
    return Release(e, published, "recode", r, telling)


def _must_fail(classes: Entries, asked: Sequence[Principle]) -> np.ndarray:
    """Whether the class of an entry fails, but with the most even values it would not, (f,)."""
    m, tell = classes.m, np.ones(classes.group.max(initial=-1) + 1, bool)
    for principle in asked:
        for name in principle.about(m):
            sizes, place = np.unique(GroupCounts.of(classes, name).sizes, return_inverse=True)
            of = 1 if name is None else np.count_nonzero(m.about(name).sensitive_counts)
            even = sizes[:, None] // of + (np.arange(of) < sizes[:, None] % of)
            tell &= principle.satisfied(GroupCounts.of_table(even))[place]
    return np.r_[tell, False][classes.group]  # the last is for -1


def swap(m: Microdata, p: Partition, seed: int | np.random.Generator | None = None) -> Release:
    """Publish groups by data swapping: sensitive values are permuted within every group.

    All permutations of a group are equally likely, so a value may stay on its row. QI values do
    not change, and everybody sees who is in the table. Promises are judged on the table's own
    values. With a `seed`, for experiments, the release warns: who guesses it undoes the swaps.
    ColumnError if `m` has no sensitive attribute or several, ParameterError if `p` is of another
    table or stars values. Source: boger2020, section 3.2, after Soria-Comas and Domingo-Ferrer,
    FUZZ-IEEE 2012. O(n log n).

    >>> m = ap.examples.hospital()
    >>> release = swap(m, ap.examples.hospital_two_diverse(), seed=0)
    >>> release.frame["Disease"].iloc[:4].tolist()
    ['bronchitis', 'pneumonia', 'HIV', 'HIV']
    """
    e = _groups_shown(m, p, "swap")
    draw = secret_order if seed is None else generator(seed).random
    # row by row, in the order of the table if it is at hand
    rows = e.take(e.of_row if m.has_rows else np.repeat(np.arange(len(e.cell)), e.counts))
    # the source row of every value: within groups, all permutations are equally likely
    source = np.empty(m.n, np.intp)
    source[np.argsort(rows.group, kind="stable")] = np.lexsort([draw(m.n), rows.group])
    e = replace(rows, counts=np.ones(m.n, np.intp), secrets=rows.secrets[source])
    marks = {"is_seeded": seed is not None, "shows_groups": True}
    return Release(e, _as_they_are(e), "swap", p, **marks)


def anatomize(m: Microdata, p: Partition) -> Anatomy:
    """Publish groups by anatomy: quasi-identifiers and sensitive values in two tables.

    The tables ``qit`` and ``st`` are joined by the group number. No level covers deFinetti's
    attack (:func:`anonpaper.measure.definetti`). `m`, `p` and errors are as for :func:`swap`; also
    ColumnError for a role column "group" or "count", ParameterError if TP or TP+ removed rows.
    Source: X. Xiao, Y. Tao, *Anatomy*, VLDB 2006, section 3; boger2020, section 2.2.

    >>> anatomize(ap.examples.hospital(), ap.examples.hospital_two_diverse()).st.head(1)
       group     Disease  count
    0      0         HIV      2
    """
    e = _groups_shown(m, p, "anatomize")
    if taken := [name for name in [*m.qi, m.sensitive] if name in ("group", "count")]:
        raise ColumnError(f"rename {taken}: the tables of an anatomy use these names")
    if has_residue(p):
        removed = f"{p.algorithm} removed {p.info['residue_size']} rows for their sensitive values"
        raise ParameterError(f"{removed}, and an anatomy shows which rows: use ap.suppress")
    return Anatomy(e, _as_they_are(e), "anatomize", p, shows_groups=True)


def _groups_shown(m: Microdata, p: Partition, form: str) -> Entries:
    """Return a table in its groups, for releases that show them and publish all values."""
    check_microdata(m)  # the quasi-identifiers stay, and by them a person's rows
    e = Entries.of(m, p)
    only_one(m.sensitive)
    if p.starred is not None and p.starred.any():
        what = f"{p.algorithm or 'the partition'} stars values"
        raise ParameterError(f"{what}, but {form} publishes all values: use ap.suppress")
    return e


def _as_they_are(e: Entries) -> list[PublishedAttribute]:
    return [
        PublishedAttribute(SubDomains.runs(a, np.arange(a.size), np.arange(a.size)), codes)
        for a, codes in zip(e.m.attributes, e.codes.T, strict=True)
    ]
