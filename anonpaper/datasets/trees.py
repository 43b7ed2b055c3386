"""Generalization hierarchies of the data sets of majeed2024, with the level counts of its Table 5.

The paper shows only the hierarchy of age (Figure 2). The trees in trees.csv are ours. The ten age
brackets of the diabetes data are too few for seven levels: the lowest three are equal.
"""

from __future__ import annotations

import csv
from pathlib import Path

from anonpaper.errors import HierarchyError, check_choice
from anonpaper.hierarchy import STAR, Hierarchy
from anonpaper.microdata import MISSING, Attribute, Microdata

__all__ = ["LEVELS", "hierarchies"]

#: Data set -> attribute -> number of levels in Table 5, the values included.
LEVELS: dict[str, dict[str, int]] = {
    "adult": {"race": 3, "age": 7, "relationship": 3, "sex": 2, "workclass": 4, "education": 5,
              "native-country": 4},
    "stroke": {"gender": 2, "age": 7, "ever_married": 2, "work_type": 4, "Residence_type": 2,
               "smoking_status": 3},
    "census": {"sex": 2, "age": 7, "class of worker": 4, "marital stat": 4, "race": 3,
               "education": 3, "country of birth self": 4, "weeks worked in year": 3},
    "diabetes": {"race": 3, "gender": 2, "age": 7, "time_in_hospital": 4, "num_lab_procedures": 4,
                 "insulin": 3},
}  # fmt: skip

#: Of the intervals of numbers, one width per level between the value and the star.
_WIDTHS = {
    "age": [5, 10, 20, 40, 80],
    "weeks worked in year": [13],
    "time_in_hospital": [2, 4],
    "num_lab_procedures": [10, 40],
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
    check_choice("name", name, LEVELS)
    return {a.name: _hierarchy(name, a) for a in m.attributes}


def _hierarchy(name: str, attribute: Attribute) -> Hierarchy:
    if attribute.name not in LEVELS[name]:
        raise HierarchyError(
            f"Table 5 has no hierarchy of {attribute.name!r}; it has {list(LEVELS[name])}"
        )
    values = attribute.values
    if attribute.numeric:
        return Hierarchy.intervals(values, _WIDTHS[attribute.name])
    with Path(__file__).with_name("trees.csv").open(encoding="utf-8", newline="") as lines:
        found = [row for row in csv.reader(lines) if row[:2] == [name, attribute.name]]
    rows = {value: [value, *above] for _, _, value, *above in found}
    rows.setdefault(MISSING, [MISSING, *["unknown"] * (len(found[0]) - 4), STAR])
    if lacking := [value for value in values if value not in rows]:
        raise HierarchyError(f"the tree of {attribute.name!r} lacks the values {lacking}")
    return Hierarchy([rows[value] for value in values])
