"""Every example of sections 1 to 3 of the paper."""

import numpy as np
import pytest

import anonpaper as ap
from anonpaper.constraints import DiversityConstraint as Constraint
from anonpaper.partition.diva.algorithms import build_graph, is_consistent
from anonpaper.partition.diva.clusterings import Clusterings
from anonpaper.partition.diva.targets import Privacy, Targets


def clusterings(sigma, k=2):
    m = ap.examples.patients()
    graph = build_graph(m, sigma)
    return Clusterings(m.codes, Targets.of(m, sigma), Privacy(k), [set(graph[v]) for v in graph])


def rows_of(clustering):
    return [[f"t{row + 1}" for row in bundle.rows] for bundle in clustering]


def test_table_2_is_3_anonymous_and_loses_africans_and_caucasian_women():
    m = ap.examples.patients()
    rel = ap.suppress(m, ap.examples.patients_three_anonymous())
    assert rel.partition.sizes().tolist() == [3, 4, 3]
    assert ap.KAnonymity(3).holds(m, rel.classes.labels)
    assert "African" not in set(rel.frame["ETH"])
    assert set(rel.frame.loc[["t1", "t2", "t3"], "GEN"]) == {"*"}
    assert rel.frame.loc["t4"].tolist() == ["Male", "*", "*", "*", "*", "Migraine"]


@pytest.mark.parametrize("over_bound", ["star", "reject"])
def test_example_3_1_gives_exactly_table_3(over_bound):
    m, sigma = ap.examples.patients(), ap.examples.patients_constraints()
    p = ap.diva(m, sigma, k=2, over_bound=over_bound)
    rel = ap.suppress(m, p)
    expected = {
        "t1": "Female Caucasian * AB Calgary Hypertension",
        "t2": "Female Caucasian * AB Calgary Tuberculosis",
        "t3": "Male Caucasian * * * Osteoarthritis",
        "t4": "Male Caucasian * * * Migraine",
        "t5": "Male African * * * Hypertension",
        "t6": "Male African * * * Seizure",
        "t7": "* * * BC Vancouver Hypertension",
        "t8": "* * * BC Vancouver Seizure",
        "t9": "Female Asian * * * Influenza",
        "t10": "Female Asian * * * Migraine",
    }
    assert {name: " ".join(row) for name, row in rel.frame.astype(str).iterrows()} == expected
    assert p.info["diverse_clusters"] == 3 and p.info["diverse_rows"] == 6
    assert p.info["stars_by_phase"] == {"suppress": 18, "anonymize": 8, "integrate": 0}
    assert ap.measure.stars(rel) == 26
    assert rel.frame.equals(ap.suppress(m, ap.examples.patients_diverse()).frame)


def test_the_clusterings_of_sigma_1_and_sigma_2_are_those_of_section_3_3():
    state = clusterings(ap.examples.patients_constraints())
    assert sorted(map(rows_of, state.listed(0))) == [
        [["t8", "t10"]], [["t8", "t9"]], [["t8", "t9", "t10"]], [["t9", "t10"]]
    ]  # fmt: skip
    assert [rows_of(s) for s in state.listed(1)] == [[["t5", "t6"]]]
    # of sigma_3: six pairs, four triples, one four and three pairs of pairs, of which 2 to 4 rows
    assert len(state.listed(2)) == 14


def test_section_3_2_rejects_three_and_four_with_sigma_4():
    sigma = [ap.examples.patients_constraints()[1], Constraint({"GEN": "Male"}, 1, 3)]
    state = clusterings(sigma)
    africans = [state.bundle(np.array([4, 5]))]
    assert africans[0].adds.tolist() == [2, 2]
    state.add(0, africans)
    assert not is_consistent([state.bundle(np.array([2, 3]))], state)
    # The cluster of sigma_2 satisfies sigma_4 too, so nothing new is needed for it.
    assert list(state.of(1)) == [[]]
    m = ap.examples.patients()
    rel = ap.suppress(m, ap.diva(m, sigma, 2))
    assert all(c.holds(rel) for c in sigma)


def test_example_3_3_the_graph():
    m = ap.examples.patients()
    graph = build_graph(m, ap.examples.patients_constraints())
    targets = [[f"t{row + 1}" for row in graph.nodes[v]["rows"]] for v in graph]
    assert targets == [["t8", "t9", "t10"], ["t5", "t6"], ["t6", "t7", "t8", "t10"]]
    overlaps = {edge: graph.edges[edge]["overlap"].tolist() for edge in graph.edges}
    assert overlaps == {(0, 2): [7, 9], (1, 2): [5]}
