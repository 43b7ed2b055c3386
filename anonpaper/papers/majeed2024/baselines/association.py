"""How much two columns say about each other: Cramér's V and normalized mutual information."""

from __future__ import annotations

import numpy as np

__all__ = ["cramers_v", "mutual_information", "normalized_mutual_information"]


def cramers_v(a: np.ndarray, b: np.ndarray) -> float:
    """Return Cramér's V of two columns of codes, from 0 (independent) to 1.

    Examples
    --------
    >>> cramers_v(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    table = _counts(a, b)
    n = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    least = min(table.shape) - 1
    if least == 0:
        return 0.0
    return float(np.sqrt((np.square(table - expected) / expected).sum() / n / least))


def mutual_information(joint: np.ndarray) -> float:
    """Return the mutual information of a joint distribution (or of counts), in nats.

    Examples
    --------
    >>> mutual_information(np.full((2, 2), 0.25))
    0.0
    """
    joint = joint / joint.sum()
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    held = joint > 0
    return max(float((joint[held] * np.log(joint[held] / independent[held])).sum()), 0.0)


def normalized_mutual_information(a: np.ndarray, b: np.ndarray) -> float:
    """Return I(a, b) / sqrt(H(a) H(b)), from 0 to 1; 0 if a column is constant.

    Examples
    --------
    >>> normalized_mutual_information(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    table = _counts(a, b)
    entropies = [_entropy(table.sum(axis=axis)) for axis in (0, 1)]
    if min(entropies) == 0:
        return 0.0
    return min(mutual_information(table) / float(np.sqrt(entropies[0] * entropies[1])), 1.0)


def _counts(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross-tabulate, rows and columns without any count left out."""
    _, a = np.unique(a, return_inverse=True)
    _, b = np.unique(b, return_inverse=True)
    columns = int(b.max()) + 1
    counts = np.bincount(a * columns + b, minlength=(int(a.max()) + 1) * columns)
    return counts.reshape(-1, columns).astype(float)


def _entropy(counts: np.ndarray) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())
