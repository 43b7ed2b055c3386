"""The search of section 5 with one part exchanged at a time, to test the paper's explanations.

The exchanged parts are the first population, whether copies of a chromosome stay in the
population, and the second objective. A search with one objective has the constraint of the
optimization problem instead. Without an exchange the result is the one of `preference_search`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from dewri2009_weights import by_name
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.core.duplicate import DuplicateElimination
from pymoo.core.termination import NoTermination
from pymoo.operators.crossover.pntx import SinglePointCrossover
from pymoo.operators.mutation.bitflip import BitflipMutation
from pymoo.operators.selection.tournament import TournamentSelection

from anonpaper.microdata import Microdata
from anonpaper.randomness import generator
from anonpaper.recoders.evaluation import Archive, Evaluator, achievement, choose, non_dominated
from anonpaper.recoders.nsga2 import TwoObjectives, prefer_feasible, winners
from anonpaper.recoders.preference_search import graded

LEVELS = (10, 25, 50, 100)  # effective k for which a publisher may want the least ach of a run
VALUES = ["nwp", "necd", "effective_k"]  # solutions with equal values are one solution
_PAIRS = 500  # parents that are crossed to see what their children are


def _even(rng: np.random.Generator, population: int, n_bits: int) -> np.ndarray:
    """Fair coins."""
    return rng.random((population, n_bits)) < 0.5


class OneObjective(TwoObjectives):
    """The OP of section 4: f1 = ach, subject to k_pref - effective k <= 0."""

    def __init__(self, archive: Archive) -> None:
        super().__init__(archive)
        self.n_obj, self.n_ieq_constr = 1, 1

    def _evaluate(self, bits: np.ndarray, out: dict, *args, **kwargs) -> None:
        super()._evaluate(bits, out)
        out["F"], out["G"] = out["F"][:, :1], out["F"][:, 1:]


class _NoCopies(DuplicateElimination):
    """Finds copies by their bits: pymoo's own way compares all pairs by their distance."""

    def _do(self, pop, other, is_duplicate) -> np.ndarray:
        seen = set() if other is None else {bits.tobytes() for bits in other.get("X")}
        for place, bits in enumerate(pop.get("X")):
            is_duplicate[place] = bits.tobytes() in seen
            seen.add(bits.tobytes())
        return is_duplicate


def _prefer_less_ach(population, pairs, random_state, **_) -> np.ndarray:
    """The tournament of section 5.2 where rank is ach: feasible, then smaller f2, then f1."""
    excess = np.maximum(population.get("G")[:, 0], 0)
    criteria = np.column_stack([excess, population.get("F")[:, 0]])
    return winners(criteria, pairs, random_state)


def varied_search(
    m: Microdata,
    k_pref: int,
    preference: Sequence[float],
    weights: Sequence[float] | None = None,
    *,
    objectives: Literal[1, 2] = 2,
    copies: bool = True,
    start: Literal["graded", "even", "none feasible"] = "graded",
    population: int = 100,
    evaluations: int = 50_000,
    seed: int = 0,
) -> tuple[Archive, np.ndarray]:
    """Return all that a search evaluated, and the places of its final population there."""
    archive = Archive(m, k_pref, tuple(preference), by_name(m, weights))
    rng = generator(seed)
    draw = _even if start == "even" else graded
    first = draw(rng, population, archive.evaluator.n_bits)
    if start == "none feasible":  # the search has to find the feasible region by itself
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
        eliminate_duplicates=None if copies else _NoCopies(),
        output=None,
        seed=rng,
    ).setup(problem(archive), termination=NoTermination())
    while archive.evaluations + population <= evaluations and algorithm.has_next():
        algorithm.next()
    return archive, np.unique(archive.places(algorithm.pop.get("X")))


def better_neighbours(
    evaluator: Evaluator, bits: np.ndarray, k_pref: int, preference: Sequence[float]
) -> int:
    """Return how many one-bit neighbours are feasible and have less ach: 0 in a local optimum."""
    flipped = np.eye(evaluator.n_bits + 1, evaluator.n_bits, k=-1, dtype=bool)  # none comes first
    found = evaluator.evaluate(bits ^ flipped)
    ach = achievement(found.nwp, found.necd, tuple(preference))
    return int(((found.smallest >= k_pref) & (ach < ach[0] - 1e-12)).sum())


def measured_run(m: Microdata, **setting) -> dict:
    """Return the reported solution of one `varied_search`, and counts of its final population."""
    archive, final = varied_search(m, **setting)
    k_pref, preference = setting["k_pref"], tuple(setting["preference"])
    # solutions with equal values are one: bits between ages that nobody has change nothing
    population = archive.frame(final).drop_duplicates(VALUES, ignore_index=True)
    feasible = population[population["effective_k"] >= k_pref]
    best = choose(population, k_pref, preference)
    row: dict = {
        "found": best is not None,
        "unique": len(population),
        "feasible": len(feasible),
        "mean nwp": float(population["nwp"].mean()),
        "evaluations made": archive.evaluations,
        "distinct": len(archive),
        "first k": int(
            archive.values("effective_k")[
                archive.values("evaluation") <= setting.get("population", 100)
            ].max()
        ),
    }
    if best is None:
        return row
    stays = non_dominated(feasible["ach"].to_numpy(), -feasible["effective_k"].to_numpy())
    returned = feasible[stays]
    beats = (returned["nwp"] < best["nwp"]) & (returned["necd"] < best["necd"])
    bits = _bits([best["bits"]])[0]
    row |= {name: float(best[name]) for name in ("nwp", "necd", "ach", "prefdev")}
    row |= {
        "effective_k": int(best["effective_k"]),
        "better neighbours": better_neighbours(archive.evaluator, bits, k_pref, preference),
        "returned": len(returned),
        "minima": int((returned["ach"] == best["ach"]).sum()),
        "better in both": int(beats.sum()),
        "more private": int((returned["effective_k"] > k_pref).sum()),
    }
    for level in LEVELS:
        private = feasible.loc[feasible["effective_k"] >= level, "ach"]
        row[f"ach at {level}"] = float(private.min()) if len(private) else None
    rng = generator(setting.get("seed", 0))
    return row | _children_alike(archive, feasible, rng)


def _bits(texts: Iterable[str]) -> np.ndarray:
    """Return chromosomes that are written as texts, one row each."""
    return np.array([[bit == "1" for bit in text] for text in texts])


def _children_alike(
    archive: Archive, parents: pd.DataFrame, rng: np.random.Generator
) -> dict[str, float]:
    """Cross pairs of different tables at one point: the share of children like a parent."""
    if len(parents) < 2:
        return {}
    bits, solution = _bits(parents["bits"]), parents[VALUES].to_numpy()
    mother = rng.integers(len(parents), size=_PAIRS)
    father = (mother + rng.integers(1, len(parents), size=_PAIRS)) % len(parents)
    place, length = np.arange(bits.shape[1]), bits.shape[1]
    cut = rng.integers(1, length, size=_PAIRS)[:, None]
    found = archive.evaluator.evaluate(np.where(place < cut, bits[mother], bits[father]))
    child = np.column_stack([found.nwp, found.necd, found.smallest])
    like = [(child == solution[parent]).all(axis=1) for parent in (mother, father)]
    return {"children alike": float(np.mean(np.logical_or(*like)))}
