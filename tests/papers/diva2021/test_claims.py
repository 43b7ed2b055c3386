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
    """Return runs whose accuracy is given by strategy, conflict rate and seed; 0: no table."""
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
    return runs.assign(outcome=np.where(runs[RATIO] == 0, "budget used up", "found"))


def test_a_failure_counts():
    """Accuracy rises on the sets that have a table, and falls over all sets."""

    def accuracy(name, conflict, seed):
        return 0.5 + (0.1 + 0.01 * seed) * conflict

    def failing(name, conflict, seed):
        return 0 if conflict == 1 and seed < 4 else accuracy(name, conflict, seed)

    everything, some = (
        found("conflict-costs", "every strategy; reject; ratio", figure_4c(runs))
        for runs in (accuracy, failing)
    )
    assert (everything.verdict, everything.spread) == (NOT_REPRODUCED, "5 seeds")
    change = "change of accuracy (ratio) from conflict rate = 0 to 1: MaxFanOut: -"
    assert some.measured.startswith(change)
    assert "Basic on 4 of 15 sets" in some.detail and some.spread == "5 seeds"


def figure_5c(lead):
    """Return runs of DIVA that lead by a number of points by seed, those of all baselines."""
    runs = [
        {"over bound": rule, "|R|": rows, "algorithm": name, "seed": seed, "outcome": "found",
         "accuracy (stars)": 0.5 + (rule != "none") * lead(seed)}
        for names, rules in (
            (("min_choice", "max_fan_out"), ("reject", "star")),
            (("k_member", "oka", "mondrian"), ("none",)),
        )
        for name in names
        for rule in rules
        for rows in (1000, 2000)
        for seed in range(10)
    ]  # fmt: skip
    others = ["discernibility per row", "accuracy (ratio)", "accuracy (log)", "accuracy (range)"]
    return pd.DataFrame(runs).assign(**dict.fromkeys(others, 0.5), satisfied=1.0)


@pytest.mark.parametrize(
    ("lead", "verdict"),
    [
        (lambda seed: 1e-6, REPRODUCED),
        (lambda seed: -1e-6, NOT_REPRODUCED),
        (lambda seed: -0.5 if seed else 0.4, NOT_REPRODUCED),
        (lambda seed: 0.1 if seed % 2 else -0.1, UNDECIDED),
    ],
)
def test_who_is_more_accurate_is_counted_by_sets(lead, verdict):
    runs = figure_5c(lead)
    assert found("diva-is-more-accurate", "reject; stars", runs, runs).verdict == verdict


@pytest.mark.parametrize(
    ("gain", "noise", "verdict"),
    [
        (GAIN_OVER_CHOICE, 0.001, REPRODUCED),
        (0.005, 0.001, DIRECTION),
        (0.005, 0.1, UNDECIDED),
        (0.0, 0.001, NOT_REPRODUCED),  # not surely ahead, and surely by less than 1 %
        (-0.005, 0.001, NOT_REPRODUCED),
    ],
)
def test_a_gain_has_a_direction_however_small(gain, noise, verdict):
    def accuracy(name, conflict, seed):
        return 0.5 * (1 + (name == "max_fan_out") * (gain + noise * (seed - 2)))

    runs = figure_4c(accuracy)
    assert found("fan-out-beats-choice", "reject; ratio", runs).verdict == verdict


@pytest.mark.parametrize(
    ("equal", "verdict"), [(5, REPRODUCED), (4, DIRECTION), (3, NOT_REPRODUCED)]
)
def test_versions_suppress_equally_many_values_on_sets_and_not_on_tables(equal, verdict):
    """The best table of a set equals itself, which says nothing."""
    runs = [
        {"over bound": "reject", "outcome": "found", "conflict rate": 0.0, "seed": seed,
         "accuracy (stars)": 0.5 + (seed >= equal) * (name == "basic") * 0.1}
        for seed in range(5)
        for name in ("basic", "min_choice", "max_fan_out")
    ]  # fmt: skip
    assert found("minimal-suppression", "reject", pd.DataFrame(runs)).verdict == verdict


@pytest.mark.parametrize(
    ("power", "constant", "line", "proportion", "at_most"),
    [
        (1.0, 0.0, REPRODUCED, REPRODUCED, REPRODUCED),
        (1.0, 20.0, REPRODUCED, NOT_REPRODUCED, REPRODUCED),
        (-1.0, 0.0, NOT_REPRODUCED, NOT_REPRODUCED, REPRODUCED),
        (5.0, 0.0, DIRECTION, NOT_REPRODUCED, NOT_REPRODUCED),
    ],
)
def test_a_line_has_a_constant_part_and_proportion_has_none(
    power, constant, line, proportion, at_most
):
    runs = pd.DataFrame([
        {"over bound": rule, "algorithm": name, "constraints": n, "seed": seed,
         "outcome": "found", "seconds": (1 + seed / 10) * (constant + n ** (power + seed / 1000))}
        for rule in ("reject", "star")
            for name in ("min_choice", "max_fan_out")
        for n in (4, 8, 12, 16, 20)
        for seed in range(5)
    ])  # fmt: skip
    tables = [runs] * len(CLAIMS["selection-is-linear"].tables)
    growth = ["a straight line", "in proportion", "at most linear"]
    for reading, verdict in zip(growth, [line, proportion, at_most], strict=True):
        reading = f"{reading}; whole run; reject"
        assert found("selection-is-linear", reading, *tables).verdict == verdict


@pytest.mark.parametrize(
    ("tried", "budget", "verdict"),
    [
        (lambda n: np.exp(n), np.inf, REPRODUCED),
        (lambda n: np.exp(n), np.exp(14), REPRODUCED),  # most searches of 16 and 20 are cut off
        (lambda n: n**3, np.inf, DIRECTION),
        (lambda n: n**3, 3_000, DIRECTION),
        (lambda n: n**0.5, np.inf, NOT_REPRODUCED),
        (lambda n: np.exp(n), 1, UNDECIDED),
    ],
)
def test_a_power_is_no_exponential_whether_searches_are_cut_off_or_not(tried, budget, verdict):
    rng, runs = np.random.default_rng(0), []
    for seed in range(10):
        for n in (4, 8, 12, 16, 20):
            asked = tried(n) * np.exp(rng.normal(0, 0.3) + seed / 5)
            outcome = "found" if asked < budget else "budget used up"
            run = {"conflict rate": 0.2, "algorithm": "basic", "constraints": n, "seed": seed}
            run |= {"outcome": outcome, "candidates": min(asked, budget)}
            runs += [run | {"over bound": rule} for rule in ("reject", "star")]
    assert found("basic-grows", "reject", pd.DataFrame(runs)).verdict == verdict


@pytest.mark.parametrize("id", ["found-with-equal-bounds", "found-for-many-constraints"])
def test_the_sets_of_a_seed_count_together(id):
    """Sets of one seed are nested: more of them tell no more about other seeds."""
    sets = pd.DataFrame({"seed": range(6), "outcome": ["found"] * 5 + ["budget used up"]})
    sets = sets.assign(**{"over bound": "reject", "algorithm": "min_choice", "data": "pantheon",
                          "slack": 0.0, "share": 0.5, "axis": "constraints",
                          "constraints": 4})  # fmt: skip
    sets = pd.concat([sets, sets.assign(**{"over bound": "star"})])
    once, often = (found(id, "reject", table) for table in (sets, pd.concat([sets] * 50)))
    assert once.verdict == often.verdict == UNDECIDED
    assert once.interval == often.interval


def test_each_table_has_the_size_of_its_own_published_list():
    sets = pd.DataFrame({"seed": range(20), "over bound": "reject", "algorithm": "min_choice",
                         "slack": 0.0})  # fmt: skip
    sets = pd.concat([
        sets.assign(data=data, share=share, outcome="found" if right else "no table")
        for data, of_list in (("narrow", 0.9586), ("pantheon", 0.5))
        for share in (0.5, 0.9586)
        for right in [share == of_list]
    ])  # fmt: skip
    sets = pd.concat([sets, sets.assign(**{"over bound": "star"})])
    assert found("found-with-equal-bounds", "reject", sets).measured.startswith("40 of 40")
