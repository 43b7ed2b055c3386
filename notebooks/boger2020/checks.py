"""Judges of boger2020's claims for what claims.toml cannot say in a few readable lines."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from anonpaper.compendium.intervals import (
    LEVEL,
    SOMEWHERE,
    Settings,
    difference_intervals,
    judge_intervals,
    judge_runs,
    judge_share,
    judge_statement,
    level_of_each,
    of_draws,
    prediction_interval,
    runs_needed,
    share_interval,
)
from anonpaper.compendium.judge import Finding, span
from anonpaper.compendium.tables import reference

ERROR = "relative error, %"


def power_of_rows(
    figure_5: pd.DataFrame, *, curve: str, published: float = 2, tolerance: float = np.nan
) -> Finding:
    """Fit a power of the rows to the seconds; its whole interval has to be in the bounds."""
    points = figure_5[(figure_5["curve"] == curve) & (figure_5["thousand rows"] > 0)]
    rows = points["thousand rows"]
    fit = stats.linregress(np.log(rows), np.log(points["seconds"]))
    half = stats.t.ppf((1 + LEVEL) / 2, len(rows) - 2) * fit.stderr
    low, high = fit.slope - half, fit.slope + half
    least = published - np.nan_to_num(tolerance * published, nan=np.inf)
    most = published + np.nan_to_num(tolerance * published)
    return Finding(
        fit.slope,
        judge_intervals([[low - least, high - least], [most - high, most - low]], mostly=1),
        detail=f"{len(rows)} sizes, {1000 * rows.min():,.0f} to {1000 * rows.max():,.0f} rows",
        interval=(low, high),
    )


def larger_elsewhere(
    runs: pd.DataFrame, *, data: str, column: str, unit: str, within=(-np.inf, np.inf)
) -> Finding:
    """Look for parameters at which the mean over seeds lies above that at the paper's."""
    by_seed = runs[runs["data"] == data].pivot_table(
        index=["k", "l", "theta"], columns="seed", values=column
    )
    at_paper, others = by_seed.loc[10, 5, 0.3], by_seed.drop((10, 5, 0.3))
    more = others - at_paper - 1e-9  # as many are not more
    settings = Settings(more, quantifier=SOMEWHERE, within=tuple(within))
    low = settings.ends[:, 0]
    above, mean = low > 0, others.mean(axis=1)
    most = "k = {}, l = {}, theta = {}".format(*mean.idxmax())
    return Finding(
        f"{at_paper.mean():.3g}{unit} at the paper's parameters, up to {mean.max():.3g} at others",
        settings.verdict,
        detail=f"above at {above.sum()} of {len(above)} other settings"
        + (f", most at {most}" if mean.max() > at_paper.mean() else ""),
        interval=f"together, above by at least {low.max():.3g}{unit} at one setting"
        if above.any()
        else "",
        spread=of_draws(by_seed.shape[1], "seeds"),
        settings=settings.n,
        needed=settings.needed,
    )


def could_be_one_run(errors: pd.DataFrame, *, tables: list[str], at_least: float) -> Finding:
    """Count the single runs that are as far from the mean of the others as what is published."""
    runs, published = _runs(errors[errors["table"].isin(tables)])
    n, mean, variance = runs.shape[1], runs.mean(axis=1), runs.var(axis=1)
    apart = runs.sub(mean, axis=0) * n / (n - 1)  # a run against the mean of the others
    others = (-(apart**2) / n * (n - 1)).add((n - 1) * variance, axis=0) / (n - 2)
    apart /= others**0.5  # and by their spread, as what is published by that of all runs
    apart.insert(0, "published", (published - mean) / variance**0.5)
    far = (apart**2).mean() ** 0.5
    farther = (far.iloc[1:] >= far.iloc[0]).sum()
    return Finding(
        f"{farther} of {n} runs are as far from the others",
        judge_share(farther, n, at_least=at_least),
        detail=f"{far.iloc[0]:.2f} standard deviations away, runs {far.iloc[1:].min():.2f} to "
        f"{far.iloc[1:].max():.2f}",
        interval=share_interval(farther, n),
        spread=of_draws(n, "seeds"),
        needed=lambda: (n, runs_needed(farther, n, at_least=at_least), "seeds"),
    )


def published_runs(errors: pd.DataFrame, *, varied: str) -> Finding:
    """Look which published values could be one more run of ours."""
    runs, published = _runs(
        errors[(errors["varied"] == varied) & (errors["table"] != "BaseTable")]
    )
    ends = np.array([prediction_interval(row) for row in runs.to_numpy()])
    inside = (ends[:, 0] <= published) & (published <= ends[:, 1])
    by_table = inside.groupby("table").agg(["sum", "size"])
    level = level_of_each(len(runs))
    wider = np.array([prediction_interval(row, level=level) for row in runs.to_numpy()])
    within = ((wider[:, 0] <= published) & (published <= wider[:, 1])).sum()
    return Finding(
        f"{inside.sum()} of {len(inside)} published values fit at 95 %",
        judge_runs(runs, published),
        detail=", ".join(f"{name} {fit} of {size}" for name, fit, size in by_table.itertuples())
        + f"; {within} of {len(inside)} fit in the wider intervals that hold together",
        interval=f"of one run, each ± {np.ptp(ends, axis=1).mean() / 2:.1f} points on average",
        spread=of_draws(runs.shape[1], "runs"),
        settings=len(runs),
    )


def _runs(errors: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Return errors by point (rows) and run (columns), and the published error of each point."""
    runs = errors.assign(percent=errors["selectivity, %"].round(2)).pivot_table(
        index=["varied", "percent", "table"], columns="seed", values=ERROR
    )
    keys = ["varied_qi", "selectivity_pct", "table"]
    published = reference("boger2020_fig9-12_relative_error").set_index(keys)
    return runs, published["relative_error_pct"].reindex(runs.index)


def best_at_least(errors: pd.DataFrame) -> Finding:
    """Compare the matching table with all others, and BaseTable, at the least selectivity."""
    lead = _lead(errors)
    settings, mean = Settings(lead), lead.mean(axis=1)
    low = settings.ends[:, 0]
    known = {"behind on average": mean < 0, "ahead, but not for certain": (mean >= 0) & (low < 0)}
    behind = [
        f"{what}: " + ", ".join(f"{name} against {table}" for name, table in lead.index[those])
        for what, those in known.items()
        if those.any()
    ]
    return Finding(
        f"surely ahead in {(low >= 0).sum()} of {len(low)} comparisons",
        settings.verdict,
        detail="; ".join(behind),
        interval=f"± {np.ptp(settings.ends, axis=1).mean() / 2:.1f} points on average, "
        + settings.held,
        spread=of_draws(lead.shape[1], "seeds"),
        settings=settings.n,
        needed=settings.needed,
    )


def runs_have_it_either_way(text: pd.DataFrame, program: pd.DataFrame, *, others: bool) -> Finding:
    """Count the runs with the other order, where the order of means is not certain."""
    least, found = [], []
    for reading, errors in (("text", text), ("program", program)):
        ahead = _lead(errors) if others else _below_base(errors)
        unsure = difference_intervals(0 * ahead, ahead)[:, 0] < 0
        shares = (ahead < 0).loc[unsure].mean(axis=1)
        if len(shares):
            least.append(shares.min())
            found.append(f"{span(shares, '{:.0%}')} by the {reading}")
    return Finding(
        "single runs in which it is behind, where it is not surely ahead: "
        + (", ".join(found) or "none"),
        judge_statement(bool(least) and min(least) > 0),
    )


def _below_base(errors: pd.DataFrame) -> pd.DataFrame:
    """Return by how much the matching table's error is below BaseTable's, up to 50 %."""
    low = errors[(errors["selectivity, %"] <= 50) & _matching(errors)]
    return 100 - low.pivot_table(index=["varied", "values"], columns="seed", values=ERROR)


def _matching(errors: pd.DataFrame) -> pd.Series:
    """Return whether a row is of the table made for the attribute that it varies."""
    return errors["table"] == errors["varied"].str.capitalize() + "Table"


def _lead(errors: pd.DataFrame) -> pd.DataFrame:
    """Return by how much every other table's error is larger at the least selectivity."""
    least = errors[errors["values"] == errors.groupby("varied")["values"].transform("min")]
    own = least[_matching(least)].pivot_table(index="varied", columns="seed", values=ERROR)
    others = least[~_matching(least)].pivot_table(
        index=["varied", "table"], columns="seed", values=ERROR, sort=False
    )
    base = pd.concat({"BaseTable": 100 + 0 * own}).swaplevel()
    return pd.concat([others, base]).sub(own, level="varied")
