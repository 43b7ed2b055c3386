"""The claims of Xiao, Yi, Tao: The hardness and approximation algorithms for l-diversity (2010).

`thousand stars`, `seconds` and `divergence` are means over all projections of a table on d of its
seven quasi-identifiers; nothing here but the drawing of random instances depends on a seed.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from anonpaper.papers.claims import Claim, Finding
from anonpaper.papers.judging import EXACT, judge_order, judge_rising, judge_statement

__all__ = ["CLAIMS"]

PATIENT = ["Age", "Gender", "Education"]

OTHER_EXAMPLE = "the running example or the algorithm is not the paper's"
COUNTEREXAMPLE = "a counterexample to a theorem: an error in the code"
OTHER_DATA = "OCC and SAL here are built from Census-Income"
OTHER_TDS = "other data (OCC, SAL) and our own reading of TDS; see the table of wins"
OTHER_TIMES = (
    "the sort that finds equal rows, which all three need, takes much of the time "
    "here, small tables fit the processor's caches, and algorithms work on cells, not "
    "on lists of rows"
)


# ---- 1_running_example ------------------------------------------------------------------------


def stars_at_level(
    table: pd.DataFrame, audit: pd.DataFrame, *, column: str, principle: str, published: int
) -> Finding:
    """Count the stars of a table that reaches level 2 of a principle."""
    stars = int((table[PATIENT] == "*").to_numpy().sum())
    level = audit.set_index("principle").loc[principle, column]
    return Finding(
        stars if level >= 2 else f"{stars}, but {principle} {level:g}",
        judge_statement(stars == published and level >= 2),
    )


def adam_is_certain(table: pd.DataFrame, *, published: float) -> Finding:
    """Look up how many of those who look like Adam have his disease."""
    adam = table.set_index("Name").loc["Adam"]
    alike = table[(table[PATIENT] == adam[PATIENT]).all(axis=1)]
    certainty = (alike["Disease"] == adam["Disease"]).mean()
    return Finding(certainty, judge_statement(certainty == published))


def suppressed_rows(table: pd.DataFrame, *, published: int) -> Finding:
    """Count the rows that have a star."""
    found = int((table[PATIENT] == "*").any(axis=1).sum())
    return Finding(found, judge_statement(found == published))


def sub_domains_of_age(table: pd.DataFrame, *, published: int) -> Finding:
    """Count the sub-domains of Age in the table by TDS."""
    found = table["Age"].nunique()
    return Finding(found, judge_statement(found == published))


def last_phase(steps: pd.DataFrame, *, published: int) -> Finding:
    """Look up the phase after which TP's steps end."""
    found = int(steps["step"].iloc[-1].removeprefix("phase "))
    return Finding(found, judge_statement(found == published))


# ---- 2_hardness -------------------------------------------------------------------------------


def matching_iff_few_stars(checked: pd.DataFrame) -> Finding:
    """Compare, instance by instance, the matching with the stars and the matching read off."""
    agree = (checked["has_matching"] == checked["enough stars"]) & (
        checked["has_matching"] == checked["matching_read_off"]
    )
    return _theorem(agree, checked["how often"])


def optimal_in_phase_one(guarantee: pd.DataFrame) -> Finding:
    """Look at the rows that TP suppressed too many when it ended in phase one."""
    part = guarantee[guarantee["phase"] == 1]
    return _theorem(part["largest_extra"] == 0, part["tables"])


def few_more_in_phase_two(guarantee: pd.DataFrame) -> Finding:
    """Look at the rows that TP suppressed too many when it ended in phase two."""
    part = guarantee[guarantee["phase"] == 2]
    return _theorem(part["largest_extra"] <= part["l"] - 1, part["tables"])


def at_most_l_times(guarantee: pd.DataFrame) -> Finding:
    """Compare TP's suppressed rows with l times the optimum."""
    return _theorem(guarantee["largest_ratio"] <= guarantee["l"], guarantee["tables"])


def two_diverse(guarantee: pd.DataFrame) -> Finding:
    """Look at the phases and the superfluous rows for l = 2."""
    part = guarantee[guarantee["l"] == 2]
    return _theorem((part["phase"] < 3) & (part["largest_extra"] <= 1), part["tables"])


def _theorem(holds: pd.Series, cases: pd.Series) -> Finding:
    """Return what was found of a theorem: whether it held, in how many cases."""
    if holds.all():
        return Finding(f"held in all of {cases.sum()} cases", judge_statement(len(holds) > 0))
    return Finding(
        f"failed among {cases[~holds].sum()} of {cases.sum()} cases", judge_statement(False)
    )


# ---- 3_star_minimization ----------------------------------------------------------------------


def stars_rise(figure: pd.DataFrame, *, along: str) -> Finding:
    """Follow the mean stars along l or d, for every table and algorithm."""
    curves = figure.pivot(index=along, columns=["table", "algorithm"], values="thousand stars")
    factor = curves.iloc[-1] / curves.iloc[0]
    return Finding(
        f"x {factor.min():.2f} to x {factor.max():.2f} over the axis", judge_rising(curves)
    )


def _stars(figure: pd.DataFrame, along: str) -> pd.DataFrame:
    """Return the mean stars of each algorithm in a column, by table and setting."""
    return figure.pivot(index=["table", along], columns="algorithm", values="thousand stars")


def below_hilbert(figure_2: pd.DataFrame) -> Finding:
    """Compare TP and TP+ with Hilbert at every l."""
    stars = _stars(figure_2, "l")
    return Finding(
        f"TP at most {(stars['TP'] / stars['Hilbert']).max():.2f} of Hilbert",
        judge_order(stars[["TP", "TP+"]].max(axis=1), stars["Hilbert"]),
    )


def curves_cross(figure_3: pd.DataFrame) -> Finding:
    """Compare TP with Hilbert at the smallest and at the largest d of each table."""
    stars = _stars(figure_3, "d")
    relative = (stars["TP"] / stars["Hilbert"]).unstack("table")
    first, last = relative.iloc[0].max(), relative.iloc[-1].min()
    return Finding(
        f"at most {first:.2f} of Hilbert at the least d, at least {last:.2f} at the largest",
        judge_order([first, 1], [1, last], mostly=1),
    )


def fewest_stars(figure_3: pd.DataFrame) -> Finding:
    """Compare TP+ with the better of TP and Hilbert at every d."""
    stars = _stars(figure_3, "d")
    return Finding(
        f"at most {(stars['TP+'] / stars['Hilbert']).max():.2f} of Hilbert",
        judge_order(stars["TP+"], stars[["TP", "Hilbert"]].min(axis=1)),
    )


def never_more_than_tp(compared: pd.DataFrame) -> Finding:
    """Count the runs in which TP+ has more stars than TP."""
    runs, more = compared[["fewer", "equal", "more"]].to_numpy().sum(), compared["more"].sum()
    return Finding(
        f"in {runs - more} of {runs} runs",
        judge_statement(more == 0, in_direction=more <= 0.2 * runs),
    )


def no_phase_three(phases: pd.DataFrame) -> Finding:
    """Count the runs of TP that ended in phase three."""
    runs, third = phases.filter(like="phase ").to_numpy().sum(), phases["phase 3"].sum()
    return Finding(f"in {third} of {runs} runs", judge_order([third], [0]))


def time_rises(figure: pd.DataFrame, *, along: str, algorithms: list[str]) -> Finding:
    """Compare the seconds at the largest l or d with those at the least."""
    factor = _time_factors(figure, along)[algorithms]
    return Finding(_listed(factor), judge_order(np.ones(len(factor)), factor))


def hilbert_faster_with_l(figure_4: pd.DataFrame) -> Finding:
    """Compare Hilbert's seconds at the largest l with those at the least."""
    factor = _time_factors(figure_4, "l")["Hilbert"]
    return Finding(_listed(factor), judge_order(factor, np.ones(len(factor))))


def hilbert_alike_over_d(figure_5: pd.DataFrame) -> Finding:
    """Compare Hilbert's seconds at the largest d with those at the least."""
    factor = _time_factors(figure_5, "d")["Hilbert"]
    return Finding(_listed(factor), judge_order(abs(factor - 1), np.full(len(factor), 0.25)))


def time_linear_in_rows(figure_6: pd.DataFrame) -> Finding:
    """Fit a power of n to the seconds of every table and algorithm."""
    power = pd.Series(
        [
            np.polyfit(np.log(curve["thousand rows"]), np.log(curve["seconds"]), 1)[0]
            for _, curve in figure_6.groupby(["table", "algorithm"])
        ]
    )
    return Finding(
        f"powers {power.min():.2f} to {power.max():.2f}",
        judge_order(power, np.full(len(power), 1.2)),
    )


def hilbert_faster_than_tp(figure_4: pd.DataFrame) -> Finding:
    """Compare the seconds of Hilbert and TP at every l."""
    seconds = figure_4.pivot(index=["table", "l"], columns="algorithm", values="seconds")
    ratio = (seconds["Hilbert"] / seconds["TP"]).groupby("table").mean()
    return Finding(_listed(ratio), judge_order(seconds["Hilbert"], seconds["TP"]))


def _time_factors(figure: pd.DataFrame, along: str) -> pd.Series:
    """Return the seconds at the largest setting over those at the least, by algorithm, table."""
    curves = figure.pivot(index=along, columns=["algorithm", "table"], values="seconds")
    return curves.iloc[-1] / curves.iloc[0]


def _listed(numbers: pd.Series) -> str:
    """Return numbers with two decimals, one beside the other."""
    return ", ".join(f"{number:.2f}" for number in numbers)


# ---- 4_generalization -------------------------------------------------------------------------


def closer_than_tds(figure: pd.DataFrame, *, along: str) -> Finding:
    """Compare the divergences of TP+ and TDS at every setting."""
    mean = figure.pivot(index=["table", along], columns="algorithm", values="divergence")
    return Finding(
        f"TP+ is {(mean['TP+'] / mean['TDS']).mean():.2f} of TDS on average",
        judge_order(mean["TP+"], mean["TDS"]),
    )


def divergence_rises(figure: pd.DataFrame, *, along: str, algorithms: list[str]) -> Finding:
    """Follow the mean divergence along l or d, for every table."""
    part = figure[figure["algorithm"].isin(algorithms)]
    curves = part.pivot(index=along, columns=["algorithm", "table"], values="divergence")
    ends = curves.iloc[[0, -1]].mean(axis=1)
    return Finding(
        f"{ends.iloc[0]:.2f} to {ends.iloc[1]:.2f} nats on average", judge_rising(curves)
    )


_example = partial(
    Claim,
    paper="xiao2010",
    notebook="1_running_example",
    reason=OTHER_EXAMPLE,
    tolerance=EXACT,
    spread="no random step",
)
_theorem_claim = partial(
    Claim,
    paper="xiao2010",
    notebook="2_hardness",
    reason=COUNTEREXAMPLE,
    tolerance=EXACT,
    spread="over random instances of one seed",
)
_stars_claim = partial(
    Claim,
    paper="xiao2010",
    notebook="3_star_minimization",
    reason=OTHER_DATA,
    spread="no random step; means over projections",
)
_time_claim = partial(
    Claim,
    paper="xiao2010",
    notebook="3_star_minimization",
    reason=OTHER_TIMES,
    spread="one run; means over projections",
)
_divergence_claim = partial(
    Claim,
    paper="xiao2010",
    notebook="4_generalization",
    reason=OTHER_TDS,
    spread="no random step; means over projections",
)

CLAIMS = (
    _example(
        id="table-2",
        where="Table 2",
        claim="2-anonymous with two stars",
        published=2,
        tables=("table_2", "audit"),
        judge=partial(stars_at_level, column="Table 2", principle="k-anonymity"),
    ),
    _example(
        id="homogeneity",
        where="Section 1",
        claim="Adam's disease is certain in Table 2",
        published=1,
        tables=("table_2",),
        judge=adam_is_certain,
    ),
    _example(
        id="table-3",
        where="Section 3",
        claim="2-diverse with 8 stars",
        published=8,
        tables=("table_3", "audit"),
        judge=partial(stars_at_level, column="Table 3", principle="frequency l-diversity"),
    ),
    _example(
        id="rows",
        where="Section 3",
        claim="Table 3 has 4 suppressed rows",
        published=4,
        tables=("table_3",),
        judge=suppressed_rows,
    ),
    _example(
        id="table-4",
        where="Table 4",
        claim="Age has two sub-domains",
        published=2,
        tables=("table_4",),
        judge=sub_domains_of_age,
    ),
    _example(
        id="ends-in-phase-one",
        where="Section 5.2",
        claim="TP ends in phase one",
        published=1,
        tables=("tp_steps",),
        judge=last_phase,
    ),
    _theorem_claim(
        id="reduction",
        where="Lemma 4.5",
        claim="a matching exists iff 3q(t - 1) stars suffice",
        tables=("reduction_checked",),
        judge=matching_iff_few_stars,
    ),
    _theorem_claim(
        id="phase-one",
        where="Corollary 5.9",
        claim="optimal if TP ends in phase one",
        tables=("guarantee",),
        judge=optimal_in_phase_one,
    ),
    _theorem_claim(
        id="phase-two",
        where="Corollary 5.13",
        claim="at most l - 1 rows more in phase two",
        tables=("guarantee",),
        judge=few_more_in_phase_two,
    ),
    _theorem_claim(
        id="ratio",
        where="Theorem 5.19",
        claim="at most l times the optimum",
        tables=("guarantee",),
        judge=at_most_l_times,
    ),
    _theorem_claim(
        id="l-2",
        where="Theorem 5.16",
        claim="for l = 2 no phase three, one row more at most",
        tables=("guarantee",),
        judge=two_diverse,
    ),
    _stars_claim(
        id="stars-l",
        where="Figure 2",
        claim="stars grow with l",
        tables=("figure_2",),
        judge=partial(stars_rise, along="l"),
    ),
    _stars_claim(
        id="tp-hilbert",
        where="Figure 2",
        claim="TP and TP+ below Hilbert at d = 4",
        tables=("figure_2",),
        judge=below_hilbert,
    ),
    _stars_claim(
        id="stars-d",
        where="Figure 3",
        claim="stars grow with d",
        tables=("figure_3",),
        judge=partial(stars_rise, along="d"),
    ),
    _stars_claim(
        id="crossing",
        where="Figure 3",
        claim="TP below Hilbert for small d, above for large d",
        tables=("figure_3",),
        judge=curves_cross,
        tolerance="on both tables",
    ),
    _stars_claim(
        id="tp-plus",
        where="Figure 3",
        claim="TP+ has the fewest stars at every d",
        tables=("figure_3",),
        judge=fewest_stars,
    ),
    _stars_claim(
        id="tp-plus-tp",
        where="Figures 2 and 3",
        claim="TP+ never needs more stars than TP",
        tables=("tp_plus_against_tp",),
        judge=never_more_than_tp,
        spread="no random step; every projection and l",
    ),
    _stars_claim(
        id="phase-three",
        where="Section 6.1",
        claim="phase three is never entered",
        tables=("phases",),
        judge=no_phase_three,
        tolerance=EXACT,
        spread="no random step; every projection and l",
    ),
    _time_claim(
        id="time-hilbert-l",
        where="Figure 4",
        claim="Hilbert gets faster with l (time at the largest l over that at the least)",
        tables=("figure_4",),
        judge=hilbert_faster_with_l,
        tolerance="on every table",
    ),
    _time_claim(
        id="time-tp-l",
        where="Figure 4",
        claim="TP and TP+ get slower with l",
        tables=("figure_4",),
        judge=partial(time_rises, along="l", algorithms=["TP", "TP+"]),
        tolerance="on every table",
    ),
    _time_claim(
        id="time-tp-d",
        where="Figure 5",
        claim="TP and TP+ get slower with d",
        tables=("figure_5",),
        judge=partial(time_rises, along="d", algorithms=["TP", "TP+"]),
        tolerance="on every table",
    ),
    _time_claim(
        id="time-hilbert-d",
        where="Figure 5",
        claim="Hilbert does not depend on d",
        tables=("figure_5",),
        judge=hilbert_alike_over_d,
        tolerance="25 % from d = 1 to 7",
    ),
    _time_claim(
        id="time-n",
        where="Figure 6",
        claim="time grows like n",
        published="power 1",
        tables=("figure_6",),
        judge=time_linear_in_rows,
        tolerance="power at most 1.2",
    ),
    _time_claim(
        id="time-order",
        where="Summary",
        claim="Hilbert is faster than TP (its time over TP's)",
        tables=("figure_4",),
        judge=hilbert_faster_than_tp,
    ),
    _divergence_claim(
        id="kl-l",
        where="Figure 7",
        claim="TP+ below TDS at every l",
        tables=("figure_7",),
        judge=partial(closer_than_tds, along="l"),
    ),
    _divergence_claim(
        id="kl-rises-l",
        where="Figure 7",
        claim="the divergence of TP+ grows with l",
        tables=("figure_7",),
        judge=partial(divergence_rises, along="l", algorithms=["TP+"]),
    ),
    _divergence_claim(
        id="kl-d",
        where="Figure 8",
        claim="TP+ below TDS at every d",
        tables=("figure_8",),
        judge=partial(closer_than_tds, along="d"),
    ),
    _divergence_claim(
        id="kl-rises-d",
        where="Figure 8",
        claim="both get worse with d",
        tables=("figure_8",),
        judge=partial(divergence_rises, along="d", algorithms=["TP+", "TDS"]),
    ),
)
