"""Claims of boger2020 on tables whose verdict is known."""

import numpy as np
import pandas as pd
import pytest

from anonpaper.compendium import reference
from anonpaper.compendium.claims import NOT_REPRODUCED, REPRODUCED, UNDECIDED, claims_of

CLAIMS = {claim.name: claim for claim in claims_of("boger2020")}
TABLES = ["RaceTable", "EducationTable", "SexTable", "AgeTable"]


@pytest.mark.parametrize(
    ("lost", "verdict"), [([3.0, 3.1, 3.2] * 3, REPRODUCED), ([0.0] * 9, UNDECIDED)]
)
def test_one_other_setting_at_which_rows_are_lost_is_enough(lost, verdict):
    settings = [(10, 5, 0.3, [0.0] * 9), (50, 5, 0.3, lost), (10, 12, 0.3, [0.0] * 9)]
    runs = pd.DataFrame(
        {"data": "adult", "k": k, "l": l, "theta": theta, "seed": seed, "left_out_pct": value}
        for k, l, theta, values in settings for seed, value in enumerate(values)
    )  # fmt: skip
    assert CLAIMS["rows_are_lost_elsewhere"](runs).verdict == verdict


@pytest.mark.parametrize(("moved", "verdict"), [(0, REPRODUCED), (30, NOT_REPRODUCED)])
def test_a_printed_run_may_miss_as_many_points_as_runs_of_ours(moved, verdict):
    rng = np.random.default_rng(1)
    printed = reference("boger2020_fig8_default_selectivity").set_index("table").squeeze()
    runs = pd.DataFrame(
        {"reading": reading, "seed": seed, "table": table,
         "relative error, %": printed[table] + rng.normal(0, 2) + moved * (reading == "text")}
        for reading in ("text", "program") for seed in range(40) for table in TABLES
    )  # fmt: skip
    assert CLAIMS["figure_8_could_be_a_run"](runs).verdict == verdict
