import dewri2009
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper import plots
from anonpaper.compendium import judge
from anonpaper.compendium.grids import run_grid
from anonpaper.compendium.tables import reference
from anonpaper.datasets import trees

CLAIMS = {entry.id: entry for entry in judge.of_paper("dewri2009")}
PROJECTION = ["marital-status", "race", "sex"]


@pytest.fixture(scope="module")
def adult():
    return dewri2009.adult()


@pytest.fixture(scope="module")
def solutions(adult):
    return ap.exhaustive(adult.with_roles(qi=PROJECTION), 5).info["evaluated"]


def test_adult_has_the_domain_sizes_of_table_1_and_105_bits(adult):
    printed = reference("dewri2009_tab1_domain_sizes")
    assert [a.size for a in adult.attributes] == printed["domain_size"].tolist()
    assert adult.n == 30_162
    assert len(ap.Recoding.identity(adult.attributes).encode()) == 105
    assert len(adult.cells) == 13_334


def test_empty_intervals_belong_to_the_domain(adult):
    age = adult.attribute("age")
    rows = np.bincount(adult.codes[:, 0], minlength=20)
    assert age.size == 20 and age.ordered and np.count_nonzero(rows) == 16
    assert (age.values[0].left, age.values[-1].right) == (0, 100)


def test_every_value_has_a_place_in_its_taxonomy(adult):
    for name, groups in dewri2009.TAXONOMIES.items():
        listed = [value for values in groups.values() for value in values]
        assert len(listed) == len(set(listed))
        assert adult.attribute(name).values.tolist() == listed


def test_trees_have_groups_and_columns_have_short_names():
    assert dewri2009.taxonomy("race").names(1) == ["largest groups", "smaller groups"]
    assert dewri2009.short_name("groups native-country") == "groups ncy"
    assert dewri2009.short_name("ach") == "ach"


def test_the_reported_solution_is_among_the_returned_ones(adult):
    setting = {"k_pref": 10, "preference": [0.2, 1.0], "evaluations": 500, "seed": 0}
    returned = dewri2009.returned_solutions(adult, **setting)
    reported = returned[returned["reported"]]
    best = dewri2009.reported_solution(adult, **setting)
    assert len(reported) >= 1 and reported["feasible"].all()
    assert (reported["ach"] == best["ach"]).all()
    assert best["ach"] == returned.loc[returned["feasible"], "ach"].min()


def test_chromosomes_of_the_same_table_are_one_solution(adult):
    setting = {"k_pref": 2, "preference": [0.2, 1.0], "evaluations": 3000, "seed": 0}
    returned = dewri2009.returned_solutions(adult, **setting)
    assert not returned.duplicated(["nwp", "necd", "effective_k"]).any()
    everything = dewri2009.search(adult, **setting).info["non_dominated"]
    assert len(everything) > len(returned)


def test_the_other_home_of_value_groups_knows_the_same_values():
    for name, groups in dewri2009.TAXONOMIES.items():
        if name in trees.LEVELS["adult"]:
            other = {row[0] for row in trees._trees()["adult", name]}
            assert {value for values in groups.values() for value in values} <= other


def test_weights_are_taken_in_the_order_of_the_attributes(adult):
    weights = [0.0] * 8 + [1.0]  # salary class alone matters, and can be published as it is
    best = dewri2009.reported_solution(
        adult, k_pref=5, preference=[0.2, 1.0], weights=weights, evaluations=2000, seed=0
    )
    assert best["nwp"] == 0 and best["groups salary-class"] == 2


def test_no_gap_is_negative_and_processes_change_nothing(adult, monkeypatch, tmp_path):
    grid = [
        {"attributes": PROJECTION, "k_pref": 5, "preference": [0.2, 1.0], "method": method,
         "evaluations": 300, "seed": seed}
        for method in ("paper", "refined", "hill climbing") for seed in (0, 1)
    ]  # fmt: skip
    found = []
    for workers in (1, 2):
        monkeypatch.setenv("ANONPAPER_CACHE", str(tmp_path / str(workers)))
        found.append(
            run_grid(dewri2009.distance_to_optimum, grid, common={"m": adult}, workers=workers)
        )
    alone, together = found
    assert alone.equals(together)
    assert (alone["gap"] >= 0).all()


def test_the_optimum_is_efficient(adult):
    for k, preference in ((5, [0.2, 1.0]), (50, [0.2, 0.1])):
        found = dewri2009.efficiency_of_optimum(adult, PROJECTION, k, preference)
        assert found["better in both"] == 0
        assert found["recodings"] == 2**11 >= found["feasible"] >= found["front"] >= 1


def test_the_hypervolume_never_falls(adult):
    course = dewri2009.course_of_search(adult, 5, [0.2, 1.0], "paper", 1000, seed=0)
    assert course["hypervolume"].is_monotonic_increasing
    assert course["hypervolume"].between(0, 1).all() and course["hypervolume"].iloc[-1] > 0
    assert course["at"].iloc[-1] == 1000


def test_the_picture_marks_the_chosen_solution(solutions):
    figure, ax = plots.subplots()
    chosen = dewri2009.draw_choice(ax, solutions, 50, (0.2, 0.1))
    (marked,) = [line for line in ax.get_lines() if line.get_label() == "chosen"]
    assert marked.get_xydata().tolist() == [[chosen["nwp"], chosen["necd"]]]
    plt.close(figure)


@pytest.mark.parametrize(
    "unique, verdict",
    [((60, 62), "reproduced"), ((60, 30), "not reproduced"), ((30, 60), "not reproduced")],
)
def test_similar_numbers_are_neither_much_larger_nor_much_smaller(unique, verdict):
    runs = pd.DataFrame(
        {"population": size, "seed": seed, "unique": number + seed}
        for size, number in zip((100, 500), unique, strict=True)
        for seed in range(10)
    )
    (found,) = CLAIMS["unique-similar"].found(runs)
    assert found.verdict == verdict
