"""Claims of xiao2010 on tables whose verdict is known."""

import pandas as pd
import pytest

from anonpaper.compendium.claims import IN_PART, NOT_REPRODUCED, REPRODUCED, claims_of

CLAIMS = {claim.name: claim for claim in claims_of("xiao2010")}


@pytest.mark.parametrize(
    "stars_of_tp, verdict",
    [([1, 1, 3, 3], REPRODUCED), ([1, 3, 1, 3], NOT_REPRODUCED), ([1, 1, 1, 1], NOT_REPRODUCED),
     ([3, 3, 1, 1], NOT_REPRODUCED)],
)  # fmt: skip
def test_the_curves_have_to_cross_once(stars_of_tp, verdict):
    stars = {"TP": stars_of_tp, "Hilbert": [2] * 4, "TP+": [1] * 4}
    figure_3 = pd.DataFrame(
        {"table": "T", "d": d, "algorithm": name, "thousand stars": of[d - 1]}
        for name, of in stars.items() for d in (1, 2, 3, 4)
    )  # fmt: skip
    assert CLAIMS["curves_cross"](figure_3).verdict == verdict


@pytest.mark.parametrize(
    "at_1, at_2, verdict",
    [((0, 5, 0), (4, 1, 0), REPRODUCED), ((1, 4, 0), (4, 1, 0), NOT_REPRODUCED),
     ((0, 5, 0), (0, 5, 0), NOT_REPRODUCED), ((0, 5, 0), (4, 0, 1), NOT_REPRODUCED)],
)  # fmt: skip
def test_with_one_quasi_identifier_as_many_stars_are_asked_for(at_1, at_2, verdict):
    runs = pd.DataFrame([(1, *at_1), (2, *at_2)], columns=["d", "fewer", "equal", "more"])
    assert CLAIMS["tp_plus_always_beats_tp"](runs).verdict == verdict


@pytest.mark.parametrize(
    "rival_at_2, verdict", [(3, REPRODUCED), (1, IN_PART)]
)  # one of six means over d
def test_the_rival_is_judged_by_means_over_d(rival_at_2, verdict):
    stars = {"Hilbert": 2, "Mondrian": 3, "TDS": 4}
    heuristics = pd.DataFrame(
        {"table": table, "l": l, "d": d, "heuristic": name,
         "thousand stars": rival_at_2 if (table, l, name) == ("SAL", 2, "Mondrian") else number}
        for table in ("OCC", "SAL") for l in (2, 6, 10) for d in (1, 2)
        for name, number in stars.items()
    )  # fmt: skip
    assert CLAIMS["hilbert_is_the_best_rival"](heuristics).verdict == verdict
