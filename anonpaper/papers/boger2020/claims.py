"""The claims of Boger: L-diversity for data analysis, data swapping with customized clustering."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from anonpaper.papers.claims import Claim, Finding
from anonpaper.papers.judging import (
    EXACT,
    MOSTLY,
    judge_order,
    judge_rising,
    judge_statement,
    judge_value,
    over_seeds,
)
from anonpaper.papers.published import reference

__all__ = ["CLAIMS"]

#: The table made for queries on each attribute.
TABLE_OF = {
    "race": "RaceTable",
    "education": "EducationTable",
    "sex": "SexTable",
    "age": "AgeTable",
}

OTHER_ALGORITHM = "another algorithm for the same groups, on another machine"
READ_OFF = "read off the figure; the extrapolation depends on the kind of trendline"


# ---- 1_three_principles -----------------------------------------------------------------------


def not_diverse(levels: pd.DataFrame) -> Finding:
    """Look up the levels of Figure 1."""
    k, l = levels.set_index("figure").loc["Figure 1", ["k", "l"]]
    return Finding(f"{k:g}-anonymous, {l:g}-diverse", judge_statement(k >= 3 and l < 2))


def not_theta_diverse(levels: pd.DataFrame) -> Finding:
    """Look up the levels of Figure 2."""
    l, theta = levels.set_index("figure").loc["Figure 2", ["l", "theta"]]
    return Finding(f"{l:g}-diverse, theta {theta:g}", judge_statement(l >= 2 and theta > 0.5))


def all_three_hold(levels: pd.DataFrame) -> Finding:
    """Look up the levels that the groups of Figure 3 reach, with no row left out."""
    k, l, theta, out = levels.set_index("figure").loc[
        "Figure 3", ["k", "l", "theta", "rows left out"]
    ]
    return Finding(
        f"{k:g}-anonymous, {l:g}-diverse, theta {theta:g}, {out:g} rows left out",
        judge_statement(k >= 4 and l >= 3 and theta <= 0.5 and out == 0),
    )


def true_value_shown(figure_3: pd.DataFrame) -> Finding:
    """Compare how often a row shows its true value with the value's share in the group."""
    shown, share = (
        figure_3[figure_3["what"].str.startswith(what)].set_index("row")["probability"]
        for what in ("true value", "share")
    )
    deviation = (0.25 / figure_3["swaps"].iloc[0]) ** 0.5
    off = (shown - share).abs().max()
    return Finding(
        f"at most {shown.max():.2f}; off the share by {off:.3f} at most",
        judge_order(shown, share + 4 * deviation),
    )


# ---- 2_clustering_adult -----------------------------------------------------------------------


def all_rows_satisfy(outcome: pd.DataFrame) -> Finding:
    """Look up what the groups of every seed reach: k = 10, l = 5, theta = 0.3, no row left out."""
    holds = (
        (outcome["rows left out"] == 0)
        & (outcome["smallest group"] >= 10)
        & (outcome["fewest values"] >= 5)
        & (outcome["largest share"] <= 0.3)
    )
    return Finding(
        f"{outcome['rows left out'].max()} rows left out at most",
        judge_statement(holds.all(), in_direction=holds.mean() >= MOSTLY),
        spread=over_seeds(outcome["rows left out"]),
    )


def nothing_unassigned(outcome: pd.DataFrame, *, published: int) -> Finding:
    """Look up M, how often rows were left for a further round."""
    return Finding(
        f"M = {outcome['M'].max()} at most",
        judge_order(outcome["M"], np.full(len(outcome), published)),
        spread=over_seeds(outcome["M"]),
    )


def seconds_for_adult(figure_5: pd.DataFrame, *, published: float, tolerance: float) -> Finding:
    """Look up our time for all rows."""
    seconds = _curve(figure_5, "ours").iloc[-1]
    return Finding(seconds, judge_value(seconds, published, tolerance))


def power_of_rows(
    figure_5: pd.DataFrame, *, curve: str, published: float, tolerance: float
) -> Finding:
    """Fit a power of the number of rows to the seconds of a curve."""
    seconds = _curve(figure_5, curve)
    power = np.polyfit(np.log(seconds.index), np.log(seconds), 1)[0]
    return Finding(power, judge_value(power, published, tolerance))


def trendline(
    figure_5: pd.DataFrame, *, thousand_rows: int, unit: float, published: float, tolerance: float
) -> Finding:
    """Extrapolate the least-squares square of the published points."""
    points = _curve(figure_5, "paper")
    square = np.average(points / points.index**2, weights=points.index**4)
    found = square * thousand_rows**2 / unit
    return Finding(f"{found:.1f}, from their points", judge_value(found, published, tolerance))


def _curve(figure_5: pd.DataFrame, curve: str) -> pd.Series:
    """Return the seconds of a curve by thousand rows, without the point at 0."""
    part = figure_5[(figure_5["curve"] == curve) & (figure_5["thousand rows"] > 0)]
    return part.set_index("thousand rows")["seconds"].sort_index()


# ---- 3_customized_distances -------------------------------------------------------------------


def all_selected(errors: pd.DataFrame, *, published: float) -> Finding:
    """Look up the largest error of queries that select everybody."""
    worst = errors["query error"].max()
    return Finding(worst, judge_statement(worst == published))


def similar_to_base(figure_8: pd.DataFrame, *, tolerance: float) -> Finding:
    """Compare the mean errors at default selectivities with 100 %, BaseTable's."""
    off = (figure_8["mean"] / 100 - 1).abs()
    return Finding(
        f"{off.max():.1%} off at most",
        judge_order(off, np.full(len(off), tolerance), mostly=0.75),
        spread=f"{figure_8['min'].min():.0f} to {figure_8['max'].max():.0f} % over seeds",
    )


def order_of_figure_8(figure_8: pd.DataFrame) -> Finding:
    """Compare the order of our mean errors with that of the paper's."""
    mean = figure_8.set_index("table").sort_values("paper")["mean"]
    order = " < ".join(mean.sort_values().index.str.removesuffix("Table"))
    ranges = [
        f"{row.table.removesuffix('Table')} {row.min:.0f} to {row.max:.0f}"
        for row in figure_8.itertuples()
    ]
    return Finding(order, judge_rising(mean, mostly=0.6), spread=", ".join(ranges))


def order_in_the_paper() -> str:
    """Return the tables of Figure 8 by rising error, BaseTable left out."""
    errors = reference("boger2020_fig8_default_selectivity").set_index("table").drop("BaseTable")
    return " < ".join(errors["relative_error_pct"].sort_values().index.str.removesuffix("Table"))


def best_at_least_selectivity(errors: pd.DataFrame) -> Finding:
    """Compare the matching table with the best other, BaseTable included, at the least one."""
    ahead = _ahead_at_least(errors)
    by_seed = [_ahead_at_least(runs).sum() for _, runs in errors.groupby("seed")]
    return Finding(
        f"for {ahead.sum()} of {len(ahead)} attributes",
        judge_statement(ahead.all(), in_direction=ahead.mean() >= 0.75),
        detail="not for " + ", ".join(ahead[~ahead].index.get_level_values("varied")),
        spread=over_seeds(by_seed),
    )


def better_than_base(errors: pd.DataFrame) -> Finding:
    """Compare the matching table with BaseTable at selectivities up to 50 %."""
    low = errors[errors["selectivity, %"] <= 50]
    matching, _ = _matching_and_best_other(_mean_errors(low))
    by_seed = [
        _matching_and_best_other(_mean_errors(runs))[0].max() for _, runs in low.groupby("seed")
    ]
    above = matching[matching > 100]
    return Finding(
        f"{matching.max():.1f} % of its error at most",
        judge_order(matching, np.full(len(matching), 100)),
        detail=f"{len(above)} of {len(matching)} selectivities are above, of "
        f"{', '.join(above.index.unique('varied'))}, by up to "
        f"{matching.max() - 100:.1f} %",
        spread=over_seeds(by_seed, "{:.1f}"),
    )


def error_rises(errors: pd.DataFrame, *, varied: str, mostly: float = MOSTLY) -> Finding:
    """Follow the mean error of the matching table over the selectivity."""
    part = errors[(errors["varied"] == varied) & (errors["table"] == TABLE_OF[varied])]
    by_seed = part.pivot(index="values", columns="seed", values="relative error, %")
    mean = by_seed.mean(axis=1)
    rises = by_seed.iloc[-1] - by_seed.iloc[0]
    return Finding(
        f"{mean.iloc[0]:.0f} to {mean.iloc[-1]:.0f} %",
        judge_rising(mean, mostly=mostly),
        spread=f"rises by {over_seeds(rises, '{:.0f}')}",
    )


def correlates_most(correlation: pd.DataFrame) -> Finding:
    """Compare Cramer's V of education and sex with that of race and age."""
    v = correlation.set_index("attribute")["Cramer's V"]
    return Finding(
        ", ".join(f"{name} {value:.2f}" for name, value in v.items()),
        judge_order([v["race"], v["age"]] * 2, [v["education"]] * 2 + [v["sex"]] * 2),
    )


def _ahead_at_least(errors: pd.DataFrame) -> pd.Series:
    """Return whether the matching table is the best at the least selectivity, by attribute."""
    least = _mean_errors(errors).groupby("varied", sort=False).head(1)
    matching, others = _matching_and_best_other(least)
    return matching <= others.clip(upper=100)


def _mean_errors(errors: pd.DataFrame) -> pd.DataFrame:
    """Return the mean errors over seeds, tables as columns."""
    by = ["varied", "values", "table"]
    return errors.groupby(by, sort=False)["relative error, %"].mean().unstack("table")


def _matching_and_best_other(mean: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return the error of the table made for the varied attribute, and the least of the others."""
    rows = [(row, TABLE_OF[varied]) for (varied, _), row in mean.iterrows()]
    matching = pd.Series([row[own] for row, own in rows], mean.index)
    others = pd.Series([row.drop(own).min() for row, own in rows], mean.index)
    return matching, others


# ---- 4_privacy_properties ---------------------------------------------------------------------


def guess_in_a_group(guessing: pd.DataFrame, *, published: float) -> Finding:
    """Compare the best guess in the worst group of any seed with theta."""
    worst = guessing["worst_group"]
    return Finding(
        f"{worst.max():.3f} in the worst group",
        judge_order(worst, np.full(len(worst), published + 1e-9)),
    )


def lower_in_clusters(guesses: pd.DataFrame, *, measure: str) -> Finding:
    """Compare clustered with arbitrary groups, at every kind of knowledge, means over seeds."""
    by = ["knowledge", "held implausible below"]
    mean = guesses.pivot_table(index=by, columns="grouping", values=measure)
    by_seed = guesses.pivot_table(index="seed", columns="grouping", values=measure)
    return Finding(
        f"{mean['clustered'].mean():.3f} against {mean['arbitrary'].mean():.3f}",
        judge_order(mean["clustered"], mean["arbitrary"]),
        spread=f"{over_seeds(by_seed['clustered'])}, arbitrary {over_seeds(by_seed['arbitrary'])}",
    )


def knowledge_adds_less(gains: pd.DataFrame) -> Finding:
    """Compare what knowledge adds to a guess in clustered and in arbitrary groups."""
    gains = gains[gains["knowledge"] != "nothing"]
    clustered, arbitrary = gains["gain, clustered"], gains["gain, arbitrary"]
    return Finding(
        f"{clustered.mean():.3f} against {arbitrary.mean():.3f}", judge_order(clustered, arbitrary)
    )


def members_found(tests: pd.DataFrame) -> Finding:
    """Look up the share of members that a swapped table says are members."""
    found = tests[tests["method"] == "swapping"]["members"]
    return Finding(
        f"{found.min():.0%} of the members",
        judge_order(np.ones(len(found)), found),
        spread=over_seeds(tests.groupby("seed")["members"].min()),
    )


def membership_with_four(tests: pd.DataFrame) -> Finding:
    """Look up the advantage of a membership test in a swapped table of four attributes."""
    swapped = tests[tests["method"] == "swapping"]
    mean = swapped.groupby("number_of_qi")[["outsiders", "advantage"]].mean()
    four, many = mean.loc[4], mean.index[-1]
    return Finding(
        f"advantage {four['advantage']:.2f} of 1",
        judge_order([0.5], [four["advantage"]]),
        detail=f"{four['outsiders']:.0%} of outsiders have a double in the table; with {many} "
        f"attributes the advantage is {mean.loc[many, 'advantage']:.2f}",
        spread=over_seeds(swapped[swapped["number_of_qi"] == 4]["advantage"]),
    )


def membership_in_generalization(tests: pd.DataFrame) -> Finding:
    """Look up the advantage of a membership test in a generalized table."""
    general = tests[tests["method"] == "generalization"]
    mean = general.groupby("number_of_qi")["advantage"].mean()
    most = general[general["number_of_qi"] == mean.index[-1]]["advantage"]
    return Finding(
        f"advantage {mean.min():.5f} to {mean.max():.3f}",
        judge_order(np.full(len(mean), 1e-6), mean),
        spread=f"with {mean.index[-1]} attributes {over_seeds(most)}",
    )


_principle = partial(
    Claim,
    paper="boger2020",
    notebook="1_three_principles",
    tolerance=EXACT,
    reason="the example is not the paper's",
    spread="no random step",
)
_clustering = partial(
    Claim,
    paper="boger2020",
    notebook="2_clustering_adult",
    where="Section 4.3, Figure 5",
    tables=("figure_5",),
)
_query = partial(
    Claim, paper="boger2020", notebook="3_customized_distances", tables=("figures_9_to_12",)
)
_attack = partial(Claim, paper="boger2020", notebook="4_privacy_properties", where="Section 5")

CLAIMS = (
    _principle(
        id="figure-1",
        where="Figure 1",
        claim="3-anonymous but not 2-diverse",
        tables=("levels",),
        judge=not_diverse,
    ),
    _principle(
        id="figure-2",
        where="Figure 2",
        claim="2-diverse but not 0.5-theta-diverse",
        tables=("levels",),
        judge=not_theta_diverse,
    ),
    _principle(
        id="figure-3",
        where="Figure 3",
        claim="4-anonymous, 3-diverse, 0.5-theta-diverse",
        tables=("levels",),
        judge=all_three_hold,
    ),
    _principle(
        id="swap-theta",
        where="Section 2.2",
        claim="a row shows its true value with probability theta at most",
        tables=("figure_3",),
        judge=true_value_shown,
        spread="over many swaps of one seed",
        tolerance="four standard deviations of the number of swaps",
    ),
    _clustering(
        id="all-rows",
        where="Section 4.3",
        claim="groups contain all rows of Adult and satisfy k = 10, l = 5 and theta = 0.3",
        tables=("outcome",),
        judge=all_rows_satisfy,
        reason="other order of the rows",
        tolerance=f"for every seed; in direction: for {100 * MOSTLY:g} % of them",
    ),
    _clustering(
        id="no-repeats",
        where="Section 4.3",
        claim="M, the rounds for rows unassigned in step 4",
        published=0,
        tables=("outcome",),
        judge=nothing_unassigned,
        reason="M is a property of the table: others repeat the steps, see the test of klt",
        tolerance=f"for every seed; in direction: for {100 * MOSTLY:g} % of them",
    ),
    _clustering(
        id="seconds",
        where="Section 4.3",
        claim="seconds for the whole of Adult",
        published=210,
        tolerance=0.2,
        judge=seconds_for_adult,
        reason=OTHER_ALGORITHM,
    ),
    _clustering(
        id="quadratic",
        claim="power of the number of rows by which time grows",
        published=2,
        tolerance=0.1,
        judge=partial(power_of_rows, curve="ours"),
        reason=OTHER_ALGORITHM,
    ),
    _clustering(
        id="published-quadratic",
        claim="the same power in the published points",
        published=2,
        tolerance=0.1,
        judge=partial(power_of_rows, curve="paper"),
        reason=READ_OFF,
        spread="the paper's points",
    ),
    _clustering(
        id="minutes",
        claim="minutes for 100,000 rows by the trendline",
        published=35,
        tolerance=0.1,
        judge=partial(trendline, thousand_rows=100, unit=60),
        reason=READ_OFF,
        spread="the paper's points",
    ),
    _clustering(
        id="hours",
        claim="hours for 1,000,000 rows by the trendline",
        published=61,
        tolerance=0.1,
        judge=partial(trendline, thousand_rows=1000, unit=3600),
        reason=READ_OFF,
        spread="the paper's points",
    ),
    _query(
        id="all-selected",
        where="Section 4.6",
        claim="with 100 % of every attribute all tables are exact: their error",
        published=0,
        tables=("all_selected",),
        judge=all_selected,
        tolerance=EXACT,
        reason="rows are lost or doubled",
    ),
    _query(
        id="similar",
        where="Section 4.7, Figure 8",
        claim="default selectivities: similar to BaseTable",
        tables=("figure_8",),
        judge=similar_to_base,
        tolerance=0.2,
        reason="other distances between values",
    ),
    _query(
        id="order-8",
        where="Section 4.7, Figure 8",
        claim="order of the four tables' errors",
        published=order_in_the_paper,
        tables=("figure_8",),
        judge=order_of_figure_8,
        tolerance="every step; in direction: 60 % of them",
        reason="the means of two tables lie closer together than single runs do",
    ),
    _query(
        id="best-at-low",
        where="Section 4.7",
        claim="least selectivity: the matching table is the best of all",
        judge=best_at_least_selectivity,
        reason="other distances between values",
        tolerance="for every attribute; in direction: for three of four",
    ),
    _query(
        id="below-base",
        where="Section 4.7",
        judge=better_than_base,
        claim="selectivity of 50 % or less: the matching table beats BaseTable",
        reason="other distances between values",
    ),
    _query(
        id="education-rises",
        where="Section 4.7, Figure 10",
        claim="EducationTable's error grows towards 100 %",
        judge=partial(error_rises, varied="education", mostly=0.7),
        tolerance="every step; in direction: 70 % of them",
        reason="means over seeds still waver where the curve is flat",
    ),
    _query(
        id="sex-rises",
        where="Section 4.7, Figure 11",
        claim="SexTable's error grows from one sex to both",
        judge=partial(error_rises, varied="sex"),
        reason="other distances between values",
    ),
    _query(
        id="correlation",
        where="Section 4.7",
        claim="education and sex correlate most with occupation",
        tables=("correlation",),
        judge=correlates_most,
        spread="no random step",
        reason="another measure of correlation: the paper names none",
    ),
    _attack(
        id="theta",
        claim="no guess in a known group beats theta",
        published=0.3,
        tables=("guessing",),
        judge=guess_in_a_group,
        tolerance=EXACT,
        spread="worst of all seeds",
        reason="groups miss their theta",
    ),
    _attack(
        id="implausible",
        claim="implausible values are less frequent in clustered groups",
        tables=("background_knowledge",),
        reason="other knowledge than the paper's attacker has",
        judge=partial(lower_in_clusters, measure="share of group ruled out"),
    ),
    _attack(
        id="gain",
        claim="so background knowledge adds less to a guess",
        tables=("gain_of_knowledge",),
        judge=knowledge_adds_less,
        spread="means over seeds",
        reason="holds for most kinds of knowledge",
    ),
    _attack(
        id="resilience",
        claim="clustered groups resist such attackers better than arbitrary ones "
        "(probability of a right guess)",
        tables=("background_knowledge",),
        judge=partial(lower_in_clusters, measure="probability of a right guess"),
        reason="similar people have similar occupations: the guess is better before any knowledge",
    ),
    _attack(
        id="members-found",
        claim="a membership test finds everybody in a swapped table",
        tables=("membership_advantage",),
        judge=members_found,
        reason="rows are lost",
    ),
    _attack(
        id="membership-four",
        claim="with the paper's attributes a membership test has a very good chance of success",
        tables=("membership_advantage",),
        judge=membership_with_four,
        tolerance="advantage of one half",
        reason="outsiders have doubles in the table",
    ),
    _attack(
        id="membership-generalized",
        claim="generalization does not prevent membership tests either",
        tables=("membership_advantage",),
        judge=membership_in_generalization,
        tolerance="advantage above 0",
        reason="with few attributes everybody has a double",
    ),
)
