"""Preference-based generalization: NSGA-II, whose tournament prefers feasible solutions."""

import heapq
from collections.abc import Mapping

import numpy as np

from anonpaper.algorithm import RECODED, algorithm
from anonpaper.errors import SizeLimitError, check_choice, check_integer, needs
from anonpaper.microdata import Microdata
from anonpaper.principles import KAnonymity
from anonpaper.randomness import generator
from anonpaper.recoders.evaluation import Archive, non_dominated
from anonpaper.recoding import Recoding

__all__ = ["exhaustive", "graded", "preference_search"]

_MOST_BITS = 18  # of a table whose recodings are all looked at
_DECLARED = {"promises": {"k": KAnonymity}, "publications": RECODED, "by_bits": True}


@algorithm(
    "k-anonymity with a stated preference of loss and bias, by an evolutionary search", **_DECLARED
)
def preference_search(
    m: Microdata,
    k: int = 5,
    preference: tuple[float, float] = (0.2, 1.0),
    weights: Mapping[object, float] | None = None,
    population: int = 100,
    evaluations: int = 50_000,
    seed: int | np.random.Generator = 0,
    *,
    refine: bool = False,
) -> Recoding:
    """Guarantee k-anonymity; search the recoding that best meets a preference on loss and bias.

    It may be far from the best recoding. Any run of successive values may be joined: order
    categories by :func:`~anonpaper.repair.cleaning.in_preorder` and cut long domains first.

    Parameters
    ----------
    m, k, population, evaluations, seed
        k is k_pref, from 1 to n; a population has at least 2; evaluations may repeat a recoding.
    preference, weights : point (NWP, NECD) in [0, 1]; mapping of names, sum 1, equal by default
    refine : bool
        Not in the paper: half of the evaluations go to NSGA-II with a mutation rate of 1 / bits,
        half to neighbours, by one bit, of the best feasible solutions; all count as final.

    Returns
    -------
    Recoding; info has tables ``evaluated`` and ``non_dominated`` (of the final population)

    References
    ----------
    dewri2009, sections 5 and 6. O(c·d) a distinct recoding, O(N_pop²) a generation.

    Examples
    --------
    >>> m = ap.examples.hospital()
    >>> r = preference_search(m, k=2, population=10, evaluations=200, seed=0)
    >>> r.info["effective_k"], round(r.info["nwp"], 3), r.sub_domains("Gender")
    (2, 0.133, [['F'], ['M']])
    """
    with needs("search"):
        from anonpaper.recoders import nsga2
    archive = Archive(m, k, preference, weights)
    population = check_integer("population", population, 2)
    evaluations = check_integer("evaluations", evaluations, population)
    refine, rng = check_choice("refine", refine, (True, False)), generator(seed)
    n_bits = archive.evaluator.n_bits
    mutation = 1 / max(n_bits, 4) if refine else 0.001
    share = max(evaluations // 2, population) if refine else evaluations
    if n_bits == 0:  # every domain has one value: nothing to search
        final = archive.look_up(np.zeros((1, 0), dtype=bool))
    else:
        # line 1: the first population
        algorithm = nsga2.of_the_paper(archive, graded(rng, population, n_bits), mutation, rng)
        while archive.evaluations + population <= share:
            algorithm.next()  # lines 2 to 7
        final = np.unique(archive.places(algorithm.pop.get("X")))
        if refine:
            final = _expand_best(archive, evaluations)
    # lines 8 and 9
    ach, effective_k = (archive.values(name)[final] for name in ("ach", "effective_k"))
    best = archive.frame(final[non_dominated(ach, -effective_k)])
    name = "NSGA-II" + ", refined" * refine
    return archive.recoding(best, name, distinct=len(archive), non_dominated=best)


def graded(rng: np.random.Generator, population: int, n_bits: int) -> np.ndarray:
    """Draw first chromosomes whose share of ones rises from 0, full generalization, to 1."""
    # Not in the paper. With fair coins all first solutions of a large table are 1-anonymous, and
    # f1 draws them away from being feasible.
    return rng.random((population, n_bits)) < np.linspace(0, 1, population)[:, None]


def _expand_best(archive: Archive, evaluations: int) -> np.ndarray:
    """Evaluate neighbours of feasible solutions, best first, within the budget; return all."""
    flips, seen, waiting = np.eye(archive.evaluator.n_bits, dtype=bool), 0, []
    while archive.evaluations < evaluations:
        feasible = np.flatnonzero(archive.values("effective_k")[seen:] >= archive.k) + seen
        for entry in zip(archive.values("ach")[feasible], feasible, strict=True):
            heapq.heappush(waiting, entry)
        if not waiting:
            break
        seen = len(archive)
        _, place = heapq.heappop(waiting)
        neighbours = archive.values("bits")[place] ^ flips
        neighbours = neighbours[archive.places(neighbours) < 0]
        archive.look_up(neighbours[: evaluations - archive.evaluations])
    return np.arange(len(archive))


@algorithm(
    "k-anonymity that best meets a preference, by looking at all recodings of a small table",
    **_DECLARED,
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
    m, k, preference, weights : as for :func:`preference_search`

    Returns
    -------
    Recoding; info has tables ``evaluated``, in the order of bits, and ``front``, the feasible
    solutions that none dominates in NWP and NECD

    References
    ----------
    dewri2009, sections 4 and 5.1. O(2^b·c·d) for c distinct QI tuples. SizeLimitError for b > 18.

    Examples
    --------
    >>> r = exhaustive(ap.examples.hospital(), k=2)
    >>> len(r.info["evaluated"]), r.info["effective_k"], r.sub_domains("Gender")
    (32, 2, [['F'], ['M']])
    """
    archive = Archive(m, k, preference, weights)
    n_bits = archive.evaluator.n_bits
    if n_bits > _MOST_BITS:
        told = f"{m.d} attributes with {sum(a.size for a in m.attributes)} values make {n_bits}"
        way = "use fewer attributes or a coarser granularity"
        raise SizeLimitError(f"{told} bits, more than {_MOST_BITS}: {way}")
    archive.look_up(np.arange(2**n_bits)[:, None] >> np.arange(n_bits)[::-1] & 1)
    solutions = archive.frame()
    feasible = solutions[solutions["effective_k"] >= archive.k]
    front = feasible[non_dominated(feasible["nwp"], feasible["necd"])]
    front = front.sort_values(["nwp", "evaluation"], ignore_index=True)
    return archive.recoding(solutions, "exhaustive", front=front)
