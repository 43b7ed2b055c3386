"""What methods lose at the same advantage: curves of one draw, and whether one method is best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression
from scipy.stats import norm

from anonpaper.compendium.intervals import mean_interval

__all__ = ["WORKLOADS", "costs", "crossing", "curves", "least_loss", "scaled"]

WORKLOADS = ("counting", "learning", "marginals")
_ENDS = ("as it is", "unrelated")


def scaled(runs: pd.DataFrame) -> pd.DataFrame:
    """Return losses on a scale from 0, the table itself, to 1, its columns made unrelated."""
    means = runs.groupby(["method", "table"])[list(WORKLOADS)].mean()
    best, worst = (means.loc[name].loc[runs["table"]].to_numpy() for name in _ENDS)
    losses = (runs[list(WORKLOADS)] - best) / (worst - best)
    return runs.assign(**losses)[~runs["method"].isin(_ENDS)]


def curves(runs: pd.DataFrame) -> pd.DataFrame:
    """Return means over draws, intervals of losses, and what noise proves of any advantage."""
    by = runs.groupby(["table", "method", "level"], sort=False)
    found = by.mean(numeric_only=True).drop(columns="seed")
    for name in WORKLOADS:
        ends = by[name].apply(mean_interval)
        found[f"{name}, low"], found[f"{name}, high"] = ends.str[0], ends.str[1]
    found = found.assign(draws=by.size()).reset_index()
    # the total variation of two normal distributions
    bound = 2 * norm.cdf(found["level"] / 2) - 1
    noisy = found["method"].str.startswith("noisy")
    return found.assign(bound=np.where(noisy, bound, np.nan))


def least_loss(advantage: np.ndarray, loss: np.ndarray, at: Sequence[float]) -> np.ndarray:
    """Return the loss at advantages, along a fit that never rises with the advantage.

    Between two levels it is interpolated. Beyond the most revealing level it is the loss there,
    since that level has no more than the advantage asked for. Below the least revealing one the
    loss is not known: nan.
    """
    order = np.argsort(advantage)
    fit = isotonic_regression(loss[order], increasing=False).x
    return np.interp(at, advantage[order], fit, left=np.nan)


def costs(runs: pd.DataFrame, at: Sequence[float], advantage: str = "advantage") -> pd.DataFrame:
    """Return the loss of every method at equal advantage, workload by workload and draw by draw.

    A method that does not come down to an advantage in each draw is left out there.
    """
    keys, found = ["table", "method", "seed"], []
    for key, part in runs.groupby(keys, sort=False):
        known = part[advantage].to_numpy()
        loss = {name: least_loss(known, part[name].to_numpy(), at) for name in WORKLOADS}
        found.append(pd.DataFrame(dict(zip(keys, key, strict=True)) | {"at": at} | loss))
    long = pd.concat(found).melt([*keys, "at"], var_name="workload", value_name="loss")
    known = long["loss"].notna().groupby([long["table"], long["method"], long["at"]])
    return long[known.transform("all")].reset_index(drop=True)


def crossing(cost: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Return by how much each method is beaten at equal advantage, where it is beaten most.

    In which workload and by whom is chosen on all other draws; by how much is measured on the draw
    itself. `low` is the lower end of each interval at the `level`, `high` the upper end of
    intervals that hold for all methods, tables and advantages together.
    """
    rows = []
    for key, part in cost.groupby(["table", "at"], sort=False):
        wide = part.pivot(index="seed", columns=["workload", "method"], values="loss")
        methods = part["method"].unique()
        for method in methods:
            own, others = wide.xs(method, axis=1, level="method"), methods[methods != method]
            beaten = pd.concat(
                {rival: own - wide.xs(rival, axis=1, level="method") for rival in others}, axis=1
            )
            chosen = (beaten.sum() - beaten).to_numpy().argmax(axis=1)
            by_draw = beaten.to_numpy()[np.arange(len(beaten)), chosen]
            rows.append([*key, method, *beaten.mean().idxmax(), by_draw])
    found = pd.DataFrame(rows, columns=["table", "at", "method", "rival", "workload", "excess"])
    together = 1 - (1 - level) / len(found)
    return found.assign(
        excess=found["excess"].map(np.mean),
        low=[mean_interval(draws, level=level)[0] for draws in found["excess"]],
        high=[mean_interval(draws, level=together)[1] for draws in found["excess"]],
        spread=found["excess"].map(lambda draws: np.std(draws, ddof=1)),
        draws=found["excess"].map(len),
    )
