"""The claims of Majeed, Hwang: A data-centric l-diversity model (2024).

The paper measures a release with its synthetic rows in it. Where that matters the same is asked
of the real people alone, which is our question. DCA takes part in no comparison: little more than
its title is known. A method that draws nothing was run once, which stands for every seed. Where
the paper says that something is so "for most values of k", most of the settings are enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

from anonpaper.compendium.judge import OURS, Claim, Finding, Tested
from anonpaper.compendium.intervals import (
    DIRECTION,
    EXACT,
    LEVEL,
    MOSTLY,
    NOT_TESTABLE,
    REPRODUCED,
    TOGETHER,
    UNDECIDED,
    difference_intervals,
    intervals_in_words,
    judge_intervals,
    judge_mean_order,
    judge_order,
    judge_statement,
    over_seeds,
)
from majeed2024_baselines import UNRANKED
from anonpaper.compendium.tables import reference

__all__ = ["CLAIMS"]

PAPER = "majeed2024"
WHO = {"all": "as published", "real": "real people alone"}
MODES = {"diversity enforced": "enforce", "best effort": "best effort"}
THRESHOLDS = {f"T_eta {name}": name for name in ("above 0", "0.69 bits", "0.69 nats")}
EQUATION_6 = {
    "Eq. 6 as the own value": "D own",
    "Eq. 6 as printed": "D values",
    "Eq. 6 as the best guess": "D largest",
}
EQUATION_7 = {
    "Eq. 7 as surplus": "E surplus",
    "Eq. 7 as classes of one value": "E single",
    "Eq. 7 as majorities": "E majority",
}
EQUATION_8 = {"Eq. 8 as values restored": "R", "Eq. 8 as similar marginals": "similarity"}
# What is published -> distortion of the proposed method and of the baselines.
PUBLISHING = {
    "baselines anonymize every part": ("DM", "DM, every part"),
    "all keep what a class agrees on": ("DM", "DM"),
    "all go up a level, pattern-friendly values excepted": ("DM, every part", "DM, every part"),
}
WEIGHTS = {
    "values weigh the same": "balanced accuracy, equal weights",
    "rows weigh the same": "balanced accuracy",
}
TEST_ROWS = ("real people", "with invented people", "leak")
# At which k Table 12 counts: name -> which of the curve over k, the least k first.
COUNTED_AT = {
    "at the least k": lambda curve: curve.iloc[0],
    "at the largest k": lambda curve: curve.iloc[-1],
    "mean over k": lambda curve: curve.mean(),
}


def _combined(*parts: dict) -> dict[str, tuple]:
    """Return every combination of readings by its name, the default first."""
    return {
        "; ".join(names): tuple(part[name] for part, name in zip(parts, names, strict=True))
        for names in product(*parts)
    }


DISCLOSURE = _combined(EQUATION_6, MODES, THRESHOLDS)
SOME_QIDS = _combined({"own value": "D own, some QIDs"}, MODES, THRESHOLDS)
EXPOSURE = _combined(EQUATION_7, MODES, THRESHOLDS)
RECONSTRUCTION = _combined(EQUATION_8, MODES, THRESHOLDS)
DISTORTION = _combined(PUBLISHING, MODES, THRESHOLDS)
BASELINE_RISK = _combined(EQUATION_6, MODES)

CORES = (
    "Most baselines are written anew from abstracts; DCA, of which little more than the title is "
    "known, is left out of every comparison."
)
MODEL = (
    "One CTGAN a table invents the rows (Census: learnt from 20,000 people), until values are "
    "equally frequent, where the paper stopped at about nine tenths."
)
FEWER_K = "k is 2, 10, 50 and 100 (5 and 50 in the quick profile), where the paper has eight."
AT_WHICH_K = "Table 12 does not name its k; ours go from 2 to 100 (5 to 50 in the quick profile)."
SOME = "What an attacker knows is 20 random sets of QIDs; the paper does not name its sets."
FORESTS = (
    "Forests, and the CTGAN that invents rows for them, learn from two thirds of 9,000 rows a "
    "table at most (1,000 in the quick profile), of one split; seeds are those of methods and "
    "forests."
)
FORESTS_K = "k is 2, 10 and 100 (10 in the quick profile), where the paper has eight."
TUPLES = "Our program is compiled and works on distinct tuples, the paper's works on rows."
TIMED = "k is 2, 10, 50 and 100 (2 and 100 in the quick profile), where the paper has eight."
NO_DCA = "DCA, of which little more than the title is known, is left out."
FOR_MOST = f"at {100 * MOSTLY:g} % of the settings, for the paper says 'for most values of k'"
NEAR = 0.05  # of a printed risk
ON_THE_SIDE = "above 0 bears the claim out"
OTHER_MACHINE = "seconds of other programs on another machine, here on distinct tuples"
NO_AFA = "AFA is left out, for its permuted categories count as not generalized."
OWN_LEVELS = "The levels of the hierarchies are ours."
TEST_PEOPLE = "The paper does not describe its test rows."


# ---- tables with seeds ------------------------------------------------------------------------


def _wide(table: pd.DataFrame, value: str, settings: Sequence[str], **chosen) -> pd.DataFrame:
    """Return a value by settings and method (rows) and seed (columns).

    A method with the first seed alone draws nothing: its value stands for all seeds.
    """
    for column, wanted in chosen.items():
        table = table[table[column] == wanted]
    wide = table.pivot(index=[*settings, "method"], columns="seed", values=value)
    return wide.ffill(axis=1)


def _of(wide: pd.DataFrame, method: str) -> np.ndarray:
    """Return the values of a method, settings x seeds."""
    return wide.xs(method, level="method").to_numpy()


def _others(wide: pd.DataFrame) -> list[str]:
    """Return the methods to compare with: those that have a number at every setting."""
    measured = wide.notna().all(axis=1).groupby(level="method").agg(["all", "size"])
    full = measured.index[measured["all"] & (measured["size"] == measured["size"].max())]
    return [name for name in full if name != "Proposed" and name not in UNRANKED]


def _compared(
    ours: pd.DataFrame,
    theirs: pd.DataFrame,
    *,
    highest: bool = False,
    for_most: bool = False,
    unit: str = "",
) -> Finding:
    """Compare the proposed method with the best of all others at every setting and seed."""
    mine = _of(ours, "Proposed")
    rest = [_of(theirs, name) for name in _others(theirs)]
    if _alike(mine, *rest):
        return _told_apart_by_nothing(mine)
    best = np.max(rest, axis=0) if highest else np.min(rest, axis=0)
    lower, higher = (best, mine) if highest else (mine, best)
    word = "best" if highest else "lowest"
    ends = difference_intervals(lower, higher)
    verdict = judge_intervals(ends)
    return Finding(
        f"proposed {mine.mean():.3f}{unit}, {word} other {best.mean():.3f}{unit} on average; "
        f"{_settings(ends)}",
        REPRODUCED if for_most and verdict == DIRECTION else verdict,
        spread=over_seeds(mine.mean(axis=0)),
        interval=_widest(ends),
    )


def _alike(*values: np.ndarray) -> bool:
    """Return whether all methods have the same numbers at every setting and seed."""
    return bool(np.ptp(np.broadcast_arrays(*values), axis=0).max() < 1e-9)


def _told_apart_by_nothing(values: np.ndarray) -> Finding:
    """Say that under a reading all methods are equal, whatever they do."""
    measured = f"{values.mean():.3f} for all methods: this reading cannot tell them apart"
    return Finding(measured, NOT_TESTABLE)


def _settings(ends: np.ndarray, what: str = "settings") -> str:
    """Return in words how many intervals bear the claim out, and how many refute it."""
    low, high = ends.T
    return (
        f"borne out at {(low >= 0).sum()} and refuted at {(high < 0).sum()} of {len(ends)} {what}"
    )


def _widest(ends: np.ndarray) -> str:
    """Return in words between which ends the intervals of all settings lie."""
    low, high = ends[:, 0].min(), ends[:, 1].max()
    return (
        f"{TOGETHER}, differences between {low:.3g} and {high:.3g} over all settings; "
        f"{ON_THE_SIDE}"
    )


# ---- 1_why_it_fails ---------------------------------------------------------------------------


def count_as_printed(
    section_1_2: pd.DataFrame, *, name: str, column: str, printed: str
) -> Finding:
    """Compare a count of a data set with the printed one, digit by digit."""
    found = f"{section_1_2.set_index('table').loc[name, column]:,}"
    return Finding(found, judge_statement(found == printed))


def at_risk_as_printed(section_1_2: pd.DataFrame, *, name: str) -> Finding:
    """Compare the people left over with Table 11."""
    return count_as_printed(
        section_1_2, name=name, column="left_over", printed=printed_at_risk(name)
    )


def printed_at_risk(name: str) -> str:
    """Return the "existing" count of Table 11."""
    table_11 = reference("majeed2024_tab11_records_at_risk").set_index("dataset")
    return f"{table_11.loc[name, 'existing_count']:,}"


def others_are_differences(section_1_2: pd.DataFrame) -> tuple[bool, str]:
    """Subtract people of the rare value from those of the frequent one, on every table."""
    tables = section_1_2.set_index("table")
    less = tables["rows"] - 2 * tables["rare"]
    same = less == tables["published_at_risk"]
    adult = tables.loc["adult"]
    return (
        bool(same.drop("adult").all() and not same["adult"]),
        f"the differences are {_per_table(less, '{:,.0f}')}; {adult['not_diverse']:,.0f} of "
        f"Adult's {adult['pairs']:,.0f} pairs are of one value, as section 1.2 says, and hold "
        f"{2 * adult['not_diverse']:,.0f} people",
    )


def pairs_of_the_frequent(section_1_2: pd.DataFrame) -> tuple[bool, str]:
    """Halve the people of the frequent value alone, rounded up."""
    stroke = section_1_2.set_index("table").loc["stroke"]
    pairs = -(-(stroke["rows"] - stroke["rare"]) // 2)
    left = pairs - stroke["rare"]
    told = f"{int(pairs):,} pairs, {int(left):,} without diversity"
    return bool(pairs == 2431 and left == 2182), told


# ---- 2_repairing_the_data ---------------------------------------------------------------------


def sizes_as_printed(table_5: pd.DataFrame) -> Finding:
    """Compare the numbers of rows with those of Table 5."""
    same = table_5["rows"] == table_5["printed rows"]
    return Finding(
        _per_table(table_5.set_index("table")["rows"], "{:,.0f}"),
        judge_statement(same.all(), in_direction=same.mean() >= MOSTLY),
    )


def as_many_too_many(table_5: pd.DataFrame) -> tuple[bool, str]:
    """Count Stroke's people of both values in the file, beside Table 5 and section 1.2."""
    stroke = table_5.set_index("table").loc["stroke"]
    frequent = stroke["rows after full balance"] // 2
    rare = stroke["rows"] - frequent
    return bool((rare, frequent, stroke["printed rows"]) == (249, 4861, rare + 5261)), (
        f"the file has {rare:,} and {frequent:,}, {rare:,} + 5,261 are {rare + 5261:,}, printed "
        f"are {stroke['printed rows']:,}"
    )


def balanced_and_complete(augmentation: pd.DataFrame) -> Finding:
    """Look whether values are equally frequent and all real rows there."""
    balanced, kept = augmentation["balanced"].all(), augmentation["real rows kept"].all()
    return Finding(
        f"balanced: {balanced}; real rows kept: {kept}", judge_statement(balanced and kept)
    )


def paper_balances(table_5: pd.DataFrame) -> Finding:
    """Divide the sizes after augmentation, as printed, by those of a full balance."""
    sizes = table_5.set_index("table")
    after, full = sizes["printed after"], sizes["rows after full balance"]
    return Finding(
        _per_table(100 * after / full, "{:.0f} %") + " of a full balance",
        judge_statement((after == full).all()),
        detail=f"missing are {_per_table(full - after, '{:,.0f}')} rows",
    )


def closeness(quality: pd.DataFrame) -> Finding:
    """Report SDV's score; there is no published one."""
    table = quality.set_index("table")
    of_both = table["Column Pair Trends"].notna()
    shown = f"SDV's overall score: {_per_table(table.loc[of_both, 'Overall'], '{:.2f}')}"
    if not of_both.all():
        shown += (
            f"; of single columns alone: {_per_table(table.loc[~of_both, 'Overall'], '{:.2f}')}"
        )
    return Finding(shown, NOT_TESTABLE)


# ---- 3_shallow_anonymization ------------------------------------------------------------------


def promise_kept(checked: pd.DataFrame) -> Finding:
    """Count the releases that are k-anonymous and 2-diverse."""
    kept = checked["smallest class"].ge(checked["k"]) & checked["fewest values"].ge(2)
    return Finding(f"{kept.sum()} of {len(kept)} releases", judge_statement(kept.all()))


def class_sizes(checked: pd.DataFrame) -> Finding:
    """Count the groupings whose groups have k to 2k - 1 rows."""
    inside = checked["smallest group"].ge(checked["k"]) & checked["largest group"].lt(
        2 * checked["k"]
    )
    return Finding(f"{inside.sum()} of {len(inside)} groupings", judge_statement(inside.all()))


def lists_agree(pattern_friendly: pd.DataFrame) -> Finding:
    """Name the tables whose pattern-friendly quasi-identifiers are not the paper's."""
    same = (
        (pattern_friendly["friendly"] == pattern_friendly["in the paper"])
        .groupby(pattern_friendly["table"], sort=False)
        .all()
    )
    others = ", ".join(same.index[~same]) or "none"
    return Finding(f"other lists on: {others}", judge_statement(same.all()))


def rule_says_otherwise(pattern_friendly: pd.DataFrame) -> tuple[bool, str]:
    """Look up the columns on which the lists differ, by our rule's two sides."""
    of = pattern_friendly.set_index(["table", "qid"])
    insulin, smoking = of.loc[("diabetes", "insulin")], of.loc[("stroke", "smoking_status")]
    most = of.loc["diabetes", "weight"].max()
    ours = of[of["friendly"] & ~of["in the paper"]]
    return (
        bool(
            insulin["weight"] == most
            and smoking["top_share"] < 0.5
            and (ours["weight"] == 0).all()
        ),
        f"insulin has {100 * insulin['weight']:.0f} % of all importance, the most frequent "
        f"smoking status {100 * smoking['top_share']:.0f} % of the people, and the "
        f"{len(ours)} columns that we add {100 * ours['weight'].sum():.0f} % of all importance",
    )


# ---- 4_privacy --------------------------------------------------------------------------------


def lowest(
    table: pd.DataFrame,
    *,
    options: dict[str, tuple],
    reading: str = "",
    who: str = "all",
    along: Sequence[str] = ("name", "k"),
    unit: str = "",
) -> Finding:
    """Compare the proposed method with the lowest of all others at every setting."""
    value, mode, threshold = options[reading or next(iter(options))]
    ours = _wide(table, value, along, who=who, mode="enforce", threshold=threshold)
    others = _wide(table, value, along, who=who, mode=mode, threshold="above 0")
    return _compared(ours, others, unit=unit)


def reconstructed(figure_6: pd.DataFrame, *, reading: str) -> Finding:
    """Compare the proposed method with the lowest of all others but HyObscure."""
    value, _, _ = RECONSTRUCTION[reading]
    who = "real" if value == "R" else "all"
    excepted = figure_6[figure_6["method"] != "HyObscure"]
    return lowest(excepted, options=RECONSTRUCTION, reading=reading, who=who)


def printed_lowest(method: str, *, baselines: bool = False, highest: bool = False) -> str:
    """Return in how many printed columns of Tables 6 to 9 a method is at the end of the order."""
    risks = reference("majeed2024_tab6-9_disclosure_risk")
    wide = risks.pivot(index=["dataset", "k"], columns="method", values="disclosure_risk")
    rest = wide.drop(columns=[method, "Proposed"] if baselines else method)
    at_end = wide[method] >= rest.max(axis=1) if highest else wide[method] <= rest.min(axis=1)
    word = "highest" if highest else "lowest"
    return f"{word}, ties included, in {at_end.sum()} of {len(wide)} columns"


def printed_rest() -> str:
    """Return the printed counts at risk after augmentation and before."""
    table = reference("majeed2024_tab11_records_at_risk").set_index("dataset")
    pairs = zip(table.index, table["proposed_count"], table["existing_count"], strict=True)
    return ", ".join(f"{name} {after:,} of {before:,}" for name, after, before in pairs)


def even_halves_are_lowest(disclosure_risk: pd.DataFrame) -> tuple[bool, str]:
    """Compare classes of even halves with the lowest of all others."""
    name = next(name for name, given in DISCLOSURE.items() if given[2] == "0.69 nats")
    found = lowest(disclosure_risk, options=DISCLOSURE, reading=name)
    return found.verdict == judge_statement(True), found.measured


def agree_oftener_than_by_chance(beside_chance: pd.DataFrame) -> tuple[bool, str]:
    """Divide what the proposed method's risk has above the least possible by where it is from."""
    part = beside_chance[
        (beside_chance["method"] == "Proposed") & (beside_chance["known"] == "some QIDs")
    ]
    chance = 100 * (part["D own, by chance"] - part["sum of squared shares"])
    agreed = 100 * (part["D own"] - part["D own, by chance"])
    return bool((agreed > 0).all() and agreed.mean() > chance.mean()), (
        f"at {(agreed > 0).sum()} of {len(part)} settings, by {agreed.min():.1f} to "
        f"{agreed.max():.1f} points; with values dealt at random the same classes have "
        f"{chance.min():.1f} to {chance.max():.1f} points above the least risk possible"
    )


def larger_classes_than_the_riskiest(beside_chance: pd.DataFrame) -> tuple[bool, str]:
    """Compare LD with the baseline of the highest risk of those that group people."""
    part = beside_chance[
        (beside_chance["known"] == "all QIDs") & (beside_chance["method"] != "Proposed")
    ]
    part = part.assign(
        size=part["people"] / part["classes"], above=part["D own"] - part["sum of squared shares"]
    ).set_index(["name", "k"])
    is_ld = part["method"] == "LD"
    others = part[~is_ld].sort_values("D own").groupby(["name", "k"]).tail(1)
    ours, other = part[is_ld], others.reindex(part[is_ld].index)
    larger = (ours["size"] > other["size"]).to_numpy()
    nearer = (ours["above"] < other["above"]).to_numpy()
    return bool(larger.all() and nearer.all()), (
        f"larger at {larger.sum()} and nearer at {nearer.sum()} of {len(larger)} settings; "
        f"{ours['size'].median():,.0f} against {other['size'].median():,.0f} people a class "
        f"(medians), {100 * ours['above'].mean():.1f} against {100 * other['above'].mean():.1f} "
        "points above the least possible (means)"
    )


def restored_where_kept(figure_6: pd.DataFrame) -> tuple[bool, str]:
    """Correlate distortion and restored values over methods, at every table and k."""
    part = figure_6[(figure_6["who"] == "real") & (figure_6["mode"] == "enforce")]
    part = part.dropna(subset=["R"]).groupby(["name", "k", "method"])[["R", "DM"]].mean()
    ranks = part.groupby(["name", "k"]).rank()
    found = ranks.groupby(["name", "k"]).apply(lambda group: group["R"].corr(group["DM"])).mean()
    return bool(found < -0.5), f"mean rank correlation {found:.2f}"


def equation_6(disclosure_risk: pd.DataFrame, tables_6_to_9: pd.DataFrame) -> Finding:
    """Compare Equation 6, as printed, with the means of the published numbers."""
    ours = disclosure_risk[
        (disclosure_risk["method"] == "Proposed") & (disclosure_risk["who"] == "all")
    ]["D values"]
    theirs = tables_6_to_9[
        (tables_6_to_9["method"] == "Proposed") & (tables_6_to_9["threshold"] == "above 0")
    ].set_index("name")
    gap = (theirs["D values"] - theirs["published"]).abs()
    return Finding(f"{ours.min():.2f} to {ours.max():.2f}", judge_statement((gap < 0.01).all()))


def always_one_half(disclosure_risk: pd.DataFrame) -> tuple[bool, str]:
    """Look whether Equation 6 as printed is 1/2 for every release of the proposed method."""
    ours = disclosure_risk[
        (disclosure_risk["method"] == "Proposed") & (disclosure_risk["who"] == "all")
    ]["D values"]
    return bool(np.allclose(ours, 0.5)), f"1/2 in {np.isclose(ours, 0.5).sum()} of {len(ours)}"


def few_at_risk(table_11: pd.DataFrame) -> Finding:
    """Divide the records at risk after augmentation by those before."""
    before = table_11["existing, by arithmetic"]
    after = table_11["after augmentation, by arithmetic"]
    return Finding(f"{after.sum():,} of {before.sum():,}", judge_statement((after < before).all()))


def one_half(disclosure_risk: pd.DataFrame, *, reading: str) -> Finding:
    """Compare the own-value risk of the proposed method, as published, with 1/2 at two digits."""
    wide = _wide(disclosure_risk, "D own", ("name", "k"), who="all", mode="enforce",
                 threshold=THRESHOLDS[reading])  # fmt: skip
    told = _of(wide, "Proposed")
    ends = difference_intervals(told, np.full_like(told, 0.505))
    return Finding(
        f"{told.mean():.3f} on average, {told.max():.3f} at most; {_settings(ends)}",
        judge_intervals(ends),
        spread=over_seeds(told.mean(axis=0)),
        interval=_widest(ends),
    )


def best_of_baselines(disclosure_risk: pd.DataFrame, *, reading: str) -> Finding:
    """Compare HyObscure with the lowest of the other baselines at every table and k."""
    return _ranked_baseline(disclosure_risk, reading, "HyObscure", np.min)


def worst_of_baselines(disclosure_risk: pd.DataFrame, *, reading: str) -> Finding:
    """Compare LD with the highest of the other baselines at every table and k."""
    return _ranked_baseline(disclosure_risk, reading, "LD", np.max)


def _ranked_baseline(table: pd.DataFrame, reading: str, method: str, pick) -> Finding:
    """Compare a baseline with the lowest or highest of the others."""
    value, mode = BASELINE_RISK[reading]
    wide = _wide(table, value, ("name", "k"), who="all", mode=mode, threshold="above 0")
    its = _of(wide, method)
    others = [_of(wide, other) for other in _others(wide) if other != method]
    if _alike(its, *others):
        return _told_apart_by_nothing(its)
    rest = pick(others, axis=0)
    lower, higher = (its, rest) if pick is np.min else (rest, its)
    ends = difference_intervals(lower, higher)
    return Finding(
        f"{method} {its.mean():.3f}, {'lowest' if pick is np.min else 'highest'} other "
        f"{rest.mean():.3f} on average; {_settings(ends)}",
        judge_intervals(ends),
        spread=over_seeds(its.mean(axis=0)),
        interval=_widest(ends),
    )


def falls_with_k(
    table: pd.DataFrame, *, reading: str, options: dict, rises: bool = False
) -> Finding:
    """Compare each k with the next, for every table and method that has all numbers."""
    value, who = options[reading]
    wide = _wide(table, value, ("name", "k"), who=who, mode="enforce", threshold="above 0")
    return _steps(wide, rises=rises)


def _steps(wide: pd.DataFrame, *, rises: bool = False) -> Finding:
    """Judge each k and the next, of every table and method that has all numbers."""
    methods = ["Proposed", *_others(wide)]
    ks = wide.index.unique("k").sort_values()
    if len(ks) == 1:
        return Finding(f"measured at k = {ks[0]} only", UNDECIDED)
    curves = [
        wide.xs((name, method), level=("name", "method")).loc[ks].to_numpy()
        for name in wide.index.unique("name")
        for method in methods
    ]
    first, then = (
        np.vstack([curve[at] for curve in curves]) for at in (slice(-1), slice(1, None))
    )
    ends = difference_intervals(*((first, then) if rises else (then, first)))
    return Finding(
        f"{'rises' if rises else 'falls'} or stays: {_settings(ends, 'steps')}",
        judge_intervals(ends),
        spread=f"{wide.shape[1]} seeds of methods that draw something",
        interval=_widest(ends),
    )


# ---- 5_utility --------------------------------------------------------------------------------


def least_distortion(figure_7: pd.DataFrame, *, who: str, reading: str) -> Finding:
    """Compare distortions with the lowest of all other methods that generalize."""
    (mine, theirs), mode, threshold = DISTORTION[reading]
    table = figure_7[figure_7["method"] != "AFA-core"]
    along = ("name", "k")
    return _compared(
        _wide(table, mine, along, who=who, mode="enforce", threshold=threshold),
        _wide(table, theirs, along, who=who, mode=mode, threshold="above 0"),
        for_most=True,
    )


def highest(figure_9: pd.DataFrame, *, value: str = "", reading: str = "") -> Finding:
    """Compare the proposed method with the best of all others at every table and k."""
    wide = _wide(figure_9, value or WEIGHTS[reading], ("name", "k"))
    return _compared(wide, wide, highest=True, for_most=value == "accuracy")


def accuracy_falls(figure_9: pd.DataFrame) -> Finding:
    """Compare each k with the next, for every table and method."""
    return _steps(_wide(figure_9, "accuracy", ("name", "k")))


def accuracy_gained(figure_8: pd.DataFrame, *, reading: str) -> Finding:
    """Subtract the accuracy on real rows from that on repaired ones, in points."""
    before, after = _accuracies(figure_8, reading)
    gain = 100 * (after - before).mean(axis=1)
    claimed = gain.index != "census"  # printed as a loss
    return Finding(
        _per_table(gain, "{:+.1f}"),
        judge_mean_order(before[claimed].to_numpy(), after[claimed].to_numpy()),
        spread=_learnt_from(figure_8, reading),
        interval=_gains_in_words(before, after),
    )


def gains_as_printed(figure_8: pd.DataFrame, *, reading: str) -> Finding:
    """Compare the gains in accuracy with the printed ones, within two points."""
    before, after = _accuracies(figure_8, reading)
    gain = 100 * (after - before).mean(axis=1)
    printed = _printed_gains()[gain.index]
    return Finding(
        _per_table(gain, "{:+.1f}"),
        judge_statement(
            ((gain - printed).abs() <= 2).all(), in_direction=(gain * printed > 0).all()
        ),
        spread=_learnt_from(figure_8, reading),
        interval=_gains_in_words(before, after),
    )


def _gains_in_words(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """Return the intervals of the mean gains, in points."""
    ends = difference_intervals(100 * before.to_numpy(), 100 * after.to_numpy())
    return intervals_in_words(ends, before.index, "{:+.1f}")


def _accuracies(figure_8: pd.DataFrame, test_rows: str) -> list[pd.DataFrame]:
    """Return accuracies before and after repairing, tables x seeds."""
    part = figure_8[figure_8["test_rows"] == test_rows]
    return [
        part.pivot(index="name", columns="seed", values=value)
        for value in ("accuracy", "accuracy, repaired")
    ]


def _learnt_from(figure_8: pd.DataFrame, test_rows: str) -> str:
    """Say how many rows forests learnt from."""
    part = figure_8[figure_8["test_rows"] == test_rows]
    rows, seeds = part["rows to learn from"].max(), part["seed"].nunique()
    return f"{seeds} seeds of the forests, which learnt from {rows:,} real rows a table at most"


def _printed_gains() -> pd.Series:
    """Return the printed gains in accuracy by table, in points."""
    printed = reference("majeed2024_headlines").set_index("quantity")["improvement_pct"]
    tables = ("Adult", "Stroke", "Census", "Diabetes")
    return pd.Series({name.lower(): printed[f"accuracy on {name}"] for name in tables})


def printed_gains() -> str:
    """Return the printed gains in accuracy, in points."""
    return _per_table(_printed_gains(), "{:+.2f}")


def frequent_people_given_up(figure_8: pd.DataFrame) -> tuple[bool, str]:
    """Look whether the rare value's recall rises where accuracy falls."""
    part = figure_8[figure_8["test_rows"] == "real people"].groupby("name").mean(numeric_only=True)
    recall = part["recall of the rare value, repaired"] - part["recall of the rare value"]
    accuracy = part["accuracy, repaired"] - part["accuracy"]
    return (
        bool(((recall > 0) & (accuracy < 0)).all()),
        f"recall of the rare value {100 * recall.mean():+.0f} points, accuracy "
        f"{100 * accuracy.mean():+.0f} points on average",
    )


def names_the_frequent_value_less(figure_9: pd.DataFrame) -> tuple[bool, str]:
    """Compare recalls with those of the most accurate other method at every setting."""
    recalls = ["recall of the dominant value", "recall of the rare value"]
    means = figure_9.groupby(["name", "k", "method"])[["accuracy", *recalls]].mean()
    others = means[~means.index.isin(["Proposed", *UNRANKED], level="method")]
    best = others.loc[others.groupby(["name", "k"])["accuracy"].idxmax()].droplevel("method")
    ours = means.xs("Proposed", level="method").loc[best.index]
    frequent, rare = (ours[recall] for recall in recalls)
    as_said = (frequent < best[recalls[0]]) & (rare > best[recalls[1]])
    return bool(as_said.all()), (
        f"at {as_said.sum()} of {len(as_said)} settings; on average "
        f"{100 * frequent.mean():.0f} against {100 * best[recalls[0]].mean():.0f} % of the people "
        f"with the frequent value are told, and {100 * rare.mean():.0f} against "
        f"{100 * best[recalls[1]].mean():.0f} % of those with the rare one"
    )


def surer_by_the_frequent_value(figure_9: pd.DataFrame) -> tuple[bool, str]:
    """Look whether forests that get more accurate as k grows name the frequent value oftener."""
    columns = ["accuracy", "recall of the dominant value"]
    ranked = figure_9[~figure_9["method"].isin(UNRANKED)]
    means = ranked.groupby(["name", "method", "k"])[columns].mean()
    steps = means.groupby(["name", "method"]).diff().dropna()
    rising = steps.loc[steps["accuracy"] > 0, columns[1]]
    return (
        bool(len(rising) and (rising > 0).mean() > 0.8),
        f"at {(rising > 0).sum()} of the {len(rising)} steps on which accuracy rises",
    )


def pairs_and_weights(figure_9: pd.DataFrame) -> tuple[bool, str]:
    """Look at k = 2, and how much weights of values add to balanced accuracy."""
    by_weights = [_wide(figure_9, value, ("name", "k")) for value in WEIGHTS.values()]
    weighed, plain = (wide.mean(axis=1).unstack("method") for wide in by_weights)
    others = _others(by_weights[0])
    gain = (weighed - plain).mean()
    k = weighed.index.unique("k").min()
    least = weighed["Proposed"].xs(k, level="k")
    by_chance = k == 2 and (least - 0.5).abs().max() < 0.1
    return (
        bool(by_chance and gain[others].mean() > gain["Proposed"]),
        f"at k = {k} it is {least.min():.2f} to {least.max():.2f}, where chance is 0.5; "
        f"weights add {gain[others].mean():.3f} to the other methods on average and "
        f"{gain['Proposed']:+.3f} to the proposed one",
    )


def most_lost_in_pairs(figure_7: pd.DataFrame) -> tuple[bool, str]:
    """Look whether the proposed method loses more at the least k than at the next."""
    wide = _wide(figure_7, "DM", ("name", "k"), who="all", mode="enforce", threshold="above 0")
    loss = wide.mean(axis=1).xs("Proposed", level="method").groupby("name")
    first, second = loss.nth(0).droplevel("k"), loss.nth(1).droplevel("k")
    falls = second < first
    return bool(
        falls.all()
    ), f"from the least k to the next its loss falls on {falls.sum()} of " + (
        f"{len(falls)} tables"
    )


def cells_saved(table_12: pd.DataFrame, figure_7: pd.DataFrame, *, reading: str) -> Finding:
    """Compare the share of augmented cells left as they are with the printed one."""
    saved = _saved(table_12["cells, augmented"], table_12, figure_7, reading)
    printed = reference("majeed2024_tab12_generalizations").set_index("dataset")["improvement_pct"]
    return Finding(
        _per_table(saved, "{:.1f} %"),
        judge_statement((saved >= printed[saved.index]).all(), in_direction=(saved > 0).all()),
    )


def real_cells_saved(table_12: pd.DataFrame, figure_7: pd.DataFrame, *, reading: str) -> Finding:
    """Look whether fewer cells are generalized than the table to be anonymized has."""
    saved = _saved(table_12["cells, real"], table_12, figure_7, reading)
    return Finding(_per_table(saved, "{:.1f} %"), judge_statement((saved > 0).all()))


def _saved(
    cells: pd.Series, table_12: pd.DataFrame, figure_7: pd.DataFrame, reading: str
) -> pd.Series:
    """Return by table how many percent fewer cells are generalized than there are cells."""
    ours = figure_7[
        (figure_7["method"] == "Proposed")
        & (figure_7["who"] == "all")
        & (figure_7["threshold"] == "above 0")
    ]
    curves = ours.groupby(["k", "name"])["generalizations"].mean().unstack("name").sort_index()
    changed = pd.Series({name: COUNTED_AT[reading](curves[name]) for name in table_12["name"]})
    return 100 * (1 - changed / cells.to_numpy())


def printed_cells_saved(table_12_arithmetic: pd.DataFrame) -> Finding:
    """Look whether fewer cells are generalized than the table to be anonymized has."""
    saved = 100 * table_12_arithmetic.set_index("name")["saved of real cells"]
    return Finding(_per_table(saved, "{:.1f} %"), judge_statement((saved > 0).all()))


def printed_improvements() -> str:
    """Return the printed improvements of Table 12."""
    table_12 = reference("majeed2024_tab12_generalizations").set_index("dataset")
    return _per_table(table_12["improvement_pct"], "{:.2f} %")


# ---- 6_time -----------------------------------------------------------------------------------


def rises_with_k(figure_10: pd.DataFrame) -> Finding:
    """Compare the seconds of the proposed method at each k with those at the next."""
    seconds = figure_10[figure_10["method"] == "Proposed"].pivot(
        index="k", columns="name", values="seconds"
    )
    first, then = seconds.to_numpy()[:-1], seconds.to_numpy()[1:]
    means = seconds.mean(axis=1)
    return Finding(
        f"rises in {(then >= first).sum()} of {first.size} steps; mean of the tables "
        f"{means.iloc[0]:.3f} s at k = {means.index[0]}, {means.iloc[-1]:.3f} s at "
        f"k = {means.index[-1]}",
        judge_order(first, then),
    )


def time_goes_with_classes(figure_10: pd.DataFrame) -> tuple[bool, str]:
    """Correlate the seconds of the proposed method with 1/k: n rows make n/k classes."""
    seconds = figure_10[figure_10["method"] == "Proposed"].pivot(
        index="k", columns="name", values="seconds"
    )
    found = seconds.corrwith(pd.Series(1 / seconds.index.to_numpy(), seconds.index))
    if len(seconds) < 3:
        return False, f"{len(seconds)} k are measured, too few to tell a proportion"
    return bool((found > 0.9).all()), (
        f"correlation of seconds with 1/k over {len(seconds)} k: {_per_table(found, '{:.3f}')}"
    )


def slowest_and_fastest_table(figure_10: pd.DataFrame) -> Finding:
    """Compare the seconds on Census and on Stroke with those on the other tables."""
    seconds = figure_10.pivot(index=["method", "k"], columns="name", values="seconds")
    rest = seconds.drop(columns=["census", "stroke"])
    slow, fast = rest.max(axis=1), rest.min(axis=1)
    is_slow, is_fast = seconds["census"] >= slow, seconds["stroke"] <= fast
    ranked = ~seconds.index.isin(UNRANKED, level="method")
    return Finding(
        f"Census slowest in {is_slow[ranked].sum()} and Stroke fastest in "
        f"{is_fast[ranked].sum()} of {ranked.sum()} methods and k",
        judge_order(
            [*slow[ranked], *seconds.loc[ranked, "stroke"]],
            [*seconds.loc[ranked, "census"], *fast[ranked]],
        ),
        detail=f"with DCA in {is_slow.sum()} and {is_fast.sum()} of {len(seconds)}",
    )


def none_is_larger(steps: pd.DataFrame) -> tuple[bool, str]:
    """Look whether all tables have the same number of rows."""
    rows = steps.set_index("name")["rows"]
    return rows.nunique() == 1, f"rows: {_per_table(rows, '{:,}')}"


def slowest_method(figure_10: pd.DataFrame) -> Finding:
    """Report in how many settings HyObscure is the slowest; seconds of theirs are not at hand."""
    wide = figure_10.pivot(index=["name", "k"], columns="method", values="seconds")
    wide = wide.drop(columns=list(UNRANKED))
    return Finding(
        f"slowest in {(wide.idxmax(axis=1) == 'HyObscure').sum()} of {len(wide)} tables and k; "
        f"on average {wide.mean().idxmax()} is",
        NOT_TESTABLE,
    )


def diversity_is_faster(figure_10: pd.DataFrame) -> Finding:
    """Report the seconds of LD and the proposed method; seconds of theirs are not at hand."""
    wide = figure_10.pivot(index=["name", "k"], columns="method", values="seconds")
    return Finding(
        f"LD {wide['LD'].mean():.3f} s, proposed {wide['Proposed'].mean():.3f} s "
        "without synthesis",
        NOT_TESTABLE,
    )


def clustering_takes_longer(steps: pd.DataFrame) -> Finding:
    """Compare the seconds of the classes with those of the synthetic rows."""
    return Finding(
        f"synthetic rows {steps['synthetic rows'].sum():.1f} s, classes "
        f"{steps['balanced classes'].sum():.2f} s, all tables",
        judge_order(steps["synthetic rows"], steps["balanced classes"]),
    )


def longer_at_ten_epochs(steps: pd.DataFrame) -> tuple[bool, str]:
    """Take of the seconds of the synthetic rows the share of ten epochs."""
    ten = steps["synthetic rows"] / steps["epochs"] * 10
    classes = steps["balanced classes"]
    return (
        bool((ten > classes).all()),
        f"{ten.sum():.1f} s are the share of ten epochs, {classes.sum():.2f} s are for the "
        "classes, all tables",
    )


# ---- 7_what_the_paper_does_not_ask ------------------------------------------------------------


def better_than_the_shares(attackers: pd.DataFrame) -> Finding:
    """Compare every attacker's chance of the own value with the chance by the shares alone."""
    risk = attackers.pivot(index=["name", "k"], columns="attacker", values="risk")
    base = risk.pop("knows the shares only")
    safer = risk.le(base, axis=0).sum()
    shown = ", ".join(
        f"{who} {risk[who].mean():.2f} (no higher at {safer[who]} of {len(risk)} tables and k)"
        for who in risk
    )
    return Finding(
        f"{shown}; by the shares alone {base.mean():.2f}, all on average",
        judge_order(risk, np.broadcast_to(base.to_numpy()[:, None], risk.shape)),
        detail="by the bound of notebook 8 no grouping is below the shares for who tells the "
        "invented rows",
    )


def nobody_undiverse(ablation: pd.DataFrame) -> Finding:
    """Count the real people in classes of one value among real people."""
    left = ablation[ablation["variant"] == "all modules"].set_index("name")["undiverse rows, real"]
    return Finding(_per_table(left, "{:,.0f}"), judge_statement((left == 0).all()))


# ---- 8_the_printed_numbers --------------------------------------------------------------------


def never_below(bound_on_groupings: pd.DataFrame) -> Finding:
    """Look whether any measured grouping is below the bound by more than rounding."""
    above = bound_on_groupings["risk"] - bound_on_groupings["bound"]
    return Finding(
        f"{(above >= -1e-9).sum()} of {len(above)} groupings at or above it",
        judge_statement((above >= -1e-9).all()),
    )


def cells_possible(below_the_bound: pd.DataFrame) -> Finding:
    """Count the printed cells, rounded up, below the least risk of any grouping."""
    real = below_the_bound[below_the_bound["groups real rows"]]
    below = real[real["disclosure_risk"] + 0.005 < real["bound"]]
    per_table = below.groupby("dataset", sort=False).size()
    return Finding(
        f"{len(below)} of {len(real)} cells are below: {_per_table(per_table, '{}')}",
        judge_statement(below.empty),
    )


def lowest_in_print(below_the_bound: pd.DataFrame) -> Finding:
    """Compare the printed risks of the proposed method with the least of the others."""
    wide = below_the_bound.pivot(
        index=["dataset", "k"], columns="method", values="disclosure_risk"
    )
    ours, others = wide["Proposed"], wide.drop(columns="Proposed").min(axis=1)
    named = ", ".join(f"{name} k = {k}" for name, k in wide.index[ours > others]) or "none"
    return Finding(
        f"below all others in {(ours < others).sum()} and as low as the lowest in "
        f"{(ours == others).sum()} of {len(wide)} columns; above it: {named}",
        judge_order(ours, others),
    )


def ours_from_sizes(table_11_arithmetic: pd.DataFrame) -> Finding:
    """Compare the printed counts with those that follow from the augmented sizes."""
    table = table_11_arithmetic.set_index("dataset")
    same = table["proposed_count"] == table["proposed, computed"]
    needed = table["existing, computed"] + table["rows"] - table["proposed_count"]
    return Finding(
        _per_table(table["proposed, computed"], "{:,.0f}"),
        judge_statement(same.all(), in_direction=same.mean() >= MOSTLY),
        detail=f"the printed counts need {_per_table(needed, '{:,.0f}')} augmented rows",
    )


def percentages(table_11_arithmetic: pd.DataFrame) -> Finding:
    """Divide the printed counts of both columns by the rows of the file."""
    table = table_11_arithmetic.set_index("dataset")
    found = pd.DataFrame(
        {who: 100 * table[f"{who}_count"] / table["rows"] for who in ("existing", "proposed")}
    )
    printed = table[["existing_pct", "proposed_pct"]].to_numpy()
    same = (found - printed).abs() <= 0.01
    return Finding(
        "; ".join(f"{who}: {_per_table(found[who], '{:.2f} %')}" for who in found),
        judge_statement(same.all(axis=None), in_direction=same.mean(axis=None) >= MOSTLY),
        detail=f"{same.to_numpy().sum()} of {same.size} as printed",
    )


def percentages_of_other_bases(
    table_11_arithmetic: pd.DataFrame, table_12_arithmetic: pd.DataFrame
) -> tuple[bool, str]:
    """Try 100 % less the share, and the augmented rows, for the three percentages that differ."""
    table = table_11_arithmetic.set_index("dataset")
    augmented = table_12_arithmetic.set_index("name")["augmented rows"]
    existing = 100 * table["existing_count"] / table["rows"]
    tried = {
        "diabetes, 100 % less its share": (100 - existing["diabetes"], "diabetes", "existing_pct"),
        "stroke, of the augmented rows": (
            100 * table.loc["stroke", "proposed_count"] / augmented["stroke"],
            "stroke",
            "proposed_pct",
        ),
        "census, 100 % less its share": (100 - existing["census"], "census", "existing_pct"),
        "census, of the augmented rows": (
            100 * table.loc["census", "existing_count"] / augmented["census"],
            "census",
            "existing_pct",
        ),
    }
    fits = {
        rule: abs(value - table.loc[name, column]) <= 0.01
        for rule, (value, name, column) in tried.items()
    }
    return list(fits.values()) == [True, True, False, False], "; ".join(
        f"{rule}: {value:.2f} %, printed {table.loc[name, column]:.2f} %"
        for rule, (value, name, column) in tried.items()
    )


def printed_percentages() -> str:
    """Return the percentages of Table 11."""
    table = reference("majeed2024_tab11_records_at_risk").set_index("dataset")
    return "; ".join(
        f"{who}: {_per_table(table[f'{who}_pct'], '{:.2f} %')}" for who in ("existing", "proposed")
    )


def improvements_follow(table_12_arithmetic: pd.DataFrame) -> Finding:
    """Recompute the printed improvements from the printed counts."""
    table = table_12_arithmetic.set_index("name")
    found = table["improvement, computed, %"]
    same = (found - table["improvement, printed, %"]).abs() <= 0.01
    return Finding(_per_table(found, "{:.2f} %"), judge_statement(same.all()))


def proposed_from_shares(table_12_arithmetic: pd.DataFrame) -> Finding:
    """Compare the printed counts with all cells but the frequent ones of friendly columns."""
    table = table_12_arithmetic.set_index("name")
    gap = table["proposed, from shares"] - table["proposed, printed"]
    of_cells = 100 * gap / table["existing, printed"]
    return Finding(
        f"{_per_table(gap, '{:+,.0f}')} cells, {_per_table(of_cells, '{:+.2f} %')} of all",
        judge_statement((of_cells.abs() <= 0.05).all()),
    )


def no_round_multiples(table_10_arithmetic: pd.DataFrame) -> Finding:
    """Count the cells that are a round hundredth of (M - m) / M, and how many chance gives."""
    is_round = table_10_arithmetic["round"]
    expected = table_10_arithmetic["chance"].sum()
    as_many = float(stats.poisson.sf(is_round.sum() - 1, expected))
    return Finding(
        f"{is_round.sum()} of {len(is_round)} cells, {expected:.1f} by chance; as many or more "
        f"with probability {as_many:.1g}",
        judge_statement(as_many > 1 - LEVEL),
    )


def follows_from_tables(headlines: pd.DataFrame, *, quantity: str) -> Finding:
    """Compute the improvement over all eight baselines by every formula."""
    part = headlines[headlines["quantity"] == quantity]
    found, printed = part["all_eight_pct"], part["printed_pct"].iloc[0]
    near = part.loc[(found - printed).abs().idxmin()]
    chosen = part.loc[(part["nearest_pct"] - printed).abs().idxmin()]
    return Finding(
        f"{found.min():.2f} to {found.max():.2f} %, nearest {near['all_eight_pct']:.2f} % "
        f"({near['formula']})",
        judge_statement(((found - printed).abs() <= 0.01).any()),
        detail=f"over baselines chosen for it, of 255 sets: {chosen['nearest_pct']:.2f} % "
        f"({chosen['formula']}; {chosen['nearest_baselines']})",
    )


def printed_headline(quantity: str) -> str:
    """Return a printed improvement."""
    printed = reference("majeed2024_headlines").set_index("quantity")["improvement_pct"]
    return f"{printed[quantity]} %"


# ---- 9_every_reading --------------------------------------------------------------------------


def one_reading_fits(explained_cells: pd.DataFrame) -> Finding:
    """Compare the reading that is near most cells of a table with one constant."""
    null = explained_cells["rows"] == "a constant"
    first = explained_cells.loc[explained_cells[~null].groupby("name")["near"].idxmax()]
    named = first.set_index("name")[["equation", "mode", "threshold", "rows"]].agg(
        ", ".join, axis=1
    )
    best = first.set_index("name")["near"]
    constant = explained_cells[null].set_index("name")["near"][best.index]
    cells = explained_cells.groupby("name")["cells"].max()
    shown = ", ".join(
        f"{name} {best[name]} of {cells[name]}, a constant {constant[name]}" for name in best.index
    )
    return Finding(
        shown,
        judge_statement((best == cells).all(), in_direction=(best > constant).all()),
        detail="the best reading of each table: "
        + "; ".join(f"{name}: {reading}" for name, reading in named.items()),
    )


def print_has_one_course(readings: pd.DataFrame) -> tuple[bool, str]:
    """Fit every table in print by methods and k alone, and its levels alone by each reading."""
    cells = readings.dropna(subset=["risk", "published"])
    in_print = cells.drop_duplicates(["name", "method", "k"]).set_index(["name", "method", "k"])
    printed = in_print["published"]
    by = {along: printed.groupby(["name", along]).transform("mean") for along in ("method", "k")}
    added = by["method"] + by["k"] - printed.groupby("name").transform("mean")
    alike = (printed - added).abs().le(NEAR).groupby("name", sort=False).sum()
    settings = ["name", "equation", "mode", "threshold", "rows"]
    apart = cells["risk"] - cells["published"]
    level = apart.groupby([cells[column] for column in [*settings, "method"]]).transform("mean")
    near = (apart - level).abs().le(NEAR).groupby([cells[column] for column in settings]).sum()
    best = near.groupby("name").max()[alike.index]
    size = printed.groupby("name").size()[alike.index]
    return (
        bool((best < alike).all() and alike.sum() >= 0.9 * size.sum()),
        f"of {_per_table(size, '{}')} cells, a number for each method and one for each k give "
        f"{_per_table(alike, '{}')} within {NEAR:g}; the nearest reading, put right for every "
        f"method's mean, {_per_table(best, '{}')}",
    )


def as_good_from_fewer(learnt_from: pd.DataFrame) -> Finding:
    """Compare SDV's score of models of fewer people with that of the most, within 0.05."""
    score = learnt_from.set_index("learnt from")["Overall"]
    gap = score.max() - score
    shown = ", ".join(f"{people:,}: {value:.2f}" for people, value in score.items())
    return Finding(
        f"SDV's score by people learnt from: {shown}", judge_statement((gap < 0.05).all())
    )


def _per_table(numbers: pd.Series, show: str) -> str:
    """Return one number for each table in words."""
    return ", ".join(f"{name} {show.format(number)}" for name, number in numbers.items())


_count = partial(
    Claim,
    paper=PAPER,
    notebook="1_why_it_fails",
    tables=("section_1_2",),
    tolerance=EXACT,
    spread="no random step",
)
_repair = partial(
    Claim,
    paper=PAPER,
    notebook="2_repairing_the_data",
    tolerance=EXACT,
    spread="one model for each table",
)
_shallow = partial(
    Claim, paper=PAPER, notebook="3_shallow_anonymization", tolerance=EXACT, spread="one seed"
)
_privacy = partial(Claim, paper=PAPER, notebook="4_privacy", differs=f"{CORES} {MODEL} {FEWER_K}")
_utility = partial(Claim, paper=PAPER, notebook="5_utility", differs=f"{CORES} {MODEL} {FEWER_K}")
_forest = partial(
    Claim, paper=PAPER, notebook="5_utility", differs=f"{CORES} {FORESTS} {FORESTS_K}"
)
GIVEN_UP = Tested(
    "on real people, balanced training rows give up people of the frequent value for the rare "
    "ones",
    tables=("figure_8",),
    by=frequent_people_given_up,
)
_time = partial(Claim, paper=PAPER, notebook="6_time", spread="one run", differs=TUPLES)
_unasked = partial(
    Claim,
    paper=PAPER,
    notebook="7_what_the_paper_does_not_ask",
    kind=OURS,
    spread="one seed; see the table of seeds",
)
_printed = partial(
    Claim,
    paper=PAPER,
    notebook="8_the_printed_numbers",
    kind="arithmetic",
    spread="no random step",
)


def _asked_of(who: str, **of_the_paper) -> dict:
    """Return the paper's part of a claim; one on real people alone is our question."""
    return of_the_paper if who == "all" else {"kind": OURS}


CLAIMS = (
    *(
        _count(
            id=f"at-risk-{name}",
            where="Section 1.2, Table 11" if name in ("adult", "stroke") else "Table 11",
            claim=f"records of {name} at risk because they cannot be paired",
            published=partial(printed_at_risk, name),
            reason=Tested(
                "the other three printed counts are the people of the frequent value less those "
                "of the rare one, and Adult's is not",
                tables=("section_1_2",),
                by=others_are_differences,
            )
            if name == "adult"
            else None,
            judge=partial(at_risk_as_printed, name=name),
        )
        for name in ("adult", "stroke", "census", "diabetes")
    ),
    *(
        _count(
            id=f"{kind}-{name}",
            where="Section 1.2",
            claim=f"{words} in {name}",
            published=printed,
            judge=partial(count_as_printed, name=name, column=column, printed=printed),
            reason=Tested(
                "the printed numbers are those of pairing up the people of the frequent value "
                "alone, rounded up",
                tables=("section_1_2",),
                by=pairs_of_the_frequent,
            )
            if name == "stroke"
            else None,
        )
        for kind, name, column, words, printed in (
            ("pairs", "adult", "pairs", "classes of two", "16,280"),
            ("undiverse", "adult", "not_diverse", "classes of two without diversity", "8,439"),
            ("pairs", "stroke", "pairs", "classes of two", "2,431"),
            ("undiverse", "stroke", "not_diverse", "classes of two without diversity", "2,182"),
        )
    ),
    _repair(
        id="sizes",
        where="Table 5",
        claim="rows of the four tables",
        published="32,561, 5,510, 199,523, 101,766",
        tables=("table_5",),
        judge=sizes_as_printed,
        tolerance=f"exact, for every table; in direction: for {100 * MOSTLY:g} % of them",
        spread="no random step",
        reason=Tested(
            "of Stroke Table 5 prints 249 people with a stroke and 5,261 without one, and their "
            "sum; section 1.2 prints the file's 249 and 4,861",
            tables=("table_5",),
            by=as_many_too_many,
        ),
    ),
    _repair(
        id="balance",
        where="Sections 3.4 and 4.1.5",
        claim="after fusion all sensitive values are equally frequent, and no real row is lost",
        tables=("augmentation",),
        judge=balanced_and_complete,
        kind="proof",
    ),
    _repair(
        id="balance-paper",
        where="Section 4.1.5, Tables 5, 11 and 12",
        claim="the paper's own augmented tables are balanced",
        published="equal counts",
        differs="Section 6.1 says 'more balanced' only, and Theorem 1 'roughly equal'. Sizes are "
        "those of Table 12's cells; Census' is the one that Table 11 needs, about 336K in section "
        "6.1.",
        tables=("table_5",),
        judge=paper_balances,
        spread="no random step",
        kind="arithmetic",
    ),
    _repair(
        id="quality",
        where="Sections 1.1 and 4.1.4, Lemma 1",
        claim="synthetic rows are very close to real ones",
        published="very close; a higher structural similarity",
        tables=("quality",),
        judge=closeness,
        tolerance="not compared",
        missing="the paper gives no measure of closeness",
    ),
    _shallow(
        id="theorem-1",
        where="Theorem 1 and its proof",
        claim="every release is k-anonymous and 2-diverse",
        tables=("checked",),
        judge=promise_kept,
        kind="proof",
    ),
    _shallow(
        id="class-sizes",
        where="Section 4.2.2",
        claim="classes have k to 2k - 1 rows",
        tables=("checked",),
        judge=class_sizes,
        kind="proof",
    ),
    _shallow(
        id="friendly",
        where="Section 6.2",
        tables=("pattern_friendly",),
        judge=lists_agree,
        claim="forest and frequencies find the pattern-friendly quasi-identifiers of the paper",
        reason=Tested(
            "insulin is the most important column of Diabetes, and on Stroke no smoking status is "
            "that of half of the people; what we call friendly and the paper does not, the forest "
            "has no use for",
            tables=("pattern_friendly",),
            by=rule_says_otherwise,
        ),
        differs="The paper prints no rule. Ours: unordered, the most frequent value that of half "
        "of the people, the importance at most the mean of all. Its text calls Census' marital "
        "status friendly as well, which its list and Table 12 do not.",
    ),
    *(
        _privacy(
            id=f"disclosure-{who}",
            where="Tables 6 to 9",
            claim=f"lowest disclosure risk of all methods ({WHO[who]})",
            tables=("disclosure_risk",),
            judge=partial(lowest, options=DISCLOSURE, who=who),
            readings=tuple(DISCLOSURE),
            reason=Tested(
                "larger classes are lopsided; of even halves they have the lowest risk",
                tables=("disclosure_risk",),
                by=even_halves_are_lowest,
            ),
            **_asked_of(who, published=partial(printed_lowest, "Proposed")),
        )
        for who in WHO
    ),
    *(
        _privacy(
            id=f"disclosure-some-{who}",
            where="Section 6.3",
            claim="lowest disclosure risk of all methods to an attacker who knows some QIDs "
            f"({WHO[who]})",
            differs=f"{CORES} {MODEL} {FEWER_K} {SOME}",
            tables=("disclosure_risk",),
            judge=partial(lowest, options=SOME_QIDS, who=who),
            readings=tuple(SOME_QIDS),
            reason=Tested(
                "the values of real people in its classes agree oftener than chance has it",
                tables=("beside_chance",),
                by=agree_oftener_than_by_chance,
                notebook="3_shallow_anonymization",
            ),
            **_asked_of(who),
        )
        for who in WHO
    ),
    _privacy(
        id="equation-6",
        where="Tables 6 to 9",
        claim="disclosure risk of the proposed model by Equation 6",
        published="0.49 to 0.85",
        tables=("disclosure_risk", "tables_6_to_9"),
        judge=equation_6,
        reason=Tested(
            "1 / (number of values) is 1/2 for every 2-diverse class of two values, whatever k",
            tables=("disclosure_risk",),
            by=always_one_half,
        ),
        tolerance="0.01, mean over k",
        spread="no seed changes it",
        differs=f"{MODEL} {FEWER_K}",
    ),
    _privacy(
        id="lemma-1",
        where="Lemma 1",
        claim="synthetic rows lower disclosure to 1/l",
        published="1/2",
        tables=("disclosure_risk",),
        judge=one_half,
        readings=tuple(THRESHOLDS),
        tolerance="to the two digits of Tables 6 to 9 (0.505), at every setting; in direction: at "
        f"{100 * MOSTLY:g} % of them",
        differs=f"{MODEL} {FEWER_K}",
    ),
    _privacy(
        id="second-best",
        where="Section 6.3, Tables 6 to 9",
        published=partial(printed_lowest, "HyObscure", baselines=True),
        claim="HyObscure has the lowest disclosure risk of the baselines",
        tables=("disclosure_risk",),
        judge=best_of_baselines,
        readings=tuple(BASELINE_RISK),
        differs=f"{CORES} {MODEL} {FEWER_K} HyObscure obfuscates as its authors' program does, "
        "which need not be how the paper ran it.",
    ),
    _privacy(
        id="worst",
        where="Section 6.3, Tables 6 to 9",
        published=partial(printed_lowest, "LD", baselines=True, highest=True),
        claim="LD has the highest disclosure risk of the baselines",
        tables=("disclosure_risk",),
        judge=worst_of_baselines,
        readings=tuple(BASELINE_RISK),
        reason=Tested(
            "LD's classes are larger than those of the riskiest other baseline that groups "
            "people, and its risk is nearer the least possible",
            tables=("beside_chance",),
            by=larger_classes_than_the_riskiest,
            notebook="3_shallow_anonymization",
        ),
    ),
    *(
        _privacy(
            id=f"exposure-{who}",
            where="Table 10",
            claim=f"lowest exposure of the frequent value ({WHO[who]}, mean over k)",
            tables=("table_10",),
            judge=partial(lowest, options=EXPOSURE, who=who, along=("name",), unit=" %"),
            differs=f"{CORES} {MODEL} Table 10 does not name its k; ours are 2, 10, 50 and 100 "
            "(5 and 50 in the quick profile).",
            readings=tuple(EXPOSURE),
            **_asked_of(who),
        )
        for who in WHO
    ),
    _privacy(
        id="at-risk-after",
        where="Table 11",
        claim="fewer records at risk after augmentation",
        published=printed_rest,
        tables=("table_11",),
        judge=few_at_risk,
        differs="Rows are invented until values are equally frequent, where the paper stopped at "
        "about nine tenths: nobody can be left over.",
        spread="no random step",
        tolerance="fewer than before on every table",
        kind="proof",
    ),
    _privacy(
        id="reconstruction",
        where="Section 6.3, Figure 6",
        claim="less reconstruction than with all other methods but HyObscure",
        tables=("figure_6",),
        judge=reconstructed,
        readings=tuple(RECONSTRUCTION),
        reason=Tested(
            "what is generalized less can be restored more",
            tables=("figure_6",),
            by=restored_where_kept,
        ),
        differs=f"{CORES} {MODEL} {FEWER_K} HyObscure is left out, for the paper has it ahead "
        "at some k. Equation 8 defines no number; the attacker knows 25 % of the people, in the "
        "paper various shares.",
    ),
    _privacy(
        id="reconstruction-falls",
        where="Figure 6",
        claim="reconstruction falls with k, for all methods",
        tables=("figure_6",),
        judge=partial(
            falls_with_k,
            options={
                "Eq. 8 as values restored": ("R", "real"),
                "Eq. 8 as similar marginals": ("similarity", "all"),
            },
        ),
        readings=tuple(EQUATION_8),
    ),
    *(
        _utility(
            id=f"distortion-{who}",
            where="Figure 7",
            claim=f"least information loss of all methods for most k ({WHO[who]})",
            tables=("figure_7",),
            judge=partial(least_distortion, who=who),
            readings=tuple(DISTORTION),
            tolerance=FOR_MOST,
            differs=f"{CORES} {NO_AFA} {MODEL} {FEWER_K}",
            **_asked_of(who),
        )
        for who in WHO
    ),
    _utility(
        id="loss-rises",
        where="Figure 7",
        claim="information loss rises with k, for all methods",
        tables=("figure_7",),
        judge=partial(
            falls_with_k,
            rises=True,
            options={
                "baselines anonymize every part": ("DM, every part", "all"),
                "all keep what a class agrees on": ("DM", "all"),
            },
        ),
        readings=("baselines anonymize every part", "all keep what a class agrees on"),
        reason=Tested(
            "the proposed method loses more in pairs, which join people of two values, than in "
            "classes of the next size",
            tables=("figure_7",),
            by=most_lost_in_pairs,
        ),
    ),
    _utility(
        id="generalizations",
        where="Table 12",
        claim="the share of the augmented table's cells that is not generalized is at least the "
        "printed one",
        differs=f"{MODEL} {OWN_LEVELS} {AT_WHICH_K}",
        published=printed_improvements,
        tables=("table_12", "figure_7"),
        judge=cells_saved,
        readings=tuple(COUNTED_AT),
        spread="mean over seeds",
        tolerance="at least the printed share on every table; in direction: some on every table",
    ),
    _utility(
        id="generalizations-real",
        where="Table 12",
        claim="fewer generalizations than cells of the table to be anonymized",
        tables=("table_12", "figure_7"),
        readings=tuple(COUNTED_AT),
        differs="The paper divides by every cell of the augmented table, invented rows and all. "
        f"{MODEL} {OWN_LEVELS} {AT_WHICH_K}",
        spread="mean over seeds",
        tolerance="on every table",
        kind=OURS,
        judge=real_cells_saved,
    ),
    _forest(
        id="repairing",
        where="Figure 8",
        claim="repairing Adult, Stroke and Diabetes raises accuracy (points)",
        published=printed_gains,
        tables=("figure_8",),
        judge=accuracy_gained,
        readings=TEST_ROWS,
        tolerance="on all three tables",
        differs=f"{FORESTS} {TEST_PEOPLE}",
        reason=GIVEN_UP,
    ),
    _forest(
        id="gains",
        where="Figure 8",
        claim="by how many points repairing changes accuracy",
        published=printed_gains,
        tables=("figure_8",),
        judge=gains_as_printed,
        readings=TEST_ROWS,
        tolerance="within 2 points on every table, a margin of ours; in direction: the same signs",
        differs=f"{FORESTS} {TEST_PEOPLE}",
        reason=GIVEN_UP,
    ),
    _forest(
        id="accuracy",
        where="Figure 9",
        claim="higher accuracy than all methods for most k",
        tables=("figure_9",),
        judge=partial(highest, value="accuracy"),
        tolerance=FOR_MOST,
        reason=Tested(
            "its forests name the frequent value less often than those of the most accurate other "
            "method, and the rare one oftener",
            tables=("figure_9",),
            by=names_the_frequent_value_less,
        ),
    ),
    _forest(
        id="balanced-accuracy",
        where="Figure 9",
        claim="confusion matrices more balanced than with all methods",
        tables=("figure_9",),
        judge=highest,
        readings=tuple(WEIGHTS),
        differs=f"{CORES} {FORESTS} {FORESTS_K} How balanced a matrix is the paper does "
        "not define; it is read as the mean of both recalls.",
        reason=Tested(
            "classes of one row of each value (k = 2) teach nothing, and weighing the values "
            "adds more to the other methods, on average, than to this one",
            tables=("figure_9",),
            by=pairs_and_weights,
        ),
    ),
    _forest(
        id="accuracy-falls",
        where="Figure 9",
        claim="accuracy falls with k, for all methods",
        tables=("figure_9",),
        judge=accuracy_falls,
        reason=Tested(
            "where forests get more accurate as k grows, they name the frequent value oftener",
            tables=("figure_9",),
            by=surer_by_the_frequent_value,
        ),
    ),
    _time(
        id="rises-with-k",
        where="Figure 10",
        claim="the time of the proposed method rises with k",
        tables=("figure_10",),
        judge=rises_with_k,
        reason=Tested(
            "a table of n rows is divided into n/k classes, and the time falls in proportion to "
            "their number, up to a constant",
            tables=("figure_10",),
            by=time_goes_with_classes,
        ),
        differs=f"{TUPLES} {TIMED}",
    ),
    _time(
        id="slowest-table",
        where="Figure 10",
        claim="Census takes all methods longest, and Stroke shortest",
        tables=("figure_10",),
        judge=slowest_and_fastest_table,
        differs=f"{TUPLES} {TIMED} {NO_DCA}",
        reason=Tested(
            "the tables that were timed have the same number of rows, before any is invented",
            tables=("steps",),
            by=none_is_larger,
        ),
    ),
    _time(
        id="slowest",
        where="Figure 10",
        claim="HyObscure is the slowest method",
        tables=("figure_10",),
        judge=slowest_method,
        tolerance="not compared",
        differs=f"{TUPLES} {TIMED} {NO_DCA}",
        missing=OTHER_MACHINE,
    ),
    _time(
        id="fastest",
        where="Figure 10",
        claim="LD is faster than the proposed method",
        tables=("figure_10",),
        judge=diversity_is_faster,
        tolerance="not compared",
        differs=f"{TUPLES} {TIMED}",
        missing=OTHER_MACHINE,
    ),
    _time(
        id="clustering",
        where="Section 6.5",
        claim="clustering takes more time than curating data",
        tables=("steps",),
        judge=clustering_takes_longer,
        reason=Tested(
            "the number of epochs, which the paper does not print, does not turn it: training "
            "takes longer even if ten have to do",
            tables=("steps",),
            by=longer_at_ten_epochs,
        ),
    ),
    _unasked(
        id="real-alone",
        where="Theorem 1, Section 5",
        tables=("attackers",),
        claim="no attacker tells real people's values better than by the table's shares alone",
        judge=better_than_the_shares,
    ),
    _unasked(
        id="all-diverse",
        where="Theorem 1",
        tables=("ablation",),
        tolerance=EXACT,
        claim="no real person stands in a class of one value among real people (k = 10)",
        judge=nobody_undiverse,
    ),
    _printed(
        id="bound",
        where="Equation 6",
        claim="no grouping of all rows has an own-value risk below the sum of squared shares",
        tables=("bound_on_groupings",),
        judge=never_below,
        kind=OURS,
        tolerance=EXACT,
    ),
    _printed(
        id="possible-risks",
        where="Tables 6 to 9",
        claim="methods that group real people can have the printed risks, as own-value risks",
        tables=("below_the_bound",),
        judge=cells_possible,
        tolerance="printed to two digits",
        differs="Read as the chance of a person's own value, as the words before Equation 6 have "
        "it; by the equation itself no risk from 0.5 on is impossible.",
    ),
    _printed(
        id="lowest-in-print",
        where="Tables 6 to 9",
        claim="no other method has a lower printed risk than the proposed one",
        tables=("below_the_bound",),
        judge=lowest_in_print,
    ),
    _printed(
        id="table-11-ours",
        where="Tables 11 and 12",
        claim="the printed counts at risk after augmentation follow from the augmented sizes",
        published="5,559, 1,404, 38,730, 16,536",
        tables=("table_11_arithmetic",),
        judge=ours_from_sizes,
        tolerance=f"exact, for every table; in direction: for {100 * MOSTLY:g} % of them",
        differs="Augmented sizes are those of Table 12's cells. Section 6.1 prints about 336K "
        "rows of Census, by which its count follows.",
    ),
    _printed(
        id="table-11-percent",
        where="Table 11",
        claim="the printed percentages are those of the printed counts",
        published=printed_percentages,
        tables=("table_11_arithmetic",),
        judge=percentages,
        tolerance=f"0.01 points; in direction: for {100 * MOSTLY:g} % of them",
        reason=Tested(
            "Diabetes' 45.99 % are 100 % less its share, and Stroke's 16.41 % are of the "
            "augmented rows; neither rule gives Census' 87.50 %",
            tables=("table_11_arithmetic", "table_12_arithmetic"),
            by=percentages_of_other_bases,
        ),
    ),
    _printed(
        id="table-12-improvements",
        where="Table 12",
        claim="the printed improvements follow from the printed counts",
        published=printed_improvements,
        tables=("table_12_arithmetic",),
        judge=improvements_follow,
        tolerance="0.01 points",
    ),
    _printed(
        id="table-12-shares",
        where="Table 12, Section 6.2",
        claim="the proposed counts are all cells but the frequent values of friendly columns",
        tables=("table_12_arithmetic",),
        kind=OURS,
        judge=proposed_from_shares,
        tolerance="0.05 % of all cells, what the rounding of the printed shares allows",
    ),
    _printed(
        id="generalizations-printed",
        where="Table 12",
        claim="by the paper's counts, fewer generalizations than cells to be anonymized",
        tables=("table_12_arithmetic",),
        tolerance="on every table",
        kind=OURS,
        judge=printed_cells_saved,
    ),
    _printed(
        id="table-10-multiples",
        where="Table 10",
        claim="the printed exposures are round multiples of (M - m) / M no oftener than by chance",
        tables=("table_10_arithmetic",),
        judge=no_round_multiples,
        kind=OURS,
        differs="M people have the frequent value and m the other. The unit (M - m) / M was "
        "chosen after the numbers had been seen.",
        tolerance=f"so many or more with a probability above {100 * (1 - LEVEL):.0f} % (Poisson)",
    ),
    *(
        _printed(
            id=name,
            where=where,
            claim=f"the improvement in {quantity} follows from the printed tables, over all eight",
            published=partial(printed_headline, quantity),
            tables=("headlines",),
            judge=partial(follows_from_tables, quantity=quantity),
            tolerance="0.01 points, by any of seven formulas",
            differs="Figure 6 prints no numbers: of reconstruction the printed 43.75 % are taken."
            if name == "three-metrics"
            else "",
        )
        for name, where, quantity in (
            ("risk-of-small", "Section 6.3", "disclosure risk of two small tables"),
            ("risk-of-large", "Section 6.3", "disclosure risk of two large tables"),
            ("three-metrics", "Abstract", "privacy on three metrics"),
        )
    ),
    Claim(
        id="every-reading",
        paper=PAPER,
        notebook="9_every_reading",
        where="Tables 6 to 9",
        claim="the printed risks are measured, by one reading a table",
        tables=("explained_cells",),
        judge=one_reading_fits,
        tolerance="all cells within 0.05, a margin of ours; in direction: more cells than one "
        "constant, on every table",
        reason=Tested(
            "in print the risks of all methods rise and fall together as k grows, in a course "
            "that no reading has",
            tables=("readings",),
            by=print_has_one_course,
        ),
        differs="Most baselines are written anew from abstracts, and of DCA little more than the "
        f"title is known. {MODEL} Each table may choose the best of all readings.",
        spread="one seed",
    ),
    Claim(
        paper=PAPER,
        notebook="9_every_reading",
        id="learnt-from",
        where="Section 4.1.4",
        claim="on Census, a model of fewer people makes rows as like the real ones",
        tables=("learnt_from",),
        judge=as_good_from_fewer,
        tolerance="0.05 in SDV's overall score",
        kind=OURS,
        spread="one model for each number of people",
    ),
)
