"""The judges of boger2020 that are functions, on tables whose verdict is known."""

import numpy as np
import pandas as pd
import pytest

from anonpaper.compendium import judge, reference
from anonpaper.compendium.intervals import NOT_REPRODUCED, REPRODUCED, UNDECIDED

CLAIMS = {claim.id: claim for claim in judge.of_paper("boger2020")}


def verdict(id, *tables):
    return CLAIMS[id].found(*tables)[0].verdict


@pytest.mark.parametrize(
    ("power", "expected", "below"),
    [
        (2, REPRODUCED, UNDECIDED),
        (1, NOT_REPRODUCED, REPRODUCED),
        (3, NOT_REPRODUCED, NOT_REPRODUCED),
    ],
)
def test_powers_are_judged_by_their_intervals(power, expected, below):
    rows = np.array([0, 1, 2, 4, 8, 16.0])
    noise = np.array([1, 1.01, 0.99, 0.99, 1.01, 1])
    points = pd.DataFrame({"thousand rows": rows, "seconds": noise * rows**power})
    figure_5 = pd.concat([points.assign(curve=curve) for curve in ("paper", "ours", "by rows")])
    assert verdict("quadratic", figure_5) == verdict("published-quadratic", figure_5) == expected
    assert CLAIMS["quadratic"].found(figure_5)[0].measured == pytest.approx(power, abs=0.02)
    assert verdict("ours-below-quadratic", figure_5) == below


@pytest.mark.parametrize(
    ("elsewhere", "expected"),
    [([5, 6, 7], REPRODUCED), ([0, 0, 9], UNDECIDED), ([0, 0, 0], NOT_REPRODUCED)],
)
def test_more_repeats_elsewhere_have_to_be_certain(elsewhere, expected):
    runs = pd.DataFrame({"k": [10] * 3 + [20] * 3, "l": 5, "theta": 0.3, "seed": [0, 1, 2] * 2})
    runs = runs.assign(data="adult", M=[0, 0, 0, *elsewhere])
    assert verdict("repeats-depend", runs) == expected


def test_three_runs_that_lose_no_rows_do_not_prove_that_none_does():
    """A share has bounds, so equal shares have an interval; repeats have none."""
    runs = pd.DataFrame({"k": [10] * 3 + [20] * 3, "l": 5, "theta": 0.3, "seed": [0, 1, 2] * 2})
    finding = CLAIMS["rows-lost"].found(runs.assign(data="adult", left_out_pct=0.0))[0]
    assert finding.verdict == UNDECIDED and finding.needed()[1] == np.inf


def errors(own):
    least = {"race": 1, "education": 1, "sex": 1, "age": 5}
    return pd.DataFrame(
        [
            {"varied": name, "values": values, "selectivity, %": 10.0, "table": table,
             "seed": seed, "relative error, %": other + seed}
            for name, values in least.items()
            for seed in range(3)
            for table, other in {"RaceTable": 95, "AgeTable": 95, "EducationTable": 95,
                                 "SexTable": 95, f"{name.capitalize()}Table": own}.items()
        ]
    )  # fmt: skip


def test_the_matching_table_has_to_beat_every_other_and_base_table():
    assert verdict("best-at-low", errors(80), errors(80)) == REPRODUCED
    assert verdict("best-at-low", errors(97), errors(97)) == NOT_REPRODUCED
    assert CLAIMS["best-at-low"].found(errors(80), errors(97))[0].measured == (
        "surely ahead in 16 of 16 comparisons"
    )
    assert verdict("below-base", errors(80), errors(80)) == REPRODUCED
    assert verdict("below-base-occ", errors(120)) == NOT_REPRODUCED


def test_the_published_values_could_be_one_run_only_if_runs_are_as_far_off():
    published = reference("boger2020_fig9-12_relative_error")
    names = {"varied_qi": "varied", "selectivity_pct": "selectivity, %"}
    published = published.rename(columns={**names, "relative_error_pct": "relative error, %"})
    near, far = (
        pd.concat([
            published.assign(**{"relative error, %": published["relative error, %"] + off + step},
                             seed=seed)
            for seed, step in enumerate(np.linspace(-1, 1, 40))
        ])
        for off in (0, 50)
    )  # fmt: skip
    assert verdict("one-run", near, near) == REPRODUCED
    assert verdict("one-run", far, far) != REPRODUCED


def test_a_run_is_measured_by_the_mean_and_the_spread_of_the_others():
    published = reference("boger2020_fig9-12_relative_error")
    names = {"varied_qi": "varied", "selectivity_pct": "selectivity, %"}
    points = published.rename(columns={**names, "relative_error_pct": "relative error, %"})
    points = points[points["table"] != "BaseTable"]
    noise = np.random.default_rng(0).normal(size=(len(points), 8))
    runs = pd.concat([
        points.assign(**{"relative error, %": points["relative error, %"] + noise[:, seed]},
                      seed=seed)
        for seed in range(8)
    ])  # fmt: skip
    far = []
    for seed in range(8):
        others = np.delete(noise, seed, axis=1)
        apart = (noise[:, seed] - others.mean(axis=1)) / others.std(axis=1, ddof=1)
        far.append((apart**2).mean() ** 0.5)
    detail = CLAIMS["one-run"].found(runs, runs)[0].detail
    assert detail.endswith(f"runs {min(far):.2f} to {max(far):.2f}")
