"""Verdicts on measured numbers: exact ones, and means over seeds with their uncertainty.

Confidence intervals decide: a statement is supported or contradicted only if the whole interval
says so. CONTRIBUTING.md, "Rules for verdicts", has the rules for several settings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import scipy  # its submodules load where they are used: every notebook imports this module

from anonpaper.errors import ParameterError

__all__ = [
    "BUDGET", "DIRECTION", "EACH", "LEVEL", "MOSTLY", "NOT_REPRODUCED", "NOT_RUN", "NOT_TESTABLE",
    "QUANTIFIERS", "REPRODUCED", "TOGETHER", "UNDECIDED", "VERDICTS", "Settings",
    "difference_intervals", "intervals_in_words", "judge_intervals", "judge_runs",
    "judge_share", "judge_statement", "level_of_each", "mean_interval", "mean_intervals",
    "of_draws", "over_seeds", "prediction_interval", "runs_needed", "share_interval",
    "welch_interval",
]  # fmt: skip

REPRODUCED = "reproduced"
DIRECTION = "reproduced in direction"
NOT_REPRODUCED = "not reproduced"
UNDECIDED = "undecided"
NOT_TESTABLE = "not testable here"
NOT_RUN = "not run"
VERDICTS = (REPRODUCED, DIRECTION, NOT_REPRODUCED, UNDECIDED, NOT_TESTABLE, NOT_RUN)

QUANTIFIERS = EVERYWHERE, MOST, SOMEWHERE, AVERAGE = (
    "everywhere", "mostly", "somewhere", "on average"
)  # fmt: skip
LEVEL = 0.95  # of all confidence intervals
POWER = 0.9  # with which a number of seeds is to decide a claim
BUDGET = 10  # minutes on two cores within which each claim is decided
MOSTLY = 0.8  # share of the settings from which an order counts as reproduced in direction
FEWEST_RUNS = 6  # with fewer nearly any number could be another run
MANY = 10_000  # draws that nobody makes
FAR = 30  # standard errors above 0, where nothing is unsure
EACH, TOGETHER = "each", "together"  # intervals at LEVEL one by one, or all of them at once
_ROUNDING = 1e-9  # a share that is 1 may be computed as a little more
_ANY = (-np.inf, np.inf)


def judge_statement(holds: bool, *, in_direction: bool = False) -> str:
    """Return the verdict on a statement that measured numbers support, partly or not at all."""
    return REPRODUCED if holds else DIRECTION if in_direction else NOT_REPRODUCED


def judge_share(
    successes: int, trials: int, *, at_least: float = 0.0, at_most: float = 1.0
) -> str:
    """Return the verdict on "at least, or at most, this share", by an exact interval."""
    low, high = share_interval(successes, trials)
    if at_least <= low and high <= at_most:
        return REPRODUCED
    return NOT_REPRODUCED if high < at_least or at_most < low else UNDECIDED


def judge_runs(runs, published, *, mostly: float = MOSTLY) -> str:
    """Return the verdict on published single runs, from our runs: settings x runs."""
    rows, published = _rows(runs), np.asarray(published, dtype=float)
    if published.shape != (len(rows),) or np.isnan(published).any():
        raise ParameterError(
            f"one published number for each of {len(rows)} settings; got {published}"
        )

    def inside(level: float) -> np.ndarray:
        low, high = np.transpose([prediction_interval(row, level=level) for row in rows])
        return (low <= published) & (published <= high)

    most = inside(LEVEL).mean() >= mostly
    if most and min(map(len, rows)) < FEWEST_RUNS:
        return UNDECIDED
    return judge_statement(most and inside(level_of_each(len(rows))).all(), in_direction=most)


def judge_intervals(ends, *, quantifier: str = EVERYWHERE, mostly: float = MOSTLY) -> str:
    """Return the verdict on "this is not below 0", from one interval for each setting.

    `ends` may be a function of the level that returns them.
    """
    at = ends if callable(ends) else lambda level: np.asarray(ends, dtype=float)
    n = len(at(LEVEL))
    needed, *most = _counts(quantifier, n, mostly)

    def supported(settings: int) -> bool:
        return (at(level_of_each(n - settings + 1))[:, 0] >= 0).sum() >= settings

    if supported(needed):
        return REPRODUCED
    if any(map(supported, most)):
        return DIRECTION
    contradicted = (at(level_of_each(needed))[:, 1] < 0).sum() > n - needed
    return NOT_REPRODUCED if contradicted else UNDECIDED


class Settings:
    """Means over draws at several settings that have to lie above 0.

    A side is settings x draws, whose rows may differ in length, or a pair (lower, higher) of such
    rows with independent draws. Where there are several sides, as of an equality, a setting
    supports the claim if each of its sides does. `exact` numbers have no spread.
    """

    def __init__(
        self, *sides, quantifier=EVERYWHERE, mostly=MOSTLY, within=_ANY, exact=False
    ) -> None:
        self.sides = [_settings(side, quantifier == AVERAGE) for side in sides]
        self.within, self.exact, self.n = within, exact, len(self.sides[0])
        self._counts = _counts(quantifier, self.n, mostly)
        self.means = np.array([_moments(draws)[0] for draws in self.sides[0]])
        self.draws = min(len(part) for one in self.sides[0] for part in _parts(one))
        self.verdict = judge_intervals(self.at, quantifier=quantifier, mostly=mostly)
        held = {REPRODUCED: self._counts[0], DIRECTION: self._counts[-1]}.get(self.verdict)
        decided = self.n - held + 1 if held else self._counts[0]
        self.level = level_of_each(decided)
        self.ends = self.at(self.level)  # the intervals that decide
        level = f"{EACH} at {100 * self.level:.3g} %"
        self.held = EACH if decided == 1 else TOGETHER if decided == self.n else level

    def at(self, level: float) -> np.ndarray:
        """Return the intervals at a level, one for each setting."""
        return np.min([[self._interval(one, level) for one in side] for side in self.sides], 0)

    def _interval(self, draws, level: float) -> tuple[float, float]:
        if self.exact:
            return (_moments(draws)[0],) * 2
        if isinstance(draws, tuple):
            return welch_interval(*draws, level)
        return mean_interval(draws, level=level, within=self.within)

    def words(self, names, show: str = "{:.3g}", **options) -> str:
        """Return the intervals that decide in words."""
        return intervals_in_words(self.ends, names, show, held=self.held, **options)

    def needed(self) -> tuple[int, float, str]:
        """Return how many seeds there are, and how many decide if means and spreads stay."""
        against = self._cost(-1, self.n - self._counts[0] + 1)
        return self.draws, min(against, *(self._cost(1, n) for n in self._counts)), "seeds"

    def _cost(self, sign: int, count: int) -> float:
        """Return the draws after which so many settings lie surely on a side of 0.

        The chances that one of them is not sure add up, so this many are enough.
        """
        level = level_of_each(self.n - count + 1)
        least = self.within[0] if sign > 0 else -self.within[1]
        moments = np.array([[_moments(one) for one in side] for side in self.sides])

        def sure(draws: int) -> float:
            of_each = _unsure(sign * moments[..., 0], moments[..., 1], draws, level, least)
            fails = of_each.sum(axis=0) if sign > 0 else of_each.min(axis=0)
            return 1 - np.sort(fails)[:count].sum()

        return _fewest(sure, POWER)


def _counts(quantifier: str, n: int, mostly: float) -> list[int]:
    """Return at how many of n settings a claim has to hold, and then to hold in direction."""
    if not 0 < mostly <= 1 or quantifier not in QUANTIFIERS:
        raise ParameterError(
            f"mostly is a share in (0, 1], a quantifier one of {', '.join(QUANTIFIERS)}; "
            f"got {mostly} and {quantifier!r}"
        )
    most = math.ceil(mostly * n - _ROUNDING)
    return {EVERYWHERE: [n, most], MOST: [most]}.get(quantifier, [1])


def _settings(side, averaged: bool) -> list:
    """Return the draws of every setting, or their mean over settings, draw by draw."""
    if isinstance(side, tuple):
        return list(zip(*(_settings(part, averaged) for part in side), strict=True))
    rows = _rows(side)
    return [np.mean(rows, axis=0)] if averaged else rows


def _rows(draws) -> list[np.ndarray]:
    """Return settings x draws as one array for each setting."""
    rows = draws.to_numpy() if isinstance(draws, pd.DataFrame) else list(draws)
    rows = [np.asarray(row, dtype=float) for row in (rows if np.ndim(rows[:1]) > 1 else [rows])]
    if not rows or not all(map(len, rows)):
        raise ParameterError("means are of one setting at least, with one draw at least")
    if any(np.isnan(row).any() for row in rows):
        raise ParameterError("a measurement is missing: name the settings that have all seeds")
    return rows


def _parts(draws) -> tuple[np.ndarray, ...]:
    return draws if isinstance(draws, tuple) else (draws,)


def _moments(draws) -> tuple[float, float]:
    """Return the mean and the spread of draws, or of the difference of independent ones."""
    if isinstance(draws, tuple):
        (low, one), (high, other) = map(_moments, draws)
        return high - low, math.hypot(one, other)
    return float(draws.mean()), float(draws.std(ddof=1)) if len(draws) > 1 else np.nan


def _fewest(chance: Callable[[int], float], power: float) -> float:
    """Return the least number of draws with such a chance, to a percent."""
    n = 2
    while n < MANY:
        if chance(n) >= power:
            return n
        n += 1 + n // 100
    return np.inf


def _unsure(means, spreads, draws: int, level: float, least: float) -> np.ndarray:
    """Return the probability that the interval of a mean over so many draws reaches below 0."""
    means, spreads = np.asarray(means, dtype=float), np.asarray(spreads, dtype=float)
    tail = (1 - level) / 2
    same = spreads <= _ROUNDING * means  # by the interval of equal draws
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(same, 0, means / spreads) * math.sqrt(draws)
        others = np.clip(np.where(np.isfinite(least), means / (means - least), 1), 0, 1)
        varied = scipy.stats.nct.cdf(scipy.stats.t.isf(tail, draws - 1), draws - 1, effect)
        equal = np.where(others < 1, (1 - others) ** draws > tail, False)
    varied = np.where(effect > FAR, 0, varied)
    return np.where((means > 0) & ~np.isnan(spreads), np.where(same, equal, varied), 1.0)


def runs_needed(
    successes: int, trials: int, *, at_least: float = 0.0, at_most: float = 1.0
) -> float:
    """Return how many runs decide on a share with `POWER`, if it stays as it is."""
    n = trials
    while n < MANY:
        counts = np.arange(n + 1)
        low = np.nan_to_num(scipy.stats.beta.ppf((1 - LEVEL) / 2, counts, n - counts + 1))
        high = np.nan_to_num(scipy.stats.beta.ppf((1 + LEVEL) / 2, counts + 1, n - counts), nan=1)
        decided = (at_least <= low) & (high <= at_most) | (high < at_least) | (at_most < low)
        if scipy.stats.binom.pmf(counts, n, successes / trials)[decided].sum() >= POWER:
            return n
        n += 1 + n // 10
    return np.inf


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
    settings = Settings(values, within=within)
    return settings.at(level_of_each(settings.n))


def difference_intervals(lower, higher, *, paired: bool = True) -> np.ndarray:
    """Return the intervals of mean differences ``higher - lower``, all together."""
    return mean_intervals(difference(lower, higher, paired=paired))


def difference(lower, higher, *, paired: bool = True):
    """Return by how much one side, settings x seeds, is above another, for `Settings`.

    If the same column is not the same seed on both sides (``paired=False``), the interval is
    Welch's and the numbers of seeds may differ.
    """
    lower, higher = (np.atleast_2d(np.asarray(side, dtype=float)) for side in (lower, higher))
    fits = lower.shape == higher.shape if paired else len(lower) == len(higher)
    if not fits or min(lower.size, higher.size) == 0:
        raise ParameterError(
            "means are compared at the same settings, and by the same seeds where paired; "
            f"got shapes {lower.shape} and {higher.shape}"
        )
    return higher - lower if paired else (lower, higher)


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
