"""Dewri, Whitley, Ray, Ray: on the optimal selection of k in the k-anonymity problem (2009).

Adult has 30,162 rows here. The paper prints no taxonomies, no first population, and no age range
that gives Table 1's 20 intervals. We chose all three. Taxonomies decide which categories are
neighbours. It prints no weight vector except equal weights (wv_1) and no k_pref for Figure 3.
k_pref = 5 and wv_2 to wv_5 are ours, and wv_2 and wv_5 favour Native Country, as the text says.
Drawn weights are drawn evenly from all vectors that sum to 1. Solutions count as different if
loss, bias or effective k differ. A mean is over seeds of the search.
"""

import numpy as np
import pandas as pd

from anonpaper.compendium.claims import (  # isort: skip
    Finding, all_of, cannot_be_tested, claim, holds, holds_everywhere, listed, means,
    share, shown_once, span, steps,
)  # fmt: skip
from anonpaper.compendium.tables import reference


@claim("Section 1")
def bias_of_the_example(bias_example):
    """In a 3-anonymous table the chance not to be found is 2/3 for one, 9/10 for another."""
    low, high = bias_example["not found"].agg(["min", "max"])
    near = np.isclose((low, high), (2 / 3, 9 / 10), atol=1e-3)
    return holds(near, measured=f"{low:.3f} and {high:.3f}")


@claim("Table 1")
def solution_has_105_bits(table_1):
    """The nine attributes have the domain sizes of Table 1, which give a solution of 105 bits."""
    # The range of ages, 0 to 100, is our choice. It gives the 20 intervals of Table 1.
    sizes = table_1["distinct values"]
    printed = reference("dewri2009_tab1_domain_sizes")["domain_size"]
    return holds(sizes == printed, measured=f"{(sizes - 1).sum()} bits")


@claim("Section 4", quote="less important attributes may be generalized more")
def loss_is_not_monotone(joins):
    """More generalization can go with less loss where attributes differ in weight."""
    # All 4,096 recodings of four attributes of Adult are compared. One example suffices.
    drawn = joins[joins["weights"] != "equal"]
    less, pairs = drawn["more joined, less loss"].sum(), drawn["pairs"].sum()
    told = f"the recoding with more joins has less loss in {less:,} of {pairs:,} pairs"
    one_more = holds((drawn["loss falls"] > 0).any())
    return holds(less > 0, measured=told).read_as("one more join", one_more)


@claim("Section 6.4", quote="More generalization typically yield higher effective k")
def more_joins_give_higher_k(joins):
    """A recoding that joins more has the higher k in 80 % of the pairs with different k."""
    equal = joins[joins["weights"] == "equal"].iloc[0]
    found = equal["more joined, higher k"] / equal.filter(regex="er k$").sum()
    return holds(found >= 0.8, in_part=found > 0.5, measured=f"in {found:.1%} of the pairs")


def _wide(runs: pd.DataFrame, setting: str, *values: str):
    """Return settings x seeds for each value; sums in another order are equal."""
    found = [runs.pivot_table(value, setting, "seed").round(12) for value in values]
    return found if len(found) > 1 else found[0]


@claim("Figure 1", quote="A unique feasible minima [...] is an efficient point")
def reported_solution_is_unique_and_efficient(runs_by_k):
    """In every run ach has one feasible minimum, which nothing beats in both loss and bias."""
    return holds_everywhere(runs_by_k.eval("minima == 1 and `better in both` == 0"))


@claim("Figure 1", quote="the number of feasible solutions obtained decreases")
def solutions_get_fewer_and_worse_with_k(runs_by_k):
    """The higher k_pref, the fewer feasible solutions are returned, and the more they lose."""
    # In an exact search neither can be otherwise: a higher k_pref only takes solutions away.
    number, loss = _wide(runs_by_k, "k_pref", "returned", "nwp")
    told = f"on average {listed(number.mean(axis=1), '{:.1f}')}, by definition never more"
    why = "where the order of means is not certain, single runs have either order"
    fewer = means(-steps(number, along="k_pref"), above=0, measured=told, why=why)
    told = f"NWP {listed(loss.mean(axis=1))}, by definition never less"
    return all_of(fewer, means(steps(loss, along="k_pref"), above=0, measured=told))


ORDER = (
    "it depends on the order of the 41 countries, which the paper does not print: it holds with"
)


def _by_place(at: pd.Series, measured: str) -> Finding:
    """Judge what holds or not at each place of the United States in the order of countries."""
    if at.all() or not at.any():
        return holds(at, measured=measured)
    where = " and ".join(map(str, at.index[at]))
    return cannot_be_tested(f"{ORDER} the United States at place {where}", measured)


@claim("Section 6.1", quote="have an effective k close to")
def effective_k_is_close_or_higher(optimum_by_place):
    """Effective k is close to k_pref for 5 and 10, and further above it for 25, 50, 100."""
    # Of the optimum, which branch and bound proves, at each place of the United States.
    wide = optimum_by_place.pivot(index="place", columns="k", values="effective_k")
    wide -= wide.columns
    told = f"effective k of the optimum less k_pref, at place 1: {listed(wide.loc[1])}"
    return _by_place(wide.loc[:, 11:].min(axis=1) > wide.loc[:, :10].max(axis=1), told)


@claim("Section 6", quote="No difference in obtained solutions is observed")
def seeds_make_no_difference(runs_by_k):
    """The greatest ach over seeds exceeds the least by at most 1 %, at every k_pref.

    As printed: 50,000 evaluations, 0.001 per bit.
    """
    above = runs_by_k.groupby("k_pref")["ach"].agg(lambda ach: ach.max() / ach.min() - 1)
    why = "seeds end in different local optima, where no single join or split lowers ach"
    return holds_everywhere(above <= 0.01, measured=f"by {span(above, '{:.1%}')}", why=why)


def _alike(values: pd.DataFrame, tolerance: float) -> Finding:
    """Judge whether the means of every two settings differ by no more than a share."""
    one, other = (values.to_numpy()[at] for at in np.triu_indices(len(values), 1))
    lower, higher = [*other, *(1 - tolerance) * one], [*(1 + tolerance) * one, *other]
    mean = values.mean(axis=1)
    measured = f"means differ by up to {mean.max() / mean.min() - 1:.1%}"
    return means((lower, higher), above=0, in_part=1, measured=measured)


@claim("Figure 2", quote="only marginal impact [...] number of unique solutions [...] is similar")
def population_matters_little(figure_2):
    """Any two sizes of the population differ by at most 5 % in ach and 20 % in solutions."""
    # Larger populations then have more duplicates (Section 6.2) by construction.
    ach, unique, copies = _wide(figure_2, "population", "ach", "unique", "duplicates")
    return all_of(_alike(ach, 0.05), _alike(unique, 0.2), _grows(copies, "share of duplicates"))


@claim("Figure 2", quote="slightly less effective in terms of the preference deviation metric")
def larger_populations_deviate_more(figure_2):
    """Larger populations end with more preference deviation than the smallest."""
    # Preference deviation is loss and bias less their preferred values.
    smallest, *larger = _wide(figure_2, "population", "prefdev").to_numpy()
    # The paper prints one run: how often do ours show the same?
    both = (larger > smallest).all(axis=0)
    told = f"both larger ones deviate more in {both.sum()} of {len(both)} runs, by chance a third"
    return shown_once(both, told)


def _grows(values: pd.DataFrame, told="on average", **options) -> Finding:
    """Judge whether means of independent runs grow from each setting to the next."""
    measured = f"{told} {listed(values.mean(axis=1), '{:.4f}')}"
    return means((values.iloc[:-1], values.iloc[1:]), above=0, measured=measured, **options)


@claim("Section 6.2", quote="Small populations and higher number of iterations is a key element")
def small_populations_are_better(figure_2):
    """The smaller the population, the less the mean ach; in part if one step is certain."""
    why = "one of the two steps is certain, the other may be chance"
    return _grows(_wide(figure_2, "population", "ach"), in_part=0.5, why=why)


@claim("Section 6.2", quote="most crossover operations tend to map to similar objective values")
def children_are_like_parents(figure_2):
    """At least half of the children have the loss, bias and effective k of a parent."""
    # The paper says similar. Parents differ, are those of the last population, and nothing
    # mutates.
    children = _wide(figure_2, "population", "children alike")
    measured = f"on average {listed(children.mean(axis=1), '{:.2f}')}"
    return means(children, above=0.5, measured=measured, show="{:.2f}")


@claim("Section 6.2", quote="duplicates which affect the convergence rate of the population")
def duplicates_slow_the_search(copies):
    """The largest population ends with more ach than a search that throws duplicates away.

    The search without duplicates is ours. Both have the paper's 50,000 evaluations.
    """
    by_seed = _wide(copies.assign(copies=copies["copies"].astype(str)), "copies", "ach")
    more = by_seed.loc["stay"] - by_seed.loc["thrown away"]
    why = "a search that keeps duplicates ends with less ach, which is better"
    return means([more], above=0, measured=f"ach {more.mean():+.4f}", show="{:.4f}", why=why)


@claim("Section 5", quote="exposure of higher effective k solutions")
def two_objectives_show_the_trade_off(one_or_two):
    """With two objectives the search offers less ach at each higher k than with one."""
    # The search with one objective is ours. Where no last solution has that k, full generalization
    # takes its place (ach 5/6).
    stay = one_or_two[one_or_two["copies"] == "stay"]
    wide = stay.set_index(["objectives", "k_pref", "seed"]).filter(like="ach at ").fillna(5 / 6)
    lead = (wide.loc[1] - wide.loc[2]).sort_index(axis=1).round(12).stack().unstack("seed")
    told = span(lead.mean(axis=1), "{:.3f}")
    return means(lead, above=0, measured=f"{told} less ach on average")


def _printed(runs: pd.DataFrame) -> pd.DataFrame:
    return runs[runs["search"] == "as printed"]


@claim("Figure 3", quote="the assignment of equal weights [...] results in a much higher NWP and")
def equal_weights_cost_more(figure_3, weight_vectors):
    """Equal weights give higher NWP and NECD than each other vector."""
    # How much higher is not judged.
    runs, vectors = _printed(figure_3), weight_vectors.set_index("vector")
    nwp, necd = _wide(runs, "vector", "nwp", "necd")
    others = nwp.index.drop("wv_1")
    equal = runs[runs["vector"] == "wv_1"].sort_values("seed")
    losses = equal[[f"loss {name}" for name in vectors]].to_numpy()
    lower = [*nwp.loc[others].to_numpy(), *necd.loc[others].to_numpy()]

    def more(loss) -> Finding:
        told = f"{span(nwp.loc[others].mean(axis=1), '{:.2f}')}, equal {np.mean(loss):.2f}"
        higher = [*loss, *len(others) * [necd.loc["wv_1"]]]
        return means((lower, higher), above=0, measured=f"mean NWP {told}")

    theirs = more(vectors.loc[others].to_numpy() @ losses.T)
    return more(len(others) * [nwp.loc["wv_1"]]).read_as("both by the vector's weights", theirs)


@claim("Figure 3", quote="equal weights [...] can result in less effective solutions")
def equal_weights_are_less_effective(drawn_vectors):
    """The solution for equal weights has more ach under at least 80 % of the drawn vectors."""
    # In an exact search it never has less: this shows whether the evaluations suffice.
    better = drawn_vectors["ach"] < drawn_vectors["equal ach"]
    by_seed = [better.groupby(drawn_vectors["seed"]).mean()]
    told = f"{better.sum()} of {len(better)} drawn vectors"
    return means(by_seed, above=0.8, within=(0, 1), measured=told, show="{:.0%}")


@claim("Figure 3", quote="(as in wv_2 and wv_5) return solutions with more number of partitions")
def favoured_country_keeps_groups(countries):
    """Native Country keeps more groups under wv_2 and wv_5 than under each other vector."""
    groups = countries.groupby(["place", "vector"])["groups ncy"].mean().unstack()
    more = groups[["wv_2", "wv_5"]].min(axis=1) > groups.drop(columns=["wv_2", "wv_5"]).max(axis=1)
    return _by_place(more, f"{span(groups, '{:.1f}')} groups")


@claim("Figure 3", quote="most solutions in the figure completely suppress [...] Native Country")
def country_is_suppressed(countries):
    """Under most weight vectors, at least half of the runs suppress Native Country completely."""
    suppressed = countries["groups ncy"].eq(1).groupby([countries["place"], countries["vector"]])
    often = suppressed.mean().unstack()
    told = f"in {span(often, '{:.0%}')} of the runs"
    return _by_place((often >= 0.5).mean(axis=1) > 0.5, told)


@claim("Figure 3", quote="comparatively higher number of groups [...] for attributes with higher")
def heavier_attributes_keep_groups(figure_3, weight_vectors):
    """An attribute keeps more groups under a vector that favours it than under the others."""
    runs, vectors = _printed(figure_3), weight_vectors.set_index("vector")
    favoured = vectors > 1 / vectors.shape[1] + 1e-9
    less, more = [], []
    for name in vectors:
        groups = _wide(runs, "vector", f"groups {name}")
        here = favoured.loc[groups.index, name]
        more += [*groups[here].to_numpy()]
        less += here.sum() * [groups[~here].mean().to_numpy()]
    why = "an attribute without a certain gain keeps its largest number of groups anyway"
    return means((less, more), above=0, why=why)


@claim("Section 6.3", quote="the generalization performed on it is low")
def age_is_generalized_little(figure_3, weight_vectors):
    """Age keeps more groups than other light attributes, where it weighs less than 1/9."""
    runs, vectors = _printed(figure_3), weight_vectors.set_index("vector")
    equal = 1 / vectors.shape[1]

    def lead(kind: str, sign: int) -> Finding:
        rows = {}
        for vector, weights in vectors[vectors["age"] < equal - 1e-9].iterrows():
            of = runs[runs["vector"] == vector].set_index("seed")
            light = weights.index[weights <= equal + 1e-9].drop("age")
            theirs = of[[f"{kind} {name}" for name in light]]
            rows[vector] = sign * (of[f"{kind} age"] - theirs.mean(axis=1))
        return means(pd.DataFrame(rows).T, above=0)

    return lead("groups", 1).read_as("loss of the attribute", lead("loss", -1))


@claim("Section 4", quote="need not necessarily have an effective k equal to")
def optimum_can_be_above_k_pref(optima_by_weights):
    """The best solution need not have an effective k equal to k_pref."""
    # Exhaustive searches on tables of two to four attributes. One suffices.
    above = optima_by_weights["above k_pref"]
    told = f"above k_pref in {above.sum()} of {len(above)} searches"
    return holds(above.any(), measured=told)


@claim("Section 6", quote="No difference in obtained solutions is observed")
def seeds_make_no_difference_elsewhere(spread_by_setting):
    """At the settings of Figures 3 and 4, ach over seeds differs by at most 1 %."""
    above = _printed(spread_by_setting)["worst / best - 1"].abs()
    why, told = "seeds end in different local optima", f"by {span(above, '{:.1%}')}"
    return holds_everywhere(above <= 0.01, measured=told, why=why)


def _shown_by(vectors: pd.Series) -> Finding:
    """Judge by the share of drawn vectors in which Native Country weighs most, as in wv_2."""
    return shown_once(
        vectors, measured=f"{vectors.sum()} of {len(vectors)} drawn weight vectors show it"
    )


def _at(runs: pd.DataFrame, value: str) -> pd.DataFrame:
    return runs.pivot(index="vector", columns="bias preference", values=value)


@claim("Figure 4", quote="Such a case happens with the weight vector")
def no_bias_preference_gives_k_pref(country_vectors):
    """With NECD_pref = 1, the solution has k = k_pref."""
    without = country_vectors.query("`bias preference` == 1")
    return _shown_by(without["effective_k"] == without["k_pref"])


@claim("Figure 4", quote="higher NWP (although within the preference value [...]) and higher")
def low_bias_costs_loss_and_gives_k(country_vectors):
    """With a bias preference below 0.1, NWP and effective k are higher than with 1, NWP to 0.2.

    In an exact search NWP cannot be lower.
    """
    loss, k = (_at(country_vectors, name) for name in ("nwp", "effective_k"))
    dear = loss.gt(loss[1.0], axis=0) & (loss <= 0.2) & k.gt(k[1.0], axis=0)
    return _shown_by(dear.loc[:, dear.columns < 0.1].all(axis=1))


@claim("Figure 4", quote="as the bias preference is lowered, the effective k increases")
def k_rises_as_bias_falls(country_vectors):
    """The lower the bias preference, the higher the effective k."""
    k = _at(country_vectors, "effective_k").sort_index(axis=1, ascending=False)
    rises = (k.diff(axis=1).iloc[:, 1:] >= 0).all(axis=1)
    return _shown_by(rises & (k.iloc[:, -1] > k.iloc[:, 0]))


@claim("Figure 4", quote="This solution overachieves the preference criteria")
def solution_of_choice_exists(country_vectors):
    """Some bias preference below 1 meets both preferences with more k than with 1."""
    loss, bias, k = (_at(country_vectors, name) for name in ("nwp", "necd", "effective_k"))
    kept = (loss <= 0.2) & (bias <= bias.columns.to_numpy()) & k.gt(k[1.0], axis=0)
    return _shown_by(kept.drop(columns=1.0).any(axis=1))


@claim("Section 4, Observation")
def minimum_of_ach_is_efficient(optima):
    """A feasible minimum of ach is an efficient solution, in exhaustive searches."""
    better = optima["better in both"]
    return holds(better == 0, measured=f"{better.sum()} counterexamples in {len(better)} searches")


@claim("Section 5.2", quote="we can initially direct the search towards the feasible region")
def tournament_finds_the_feasible(starts):
    """From an infeasible population, at least half of the runs find a feasible solution."""
    # The paper does not print its first population. Here some first solution has an effective k of
    # 2 or more, and none has k_pref. From fair coins every first effective k is 1.
    coins, some = (starts.loc[starts["first k"].gt(1) == more, "found"] for more in (False, True))
    told = f"{some.sum()} of {len(some)}, from k = 1 {coins.sum()} of {len(coins)}"
    return share(some, above=0.5, measured=told)
