"""Tables of invented people: a population with known distributions, and a voter list.

Pop-Syn is the synthetic population of diva2021 (Table 4, Figure 4d). The paper prints only its
size: 100,000 rows, 7 attributes, 24,630 distinct quasi-identifiers. All else here is ours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anonpaper.errors import ColumnError, check_choice, check_integer, check_number
from anonpaper.microdata import Microdata
from anonpaper.randomness import generator

#: Six quasi-identifiers and, last, the sensitive attribute, with the number of their values.
ATTRIBUTES = {
    "gender": 2, "ethnicity": 5, "age group": 9, "province": 10, "education": 6,
    "marital status": 5, "diagnosis": 12,
}  # fmt: skip


def population(distribution: str = "uniform", rows: int = 100_000, seed: int = 0) -> Microdata:
    """Draw a population whose :data:`ATTRIBUTES` are independent and equally distributed.

    Values i = 1..s have probabilities that are equal ("uniform"), proportional to 1/i ("zipf"), or
    to a normal density with mean (s + 1)/2 and standard deviation s/4 ("gaussian").

    >>> m = population("zipf", rows=1000)
    >>> m.n, m.d, m.sensitive, str(m.origin)
    (1000, 6, 'diagnosis', 'Pop-Syn, zipf, seed 0: generated')
    """
    check_choice("distribution", distribution, ("uniform", "zipf", "gaussian"))
    rows, rng, columns = check_integer("rows", rows, 1), generator(seed), {}
    for name, size in ATTRIBUTES.items():
        place = np.arange(1, size + 1)
        normal = np.exp(-(((place - (size + 1) / 2) / (size / 4)) ** 2) / 2)
        weight = {"uniform": np.ones(size), "zipf": 1 / place, "gaussian": normal}[distribution]
        codes = rng.choice(size, rows, p=weight / weight.sum())
        columns[name] = pd.Categorical.from_codes(codes, [f"{name} {number}" for number in place])
    *qi, sensitive = ATTRIBUTES
    origin = f"Pop-Syn, {distribution}, seed {seed}: generated"
    return Microdata(pd.DataFrame(columns), qi, sensitive, origin=origin)


def voter_list(
    people: pd.DataFrame,
    columns: Sequence,
    *,
    share: float = 1.0,
    outdated: float = 0.0,
    seed: int | np.random.Generator = 0,
) -> pd.DataFrame:
    """Return a list of some of the people by invented names, with some of their columns. O(n).

    It has a column ``name``, "voter 00001" and so on in random order, and `columns`, at least one.
    Its index is the index of `people`: the truth, which the attacker does not see. A `share` of
    the people, in (0, 1], is on the list. A share of these, `outdated`, in [0, 1], has a random
    entry's value in one column.

    >>> people = pd.DataFrame({"age": [71, 28, 34], "ill": ["flu", "flu", "cold"]})
    >>> voter_list(people, ["age"], share=0.7, seed=1)
              name  age
    0  voter 00001   71
    1  voter 00002   28
    """
    columns, known = list(columns), set(people.columns) - {"name"}
    if not columns or not known.issuperset(columns):
        raise ColumnError(f"columns are {columns}: choose some of {sorted(known, key=str)}")
    share = check_number("share", share, 0, 1, open_low=True)
    outdated = check_number("outdated", outdated, 0, 1)
    rng = generator(seed)
    size = max(1, round(share * len(people)))
    voters = people[columns].iloc[rng.permutation(len(people))[:size]].copy()
    column = rng.integers(len(columns), size=size)
    column[rng.random(size) >= outdated] = -1  # an entry that is up to date
    for place, name in enumerate(columns):
        drawn = voters[name].iloc[rng.integers(size, size=size)].set_axis(voters.index)
        voters[name] = voters[name].where(column != place, drawn)
    voters.insert(0, "name", [f"voter {number:05d}" for number in range(1, size + 1)])
    return voters
