"""Hill climbing with restarts: a simple competitor of ours for the search of dewri2009.

Every climb starts at full generalization, which is k-anonymous for every k up to n. It passes
over the bits in random order and keeps each flip that lowers ach and leaves the table k-anonymous,
until a whole pass keeps none.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anonpaper.algorithm import RECODED, algorithm
from anonpaper.errors import check_integer
from anonpaper.microdata import Microdata
from anonpaper.principles import KAnonymity
from anonpaper.randomness import generator
from anonpaper.recoders.archive import Archive
from anonpaper.recoding import Recoding

__all__ = ["hill_climbing"]


@algorithm(
    "k-anonymity with a stated preference of loss and bias, by flipping single bits",
    promises={"k": KAnonymity},
    publications=RECODED,
    by_bits=True,
)
def hill_climbing(
    m: Microdata,
    k: int = 5,
    preference: tuple[float, float] = (0.2, 1.0),
    weights: Mapping[object, float] | None = None,
    evaluations: int = 50_000,
    seed: int | np.random.Generator = 0,
) -> Recoding:
    """Guarantee k-anonymity; seek a low ach by flipping single bits.

    The result is a local optimum at best and may be far from the least ach.

    Parameters
    ----------
    m, k, preference, weights, seed
        As for :func:`~anonpaper.recoders.preference_search.preference_search`.
    evaluations : int
        Recodings to look at, repetitions included, at least 1.

    Returns
    -------
    Recoding
        ``info`` holds the values of the recoding, ``evaluations``, ``climbs`` begun, and
        ``evaluated``, as after a search.

    Raises
    ------
    ParameterError
        A parameter is out of its range.

    References
    ----------
    A baseline for dewri2009, section 5: the same encoding without a population. An evaluation
    takes O(c·d) for c distinct QI tuples.

    Examples
    --------
    >>> import anonpaper as ap
    >>> hill_climbing(ap.examples.hospital(), k=2, evaluations=100).info["effective_k"]
    2
    """
    archive = Archive(m, k, preference, weights)
    evaluations = check_integer("evaluations", evaluations, 1)
    rng = generator(seed)
    n_bits = archive.evaluator.n_bits
    climbs = 0
    while archive.evaluations < evaluations:
        climbs += 1
        here = np.zeros(n_bits, dtype=bool)
        ach = archive.feasible_ach(here)
        improved = n_bits > 0
        while improved:
            improved = False
            for bit in rng.permutation(n_bits):
                if archive.evaluations >= evaluations:
                    break
                here[bit] ^= True
                there = archive.feasible_ach(here)
                if there < ach:
                    ach, improved = there, True
                else:
                    here[bit] ^= True
    solutions = archive.frame()
    return archive.recoding(
        solutions, "hill climbing",
        evaluations=archive.evaluations, climbs=climbs, evaluated=solutions,
    )  # fmt: skip
