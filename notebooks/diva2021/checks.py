"""What claims.toml cannot express of Milani, Huang, Chiang (DIVA, 2021).

Strategies are compared on the same sets of constraints, seed by seed. A set on which one found no
table is in no comparison, and the number of such sets is given. An order needs intervals that
hold no other order, without any margin.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from anonpaper.compendium.intervals import (
    DIRECTION,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    Settings,
    intervals_in_words,
    judge_statement,
    mean_interval,
    of_draws,
    over_seeds,
)
from anonpaper.compendium.judge import Finding, listed
from anonpaper.datasets.examples import patients, patients_diverse
from anonpaper.publish import suppress

SELECTIONS = ["max_fan_out", "min_choice"]
BASELINES = ["k_member", "oka", "mondrian"]
POINTS = 0.02  # a gain this near to the published one agrees with it


def table_3_returned(table_3: pd.DataFrame) -> Finding:
    """Compare the table that DIVA returns with the paper's, value by value."""
    theirs = suppress(patients(), patients_diverse()).frame.rename_axis("ID").reset_index()
    differs = table_3.astype(str) != theirs[table_3.columns].astype(str)
    asked = differs[list(patients().qi)]  # no other column is ever changed
    measured = f"{asked.sum().sum()} of {asked.size} values of the quasi-identifiers differ"
    return Finding(measured, judge_statement(not differs.any(axis=None)))


def basic_grows(search: pd.DataFrame, *, rule: str) -> Finding:
    """Fit the power with which Basic's candidates grow with the number of constraints."""
    runs = search[(search["over bound"] == rule) & (search["algorithm"] == "basic")]
    runs = runs[runs["conflict rate"] == runs["conflict rate"].min()]
    tried = np.log(runs.pivot(index="constraints", columns="seed", values="candidates"))
    number = tried.index.to_numpy(float)
    (powers, _), misfit_of_power, *_ = np.polyfit(np.log(number), tried, 1, full=True)
    _, misfit_of_exponential, *_ = np.polyfit(number, tried, 1, full=True)
    ended = (runs["outcome"] == "found").groupby(runs["constraints"]).mean()
    cut_off, (low, high) = not ended.all(), mean_interval(powers)
    if low <= 1:
        verdict = NOT_REPRODUCED if high < 1 and not cut_off else UNDECIDED
    else:
        bends_up = mean_interval(misfit_of_power - misfit_of_exponential)[0] > 0
        verdict = REPRODUCED if bends_up and not cut_off else DIRECTION
    return Finding(
        f"power {powers.mean():.2f}; share of sets with a clustering, by constraints: "
        + listed(ended, "{:.0%}"),
        verdict,
        interval=(low, high),
        spread=over_seeds(powers, "{:.2f}"),
        detail="a search that is cut off counts with what it had tried: cut off at many "
        "constraints it makes the power too small, at few too large"
        if cut_off
        else "",
    )


def falls_along(
    figure: pd.DataFrame, *, axis: str, rule: str, value: str, others=(), straight: float = 0.0
) -> Finding:
    """Fit accuracy along an axis, seed by seed, for MaxFanOut, MinChoice and any others named."""
    names = [*SELECTIONS, *others]
    if "axis" in figure:
        figure = figure[figure["axis"] == axis]
    runs = _runs(figure, rule, value)
    changes = _slopes(runs, axis).reindex(names) * np.ptp(figure[axis])
    detail = _no_table(figure, rule, names)
    if changes.isna().any() or changes.map(len).min() < 2:
        return Finding("too few tables were found", UNDECIDED, detail=detail)
    settings = Settings(-changes)
    ends, verdict = -settings.ends[:, ::-1], settings.verdict
    if straight and verdict == REPRODUCED:
        means = runs.pivot_table(index=axis, columns="algorithm", values="value")[names]
        explained = means.corrwith(means.index.to_series()) ** 2
        verdict = REPRODUCED if explained.min() >= straight else DIRECTION
        detail = f"a line explains {listed(explained, '{:.0%}')}; {detail}"
    return Finding(
        f"change over the axis: {listed(changes.map(np.mean), '{:+.2g}')}",
        verdict,
        interval=intervals_in_words(ends, names, "{:.2g}", held=settings.held),
        spread=of_draws(changes.map(len), "seeds"),
        detail=detail,
        needed=settings.needed,
    )


def gained(
    figure: pd.DataFrame, *, axis: str, rule: str, value: str, gains: dict, each: bool = False
) -> Finding:
    """Compare accuracies of two strategies, set by set where both found a table."""
    wide = _wide(figure, axis, rule, value)
    by_seed, single = {}, {}
    for pair in gains:
        one, other = pair.split(" over ")
        both = wide.reindex(columns=[one, other]).dropna()
        gain = (both[one] - both[other]) / both[other].abs()
        by_seed[pair] = gain.groupby("seed").mean().to_numpy()
        places = gain.index.get_level_values(axis)
        single |= {f"{pair}, {at}": gain[places == at] for at in figure[axis].unique()}
    by_seed, single, published = map(pd.Series, (by_seed, single, gains))
    shown = single if each else by_seed
    if shown.map(len).min() == 0:
        return Finding("too few tables were found", UNDECIDED)
    settings = Settings(shown, mostly=1)
    near = Settings(by_seed - published + POINTS, published + POINTS - by_seed, mostly=1)
    high = by_seed.map(lambda gain: mean_interval(gain)[1])
    verdict = settings.verdict
    if verdict == REPRODUCED and near.verdict != REPRODUCED:
        verdict = DIRECTION
    names = {name for pair in gains for name in pair.split(" over ")}
    return Finding(
        listed(by_seed.map(np.mean), "{:+.2%}"),
        verdict,
        interval=settings.words(shown.index, "{:+.2%}"),
        spread=of_draws(shown.map(len), "seeds"),
        needed=settings.needed,
        detail="surely more than 2 points below the published gain: "
        f"{' and '.join(published.index[high < published - POINTS]) or 'no pair'}; "
        + _no_table(figure, rule, names),
    )


def ahead(
    figure: pd.DataFrame, *satisfied: pd.DataFrame, axis: str, rule: str, value: str
) -> Finding:
    """Compare each of the two DIVAs with each baseline, means over the figure, seed by seed."""
    wide = _wide(figure, axis, rule, value).reindex(columns=[*SELECTIONS, *BASELINES]).dropna()
    if wide.empty:
        return Finding("no table was found", UNDECIDED)
    means = wide.groupby("seed").mean()
    pairs = {f"{one} against {other}": (one, other) for one in SELECTIONS for other in BASELINES}
    apart = pd.Series({name: means[one] - means[other] for name, (one, other) in pairs.items()})
    wins = {name: (wide[one] > wide[other]).mean() for name, (one, other) in pairs.items()}
    measured = f"share of the runs in which it is ahead: {listed(pd.Series(wins), '{:.0%}')}"
    for constraints in satisfied:
        of_diva = _runs(constraints, rule, "satisfied").query("algorithm in @SELECTIONS")
        if not (of_diva["value"] == 1).all():
            return Finding(f"constraints do not all hold; {measured}", NOT_REPRODUCED)
    settings = Settings(apart)
    return Finding(
        measured,
        settings.verdict,
        needed=settings.needed,
        interval=settings.words(apart.index, "{:.2g}"),
        spread=of_draws(len(means), "seeds"),
        detail=_no_table(figure, rule, SELECTIONS),
    )


def _runs(figure: pd.DataFrame, rule: str, value: str) -> pd.DataFrame:
    """Return the runs by one rule, and the baselines', with what is compared as their value."""
    runs = figure[figure["over bound"].isin([rule, "none"])]
    return runs.assign(value=runs.eval(value, engine="python"))


def _wide(figure: pd.DataFrame, axis: str, rule: str, value: str) -> pd.DataFrame:
    """Return the values by place on the axis and seed (rows) and algorithm (columns)."""
    runs = _runs(figure, rule, value)
    return runs.pivot_table(index=[axis, "seed"], columns="algorithm", values="value")


def _slopes(runs: pd.DataFrame, axis: str) -> pd.Series:
    """Fit the value along an axis, for each algorithm and each seed with two settings or more."""
    means = runs.groupby(["algorithm", "seed", axis])["value"].mean().dropna().reset_index(axis)
    slopes = {
        name: [
            np.polyfit(part[axis], part["value"], 1)[0]
            for _, part in of_name.groupby("seed")
            if len(part) > 1
        ]
        for name, of_name in means.groupby("algorithm")
    }
    return pd.Series({name: np.array(of_name) for name, of_name in slopes.items()}, dtype=object)


def _no_table(figure: pd.DataFrame, rule: str, names: Collection[str]) -> str:
    """Say on how many sets each strategy found no table."""
    runs = figure[(figure["over bound"] == rule) & figure["algorithm"].isin(names)]
    failed = (runs["outcome"] != "found").groupby(runs["algorithm"]).agg(["sum", "size"])
    told = (f"{name} on {sum} of {size} sets" for name, sum, size in failed.itertuples())
    return "no table: " + ", ".join(told)
