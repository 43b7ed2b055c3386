"""What papers rank, how often it holds over many settings, and which choice decides it.

A *setting* is a choice of table, quasi-identifiers, rows, level, form of publication and measure.
Only notebooks of beyond use this: ranking_multiverse makes the settings by `beyond_multiverse`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

#: What varies between settings; a set of quasi-identifiers belongs to one table and draw.
CHOICES = ("table", "quasi-identifiers", "n", "level", "form", "measure")
#: Measures of risk; all others are of loss and use.
RISKS = ("disclosure", "exposure", "reconstruction")
#: How far apart two equal numbers are, relative to the larger one.
TIE = 1e-9
#: How a ranking can end in a setting, the first that is true -> its score.
_SCORE = {
    "both fail": 0.5, "better fails": 0, "worse fails": 1, "tie": 0.5, "holds": 1, "fails": 0,
}  # fmt: skip


def published_rankings() -> pd.DataFrame:
    """Return what the papers rank by a sentence or a figure about loss, use or risk.

    A row is a pair of methods, of which the paper calls the first one better. `kind` says which
    measures are of the paper's kind: on them the ranking is tested. `own` are the settings here
    that are nearest to the paper's own. Rankings by run time are left out, and so are those of one
    method's settings on queries about one attribute (boger2020, Figures 9 to 12).
    """
    found = pd.read_csv(Path(__file__).with_name("published_rankings.csv"))
    return found.set_index((found["better"] + " > " + found["worse"]).rename("ranking"))


def scores(rows: pd.DataFrame, rankings: pd.DataFrame, margin: float = TIE) -> pd.DataFrame:
    """Score every ranking in every setting: 1 if it holds, 0 if not, one half for a tie.

    A method that has no number loses against one that has; if both have none, it is a tie. The
    column `how` tells these cases apart. `margin` is relative to the larger number.
    """
    keys = ["group", "table", "draw", "n", "level", "form"]
    measures = [name for name in rows.select_dtypes("number") if name not in [*keys, "d"]]
    wide = {}
    for group, of in rows.groupby("group"):
        used = [name for name in measures if of[name].notna().any()]
        tall = of.melt([*keys, "method"], used, "measure", "number")
        wide[group] = tall.pivot(index=[*keys, "measure"], columns="method", values="number")
    found = []
    for name, about in rankings.iterrows():
        of = wide[about["group"]]
        risky = of.index.get_level_values("measure").isin(RISKS)
        of = of[{"loss": ~risky, "risk": risky, "all": risky | True}[about["kind"]]]
        a, b = of[about["better"]], of[about["worse"]]
        gap = np.where(a == b, 0, (a - b).abs() / np.maximum(a.abs(), b.abs()))
        cases = [a.isna() & b.isna(), a.isna(), b.isna(), gap <= margin, a < b]
        how = np.select(cases, [*_SCORE][:-1], "fails")
        score = pd.Series(how).map(_SCORE).to_numpy(float)
        found.append(of.index.to_frame(index=False).assign(ranking=name, score=score, how=how))
    return pd.concat(found, ignore_index=True)


def surviving(probabilities: pd.Series, thresholds: Sequence[float]) -> list[float]:
    """Return which share of the rankings holds with each of these probabilities at least."""
    values = probabilities.to_numpy()
    return [float((values >= least - 1e-12).mean()) for least in thresholds]


def deciding(score: pd.DataFrame) -> pd.Series:
    """Return the variance of the score that each choice explains alone, and all together.

    These are the sums of squares of a functional analysis of variance over the settings, divided
    by their number: Var(E[score | choice]). The sets of quasi-identifiers belong to their table,
    so theirs is Var(E[score | table, draw]) - Var(E[score | table]). Settings are balanced.
    """

    def explained(*by: str) -> float:
        means = score.groupby(list(by))["score"].transform("mean")
        return float(((means - score["score"].mean()) ** 2).mean())

    found = {choice: explained(choice) for choice in CHOICES if choice != "quasi-identifiers"}
    found["quasi-identifiers"] = explained("table", "draw") - found["table"]
    total = float(((score["score"] - score["score"].mean()) ** 2).mean())
    return pd.Series({choice: found[choice] for choice in CHOICES} | {"total": total})


def shares(scores: pd.DataFrame, rankings: pd.DataFrame) -> pd.DataFrame:
    """Return shares of the variance, added up over the rankings of each paper and of all."""
    parts = {name: deciding(of) for name, of in scores.groupby("ranking", sort=False)}
    parts = pd.DataFrame(parts).T.groupby(rankings["paper"], sort=False).sum()
    parts.loc["all"] = parts.sum()
    parts["several together"] = parts["total"] - parts[list(CHOICES)].sum(axis=1)
    parts = parts.rename(columns={"n": "rows"})
    return parts.drop(columns="total").div(parts["total"].where(parts["total"] > 0), axis=0)
