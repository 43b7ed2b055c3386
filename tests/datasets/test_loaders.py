"""Every data set: rows, columns, known counts, roles; stand-ins, extracts and made-up people."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.datasets import StandInWarning, acs, available, load_ipums, population, voter_list
from anonpaper.datasets.loading import registry
from anonpaper.errors import ColumnError, DatasetUnavailableError
from anonpaper.owner.cli import main

#: Data set -> columns, distinct values per role column (QI in order, then SA), and counts of
#: the sensitive attribute or of its most frequent value.
FACTS = {
    "adult": (15, [73, 16, 5, 2, 15], {"Prof-specialty": 4140, "?": 1843}),
    "german": (21, [4, 4, 3, 2, 2], {"good": 700, "bad": 300}),
    "census": (43, [2, 91, 9, 7, 5, 17, 43, 53, 2], {"-50000": 280717, "50000+": 18568}),
    "diabetes": (50, [6, 3, 10, 14, 118, 4, 2], {"Yes": 78363, "No": 23403}),
    "stroke": (12, [3, 104, 2, 5, 2, 4, 2], {0: 4861, 1: 249}),
    "pantheon": (23, [2, 5093, 197, 8, 8], {"INSTITUTIONS": 3456, "ARTS": 2866}),
    "occ": (8, [76, 2, 5, 7, 43, 16, 7, 46], {2: 13112, 26: 11701}),
    "sal": (8, [79, 2, 9, 6, 56, 17, 9, 50], {}),
}


@pytest.fixture(scope="module")
def loaded():
    """Every data set with its default roles, from whatever source is at hand."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StandInWarning)
        return {name: ap.load(name) for name in registry()}


def check_facts(m, name):
    columns, distinct, counts = FACTS[name]
    assert (m.n, m.frame.shape[1]) == (registry()[name].rows, columns)
    assert [len(np.unique(codes)) for codes in [*m.codes.T, m.sensitive_codes]] == distinct
    for value, count in counts.items():
        assert m.sensitive_counts[m.sensitive_attribute.code(value)] == count


@pytest.mark.parametrize("name", FACTS)
def test_rows_columns_domains_and_counts_are_the_published_ones(loaded, name):
    check_facts(m := loaded[name], name)
    assert isinstance(m.frame.index, pd.RangeIndex)
    assert (m.qi, m.sensitive) == (registry()[name].qi, registry()[name].sensitive)
    assert m.origin.dataset == name and "\n" not in str(m.origin)
    assert m.origin.stand_in == (m.origin.how == "stand-in")


def table_6():
    sizes = ap.compendium.reference("xiao2010_tab6_domain_sizes")
    return sizes.set_index("attribute")["domain_size"].to_dict()


def test_sal_has_the_domain_sizes_of_table_6_and_the_incomes_of_census(loaded):
    sal, census = loaded["sal"], loaded["census"].frame
    assert {a.name: a.size for a in (*sal.attributes, sal.sensitive_attribute)}.items() <= (
        table_6().items()
    )
    assert "SAL of xiao2010" in sal.origin.substitute_for and not sal.origin.stand_in
    assert not sal.frame.isna().any().any()
    adults = census[(census["age"] >= 17) & census["country of birth self"].notna()]
    share = (adults["income"] == "50000+").mean()
    assert abs((sal.frame["Income"] >= 50_000).mean() - share) < 5 * np.sqrt(0.25 / sal.n)
    again, other = acs.make_sal(census, seed=0), acs.make_sal(census, seed=1)
    assert again.astype(str).equals(sal.frame.astype(str)) and not other.equals(again)


def test_rows_are_drawn_in_order_and_domains_stay(loaded):
    whole = loaded["adult"]
    drawn, again, other = (ap.load("adult", rows=100, seed=seed) for seed in (3, 3, 4))
    assert drawn.frame.index.is_monotonic_increasing and drawn.frame.index.nunique() == 100
    pd.testing.assert_frame_equal(drawn.frame, whole.frame.loc[drawn.frame.index])
    assert [a.size for a in drawn.attributes] == [a.size for a in whole.attributes]
    assert "100 of 32,561 rows drawn without replacement, seed 3" in str(drawn.origin)
    assert again.frame.equals(drawn.frame) and not other.frame.equals(drawn.frame)


@pytest.mark.parametrize("name", FACTS)
def test_a_missing_data_set_is_a_stand_in_that_says_so_or_an_error_with_the_place(
    no_network, loaded, name
):
    entry = registry()[name]
    first = next(iter(entry.files))
    if not entry.stand_in:
        with pytest.raises(DatasetUnavailableError) as error:
            ap.load(name)
        for part in (first, entry.page, str(no_network / "raw" / first)):
            assert part in str(error.value)
        assert [path for path in no_network.rglob("*") if path.is_file()] == []
        return
    with pytest.warns(StandInWarning, match=f"{name}: STAND-IN DATA"):
        m = ap.load(name)
    assert m.origin.stand_in and "STAND-IN" in str(m.origin)
    check_facts(m, name)
    made, published = m.frame, loaded[name].frame
    assert made.dtypes.astype(str).equals(published.dtypes.astype(str))
    for column in made.select_dtypes("category"):
        if published[column].nunique() < 400:
            assert (made[column].value_counts() == published[column].value_counts()).all()


@pytest.mark.parametrize("distribution", ["uniform", "zipf", "gaussian"])
def test_the_population_has_the_distribution_asked_for(distribution):
    m = population(distribution)
    assert (m.n, m.d, m.frame.shape[1]) == (100_000, 6, 7)
    share = np.bincount(m.codes_of("ethnicity")) / m.n
    place = np.arange(1, 6)
    weight = {"uniform": np.ones(5), "zipf": 1 / place,
              "gaussian": np.exp(-((place - 3) ** 2) / (2 * 1.25**2))}[distribution]  # fmt: skip
    assert share == pytest.approx(weight / weight.sum(), abs=0.006)
    assert m.frame.equals(population(distribution).frame)
    assert not m.frame.equals(population(distribution, seed=1).frame)


def test_an_entry_of_a_voter_list_differs_from_its_person_in_one_column_at_most(loaded):
    people, known = loaded["adult"].frame, ["age", "fnlwgt"]
    for outdated, least, most in ((0, 0, 0), (0.5, 0.35, 0.5)):  # some draws hit the same value
        voters = voter_list(people, known, share=0.4, outdated=outdated, seed=1)
        assert list(voters) == ["name", *known] and voters["name"].is_unique
        assert len(voters) == 13_024 and voters.index.is_unique
        differs = voters[known] != people.loc[voters.index, known]
        assert differs.sum(axis=1).max() <= 1
        assert least <= differs.any(axis=1).mean() <= most


IPUMS = """\
YEAR,AGE,SEX,RACE,MARST,BPL,EDUCD,CLASSWKRD,INCTOT,OCC1990
2005,41,2,1,4,36,101,22,31500,95
2005,16,1,2,6,200,40,0,9999999,999
2005,97,2,9,5,6,2,0,-1200,991
2005,30,1,6,1,525,116,27,250000,889
2005,60,1,7,2,453,71,13,2000,20
"""
FRAME = {
    "Age": [41, 95, 30, 60],
    "Gender": ["Female", "Female", "Male", "Male"],
    "Birth Place": ["US state 36", "US state 06", "Asia", "Europe"],
    "Education": ["Bachelor's degree", "None", "Doctorate", "Some college, a year or more"],
    "Income": [30_000, 0, 98_000, 2_000],
}


def ipums(folder, text=IPUMS, *table):
    path = folder / "usa_00001.csv"
    path.write_text(text)
    return load_ipums(path, *table)


def test_sal_and_occ_of_an_ipums_extract(tmp_path, monkeypatch):
    m = ipums(tmp_path)
    assert (m.qi, m.sensitive, m.n) == (list(acs.VARIABLES), "Income", 4)
    assert {name: m.frame[name].tolist() for name in FRAME} == FRAME
    second = ["Three or more major races", "Widowed", "Not in universe"]
    assert m.frame.loc[1, ["Race", "Marital Status", "Work Class"]].tolist() == second
    assert str(m.origin).startswith("sal: usa_00001.csv (user's extract")
    assert "4 adults of 5 persons" in str(m.origin) and m.origin.substitute_for is None
    occ = ipums(tmp_path, IPUMS, "occ")  # those with an occupation
    assert occ.frame["Occupation"].tolist() == [80, 880, 20]
    sizes = {a.name: a.size for a in m.attributes} | {"Age": 95 - 17 + 1}  # those that occur
    assert sizes.items() <= table_6().items()
    monkeypatch.setattr(acs, "ROWS", 3)
    drawn = [ipums(tmp_path) for _ in range(2)]
    assert drawn[0].n == 3 and drawn[0].frame.equals(drawn[1].frame)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("MARST", "MARRIED", "MARST"),
        ("41,2,1,4", "41,3,1,4", r"SEX .* unknown codes \[3"),
        ("41,2,1,4", "41,2,1,x", "no numbers of a variable: .*x"),
        ("41,2,1,4,36", "41,2,1,4,", "Birth Place"),
        ("41,2,1,4,36", "41,2,1,4,14", "Birth Place"),  # a number that no state has
    ],
)
def test_bad_extracts_are_named(tmp_path, old, new, says):
    with pytest.raises(ColumnError, match=says):
        ipums(tmp_path, IPUMS.replace(old, new))


def test_available_lists_every_data_set_without_fetching(no_network):
    (no_network / "raw" / "adult.data").write_text("tampered")
    table = available().set_index("name")
    assert table["rows"].to_dict() == {name: data.rows for name, data in registry().items()}
    origins = table["origin"].to_dict()
    assert "wrong sha256" in origins.pop("adult")
    assert origins == dict.fromkeys(origins, "to be fetched") | {"stroke": "stand-in"}
    assert table["how_to_get"]["sal"].endswith("has census-income.data and census-income.test")
    assert [path.name for path in no_network.rglob("*") if path.is_file()] == ["adult.data"]


def test_the_command_line_goes_on_after_a_failure_and_reports_it(no_network, capsys):
    assert main(["fetch", "stroke", "german", "pantheon"]) == 1
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["stroke", "pantheon"]
    assert all("STAND-IN" in line for line in lines)
    assert "german.data" in printed.err
