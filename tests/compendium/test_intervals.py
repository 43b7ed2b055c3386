"""Verdicts on numbers, and intervals of means and shares."""

import numpy as np
import pandas as pd
import pytest

from anonpaper.compendium import intervals
from anonpaper.compendium.intervals import (
    DIRECTION,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    judge_intervals,
    judge_mean,
    judge_order,
    judge_share,
    judge_statement,
    judge_value,
    mean_interval,
    over_seeds,
)
from anonpaper.errors import ParameterError


def judge_mean_order(lower, higher, **options):
    mostly = {"mostly": options.pop("mostly")} if "mostly" in options else {}
    return judge_intervals(intervals.difference_intervals(lower, higher, **options), **mostly)


# ---- verdicts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [(1.05, REPRODUCED), (0.95, REPRODUCED), (1.06, NOT_REPRODUCED), (-1, NOT_REPRODUCED)],
)
def test_judge_value(measured, verdict):
    assert judge_value(measured, published=1.0, tolerance=0.0500001) == verdict


@pytest.mark.parametrize(
    "bad",
    [{"measured": float("nan")}, {"published": 0}, {"tolerance": 0}, {"published": float("inf")}],
)
def test_judge_value_refuses(bad):
    with pytest.raises(ParameterError, match="judge_value needs"):
        judge_value(**({"measured": 1.0, "published": 1.0, "tolerance": 0.1} | bad))


@pytest.mark.parametrize(
    ("higher", "verdict"),
    [
        ([1, 2, 3, 4, 5], REPRODUCED),
        ([1, 2, 3, 4, 0], DIRECTION),
        ([1, 2, 3, 0, 0], NOT_REPRODUCED),
    ],
)
def test_judge_order(higher, verdict):
    assert judge_order(pd.Series([1, 2, 3, 4, 5]), higher) == verdict


@pytest.mark.parametrize(
    ("lower", "higher", "mostly"),
    [
        ([1], [1, 2], 0.8),
        ([], [], 0.8),
        ([float("nan")], [1], 0.8),
        ([1], [1], 0),
        ([1], [1], 1.1),
    ],
)
def test_judge_order_refuses(lower, higher, mostly):
    with pytest.raises(ParameterError):
        judge_order(lower, higher, mostly=mostly)


@pytest.mark.parametrize(
    ("holds", "in_direction", "verdict"),
    [
        (True, True, REPRODUCED),
        (True, False, REPRODUCED),
        (False, True, DIRECTION),
        (False, False, NOT_REPRODUCED),
    ],
)
def test_judge_statement(holds, in_direction, verdict):
    assert judge_statement(holds, in_direction=in_direction) == verdict


def test_over_seeds():
    assert over_seeds([0.25, 0.5, 0.125], "{:.2f}") == "0.12 to 0.50 over 3 seeds"
    assert over_seeds([7]) == "7 to 7 over 1 seed"


# ---- verdicts over seeds ----------------------------------------------------------------------


def test_the_interval_of_a_mean_covers_it_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = [
        low <= 1 <= high for low, high in (mean_interval(rng.normal(1, 2, 6)) for _ in range(2000))
    ]
    low, high = intervals.share_interval(sum(covered), len(covered), level=0.999)
    assert low <= 0.95 <= high


def test_one_seed_decides_nothing_and_no_spread_everything():
    assert mean_interval([3]) == (-np.inf, np.inf)
    assert mean_interval([3, 3, 3]) == (3, 3)
    assert judge_mean([1.0], published=1, tolerance=0.5) == UNDECIDED
    assert judge_mean([2, 2], published=1, tolerance=0.5) == NOT_REPRODUCED
    assert judge_mean_order([1], [2]) == UNDECIDED


def test_equal_draws_of_what_has_bounds_are_no_certainty():
    """Of n equal draws of a share, so many others as n draws may well miss can lie anywhere."""
    others = intervals.share_interval(0, 2)[1]
    low, high = mean_interval([0.75] * 2, within=(0, 1))
    assert (low, high) == pytest.approx((0.75 - 0.75 * others, 0.75 + 0.25 * others))
    assert mean_interval([0.0] * 72, within=(0, 1)) == pytest.approx((0, 0.05), abs=1e-3)
    low, high = mean_interval([1.0] * 3, level=0.9, within=(-1, 1))
    assert (low, high) == (1 - 2 * intervals.share_interval(0, 3, level=0.9)[1], 1)
    assert mean_interval([0.5], within=(0, 1)) == (0, 1)
    assert mean_interval([2.0] * 3, within=(1, np.inf)) == (2, 2)
    by_rounding = mean_interval([0.3, 0.1 + 0.2], within=(0, 1))
    assert by_rounding == mean_interval([0.3, 0.3], within=(0, 1))
    low, high = mean_interval([0.8, 1.0, 1.0], within=(0, 1))
    assert (low, high) == (mean_interval([0.8, 1.0, 1.0])[0], 1)
    with pytest.raises(ParameterError, match="within"):
        mean_interval([0.5, 1.5], within=(0, 1))


@pytest.mark.parametrize("rare", [0.02, 0.2, 0.4, 0.5])
def test_the_interval_of_equal_draws_misses_the_mean_as_seldom_as_it_says(rare):
    """At the worst all draws lie at one end or the other: six draws may see one of them alone."""
    for n in (2, 6):
        missed = sum(
            share**n
            for same, share in ((0.0, 1 - rare), (1.0, rare))
            for low, high in [mean_interval([same] * n, within=(0, 1))]
            if not low <= rare <= high
        )
        assert missed <= 0.05


def test_several_means_share_the_error_within_their_bounds():
    ends = intervals.mean_intervals([[0, 0, 0], [0.1, 0.2, 0.3]], within=(0, 1))
    assert ends[0] == pytest.approx((0, intervals.share_interval(0, 3, level=0.975)[1]))
    assert ends[1] == pytest.approx((0, mean_interval([0.1, 0.2, 0.3], level=0.975)[1]))
    assert intervals.mean_intervals([1, 2, 3])[0] == pytest.approx(mean_interval([1, 2, 3]))
    with pytest.raises(ParameterError, match="one setting at least"):
        intervals.mean_intervals(np.empty((0, 5)))


def test_words_say_of_how_many_draws_and_where_all_were_the_same():
    words = intervals.intervals_in_words([(0, 0), (1, 2)], ["a", "b"], over="6 draws")
    assert words == "together, over 6 draws, a: 0 in all of them; b: 1 to 2"
    assert (
        intervals.intervals_in_words([(0.5, 0.5)], ["a"], held="each") == "each, a: 0.5 each time"
    )


@pytest.mark.filterwarnings("error")
def test_values_that_differ_in_their_last_digits_have_an_interval():
    """Their spread is not lost beside their size, for one side or two."""
    near = np.array([0.3, 0.1 + 0.2, 0.3])
    low, high = mean_interval(near)
    assert 0.3 - 1e-15 < low < 0.3 < high < 0.3 + 1e-15
    low, high = mean_interval(1e9 + np.array([0.9, 1.0, 1.1]))
    assert (low - 1e9, high - 1e9) == pytest.approx((0.7516, 1.2484), abs=1e-3)
    ((low, high),) = intervals.difference_intervals(near, [7, 8, 9], paired=False)
    assert (low, high) == pytest.approx(mean_interval(np.array([7, 8, 9]) - 0.3))


@pytest.mark.parametrize(
    ("shift", "verdict"), [(-5, NOT_REPRODUCED), (0, UNDECIDED), (5, REPRODUCED)]
)
@pytest.mark.parametrize("paired", [True, False])
def test_an_order_of_means_needs_its_interval(shift, verdict, paired):
    rng = np.random.default_rng(1)
    lower = rng.normal(0, 1, (3, 12))
    higher = lower[:, ::-1] + shift
    assert judge_mean_order(lower, higher, paired=paired) == verdict


def test_an_order_holds_in_direction_at_most_settings():
    lower = np.zeros((10, 4))
    higher = np.ones((10, 4))
    higher[0] = -1
    assert judge_mean_order(lower, higher) == DIRECTION
    higher[:3] = -1
    assert judge_mean_order(lower, higher) == NOT_REPRODUCED


def test_settings_of_one_claim_share_the_error():
    """Of many settings where nothing differs hardly any claim is refuted by chance."""
    rng = np.random.default_rng(2)
    refuted = 0
    for _ in range(200):
        lower, higher = rng.normal(0, 1, (2, 40, 10))
        refuted += (intervals.difference_intervals(lower, higher)[:, 1] < 0).any()
    assert intervals.share_interval(refuted, 200, level=0.999)[0] <= 0.05


@pytest.mark.filterwarnings("error")
def test_a_side_that_never_varies_adds_no_noise():
    varied, constant = np.array([0.9, 1.0, 1.1]), np.full(4, 0.5)
    low, high = mean_interval(varied)
    assert difference(constant, varied) == pytest.approx((low - 0.5, high - 0.5))
    assert difference(varied, constant) == pytest.approx((0.5 - high, 0.5 - low))
    assert difference(constant, constant + 1) == (1, 1)


def difference(lower, higher):
    (interval,) = intervals.difference_intervals(lower, higher, paired=False)
    return tuple(interval)


def test_pairs_are_told_from_samples():
    seeds = np.linspace(0, 100, 10)
    higher = seeds + np.linspace(0.9, 1.1, 10)
    assert judge_mean_order(seeds, higher) == REPRODUCED
    assert judge_mean_order(seeds, higher, paired=False) == UNDECIDED


@pytest.mark.parametrize(
    ("successes", "bounds", "verdict"),
    [
        (0, {"at_most": 0.1}, REPRODUCED),
        (50, {"at_most": 0.1}, NOT_REPRODUCED),
        (10, {"at_most": 0.1}, UNDECIDED),
        (99, {"at_least": 0.9}, REPRODUCED),
        (50, {"at_least": 0.9}, NOT_REPRODUCED),
    ],
)
def test_a_share_is_judged_by_its_exact_interval(successes, bounds, verdict):
    assert judge_share(successes, 100, **bounds) == verdict


@pytest.mark.parametrize(
    "call",
    [
        lambda: mean_interval([]),
        lambda: mean_interval([1, float("nan")]),
        lambda: mean_interval([1, 2], level=1),
        lambda: judge_mean([1, 2], published=0, tolerance=0.1),
        lambda: judge_mean_order([1, 2], [1, 2, 3]),
        lambda: judge_mean_order([[1, 2]], [[1, 2], [1, 2]], paired=False),
        lambda: judge_mean_order([[]], [[]]),
        lambda: judge_mean_order([1, float("nan")], [1, 2]),
        lambda: judge_mean_order([1, 2], [1, 2], mostly=0),
    ],
)
def test_what_cannot_be_judged_over_seeds_is_refused(call):
    with pytest.raises(ParameterError):
        call()
