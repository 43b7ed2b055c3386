"""The search with parts exchanged: without an exchange it is the search, with one only that."""

import dewri2009
import numpy as np
import pytest
from dewri2009_variants import better_neighbours, measured_run, varied_search

from anonpaper.recoders.evaluation import Evaluator, achievement

SETTING = {"k_pref": 5, "preference": [0.2, 1.0], "evaluations": 600, "seed": 3}


@pytest.fixture(scope="module")
def adult():
    return dewri2009.adult()


@pytest.fixture(scope="module")
def part(adult):
    return adult.with_roles(qi=["marital-status", "race", "sex", "salary-class"])


def test_without_an_exchange_it_is_the_search_of_the_paper(part):
    archive, _ = varied_search(part, **SETTING)
    r = dewri2009.search(part, **SETTING)
    assert archive.frame().equals(r.info["evaluated"])
    row = measured_run(part, **SETTING)
    for name in ("nwp", "necd", "effective_k", "ach", "prefdev"):
        assert row[name] == r.info[name]
    reported = dewri2009.reported_solution(part, **SETTING)
    assert row["better neighbours"] == reported["better neighbours"]


def test_better_neighbours_are_those_that_single_flips_give(part):
    evaluator, k, preference = Evaluator(part), 5, [0.2, 1.0]
    counts = []
    for bits in np.random.default_rng(0).random((20, evaluator.n_bits)) < 0.2:
        found = evaluator.evaluate(bits[None])
        ach = achievement(found.nwp, found.necd, tuple(preference))[0]
        better = 0
        for place in range(len(bits)):
            flipped = bits.copy()
            flipped[place] = not flipped[place]
            other = evaluator.evaluate(flipped[None])
            less = achievement(other.nwp, other.necd, tuple(preference))[0] < ach - 1e-12
            better += bool(less and other.smallest[0] >= k)
        assert better_neighbours(evaluator, bits, k, preference) == better
        counts.append(better)
    assert len(set(counts)) > 2


def test_a_start_without_feasible_solutions_is_one(adult):
    row = measured_run(adult, start="none feasible", **SETTING | {"evaluations": 100})
    assert not row["found"] and row["first k"] < SETTING["k_pref"]
    row = measured_run(adult, **SETTING | {"evaluations": 100})
    assert row["found"] and row["first k"] == adult.n  # full generalization
