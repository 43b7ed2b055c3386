"""The experiments of dewri2009: its table, runs of its search, and a proved optimum.

The paper prints no order of categorical values (`ORDER` is ours) and no weights but equal ones.
The optimum is found by branch and bound over borders, least bound first. Recodings below a node
divide the rows at least as finely as the borders kept there: sub-domains that leave 1 to k - 1
rows in a class of the other attributes' kept borders are excluded. NWP is a sum over attributes,
each at least its cheapest division into sub-domains that are left, a shortest path.
"""

import heapq

import numpy as np
import pandas as pd
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.core.termination import NoTermination
from pymoo.operators.crossover.pntx import SinglePointCrossover
from pymoo.operators.mutation.bitflip import BitflipMutation
from pymoo.operators.selection.tournament import TournamentSelection

import anonpaper as ap
from anonpaper.compiled import loop
from anonpaper.randomness import generator
from anonpaper.recoders.nsga2 import TwoObjectives, prefer_feasible, winners
from anonpaper.recoders.preference_search import graded

from anonpaper.recoders.evaluation import (  # isort: skip
    EPSILON, Archive, Evaluator, achievement, choose, class_keys, loss_weight, non_dominated,
    number_keys, sub_domains,
)  # fmt: skip

#: The attributes of Table 1 in its order, and the short names of the paper.
ATTRIBUTES = {
    "age": "age", "workclass": "wkc", "education": "edc", "marital-status": "mst",
    "occupation": "occ", "race": "rac", "sex": "gen", "native-country": "ncy",
    "salary-class": "slc",
}  # fmt: skip
#: The values of each categorical attribute: one bit lies between two neighbours. Education is
#: ordered by years.
ORDER = {
    "workclass": "Federal-gov State-gov Local-gov Private Self-emp-inc Self-emp-not-inc "
                 "Without-pay",
    "marital-status": "Never-married Married-civ-spouse Married-AF-spouse Married-spouse-absent "
                      "Separated Divorced Widowed",
    "occupation": "Exec-managerial Prof-specialty Tech-support Sales Adm-clerical Other-service "
                  "Priv-house-serv Protective-serv Armed-Forces Craft-repair Machine-op-inspct "
                  "Transport-moving Handlers-cleaners Farming-fishing",
    "race": "White Black Asian-Pac-Islander Amer-Indian-Eskimo Other",
    "sex": "Female Male",
    "native-country": "United-States Canada Outlying-US(Guam-USVI-etc) Puerto-Rico Cuba "
                      "Dominican-Republic Haiti Jamaica Trinadad&Tobago Mexico Guatemala Honduras "
                      "El-Salvador Nicaragua Columbia Ecuador Peru England Scotland Ireland "
                      "France Germany Holand-Netherlands Italy Portugal Greece Hungary "
                      "Poland Yugoslavia Iran India Thailand Cambodia Laos Vietnam "
                      "Philippines China Hong Taiwan Japan South",
    "salary-class": "<=50K >50K",
}  # fmt: skip
VALUES = ["nwp", "necd", "effective_k"]  # solutions with equal values are one solution
LEVELS = (10, 25, 50, 100)  # effective k for which a publisher may want the least ach of a run
_PAIRS = 500  # parents that are crossed to see what their children are


def adult() -> ap.Microdata:
    """Return the table of section 6: 30,162 rows, nine attributes, 105 bits."""
    loaded = ap.load("adult", qi=list(ATTRIBUTES), missing="drop")
    frame = loaded.frame[loaded.qi].copy()
    for name, values in ORDER.items():
        frame[name] = frame[name].cat.set_categories(values.split())
    m = loaded.replace(frame=frame, sensitive=None)
    return ap.granularize(m, {"age": 5}, ranges={"age": (0, 100)})


def with_us_at(m: ap.Microdata, place: int) -> ap.Microdata:
    """Return the table with the United States at another place of the order of countries."""
    countries = [v for v in m.attribute("native-country").values if v != "United-States"]
    countries.insert(place - 1, "United-States")
    column = m.frame["native-country"].cat.set_categories(countries)
    return m.replace(frame=m.frame.assign(**{"native-country": column}))


def random_weights(names: list[str], vectors: int, seed: int) -> list[dict[str, float]]:
    """Return weight vectors drawn evenly from all that sum to 1 (Dirichlet, all ones)."""
    drawn = np.random.default_rng(seed).dirichlet(np.ones(len(names)), vectors).tolist()
    return [dict(zip(names, weights, strict=True)) for weights in drawn]


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
    m: ap.Microdata, k_pref: int, preference, weights=None, *, objectives: int = 2,
    copies: bool = True, start: str = "graded", population: int = 100, evaluations: int = 50_000,
    seed: int = 0,
) -> tuple[Archive, np.ndarray]:  # fmt: skip
    """Return all that a search evaluated, and the places of its final population there.

    The first population is "graded" (the default of the package), "even" (fair coins), or "none
    feasible": graded, with other chromosomes in place of its k-anonymous ones.
    """
    archive, rng = Archive(m, k_pref, preference, weights), generator(seed)
    n_bits = archive.evaluator.n_bits  # line 1
    even = start == "even"
    first = rng.random((population, n_bits)) < 0.5 if even else graded(rng, population, n_bits)
    if start == "none feasible":
        first = np.resize(first[archive.evaluator.evaluate(first).smallest < k_pref], first.shape)
    # both keep the best of parents and children
    kind, problem, prefer = {
        1: (GA, OneObjective, _prefer_less_ach),  # line 2
        2: (NSGA2, TwoObjectives, prefer_feasible),  # line 3
    }[objectives]
    algorithm = kind(
        pop_size=population,
        sampling=first,
        selection=TournamentSelection(func_comp=prefer),
        crossover=SinglePointCrossover(prob=0.8),
        mutation=BitflipMutation(prob_var=0.001),
        eliminate_duplicates=not copies,  # line 4
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


def returned_solutions(m: ap.Microdata, k_pref: int, **setting) -> pd.DataFrame:
    """Return the non-dominated solutions of one search (Figure 1), the reported one marked."""
    r = ap.preference_search(m, k_pref, **setting)
    # chromosomes with equal values are one: bits between ages that nobody has change nothing
    solutions = r.info["non_dominated"].drop(columns="bits").drop_duplicates(VALUES)
    return solutions.assign(
        feasible=solutions["effective_k"] >= k_pref,
        reported=(solutions[VALUES] == [r.info[name] for name in VALUES]).all(axis=1),
    )


def reported_solution(m: ap.Microdata, k_pref: int, place: int = 1, **setting) -> dict:
    """Return the reported solution of one search (Figures 3, 4) and every attribute's part."""
    m = with_us_at(m, place) if place > 1 else m
    r = ap.preference_search(m, k_pref, **setting)  # line 2
    release, evaluator = ap.recode(m, r), Evaluator(m, setting.get("weights"))
    better = better_neighbours(evaluator, r.encode(), k_pref, setting["preference"])
    short = [ATTRIBUTES[name] for name in m.qi]
    losses = [ap.measure.nwp(release, {name: 1.0}) for name in m.qi]  # line 5
    return {
        "better neighbours": better,  # line 6; 0 in a local optimum
        **{name: r.info[name] for name in (*VALUES, "ach", "prefdev")},
        **{f"groups {name}": size for name, size in zip(short, r.sizes, strict=True)},  # line 4
        **{f"loss {name}": loss for name, loss in zip(short, losses, strict=True)},
    }


def measured_run(m: ap.Microdata, **setting) -> dict:
    """Return the reported solution of one `varied_search`, and counts of its final population."""
    archive, final = varied_search(m, **setting)
    k_pref, preference = setting["k_pref"], setting["preference"]
    population = archive.frame(final).drop_duplicates(VALUES, ignore_index=True)
    feasible = population[population["effective_k"] >= k_pref]
    first = archive.values("evaluation") <= setting.get("population", 100)
    row: dict = {
        "found": len(feasible) > 0,
        "unique": len(population),  # line 5
        "feasible": len(feasible),
        "distinct": len(archive),
        "first k": int(archive.values("effective_k")[first].max()),
    }
    if feasible.empty:
        return row
    best = choose(population, k_pref, preference)  # line 7
    returned = feasible[non_dominated(feasible["ach"], -feasible["effective_k"])]
    beats = (returned["nwp"] < best["nwp"]) & (returned["necd"] < best["necd"])
    bits = np.array([bit == "1" for bit in best["bits"]])
    row |= {name: best[name] for name in (*VALUES, "ach", "prefdev")}
    row |= {
        "better neighbours": better_neighbours(archive.evaluator, bits, k_pref, preference),
        "returned": len(returned),
        "minima": int((returned["ach"] == best["ach"]).sum()),
        "better in both": int(beats.sum()),
    }
    for level in LEVELS:
        row[f"ach at {level}"] = feasible.loc[feasible["effective_k"] >= level, "ach"].min()
    return row | _children_alike(archive, feasible, generator(setting.get("seed", 0)))  # line 6


def _children_alike(archive, parents: pd.DataFrame, rng: np.random.Generator) -> dict:
    """Cross pairs of different tables at one point: the share of children like a parent."""
    if len(parents) < 2:
        return {}
    bits = np.array([[bit == "1" for bit in text] for text in parents["bits"]])
    mother = rng.integers(len(parents), size=_PAIRS)
    father = (mother + rng.integers(1, len(parents), size=_PAIRS)) % len(parents)
    cut = rng.integers(1, bits.shape[1], size=_PAIRS)[:, None]
    children = np.where(np.arange(bits.shape[1]) < cut, bits[mother], bits[father])
    found = archive.evaluator.evaluate(children)
    child, solution = np.c_[found.nwp, found.necd, found.smallest], parents[VALUES].to_numpy()
    like = [(child == solution[parent]).all(axis=1) for parent in (mother, father)]
    return {"children alike": float(np.mean(np.logical_or(*like)))}


def true_optimum(m: ap.Microdata, attributes: list[str], k_pref: int, preference, weights=None):
    """Return the recoding of least ach of a projection, and how many beat it (Definition 2)."""
    r = ap.exhaustive(m.with_roles(qi=list(attributes)), k_pref, preference, weights)
    seen = r.info["evaluated"].query("effective_k >= @k_pref")[["nwp", "necd"]]
    return {
        "effective_k": r.info["effective_k"],
        "recodings": r.info["evaluations"],
        "feasible": len(seen),
        "front": len(r.info["front"]),
        "better in both": int((seen < [r.info["nwp"], r.info["necd"]]).all(axis=1).sum()),
    }


def ten_people() -> ap.Microdata:
    """Return ten people with four ages, two sexes and four kinds of work: seven bits."""
    kinds = {"p": "private", "o": "own", "f": "federal", "s": "state"}
    people = pd.DataFrame({
        "age": [23, 24, 27, 31, 33, 38, 41, 44, 46, 52],
        "sex": list("FFMFMMFFMM"),
        "work": [kinds[letter] for letter in "sfspopopsf"],
    })  # fmt: skip
    tree = [["private", "business", "*"], ["federal", "government", "*"],
            ["own", "business", "*"], ["state", "government", "*"]]  # fmt: skip
    m = ap.granularize(ap.Microdata(people, qi=["age", "sex", "work"]), {"age": 10})
    return ap.in_preorder(m, {"work": ap.Hierarchy(tree)})


def draw_step(m: ap.Microdata, chromosomes: dict[str, str], k: int, preference):
    """Draw the table that each chromosome publishes, its rows in the colours of their classes."""
    panels = []
    for name, bits in chromosomes.items():
        release = ap.recode(m, ap.Recoding.decode(m.attributes, bits))
        loss, bias = ap.measure.nwp(release), ap.measure.necd(release)
        kept = "" if ap.measure.effective_k(release) >= k else "not "
        title = f"{name}\n{bits}: {kept}{k}-anonymous\nNWP {loss:.2f}, NECD {bias:.2f}, "
        title += f"ach {ap.measure.ach(release, preference):.2f}"
        classes = release.frame.groupby(m.qi, sort=False, observed=True).ngroup()
        colours = [[ap.plots.PALE[number]] * m.d for number in classes]
        panels.append((title, release.frame[m.qi], colours, {}))
    return ap.plots.tables(panels)


TOLERANCE = 1e-12  # far above rounding: recodings whose NWP differs by less are not told apart
_JOINED, _FREE, _KEPT = -1, 0, 1
_PROBES = 10  # borders tried at a node before it is divided at one of them


def certified(m: ap.Microdata, k: int, preference, at_most: int, place: int = 1) -> dict:
    """Return the best k-anonymous recoding found, and what is proved of all others.

    None has an ach below the lower bound. If the search ends within `at_most` nodes, the recoding
    is ``optimal``: its ach is at most 1e-12 above the bound. `place` is where the United States
    stand in the order of countries.
    """
    archive = Archive(with_us_at(m, place) if place > 1 else m, k, preference, None)
    evaluator, of_loss = archive.evaluator, loss_weight(archive.preference)
    table = evaluator.table._replace(penalty=evaluator.table.penalty / evaluator.n)

    def limit() -> float:
        """The NWP from which a recoding has no less ach than the best one known."""
        return archive.least_ach / of_loss - EPSILON - TOLERANCE

    archive.look_up(np.zeros((1, evaluator.n_bits), dtype=bool))  # k-anonymous for every k
    waiting = [(0.0, 0, bytes(evaluator.n_bits))]  # line 1
    visited = born = 0
    while waiting and visited < at_most and waiting[0][0] < limit():
        state = np.frombuffer(heapq.heappop(waiting)[-1], np.int8).copy()  # line 2
        bound, division, border, if_kept, if_joined = _visit(table, k, state, limit())
        if np.isfinite(bound):
            archive.look_up(division[None])  # line 6
        visited += 1
        for choice, least in ((_KEPT, if_kept), (_JOINED, if_joined)):
            if border >= 0 and least < limit():  # line 7
                born += 1
                state[border] = choice
                heapq.heappush(waiting, (least, born, state.tobytes()))

    optimal = not waiting or waiting[0][0] >= limit()  # line 8
    loss = limit() if optimal else max(waiting[0][0] - TOLERANCE, 0.0)
    r = archive.recoding(archive.frame(), "branch and bound")
    return {
        **{name: r.info[name] for name in ("nwp", "necd", "effective_k", "ach")},
        "lower bound": float(min(achievement(loss, 0.0, archive.preference), archive.least_ach)),
        "optimal": bool(optimal),
        "nodes": visited,
        "borders": "".join(np.where(r.encode(), "|", ".")),  # a bar for a border that is kept
    }


@loop
def _visit(table, k, state, limit):
    """Fix borders; return bound, its division, border to divide at (or -1), and both bounds."""
    d, widest = len(table.sizes), table.value_rows.shape[1] + 1
    excluded = np.zeros((d, widest, widest), np.bool_)
    bound, division, gain = _bound(table, k, state, limit, excluded)
    border, if_kept, if_joined, best = -1, bound, bound, -1.0
    untried = state == _FREE
    for _ in range(_PROBES):
        if bound >= limit or not untried.any():
            break
        candidate = np.where(untried, gain, -1.0).argmax()  # the dearest to join
        if gain[candidate] <= best:
            break
        untried[candidate] = False
        tried = state.copy()
        tried[candidate] = _KEPT
        raised = _bound(table, k, tried, limit, excluded.copy())[0]
        worth = min(raised - bound, gain[candidate])
        worth += 0.1 * min(max(raised - bound, gain[candidate]), limit - bound)
        if worth > best:
            border, if_kept, if_joined, best = candidate, raised, bound + gain[candidate], worth
    return bound, division, border, if_kept, if_joined


@loop
def _bound(table, k, state, limit, excluded):
    """Bound the NWP of a node, and fix borders until nothing more follows."""
    d, n_bits = len(table.sizes), len(state)
    loss, ends = np.empty(d), np.cumsum(table.sizes - 1)
    kept, joined, division = np.empty(n_bits), np.empty(n_bits), np.empty(n_bits, np.bool_)
    grown = True  # whether more borders are kept than `excluded` knows of
    while True:
        if grown:
            _exclude(table, k, state, excluded)
        for j in range(d):
            mine = slice(ends[j] - table.sizes[j] + 1, ends[j])
            cost = _costs(table, j, state[mine], excluded[j])
            loss[j] = _divide(cost, kept[mine], joined[mine], division[mine])
        bound, gain = loss.sum(), np.zeros(n_bits)
        if bound >= limit:
            return bound, division, gain
        grown = fixed = False
        for border in range(n_bits):
            j = np.searchsorted(ends, border, side="right")
            if state[border] != _FREE:
                continue
            if bound - loss[j] + kept[border] >= limit:
                state[border], fixed = _JOINED, True
            elif bound - loss[j] + joined[border] >= limit:
                state[border], grown = _KEPT, True
            elif division[border]:
                gain[border] = joined[border] - loss[j]
        if not (grown or fixed):
            return bound, division, gain


@loop
def _exclude(table, k, state, excluded):
    """Mark [j, a, b] where values a to b - 1 of j leave a class of 1 to k - 1 rows."""
    maps = sub_domains(state == _KEPT, table.sizes)
    class_of, _ = class_keys(maps, table.codes, table.sizes)
    of_class = np.empty((len(table.sizes), number_keys(class_of)), table.codes.dtype)
    of_class[:, class_of] = table.codes  # the codes of one tuple of each class
    for j in range(len(table.sizes)):
        others = maps.copy()
        others[j] = 0
        other, _ = class_keys(others, of_class, table.sizes)
        rows = np.zeros((number_keys(other), table.sizes[j]), np.intp)
        for i in range(len(class_of)):
            rows[other[class_of[i]], table.codes[j, i]] += table.rows[i]
        for number in range(len(rows)):
            for a in range(table.sizes[j]):
                held = 0
                for b in range(a + 1, table.sizes[j] + 1):
                    held += rows[number, b - 1]
                    if held >= k:
                        break
                    if held > 0:
                        excluded[j, a, b] = True


@loop
def _costs(table, j, state, excluded):
    """NWP of [a, b], the values a to b - 1 as one sub-domain; infinite if excluded."""
    size = table.sizes[j]
    cost = np.full((size + 1, size + 1), np.inf)
    for a in range(size):
        if a > 0 and state[a - 1] == _JOINED:
            continue
        rows = 0
        for b in range(a + 1, size + 1):
            rows += table.value_rows[j, b - 1]
            if not excluded[a, b] and (b == size or state[b - 1] != _JOINED):
                cost[a, b] = table.penalty[j] * rows * (b - a - 1)
            if b < size and state[b - 1] == _KEPT:
                break
    return cost


@loop
def _divide(cost, kept, joined, division):
    """Return the least cost of a division; fill in those of keeping and joining each border."""
    size = len(cost) - 1
    before, after = np.full(size + 1, np.inf), np.full(size + 1, np.inf)
    previous = np.zeros(size + 1, np.intp)
    before[0] = after[size] = 0
    for b in range(1, size + 1):
        previous[b] = (before + cost[:, b]).argmin()
        before[b] = before[previous[b]] + cost[previous[b], b]
    for a in range(size - 1, -1, -1):
        after[a] = (cost[a] + after).min()
    for border in range(size - 1):
        kept[border], joined[border] = before[border + 1] + after[border + 1], np.inf
        for a in range(border + 1):  # a sub-domain from a to b or beyond
            least = (before[a] + cost[a, border + 2 :] + after[border + 2 :]).min()
            joined[border] = min(joined[border], least)
    division[:] = False
    at = previous[size]
    while at > 0:
        division[at - 1] = True
        at = previous[at]
    return before[size]
