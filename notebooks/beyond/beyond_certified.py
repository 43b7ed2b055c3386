"""How far the searches of dewri2009 get: to a proved optimum, and along an exact front."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
from dewri2009_variants import varied_search
from matplotlib.axes import Axes
from pymoo.indicators.hv import HV

from anonpaper import plots
from anonpaper.compendium.intervals import share_interval
from anonpaper.microdata import Microdata
from anonpaper.recoders.archive import non_dominated
from anonpaper.recoders.branch_and_bound import TOLERANCE, branch_and_bound
from anonpaper.recoders.preference_search import preference_search
from anonpaper.recoders.simple import exhaustive, hill_climbing

__all__ = ["CLOSE", "METHODS", "arrival", "certified", "draw_arrivals", "front_reached"]

#: Within which share of the optimum a search counts as close to it.
CLOSE = 0.01


def _with_one_objective(m, k, preference, **options) -> pd.DataFrame:
    archive, _ = varied_search(m, k, preference, objectives=1, **options)
    return archive.frame()


def _evaluated(search, **always):
    return lambda *args, **options: search(*args, **options, **always).info["evaluated"]


#: What each search evaluates, by the name of the search.
METHODS = {
    "dewri2009": _evaluated(preference_search),
    "one objective": _with_one_objective,
    "refined": _evaluated(preference_search, refine=True),
    "hill climbing": _evaluated(hill_climbing),
}


def certified(m: Microdata, k: int, preference: Sequence[float], at_most: int) -> dict:
    """Return the best recoding that branch and bound finds, and what it proves of all others."""
    r = branch_and_bound(m, k, tuple(preference), nodes=at_most)
    return {
        **{name: r.info[name] for name in ("nwp", "necd", "effective_k", "ach")},
        "lower bound": r.info["lower_bound"],
        **{name: r.info[name] for name in ("optimal", "nodes")},
        # the recoding: a bar for a border that is kept
        "borders": "".join(np.where(r.encode(), "|", ".")),
    }


def arrival(
    m: Microdata, k: int, preference: Sequence[float], method: str, evaluations: int, seed: int,
    optimum: float,
) -> dict:  # fmt: skip
    """Return the evaluations after which a search is close to the optimum, and at it."""
    seen = METHODS[method](m, k, tuple(preference), evaluations=evaluations, seed=seed)
    seen = seen[seen["effective_k"] >= k]

    def first(most: float) -> int | None:
        there = seen.loc[seen["ach"] <= most, "evaluation"]
        return int(there.min()) if len(there) else None

    return {
        "ach": float(seen["ach"].min()) if len(seen) else None,
        "within 1 %": first((1 + CLOSE) * optimum),
        "at the optimum": first(optimum + TOLERANCE),
    }


@cache
def _front(m: Microdata, k: int) -> tuple[np.ndarray, int]:
    """Return the points of the exact front of loss and bias, and the number of recodings."""
    info = exhaustive(m, k).info
    return info["front"][["nwp", "necd"]].drop_duplicates().to_numpy(), info["evaluations"]


@cache
def _projection(m: Microdata, attributes: tuple[str, ...]) -> Microdata:
    return m.with_roles(qi=list(attributes))


def front_reached(
    m: Microdata, attributes: Sequence[str], k: int, preference: Sequence[float], method: str,
    evaluations: int, seed: int,
) -> dict:  # fmt: skip
    """Return the shares of the exact front's points and hypervolume that a search has seen."""
    part = _projection(m, tuple(attributes))
    front, recodings = _front(part, k)
    seen = METHODS[method](part, k, tuple(preference), evaluations=evaluations, seed=seed)
    seen = seen.loc[seen["effective_k"] >= k, ["nwp", "necd"]].to_numpy()
    seen = seen[non_dominated(*seen.T)]
    area = HV(ref_point=np.ones(2))  # from the worst point
    found = [(np.abs(seen - point) <= TOLERANCE).all(axis=1).any() for point in front]
    return {
        "recodings": recodings,
        "points": len(front),
        "found": float(np.mean(found)),
        "hypervolume": float(area(seen) / area(front)) if len(seen) else 0.0,
    }


def draw_arrivals(ax: Axes, runs: pd.DataFrame, arrived: str, budget: int) -> None:
    """Draw the share of seeds that have arrived, over evaluations, and its final interval."""
    for place, (look, (method, part)) in enumerate(
        zip(plots.LOOKS, runs.groupby("method", sort=False), strict=False)
    ):
        at = np.sort(part[arrived].dropna())
        share = np.arange(len(at) + 1) / len(part)
        ax.step([1, *at, budget], [*share, share[-1]], where="post", label=method,
                color=look["color"], linestyle=look["linestyle"])  # fmt: skip
        low, high = share_interval(len(at), len(part))
        ax.vlines(budget * 1.25 ** (place + 1), low, high, color=look["color"])
    ax.set(xscale="log", xlabel="evaluations", ylim=(-0.04, 1.04), title=arrived,
           xlim=(max(1, budget / 1000), 3.2 * budget))  # fmt: skip
