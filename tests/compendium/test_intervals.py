"""Verdicts on numbers, and intervals of means and shares."""

import numpy as np
import pytest
from scipy import stats

from anonpaper.compendium import intervals
from anonpaper.compendium.intervals import (
    DIRECTION,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    Settings,
    judge_share,
    judge_statement,
    mean_interval,
    over_seeds,
)
from anonpaper.errors import ParameterError


def judge_mean_order(lower, higher, *, paired=True, **options):
    return Settings(intervals.difference(lower, higher, paired=paired), **options).verdict


# ---- verdicts ---------------------------------------------------------------------------------


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
        lambda: judge_mean_order([1, 2], [1, 2, 3]),
        lambda: judge_mean_order([[1, 2]], [[1, 2], [1, 2]], paired=False),
        lambda: judge_mean_order([[]], [[]]),
        lambda: judge_mean_order([1, float("nan")], [1, 2]),
        lambda: Settings([[1.0], []]),
        lambda: Settings([1, 2], quantifier="often"),
        lambda: intervals.judge_runs([range(6)], [1, 2]),
        lambda: intervals.judge_runs([range(6)], [float("nan")]),
        lambda: judge_mean_order([1, 2], [1, 2], mostly=0),
    ],
)
def test_what_cannot_be_judged_over_seeds_is_refused(call):
    with pytest.raises(ParameterError):
        call()


# ---- the rules, against scipy and by their rates of error --------------------------------------


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
        intervals.judge_runs(rng.normal(0, 1, (20, 8)), rng.normal(0, 1, 20)) for _ in range(400)
    ]
    assert rate([verdict != REPRODUCED for verdict in verdicts])[0] <= 0.06
    assert intervals.judge_runs(rng.normal(0, 1, (5, 8)), [0, 0, 0, 0, 99]) == DIRECTION
    assert intervals.judge_runs(rng.normal(0, 1, (5, 8)), [0, 0, 0, 99, 99]) == NOT_REPRODUCED
    few = rng.normal(0, 1, (5, 5))
    assert intervals.judge_runs(few, [0] * 5) == UNDECIDED, "nearly any number could be a run"
    assert intervals.judge_runs(few, [99] * 5) == NOT_REPRODUCED


def alike(draws, margin=1.0):
    return Settings(margin - draws, margin + draws).verdict


@pytest.mark.parametrize(("apart", "wrong"), [(1.0, REPRODUCED), (0.999, NOT_REPRODUCED)])
def test_equality_is_wrong_on_the_margin_as_seldom_as_it_says(apart, wrong):
    """Two one-sided tests at 2.5 % each; scipy's tests agree with each verdict."""
    draws = np.random.default_rng(6).normal(apart, 0.3, (2000, 8))
    inside = np.maximum(
        stats.ttest_1samp(draws, 1, axis=1, alternative="less").pvalue,
        stats.ttest_1samp(draws, -1, axis=1, alternative="greater").pvalue,
    )
    verdicts = np.array([*map(alike, draws)])
    assert np.array_equal(verdicts == REPRODUCED, inside <= 0.025)
    assert rate(verdicts == wrong)[0] <= 0.025


@pytest.mark.parametrize(
    ("quantifier", "true"), [("everywhere", 9), ("mostly", 7), ("somewhere", 0), ("on average", 0)]
)
def test_a_wrong_claim_is_confirmed_as_seldom_as_the_rules_say(quantifier, true):
    """Of ten settings as many hold, by far, as the claim can bear; all others lie at 0."""
    rng = np.random.default_rng(7)
    means = np.repeat([9.0, 0.0], [true, 10 - true])[:, None]
    confirmed = [
        Settings(means + rng.normal(0, 1, (10, 6)) - 1e-9, quantifier=quantifier).verdict
        == REPRODUCED
        for _ in range(1500)
    ]
    low, high = rate(confirmed)
    assert low <= 0.025
    if quantifier != "somewhere":  # there the correction is cautious
        assert high >= 0.012, "no stricter than it has to be"


@pytest.mark.parametrize("quantifier", ["everywhere", "mostly", "somewhere", "on average"])
def test_a_true_claim_is_refuted_as_seldom_as_the_rules_say(quantifier):
    rng = np.random.default_rng(8)
    refuted = [
        Settings(rng.normal(0, 1, (10, 6)), quantifier=quantifier).verdict == NOT_REPRODUCED
        for _ in range(1500)
    ]
    assert rate(refuted)[0] <= 0.025


def test_quantifiers_ask_for_more_or_fewer_settings():
    rng = np.random.default_rng(9)
    some = np.repeat([5.0, -5.0], [7, 3])[:, None] + rng.normal(0, 1, (10, 8))
    verdicts = {name: Settings(some, quantifier=name).verdict for name in intervals.QUANTIFIERS}
    assert verdicts == {
        "everywhere": NOT_REPRODUCED,
        "mostly": NOT_REPRODUCED,
        "somewhere": REPRODUCED,
        "on average": REPRODUCED,
    }
    one = np.r_[some[:6], some[:3], some[-1:]]
    assert Settings(one).verdict == DIRECTION and Settings(one, mostly=1).verdict == NOT_REPRODUCED
    assert Settings(one, quantifier="mostly").verdict == REPRODUCED
    one[1:8] *= np.tile([1, -1], 4)  # one setting refutes "everywhere", and no other is certain
    assert Settings(one).verdict == NOT_REPRODUCED
    exact = Settings([[1.0], [0.0], [2.0]], exact=True)
    assert (exact.verdict, exact.held) == (REPRODUCED, "each")


def test_the_intervals_shown_are_those_that_decide():
    rng = np.random.default_rng(10)
    sure = Settings(5 + rng.normal(0, 1, (4, 6)))
    assert sure.held == "each" and sure.ends == pytest.approx(sure.at(0.95))
    open_ = Settings(rng.normal(0, 1, (4, 6)))
    assert open_.held == "together" and open_.ends == pytest.approx(open_.at(1 - 0.05 / 4))
    most = Settings(5 + rng.normal(0, 1, (10, 6)), quantifier="mostly")
    assert most.held == "each at 98.3 %" and most.ends == pytest.approx(most.at(1 - 0.05 / 3))
    some = Settings(np.array([[5.0]] * 9 + [[-5.0]]) + rng.normal(0, 1, (10, 6)))
    assert some.verdict == DIRECTION and some.held == "each at 98.3 %"


# ---- how many seeds would decide ---------------------------------------------------------------


def test_so_many_runs_decide_on_a_share_as_often_as_asked():
    n = intervals.runs_needed(14, 20, at_least=0.5)
    rng = np.random.default_rng(12)
    found = [judge_share(k, n, at_least=0.5) != UNDECIDED for k in rng.binomial(n, 0.7, 3000)]
    assert rate(found)[1] >= 0.88 and n < 100
    assert intervals.runs_needed(10, 20, at_least=0.5) == np.inf


@pytest.mark.parametrize("quantifier", ["everywhere", "mostly", "on average"])
@pytest.mark.parametrize("paired", [True, False])
def test_so_many_seeds_decide_a_claim_as_often_as_asked(quantifier, paired):
    rng = np.random.default_rng(13)

    def drawn(n):
        lower, higher = rng.normal(0, 1, (2, 5, n))
        side = 0.8 + higher - lower if paired else (lower, 0.8 + higher)
        return Settings(side, quantifier=quantifier)

    pilots = [drawn(6) for _ in range(40)]
    draws, needed, unit = pilots[0].needed()
    assert (draws, unit) == (6, "seeds")
    n = int(np.median([pilot.needed()[1] for pilot in pilots]))
    assert rate([drawn(n).verdict != UNDECIDED for _ in range(300)])[1] >= 0.8
