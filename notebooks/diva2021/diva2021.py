"""What diva2021 measures: constraint sets, the steps of its examples, and one run per figure.

Functions that return rows are called by :func:`anonpaper.compendium.run_grid`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

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
from anonpaper.datasets.made_up import ATTRIBUTES
from anonpaper.errors import (
    BudgetExceededError,
    ConstraintError,
    DatasetUnavailableError,
    ParameterError,
    check_number,
)
from anonpaper.files import project_root
from anonpaper.measure import discernibility, discernibility_ratio, stars
from anonpaper.microdata import Microdata
from anonpaper.partition.diva import diva
from anonpaper.partition.diva.algorithm import Run, build_graph, coloring
from anonpaper.partition.diva.clusterings import Clusterings
from anonpaper.partition.diva.search import Search
from anonpaper.partition.diva.targets import Privacy, Targets
from anonpaper.partition.k_member import k_member
from anonpaper.partition.mondrian import mondrian
from anonpaper.partition.oka import oka
from anonpaper.publish import Release, suppress
from anonpaper.randomness import generator

__all__ = [
    "BASELINES",
    "MEASURES",
    "RULES_OVER_BOUND",
    "STRATEGIES",
    "constraint_set",
    "constraints_asked",
    "constraints_by_rule",
    "constraints_with_conflict",
    "differences",
    "figure_3_steps",
    "figure_tables",
    "measure",
    "measured",
    "run_baseline",
    "run_diva",
    "run_search",
    "shown",
    "table_4",
]

STRATEGIES = ("basic", "min_choice", "max_fan_out")
BASELINES = ("k_member", "oka", "mondrian")
#: What becomes of a cluster that would exceed an upper bound: the paper's rule, and ours.
RULES_OVER_BOUND = ("reject", "star")
COUNTED = ("candidates_tried", "backtracks")

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
SWEPT["narrow"] = SWEPT["census"]
#: Quasi-identifiers of Census with 12,721 distinct tuples; Table 4 says 12,405 and not which. They
#: are the attributes that constraints are on, and the one beside which the number comes closest.
NARROW = [*SWEPT["census"], "major industry code"]
#: How far the upper bounds of the figures' constraints lie above the lower ones. With equal bounds
#: many sets have no solution: nested targets then miss each other by fewer than k rows.
SLACK = 0.2
#: What is measured of a table: the column of `measure` by the name that is shown. All but the
#: first grow as less is lost; what they hold is said in notebook 2.
MEASURES = {
    "discernibility per row": "discernibility",
    "accuracy (ratio)": "accuracy",
    "accuracy (log)": "accuracy_log",
    "accuracy (range)": "accuracy_range",
    "accuracy (stars)": "accuracy_stars",
}
NAMES = {column: name for name, column in MEASURES.items()} | {
    "number": "constraints",
    "conflict": "conflict rate",
    "over_bound": "over bound",
    "candidates_tried": "candidates",
    "backtracks": "steps back",
    "table": "data",
    "rows": "|R|",
    "target_rows": "target rows per row",
}
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


def constraints_asked(m: Microdata, name: str, rule: str) -> list[DiversityConstraint]:
    """Return the constraints that notebook 4 asks of a data set.

    Parameters
    ----------
    m : Microdata
        The data set.
    name : {"pantheon", "census", "german"}
    rule : str
        "no constraints", one of the rules, or "proportion, no upper bounds".
    """
    if rule == "no constraints":
        return []
    rule, _, unbounded = rule.partition(", ")
    sigma = constraint_set(name, rule)
    if not unbounded:
        return sigma
    return [DiversityConstraint(c.target, c.low, int(c.target_rows(m).sum())) for c in sigma]


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
    targeted: float | None = None,
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
    targeted : float, optional
        The wanted number of target rows of all constraints together, each counted by itself, as a
        share of the table's rows; any where left out.
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
        apart = abs(cells.tuple_sizes[claims > 1].sum() / max(claimed, 1) - rate)
        if targeted is None:
            return apart
        return apart + abs(int(claims @ cells.tuple_sizes) / m.n - targeted)

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
        Data sets, "narrow" for Census with as few distinct tuples as Table 4 says, or
        distributions of Pop-Syn.
    population_rows : int
        Rows of Pop-Syn.
    """
    tables = {}
    for name in names:
        if name in ("uniform", "zipf", "gaussian"):
            tables[name] = population(name, population_rows)
        else:  # workers get a copy: what they do not read stays behind
            m = load("census").with_roles(qi=NARROW) if name == "narrow" else load(name)
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
    slack: float = SLACK,
    share: float = 0.5,
    targeted: float | None = None,
    search_alone: bool = False,
) -> list[dict]:
    """Run algorithms at one setting of Table 5, DIVA by both rules for clusters over a bound.

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
    slack, share : float
        How far upper bounds lie above lower ones, and M as a share of the rows.
    targeted : float, optional
        As for :func:`constraints_with_conflict`.
    search_alone : bool
        Only search for a diverse clustering, without k-member and without a table.

    Returns
    -------
    list of dict
        One row per algorithm and rule, as :func:`run_diva`, :func:`run_search` and
        :func:`run_baseline` return it.
    """
    m = tables[table]
    if rows < m.n:
        m = m.sample(rows, seed)
    sigma = constraints_with_conflict(
        m, number, conflict, attributes=SWEPT[table], total=int(share * m.n), slack=slack,
        targeted=targeted, seed=seed,
    )  # fmt: skip
    about = {
        "achieved": conflict_rate(m, sigma),
        "target_rows": sum(int(c.target_rows(m).sum()) for c in sigma) / m.n,
    }
    m.cells  # noqa: B018 - grouping equal rows is common to all algorithms and not timed
    for compiled in (k_member, oka, mondrian):  # nor is loading the compiled code
        compiled(m.take(np.arange(min(m.n, 2_000))), k)
    run = run_search if search_alone else run_diva
    found = [
        run(m, sigma, k, algorithm, seed, max_backtracks, rule)
        for algorithm in algorithms
        if algorithm in STRATEGIES
        for rule in RULES_OVER_BOUND
    ]
    found += [run_baseline(m, sigma, k, name, seed) for name in algorithms if name in BASELINES]
    return [about | row for row in found]


def shown(runs: pd.DataFrame) -> pd.DataFrame:
    """Name the columns of :func:`measure` as figures and claims do."""
    return runs.rename(columns=NAMES)


def differences(runs: pd.DataFrame, keys: Sequence[str], *, base: str) -> pd.DataFrame:
    """Subtract, set by set, what one algorithm reached from what the others did.

    Parameters
    ----------
    runs : DataFrame
        As `shown` gives it.
    keys : sequence of str
        Columns that tell one set of constraints from another, the rule among them.
    base : str
        The algorithm that is subtracted.

    Returns
    -------
    DataFrame
        One row per set and other algorithm, with the difference in each of :data:`MEASURES`;
        missing where one of the two found no table.
    """
    wide = runs.set_index([*keys, "algorithm"])[list(MEASURES)].unstack("algorithm")
    others = [name for name in dict.fromkeys(runs["algorithm"]) if name != base]
    apart = {name: wide.xs(name, axis=1, level=1) - wide.xs(base, axis=1, level=1)
             for name in others}  # fmt: skip
    return pd.concat(apart, names=["algorithm"]).reset_index()


# -- one run ---------------------------------------------------------------------------------


def run_diva(
    m: Microdata,
    constraints: Sequence[DiversityConstraint],
    k: int,
    strategy: str,
    seed: int,
    max_backtracks: int = 10_000,
    over_bound: str = "star",
) -> dict:
    """Run DIVA once: seconds, accuracies, stars, and what the search did.

    ``outcome`` is "found", "budget used up" or "no table": by "star" that is proved, by "reject"
    the search ended without one. Only the first has accuracies.
    """
    row = {"algorithm": strategy, "over_bound": over_bound}
    began = time.perf_counter()
    try:
        p = diva(
            m, constraints, k, strategy, seed=seed, over_bound=over_bound,
            max_backtracks=max_backtracks, max_seconds=3600,
        )  # fmt: skip
    except (BudgetExceededError, ConstraintError) as error:
        outcome = "no table" if isinstance(error, ConstraintError) else "budget used up"
        tried = {name: getattr(error, "info", {}).get(name) for name in COUNTED}
        return row | {"seconds": time.perf_counter() - began, "outcome": outcome} | tried
    row |= {"seconds": time.perf_counter() - began, "outcome": "found"}
    row |= {name: p.info[name] for name in (*COUNTED, "coloured_by")}
    return row | measured(suppress(m, p), constraints, k)


def run_search(
    m: Microdata,
    constraints: Sequence[DiversityConstraint],
    k: int,
    strategy: str,
    seed: int,
    max_backtracks: int = 10_000,
    over_bound: str = "star",
) -> dict:
    """Search for a diverse clustering once, without k-member: seconds and what it did.

    This is Algorithm 3 alone, graph included. ``outcome`` is as that of :func:`run_diva`, but
    "no table" says of either rule that the search ended without one.
    """
    search = Search(max_backtracks, max_seconds=3600)
    began = time.perf_counter()
    run = Run(m, Targets.of(m, constraints), Privacy(k), strategy, None, generator(seed),
              over_bound == "star", 24, search)  # fmt: skip
    try:
        found = run.diverse_clustering(build_graph(m, constraints)) is not None
        outcome = "found" if found else "no table"
    except BudgetExceededError:
        outcome = "budget used up"
    row = {"algorithm": strategy, "over_bound": over_bound, "outcome": outcome}
    row |= {"seconds": time.perf_counter() - began}
    return row | {name: getattr(search, name) for name in COUNTED}


def run_baseline(
    m: Microdata, constraints: Sequence[DiversityConstraint], k: int, algorithm: str, seed: int
) -> dict:
    """Run a baseline once, which knows no constraints: seconds, accuracies, stars."""
    began = time.perf_counter()
    if algorithm == "mondrian":
        p = mondrian(m, k)
    else:
        p = {"k_member": k_member, "oka": oka}[algorithm](m, k, seed)
    row = {"algorithm": algorithm, "over_bound": "none", "outcome": "found"}
    row |= {"seconds": time.perf_counter() - began}
    return row | measured(suppress(m, p), constraints, k)


def measured(rel: Release, constraints: Sequence[DiversityConstraint], k: int) -> dict:
    """Return what is measured of a release: stars, discernibility, accuracies, satisfied."""
    return {
        "stars": stars(rel),
        "discernibility": discernibility(rel) / rel.microdata.n,
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
