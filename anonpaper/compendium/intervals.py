"""Verdicts on measured numbers: exact ones, and means over seeds with their uncertainty.

The 95 % confidence interval of a mean decides: a statement is supported or refuted only if the
whole interval says so, and is undecided otherwise. Several settings of one claim share the error
(Bonferroni), so that the chance of any wrong interval stays below 5 %.
"""

from __future__ import annotations

import numpy as np
import scipy  # its submodules load where they are used: every notebook imports this module

from anonpaper.errors import ParameterError

__all__ = [
    "DEPENDS",
    "DIRECTION",
    "EACH",
    "LEVEL",
    "MOSTLY",
    "NOT_REPRODUCED",
    "NOT_RUN",
    "NOT_TESTABLE",
    "REPRODUCED",
    "TOGETHER",
    "UNDECIDED",
    "VERDICTS",
    "difference_intervals",
    "intervals_in_words",
    "judge_intervals",
    "judge_mean",
    "judge_order",
    "judge_share",
    "judge_statement",
    "judge_value",
    "level_of_each",
    "mean_interval",
    "mean_intervals",
    "of_draws",
    "over_seeds",
    "share_interval",
]

REPRODUCED = "reproduced"
DIRECTION = "reproduced in direction"
NOT_REPRODUCED = "not reproduced"
UNDECIDED = "undecided"
DEPENDS = "depends on the reading"
NOT_TESTABLE = "not testable here"
NOT_RUN = "not run"
VERDICTS = (REPRODUCED, DIRECTION, NOT_REPRODUCED, UNDECIDED, DEPENDS, NOT_TESTABLE, NOT_RUN)

LEVEL = 0.95  # of all confidence intervals
MOSTLY = 0.8  # share of the settings from which an order counts as reproduced in direction
EACH, TOGETHER = "each", "together"  # intervals at LEVEL one by one, or all of them at once
_ROUNDING = 1e-9  # a share that is 1 may be computed as a little more
_ANY = (-np.inf, np.inf)


def judge_statement(holds: bool, *, in_direction: bool = False) -> str:
    """Return the verdict on a statement that measured numbers support, partly or not at all."""
    return REPRODUCED if holds else DIRECTION if in_direction else NOT_REPRODUCED


def judge_value(measured: float, published: float, tolerance: float) -> str:
    """Return "reproduced" if a number is within a relative tolerance of the published one."""
    if not np.isfinite([measured, published]).all() or published == 0 or not tolerance > 0:
        raise ParameterError(
            "judge_value needs finite numbers, published != 0 and tolerance > 0; "
            f"got measured={measured}, published={published}, tolerance={tolerance}"
        )
    return judge_statement(abs(measured / published - 1) <= tolerance)


def judge_order(lower, higher, *, mostly: float = MOSTLY, strict: bool = False) -> str:
    """Return the verdict on "this is never above that", from numbers at the same settings."""
    lower, higher = np.asarray(lower, dtype=float), np.asarray(higher, dtype=float)
    if lower.shape != higher.shape or lower.size == 0 or np.isnan([lower, higher]).any():
        raise ParameterError(
            "judge_order compares paired numbers: equal shapes, not empty, none missing; "
            f"got shapes {lower.shape} and {higher.shape}"
        )
    _check_share(mostly)
    share = np.mean(lower < higher if strict else lower <= higher)
    return judge_statement(share == 1, in_direction=share >= mostly)


def judge_share(
    successes: int, trials: int, *, at_least: float = 0.0, at_most: float = 1.0
) -> str:
    """Return the verdict on "at least, or at most, this share", by an exact interval."""
    low, high = share_interval(successes, trials)
    if at_least <= low and high <= at_most:
        return REPRODUCED
    return NOT_REPRODUCED if high < at_least or at_most < low else UNDECIDED


def judge_mean(values, published: float, tolerance: float) -> str:
    """Return the verdict on a published number from one measurement per seed."""
    low, high = mean_interval(values)
    judge_value(float(np.mean(values)), published, tolerance)  # checks the numbers
    inner, outer = sorted((published * (1 - tolerance), published * (1 + tolerance)))
    if inner <= low and high <= outer:
        return REPRODUCED
    return NOT_REPRODUCED if high < inner or outer < low else UNDECIDED


def judge_intervals(ends, *, mostly: float = MOSTLY) -> str:
    """Return the verdict on "at every setting this is not below 0", from one interval each."""
    _check_share(mostly)
    low, high = np.asarray(ends, dtype=float).T
    supported, open_ = (low >= 0).mean(), ((low < 0) & (high >= 0)).mean()
    if supported == 1:
        return REPRODUCED
    if supported + open_ < mostly:
        return NOT_REPRODUCED
    return DIRECTION if supported >= mostly else UNDECIDED


def _check_share(mostly: float) -> None:
    if not 0 < mostly <= 1:
        raise ParameterError(f"mostly is a share in (0, 1], got {mostly}")


def mean_interval(values, *, level: float = LEVEL, within: tuple[float, float] = _ANY):
    """Return the confidence interval of a mean over seeds, by Student's t.

    `within` holds the bounds of the values, such as 0 and 1 for shares. One value alone has the
    interval `within`. Equal values have no spread. If they have finite bounds, the interval is
    exact for any distribution: by `share_interval`, a share of all draws may differ from n equal
    draws, and may lie at either bound. Values that differ by rounding alone count as equal there.
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
    interval = scipy.stats.ttest_1samp(values - values[0], 0).confidence_interval(level)
    low, high = float(values[0] + interval.low), float(values[0] + interval.high)
    return max(low, least), min(high, most)


def level_of_each(intervals: int) -> float:
    """Return the level of each of several intervals that hold together at `LEVEL`."""
    if intervals < 1:
        raise ParameterError(f"the level is shared by one interval at least, got {intervals}")
    return 1 - (1 - LEVEL) / intervals


def mean_intervals(values, *, within: tuple[float, float] = _ANY) -> np.ndarray:
    """Return the intervals of means, a row per setting (settings x seeds), all together."""
    rows = np.atleast_2d(np.asarray(values, dtype=float))
    if len(rows) == 0:
        raise ParameterError("mean_intervals takes one setting at least, got none")
    level = level_of_each(len(rows))
    return np.array([mean_interval(row, level=level, within=within) for row in rows])


def difference_intervals(
    lower, higher, *, paired: bool = True, within: tuple[float, float] = _ANY
) -> np.ndarray:
    """Return the intervals of mean differences ``higher - lower``, a row per setting.

    Both are settings x seeds. If the same column is not the same seed on both sides
    (``paired=False``), the interval is Welch's and the numbers of seeds may differ.
    """
    lower, higher = (np.atleast_2d(np.asarray(side, dtype=float)) for side in (lower, higher))
    fits = lower.shape == higher.shape if paired else len(lower) == len(higher)
    if not fits or min(lower.size, higher.size) == 0:
        raise ParameterError(
            "means are compared at the same settings, and by the same seeds where paired; "
            f"got shapes {lower.shape} and {higher.shape}"
        )
    if np.isnan(lower).any() or np.isnan(higher).any():
        raise ParameterError("a measurement is missing: name the settings that have all seeds")
    if paired:
        return mean_intervals(higher - lower, within=within)
    level = level_of_each(len(lower))
    return np.array([_welch(*rows, level) for rows in zip(lower, higher, strict=True)])


def share_interval(successes: int, trials: int, *, level: float = LEVEL) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) confidence interval of a share."""
    interval = scipy.stats.binomtest(int(successes), int(trials)).proportion_ci(level)
    return float(interval.low), float(interval.high)


def intervals_in_words(ends, names, show: str = "{:.3g}", *, held=TOGETHER, over="") -> str:
    """Return several intervals in words, and whether they hold each alone or all together."""
    same = "in all of them" if over else "each time"
    told = (
        f"{name}: {show.format(low)} {same if low == high else f'to {show.format(high)}'}"
        for name, (low, high) in zip(names, np.asarray(ends), strict=True)
    )
    return f"{held}, {f'over {over}, ' if over else ''}{'; '.join(told)}"


def of_draws(numbers, what: str = "draws") -> str:
    """Return in words how many draws several intervals have: "6 draws", "3 to 5 seeds"."""
    least, most = int(np.min(numbers)), int(np.max(numbers))
    if least < most:
        return f"{least} to {most} {what}"
    return f"{most} {what if most > 1 else what.removesuffix('s')}"


def over_seeds(values, show: str = "{:.3g}") -> str:
    """Return the range of a number over seeds, in words."""
    values = np.asarray(values, dtype=float)
    ends = f"{show.format(values.min())} to {show.format(values.max())}"
    return f"{ends} over {len(values)} seed{'s' if len(values) > 1 else ''}"


def _welch(lower: np.ndarray, higher: np.ndarray, level: float) -> tuple[float, float]:
    """Return Welch's interval of the difference of two means."""
    if min(lower.size, higher.size) == 1:
        return _ANY
    if np.ptp(lower) == 0:  # only the other side varies: its interval, which scipy warns of
        return mean_interval(higher - lower[0], level=level)
    if np.ptp(higher) == 0:
        return mean_interval(higher[0] - lower, level=level)
    # each around one of its own, as in `mean_interval`
    test = scipy.stats.ttest_ind(higher - higher[0], lower - lower[0], equal_var=False)
    interval, apart = test.confidence_interval(level), higher[0] - lower[0]
    return float(apart + interval.low), float(apart + interval.high)
