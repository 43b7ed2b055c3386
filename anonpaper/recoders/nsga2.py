"""NSGA-II by pymoo, for `preference_search`: its problem and one change (dewri2009, section 5)."""

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.core.termination import NoTermination
from pymoo.operators.crossover.pntx import SinglePointCrossover
from pymoo.operators.mutation.bitflip import BitflipMutation
from pymoo.operators.selection.tournament import TournamentSelection

from anonpaper.recoders.evaluation import Archive


def of_the_paper(archive: Archive, first: np.ndarray, mutation: float, rng) -> NSGA2:
    """Return the paper's search, begun with a population of chromosomes (p, bits)."""
    # The paper leaves open: one-point crossover, a mutation rate per bit, duplicates stay.
    return NSGA2(
        pop_size=len(first),
        sampling=first,
        selection=TournamentSelection(func_comp=prefer_feasible),  # line 4
        crossover=SinglePointCrossover(prob=0.8),  # line 5
        mutation=BitflipMutation(prob_var=mutation),  # line 6
        eliminate_duplicates=False,
        output=None,
        seed=rng,
    ).setup(TwoObjectives(archive), termination=NoTermination())


class TwoObjectives(Problem):
    """The MOOP of section 5: f1 = ach, f2 = k_pref - effective k."""

    def __init__(self, archive: Archive) -> None:
        super().__init__(n_var=archive.evaluator.n_bits, n_obj=2, vtype=bool)
        self.archive = archive

    def _evaluate(self, bits: np.ndarray, out: dict, *args, **kwargs) -> None:
        archive, places = self.archive, self.archive.look_up(bits)
        f2 = archive.k - archive.values("effective_k")[places]
        out["F"] = np.column_stack([archive.values("ach")[places], f2])


def prefer_feasible(population, pairs, random_state, **_) -> np.ndarray:
    """Decide tournaments as section 5.2 says; a comparison for pymoo's TournamentSelection.

    The paper says "crowding" in reverse; as in NSGA-II, the less crowded solution wins.
    """
    f1, f2 = population.get("F").T
    rank, distance = population.get("rank"), population.get("crowding").astype(float)
    feasible = f2 <= 0
    alike = [np.where(feasible, rank, f2), np.where(feasible, -distance, f1)]
    criteria = np.column_stack([~feasible, *alike, np.where(feasible, 0, -distance)])
    return winners(criteria, pairs, random_state)


def winners(criteria: np.ndarray, pairs: np.ndarray, random_state) -> np.ndarray:
    """Return the winners of `pairs` by criteria, the first column first, smaller is better.

    A coin decides where all criteria are equal.
    """
    standing = np.unique(criteria, axis=0, return_inverse=True)[1].reshape(-1)
    x, y = pairs.T
    coin = random_state.random(len(pairs)) < 0.5
    x_wins = (standing[x] < standing[y]) | ((standing[x] == standing[y]) & coin)
    return np.where(x_wins, x, y)[:, None]
