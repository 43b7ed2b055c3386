"""Files whole or not at all, with nobody's permissions widened; below its promise: refused."""

import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from referees.tables import people

import anonpaper as ap
from anonpaper.errors import ColumnError, FileError, ParameterError, PromiseError
from anonpaper.owner.report import page as page_of
from anonpaper.publish.writing import as_csv, plain, write_tables

TABLE = ap.examples.hospital(), ap.examples.hospital_two_diverse()
RELEASE, ANATOMY = ap.suppress(*TABLE), ap.anatomize(*TABLE)


def names_of(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "pq"])
def test_every_format_reads_back(tmp_path, ending):
    [path] = RELEASE.write(tmp_path / f"out.{ending}")
    found = (pd.read_parquet if ending in ("parquet", "pq") else pd.read_csv)(path)
    assert sorted(found.to_numpy().tolist()) == sorted(RELEASE.frame.to_numpy().tolist())
    assert found.columns.tolist() == ["Age", "Gender", "Education", "Disease"]


@pytest.mark.parametrize("name", ["out.xlsx", "out.csv.zip", "out", "out.parquet.gz", "out.json"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(FileError, match=r"written as csv .* or as .parquet"):
        RELEASE.write(tmp_path / name)
    assert names_of(tmp_path) == []


def test_where_every_row_is_withheld_there_are_columns_and_no_rows():
    m = ap.examples.hospital()
    for publish in (ap.suppress, ap.generalize, ap.swap):
        rel = publish(m, ap.Partition([-1] * m.n))
        frame = rel.public_frame()
        assert frame.columns.tolist() == rel.frame.columns.tolist() and len(frame) == 0


@pytest.mark.parametrize(("frame", "message"), [
    (pd.DataFrame([[1, 2]], columns=[1, "1"]), "several columns"),
    (pd.DataFrame({"a": ["", None]}), "missing values and empty texts"),
])  # fmt: skip
def test_what_cannot_be_told_apart_is_refused(frame, message):
    with pytest.raises(ColumnError, match=message):
        as_csv(plain(frame))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("frame", [{"a": ["\udc80"]}, {"\udc80": ["a"]}])
def test_what_is_not_unicode_is_not_written(frame, ending, tmp_path):
    with pytest.raises(FileError, match="surrogates"):
        write_tables({tmp_path / f"out.{ending}": pd.DataFrame(frame, dtype=object)})
    assert not names_of(tmp_path)


def test_further_columns_are_kept_beside_their_rows():
    frame = pd.DataFrame({"name": list("wxyz"), "age": [1, 1, 2, 2], "ill": list("abab")})
    m = ap.Microdata(frame, ["age"], "ill")
    for rel in (ap.suppress(m, ap.Partition([0, 0, -1, -1])), ap.swap(m, ap.Partition([0] * 4))):
        found = rel.public_tables(keep=["name"])[0].sort_values("name", ignore_index=True)
        assert found.drop(columns="ill").equals(frame[["name", "age"]][: len(found)])


@pytest.mark.parametrize(
    ("umask", "old", "wanted"),
    [(0o022, None, 0o644), (0o077, None, 0o600), (0o002, None, 0o664), (0o022, 0o600, 0o600)],
)
def test_files_have_the_permissions_of_the_umask_or_of_those_replaced(
    tmp_path, umask, old, wanted
):
    path, before = tmp_path / "out.csv", os.umask(umask)
    try:
        if old is not None:
            path.touch(old)
        RELEASE.write(path)
    finally:
        os.umask(before)
    assert path.read_text() and path.stat().st_mode & 0o777 == wanted


def test_an_anatomy_is_two_files_or_none(tmp_path):
    assert ANATOMY.write(tmp_path / "a.csv") == (tmp_path / "a.csv", tmp_path / "a_sensitive.csv")
    (tmp_path / "b_sensitive.csv").write_text("old")
    with pytest.raises(FileError, match="there already"):
        ANATOMY.write(tmp_path / "b.csv", replace=False)
    assert not (tmp_path / "b.csv").exists()


@pytest.mark.parametrize("before", ["old", None])
def test_a_failure_at_the_last_file_undoes_the_first(tmp_path, monkeypatch, before):
    if before:
        (tmp_path / "a.csv").write_text(before)
    replace = os.replace

    def fail_at_the_second(source, target):
        if Path(target).name == "a_sensitive.csv":
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_at_the_second)
    with pytest.raises(FileError, match="No space left"):
        ANATOMY.write(tmp_path / "a.csv")
    assert names_of(tmp_path) == (["a.csv"] if before else [])
    assert not before or (tmp_path / "a.csv").read_text() == before


def test_next_years_table_below_the_promise_is_refused(tmp_path):
    """Found by an attacker: k = 10 and l = 2, applied to 40 rows."""
    ap.full_domain(people(rows=900), k=10, l=2).save(saved := tmp_path / "r.json")
    r = ap.Recoding.load(saved)
    assert r.promised == (ap.KAnonymity(10), ap.DistinctLDiversity(2))
    rel = ap.recode(people(1, 40), r, unseen="suppress")
    level = rel.audit()["level"][0]
    assert level < 10 and rel.promised == r.promised
    refusal = rf"KAnonymity\(k=10\) is promised, .* {level:.4g}.*accept"
    with pytest.raises(PromiseError, match=refusal):
        rel.write(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    for reason in ("", " ", True, 3):
        with pytest.raises(ParameterError, match="accept must be a reason in words"):
            rel.write(tmp_path / "out.csv", accept=reason)
    with pytest.warns(UserWarning, match="people beyond 10"):
        rel.write(tmp_path / "out.csv", accept="the <board> wants it")
    page = page_of(rel)
    assert "Written all the same: the &lt;board&gt; wants it." in page
    told = json.loads(saved.read_text())
    del told["promised"]  # as in a file of last year
    saved.write_text(json.dumps(told))
    assert ap.Recoding.load(saved).promised == ()
    saved.write_text(json.dumps(told | {"promised": ["KAnonymity(k=0)"]}))
    with pytest.raises(FileError):
        ap.Recoding.load(saved)


def test_the_promise_is_for_real_people(tmp_path):
    """A register tells how many real people are in a class, so invented rows hide nobody."""
    m = people()
    invented = np.arange(60) >= 40
    m = ap.Microdata(m.frame.assign(ill=m.frame["ill"].where(~invented, "c")), m.qi, "ill",
                     synthetic=invented)  # fmt: skip
    for publish in (ap.generalize, ap.swap, ap.anatomize):
        rel = publish(m, ap.mondrian(m, k=8))
        fewest = np.bincount(rel.classes.labels[~invented]).min()
        assert fewest < 8 <= rel.audit()["level"][0]
        refusal = rf"KAnonymity\(k=8\) is promised, but the rows of real people reach {fewest}"
        for door in (rel.public_tables, partial(rel.write, tmp_path / "out.csv")):
            with pytest.raises(PromiseError, match=refusal):
                door()
        with pytest.raises(PromiseError, match=f"reach {fewest}"):
            rel.without_synthetic().public_frame()
        assert len(rel.public_frame(accept="to look at it")) == 60
        found = page_of(rel)
        assert "KAnonymity(k=8) DOES NOT HOLD" in found and "to look at it" in found


def test_a_promise_against_the_register(tmp_path):
    """A class of four that was withheld: it must have one value."""
    frame = pd.DataFrame({"age": np.repeat([*range(10)], 4), "ill": list("abab" * 9 + "cccc")})
    m = ap.Microdata(frame, ["age"], "ill")
    whole = {"age": ap.Hierarchy.flat(range(10))}
    call = {"k": 4, "l": 2, "hierarchies": whole, "suppression": 0.1}
    rel = ap.recode(m, ap.full_domain(m, **call))
    with pytest.warns(UserWarning, match="l-diversity 1 .is told.* 4 of 40 people"):
        rel.write(tmp_path / "out.csv")
    for door in (rel.public_frame, partial(rel.write, tmp_path / "out.csv")):
        with pytest.raises(PromiseError, match="is told the values of a withheld class"):
            door(against="register")
    rel = ap.recode(m, ap.full_domain(m, **call | {"suppression": 0}))
    rel.write(tmp_path / "out.csv", against="register")


def test_only_the_packages_principles_are_saved(tmp_path):
    class Even(ap.KAnonymity):
        pass

    r = ap.full_domain(people(), k=2, require=[Even(4)])
    with pytest.raises(ParameterError, match="is not a principle"):
        r.save(tmp_path / "r.json")
    assert not (tmp_path / "r.json").exists()
