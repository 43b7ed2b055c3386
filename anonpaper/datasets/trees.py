"""Generalization hierarchies of the data sets of majeed2024, with the level counts of its Table 5.

The paper shows only the hierarchy of age (Figure 2). The trees in trees.csv are ours: a line has a
value and its names, or the widths of the intervals of numbers. The ten age brackets of the
diabetes data are too few for seven levels: the lowest three are equal.
"""

from __future__ import annotations

import csv
from pathlib import Path

from anonpaper.errors import HierarchyError, check_choice
from anonpaper.hierarchy import STAR, Hierarchy
from anonpaper.microdata import MISSING, Attribute, Microdata

_TREES: dict[str, dict[str, list[list[str]]]] = {}
with Path(__file__).with_name("trees.csv").open(encoding="utf-8", newline="") as _lines:
    for _name, _attribute, *_row in csv.reader(_lines):
        _TREES.setdefault(_name, {}).setdefault(_attribute, []).append(_row)

#: Data set -> attribute -> number of levels in Table 5, the values included.
LEVELS = {
    name: {attribute: len(rows[0]) + (not rows[0][0]) for attribute, rows in trees.items()}
    for name, trees in _TREES.items()
}


def hierarchies(name: str, m: Microdata) -> dict[str, Hierarchy]:
    """Return the hierarchies of a data set's quasi-identifiers, in the order of ``m.qi``.

    `m` is the table "adult", "stroke", "census" or "diabetes", or a part of it. Level 0 has the
    values, the highest level one star. HierarchyError if a quasi-identifier is not in Table 5, or
    has a value that its tree lacks.

    >>> m = ap.load("adult", qi=["race", "age"])
    >>> tree = hierarchies("adult", m)["age"]
    >>> tree.height + 1, [tree.generalize(23, level) for level in (1, 2, 6)]
    (7, ['[20, 25)', '[20, 30)', '*'])
    """
    trees = _TREES[check_choice("name", name, LEVELS)]
    if unknown := [name for name in m.qi if name not in trees]:
        raise HierarchyError(f"Table 5 has no hierarchies of {unknown}; it has {list(trees)}")
    return {a.name: _hierarchy(a, trees[a.name]) for a in m.attributes}


def _hierarchy(attribute: Attribute, rows: list[list[str]]) -> Hierarchy:
    first, *widths = rows[0]
    if not first:
        return Hierarchy.intervals(attribute.values, [*map(int, widths)])
    missing = [MISSING, *["unknown"] * (len(widths) - 1), STAR]
    named = {row[0]: row for row in [missing, *rows]}  # in the order of the attribute's values
    if lacking := [value for value in attribute.values if value not in named]:
        raise HierarchyError(f"the tree of {attribute.name!r} lacks the values {lacking}")
    return Hierarchy([named[value] for value in attribute.values])
