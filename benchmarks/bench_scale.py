"""scale: rows of seven QI in parquet files, anonymized by the engine (10,000,000 by default).

From the files to the audited release: scan, tp_plus at l = 4, suppress, write, audit of what was
written. The rows are drawn from occ, and three ages in ten are jittered. The yardstick is DuckDB's
own copy of the same files, by the same connection with the same memory. ANONPAPER_ROWS says
another number of rows; 100,000,000 take seven minutes and 400 MB of disk.

Cells are few and the same however often their rows are repeated, and so is mondrian's work.
Algorithms that look at rows one by one take counts too: klt, against klt on those rows.
"""

import importlib.util
import os
import tempfile
import warnings
from pathlib import Path

import measure
import numpy as np
import pandas as pd

import anonpaper as ap

ROWS = int(os.environ.get("ANONPAPER_ROWS", 10_000_000))
FILES = 10
L = 4


def rows():
    occ = ap.load("occ")
    yield from mondrian(occ)
    if importlib.util.find_spec("ibis") is None:
        print("the rest needs Ibis with DuckDB: pip install '.[scale]'")
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from written(occ, Path(folder))


def mondrian(occ):
    """The same cells, ten times as often, in groups that are ten times as large."""
    few = occ.sample(100_000, seed=0)
    many = few.replace(frame=pd.concat([few.frame] * 10, ignore_index=True))
    assert ap.mondrian(many, 100).n_groups == ap.mondrian(few, 10).n_groups
    seconds = measure.best_seconds(lambda: ap.mondrian(many, 100))
    unit = measure.best_seconds(lambda: ap.mondrian(few, 10))
    yield measure.against("mondrian, 1,000,000 rows of the same cells", seconds, "100,000 rows",
                          unit, 4)  # fmt: skip


def written(occ, folder):
    import ibis

    draw(occ, folder)
    engine = ibis.duckdb.connect(memory_limit="2GB", threads=1, temp_directory=f"{folder}/spill")

    def anonymize(pattern):
        m = ap.scan(
            f"{folder}/{pattern}", occ.qi, occ.sensitive, engine=engine, missing="category"
        )
        release = ap.suppress(m, ap.tp_plus(m, L))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release.write(folder / "release.pq")
        assert ap.FrequencyLDiversity(L).holds(release.audited())

    def copy():
        table = engine.read_parquet(f"{folder}/*.parquet")
        engine.to_parquet(table, folder / "copy")
        (folder / "copy").unlink()

    seconds = measure.best_seconds(lambda: anonymize("*.parquet"), repeat=1)
    unit = measure.best_seconds(copy, repeat=1)
    yield measure.against(f"scan to audit, {ROWS:,} rows", seconds, "DuckDB's COPY", unit, 6)
    tenth = measure.best_seconds(lambda: anonymize("0.parquet"), repeat=1)
    yield measure.against("the same", seconds, "a tenth of the rows", tenth, 12)
    sizes = [ROWS // 100, ROWS // 10, ROWS]
    table = engine.read_parquet(f"{folder}/*.parquet")
    first, second, all_of_them = (table.limit(n).distinct().count().to_pyarrow().as_py()
                                  for n in sizes)  # fmt: skip
    grown = second**2 / first  # as from a hundredth of the rows to a tenth
    yield measure.against(f"cells of {ROWS:,} rows", all_of_them, "the estimate", grown, 1)
    few = occ.sample(20_000, seed=0)
    few.frame.to_parquet(folder / "few.parq")
    big = ap.scan(engine.read_parquet(f"{folder}/few.parq"), occ.qi, occ.sensitive)
    seconds, unit = (
        measure.best_seconds(lambda m=m: ap.klt(m, 10, 4, 0.5), repeat=1) for m in (big, few)
    )
    yield measure.against("klt, counts of 20,000 rows", seconds, "klt on these rows", unit, 1.5)
    peak = measure.peak_bytes(lambda: anonymize("*.parquet"))
    yield measure.against("the same, peak memory", peak / 2**30, "a GiB", 1, 4)


def draw(occ, folder):
    """Write rows of occ, drawn with replacement, with other ages in three of ten."""
    rng = np.random.default_rng(0)
    columns = occ.frame[[*occ.qi, occ.sensitive]]
    for number in range(FILES):
        part = columns.iloc[rng.integers(0, len(columns), ROWS // FILES)]
        jitter = rng.integers(-5, 6, len(part)) * (rng.random(len(part)) < 0.3)
        part = part.assign(Age=part["Age"] + jitter)
        part.to_parquet(folder / f"{number}.parquet", index=False)
