import networkx as nx
import numpy as np
import pytest

import anonpaper as ap
from anonpaper import errors
from anonpaper.constraints import conflict_rate, find_contradictions
from anonpaper.papers.diva2021 import protocol


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


def test_example_3_4_backtracks_once_and_ends_with_the_diverse_clustering():
    _, steps = protocol.figure_3_steps()
    assert [(s["action"], s["node"], s["clusters"]) for s in steps] == [
        ("colour", 1, [["t9", "t10"]]),
        ("colour", 3, [["t6", "t7"]]),
        ("reject", 2, [["t5", "t6"]]),
        ("backtrack", 3, [["t6", "t7"]]),
        ("colour", 3, [["t7", "t8"]]),
        ("colour", 2, [["t5", "t6"]]),
    ]
    assert steps[-1]["coloured"] == {
        1: [["t9", "t10"]], 3: [["t7", "t8"]], 2: [["t5", "t6"]]
    }  # fmt: skip
