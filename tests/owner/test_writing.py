"""Releases of scanned tables: written whole or not at all, and audited as they were written."""

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper import errors

ibis = pytest.importorskip("ibis", reason="tables are scanned by Ibis: anonpaper[scale]")
pytest.importorskip("duckdb", reason="files are scanned by DuckDB: anonpaper[scale]")

QI = ["age", "sex"]
PLACES = pytest.mark.parametrize("name", ["out.parquet", "out.csv"])


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "ill": rng.choice(["flu", "cold, heavy", 'the "pox"', "NA"], 400),
            "age": rng.integers(20, 40, 400),
            "name": np.arange(400),
            "sex": rng.choice(["f", "m"], 400),
        }
    )


@pytest.fixture
def source(frame, tmp_path):
    for number in (0, 1):
        frame.iloc[number * 200 :][:200].to_parquet(tmp_path / f"in{number}.parquet")
    return tmp_path / "in*.parquet"


@pytest.fixture
def release(source):
    m = ap.scan(source, QI, "ill")
    return ap.suppress(m, ap.tp_plus(m, 2))


def read(paths):
    parts = [
        pd.read_csv(path, keep_default_na=False)
        if path.suffix == ".csv"
        else pd.read_parquet(path)
        for path in paths
    ]
    return pd.concat(parts)


def rows_of(frame):
    return sorted(map(tuple, frame.astype(str).to_numpy()))


def written(release, path):
    with pytest.warns(UserWarning, match="minimality"):
        return release.write(path)


@PLACES
def test_what_is_written_is_what_the_table_in_memory_publishes(name, frame, release, tmp_path):
    paths = written(release, tmp_path / name)
    m = ap.Microdata(frame, QI, "ill")
    in_memory = ap.suppress(m, ap.tp_plus(m, 2)).public_frame()
    assert list(read(paths)) == ["ill", "age", "sex"] == list(in_memory)
    assert rows_of(read(paths)) == rows_of(in_memory)
    assert not list(tmp_path.glob(".writing*"))


@PLACES
def test_the_order_of_rows_says_nothing(name, frame, tmp_path):
    """Whatever the order of the input, the files are the same, byte for byte."""
    contents = []
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        frame.sample(frac=1, random_state=seed).to_parquet(folder / "in.parquet")
        m = ap.scan(folder / "in.parquet", QI, "ill")
        paths = ap.generalize(m, ap.mondrian(m, 5)).write(folder / name)
        assert rows_of(read(paths)) == list(map(tuple, read(paths).astype(str).to_numpy()))
        contents.append([path.read_bytes() for path in paths])
    assert contents[0] == contents[1]


@PLACES
def test_the_audit_is_of_the_files(name, frame, release, tmp_path):
    before = release.audit()
    [path] = written(release, tmp_path / name)
    pd.testing.assert_frame_equal(release.audit(), before)
    assert ap.FrequencyLDiversity(2).holds(release.audited())
    changed = read([path]).astype(str)
    changed["ill"] = "flu"
    if path.suffix == ".csv":
        changed.to_csv(path, index=False)
    else:
        changed.to_parquet(path, index=False)
    levels = release.audit().set_index("principle")["level"]
    assert levels["distinct l-diversity"] == 1
    assert levels["k-anonymity"] == before["level"][0]


def test_a_recoding_that_withholds_rows_is_written_and_audited(frame, tmp_path):
    frame.loc[:2, "sex"] = "x"
    frame.to_parquet(tmp_path / "in.parquet")
    big, m = ap.scan(tmp_path / "in.parquet", QI, "ill"), ap.Microdata(frame, QI, "ill")
    mine, theirs = (ap.recode(t, ap.full_domain(t, 8, suppression=0.3)) for t in (big, m))
    paths = mine.write(tmp_path / "out.csv")
    assert mine.withheld == theirs.withheld
    assert mine.withheld[0] > 0
    pd.testing.assert_frame_equal(mine.audit(), theirs.audit())
    assert rows_of(read(paths)) == rows_of(theirs.public_frame())


def test_values_that_would_be_written_alike_are_refused(tmp_path):
    pd.DataFrame({"age": ["*", "*", "1", "2"], "ill": list("abab")}).to_csv(
        tmp_path / "in.csv", index=False
    )
    m = ap.scan(tmp_path / "in.csv", ["age"], "ill", types={"age": "text"})
    with pytest.raises(errors.ColumnError, match="rename"):
        ap.suppress(m, ap.hilbert(m, 2)).write(tmp_path / "out.csv")


# -- places ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.xlsx", "out", "none/out.csv", "in0.parquet/out.csv", ""])
def test_a_place_that_cannot_be_is_refused(name, release, tmp_path):
    with pytest.raises(errors.FileError):
        release.write(tmp_path / name if name else "")


def test_the_input_is_never_replaced(release, tmp_path):
    with pytest.raises(errors.FileError, match="the input"):
        release.write(tmp_path / "in0.parquet")
    assert len(pd.read_parquet(tmp_path / "in0.parquet")) == 200


# -- what can happen to the input ----------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "change",
    [
        lambda f: f.rename(columns={"age": "years"}),
        lambda f: f[["age", "ill", "sex", "name"]],
        lambda f: f.drop(columns="name"),
    ],
)
def test_files_of_different_columns_are_no_table(change, ending, frame, tmp_path):
    for name, part in (("a", frame), ("b", change(frame))):
        if ending == "csv":
            part.to_csv(tmp_path / f"{name}.csv", index=False)
        else:
            part.to_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(errors.FileError, match=r"b\.\w+ has the columns"):
        ap.scan(f"{tmp_path}/*.{ending}", QI, "ill")


def test_files_of_different_types_are_no_table(source, frame, tmp_path):
    frame.astype({"age": str}).to_parquet(tmp_path / "in9.parquet")
    with pytest.raises(errors.FileError, match=r"in9.parquet has the columns .*int64"):
        ap.scan(source, QI, "ill")


def test_files_that_are_none_are_refused(source, tmp_path):
    with pytest.raises(errors.FileError, match="no such file"):
        ap.scan(tmp_path / "none*.csv", QI)
    (tmp_path / "in5.parquet").write_text("not so")
    with pytest.raises(errors.FileError, match="in5.parquet is not a parquet file"):
        ap.scan(source, QI)
    (tmp_path / "a.csv").write_text("age,sex\n1,f\n2\n")
    with pytest.raises(errors.FileError, match="a.csv"):
        ap.scan(tmp_path / "a.csv", QI)
    with pytest.raises(
        errors.FileError, match=r"a\.csv, .*in0\.parquet: all files must end in \.parquet"
    ):
        ap.scan([tmp_path / "a.csv", tmp_path / "in0.parquet"], QI)
    (tmp_path / "b.csv").write_text("age,sex\n")
    with pytest.raises(errors.EmptyTableError):
        ap.scan(tmp_path / "b.csv", QI)
    with pytest.raises(errors.ParameterError, match="a path, a pattern"):
        ap.scan(3, QI)


def test_unknown_columns_and_engines_are_refused(source):
    with pytest.raises(errors.ColumnError, match="unknown columns"):
        ap.scan(source, ["height"])
    with pytest.raises(errors.ColumnError, match="types"):
        ap.scan(source, QI, types={"height": "text"})
    with pytest.raises(errors.ColumnError):
        ap.scan(source, ["name"]).with_roles(["age"])
