import beyond_diva_phases as phases
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import anonpaper as ap
from anonpaper.compendium import intervals, judge
from anonpaper.constraints import DiversityConstraint as Constraint

LAWS = "demands-predict", "demands-beat-numbers"
CLAIMS = {entry.id: entry for entry in judge.of_paper("beyond")}


def judged(id, table):
    (finding,) = CLAIMS[id].found(table)
    return finding


def people(rows=90, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "sex": rng.choice(["Female", "Male"], rows),
        "race": rng.choice(["White", "Black", "Other"], rows, p=[0.7, 0.28, 0.02]),
        "town": rng.choice(list("abcd"), rows),
        "job": rng.choice(list("uvwxyz"), rows),
    })  # fmt: skip
    return {"people": ap.Microdata(frame, ["sex", "race", "town"], "job")}


def one(**changes):
    given = dict(table="people", rows=60, number=4, conflict=0.5, share=0.95, slack=0, k=4,
                 seed=0, max_backtracks=5, max_seconds=60)  # fmt: skip
    return phases.a_set(people(), **given | changes)


@pytest.mark.parametrize("l", [None, 2])
def test_what_is_said_of_a_set_agrees_with_itself(l):
    grid = [(seed, share, k) for seed in range(4) for share in (0.5, 0.95) for k in (2, 8)]
    sets = pd.DataFrame([one(seed=seed, share=share, k=k, l=l) for seed, share, k in grid])
    assert sets["holds"].all() and set(sets["exists"]) == {"yes", "no"}
    for rule in phases.RULES:
        assert (sets.loc[sets[f"{rule}: outcome"] == "found", "exists"] == "yes").all()
    proved = sets["at sight"] | (sets[phases.LAWS["two demands"]].max(axis=1) > 1)
    assert (sets.loc[proved, "exists"] == "no").all()
    assert (sets.loc[sets["at sight"], "by"] == "at sight").all()
    assert sets["stars"].notna().equals(sets["extended: outcome"] == "found")


def test_the_program_decides_where_the_budget_of_the_search_does_not():
    m = people()["people"].sample(60, 0)
    white = Constraint({"sex": "Male", "race": "White"}, 24, 24)
    possible = [Constraint({"sex": "Male"}, 4, 20)]
    impossible = [Constraint({"sex": "Male"}, 25, 25), white]
    rel = phases.decided_by_program(m, possible, 4, None, 60)
    assert phases.keeps(rel, possible, 4, None) and not phases.keeps(rel, impossible, 4, None)
    assert not phases.keeps(rel, possible, m.n + 1, None)
    assert phases.decided_by_program(m, impossible, 4, None, 60) is None


def test_the_jackknife_of_a_mean_over_draws_is_students_interval():
    values = pd.DataFrame({"seed": range(6), "x": [1.0, 2.0, 4.0, 3.0, 5.0, 1.5]})
    wanted = stats.ttest_1samp(values["x"], 0).confidence_interval(0.9)
    anything = (-np.inf, np.inf)

    def mean(some):
        return some["x"].mean()

    assert phases.over_draws(values, mean, anything, 0.9) == pytest.approx(tuple(wanted))
    assert phases.over_draws(values, lambda some: np.nan, (0, 9)) == (0, 9)
    assert phases.over_draws(values.head(1), mean, anything) == anything


def test_an_interval_over_draws_stays_within_what_there_is_and_needs_a_spread():
    values = pd.DataFrame({"seed": range(3), "x": [0.8, 1.0, 1.0]})
    low, high = phases.over_draws(values, lambda some: some["x"].mean(), (0, 1))
    assert high == 1 and 0 < low < 0.9
    assert phases.over_draws(values.assign(x=1.0), lambda some: some["x"].mean(), (0, 1)) == (0, 1)


def test_an_interval_over_draws_is_no_point_where_the_bias_leads_beyond_what_there_is():
    values = pd.DataFrame({"seed": range(6), "x": np.arange(6.0)})

    def biased(some):
        return 1 - 1 / len(some) ** 2 + some["x"].mean() / 1e3

    assert phases.over_draws(values, biased, (0, 1)) == (biased(values), 1)
    assert phases.over_draws(values.assign(x=0.0), biased, (0, 1)) == (0, 1)


def drawn(table, seeds, rng):
    """Sets whose answer the demand on rows decides, with a little noise."""
    n = 30 * len(seeds)
    demand = rng.uniform(0.5, 1.2, n)
    return pd.DataFrame({
        "table": table, "seed": np.repeat(seeds, 30), "demand on rows": demand,
        "demand on gaps": rng.uniform(0, 0.5, n), "slack": rng.choice([0, 0.2], n),
        "conflict rate": rng.uniform(0, 1, n), "share": rng.choice([0.7, 0.95], n),
        "log k s / n": rng.normal(size=n), "at sight": rng.random(n) < 0.1,
        "exists": np.where(demand + rng.normal(0, 0.04, n) > 1, "no", "yes"),
    })  # fmt: skip


def test_laws_are_fitted_on_some_draws_and_judged_on_others():
    rng = np.random.default_rng(0)
    sets = pd.concat([drawn("census", range(9), rng), drawn("adult", range(5), rng)])
    sets.iloc[0, sets.columns.get_loc("exists")] = "not decided"
    asked = phases.predict(sets, range(3))
    assert set(asked.loc[asked["table"] == "census", "seed"]) == {3, 4, 5, 6, 7, 8}
    assert set(asked.loc[asked["table"] == "adult", "seed"]) == {0, 1, 2, 3, 4}
    assert not asked["at sight"].any()
    laws = phases.held_out(asked).set_index(["table", "law"])
    assert (laws.xs("two demands", level="law")["AUC"].between(0.96, 0.9999)).all()
    assert (laws.xs("always", level="law")[["AUC", "low", "high"]] == 0.5).all(axis=None)
    assert laws[["low", "high"]].stack().between(0, 1).all() and (laws["low"] < 1).all()
    assert (laws.xs("two demands", level="law")[["more", "more low", "more high"]] == 0).all(
        axis=None
    )
    assert (laws["sets"].groupby("table").first() == asked.groupby("table").size()).all()
    findings = [judged(id, laws.reset_index()) for id in LAWS]
    assert [finding.verdict for finding in findings] == ["reproduced", "reproduced"]
    by = laws.xs("slack, conflict, share, k s / n", level="law")["more"]
    assert all(f"{table}: {more:.3f} more" in findings[1].measured for table, more in by.items())
    assert all("over 5 to 6 draws" in finding.interval for finding in findings)
    turned = asked.assign(exists=asked["exists"].map({"yes": "no", "no": "yes"}))
    turned = phases.held_out(turned)
    assert {judged(id, turned).verdict for id in LAWS} == {"not reproduced"}


def test_people_and_invented_rows_are_measured_apart():
    runs = pd.DataFrame(phases.augmented(people(), "people", "race", 80, 12, 4, 0, 60))
    runs = runs.set_index("way")
    assert runs.loc["people alone", "outcome"] == "no table"
    found = runs[runs["outcome"] == "found"]
    assert found["holds"].all() and (found["invented rows"] > 0).all()
    assert (found["shown: people"] + found["shown: invented"] >= 12).all()
    assert (found["shown: people"] <= found["rarest value"]).all()
    assert runs.loc["in groups of their own", "exposed"] == 0
    assert runs.loc["in groups of their own", "fewest people"] >= 4
    assert judged("apart-keeps-k", runs.reset_index()).verdict == "reproduced"
    exposed = runs.assign(exposed=1).reset_index()
    assert judged("apart-keeps-k", exposed).verdict == "not reproduced"


def table(**columns):
    rows = {"table": ["census"] * 200, "seed": np.repeat(range(100), 2), "conflict": 0.4,
            "share": 0.7, "k": 5, "slack": [0, 0.2] * 100, "at sight": False, "holds": True,
            "demand on rows": 0.5, "demand on gaps": 0.5, "exists": "yes",
            "literal: outcome": "found", "extended: outcome": "found"}  # fmt: skip
    return pd.DataFrame(rows | columns)


def test_two_draws_that_agree_leave_a_share_undecided():
    two = table().head(8).assign(seed=[0, 0, 0, 0, 1, 1, 1, 1])
    two["literal: outcome"] = ["found", "found", "found", "budget used up"] * 2
    finding = judged("literal-reaches", two)
    assert finding.measured == "census: 75.0%" and finding.verdict == "undecided"
    assert "over 2 draws" in finding.interval


def test_claims_about_sets_can_fail():
    assert judged("none-above-one", table()).verdict == "reproduced"
    assert judged("none-above-one", table(**{"demand on gaps": 1.1})).verdict == "not reproduced"
    assert judged("none-above-one", table(holds=False)).verdict == "not reproduced"
    assert judged("slack-frees-few", table()).verdict == "reproduced"
    assert judged("slack-frees-few", table(exists=["no", "yes"] * 100)).verdict == "not reproduced"
    missed = table(**{"literal: outcome": "no table"})
    assert judged("literal-reaches", table()).verdict == "reproduced"
    assert judged("literal-reaches", missed).verdict == "not reproduced"
    assert judged("extended-finds-more", missed).verdict == "reproduced"
    worse = table(**{"extended: outcome": "budget used up"})
    assert judged("extended-finds-more", worse).verdict == "not reproduced"
    proved = table(exists="no", **{"demand on rows": 1.2})
    assert judged("refuted-without-solver", proved).verdict == "reproduced"
    assert judged("refuted-without-solver", table(exists="no")).verdict == "not reproduced"


def test_l_is_said_to_cost_stars_only_where_it_does():
    columns = {"seed": [0, 0, 1, 1, 2, 2], "conflict": 0.4, "asked": ["k", "k, l = 4"] * 3}
    runs = pd.DataFrame(columns | {"stars": [1, 2, 1, 2.1, 1, 1.9]})
    assert judged("l-costs-stars", runs).verdict == "reproduced"
    less = runs.assign(stars=-runs["stars"])
    assert judged("l-costs-stars", less).verdict == "not reproduced"


def test_saved_intervals_are_judged_like_the_draws_behind_them():
    rng = np.random.default_rng(3)
    draws = [rng.normal(mean, 0.1, 6) for mean in (0.1, 0.2)]
    level = intervals.level_of_each(len(draws))
    rows = [
        {"table": str(i), "law": "slack, conflict, share, k s / n", "draws": 6,
         "more": part.mean(), "more low": low, "more high": high}
        for i, part in enumerate(draws)
        for low, high in [intervals.mean_interval(part, level=level)]
    ]  # fmt: skip
    found, alike = judged(LAWS[1], pd.DataFrame(rows)), intervals.Settings(draws)
    assert found.verdict == alike.verdict
    assert found.needed() == alike.needed()
    assert found.interval == alike.words(["0", "1"], over="6 draws")
