"""The claims of Milani, Huang, Chiang: Preserving diversity in anonymized data (DIVA, 2021).

Accuracy is measured in two ways throughout: by the ratio of the least discernibility to that of
the release, and by the share of values that are not suppressed (stars).
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from anonpaper.datasets.examples import patients, patients_diverse
from anonpaper.papers.claims import Claim, Finding
from anonpaper.papers.judging import EXACT, MOSTLY, judge_statement, over_seeds
from anonpaper.publish import suppress

__all__ = ["CLAIMS"]

MEASURES = ["accuracy (ratio)", "accuracy (stars)"]
SELECTIONS = ["max_fan_out", "min_choice"]
BASELINES = ["k_member", "oka", "mondrian"]

#: The steps of Example 3.4: v1 and v3 are coloured, v2 is not, so v3 is coloured anew.
STEPS_OF_THE_PAPER = [
    ("colour", 1),
    ("colour", 3),
    ("reject", 2),
    ("backtrack", 3),
    ("colour", 3),
    ("colour", 2),
]

#: Section 4.1: how much more accurate than Basic.
PUBLISHED_GAIN = {"max_fan_out": 0.17, "min_choice": 0.09}

BOTH = "by both measures; in direction: by one of them"


# ---- 1_running_example ------------------------------------------------------------------------


def minority_lost(shown: pd.DataFrame) -> Finding:
    """Look up how many Africans still show their ethnicity in Table 2."""
    of_group = shown.set_index("ETH").loc["African"]
    return Finding(
        f"{of_group['rows']:.0f} of {shown['rows'].sum()} patients, shown: "
        f"{of_group['shown']:.0%}",
        judge_statement(of_group["shown"] == 0),
    )


def minorities_lost(shown: pd.DataFrame) -> Finding:
    """Compare how often minorities and the majority show their race, for all k and algorithms."""
    shown = shown.assign(
        majority=shown["rows"] == shown["rows"].max(), showing=shown["shown"] * shown["rows"]
    )
    people = shown.groupby(["algorithm", "k", "majority"])[["showing", "rows"]].sum()
    rate = (people["showing"] / people["rows"]).unstack("majority")
    least = rate.xs(rate.index.get_level_values("k").min(), level="k")
    ahead = rate[False] < rate[True]
    return Finding(
        f"less often shown at {ahead.sum()} of {len(ahead)} settings; at the least k "
        + ", ".join(
            f"{name} {row[False]:.0%} against {row[True]:.0%}" for name, row in least.iterrows()
        ),
        judge_statement(ahead.all(), in_direction=ahead.mean() >= 0.7),
    )


def table_3_returned(table_3: pd.DataFrame) -> Finding:
    """Compare the table that DIVA returns with the paper's, value by value."""
    theirs = suppress(patients(), patients_diverse()).frame.rename_axis("ID").reset_index()
    values = table_3.astype(str) == theirs[table_3.columns].astype(str)
    differing = int((~values).to_numpy().sum())
    return Finding(f"{differing} of {values.size} values differ", judge_statement(differing == 0))


def one_step_back(figure_3: pd.DataFrame) -> Finding:
    """Compare the steps of the colouring with those of Example 3.4."""
    steps = list(zip(figure_3["action"], figure_3["node"], strict=True))
    back = (figure_3["action"] == "backtrack").sum()
    return Finding(
        f"{back} step back, {len(steps)} steps",
        judge_statement(steps == STEPS_OF_THE_PAPER, in_direction=back == 1),
    )


# ---- 2_strategies -----------------------------------------------------------------------------


def basic_grows(figure_4a: pd.DataFrame) -> Finding:
    """Compare Basic's time for the most constraints with that for the fewest."""
    growth, times = _growth(figure_4a)
    runs = len(figure_4a[["constraints", "seed"]].drop_duplicates())
    failed = (figure_4a["outcome"] != "found").sum()
    return Finding(
        f"time x {growth['basic']:.1f} for {times:g} times the constraints; "
        f"{failed} of {runs} runs without a result",
        judge_statement(
            growth["basic"] > times**2, in_direction=growth["basic"] > times or failed > 0.1 * runs
        ),
        spread=_growth_over_seeds(figure_4a, ["basic"]),
    )


def selection_is_linear(figure_4a: pd.DataFrame) -> Finding:
    """Compare the time for the most constraints with that for the fewest."""
    growth, times = _growth(figure_4a)
    return Finding(
        ", ".join(f"{name} x {growth[name]:.1f}" for name in SELECTIONS)
        + f" for {times:g} times the constraints",
        judge_statement((growth[SELECTIONS] <= times).all()),
        spread=_growth_over_seeds(figure_4a, SELECTIONS),
    )


def accuracy_falls(figure_4b: pd.DataFrame) -> Finding:
    """Correlate accuracy with the number of constraints, for MinChoice and MaxFanOut."""
    chosen = figure_4b[figure_4b["algorithm"].isin(SELECTIONS)]
    slopes = _correlations(chosen, "algorithm")
    by_seed = _correlations(chosen, "seed")
    return Finding(
        "; ".join(f"{measure}: correlation {slopes[measure].mean():.2f}" for measure in MEASURES),
        judge_statement((slopes < -0.3).all(axis=None), in_direction=(slopes.mean() < 0).all()),
        spread="; ".join(
            f"{measure} {over_seeds(by_seed[measure], '{:.2f}')}" for measure in MEASURES
        ),
    )


def conflicts_cost(figure_4c: pd.DataFrame) -> Finding:
    """Compare the accuracies at the largest conflict rate with those at the least."""
    change = _change_with_conflict(figure_4c)
    by_seed = pd.DataFrame(
        [_change_with_conflict(runs) for _, runs in figure_4c.groupby("seed")]
    ).dropna()
    return Finding(
        "; ".join(f"{measure}: {change[measure]:+.0%}" for measure in MEASURES),
        judge_statement((change < -0.02).all(), in_direction=(change < -0.02).any()),
        spread="; ".join(
            f"{measure} {over_seeds(by_seed[measure], '{:+.0%}')}" for measure in MEASURES
        ),
    )


def better_than_basic(figure_4c: pd.DataFrame) -> Finding:
    """Compare the accuracies of MaxFanOut and MinChoice with Basic's, run by run."""
    gain = _gain_over_basic(figure_4c)
    by_seed = gain.groupby("seed").mean()
    mean = gain.mean()
    return Finding(
        "; ".join(
            f"{name} {mean[MEASURES[0], name]:+.1%} (ratio), "
            f"{mean[MEASURES[1], name]:+.1%} (stars)"
            for name in SELECTIONS
        ),
        judge_statement(
            all(abs(mean[m, s] - PUBLISHED_GAIN[s]) <= 0.02 for m in MEASURES for s in SELECTIONS),
            in_direction=all(mean[m, s] > 0 for m in MEASURES for s in SELECTIONS),
        ),
        spread="MaxFanOut (stars) " + over_seeds(by_seed[MEASURES[1], "max_fan_out"], "{:+.1%}"),
    )


def fan_out_beats_choice(figure_4c: pd.DataFrame) -> Finding:
    """Compare the gains of MaxFanOut and of MinChoice over Basic."""
    gain = _gain_over_basic(figure_4c)
    ahead = {m: gain[m, "max_fan_out"] - gain[m, "min_choice"] for m in MEASURES}
    return Finding(
        "; ".join(
            f"{m}: ahead in {(ahead[m] > 0).mean():.0%} of the runs, by {ahead[m].mean():+.1%}"
            for m in MEASURES
        ),
        judge_statement(
            all(ahead[m].mean() > 0 for m in MEASURES),
            in_direction=any(ahead[m].mean() > 0.01 for m in MEASURES),
        ),
        spread="; ".join(
            f"{m} {over_seeds(ahead[m].groupby('seed').mean(), '{:+.1%}')}" for m in MEASURES
        ),
    )


def best_on_all(figure_4d: pd.DataFrame) -> Finding:
    """Count the distributions on which MaxFanOut is the best."""
    wide = _by_distribution(figure_4d)
    best = {m: (wide[m]["max_fan_out"] >= wide[m].max(axis=1) - 1e-9).sum() for m in MEASURES}
    number = len(wide)
    return Finding(
        "; ".join(f"{m}: best on {best[m]} of {number}" for m in MEASURES),
        judge_statement(
            all(b == number for b in best.values()), in_direction=best[MEASURES[1]] >= number - 1
        ),
    )


def uniform_is_easiest(figure_4d: pd.DataFrame) -> Finding:
    """Order the distributions by MaxFanOut's accuracy."""
    wide = _by_distribution(figure_4d)
    order = {m: list(wide[m]["max_fan_out"].sort_values(ascending=False).index) for m in MEASURES}
    ends = {m: (order[m][0], order[m][-1]) == ("uniform", "zipf") for m in MEASURES}
    return Finding(
        "; ".join(f"{m}: {' > '.join(order[m])}" for m in MEASURES),
        judge_statement(all(ends.values()), in_direction=any(ends.values())),
    )


def _correlations(runs: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the correlation of each accuracy with the number of constraints, by group."""
    return pd.DataFrame(
        {
            measure: runs.groupby(by)[["constraints", measure]].apply(
                lambda part: part.corr().iloc[0, 1]
            )
            for measure in MEASURES
        }
    )


def _change_with_conflict(runs: pd.DataFrame) -> pd.Series:
    """Return by how much each accuracy changes from the least conflict rate to the largest."""
    mean = runs.groupby(["conflict rate", "algorithm"])[MEASURES].mean()
    rates = runs["conflict rate"]
    return (mean.loc[rates.max()] / mean.loc[rates.min()] - 1).mean()


def _growth(figure_4a: pd.DataFrame) -> tuple[pd.Series, float]:
    """Return by which factor time and the number of constraints grow, over the axis."""
    seconds = figure_4a.groupby(["constraints", "algorithm"])["seconds"].mean().unstack()
    return seconds.iloc[-1] / seconds.iloc[0], seconds.index[-1] / seconds.index[0]


def _growth_over_seeds(figure_4a: pd.DataFrame, algorithms: list[str]) -> str:
    """Return the range of the factor over seeds."""
    growth = pd.DataFrame([_growth(runs)[0] for _, runs in figure_4a.groupby("seed")])
    return "; ".join(f"{name} x {over_seeds(growth[name], '{:.1f}')}" for name in algorithms)


def _gain_over_basic(figure_4c: pd.DataFrame) -> pd.DataFrame:
    """Return, by run, measure and selection, the relative gain in accuracy over Basic."""
    runs = figure_4c.pivot_table(
        index=["conflict rate", "seed"], columns="algorithm", values=MEASURES
    ).dropna()
    return pd.concat(
        {m: runs[m][SELECTIONS].div(runs[m]["basic"], axis=0) - 1 for m in MEASURES}, axis=1
    )


def _by_distribution(figure_4d: pd.DataFrame) -> pd.DataFrame:
    """Return the mean accuracies, distributions as rows, measures and algorithms as columns."""
    return figure_4d.pivot(index="distribution", columns="algorithm", values=MEASURES)


# ---- 3_baselines ------------------------------------------------------------------------------


def diva_is_slower(figure_5b: pd.DataFrame, figure_5d: pd.DataFrame) -> Finding:
    """Compare the faster of the two DIVAs with each baseline, run by run."""
    seconds = pd.concat(
        [
            figure.pivot_table(index=[axis, "seed"], columns="algorithm", values="seconds")
            for axis, figure in (("k", figure_5b), ("|R|", figure_5d))
        ]
    ).dropna()
    ratios = seconds[BASELINES].rdiv(seconds[SELECTIONS].min(axis=1), axis=0)
    ratio, by_seed = ratios.median(), ratios.groupby("seed").median()
    return Finding(
        "median of DIVA / other: " + _listed(ratio),
        judge_statement((ratio > 1).all(), in_direction=(ratio > 1).sum() >= 2),
        spread="; ".join(f"{name} {over_seeds(by_seed[name], '{:.2g}')}" for name in BASELINES),
    )


def time_along(figure: pd.DataFrame, *, axis: str, rises: bool) -> Finding:
    """Compare the seconds at the end of an axis with those at its beginning."""
    factor = _end_to_end(figure, axis, "seconds")
    as_claimed = factor > 1 if rises else factor < 1
    return Finding(
        f"{_range(figure, axis)}: " + _listed(factor, "x {:.2g}"),
        judge_statement(as_claimed.all(), in_direction=as_claimed.sum() >= 3),
        spread=_factor_over_seeds(figure, axis, "seconds"),
    )


def accuracy_falls_along(figure: pd.DataFrame, *, axis: str) -> Finding:
    """Compare the accuracies at the end of an axis with those at its beginning."""
    factors = {m: _end_to_end(figure, axis, m) for m in MEASURES}
    falls = {m: (factors[m] < 1).all() for m in MEASURES}
    return Finding(
        "; ".join(f"{m}: {_listed(factors[m], 'x {:.2g}')}" for m in MEASURES),
        judge_statement(all(falls.values()), in_direction=any(falls.values())),
        spread="; ".join(f"{m}: {_factor_over_seeds(figure, axis, m)}" for m in MEASURES),
    )


def diva_is_more_accurate(
    figure_5a: pd.DataFrame, figure_5c: pd.DataFrame, satisfied: pd.DataFrame
) -> Finding:
    """Compare the mean of the two DIVAs with each baseline, run by run."""
    runs = pd.concat(
        [
            figure.pivot_table(index=[axis, "seed"], columns="algorithm", values=MEASURES)
            for axis, figure in (("k", figure_5a), ("|R|", figure_5c))
        ]
    ).dropna()
    ahead = {
        m: pd.Series(
            {name: (runs[m][SELECTIONS].mean(axis=1) > runs[m][name]).mean() for name in BASELINES}
        )
        for m in MEASURES
    }
    by_seed = (
        (runs[MEASURES[1]][SELECTIONS].mean(axis=1) > runs[MEASURES[1]]["k_member"])
        .groupby("seed")
        .mean()
    )
    all_hold = (satisfied.set_index("algorithm").loc[SELECTIONS, "satisfied"] == 1).all()
    return Finding(
        "; ".join(f"{m}: ahead of {_listed(ahead[m], '{:.0%}')}" for m in MEASURES)
        + f"; constraints {'all hold' if all_hold else 'do not all hold'}",
        judge_statement(
            all_hold and all((ahead[m] == 1).all() for m in MEASURES),
            in_direction=all_hold
            and all((ahead[m][["oka", "mondrian"]] > MOSTLY).all() for m in MEASURES),
        ),
        spread=f"ahead of k_member (stars) {over_seeds(by_seed, '{:.0%}')}",
    )


def _end_to_end(figure: pd.DataFrame, axis: str, value: str) -> pd.Series:
    """Return each algorithm's mean at the end of an axis over that at its beginning."""
    mean = figure.groupby([axis, "algorithm"])[value].mean().unstack()
    return mean.iloc[-1] / mean.iloc[0]


def _factor_over_seeds(figure: pd.DataFrame, axis: str, value: str) -> str:
    """Return the range over seeds of what `_end_to_end` gives for MinChoice."""
    factors = [_end_to_end(runs, axis, value)["min_choice"] for _, runs in figure.groupby("seed")]
    return f"min_choice x {over_seeds(factors, '{:.2g}')}"


def _range(figure: pd.DataFrame, axis: str) -> str:
    """Return an axis with its ends."""
    return f"{axis} = {figure[axis].min():,} to {figure[axis].max():,}"


def _listed(numbers: pd.Series, show: str = "{:.2g}") -> str:
    """Return named numbers, one after the other."""
    return ", ".join(f"{name} {show.format(number)}" for name, number in numbers.items())


# ---- 4_cost_of_diversity ----------------------------------------------------------------------


def constraints_hold(costs: pd.DataFrame) -> Finding:
    """Look up the share of satisfied constraints in every release of DIVA."""
    alone, diva = _without_and_with(costs)
    found = diva["satisfied"].dropna()
    return Finding(
        f"all hold in {(found == 1).sum()} of {len(found)} releases; in k-member's "
        f"{alone['satisfied'].min():.0%} to {alone['satisfied'].max():.0%} of them",
        judge_statement((found == 1).all() and len(found) > 0),
    )


def stars_comparable(costs: pd.DataFrame) -> Finding:
    """Compare the stars under proportion constraints with those of k-member without any."""
    stars = costs.pivot(index="data", columns="constraints", values="stars per row")
    ratio = stars["proportion"] / stars["no constraints"]
    return Finding(
        "stars against no constraints: " + _listed(ratio, "x {:.2g}"),
        judge_statement((ratio <= 1.25).all(), in_direction=(ratio <= 1.25).any()),
    )


def l_diversity_too(found: pd.DataFrame) -> Finding:
    """Look up the level of l-diversity and the satisfied constraints where both were asked for."""
    asked = found[found["l"] != "-"].iloc[0]
    reached, satisfied = asked["frequency l reached"], asked["satisfied"]
    return Finding(
        f"frequency l = {reached:.2g} of {asked['l']} reached, {satisfied:.0%} of the "
        "constraints hold",
        judge_statement(reached >= float(asked["l"]) and satisfied == 1),
    )


def all_classes_solved(costs: pd.DataFrame) -> Finding:
    """Count the sets of constraints for which DIVA found a table."""
    solved = _without_and_with(costs)[1]["satisfied"].notna()
    return Finding(
        f"{solved.sum()} of {len(solved)} sets have a solution",
        judge_statement(solved.all(), in_direction=solved.mean() > 0.5),
    )


def _without_and_with(costs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the releases without constraints, and those with."""
    alone = costs["constraints"] == "no constraints"
    return costs[alone], costs[~alone]


_example = partial(
    Claim, paper="diva2021", notebook="1_running_example", tolerance=EXACT, spread="no random step"
)
_strategy = partial(Claim, paper="diva2021", notebook="2_strategies")
_baseline = partial(Claim, paper="diva2021", notebook="3_baselines")
_cost = partial(Claim, paper="diva2021", notebook="4_cost_of_diversity", spread="one seed")

CLAIMS = (
    _example(
        id="lost-minorities",
        where="Example 1.1",
        claim="3-anonymity loses the Africans (Table 2)",
        tables=("table_2_by_ethnicity",),
        judge=minority_lost,
        reason="another suppression",
    ),
    _example(
        id="lost-on-real-data",
        where="Section 1",
        claim="k-anonymity obscures minorities",
        tables=("minorities",),
        judge=minorities_lost,
        spread="one seed",
        tolerance="at every setting; in direction: at 70 % of them",
        reason="at large k k-member stars the majority's race as well",
    ),
    _example(
        id="table-3",
        where="Example 3.1",
        claim="DIVA returns Table 3",
        tables=("table_3",),
        judge=table_3_returned,
        reason="ties are broken otherwise",
    ),
    _example(
        id="one-step-back",
        where="Example 3.4",
        claim="the colouring of Figure 3 goes back once",
        tables=("figure_3",),
        judge=one_step_back,
        reason="other steps",
    ),
    _strategy(
        id="basic-grows",
        where="Section 4.1, Figure 4a",
        tables=("figure_4a",),
        claim="Basic grows exponentially with the number of constraints",
        judge=basic_grows,
        tolerance="more than quadratic; in direction: more than linear, or runs without a result",
        reason="clusters may suppress what exceeds a bound: most random choices fit at once",
    ),
    _strategy(
        id="selection-is-linear",
        where="Section 4.1, Figure 4a",
        tables=("figure_4a",),
        claim="MinChoice and MaxFanOut grow linearly",
        judge=selection_is_linear,
        tolerance="not more than linearly",
        reason="superlinear on these constraint sets",
    ),
    _strategy(
        id="accuracy-falls",
        where="Section 4.1, Figure 4b",
        tables=("figure_4b",),
        claim="accuracy declines linearly with more constraints",
        judge=accuracy_falls,
        tolerance="correlation below -0.3; in direction: below 0 on average",
        reason="how large the targets are matters more than how many",
    ),
    _strategy(
        id="conflict-costs",
        where="Section 4.1, Figure 4c",
        tables=("figure_4c",),
        claim="accuracy declines with the conflict rate (from least to most)",
        judge=conflicts_cost,
        tolerance=BOTH + ", by more than 2 %",
        reason="the sizes of the targets hide it; clusters that two constraints share cost one "
        "time",
    ),
    _strategy(
        id="selection-is-more-accurate",
        where="Section 4.1, Figure 4c",
        tables=("figure_4c",),
        claim="both outperform Basic",
        published=", ".join(f"{name} {gain:+.0%}" for name, gain in PUBLISHED_GAIN.items()),
        judge=better_than_basic,
        tolerance="2 percentage points; in direction: more accurate",
        reason="another measure of accuracy, and our Basic clusters its random rows by likeness "
        "too",
    ),
    _strategy(
        id="fan-out-beats-choice",
        where="Section 4.1, Figure 4c",
        tables=("figure_4c",),
        claim="MaxFanOut is more accurate than MinChoice",
        judge=fan_out_beats_choice,
        tolerance=BOTH + ", by 1 %",
        reason="both look ahead and seldom take a colour back: the order decides little",
    ),
    _strategy(
        id="best-on-all",
        where="Section 4.1, Figure 4d",
        tables=("figure_4d",),
        claim="MaxFanOut performs best on all distributions",
        published="+8 % and +17 %",
        judge=best_on_all,
        tolerance="on all by both measures; in direction: on two of three by stars",
        spread="means over seeds",
        reason="MinChoice and MaxFanOut are close; discernibility ranks otherwise than stars",
    ),
    _strategy(
        id="uniform-is-easiest",
        where="Section 4.1, Figure 4d",
        tables=("figure_4d",),
        claim="uniform values are easiest, Zipfian hardest",
        judge=uniform_is_easiest,
        tolerance=BOTH,
        spread="means over seeds",
        reason="skewed values make more people alike",
    ),
    _baseline(
        id="diva-is-slower",
        where="Section 4.2, Figure 5b",
        tables=("figure_5b", "figure_5d"),
        claim="DIVA is slower than the baselines",
        judge=diva_is_slower,
        tolerance="than all three; in direction: than two",
        reason="DIVA runs k-member on parts of the table",
    ),
    _baseline(
        id="faster-with-k",
        where="Section 4.2, Figure 5b",
        tables=("figure_5b",),
        claim="run times fall with k",
        judge=partial(time_along, axis="k", rises=False),
        tolerance="for all five; in direction: for three",
        reason="not for all",
    ),
    _baseline(
        id="less-accurate-with-k",
        where="Section 4.2, Figure 5a",
        tables=("figure_5a",),
        claim="accuracy falls with k",
        judge=partial(accuracy_falls_along, axis="k"),
        tolerance=BOTH,
        reason="in stars it does; our ratio divides by the least discernibility, which grows "
        "with k",
    ),
    _baseline(
        id="diva-is-more-accurate",
        where="Section 4.2, Figure 5c",
        tables=("figure_5a", "figure_5c", "constraints_satisfied"),
        claim="DIVA is more accurate than all baselines, and satisfies the constraints",
        judge=diva_is_more_accurate,
        tolerance=f"in every run; in direction: ahead of OKA and Mondrian in {100 * MOSTLY:g} % "
        "of them",
        reason="k-member, which DIVA contains, is free to choose what constrained DIVA is not",
    ),
    _baseline(
        id="less-accurate-with-rows",
        where="Section 4.2, Figure 5c",
        tables=("figure_5c",),
        claim="accuracy falls with |R|",
        judge=partial(accuracy_falls_along, axis="|R|"),
        tolerance=BOTH,
        reason="in stars it rises: more rows, more alike",
    ),
    _baseline(
        id="slower-with-rows",
        where="Section 4.2, Figure 5d",
        tables=("figure_5d",),
        claim="run times rise with |R|",
        judge=partial(time_along, axis="|R|", rises=True),
        tolerance="for all five; in direction: for three",
        reason="not for all",
    ),
    _cost(
        id="diverse-results",
        where="Section 3",
        tables=("costs",),
        claim="DIVA's tables satisfy every constraint",
        judge=constraints_hold,
        tolerance=EXACT,
        reason="not all hold",
    ),
    _cost(
        id="comparable",
        where="Section 5",
        tables=("costs",),
        claim="DIVA's tables are comparable to the baselines'",
        judge=stars_comparable,
        tolerance="a quarter more stars, on all data; in direction: on some",
        reason="the upper bounds of Pantheon's set ask for half of all values to be suppressed",
    ),
    _cost(
        id="extensible",
        where="Section 2",
        tables=("with_l_diversity",),
        claim="DIVA extends to l-diversity",
        judge=l_diversity_too,
        tolerance=EXACT,
        reason="the level is missed or a constraint fails",
    ),
    _cost(
        id="three-classes",
        where="Section 4",
        tables=("costs",),
        claim="all three classes of constraints can be asked for on all data",
        judge=all_classes_solved,
        tolerance="all sets; in direction: more than half",
        reason="average of Credit wants all of two groups of which fewer than k persons are in "
        "both",
    ),
)
