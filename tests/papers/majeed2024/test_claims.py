"""What tells methods of majeed2024 apart, and what bears a reason out."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from anonpaper.compendium.intervals import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
import majeed2024_claims as claims

METHODS = ("Proposed", "LD", "HyObscure", "MRMondrian")
JUDGES = {
    "Proposed": partial(claims.lowest, options=claims.DISCLOSURE),
    "LD": partial(claims.worst_of_baselines, reading=next(iter(claims.BASELINE_RISK))),
}


def risks(of):
    """Return a table of risks, of all methods but one 0.5, at two k and two seeds."""
    grid = pd.MultiIndex.from_product(
        [["adult"], METHODS, [2, 10], [0, 1], ["enforce"], ["above 0"], ["all"]],
        names=["name", "method", "k", "seed", "mode", "threshold", "who"],
    )
    table = grid.to_frame(index=False)
    return table.assign(**{"D own": np.vectorize(lambda name: of.get(name, 0.5))(table["method"])})


@pytest.mark.parametrize("method", JUDGES)
def test_what_is_equal_for_all_methods_is_no_evidence(method):
    judge = JUDGES[method]
    found = judge(risks({}))
    assert found.verdict == NOT_TESTABLE and "cannot tell" in found.measured
    lower, higher = (judge(risks({method: value})).verdict for value in (0.4, 0.6))
    assert (lower, higher) == (
        (REPRODUCED, NOT_REPRODUCED) if method == "Proposed" else (NOT_REPRODUCED, REPRODUCED)
    )
    # to be as low as the lowest is to be lowest, where others are not
    assert judge(risks({"MRMondrian": 0.9})).verdict != NOT_TESTABLE


def seconds(by_k):
    """Return the seconds of the proposed method on two tables."""
    rows = [("Proposed", name, k, value) for name in "ab" for k, value in by_k.items()]
    return pd.DataFrame(rows, columns=["method", "name", "k", "seconds"])


def test_two_points_are_no_proportion():
    assert claims.time_goes_with_classes(seconds({2: 5.1, 10: 1.1, 50: 0.3}))[0]
    assert not claims.time_goes_with_classes(seconds({2: 5.1, 10: 5.0, 50: 0.3}))[0]
    borne_out, told = claims.time_goes_with_classes(seconds({2: 5.1, 100: 0.3}))
    assert not borne_out and "too few" in told


@pytest.mark.parametrize(("rows", "same"), [([1000, 1000], True), ([1000, 999], False)])
def test_tables_of_the_same_size_are_told(rows, same):
    steps = pd.DataFrame({"name": ["adult", "stroke"], "rows": rows})
    assert claims.none_is_larger(steps) == (same, f"rows: adult 1,000, stroke {rows[1]:,}")


@pytest.mark.parametrize(
    ("frequent", "rare", "borne_out"), [(0.6, 0.7, True), (0.9, 0.7, False), (0.6, 0.2, False)]
)
def test_naming_the_frequent_value_less_is_seen_in_both_recalls(frequent, rare, borne_out):
    """The most accurate other method is LD, whose recalls are 0.9 and 0.3."""
    columns = ["method", "accuracy", "recall of the dominant value", "recall of the rare value"]
    rows = [("Proposed", 0.6, frequent, rare), ("LD", 0.8, 0.9, 0.3), ("SDDA", 0.7, 0.1, 0.9)]
    figure_9 = pd.DataFrame(rows, columns=columns).assign(name="adult", k=10, seed=0)
    assert claims.names_the_frequent_value_less(figure_9)[0] == borne_out
