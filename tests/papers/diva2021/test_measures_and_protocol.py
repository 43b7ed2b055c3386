import networkx as nx
import numpy as np
import pytest

import anonpaper as ap
from anonpaper import errors
from anonpaper.constraints import conflict_rate, find_contradictions
from anonpaper.datasets import population
from anonpaper.papers.diva2021 import protocol


def test_discernibility_penalizes_classes_below_k_and_rows_withheld():
    m = ap.examples.patients()
    rel = ap.suppress(m, ap.Partition([0, 0, 0, 1, 1, 1, 1, 2, 2, -1]))
    assert ap.measure.penalized_discernibility(rel, 1) == 9 + 16 + 4 + 10
    assert ap.measure.penalized_discernibility(rel, 3) == 9 + 16 + 20 + 10
    one_group = ap.suppress(m, ap.Partition([0] * 10))
    assert ap.measure.penalized_discernibility(one_group, 2) == 100


def test_accuracy_is_1_at_the_optimum_and_0_or_least_for_one_class():
    m = ap.examples.patients()
    best = ap.suppress(m, ap.examples.patients_diverse())
    worst = ap.suppress(m, ap.Partition([0] * 10))
    for of in ("ratio", "range", "log"):
        assert ap.measure.discernibility_ratio(best, 2, of) == 1
    assert ap.measure.discernibility_ratio(worst, 2) == pytest.approx(20 / 100)
    assert (
        ap.measure.discernibility_ratio(worst, 2, "range")
        == ap.measure.discernibility_ratio(worst, 2, "log")
        == 0
    )
    assert ap.measure.discernibility_ratio(worst, 2, "stars") == pytest.approx(0)
    assert (
        ap.measure.discernibility_ratio(worst, 10)
        == ap.measure.discernibility_ratio(worst, 10, "log")
        == 1
    )
    with pytest.raises(errors.ParameterError, match="f1"):
        ap.measure.discernibility_ratio(best, 2, "f1")


def test_accuracy_uses_classes_of_equal_published_rows():
    m = ap.Microdata(ap.examples.patients().frame, ["GEN", "PRV"])
    rel = ap.suppress(m, ap.Partition([0, 0, 1, 1, 1, 1, 1, 0, 0, 0]))
    assert rel.classes.n_groups == 2
    assert ap.measure.discernibility_ratio(rel, 5) == 1


def test_values_kept_counts_stars_and_shown_values_of_each_group():
    m = ap.examples.patients()
    rel = ap.suppress(m, ap.examples.patients_three_anonymous())
    kept = ap.measure.values_kept(rel, "GEN").set_index("GEN")
    shown = (rel.frame["GEN"] != "*").groupby(m.frame["GEN"]).mean()
    stars = (rel.frame == "*").sum(axis=1).groupby(m.frame["GEN"]).mean()
    for value in ("Male", "Female"):
        assert kept.loc[value, "shown"] == pytest.approx(shown[value])
        assert kept.loc[value, "stars_per_row"] == pytest.approx(stars[value])
    by_diagnosis = ap.measure.values_kept(rel, "DIAG")
    assert list(by_diagnosis) == ["DIAG", "rows", "stars_per_row"]
    assert by_diagnosis["rows"].sum() == 10


@pytest.mark.parametrize("distribution", ["uniform", "zipf", "gaussian"])
def test_the_population_has_the_distribution_asked_for(distribution):
    m = population(distribution)
    assert (m.n, m.d, m.frame.shape[1]) == (100_000, 6, 7)
    share = np.bincount(m.codes[:, m.attribute_index("ethnicity")]) / m.n
    place = np.arange(1, 6)
    weight = {"uniform": np.ones(5), "zipf": 1 / place,
              "gaussian": np.exp(-((place - 3) ** 2) / (2 * 1.25**2))}[distribution]  # fmt: skip
    assert share == pytest.approx(weight / weight.sum(), abs=0.006)
    assert m.frame.equals(population(distribution).frame)
    assert not m.frame.equals(population(distribution, seed=1).frame)


def test_an_unknown_distribution_is_refused():
    with pytest.raises(errors.ParameterError, match="cauchy"):
        population("cauchy")
    with pytest.raises(errors.ParameterError, match="rows"):
        population(rows=0)


@pytest.mark.parametrize("name", ["pantheon", "census", "german"])
@pytest.mark.parametrize("rule", ["minimum", "average", "proportion"])
def test_the_constraint_files_hold_what_the_rules_give(name, rule):
    from_file = protocol.constraint_set(name, rule)
    by_rule = protocol.constraints_by_rule(name, rule)
    assert [str(c) for c in from_file] == [str(c) for c in by_rule]
    assert find_contradictions(ap.load(name), from_file, k=20) == []


def test_the_sets_have_the_sizes_of_table_4():
    published = ap.papers.reference("diva2021_tab4_datasets").set_index("dataset")
    names = ("pantheon", "census", "german", "popsyn")
    for name, theirs in zip(names, published.index, strict=True):
        counted = protocol.table_4(name)
        assert counted["constraints"] == published.loc[theirs, "constraints"]
        assert counted["rows"] == published.loc[theirs, "rows"]


@pytest.mark.parametrize("rate", [0, 0.2, 0.5, 1])
def test_sets_are_found_with_the_conflict_rate_asked_for(rate):
    m = ap.load("census", rows=20_000)
    sigma = protocol.constraints_with_conflict(
        m, 8, rate, attributes=["sex", "race", "marital stat", "education"], total=10_000
    )
    assert len(set(sigma)) == 8
    assert conflict_rate(m, sigma) == pytest.approx(rate, abs=0.03)
    with pytest.raises(errors.ParameterError, match="targets have 200 rows"):
        protocol.constraints_with_conflict(m, 99, rate, attributes=["sex"])


def test_a_run_reports_what_its_release_has():
    m = ap.load("census", rows=5_000)
    sigma = protocol.constraints_with_conflict(
        m, 4, 0.2, attributes=["sex", "race", "marital stat"], total=2_500
    )
    row = protocol.run_diva(m, sigma, 10, "max_fan_out", seed=0)
    rel = ap.suppress(m, ap.diva(m, sigma, 10))
    assert row["stars"] == ap.measure.stars(rel) and row["satisfied"] == 1
    assert row["accuracy"] == ap.measure.discernibility_ratio(rel, 10)
    cut_short = protocol.run_diva(m, sigma, 10, "basic", seed=0, max_backtracks=0)
    assert cut_short["outcome"] == "budget used up" and "accuracy" not in cut_short
    for algorithm in protocol.BASELINES:
        assert protocol.run_baseline(m, sigma, 10, algorithm, seed=0)["satisfied"] < 1


def test_the_graph_of_figure_3_is_that_of_figure_2():
    graph, _ = protocol.figure_3_steps()
    assert nx.is_connected(graph) and sorted(graph.edges) == [(0, 2), (1, 2)]


def test_the_tables_of_the_figures_have_their_roles_only():
    tables = protocol.figure_tables(["german", "zipf"], population_rows=50)
    german = ap.load("german")
    assert tables["zipf"].n == 50
    assert list(tables["german"].frame) == [*german.qi, german.sensitive]
    assert np.array_equal(tables["german"].codes, german.codes)
    assert str(tables["german"].origin) == str(german.origin)
