"""A scanned table is the same table as the one read into memory, whatever the files are."""

import os

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper import errors
from anonpaper.owner import report
from anonpaper.owner.reader import read_table

ibis = pytest.importorskip("ibis", reason="tables are scanned by Ibis: anonpaper[scale]")
pytest.importorskip("duckdb", reason="files are scanned by DuckDB: anonpaper[scale]")

QI = ["age", "sex", "zip"]
EITHER = pytest.mark.parametrize("ending", ["csv", "parquet"])


def people(seed, n=300):
    """Draw a table with numbers, texts that look like numbers, and missing values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "note": rng.choice(["x", "y"], n),
            "age": rng.integers(0, 12, n),
            "sex": rng.choice(["f", "m", None], n, p=[0.5, 0.4, 0.1]),
            "zip": rng.choice(["02139", "02140", "7", "a,b", 'q"'], n),
            "ill": rng.choice(list("abcdefgh"), n),
            "drug": rng.choice(["p", "q", "r", "s"], n),
        }
    )
    if seed % 2:
        frame["age"] = frame["age"].where(rng.random(n) < 0.95) / 2
    return frame


def written(frame, path, ending, files=3):
    """Write a frame into several files; return the pattern, and what is read from them."""
    parts = np.array_split(np.arange(len(frame)), files)
    for number, rows in enumerate(parts):
        part = frame.iloc[rows]
        if ending == "csv":
            part.to_csv(path / f"{number}.csv", index=False)
        else:
            part.to_parquet(path / f"{number}.parquet", index=False)
    whole = path / "whole"
    if ending == "csv":
        frame.to_csv(whole, index=False)
        return f"{path}/*.csv", read_table(str(whole)).frame
    return f"{path}/*.parquet", frame


def both(frame, path, ending, qi=QI, sensitive="ill", **options):
    pattern, read = written(frame, path, ending)
    options = {"missing": "category"} | options
    return ap.scan(pattern, qi, sensitive, **options), ap.Microdata(read, qi, sensitive, **options)


def attributes_of(m):
    return [
        (a.name, [(type(v), v) for v in a.values], a.numeric, a.ordered, a.positions.tolist())
        for a in [*m.attributes, *map(m.attribute, m.sensitives)]
    ]


def assert_same_table(big, m):
    assert (big.n, big.dropped, big.qi, big.sensitive) == (m.n, m.dropped, m.qi, m.sensitive)
    assert attributes_of(big) == attributes_of(m)
    for part in ("tuples", "start", "secrets", "counts", "row_start"):
        assert getattr(big.cells, part).tolist() == getattr(m.cells, part).tolist(), part


@EITHER
@pytest.mark.parametrize("missing", ["category", "drop"])
@pytest.mark.parametrize("seed", range(4))
def test_a_scanned_table_has_the_same_cells(seed, missing, ending, tmp_path):
    assert_same_table(*both(people(seed), tmp_path, ending, missing=missing))


def test_an_expression_of_ibis_is_a_table_too():
    import ibis

    frame = people(0)
    table = ibis.memtable(frame)
    table = table.filter(table.age > 3)
    m = ap.Microdata(frame[frame.age > 3], QI, "ill", missing="category")
    assert_same_table(ap.scan(table, QI, "ill", missing="category"), m)


@pytest.mark.parametrize("publish", [ap.suppress, ap.generalize])
@pytest.mark.parametrize("seed", range(3))
def test_groups_levels_and_rows_are_the_same(seed, publish, tmp_path):
    big, m = both(people(seed), tmp_path, "parquet")
    mine, theirs = (publish(table, ap.mondrian(table, 4, 2)) for table in (big, m))
    assert ap.measure.gcp(mine) == pytest.approx(ap.measure.gcp(theirs))
    pd.testing.assert_frame_equal(mine.audit(), theirs.audit())
    assert repr(mine) == repr(theirs)
    shown = [sorted(map(tuple, r.public_frame().astype(str).to_numpy())) for r in (mine, theirs)]
    assert shown[0] == shown[1]


NEEDS_ROWS = {
    "frame": lambda m: m.frame,
    "codes": lambda m: m.codes,
    "sample": lambda m: m.sample(3, 0),
    "labels": lambda m: ap.tp(m, 2).labels,
    "swap's frame": lambda m: ap.swap(m, ap.tp(m, 2)).frame,
    "release frame": lambda m: ap.suppress(m, ap.tp(m, 2)).frame,
    "keep": lambda m: ap.suppress(m, ap.tp(m, 2)).public_tables(["note"]),
    "synthetic rows": lambda m: m.replace(synthetic=np.zeros(m.n, bool)),
}


@pytest.mark.parametrize("name", NEEDS_ROWS)
def test_what_needs_rows_says_so(name, tmp_path):
    big, _ = both(people(0), tmp_path, "parquet")
    with pytest.raises(errors.RowsError, match="this needs single rows, but a table of counts"):
        NEEDS_ROWS[name](big)


def test_partitions_are_of_the_table_they_were_made_of(tmp_path):
    big, m = both(people(0), tmp_path, "parquet")
    with pytest.raises(errors.ParameterError, match="counts"):
        ap.suppress(big, ap.tp(m, 2))
    with pytest.raises(errors.ParameterError, match="counts"):
        ap.suppress(m, ap.tp(big, 2))
    with pytest.raises(errors.ParameterError, match="another table"):
        ap.suppress(big.with_roles(["age"]), ap.tp(big, 2))


pa = pytest.importorskip("pyarrow", reason="parquet needs pyarrow: anonpaper[parquet]")
pq = pytest.importorskip("pyarrow.parquet", reason="parquet needs pyarrow: anonpaper[parquet]")

PLACES = pytest.mark.parametrize("name", ["out.parquet", "out.csv"])


def few_people(first=0, n=12):
    ages, ills = [first + i % 3 for i in range(n)], ["flu", "cold"] * (n // 2)
    return pd.DataFrame({"age": ages, "ill": ills})


def saved(frame, path):
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)
    return path


def ages(m):
    return [int(age) for age in m.attributes[0].values]


def release_of(frame, path, publish=ap.suppress, k=2):
    m = ap.scan(saved(frame, path / "input" / "in.parquet"), ["age"], "ill")
    return publish(m, ap.mondrian(m, k))


@EITHER
@pytest.mark.parametrize("name", ["a[1]", "a*", "a?"])
def test_a_file_whose_name_is_a_pattern_is_read_itself(name, ending, tmp_path):
    saved(few_people(70), tmp_path / f"a1.{ending}")
    path = saved(few_people(), tmp_path / f"{name}.{ending}")
    assert ages(ap.scan(path, ["age"], "ill")) == [0, 1, 2]


@EITHER
def test_the_name_of_a_folder_does_not_stand_for_values(ending, tmp_path):
    path = saved(few_people(), tmp_path / "age=7" / f"in.{ending}")
    assert ages(ap.scan(path, ["age"], "ill")) == [0, 1, 2]


@EITHER
def test_nobody_is_counted_twice(ending, tmp_path):
    path = saved(few_people(), tmp_path / f"a.{ending}")
    (tmp_path / f"b.{ending}").symlink_to(path)
    with pytest.raises(errors.FileError, match="twice"):
        ap.scan(tmp_path / f"*.{ending}", ["age"], "ill")
    again = tmp_path / ".." / tmp_path.name / path.name
    with pytest.raises(errors.FileError, match="twice"):
        ap.scan([path, again], ["age"], "ill")
    assert ap.scan([path, path], ["age"], "ill").n == 12


@pytest.mark.parametrize("other", ["a folder", "a lost link", "a pipe"])
def test_what_a_pattern_names_is_not_left_out(other, tmp_path):
    saved(few_people(), tmp_path / "a.parquet")
    place = tmp_path / "b.parquet"
    if other == "a folder":
        saved(few_people(), place / "part.parquet")
    elif other == "a lost link":
        place.symlink_to(tmp_path / "none")
    else:
        os.mkfifo(place)
    with pytest.raises(errors.FileError, match="which is not a file"):
        ap.scan(tmp_path / "*.parquet", ["age"], "ill")
    if other == "a folder":
        assert ap.scan(tmp_path / "**" / "part.parquet", ["age"], "ill").n == 12


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
    path = saved(few_people().assign(age=None), tmp_path / "a.parquet")
    m = ap.scan(path, ["age"], "ill", missing="category")
    assert list(m.attributes[0].values) == ["?"]
    ibis.duckdb.connect().raw_sql(
        f"COPY (SELECT uuid() AS age, 'flu' AS ill FROM range(3)) TO '{tmp_path}/b.parquet'"
    )
    assert len(ap.scan(tmp_path / "b.parquet", ["age"], "ill").cells) == 3


def test_categories_with_an_order_are_asked_about(tmp_path):
    grade = pd.Categorical(["lo", "hi"], ["lo", "mid", "hi"], ordered=True)
    path = saved(pd.DataFrame({"grade": grade, "ill": ["a", "b"]}), tmp_path / "in.parquet")
    with pytest.raises(errors.ColumnError, match="categories in an order: .*types="):
        ap.scan(path, ["grade"], "ill")
    m = ap.scan(path, ["grade"], "ill", types={"grade": ["lo", "mid", "hi"]})
    assert m.attributes[0].ordered and m.attributes[0].values.tolist() == ["lo", "mid", "hi"]


@PLACES
def test_an_empty_text_is_not_audited_as_a_question_mark(name, tmp_path):
    frame = pd.DataFrame({"age": ["", "", "?", "?"] * 3, "ill": ["flu", "cold"] * 6})
    release = release_of(frame, tmp_path)
    release.write(tmp_path / name)
    assert release.audit()["level"][0] == 6


def test_a_table_of_a_database_that_writes_no_files_is_published(tmp_path):
    connection = ibis.sqlite.connect()
    connection.create_table("people", few_people())
    m = ap.scan(connection.table("people"), ["age"], "ill")
    release = ap.suppress(m, ap.mondrian(m, 2))
    release.write(tmp_path / "out.csv")
    assert len(pd.read_csv(tmp_path / "out.csv")) == 12
    assert release.audit()["level"][0] == 4


@pytest.mark.parametrize("sensitive", ["ill", None, ["ill", "drug"]])
def test_the_audit_of_the_table_itself_is_the_same(sensitive, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.integers(0, 5, 90) for name in ("age", "zip", "drug", "ill")})
    m = ap.Microdata(frame, ["age", "zip"], sensitive)
    big = ap.scan(saved(frame, tmp_path / "in.parquet"), ["age", "zip"], sensitive)
    mine, theirs = (report.audit(table, 3) for table in (big, m))
    for name in theirs:
        for group in theirs[name] if name.startswith("riskiest") else ():
            del group["in rows"]
    assert mine == theirs
