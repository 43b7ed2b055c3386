"""Checks of dewri2009 that claims.toml cannot express."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anonpaper.compendium.intervals import (
    Settings,
    difference_intervals,
    judge_share,
    judge_statement,
    runs_needed,
    share_interval,
)
from anonpaper.compendium.judge import Finding, span


def _of(runs: pd.DataFrame, search: str) -> pd.DataFrame:
    return runs[runs["search"] == search]


def _two_stage(runs: pd.DataFrame) -> str:
    seeds = _of(runs, "refined")["seed"].nunique()
    return f"our two-stage search, with as many evaluations, {seeds} seeds"


def _by_seed(runs: pd.DataFrame, setting: str, value: str) -> pd.DataFrame:
    """Return settings x seeds; numbers that were summed up in another order are equal."""
    return runs.pivot_table(value, setting, "seed", sort=False).round(12)


def means_alike(
    runs: pd.DataFrame,
    *,
    setting: str,
    tolerance: float,
    value: str = "ach",
    named: str = "ach",
    among: list[str] | None = None,
) -> Finding:
    """Compare the means of every two settings: whether they differ by no more than a share."""
    chosen = runs if among is None else runs[runs[setting].isin(among)]
    values = _by_seed(chosen, setting, value).to_numpy(float)
    one, other = (values[places] for places in np.triu_indices(len(values), 1))
    means = values.mean(axis=1)
    settings = Settings((other, (1 + tolerance) * one), ((1 - tolerance) * one, other), mostly=1)
    ends = Settings((one, other)).at(settings.level) / one.mean(axis=1)[:, None]
    return Finding(
        f"mean {named} differs by up to {means.max() / means.min() - 1:.1%}",
        settings.verdict,
        interval=f"of the differences, {settings.held}: {span(ends, '{:.1%}')}",
        spread=f"{values.shape[1]} seeds",
        settings=settings.n,
        needed=settings.needed,
    )


def equal_weights_cost_more(runs: pd.DataFrame, weights: pd.DataFrame, *, own: bool) -> Finding:
    """Compare mean loss and bias under equal weights with those under each other vector."""
    means, settings, names = _cost_of_equal_weights(_of(runs, "as printed"), weights, own)
    _, refined, _ = _cost_of_equal_weights(_of(runs, "refined"), weights, own)
    return Finding(
        means,
        settings.verdict,
        detail=f"{_two_stage(runs)}: {refined.verdict}, {refined.words(names)}",
        interval="equal less the other " + settings.words(names, "{:.4f}"),
        spread=f"{runs['seed'].nunique()} seeds",
        settings=settings.n,
        needed=settings.needed,
    )


def _cost_of_equal_weights(runs: pd.DataFrame, weights: pd.DataFrame, own: bool):
    """Return the means in words, what equal weights cost more, and its names.

    `own`: the solution for equal weights is measured by equal weights, not by the vector's.
    """
    nwp, necd = (_by_seed(runs, "vector", name) for name in ("nwp", "necd"))
    others = nwp.index.drop("wv_1")
    vectors = weights.set_index("vector")
    losses = runs[runs["vector"] == "wv_1"][[f"loss {name}" for name in vectors]]
    equal = vectors.loc[others].to_numpy() @ losses.to_numpy().T
    if own:
        equal = np.tile(nwp.loc["wv_1"], (len(others), 1))
    lower = np.vstack([nwp.loc[others], necd.loc[others]])
    higher = np.vstack([equal, np.tile(necd.loc["wv_1"], (len(others), 1))])
    means = [
        f"{name}: NWP {nwp.loc[name].mean():.2f}, equal {row.mean():.2f}"
        for name, row in zip(others, equal, strict=True)
    ]
    means += [f"NECD {name}: {bias:.3f}" for name, bias in necd.mean(axis=1).items()]
    names = [f"{name} of {other}" for name in ("NWP", "NECD") for other in others]
    return "; ".join(means), Settings((lower, higher)), names


def heavier_keep_more(runs: pd.DataFrame, weights: pd.DataFrame) -> Finding:
    """Compare an attribute's mean groups where it is favoured with those where it is not."""
    told = {}
    for search in ("refined", "as printed"):
        names, less, more = _groups_of_favoured(_of(runs, search), weights)
        pairs = zip(names, less, more, strict=True)
        told[search] = "; ".join(f"{n}: {b.mean():.1f} (else {a.mean():.1f})" for n, a, b in pairs)
    settings = Settings((less, more))
    return Finding(
        told["as printed"],
        settings.verdict,
        detail=f"{_two_stage(runs)}: {told['refined']}",
        interval="of the differences, " + settings.words(names, "{:.2f}"),
        spread=f"{len(more[0])} seeds",
        settings=settings.n,
        needed=settings.needed,
    )


def kept_anyway(runs: pd.DataFrame, weights: pd.DataFrame) -> Finding:
    """Look whether what gains nothing for certain keeps its most groups in most other runs."""
    runs, favoured = _of(runs, "as printed"), _favoured(weights)
    names, less, more = _groups_of_favoured(runs, weights)
    low = difference_intervals(less, more, paired=False)[:, 0]
    found, shares = [], []
    for name in np.array(names)[low < 0]:
        attribute, _, vector = name.partition(" in ")
        groups = runs[f"groups {attribute}"]
        kept = groups[~runs["vector"].map(favoured[attribute])] == groups.max()
        shares.append(kept.mean())
        found.append(
            f"{name}: the most groups that any run keeps, {groups.max()}, are kept in "
            f"{kept.sum()} of {len(kept)} runs that do not favour it"
        )
    return Finding(
        "; ".join(found) or "all gain for certain",
        judge_statement(bool(shares) and min(shares) > 0.5),
    )


def _groups_of_favoured(runs: pd.DataFrame, weights: pd.DataFrame):
    """Return attribute and vector, the groups elsewhere and those where it is favoured."""
    favoured = _favoured(weights)
    names, less, more = [], [], []
    for name in favoured:
        groups = _by_seed(runs, "vector", f"groups {name}")
        here = favoured.loc[groups.index, name]
        for vector in groups.index[here]:
            names.append(f"{name} in {vector}")
            more.append(groups.loc[vector])
            less.append(groups[~here].mean())
    return names, less, more


def _favoured(weights: pd.DataFrame) -> pd.DataFrame:
    """Return whether a vector gives an attribute more than an equal share."""
    vectors = weights.set_index("vector")
    return vectors > 1 / vectors.shape[1] + 1e-9


def choice_overachieves(runs: pd.DataFrame) -> Finding:
    """Count the seeds whose bias preferences below 1 offer what section 6.4 chooses."""
    offered = {}
    for search, part in runs.groupby("search"):
        at_one = part[part["bias preference"] == 1.0].set_index("seed")["effective_k"]
        kept = part[
            (part["bias preference"] < 1)
            & (part["nwp"] <= part["preferred nwp"])
            & (part["necd"] <= part["bias preference"])
            & (part["effective_k"] > part["seed"].map(at_one))
        ]
        offered[search] = kept["seed"].nunique(), len(at_one)
    number, seeds = offered["as printed"]
    refined = "{} of {}".format(*offered["refined"])
    return Finding(
        f"{number} of {seeds} seeds",
        judge_share(number, seeds, at_least=0.5),
        detail=f"{_two_stage(runs)}: in {refined}",
        interval=share_interval(number, seeds),
        spread=f"{seeds} seeds",
        needed=lambda: (seeds, runs_needed(number, seeds, at_least=0.5), "seeds"),
    )
