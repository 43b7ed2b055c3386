"""What claims.toml cannot express of Milani, Huang, Chiang (DIVA, 2021).

Strategies are compared on the same sets of constraints, seed by seed. A set on which one found no
table is in no comparison, and the number of such sets is given. An order needs intervals that
hold no other order, without any margin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anonpaper.compendium.intervals import (
    DIRECTION,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    intervals_in_words,
    judge_intervals,
    judge_statement,
    level_of_each,
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
ANY = (-np.inf, np.inf)


def table_3_returned(table_3: pd.DataFrame) -> Finding:
    """Compare the table that DIVA returns with the paper's, value by value."""
    theirs = suppress(patients(), patients_diverse()).frame.rename_axis("ID").reset_index()
    equal = table_3.astype(str) == theirs[table_3.columns].astype(str)
    asked = equal[list(patients().qi)]  # no other column is ever changed
    differing = int((~asked).to_numpy().sum())
    return Finding(
        f"{differing} of {asked.size} values of the quasi-identifiers differ",
        judge_statement(equal.all(axis=None)),
    )


def basic_grows(search: pd.DataFrame, *, rule: str) -> Finding:
    """Fit the power with which Basic's candidates grow with the number of constraints."""
    runs = _runs(search, rule, "candidates").query("algorithm == 'basic'")
    runs = runs[runs["conflict rate"] == runs["conflict rate"].min()]
    powers = _slopes(_logs(runs), "constraints")["basic"]
    ended = (runs["outcome"] == "found").groupby(runs["constraints"]).mean()
    cut_off, (low, high) = not ended.all(), mean_interval(powers)
    if low <= 1:
        verdict = NOT_REPRODUCED if high < 1 and not cut_off else UNDECIDED
    else:
        bends_up = mean_interval(_misfit(runs, np.log) - _misfit(runs, np.asarray))[0] > 0
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


def _misfit(runs: pd.DataFrame, scale) -> np.ndarray:
    """Return by seed what a line on this scale of the constraints leaves of log candidates."""
    logs = np.log(runs.pivot(index="constraints", columns="seed", values="candidates"))
    _, left, *_ = np.polyfit(scale(logs.index.to_numpy(float)), logs, 1, full=True)
    return left


def power_at_most(figure: pd.DataFrame, *, rule: str, most: float) -> Finding:
    """Fit the power with which time grows with the number of constraints."""
    powers = _slopes(_logs(_runs(figure, rule, "seconds")), "constraints").reindex(SELECTIONS)
    return Finding(
        f"power {_means(powers, '{:.2f}')}",
        judge_intervals(most - _ends(powers)[:, ::-1]),
        interval=_told(powers, "{:.2g}"),
        spread=_seeds(powers),
        detail=f"{_no_table(figure, rule, SELECTIONS)}; they count until they were cut off"
        if "outcome" in figure
        else "",
    )


def time_along(figure: pd.DataFrame, *, axis: str, rule: str, sign: int) -> Finding:
    """Fit the logarithm of the seconds along an axis, seed by seed."""
    runs = _runs(figure, rule, "seconds")
    least, most = figure[axis].min(), figure[axis].max()
    slopes = _slopes(runs.assign(value=np.log(runs["seconds"])), axis)
    changes = slopes.reindex([*SELECTIONS, *BASELINES]) * (most - least)
    ends = _ends(changes)
    return Finding(
        f"fitted, {axis} = {least:,} to {most:,}: {_means(changes, 'x {:.2g}', np.exp)}",
        judge_intervals(np.sort(sign * ends)),
        interval=intervals_in_words(np.exp(ends), changes.index, "x {:.2g}"),
        spread=_seeds(changes),
    )


def falls_along(
    figure: pd.DataFrame, *, axis: str, rule: str, value: str, others=(), straight: float = 0.0
) -> Finding:
    """Fit accuracy along an axis, for MaxFanOut, MinChoice and the others, seed by seed."""
    names = [*SELECTIONS, *others]
    if "axis" in figure:
        figure = figure[figure["axis"] == axis]
    runs = _runs(figure, rule, value)
    changes = _slopes(runs, axis).reindex(names) * np.ptp(figure[axis])
    detail = _no_table(figure, rule, names)
    if changes.isna().any() or changes.map(len).min() < 2:
        return Finding("too few tables were found", UNDECIDED, detail=detail)
    verdict = judge_intervals(-_ends(changes)[:, ::-1])
    if straight and verdict == REPRODUCED:
        means = runs.pivot_table(index=axis, columns="algorithm", values="value")[names]
        explained = means.corrwith(means.index.to_series()) ** 2
        verdict = REPRODUCED if explained.min() >= straight else DIRECTION
        detail = f"a line explains {listed(explained, '{:.0%}')}; {detail}"
    return Finding(
        f"change over the axis: {_means(changes, '{:+.2g}')}",
        verdict,
        interval=_told(changes, "{:.2g}"),
        spread=_seeds(changes),
        detail=detail,
    )


def gained(
    figure: pd.DataFrame, *, axis: str, rule: str, value: str, gains: dict, each: bool = False
) -> Finding:
    """Compare accuracies of two strategies, set by set where both found a table."""
    wide = _runs(figure, rule, value).pivot_table(
        index=[axis, "seed"], columns="algorithm", values="value"
    )
    by_seed, single = {}, {}
    for pair in gains:
        one, other = pair.split(" over ")
        both = wide.reindex(columns=[one, other]).dropna()
        gain = (both[one] - both[other]) / both[other].abs()
        by_seed[pair] = gain.groupby("seed").mean().to_numpy()
        places = gain.index.get_level_values(axis)
        single |= {f"{pair}, {at}": gain[places == at] for at in figure[axis].unique()}
    by_seed, single, published = map(pd.Series, (by_seed, single, gains))
    low, high = _ends(by_seed).T
    verdict = judge_intervals(_ends(by_seed), mostly=1)
    near = (published - POINTS <= low) & (high <= published + POINTS)
    if verdict == REPRODUCED and not near.all():
        verdict = DIRECTION
    shown = single if each else by_seed
    order = judge_intervals(_ends(shown), mostly=1)
    names = dict.fromkeys(name for pair in gains for name in pair.split(" over "))
    return Finding(
        _means(by_seed, "{:+.2%}"),
        verdict if order == REPRODUCED else order,
        interval=_told(shown, "{:+.2%}"),
        spread=_seeds(shown),
        detail="surely more than 2 points below the published gain: "
        f"{' and '.join(published.index[high < published - POINTS]) or 'no pair'}; "
        + _no_table(figure, rule, names),
    )


def ahead(
    figure: pd.DataFrame, satisfied: pd.DataFrame | None = None, *, axis: str, rule: str, value: str
) -> Finding:
    """Compare each of the two DIVAs with each baseline, means over the figure, seed by seed."""
    wide = _runs(figure, rule, value).pivot_table(
        index=[axis, "seed"], columns="algorithm", values="value"
    )
    wide = wide.reindex(columns=[*SELECTIONS, *BASELINES]).dropna()
    if wide.empty:
        return Finding("no table was found", UNDECIDED)
    means = wide.groupby("seed").mean()
    pairs = [(name, other) for name in SELECTIONS for other in BASELINES]
    apart = pd.Series({f"{name} - {other}": means[name] - means[other] for name, other in pairs})
    wins = pd.Series({f"{one} of {other}": (wide[one] > wide[other]).mean() for one, other in pairs})
    measured = f"share of the runs in which it is ahead: {listed(wins, '{:.0%}')}"
    if satisfied is not None:
        of_diva = _runs(satisfied, rule, "satisfied").query("algorithm in @SELECTIONS")
        if (of_diva["value"] < 1).any():
            return Finding(f"constraints do not all hold; {measured}", NOT_REPRODUCED)
    return Finding(
        measured,
        judge_intervals(_ends(apart)),
        interval=_told(apart, "{:.2g}"),
        spread=_seeds(apart),
        detail=_no_table(figure, rule, SELECTIONS),
    )


def _runs(figure: pd.DataFrame, rule: str, value: str) -> pd.DataFrame:
    """Return the runs by one rule, and the baselines', with what is compared as their value."""
    runs = figure[figure["over bound"].isin([rule, "none"])]
    return runs.assign(value=runs.eval(value, engine="python"))


def _logs(runs: pd.DataFrame) -> pd.DataFrame:
    return runs.assign(constraints=np.log(runs["constraints"]), value=np.log(runs["value"]))


def _slopes(runs: pd.DataFrame, axis: str) -> pd.Series:
    """Fit the value along an axis, for each algorithm and each seed with two settings or more."""
    means = runs.groupby(["algorithm", "seed", axis])["value"].mean().dropna().reset_index(axis)
    return pd.Series(
        {
            name: np.array([
                np.polyfit(part[axis], part["value"], 1)[0]
                for _, part in of_name.groupby("seed")
                if len(part) > 1
            ])
            for name, of_name in means.groupby("algorithm")
        }
    )  # fmt: skip


def _ends(rows: pd.Series) -> np.ndarray:
    """Return the intervals of means over seeds, one a row, so wide that all hold with 95 %."""
    level = level_of_each(len(rows))
    return np.array([mean_interval(row, level=level) if len(row) else ANY for row in rows])


def _told(rows: pd.Series, show: str) -> str:
    """Return intervals in words; one alone needs no name."""
    words = intervals_in_words(_ends(rows), rows.index, show)
    return words if len(rows) > 1 else words.partition(": ")[2]


def _means(rows: pd.Series, show: str, scale=float) -> str:
    return listed(rows.map(np.mean).map(scale), show)


def _seeds(rows: pd.Series) -> str:
    return of_draws(rows.map(len), "seeds")


def _no_table(figure: pd.DataFrame, rule: str, names: Sequence[str]) -> str:
    """Say on how many sets each strategy found no table."""
    runs = figure[(figure["over bound"] == rule) & figure["algorithm"].isin([*names])]
    failed = (runs["outcome"] != "found").groupby(runs["algorithm"]).agg(["sum", "size"])
    told = (f"{name} on {sum} of {size} sets" for name, sum, size in failed.itertuples())
    return "no table: " + ", ".join(told)
