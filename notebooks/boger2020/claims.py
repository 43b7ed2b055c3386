"""Boger: l-diversity for data analysis, data swapping with customized clustering (2020).

"?" is kept here as a 15th occupation of Adult, and the paper counts 14. Each draw has another
order of Adult's 32,561 rows, other swaps and 1,000 other queries, and the paper shows one run.
Queries count both sexes unless sex is the column that varies. With one sex, the paper's Figures 8
and 11 would contradict each other. The published values of Figures 5 and 9 to 12 are read off the
pictures. The author's program departs from the paper's text. The text is judged, and the program
is the other reading. Arbitrary groups are made by the same algorithm with all weights 0. A
generalized row counts every value of its interval or set alike.
"""

import numpy as np
import pandas as pd
from scipy import stats

from anonpaper.compendium import claims as judge
from anonpaper.compendium.claims import Finding, claim, holds, means, span
from anonpaper.compendium.intervals import LEVEL, level_of_each, mean_intervals, share_interval
from anonpaper.compendium.tables import reference

ERROR = "relative error, %"
PROGRAM = "the author's program"
SAME_PEOPLE = "an attacker who learns from the table itself"


@claim("Figures 1 to 3")
def figures_have_their_principles(levels):
    """Figure 1 is 3-anonymous, Figure 2 also 2-diverse, and Figure 3 0.5-theta-diverse too."""
    one, two, three = (levels.set_index("figure").loc[f"Figure {n}"] for n in (1, 2, 3))
    told = [", ".join(f"{of[name]:g}" for of in (one, two, three)) for name in ("l", "theta")]
    return holds(
        one["k"] >= 3, one["l"] < 2, two["k"] >= 3, two["l"] >= 2, two["theta"] > 0.5,
        three["k"] >= 4, three["l"] >= 3, three["theta"] <= 0.5, three["rows left out"] == 0,
        measured=f"l = {told[0]}; theta = {told[1]}",
    )  # fmt: skip


@claim("Section 2.2 and Figure 3")
def true_values_stay_at_most_theta(figure_3):
    """A row of a swapped table shows its true value with probability theta = 0.5 at most."""
    # Counted for Figure 3's group, with 0.02 above theta allowed. By construction, the probability
    # is the share of the value in the group.
    rows = figure_3[figure_3["what"].str.startswith("true value")]
    hits = (rows["probability"] * rows["swaps"]).round().astype(int)
    level = level_of_each(len(rows))
    ends = [share_interval(*both, level=level) for both in zip(hits, rows["swaps"], strict=True)]
    told = f"{rows['probability'].max():.3f} at most"
    return judge.by_intervals(ends, below=0.52, in_part=1, measured=told)


@claim("Section 4.3", quote="outputs clusters containing all input rows, and satisfies these")
def groups_have_all_rows(outcome):
    """Groups contain all rows of Adult and satisfy k = 10, l = 5 (distinct) and theta = 0.3."""
    right = "`rows left out` == 0 & `smallest group` >= 10 & `fewest values` >= 5"
    return _in_most_orders(outcome, right + " & `largest share` <= 0.3")


@claim("Section 4.3", quote="there were no unassigned points in step 4, so M = 0")
def nothing_is_repeated(outcome):
    """Step 4 finds no unassigned rows: the number M of repeats of steps 1 to 3 is 0."""
    return _in_most_orders(outcome, "M == 0")


def _in_most_orders(outcome: pd.DataFrame, right: str) -> Finding:
    """Judge orders of the rows by the text, and the only result by the program."""
    text, program = (runs.eval(right) for runs in _by_reading(outcome))
    return judge.share(text, above=0.5).read_as(PROGRAM, holds(program))


@claim("Section 3.1", quote="The privacy parameters affect this behavior")
def repeats_depend_on_parameters(parameter_runs):
    """For some other privacy parameters steps 1 to 3 are repeated more often."""
    return _more_elsewhere(parameter_runs, "M", "repeats")


@claim("Sections 3.1 and 6", quote="fails to include rows in its output")
def rows_are_lost_elsewhere(parameter_runs):
    """With some other privacy parameters the algorithm fails to include rows."""
    return _more_elsewhere(parameter_runs, "left_out_pct", "% of the rows", (-100, 100))


def _more_elsewhere(runs: pd.DataFrame, column: str, unit: str, within=(-np.inf, np.inf)):
    """Look for parameters with a larger mean than the paper's, which names no others."""
    adult = runs.query("data == 'adult'")
    by_seed = adult.pivot_table(index=["k", "l", "theta"], columns="seed", values=column)
    at_paper, others = by_seed.loc[10, 5, 0.3], by_seed.drop((10, 5, 0.3))
    most = others.mean(axis=1).max()
    told = f"{at_paper.mean():.3g} {unit} at the paper's parameters, up to {most:.3g}"
    more = others - at_paper - 1e-9  # as many are not more
    surest = max(mean_intervals(more, within=within).tolist())
    return judge.by_intervals([surest], above=0, measured=told)


@claim("Figure 5", quote="seem to scale quadratically [...] 35 minutes [...] and 61 hours")
def time_is_quadratic(figure_5):
    """Time grows with the square of the rows: 100,000 take 35 minutes and 1,000,000 61 hours."""
    # Arithmetic on the published points: to a power of 1.8 to 2.2, and within 10 % by a square.
    points = figure_5.query("curve == 'paper' and `thousand rows` > 0")
    rows, seconds = points["thousand rows"], points["seconds"]
    power = stats.linregress(np.log(rows), np.log(seconds)).slope
    factor = (seconds * rows**2).sum() / (rows**4).sum()
    minutes, hours = factor * 100**2 / 60, factor * 1000**2 / 3600
    right = 1.8 <= power <= 2.2, abs(minutes / 35 - 1) <= 0.1, abs(hours / 61 - 1) <= 0.1
    told = f"power {power:.3g}, {minutes:.1f} minutes and {hours:.1f} hours"
    return holds(*right, measured=f"{told}, of the published points")


@claim("Section 4.6")
def whole_selections_have_no_error(all_selected):
    """Queries that select 100 % of every attribute have no error."""
    errors = all_selected["query error"]
    return holds(errors == 0, measured=f"{errors.max():.3g}")


def _errors(runs: pd.DataFrame, value: str = ERROR) -> pd.DataFrame:
    """Return settings x seeds of a table of runs."""
    settings = [name for name in ("varied", "values", "table") if name in runs]
    return runs.pivot_table(value, settings, "seed", sort=False)


def _by_reading(runs: pd.DataFrame) -> list[pd.DataFrame]:
    return [runs[runs["reading"] == reading] for reading in ("text", "program")]


def _both(verdict, text: pd.DataFrame, program: pd.DataFrame) -> Finding:
    """Judge runs by the text, and by the author's program as another interpretation."""
    return verdict(text).read_as(PROGRAM, verdict(program))


@claim("Section 4.7", quote="custom distance metrics perform similarly to the BaseTable")
def defaults_are_similar(default_runs):
    """At default selectivities the four tables' errors are within 20 % of BaseTable's."""

    def similar(runs: pd.DataFrame) -> Finding:
        errors = _errors(runs)
        told = f"in percent of BaseTable's, {judge.listed(errors.mean(axis=1), '{:.1f}')}"
        return means(errors, above=80, below=120, measured=told, show="{:.1f}")

    return _both(similar, *_by_reading(default_runs))


@claim("Figure 8")
def figure_8_could_be_a_run(default_runs):
    """At default selectivities, the printed relative errors could be one more run."""
    printed = reference("boger2020_fig8_default_selectivity").set_index("table").squeeze()
    return _both(lambda of: _could_be_a_run(_errors(of), printed), *_by_reading(default_runs))


@claim("Figures 9, 11 and 12")
def figures_could_be_a_run(figures_9_to_12, program_figures_9_to_12):
    """The published errors by selectivity of race, of sex and of age could be runs of ours."""
    both = figures_9_to_12, program_figures_9_to_12
    return judge.all_of(*(_published(varied, *both) for varied in ("race", "sex", "age")))


@claim("Figure 10")
def figure_10_could_be_a_run(figures_9_to_12, program_figures_9_to_12):
    """The published errors by selectivity of education could be one run of ours."""
    why = "the author's program departs from the text, which raises SexTable's error"
    return _published("education", figures_9_to_12, program_figures_9_to_12, why=why)


def _published(varied: str, text: pd.DataFrame, program: pd.DataFrame, why: str = "") -> Finding:
    """Judge whether the published values could be one run of ours."""
    keys = ["varied_qi", "selectivity_pct", "table"]
    published = reference("boger2020_fig9-12_relative_error").set_index(keys)["relative_error_pct"]

    def fits(errors: pd.DataFrame) -> Finding:
        of = errors[(errors["varied"] == varied) & (errors["table"] != "BaseTable")]
        keys = ["varied", of["selectivity, %"].round(2), "table"]
        return _could_be_a_run(of.pivot_table(ERROR, keys, "seed"), published, why)

    return _both(fits, text, program)


def _could_be_a_run(runs: pd.DataFrame, published: pd.Series, why: str = "") -> Finding:
    """Compare the points that miss the intervals of all other runs: published, and of each run.

    The published run fits if more than one in twenty of ours, itself among them, miss as much.
    """
    values, number = runs.to_numpy(), runs.shape[1]

    def missed(run: np.ndarray, others: np.ndarray) -> int:
        n = others.shape[1]
        half = stats.t.ppf((1 + level_of_each(len(values))) / 2, n - 1)
        half = half * others.std(axis=1, ddof=1) * (1 + 1 / n) ** 0.5
        return int((np.abs(run - others.mean(axis=1)) > half).sum())

    printed = missed(published.reindex(runs.index).to_numpy(), values)
    own = [missed(values[:, i], np.delete(values, i, axis=1)) for i in range(number)]
    as_far = sum(one >= printed for one in own)
    told = f"{printed} of {len(values)} published points miss our intervals"
    told += f", as many as in {as_far} of our {number} runs"
    return holds((as_far + 1) / (number + 1) > 1 - LEVEL, measured=told, why=why)


def _shown_by_run(shows: pd.DataFrame, average: str) -> Finding:
    """Judge what the paper shows of one run by how many of ours show it at every setting."""
    runs = shows.all()
    told = f"{average}; the paper shows one run, and {runs.sum()} of {len(runs)} of ours look so"
    return judge.shown_once(runs, measured=told)


@claim("Section 4.7", quote="At low selectivities for a QI [...] performed best among all tested")
def matching_table_is_best_at_low(figures_9_to_12, program_figures_9_to_12):
    """At the least selectivity of an attribute the matching table has the least error of all."""

    def ahead(errors: pd.DataFrame) -> Finding:
        leads = []
        for varied, of in errors.groupby("varied"):
            wide = of[of["values"] == of["values"].min()].pivot_table(ERROR, "table", "seed")
            wide.loc["BaseTable"] = 100.0
            own = wide.loc[f"{varied.capitalize()}Table"]
            leads.append(wide.drop(own.name) - own)
        lead = pd.concat(leads)
        mean = lead.mean(axis=1)
        return _shown_by_run(
            lead > 0, f"on average it has in {(mean > 0).sum()} of {len(mean)} pairs"
        )

    return _both(ahead, figures_9_to_12, program_figures_9_to_12)


@claim("Section 4.7", quote="at or below 50%, the matching table outperformed the BaseTable")
def matching_table_beats_base(figures_9_to_12, program_figures_9_to_12):
    """Up to a selectivity of 50 %, the matching table has less error than BaseTable."""

    def below(errors: pd.DataFrame) -> Finding:
        own = errors["table"] == errors["varied"].str.capitalize() + "Table"
        low = _errors(errors[(errors["selectivity, %"] <= 50) & own])
        return _shown_by_run(
            low < 100, f"on average {span(low.mean(axis=1), '{:.0f}')} % of BaseTable's error"
        )

    return _both(below, figures_9_to_12, program_figures_9_to_12)


@claim("Figure 10", quote="grows significantly as the education selectivity gets close to 100%")
def education_error_rises(figures_9_to_12, program_figures_9_to_12):
    """EducationTable's error grows from 8 of 16 values of education on, at every step of two."""
    of = "varied == 'education' and table == 'EducationTable' and `values` in [8, 10, 12, 14, 16]"
    return _both(_grows, figures_9_to_12.query(of), program_figures_9_to_12.query(of))


@claim("Figure 11", quote="somewhat present in the SexTable [...] the trend is less clear")
def sex_error_rises(figures_9_to_12, program_figures_9_to_12):
    """SexTable's error is larger with both sexes than with one."""
    of = "varied == 'sex' and table == 'SexTable'"
    return _both(_grows, figures_9_to_12.query(of), program_figures_9_to_12.query(of))


def _grows(runs: pd.DataFrame) -> Finding:
    """Judge whether the mean error grows at every step."""
    errors = _errors(runs).sort_index()
    first, *_, last = errors.mean(axis=1)
    told = f"{first:.0f} % of BaseTable's error, then {last:.0f} %"
    return means(judge.steps(errors, along="values"), above=0, measured=told, show="{:.1f}")


@claim("Section 4.5", quote="varies significantly with how frequent the [...] attributes")
def distance_depends_on_frequency(chi_square_by_rows):
    """The chi-square distance of a query grows with how many rows have the selected values."""
    # At default selectivities, by Spearman's rank correlation over the queries of a run.
    runs = chi_square_by_rows.set_index("seed")
    factor = (runs["most frequent tenth"] / runs["least frequent tenth"]).mean()
    told = f"{factor:.1f} times as large in the most frequent tenth as in the least"
    return means(runs[["rank correlation"]].T, above=0, measured=told)


@claim("Section 4.5", quote="more informative and stable between executions than an absolute")
def relative_error_is_more_stable(default_runs):
    """The error relative to BaseTable's varies less between executions than the chi-square."""
    text, _ = _by_reading(default_runs)
    logs = [np.log(_errors(text, value)) for value in ("chi_square", ERROR)]
    absolute, relative = (part.sub(part.mean(axis=1), axis=0).abs() for part in logs)
    told = [span(part.mean(axis=1), "{:.1%}") for part in (absolute, relative)]
    told = f"chi-square differs from its mean by {told[0]}, the relative error by {told[1]}"
    return means(absolute - relative, above=0, measured=told)


@claim("Section 5", quote="the privacy properties of each")
def known_groups_tell_at_most_theta(guessing):
    """Who knows only a person's group guesses the person's value with probability at most 0.3."""
    worst = guessing["worst_group"]
    return holds(worst <= 0.3 + 1e-9, measured=f"{worst.max():.3f} in the worst group")


@claim("Section 5", quote="ruling out unlikely or implausible values")
def fewer_values_are_implausible(outside_knowledge, background_knowledge):
    """Fewer values of a group can be ruled out in clustered groups than in arbitrary ones."""
    # The attacker learns from other people which occupations are implausible. We chose the kinds
    # of knowledge: which attributes are known, and below which share a value is ruled out.
    out = "share of group ruled out"
    found = _clustered_is_lower(outside_knowledge, out)
    return found.read_as(SAME_PEOPLE, _clustered_is_lower(background_knowledge, out))


@claim("Section 5", quote="improve resilience against attackers with background knowledge")
def clusters_are_more_resilient(outside_knowledge, background_knowledge):
    """Knowledge adds less to the odds of a right guess in clustered groups than in arbitrary ones.

    The paper does not say how it measures resilience.
    """
    guess = "probability of a right guess"
    blind = outside_knowledge.query("knowledge == 'nothing'").set_index(["grouping", "seed"])

    def gain(knowledge: pd.DataFrame) -> Finding:
        without = knowledge.join(blind[guess], on=["grouping", "seed"], rsuffix=" without")
        return _clustered_is_lower(without.eval(f"added = `{guess}` - `{guess} without`"), "added")

    found = gain(outside_knowledge).read_as(SAME_PEOPLE, gain(background_knowledge))
    return found.read_as("the probability itself", _clustered_is_lower(outside_knowledge, guess))


def _clustered_is_lower(knowledge: pd.DataFrame, value: str) -> Finding:
    """Judge whether a value is lower in clustered groups, for every kind of knowledge."""
    kinds = ["grouping", "knowledge", "held implausible below"]
    some = knowledge.query("knowledge != 'nothing'").pivot_table(value, kinds, "seed")
    clustered, arbitrary = some.loc["clustered"], some.loc["arbitrary"]
    told = f"clustered {clustered.mean(axis=None):.3f}, arbitrary {arbitrary.mean(axis=None):.3f}"
    return means(arbitrary - clustered, above=0, measured=f"{told} on average")


@claim("Section 5", quote="a very good chance of succeeding in such a membership test")
def membership_test_succeeds(membership_advantage):
    """With the paper's four attributes, a test in a swapped table has an advantage of one half.

    The paper gives no number. The outsiders are the 16,281 people of Adult's other file.
    """
    advantage, told, outsiders = _with_four(membership_advantage, "swapping")
    why = f"{outsiders} have the same four attributes as somebody in the table"
    return holds(advantage >= 0.5, measured=told, why=why)


def _with_four(membership_advantage: pd.DataFrame, method: str) -> tuple:
    of = membership_advantage.query("method == @method and number_of_qi == 4")
    told = f"advantage {of['advantage'].mean():.2g}"
    return of["advantage"], told, f"{of['outsiders'].mean():.1%} of the outsiders"


@claim("Section 5", quote="the full set of quasi-identifiers [...] in principle")
def membership_tests_work_in_principle(membership_advantage):
    """A membership test finds everybody in a swapped table, and some in a generalized one."""
    # The first by construction.
    by_method = membership_advantage.groupby("method")
    members = by_method["members"].min()["swapping"]
    advantage = by_method["advantage"].max()["generalization"]
    told = f"{members:.0%} of the members; advantage up to {advantage:.2g}"
    return holds(members >= 1, advantage > 0, measured=told)


@claim("Section 5", quote="or in practice")
def generalization_fails_in_practice(membership_advantage):
    """With four attributes, a test in a generalized table has an advantage of one half."""
    advantage, told, outsiders = _with_four(membership_advantage, "generalization")
    why = f"{outsiders} fit the ranges of a class"
    return means(advantage.to_frame().T, above=0.5, measured=told, why=why)


@claim("Section 4.7", quote="education and sex have the highest statistical correlation")
def education_and_sex_correlate_most(correlation):
    """Education and sex correlate more with occupation than race and age (Cramer's V)."""
    # The paper names no measure of correlation.

    def judged(measure: str) -> Finding:
        of = correlation.set_index("attribute")[measure]
        right = of[["race", "age"]].max() <= of[["education", "sex"]].min()
        return holds(right, measured=f"{measure}: {judge.listed(of, '{:.3f}')}")

    found = judged("Cramer's V").read_as("mutual information", judged("mutual information"))
    return found.read_as("phi^2", judged("phi^2"))


@claim("Sections 2.2 and 7")
def clusters_beat_arbitrary_groups(methods):
    """Queries on a table swapped in groups of similar people have less error than in others."""
    swapped = methods.query("method == 'swapping'").replace({"varied": {"none": "default"}})
    errors = swapped.pivot_table("chi-square of a query", ["groups", "varied"], "seed")
    ours, arbitrary = errors.loc["klt"], errors.loc["arbitrary"]
    told = f"{span((ours / arbitrary).mean(axis=1), '{:.2f}')} times the error"
    return means(arbitrary - ours, above=0, measured=told)
