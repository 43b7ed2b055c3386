"""The table, the search with parts exchanged, and what is best of all recodings."""

import dewri2009
import numpy as np
import pytest

import anonpaper as ap
from anonpaper.recoders.evaluation import Evaluator

SETTING = {"k_pref": 5, "preference": [0.2, 1.0], "evaluations": 600, "seed": 3}


@pytest.fixture(scope="module")
def part():
    return dewri2009.adult().with_roles(qi=["marital-status", "race", "sex", "salary-class"])


def test_without_an_exchange_it_is_the_search_of_the_paper(part):
    archive, _ = dewri2009.varied_search(part, **SETTING)
    r = ap.preference_search(part, 5, (0.2, 1.0), evaluations=600, seed=3)
    assert archive.frame().equals(r.info["evaluated"])
    row = dewri2009.measured_run(part, **SETTING)
    same = dewri2009.reported_solution(part, **SETTING)
    names = ["nwp", "necd", "effective_k", "ach", "prefdev", "better neighbours"]
    assert [row[name] for name in names] == [same[name] for name in names]
    losses = [value for name, value in same.items() if name.startswith("loss ")]
    assert np.mean(losses) == pytest.approx(ap.measure.nwp(ap.recode(part, r)))


def test_better_neighbours_are_those_that_single_flips_give(part):
    point, better = (0.2, 1.0), 0
    stars = ap.recode(part, ap.Recoding.decode(part.attributes, "0" * 12))
    for place in range(12):
        rel = ap.recode(part, ap.Recoding.decode(part.attributes, f"{1 << place:012b}"))
        less = ap.measure.ach(rel, point) < ap.measure.ach(stars, point)
        better += less and ap.measure.effective_k(rel) >= 5
    found = dewri2009.better_neighbours(Evaluator(part), np.zeros(12, bool), 5, point)
    assert 0 < better == found
