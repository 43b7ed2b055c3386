"""The judges of diva2021's claims, on tables whose verdicts are plain."""

import numpy as np
import pandas as pd
import pytest

import diva2021_claims as claims
from anonpaper.compendium.intervals import DIRECTION, NOT_REPRODUCED, REPRODUCED, UNDECIDED

RATIO = "accuracy (ratio)"


def figure_4c(accuracy, seeds=5):
    """Return runs whose accuracy is given by strategy, conflict rate and seed; None: no table."""
    runs = [
        {"over bound": "reject", "conflict rate": cf, "algorithm": name, "seed": seed,
         RATIO: accuracy(name, cf, seed)}
        for name in ("basic", "min_choice", "max_fan_out")
        for cf in (0.0, 0.5, 1.0)
        for seed in range(seeds)
    ]  # fmt: skip
    runs = pd.DataFrame(runs).astype({RATIO: float})
    return runs.assign(outcome=np.where(runs[RATIO].isna(), "budget used up", "found"))


def test_a_strategy_is_judged_on_its_own_seeds():
    """The seeds that Basic failed on are not taken from the others."""

    def accuracy(name, conflict, seed):
        return 0.5 - (0.1 + 0.01 * seed) * conflict

    def failing(name, conflict, seed):
        failed = name == "basic" and seed < 3 and conflict > 0
        return None if failed else accuracy(name, conflict, seed)

    all_found, some = (
        claims.conflicts_cost(figure_4c(runs), reading="reject, ratio")
        for runs in (accuracy, failing)
    )
    assert all_found.measured.split(", basic")[0] == some.measured.split(", basic")[0]
    assert all_found.interval.split("; basic")[0] == some.interval.split("; basic")[0]
    assert (all_found.spread, some.spread) == (
        "5 seeds",
        "max_fan_out 5 seeds, min_choice 5 seeds, basic 2 seeds",
    )


@pytest.mark.parametrize(
    ("gain", "noise", "verdict"),
    [
        (claims.GAIN_OVER_CHOICE, 0.001, REPRODUCED),
        (0.005, 0.001, DIRECTION),
        (0.005, 0.1, UNDECIDED),
        (-0.005, 0.001, NOT_REPRODUCED),
    ],
)
def test_a_gain_has_a_direction_however_small(gain, noise, verdict):
    def accuracy(name, conflict, seed):
        return 0.5 * (1 + (name == "max_fan_out") * (gain + noise * (seed - 2)))

    found = claims.fan_out_beats_choice(figure_4c(accuracy), reading="reject, ratio")
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("tried", "outcome", "verdict"),
    [
        (lambda n: np.exp(n), "found", REPRODUCED),
        (lambda n: np.exp(n), "budget used up", DIRECTION),
        (lambda n: n**3, "found", DIRECTION),
        (lambda n: n**0.5, "found", NOT_REPRODUCED),
        (lambda n: n**0.5, "budget used up", UNDECIDED),
    ],
)
def test_a_power_is_no_exponential(tried, outcome, verdict):
    runs = pd.DataFrame(
        {"over bound": "reject", "conflict rate": 0.2, "algorithm": "basic", "constraints": n,
         "seed": seed, "outcome": outcome, "candidates": tried(n) * (1 + 0.01 * seed * n)}
        for n in (4, 8, 12, 16, 20)
        for seed in range(5)
    )  # fmt: skip
    assert claims.basic_grows(runs, reading="reject").verdict == verdict
