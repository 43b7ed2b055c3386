"""The search of section 5 with one part exchanged at a time, and hill climbing to compare with.

The exchanged parts are the first population, whether copies of a chromosome stay in the
population, and the second objective. A search with one objective has the constraint of the
optimization problem instead. Without an exchange the result is the one of `preference_search`.
"""

from __future__ import annotations

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.core.termination import NoTermination
from pymoo.operators.crossover.pntx import SinglePointCrossover
from pymoo.operators.mutation.bitflip import BitflipMutation
from pymoo.operators.selection.tournament import TournamentSelection

from anonpaper.microdata import Microdata
from anonpaper.randomness import generator
from anonpaper.recoders.evaluation import Archive, Evaluator, achievement
from anonpaper.recoders.nsga2 import TwoObjectives, prefer_feasible, winners
from anonpaper.recoders.preference_search import graded
from anonpaper.recoding import Recoding

VALUES = ["nwp", "necd", "effective_k"]  # solutions with equal values are one solution


class OneObjective(TwoObjectives):
    """The OP of section 4: f1 = ach, subject to k_pref - effective k <= 0."""

    def __init__(self, archive: Archive) -> None:
        super().__init__(archive)
        self.n_obj, self.n_ieq_constr = 1, 1

    def _evaluate(self, bits: np.ndarray, out: dict, *args, **kwargs) -> None:
        super()._evaluate(bits, out)
        out["F"], out["G"] = out["F"][:, :1], out["F"][:, 1:]


def _prefer_less_ach(population, pairs, random_state, **_) -> np.ndarray:
    """The tournament of section 5.2 where rank is ach: feasible, then smaller f2, then f1."""
    excess = np.maximum(population.get("G")[:, 0], 0)
    return winners(np.column_stack([excess, population.get("F")[:, 0]]), pairs, random_state)


def varied_search(
    m: Microdata, k_pref: int, preference, weights=None, *, objectives: int = 2,
    copies: bool = True, start: str = "graded", population: int = 100, evaluations: int = 50_000,
    seed: int = 0,
) -> tuple[Archive, np.ndarray]:  # fmt: skip
    """Return all that a search evaluated, and the places of its final population there.

    The first population is "graded" (the default of the package), "even" (fair coins), or "none
    feasible": graded, with other chromosomes in place of its k-anonymous ones.
    """
    archive, rng = Archive(m, k_pref, preference, weights), generator(seed)
    n_bits = archive.evaluator.n_bits
    even = start == "even"
    first = rng.random((population, n_bits)) < 0.5 if even else graded(rng, population, n_bits)
    if start == "none feasible":
        lost = first[archive.evaluator.evaluate(first).smallest < k_pref]
        first = np.resize(lost, first.shape)
    # both keep the best of parents and children
    kind, problem, prefer = {
        1: (GA, OneObjective, _prefer_less_ach),
        2: (NSGA2, TwoObjectives, prefer_feasible),
    }[objectives]
    algorithm = kind(
        pop_size=population,
        sampling=first,
        selection=TournamentSelection(func_comp=prefer),
        crossover=SinglePointCrossover(prob=0.8),
        mutation=BitflipMutation(prob_var=0.001),
        eliminate_duplicates=not copies,
        output=None,
        seed=rng,
    ).setup(problem(archive), termination=NoTermination())
    while archive.evaluations + population <= evaluations and algorithm.has_next():
        algorithm.next()
    return archive, np.unique(archive.places(algorithm.pop.get("X")))


def better_neighbours(evaluator: Evaluator, bits: np.ndarray, k_pref: int, preference) -> int:
    """Return how many one-bit neighbours are feasible and have less ach: 0 in a local optimum."""
    flipped = np.eye(evaluator.n_bits + 1, evaluator.n_bits, k=-1, dtype=bool)  # none comes first
    found = evaluator.evaluate(bits ^ flipped)
    ach = achievement(found.nwp, found.necd, preference)
    return int(((found.smallest >= k_pref) & (ach < ach[0] - 1e-12)).sum())


def hill_climbing(m: Microdata, k: int, preference, evaluations: int, seed: int) -> Recoding:
    """Climb from full generalization, as often as there are evaluations, and return the best.

    A climb passes over the bits in random order and keeps each flip that lowers ach and keeps the
    table k-anonymous, until a whole pass keeps none.
    """
    archive, rng = Archive(m, k, preference, None), generator(seed)
    n_bits = archive.evaluator.n_bits
    while archive.evaluations < evaluations:
        here, improved = np.zeros(n_bits, dtype=bool), True
        ach = feasible_ach(archive, here)
        while improved:
            improved = False
            for bit in rng.permutation(n_bits)[: evaluations - archive.evaluations]:
                here[bit] ^= True
                there = feasible_ach(archive, here)
                if there < ach:
                    ach, improved = there, True
                else:
                    here[bit] ^= True
    solutions = archive.frame()
    return archive.recoding(solutions, "hill climbing", evaluated=solutions)


def feasible_ach(archive: Archive, bits: np.ndarray) -> float:
    """Return the ach of one chromosome, infinite if it is not k-anonymous."""
    (place,) = archive.look_up(bits[None])
    is_feasible = archive.values("effective_k")[place] >= archive.k
    return float(archive.values("ach")[place]) if is_feasible else np.inf
