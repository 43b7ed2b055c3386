"""Intervals of means and shares, and how often verdicts from them are wrong."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from anonpaper.compendium import intervals
from anonpaper.compendium.claims import NOT_REPRODUCED, REPRODUCED, means, one_more_run
from anonpaper.compendium.intervals import mean_interval
from anonpaper.errors import ParameterError


def rate(cases, level=0.999):
    """Return the interval of the share of true cases."""
    return intervals.share_interval(sum(cases), len(cases), level=level)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_intervals_are_those_of_scipy(level):
    rng = np.random.default_rng(3)
    for n in (2, 3, 10, 40):
        one, other = rng.normal(1, 2, n), rng.normal(0, 1, n + 3)
        ours, theirs = mean_interval(one, level=level), stats.ttest_1samp(one, 0)
        assert ours == pytest.approx(tuple(theirs.confidence_interval(level)))
        theirs = stats.ttest_ind(one, other, equal_var=False).confidence_interval(level)
        assert intervals.welch_interval(other, one, level) == pytest.approx(tuple(theirs))


def test_equal_draws_of_what_has_bounds_are_no_certainty():
    """Of n equal draws of a share, so many others as n draws may well miss can lie anywhere."""
    assert mean_interval([3]) == (-np.inf, np.inf) and mean_interval([3, 3, 3]) == (3, 3)
    others = intervals.share_interval(0, 2)[1]
    low, high = mean_interval([0.75] * 2, within=(0, 1))
    assert (low, high) == pytest.approx((0.75 - 0.75 * others, 0.75 + 0.25 * others))
    assert mean_interval([0.0] * 72, within=(0, 1)) == pytest.approx((0, 0.05), abs=1e-3)
    assert mean_interval([0.5], within=(0, 1)) == (0, 1)
    assert mean_interval([2.0] * 3, within=(1, np.inf)) == (2, 2)
    by_rounding = mean_interval([0.3, 0.1 + 0.2], within=(0, 1))
    assert by_rounding == mean_interval([0.3, 0.3], within=(0, 1))
    with pytest.raises(ParameterError, match="within"):
        mean_interval([0.5, 1.5], within=(0, 1))


@pytest.mark.filterwarnings("error")
def test_values_that_differ_in_their_last_digits_have_an_interval():
    """Their spread is not lost beside their size, for one side or two."""
    near = np.array([0.3, 0.1 + 0.2, 0.3])
    low, high = mean_interval(near)
    assert 0.3 - 1e-15 < low < 0.3 < high < 0.3 + 1e-15
    low, high = mean_interval(1e9 + np.array([0.9, 1.0, 1.1]))
    assert (low - 1e9, high - 1e9) == pytest.approx((0.7516, 1.2484), abs=1e-3)
    other, constant = np.array([7.0, 8, 9]), np.full(4, 0.5)
    found = intervals.welch_interval(near, other, 0.95)
    assert found == pytest.approx(mean_interval(other - 0.3))
    low, high = mean_interval(other)
    assert intervals.welch_interval(other, constant, 0.95) == pytest.approx(
        (0.5 - high, 0.5 - low)
    )


def test_several_means_share_the_error():
    ends = intervals.mean_intervals([[0, 0, 0], [0.1, 0.2, 0.3]], within=(0, 1))
    assert ends[0] == pytest.approx((0, intervals.share_interval(0, 3, level=0.975)[1]))
    assert ends[1] == pytest.approx((0, mean_interval([0.1, 0.2, 0.3], level=0.975)[1]))
    assert intervals.difference_intervals([1, 2, 4], [2, 4, 7])[0] == pytest.approx(
        mean_interval([1, 2, 3])
    )


def test_the_prediction_interval_covers_one_more_run_as_often_as_it_says():
    rng = np.random.default_rng(4)
    runs = rng.normal(5, 2, (4000, 6))
    covered = [low <= one <= high for row, one in zip(runs, rng.normal(5, 2, 4000), strict=True)
               for low, high in [intervals.prediction_interval(row)]]  # fmt: skip
    low, high = rate(covered)
    assert low <= 0.95 <= high


def test_published_runs_of_the_same_kind_are_seldom_refused():
    """At 20 settings together, and more often where each were judged at 95 % alone."""
    rng = np.random.default_rng(5)
    verdicts = [
        one_more_run(pd.DataFrame(rng.normal(0, 1, (20, 8))), rng.normal(0, 1, 20)).verdict
        for _ in range(200)
    ]
    assert rate([verdict != REPRODUCED for verdict in verdicts])[0] <= 0.06


@pytest.mark.parametrize(("apart", "wrong"), [(1.0, REPRODUCED), (0.999, NOT_REPRODUCED)])
def test_equality_is_wrong_on_the_margin_as_seldom_as_it_says(apart, wrong):
    """Two one-sided tests at 2.5 % each; scipy's tests agree with each verdict."""
    draws = np.random.default_rng(6).normal(apart, 0.3, (1000, 8))
    inside = np.maximum(
        stats.ttest_1samp(draws, 1, axis=1, alternative="less").pvalue,
        stats.ttest_1samp(draws, -1, axis=1, alternative="greater").pvalue,
    )
    verdicts = np.array([means([row], above=-1, below=1).verdict for row in draws])
    assert np.array_equal(verdicts == REPRODUCED, inside <= 0.025)
    assert rate(verdicts == wrong)[0] <= 0.025


@pytest.mark.parametrize(("needed", "true"), [(1.0, 9), (0.8, 7), (0, 0)])
def test_verdicts_are_wrong_as_seldom_as_the_rules_say(needed, true):
    """Of ten settings as many hold, by far, as the claim can bear; all others lie at 0."""
    rng = np.random.default_rng(7)
    centres = np.repeat([9.0, 0.0], [true, 10 - true])[:, None]
    confirmed, refuted = (
        [
            means(by + rng.normal(0, 1, (10, 6)) - 1e-9, above=0, needed=needed).verdict == wrong
            for _ in range(800)
        ]
        for by, wrong in ((centres, REPRODUCED), (0 * centres, NOT_REPRODUCED))
    )
    low, high = rate(confirmed)
    assert low <= 0.025 and rate(refuted)[0] <= 0.025
    if needed:  # with one needed the correction is cautious
        assert high >= 0.012, "no stricter than it has to be"


@pytest.mark.parametrize("draws", [[], [1, float("nan")]])
def test_what_has_no_interval_is_refused(draws):
    with pytest.raises(ParameterError):
        mean_interval(draws)
