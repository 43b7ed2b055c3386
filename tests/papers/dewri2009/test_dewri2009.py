import dewri2009
import pytest

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


def test_the_optimum_is_efficient(adult):
    for k, preference in ((5, [0.2, 1.0]), (50, [0.2, 0.1])):
        found = dewri2009.efficiency_of_optimum(adult, PROJECTION, k, preference)
        assert found["better in both"] == 0
        assert found["recodings"] == 2**11 >= found["feasible"] >= found["front"] >= 1
