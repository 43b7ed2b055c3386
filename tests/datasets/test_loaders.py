"""Every data set: rows, columns, known counts, roles; stand-ins, extracts and made-up people."""

from __future__ import annotations

import gzip
import io
import warnings

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.datasets import StandInWarning, acs, available, load_ipums, population, voter_list
from anonpaper.datasets import ipums as module
from anonpaper.datasets.acs import SAL_AGES
from anonpaper.datasets.registry import registry
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


def test_parts_of_adult(loaded):
    train, test, both = loaded["adult"], *(ap.load("adult", part=p) for p in ("test", "both"))
    assert (train.n, test.n, both.n) == (32_561, 16_281, 48_842)
    education = train.frame["education"].cat.codes + 1  # ordered by years
    assert education.equals(train.frame["education-num"].astype(np.int8))
    labels = both.frame["salary-class"].value_counts()
    assert labels.to_dict() == {"<=50K": 24_720 + 12_435, ">50K": 7_841 + 3_846}
    pd.testing.assert_frame_equal(
        both.frame[:32_561].astype(object), train.frame.astype(object), check_dtype=False
    )


def test_occ_is_the_employed_part_of_census(loaded):
    occ, census = loaded["occ"], loaded["census"].frame
    assert len(occ.cells) == 35_351
    assert occ.sensitive_counts.max() / occ.n < 0.0885
    employed = census[census["detailed occupation recode"] > 0]
    for column, attribute in acs.QI.items():
        ours, theirs = occ.frame[attribute], employed[column].reset_index(drop=True)
        assert ours.isna().equals(theirs.isna())
        assert (ours.dropna().astype(object) == theirs.dropna().astype(object)).all()
    assert "OCC of xiao2010" in occ.origin.substitute_for
    assert not occ.origin.stand_in


def test_sal_has_the_domain_sizes_of_table_6(loaded):
    sal = loaded["sal"]
    sizes = ap.compendium.reference("xiao2010_tab6_domain_sizes").set_index("attribute")
    for attribute in (*sal.attributes, sal.sensitive_attribute):
        assert attribute.size == sizes["domain_size"][attribute.name]
    assert "SAL of xiao2010" in sal.origin.substitute_for
    assert not sal.frame.isna().any().any()
    census = loaded["census"].frame  # whose labels of income are kept
    adults = census[(census["age"] >= 17) & census["country of birth self"].notna()]
    share = (adults["income"] == "50000+").mean()
    kept = (sal.frame["Income"] >= 50_000).mean()
    assert abs(kept - share) < 5 * np.sqrt(0.25 / sal.n)


def test_sal_is_the_same_for_the_same_seed(loaded):
    census = loaded["census"].frame
    again = acs.make_sal(census, seed=0)
    kept = pd.read_parquet(io.BytesIO(again.to_parquet()))  # as the loaded one was
    # pandas 3 keeps the texts of categories as str or as object
    pd.testing.assert_frame_equal(kept.astype(object), loaded["sal"].frame.astype(object))
    other = acs.make_sal(census, seed=1)
    assert not other.equals(again)


def test_rows_are_drawn_in_order_and_domains_stay(loaded):
    whole = loaded["adult"]
    drawn = ap.load("adult", rows=100, seed=3)
    assert drawn.n == 100
    assert drawn.frame.index.is_monotonic_increasing
    assert drawn.frame.index.is_unique
    pd.testing.assert_frame_equal(drawn.frame, whole.frame.loc[drawn.frame.index])
    assert [a.size for a in drawn.attributes] == [a.size for a in whole.attributes]
    assert "100 of 32,561 rows drawn without replacement, seed 3" in str(drawn.origin)
    again, other = ap.load("adult", rows=100, seed=3), ap.load("adult", rows=100, seed=4)
    assert again.frame.equals(drawn.frame)
    assert not other.frame.equals(drawn.frame)


@pytest.mark.parametrize("name", FACTS)
def test_a_missing_data_set_is_a_stand_in_that_says_so_or_an_error_with_the_place(
    no_network, loaded, name
):
    entry = registry()[name]
    if not entry.stand_in:
        with pytest.raises(DatasetUnavailableError) as error:
            ap.load(name)
        first = entry.files[0].name
        for part in (first, entry.page, str(no_network / "raw" / first)):
            assert part in str(error.value)
        assert [path for path in no_network.rglob("*") if path.is_file()] == []
        return
    with pytest.warns(StandInWarning, match=f"{name}: STAND-IN DATA"):
        m = ap.load(name)
    assert m.origin.stand_in and m.origin.how == "stand-in" and "STAND-IN" in str(m.origin)
    check_facts(m, name)
    made, published = m.frame, loaded[name].frame
    assert made.columns.tolist() == published.columns.tolist()
    assert [*map(str, made.dtypes)] == [*map(str, published.dtypes)]
    texts = [
        c for c in made if len(published[c].unique()) < 400 and str(made[c].dtype) == "category"
    ]
    assert all(
        made[c].value_counts().to_dict() == published[c].value_counts().to_dict() for c in texts
    )
    if name == "stroke" and not loaded[name].origin.stand_in:  # no published record is in it
        rows = [
            set(map(tuple, f.drop(columns="id").astype(str).values)) for f in (made, published)
        ]
        assert rows[0].isdisjoint(rows[1])


@pytest.mark.parametrize("distribution", ["uniform", "zipf", "gaussian"])
def test_the_population_has_the_distribution_asked_for(distribution):
    m = population(distribution)
    assert (m.n, m.d, m.frame.shape[1]) == (100_000, 6, 7)
    share = np.bincount(m.codes[:, m.attribute_index("ethnicity")]) / m.n
    place = np.arange(1, 6)
    weight = {"uniform": np.ones(5), "zipf": 1 / place,
              "gaussian": np.exp(-((place - 3) ** 2) / (2 * 1.25**2))}[distribution]  # fmt: skip
    assert share == pytest.approx(weight / weight.sum(), abs=0.006)
    assert m.frame.equals(population(distribution).frame)
    assert not m.frame.equals(population(distribution, seed=1).frame)


RNG = np.random.default_rng(3)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, 500),
        "town": pd.Categorical(RNG.choice(["north", "south"], 500), ["south", "north", "west"]),
        "secret": RNG.integers(0, 9, 500),
    },
    index=[f"p{i}" for i in range(500)],
)


def test_an_entry_says_what_the_table_says_of_its_person():
    voters = voter_list(PEOPLE, ["town", "age"], share=0.4, seed=1)
    assert list(voters) == ["name", "town", "age"]
    assert len(voters) == 200 and voters.index.is_unique
    said = voters[["town", "age"]]
    pd.testing.assert_frame_equal(said, PEOPLE.loc[voters.index, ["town", "age"]])


@pytest.mark.parametrize(("outdated", "least", "most"), [(0.5, 0.35, 0.5), (1, 0.85, 1)])
def test_an_outdated_entry_differs_in_one_column_at_most(outdated, least, most):
    voters = voter_list(PEOPLE, ["age", "secret"], outdated=outdated, seed=1)
    differs = voters[["age", "secret"]] != PEOPLE.loc[voters.index, ["age", "secret"]]
    assert differs.sum(axis=1).max() == 1
    assert least < differs.any(axis=1).mean() < most  # some draws hit the same value


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


def test_available_lists_every_data_set_without_fetching(no_network):
    table = available().set_index("name")
    assert table.index.tolist() == list(registry())
    assert table["rows"].to_dict() == {name: data.rows for name, data in registry().items()}
    assert table.loc["adult", "origin"] == "to be fetched"
    assert table.loc["sal", "origin"] == "from census: to be fetched"
    assert table.loc["stroke", "origin"] == "stand-in"
    assert table.loc["diabetes", "origin"] == "to be fetched, else stand-in"
    assert table.notna().all().all()
    assert [path for path in no_network.rglob("*") if path.is_file()] == []
    (no_network / "raw" / "adult.data").write_text("tampered")
    assert "wrong sha256" in available().set_index("name").loc["adult", "origin"]


def test_the_command_line_goes_on_after_a_failure_and_reports_it(no_network, capsys):
    assert main(["fetch", "stroke", "german", "pantheon"]) == 1
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["stroke", "pantheon"]
    assert all("STAND-IN" in line for line in lines)
    assert "german.data" in printed.err
