import dewri2009
import numpy as np
import pytest

from anonpaper.compendium.grids import run_grid
from anonpaper.compendium.tables import reference

PROJECTION = ["marital-status", "race", "sex"]


@pytest.fixture(scope="module")
def adult():
    return dewri2009.adult()


def test_adult_has_the_domain_sizes_of_table_1_and_105_bits(adult):
    printed = reference("dewri2009_tab1_domain_sizes")
    assert [a.size for a in adult.attributes] == printed["domain_size"].tolist()
    assert adult.n == 30_162
    assert sum(a.size - 1 for a in adult.attributes) == 105
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


def test_chromosomes_of_the_same_table_are_one_solution(adult):
    setting = {"k_pref": 2, "preference": [0.2, 1.0], "evaluations": 3000, "seed": 0}
    returned = dewri2009.returned_solutions(adult, **setting)
    assert not returned.duplicated(["nwp", "necd", "effective_k"]).any()
    everything = dewri2009.search(adult, **setting).info["non_dominated"]
    assert len(everything) > len(returned)


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
