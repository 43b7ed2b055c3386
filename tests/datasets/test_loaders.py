"""Every data set: rows, columns, known counts, roles. Stand-ins must meet the same facts."""

from __future__ import annotations

import gzip
import io
import warnings

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.datasets import StandInWarning, acs
from anonpaper.datasets.registry import registry
from anonpaper.errors import ChecksumError, DatasetUnavailableError, MissingValueError

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


# -- adult ---------------------------------------------------------------------------------


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


def test_adult_missing_values(loaded):
    m = loaded["adult"]
    assert m.frame["occupation"].isna().sum() == 1843
    assert m.sensitive_attribute.values[-1] == "?"
    dropped = ap.load("adult", missing="drop")
    assert dropped.n == 30_162
    assert "2,399 rows with missing values left out" in str(dropped.origin)
    assert not dropped.frame.isna().any().any()
    with pytest.raises(MissingValueError, match="occupation"):
        ap.load("adult", missing="error")
    assert ap.load("adult", sensitive="salary-class", missing="error").n == 32_561


# -- census, occ, sal ----------------------------------------------------------------------


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


# -- roles and rows ------------------------------------------------------------------------


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


def test_more_rows_than_there_are_come_with_replacement():
    drawn = ap.load("german", rows=2_500)
    assert drawn.n == 2_500
    assert "with replacement" in str(drawn.origin)


# -- offline -------------------------------------------------------------------------------


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


def test_a_tampered_file_is_refused_even_for_a_set_with_a_stand_in(no_network):
    file = no_network / "raw" / "healthcare-dataset-stroke-data.csv.gz"
    file.write_bytes(gzip.compress(b"id,gender\n1,Female\n"))
    with pytest.raises(ChecksumError, match="healthcare-dataset-stroke-data.csv.gz"):
        ap.load("stroke")
