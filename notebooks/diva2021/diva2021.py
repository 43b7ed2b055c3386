"""What diva2021 measures: sets of constraints, one run per setting, and pictures of ten people."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import anonpaper as ap
from anonpaper import plots
from anonpaper.compendium import reference, run_grid, timed
from anonpaper.constraints import DiversityConstraint, check_constraints
from anonpaper.datasets import population
from anonpaper.datasets.made_up import ATTRIBUTES
from anonpaper.errors import BudgetExceededError, ConstraintError
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.partition.diva.algorithms import Run, build_graph
from anonpaper.partition.diva.targets import Search, Targets
from anonpaper.randomness import generator

Constraints = Sequence[DiversityConstraint]
STRATEGIES = ("basic", "min_choice", "max_fan_out")
BASELINES = ("k_member", "oka", "mondrian")
DISTRIBUTIONS = ("zipf", "uniform", "gaussian")
CLASSES = ("minimum", "average", "proportion")
#: All but the first are accuracies: they grow as less is lost. Notebook 2 gives their formulas.
FORMULAS = ("ratio", "log", "range", "stars")
MEASURES = ["discernibility per row", *(f"accuracy ({of})" for of in FORMULAS)]
#: The parameters of `measure` as figures and claims call them.
NAMES = {"number": "constraints", "conflict": "conflict rate", "table": "data", "rows": "|R|"}
#: What the published lists call columns and values, where the files have other names.
OTHER_NAMES = {
    "pantheon": {"sex": "gender", "continent": "continentName"},
    "census": {"Asian-Pac-Islander": "Asian or Pacific Islander",
               "Amer-Indian-Eskimo": "Amer Indian Aleut or Eskimo"},
    "german": {"Male": "male", "Female": "female", "high": "management/self-employed",
               "unskilled and resident": "unskilled resident",
               "unskilled and non-resident": "unskilled non-resident"},
}  # fmt: skip
#: The attributes of each table whose values, single and in pairs, are targets.
SWEPT = {
    "census": ("sex", "race", "marital stat", "class of worker", "education"),
    "pantheon": ("gender", "continentName", "countryCode"),
} | dict.fromkeys(DISTRIBUTIONS, tuple(ATTRIBUTES)[:-1])
SWEPT["narrow"] = SWEPT["census"]
#: Quasi-identifiers of Census with 12,721 distinct tuples; Table 4 has 12,405 and names none.
NARROW = [*SWEPT["census"], "major industry code"]
#: How far upper bounds lie above lower ones. With equal bounds many sets have no solution.
SLACK = 0.2


def figure_tables(names: Sequence[str], population_rows: int = 100_000) -> dict[str, Microdata]:
    """Load tables without columns that have no role: data sets, distributions, or "narrow"."""
    tables = {}
    for name in names:
        if name in DISTRIBUTIONS:
            tables[name] = population(name, population_rows)
            continue
        m = ap.load("census").with_roles(qi=NARROW) if name == "narrow" else ap.load(name)
        if name == "german":  # its file has sex in one word with status
            sex = m.frame["personal-status-and-sex"].astype(str).str.split().str[0]
            qi = ["sex", "job", *(q for q in m.qi if q != "personal-status-and-sex")]
            m = ap.Microdata(m.frame.assign(sex=sex), qi, m.sensitive)
        tables[name] = m.replace(frame=m.frame[[*m.qi, m.sensitive]])
    return tables


def constraint_set(name: str, rule: str) -> list[DiversityConstraint]:
    """Return a published list of the paper's authors, with the names of our file."""
    lists, known = reference("diva2021_published_constraints"), OTHER_NAMES[name]
    lists = lists[(lists["data"] == name.replace("german", "credit")) & (lists["class"] == rule)]
    constraints = []
    for row in lists.itertuples():
        names = row.attribute.split(" and ")
        pairs = zip(names, row.value.split(" and ", len(names) - 1), strict=True)
        target = {known.get(a, a): known.get(v, v) for a, v in pairs}
        constraints.append(DiversityConstraint(target, row.low, row.high))
    return constraints


def constraints_with_conflict(
    m: Microdata, number: int, rate: float | None, *, attributes: Sequence,
    total: int | None = None, slack: float = SLACK, given: Constraints = (), seed: int = 0,
) -> list[DiversityConstraint]:  # fmt: skip
    """Choose proportion constraints whose conflict rate is close to a wanted one, if any.

    Targets have 200 rows or more. A local search exchanges one constraint at a time; the `given`
    ones stay.
    """
    entries = [*attributes, *combinations(attributes, 2)]
    pool = ap.constraints.proportion_constraints(m, entries, total, ("Unknown", "?"), slack)
    few = m.with_roles(qi=attributes, sensitive=None)  # few distinct tuples
    sizes = few.cells.counts
    targets = np.array([c.target_cells(few) for c in pool])
    enough = (targets @ sizes) >= 200
    pool = [c for c, keep in zip(pool, enough, strict=True) if keep]
    targets = targets[enough].astype(np.int8)

    def distance(claims: np.ndarray) -> float:
        return abs(sizes[claims > 1].sum() / max(sizes[claims > 0].sum(), 1) - (rate or 0))

    rng, kept = generator(seed), [pool.index(c) for c in given]
    others = np.setdiff1d(np.arange(len(pool)), kept)
    chosen = [*kept, *rng.choice(others, number - len(kept), replace=False)]
    claims = targets[chosen].sum(axis=0, dtype=np.int8)
    best = distance(claims)
    for _ in range(4_000):
        if rate is None or best < 0.005:
            break
        place, other = int(rng.integers(len(kept), number)), int(rng.integers(len(pool)))
        if other in chosen:
            continue
        changed = claims - targets[chosen[place]] + targets[other]
        if (now := distance(changed)) <= best:
            chosen[place], claims, best = other, changed, now
    return [pool[i] for i in sorted(chosen)]


def measure_all(grid: Sequence[dict], tables: Mapping[str, Microdata], **options) -> pd.DataFrame:
    """Call `measure` for every setting of a grid; options are those of `run_grid`."""
    runs = run_grid(measure, grid, common={"tables": tables}, **options).rename(columns=NAMES)
    return runs.assign(found=(runs["outcome"] == "found").astype(float))


def conflict_rate(m: Microdata, constraints: Constraints) -> float:
    """Share of the rows with a target that have several: 0 to 1. The paper prints no formula."""
    counts = m.cells.counts
    claims = sum(c.target_cells(m).astype(int) for c in constraints) + np.zeros(len(counts))
    return float(counts[claims >= 2].sum() / max(counts[claims >= 1].sum(), 1))


def measure(
    tables: Mapping[str, Microdata], table: str, rows: int, number: int, conflict: float | None,
    k: int, algorithms: Sequence[str], seed: int, max_candidates: int, slack: float = SLACK,
    share: float = 0.5, grown: Sequence[int] = (), search_alone: bool = False, repeats: int = 0,
) -> list[dict]:  # fmt: skip
    """Draw rows and constraints, run algorithms by the paper's rule, and measure the releases.

    A set holds the smaller ones whose sizes are in `grown`: each adds constraints to the one
    before. With `repeats` only times are measured.
    """
    m, sigma = tables[table], []
    if rows < m.n:
        m = m.sample(rows, seed)
    for size in [*(n for n in sorted(grown) if n < number), number]:
        sigma = constraints_with_conflict(
            m, size, conflict, attributes=SWEPT[table], total=int(share * m.n), slack=slack,
            given=sigma, seed=seed,
        )  # fmt: skip
    about = {  # this also groups equal rows, outside of the clock
        "achieved": conflict_rate(m, sigma),
        "target rows per row": sum(int(c.target_rows(m).sum()) for c in sigma) / m.n,
    }
    found = []
    for name in sorted(algorithms, key=BASELINES.__contains__):
        once = partial(run, m, sigma, k, name, seed, max_candidates, search_alone)
        seconds, (row, p) = timed(once, repeats) if repeats else (None, once())
        row = {"algorithm": name} | about | row
        found.append(row | ({"seconds": seconds} if repeats else measured(m, p, sigma, k)))
    return found


def run(
    m: Microdata, constraints: Constraints, k: int, algorithm: str, seed: int,
    max_candidates=1_000, search_alone=False,
) -> tuple[dict, Partition | None]:  # fmt: skip
    """Run an algorithm once: the outcome, counts of a search, and the groups if there are any.

    Only a search that has seen all clusterings says "no table". `search_alone` is Algorithm 3.
    """
    if algorithm in BASELINES:
        drawn = () if algorithm == "mondrian" else (seed,)
        return {"outcome": "found"}, getattr(ap, algorithm)(m, k, *drawn)
    search, p = Search(max_candidates, max_seconds=3600), None
    try:
        if search_alone:
            targets, rng = Targets.of(m, constraints, k), generator(seed)
            search_of = Run(m, targets, algorithm, rng, False, search)
            found = search_of.diverse_clustering(build_graph(m, constraints)) is not None
            outcome, info = "found" if found else "no table", search.info()
        else:
            p = ap.diva(m, constraints, k, algorithm, seed=seed, over_bound="reject",
                        max_candidates=max_candidates, max_seconds=3600)  # fmt: skip
            outcome, info = "found", p.info
    except (BudgetExceededError, ConstraintError) as error:
        outcome = "no table" if isinstance(error, ConstraintError) else "no table found"
        info = getattr(error, "info", {})
    counts = {"candidates": info.get("candidates_tried"), "steps back": info.get("backtracks")}
    return {"outcome": outcome} | counts, p


def measured(m: Microdata, p: Partition | None, constraints: Constraints, k: int) -> dict:
    """Return what is measured of a release; nothing of a run without groups."""
    if p is None:
        return {}
    rel = ap.suppress(m, p)
    formulas = [ap.measure.discernibility_ratio(rel, k, of) for of in FORMULAS]
    return {
        "stars": ap.measure.stars(rel),
        "integrate": p.info.get("stars_by_phase", {}).get("integrate"),
        **dict(zip(MEASURES, [ap.measure.discernibility(rel) / m.n, *formulas], strict=True)),
        "satisfied": float(check_constraints(rel, constraints)["holds"].mean()),
    }


def draw_groups(m: Microdata, partitions: Mapping, sigma: Constraints = ()) -> Figure:
    """Draw target values, and what partitions of a few rows publish, their groups in colour."""
    frame, steps = m.frame[m.qi].astype(str), []
    targets = pd.DataFrame(-1, frame.index, m.qi)
    for number, constraint in enumerate(sigma):
        targets.loc[constraint.target_rows(m), list(constraint.target)] = number
    if sigma:
        steps.append(("coloured values must stay visible", frame, targets))
    for name, p in partitions.items():
        rel = ap.suppress(m, p)
        title = f"{name}: {ap.measure.stars(rel)} suppressed values"
        if sigma:
            title += f", {sum(c.holds(rel) for c in sigma)} of {len(sigma)} constraints"
        texts = rel.frame[m.qi].astype(str).set_axis(frame.index)
        steps.append((title, texts, targets.assign(**dict.fromkeys(m.qi, p.labels))))
    shades = np.array([*plots.PALE, None])
    return plots.tables([(title, texts, shades[colours.to_numpy()], {"left": frame.index})
                         for title, texts, colours in steps])  # fmt: skip


def draw_graph(ax, m: Microdata, sigma: Constraints, coloured: Mapping, size=1100) -> nx.Graph:
    """Draw three constraints as nodes, and what the coloured ones (1 to 3) have."""
    graph, place = build_graph(m, sigma), {0: (0, 0), 2: (1, 0), 1: (2, 0)}
    lines = {v: "\n".join([f"$v_{v + 1}$", *map(", ".join, coloured.get(v + 1, ()))])
             for v in graph}  # fmt: skip
    faces = [plots.PALE[v] if v + 1 in coloured else "white" for v in graph]
    nx.draw_networkx(graph, place, ax=ax, labels=lines, node_color=faces, edgecolors="black",
                     node_size=size, font_size=7)  # fmt: skip
    ax.margins(0.25, 0.7)
    ax.set_axis_off()
    return graph


def draw_accuracy(runs, x: str, measures: list, order: list, title: str, of="", base="") -> Figure:
    """Draw measures of the tables found, and the last one's difference from `base` on each set."""
    figure, axes = plots.subplots(columns=2, cols=len(measures) + bool(base), height=2.5)
    for ax, measure in zip(axes, measures, strict=False):
        plots.lines(ax, runs, x, measure, "algorithm", order=order, spread="quartiles")
        ax.set(yscale="log" if measure == MEASURES[0] else "linear")
    if base:
        wide = runs.pivot(index=[x, "seed"], columns="algorithm", values=measures[-1])
        label = f"{measures[-1]},\nless {base}"
        apart = wide.sub(wide.pop(base), axis=0).melt(ignore_index=False, value_name=label)
        plots.lines(axes[-1], apart.reset_index(), x, label, "algorithm", order=order,
                    spread="quartiles")  # fmt: skip
        axes[-1].axhline(0, color="0.7", zorder=0)
    finish(figure, title, of)
    return figure


def finish(figure: Figure, title: str, of: str = "") -> None:
    """Add a title, one legend, and the paper's words about its figure `of`."""
    if of:
        told = reference("diva2021_fig4-5_in_words").set_index("figure").loc[of]
        arrow = "grey arrow; " if told["direction"] else ""
        title += f"\nthe paper's words ({arrow}its points are lost): {told['words']}"
        ends = [(x, 0.5 + x * 0.6 * told["direction"]) for x in (0.4, -0.4)]
        figure.axes[told["panel"]].annotate(
            "", *[(0.5 + x, y) for x, y in ends], "axes fraction", zorder=0,
            arrowprops={"color": "0.88", "width": 6, "visible": bool(told["direction"])},
        )  # fmt: skip
    figure.suptitle(title, fontsize=8)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
