"""A voter list for teaching: L. Sweeney linked one with hospital records that had no names.

A list of real people has no place in a lesson, so this list is made from the attacked table:
nobody in it has a name (*k-anonymity: a model for protecting privacy*, 2002).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anonpaper.errors import ColumnError, ParameterError, check_number
from anonpaper.randomness import generator

__all__ = ["voter_list"]


def voter_list(
    people: pd.DataFrame,
    columns: Sequence,
    *,
    share: float = 1.0,
    outdated: float = 0.0,
    seed: int | np.random.Generator = 0,
) -> pd.DataFrame:
    """Return a list of some of the people by invented names, with some of their columns.

    Parameters
    ----------
    people : pandas.DataFrame
        One row per person.
    columns : sequence of column labels
        The columns of the list, at least one.
    share : float
        Share of the people who are on the list, drawn at random; in (0, 1], at least one person.
    outdated : float
        Share of the entries in which one column, drawn at random, has the value of an entry drawn
        at random (which may be the same value); in [0, 1].
    seed : int or numpy.random.Generator
        Seed of all draws.

    Returns
    -------
    pandas.DataFrame
        Column ``name``, "voter 00001" and so on in random order, and `columns`. The index is that
        of `people`: the truth, by which an attack is judged, hidden from the attacker. O(n).

    Raises
    ------
    ColumnError
        A column is unknown, or one is called ``name``.
    ParameterError
        `columns` or `people` is empty, or a share is out of range.

    Examples
    --------
    >>> people = pd.DataFrame({"age": [71, 28, 34], "ill": ["flu", "flu", "cold"]})
    >>> voter_list(people, ["age"], share=0.7, seed=1)
              name  age
    0  voter 00001   71
    1  voter 00002   28
    """
    columns = list(columns)
    unknown = [name for name in columns if name not in people.columns]
    if unknown or "name" in columns:
        raise ColumnError(
            f"columns are {columns}: a voter list can say what the table has, which is "
            f"{list(people.columns)}, and has a column 'name' of its own"
        )
    if not columns or people.empty:
        raise ParameterError("a voter list needs people and at least one of their columns")
    share = check_number("share", share, 0, 1, open_low=True)
    outdated = check_number("outdated", outdated, 0, 1)
    rng = generator(seed)
    size = max(1, round(share * len(people)))
    on_list = rng.permutation(len(people))[:size]
    voters = people[columns].iloc[on_list].copy()
    column = rng.integers(len(columns), size=size)
    column[rng.random(size) >= outdated] = -1  # an entry that is up to date
    for place, name in enumerate(columns):
        drawn = voters[name].iloc[rng.integers(size, size=size)].set_axis(voters.index)
        voters[name] = voters[name].where(column != place, drawn)
    voters.insert(0, "name", [f"voter {number:05d}" for number in range(1, size + 1)])
    return voters
