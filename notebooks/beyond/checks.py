"""Claims of notebooks/beyond. Each is ours, and says what would refute it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from anonpaper.compendium.judge import OURS, Claim, Finding, above_zero
from anonpaper.compendium.intervals import (
    intervals_in_words,
    judge_intervals,
    judge_order,
    judge_share,
    judge_statement,
    level_of_each,
    mean_interval,
    mean_intervals,
    of_draws,
    share_interval,
)
from anonpaper.recoders.branch_and_bound import TOLERANCE

__all__ = ["CLAIMS"]

_OTHERS = ["TP", "TP+", "Hilbert", "Mondrian"]
_WITHIN, _SAVED, _FEW = 1.1, 0.35, 0.05  # set before anything was measured
_FLAT, _STEEP, _GIB = 0.2, 0.9, 64


def none_below_its_bound(
    to_the_bound: pd.DataFrame, known: pd.DataFrame, whole_tables: pd.DataFrame
) -> Finding:
    """Compare all stars with the bound of their table, and bounds with exhaustive optima."""
    below = int((to_the_bound["stars"] < to_the_bound["lower bound"]).sum())
    whole = whole_tables[[*_OTHERS, "TP refined"]]
    below += int(whole.lt(whole_tables["lower bound"], axis=0).to_numpy().sum())
    above = int((known["lower bound"] > known["fewest stars"]).sum())
    return Finding(
        f"{below} of {len(to_the_bound) + whole.size} groupings below, "
        f"{above} of {len(known)} bounds above",
        judge_statement(below == above == 0),
    )


def never_worse(projections: pd.DataFrame) -> Finding:
    """Compare the stars of TP refined with those of TP+, projection by projection."""
    worse = int((projections["TP refined"] > projections["TP+"]).sum())
    return Finding(f"worse on {worse} of {len(projections)}", judge_statement(worse == 0))


def fewest_of_all(projections: pd.DataFrame) -> Finding:
    """Count the projections on which another algorithm needs fewer stars than TP refined."""
    worse = int((projections["TP refined"] > projections[_OTHERS].min(axis=1)).sum())
    share = worse / len(projections)
    return Finding(
        f"worse on {worse} of {len(projections)}",
        judge_statement(worse == 0, in_direction=share <= _FEW),
    )


def others_need_more(to_the_bound: pd.DataFrame) -> Finding:
    """Take over draws what the best other algorithm needs beyond TP refined, at every size."""
    stars = to_the_bound.pivot(index=["asked", "n", "seed"], columns="algorithm", values="stars")
    more = stars.drop(columns="TP refined").min(axis=1) - stars["TP refined"]
    more = more.unstack("seed").dropna(axis=1)
    return above_zero(
        more,
        f"{more.mean(axis=1).min():.3g} to {more.mean(axis=1).max():.3g} stars more",
        [f"{asked}, n = {n}" for asked, n in more.index],
    )


def near_the_bound(to_the_bound: pd.DataFrame) -> Finding:
    """Take over draws how many times its bound TP refined needs at the largest size."""
    part = to_the_bound[to_the_bound["algorithm"] == "TP refined"]
    part = part[part["n"] == part["n"].max()]
    times = part.pivot(index="asked", columns="seed", values="times the lower bound")
    ends = mean_intervals(times)
    return Finding(
        ", ".join(f"{asked}: {mean:.3g} times" for asked, mean in times.mean(axis=1).items()),
        judge_intervals(_WITHIN - ends[:, ::-1]),
        interval=intervals_in_words(ends, times.index, over=of_draws(times.shape[1])),
    )


def saves_on_all_seven(projections: pd.DataFrame) -> Finding:
    """Look up the least share of TP+'s stars that TP refined saves where d is 7 and l is 6."""
    part = projections[(projections["d"] == 7) & (projections["l"] == 6)]
    saved = 1 - part["TP refined"] / part["TP+"]
    return Finding(
        f"{saved.min():.1%} to {saved.max():.1%}", judge_statement(saved.min() >= _SAVED)
    )


def files_and_rows_alike(scanned: pd.DataFrame) -> Finding:
    """Compare what was measured of the release of files and of that of the rows in memory."""
    files, rows = (part.drop(columns="rows are") for _, part in scanned.groupby("rows are"))
    unlike = [name for name in files if files[name].item() != rows[name].item()]
    return Finding(f"different: {', '.join(unlike) or 'nothing'}", judge_statement(not unlike))


def growth_of_cells(memory: pd.DataFrame) -> Finding:
    """Take the power of the rows by which cells grow, for the coarse and for the fine columns."""
    power = memory.set_index("quasi-identifiers")["exponent"]
    coarse, fine = power.filter(like="coarse").item(), power.filter(like="fine").item()
    return Finding(
        f"rows to the power of {coarse:.2g} (coarse), {fine:.2g} (fine)",
        judge_statement(coarse < _FLAT and fine > _STEEP),
    )


def fits_into_memory(memory: pd.DataFrame) -> Finding:
    """Compare the gibibytes of the cells of the most rows with 64, without and with the area."""
    most = memory.set_index("quasi-identifiers").drop(columns="exponent").iloc[:, -1]
    usual, fine = most.filter(like="usual").item(), most.filter(like="fine").item()
    return Finding(
        f"{usual:.3g} GiB without the area, {fine:.3g} GiB with it",
        judge_statement(usual < _GIB < fine),
    )


def estimated_from_above(cells_drawn: pd.DataFrame) -> Finding:
    """Compare the cells of rows that the engine drew with their estimate, at every size."""
    share = cells_drawn["cells"] / cells_drawn["by the estimate"]
    return Finding(
        f"{share.min():.2f} to {share.max():.2f} of the estimate, "
        f"up to {cells_drawn['rows'].max():,} rows",
        judge_order(cells_drawn["cells"], cells_drawn["by the estimate"]),
    )


def _ours(id: str, claim: str, tables: tuple[str, ...], judge, refuted: str, spread: str) -> Claim:
    return Claim(
        id, "beyond", "stars_to_the_optimum", "bears on: xiao2010", claim, tables, judge,
        kind=OURS, tolerance=f"refuted by {refuted}", spread=spread,
        differs="OCC and SAL are made from Census-Income",
    )  # fmt: skip


def _of_cells(id: str, claim: str, table: str, judge, refuted: str) -> Claim:
    return Claim(
        id, "beyond", "large_tables", "bears on: every algorithm on cells", claim, (table,), judge,
        kind=OURS, tolerance=f"refuted by {refuted}", spread="one draw of the people",
        differs="people are drawn from Adult, with jitter and an invented area",
    )  # fmt: skip


_DRAWS, _NO_DRAWS = "draws of the rows", "none: the tables are whole, and nothing is drawn"

CLAIMS = (
    _ours(
        "bound-holds",
        "no grouping has fewer stars than the bound of its table, and no bound is above the "
        "optimum where that is known",
        ("to_the_bound", "known", "whole_tables"),
        none_below_its_bound,
        "one grouping below, or one bound above",
        "one table each",
    ),
    _ours(
        "never-worse",
        "TP refined needs no more stars than TP+, on every projection tried",
        ("projections",),
        never_worse,
        "one projection on which it does",
        _NO_DRAWS,
    ),
    _ours(
        "fewest-of-all",
        "TP refined needs no more stars than TP, TP+, Hilbert and Mondrian, on every projection "
        "tried",
        ("projections",),
        fewest_of_all,
        f"one of them with fewer; on up to {100 * _FEW:g} % of the projections it holds in part",
        _NO_DRAWS,
    ),
    _ours(
        "others-need-more",
        "at every size TP refined needs fewer stars than the best of TP, TP+, Hilbert, Mondrian "
        "and K,L,θ for diversity, and of Mondrian, k-member, OKA and DIVA for anonymity",
        ("to_the_bound",),
        others_need_more,
        "intervals below 0 at more than a fifth of the sizes",
        _DRAWS,
    ),
    _ours(
        "near-the-bound",
        "at the largest size TP refined is within 10 % of the bound on average, and so of the "
        "optimum",
        ("to_the_bound",),
        near_the_bound,
        "an interval above 1.1, of the bound: the optimum may be nearer",
        _DRAWS,
    ),
    _ours(
        "saves-on-seven",
        "at l = 6, on all seven quasi-identifiers, TP refined saves 35 % of the stars of TP+",
        ("projections",),
        saves_on_all_seven,
        "a table of which it saves less",
        _NO_DRAWS,
    ),
    _of_cells(
        "files-and-rows",
        "scanned from files or held in memory, a table has the same cells and its release the "
        "same classes and loss",
        "scanned",
        files_and_rows_alike,
        "one number that differs",
    ),
    _of_cells(
        "growth-of-cells",
        "cells of a few coarse quasi-identifiers stop growing with the rows, those of a fine one "
        "grow almost like them",
        "memory",
        growth_of_cells,
        f"a power of the rows above {_FLAT} for the coarse, or below {_STEEP} for the fine",
    ),
    _of_cells(
        "cells-in-memory",
        f"by their growth, seven usual quasi-identifiers of 10^11 rows have cells of less than "
        f"{_GIB} GiB, and more with an area",
        "memory",
        fits_into_memory,
        f"an estimate on the other side of {_GIB} GiB",
    ),
    _of_cells(
        "upper-estimate",
        "continued by the growth between the last two sizes, the number of cells is estimated "
        "from above",
        "cells_drawn",
        estimated_from_above,
        "more cells than the estimate at more than a fifth of the sizes",
    ),
)


# -- risk_against_a_detector --------------------------------------------------------------------

_EXACT, _PREDICTED, _NOTHING = 0.005, 0.03, 0.01  # set after one draw of 1,000 rows was seen
_PLACE = ["name", "k"]


def _by_seed(runs: pd.DataFrame, column: str, by: list[str] = _PLACE) -> pd.DataFrame:
    return runs.pivot_table(column, by, "seed", sort=False)


def _detected(runs: pd.DataFrame, *publications: str) -> pd.DataFrame:
    """Take what boosting that has learnt from a public table does to some publications."""
    is_it = (runs["attacker"] == "public table") & (runs["sees"] == "value")
    return runs[is_it & (runs["detector"] == "boosting") & runs["publication"].isin(publications)]


def _in_words(frame: pd.DataFrame) -> list[str]:
    return [", ".join(map(str, at if isinstance(at, tuple) else (at,))) for at in frame.index]


def _told(ends: np.ndarray, frame: pd.DataFrame) -> str:
    """Say the intervals of a frame's rows, whose columns are draws."""
    return intervals_in_words(ends, _in_words(frame), over=of_draws(frame.shape[1]))


def _of_range(frame: pd.DataFrame) -> str:
    means = frame.mean(axis=1)
    return " to ".join(dict.fromkeys(f"{mean:.3f}" for mean in (means.min(), means.max())))


def _within(apart: pd.DataFrame, tolerance: float, what: str) -> Finding:
    """Judge whether mean differences lie within a tolerance, on both sides of 0."""
    ends = mean_intervals(apart)
    far, crosses = abs(ends).max(axis=1), (ends[:, 0] <= 0) & (ends[:, 1] >= 0)
    near = np.where(crosses, 0, abs(ends).min(axis=1))
    return Finding(
        f"{what} {_of_range(apart)}",
        judge_intervals(tolerance - np.column_stack([far, near])),
        interval=f"together, over {of_draws(apart.shape[1])}, all within {ends.min():.4f} to "
        f"{ends.max():.4f}",
    )


def formula_is_exact(simulated: pd.DataFrame) -> Finding:
    """Compare formula and drawn scores at every AUC, prior, table and k."""
    apart = _by_seed(
        simulated.assign(apart=simulated["simulated"] - simulated["formula"]), "apart",
        [*_PLACE, "prior", "auc"],
    )  # fmt: skip
    return _within(apart, _EXACT, "simulated less formula")


def formula_predicts(attacks: pd.DataFrame) -> Finding:
    """Compare the formula at a learnt detector's AUC with the risk before that detector."""
    part = _detected(attacks, "paper", "paper, even halves", "paper, people invented")
    apart = _by_seed(
        part.assign(apart=part["risk"] - part["formula"]), "apart", ["publication", *_PLACE]
    )
    return _within(apart, _PREDICTED, "measured less formula")


def knowledge_before_detection(attacks: pd.DataFrame) -> Finding:
    """Compare what knowing which values are invented adds with what a detector adds to that."""
    part = _detected(attacks, "paper")
    known = _by_seed(part, "risk, knows the values")
    first, then = known - _by_seed(part, "risk, counting"), _by_seed(part, "risk") - known
    more = first - then
    ends = mean_intervals(more)
    return Finding(
        f"knowing adds {_of_range(more)} more than the detector",
        judge_intervals(ends),
        interval=_told(ends, more),
        detail=f"knowing adds {_of_range(first)}, the detector {_of_range(then)}",
    )


def written_alike(attacks: pd.DataFrame) -> Finding:
    """Count padded groups whose invented rows are written otherwise, and classes below k."""
    part = attacks[attacks["publication"].str.startswith("padded")]
    part = part.drop_duplicates(["publication", *_PLACE, "seed"])
    apart = int(part["groups told apart"].sum())
    small = int((part["fewest real in a class"] < part["k"]).sum())
    return Finding(
        f"{apart} groups told apart, {small} of {len(part)} releases with fewer than k people",
        judge_statement(apart == small == 0),
    )


def boxes_do_not_move_it(attacks: pd.DataFrame) -> Finding:
    """Compare 1/l with the risk of padded releases before those who count and who see boxes."""
    part = attacks[attacks["publication"].isin(["padded, l = 2", "padded, complement"])]
    risks = [
        part["risk, counting"],
        part.loc[part["sees"] == "box", "risk"],
        part["largest share"],
    ]
    most = max(risk.max() for risk in risks)
    return Finding(f"at most {most:.6f}", judge_statement(most <= 0.5 + 1e-9))


def complement_tells_nothing(attacks: pd.DataFrame) -> Finding:
    """Compare the complement's risk with that of the same attackers without a release."""
    part = _detected(attacks, "padded, complement")
    risk, alone = _by_seed(part, "risk"), _by_seed(part, "risk, public table")
    added = risk - alone
    ends = mean_intervals(added, within=(-1, 1))
    told = float((part["risk, informed"] - part["risk, shares"]).abs().max())
    is_nothing = told < 1e-9  # its last digits are the processor's
    return Finding(
        f"a release adds {_of_range(added)}; informed: "
        + ("what the shares tell" if is_nothing else f"{told:.1g} from the shares"),
        judge_intervals(_NOTHING - ends[:, ::-1]) if is_nothing else judge_statement(False),
        interval=_told(ends, added),
        detail=f"risk {_of_range(risk)}, without a release {_of_range(alone)}",
    )


def _no_worse(attacks: pd.DataFrame, ours: str, theirs: str, losses: dict[str, int]) -> Finding:
    """Compare two publications in several columns, of which some (-1) are better when higher."""
    gains = {
        name: sign * (
            _by_seed(_detected(attacks, theirs), name) - _by_seed(_detected(attacks, ours), name)
        )
        for name, sign in losses.items()
    }  # fmt: skip
    return above_zero(
        every := pd.concat(gains),
        "; ".join(f"{name}: better by {_of_range(gain)}" for name, gain in gains.items()),
        _in_words(every),
    )


def less_distortion(attacks: pd.DataFrame) -> Finding:
    """Compare the distortion of real people's rows at the risk of even halves."""
    return _no_worse(attacks, "padded, l = 2", "paper, even halves", {"distortion": 1})


def no_less_accurate(attacks: pd.DataFrame) -> Finding:
    """Compare accuracies on people held out, at the risk of even halves."""
    return _no_worse(
        attacks, "padded, l = 2", "paper, even halves", {"accuracy": -1, "balanced accuracy": -1}
    )


def less_risk_as_accurate(attacks: pd.DataFrame) -> Finding:
    """Compare a lighter padding with the paper's method as its line 12 is printed."""
    return _no_worse(
        attacks, "padded, l = 1.5", "paper", {"risk, counting": 1, "balanced accuracy": -1}
    )


def _of_detectors(id: str, claim: str, table: str, judge, refuted: str, spread: str) -> Claim:
    return Claim(
        id, "beyond", "risk_against_a_detector", "bears on: majeed2024", claim, (table,), judge,
        kind=OURS, tolerance=f"refuted by {refuted}", spread=spread,
        differs="a Gaussian copula invents rows, or they are people of another draw; not CTGAN",
    )  # fmt: skip


_PEOPLE = "draws of everybody: those published, the attacker's and those held out"

CLAIMS += (
    _of_detectors(
        "formula-is-exact",
        "the formula gives the own-value risk before a detector with binormal scores, at every "
        "AUC tried from 0.5 to 0.99, whether the attacker knows which values are invented or not",
        "simulated",
        formula_is_exact,
        "intervals outside of 0.005 around 0 at more than a fifth of the settings",
        _PEOPLE + ", and of scores",
    ),
    _of_detectors(
        "formula-predicts",
        "at the AUC that a learnt detector has within the rare value, the formula gives the risk "
        "before that detector to 0.03",
        "attacks",
        formula_predicts,
        "intervals outside of 0.03 around 0 at more than a fifth of the settings; where the "
        "AUC moves the formula by less than that, its part is not tested",
        _PEOPLE,
    ),
    _of_detectors(
        "knowledge-before-detection",
        "knowing that only the rare value is invented, and how often, adds more to the risk of "
        "the paper's method than the learnt detector adds to that",
        "attacks",
        knowledge_before_detection,
        "an interval below 0",
        _PEOPLE,
    ),
    _of_detectors(
        "written-alike",
        "in padded groups invented and real rows publish the same quasi-identifiers, and every "
        "class has at least k real people",
        "attacks",
        written_alike,
        "one group or class in which that is not so",
        "none: each release is looked at whole",
    ),
    _of_detectors(
        "boxes-do-not-move-it",
        "padded to l = 2 or by the complement, the risk is at most 1/2 before those who count "
        "rows and before a detector that sees published quasi-identifiers",
        "attacks",
        boxes_do_not_move_it,
        "one release with more",
        "none: each release is looked at whole",
    ),
    _of_detectors(
        "complement-tells-nothing",
        "padded by the complement, a release adds at most 0.01, before a learnt detector that "
        "sees boxes and values, to the risk that exact rows and the attacker's public table give; "
        "and nothing to what the shares tell, by construction",
        "attacks",
        complement_tells_nothing,
        "an interval above 0.01, or a risk of the informed other than by the shares",
        _PEOPLE,
    ),
    _of_detectors(
        "less-distortion",
        "padded to l = 2, the distortion of people's rows is at most that of the paper's method "
        "with even halves, at the same k",
        "attacks",
        less_distortion,
        "an interval below 0",
        _PEOPLE,
    ),
    _of_detectors(
        "no-less-accurate",
        "padded to l = 2, forests are at least as accurate on people held out as from the paper's "
        "method with even halves",
        "attacks",
        no_less_accurate,
        "an interval below 0",
        _PEOPLE,
    ),
    _of_detectors(
        "less-risk-as-accurate",
        "padded to l = 1.5, the risk before those who count is at most that of the paper's method "
        "and the balanced accuracy at least its own",
        "attacks",
        less_risk_as_accurate,
        "an interval below 0",
        _PEOPLE,
    ),
)


# ---- diva_phases ------------------------------------------------------------------------------

_DEMANDS = ["demand on rows", "demand on gaps"]
_AUC, _FREED, _FOUND, _PROVED = 0.9, 0.05, 0.9, 0.75  # set before these draws were made


def none_above_one(sets: pd.DataFrame) -> Finding:
    """Count sets with a demand above 1 that have a table, and releases that break a promise."""
    above = sets[_DEMANDS].max(axis=1) > 1
    met, broken = int((above & (sets["exists"] == "yes")).sum()), int((~sets["holds"]).sum())
    return Finding(
        f"{met} of {int(above.sum())} sets; {broken} releases break a promise",
        judge_statement(met == broken == 0),
    )


def law_predicts(laws: pd.DataFrame) -> Finding:
    """Take the interval of the AUC over held-out draws, table by table."""
    part = laws[laws["law"] == "two demands"]
    ends = part[["low", "high"]].to_numpy()
    return Finding(
        ", ".join(f"{row['table']}: {row['AUC']:.3f}" for _, row in part.iterrows()),
        judge_intervals(ends - _AUC),
        interval=intervals_in_words(ends, part["table"], over=of_draws(part["draws"])),
    )


def law_beats_numbers(laws: pd.DataFrame) -> Finding:
    """Take the interval of the difference of AUCs over held-out draws, table by table."""
    part = laws[laws["law"].str.startswith("slack")]
    ends = part[["more low", "more high"]].to_numpy()
    area = laws.pivot(index="table", columns="law", values="AUC").loc[part["table"]]
    theirs, ours = area[part["law"].iloc[0]], area["two demands"]
    return Finding(
        ", ".join(f"{table}: {more:.3f} more" for table, more in (ours - theirs).items()),
        judge_intervals(ends),
        interval=intervals_in_words(ends, part["table"], over=of_draws(part["draws"])),
        detail="AUC "
        + ", ".join(
            f"{table}: {ours[table]:.3f} against {theirs[table]:.3f}" for table in area.index
        ),
    )


def _per_table(values: pd.DataFrame, name: str, least=None, most=None, within=(0, 1)) -> Finding:
    """Take over draws the mean of a column by table, and compare the intervals with a number."""
    means = values.groupby(["table", "seed"], sort=False)[name].mean()
    tables = means.index.unique("table")
    level = level_of_each(len(tables))
    ends = np.array([mean_interval(means[table], level=level, within=within) for table in tables])
    return Finding(
        ", ".join(f"{table}: {means[table].mean():.1%}" for table in tables),
        judge_intervals(ends - least if most is None else most - ends[:, ::-1]),
        interval=intervals_in_words(
            ends, tables, "{:.1%}", over=of_draws([len(means[table]) for table in tables])
        ),
    )


def slack_frees_few(sets: pd.DataFrame) -> Finding:
    """Take over draws the share of sets that have a table with the most slack alone."""
    keys = ["table", "seed", "conflict", "share", "k"]
    by_slack = sets.pivot(index=keys, columns="slack", values="exists")
    by_slack = by_slack[(by_slack != "not decided").all(axis=1)]
    freed = (by_slack.iloc[:, 0] == "no") & (by_slack.iloc[:, -1] == "yes")
    return _per_table(freed.rename("freed").reset_index(), "freed", most=_FREED)


def extended_finds_more(sets: pd.DataFrame) -> Finding:
    """Take over draws the share of sets found by the extended rule less that by the literal."""
    found = {rule: sets[f"{rule}: outcome"] == "found" for rule in ("literal", "extended")}
    more = found["extended"].astype(float) - found["literal"]
    return _per_table(sets.assign(more=more), "more", least=0, within=(-1, 1))


def literal_reaches(sets: pd.DataFrame) -> Finding:
    """Take over draws, of the sets that have a table, the share that the literal rule finds."""
    there = sets[sets["exists"] == "yes"]
    found = there.assign(found=there["literal: outcome"] == "found")
    return _per_table(found, "found", least=_FOUND)


def refuted_without_solver(sets: pd.DataFrame) -> Finding:
    """Take over draws, of the sets without a table, the share that a demand above 1 refutes."""
    none = sets[(sets["exists"] == "no") & ~sets["at sight"]]
    return _per_table(none.assign(proved=none[_DEMANDS].max(axis=1) > 1), "proved", least=_PROVED)


def l_costs_stars(with_l: pd.DataFrame) -> Finding:
    """Take over draws the stars a row at the greatest l less those without, on the same sets."""
    stars = with_l.pivot(index=["seed", "conflict"], columns="asked", values="stars").dropna()
    more = (stars.iloc[:, -1] - stars["k"]).groupby("seed").mean()
    return Finding(
        f"{more.mean():.3g} stars a row more at {stars.columns[-1]}, on "
        f"{of_draws(len(stars), 'sets')} of {of_draws(len(more))}",
        judge_intervals([ends := mean_interval(more)]),
        interval=ends,
    )


def apart_keeps_k(invented: pd.DataFrame) -> Finding:
    """Count people in classes of fewer than k people, by way and release."""
    found = invented[invented["outcome"] == "found"].groupby("way")["exposed"]
    apart, counted = (
        found.get_group("in groups of their own"),
        found.get_group("counted as people"),
    )
    return Finding(
        f"apart: at most {apart.max():.0f} people; counted: {counted.min():.0f} to "
        f"{counted.max():.0f}",
        judge_statement(
            apart.max() == 0 and counted.min() > 0,
            in_direction=bool(apart.max() == 0 and counted.mean() > 0),
        ),
    )


def _of_diva(id: str, claim: str, table: str, judge, refuted: str, spread="draws") -> Claim:
    return Claim(
        id, "beyond", "diva_phases", "bears on: diva2021", claim, (table,), judge,
        kind=OURS, tolerance=f"refuted by {refuted}", spread=spread,
        differs="sets of constraints are drawn by us, at our sizes",
    )  # fmt: skip


CLAIMS += (
    _of_diva(
        "none-above-one",
        "no set of constraints has a table where one of its two demands is above 1, and every "
        "table published is k-anonymous and satisfies its set",
        "diva_sets",
        none_above_one,
        "one set that has a table, or one table that breaks a promise",
        "one set each",
    ),
    _of_diva(
        "demands-predict",
        "a logistic law of the two demands, fitted on Census, tells sets with a table from those "
        "without: AUC at least 0.9 on draws and tables that it has not seen",
        "diva_laws",
        law_predicts,
        "an interval below 0.9",
    ),
    _of_diva(
        "demands-beat-numbers",
        "the law of two demands tells them apart better than one of slack, conflict rate, M / n "
        "and k s / n",
        "diva_laws",
        law_beats_numbers,
        "an interval below 0",
    ),
    _of_diva(
        "refuted-without-solver",
        "of the sets without a table that no look refutes, a demand above 1 refutes three in four",
        "diva_sets",
        refuted_without_solver,
        "an interval below 75 %",
    ),
    _of_diva(
        "slack-frees-few",
        "at most 5 % of all sets have a table with the most slack, and none with equal bounds",
        "diva_sets",
        slack_frees_few,
        "an interval above 5 %",
    ),
    _of_diva(
        "extended-finds-more",
        "the extended rule finds tables for more sets than the literal one, in the same budget",
        "diva_sets",
        extended_finds_more,
        "an interval below 0",
    ),
    _of_diva(
        "literal-reaches",
        "of the sets that have a table, the literal rule finds one for nine in ten in its budget",
        "diva_sets",
        literal_reaches,
        "an interval below 90 %",
    ),
    _of_diva(
        "l-costs-stars",
        "l-diversity costs DIVA stars, on the same sets",
        "diva_l",
        l_costs_stars,
        "an interval below 0",
    ),
    _of_diva(
        "apart-keeps-k",
        "invented rows in groups of their own leave nobody among fewer than k people; counted as "
        "people they do, in every release",
        "diva_invented",
        apart_keeps_k,
        "one person; or, counted as people, nobody in any release (nobody in some: holds in part)",
        "one release each",
    ),
)

# -- certified_optimum: the searches of dewri2009 ------------------------------------------------

_ABOVE, _OF_FRONT = 0.05, 0.95  # set before gaps and shares were computed


def every_optimum_proved(certified: pd.DataFrame) -> Finding:
    """Look whether branch and bound closed the gap at every k."""
    gap = certified["ach"] - certified["lower bound"]
    return Finding(
        ", ".join(f"k = {k}: {ach:.5f}" for k, ach in certified.set_index("k")["ach"].items()),
        judge_statement(bool(certified["optimal"].all() and (gap <= 2 * TOLERANCE).all())),
        detail=f"{certified['nodes'].min():,} to {certified['nodes'].max():,} nodes",
    )


def none_below_what_is_proved(arrivals: pd.DataFrame, gaps_by_k: pd.DataFrame) -> Finding:
    """Compare what searches found with the lower bound at their k."""
    runs = pd.concat([arrivals, gaps_by_k])[["ach", "lower bound"]].dropna()
    below = int((runs["ach"] < runs["lower bound"]).sum())
    return Finding(f"{below} of {len(runs)} runs", judge_statement(below == 0))


def least_found_is_least(arrivals: pd.DataFrame) -> Finding:
    """Compare the least ach of all runs with the optimum."""
    least, optimum = arrivals["ach"].min(), arrivals["optimum"].iloc[0]
    return Finding(
        f"{least:.5f}, optimum {optimum:.5f}", judge_statement(least <= optimum + TOLERANCE)
    )


def most_arrive(arrivals: pd.DataFrame, *, method: str, arrived: str) -> Finding:
    """Count the runs of a search that arrive within their evaluations."""
    there = arrivals.loc[arrivals["method"] == method, arrived].notna()
    number, runs = int(there.sum()), len(there)
    return Finding(
        f"{number} of {runs} runs",
        judge_share(number, runs, at_least=0.5),
        interval=share_interval(number, runs),
    )


def refined_is_sooner(arrivals: pd.DataFrame) -> Finding:
    """Compare the evaluations to within 1 %; a run that never arrives counts with all it had."""
    runs = arrivals.assign(needed=arrivals["within 1 %"].fillna(arrivals["evaluations"]))
    needed = runs.pivot(index="seed", columns="method", values="needed")
    fewer = needed["dewri2009"] - needed["refined"]
    never = int(arrivals.loc[arrivals["method"] == "dewri2009", "within 1 %"].isna().sum())
    low, high = mean_interval(fewer)
    return Finding(
        f"{fewer.mean():,.0f} fewer",
        judge_intervals([(low, high)]),
        interval=f"{low:,.0f} to {high:,.0f} over {of_draws(len(fewer), 'seeds')}",
        detail=f"{needed['refined'].mean():,.0f} against {needed['dewri2009'].mean():,.0f}, where "
        f"{never} runs as printed never arrive and count with all they had",
    )


def within_a_few_percent(gaps_by_k: pd.DataFrame) -> Finding:
    """Take over seeds by which share the search as printed ends above the optimum, at every k."""
    gap = gaps_by_k.pivot(index="k", columns="seed", values="gap")
    ends = mean_intervals(gap, within=(0, np.inf))
    return Finding(
        ", ".join(f"k = {k}: {mean:.1%}" for k, mean in gap.mean(axis=1).items()),
        judge_intervals(_ABOVE - ends[:, ::-1]),
        interval=intervals_in_words(
            ends, [f"k = {k}" for k in gap.index], "{:.1%}", over=of_draws(gap.shape[1], "seeds")
        ),
    )


def most_of_the_front(fronts: pd.DataFrame) -> Finding:
    """Take over seeds the share of the hypervolume, for every projection and search."""
    share = fronts.pivot(index=["projection", "method"], columns="seed", values="hypervolume")
    ends = mean_intervals(share, within=(0, 1))
    return Finding(
        f"{share.mean(axis=1).min():.3f} to {share.mean(axis=1).max():.3f}",
        judge_intervals(ends - _OF_FRONT),
        interval=intervals_in_words(
            ends, [f"{of}, {by}" for of, by in share.index], over=of_draws(share.shape[1], "seeds")
        ),
    )


def _of_optimum(id: str, claim: str, tables: tuple[str, ...], judge, refuted: str, spread: str):
    return Claim(
        id, "beyond", "certified_optimum", "bears on: dewri2009", claim, tables, judge,
        kind=OURS, tolerance=f"refuted by {refuted}", spread=spread,
        differs="the paper prints no taxonomies, which decide what can be joined: all are ours",
    )  # fmt: skip


_PROOF, _SEEDS = "none: a proof, without a random step", "seeds of the searches"

CLAIMS += (
    _of_optimum(
        "optima-proved",
        "branch and bound proves the least ach of Adult at every k tried",
        ("certified",),
        every_optimum_proved,
        "one k at which a gap stays open",
        _PROOF,
    ),
    _of_optimum(
        "none-below",
        "no run of any search has an ach below the lower bound of its k: as printed at every k, "
        "refined and hill climbing at k = 5",
        ("arrivals", "gaps_by_k"),
        none_below_what_is_proved,
        "one run below",
        _SEEDS,
    ),
    _of_optimum(
        "best-known-is-least",
        "the least ach that any of the searches finds is the least there is, at k = 5",
        ("arrivals",),
        least_found_is_least,
        "a proved optimum below the least one found",
        _SEEDS,
    ),
    _of_optimum(
        "printed-comes-close",
        "at least half of the runs of the search as printed come within 1 % of the optimum, at "
        "k = 5",
        ("arrivals",),
        partial(most_arrive, method="dewri2009", arrived="within 1 %"),
        "an interval of the share below one half",
        _SEEDS,
    ),
    _of_optimum(
        "refined-arrives",
        "at least half of the runs of the refined search reach the optimum itself, at k = 5",
        ("arrivals",),
        partial(most_arrive, method="refined", arrived="at the optimum"),
        "an interval of the share below one half",
        _SEEDS,
    ),
    _of_optimum(
        "refined-is-sooner",
        "the refined search comes within 1 % of the optimum in fewer evaluations than the search "
        "as printed, at k = 5",
        ("arrivals",),
        refined_is_sooner,
        "an interval of the difference below 0",
        _SEEDS,
    ),
    _of_optimum(
        "few-percent-above",
        "at every k the search as printed ends, on average, within 5 % of the optimum",
        ("gaps_by_k",),
        within_a_few_percent,
        "intervals above 5 % at more than a fifth of the k",
        _SEEDS,
    ),
    _of_optimum(
        "front-seen",
        "every search sees, on average, 95 % of the hypervolume of the exact front of loss and "
        "bias, on every projection",
        ("fronts",),
        most_of_the_front,
        "intervals below 95 % at more than a fifth of the projections and searches",
        _SEEDS,
    ),
)
