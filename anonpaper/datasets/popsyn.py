"""Pop-Syn: a synthetic population with known distributions (diva2021, Table 4, Figure 4d).

The paper made its population with a tool and prints only the size: 100,000 rows, 7 attributes,
24,630 distinct quasi-identifiers. The attributes, domains and distributions here are ours.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from anonpaper.errors import check_choice, check_integer
from anonpaper.microdata import Microdata
from anonpaper.randomness import generator

__all__ = ["population"]

#: Six quasi-identifiers and, last, the sensitive attribute, with the number of their values.
ATTRIBUTES = {
    "gender": 2,
    "ethnicity": 5,
    "age group": 9,
    "province": 10,
    "education": 6,
    "marital status": 5,
    "diagnosis": 12,
}


def population(
    distribution: str = "uniform", rows: int = 100_000, seed: int | np.random.Generator = 0
) -> Microdata:
    """Draw a population whose attributes are independent and equally distributed.

    Parameters
    ----------
    distribution : {"uniform", "zipf", "gaussian"}
        Probabilities of an attribute's values i = 1..s: equal; proportional to 1/i; or
        proportional to the density of a normal distribution with mean (s + 1)/2 and standard
        deviation s/4.
    rows : int
        At least 1.
    seed : int or numpy.random.Generator

    Returns
    -------
    Microdata
        Quasi-identifiers gender, ethnicity, age group, province, education and marital status,
        sensitive attribute diagnosis; the values of each are named by their number.

    Raises
    ------
    ParameterError
        The distribution is unknown, or `rows` below 1.

    Examples
    --------
    >>> m = population("zipf", rows=1000)
    >>> m.n, m.d, m.sensitive, str(m.origin)
    (1000, 6, 'diagnosis', 'Pop-Syn, zipf, seed 0: generated')
    """
    check_choice("distribution", distribution, ("uniform", "zipf", "gaussian"))
    rows = check_integer("rows", rows, 1)
    rng = generator(seed)
    columns = {}
    for name, size in ATTRIBUTES.items():
        values = [f"{name} {number}" for number in range(1, size + 1)]
        codes = rng.choice(size, rows, p=_probabilities(distribution, size))
        columns[name] = pd.Categorical.from_codes(codes, values)
    *qi, sensitive = ATTRIBUTES
    drawn = "seed from a generator" if isinstance(seed, np.random.Generator) else f"seed {seed}"
    origin = f"Pop-Syn, {distribution}, {drawn}: generated"
    return Microdata(pd.DataFrame(columns), qi, sensitive, origin=origin)


def _probabilities(distribution: str, size: int) -> np.ndarray:
    place = np.arange(1, size + 1)
    weight = {
        "uniform": np.ones(size),
        "zipf": 1 / place,
        "gaussian": np.exp(-(((place - (size + 1) / 2) / (size / 4)) ** 2) / 2),
    }[distribution]
    return weight / weight.sum()
