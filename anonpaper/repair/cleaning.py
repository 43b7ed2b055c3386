"""What is done to a table before it is grouped.

Cleaning, imbalance and patterns are steps of majeed2024. A chromosome of dewri2009 (sections 3 and
5.1) has a bit between any two neighbours of an ordered domain: intervals and orders make one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from anonpaper import errors
from anonpaper.hierarchy import Hierarchy, check_hierarchies, exact_number
from anonpaper.microdata import MISSING, Microdata, check_microdata
from anonpaper.randomness import generator
from anonpaper.roles import checked_roles

__all__ = [
    "Imbalance", "clean", "find_imbalance", "granularize", "in_preorder", "pattern_friendly",
]  # fmt: skip

_STEPS = ["attribute arrangement", "NSA and EI removal", "outlier removal", "missing values",
          "attribute type checks", "value formatting"]  # fmt: skip
MOST_INTERVALS = 100_000  # of an attribute; each is a value of its domain
_FOLDS = 3  # of the cross-validation: the paper's 2/3 to 1/3


def clean(
    frame: pd.DataFrame, qi: Sequence, sensitive: object
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Apply the steps of majeed2024, Table 4, in its order and record each of them.

    The paper names techniques without details (section 4.1.2). Here they remove nobody: people
    with equal quasi-identifiers are mostly different people, and an outlier may be a person. Only
    the columns `qi` and `sensitive` are kept, in this order; missing values become ``"?"``. The
    account has one row per step: ``step``, ``rows`` and ``columns`` after it, ``values_changed``,
    ``rows_removed``, ``columns_removed``. ColumnError for a column that is unknown or used twice,
    MissingValueError for a missing number.

    >>> frame = pd.DataFrame({"ill": [1, 0], "job": ["nurse", None], "name": ["Ann", "Bob"]})
    >>> table, account = clean(frame, ["job"], "ill")
    >>> table["job"].tolist(), account["columns_removed"].sum().item()
    (['nurse', '?'], 1)
    """
    if not isinstance(frame, pd.DataFrame):
        raise errors.ParameterError(f"frame must be a DataFrame, got {type(frame).__name__}")
    qi, sensitives = checked_roles(list(frame.columns), qi, sensitive)
    kept = frame[[*qi, *sensitives]]
    account = pd.DataFrame({"step": _STEPS, "rows": len(frame), "columns": kept.shape[1]})
    account.loc[0, "columns"] = frame.shape[1]
    account[["values_changed", "rows_removed", "columns_removed"]] = 0
    account.loc[3, "values_changed"] = kept.isna().to_numpy().sum()
    account.loc[1, "columns_removed"] = frame.shape[1] - kept.shape[1]
    return kept.apply(_filled), account


def _filled(column: pd.Series) -> pd.Series:
    """Return a column with "?" for missing values; MissingValueError for numbers."""
    if not column.isna().any():
        return column
    if pd.api.types.is_numeric_dtype(column):
        raise errors.MissingValueError(f"missing numbers in {column.name!r}: drop their rows")
    if isinstance(column.dtype, pd.CategoricalDtype) and MISSING not in column.cat.categories:
        column = column.cat.add_categories([MISSING])
    return column.fillna(MISSING)


class Imbalance(NamedTuple):
    """How uneven the sensitive values of a table are; values that occur, in domain order."""

    values: np.ndarray  # (s,), dtype object
    counts: np.ndarray  # (s,), rows of each
    gaps: np.ndarray  # rows by which each is behind the most frequent one
    threshold: float  # gap, in rows, above which a value is rare
    is_rare: np.ndarray
    vulnerable: bool  # Algorithm 1's tau: whether any value is rare
    needed: dict[object, int]  # rows to add per value for a balanced table, where any

    def frame(self) -> pd.DataFrame:
        """Return one row per value: rows, share, gap to the most frequent one, rare or not."""
        columns = {"value": self.values, "rows": self.counts}
        columns |= {"share": self.counts / self.counts.sum(), "gap": self.gaps}
        return pd.DataFrame(columns | {"rare": self.is_rare})


def find_imbalance(m: Microdata, threshold: float = 0.5) -> Imbalance:
    """Compare all sensitive values of `m` with the most frequent one; majeed2024, Algorithm 1.

    `threshold` is the share of the rows, in [0, 1], above which a gap is a vulnerability; one half
    in the paper. ColumnError without a sensitive attribute, InfeasibleError for a single value.

    >>> m = Microdata(pd.DataFrame({"age": range(10), "ill": [0] * 9 + [1]}), ["age"], "ill")
    >>> found = find_imbalance(m)
    >>> found.vulnerable, found.needed
    (True, {1: 8})
    """
    rows = errors.check_number("threshold", threshold, 0, 1) * check_microdata(m).n  # lines 2, 3
    occurring = m.sensitive_counts > 0  # lines 4 to 8
    values, counts = m.sensitive_attribute.values[occurring], m.sensitive_counts[occurring]
    if len(values) == 1:
        raise errors.InfeasibleError(
            f"every row has {m.sensitive!r} = {values[0]!r}: no added rows can balance a single "
            "value, and no grouping can be 2-diverse; choose another sensitive attribute"
        )
    gaps = counts.max() - counts  # line 9
    rare = gaps > rows  # lines 10 to 13
    needed = {value: int(gap) for value, gap in zip(values, gaps, strict=True) if gap}
    return Imbalance(values, counts, gaps, rows, rare, bool(rare.any()), needed)


def pattern_friendly(
    m: Microdata, *, trees: int = 50, repeats: int = 3, rows: int = 20_000, seed=0
) -> pd.DataFrame:
    """Judge every quasi-identifier of `m` by frequency and by permutation importance.

    The paper prints no rule; its pattern-friendly ones have shares from 0.37 to 0.89, and one with
    0.59 is rejected. Here: unordered, most frequent value in half of the rows, importance at most
    the mean of all. Importance is the balanced accuracy that a random forest of `trees`, which
    predicts the sensitive value of other rows, loses when the column is shuffled, `repeats` times
    in each part. At most `rows` rows are drawn for the forests, by `seed`. InfeasibleError if
    fewer than two sensitive values have three rows. Sources: majeed2024, section 4.2.1; L.
    Breiman, *Random forests*, Machine Learning 45, 2001.

    The frame has per quasi-identifier ``qid``, ``top_value``, ``top_share``, ``weight`` (its share
    of all importance) and ``friendly``.

    >>> frame = pd.DataFrame({"ill": [0, 1] * 30, "job": ["a", "b"] * 30, "land": ["x"] * 60})
    >>> pattern_friendly(Microdata(frame, ["job", "land"], "ill"), trees=5)["friendly"].tolist()
    [False, True]
    """
    with errors.needs("learning"):
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.inspection import permutation_importance
        from sklearn.model_selection import StratifiedKFold

    given = {"trees": trees, "repeats": repeats, "rows": rows}
    trees, repeats, rows = (errors.check_integer(name, n, 1) for name, n in given.items())
    rng = generator(seed)
    part = m if rows >= check_microdata(m).n else m.sample(rows, rng)
    frequent = part.sensitive_counts >= _FOLDS
    if np.count_nonzero(frequent) < 2:
        wanted = f"{_FOLDS} rows or more, one per fold: use more rows"
        raise errors.InfeasibleError(f"fewer than two values of {m.sensitive!r} have {wanted}")
    known = frequent[part.sensitive_codes]
    x, y = part.codes[known], part.sensitive_codes[known]
    losses, draw = [], int(rng.integers(2**31))
    for train, test in StratifiedKFold(_FOLDS, shuffle=True, random_state=draw).split(x, y):
        forest = RandomForestClassifier(
            trees, min_samples_leaf=5, class_weight="balanced_subsample", random_state=draw
        )
        losses.append(permutation_importance(
            forest.fit(x[train], y[train]), x[test], y[test], scoring="balanced_accuracy",
            n_repeats=repeats, random_state=draw,
        ).importances)  # fmt: skip
    lost = np.maximum(np.concatenate(losses, axis=1).mean(axis=1), 0)
    weight = lost / lost.sum() if lost.any() else np.full(m.d, 1 / m.d)
    counts = [np.bincount(codes) for codes in m.codes.T]
    top_share = np.array([c.max() / m.n for c in counts])
    unordered = np.array([not a.ordered for a in m.attributes])
    return pd.DataFrame({
        "qid": m.qi,
        "top_value": [a.values[c.argmax()] for a, c in zip(m.attributes, counts, strict=True)],
        "top_share": top_share, "weight": weight,
        "friendly": unordered & (top_share >= 0.5) & (weight <= 1 / m.d + 1e-12),
    })  # fmt: skip


def granularize(
    m: Microdata, granularity: Mapping[object, float], ranges: Mapping[object, tuple] | None = None
) -> Microdata:
    """Cut numeric attributes into intervals of equal width.

    This is not yet a generalization: it fixes the finest intervals ``[low, low + width)``, whose
    borders a recoding of `m` can keep or drop. Empty ones are part of the domain. `granularity`
    has widths above 0, in the attribute's unit, and `ranges` the (low, high) of the intervals, a
    whole number of widths; by default multiples of the width. ColumnError if an attribute is no
    numeric quasi-identifier, ParameterError for an impossible width or range. Source: dewri2009,
    section 6. O(n + intervals).

    >>> m = Microdata(pd.DataFrame({"age": [17, 23, 24, 90]}), qi=["age"])
    >>> granularize(m, {"age": 5}, ranges={"age": (0, 100)}).attributes[0].size
    20
    """
    frame = check_microdata(m, people=True).frame.copy(deep=False)
    granularity = errors.check_named("granularity", granularity, m.qi)
    ranges = errors.check_named("ranges", ranges, list(granularity))
    for name, width in granularity.items():
        attribute = m.attribute(name)
        if not attribute.numeric:
            raise errors.ColumnError(f"{name!r} is not numeric, or lacks values: leave it out")
        step = exact_number(f"granularity of {name!r}", width, 0)
        least, most = (exact_number("a value", v, -np.inf) for v in attribute.positions[[0, -1]])
        low, high = least // step * step, (most // step + 1) * step
        if name in ranges:
            bounds = errors.check_sequence(f"the range of {name!r}", ranges[name])
            bounds = [exact_number("a bound", bound, -np.inf) for bound in bounds]
            low, high = min(bounds, default=0), max(bounds, default=0)
        steps = (high - low) / step
        if steps.denominator > 1 or steps > MOST_INTERVALS or not low <= least <= most < high:
            raise errors.ParameterError(
                f"the range of {name!r}, [{float(low):g}, {float(high):g}), must be at most "
                f"{MOST_INTERVALS:,} widths of {width} and hold all values, from "
                f"{float(least):g} to {float(most):g}"
            )
        borders = np.array([low + i * step for i in range(int(steps) + 1)])
        kind = int if step.denominator == low.denominator == 1 else float
        frame[name] = pd.cut(frame[name], borders.astype(kind), right=False)
    return m.replace(frame=frame)


def in_preorder(m: Microdata, taxonomies: Mapping[object, Hierarchy]) -> Microdata:
    """Put the domains of attributes into the preorder of their taxonomy trees.

    Values that belong together in a tree become neighbours, which bits can join. `taxonomies` has
    a Hierarchy for each attribute of `m` to reorder; the missing value ``"?"`` comes last if it
    lacks it. ColumnError if a name is not a quasi-identifier, HierarchyError if a tree lacks
    values of its attribute. Source: dewri2009, section 3. O(n + values).

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
            raise errors.HierarchyError(f"the taxonomy of {name!r} lacks its values {lacking[:5]}")
        order = [value_of[label] for label in labels if label in value_of]
        frame[name] = pd.Categorical(attribute.values[m.codes_of(name)], order)
    return m.replace(frame=frame)
