"""A Gaussian copula: synthetic rows from a short model that can be read in a lesson.

The model has each column's distribution and one correlation per pair of columns. Unlike
:mod:`anonpaper.repair.synthesis`, it needs no training, no SDV and no torch.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from anonpaper.microdata import Microdata
from anonpaper.randomness import generator
from anonpaper.repair.synthesis import checked_needs

__all__ = ["gaussian_copula"]


def gaussian_copula(
    m: Microdata, needed: Mapping[object, int], *, seed: int | np.random.Generator | None = None
) -> pd.DataFrame:
    """Sample rows with given sensitive values from a Gaussian copula of the table. O(n d^2).

    Every value drawn occurs in its column of `m`; this gives no privacy guarantee. Each column is
    a normal variable cut into steps, one per value, as wide as the value is frequent, correlated
    like their middles: dependence between columns with few values is understated. `needed` has the
    rows to sample per sensitive value, at least 0. The frame has the columns ``m.qi`` and the
    sensitive one, for :func:`anonpaper.repair.synthesis.fuse`. ColumnError, InfeasibleError or
    ParameterError if there is not one sensitive attribute, or `needed` or `seed` is impossible.
    Source: R. B. Nelsen, *An Introduction to Copulas*, Springer 2006, section 2.3.

    >>> m = ap.examples.hospital()
    >>> rows = gaussian_copula(m, {"HIV": 2, "pneumonia": 1}, seed=0)
    >>> list(rows["Disease"])
    ['HIV', 'HIV', 'pneumonia']
    """
    values, rng = checked_needs(m, needed), generator(seed)
    codes = np.column_stack([m.codes, m.sensitive_codes])
    *steps, (occurring, upper, _) = every = [_steps(column) for column in codes.T]
    scores = np.column_stack([scores for _, _, scores in every])
    scores -= scores.mean(axis=0)
    spread = scores.std(axis=0)
    scores /= np.where(spread > 0, spread, 1)  # 0 in a constant column
    correlation = scores.T @ scores / m.n
    np.fill_diagonal(correlation, 1)
    with_secret = correlation[:-1, -1]
    given_secret = correlation[:-1, :-1] - np.outer(with_secret, with_secret)
    found = [np.empty((m.d, 0), int)]
    for code, rows in values.items():
        step = np.searchsorted(occurring, code)
        low = upper[step - 1] if step else 0.0
        secret = ndtri(rng.uniform(low, upper[step], rows))
        around = rng.multivariate_normal(0 * with_secret, given_secret, rows, method="eigh")
        shares = ndtr(np.outer(secret, with_secret) + around)
        found.append(np.array([
            present[np.searchsorted(ends, share)]
            for (present, ends, _), share in zip(steps, shares.T, strict=True)
        ]))  # fmt: skip
    columns = zip(m.attributes, np.concatenate(found, axis=1), strict=True)
    secrets = np.repeat([*values], [*values.values()]).astype(int)
    drawn = {a.name: a.values[of] for a, of in columns}
    return pd.DataFrame(drawn | {m.sensitive: m.sensitive_attribute.values[secrets]})


def _steps(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the codes that occur, the share up to each, and each row's score.

    A score is the normal quantile of the middle of the step.
    """
    occurring, of_row, counts = np.unique(codes, return_inverse=True, return_counts=True)
    upper = np.cumsum(counts) / len(codes)
    return occurring, upper, ndtri(upper - counts / (2 * len(codes)))[of_row]
