"""Spark counts what DuckDB counts, where pyspark 4.0.5 and Java 17 are installed."""

import shutil

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap

ibis = pytest.importorskip("ibis", reason="tables are scanned by Ibis: anonpaper[scale]")
sql = pytest.importorskip("pyspark.sql", reason="needs pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java 17", allow_module_level=True)


def test_a_table_of_spark_is_scanned_written_and_audited(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(list("abcdefgh"), 300) for name in ("zip", "ill")})
    frame.assign(age=rng.integers(0, 12, 300)).to_parquet(tmp_path / "in.parquet")
    builder = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    for name in ("spark.driver.bindAddress", "spark.driver.host"):
        builder = builder.config(name, "127.0.0.1")
    spark = ibis.pyspark.connect(builder.getOrCreate())
    rows = []
    for source in (spark.read_parquet(tmp_path / "in.parquet"), tmp_path / "in.parquet"):
        m = ap.scan(source, ["age", "zip"], "ill")
        release = ap.generalize(m, ap.mondrian(m, 4, 2))
        [path] = release.write(tmp_path / "out.csv")
        assert ap.KAnonymity(4).holds(release.audited())
        rows.append(path.read_bytes())
    assert rows[0] == rows[1]
    spark._session.stop()
