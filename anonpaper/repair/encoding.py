"""Domains for the bit encoding: numbers cut into intervals, categories put in order.

A chromosome has a bit between any two neighbours of an ordered domain. Source: dewri2009, sections
3 and 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from anonpaper.errors import ColumnError, HierarchyError, ParameterError, check_named, check_range
from anonpaper.hierarchy import Hierarchy, check_hierarchies, exact_number
from anonpaper.microdata import MISSING, Microdata, check_microdata

__all__ = ["MOST_INTERVALS", "granularize", "in_preorder"]

#: The largest number of intervals of an attribute; each is a value of its domain.
MOST_INTERVALS = 100_000


def granularize(
    m: Microdata,
    granularity: Mapping[object, float],
    ranges: Mapping[object, tuple[float, float]] | None = None,
) -> Microdata:
    """Cut numeric attributes into intervals of equal width.

    This is not yet a generalization: it fixes the finest intervals, whose borders a recoding can
    keep or drop. Empty intervals are part of the domain.

    Parameters
    ----------
    m, granularity : Microdata, and mapping of attribute name to float
        The table, and widths of intervals, above 0, in the attribute's unit.
    ranges : mapping of attribute name to (low, high), optional
        The range of the intervals, a whole number of widths; by default multiples of the width.

    Returns
    -------
    Microdata
        The attributes are ordered, their values intervals ``[low, low + width)``.

    Raises
    ------
    ColumnError, ParameterError
        An attribute is no numeric quasi-identifier; or a width or range is impossible.

    References
    ----------
    dewri2009, section 6. O(n + intervals).

    Examples
    --------
    >>> m = Microdata(pd.DataFrame({"age": [17, 23, 24, 90]}), qi=["age"])
    >>> granularize(m, {"age": 5}, ranges={"age": (0, 100)}).attributes[0].size
    20
    """
    ranges = check_named("ranges", ranges, check_microdata(m, people=True).qi)
    frame = m.frame.copy(deep=False)
    for name, width in check_named("granularity", granularity, m.qi).items():
        attribute = m.attribute(name)
        if not attribute.numeric:
            raise ColumnError(
                f"{name!r} cannot be cut into intervals: it is not numeric, or has missing values"
            )
        step = exact_number(f"granularity of {name!r}", width, 0)
        least, greatest = (
            exact_number("a value", v, -np.inf) for v in attribute.positions[[0, -1]]
        )
        covering = float(least // step * step), float((greatest // step + 1) * step)
        low, high = check_range(name, ranges.pop(name, covering))
        first = exact_number("a bound", low, -np.inf)
        steps = (exact_number("a bound", high, -np.inf) - first) / step
        wrong = ""
        if steps < 1 or steps.denominator > 1:
            wrong = "is not a whole number of widths"
        elif steps > MOST_INTERVALS:
            wrong = f"has more than {MOST_INTERVALS:,} intervals: use a larger width"
        elif least < low or greatest >= high:
            wrong = f"must hold all values, from {float(least):g} to {float(greatest):g}"
        else:
            borders = np.array([float(first + i * step) for i in range(int(steps) + 1)])
            if (np.diff(borders) <= 0).any():
                wrong = "is too far from 0: floats cannot express the bounds"
        if wrong:
            raise ParameterError(
                f"the range of {name!r}, [{low:g}, {high:g}) in widths of {width}, {wrong}"
            )
        if np.array_equal(borders, borders.astype(int)):
            borders = borders.astype(int)
        frame[name] = pd.cut(frame[name], borders, right=False)
    if ranges:
        raise ColumnError(f"ranges names {list(ranges)}, but granularity does not: add a width")
    return m.replace(frame=frame)


def in_preorder(m: Microdata, taxonomies: Mapping[object, Hierarchy]) -> Microdata:
    """Put the domains of attributes into the preorder of their taxonomy trees.

    Values that belong together in a tree become neighbours, which bits can join.

    Parameters
    ----------
    m, taxonomies : Microdata, and mapping of attribute name to Hierarchy
        A tree for each attribute to reorder. Values of a tree that the domain lacks are ignored;
        the missing value ``"?"`` comes last if the tree lacks it.

    Returns
    -------
    Microdata
        The same rows and roles; only the order of the domains differs.

    Raises
    ------
    ColumnError, HierarchyError
        A name is not a quasi-identifier, or a tree lacks values of its attribute.

    References
    ----------
    dewri2009, section 3: the order of a categorical domain. O(n + values).

    Examples
    --------
    >>> m = Microdata(pd.DataFrame({"work": ["federal", "none", "local"]}), qi=["work"])
    >>> tree = ap.Hierarchy([["federal", "state"], ["local", "state"], ["none", "other"]])
    >>> in_preorder(m, {"work": tree}).attributes[0].values.tolist()
    ['federal', 'local', 'none']
    """
    frame = check_microdata(m, people=True).frame.copy(deep=False)
    for name, tree in check_hierarchies(taxonomies, m.qi).items():
        attribute = m.attribute(name)
        value_of = {str(value): value for value in attribute.values}
        labels = tree.preorder()
        if MISSING not in labels:
            labels.append(MISSING)
        lacking = sorted(set(value_of) - set(labels))
        if lacking:
            raise HierarchyError(f"the taxonomy of {name!r} lacks its values {lacking[:5]}")
        order = [value_of[label] for label in labels if label in value_of]
        frame[name] = pd.Categorical(attribute.values[m.codes_of(name)], order)
    return m.replace(frame=frame)
