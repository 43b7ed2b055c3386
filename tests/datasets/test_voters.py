"""The made voter list: whose entry is whose, what is out of date, what is refused."""

import pandas as pd
import pytest

from anonpaper.datasets import voter_list
from anonpaper.errors import ColumnError, ParameterError
from anonpaper.randomness import generator


@pytest.fixture
def people():
    rng = generator(3)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, 500),
            "town": pd.Categorical(
                rng.choice(["north", "south"], 500), ["south", "north", "west"]
            ),
            "secret": rng.integers(0, 9, 500),
        },
        index=[f"p{i}" for i in range(500)],
    )


def test_an_entry_says_what_the_table_says_of_its_person(people):
    voters = voter_list(people, ["town", "age"], share=0.4, seed=1)
    assert list(voters) == ["name", "town", "age"]
    assert len(voters) == 200
    assert voters.index.is_unique
    said = voters[["town", "age"]]
    pd.testing.assert_frame_equal(said, people.loc[voters.index, ["town", "age"]])


def test_an_outdated_entry_differs_in_one_column_at_most(people):
    voters = voter_list(people, ["age", "secret"], outdated=0.5, seed=1)
    differs = voters[["age", "secret"]] != people.loc[voters.index, ["age", "secret"]]
    assert differs.sum(axis=1).max() == 1
    assert 0.35 < differs.any(axis=1).mean() < 0.5  # some draws hit the same value
    every = voter_list(people, ["age", "secret"], outdated=1, seed=1)
    assert (every[["age", "secret"]] != people.loc[every.index, ["age", "secret"]]).any(
        axis=1
    ).mean() > 0.85


@pytest.mark.parametrize("columns", [["height"], ["name"]])
def test_a_column_that_cannot_be_is_named(people, columns):
    with pytest.raises(ColumnError, match="columns are"):
        voter_list(people.assign(name="x"), columns)


@pytest.mark.parametrize(
    "wrong", [dict(columns=[]), dict(share=0), dict(share=1.1), dict(outdated=-0.1)]
)
def test_shares_and_columns_are_checked(people, wrong):
    with pytest.raises(ParameterError):
        voter_list(people, **{"columns": ["age"], **wrong})
