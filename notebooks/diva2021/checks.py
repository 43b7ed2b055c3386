"""What claims.toml cannot express of Milani, Huang, Chiang (DIVA, 2021).

Every seed draws rows and sets anew, so a seed is one draw. Strategies are compared on the same
sets, and all sets count: a run without a table counts as a table of nothing but stars. An order is
supported without any margin; it is refuted by the opposite one, or by a lead surely below 1 %.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
import pandas as pd
import scipy

from anonpaper.compendium.intervals import (
    DIRECTION,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    Settings,
    intervals_in_words,
    judge_intervals,
    judge_statement,
    mean_intervals,
    of_draws,
)
from anonpaper.compendium.judge import Finding, listed
from anonpaper.datasets.examples import patients, patients_diverse
from anonpaper.publish import suppress

SELECTIONS = ["max_fan_out", "min_choice"]
BASELINES = ["k_member", "oka", "mondrian"]
NAMES = {
    "basic": "Basic", "max_fan_out": "MaxFanOut", "min_choice": "MinChoice",
    "k_member": "k-member", "oka": "OKA", "mondrian": "Mondrian",
}  # fmt: skip
POINTS = 0.02  # a gain this near to the published one agrees with it
SAME = 0.01  # a gain below this one is none, unless it is surely above 0
TWENTY = np.log(20)  # a model with so much more likelihood than another fits better


def table_3_returned(table_3: pd.DataFrame) -> Finding:
    """Compare the table that DIVA returns with the paper's, value by value."""
    theirs = suppress(patients(), patients_diverse()).frame.rename_axis("ID").reset_index()
    differs = table_3.astype(str) != theirs[table_3.columns].astype(str)
    asked = differs[list(patients().qi)]  # no other column is ever changed
    measured = f"{asked.sum().sum()} of {asked.size} values of the quasi-identifiers differ"
    return Finding(measured, judge_statement(not differs.any(axis=None)))


def basic_grows(search: pd.DataFrame, *, rule: str) -> Finding:
    """Compare a power of the number of constraints with an exponential, for Basic's candidates.

    A search that was cut off counts as one that tries more candidates than it had tried then.
    """
    runs = search[(search["over bound"] == rule) & (search["algorithm"] == "basic")]
    runs = runs[runs["conflict rate"] == runs["conflict rate"].min()]
    cut_off, number = runs["outcome"] == "budget used up", runs["constraints"].astype(float)
    told = f"{cut_off.sum()} of {len(runs)} searches were cut off"
    if number.nunique() < 3 or cut_off.all():
        return Finding(f"too few searches ended; {told}", UNDECIDED)
    tried, seeds = np.log(runs["candidates"]), pd.get_dummies(runs["seed"], dtype=float)
    power, of_power = _censored_fit(tried, cut_off, seeds, np.log(number))
    rate, of_exponential = _censored_fit(tried, cut_off, seeds, number)
    _, of_one = _censored_fit(tried - np.log(number), cut_off, seeds)  # a power of 1: linear
    better, not_linear = of_exponential - of_power, 2 * (of_power - of_one) > 3.84
    verdict = UNDECIDED
    if not_linear:
        verdict = NOT_REPRODUCED if power < 1 else REPRODUCED if better >= TWENTY else DIRECTION
    return Finding(
        f"power {power:.2f}, or x {np.exp(4 * rate):.2f} for every four constraints; the "
        f"exponential has {np.exp(np.clip(better, -20, 20)):.3g} times the power's likelihood",
        verdict,
        spread=of_draws(seeds.shape[1], "seeds"),
        detail=told,
    )


def _censored_fit(
    values: pd.Series, cut_off: pd.Series, seeds: pd.DataFrame, *along: pd.Series
) -> tuple[float, float]:
    """Fit a slope and a level of every seed to values, some of which are lower bounds.

    Returns the slope and the log-likelihood. Errors are normal; in Olsen's parameters, 1 / sigma
    and coefficients / sigma, the likelihood is concave.
    """
    known = np.column_stack([*along, seeds])

    def loss(found: np.ndarray) -> tuple[float, np.ndarray]:
        apart = found[0] * values - known @ found[1:]
        above = scipy.special.log_ndtr(-apart)  # the chance of a larger value
        ended = np.log(found[0]) - apart**2 / 2 - np.log(2 * np.pi) / 2
        pull = np.where(cut_off, np.exp(-(apart**2) / 2 - above) / np.sqrt(2 * np.pi), apart)
        slope = np.r_[pull @ values - (~cut_off).sum() / found[0], -pull @ known]
        return -np.where(cut_off, above, ended).sum(), slope

    start = np.r_[1.0, scipy.linalg.lstsq(known, values)[0]]  # numpy's may not end for NaN
    bounds = [(1e-6, None)] + [(None, None)] * known.shape[1]
    fit = scipy.optimize.minimize(loss, start, jac=True, bounds=bounds)
    return fit.x[1] / fit.x[0], -fit.fun


def falls_along(
    figure: pd.DataFrame, *, axis: str, rule: str, value: str, others=(), straight: float = 0.0
) -> Finding:
    """Fit accuracy along an axis, seed by seed, for MaxFanOut, MinChoice and any others named."""
    names = [*SELECTIONS, *others]
    if "axis" in figure:
        figure = figure[figure["axis"] == axis]
    wide = _wide(figure, axis, rule, value)[names].unstack("seed")
    slopes = np.polyfit(wide.index.to_numpy(float), wide, 1)[0]
    changes = pd.Series(slopes * np.ptp(figure[axis]), wide.columns).unstack("seed")
    changes, (least, most) = changes.reindex(names), (figure[axis].min(), figure[axis].max())
    settings, detail = Settings(-changes), _no_table(figure, rule, names)
    ends, verdict = -settings.ends[:, ::-1], settings.verdict
    means = changes.mean(axis=1).map("{:.2g}".format).astype(float)  # two digits, no exponent
    if straight and verdict == REPRODUCED:
        courses = wide.T.groupby("algorithm").mean().T[names]
        explained = courses.corrwith(courses.index.to_series()) ** 2
        verdict = REPRODUCED if explained.min() >= straight else DIRECTION
        detail = f"a line explains {listed(explained, '{:.0%}')}; {detail}"
    return _finding(
        f"change of {_label(value)} from {axis} = {least:,g} to {most:,g}: "
        f"{listed(means, '{:+,g}')}",
        verdict,
        interval=intervals_in_words(ends, names, "{:,.2g}", held=settings.held),
        spread=of_draws(changes.shape[1], "seeds"),
        detail=detail,
        settings=settings.n,
        needed=settings.needed,
    )


def gained(
    figure: pd.DataFrame, *, axis: str, rule: str, value: str, gains: dict, each: bool = False
) -> Finding:
    """Compare the mean accuracies of two strategies, over the axis or at each place on it."""
    wide, published = _wide(figure, axis, rule, value), pd.Series(gains)
    means = overall = dict.fromkeys(gains, wide.groupby("seed").mean())
    if each:
        means = {
            f"{pair}, {at}": part.droplevel(axis)
            for pair in gains
            for at, part in wide.groupby(axis, sort=False)
        }

    def lead(means: dict, gain: dict | float = 0.0) -> pd.DataFrame:
        """Return by how much one leads the other by more than a gain, in shares of the other."""
        rows = {}
        for name, frame in means.items():
            one, other = name.partition(", ")[0].split(" over ")
            size, asked = frame[other].abs(), gain[name] if isinstance(gain, dict) else gain
            rows[name] = (frame[one] - frame[other] - asked * size) / size.mean()
        return pd.DataFrame(rows).T

    settings, above_same = Settings(lead(means), mostly=1), Settings(lead(means, SAME), mostly=1)

    def unless_same(level: float) -> np.ndarray:
        """Return the intervals: below 0 only where they are also below a gain that is none."""
        (low, high), same = settings.at(level).T, above_same.at(level)[:, 1]
        return np.c_[low, np.where((low < 0) & (same < 0), -SAME, high)]

    verdict = judge_intervals(unless_same, mostly=1)
    low, high = (lead(overall, (published + margin).to_dict()) for margin in (-POINTS, POINTS))
    near = Settings(low, -high, mostly=1)
    if verdict == REPRODUCED and near.verdict != REPRODUCED:
        verdict = DIRECTION
    names = {name for pair in gains for name in pair.split(" over ")}
    return _finding(
        f"gain in {_label(value)}: {listed(lead(overall).mean(axis=1), '{:+,.1%}')}",
        verdict,
        interval=settings.words(list(means), "{:+,.1%}"),
        spread=of_draws(settings.draws, "seeds"),
        settings=settings.n,
        needed=settings.needed,
        detail="surely more than 2 points below the published gain: "
        f"{' and '.join(published.index[mean_intervals(low)[:, 1] < 0]) or 'no pair'}; "
        + _no_table(figure, rule, names),
    )


def ahead(
    figure: pd.DataFrame, *satisfied: pd.DataFrame, axis: str, rule: str, value: str
) -> Finding:
    """Compare each of the two DIVAs with each baseline: on how many of a seed's sets it leads."""
    wide = _wide(figure, axis, rule, value)
    pairs = {f"{one} against {other}": wide[one] - wide[other]
             for one in SELECTIONS for other in BASELINES}  # fmt: skip
    apart = pd.DataFrame(pairs)
    wins = (apart > 0).mean()
    measured = (
        f"share of the runs in which it is ahead in {_label(value)}: {listed(wins, '{:.0%}')}"
    )
    for constraints in satisfied:
        of_diva = _runs(constraints, rule, "satisfied").query("algorithm in @SELECTIONS")
        if not (of_diva["value"] == 1).all():
            return _finding(f"constraints do not all hold; {measured}", NOT_REPRODUCED)
    lead = np.sign(apart).groupby("seed").mean().T
    settings = Settings(lead, within=(-1, 1))
    return _finding(
        measured,
        settings.verdict,
        settings=settings.n,
        needed=settings.needed,
        interval="of the share ahead less the share behind, "
        + settings.words(lead.index, "{:.2g}"),
        spread=of_draws(settings.draws, "seeds"),
        detail=_no_table(figure, rule, SELECTIONS),
    )


def _finding(measured: str, verdict: str, **about) -> Finding:
    """Return a finding with the names of methods as the paper writes them."""
    texts = {"measured": measured} | {
        name: about[name] for name in ("interval", "detail") if name in about
    }
    pattern = rf"\b({'|'.join(NAMES)})\b"
    texts = {
        name: re.sub(pattern, lambda found: NAMES[found[1]], text) for name, text in texts.items()
    }
    return Finding(verdict=verdict, **about | texts)


def _label(value: str) -> str:
    """Return what a value is in words: "accuracy (stars)"."""
    name = value.strip("-`")
    return f"{name} (sign turned)" if value.startswith("-") else name


def _runs(figure: pd.DataFrame, rule: str, value: str) -> pd.DataFrame:
    """Return the runs by one rule, and the baselines', with what is compared as their value."""
    runs = figure[figure["over bound"].isin([rule, "none"])]
    return runs.assign(value=runs.eval(value, engine="python"))


def _wide(figure: pd.DataFrame, axis: str, rule: str, value: str) -> pd.DataFrame:
    """Return the values by place on the axis and seed (rows) and algorithm (columns)."""
    runs = _runs(figure, rule, value)
    return runs.pivot(index=[axis, "seed"], columns="algorithm", values="value")


def _no_table(figure: pd.DataFrame, rule: str, names: Collection[str]) -> str:
    """Say on how many sets each strategy found no table."""
    runs = figure[(figure["over bound"] == rule) & figure["algorithm"].isin(names)]
    failed = (runs["outcome"] != "found").groupby(runs["algorithm"]).agg(["sum", "size"])
    told = (f"{name} on {sum} of {size} sets" for name, sum, size in failed.itertuples())
    return "no table: " + ", ".join(told)
