"""Claims of dewri2009 on tables whose verdict is known."""

import pandas as pd
import pytest

from anonpaper.compendium.claims import CANNOT_BE_TESTED, NOT_REPRODUCED, REPRODUCED, claims_of

CLAIMS = {claim.name: claim for claim in claims_of("dewri2009")}


@pytest.mark.parametrize(
    ("at_21", "verdict"),
    [((5, 10, 40, 60, 120), REPRODUCED), ((5, 18, 26, 51, 101), CANNOT_BE_TESTED)],
)
def test_what_an_order_of_countries_decides_cannot_be_tested(at_21, verdict):
    levels = [5, 10, 25, 50, 100]
    places = {1: (5, 10, 30, 57, 140), 21: at_21}
    found = pd.DataFrame(
        {"place": place, "k": k, "effective_k": effective}
        for place, row in places.items() for k, effective in zip(levels, row, strict=True)
    )  # fmt: skip
    judge = CLAIMS["effective_k_is_close_or_higher"]
    assert judge(found).verdict == verdict
    assert judge(found.assign(effective_k=found["k"])).verdict == NOT_REPRODUCED
