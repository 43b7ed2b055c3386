"""What a hostile or careless hand does to files: nothing is read, written or audited wrongly."""

import os

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper import errors
from anonpaper.owner import report

ibis = pytest.importorskip("ibis", reason="tables are scanned by Ibis: anonpaper[scale]")
pytest.importorskip("duckdb", reason="files are scanned by DuckDB: anonpaper[scale]")
pa = pytest.importorskip("pyarrow", reason="parquet needs pyarrow: anonpaper[parquet]")
pq = pytest.importorskip("pyarrow.parquet", reason="parquet needs pyarrow: anonpaper[parquet]")

EITHER = pytest.mark.parametrize("ending", ["csv", "parquet"])
PLACES = pytest.mark.parametrize("name", ["out.parquet", "out.csv"])


def people(first=0, n=12):
    ages, ills = [first + i % 3 for i in range(n)], ["flu", "cold"] * (n // 2)
    return pd.DataFrame({"age": ages, "ill": ills})


def written(frame, path):
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)
    return path


def ages(m):
    return [int(age) for age in m.attributes[0].values]


def release_of(frame, path, publish=ap.suppress, k=2):
    m = ap.scan(written(frame, path / "input" / "in.parquet"), ["age"], "ill")
    return publish(m, ap.mondrian(m, k))


# -- which files are read --------------------------------------------------------------------


@EITHER
@pytest.mark.parametrize("name", ["a[1]", "a*", "a?"])
def test_a_file_whose_name_is_a_pattern_is_read_itself(name, ending, tmp_path):
    written(people(70), tmp_path / f"a1.{ending}")
    path = written(people(), tmp_path / f"{name}.{ending}")
    assert ages(ap.scan(path, ["age"], "ill")) == [0, 1, 2]


@EITHER
def test_the_name_of_a_folder_does_not_stand_for_values(ending, tmp_path):
    path = written(people(), tmp_path / "age=7" / f"in.{ending}")
    assert ages(ap.scan(path, ["age"], "ill")) == [0, 1, 2]


@EITHER
def test_nobody_is_counted_twice(ending, tmp_path):
    path = written(people(), tmp_path / f"a.{ending}")
    (tmp_path / f"b.{ending}").symlink_to(path)
    with pytest.raises(errors.FileError, match="twice"):
        ap.scan(tmp_path / f"*.{ending}", ["age"], "ill")
    again = tmp_path / ".." / tmp_path.name / path.name
    with pytest.raises(errors.FileError, match="twice"):
        ap.scan([path, again], ["age"], "ill")
    assert ap.scan([path, path], ["age"], "ill").n == 12


@pytest.mark.parametrize("other", ["a folder", "a lost link", "a pipe"])
def test_what_a_pattern_names_is_not_left_out(other, tmp_path):
    written(people(), tmp_path / "a.parquet")
    place = tmp_path / "b.parquet"
    if other == "a folder":
        written(people(), place / "part.parquet")
    elif other == "a lost link":
        place.symlink_to(tmp_path / "none")
    else:
        os.mkfifo(place)
    with pytest.raises(errors.FileError, match="which is not a file"):
        ap.scan(tmp_path / "*.parquet", ["age"], "ill")
    if other == "a folder":
        assert ap.scan(tmp_path / "**" / "part.parquet", ["age"], "ill").n == 12


# -- what is in them -----------------------------------------------------------------------------


def test_an_empty_line_before_the_header_makes_nobody_of_it(tmp_path):
    (tmp_path / "a.csv").write_text("\nage,ill\n1,flu\n2,cold\n")
    with pytest.raises(errors.FileError, match="a.csv: the first line must name the columns"):
        ap.scan(tmp_path / "a.csv", ["age"], "ill")


def test_columns_of_one_name_are_refused(tmp_path):
    values = [pa.array([1, 2]), pa.array([3, 4]), pa.array(["a", "b"])]
    pq.write_table(pa.table(values, ["x", "x", "ill"]), tmp_path / "a.parquet")
    with pytest.raises(errors.ColumnError, match="two columns with the same name"):
        ap.scan(tmp_path / "a.parquet", ["x"], "ill")


def test_a_column_of_missing_values_and_identifiers_are_read(tmp_path):
    path = written(people().assign(age=None), tmp_path / "a.parquet")
    m = ap.scan(path, ["age"], "ill", missing="category")
    assert list(m.attributes[0].values) == ["?"]
    ibis.duckdb.connect().raw_sql(
        f"COPY (SELECT uuid() AS age, 'flu' AS ill FROM range(3)) TO '{tmp_path}/b.parquet'"
    )
    assert len(ap.scan(tmp_path / "b.parquet", ["age"], "ill").cells) == 3


def test_categories_with_an_order_are_asked_about(tmp_path):
    grade = pd.Categorical(["lo", "hi"], ["lo", "mid", "hi"], ordered=True)
    path = written(pd.DataFrame({"grade": grade, "ill": ["a", "b"]}), tmp_path / "in.parquet")
    with pytest.raises(errors.ColumnError, match="categories in an order: types"):
        ap.scan(path, ["grade"], "ill")
    m = ap.scan(path, ["grade"], "ill", types={"grade": ["lo", "mid", "hi"]})
    assert m.attributes[0].ordered and m.attributes[0].values.tolist() == ["lo", "mid", "hi"]


# -- what is written, and audited ----------------------------------------------------------------


@PLACES
def test_an_empty_text_is_not_audited_as_a_question_mark(name, tmp_path):
    frame = pd.DataFrame({"age": ["", "", "?", "?"] * 3, "ill": ["flu", "cold"] * 6})
    release = release_of(frame, tmp_path)
    release.write(tmp_path / name)
    assert release.audit()["level"][0] == 6


def test_a_table_of_a_database_that_writes_no_files_is_published(tmp_path):
    connection = ibis.sqlite.connect()
    connection.create_table("people", people())
    m = ap.scan(connection.table("people"), ["age"], "ill")
    release = ap.suppress(m, ap.mondrian(m, 2))
    release.write(tmp_path / "out.csv")
    assert len(pd.read_csv(tmp_path / "out.csv")) == 12
    assert release.audit()["level"][0] == 4


# -- the table as it is --------------------------------------------------------------------------


@pytest.mark.parametrize("sensitive", ["ill", None, ["ill", "drug"]])
def test_the_audit_of_the_table_itself_is_the_same(sensitive, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.integers(0, 5, 90) for name in ("age", "zip", "drug", "ill")})
    m = ap.Microdata(frame, ["age", "zip"], sensitive)
    big = ap.scan(written(frame, tmp_path / "in.parquet"), ["age", "zip"], sensitive)
    mine, theirs = (report.audit(table, 3) for table in (big, m))
    for name in theirs:
        for group in theirs[name] if name.startswith("riskiest") else ():
            del group["in rows"]
    assert mine == theirs
