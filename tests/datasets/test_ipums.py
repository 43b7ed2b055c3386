"""SAL and OCC from a user's own extract, a csv file."""

from __future__ import annotations

import gzip

import pytest

import anonpaper as ap
from anonpaper.datasets import ipums as module
from anonpaper.datasets import load_ipums
from anonpaper.datasets.acs import SAL_AGES
from anonpaper.errors import ColumnError

IPUMS = """\
YEAR,AGE,SEX,RACE,MARST,BPL,EDUCD,CLASSWKRD,INCTOT,OCC1990
2005,41,2,1,4,36,101,22,31500,95
2005,17,1,2,6,200,50,0,0,999
2005,16,1,2,6,200,40,0,9999999,999
2005,97,2,9,5,6,2,0,-1200,991
2005,30,1,6,1,525,116,27,250000,889
2005,55,1,3,3,110,64,14,99999,3
2005,60,1,7,2,453,71,13,2000,20
"""


FRAME = {
    "Age": [41, 17, 95, 30, 55, 60],
    "Gender": ["Female", "Male", "Female", "Male", "Male", "Male"],
    "Birth Place": ["US state 36", "Americas", "US state 06", "Asia", "US outlying areas",
                    "Europe"],
    "Education": ["Bachelor's degree", "Grade 11", "None", "Doctorate", "GED",
                  "Some college, a year or more"],
    "Income": [30_000, 0, 0, 98_000, 98_000, 2_000],
}  # fmt: skip


@pytest.fixture
def ipums(tmp_path):
    path = tmp_path / "usa_00001.csv"
    path.write_text(IPUMS)
    return path


def test_sal_and_occ_of_an_ipums_extract(ipums):
    m = load_ipums(ipums)
    assert (m.qi, m.sensitive, m.n) == (list(module.VARIABLES), "Income", 6)
    assert {name: m.frame[name].tolist() for name in FRAME} == FRAME
    third = ["Three or more major races", "Widowed", "Not in universe"]
    assert m.frame.loc[2, ["Race", "Marital Status", "Work Class"]].tolist() == third
    assert str(m.origin).startswith("sal: usa_00001.csv (user's extract")
    assert "6 adults of 7 persons" in str(m.origin) and m.origin.substitute_for is None
    packed = ipums.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(ipums.read_bytes()))
    assert load_ipums(packed).frame.equals(m.frame)
    occ = load_ipums(ipums, "occ")  # those with an occupation
    assert occ.sensitive == "Occupation"
    assert occ.frame["Occupation"].tolist() == [80, 880, 0, 20]
    sizes = ap.compendium.reference("xiao2010_tab6_domain_sizes").set_index("attribute")
    for attribute in m.attributes[1:]:  # ages are those that occur
        assert attribute.size == sizes["domain_size"][attribute.name]
    assert SAL_AGES[1] - SAL_AGES[0] + 1 == sizes["domain_size"]["Age"]
    assert sizes["domain_size"]["Occupation"] * module.OCCUPATION_WIDTH == 1000
    drawn = [load_ipums(ipums, rows=3, seed=seed) for seed in (0, 0, 1)]
    assert drawn[0].n == 3 and drawn[0].frame.equals(drawn[1].frame)
    assert not drawn[0].frame.equals(drawn[2].frame)
    assert "3 drawn with seed 1" in str(drawn[2].origin)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("MARST", "MARRIED", "lacks the variables .*MARST.*; it has"),
        ("41,2,1,4", "41,3,1,4", r"SEX .* unknown codes \[3"),
        ("41,2,1,4", "41,2,1,x", "MARST in .*: "),
        ("41,2,1,4,36", "41,2,1,4,", "Birth Place"),
        ("41,2,1,4,36", "41,2,1,4,14", "Birth Place"),  # a number that no state has
    ],
)
def test_bad_extracts_are_named(ipums, old, new, says):
    ipums.write_text(IPUMS.replace(old, new))
    with pytest.raises(ColumnError, match=says):
        load_ipums(ipums)
