"""minimality against brute force: the real algorithms, run on every table that people may have."""

import contextlib
from collections import Counter
from functools import partial
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.errors import ColumnError, InfeasibleError, ParameterError, SizeLimitError
from anonpaper.measure import minimality

ILLS = ["asthma", "flu", "gout", "ulcer"]

ALGORITHMS = {
    "tp": partial(ap.tp, l=2),
    "tp_plus": partial(ap.tp_plus, l=2),
    "mondrian": partial(ap.mondrian, k=2, l=2),
    "mondrian, distinct": partial(ap.mondrian, k=2, l=2, diversity="distinct"),
    "full_domain": partial(ap.full_domain, k=2, l=2),
    "full_domain, frequency": partial(ap.full_domain, k=1, l=2, diversity="frequency"),
}


def table(frame, ills=None):
    if ills is not None:
        frame = frame.assign(ill=pd.Categorical(ills, frame["ill"].cat.categories))
    return ap.Microdata(frame, ["town", "age"], "ill")


def release(m, algorithm, form=None):
    result = algorithm(m)
    return (form or (ap.recode if isinstance(result, ap.Recoding) else ap.generalize))(m, result)


def brute_force(frame, algorithm, form, path):
    """The greatest share of a value in all tables of which the written file is the same."""
    release(table(frame), algorithm, form).write(path)
    seen = sorted(pd.read_csv(path, dtype=str, keep_default_na=False).agg("|".join, axis=1))
    votes = [Counter() for _ in seen]
    for ills in set(permutations(frame["ill"])):
        rows = release(table(frame, ills), algorithm, form).public_frame().astype(str)
        if sorted(rows.agg("|".join, axis=1)) == seen:
            for vote, ill in zip(votes, ills, strict=True):
                vote[ill] += 1
    return np.array([max(vote.values()) / vote.total() for vote in votes])


def feasible(draws, algorithm, n, towns=2, ages=3, ills=3):
    """Draw tables until the algorithm has a release of one."""
    while True:
        town, age = draws.integers(0, towns, n).astype(str), draws.integers(0, ages, n)
        ill = pd.Categorical.from_codes(draws.integers(0, ills, n), ILLS[:ills])
        frame = pd.DataFrame({"town": town, "age": age, "ill": ill})
        with contextlib.suppress(InfeasibleError):
            algorithm(table(frame))
            return frame


@pytest.mark.filterwarnings("ignore:minimality attack")
@pytest.mark.parametrize("form", [None, ap.suppress])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_posterior_is_that_of_all_tables_with_this_file(name, form, tmp_path):
    draws, algorithm = np.random.default_rng(19), ALGORITHMS[name]
    for n in (5, 6, 7) if form is None or not name.startswith("full_domain") else ():
        frame = feasible(draws, algorithm, n, ages=draws.integers(1, 4))
        found = minimality(release(table(frame), algorithm, form), most=10_000)
        assert found["exact"].all()
        by_hand = brute_force(frame, algorithm, form, tmp_path / "out.csv")
        np.testing.assert_allclose(found["concluded"], by_hand)


@pytest.mark.parametrize("name", ["tp", "tp_plus"])
def test_bound_after_tp_holds_for_everybody(name):
    draws, algorithm = np.random.default_rng(4), ALGORITHMS[name]
    certain = open_ones = 0
    while certain < 3 or open_ones < 3:
        frame = feasible(draws, algorithm, 12, ages=1, towns=4, ills=4)
        rel = release(table(frame), algorithm, ap.suppress)
        found, bound = minimality(rel, most=60), minimality(rel, most=1)
        if not found["exact"].all():
            continue
        low, high = bound["concluded"].to_numpy(), found["concluded"].to_numpy()
        assert (low <= high + 1e-12).all()
        np.testing.assert_allclose(low[bound["exact"]], high[bound["exact"]])
        certain += (bound["exact"] & (high > found["promised"])).sum()
        open_ones += (~bound["exact"]).sum()


def test_what_cannot_be_repeated_is_refused():
    m, cut = ap.examples.hospital(), ap.mondrian(ap.examples.hospital(), 2, 2)
    p, other, nobody = ap.tp(m, l=2), ap.Partition([0] * 10), m.with_roles(sensitive=None)
    other.call = "ap.tp(m, l=2)"
    withheld = ap.Partition(np.where(p.labels == 2, -1, p.labels))
    for error, says, *releases in [
        (ParameterError, "cannot be run again", ap.suppress(m, ap.hilbert(m, l=2)), ap.swap(m, p),
         ap.suppress(m, ap.oka(m, 2)), ap.anatomize(m, cut)),
        (ParameterError, "4 rows are withheld", ap.suppress(m, withheld)),
        (ParameterError, "another release", ap.suppress(m, other)),
        (ColumnError, "sensitive", ap.generalize(nobody, ap.mondrian(nobody, k=2))),
        (SizeLimitError, "allows more than 1 tables", ap.generalize(m, cut)),
    ]:  # fmt: skip
        for rel in releases:
            with pytest.raises(error, match=says):
                minimality(rel, most=1)


def test_what_a_known_seed_of_klt_tells_and_one_that_nobody_knows():
    """SECURITY.md has the numbers: 40 tables of six rows, three secrets that two people have.

    The attacker repeats klt on every table that the groups allow. Knowing the seed she keeps
    those that give the same groups; else she weighs each by the share of 25 seeds with which
    it gives them.
    """
    certain, guessed = np.zeros(3, int), np.zeros(3)  # the third believes in the groups alone
    every = np.array(sorted(set(permutations("xxyyzz"))), dtype=object)
    for number in range(40):
        rng = np.random.default_rng(number)
        register = pd.DataFrame({"age": rng.integers(0, 6, 6), "place": rng.permutation(6)})
        secrets = rng.permutation(list("xxyyzz")).astype(object)

        def alike(secrets, seed, register=register):
            m = ap.Microdata(register.assign(ill=secrets), ["age", "place"], "ill")
            labels = ap.klt(m, k=2, l=2, theta=0.5, seed=seed).labels
            return labels[:, None] == labels

        seen = alike(secrets, 0)
        tables = [t for t in every if all(sorted(t[r]) == sorted(secrets[r]) for r in seen)]
        fits = np.array([[(alike(t, seed) == seen).all() for seed in range(25)] for t in tables])
        has = np.array(tables)[:, :, None] == np.array(list("xyz"))
        for place, weight in enumerate([fits[:, 0], fits.mean(axis=1), None]):
            belief = np.average(has, axis=0, weights=weight).max(axis=1)
            certain[place] += belief.max() > 1 - 1e-9
            guessed[place] += belief.mean() / 40
    said = (Path(__file__).parents[2] / "SECURITY.md").read_text()
    assert f"somebody was certain in {certain[0]} of 40 where the seed is known" in said
    assert f"and in {certain[1]} where it is not" in said
    means = "was right {:.3f} and {:.3f} of the time, where {:.3f}".format(*guessed)
    assert means in said, means
