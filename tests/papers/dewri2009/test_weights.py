"""What weights do, held against definitions and measures."""

import dewri2009
import numpy as np
import pytest
from dewri2009_weights import effects_of_joins, losses, optimum_of, random_weights

import anonpaper as ap
from anonpaper.measure import nwp

NAMES = ["marital-status", "sex"]


@pytest.fixture(scope="module")
def adult():
    return dewri2009.adult()


def test_weighted_losses_are_the_loss_of_the_release(adult):
    rng = np.random.default_rng(0)
    for weights in random_weights(adult.d, 5, seed=0):
        r = ap.Recoding.decode(adult.attributes, rng.random(105) < 0.2)
        named = dict(zip(adult.qi, weights, strict=True))
        expected = nwp(ap.recode(adult, r), named)
        assert np.dot(weights, list(losses(adult, r).values())) == pytest.approx(expected)


@pytest.mark.parametrize("weights", [None, [0.9, 0.1], [0.0, 1.0]])
def test_joins_by_brute_force(adult, weights):
    part = adult.with_roles(qi=NAMES)
    named = None if weights is None else dict(zip(NAMES, weights, strict=True))
    seen = ap.exhaustive(part, 1, (0.2, 1.0), named).info["evaluated"].set_index("bits")
    joins = loss = bias = pairs = less = higher = lower = 0
    for bits, row in seen.iterrows():
        for place, bit in enumerate(bits):
            if bit == "1":
                after = seen.loc[bits[:place] + "0" + bits[place + 1 :]]
                joins += 1
                loss += after["nwp"] < row["nwp"] - 1e-12
                bias += after["necd"] < row["necd"] - 1e-12
        more = seen[seen.index.str.count("1") < bits.count("1")]
        pairs += len(more)
        less += (more["nwp"] < row["nwp"] - 1e-12).sum()
        higher += (more["effective_k"] > row["effective_k"]).sum()
        lower += (more["effective_k"] < row["effective_k"]).sum()
    found = effects_of_joins(adult, NAMES, weights)
    assert found["joins"] == joins and found["loss falls"] == loss == 0
    assert found["k falls"] == 0 and found["bias falls"] == bias
    assert (found["pairs"], found["more joined, less loss"]) == (pairs, less)
    assert (found["more joined, higher k"], found["more joined, lower k"]) == (higher, lower)
    assert higher > lower


def test_the_optimum_is_the_exhaustive_one(adult):
    for weights in (None, *random_weights(2, 3, seed=0)):
        named = None if weights is None else dict(zip(NAMES, weights, strict=True))
        best = ap.exhaustive(adult.with_roles(qi=NAMES), 5, (0.2, 0.1), named)
        found = optimum_of(adult, NAMES, 5, [0.2, 0.1], weights)
        assert found["ach"] == pytest.approx(best.info["ach"], abs=1e-12)
        assert found["effective_k"] == best.info["effective_k"]
