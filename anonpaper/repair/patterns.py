"""Pattern-friendly quasi-identifiers: most people share one value, and little depends on it.

The paper counts and shuffles, but prints no rule. Its pattern-friendly quasi-identifiers have
shares from 0.37 to 0.89, and one with 0.59 is rejected. The rule here: unordered, most frequent
value at least `share`, importance at most the mean of all. Source: majeed2024, section 4.2.1 and
Figure 4.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from anonpaper.errors import InfeasibleError, check_integer, check_number, needs
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.randomness import generator

__all__ = ["pattern_friendly"]

_FOLDS = 3  # of the cross-validation: the paper's 2/3 to 1/3


def pattern_friendly(
    m: Microdata,
    share: float = 0.5,
    *,
    trees: int = 50,
    repeats: int = 3,
    rows: int = 20_000,
    seed: int | np.random.Generator = 0,
) -> pd.DataFrame:
    """Judge every quasi-identifier of `m` by frequency and by permutation importance.

    Importance is the balanced accuracy that a random forest of `trees`, which predicts the
    sensitive value of other rows, loses when the column is shuffled, `repeats` times in each part.
    `share`, in (0, 1], is the least share of the most frequent value; at most `rows` rows are
    drawn for the forests, by `seed`. InfeasibleError if fewer than two sensitive values have three
    rows. Sources: majeed2024, section 4.2.1; L. Breiman, *Random forests*, Machine Learning 45,
    2001.

    The frame has per quasi-identifier ``qid``, ``values`` (how many occur), ``ordered``,
    ``top_value``, ``top_share``, ``importance``, ``spread``, ``weight`` (of all importance) and
    ``friendly``.

    >>> frame = pd.DataFrame({"ill": [0, 1] * 30, "job": ["a", "b"] * 30, "land": ["x"] * 60})
    >>> pattern_friendly(Microdata(frame, ["job", "land"], "ill"), trees=5)["friendly"].tolist()
    [False, True]
    """
    with needs("learning"):
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.inspection import permutation_importance
        from sklearn.model_selection import StratifiedKFold

    share = check_number("share", share, 0, 1, open_low=True)
    trees, repeats = check_integer("trees", trees, 1), check_integer("repeats", repeats, 1)
    rng = generator(seed)
    rows = check_integer("rows", rows, 1)
    part = m if rows >= check_microdata(m).n else m.sample(rows, rng)
    frequent = part.sensitive_counts >= _FOLDS
    if np.count_nonzero(frequent) < 2:
        wanted = f"{_FOLDS} rows or more, one per fold: use more rows"
        raise InfeasibleError(f"fewer than two values of {m.sensitive!r} have {wanted}")
    known = frequent[part.sensitive_codes]
    x, y = part.codes[known], part.sensitive_codes[known]
    losses = []
    draw = int(rng.integers(2**31))
    for train, test in StratifiedKFold(_FOLDS, shuffle=True, random_state=draw).split(x, y):
        forest = RandomForestClassifier(
            trees, min_samples_leaf=5, class_weight="balanced_subsample", random_state=draw
        )
        found = permutation_importance(
            forest.fit(x[train], y[train]), x[test], y[test], scoring="balanced_accuracy",
            n_repeats=repeats, random_state=draw,
        )  # fmt: skip
        losses.append(found.importances)
    losses = np.concatenate(losses, axis=1)
    counts = [np.bincount(codes) for codes in m.codes.T]
    table = pd.DataFrame({
        "qid": m.qi,
        "values": [np.count_nonzero(c) for c in counts],
        "ordered": [a.ordered for a in m.attributes],
        "top_value": [a.values[c.argmax()] for a, c in zip(m.attributes, counts, strict=True)],
        "top_share": [c.max() / m.n for c in counts],
        "importance": losses.mean(axis=1),
        "spread": losses.std(axis=1),
    })  # fmt: skip
    positive = np.maximum(table["importance"], 0)
    table["weight"] = positive / positive.sum() if positive.any() else 1 / m.d
    unimportant = table["weight"] <= 1 / m.d + 1e-12
    table["friendly"] = ~table["ordered"] & (table["top_share"] >= share) & unimportant
    return table
