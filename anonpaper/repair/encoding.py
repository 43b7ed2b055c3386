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

    This is not yet a generalization: it fixes the finest intervals ``[low, low + width)``, whose
    borders a recoding of `m` can keep or drop. Empty intervals are part of the domain.
    `granularity` has widths above 0, in the attribute's unit, and `ranges` the (low, high) of the
    intervals, a whole number of widths; by default multiples of the width. ColumnError if an
    attribute is no numeric quasi-identifier, ParameterError for an impossible width or range.
    Source: dewri2009, section 6. O(n + intervals).

    >>> m = Microdata(pd.DataFrame({"age": [17, 23, 24, 90]}), qi=["age"])
    >>> granularize(m, {"age": 5}, ranges={"age": (0, 100)}).attributes[0].size
    20
    """
    frame = check_microdata(m, people=True).frame.copy(deep=False)
    granularity = check_named("granularity", granularity, m.qi)
    ranges = check_named("ranges", ranges, list(granularity))
    for name, width in granularity.items():
        attribute = m.attribute(name)
        if not attribute.numeric:
            raise ColumnError(
                f"{name!r} cannot be cut into intervals: it is not numeric, or has missing values"
            )
        step = exact_number(f"granularity of {name!r}", width, 0)
        least, most = (exact_number("a value", v, -np.inf) for v in attribute.positions[[0, -1]])
        low, high = least // step * step, (most // step + 1) * step
        if name in ranges:
            given = check_range(name, ranges[name])
            low, high = (exact_number("a bound", bound, -np.inf) for bound in given)
        steps = (high - low) / step
        whole = steps.denominator == 1 and steps <= MOST_INTERVALS
        if not whole or not low <= least <= most < high:
            raise ParameterError(
                f"the range of {name!r}, [{float(low):g}, {float(high):g}), must be at most "
                f"{MOST_INTERVALS:,} widths of {width} and hold all values, from "
                f"{float(least):g} to {float(most):g}"
            )
        borders = np.array([low + i * step for i in range(int(steps) + 1)])
        is_whole = step.denominator == low.denominator == 1
        frame[name] = pd.cut(frame[name], borders.astype(int if is_whole else float), right=False)
    return m.replace(frame=frame)


def in_preorder(m: Microdata, taxonomies: Mapping[object, Hierarchy]) -> Microdata:
    """Put the domains of attributes into the preorder of their taxonomy trees.

    Values that belong together in a tree become neighbours, which bits can join. `taxonomies` has
    a Hierarchy for each attribute of `m` to reorder. Values of a tree that the domain lacks are
    ignored; the missing value ``"?"`` comes last if the tree lacks it. ColumnError if a name is
    not a quasi-identifier, HierarchyError if a tree lacks values of its attribute. Source:
    dewri2009, section 3: the order of a categorical domain. O(n + values).

    >>> m = Microdata(pd.DataFrame({"work": ["federal", "none", "local"]}), qi=["work"])
    >>> tree = ap.Hierarchy([["federal", "state"], ["local", "state"], ["none", "other"]])
    >>> in_preorder(m, {"work": tree}).attributes[0].values.tolist()
    ['federal', 'local', 'none']
    """
    frame = check_microdata(m, people=True).frame.copy(deep=False)
    for name, tree in check_hierarchies(taxonomies, m.qi).items():
        attribute = m.attribute(name)
        value_of = {str(value): value for value in attribute.values}
        labels = dict.fromkeys([*tree.preorder(), MISSING])
        if lacking := sorted(set(value_of) - set(labels)):
            raise HierarchyError(f"the taxonomy of {name!r} lacks its values {lacking[:5]}")
        order = [value_of[label] for label in labels if label in value_of]
        frame[name] = pd.Categorical(attribute.values[m.codes_of(name)], order)
    return m.replace(frame=frame)
