"""The experiments of dewri2009: its table, runs of its search, and the numbers that judge them.

The paper prints neither the order of categorical values nor a weight vector besides equal weights.
`ORDER` is ours. Weights are parameters of the notebooks.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from dewri2009_variants import VALUES, better_neighbours, hill_climbing, varied_search
from matplotlib.axes import Axes
from pymoo.indicators.hv import HV

from anonpaper import measure
from anonpaper.datasets import load
from anonpaper.microdata import Microdata
from anonpaper.publish import recode
from anonpaper.randomness import generator
from anonpaper.recoders.evaluation import Evaluator, achievement, choose, non_dominated
from anonpaper.recoders.preference_search import exhaustive, preference_search
from anonpaper.repair.encoding import granularize

#: The attributes of Table 1 in its order, and the short names of the paper.
ATTRIBUTES = {
    "age": "age", "workclass": "wkc", "education": "edc", "marital-status": "mst",
    "occupation": "occ", "race": "rac", "sex": "gen", "native-country": "ncy",
    "salary-class": "slc",
}  # fmt: skip

#: The values of each categorical attribute, group by group: one bit lies between two neighbours.
#: Education is ordered by years.
ORDER = {
    "workclass": "Federal-gov State-gov Local-gov  Private  Self-emp-inc Self-emp-not-inc "
                 " Without-pay",
    "marital-status": "Never-married  Married-civ-spouse Married-AF-spouse Married-spouse-absent "
                      " Separated Divorced Widowed",
    "occupation": "Exec-managerial Prof-specialty Tech-support Sales Adm-clerical "
                  " Other-service Priv-house-serv Protective-serv Armed-Forces "
                  " Craft-repair Machine-op-inspct Transport-moving Handlers-cleaners "
                  "Farming-fishing",
    "race": "White Black  Asian-Pac-Islander Amer-Indian-Eskimo Other",
    "sex": "Female Male",
    "native-country": "United-States Canada Outlying-US(Guam-USVI-etc) "
                      " Puerto-Rico Cuba Dominican-Republic Haiti Jamaica Trinadad&Tobago "
                      " Mexico Guatemala Honduras El-Salvador Nicaragua  Columbia Ecuador Peru "
                      " England Scotland Ireland France Germany Holand-Netherlands Italy Portugal "
                      "Greece Hungary Poland Yugoslavia "
                      " Iran India Thailand Cambodia Laos Vietnam Philippines China Hong Taiwan "
                      "Japan  South",
    "salary-class": "<=50K >50K",
}  # fmt: skip

LEVELS = (10, 25, 50, 100)  # effective k for which a publisher may want the least ach of a run
_PAIRS = 500  # parents that are crossed to see what their children are


def adult() -> Microdata:
    """Return the table of section 6: 30,162 rows, nine attributes, 105 bits."""
    loaded = load("adult", qi=list(ATTRIBUTES), missing="drop")
    frame = loaded.frame[loaded.qi].copy()
    for name, values in ORDER.items():
        frame[name] = frame[name].cat.set_categories(values.split())
    m = loaded.replace(frame=frame, sensitive=None)
    return granularize(m, {"age": 5}, ranges={"age": (0, 100)})


def with_us_at(m: Microdata, place: int) -> Microdata:
    """Return the table with the United States at another place of the order of countries."""
    countries = [v for v in m.attribute("native-country").values if v != "United-States"]
    countries.insert(place - 1, "United-States")
    column = m.frame["native-country"].cat.set_categories(countries)
    return m.replace(frame=m.frame.assign(**{"native-country": column}))


def random_weights(names: list[str], vectors: int, seed: int) -> list[dict[str, float]]:
    """Return weight vectors drawn evenly from all that sum to 1 (Dirichlet, all ones)."""
    drawn = np.random.default_rng(seed).dirichlet(np.ones(len(names)), vectors).tolist()
    return [dict(zip(names, weights, strict=True)) for weights in drawn]


# -- runs of the search ------------------------------------------------------------------------


def returned_solutions(m: Microdata, k_pref: int, **setting) -> pd.DataFrame:
    """Return the non-dominated solutions of one search (Figure 1), the reported one marked."""
    r = preference_search(m, k_pref, **setting)
    # chromosomes with equal values are one: bits between ages that nobody has change nothing
    solutions = r.info["non_dominated"].drop(columns="bits").drop_duplicates(VALUES)
    return solutions.assign(
        feasible=solutions["effective_k"] >= k_pref,
        reported=(solutions[VALUES] == [r.info[name] for name in VALUES]).all(axis=1),
    )


def reported_solution(m: Microdata, k_pref: int, place: int = 1, **setting) -> dict:
    """Return the reported solution of one search (Figures 3, 4) and every attribute's part."""
    m = with_us_at(m, place) if place > 1 else m
    r = preference_search(m, k_pref, **setting)
    release, evaluator = recode(m, r), Evaluator(m, setting.get("weights"))
    better = better_neighbours(evaluator, r.encode(), k_pref, setting["preference"])
    short = [ATTRIBUTES[name] for name in m.qi]
    losses = [measure.nwp(release, {name: 1.0}) for name in m.qi]
    return {
        "better neighbours": better,  # 0 in a local optimum
        **{name: r.info[name] for name in (*VALUES, "ach", "prefdev")},
        **{f"groups {name}": size for name, size in zip(short, r.sizes, strict=True)},
        **{f"loss {name}": loss for name, loss in zip(short, losses, strict=True)},
    }


def measured_run(m: Microdata, **setting) -> dict:
    """Return the reported solution of one `varied_search`, and counts of its final population."""
    archive, final = varied_search(m, **setting)
    k_pref, preference = setting["k_pref"], setting["preference"]
    population = archive.frame(final).drop_duplicates(VALUES, ignore_index=True)
    feasible = population[population["effective_k"] >= k_pref]
    first = archive.values("evaluation") <= setting.get("population", 100)
    row: dict = {
        "found": len(feasible) > 0,
        "unique": len(population),
        "feasible": len(feasible),
        "mean nwp": float(population["nwp"].mean()),
        "distinct": len(archive),
        "first k": int(archive.values("effective_k")[first].max()),
    }
    if feasible.empty:
        return row
    best = choose(population, k_pref, preference)
    stays = non_dominated(feasible["ach"].to_numpy(), -feasible["effective_k"].to_numpy())
    returned = feasible[stays]
    beats = (returned["nwp"] < best["nwp"]) & (returned["necd"] < best["necd"])
    bits = np.array([bit == "1" for bit in best["bits"]])
    row |= {name: best[name] for name in (*VALUES, "ach", "prefdev")}
    row |= {
        "better neighbours": better_neighbours(archive.evaluator, bits, k_pref, preference),
        "returned": len(returned),
        "minima": int((returned["ach"] == best["ach"]).sum()),
        "better in both": int(beats.sum()),
        "more private": int((returned["effective_k"] > k_pref).sum()),
    }
    for level in LEVELS:
        row[f"ach at {level}"] = feasible.loc[feasible["effective_k"] >= level, "ach"].min()
    return row | _children_alike(archive, feasible, generator(setting.get("seed", 0)))


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


# -- how good it is, by all recodings of a few attributes ---------------------------------------


def true_optimum(m: Microdata, attributes: list[str], k_pref: int, preference, weights=None):
    """Return the recoding of least ach of a projection, and how many beat it (Definition 2)."""
    r = exhaustive(m.with_roles(qi=list(attributes)), k_pref, preference, weights)
    seen = r.info["evaluated"]
    seen = seen[seen["effective_k"] >= k_pref]
    less_loss, less_bias = seen["nwp"] < r.info["nwp"], seen["necd"] < r.info["necd"]
    no_more_loss, no_more_bias = seen["nwp"] <= r.info["nwp"], seen["necd"] <= r.info["necd"]
    return {
        "effective_k": r.info["effective_k"],
        "recodings": r.info["evaluations"],
        "feasible": len(seen),
        "front": len(r.info["front"]),
        "better in both": int((less_loss & less_bias).sum()),
        "better in one": int(((less_loss & no_more_bias) | (no_more_loss & less_bias)).sum()),
    }


def effects_of_joins(m: Microdata, attributes: list[str], weights=None) -> dict:
    """Count what joining two neighbouring sub-domains does, over all recodings of a projection."""
    seen = exhaustive(m.with_roles(qi=list(attributes)), 1, weights=weights).info["evaluated"]
    nwp, necd, k = (seen[name].to_numpy() for name in VALUES)
    rounding = 1e-12  # sums in another order differ by less
    # a join: two recodings that differ in one bit, numbered by their bits
    places = 1 << np.arange(len(seen.loc[0, "bits"]))
    before, bit = np.nonzero(np.arange(len(seen))[:, None] & places)
    after = before ^ places[bit]
    # and all pairs of recodings of which one, the row, has more joined borders
    kept = seen["bits"].str.count("1").to_numpy()
    more = kept[:, None] < kept
    return {
        "joins": len(before),
        "loss falls": int((nwp[after] < nwp[before] - rounding).sum()),
        "bias falls": int((necd[after] < necd[before] - rounding).sum()),
        "k falls": int((k[after] < k[before]).sum()),
        "pairs": int(more.sum()),
        "more joined, less loss": int((more & (nwp[:, None] < nwp - rounding)).sum()),
        "more joined, higher k": int((more & (k[:, None] > k)).sum()),
        "more joined, lower k": int((more & (k[:, None] < k)).sum()),
    }


def course_of_search(m: Microdata, k_pref: int, preference, method: str, evaluations, seed):
    """Return least feasible ach and hypervolume of the loss-bias plane along a search."""
    if method == "hill climbing":
        r = hill_climbing(m, k_pref, preference, evaluations, seed)
    else:
        options = {"evaluations": evaluations, "seed": seed, "refine": method == "refined"}
        r = preference_search(m, k_pref, preference, **options)
    seen = r.info["evaluated"]
    seen = seen[seen["effective_k"] >= k_pref]
    area = HV(ref_point=np.ones(2))  # between the solutions found so far and the worst point
    for at in np.unique(np.geomspace(evaluations / 100, evaluations, 20).astype(int)):
        so_far = seen[seen["evaluation"] <= at]
        points = so_far[["nwp", "necd"]].to_numpy()
        front = points[non_dominated(*points.T)]
        covered = float(area(front)) if len(front) else 0.0
        yield {"at": int(at), "least ach": so_far["ach"].min(), "hypervolume": covered}


# -- the plane of loss and bias ----------------------------------------------------------------


def draw_choice(ax: Axes, solutions: pd.DataFrame, k: int, preference) -> pd.Series:
    """Draw solutions in the loss-bias plane with contours of ach; return the chosen one."""
    feasible = solutions["effective_k"] >= k
    for kept, colour, sign in ((~feasible, "0.8", "<"), (feasible, "C0", "≥")):
        part = solutions[kept]
        ax.plot(part["nwp"], part["necd"], ".", color=colour, label=f"k {sign} {k}", ms=2,
                rasterized=True)  # fmt: skip
    x, y = np.meshgrid(np.linspace(0, 1, 101), np.linspace(0, 1, 101))
    ax.contour(x, y, achievement(x, y, preference), levels=8, colors="0.5", linewidths=0.5)
    ax.plot(*preference, "+", color="black", markersize=7, label="preference")
    chosen = choose(solutions, k, preference)
    ax.plot(chosen["nwp"], chosen["necd"], "o", color="C1", label="chosen")
    ax.set(xlabel="NWP (loss)", ylabel="NECD (bias)", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    return chosen
