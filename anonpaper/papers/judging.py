"""Verdicts on measured numbers: exact ones, and means over seeds with their uncertainty.

A mean over seeds is judged by its 95 % confidence interval: a statement counts as borne out, or
as refuted, only where the whole interval says so; in between it is undecided. Where one claim
speaks of several settings they share the error (Bonferroni), so that the chance of any wrong
interval stays below 5 %, as nearly as Student's t fits the means. Tolerances are arguments: they
are fixed where the claim is written and know nothing of the sample.
"""

from __future__ import annotations

import numpy as np
import scipy  # its submodules load where they are used: every notebook imports this module

from anonpaper.errors import ParameterError

__all__ = [
    "DEPENDS",
    "DIRECTION",
    "EACH",
    "EVERYWHERE",
    "EXACT",
    "LEVEL",
    "MOSTLY",
    "NOT_REPRODUCED",
    "NOT_RUN",
    "NOT_TESTABLE",
    "REPRODUCED",
    "SIMILAR",
    "TOGETHER",
    "UNDECIDED",
    "VERDICTS",
    "difference_intervals",
    "intervals_in_words",
    "judge_intervals",
    "judge_mean",
    "judge_mean_order",
    "judge_order",
    "judge_rising",
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
EVERYWHERE = f"at every setting; in direction: at {100 * MOSTLY:g} % of them"
EXACT = "exact"
SIMILAR = 0.2  # largest relative difference of what a paper calls similar, and gives no number
_ROUNDING = 1e-9  # a share that is 1 may be computed as a little more
EACH, TOGETHER = "each", "together"  # intervals at LEVEL one by one, or all of them at once


def judge_value(measured: float, published: float, tolerance: float) -> str:
    """Return the verdict on a published number.

    Parameters
    ----------
    measured, published : float
        Finite; `published` not 0.
    tolerance : float
        Largest relative difference that still counts as reproduced, above 0.

    Returns
    -------
    str
        "reproduced" within the tolerance, else "not reproduced".

    Raises
    ------
    ParameterError
        If a number is not finite, `published` is 0 or `tolerance` is not above 0.

    Examples
    --------
    >>> judge_value(0.97, published=1.0, tolerance=0.05)
    'reproduced'
    """
    if not np.isfinite([measured, published]).all() or published == 0 or not tolerance > 0:
        raise ParameterError(
            "judge_value needs finite numbers, published != 0 and tolerance > 0; "
            f"got measured={measured}, published={published}, tolerance={tolerance}"
        )
    return REPRODUCED if abs(measured / published - 1) <= tolerance else NOT_REPRODUCED


def judge_order(lower, higher, *, mostly: float = MOSTLY) -> str:
    """Return the verdict on "this is never above that", from paired measurements.

    Parameters
    ----------
    lower, higher : array-like of float, equal shapes with at least one element
        Measurements at the same settings; the paper claims ``lower <= higher``.
    mostly : float, optional
        Share of the settings, in (0, 1], from which the direction counts as reproduced.

    Returns
    -------
    str
        "reproduced" if the order holds at every setting, "reproduced in direction" if it holds
        at a share `mostly` of them, else "not reproduced".

    Raises
    ------
    ParameterError
        If the shapes differ or are empty, a value is missing, or `mostly` is out of range.

    Examples
    --------
    >>> judge_order([1, 2, 3, 4, 9], [2, 3, 4, 5, 6])
    'reproduced in direction'
    """
    lower, higher = np.asarray(lower, dtype=float), np.asarray(higher, dtype=float)
    if lower.shape != higher.shape or lower.size == 0 or np.isnan([lower, higher]).any():
        raise ParameterError(
            "judge_order compares paired numbers: equal shapes, not empty, none missing; "
            f"got shapes {lower.shape} and {higher.shape}"
        )
    if not 0 < mostly <= 1:
        raise ParameterError(f"mostly is a share in (0, 1], got {mostly}")
    share = np.mean(lower <= higher)
    if share == 1:
        return REPRODUCED
    return DIRECTION if share >= mostly else NOT_REPRODUCED


def judge_rising(curves, *, mostly: float = MOSTLY) -> str:
    """Return the verdict on "this never falls", from one curve or several.

    Parameters
    ----------
    curves : array-like of float, at least two rows
        Rows are settings in rising order, columns are curves.
    mostly : float, optional
        As for `judge_order`, a share of the steps.

    Returns
    -------
    str
        As `judge_order` of each value and the next.

    Examples
    --------
    >>> judge_rising([[1, 5], [2, 5], [2, 6]])
    'reproduced'
    """
    curves = np.asarray(curves, dtype=float)
    return judge_order(curves[:-1], curves[1:], mostly=mostly)


def judge_statement(holds: bool, *, in_direction: bool = False) -> str:
    """Return the verdict on a statement that measured numbers bear out, or partly, or do not.

    Parameters
    ----------
    holds, in_direction : bool
        Whether the statement holds, and if not, whether its direction does.

    Examples
    --------
    >>> judge_statement(False, in_direction=True)
    'reproduced in direction'
    """
    return REPRODUCED if holds else DIRECTION if in_direction else NOT_REPRODUCED


def mean_interval(
    values, *, level: float = LEVEL, within: tuple[float, float] = (-np.inf, np.inf)
) -> tuple[float, float]:
    """Return the confidence interval of a mean over seeds, by Student's t.

    Its confidence is exact where values are normally distributed, and else nearly so: the less,
    the fewer and the more skewed they are.

    Parameters
    ----------
    values : array-like of float, at least one
        One per seed, independent of each other; none missing.
    level : float, optional
        Confidence in (0, 1).
    within : tuple of float, optional
        What no value can be below and above, as 0 and 1 of shares: the interval is cut there,
        which costs no confidence.

    Returns
    -------
    tuple of float
        Lower and upper end. One value alone says nothing of its spread: `within`. Values that are
        all the same give that value twice: nothing random was seen to act on them, which of two
        or three values says little where something random could. Within finite bounds that is
        said, whatever the distribution: of n draws none differs, so that by `share_interval` a
        share of all draws may differ, and the mean is as far off as that share at either bound
        would make it. Within them, values that differ by rounding alone are the same.

    Raises
    ------
    ParameterError
        If there are no values, one is missing or not within the bounds, or the level is out of
        range.

    Examples
    --------
    >>> low, high = mean_interval([0.9, 1.0, 1.1])
    >>> round(low, 2), round(high, 2)
    (0.75, 1.25)
    >>> low, high = mean_interval([1.0, 1.0, 1.0], within=(0, 1))
    >>> round(low, 2), high
    (0.29, 1.0)
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
    """Return the level of each of several intervals that hold together at `LEVEL` (Bonferroni).

    Parameters
    ----------
    intervals : int
        How many, at least 1.

    Raises
    ------
    ParameterError
        If there is none.

    Examples
    --------
    >>> round(level_of_each(5), 4)
    0.99
    """
    if intervals < 1:
        raise ParameterError(f"the level is shared by one interval at least, got {intervals}")
    return 1 - (1 - LEVEL) / intervals


def mean_intervals(values, *, within: tuple[float, float] = (-np.inf, np.inf)) -> np.ndarray:
    """Return the confidence intervals of means over seeds, one per setting.

    Parameters
    ----------
    values : array-like of float, (settings, seeds) or (seeds,)
        None missing.
    within : tuple of float, optional
        As for `mean_interval`.

    Returns
    -------
    ndarray of float64, (settings, 2)
        Each at `level_of_each` of the settings, so that all hold together with 95 %.

    Raises
    ------
    ParameterError
        As `mean_interval`.

    Examples
    --------
    >>> mean_intervals([[1, 1, 1], [2, 2, 2]])
    array([[1., 1.],
           [2., 2.]])
    """
    rows = np.atleast_2d(np.asarray(values, dtype=float))
    if len(rows) == 0:
        raise ParameterError("mean_intervals takes one setting at least, got none")
    level = level_of_each(len(rows))
    return np.array([mean_interval(row, level=level, within=within) for row in rows])


def share_interval(successes: int, trials: int, *, level: float = LEVEL) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) confidence interval of a share.

    Parameters
    ----------
    successes, trials : int
        With 0 <= successes <= trials and trials >= 1; trials are independent.
    level : float, optional
        Confidence in (0, 1).

    Raises
    ------
    ValueError
        By scipy, if the counts are impossible.

    Examples
    --------
    >>> low, high = share_interval(10, 10)
    >>> round(low, 2), high
    (0.69, 1.0)
    """
    interval = scipy.stats.binomtest(int(successes), int(trials)).proportion_ci(level)
    return float(interval.low), float(interval.high)


def difference_intervals(lower, higher, *, paired: bool = True) -> np.ndarray:
    """Return the confidence intervals of mean differences ``higher - lower``, one per setting.

    Parameters
    ----------
    lower, higher : array-like of float, (settings, seeds) or (seeds,)
        Measurements of the same settings; none missing.
    paired : bool, optional
        Whether the same column is the same seed on both sides. If not, the numbers of seeds may
        differ and Welch's interval is taken.

    Returns
    -------
    ndarray of float64, (settings, 2)
        Each at `level_of_each` of the settings, so that all hold together with 95 %.

    Raises
    ------
    ParameterError
        If the shapes do not fit, there is nothing to compare, or a value is missing.

    Examples
    --------
    >>> difference_intervals([1, 2, 3], [2, 3, 4])
    array([[1., 1.]])
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
        return mean_intervals(higher - lower)
    level = level_of_each(len(lower))
    return np.array([_welch(*rows, level) for rows in zip(lower, higher, strict=True)])


def intervals_in_words(
    ends, names, show: str = "{:.3g}", *, held: str = TOGETHER, over: str = ""
) -> str:
    """Return several intervals in words, and whether they hold each alone or all together.

    An interval without width is said to be that: all draws were the same.

    Parameters
    ----------
    ends : array-like of float, (intervals, 2)
        As `difference_intervals` gives them.
    names : iterable of str
        What each is of, in their order.
    show : str, optional
        Format of a number.
    held : {"together", "each"}, optional
        Whether all of them hold at once with 95 %, or each of them by itself.
    over : str, optional
        Of how many draws, e.g. ``"6 draws"``.

    Examples
    --------
    >>> intervals_in_words([(1, 2), (0.5, 3)], ["age", "sex"])
    'together, age: 1 to 2; sex: 0.5 to 3'
    >>> intervals_in_words([(1, 1)], ["age"], over="2 draws")
    'together, over 2 draws, age: 1 in all of them'
    """
    same = "in all of them" if over else "each time"
    told = (
        f"{name}: {show.format(low)} {same if low == high else f'to {show.format(high)}'}"
        for name, (low, high) in zip(names, np.asarray(ends), strict=True)
    )
    return f"{held}, {f'over {over}, ' if over else ''}{'; '.join(told)}"


def judge_mean(values, published: float, tolerance: float) -> str:
    """Return the verdict on a published number, from one measurement per seed.

    Parameters
    ----------
    values : array-like of float
        One per seed.
    published : float
        Finite, not 0.
    tolerance : float
        Largest relative difference of the mean that still counts as reproduced, above 0.

    Returns
    -------
    str
        "reproduced" if the mean's interval lies within the tolerance, "not reproduced" if it lies
        outside, else "undecided".

    Raises
    ------
    ParameterError
        As `mean_interval` and `judge_value`.

    Examples
    --------
    >>> judge_mean([0.97, 0.98, 0.99], published=1, tolerance=0.1)
    'reproduced'
    >>> judge_mean([0.7, 1.0, 1.3], published=1, tolerance=0.1)
    'undecided'
    """
    ends = mean_interval(values)
    judge_value(float(np.mean(values)), published, tolerance)  # checks the numbers
    inner, outer = sorted((published * (1 - tolerance), published * (1 + tolerance)))
    if inner <= ends[0] and ends[1] <= outer:
        return REPRODUCED
    return NOT_REPRODUCED if ends[1] < inner or outer < ends[0] else UNDECIDED


def judge_mean_order(lower, higher, *, mostly: float = MOSTLY, paired: bool = True) -> str:
    """Return the verdict on "on average this is never above that", from measurements over seeds.

    Parameters
    ----------
    lower, higher, paired
        As for `difference_intervals`; the paper claims that ``lower`` is not above ``higher``.
    mostly : float, optional
        Share of the settings, in (0, 1], from which the direction counts as reproduced.

    Returns
    -------
    str
        A setting bears the order out if its interval holds no negative number, and refutes it if
        it holds negative ones only. "reproduced" if all settings bear it out, "reproduced in
        direction" if a share `mostly` of them does, "not reproduced" if that share is out of
        reach, else "undecided".

    Raises
    ------
    ParameterError
        As `difference_intervals`, or if `mostly` is out of range.

    Examples
    --------
    >>> judge_mean_order([[1.0, 1.1, 0.9]], [[2.0, 2.2, 1.9]])
    'reproduced'
    >>> judge_mean_order([[1.0, 1.1, 0.9]], [[1.1, 1.0, 0.9]])
    'undecided'
    """
    return judge_intervals(difference_intervals(lower, higher, paired=paired), mostly=mostly)


def judge_intervals(ends, *, mostly: float = MOSTLY) -> str:
    """Return the verdict on "at every setting this is not below 0", from intervals.

    Parameters
    ----------
    ends : array-like of float, (settings, 2)
        One interval a setting, as `difference_intervals` gives them: they hold together.
    mostly : float, optional
        As for `judge_mean_order`.

    Returns
    -------
    str
        As `judge_mean_order`.

    Raises
    ------
    ParameterError
        If `mostly` is out of range.

    Examples
    --------
    >>> judge_intervals([(1, 2), (0.5, 3)]), judge_intervals([(1, 2), (-0.5, 3)])
    ('reproduced', 'undecided')
    """
    if not 0 < mostly <= 1:
        raise ParameterError(f"mostly is a share in (0, 1], got {mostly}")
    low, high = np.asarray(ends, dtype=float).T
    borne_out, open_ = (low >= 0).mean(), ((low < 0) & (high >= 0)).mean()
    if borne_out == 1:
        return REPRODUCED
    if borne_out + open_ < mostly:
        return NOT_REPRODUCED
    return DIRECTION if borne_out >= mostly else UNDECIDED


def judge_share(
    successes: int, trials: int, *, at_least: float = 0.0, at_most: float = 1.0
) -> str:
    """Return the verdict on "at least, or at most, this share of the trials".

    Parameters
    ----------
    successes, trials : int
        As for `share_interval`.
    at_least, at_most : float, optional
        The claimed bounds, in [0, 1], fixed before the trials.

    Returns
    -------
    str
        "reproduced" if the exact interval lies within the bounds, "not reproduced" if it lies
        outside, else "undecided".

    Examples
    --------
    >>> judge_share(100, 100, at_least=0.9), judge_share(5, 5, at_least=0.9)
    ('reproduced', 'undecided')
    """
    low, high = share_interval(successes, trials)
    if at_least <= low and high <= at_most:
        return REPRODUCED
    return NOT_REPRODUCED if high < at_least or at_most < low else UNDECIDED


def of_draws(numbers, what: str = "draws") -> str:
    """Return in words of how many draws several intervals are.

    Parameters
    ----------
    numbers : array-like of int, at least one
        The draws of each.
    what : str, optional
        What they are called: "draws" or "seeds".

    Examples
    --------
    >>> of_draws([6, 6]), of_draws([3, 5], "seeds"), of_draws(1)
    ('6 draws', '3 to 5 seeds', '1 draw')
    """
    least, most = int(np.min(numbers)), int(np.max(numbers))
    if least < most:
        return f"{least} to {most} {what}"
    return f"{most} {what if most > 1 else what.removesuffix('s')}"


def over_seeds(values, show: str = "{:.3g}") -> str:
    """Return the range of a number over seeds, in words.

    Parameters
    ----------
    values : array-like of float, at least one
        One per seed.
    show : str, optional
        Format of a number.

    Examples
    --------
    >>> over_seeds([0.82, 0.79, 0.9])
    '0.79 to 0.9 over 3 seeds'
    """
    values = np.asarray(values, dtype=float)
    return (
        f"{show.format(values.min())} to {show.format(values.max())} "
        f"over {len(values)} seed{'s' if len(values) > 1 else ''}"
    )


def _welch(lower: np.ndarray, higher: np.ndarray, level: float) -> tuple[float, float]:
    """Return Welch's interval of the difference of two means."""
    if min(lower.size, higher.size) == 1:
        return -np.inf, np.inf
    if np.ptp(lower) == 0:  # only the other side varies: its interval, which scipy warns of
        return mean_interval(higher - lower[0], level=level)
    if np.ptp(higher) == 0:
        return mean_interval(higher[0] - lower, level=level)
    # each around one of its own, as in `mean_interval`
    test = scipy.stats.ttest_ind(higher - higher[0], lower - lower[0], equal_var=False)
    interval = test.confidence_interval(level)
    apart = higher[0] - lower[0]
    return float(apart + interval.low), float(apart + interval.high)
