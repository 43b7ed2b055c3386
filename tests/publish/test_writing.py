"""Writing: files whole or not at all, of known formats, with nobody's permissions widened."""

import os
from pathlib import Path

import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.errors import ColumnError, FileError
from anonpaper.publish.writing import as_csv, plain


@pytest.fixture
def release():
    return ap.suppress(ap.examples.hospital(), ap.examples.hospital_two_diverse())


@pytest.fixture
def anatomy():
    return ap.anatomize(ap.examples.hospital(), ap.examples.hospital_two_diverse())


def permissions(path):
    return path.stat().st_mode & 0o777


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# -- formats -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "pq"])
def test_every_format_reads_back(release, tmp_path, ending):
    [path] = release.write(tmp_path / f"out.{ending}")
    parquet = ending in ("parquet", "pq")
    found = pd.read_parquet(path) if parquet else pd.read_csv(path)
    expected = release.frame.to_numpy().tolist()
    assert sorted(found.to_numpy().tolist()) == sorted(expected)
    assert found.columns.tolist() == ["Age", "Gender", "Education", "Disease"]


@pytest.mark.parametrize("name", ["out.xlsx", "out.csv.zip", "out", "out.parquet.gz", "out.json"])
def test_other_endings_are_refused(release, tmp_path, name):
    with pytest.raises(FileError, match=r"written as csv .* or as .parquet"):
        release.write(tmp_path / name)
    assert names(tmp_path) == []


# -- values --------------------------------------------------------------------------------


def test_where_every_row_is_withheld_there_are_columns_and_no_rows():
    m = ap.examples.hospital()
    for publish in (ap.suppress, ap.generalize, ap.swap):
        rel = publish(m, ap.Partition([-1] * m.n))
        frame = rel.public_frame()
        assert frame.columns.tolist() == rel.frame.columns.tolist() and len(frame) == 0


def test_what_cannot_be_told_apart_is_refused(tmp_path):
    with pytest.raises(ColumnError, match="several columns"):
        plain(pd.DataFrame([[1, 2]], columns=[1, "1"]))
    with pytest.raises(ColumnError, match="not Unicode"):
        plain(pd.DataFrame({"a": ["\udc80"]}, dtype=object))
    with pytest.raises(ColumnError, match="not Unicode"):
        plain(pd.DataFrame([["a"]], columns=pd.Index(["\udc80"], dtype=object)))
    with pytest.raises(ColumnError, match="missing values and empty texts"):
        as_csv(plain(pd.DataFrame({"a": ["", None]})))
    secrets = pd.Categorical([1, "1", 2, "2"], [1, "1", 2, "2"])
    m = ap.Microdata(pd.DataFrame({"q": [1, 1, 1, 1], "s": secrets}), ["q"], "s")
    with pytest.raises(ColumnError, match="written alike"):
        ap.suppress(m, ap.Partition([0] * 4)).write(tmp_path / "out.csv")


def test_further_columns_are_kept_beside_their_rows():
    frame = pd.DataFrame({"name": list("wxyz"), "age": [1, 1, 2, 2], "ill": list("abab")})
    m = ap.Microdata(frame, ["age"], "ill")
    for rel in (ap.suppress(m, ap.Partition([0, 0, -1, -1])), ap.swap(m, ap.Partition([0] * 4))):
        found = rel.public_tables(keep=["name"])[0]
        assert found.columns.tolist() == ["name", "age", "ill"]
        assert all(
            dict(zip("wxyz", frame["age"], strict=True))[row["name"]] == row["age"]
            for row in found.to_dict("records")
        )


# -- files ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("umask", "wanted"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_new_files_have_the_permissions_of_the_umask(release, tmp_path, umask, wanted):
    before = os.umask(umask)
    try:
        assert permissions(release.write(tmp_path / "out.csv")[0]) == wanted
    finally:
        os.umask(before)


def test_a_file_that_is_replaced_is_never_made_wider(release, tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o600)
    release.write(path)
    assert path.read_text() != "old" and permissions(path) == 0o600


def test_an_anatomy_is_two_files_or_none(anatomy, tmp_path):
    assert anatomy.write(tmp_path / "a.csv") == (tmp_path / "a.csv", tmp_path / "a_sensitive.csv")
    (tmp_path / "b_sensitive.csv").write_text("old")
    with pytest.raises(FileError, match="there already"):
        anatomy.write(tmp_path / "b.csv", replace=False)
    assert not (tmp_path / "b.csv").exists()


@pytest.mark.parametrize("before", ["old", None])
def test_a_failure_at_the_last_file_undoes_the_first(anatomy, tmp_path, monkeypatch, before):
    if before:
        (tmp_path / "a.csv").write_text(before)
    replace, calls = os.replace, []

    def fail_at_the_second(source, target):
        calls.append(target)
        if Path(target).name == "a_sensitive.csv":
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_at_the_second)
    with pytest.raises(FileError, match="No space left"):
        anatomy.write(tmp_path / "a.csv")
    assert len(calls) >= 2
    assert names(tmp_path) == (["a.csv"] if before else [])
    assert not before or (tmp_path / "a.csv").read_text() == before
