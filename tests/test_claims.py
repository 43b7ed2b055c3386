"""Claims: verdicts follow from numbers, and a differing one needs a reason."""

import pandas as pd
import pytest

from anonpaper import claims
from anonpaper.claims import Claim, judge_order, judge_value
from anonpaper.errors import ParameterError


def claim(**changes):
    given = {"id": "a", "paper": "xiao2010", "where": "Figure 2", "claim": "fewer stars",
             "measured": 0.82345, "verdict": "reproduced"}
    return Claim(**(given | changes))


@pytest.mark.parametrize("verdict", [v for v in claims.VERDICTS if v != "reproduced"])
def test_every_other_verdict_needs_a_reason(verdict):
    with pytest.raises(ParameterError, match="say why"):
        claim(verdict=verdict, reason=" ")
    assert claim(verdict=verdict, reason="other data").reason == "other data"


def test_unknown_verdict_names_the_four():
    with pytest.raises(ParameterError, match="'reproduced in direction'.*got 'confirmed'"):
        claim(verdict="confirmed")


@pytest.mark.parametrize("field", ["id", "paper", "where", "claim"])
def test_no_text_is_empty(field):
    with pytest.raises(ParameterError, match=f"{field} is empty"):
        claim(**{field: "  "})


def test_table_keeps_order_and_rounds_numbers():
    frame = claims.table([claim(id="b"), claim(measured="2 of 3", published=0.5)])
    assert frame["id"].tolist() == ["b", "a"]
    assert frame["measured"].tolist() == ["0.823", "2 of 3"]
    assert frame["published"].tolist() == ["", "0.5"]


def test_table_refuses_a_claim_twice():
    with pytest.raises(ParameterError, match="claims given twice: a"):
        claims.table([claim(), claim()])


def test_table_of_no_claims_has_the_columns():
    assert list(claims.table([])) == list(claims.table([claim()]))


@pytest.mark.parametrize(("measured", "verdict"), [
    (1.05, "reproduced"), (0.95, "reproduced"), (1.06, "not reproduced"), (-1, "not reproduced"),
])
def test_judge_value(measured, verdict):
    assert judge_value(measured, published=1.0, tolerance=0.0500001) == verdict


@pytest.mark.parametrize("bad", [
    {"measured": float("nan")}, {"published": 0}, {"tolerance": 0}, {"published": float("inf")},
])
def test_judge_value_refuses(bad):
    with pytest.raises(ParameterError, match="judge_value needs"):
        judge_value(**({"measured": 1.0, "published": 1.0, "tolerance": 0.1} | bad))


@pytest.mark.parametrize(("higher", "verdict"), [
    ([1, 2, 3, 4, 5], "reproduced"),
    ([1, 2, 3, 4, 0], "reproduced in direction"),
    ([1, 2, 3, 0, 0], "not reproduced"),
])
def test_judge_order(higher, verdict):
    assert judge_order(pd.Series([1, 2, 3, 4, 5]), higher) == verdict


@pytest.mark.parametrize(("lower", "higher", "mostly"), [
    ([1], [1, 2], 0.8), ([], [], 0.8), ([float("nan")], [1], 0.8), ([1], [1], 0), ([1], [1], 1.1),
])
def test_judge_order_refuses(lower, higher, mostly):
    with pytest.raises(ParameterError):
        judge_order(lower, higher, mostly=mostly)
