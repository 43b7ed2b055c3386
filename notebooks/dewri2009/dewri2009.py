"""The experiments of dewri2009: its table, its runs, and what they are judged by.

The paper prints neither the taxonomies that order the categorical values nor any weight vector but
the first. `TAXONOMIES` are ours; weights are parameters of the notebooks.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from pymoo.indicators.hv import HV

from anonpaper import plots
from anonpaper.datasets import load
from anonpaper.errors import BudgetExceededError
from anonpaper.hierarchy import Hierarchy
from anonpaper.measure import effective_k, necd, nwp
from anonpaper.microdata import Microdata
from dewri2009_variants import better_neighbours
from dewri2009_weights import losses
from anonpaper.preference import achievement
from anonpaper.prepare.encoding import granularize, in_preorder
from anonpaper.publish import recode
from anonpaper.randomness import generator
from anonpaper.recoders.archive import choose, non_dominated
from anonpaper.recoders.exhaustive import exhaustive
from anonpaper.recoders.hill_climbing import hill_climbing
from anonpaper.recoders.lattice import full_domain
from anonpaper.recoders.objectives import Evaluator
from anonpaper.recoders.preference import preference_search
from anonpaper.recoding import Recoding

__all__ = [
    "ATTRIBUTES",
    "TAXONOMIES",
    "adult",
    "course_of_search",
    "distance_to_optimum",
    "draw_choice",
    "efficiency_of_optimum",
    "explorer",
    "full_domain_solution",
    "full_domain_trees",
    "reported_solution",
    "returned_solutions",
    "search",
    "short_name",
    "taxonomy",
    "time_evaluation",
    "time_search",
]

#: The attributes of Table 1 in its order, and the short names of the paper.
ATTRIBUTES = {
    "age": "age",
    "workclass": "wkc",
    "education": "edc",
    "marital-status": "mst",
    "occupation": "occ",
    "race": "rac",
    "sex": "gen",
    "native-country": "ncy",
    "salary-class": "slc",
}

#: Groups of the values of each categorical attribute; their order is that of the encoding, which
#: has one bit between any two neighbours. The trees of `anonpaper.datasets.trees` are no
#: substitute: they have as many levels as a table of another paper says, lack two of the
#: attributes, and the order of their values means nothing. Education is ordered by years and
#: needs no tree.
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
        "manual": [
            "Craft-repair", "Machine-op-inspct", "Transport-moving", "Handlers-cleaners",
            "Farming-fishing",
        ],
    },
    "race": {
        "largest groups": ["White", "Black"],
        "smaller groups": ["Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"],
    },
    "sex": {"any": ["Female", "Male"]},
    "native-country": {
        "North America": ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)"],
        "Caribbean": [
            "Puerto-Rico", "Cuba", "Dominican-Republic", "Haiti", "Jamaica", "Trinadad&Tobago",
        ],
        "Central America": [
            "Mexico", "Guatemala", "Honduras", "El-Salvador", "Nicaragua",
        ],
        "South America": ["Columbia", "Ecuador", "Peru"],
        "Europe": [
            "England", "Scotland", "Ireland", "France", "Germany", "Holand-Netherlands", "Italy",
            "Portugal", "Greece", "Hungary", "Poland", "Yugoslavia",
        ],
        "Asia": [
            "Iran", "India", "Thailand", "Cambodia", "Laos", "Vietnam", "Philippines", "China",
            "Hong", "Taiwan", "Japan",
        ],
        "unclear": ["South"],
    },
    "salary-class": {"any": ["<=50K", ">50K"]},
}  # fmt: skip


def taxonomy(name: str) -> Hierarchy:
    """Return the tree of an attribute, three levels high: value, group, star.

    Examples
    --------
    >>> taxonomy("race").names(1)
    ['largest groups', 'smaller groups']
    """
    groups = TAXONOMIES[name].items()
    return Hierarchy([[value, group, "*"] for group, values in groups for value in values])


def adult() -> Microdata:
    """Return the table of section 6: 30,162 rows, nine attributes, 105 bits.

    Age is cut into 20 intervals of 5 years from 0 to 100; categorical domains hold the values
    that occur, in the preorder of `TAXONOMIES`; education is ordered by years.
    """
    loaded = load("adult", qi=list(ATTRIBUTES), missing="drop")
    frame = loaded.frame[loaded.qi].copy()
    for name in TAXONOMIES:
        frame[name] = frame[name].cat.remove_unused_categories()
    m = loaded.replace(frame=frame, sensitive=None)
    m = granularize(m, {"age": 5}, ranges={"age": (0, 100)})
    return in_preorder(m, {name: taxonomy(name) for name in TAXONOMIES})


def short_name(column: str) -> str:
    """Return a column of `reported_solution` with the paper's short name of its attribute.

    Examples
    --------
    >>> short_name("groups native-country"), short_name("ach")
    ('groups ncy', 'ach')
    """
    kind, _, name = column.partition(" ")
    return f"{kind} {ATTRIBUTES[name]}" if name in ATTRIBUTES else column


def full_domain_trees(m: Microdata) -> dict[object, Hierarchy]:
    """Return hierarchies for the full-domain optimum on `adult` or a projection of it.

    `TAXONOMIES` for categorical attributes; for age and education two neighbours join at every
    level.
    """
    trees: dict[object, Hierarchy] = {name: taxonomy(name) for name in m.qi if name in TAXONOMIES}
    if "age" in m.qi:
        trees["age"] = Hierarchy.balanced(m.attribute("age").values, fan_out=2)
    if "education" in m.qi:
        trees["education"] = Hierarchy.balanced(m.attribute("education").values, fan_out=2)
    return trees


# -- runs of the search ------------------------------------------------------------------------


def search(
    m: Microdata,
    k_pref: int,
    preference: Sequence[float],
    weights: Sequence[float] | None = None,
    **options,
) -> Recoding:
    """Run `preference_search` with weights in the order of the attributes."""
    return preference_search(m, k_pref, tuple(preference), _named(m, weights), **options)


def _named(m: Microdata, weights: Sequence[float] | None) -> dict | None:
    """Return weights by the names of the attributes."""
    return None if weights is None else dict(zip(m.qi, weights, strict=True))


def returned_solutions(m: Microdata, **setting) -> pd.DataFrame:
    """Return the non-dominated solutions of one run (Figure 1), the reported one marked.

    Parameters are those of `search`. Chromosomes with equal NWP, NECD and effective k are one
    solution: bits between intervals of age that nobody has change nothing.
    """
    r = search(m, **setting)
    solutions = r.info["non_dominated"].drop(columns="bits")
    solutions = solutions.drop_duplicates(["nwp", "necd", "effective_k"])
    return solutions.assign(
        feasible=solutions["effective_k"] >= setting["k_pref"],
        reported=(solutions[["nwp", "necd", "effective_k"]]
                  == [r.info["nwp"], r.info["necd"], r.info["effective_k"]]).all(axis=1),
    )  # fmt: skip


def reported_solution(m: Microdata, **setting) -> dict:
    """Return the reported solution of one run (Figures 3 and 4).

    Parameters are those of `search`. With it come the number of its one-bit neighbours that are
    better (``better neighbours``: 0 in a local optimum), the groups that
    every attribute is divided into, and the loss of every attribute, from which NWP under other
    weights follows.
    """
    r = search(m, **setting)
    evaluator = Evaluator(m, _named(m, setting.get("weights")))
    return {
        "better neighbours": better_neighbours(
            evaluator, r.encode(), setting["k_pref"], setting["preference"]
        ),
        **{name: r.info[name] for name in ("nwp", "necd", "effective_k", "ach", "prefdev")},
        **{f"groups {name}": size for name, size in zip(m.qi, r.sizes, strict=True)},
        **{f"loss {name}": loss for name, loss in losses(m, r).items()},
    }


# -- how good is it ----------------------------------------------------------------------------


@cache
def _exhaustive(m: Microdata, attributes: tuple[str, ...], k_pref: int, preference: tuple):
    return exhaustive(m.with_roles(qi=list(attributes)), k_pref, preference)


def efficiency_of_optimum(
    m: Microdata, attributes: Sequence[str], k_pref: int, preference: Sequence[float]
) -> dict:
    """Return whether the recoding of least ach of a projection is efficient (Definition 2).

    Parameters
    ----------
    attributes : sequence of str
        The projection, of at most 18 bits.

    Returns
    -------
    dict
        ``feasible`` recodings, how many are on the true ``front`` of loss and bias, and how many
        are better than the optimum in both objectives, and in one and not worse in the other.
    """
    r = _exhaustive(m, tuple(attributes), k_pref, tuple(preference))
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


def distance_to_optimum(
    m: Microdata,
    attributes: Sequence[str],
    k_pref: int,
    preference: Sequence[float],
    method: str,
    evaluations: int,
    seed: int,
) -> dict:
    """Return ach of a method on a projection, and by which share it exceeds the least one.

    Parameters
    ----------
    attributes : sequence of str
        The projection, of at most 18 bits.
    method : {"paper", "even start", "refined", "hill climbing"}
    """
    part = m.with_roles(qi=list(attributes))
    options = {"evaluations": evaluations, "seed": seed}
    least = _exhaustive(m, tuple(attributes), k_pref, tuple(preference)).info["ach"]
    try:
        r = _METHODS[method](part, k_pref, tuple(preference), **options)
    except BudgetExceededError:
        return {"ach": None, "optimum": least, "gap": None}
    return {"ach": r.info["ach"], "optimum": least, "gap": r.info["ach"] / least - 1}


def course_of_search(
    m: Microdata,
    k_pref: int,
    preference: Sequence[float],
    method: str,
    evaluations: int,
    seed: int,
    checkpoints: int = 20,
) -> pd.DataFrame:
    """Return least feasible ach and hypervolume of the loss-bias plane along a search.

    The hypervolume is the area between the feasible solutions found so far and the worst point
    (1, 1); 0 before there is one.
    """
    r = _METHODS[method](m, k_pref, tuple(preference), evaluations=evaluations, seed=seed)
    seen = r.info["evaluated"]
    seen = seen[seen["effective_k"] >= k_pref]
    area = HV(ref_point=np.ones(2))
    rows = []
    for at in np.unique(np.geomspace(evaluations / 100, evaluations, checkpoints).astype(int)):
        so_far = seen[seen["evaluation"] <= at]
        front = so_far[non_dominated(so_far["nwp"].to_numpy(), so_far["necd"].to_numpy())]
        points = front[["nwp", "necd"]].to_numpy()
        rows.append({
            "at": int(at),
            "least ach": so_far["ach"].min() if len(so_far) else None,
            "hypervolume": float(area(points)) if len(points) else 0.0,
        })  # fmt: skip
    return pd.DataFrame(rows)


def full_domain_solution(m: Microdata, k_pref: int, preference: Sequence[float]) -> dict:
    """Return loss, bias and achievement of the full-domain recoding of least NCP."""
    release = recode(m, full_domain(m, k_pref, full_domain_trees(m)))
    loss, bias = nwp(release), necd(release)
    return {
        "nwp": loss, "necd": bias, "effective_k": effective_k(release),
        "ach": float(achievement(loss, bias, tuple(preference))),
    }  # fmt: skip


def time_evaluation(m: Microdata, rows: int, recodings: int, seed: int, repeat: int = 3) -> dict:
    """Return what evaluating random recodings of a part of a table costs.

    Parameters
    ----------
    rows : int
        Rows drawn from the table.
    recodings : int
        Random recodings, each with its own share of kept borders.

    Returns
    -------
    dict
        ``cells``, the distinct QI tuples, ``microseconds`` per recoding (the best of `repeat`
        measurements) and recodings ``per second``.
    """
    evaluator = Evaluator(m if rows == m.n else m.sample(rows, seed))
    rng = generator(seed)
    bits = rng.random((recodings, evaluator.n_bits)) < rng.random((recodings, 1))
    evaluator.evaluate(bits[:1])  # compiles
    seconds = []
    for _ in range(repeat):
        began = time.perf_counter()
        evaluator.evaluate(bits)
        seconds.append(time.perf_counter() - began)
    return {
        "cells": evaluator.n_tuples,
        "microseconds": 1e6 * min(seconds) / recodings,
        "per second": recodings / min(seconds),
    }


def time_search(m: Microdata, **setting) -> dict:
    """Return the seconds of one search, after one that is not counted, and its work.

    Parameters are those of `search`.
    """
    search(m, **setting | {"evaluations": 200})  # compiles
    began = time.perf_counter()
    r = search(m, **setting)
    return {"seconds": time.perf_counter() - began, "distinct": r.info["distinct"]}


def _even(m: Microdata, k: int, preference: tuple, **options) -> Recoding:
    return preference_search(m, k, preference, start="even", **options)


def _refined(m: Microdata, k: int, preference: tuple, **options) -> Recoding:
    return preference_search(m, k, preference, refine=True, **options)


_METHODS = {
    "paper": preference_search,
    "even start": _even,
    "refined": _refined,
    "hill climbing": hill_climbing,
}


# -- the plane of loss and bias ----------------------------------------------------------------


def draw_choice(
    ax: Axes, solutions: pd.DataFrame, k: int, preference: tuple[float, float]
) -> pd.Series | None:
    """Draw solutions in the loss-bias plane with the contours of ach and the chosen one.

    Parameters
    ----------
    ax : Axes
    solutions : pandas.DataFrame
        With ``nwp``, ``necd`` and ``effective_k``, as in the ``info`` of a search.
    k : int
        The effective k asked for; solutions below it are drawn pale.
    preference : (float, float)
        The preference point.

    Returns
    -------
    pandas.Series or None
        The chosen solution; None if none is feasible.
    """
    blue, red = plots.LOOKS[0]["color"], plots.LOOKS[1]["color"]
    feasible = solutions["effective_k"] >= k
    for part, colour, label in (
        (solutions[~feasible], "0.8", f"k < {k}"), (solutions[feasible], blue, f"k ≥ {k}"),
    ):  # fmt: skip
        ax.plot(
            part["nwp"],
            part["necd"],
            ".",
            color=colour,
            markersize=2,
            label=label,
            rasterized=True,
        )
    x, y = np.meshgrid(np.linspace(0, 1, 101), np.linspace(0, 1, 101))
    ax.contour(x, y, achievement(x, y, preference), levels=8, colors="0.5", linewidths=0.5)
    ax.plot(*preference, "+", color="black", markersize=7, label="preference")
    chosen = choose(solutions, k, preference)
    if chosen is not None:
        ax.plot(chosen["nwp"], chosen["necd"], "o", color=red, label="chosen")
    ax.set(xlabel="NWP (loss)", ylabel="NECD (bias)", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    return chosen


def explorer(solutions: pd.DataFrame):
    """Return sliders for k and the preference point beside the picture of `draw_choice`.

    Parameters
    ----------
    solutions : pandas.DataFrame
        As for `draw_choice`.

    Returns
    -------
    ipywidgets.interactive
        Its ``result`` is the chosen solution.
    """
    import ipywidgets

    def show(k: int, loss: float, bias: float) -> pd.Series | None:
        figure, ax = plots.subplots(height=3)
        chosen = draw_choice(ax, solutions, k, (loss, bias))
        if chosen is not None:
            ax.set_title(
                f"NWP {chosen['nwp']:.3f}, NECD {chosen['necd']:.3f}, "
                f"effective k {chosen['effective_k']}"
            )
        plt.show()
        plt.close(figure)
        return chosen

    share = {"min": 0.0, "max": 1.0, "step": 0.05, "continuous_update": False}
    return ipywidgets.interactive(
        show,
        k=ipywidgets.IntSlider(5, 2, 200, continuous_update=False, description="k"),
        loss=ipywidgets.FloatSlider(0.2, description="NWP", **share),
        bias=ipywidgets.FloatSlider(1.0, description="NECD", **share),
    )
