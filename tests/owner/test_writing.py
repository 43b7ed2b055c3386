"""Releases of scanned tables: written whole or not at all, and audited as they were written."""

import signal
import subprocess
import sys
import textwrap

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
    m = ap.scan(tmp_path / "in.csv", ["age"], "ill")
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


def test_a_file_that_changes_after_the_scan_is_noticed(release, source, frame, tmp_path):
    frame.iloc[:7].to_parquet(tmp_path / "in1.parquet")
    with pytest.raises(errors.FileError, match="in1.parquet has changed since"):
        release.write(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_file_that_is_lost_after_the_scan_is_noticed(release, tmp_path):
    (tmp_path / "in0.parquet").unlink()
    with pytest.raises(errors.FileError, match=r"in0.parquet: No such file"):
        release.write(tmp_path / "out.csv")


def test_a_table_that_grows_after_the_scan_is_noticed(frame, tmp_path):
    connection = ibis.duckdb.connect()
    connection.create_table("people", frame)
    m = ap.scan(connection.table("people"), QI, "ill")
    connection.insert("people", frame.iloc[:1])
    with pytest.raises(errors.FileError, match="had 400 rows and has 401"):
        ap.suppress(m, ap.mondrian(m, 5)).write(tmp_path / "out.csv")


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
    with pytest.raises(errors.ParameterError, match="engine"):
        ap.scan(source, QI, engine="duckdb")
    with pytest.raises(errors.ColumnError):
        ap.scan(source, ["name"]).with_roles(["age"])


# -- what can happen to the output ---------------------------------------------------------------

_MANY = textwrap.dedent("""
    import resource, signal, sys
    import pandas as pd
    import anonpaper as ap
    source, out, at_limit = sys.argv[1:]
    m = ap.scan(source, ["age"], "ill")
    rel = ap.suppress(m, ap.mondrian(m, 2))
    signal.signal(signal.SIGXFSZ, getattr(signal, at_limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
    try:
        rel.write(out)
    except ap.errors.FileError as error:
        print("FileError", error)
""")


@pytest.fixture
def many(tmp_path):
    """One combination as often as there are two million rows, so that writing takes a while."""
    rng = np.random.default_rng(0)
    ages = rng.integers(0, 2**40, 500).astype(str)
    frame = pd.DataFrame({"age": np.repeat(ages, 4_000), "ill": rng.choice(["a", "b"], 2_000_000)})
    frame.to_parquet(tmp_path / "in.parquet", index=False)
    return tmp_path / "in.parquet"


def run(many, out, at_limit):
    """Write in a process whose files may have 1,000 bytes."""
    command = [sys.executable, "-c", _MANY, many, out, at_limit]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(sys.platform != "linux", reason="limits on file sizes are the system's")
@PLACES
def test_a_full_disk_leaves_nothing(name, many, tmp_path):
    """A limit on the size of files stands for the end of the disk."""
    assert f"FileError {tmp_path / name}" in run(many, tmp_path / name, "SIG_IGN").stdout
    assert {path.name for path in tmp_path.iterdir()} == {"in.parquet"}


@pytest.mark.skipif(sys.platform != "linux", reason="processes are killed as on Linux")
@PLACES
def test_a_killed_write_leaves_nothing_that_looks_complete(name, many, tmp_path):
    """The signal at the limit ends it at once."""
    assert run(many, tmp_path / name, "SIG_DFL").returncode == -signal.SIGXFSZ
    assert {path.name for path in tmp_path.iterdir()} <= {"in.parquet"}
