"""The claims of Dewri, Whitley, Ray, Ray: Data sharing with privacy constraints (2009).

``ach`` is the paper's achievement of a preference point (less is better), ``prefdev`` its
preference deviation, NWP the loss of a release and NECD its bias.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from anonpaper.papers.claims import Claim, Finding
from anonpaper.papers.judging import (
    EXACT,
    judge_order,
    judge_rising,
    judge_statement,
    judge_value,
    over_seeds,
)
from anonpaper.papers.published import reference

__all__ = ["CLAIMS"]

OTHER_SETTINGS = (
    "weights and bias preferences are ours, since the paper prints none; single random runs"
)
OTHER_TAXONOMIES = "our taxonomies, and one run of a random search per k_pref"


# ---- 1_generalization_as_bits -----------------------------------------------------------------


def unequal_protection(example: pd.DataFrame) -> Finding:
    """Compare the chances of not being found with 2/3 and 9/10."""
    worst, best = example["not found"].min(), example["not found"].max()
    return Finding(
        f"{worst:.3f} and {best:.3f}",
        judge_statement(np.allclose([worst, best], [2 / 3, 9 / 10], atol=1e-3)),
    )


def bits(domains: pd.DataFrame, *, published: int) -> Finding:
    """Add up the places between neighbouring values of all attributes."""
    found = int((domains["distinct values"] - 1).sum())
    return Finding(found, judge_statement(found == published))


def published_bits() -> int:
    """Return the length of the chromosome by the domain sizes of Table 1."""
    return int((reference("dewri2009_tab1_domain_sizes")["domain_size"] - 1).sum())


# ---- 2_solution_efficiency --------------------------------------------------------------------


def unique_minimum(figure_1: pd.DataFrame) -> Finding:
    """Count the feasible solutions of least ach, for every k_pref."""
    ach = _feasible(figure_1)["ach"]
    least = ach.apply(lambda values: (values == values.min()).sum())
    settings = figure_1["k_pref"].nunique()
    unique = (least == 1).sum()
    return Finding(
        f"{unique} of {settings}",
        judge_statement(unique == settings, in_direction=unique >= 0.8 * settings),
    )


def efficient_minimum(figure_1: pd.DataFrame) -> Finding:
    """Look for feasible solutions with less loss and less bias than the reported one."""
    reported = _reported(figure_1)
    beaten = sum(
        ((group["nwp"] < reported.loc[k, "nwp"]) & (group["necd"] < reported.loc[k, "necd"])).any()
        for k, group in _feasible(figure_1)
    )
    return Finding(f"{len(reported) - beaten} of {len(reported)}", judge_order([beaten], [0]))


def fewer_feasible(figure_1: pd.DataFrame) -> Finding:
    """Count the feasible solutions by rising k_pref."""
    number = _feasible(figure_1).size()
    return Finding(_listed(number), judge_rising(-number))


def close_to_k(figure_1: pd.DataFrame) -> Finding:
    """Compare by how much the effective k exceeds small and large k_pref."""
    effective = _reported(figure_1)["effective_k"]
    excess = effective - effective.index
    small, large = excess[excess.index <= 10], excess[excess.index > 10]
    return Finding(
        "above k_pref by " + _listed(excess),
        judge_order(np.full(len(large), small.max() + 1), large),
    )


def loss_rises(figure_1: pd.DataFrame) -> Finding:
    """Follow the loss of the reported solution by rising k_pref."""
    loss = _reported(figure_1)["nwp"]
    return Finding(_listed(loss, "{:.3f}"), judge_rising(loss))


def more_private_solutions(figure_1: pd.DataFrame) -> Finding:
    """Count the solutions of higher effective k than k_pref."""
    further = _feasible(figure_1).apply(
        lambda group: (group["effective_k"] > group.name).sum(), include_groups=False
    )
    return Finding(_listed(further), judge_order(np.ones(len(further)), further))


def _feasible(figure_1: pd.DataFrame):
    """Return the feasible solutions by rising k_pref."""
    return figure_1[figure_1["feasible"]].groupby("k_pref")


def _reported(figure_1: pd.DataFrame) -> pd.DataFrame:
    """Return the reported solutions by rising k_pref."""
    reported = figure_1[figure_1["feasible"] & figure_1["reported"]]
    return reported.drop_duplicates("k_pref").set_index("k_pref").sort_index()


# ---- 3_population_size ------------------------------------------------------------------------


def population_matters_little(runs: pd.DataFrame, *, tolerance: float) -> Finding:
    """Compare the mean ach of the sizes of the population."""
    ach = runs.groupby("population")["ach"]
    between = ach.mean().max() / ach.mean().min() - 1
    within = (ach.max() / ach.min() - 1).max()
    return Finding(
        f"means differ by {between:.1%}",
        judge_order([between], [tolerance]),
        spread=f"ach of one size by up to {within:.1%} over {runs['seed'].nunique()} seeds",
    )


def larger_is_worse(runs: pd.DataFrame) -> Finding:
    """Follow the mean preference deviation by rising population."""
    deviation = runs.groupby("population")["prefdev"]
    return Finding(
        _listed(deviation.mean(), "{:.3f}"),
        judge_rising(deviation.mean().round(6)),
        spread="; ".join(f"{size}: {over_seeds(values)}" for size, values in deviation),
    )


def as_many_unique(runs: pd.DataFrame) -> Finding:
    """Compare the unique solutions of the largest population with those of the smallest."""
    unique = runs.groupby("population")["unique"]
    mean = unique.mean()
    growth, sizes = mean.iloc[-1] / mean.iloc[0], mean.index[-1] / mean.index[0]
    return Finding(
        f"x {growth:.2f} from {mean.index[0]} to {mean.index[-1]}",
        judge_statement(growth <= 1.5, in_direction=growth <= sizes / 2),
        spread="; ".join(f"{size}: {over_seeds(values)}" for size, values in unique),
    )


# ---- 4_weights_and_bias -----------------------------------------------------------------------


def equal_weights_cost_more(figure_3: pd.DataFrame) -> Finding:
    """Compare loss and bias under equal weights with those under all others."""
    solutions = figure_3.set_index("vector")[["nwp", "necd"]]
    equal, others = solutions.loc["wv_1"], solutions.drop("wv_1")
    return Finding(
        f"NWP {equal['nwp']:.2f} against {others['nwp'].max():.2f} at most, "
        f"NECD {equal['necd']:.2f} against {others['necd'].max():.2f} at most",
        judge_order(others, np.tile(equal, (len(others), 1))),
    )


def country_keeps_more(groupings: pd.DataFrame) -> Finding:
    """Compare the groups of Native Country under wv_2 and wv_5 with those under the others."""
    country = groupings.set_index("vector").drop("domain")["ncy"]
    others = country.drop(["wv_2", "wv_5"])
    return Finding(
        " ".join(f"{vector}: {number}" for vector, number in country.items()),
        judge_order([*others + 1] * 2, np.repeat(country[["wv_2", "wv_5"]], len(others))),
    )


def heavier_keep_more(groupings: pd.DataFrame, weights: pd.DataFrame) -> Finding:
    """Compare an attribute's groups where it is favoured with those where it is not."""
    groups, favoured = _favoured(groupings, weights)
    pairs = [(v, a) for v in groups.index for a in groups.columns if favoured.loc[v, a]]
    more = [groups.loc[v, a] for v, a in pairs]
    less = [groups.loc[~favoured[a], a].mean() for _, a in pairs]
    return Finding(
        "; ".join(
            f"{a}: {m} (else {other:.1f})"
            for (_, a), m, other in zip(pairs, more, less, strict=True)
        ),
        judge_order(less, more),
    )


def age_kept_anyway(groupings: pd.DataFrame, weights: pd.DataFrame) -> Finding:
    """Compare the groups of Age under wv_3 and wv_4 with those of other light attributes."""
    groups, favoured = _favoured(groupings, weights)
    light = groups.where(~favoured).loc[["wv_3", "wv_4"]]
    age, others = light["age"].mean(), light.drop(columns="age").stack().mean()
    return Finding(
        f"{age:.1f} groups, other light attributes {others:.1f}", judge_order([others], [age])
    )


def not_at_k(figure_3: pd.DataFrame, *, published: int) -> Finding:
    """Compare the effective k under wv_4 with k_pref; the paper's is above it."""
    found = figure_3.set_index("vector").loc["wv_4"]
    above = found["effective_k"] > found["k_pref"] and published > found["k_pref"]
    return Finding(f"k = {found['effective_k']:g}", judge_statement(above))


def at_k_without_bias(figure_4: pd.DataFrame) -> Finding:
    """Compare the effective k where any bias is accepted with k_pref."""
    found = figure_4.set_index("bias preference").loc[1.0]
    return Finding(
        f"k = {found['effective_k']:g}", judge_statement(found["effective_k"] == found["k_pref"])
    )


def loss_within_preference(figure_4: pd.DataFrame) -> Finding:
    """Follow the loss by falling bias preference, and compare it with the preferred one."""
    loss = figure_4.sort_values("bias preference", ascending=False)["nwp"].to_numpy()
    preferred = figure_4["preferred nwp"].iloc[0]
    return Finding(
        _listed(loss, "{:.3f}"), judge_order([*loss[:-1], loss.max()], [*loss[1:], preferred])
    )


def k_rises(figure_4: pd.DataFrame) -> Finding:
    """Follow the effective k by falling bias preference."""
    effective = figure_4.sort_values("bias preference", ascending=False)["effective_k"]
    return Finding(_listed(effective), judge_rising(effective))


def _favoured(groupings: pd.DataFrame, weights: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the groups by vector and attribute, and whether the attribute weighs more."""
    groups = groupings.set_index("vector").drop("domain")
    weights = weights.set_index("vector").loc[groups.index, groups.columns]
    return groups, weights > 1 / len(groups.columns) + 1e-9


# ---- 5_how_good_is_it -------------------------------------------------------------------------


def seeds_alike(course: pd.DataFrame, *, tolerance: float) -> Finding:
    """Compare the least ach of the worst seed with that of the best, at the end of the search."""
    ach = course[(course["method"] == "paper") & (course["at"] == course["at"].max())]["least ach"]
    difference = ach.max() / ach.min() - 1
    return Finding(
        f"ach of the worst seed {difference:.1%} above that of the best",
        judge_order([difference], [tolerance]),
        spread=over_seeds(ach),
    )


def minimum_is_efficient(optima: pd.DataFrame) -> Finding:
    """Count the recodings with less loss and less bias than the optimum."""
    better = optima["better in both"].sum()
    return Finding(
        f"better in loss and bias: {better} recodings in {len(optima)} exhaustive searches",
        judge_order([better], [0]),
    )


def minutes_of_a_run(times: pd.DataFrame, *, published: float, tolerance: float) -> Finding:
    """Extrapolate the time of a search to 50,000 evaluations."""
    seconds = (times["seconds"] / times["evaluations"]).iloc[0] * 50_000
    return Finding(
        f"{seconds / 60:.2g} ({seconds:.0f} s)", judge_value(seconds / 60, published, tolerance)
    )


def _listed(numbers, show: str = "{}") -> str:
    """Return numbers one after the other."""
    return " ".join(map(show.format, numbers))


_example = partial(
    Claim,
    paper="dewri2009",
    notebook="1_generalization_as_bits",
    tolerance=EXACT,
    spread="no random step",
)
_by_k = partial(
    Claim,
    paper="dewri2009",
    notebook="2_solution_efficiency",
    where="Section 6.1, Figure 1",
    tables=("figure_1",),
    reason=OTHER_TAXONOMIES,
    spread="one seed",
)
_by_size = partial(
    Claim,
    paper="dewri2009",
    notebook="3_population_size",
    where="Section 6.2, Figure 2",
    tables=("figure_2",),
)
_by_weight = partial(
    Claim,
    paper="dewri2009",
    notebook="4_weights_and_bias",
    where="Section 6.3, Figure 3",
    reason=OTHER_SETTINGS,
    spread="one seed",
)
_by_bias = partial(
    Claim,
    paper="dewri2009",
    notebook="4_weights_and_bias",
    where="Section 6.4, Figure 4",
    tables=("figure_4",),
    reason=OTHER_SETTINGS,
    spread="one seed",
)
_quality = partial(Claim, paper="dewri2009", notebook="5_how_good_is_it")

CLAIMS = (
    _example(
        id="bias-example",
        where="Section 1",
        published="2/3 and 9/10",
        claim="in a 3-anonymous table one person can be hidden among 2 others and another among 9",
        tables=("bias_example",),
        judge=unequal_protection,
        reason="another example",
    ),
    _example(
        id="chromosome",
        where="Section 6, Table 1",
        claim="bits for the nine attributes",
        published=published_bits,
        tables=("table_1",),
        judge=bits,
        reason="other domains",
    ),
    _by_k(
        id="unique-minimum",
        claim="a unique feasible minimum of ach in all cases",
        judge=unique_minimum,
        tolerance="every k_pref; in direction: 80 % of them",
    ),
    _by_k(
        id="efficient",
        judge=efficient_minimum,
        tolerance=EXACT,
        claim="the minimum is efficient among the feasible solutions returned",
    ),
    _by_k(
        id="fewer-feasible",
        claim="the higher k_pref, the fewer feasible solutions",
        judge=fewer_feasible,
    ),
    _by_k(
        id="close-k",
        judge=close_to_k,
        claim="effective k close to k_pref for 2, 5, 10, higher for 25, 50, 100",
    ),
    _by_k(id="loss-grows", claim="stronger privacy needs more loss", judge=loss_rises),
    _by_k(
        id="more-private",
        judge=more_private_solutions,
        claim="solutions of higher effective k than k_pref exist in the set",
    ),
    _by_size(
        id="marginal",
        claim="population size has only marginal impact on solution quality",
        judge=population_matters_little,
        tolerance=0.05,
        reason="one population in every five has a fifth of the generations: see the means",
    ),
    _by_size(
        id="larger-worse",
        judge=larger_is_worse,
        claim="larger populations are slightly less effective in preference deviation",
        reason="the order of the sizes changes with budget and seeds",
    ),
    _by_size(
        id="unique-similar",
        judge=as_many_unique,
        claim="the number of unique solutions is similar for all sizes",
        tolerance="x 1.5 at most; in direction: half of the growth of the population",
        reason="unique solutions grow with the population, but much less than it",
    ),
    _by_weight(
        id="equal-weights",
        claim="equal weights give much higher NWP and NECD",
        tables=("figure_3",),
        judge=equal_weights_cost_more,
    ),
    _by_weight(
        id="country",
        claim="Native Country keeps more groups under wv_2 and wv_5",
        tables=("groupings",),
        judge=country_keeps_more,
    ),
    _by_weight(
        id="weights-groups",
        claim="attributes of higher weight keep more groups",
        tables=("groupings", "weight_vectors"),
        judge=heavier_keep_more,
    ),
    _by_weight(
        id="age",
        claim="Age is generalized little even where weight lies elsewhere",
        tables=("groupings", "weight_vectors"),
        judge=age_kept_anyway,
    ),
    _by_weight(
        id="wv_4-k",
        claim="the best solution need not be at k_pref = 5: effective k under wv_4",
        published=8,
        tables=("figure_3",),
        judge=not_at_k,
        tolerance="above k_pref",
    ),
    _by_bias(
        id="bias-1",
        claim="with NECD_pref = 1 the solution has k = k_pref",
        judge=at_k_without_bias,
        tolerance=EXACT,
        reason=OTHER_SETTINGS + "; the least loss need not lie at k_pref",
    ),
    _by_bias(
        id="bias-loss",
        claim="lower bias preference, higher NWP, within the preferred 0.2",
        judge=loss_within_preference,
    ),
    _by_bias(
        id="bias-k",
        claim="lower bias preference, higher effective k",
        judge=k_rises,
        reason="neither loss nor bias looks at the smallest class once it has k_pref rows",
    ),
    _quality(
        id="seeds",
        where="Section 6",
        tables=("course_of_search",),
        judge=seeds_alike,
        claim="different seeds make no difference to the solutions",
        tolerance=0.01,
        reason="single runs end in different local optima; the paper shows no numbers",
    ),
    _quality(
        id="observation",
        where="Section 4",
        tables=("optima",),
        judge=minimum_is_efficient,
        claim="a feasible minimum of ach is an efficient solution",
        tolerance=EXACT,
        reason="the proof says otherwise: an error in the code",
        spread="no random step",
    ),
    _quality(
        id="run-time",
        where="Section 6",
        claim="minutes of a run of 50,000 evaluations",
        published=15,
        tables=("time_of_search",),
        judge=minutes_of_a_run,
        tolerance=0.2,
        reason="another implementation, on another machine",
    ),
)
