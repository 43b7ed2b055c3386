"""A recoding is saved, read and used on another table: what it covers, names, tells and hides."""

import json
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper import errors

ZIPS = ["02139", "02446", "02467", "10001", "10025"]
YEARS = pd.date_range("2001-01-01", periods=400)


def people(rows, seed, least=0):
    rng = np.random.default_rng(seed)
    grades = ["low", "mid", "high", "top"]
    return pd.DataFrame({
        "age": rng.integers(least, 90, rows), "zip": rng.choice(ZIPS, rows),
        "sex": rng.choice(["f", "m"], rows),
        "grade": pd.Categorical(rng.choice(grades, rows), grades, ordered=True),
        "born": rng.choice(YEARS, rows),
        "ill": rng.permutation(np.resize(list("abcd"), rows)),  # any table can be 2-diverse
    })  # fmt: skip


QI = ["age", "zip", "sex", "grade", "born"]
ZIP = ap.Hierarchy.prefixes([*ZIPS, "02468", "94110"])


def recodings(m):
    yield ap.full_domain(m, 3, {"zip": ZIP})
    yield ap.full_domain(m, 3, {"age": ap.Hierarchy.intervals(range(100), [10, 50])})
    yield ap.tds(m, 2)
    yield ap.tds(m, 2, hierarchies={"zip": ZIP})
    yield ap.Recoding.identity(m.attributes)


def saved(r, folder):
    r.save(f"{folder}/r.json")
    return ap.Recoding.load(f"{folder}/r.json")


@settings(max_examples=10)
@given(st.integers(0, 2**32), st.integers(20, 60))
def test_a_loaded_recoding_writes_the_table_as_the_one_that_was_saved(seed, rows):
    m = ap.Microdata(people(rows, seed), QI, "ill")
    for r in recodings(m):
        with TemporaryDirectory() as folder:
            again = ap.recode(m, saved(r, folder))
        pd.testing.assert_frame_equal(again.frame, ap.recode(m, r).frame)
        assert again.recoding == ap.recode(m, r).recoding
        assert again.audit().equals(ap.recode(m, r).audit())


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_next_years_values_are_those_of_the_release_or_named(seed):
    """Against a plain reading of the published frame: value -> how it is written."""
    last, now = people(40, seed, least=20), people(40, seed + 1)
    m, m2 = ap.Microdata(last, QI, "ill"), ap.Microdata(now, QI, "ill")
    r = ap.full_domain(m, 3)
    shown = ap.recode(m, r).frame
    with TemporaryDirectory() as folder:
        rel = ap.recode(m2, saved(r, folder), unseen="suppress")

    def written(name, value):
        texts = dict(zip(last[name], shown[name], strict=True))
        if value in texts or set(shown[name]) == {"*"}:
            return texts.get(value, "*")
        kind = {"age": int, "born": pd.Timestamp}.get(name)
        for label in set(map(str, shown[name])) if kind else ():
            if label.startswith("["):  # a value between the bounds of an interval that is shown
                low, high = label[1:-1].split(" - ")
                if kind(low) <= value <= kind(high):
                    return label
        return None

    for row, values in now[QI].iterrows():
        texts = [written(name, value) for name, value in values.items()]
        if None in texts:
            assert row not in rel.frame.index
        else:
            assert rel.frame.loc[row, QI].tolist() == texts
    new = int((~rel.is_published).sum())
    assert rel.withheld[0] == new
    if new:
        with pytest.raises(errors.ColumnError, match="new to the recoding"):
            ap.recode(m2, r)


def test_new_values_are_named_and_their_rows_withheld_not_dropped_in_silence(tmp_path):
    frame = pd.DataFrame({"zip": ["02446", "02467", "10001", "10025"]})
    m = ap.Microdata(frame, ["zip"])
    r = ap.full_domain(m, 2, {"zip": ZIP})
    later = ap.Microdata(frame.assign(zip=["02468", "02446", "94110", "10001"]), ["zip"])
    for recoding in (r, saved(r, tmp_path)):
        with pytest.raises(errors.ColumnError, match=r"'zip': \['94110'\]"):
            ap.recode(later, recoding)
        rel = ap.recode(later, recoding, unseen="suppress")
        # 02468 is in no table: the hierarchy has it below a name in use
        assert rel.frame["zip"].tolist() == ["024**", "024**", "100**"]
        assert "rows withheld" in set(rel.audit()["principle"]) and rel.withheld[0] == 1
        assert rel.public_frame(accept="a test").shape == (3, 1)
    with pytest.raises(errors.ParameterError, match="unseen must be"):
        ap.recode(later, r, unseen="star")


def test_the_file_holds_no_value_that_the_release_does_not_show(tmp_path):
    """Every value and name of the file is looked for among what the frame shows."""
    frame = people(400, 7).astype({"born": str})
    frame["born"] = pd.Categorical(frame["born"], ordered=True)
    m = ap.Microdata(frame.drop(columns="grade"), [name for name in QI if name != "grade"], "ill")
    for r in (ap.full_domain(m, 25), ap.tds(m, 3)):
        r.save(tmp_path / "r.json")
        shown = ap.recode(m, r).frame
        for part in json.loads((tmp_path / "r.json").read_text())["attributes"]:
            published = " ".join(map(str, shown[part["name"]].unique()))
            assert all(str(value) in published for value in part["values"])
        hidden = set(frame["age"]) - {
            int(end) for text in shown["age"] for end in str(text).strip("[]*").split(" - ") if end
        }
        assert len(hidden) > 5


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", "[" * 100_000, '{"format": "anonpaper recoding 1"}', b"\xff\xfe",
     '{"format": "anonpaper recoding 2", "attributes": [], "algorithm": ""}',
     '{"format": "anonpaper recoding 1", "algorithm": "", "attributes": [{"name": "a", "map": [1],'
     ' "values": [1], "names": null, "numeric": true, "ordered": true}]}',
     '{"format": "anonpaper recoding 1", "algorithm": "", "attributes": [{"name": "a", "map": [0],'
     ' "values": ["x"], "names": null, "numeric": true, "ordered": true}]}'],
)  # fmt: skip
def test_what_is_no_recoding_is_refused(content, tmp_path):
    path = tmp_path / "r.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(errors.FileError, match="not a saved recoding"):
        ap.Recoding.load(path)
