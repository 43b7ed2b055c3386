"""Readings of majeed2024's formulas under which every method has the same number."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from anonpaper.papers.judging import NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from anonpaper.papers.majeed2024 import claims

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
