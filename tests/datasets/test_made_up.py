"""Made-up people: distributions and seeds of Pop-Syn; whose entry of the voter list is whose."""

import numpy as np
import pandas as pd
import pytest

from anonpaper.datasets import population, voter_list


@pytest.mark.parametrize("distribution", ["uniform", "zipf", "gaussian"])
def test_the_population_has_the_distribution_asked_for(distribution):
    m = population(distribution)
    assert (m.n, m.d, m.frame.shape[1]) == (100_000, 6, 7)
    share = np.bincount(m.codes[:, m.attribute_index("ethnicity")]) / m.n
    place = np.arange(1, 6)
    weight = {"uniform": np.ones(5), "zipf": 1 / place,
              "gaussian": np.exp(-((place - 3) ** 2) / (2 * 1.25**2))}[distribution]  # fmt: skip
    assert share == pytest.approx(weight / weight.sum(), abs=0.006)
    assert m.frame.equals(population(distribution).frame)
    assert not m.frame.equals(population(distribution, seed=1).frame)


RNG = np.random.default_rng(3)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, 500),
        "town": pd.Categorical(RNG.choice(["north", "south"], 500), ["south", "north", "west"]),
        "secret": RNG.integers(0, 9, 500),
    },
    index=[f"p{i}" for i in range(500)],
)


def test_an_entry_says_what_the_table_says_of_its_person():
    voters = voter_list(PEOPLE, ["town", "age"], share=0.4, seed=1)
    assert list(voters) == ["name", "town", "age"]
    assert len(voters) == 200 and voters.index.is_unique
    said = voters[["town", "age"]]
    pd.testing.assert_frame_equal(said, PEOPLE.loc[voters.index, ["town", "age"]])


@pytest.mark.parametrize(("outdated", "least", "most"), [(0.5, 0.35, 0.5), (1, 0.85, 1)])
def test_an_outdated_entry_differs_in_one_column_at_most(outdated, least, most):
    voters = voter_list(PEOPLE, ["age", "secret"], outdated=outdated, seed=1)
    differs = voters[["age", "secret"]] != PEOPLE.loc[voters.index, ["age", "secret"]]
    assert differs.sum(axis=1).max() == 1
    assert least < differs.any(axis=1).mean() < most  # some draws hit the same value
