"""Repeating an algorithm: groups made with a look at the secrets give some of them away."""

from itertools import permutations, product
from pathlib import Path

import numpy as np
import pandas as pd

import anonpaper as ap


def same_groups(labels, other):
    return len(set(zip(labels, other, strict=True))) == len(set(labels)) == len(set(other))


def tables_in_question(labels, secrets):
    """Yield every way to share the secrets of each group among its rows."""
    groups = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    for choice in product(*(sorted(set(permutations(secrets[rows]))) for rows in groups)):
        table = np.empty(len(labels), dtype=object)
        for rows, values in zip(groups, choice, strict=True):
            table[rows] = values
        yield table


def test_what_a_known_seed_of_klt_tells_and_one_that_nobody_knows():
    """SECURITY.md has the numbers: 40 tables of six rows, three secrets that two people have.

    The attacker repeats klt on every table that the groups allow. Knowing the seed she keeps
    those that give the same groups; else she weighs each by the share of 25 seeds with which
    it gives them.
    """
    certain, guessed, promised = np.zeros(2, int), np.zeros(2), 0.0
    for number in range(40):
        rng = np.random.default_rng(number)
        register = pd.DataFrame({"age": rng.integers(0, 6, 6), "place": rng.permutation(6)})
        secrets = rng.permutation(list("xxyyzz")).astype(object)

        def groups(table, seeds, register=register):
            m = ap.Microdata(register.assign(ill=table), ["age", "place"], "ill")
            return [ap.klt(m, k=2, l=2, theta=0.5, seed=seed).labels.tolist() for seed in seeds]

        [seen] = groups(secrets, [0])
        tables = list(tables_in_question(np.array(seen), secrets))
        fits = np.array([[same_groups(seen, found) for found in groups(table, range(25))]
                         for table in tables])  # fmt: skip
        has = np.array(tables)[:, :, None] == np.array(list("xyz"))
        for place, weight in enumerate([fits[:, 0], fits.mean(axis=1)]):
            belief = np.average(has, axis=0, weights=weight).max(axis=1)
            certain[place] += belief.max() > 1 - 1e-9
            guessed[place] += belief.mean() / 40
        promised += has.mean(axis=0).max(axis=1).mean() / 40
    said = (Path(__file__).parents[2] / "SECURITY.md").read_text()
    assert f"somebody was certain in {certain[0]} of 40 where the seed is known" in said
    assert f"and in {certain[1]} where it is not" in said
    means = f"was right {guessed[0]:.3f} and {guessed[1]:.3f} of the time, where {promised:.3f}"
    assert means in said, means
    assert certain[0] > certain[1] and guessed[0] > guessed[1] > promised
