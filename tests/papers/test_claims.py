"""Claims: verdicts follow from the measured tables, and a missing table is "not run"."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonpaper.errors import ParameterError
from anonpaper.papers import catalogue, claims, judging
from anonpaper.compendium.judge import Claim, Finding
from anonpaper.compendium.intervals import (
    DEPENDS,
    DIRECTION,
    EVERYWHERE,
    NOT_REPRODUCED,
    NOT_RUN,
    NOT_TESTABLE,
    REPRODUCED,
    UNDECIDED,
    judge_mean,
    judge_mean_order,
    judge_order,
    judge_rising,
    judge_share,
    judge_statement,
    judge_value,
    mean_interval,
    over_seeds,
)

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "figures" / "paper"
ENTRIES = [
    entry
    for paper in (*catalogue.papers(), *catalogue.asked())
    for entry in claims.of_paper(paper)
]
RUN = [
    entry
    for entry in ENTRIES
    if (MEASURED / "manifest" / entry.paper / f"{entry.notebook}.json").exists()
]


def finding(stars):
    """Compare the stars."""
    return Finding(stars["TP+"].max(), judge_order(stars["TP+"], stars["TP"]))


def claim(**changes):
    given = {
        "id": "a",
        "paper": "xiao2010",
        "notebook": "1_example",
        "where": "Figure 2",
        "claim": "fewer stars",
        "tables": ("stars",),
        "judge": finding,
        "reason": claims.Tested("ties", ("stars",), lambda stars: (True, f"{len(stars)} rows")),
    }
    return Claim(**(given | changes))


@pytest.fixture
def entered(monkeypatch, tmp_path):
    """Enter claims for a paper and give the folder of its tables."""

    def enter(*entries):
        monkeypatch.setattr(claims, "of_paper", lambda paper: entries)
        return tmp_path

    pd.DataFrame({"TP": [2, 4], "TP+": [1, 3.5]}).to_csv(tmp_path / "stars.csv", index=False)
    return enter


# ---- entries ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "field", ["id", "paper", "notebook", "where", "claim", "tolerance", "spread"]
)
def test_no_text_is_empty(field):
    with pytest.raises(ParameterError, match=f"{field} is empty"):
        claim(**{field: "  "})


@pytest.mark.parametrize("tables", [(), "stars"])
def test_tables_are_named(tables):
    with pytest.raises(ParameterError, match="tables is a tuple"):
        claim(tables=tables)


@pytest.mark.parametrize("verdict", ["confirmed", NOT_RUN, DEPENDS])
def test_a_finding_has_a_verdict_that_a_judge_can_give(verdict):
    with pytest.raises(ParameterError, match=f"'reproduced in direction'.*got '{verdict}'"):
        Finding(1, verdict)


def test_a_paper_without_entries_has_no_claims(tmp_path):
    assert claims.of_paper("nobody1999") == ()
    frame = claims.judge("nobody1999", tmp_path)
    assert frame.empty
    assert tuple(frame.columns) == claims.COLUMNS


# ---- judging ----------------------------------------------------------------------------------


def test_a_claim_is_judged_from_its_table(entered):
    folder = entered(claim(published="3 to 4"))
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert row == {
        "id": "a",
        "paper": "xiao2010",
        "notebook": "1_example",
        "where": "Figure 2",
        "claim": "fewer stars",
        "tables": "stars",
        "kind": "measured",
        "how": "Compare the stars.",
        "published": "3 to 4",
        "measured": "3.5",
        "interval": "",
        "tolerance": EVERYWHERE,
        "spread": "one run",
        "verdict": REPRODUCED,
        "readings": [],
        "varied": "reading",
        "detail": "",
        "reason": "",
        "tested in": "",
        "differs": "",
    }


def test_a_changed_table_changes_the_verdict_and_gives_the_reason(entered):
    folder = entered(claim())
    pd.DataFrame({"TP": [2, 4], "TP+": [3, 5]}).to_csv(folder / "stars.csv", index=False)
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert (row["verdict"], row["reason"]) == (NOT_REPRODUCED, "Tested: ties (2 rows)")


def test_a_finding_says_where_and_how_sure(entered):
    found = Finding(1, NOT_REPRODUCED, "at l = 2", "2 seeds", (0.5, 1.25))
    folder = entered(claim(judge=lambda stars: found, differs="other rows"))
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert (row["detail"], row["spread"]) == ("at l = 2", "2 seeds")
    assert (row["interval"], row["differs"]) == ("0.5 to 1.25", "other rows")


@pytest.mark.parametrize(
    ("kind", "verdicts"),
    [
        ("measured", (REPRODUCED, DIRECTION, NOT_REPRODUCED)),
        ("proof", ("holds", "holds in part", "does not hold")),
        ("arithmetic", ("holds", "holds in part", "does not hold")),
        ("ours", ("holds", "holds in part", "does not hold")),
    ],
)
def test_only_what_was_measured_is_reproduced(entered, kind, verdicts):
    for found, named in zip((REPRODUCED, DIRECTION, NOT_REPRODUCED), verdicts, strict=True):
        folder = entered(claim(kind=kind, judge=lambda stars, found=found: Finding(1, found)))
        assert claims.judge("xiao2010", folder)["verdict"].item() == named


def test_a_claim_is_judged_under_each_reading(entered):
    def judged(stars, *, reading):
        return Finding(3 if reading == "rows" else 4, judge_statement(reading == "rows"))

    folder = entered(claim(judge=judged, readings=("rows", "cells")))
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert row["verdict"] == DEPENDS
    assert row["readings"] == [("rows", "3", REPRODUCED), ("cells", "4", NOT_REPRODUCED)]
    assert (row["measured"], row["reason"]) == ("3", "")

    def agreed(stars, *, reading):
        return Finding(3, NOT_REPRODUCED)

    folder = entered(claim(judge=agreed, readings=("rows", "cells")))
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert (row["verdict"], row["reason"]) == (NOT_REPRODUCED, "Tested: ties (2 rows)")
    assert len(row["readings"]) == 2


@pytest.mark.parametrize("verdict", [REPRODUCED, NOT_REPRODUCED])
def test_a_reading_that_tells_nothing_turns_no_verdict(entered, verdict):
    def judged(stars, *, reading):
        return Finding(3, verdict if reading == "rows" else NOT_TESTABLE)

    folder = entered(claim(judge=judged, readings=("rows", "cells")))
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert row["verdict"] == verdict
    assert [found for _, _, found in row["readings"]] == [verdict, NOT_TESTABLE]


@pytest.mark.parametrize(
    ("verdicts", "weakest"),
    [
        ((REPRODUCED, DIRECTION), DIRECTION),
        ((UNDECIDED, REPRODUCED), UNDECIDED),
        ((DIRECTION, NOT_REPRODUCED), NOT_REPRODUCED),
    ],
)
def test_of_choices_that_are_ours_the_weakest_verdict_counts(entered, verdicts, weakest):
    """The text is not to blame for what our order or program changes."""
    by_order = dict(zip(("as they are", "drawn"), verdicts, strict=True))
    folder = entered(
        claim(
            judge=lambda stars, *, reading: Finding(reading, by_order[reading]),
            readings=tuple(by_order),
            varied="order",
        )
    )
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert (row["verdict"], row["measured"], row["varied"]) == (weakest, "as they are", "order")
    assert [verdict for *_, verdict in row["readings"]] == [*verdicts]


@pytest.mark.parametrize(
    ("borne_out", "said"),
    [(True, "Tested: ties (2 of 3)"), (False, "Tested and not borne out: ties (2 of 3)")],
)
def test_a_tested_reason_says_what_its_experiment_found(entered, borne_out, said):
    reason = claims.Tested("ties", ("stars",), lambda stars: (borne_out, f"2 of {len(stars) + 1}"))
    folder = entered(claim(judge=lambda stars: Finding(1, NOT_REPRODUCED), reason=reason))
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert (row["reason"], row["tested in"]) == (said, "1_example")


def test_a_reason_whose_experiment_was_not_run_is_not_said(entered):
    reason = claims.Tested("ties", ("ties",), lambda ties: (True, ""), notebook="2_ties")
    folder = entered(claim(judge=lambda stars: Finding(1, NOT_REPRODUCED), reason=reason))
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert row["reason"] == "Its experiment, in 2_ties, was not run here"
    assert row["tested in"] == "2_ties"


def test_what_is_missing_for_a_test_is_said(entered):
    folder = entered(claim(judge=lambda stars: Finding(1, NOT_TESTABLE), missing="their program"))
    assert claims.judge("xiao2010", folder)["reason"].item() == "their program"


@pytest.mark.parametrize("verdict", [DIRECTION, NOT_REPRODUCED])
def test_a_difference_without_a_tested_reason_has_none(entered, verdict):
    folder = entered(claim(judge=lambda stars: Finding(1, verdict), reason=None))
    assert claims.judge("xiao2010", folder)["reason"].item() == ""


def test_a_reason_in_words_alone_is_refused():
    with pytest.raises(ParameterError, match="Tested by an experiment or left out, got 'ties'"):
        claim(reason="ties")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "opinion"}, "kind is one of measured"),
        ({"readings": ("one",)}, "two or more names"),
        ({"readings": "rows"}, "two or more names"),
    ],
)
def test_unknown_kinds_and_single_readings_are_refused(changes, message):
    with pytest.raises(ParameterError, match=message):
        claim(**changes)


@pytest.mark.parametrize(("text", "tables"), [(" ", ("a",)), ("ties", ()), ("ties", "a")])
def test_a_tested_reason_needs_text_and_tables(text, tables):
    with pytest.raises(ParameterError, match="a tested reason has"):
        claims.Tested(text, tables, lambda: (True, ""))


def test_a_missing_table_is_not_run_and_named(entered):
    folder = entered(claim(tables=("stars", "times"), published=7))
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert (row["verdict"], row["measured"], row["published"]) == (NOT_RUN, "", "7")
    assert row["reason"] == "times.csv not there: make paper-xiao2010"


def test_numbers_of_the_entry_are_given_to_the_judge(entered):
    def judged(stars, *, published, tolerance):
        return Finding(4.2, judge_value(4.2, published, tolerance))

    folder = entered(claim(judge=judged, published=lambda: 4, tolerance=0.1))
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert (row["verdict"], row["published"], row["tolerance"]) == (REPRODUCED, "4", "within 10 %")


def test_one_notebook_can_be_judged_alone(entered):
    folder = entered(claim(), claim(id="b", notebook="2_other"))
    assert claims.judge("xiao2010", folder, notebook="2_other")["id"].tolist() == ["b"]


def test_a_judge_that_fails_says_whose_it_is(entered):
    folder = entered(claim(judge=lambda stars: stars["no such column"]))
    with pytest.raises(KeyError) as failed:
        claims.judge("xiao2010", folder)
    assert failed.value.__notes__ == ["in claim 'a' of xiao2010, judged from ('stars',)"]


def test_tables_are_read_exactly(tmp_path):
    frame = pd.DataFrame({"varied": ["none", "NA"], "x": [0.1 + 0.2, np.nan]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    pd.testing.assert_frame_equal(claims.read_table(tmp_path / "t.csv"), frame, check_exact=True)


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
    ("curves", "verdict"),
    [
        ([[1, 5], [1, 6], [2, 6]], REPRODUCED),
        ([[1], [2], [3], [4], [5], [4]], DIRECTION),
        ([[3], [2], [1]], NOT_REPRODUCED),
    ],
)
def test_judge_rising(curves, verdict):
    assert judge_rising(curves) == verdict


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
    low, high = judging.share_interval(sum(covered), len(covered), level=0.999)
    assert low <= 0.95 <= high


def test_one_seed_decides_nothing_and_no_spread_everything():
    assert mean_interval([3]) == (-np.inf, np.inf)
    assert mean_interval([3, 3, 3]) == (3, 3)
    assert judge_mean([1.0], published=1, tolerance=0.5) == UNDECIDED
    assert judge_mean([2, 2], published=1, tolerance=0.5) == NOT_REPRODUCED
    assert judge_mean_order([1], [2]) == UNDECIDED


def test_equal_draws_of_what_has_bounds_are_no_certainty():
    """Of n equal draws of a share, so many others as n draws may well miss can lie anywhere."""
    others = judging.share_interval(0, 2)[1]
    low, high = mean_interval([0.75] * 2, within=(0, 1))
    assert (low, high) == pytest.approx((0.75 - 0.75 * others, 0.75 + 0.25 * others))
    assert mean_interval([0.0] * 72, within=(0, 1)) == pytest.approx((0, 0.05), abs=1e-3)
    low, high = mean_interval([1.0] * 3, level=0.9, within=(-1, 1))
    assert (low, high) == (1 - 2 * judging.share_interval(0, 3, level=0.9)[1], 1)
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
    ends = judging.mean_intervals([[0, 0, 0], [0.1, 0.2, 0.3]], within=(0, 1))
    assert ends[0] == pytest.approx((0, judging.share_interval(0, 3, level=0.975)[1]))
    assert ends[1] == pytest.approx((0, mean_interval([0.1, 0.2, 0.3], level=0.975)[1]))
    assert judging.mean_intervals([1, 2, 3])[0] == pytest.approx(mean_interval([1, 2, 3]))
    with pytest.raises(ParameterError, match="one setting at least"):
        judging.mean_intervals(np.empty((0, 5)))


OURS = [entry for key in catalogue.asked() for entry in claims.of_paper(key)]


@pytest.mark.parametrize("entry", OURS, ids=lambda entry: f"{entry.paper}-{entry.id}")
def test_what_is_printed_of_a_question_of_ours_is_what_its_interval_is_of(entry):
    """A number beside an interval of something else reads as if it were judged."""
    tables = [MEASURED / entry.paper / f"{name}.csv" for name in entry.tables]
    finding = entry.judge(*map(claims.read_table, tables))
    if not finding.interval:
        return
    number = r"(?<![\w.])-?\d[\d,]*(?:\.\d+(?:e[+-]\d+)?|(?<=,\d{3}))(?![\w.])"
    ends = finding.interval
    if isinstance(ends, str):
        whole = r"(?<=to )-?\d+(?![\w.])"  # an end, as "1" in "0.95 to 1"
        ends = [float(end.replace(",", "")) for end in re.findall(f"{number}|{whole}", ends)]
    measured = finding.measured
    if isinstance(measured, str):
        measured = [float(found.replace(",", "")) for found in re.findall(number, measured)]
    for found in np.atleast_1d(measured):
        assert min(ends) <= found <= max(ends), f"{finding.measured}: {finding.interval}"


def test_words_say_of_how_many_draws_and_where_all_were_the_same():
    words = judging.intervals_in_words([(0, 0), (1, 2)], ["a", "b"], over="6 draws")
    assert words == "together, over 6 draws, a: 0 in all of them; b: 1 to 2"
    assert judging.intervals_in_words([(0.5, 0.5)], ["a"], held="each") == "each, a: 0.5 each time"


@pytest.mark.filterwarnings("error")
def test_values_that_differ_in_their_last_digits_have_an_interval():
    """Their spread is not lost beside their size, for one side or two."""
    near = np.array([0.3, 0.1 + 0.2, 0.3])
    low, high = mean_interval(near)
    assert 0.3 - 1e-15 < low < 0.3 < high < 0.3 + 1e-15
    low, high = mean_interval(1e9 + np.array([0.9, 1.0, 1.1]))
    assert (low - 1e9, high - 1e9) == pytest.approx((0.7516, 1.2484), abs=1e-3)
    ((low, high),) = judging.difference_intervals(near, [7, 8, 9], paired=False)
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
        refuted += (judging.difference_intervals(lower, higher)[:, 1] < 0).any()
    assert judging.share_interval(refuted, 200, level=0.999)[0] <= 0.05


@pytest.mark.filterwarnings("error")
def test_a_side_that_never_varies_adds_no_noise():
    varied, constant = np.array([0.9, 1.0, 1.1]), np.full(4, 0.5)
    low, high = mean_interval(varied)
    assert difference(constant, varied) == pytest.approx((low - 0.5, high - 0.5))
    assert difference(varied, constant) == pytest.approx((0.5 - high, 0.5 - low))
    assert difference(constant, constant + 1) == (1, 1)


def difference(lower, higher):
    (interval,) = judging.difference_intervals(lower, higher, paired=False)
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


# ---- the papers' entries ----------------------------------------------------------------------


def test_ids_are_unique_in_a_paper():
    assert len({(entry.paper, entry.id) for entry in ENTRIES}) == len(ENTRIES) > 0


def test_ids_given_twice_and_strangers_are_refused(monkeypatch):
    import xiao2010_claims as xiao2010

    first = xiao2010.CLAIMS[0]
    monkeypatch.setattr(xiao2010, "CLAIMS", (first, first))
    with pytest.raises(ParameterError, match="share ids: table-2"):
        claims.of_paper("xiao2010")
    monkeypatch.setattr(xiao2010, "CLAIMS", (claim(paper="other2000"),))
    with pytest.raises(ParameterError, match="another paper"):
        claims.of_paper("xiao2010")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.paper}-{entry.id}")
def test_every_judge_says_how(entry):
    assert entry.how.endswith("."), "the first line of the judge's docstring is a sentence"


def test_numbers_kept_in_data_reference_are_not_typed_in():
    for entry in ENTRIES:
        if callable(entry.published):
            assert str(entry.published()).strip(), entry.id


@pytest.mark.parametrize("paper", sorted(catalogue.papers()))
def test_every_difference_from_a_paper_has_a_tested_reason(paper):
    """But for claims on seconds: another machine may turn these."""
    judged = claims.judge(paper, MEASURED / paper).set_index("id")
    timed = {
        path.split("/")[1].removesuffix(".csv")
        for share in (MEASURED / "manifest" / paper).glob("*.json")
        for path, about in json.loads(share.read_text())["outputs"].items()
        if about["timing"]
    }
    for entry in claims.of_paper(paper):
        found = judged.loc[entry.id]
        if found["verdict"] == NOT_TESTABLE:
            assert found["reason"], f"{entry.id}: what is missing?"
        elif entry.kind == claims.MEASURED and timed.isdisjoint(entry.tables):
            differs = found["verdict"] in (DIRECTION, NOT_REPRODUCED)
            assert found["reason"].startswith("Tested") == differs, entry.id


def perturbed(frame, published):
    """Yield versions of a table, one column changed, or one row left; what often tells first."""
    for column in sorted(frame.columns, key=lambda name: frame[name].dtype != float):
        values = frame[column]
        yield frame.assign(**{column: values.to_numpy()[::-1]})
        if pd.api.types.is_bool_dtype(values):
            yield frame.assign(**{column: ~values})
        elif pd.api.types.is_numeric_dtype(values):
            yield frame.assign(**{column: -values})
            yield frame.assign(**{column: 0 * values})
    for column in frame.columns:
        for other in other_values(frame, column, published):
            yield frame.assign(**{column: other})
    yield from (frame.loc[[row]] for row in frame.index[:20])


def other_values(frame, column, published):
    """Yield what could stand in a column: others' values, multiples, the published number."""
    values = frame[column]
    if pd.api.types.is_bool_dtype(values):
        yield from (frame[other] for other in frame.select_dtypes("bool"))
    elif pd.api.types.is_numeric_dtype(values):
        yield from (1e3 + 7 * values, values**2 * np.arange(1, len(frame) + 1))
        yield from (values * by for by in np.geomspace(1e-3, 1e3, 41))
        yield from (frame[other] for other in frame.select_dtypes("number"))
        printed = pd.to_numeric(str(published).replace(",", ""), errors="coerce")
        if not np.isnan(printed):
            yield printed
    else:
        yield from (values.iloc[0], values.str.replace("1", "2"))


def published_of(entry):
    return entry.published() if callable(entry.published) else entry.published


def verdicts_of(entry, tables):
    """Return the verdicts on tables, or the error that a judge has with impossible ones."""
    try:
        return [finding.verdict for finding in entry.found(*tables)]
    except (ArithmeticError, IndexError, KeyError, TypeError, ValueError):
        return None


def measured_tables(entry):
    return [claims.read_table(MEASURED / entry.paper / f"{name}.csv") for name in entry.tables]


@pytest.mark.parametrize("entry", RUN, ids=lambda entry: f"{entry.paper}-{entry.id}")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_verdict_depends_on_the_tables(entry):
    tables = measured_tables(entry)
    before = verdicts_of(entry, tables)
    assert before is not None
    after = (
        verdicts_of(entry, [*tables[:place], other, *tables[place + 1 :]])
        for place, table in enumerate(tables)
        for other in perturbed(table, published_of(entry))
    )
    assert set(before) == {NOT_TESTABLE} or any(
        verdicts not in (before, None) for verdicts in after
    )


def randomized(table, rng):
    """Return a table of the same size in which no column knows of another.

    Numbers are drawn from all numbers of the table, scaled by up to 4, of one sign a column; flags
    are tossed, texts shuffled.
    """
    numbers = table.select_dtypes("number")
    pool = numbers.to_numpy().ravel()
    drawn = {}
    for column, values in table.items():
        if pd.api.types.is_bool_dtype(values):
            drawn[column] = rng.random(len(table)) < 0.5
        elif column in numbers:
            factors = 4.0 ** rng.uniform(-1, 1, len(table)) * rng.choice([1, -1])
            drawn[column] = rng.choice(pool, len(table)) * factors
        else:
            drawn[column] = rng.permutation(values.to_numpy())
    return table.assign(**drawn)


@pytest.mark.parametrize(
    "entry",
    [entry for entry in RUN if entry.kind == claims.MEASURED],
    ids=lambda entry: f"{entry.paper}-{entry.id}",
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_measured_claim_is_true_of_random_tables(entry):
    rng = np.random.default_rng(0)
    tables = measured_tables(entry)
    drawn = [verdicts_of(entry, [randomized(table, rng) for table in tables]) for _ in range(20)]
    true = sum(verdicts is not None and set(verdicts) == {REPRODUCED} for verdicts in drawn)
    assert true <= 10, f"reproduced of {true} of 20 random tables"


@pytest.mark.parametrize("entry", RUN, ids=lambda entry: f"{entry.paper}-{entry.id}")
def test_several_intervals_say_whether_they_hold_together(entry):
    for finding in entry.found(*measured_tables(entry)):
        if isinstance(finding.interval, str) and finding.interval.count(" to ") > 1:
            assert {judging.EACH, judging.TOGETHER} & set(re.findall(r"\w+", finding.interval))


@pytest.mark.parametrize("entry", RUN, ids=lambda entry: f"{entry.paper}-{entry.id}")
def test_every_table_is_saved_by_the_notebook_of_the_claim(entry):
    reason = entry.reason
    asked = {entry.notebook: set(entry.tables)}
    if reason is not None:
        asked.setdefault(reason.notebook or entry.notebook, set()).update(reason.tables)
    for notebook, tables in asked.items():
        share = MEASURED / "manifest" / entry.paper / f"{notebook}.json"
        outputs = json.loads(share.read_text())["outputs"]
        assert {f"{entry.paper}/{name}.csv" for name in tables} <= set(outputs)
