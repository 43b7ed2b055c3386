import dewri2009
import pytest

import anonpaper as ap
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
    assert len(ap.Recoding.identity(adult.attributes).encode()) == 105
    assert len(adult.cells) == 13_334


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
