"""Xiao, Yi, Tao: the hardness and approximation algorithms for l-diversity (2010).

The paper's tables of 600,000 adults each are not public. OCC holds the employed people of
Census-Income (148,318 rows, 46 occupations). SAL holds 600,000 rows drawn with replacement from
the adults of Census-Income, with 50 modelled incomes: more of its rows are alike than in a
survey, which may help TP. The text lost most formulas, Tables 1 to 5 and the values of d and l.
d = 4 and l = 6 are our interpretation, and formulas are restored from their proofs. Hilbert's
grouping rule, the score and the hierarchies of TDS, and the natural logarithm in the
KL-divergence are ours too. "Thousand stars" and "divergence" are means over the projections of a
table on d quasi-identifiers, in one order of columns and values.
"""

import numpy as np
import pandas as pd

from anonpaper.compendium.claims import (
    MOSTLY,
    Finding,
    all_of,
    claim,
    holds,
    holds_everywhere,
    listed,
    means,
    settings,
    span,
    steps,
)

QI = ["Age", "Gender", "Education"]


@claim("Table 2", quote="2-anonymous")
def table_2_is_not_enough(table_2, audit):
    """Table 2 is 2-anonymous with two stars, and Adam's and Bob's diseases are certain in it."""
    stars, groups = _stars_and_groups(table_2)
    k = audit.set_index("principle").loc["k-anonymity", "Table 2"]
    known = table_2[table_2["Name"].isin(["Adam", "Bob"])]
    certain = known.merge(table_2, on=QI).eval("Disease_x == Disease_y").all()
    measured = f"{stars} stars, {groups} QI-groups, k = {k:g}"
    return holds((stars, groups) == (2, 4), k >= 2, len(known) == 2, certain, measured=measured)


@claim("Table 3", quote="2-diverse")
def table_3_is_2_diverse(table_3, audit):
    """Table 3 is 2-diverse, with 8 stars in 4 rows, all in one of three QI-groups."""
    stars, groups = _stars_and_groups(table_3)
    starred = table_3.loc[(table_3[QI] == "*").any(axis=1), QI]
    l = audit.set_index("principle").loc["frequency l-diversity", "Table 3"]
    return holds(
        (stars, groups, len(starred), len(starred.drop_duplicates())) == (8, 3, 4, 1), l >= 2,
        measured=f"{stars} stars, {groups} QI-groups, {len(starred)} suppressed rows, l = {l:g}",
    )  # fmt: skip


@claim("Table 4", quote="single-dimensional generalization")
def table_4_has_two_sub_domains(table_4):
    """Table 4 is 2-diverse, with Age cut at 50 and Education cut below Bachelor."""
    cut_columns = ["Age", "Education"]
    ivy = table_4.loc[table_4["Name"] == "Ivy", cut_columns].iloc[0]
    apart = table_4["Name"].isin(["Ivy", "Jane"])
    cut = (table_4[cut_columns] == ivy).eq(apart, axis=0).all(axis=None)
    domains = table_4[cut_columns].nunique()
    shares = table_4.groupby(QI)["Disease"].agg(
        lambda group: group.value_counts().max() / len(group)
    )
    measured = f"{listed(domains)} sub-domains, largest share of a disease {shares.max():.3g}"
    return holds(domains == 2, cut, shares.max() <= 1 / 2, measured=measured)


@claim("Table 5", quote="each QI value in Table 5 is equally or more accurate")
def table_5_is_most_accurate(table_1, table_3, table_4, table_5, losses):
    """Each value of Table 5 is at least as accurate as in Tables 3 and 4, and it loses less."""
    domains = {column: list(table_1[column].unique()) for column in QI}
    third, fourth, fifth = (
        [
            _covered(cell, domain)
            for column, domain in domains.items()
            for cell in table.set_index("Name").loc[table_1["Name"], column]
        ]
        for table in (table_3, table_4, table_5)
    )
    finer = [
        [ours <= other for ours, other in zip(fifth, of, strict=True)] for of in (third, fourth)
    ]
    loss = losses.set_index(losses["way"].str.split().str[0]).drop(columns=["way", "stars"])
    less = loss.loc["multi-dimensional"] < loss.loc["suppression"]
    measured = (
        f"at least as accurate in {sum(finer[0])} and {sum(finer[1])} of {len(fifth)} values"
    )
    return holds(*finer, less, measured=measured)


def _stars_and_groups(table: pd.DataFrame) -> tuple[int, int]:
    return int((table[QI] == "*").to_numpy().sum()), len(table[QI].drop_duplicates())


def _covered(cell: str, domain: list[str]) -> set[str]:
    """Return the values that a cell covers: one, a range of them, or all for "*"."""
    if cell == "*":
        return set(domain)
    places = [domain.index(end) for end in ([cell] if cell in domain else cell[1:-1].split(" - "))]
    return set(domain[min(places) : max(places) + 1])


@claim("Section 5.2", quote="terminates after phase one")
def example_ends_in_phase_one(tp_steps):
    """With l = 2, TP removes HIV, HIV, pneumonia and bronchitis and ends in phase one."""
    last = tp_steps["step"].iloc[-1]
    removed = tp_steps.set_index(["step", "set"]).loc[(last, "R")]
    measured = f"{last}: {listed(removed[removed > 0])}"
    return holds(measured == "phase 1: HIV: 2, bronchitis: 1, pneumonia: 1", measured=measured)


@claim("Sections 5.3 and 5.4")
def examples_of_phases_two_and_three(tp_examples):
    """In the examples, phases two and three move the rows that the text names."""
    moved = {5.3: {"Q1": "3", "Q2": "345"}, 5.4: {"Q1": "135", "Q2": "245"}}
    found = {section: _last_moves(tp_examples.query("section == @section")) for section in moved}
    told = (f"{section}: {rows}" for section, (rows, _) in found.items())
    right = [found[section] == (moved[section], True) for section in moved]
    return holds(*right, measured="; ".join(told))


def _last_moves(example: pd.DataFrame) -> tuple[dict[str, str], bool]:
    """Return the values that groups lose in the last step, and if R is then 3-eligible."""
    rows = example.set_index(["step", "set"])[list("12345")]
    before, after = (rows.loc[step] for step in example["step"].unique()[-2:])
    lost = (before - after).clip(lower=0)
    values = {
        name: "".join(value * int(n) for value, n in row.items()) for name, row in lost.iterrows()
    }
    held = after.loc["R"]
    return {name: text for name, text in values.items() if text}, held.sum() >= 3 * held.max()


# ---- theorems, on random tables against exhaustive search ---------------------------------------


@claim("Lemma 4.5, Theorem 4.7")
def reduction_is_right(reduction_checked, reduction_higher):
    """There is an l-dimensional matching if and only if lq(t - 1) stars make a table l-diverse.

    The paper does not print the reduction for l > 3. For l = 4 and 5 it is ours.
    """
    checked = pd.concat([reduction_checked, reduction_higher])
    same = checked[["enough stars", "matching_read_off"]].eq(checked["has_matching"], axis=0)
    return holds(same.all(axis=1), measured=f"{checked['how often'].sum():,} random tables")


@claim("Corollaries 5.9 and 5.13")
def rows_after_phases_one_and_two(guarantee):
    """TP suppresses the fewest rows in phase one, and at most l - 1 more in phase two."""
    one, two = (guarantee.query("phase == @phase") for phase in (1, 2))
    right = one["largest_extra"] == 0, two["largest_extra"] <= two["l"] - 1
    return holds(*right, measured=f"{one['tables'].sum():,} and {two['tables'].sum():,} tables")


@claim("Theorem 5.16")
def no_phase_three_at_2(guarantee):
    """For l = 2, TP never enters phase three and suppresses at most one row too many."""
    two = guarantee.query("l == 2")
    right = two["phase"] < 3, two["largest_extra"] <= 1
    return holds(*right, measured=f"{two['tables'].sum():,} tables")


@claim("Theorem 5.19")
def rows_within_l_times(guarantee, worst_cases):
    """TP suppresses at most l times the fewest rows possible, also in tables found by search."""
    worst = worst_cases.query("objective == 'rows'")
    right = guarantee["largest_ratio"] <= guarantee["l"], worst["ratio"] <= worst["promised"]
    largest = worst.set_index("l")["ratio"].rename_axis("l")
    return holds(*right, measured=f"largest ratio by search: {listed(largest, '{:.2f}')}")


@claim("Lemmas 5.8 to 5.18")
def lemmas_on_small_tables(lemmas):
    """The lemmas about phases one to three hold in every run on small random tables."""
    runs = lemmas.filter(regex="phase").to_numpy().sum()
    against = lemmas.drop(columns="most rounds").filter(regex="^5|unique")
    number = against.to_numpy().sum()
    return holds(number == 0, measured=f"{number} counterexamples in {runs:,} runs")


@claim("Lemma 2")
def stars_within_l_times_d(star_ratio, worst_cases):
    """TP has at most l·d times the fewest stars possible, also in tables found by search."""
    worst = worst_cases.query("objective == 'stars'")
    right = (
        star_ratio["largest_ratio"] <= star_ratio["l"] * star_ratio["d"],
        worst["ratio"] <= worst["promised"],
    )
    largest = worst.set_index(["l", "d"])["ratio"]
    return holds(*right, measured=f"largest ratio by search: {listed(largest, '{:.2f}')}")


@claim("Section 1.2", quote="termination at the second phase incurs at most additional stars")
def stars_before_phase_three(star_ratio):
    """Before phase three, TP has at most d times the fewest stars, (l - 1)·d more in phase two."""
    early = star_ratio.query("phase < 3")
    bound = (early["l"] - 1) * early["d"] * (early["phase"] == 2)
    return holds(early["beyond_d_times"] <= bound, measured=f"{early['tables'].sum():,} tables")


@claim("Section 4")
def pairs_are_best_at_two_values(matching_checked):
    """With two sensitive values, the cheapest matching has the fewest stars of all tables."""
    same = matching_checked["least matching"] == matching_checked["exhaustive search"]
    return holds(same, measured=f"{matching_checked['how often'].sum():,} random tables")


# ---- stars: one order of columns and values, judged exactly -------------------------------------


def _by_algorithm(figure: pd.DataFrame, value: str = "thousand stars") -> pd.DataFrame:
    """Return means with a row for each table and place on the axis, a column per algorithm."""
    axis = next(name for name in ("l", "d") if name in figure)
    return figure.pivot(index=["table", axis], columns="algorithm", values=value)


def _grow(figure: pd.DataFrame, value: str = "thousand stars") -> Finding:
    """Judge whether the curves of all algorithms grow along the axis."""
    curves = _by_algorithm(figure, value).stack()
    axis = curves.index.names[1]
    ends = curves.unstack(axis).iloc[:, [0, -1]]
    measured = (
        f"{span(ends.iloc[:, 1] / ends.iloc[:, 0])} times from the least to the largest {axis}"
    )
    return holds_everywhere(steps(curves, along=axis) >= 0, measured=measured)


@claim("Figure 2", quote="All algorithms perform better when [l] decreases")
def stars_grow_with_l(figure_2):
    """The numbers of stars of TP, TP+ and Hilbert grow with l."""
    return _grow(figure_2)


@claim("Figure 2", quote="Both TP and TP+ consistently outperform Hilbert")
def tp_beats_hilbert(figure_2):
    """TP and TP+ have fewer stars than Hilbert at every l."""
    stars = _by_algorithm(figure_2)
    ratio = stars[["TP", "TP+"]].div(stars["Hilbert"], axis=0)
    told = f"TP has {span(ratio['TP'], '{:.2f}')} and TP+ {span(ratio['TP+'], '{:.2f}')} times"
    return holds_everywhere(ratio.max(axis=1) < 1, measured=f"{told} Hilbert's stars")


@claim("Figure 2", quote="TP+ incurs a smaller number of stars than TP in all cases")
def tp_plus_beats_tp(figure_2):
    """TP+ has fewer stars than TP at every l."""
    stars = _by_algorithm(figure_2)
    ratio = stars["TP+"] / stars["TP"]
    return holds_everywhere(
        ratio < 1, measured=f"TP+ has {span(ratio, '{:.2f}')} times TP's stars"
    )


@claim("Figure 3", quote="The average number of stars increases with [d]")
def stars_grow_with_d(figure_3):
    """The numbers of stars of TP, TP+ and Hilbert grow with d."""
    return _grow(figure_3)


@claim(
    "Figure 3",
    quote="TP outperforms Hilbert when [d is small], but is inferior than Hilbert given a larger",
)
def curves_cross(figure_3):
    """TP has fewer stars than Hilbert up to some d, and more at every larger d."""
    stars = _by_algorithm(figure_3)
    ratio = (stars["TP"] / stars["Hilbert"]).unstack("d")
    fewer = ratio < 1
    once = (
        fewer.iloc[:, 0]
        & ~fewer.iloc[:, -1]
        & (fewer.astype(int).diff(axis=1).iloc[:, 1:] <= 0).all(axis=1)
    )
    last = fewer.mul(ratio.columns.to_numpy()).max(axis=1)
    return holds_everywhere(once, in_part=1, measured=f"TP has fewer up to d = {span(last)}")


@claim("Figure 3", quote="achieves better data utility than both TP and Hilbert")
def tp_plus_has_fewest_stars(figure_3):
    """TP+ has fewer stars than both TP and Hilbert at every d."""
    stars = _by_algorithm(figure_3)
    better = stars[["TP", "Hilbert"]].min(axis=1)
    ratio = (stars["TP+"] / better)[better > 0]
    equal = stars.index[stars["TP+"] >= better].unique("d")
    return holds_everywhere(
        stars["TP+"] < better,
        measured=f"{span(ratio, '{:.2f}')} times the stars of the better one",
        why=f"TP and TP+ are the same at {' and '.join(settings(equal.to_frame().index))}",
    ).read_as("a mean over d", holds((better - stars["TP+"]).mean() >= 0))


@claim("Section 5.6", quote="such a hybrid approach always outperforms our algorithm")
def tp_plus_always_beats_tp(tp_plus_against_tp):
    """TP+ has fewer stars than TP in every run."""
    fewer, equal, more = tp_plus_against_tp[["fewer", "equal", "more"]].sum()
    runs = fewer + equal + more
    return holds(
        runs > 0, equal + more == 0, in_part=equal + more <= (1 - MOSTLY) * runs,
        measured=f"fewer in {fewer:,} of {runs:,} runs, as many in {equal:,}, more in {more:,}",
        why="with one quasi-identifier TP and TP+ have equally many stars",
    ).read_as("never more stars", holds(more == 0))  # fmt: skip


@claim("Section 6.1", quote="on all 128 tables and for all 9 values of [l], TP terminates before")
def no_phase_three(phases):
    """TP ends before phase three on all tables with 4 to 7 quasi-identifiers, for l = 2 to 10."""

    def never(rows: pd.DataFrame) -> Finding:
        of = rows.filter(like="phase ").sum()
        measured = f"phase three in {of['phase 3']} of {of.sum():,} runs"
        return holds(of.sum() > 0, of["phase 3"] == 0, measured=measured)

    four = phases["d"].str.startswith("4")
    return never(phases[four]).read_as("1 to 7 quasi-identifiers", never(phases))


@claim("Section 6.1", quote="the one that achieves the best performance in star minimization")
def hilbert_is_the_best_rival(heuristics):
    """Hilbert has fewer stars than TDS and Mondrian at every d (l = 6)."""
    stars = heuristics.pivot(index=["table", "d"], columns="heuristic", values="thousand stars")
    rival = stars[["Mondrian", "TDS"]].min(axis=1)
    ratio = (stars["Hilbert"] / rival)[rival > 0]
    mean = stars.groupby("table").mean()
    return holds_everywhere(
        stars["Hilbert"] < rival,
        measured=f"{span(ratio, '{:.2f}')} times the stars of the better rival",
        why="the cause is Hilbert's choice among sensitive values that are equally near on its"
        " curve: if it takes the more frequent one, no rival has fewer stars on average",
    ).read_as(
        "a mean over d", holds_everywhere(mean["Hilbert"] < mean[["Mondrian", "TDS"]].min(axis=1))
    )


@claim("Lemmas 5.8 and 5.11")
def lemmas_on_large_tables(lemmas_in_runs):
    """Lemmas 5.8 and 5.11 hold in every run on the large tables."""
    number = lemmas_in_runs[["values_above_5_8", "higher_than_5_11"]].to_numpy().sum()
    runs = lemmas_in_runs["runs"].sum()
    return holds(number == 0, measured=f"{number} counterexamples in {runs:,} runs")


# ---- time: programs that move row by row, repeats on one projection of each d -------------------


def _factors(times: pd.DataFrame, axis: str, algorithms: list[str]) -> pd.DataFrame:
    """Return the time at the largest place of the axis over the time at the least, as fitted."""
    return _slopes(times, axis, algorithms).map(lambda slope: np.exp(slope * np.ptp(times[axis])))


def _slopes(times: pd.DataFrame, axis: str, algorithms: list[str], of=lambda x: x) -> pd.DataFrame:
    """Return the slope of the logarithm of seconds along an axis, for each repeat."""
    rows = times[(times["way"] == "rows") & times["algorithm"].isin(algorithms)]
    wide = rows.pivot(index=["table", "algorithm", axis], columns="repeat", values="seconds")
    fits = {
        at: np.polyfit(of(part.index.get_level_values(axis).astype(float)), np.log(part), 1)[0]
        for at, part in wide.groupby(level=["table", "algorithm"])
    }
    slopes = pd.DataFrame(fits, index=wide.columns).T
    return slopes.rename_axis(["table", "algorithm"])


@claim("Figure 4", quote="The overhead of Hilbert decreases with the increase of [l]")
def hilbert_gets_faster_and_tp_slower_with_l(figure_4):
    """TP and TP+ get slower with l, Hilbert faster."""
    slower = means(_factors(figure_4, "l", ["TP", "TP+"]), above=1, show="{:.2f}")
    return all_of(slower, means(_factors(figure_4, "l", ["Hilbert"]), below=1, show="{:.2f}"))


@claim("Figure 5", quote="The computation cost of TP increases with [d]")
def tp_gets_slower_with_d(figure_5):
    """TP and TP+ get slower with d."""
    return means(_factors(figure_5, "d", ["TP", "TP+"]), above=1, show="{:.2f}")


@claim("Figure 5", quote="The efficiency of Hilbert is insensitive to [d]")
def hilbert_is_insensitive_to_d(figure_5):
    """Hilbert's time changes by at most 20 % with d."""
    return means(
        _factors(figure_5, "d", ["Hilbert"]), above=0.8, below=1.2, in_part=1, show="{:.2f}",
        why="more than half of the extra time is spent on placing the rows on the curve",
    )  # fmt: skip


@claim("Figure 6", quote="The processing cost of TP increases linearly with [n]")
def times_are_linear(figure_6):
    """The times of TP and of Hilbert grow with the number of rows, to a power of 0.8 to 1.2."""
    powers = _slopes(figure_6, "n", ["TP", "Hilbert"], of=np.log)
    return means(powers, above=0.8, below=1.2, show="{:.2f}")


@claim("Section 6.1", quote="In terms of computation time, Hilbert is superior than TP and TP+")
def hilbert_is_faster(figure_4):
    """Hilbert is faster than TP and TP+ at every l."""
    rows = figure_4.query("way == 'rows'")
    times = rows.pivot(index=["algorithm", "table", "l"], columns="repeat", values="seconds")
    others = times.drop("Hilbert", level="algorithm")
    hilbert = pd.concat(
        {name: times.loc["Hilbert"] for name in ("TP", "TP+")}, names=["algorithm"]
    )
    ratio = hilbert.mean(axis=1) / others.mean(axis=1)
    return means(
        others - hilbert, above=0,
        measured=f"Hilbert takes {span(ratio, '{:.2f}')} times their time",
        why="forming groups along the curve costs Hilbert more than moving rows costs TP",
    )  # fmt: skip


# ---- generalization -----------------------------------------------------------------------------


def _closer(figure: pd.DataFrame, growing: list[str]) -> Finding:
    """Judge whether TP+ is closer to the original than TDS, and these divergences grow."""
    ratio = _by_algorithm(figure, "divergence").eval("`TP+` / TDS")
    measured = f"TP+ has {span(ratio, '{:.2f}')} times the divergence of TDS"
    grow = _grow(figure[figure["algorithm"].isin(growing)], "divergence")
    return all_of(holds_everywhere(ratio < 1, measured=measured), grow)


@claim("Figure 7", quote="TP+ significantly outperforms TDS in all cases")
def tp_plus_is_closer_at_every_l(figure_7):
    """TP+ has less KL-divergence from the table than TDS at every l, and its grows with l."""
    return _closer(figure_7, ["TP+"])


@claim("Figure 8", quote="the information loss caused by TP+ is consistently smaller than TDS")
def tp_plus_is_closer_at_every_d(figure_8):
    """TP+ has less KL-divergence from the table than TDS at every d, and both grow with d."""
    return _closer(figure_8, ["TP+", "TDS"])


@claim(
    "Section 6.2", quote="multi-dimensional generalization always guarantees higher data utility"
)
def sub_domains_keep_more_than_stars(boxes):
    """Multi-dimensional generalization of the same groups always keeps more than suppression.

    The paper argues without a measure. We use the KL-divergence of its experiments.
    """
    closer = boxes["with sub-domains"] < boxes["with stars"]
    equal = (boxes["with sub-domains"] == boxes["with stars"]).sum()
    further = (boxes["with sub-domains"] > boxes["with stars"]).sum()
    return holds_everywhere(
        closer,
        measured=f"closer to the original in {closer.sum():,} of {len(boxes):,} tables",
        why=f"the others are exactly as close ({equal:,}), and {further:,} are further away",
    )
