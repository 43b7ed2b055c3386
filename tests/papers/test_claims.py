"""Claims: verdicts follow from the measured tables, and a missing table is "not run"."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonpaper.errors import ParameterError
from anonpaper.papers import catalogue, claims
from anonpaper.papers.claims import (
    DIRECTION,
    NOT_REPRODUCED,
    NOT_RUN,
    NOT_TESTABLE,
    REPRODUCED,
    Claim,
    Finding,
    judge_order,
    judge_rising,
    judge_statement,
    judge_value,
)

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "figures" / "paper"
ENTRIES = [entry for paper in catalogue.papers() for entry in claims.of_paper(paper)]
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
        "reason": "other data",
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
    "field", ["id", "paper", "notebook", "where", "claim", "reason", "tolerance", "spread"]
)
def test_no_text_is_empty(field):
    with pytest.raises(ParameterError, match=f"{field} is empty"):
        claim(**{field: "  "})


@pytest.mark.parametrize("tables", [(), "stars"])
def test_tables_are_named(tables):
    with pytest.raises(ParameterError, match="tables is a tuple"):
        claim(tables=tables)


@pytest.mark.parametrize("verdict", ["confirmed", NOT_RUN])
def test_a_finding_has_one_of_four_verdicts(verdict):
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
        "how": "Compare the stars.",
        "published": "3 to 4",
        "measured": "3.5",
        "tolerance": claims.EVERYWHERE,
        "spread": "one run",
        "verdict": REPRODUCED,
        "reason": "",
    }


def test_a_changed_table_changes_the_verdict_and_gives_the_reason(entered):
    folder = entered(claim())
    pd.DataFrame({"TP": [2, 4], "TP+": [3, 5]}).to_csv(folder / "stars.csv", index=False)
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert (row["verdict"], row["reason"]) == (NOT_REPRODUCED, "other data")


def test_the_reason_of_the_finding_goes_first(entered):
    folder = entered(claim(judge=lambda stars: Finding(1, NOT_REPRODUCED, "at l = 2", "2 seeds")))
    (row,) = claims.judge("xiao2010", folder).to_dict("records")
    assert (row["reason"], row["spread"]) == ("at l = 2", "2 seeds")


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
    assert claims.over_seeds([0.25, 0.5, 0.125], "{:.2f}") == "0.12 to 0.50 over 3 seeds"
    assert claims.over_seeds([7]) == "7 to 7 over 1 seed"


# ---- the papers' entries ----------------------------------------------------------------------


def test_ids_are_unique_in_a_paper():
    assert len({(entry.paper, entry.id) for entry in ENTRIES}) == len(ENTRIES) > 0


def test_ids_given_twice_and_strangers_are_refused(monkeypatch):
    from anonpaper.papers.xiao2010 import claims as xiao2010

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


def perturbed(frame, published):
    """Yield versions of a table, one column changed: upside down, others' values, other values."""
    for column in frame.columns:
        values = frame[column]
        others = [values.to_numpy()[::-1]]
        if pd.api.types.is_bool_dtype(values):
            others += [~values, *(frame[other] for other in frame.select_dtypes("bool"))]
        elif pd.api.types.is_numeric_dtype(values):
            others += [
                -values,
                0 * values,
                1e3 + 7 * values,
                values**2 * np.arange(1, len(frame) + 1),
                *(values * by for by in np.geomspace(1e-3, 1e3, 41)),
                *(frame[other] for other in frame.select_dtypes("number")),
            ]
            printed = pd.to_numeric(str(published).replace(",", ""), errors="coerce")
            others += [] if np.isnan(printed) else [printed]
        else:
            others += [values.iloc[0], values.str.replace("1", "2")]
        for other in others:
            yield frame.assign(**{column: other})


def published_of(entry):
    return entry.published() if callable(entry.published) else entry.published


def verdict_of(entry, tables):
    """Return the verdict on tables, or the error that a judge has with impossible ones."""
    given = {"published": published_of(entry), "tolerance": entry.tolerance}
    numbers = {name: value for name, value in given.items() if isinstance(value, int | float)}
    try:
        return entry.judge(*tables, **numbers).verdict
    except (ArithmeticError, IndexError, KeyError, TypeError, ValueError):
        return None


@pytest.mark.parametrize("entry", RUN, ids=lambda entry: f"{entry.paper}-{entry.id}")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_verdict_depends_on_the_tables(entry):
    tables = [claims.read_table(MEASURED / entry.paper / f"{name}.csv") for name in entry.tables]
    before = verdict_of(entry, tables)
    assert before is not None
    verdicts = (
        verdict_of(entry, [*tables[:place], other, *tables[place + 1 :]])
        for place, table in enumerate(tables)
        for other in perturbed(table, published_of(entry))
    )
    assert before == NOT_TESTABLE or any(verdict not in (before, None) for verdict in verdicts)


@pytest.mark.parametrize("entry", RUN, ids=lambda entry: f"{entry.paper}-{entry.id}")
def test_every_table_is_saved_by_the_notebook_of_the_claim(entry):
    share = MEASURED / "manifest" / entry.paper / f"{entry.notebook}.json"
    outputs = json.loads(share.read_text())["outputs"]
    assert {f"{entry.paper}/{name}.csv" for name in entry.tables} <= set(outputs)
