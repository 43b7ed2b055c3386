"""The claims of Majeed, Hwang: A data-centric l-diversity model (2024).

The paper measures a release with its synthetic rows in it. Where that matters a claim is judged
twice: as published, and for the real people alone. DCA takes part in no comparison: little more
than its title is known.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from anonpaper.papers.claims import Claim, Finding
from anonpaper.papers.judging import EXACT, NOT_TESTABLE, judge_order, judge_statement
from anonpaper.papers.majeed2024.baselines import UNRANKED
from anonpaper.papers.published import reference

__all__ = ["CLAIMS"]

PAPER = "majeed2024"
WHO = {"all": "as published", "real": "real people alone"}

NO_RULE = (
    "the paper pairs every person with one of another value, and so do we; its number does "
    "not follow from the file"
)
ADULT_SLIP = (
    "24,720 - 7,841 = 16,879; the printed number follows from no rule that was tried, "
    "while the other three follow from this one"
)
STROKE_SLIP = (
    "the paper pairs up the 4,861 people of the frequent value alone, rounded up; with "
    "all people there are 5,110 // 2 = 2,555 pairs"
)
INVENTED = (
    "invented rows of the rare value hide nobody once they are taken out: the classes "
    "they made diverse have one value or nearly so"
)
SMALL_ONLY = (
    "lowest for small classes only: larger ones are filled with alike people, mostly of "
    "one value, and distinct 2-diversity asks for a single row of the other"
)
EQUATION_6 = (
    "1 / (number of values) is 0.5 for every 2-diverse class of two values, whatever k; "
    "printed values below 0.5 cannot occur"
)
LESS_GENERAL = (
    "what is generalized less can be restored more; our simulation, since Equation 8 "
    "defines no number"
)
UNLIKE = (
    "pairs join people who differ, and large classes run out of similar ones; AFA is left "
    "out, for its permuted categories count as not generalized"
)
REAL_TEST = (
    "tested on held-out real people, where one value has 76 to 95 % of the rows: "
    "training on balanced rows costs accuracy there; the paper does not describe its "
    "test rows"
)
DENOMINATOR = (
    "the paper divides by every cell of the augmented table, which nobody has to "
    "generalize; against the cells of the table to be anonymized little is saved"
)
OTHER_MACHINE = "another machine and other implementations, here on distinct tuples"


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


# ---- 2_repairing_the_data ---------------------------------------------------------------------


def sizes_as_printed(table_5: pd.DataFrame) -> Finding:
    """Compare the numbers of rows with those of Table 5."""
    same = table_5["rows"] == table_5["printed rows"]
    near = (table_5["rows"] / table_5["printed rows"] - 1).abs() < 0.1
    return Finding(
        _per_table(table_5.set_index("table")["rows"], "{:,.0f}"),
        judge_statement(same.all(), in_direction=near.all()),
    )


def balanced_and_complete(augmentation: pd.DataFrame) -> Finding:
    """Look whether values are equally frequent and all real rows there."""
    balanced, kept = augmentation["balanced"].all(), augmentation["real rows kept"].all()
    return Finding(
        f"balanced: {balanced}; real rows kept: {kept}", judge_statement(balanced and kept)
    )


def paper_balances(table_5: pd.DataFrame) -> Finding:
    """Divide the printed sizes after augmentation by those of a full balance."""
    share = (table_5["printed after"] / table_5["rows after full balance"]).set_axis(
        table_5["table"]
    )
    return Finding(
        _per_table(100 * share, "{:.0f} %") + " of a full balance",
        judge_statement((share == 1).all()),
    )


def closeness(quality: pd.DataFrame) -> Finding:
    """Report SDV's score; there is no published one."""
    overall = quality["Overall"]
    return Finding(f"SDV's overall score {overall.min():.2f} to {overall.max():.2f}", NOT_TESTABLE)


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


# ---- 4_privacy --------------------------------------------------------------------------------


def lowest(figure: pd.DataFrame, *, value: str, who: str = "real") -> Finding:
    """Compare the proposed method with the lowest of all others at every table and k."""
    part = figure[figure["mode"] == "enforce"] if "mode" in figure else figure
    part = part[part["who"] == who] if "who" in part else part
    settings = [column for column in ("name", "k") if column in part]
    wide = part.pivot(index=settings, columns="method", values=value)
    others = wide[_ranked(wide)].min(axis=1)
    return Finding(
        f"proposed {wide['Proposed'].mean():.3f}, lowest other {others.mean():.3f} "
        f"on average; lower in {(wide['Proposed'] <= others).sum()} of {len(wide)}",
        judge_order(wide["Proposed"], others),
    )


def equation_6(disclosure_risk: pd.DataFrame, tables_6_to_9: pd.DataFrame) -> Finding:
    """Compare Equation 6, as printed, with the means of the published numbers."""
    ours = disclosure_risk[
        (disclosure_risk["method"] == "Proposed") & (disclosure_risk["who"] == "all")
    ]["D values"]
    theirs = tables_6_to_9[tables_6_to_9["method"] == "Proposed"].set_index("name")
    gap = (theirs["D values"] - theirs["published"]).abs()
    return Finding(f"{ours.min():.2f} to {ours.max():.2f}", judge_statement((gap < 0.01).all()))


def few_at_risk(table_11: pd.DataFrame) -> Finding:
    """Divide the records at risk after augmentation by those before."""
    before = table_11["existing, by arithmetic"]
    after = table_11["after augmentation, by arithmetic"]
    printed = table_11["after, published (whole table)"]
    return Finding(
        f"{after.sum():,} of {before.sum():,}",
        judge_statement((after == printed).all(), in_direction=(after < before).all()),
    )


# ---- 5_utility --------------------------------------------------------------------------------


def least_distortion(figure_7: pd.DataFrame, *, who: str) -> Finding:
    """Compare distortions with those of all methods that generalize."""
    return lowest(figure_7[figure_7["method"] != "AFA-core"], value="DM", who=who)


def highest(figure_9: pd.DataFrame, *, value: str) -> Finding:
    """Compare the proposed method with the best of all others at every table and k."""
    wide = figure_9.pivot(index=["name", "k"], columns="method", values=value)
    others = wide[_ranked(wide)].max(axis=1)
    return Finding(
        f"proposed {wide['Proposed'].mean():.3f}, best other {others.mean():.3f} on "
        f"average; higher in {(wide['Proposed'] >= others).sum()} of {len(wide)}",
        judge_order(others, wide["Proposed"]),
    )


def accuracy_gained(figure_8: pd.DataFrame) -> Finding:
    """Subtract the accuracy on real rows from that on repaired ones, in points."""
    accuracy = figure_8.pivot(index="name", columns="method", values="accuracy")
    gain = 100 * (accuracy["repaired"] - accuracy["as it is"])
    return Finding(
        _per_table(gain, "{:+.1f}"), judge_order(accuracy["as it is"], accuracy["repaired"])
    )


def cells_saved(table_12: pd.DataFrame) -> Finding:
    """Compare the share of augmented cells left as they are with the printed one."""
    saved = 100 * table_12.set_index("name")["saved of augmented cells"]
    printed = reference("majeed2024_tab12_generalizations").set_index("dataset")["improvement_pct"]
    return Finding(
        _per_table(saved, "{:.1f} %"),
        judge_statement((saved >= printed[saved.index]).all(), in_direction=(saved > 0).all()),
    )


def real_cells_saved(table_12: pd.DataFrame) -> Finding:
    """Look whether fewer cells are generalized than the table to be anonymized has."""
    saved = 100 * table_12.set_index("name")["saved of real cells"]
    return Finding(_per_table(saved, "{:.1f} %"), judge_statement((saved > 0).all()))


# ---- 6_time -----------------------------------------------------------------------------------


def rises_with_k(figure_10: pd.DataFrame) -> Finding:
    """Compare the seconds of the proposed method at the largest k with those at the least."""
    seconds = figure_10[figure_10["method"] == "Proposed"].pivot(
        index="k", columns="name", values="seconds"
    )
    first, last = seconds.iloc[0], seconds.iloc[-1]
    return Finding(
        f"{first.mean():.3f} s at k = {seconds.index[0]}, {last.mean():.3f} s at "
        f"k = {seconds.index[-1]}",
        judge_order(first, last),
    )


def slowest_method(figure_10: pd.DataFrame) -> Finding:
    """Compare the seconds of HyObscure with those of the slowest other at every table and k."""
    wide = figure_10.pivot(index=["name", "k"], columns="method", values="seconds")
    wide = wide[[*_ranked(wide), "Proposed"]]
    others = wide.drop(columns="HyObscure").max(axis=1)
    return Finding(
        f"slowest in {(wide['HyObscure'] >= others).sum()} of {len(wide)}; on average "
        f"{wide.mean().idxmax()} is",
        judge_order(others, wide["HyObscure"]),
    )


def diversity_is_faster(figure_10: pd.DataFrame) -> Finding:
    """Compare the seconds of LD and the proposed method at every table and k."""
    wide = figure_10.pivot(index=["name", "k"], columns="method", values="seconds")
    return Finding(
        f"LD {wide['LD'].mean():.3f} s, proposed {wide['Proposed'].mean():.3f} s "
        "without synthesis",
        judge_order(wide["LD"], wide["Proposed"]),
    )


def clustering_takes_longer(steps: pd.DataFrame) -> Finding:
    """Compare the seconds of the classes with those of the synthetic rows."""
    return Finding(
        f"synthetic rows {steps['synthetic rows'].sum():.1f} s, classes "
        f"{steps['balanced classes'].sum():.2f} s, all tables",
        judge_order(steps["synthetic rows"], steps["balanced classes"]),
    )


# ---- 7_what_the_paper_does_not_ask ------------------------------------------------------------


def one_half(attackers: pd.DataFrame) -> Finding:
    """Compare the chance of the own value with 1/2."""
    risk = attackers.pivot(index=["name", "k"], columns="attacker", values="risk")
    told = risk["all rows"]
    return Finding(
        f"own value: all rows {told.mean():.2f}, real targets {risk['target is real'].mean():.2f}",
        judge_order(told, 0 * told + 0.5),
    )


def better_than_the_shares(attackers: pd.DataFrame) -> Finding:
    """Compare the chance of the own value with the shares' alone, the least a grouping can have.

    The mean of squared shares never falls when real people are divided into classes.
    """
    risk = attackers.pivot(index=["name", "k"], columns="attacker", values="risk")
    told, base = risk["tells invented rows"], risk["knows the shares only"]
    return Finding(
        f"{told.mean():.2f}, with the shares alone {base.mean():.2f}, on average",
        judge_order(told, base),
    )


def nobody_undiverse(ablation: pd.DataFrame, *, published: int) -> Finding:
    """Count the real people in classes of one value among real people."""
    left = ablation[ablation["variant"] == "all modules"].set_index("name")["undiverse rows, real"]
    return Finding(_per_table(left, "{:,.0f}"), judge_statement((left == published).all()))


def _ranked(wide: pd.DataFrame) -> list[str]:
    """Return the methods to compare with, where all settings have a number."""
    return [
        method
        for method in wide.columns
        if method != "Proposed" and method not in UNRANKED and wide[method].notna().all()
    ]


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
_privacy = partial(Claim, paper=PAPER, notebook="4_privacy", spread="one seed; see notebook 7")
_utility = partial(Claim, paper=PAPER, notebook="5_utility", spread="one seed; see notebook 7")
_time = partial(Claim, paper=PAPER, notebook="6_time", reason=OTHER_MACHINE, spread="one run")
_unasked = partial(
    Claim,
    paper=PAPER,
    notebook="7_what_the_paper_does_not_ask",
    reason=INVENTED,
    spread="see the table of seeds",
)

CLAIMS = (
    *(
        _count(
            id=f"at-risk-{name}",
            where="Section 1.2, Table 11",
            claim=f"records of {name} at risk because they cannot be paired",
            published=partial(printed_at_risk, name),
            reason=ADULT_SLIP if name == "adult" else NO_RULE,
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
            reason=STROKE_SLIP if name == "stroke" else NO_RULE,
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
        tolerance="none; in direction: within 10 %",
        spread="no random step",
        reason="the file of Stroke has 5,110 rows, and the paper's own 249 + 4,861 are 5,110",
    ),
    _repair(
        id="balance",
        where="Section 4.1.5",
        claim="after fusion all sensitive values are equally frequent, and no real row is lost",
        tables=("augmentation",),
        judge=balanced_and_complete,
        reason="an error in the code",
    ),
    _repair(
        id="balance-paper",
        where="Tables 5, 11 and 12",
        claim="the paper's own augmented tables are balanced",
        published="equal counts",
        tables=("table_5",),
        judge=paper_balances,
        spread="no random step",
        reason="the sizes printed in Tables 11 and 12 leave a gap of 5,559 (Adult) to 38,730 rows "
        "(Census)",
    ),
    _repair(
        id="quality",
        where="Section 4.1.4",
        claim="synthetic rows are very close to real ones",
        published="higher structural similarity",
        tables=("quality",),
        judge=closeness,
        reason="the paper gives no measure of closeness",
    ),
    _shallow(
        id="theorem-1",
        where="Theorem 1",
        claim="every release is k-anonymous and 2-diverse",
        tables=("checked",),
        judge=promise_kept,
        reason="an error in the code",
    ),
    _shallow(
        id="class-sizes",
        where="Section 4.2.2",
        claim="classes have k to 2k - 1 rows",
        tables=("checked",),
        judge=class_sizes,
        reason="an error in the code",
    ),
    _shallow(
        id="friendly",
        where="Section 6.2",
        tables=("pattern_friendly",),
        judge=lists_agree,
        claim="forest and frequencies agree on the pattern-friendly quasi-identifiers",
        reason="insulin is the most important column of Diabetes, and on Stroke the most frequent "
        "smoking status has 37 % only",
    ),
    *(
        _privacy(
            id=f"disclosure-{who}",
            where="Tables 6 to 9",
            claim=f"lowest disclosure risk of all methods ({WHO[who]})",
            tables=("disclosure_risk",),
            judge=partial(lowest, value="D own", who=who),
            reason=INVENTED if who == "real" else SMALL_ONLY,
        )
        for who in WHO
    ),
    *(
        _privacy(
            id=f"disclosure-some-{who}",
            where="Section 6.3",
            claim=f"the same for an attacker who knows some QIDs ({WHO[who]})",
            tables=("disclosure_risk",),
            judge=partial(lowest, value="D own, some QIDs", who=who),
            reason=INVENTED if who == "real" else SMALL_ONLY,
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
        reason=EQUATION_6,
        tolerance="0.01, mean over k",
        spread="no seed changes it",
    ),
    *(
        _privacy(
            id=f"exposure-{who}",
            where="Table 10",
            claim=f"lowest exposure of the frequent value ({WHO[who]})",
            tables=("table_10",),
            judge=partial(lowest, value="E surplus", who=who),
            reason=INVENTED if who == "real" else SMALL_ONLY,
        )
        for who in WHO
    ),
    _privacy(
        id="at-risk-after",
        where="Table 11",
        claim="fewer records at risk after augmentation",
        published="16 to 19 %",
        tables=("table_11",),
        judge=few_at_risk,
        spread="no random step",
        tolerance="none; in direction: fewer than before on every table",
        reason="the paper's augmentation stopped short of balance; among real people alone "
        "classes of one value remain",
    ),
    _privacy(
        id="reconstruction",
        where="Figure 6",
        claim="least reconstruction of all methods",
        tables=("figure_6",),
        judge=partial(lowest, value="R"),
        reason=LESS_GENERAL,
    ),
    *(
        _utility(
            id=f"distortion-{who}",
            where="Figure 7",
            claim=f"least information loss of all methods ({WHO[who]})",
            tables=("figure_7",),
            judge=partial(least_distortion, who=who),
            reason=UNLIKE,
        )
        for who in WHO
    ),
    _utility(
        id="generalizations",
        where="Table 12",
        claim="fewer generalizations than cells of the augmented table",
        published="45.6, 20.2, 34.7, 27.2 %",
        tables=("table_12",),
        judge=cells_saved,
        tolerance="at least as many saved on every table; in direction: some",
        reason="synthetic rows and levels of hierarchies are not the paper's",
    ),
    _utility(
        id="generalizations-real",
        where="Table 12",
        claim="fewer generalizations than cells of the table to be anonymized",
        tables=("table_12",),
        tolerance="on every table",
        reason=DENOMINATOR,
        judge=real_cells_saved,
    ),
    _utility(
        id="generalizations-printed",
        where="Table 12",
        claim="the same by the paper's own counts",
        tables=("table_12_arithmetic",),
        judge=real_cells_saved,
        tolerance="on every table",
        reason=DENOMINATOR,
        spread="no random step",
    ),
    _utility(
        id="repairing",
        where="Figure 8",
        claim="repairing the data raises accuracy (points)",
        published="adult +14.1, stroke +5.2, diabetes +4.9, census -1.9",
        tables=("figure_8",),
        judge=accuracy_gained,
        reason=REAL_TEST,
    ),
    _utility(
        id="accuracy",
        where="Figure 9",
        claim="higher accuracy than all methods",
        tables=("figure_9",),
        judge=partial(highest, value="accuracy"),
        reason=REAL_TEST,
    ),
    _utility(
        id="balanced-accuracy",
        where="Figure 9",
        claim="confusion matrices more balanced than with all methods",
        tables=("figure_9",),
        judge=partial(highest, value="balanced accuracy"),
        reason="some baselines do as well on Adult, and classes of one row of each value (k = 2) "
        "teach nothing",
    ),
    _time(
        id="rises-with-k",
        where="Figure 10",
        claim="time rises with k",
        tables=("figure_10",),
        judge=rises_with_k,
        reason="fewer, larger classes are less work: every row is compared with as many "
        "candidates",
    ),
    _time(
        id="slowest",
        where="Figure 10",
        claim="HyObscure is the slowest method",
        tables=("figure_10",),
        judge=slowest_method,
    ),
    _time(
        id="fastest",
        where="Figure 10",
        claim="LD is faster than the proposed method",
        tables=("figure_10",),
        judge=diversity_is_faster,
    ),
    _time(
        id="clustering",
        where="Section 6.5",
        claim="clustering takes more time than curating data",
        tables=("steps",),
        judge=clustering_takes_longer,
        reason="training the generative model takes nearly all of the time",
    ),
    _unasked(
        id="lemma-1",
        where="Lemma 1",
        claim="synthetic rows lower disclosure to 1/l",
        published="1/2",
        tables=("attackers",),
        judge=one_half,
        reason="distinct 2-diversity leaves classes lopsided; only classes of even halves reach "
        "1/2",
    ),
    _unasked(
        id="real-alone",
        where="Theorem 1, Section 5",
        tables=("attackers",),
        claim="real people are safer than the table's own shares make them, whoever attacks",
        judge=better_than_the_shares,
    ),
    _unasked(
        id="all-diverse",
        where="Theorem 1",
        tables=("ablation",),
        tolerance=EXACT,
        published=0,
        claim="no real person stands in a class of one value among real people",
        judge=nobody_undiverse,
    ),
)
