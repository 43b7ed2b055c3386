"""Claims as functions: verdicts on known numbers, rules for files, and how often they err."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from anonpaper.compendium import claims as c
from anonpaper.compendium import intervals, papers
from anonpaper.compendium.intervals import mean_interval
from anonpaper.compendium.tables import made_by
from anonpaper.errors import ParameterError

RNG = np.random.default_rng(0)
UP = RNG.normal(1, 0.1, (5, 20))
UNSURE = RNG.normal(0, 1, 20)
UNSURE -= UNSURE.mean()
EMPTY = pd.DataFrame({"seed": []})


@pytest.mark.parametrize(
    "finding, verdict",
    [
        (c.holds(True, pd.Series([True, True])), c.REPRODUCED),
        (c.holds(True, pd.Series([True, False])), c.NOT_REPRODUCED),
        (c.holds(False, in_part=True), c.IN_PART),
        (c.holds(pd.Series([], dtype=bool)), c.CANNOT_BE_TESTED),
        (c.holds_everywhere([True] * 4 + [False]), c.IN_PART),
        (c.holds_everywhere([True] * 3 + [False] * 2), c.NOT_REPRODUCED),
        (c.holds_everywhere([True] * 4 + [False], in_part=0.9), c.NOT_REPRODUCED),
        (c.holds_everywhere([]), c.CANNOT_BE_TESTED),
        (c.means(UP, above=0), c.REPRODUCED),
        (c.means(UP, below=0), c.NOT_REPRODUCED),
        (c.means([*UP[:4], UNSURE], above=0), c.IN_PART),
        (c.means([*UP[:4], -UP[4]], above=0), c.IN_PART),
        (c.means([*UP[:3], UNSURE, UNSURE], above=0), c.UNDECIDED),
        (c.means([*UP[:3], -UP[3], -UP[4]], above=0), c.NOT_REPRODUCED),
        (c.means([*UP[:3], UNSURE, UNSURE], above=0, in_part=0.5), c.IN_PART),
        (c.means(UP, above=0.8, below=1.2), c.REPRODUCED),
        (c.means((UP, UP + 1), above=0), c.REPRODUCED),
        (c.means((UP, UP[:, :10] - 1), above=0), c.NOT_REPRODUCED),
        (c.means([[1.0]], above=0), c.UNDECIDED),
        (c.means([[1.0] * 5], above=0.9), c.REPRODUCED),
        (c.means([[1.0] * 5], above=0.9, within=(0, 1)), c.UNDECIDED),
        (c.means(EMPTY, above=0), c.CANNOT_BE_TESTED),
        (c.share([True] * 20, above=0.5), c.REPRODUCED),
        (c.share([True] * 12 + [False] * 8, above=0.5), c.UNDECIDED),
        (c.share([False] * 20, above=0.5), c.NOT_REPRODUCED),
        (c.share([], above=0.5), c.CANNOT_BE_TESTED),
        (c.by_intervals([[1, 2]], above=1, below=2), c.REPRODUCED),
        (c.by_intervals([[1, 2]], above=1.5), c.UNDECIDED),
        (c.by_intervals([[1, 2]], above=3), c.NOT_REPRODUCED),
        (c.shown_once([True] * 10 + [False] * 10), c.REPRODUCED),
        (c.shown_once([True] + [False] * 19), c.IN_PART),
        (c.shown_once([True] + [False] * 20), c.NOT_REPRODUCED),
        (c.one_more_run(pd.DataFrame(UP), [1] * 5), c.REPRODUCED),
        (c.one_more_run(pd.DataFrame(UP), [1] * 4 + [9]), c.IN_PART),
        (c.one_more_run(pd.DataFrame(UP), [1] * 3 + [9, 9]), c.NOT_REPRODUCED),
        (c.one_more_run(pd.DataFrame(UP[:, :3]), [1] * 5), c.UNDECIDED),
        (c.all_of(c.holds(True), c.holds(False), c.cannot_be_tested("x")), c.NOT_REPRODUCED),
    ],
)
def test_verdicts_follow_from_numbers(finding, verdict):
    assert finding.verdict == verdict


def test_a_reading_is_told_only_if_it_is_decided_and_differs():
    assert c.holds(True).read_as("a mean", c.holds(True)).otherwise == ""
    assert c.holds(True).read_as("a mean", c.cannot_be_tested("why")).otherwise == ""
    told = c.holds(True).read_as("a mean", c.holds(False)).otherwise
    assert told == "Read as a mean, it is not reproduced."


@pytest.mark.parametrize(("judge", "given", "told"), [
    (c.means, ([[1.0, np.nan]],), "no measurement is missing"),
    (c.one_more_run, (pd.DataFrame(UP), [1, 2]), "one published number for each of 5"),
    (mean_interval, ([],), "one number per seed"),
    (mean_interval, ([1, np.nan],), "one number per seed"),
    (partial(mean_interval, within=(0, 1)), ([0.5, 1.5],), "within 0 and 1"),
])  # fmt: skip
def test_what_cannot_be_judged_is_refused(judge, given, told):
    with pytest.raises(ParameterError, match=told):
        judge(*given)


def test_numbers_in_words_and_steps():
    assert c.span([1, 2300.4]) == "1 to 2,300" and c.span([2, 2]) == "2"
    index = pd.MultiIndex.from_tuples([("OCC", 2)], names=["table", "l"])
    assert c.listed(pd.Series([0.5], index)) == "OCC l = 2: 0.5"
    frame = pd.DataFrame({"table": list("AABB"), "l": [4, 2, 2, 4], "y": [3, 1, 5, 4]})
    curve = frame.set_index(["table", "l"])["y"]
    assert c.steps(curve, along="l").to_dict() == {("A", 4): 2, ("B", 4): -1}


def test_claims_are_judged_from_files(tmp_path, monkeypatch):
    home = tmp_path / "one"
    home.mkdir()
    (home / "claims.py").write_text(
        "'''One.'''\n"
        "from anonpaper.compendium.claims import claim, holds\n"
        "@claim('Figure 1', quote='fewer')\n"
        "def fewer(stars, others):\n"
        "    '''Ours are fewer.\n\n    By far.'''\n"
        "    return holds(stars['n'] < others['n'])\n"
    )
    monkeypatch.setattr(c, "notebooks_folder", lambda: tmp_path)
    (one,) = c.claims_of("one")
    assert (one.name, one.text, one.note, one.quote) == (
        "fewer", "Ours are fewer", "By far.", "fewer",
    )  # fmt: skip
    assert c.about("one") == "One." and c.claims_of("nobody") == []

    def found():
        return c.judged("one", tmp_path / "results" / "one")[0][1]

    assert found().why == "stars.csv is not there: its notebook has not run"
    results = tmp_path / "results" / "one"
    results.mkdir(parents=True)
    (results / "stars.csv").write_text("n\n1\n")
    (results / "others.csv").write_text("n\n")
    assert found().why == "others.csv has no rows"
    (results / "others.csv").write_text("n\n2\n")
    assert found().verdict == c.REPRODUCED


@pytest.mark.parametrize("paper", [key for key in papers() if c.claims_of(key)])
def test_each_claim_belongs_to_one_notebook(paper):
    """Else its verdict would depend on the order in which notebooks run."""
    names = [one.name for one in c.claims_of(paper)]
    assert len(names) == len(set(names))
    for one in c.claims_of(paper):
        assert len({made_by(f"{paper}/{table}") for table in one.tables}) == 1, one.name
        assert one.text, one.name


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


def test_published_runs_of_the_same_kind_are_seldom_refused():
    """At 20 settings together, and more often where each were judged at 95 % alone."""
    rng = np.random.default_rng(5)
    verdicts = [
        c.one_more_run(pd.DataFrame(rng.normal(0, 1, (20, 8))), rng.normal(0, 1, 20)).verdict
        for _ in range(200)
    ]
    assert rate([verdict != c.REPRODUCED for verdict in verdicts])[0] <= 0.06


@pytest.mark.parametrize(
    ("of", "verdict", "true"), [("confirmed", c.REPRODUCED, 9), ("in part", c.IN_PART, 7)]
)
def test_verdicts_are_wrong_as_seldom_as_the_rules_say(of, verdict, true):
    """Of ten settings as many hold, by far, as the verdict can bear; all others lie at 0."""
    rng = np.random.default_rng(7)
    centres = np.repeat([9.0, 0.0], [true, 10 - true])[:, None]
    confirmed, refuted = (
        [c.means(by + rng.normal(0, 1, (10, 6)) - 1e-9, above=0).verdict == wrong
         for _ in range(800)]
        for by, wrong in ((centres, verdict), (0 * centres, c.NOT_REPRODUCED))
    )  # fmt: skip
    low, high = rate(confirmed)
    assert low <= 0.025 and rate(refuted)[0] <= 0.025
    assert high >= 0.012, "no stricter than it has to be"
