"""Generalization hierarchies of the data sets of majeed2024, with the level counts of its Table 5.

The paper prints how many levels each hierarchy has, the values included, and shows none but that
of age. The trees here are ours: numbers are cut into intervals of doubling width, categories are
grouped by what they mean. Adult 3, 7, 3, 2, 4, 5, 4 levels for race, age, relationship, sex, work
class, education and country; Stroke 2, 7, 2, 4, 2, 3; Census 2, 7, 4, 4, 3, 3, 4, 3; Diabetes
3, 2, 7, 4, 4, 3. Ages of the diabetes data come in ten brackets, for which seven levels would be
too many to tell apart: its tree has them all the same, the lowest three equal.

Source: A. Majeed, S. O. Hwang, *A data-centric l-diversity model for securely publishing personal
data with enhanced utility*, Table 5 and Figure 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from anonpaper.errors import HierarchyError, ParameterError
from anonpaper.hierarchy import STAR, Hierarchy
from anonpaper.microdata import MISSING, Attribute, Microdata

__all__ = ["LEVELS", "hierarchies"]

#: Data set -> attribute -> number of levels in Table 5, the values included.
LEVELS: dict[str, dict[str, int]] = {
    "adult": {
        "race": 3, "age": 7, "relationship": 3, "sex": 2, "workclass": 4, "education": 5,
        "native-country": 4,
    },
    "stroke": {
        "gender": 2, "age": 7, "ever_married": 2, "work_type": 4, "Residence_type": 2,
        "smoking_status": 3,
    },
    "census": {
        "sex": 2, "age": 7, "class of worker": 4, "marital stat": 4, "race": 3, "education": 3,
        "country of birth self": 4, "weeks worked in year": 3,
    },
    "diabetes": {
        "race": 3, "gender": 2, "age": 7, "time_in_hospital": 4, "num_lab_procedures": 4,
        "insulin": 3,
    },
}  # fmt: skip

#: Widths of the intervals of numeric attributes, one per level between the value and the star.
_WIDTHS: dict[str, dict[str, Sequence[float]]] = {
    "adult": {"age": (5, 10, 20, 40, 80)},
    "stroke": {"age": (5, 10, 20, 40, 80)},
    "census": {"age": (5, 10, 20, 40, 80), "weeks worked in year": (13,)},
    "diabetes": {"time_in_hospital": (2, 4), "num_lab_procedures": (10, 40)},
}

# A tree: name -> its sub-trees, or the list of its values. The name on top is left out: a star.
_ADULT_WORK = {
    "employed": {
        "private": ["Private"],
        "public": ["Federal-gov", "Local-gov", "State-gov"],
        "self-employed": ["Self-emp-inc", "Self-emp-not-inc"],
    },
    "not employed": {"unpaid": ["Never-worked", "Without-pay"]},
}
_ADULT_EDUCATION = {
    "no college": {
        "no diploma": {
            "elementary": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
            "secondary": ["9th", "10th", "11th", "12th"],
        },
        "diploma": {"high school": ["HS-grad"]},
    },
    "college": {
        "undergraduate": {
            "some college": ["Some-college"],
            "associate": ["Assoc-voc", "Assoc-acdm"],
            "bachelor": ["Bachelors"],
        },
        "graduate": {
            "master": ["Masters"],
            "doctor or professional": ["Prof-school", "Doctorate"],
        },
    },
}
_ADULT_COUNTRIES = {
    "Americas": {
        "North America": ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)"],
        "Latin America": [
            "Columbia", "Cuba", "Dominican-Republic", "Ecuador", "El-Salvador", "Guatemala",
            "Haiti", "Honduras", "Jamaica", "Mexico", "Nicaragua", "Peru", "Puerto-Rico",
            "Trinadad&Tobago",
        ],
    },
    "Old World": {
        "Europe": [
            "England", "France", "Germany", "Greece", "Holand-Netherlands", "Hungary", "Ireland",
            "Italy", "Poland", "Portugal", "Scotland", "Yugoslavia",
        ],
        "Asia": [
            "Cambodia", "China", "Hong", "India", "Iran", "Japan", "Laos", "Philippines",
            "South", "Taiwan", "Thailand", "Vietnam",
        ],
    },
}  # fmt: skip
_CENSUS_COUNTRIES = {
    "Americas": {
        "North America": [
            "United-States", "Canada", "Outlying-U S (Guam USVI etc)",
        ],
        "Latin America": [
            "Columbia", "Cuba", "Dominican-Republic", "Ecuador", "El-Salvador", "Guatemala",
            "Haiti", "Honduras", "Jamaica", "Mexico", "Nicaragua", "Panama", "Peru",
            "Puerto-Rico", "Trinadad&Tobago",
        ],
    },
    "Old World": {
        "Europe": [
            "England", "France", "Germany", "Greece", "Holand-Netherlands", "Hungary", "Ireland",
            "Italy", "Poland", "Portugal", "Scotland", "Yugoslavia",
        ],
        "Asia": [
            "Cambodia", "China", "Hong Kong", "India", "Iran", "Japan", "Laos", "Philippines",
            "South Korea", "Taiwan", "Thailand", "Vietnam",
        ],
    },
}  # fmt: skip

_TREES: dict[str, dict[str, dict]] = {
    "adult": {
        "race": {
            "White": ["White"],
            "other than White": ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other"],
        },
        "relationship": {
            "in a couple": ["Husband", "Wife"],
            "not in a couple": ["Not-in-family", "Other-relative", "Own-child", "Unmarried"],
        },
        "sex": {"": ["Female", "Male"]},
        "workclass": _ADULT_WORK,
        "education": _ADULT_EDUCATION,
        "native-country": _ADULT_COUNTRIES,
    },
    "stroke": {
        "gender": {"": ["Female", "Male", "Other"]},
        "ever_married": {"": ["No", "Yes"]},
        "work_type": {
            "working": {"employee": ["Private", "Govt_job"], "self-employed": ["Self-employed"]},
            "not working": {"no job": ["children", "Never_worked"]},
        },
        "Residence_type": {"": ["Rural", "Urban"]},
        "smoking_status": {
            "ever smoked": ["formerly smoked", "smokes"],
            "never smoked or unknown": ["never smoked", "Unknown"],
        },
    },
    "census": {
        "sex": {"": ["Female", "Male"]},
        "class of worker": {
            "employed": {
                "private": ["Private"],
                "public": ["Federal government", "Local government", "State government"],
                "self-employed": ["Self-employed-incorporated", "Self-employed-not incorporated"],
            },
            "not employed": {"unpaid": ["Never worked", "Without pay", "Not in universe"]},
        },
        "marital stat": {
            "married once": {
                "married": [
                    "Married-A F spouse present", "Married-civilian spouse present",
                    "Married-spouse absent",
                ],
                "formerly married": ["Divorced", "Separated", "Widowed"],
            },
            "not married": {"never married": ["Never married"]},
        },
        "race": {
            "White": ["White"],
            "other than White": [
                "Amer Indian Aleut or Eskimo", "Asian or Pacific Islander", "Black", "Other",
            ],
        },
        "education": {
            "no diploma": [
                "Children", "Less than 1st grade", "1st 2nd 3rd or 4th grade",
                "5th or 6th grade", "7th and 8th grade", "9th grade", "10th grade", "11th grade",
                "12th grade no diploma",
            ],
            "high school": ["High school graduate", "Some college but no degree"],
            "degree": [
                "Associates degree-occup /vocational", "Associates degree-academic program",
                "Bachelors degree(BA AB BS)", "Masters degree(MA MS MEng MEd MSW MBA)",
                "Prof school degree (MD DDS DVM LLB JD)", "Doctorate degree(PhD EdD)",
            ],
        },
        "country of birth self": _CENSUS_COUNTRIES,
    },
    "diabetes": {
        "race": {
            "Caucasian": ["Caucasian"],
            "other than Caucasian": ["AfricanAmerican", "Asian", "Hispanic", "Other"],
        },
        "gender": {"": ["Female", "Male", "Unknown/Invalid"]},
        "insulin": {"none": ["No"], "some": ["Down", "Steady", "Up"]},
    },
}  # fmt: skip


def hierarchies(name: str, m: Microdata) -> dict[str, Hierarchy]:
    """Return the hierarchies of a data set's quasi-identifiers.

    Parameters
    ----------
    name : {"adult", "stroke", "census", "diabetes"}
        The data set.
    m : Microdata
        Its table, or part of it; the quasi-identifiers may be any of Table 5's.

    Returns
    -------
    dict of str to Hierarchy
        In the order of ``m.qi``; level 0 holds the values, the highest level one star.

    Raises
    ------
    ParameterError
        No data set of that name.
    HierarchyError
        A quasi-identifier is not one of Table 5's, or has a value that no tree knows.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m = ap.load("adult", qi=["race", "age"])
    >>> tree = hierarchies("adult", m)["age"]
    >>> tree.height + 1, [tree.generalize(23, level) for level in (1, 2, 6)]
    (7, ['[20, 25)', '[20, 30)', '*'])
    """
    if name not in LEVELS:
        raise ParameterError(f"there are hierarchies for {list(LEVELS)}, got {name!r}")
    return {a.name: _hierarchy(name, a) for a in m.attributes}


def _hierarchy(name: str, attribute: Attribute) -> Hierarchy:
    if attribute.name not in LEVELS[name]:
        raise HierarchyError(
            f"Table 5 has no hierarchy of {attribute.name!r}; it has {list(LEVELS[name])}"
        )
    if attribute.name in _WIDTHS[name]:
        return Hierarchy.intervals(attribute.values, _WIDTHS[name][attribute.name])
    if name == "diabetes" and attribute.name == "age":
        return _brackets(attribute)
    tree = _TREES[name][attribute.name]
    rows = {row[0]: row for row in _rows(tree)}
    if MISSING in attribute.values:
        height = len(next(iter(rows.values())))
        rows[MISSING] = [MISSING, *["unknown"] * (height - 2), STAR]
    lacking = [value for value in attribute.values if value not in rows]
    if lacking:
        raise HierarchyError(f"the tree of {attribute.name!r} does not know the values {lacking}")
    return Hierarchy([rows[value] for value in attribute.values])


def _rows(tree: Mapping | Sequence, above: tuple[str, ...] = (STAR,)) -> list[list[str]]:
    """Write a tree as one row per value, from the value up; the name "" is no level."""
    if not isinstance(tree, Mapping):
        return [[value, *above] for value in tree]
    return [
        row
        for name, below in tree.items()
        for row in _rows(below, (name, *above) if name else above)
    ]


def _brackets(attribute: Attribute) -> Hierarchy:
    """Join the ten-year brackets of the diabetes data two and four at a time."""
    starts = np.arange(0, 10 * attribute.size, 10)
    rows = []
    for value, start in zip(attribute.values, starts, strict=True):
        joined = [f"[{start // w * w}-{start // w * w + w})" for w in (20, 40, 80)]
        rows.append([value, value, value, *joined, STAR])
    return Hierarchy(rows)
