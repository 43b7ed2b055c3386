"""Two plain searches to compare with dewri2009: all recodings of a small table, and climbs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.errors import SizeLimitError, check_integer
from anonpaper.microdata import Microdata
from anonpaper.randomness import generator
from anonpaper.recoders.archive import BY_BITS, Archive, non_dominated
from anonpaper.recoding import Recoding

__all__ = ["exhaustive", "hill_climbing"]

_MOST_BITS = 18  # of a table whose recodings are all looked at
_AT_ONCE = 8192


@algorithm(
    "k-anonymity that best meets a preference, by looking at all recodings of a small table",
    **BY_BITS,
)
def exhaustive(
    m: Microdata,
    k: int = 5,
    preference: tuple[float, float] = (0.2, 1.0),
    weights: Mapping[object, float] | None = None,
) -> Recoding:
    """Guarantee k-anonymity with the least ach of all recodings, by evaluating each.

    Parameters
    ----------
    m : Microdata
        A table whose attributes together have at most 18 more values than there are attributes.
    k, preference, weights
        As for :func:`~anonpaper.recoders.preference_search.preference_search`.

    Returns
    -------
    Recoding
        ``info`` is as after a search. ``front`` has the feasible solutions that are not dominated
        in NWP and NECD; ``evaluated`` all 2^b recodings, in the order of their bits.

    Raises
    ------
    SizeLimitError, ParameterError
        The encoding has more than 18 bits, or a parameter is out of its range.

    References
    ----------
    dewri2009, sections 4 and 5.1. O(2^b·c·d) for c distinct QI tuples.

    Examples
    --------
    >>> r = exhaustive(ap.examples.hospital(), k=2)
    >>> len(r.info["evaluated"]), r.info["effective_k"], r.sub_domains("Gender")
    (32, 2, [['F'], ['M']])
    """
    archive = Archive(m, k, preference, weights)
    n_bits = archive.evaluator.n_bits
    if n_bits > _MOST_BITS:
        raise SizeLimitError(
            f"{m.d} attributes with {sum(a.size for a in m.attributes)} values make {n_bits} "
            f"bits, more than {_MOST_BITS}: use fewer attributes or a coarser granularity"
        )
    places_of_bits = np.arange(n_bits)[::-1]
    for low in range(0, 2**n_bits, _AT_ONCE):
        numbers = np.arange(low, min(low + _AT_ONCE, 2**n_bits))
        archive.look_up((numbers[:, None] >> places_of_bits) & 1)

    solutions = archive.frame()
    feasible = solutions[solutions["effective_k"] >= archive.k]
    front = feasible[non_dominated(feasible["nwp"], feasible["necd"])]
    front = front.sort_values(["nwp", "evaluation"], ignore_index=True)
    found = {"evaluations": archive.evaluations, "front": front, "evaluated": solutions}
    return archive.recoding(solutions, "exhaustive", **found)


@algorithm(
    "k-anonymity with a stated preference of loss and bias, by flipping single bits", **BY_BITS
)
def hill_climbing(
    m: Microdata,
    k: int = 5,
    preference: tuple[float, float] = (0.2, 1.0),
    weights: Mapping[object, float] | None = None,
    evaluations: int = 50_000,
    seed: int | np.random.Generator = 0,
) -> Recoding:
    """Guarantee k-anonymity; search a low ach by flipping single bits.

    The result may be far from the least ach. Every climb starts at full generalization. It passes
    over the bits in random order and keeps each flip that lowers ach and keeps the table
    k-anonymous, until a whole pass keeps none.

    Parameters
    ----------
    m, k, preference, weights, seed
        As for :func:`~anonpaper.recoders.preference_search.preference_search`.
    evaluations : int
        Recodings to evaluate, with repetitions, at least 1.

    Returns
    -------
    Recoding
        ``info`` is as after a search, and has ``climbs``, the number begun.

    Raises
    ------
    ParameterError
        A parameter is out of its range.

    References
    ----------
    A baseline of ours for dewri2009, section 5. An evaluation takes O(c·d) for c QI tuples.

    Examples
    --------
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
    found = {"evaluations": archive.evaluations, "climbs": climbs, "evaluated": solutions}
    return archive.recoding(solutions, "hill climbing", **found)
