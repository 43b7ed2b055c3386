"""Claims as functions: findings on numbers whose verdict is known, and the rules for files."""

import numpy as np
import pandas as pd
import pytest

from anonpaper.compendium import claims, papers
from anonpaper.compendium.claims import (
    CANNOT_BE_TESTED,
    IN_PART,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    all_of,
    by_intervals,
    cannot_be_tested,
    holds,
    holds_everywhere,
    listed,
    means,
    on_average,
    one_more_run,
    share,
    shown_once,
    span,
    steps,
)
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
        (holds(True, pd.Series([True, True])), REPRODUCED),
        (holds(True, pd.Series([True, False])), NOT_REPRODUCED),
        (holds(False, in_part=True), IN_PART),
        (holds(pd.Series([], dtype=bool)), CANNOT_BE_TESTED),
        (holds_everywhere([True] * 4 + [False]), IN_PART),
        (holds_everywhere([True] * 3 + [False] * 2), NOT_REPRODUCED),
        (holds_everywhere([True] * 4 + [False], needed=0.8), REPRODUCED),
        (holds_everywhere([True] + [False] * 4, needed=0), REPRODUCED),
        (holds_everywhere([]), CANNOT_BE_TESTED),
        (means(UP, above=0), REPRODUCED),
        (means(UP, below=0), NOT_REPRODUCED),
        (means([*UP[:4], UNSURE], above=0), IN_PART),
        (means([*UP[:4], -UP[4]], above=0), IN_PART),
        (means([*UP[:3], UNSURE, UNSURE], above=0), UNDECIDED),
        (means([*UP[:3], -UP[3], -UP[4]], above=0), NOT_REPRODUCED),
        (means([UNSURE] * 4 + [UP[0]], above=0, needed=0), REPRODUCED),
        (means(UP, above=0.8, below=1.2), REPRODUCED),
        (means((UP, UP + 1), above=0), REPRODUCED),
        (means((UP, UP[:, :10] - 1), above=0), NOT_REPRODUCED),
        (means([[1.0]], above=0), UNDECIDED),
        (means([[1.0] * 5], above=0.9), REPRODUCED),
        (means([[1.0] * 5], above=0.9, within=(0, 1)), UNDECIDED),
        (means(EMPTY, above=0), CANNOT_BE_TESTED),
        (share([True] * 20, above=0.5), REPRODUCED),
        (share([True] * 12 + [False] * 8, above=0.5), UNDECIDED),
        (share([False] * 20, above=0.5), NOT_REPRODUCED),
        (share([], above=0.5), CANNOT_BE_TESTED),
        (by_intervals([[1, 2]], above=1, below=2), REPRODUCED),
        (by_intervals([[1, 2]], above=1.5), UNDECIDED),
        (by_intervals([[1, 2]], above=3), NOT_REPRODUCED),
        (shown_once([True] * 10 + [False] * 10), REPRODUCED),
        (shown_once([True] + [False] * 19), IN_PART),
        (shown_once([True] + [False] * 20), NOT_REPRODUCED),
        (one_more_run(pd.DataFrame(UP), [1] * 5), REPRODUCED),
        (one_more_run(pd.DataFrame(UP), [1] * 4 + [9]), IN_PART),
        (one_more_run(pd.DataFrame(UP), [1] * 3 + [9, 9]), NOT_REPRODUCED),
        (one_more_run(pd.DataFrame(UP[:, :3]), [1] * 5), UNDECIDED),
        (all_of(holds(True), holds(False), cannot_be_tested("x")), NOT_REPRODUCED),
    ],
)
def test_verdicts_follow_from_numbers(finding, verdict):
    assert finding.verdict == verdict


def test_a_reading_is_told_only_if_it_is_decided_and_differs():
    assert holds(True).read_as("a mean", holds(True)).otherwise == ""
    assert holds(True).read_as("a mean", cannot_be_tested("why")).otherwise == ""
    told = holds(True).read_as("a mean", holds(False)).otherwise
    assert told == "Read as a mean, it is not reproduced."


def test_why_is_told_where_a_claim_is_not_reproduced():
    assert holds(False, why="ties").why == "ties"
    assert holds(True, why="ties").why == ""
    assert holds_everywhere([True, False], measured="0.9 times").why == "at 1 of 2 settings"


def test_missing_measurements_are_errors():
    with pytest.raises(ParameterError, match="no measurement is missing"):
        means([[1.0, np.nan]], above=0)
    with pytest.raises(ParameterError, match="one published number for each of 5"):
        one_more_run(pd.DataFrame(UP), [1, 2])


def test_numbers_in_words():
    assert span([1, 2300.4]) == "1 to 2,300" and span([2, 2]) == "2"
    index = pd.MultiIndex.from_tuples([("OCC", 2)], names=["table", "l"])
    assert listed(pd.Series([0.5], index)) == "OCC l = 2: 0.5"


def test_steps_and_averages():
    frame = pd.DataFrame({"table": list("AABB"), "l": [4, 2, 2, 4], "y": [3, 1, 5, 4]})
    curve = frame.set_index(["table", "l"])["y"]
    assert steps(curve, along="l").to_dict() == {("A", 4): 2, ("B", 4): -1}
    assert on_average(pd.DataFrame([[1, 2], [3, 4]])).to_numpy().tolist() == [[2, 3]]


def test_claims_are_judged_from_files(tmp_path, monkeypatch):
    home = tmp_path / "one"
    home.mkdir()
    (home / "claims.py").write_text(
        "'''One.'''\n"
        "from anonpaper.compendium.claims import claim, holds\n"
        "@claim('Figure 1', quote='fewer', others='two/stars')\n"
        "def fewer(stars, others, least=1):\n"
        "    '''Ours are fewer.\n\n    By far.'''\n"
        "    return holds(stars['n'] < others['n'])\n"
    )
    monkeypatch.setattr(claims, "notebooks_folder", lambda: tmp_path)
    (one,) = claims.claims_of("one")
    assert (one.name, one.text, one.note, one.quote) == (
        "fewer", "Ours are fewer", "By far.", "fewer",
    )  # fmt: skip
    assert claims.about("one") == "One." and claims.claims_of("nobody") == []

    def found():
        return claims.judged("one", tmp_path / "results" / "one")[0][1]

    assert found().why == "stars.csv is not there: its notebook has not run"
    for paper, text in (("one", "n\n1\n"), ("two", "n\n")):
        (tmp_path / "results" / paper).mkdir(parents=True)
        (tmp_path / "results" / paper / "stars.csv").write_text(text)
    assert found().why == "stars.csv has no rows"
    (tmp_path / "results" / "two" / "stars.csv").write_text("n\n2\n")
    assert found().verdict == REPRODUCED


@pytest.mark.parametrize("paper", [key for key in papers() if claims.claims_of(key)])
def test_each_claim_belongs_to_one_notebook(paper):
    """Else its verdict would depend on the order in which notebooks run."""
    names = [one.name for one in claims.claims_of(paper)]
    assert len(names) == len(set(names))
    for one in claims.claims_of(paper):
        own = [file.removesuffix(".csv") for file in one.tables.values() if file[0] != "."]
        assert len({made_by(f"{paper}/{table}") for table in own}) == 1, one.name
        assert one.text, one.name
