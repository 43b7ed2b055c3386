"""What diva2021 measures: constraint sets, the steps of its examples, and one run per figure.

Functions that return rows are called by :func:`anonpaper.papers.results.run_grid`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np

from anonpaper.constraints import (
    DiversityConstraint,
    average_constraints,
    check_constraints,
    conflict_rate,
    minimum_constraints,
    proportion_constraints,
    read_constraints,
)
from anonpaper.datasets import load, population
from anonpaper.datasets.examples import patients, patients_constraints
from anonpaper.datasets.popsyn import ATTRIBUTES
from anonpaper.errors import (
    BudgetExceededError,
    ConstraintError,
    DatasetUnavailableError,
    ParameterError,
    check_number,
)
from anonpaper.files import project_root
from anonpaper.measure import discernibility_ratio, stars
from anonpaper.microdata import Microdata
from anonpaper.partition.diva import diva
from anonpaper.partition.diva.algorithm import build_graph, coloring
from anonpaper.partition.diva.clusterings import Clusterings
from anonpaper.partition.diva.search import Search
from anonpaper.partition.diva.targets import Privacy, Targets
from anonpaper.partition.k_member import k_member
from anonpaper.partition.mondrian import mondrian
from anonpaper.partition.oka import oka
from anonpaper.publish import suppress
from anonpaper.randomness import generator

__all__ = [
    "BASELINES",
    "STRATEGIES",
    "constraint_set",
    "constraints_by_rule",
    "constraints_with_conflict",
    "figure_3_steps",
    "figure_tables",
    "measure",
    "run_baseline",
    "run_diva",
    "table_4",
]

STRATEGIES = ("basic", "min_choice", "max_fan_out")
BASELINES = ("k_member", "oka", "mondrian")

#: Of each data set of Table 4: the attributes of its constraints, and M as in the published lists
#: (the distinct QI rows of Pantheon, all other rows of Census, 960 of the 1,000 of Credit).
TABLE_4 = {
    "pantheon": (("gender", "continentName"), 5_636),
    "census": (("sex", "race"), 286_882),
    "german": (("personal-status-and-sex", "people-liable"), 960),
}
#: Of each table of the figures, the attributes whose values, single and in pairs, are targets.
SWEPT = {
    "census": ("sex", "race", "marital stat", "class of worker", "education"),
    "pantheon": ("gender", "continentName", "countryCode"),
} | dict.fromkeys(("uniform", "zipf", "gaussian"), tuple(ATTRIBUTES)[:-1])
#: How far the upper bounds of the figures' constraints lie above the lower ones. With equal bounds
#: many sets have no solution: nested targets then miss each other by fewer than k rows.
SLACK = 0.2
RULES = {
    "minimum": minimum_constraints,
    "average": average_constraints,
    "proportion": proportion_constraints,
}
#: Values that stand for "not known" are nobody's group.
NOT_KNOWN = ("Unknown", "?")


def constraints_by_rule(name: str, rule: str) -> list[DiversityConstraint]:
    """Return the constraints of a data set of Table 4 by the rule of their class.

    Parameters
    ----------
    name : {"pantheon", "census", "german"}
    rule : {"minimum", "average", "proportion"}

    Notes
    -----
    With 8, 7 and 6 values the three classes together have the 24, 21 and 18 constraints of
    Table 4. Which values the 18 of Credit were is our guess.
    """
    attributes, total = TABLE_4[name]
    return RULES[rule](load(name), attributes, total, NOT_KNOWN)


def constraint_set(name: str, rule: str) -> list[DiversityConstraint]:
    """Read the constraints of a data set from data/constraints/<name>_<rule>.txt.

    Raises
    ------
    DatasetUnavailableError
        The package is installed without the project's files.
    """
    root = project_root()
    if root is None:
        raise DatasetUnavailableError(
            "the constraint sets are files of the project (data/constraints) and not part of the "
            "installed package: work in a checkout, installed with pip install -e ."
        )
    return read_constraints(Path(root, "data", "constraints", f"{name}_{rule}.txt"))


def table_4(name: str) -> dict:
    """Return what Table 4 says of a data set, counted here."""
    m = population() if name == "popsyn" else load(name)
    rules = ("proportion",) if name == "popsyn" else tuple(RULES)
    return {
        "rows": m.n,
        "attributes": m.frame.shape[1],
        "distinct_qi_tuples": len(m.cells),
        "constraints": sum(len(constraint_set(name, rule)) for rule in rules),
    }


def constraints_with_conflict(
    m: Microdata,
    number: int,
    rate: float,
    *,
    attributes: Sequence,
    total: int | None = None,
    slack: float = 0.0,
    least: int = 200,
    seed: int = 0,
    steps: int = 4_000,
) -> list[DiversityConstraint]:
    """Choose proportion constraints whose conflict rate is close to a wanted one.

    Parameters
    ----------
    m : Microdata
    number : int
        How many constraints.
    rate : float
        The wanted :func:`~anonpaper.constraints.conflict_rate`, from 0 to 1.
    attributes : sequence
        Attributes whose single and paired values are the targets to choose from.
    total, slack
        As for :func:`~anonpaper.constraints.proportion_constraints`.
    least : int
        Targets of fewer rows are not chosen from.
    seed : int
        Of the local search, which exchanges one constraint at a time.
    steps : int
        Exchanges that are tried at most.

    Raises
    ------
    ParameterError
        Fewer targets than `number` have `least` rows.
    """
    rate = check_number("rate", rate, 0, 1)
    entries = [*attributes, *combinations(attributes, 2)]
    pool = proportion_constraints(m, entries, total, NOT_KNOWN, slack)
    cells = m.with_roles(qi=attributes, sensitive=None).cells  # few tuples, each with its rows
    distinct = m.take(cells.rows[cells.tuple_start[:-1]])
    targets = np.array([c.target_rows(distinct) for c in pool])
    enough = (targets @ cells.tuple_sizes) >= least
    pool = [c for c, keep in zip(pool, enough, strict=True) if keep]
    targets = targets[enough].astype(np.int8)
    if len(pool) < number:
        raise ParameterError(f"{len(pool)} targets have {least} rows, {number} are asked for")

    def distance(claims: np.ndarray) -> float:
        claimed = cells.tuple_sizes[claims > 0].sum()
        return abs(cells.tuple_sizes[claims > 1].sum() / max(claimed, 1) - rate)

    rng = generator(seed)
    chosen = list(rng.choice(len(pool), number, replace=False))
    claims = targets[chosen].sum(axis=0, dtype=np.int8)
    best = distance(claims)
    for _ in range(steps):
        if best < 0.005:
            break
        place, other = int(rng.integers(number)), int(rng.integers(len(pool)))
        if other in chosen:
            continue
        changed = claims - targets[chosen[place]] + targets[other]
        if (now := distance(changed)) <= best:
            chosen[place], claims, best = other, changed, now
    return [pool[i] for i in sorted(chosen)]


def figure_tables(names: Sequence[str], population_rows: int = 100_000) -> dict[str, Microdata]:
    """Return the tables of the figures by name, without the columns that have no role.

    Parameters
    ----------
    names : sequence of str
        Data sets, or distributions of Pop-Syn.
    population_rows : int
        Rows of Pop-Syn.
    """
    tables = {}
    for name in names:
        if name in ("uniform", "zipf", "gaussian"):
            tables[name] = population(name, population_rows)
        else:  # workers get a copy: what they do not read stays behind
            m = load(name)
            tables[name] = m.replace(frame=m.frame[[*m.qi, m.sensitive]])
    return tables


# -- runs for the figures --------------------------------------------------------------------


def measure(
    tables: Mapping[str, Microdata],
    table: str,
    rows: int,
    number: int,
    conflict: float,
    k: int,
    algorithms: Sequence[str],
    seed: int,
    max_backtracks: int,
) -> list[dict]:
    """Run algorithms at one setting of Table 5.

    Parameters
    ----------
    tables : mapping of str to Microdata
    table : str
        Which of them.
    rows, number, conflict, k
        |R|, |Sigma|, cf(Sigma) and k; `rows` are drawn from the table if it has more.
    algorithms : sequence of str
        Of :data:`STRATEGIES` and :data:`BASELINES`.
    seed : int
        Draws rows and constraints, and is that of the algorithms.
    max_backtracks : int
        Budget of one run of DIVA; not one of seconds, so that it does not depend on the machine
        whether a run ends with a result.

    Returns
    -------
    list of dict
        One row per algorithm, as :func:`run_diva` and :func:`run_baseline` return it.
    """
    m = tables[table]
    if rows < m.n:
        m = m.sample(rows, seed)
    sigma = constraints_with_conflict(
        m, number, conflict, attributes=SWEPT[table], total=m.n // 2, slack=SLACK, seed=seed
    )
    m.cells  # noqa: B018 - grouping equal rows is common to all algorithms and not timed
    for compiled in (k_member, oka, mondrian):  # nor is loading the compiled code
        compiled(m.take(np.arange(min(m.n, 2_000))), k)
    return [
        run_diva(m, sigma, k, algorithm, seed, max_backtracks)
        if algorithm in STRATEGIES
        else run_baseline(m, sigma, k, algorithm, seed) | {"achieved": conflict_rate(m, sigma)}
        for algorithm in algorithms
    ]


# -- one run ---------------------------------------------------------------------------------


def run_diva(
    m: Microdata,
    constraints: Sequence[DiversityConstraint],
    k: int,
    strategy: str,
    seed: int,
    max_backtracks: int = 10_000,
) -> dict:
    """Run DIVA once: seconds, accuracies, stars, and what the search did.

    ``outcome`` is "found", "budget used up" or "no solution"; only the first has accuracies.
    """
    row = {"algorithm": strategy, "achieved": conflict_rate(m, constraints)}
    began = time.perf_counter()
    try:
        p = diva(
            m, constraints, k, strategy, seed=seed,
            max_backtracks=max_backtracks, max_seconds=3600,
        )  # fmt: skip
    except (BudgetExceededError, ConstraintError) as error:
        outcome = "no solution" if isinstance(error, ConstraintError) else "budget used up"
        return row | {"seconds": time.perf_counter() - began, "outcome": outcome}
    row |= {"seconds": time.perf_counter() - began, "outcome": "found"}
    row |= {name: p.info[name] for name in ("candidates_tried", "backtracks", "coloured_by")}
    return row | _measured(m, p, constraints, k)


def run_baseline(
    m: Microdata, constraints: Sequence[DiversityConstraint], k: int, algorithm: str, seed: int
) -> dict:
    """Run a baseline once, which knows no constraints: seconds, accuracies, stars."""
    began = time.perf_counter()
    if algorithm == "mondrian":
        p = mondrian(m, k)
    else:
        p = {"k_member": k_member, "oka": oka}[algorithm](m, k, seed)
    row = {"algorithm": algorithm, "seconds": time.perf_counter() - began, "outcome": "found"}
    return row | _measured(m, p, constraints, k)


def _measured(m, p, constraints, k) -> dict:
    rel = suppress(m, p)
    return {
        "stars": stars(rel),
        "accuracy": discernibility_ratio(rel, k),
        "accuracy_log": discernibility_ratio(rel, k, of="log"),
        "accuracy_range": discernibility_ratio(rel, k, of="range"),
        "accuracy_stars": discernibility_ratio(rel, k, of="stars"),
        "satisfied": float(check_constraints(rel, constraints)["holds"].mean()),
    }


# -- Figure 3 --------------------------------------------------------------------------------


def figure_3_steps() -> tuple[nx.Graph, list[dict]]:
    """Replay the colouring of Example 3.4, step by step.

    The nodes are coloured in the order v1, v3, v2, and v3 tries {t6, t7} before {t7, t8}, as the
    text has it; everything else is the package's search.

    Returns
    -------
    graph : networkx.Graph
        As :func:`~anonpaper.partition.diva.algorithm.build_graph` makes it.
    steps : list of dict
        ``action`` ("colour", "reject" or "backtrack"), ``node`` (1 to 3), ``clusters`` (lists of
        row names), and ``coloured``: the clusters of every node after the step.

    Examples
    --------
    >>> graph, steps = figure_3_steps()
    >>> [(step["action"], step["node"]) for step in steps]
    [('colour', 1), ('colour', 3), ('reject', 2), ('backtrack', 3), ('colour', 3), ('colour', 2)]
    """
    m, sigma = patients(), patients_constraints()
    graph = build_graph(m, sigma)
    V = Clusterings(
        m.codes, Targets.of(m, sigma), Privacy(2), [set(graph[v]) for v in graph], generator(0)
    )
    script = {0: [[8, 9]], 2: [[5, 6], [6, 7]], 1: [[4, 5]]}
    search = Search(max_backtracks=10, max_seconds=60, trace=[])
    coloring(
        V,
        choose=lambda: next(v for v in (0, 2, 1) if v not in V.coloured),
        clusterings=lambda v: [[V.bundle(np.array(rows))] for rows in script[v]],
        search=search,
    )
    names = list(m.frame.index)
    steps, coloured = [], {}
    for action, v, clustering in search.trace:
        clusters = [[names[row] for row in bundle.rows] for bundle in clustering]
        if action == "colour":
            coloured = {**coloured, v + 1: clusters}
        elif action == "backtrack":
            coloured = {u: c for u, c in coloured.items() if u != v + 1}
        steps.append({"action": action, "node": v + 1, "clusters": clusters, "coloured": coloured})
    return graph, steps
