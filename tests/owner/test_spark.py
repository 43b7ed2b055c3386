"""The same expressions on a real Spark session, where pyspark 4.0.5 and Java 17 are installed."""

import shutil

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap

pytest.importorskip("ibis", reason="tables are scanned by Ibis: anonpaper[scale]")
pytest.importorskip("pyspark", reason="needs pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java 17", allow_module_level=True)

QI = ["age", "sex", "zip"]


@pytest.fixture(scope="module")
def spark():
    import ibis
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    yield ibis.pyspark.connect(session)
    session.stop()


def people(seed, n=300):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "note": rng.choice(["x", "y"], n),
            "age": rng.integers(0, 12, n) / (1 + seed % 2),
            "sex": rng.choice(["f", "m", None], n),
            "zip": rng.choice(["02139", "7", "a,b", 'q"'], n),
            "ill": rng.choice(list("abcdefgh"), n),
        }
    )


def written(frame, path, ending):
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), 3)):
        part = frame.iloc[rows]
        if ending == "csv":
            part.to_csv(path / f"{number}.csv", index=False)
        else:
            part.to_parquet(path / f"{number}.parquet", index=False)
    return f"{path}/*.{ending}"


def tables(m):
    domains = [(a.name, [*map(repr, a.values)]) for a in [*m.attributes, m.sensitive_attribute]]
    cells = m.cells
    return domains, cells.tuples.tolist(), cells.sensitive.tolist(), cells.counts.tolist()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("missing", ["category", "drop"])
@pytest.mark.parametrize("seed", range(2))
def test_spark_counts_what_duckdb_counts(seed, missing, ending, spark, tmp_path):
    pattern = written(people(seed), tmp_path, ending)
    theirs = ap.scan(pattern, QI, "ill", missing=missing)
    mine = ap.scan(pattern, QI, "ill", missing=missing, engine=spark)
    assert tables(mine) == tables(theirs)
    assert (mine.n, mine.dropped) == (theirs.n, theirs.dropped)


@pytest.mark.parametrize("seed", range(2))
def test_spark_writes_and_audits_what_duckdb_does(seed, spark, tmp_path):
    pattern = written(people(seed), tmp_path, "parquet")
    releases, rows = [], []
    for place, engine in (("spark", spark), ("duckdb", None)):
        m = ap.scan(pattern, QI, "ill", missing="category", engine=engine)
        releases.append(ap.generalize(m, ap.mondrian(m, 4, 2)))
        paths = releases[-1].write(tmp_path / place)
        frame = pd.concat(map(pd.read_parquet, paths)).astype(str)
        rows.append((list(frame), sorted(map(tuple, frame.to_numpy()))))
    assert rows[0] == rows[1]
    pd.testing.assert_frame_equal(releases[0].audit(), releases[1].audit())


@pytest.mark.parametrize("publish", [ap.swap, ap.anatomize])
def test_spark_writes_and_audits_groups_that_share_values(publish, spark, tmp_path):
    m = ap.scan(
        written(people(1), tmp_path, "parquet"), QI, "ill", missing="category", engine=spark
    )
    release = publish(m, ap.klt(m, k=4, l=2, theta=0.5))
    before = release.audit()
    paths = release.write(tmp_path / "out")
    pd.testing.assert_frame_equal(release.audit(), before)
    changed = pd.read_parquet(paths[-1])[1:]
    changed.to_parquet(paths[-1])
    with pytest.raises(ap.errors.FileError):  # Spark itself sees that a sum does not check
        release.audit()


def test_spark_writes_folders_only(spark, tmp_path):
    m = ap.scan(
        written(people(0), tmp_path, "parquet"), QI, "ill", missing="category", engine=spark
    )
    with pytest.raises(ap.errors.FileError, match="name a folder"):
        ap.suppress(m, ap.mondrian(m, 4)).write(tmp_path / "out.csv")


def test_a_table_of_spark_is_scanned_where_it_is(spark):
    frame = people(0).dropna()
    spark._session.createDataFrame(frame).createOrReplaceTempView("people")
    table = spark.table("people")
    m = ap.Microdata(frame[frame.age > 3], QI, "ill")
    assert tables(ap.scan(table.filter(table.age > 3), QI, "ill", missing="category")) == tables(m)
