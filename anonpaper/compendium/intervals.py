"""Confidence intervals of means, differences and shares over draws.

Several intervals "together" hold all at once at `LEVEL`, each at a higher level (Bonferroni).
"""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy  # its submodules load where they are used: every notebook imports this module

from anonpaper.errors import ParameterError

LEVEL = 0.95  # of all confidence intervals
_ROUNDING = 1e-9  # a share that is 1 may be computed as a little more
_ANY = (-np.inf, np.inf)


def mean_interval(values, *, level: float = LEVEL, within: tuple[float, float] = _ANY):
    """Return the confidence interval of a mean over seeds, by Student's t.

    `within` holds the bounds of the values, such as 0 and 1 for shares. A single value has the
    interval `within`. Equal values have no spread. If they have finite bounds, the interval is
    exact for any distribution: by `share_interval`, a share of all draws may differ from n equal
    draws, and may lie at either bound. Values that differ only by rounding count as equal there.
    """
    values, (least, most) = np.asarray(values, dtype=float), within
    inside = (values >= least - _ROUNDING) & (values <= most + _ROUNDING)
    if values.ndim != 1 or not values.size or not inside.all():
        raise ParameterError(f"one number per seed, within {least} and {most}: {values.tolist()}")
    if values.size == 1:
        return least, most
    bounded, same = np.isfinite(most - least), float(values[0])
    if np.ptp(values) <= bounded * _ROUNDING:
        others = share_interval(0, values.size, level=level)[1] if bounded else 0
        return tuple(same + others * (end - same if bounded else 0) for end in within)
    low, high = _around(values.mean(), level, values.size - 1, values.var(ddof=1) / values.size)
    return max(low, least), min(high, most)


def level_of_each(intervals: int) -> float:
    """Return the level of each of several intervals that hold together at `LEVEL`."""
    return 1 - (1 - LEVEL) / intervals


def mean_intervals(values, *, within: tuple[float, float] = _ANY) -> np.ndarray:
    """Return the intervals of means, a row per setting (settings x seeds), all together."""
    rows = np.atleast_2d(np.asarray(values, dtype=float))
    level = level_of_each(len(rows))
    return np.array([mean_interval(row, level=level, within=within) for row in rows])


def prediction_interval(values, *, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of one more run, by Student's t."""
    n = len(values)
    return _around(np.mean(values), level, n - 1, np.var(values, ddof=1) * (1 + 1 / n))


@cache
def share_interval(successes: int, trials: int, *, level: float = LEVEL) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) confidence interval of a share."""
    interval = scipy.stats.binomtest(int(successes), int(trials)).proportion_ci(level)
    return float(interval.low), float(interval.high)


def welch_interval(lower: np.ndarray, higher: np.ndarray, level: float) -> tuple[float, float]:
    """Return Welch's interval of the difference of two means."""
    sizes = np.array([lower.size, higher.size])
    if sizes.min() == 1:
        return _ANY
    parts = np.array([lower.var(ddof=1), higher.var(ddof=1)]) / sizes
    freedom = parts.sum() ** 2 / max((parts**2 / (sizes - 1)).sum(), 1e-300)
    return _around(higher.mean() - lower.mean(), level, freedom or 1, parts.sum())


def _around(mean: float, level: float, freedom: float, variance: float) -> tuple[float, float]:
    """Return an interval around a mean, by Student's t."""
    half = scipy.special.stdtrit(freedom, (1 + level) / 2) * np.sqrt(variance)
    return float(mean - half), float(mean + half)
