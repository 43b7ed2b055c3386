"""The experiments of dewri2009: its table, its runs, and the numbers that judge them.

The paper prints no taxonomies, which order the categorical values, and no weight vector but the
first. `TAXONOMIES` are ours. Weights are parameters of the notebooks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from dewri2009_optimum import certified, hill_climbing
from dewri2009_variants import VALUES, better_neighbours
from dewri2009_weights import by_name, losses
from matplotlib.axes import Axes
from pymoo.indicators.hv import HV

from anonpaper import plots
from anonpaper.datasets import load
from anonpaper.hierarchy import Hierarchy
from anonpaper.microdata import Microdata
from anonpaper.recoders.evaluation import Evaluator, achievement, choose, non_dominated
from anonpaper.recoders.preference_search import exhaustive, preference_search
from anonpaper.recoding import Recoding
from anonpaper.repair.encoding import granularize, in_preorder

#: The attributes of Table 1 in its order, and the short names of the paper.
ATTRIBUTES = {
    "age": "age", "workclass": "wkc", "education": "edc", "marital-status": "mst",
    "occupation": "occ", "race": "rac", "sex": "gen", "native-country": "ncy",
    "salary-class": "slc",
}  # fmt: skip

#: Groups of the values of each categorical attribute, in the order of the encoding: one bit lies
#: between any two neighbours. Education is ordered by years and needs no tree. The order of values
#: in the trees of `anonpaper.datasets.trees` means nothing.
TAXONOMIES = {
    "workclass": {
        "employed by government": ["Federal-gov", "State-gov", "Local-gov"],
        "employed by a company": ["Private"],
        "self-employed": ["Self-emp-inc", "Self-emp-not-inc"],
        "unpaid": ["Without-pay"],
    },
    "marital-status": {
        "never married": ["Never-married"],
        "married": ["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"],
        "formerly married": ["Separated", "Divorced", "Widowed"],
    },
    "occupation": {
        "office": ["Exec-managerial", "Prof-specialty", "Tech-support", "Sales", "Adm-clerical"],
        "service": ["Other-service", "Priv-house-serv", "Protective-serv", "Armed-Forces"],
        "manual": ["Craft-repair", "Machine-op-inspct", "Transport-moving", "Handlers-cleaners",
                   "Farming-fishing"],
    },
    "race": {
        "largest groups": ["White", "Black"],
        "smaller groups": ["Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"],
    },
    "sex": {"any": ["Female", "Male"]},
    "native-country": {
        "North America": ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)"],
        "Caribbean": ["Puerto-Rico", "Cuba", "Dominican-Republic", "Haiti", "Jamaica",
                      "Trinadad&Tobago"],
        "Central America": ["Mexico", "Guatemala", "Honduras", "El-Salvador", "Nicaragua"],
        "South America": ["Columbia", "Ecuador", "Peru"],
        "Europe": ["England", "Scotland", "Ireland", "France", "Germany", "Holand-Netherlands",
                   "Italy", "Portugal", "Greece", "Hungary", "Poland", "Yugoslavia"],
        "Asia": ["Iran", "India", "Thailand", "Cambodia", "Laos", "Vietnam", "Philippines",
                 "China", "Hong", "Taiwan", "Japan"],
        "unclear": ["South"],
    },
    "salary-class": {"any": ["<=50K", ">50K"]},
}  # fmt: skip


def taxonomy(name: str) -> Hierarchy:
    """Return the tree of an attribute, three levels high: value, group, star."""
    groups = TAXONOMIES[name].items()
    return Hierarchy([[value, group, "*"] for group, values in groups for value in values])


def adult() -> Microdata:
    """Return the table of section 6: 30,162 rows, nine attributes, 105 bits."""
    loaded = load("adult", qi=list(ATTRIBUTES), missing="drop")
    frame = loaded.frame[loaded.qi].copy()
    for name in TAXONOMIES:
        frame[name] = frame[name].cat.remove_unused_categories()
    m = loaded.replace(frame=frame, sensitive=None)
    m = granularize(m, {"age": 5}, ranges={"age": (0, 100)})
    return in_preorder(m, {name: taxonomy(name) for name in TAXONOMIES})


def with_us_at(m: Microdata, place: int) -> Microdata:
    """Return the table with the United States at another place of the order of countries."""
    countries = [v for v in m.attribute("native-country").values if v != "United-States"]
    countries.insert(place - 1, "United-States")
    column = m.frame["native-country"].cat.set_categories(countries)
    return m.replace(frame=m.frame.assign(**{"native-country": column}))


def optimum_at(m: Microdata, place: int, k: int, preference, at_most: int) -> dict:
    """Return the proved optimum with the United States at a place, and the groups of countries."""
    moved = with_us_at(m, place)
    found = certified(moved, k, preference, at_most)
    r = Recoding.decode(moved.attributes, [border == "|" for border in found.pop("borders")])
    return found | {"groups ncy": r.sizes[m.qi.index("native-country")]}


def reported_at(m: Microdata, place: int, **setting) -> dict:
    """Return the solution that one `search` reports with the United States at a place."""
    return reported_solution(with_us_at(m, place), **setting)


def short_name(column: str) -> str:
    """Return a column such as "groups race" with the paper's short name of its attribute."""
    kind, _, name = column.partition(" ")
    return f"{kind} {ATTRIBUTES[name]}" if name in ATTRIBUTES else column


# -- runs of the search ------------------------------------------------------------------------


def search(m: Microdata, k_pref: int, preference, weights=None, **options) -> Recoding:
    """Run `preference_search` with weights in the order of the attributes."""
    return preference_search(m, k_pref, tuple(preference), by_name(m, weights), **options)


def returned_solutions(m: Microdata, **setting) -> pd.DataFrame:
    """Return the non-dominated solutions of one `search` (Figure 1), the reported one marked."""
    r = search(m, **setting)
    # chromosomes with equal values are one: bits between ages that nobody has change nothing
    solutions = r.info["non_dominated"].drop(columns="bits").drop_duplicates(VALUES)
    return solutions.assign(
        feasible=solutions["effective_k"] >= setting["k_pref"],
        reported=(solutions[VALUES] == [r.info[name] for name in VALUES]).all(axis=1),
    )


def reported_solution(m: Microdata, **setting) -> dict:
    """Return the reported solution of one `search` (Figures 3, 4) and every attribute's part."""
    r = search(m, **setting)
    evaluator = Evaluator(m, by_name(m, setting.get("weights")))
    better = better_neighbours(evaluator, r.encode(), setting["k_pref"], setting["preference"])
    return {
        "better neighbours": better,  # 0 in a local optimum
        **{name: r.info[name] for name in (*VALUES, "ach", "prefdev")},
        **{f"groups {name}": size for name, size in zip(m.qi, r.sizes, strict=True)},
        **{f"loss {name}": loss for name, loss in losses(m, r).items()},
    }


# -- how good is it ----------------------------------------------------------------------------


def efficiency_of_optimum(
    m: Microdata, attributes: Sequence[str], k_pref: int, preference: Sequence[float]
) -> dict:
    """Count the recodings of a projection that beat the one of least ach (Definition 2)."""
    r = exhaustive(m.with_roles(qi=list(attributes)), k_pref, tuple(preference))
    seen = r.info["evaluated"]
    seen = seen[seen["effective_k"] >= k_pref]
    less_loss, less_bias = seen["nwp"] < r.info["nwp"], seen["necd"] < r.info["necd"]
    no_more_loss, no_more_bias = seen["nwp"] <= r.info["nwp"], seen["necd"] <= r.info["necd"]
    one_better = (less_loss & no_more_bias) | (no_more_loss & less_bias)
    return {
        "recodings": r.info["evaluations"],
        "feasible": len(seen),
        "front": len(r.info["front"]),
        "better in both": int((less_loss & less_bias).sum()),
        "better in one": int(one_better.sum()),
    }


_METHODS = {
    "paper": preference_search,
    "refined": partial(preference_search, refine=True),
    "hill climbing": hill_climbing,
}


def course_of_search(
    m: Microdata, k_pref: int, preference, method: str, evaluations: int, seed: int
) -> pd.DataFrame:
    """Return least feasible ach and hypervolume of the loss-bias plane along a search."""
    r = _METHODS[method](m, k_pref, tuple(preference), evaluations=evaluations, seed=seed)
    seen = r.info["evaluated"]
    seen = seen[seen["effective_k"] >= k_pref]
    area = HV(ref_point=np.ones(2))  # between the solutions found so far and the worst point
    rows = []
    for at in np.unique(np.geomspace(evaluations / 100, evaluations, 20).astype(int)):
        so_far = seen[seen["evaluation"] <= at]
        front = so_far[non_dominated(so_far["nwp"].to_numpy(), so_far["necd"].to_numpy())]
        points = front[["nwp", "necd"]].to_numpy()
        rows.append({
            "at": int(at),
            "least ach": so_far["ach"].min() if len(so_far) else None,
            "hypervolume": float(area(points)) if len(points) else 0.0,
        })  # fmt: skip
    return pd.DataFrame(rows)


# -- the plane of loss and bias ----------------------------------------------------------------


def draw_choice(
    ax: Axes, solutions: pd.DataFrame, k: int, preference: tuple[float, float]
) -> pd.Series | None:
    """Draw solutions in the loss-bias plane with contours of ach; return the chosen one."""
    blue, red = plots.LOOKS[0]["color"], plots.LOOKS[1]["color"]
    feasible = solutions["effective_k"] >= k
    look = {"markersize": 2, "rasterized": True}
    for kept, colour, sign in ((~feasible, "0.8", "<"), (feasible, blue, "≥")):
        part = solutions[kept]
        ax.plot(part["nwp"], part["necd"], ".", color=colour, label=f"k {sign} {k}", **look)
    x, y = np.meshgrid(np.linspace(0, 1, 101), np.linspace(0, 1, 101))
    ax.contour(x, y, achievement(x, y, preference), levels=8, colors="0.5", linewidths=0.5)
    ax.plot(*preference, "+", color="black", markersize=7, label="preference")
    chosen = choose(solutions, k, preference)
    if chosen is not None:
        ax.plot(chosen["nwp"], chosen["necd"], "o", color=red, label="chosen")
    ax.set(xlabel="NWP (loss)", ylabel="NECD (bias)", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    return chosen
