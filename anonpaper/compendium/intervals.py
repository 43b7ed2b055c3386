"""Confidence intervals of means, differences and shares over draws.

Several intervals "together" hold all at once at `LEVEL`, each at a higher level (Bonferroni).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy  # its submodules load where they are used: every notebook imports this module

from anonpaper.errors import ParameterError

__all__ = [
    "LEVEL", "difference_intervals", "level_of_each", "mean_interval", "mean_intervals",
    "prediction_interval", "share_interval", "welch_interval",
]  # fmt: skip

LEVEL = 0.95  # of all confidence intervals
_ROUNDING = 1e-9  # a share that is 1 may be computed as a little more
_ANY = (-np.inf, np.inf)


def mean_interval(values, *, level: float = LEVEL, within: tuple[float, float] = _ANY):
    """Return the confidence interval of a mean over seeds, by Student's t.

    `within` holds the bounds of the values, such as 0 and 1 for shares. One value alone has the
    interval `within`. Equal values have no spread. If they have finite bounds, the interval is
    exact for any distribution: by `share_interval`, a share of all draws may differ from n equal
    draws, and may lie at either bound. Values that differ only by rounding count as equal there.
    """
    values, (least, most) = np.asarray(values, dtype=float), within
    if values.ndim != 1 or values.size == 0 or np.isnan(values).any() or not 0 < level < 1:
        raise ParameterError(
            "mean_interval takes one number per seed, none missing, and a level in (0, 1); "
            f"got {values.tolist()} and {level}"
        )
    if values.min() < least - _ROUNDING or values.max() > most + _ROUNDING:
        raise ParameterError(f"values are not within {least} and {most}: {values.tolist()}")
    if values.size == 1:
        return least, most
    bounded = np.isfinite(most - least)
    if np.ptp(values) <= bounded * _ROUNDING:
        same, (_, others) = float(values[0]), share_interval(0, values.size, level=level)
        if not bounded:
            return same, same
        return same - others * (same - least), same + others * (most - same)
    # around one of them, so that the spread of nearly equal ones is not lost to rounding
    apart = values - values[0]
    half = _quantile(level, apart.size - 1) * apart.std(ddof=1) / math.sqrt(apart.size)
    low, high = values[0] + apart.mean() - half, values[0] + apart.mean() + half
    return float(max(low, least)), float(min(high, most))


def level_of_each(intervals: int) -> float:
    """Return the level of each of several intervals that hold together at `LEVEL`."""
    if intervals < 1:
        raise ParameterError(f"the level is shared by one interval at least, got {intervals}")
    return 1 - (1 - LEVEL) / intervals


def mean_intervals(values, *, within: tuple[float, float] = _ANY) -> np.ndarray:
    """Return the intervals of means, a row per setting (settings x seeds), all together."""
    rows = np.atleast_2d(np.asarray(values, dtype=float))
    level = level_of_each(len(rows))
    return np.array([mean_interval(row, level=level, within=within) for row in rows])


def difference_intervals(lower, higher) -> np.ndarray:
    """Return the intervals of mean differences ``higher - lower``, seed by seed, all together."""
    lower, higher = (np.asarray(side, dtype=float) for side in (lower, higher))
    if lower.shape != higher.shape:
        raise ParameterError(
            "means are compared at the same settings and by the same seeds; "
            f"got shapes {lower.shape} and {higher.shape}"
        )
    return mean_intervals(higher - lower)


def prediction_interval(values, *, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of one more run, by Student's t."""
    n, mean, spread = len(values), np.mean(values), np.std(values, ddof=1)
    half = _quantile(level, n - 1) * spread * math.sqrt(1 + 1 / n)
    return float(mean - half), float(mean + half)


def _quantile(level: float, freedom: float) -> float:
    """Return the quantile of Student's t for a level on both sides."""
    return float(scipy.special.stdtrit(freedom, (1 + level) / 2))


@cache
def share_interval(successes: int, trials: int, *, level: float = LEVEL) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) confidence interval of a share."""
    interval = scipy.stats.binomtest(int(successes), int(trials)).proportion_ci(level)
    return float(interval.low), float(interval.high)


def welch_interval(lower: np.ndarray, higher: np.ndarray, level: float) -> tuple[float, float]:
    """Return Welch's interval of the difference of two means."""
    if min(lower.size, higher.size) == 1:
        return _ANY
    if np.ptp(lower) == 0:  # only the other side varies
        return mean_interval(higher - lower[0], level=level)
    if np.ptp(higher) == 0:
        return mean_interval(higher[0] - lower, level=level)
    # each around one of its own, as in `mean_interval`
    parts = [(side - side[0]).var(ddof=1) / side.size for side in (lower, higher)]
    freedom = sum(parts) ** 2 / sum(
        part**2 / (side.size - 1) for part, side in zip(parts, (lower, higher), strict=True)
    )
    half = _quantile(level, freedom) * math.sqrt(sum(parts))
    mean = higher[0] - lower[0] + (higher - higher[0]).mean() - (lower - lower[0]).mean()
    return float(mean - half), float(mean + half)
