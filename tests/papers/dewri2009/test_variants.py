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


@pytest.mark.parametrize("objectives", [1, 2])
def test_without_copies_all_chromosomes_of_the_population_differ(part, objectives):
    _, final = varied_search(part, **SETTING, objectives=objectives, copies=False)
    assert len(final) == 100
    _, with_copies = varied_search(part, **SETTING, objectives=objectives)
    assert len(with_copies) < 100


@pytest.mark.parametrize("copies", [True, False])
def test_one_objective_keeps_the_best_feasible_solution_ever_seen(part, copies):
    archive, final = varied_search(part, **SETTING, objectives=1, copies=copies)
    seen, last = archive.frame(), archive.frame(final)
    feasible = seen[seen["effective_k"] >= 5]
    assert last["ach"].min() == feasible["ach"].min() and (last["effective_k"] >= 5).all()


def test_an_infeasible_first_population_holds_nothing_feasible(adult):
    setting = SETTING | {"evaluations": 100}
    archive, _ = varied_search(adult, **setting, feasible_start=False)
    assert archive.values("effective_k").max() < 5
    assert not measured_run(adult, **setting, feasible_start=False)["found"]


def test_solutions_are_counted_as_tables(adult):
    """Bits between the five-year intervals from 90 to 100, which nobody has, change nothing."""
    setting = SETTING | {"k_pref": 2, "evaluations": 3000, "seed": 0}
    archive, final = varied_search(adult, **setting)
    frame = archive.frame(final)
    row = measured_run(adult, **setting)
    tables = frame[["nwp", "necd", "effective_k"]].drop_duplicates()
    assert row["unique"] == len(tables) < len(frame)
    assert 1 <= row["minima"] <= row["returned"] <= row["feasible"] <= row["unique"]
    assert row["better in both"] == 0
    assert 0 <= row["children alike, bit by bit"] < row["children alike"] <= 1
