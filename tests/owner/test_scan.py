"""A table scanned by an engine is the same table as the one read into memory."""

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper import errors
from anonpaper.owner.reader import read_table

pytest.importorskip("ibis", reason="tables are scanned by Ibis: anonpaper[scale]")
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


def test_columns_of_a_csv_are_what_the_command_line_reads(tmp_path):
    path = tmp_path / "one.tsv"
    path.write_text(
        "zip\tyear\tshare\tday\ttext\n02139\t1999\t1.50\t2020-01-02\tNA\n"
        '7\t2001\t1.5\t2019-12-31\t""\n02139\t\t-2e3\t2020-01-02\t"a\nb"\n'
    )
    read = read_table(str(path)).frame
    assert_same_table(
        ap.scan(path, list(read), missing="category"),
        ap.Microdata(read, list(read), missing="category"),
    )
    as_text = read_table(str(path), types={"year": "text"}).frame
    assert_same_table(
        ap.scan(path, ["year"], types={"year": "text"}, missing="category"),
        ap.Microdata(as_text, ["year"], missing="category"),
    )


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
