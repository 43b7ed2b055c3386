"""What diva2021 measures: constraint sets, the steps of its examples, and one run per figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, product

import networkx as nx
import numpy as np
import pandas as pd

import anonpaper as ap
from anonpaper.compendium.grids import timed
from anonpaper.constraints import DiversityConstraint
from anonpaper.datasets import population
from anonpaper.datasets.made_up import ATTRIBUTES
from anonpaper.errors import BudgetExceededError, ConstraintError, ParameterError, check_number
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.partition.diva.algorithms import Run, build_graph, coloring
from anonpaper.partition.diva.clusterings import Clusterings
from anonpaper.partition.diva.search import Search
from anonpaper.partition.diva.targets import Privacy, Targets
from anonpaper.randomness import generator

STRATEGIES = ("basic", "min_choice", "max_fan_out")
BASELINES = ("k_member", "oka", "mondrian")
DISTRIBUTIONS = ("uniform", "zipf", "gaussian")
COUNTED = ("candidates_tried", "backtracks")

#: What the published lists call columns and values, where the files say it otherwise.
OTHER_NAMES = {
    "pantheon": {"sex": "gender", "continent": "continentName"},
    "census": {"Asian-Pac-Islander": "Asian or Pacific Islander",
               "Amer-Indian-Eskimo": "Amer Indian Aleut or Eskimo"},
    "german": {"Male": "male", "Female": "female", "high": "management/self-employed",
               "unskilled and resident": "unskilled resident",
               "unskilled and non-resident": "unskilled non-resident"},
}  # fmt: skip
CLASSES = ("minimum", "average", "proportion")
#: Of each table of the figures, the attributes whose values, single and in pairs, are targets.
SWEPT = {
    "census": ("sex", "race", "marital stat", "class of worker", "education"),
    "pantheon": ("gender", "continentName", "countryCode"),
} | dict.fromkeys(DISTRIBUTIONS, tuple(ATTRIBUTES)[:-1])
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
    "candidates_tried": "candidates",
    "backtracks": "steps back",
    "table": "data",
    "rows": "|R|",
    "target_rows": "target rows per row",
}
#: Values that stand for "not known" are nobody's group.
NOT_KNOWN = ("Unknown", "?")


def data_set(name: str) -> Microdata:
    """Load a data set of Table 4; Credit with sex, which its file has in one word with status."""
    m = ap.load(name)
    if name != "german":
        return m
    sex = m.frame["personal-status-and-sex"].astype(str).str.split().str[0]
    qi = ["sex", "job", *(q for q in m.qi if q != "personal-status-and-sex")]
    return ap.Microdata(m.frame.assign(sex=sex), qi, m.sensitive)


def constraint_set(name: str, rule: str) -> list[DiversityConstraint]:
    """Return a published list of the paper's authors, with the names of our file."""
    lists = ap.compendium.reference("diva2021_published_constraints")
    data = {"german": "credit"}.get(name, name)
    known = OTHER_NAMES[name]
    return [
        DiversityConstraint(
            {known.get(a, a): known.get(v, v)
             for a, v in zip(row.attribute.split(" and "), pair, strict=True)},
            row.low, row.high,
        )
        for row in lists[(lists["data"] == data) & (lists["class"] == rule)].itertuples()
        for pair in [row.value.split(" and ") if " and " in row.attribute else [row.value]]
    ]  # fmt: skip


def constraints_asked(m: Microdata, name: str, rule: str) -> list[DiversityConstraint]:
    """Return the constraints of "no constraints", a class, or "proportion, no upper bounds"."""
    if rule == "no constraints":
        return []
    rule, _, unbounded = rule.partition(", ")
    sigma = constraint_set(name, rule)
    if not unbounded:
        return sigma
    return [DiversityConstraint(c.target, c.low, max(c.high, m.n)) for c in sigma]


def published_lists(tables: Mapping[str, Microdata], ks: Sequence[int]) -> pd.DataFrame:
    """Say for every published list and k whether a table exists, and if not, why."""
    found = []
    for (name, m), rule, k in product(tables.items(), CLASSES, ks):
        outcome, why = "found", ""
        try:
            ap.diva(m, constraint_set(name, rule), k)
        except (ConstraintError, BudgetExceededError) as error:
            outcome = "no table" if isinstance(error, ConstraintError) else "no table found"
            why = str(error).replace("\n- ", " ").partition(": ")[2] or str(error)
        found.append({"data": name, "constraints": rule, "k": k, "outcome": outcome, "why": why})
    return pd.DataFrame(found)


def table_4(name: str) -> dict:
    """Return what Table 4 says of a data set, counted here."""
    m = population() if name == "popsyn" else ap.load(name)
    lists = [constraint_set(name, rule) for rule in CLASSES if name in OTHER_NAMES]
    return {
        "rows": m.n,
        "attributes": m.frame.shape[1],
        "distinct_qi_tuples": len(m.cells),
        "constraints": sum(map(len, lists)) or None,
    }


def constraints_with_conflict(
    m: Microdata, number: int, rate: float | None, *, attributes: Sequence,
    total: int | None = None, slack: float = 0.0, targeted: float | None = None,
    least: int = 200, given: Sequence[DiversityConstraint] = (), seed: int = 0, steps: int = 4_000,
) -> list[DiversityConstraint]:  # fmt: skip
    """Choose proportion constraints whose conflict rate is close to a wanted one.

    Targets are values of attributes and of pairs of them, with `least` rows or more. The target
    rows of all constraints, each counted by itself, add up to `targeted` of the table's rows, or
    to any number. A local search exchanges one constraint at a time, in `steps` at most. The
    `given` constraints stay, so that a set can be made larger.
    """
    if rate is not None:  # else any set
        rate = check_number("rate", rate, 0, 1)
    entries = [*attributes, *combinations(attributes, 2)]
    pool = ap.constraints.proportion_constraints(m, entries, total, NOT_KNOWN, slack)
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
        apart = abs(cells.tuple_sizes[claims > 1].sum() / max(claimed, 1) - (rate or 0))
        if targeted is None:
            return apart
        return apart + abs(int(claims @ cells.tuple_sizes) / m.n - targeted)

    rng, kept = generator(seed), [pool.index(c) for c in given]
    others = np.setdiff1d(np.arange(len(pool)), kept)
    chosen = [*kept, *rng.choice(others, number - len(kept), replace=False)]
    claims = targets[chosen].sum(axis=0, dtype=np.int8)
    best = distance(claims)
    for _ in range(steps):
        if rate is None or best < 0.005:
            break
        place, other = int(rng.integers(len(kept), number)), int(rng.integers(len(pool)))
        if other in chosen:
            continue
        changed = claims - targets[chosen[place]] + targets[other]
        if (now := distance(changed)) <= best:
            chosen[place], claims, best = other, changed, now
    return [pool[i] for i in sorted(chosen)]


def figure_tables(names: Sequence[str], population_rows: int = 100_000) -> dict[str, Microdata]:
    """Return the tables of the figures by name, without the columns that have no role.

    A name is a data set's, a distribution of Pop-Syn, or "narrow": Census with NARROW.
    """
    tables = {}
    for name in names:
        if name in DISTRIBUTIONS:
            tables[name] = population(name, population_rows)
        else:  # workers get a copy: what they do not read stays behind
            m = ap.load("census").with_roles(qi=NARROW) if name == "narrow" else ap.load(name)
            tables[name] = m.replace(frame=m.frame[[*m.qi, m.sensitive]])
    return tables


def measure(
    tables: Mapping[str, Microdata], k: int, algorithms: Sequence[str], seed: int,
    max_candidates: int, search_alone: bool = False, **drawn,
) -> list[dict]:  # fmt: skip
    """Run algorithms on a set that `setting` draws, DIVA by the paper's rule for bounds.

    The budget of a search counts candidates, not seconds, so that it does not depend on the
    machine whether a run ends with a result.
    """
    m, sigma = setting(tables, seed=seed, **drawn)
    about = {
        "achieved": ap.constraints.conflict_rate(m, sigma),
        "target_rows": sum(int(c.target_rows(m).sum()) for c in sigma) / m.n,
    }
    found = []
    for named, run in runs(m, sigma, k, algorithms, seed, max_candidates, search_alone):
        row, p = run()
        found.append(about | named | row | ({} if search_alone else measured(m, p, sigma, k)))
    return found


def measure_time(
    tables: Mapping[str, Microdata], k: int, algorithms: Sequence[str], seed: int,
    max_candidates: int, repeats: int, search_alone: bool = False, **drawn,
) -> list[dict]:  # fmt: skip
    """Time the runs of `measure`; grouping equal rows is common to all of them and not timed."""
    m, sigma = setting(tables, seed=seed, **drawn)
    m.cells  # noqa: B018 - now, outside of the clock
    found = []
    for named, run in runs(m, sigma, k, algorithms, seed, max_candidates, search_alone):
        seconds, (row, _) = timed(run, repeats)
        found.append(named | {"outcome": row["outcome"], "seconds": seconds})
    return found


def setting(
    tables: Mapping[str, Microdata], table: str, rows: int, number: int, conflict: float | None,
    seed: int, slack: float = SLACK, share: float = 0.5, targeted: float | None = None,
    grown: Sequence[int] = (),
) -> tuple[Microdata, list[DiversityConstraint]]:  # fmt: skip
    """Draw the table and the constraints of one setting of Table 5.

    `rows` are drawn from the table if it has more; `number` and `conflict` are |Sigma| and
    cf(Sigma), `share` is M as a share of the rows. A set holds the smaller sets whose sizes are
    below `number` in `grown`: each adds constraints to the one before, as in Figure 4b.
    """
    m, sigma = tables[table], []
    if rows < m.n:
        m = m.sample(rows, seed)
    for size in [*(n for n in sorted(grown) if n < number), number]:
        sigma = constraints_with_conflict(
            m, size, conflict, attributes=SWEPT[table], total=int(share * m.n), slack=slack,
            targeted=targeted, given=sigma, seed=seed,
        )  # fmt: skip
    return m, sigma


def runs(
    m: Microdata, sigma: Sequence[DiversityConstraint], k: int, algorithms: Sequence[str],
    seed: int, max_candidates: int, search_alone: bool = False,
) -> Iterator[tuple[dict, Callable[[], tuple[dict, Partition | None]]]]:  # fmt: skip
    """Yield the algorithm, and what runs it: outcome and groups. Baselines come last."""
    run = run_search if search_alone else run_diva
    for name in sorted(algorithms, key=lambda name: name in BASELINES):
        one = partial(run, m, sigma, k, name, seed, max_candidates)
        if name in BASELINES:
            one = partial(run_baseline, m, k, name, seed)
        yield {"algorithm": name}, one


def shown(runs: pd.DataFrame) -> pd.DataFrame:
    """Name the columns of `measure` as figures and claims do."""
    return runs.rename(columns=NAMES)


def differences(runs: pd.DataFrame, keys: Sequence[str], *, base: str) -> pd.DataFrame:
    """Subtract from each measure what the algorithm `base` reached on the same set.

    `keys` tell one set from another.
    """
    wide = runs.set_index([*keys, "algorithm"])[list(MEASURES)].unstack("algorithm")
    wide = wide.swaplevel(axis=1)
    others = [name for name in dict.fromkeys(runs["algorithm"]) if name != base]
    apart = {name: wide[name] - wide[base] for name in others}
    return pd.concat(apart, names=["algorithm"]).reset_index()


def run_diva(
    m: Microdata, constraints: Sequence[DiversityConstraint], k: int, strategy: str, seed: int,
    max_candidates: int, over_bound: str = "reject",
) -> tuple[dict, Partition | None]:  # fmt: skip
    """Run DIVA once: the outcome, what the search did, and the groups if they were found.

    The outcome is "found", "no table" (all clusterings were seen) or "no table found".
    """
    try:
        p = ap.diva(
            m, constraints, k, strategy, seed=seed, over_bound=over_bound,
            max_candidates=max_candidates, max_seconds=3600,
        )  # fmt: skip
    except (BudgetExceededError, ConstraintError) as error:
        outcome = "no table" if isinstance(error, ConstraintError) else "no table found"
        info = getattr(error, "info", {})
        return {"outcome": outcome} | {name: info.get(name) for name in COUNTED}, None
    return {"outcome": "found"} | {name: p.info[name] for name in COUNTED}, p


def run_search(
    m: Microdata, constraints: Sequence[DiversityConstraint], k: int, strategy: str, seed: int,
    max_candidates: int,
) -> tuple[dict, None]:  # fmt: skip
    """Run Algorithm 3 alone, graph included; outcomes as of `run_diva`."""
    search = Search(max_candidates, max_seconds=3600)
    run = Run(m, Targets.of(m, constraints), Privacy(k), strategy, generator(seed),
              False, search)  # fmt: skip
    try:
        found = run.diverse_clustering(build_graph(m, constraints)) is not None
        outcome = "found" if found else "no table"
    except BudgetExceededError:
        outcome = "no table found"
    return {"outcome": outcome} | {name: getattr(search, name) for name in COUNTED}, None


def run_baseline(m: Microdata, k: int, algorithm: str, seed: int) -> tuple[dict, Partition]:
    """Run a baseline once, which knows no constraints."""
    p = ap.mondrian(m, k) if algorithm == "mondrian" else getattr(ap, algorithm)(m, k, seed)
    return {"outcome": "found"}, p


def measured(
    m: Microdata, p: Partition | None, constraints: Sequence[DiversityConstraint], k: int
) -> dict:
    """Return what is measured of a release; nothing of a run without a table."""
    if p is None:
        return {}
    rel = ap.suppress(m, p)
    holds = ap.constraints.check_constraints(rel, constraints)["holds"]
    return {
        "stars": ap.measure.stars(rel),
        "integrate": p.info.get("stars_by_phase", {}).get("integrate"),
        "discernibility": ap.measure.discernibility(rel) / m.n,
        "accuracy": ap.measure.discernibility_ratio(rel, k),
        "accuracy_log": ap.measure.discernibility_ratio(rel, k, of="log"),
        "accuracy_range": ap.measure.discernibility_ratio(rel, k, of="range"),
        "accuracy_stars": ap.measure.discernibility_ratio(rel, k, of="stars"),
        "satisfied": float(holds.mean()),
    }


def figure_3_steps() -> tuple[nx.Graph, list[dict]]:
    """Replay the colouring of Example 3.4: its graph, and one step after the other.

    The nodes are coloured in the order v1, v3, v2, and v3 tries {t6, t7} before {t7, t8}, as the
    text has it; everything else is the package's search. A step has an action ("colour",
    "reject" or "backtrack"), the node (1 to 3), clusters (names of rows), and what is coloured.
    """
    m, sigma = ap.examples.patients(), ap.examples.patients_constraints()
    graph = build_graph(m, sigma)
    V = Clusterings(
        m.codes, Targets.of(m, sigma), Privacy(2), [set(graph[v]) for v in graph], generator(0)
    )
    script = {0: [[8, 9]], 2: [[5, 6], [6, 7]], 1: [[4, 5]]}
    search = Search(max_candidates=10, max_seconds=60, trace=[])
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
