import diva2021
import pytest

import anonpaper as ap
from anonpaper import errors
from anonpaper.constraints import conflict_rate, find_contradictions


@pytest.fixture(scope="module")
def census():
    return diva2021.figure_tables(["census"])


@pytest.mark.parametrize("name", ["pantheon", "census", "german"])
@pytest.mark.parametrize("rule", ["minimum", "average", "proportion"])
def test_the_constraint_files_hold_what_the_rules_give(name, rule):
    from_file = diva2021.constraint_set(name, rule)
    by_rule = diva2021.constraints_by_rule(name, rule)
    assert [str(c) for c in from_file] == [str(c) for c in by_rule]
    assert find_contradictions(ap.load(name), from_file, k=20) == []


def test_the_sets_have_the_sizes_of_table_4():
    published = ap.compendium.reference("diva2021_tab4_datasets").set_index("dataset")
    names = ("pantheon", "census", "german", "popsyn")
    for name, theirs in zip(names, published.index, strict=True):
        counted = diva2021.table_4(name)
        assert counted["constraints"] == published.loc[theirs, "constraints"]
        assert counted["rows"] == published.loc[theirs, "rows"]


@pytest.mark.parametrize("rate", [0, 0.2, 0.5, 1])
def test_sets_are_found_with_the_conflict_rate_asked_for(rate):
    m = ap.load("census", rows=20_000)
    sigma = diva2021.constraints_with_conflict(
        m, 8, rate, attributes=["sex", "race", "marital stat", "education"], total=10_000
    )
    assert len(set(sigma)) == 8
    assert conflict_rate(m, sigma) == pytest.approx(rate, abs=0.03)
    with pytest.raises(errors.ParameterError, match="targets have 200 rows"):
        diva2021.constraints_with_conflict(m, 99, rate, attributes=["sex"])


def test_a_run_without_a_table_counts_as_a_table_of_stars():
    m = ap.load("census", rows=2_000)
    sigma = [ap.DiversityConstraint({"sex": "Female"}, 100, 200)]
    row = diva2021.measured(m, None, sigma, 10)
    assert row["stars"] == m.n * m.d and row["discernibility"] == m.n
    assert [row[f"accuracy{of}"] for of in ("_log", "_range", "_stars")] == [0, 0, 0]
    assert row["accuracy"] == pytest.approx(10 / m.n) and row["satisfied"] is None
    found = diva2021.measured(m, ap.mondrian(m, 10), sigma, 10)
    assert all(found[name] > row[name] for name in row if name.startswith("accuracy"))


def test_a_run_reports_what_its_release_has():
    m = ap.load("census", rows=5_000)
    sigma = diva2021.constraints_with_conflict(
        m, 4, 0.2, attributes=["sex", "race", "marital stat"], total=2_500
    )
    _, p = diva2021.run_diva(m, sigma, 10, "max_fan_out", seed=0)
    row, rel = diva2021.measured(m, p, sigma, 10), ap.suppress(m, ap.diva(m, sigma, 10))
    assert row["stars"] == ap.measure.stars(rel) and row["satisfied"] == 1
    assert row["accuracy"] == ap.measure.discernibility_ratio(rel, 10)
    cut_short, p = diva2021.run_diva(m, sigma, 10, "basic", seed=0, max_candidates=0)
    assert cut_short["outcome"] == "budget used up" and p is None
    for algorithm in diva2021.BASELINES:
        _, p = diva2021.run_baseline(m, 10, algorithm, seed=0)
        assert diva2021.measured(m, p, sigma, 10)["satisfied"] < 1


def test_example_3_4_backtracks_once_and_ends_with_the_diverse_clustering():
    _, steps = diva2021.figure_3_steps()
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
