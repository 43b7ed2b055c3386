"""The judges of diva2021's claims, on tables whose verdicts are plain."""

import numpy as np
import pandas as pd
import pytest

from anonpaper.compendium import judge
from anonpaper.compendium.intervals import DIRECTION, NOT_REPRODUCED, REPRODUCED, UNDECIDED

CLAIMS = {claim.id: claim for claim in judge.of_paper("diva2021")}
RATIO = "accuracy (ratio)"
GAIN_OVER_CHOICE = 1.17 / 1.09 - 1  # of MaxFanOut, Section 4.1


def found(id, reading, *tables):
    """Return what a claim finds under one reading."""
    claim = CLAIMS[id]
    return claim.found(*tables)[list(claim.readings).index(reading)]


def figure_4c(accuracy, seeds=5):
    """Return runs whose accuracy is given by strategy, conflict rate and seed; None: no table."""
    runs = [
        {"over bound": rule, "conflict rate": cf, "algorithm": name, "seed": seed,
         RATIO: accuracy(name, cf, seed)}
        for rule in ("reject", "star")
        for name in ("basic", "min_choice", "max_fan_out")
        for cf in (0.0, 0.5, 1.0)
        for seed in range(seeds)
    ]  # fmt: skip
    runs = pd.DataFrame(runs).astype({RATIO: float})
    others = ["discernibility per row", "accuracy (log)", "accuracy (range)", "accuracy (stars)"]
    runs[others] = 0.5
    return runs.assign(outcome=np.where(runs[RATIO].isna(), "budget used up", "found"))


def test_a_strategy_is_judged_on_its_own_seeds():
    """The seeds that Basic failed on are not taken from the others."""

    def accuracy(name, conflict, seed):
        return 0.5 - (0.1 + 0.01 * seed) * conflict

    def failing(name, conflict, seed):
        failed = name == "basic" and seed < 3 and conflict > 0
        return None if failed else accuracy(name, conflict, seed)

    everything, some = (
        found("conflict-costs", "reject; ratio", figure_4c(runs)) for runs in (accuracy, failing)
    )
    assert everything.measured.split(", basic")[0] == some.measured.split(", basic")[0]
    assert everything.interval.split("; basic")[0] == some.interval.split("; basic")[0]
    assert (everything.spread, some.spread) == ("5 seeds", "2 to 5 seeds")
    assert "basic on 6 of 15 sets" in some.detail


@pytest.mark.parametrize(
    ("gain", "noise", "verdict"),
    [
        (GAIN_OVER_CHOICE, 0.001, REPRODUCED),
        (0.005, 0.001, DIRECTION),
        (0.005, 0.1, UNDECIDED),
        (-0.005, 0.001, NOT_REPRODUCED),
    ],
)
def test_a_gain_has_a_direction_however_small(gain, noise, verdict):
    def accuracy(name, conflict, seed):
        return 0.5 * (1 + (name == "max_fan_out") * (gain + noise * (seed - 2)))

    runs = figure_4c(accuracy)
    assert found("fan-out-beats-choice", "reject; ratio", runs).verdict == verdict


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
        {"over bound": rule, "conflict rate": 0.2, "algorithm": "basic", "constraints": n,
         "seed": seed, "outcome": outcome, "candidates": tried(n) * (1 + 0.01 * seed * n)}
        for rule in ("reject", "star")
        for n in (4, 8, 12, 16, 20)
        for seed in range(5)
    )  # fmt: skip
    assert found("basic-grows", "reject", runs).verdict == verdict
