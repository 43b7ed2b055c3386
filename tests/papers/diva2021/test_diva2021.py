import diva2021
import pytest

import anonpaper as ap
from anonpaper import errors
from anonpaper.constraints import conflict_rate


@pytest.fixture(scope="module")
def census():
    return diva2021.figure_tables(["census"])


@pytest.mark.parametrize(("name", "number"), [("pantheon", 24), ("census", 31), ("german", 18)])
def test_the_published_lists_are_on_columns_and_values_of_our_files(name, number):
    # Table 4 counts 21 on Census: without ten pairs of sex and race.
    m, lists = (
        diva2021.data_set(name),
        [diva2021.constraint_set(name, c) for c in diva2021.CLASSES],
    )
    assert sum(map(len, lists)) == number == diva2021.table_4(name)["constraints"]
    assert all(c.target_rows(m).any() for sigma in lists for c in sigma)


def test_published_lists_that_no_table_satisfies_are_found_out_with_the_reason():
    tables = {name: diva2021.data_set(name) for name in ("pantheon", "german")}
    found = diva2021.published_lists(tables, [20]).set_index(["data", "constraints"])
    assert found["outcome"].tolist() == ["no table", "no table", "found"] * 2
    assert "only 1495 rows" in found.loc[("pantheon", "average"), "why"]
    assert "groups of k = 20" in found.loc[("german", "minimum"), "why"]


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


def test_a_run_reports_what_its_release_has():
    m = ap.load("census", rows=5_000)
    sigma = diva2021.constraints_with_conflict(
        m, 4, 0.2, attributes=["sex", "race", "marital stat"], total=2_500, slack=0.2
    )
    _, p = diva2021.run_diva(m, sigma, 10, "max_fan_out", 0, 1_000)
    row, rel = (
        diva2021.measured(m, p, sigma, 10),
        ap.suppress(m, ap.diva(m, sigma, 10, over_bound="reject")),
    )
    assert row["stars"] == ap.measure.stars(rel) and row["satisfied"] == 1
    assert row["accuracy"] == ap.measure.discernibility_ratio(rel, 10)
    cut_short, p = diva2021.run_diva(m, sigma, 10, "basic", seed=0, max_candidates=0)
    assert cut_short["outcome"] == "no table found" and p is None
    assert diva2021.measured(m, None, sigma, 10) == {}
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
