"""The best recoding of a small table, by looking at all of them: what dewri2009 is judged by."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anonpaper.algorithm import RECODED, algorithm
from anonpaper.errors import SizeLimitError
from anonpaper.microdata import Microdata
from anonpaper.principles import KAnonymity
from anonpaper.recoders.archive import Archive, non_dominated
from anonpaper.recoding import Recoding

__all__ = ["MOST_BITS", "exhaustive"]

#: The most bits of a table that can be searched.
MOST_BITS = 18

_AT_ONCE = 8192


@algorithm(
    "k-anonymity that best meets a preference, by looking at all recodings of a small table",
    promises={"k": KAnonymity},
    publications=RECODED,
    by_bits=True,
)
def exhaustive(
    m: Microdata,
    k: int = 5,
    preference: tuple[float, float] = (0.2, 1.0),
    weights: Mapping[object, float] | None = None,
) -> Recoding:
    """Guarantee k-anonymity, and the least ach of all recodings that have it, by looking at each.

    Parameters
    ----------
    m : Microdata
        A table whose attributes have at most 18 values more than there are attributes.
    k, preference, weights
        As for :func:`~anonpaper.recoders.preference_search.preference_search`.

    Returns
    -------
    Recoding
        ``info`` holds the values of the recoding as after a search. ``front`` has the feasible
        solutions that no other beats in NWP or NECD without losing in the other one.
        ``evaluated`` has all 2^b recodings, in the order of their bits as binary numbers.

    Raises
    ------
    SizeLimitError, ParameterError
        The encoding has more than 18 bits, or a parameter is out of its range.

    References
    ----------
    dewri2009, sections 4 and 5.1. O(2^b·c·d) for c distinct QI tuples. There is always a
    solution: full generalization is k-anonymous for every k up to n.

    Examples
    --------
    >>> import anonpaper as ap
    >>> r = exhaustive(ap.examples.hospital(), k=2)
    >>> len(r.info["evaluated"]), r.info["effective_k"], r.sub_domains("Gender")
    (32, 2, [['F'], ['M']])
    """
    archive = Archive(m, k, preference, weights)
    n_bits = archive.evaluator.n_bits
    if n_bits > MOST_BITS:
        raise SizeLimitError(
            f"{m.d} attributes with {sum(a.size for a in m.attributes)} values make {n_bits} "
            f"bits, at most {MOST_BITS} can be searched exhaustively: take fewer attributes or a "
            "coarser granularity"
        )
    places_of_bits = np.arange(n_bits)[::-1]
    for low in range(0, 2**n_bits, _AT_ONCE):
        numbers = np.arange(low, min(low + _AT_ONCE, 2**n_bits))
        archive.look_up((numbers[:, None] >> places_of_bits) & 1)

    solutions = archive.frame()
    feasible = solutions[solutions["effective_k"] >= archive.k]
    front = feasible[non_dominated(feasible["nwp"], feasible["necd"])]
    return archive.recoding(
        solutions, "exhaustive",
        evaluations=archive.evaluations,
        front=front.sort_values(["nwp", "evaluation"], ignore_index=True),
        evaluated=solutions,
    )  # fmt: skip
