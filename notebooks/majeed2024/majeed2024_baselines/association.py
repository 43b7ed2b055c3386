"""How much two columns say about each other, by scipy; constant columns say nothing."""

from __future__ import annotations

import numpy as np
from scipy.stats import entropy
from scipy.stats.contingency import association, crosstab


def cramers_v(a: np.ndarray, b: np.ndarray) -> float:
    """Return Cramér's V of two columns of codes, from 0 (independent) to 1."""
    table = crosstab(a, b).count
    return float(association(table)) if min(table.shape) > 1 else 0.0


def mutual_information(joint: np.ndarray) -> float:
    """Return the mutual information of a joint distribution (or of counts), in nats."""
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return max(float(entropy(joint.ravel(), independent.ravel())), 0.0)
