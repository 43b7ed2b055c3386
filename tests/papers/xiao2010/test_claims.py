"""Claims of xiao2010 on tables whose verdict is known."""

import pandas as pd
import pytest

from anonpaper.compendium.claims import NOT_REPRODUCED, REPRODUCED, claims_of

CLAIMS = {claim.name: claim for claim in claims_of("xiao2010")}


@pytest.mark.parametrize(
    "stars_of_tp, verdict",
    [("1133", REPRODUCED), ("1313", NOT_REPRODUCED), ("1111", NOT_REPRODUCED),
     ("3311", NOT_REPRODUCED)],
)  # fmt: skip
def test_the_curves_have_to_cross_once(stars_of_tp, verdict):
    stars = {"TP": [*map(int, stars_of_tp)], "Hilbert": [2] * 4, "TP+": [1] * 4}
    figure = pd.DataFrame(stars, index=pd.Index([1, 2, 3, 4], name="d")).melt(
        var_name="algorithm", value_name="thousand stars", ignore_index=False
    )
    assert CLAIMS["curves_cross"](figure.reset_index().assign(table="T")).verdict == verdict


@pytest.mark.parametrize(
    "at_1, at_2, verdict",
    [((0, 5, 0), (4, 1, 0), REPRODUCED), ((1, 4, 0), (4, 1, 0), NOT_REPRODUCED),
     ((0, 5, 0), (0, 5, 0), NOT_REPRODUCED), ((0, 5, 0), (4, 0, 1), NOT_REPRODUCED)],
)  # fmt: skip
def test_with_one_quasi_identifier_as_many_stars_are_asked_for(at_1, at_2, verdict):
    runs = pd.DataFrame([(1, *at_1), (2, *at_2)], columns=["d", "fewer", "equal", "more"])
    assert CLAIMS["tp_plus_always_beats_tp"](runs).verdict == verdict
