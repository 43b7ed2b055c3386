"""A table scanned by an engine is the same table as the one read into memory."""

import datetime
import decimal

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


COLUMNS = {
    "integers": [3, 1, 2, 1],
    "integers with gaps": pd.array([3, None, 2, 2**60], "Int64"),
    "numbers": [0.5, -0.0, 0.0, np.nan],
    "truth": [True, False, True, True],
    "truth with gaps": [True, None, False, True],
    "dates": [datetime.date(2020, 1, d) for d in (3, 1, 2, 1)],
    "instants": pd.to_datetime(
        ["2020-01-02 03:04:05.678", *["2019-01-01 00:00:00.000"] * 2, None]
    ),
    "zoned": pd.to_datetime(["2020-01-02", "2019-07-01", "2020-01-02", "2019-01-01"]).tz_localize(
        "Europe/Berlin"
    ),
    "decimals": [decimal.Decimal(text) for text in ("1.50", "0.10", "1.50", "2.00")],
    "categories": pd.Categorical(["b", "a", None, "b"]),
    "text": pd.array(["b", "", "NA", None], "string"),
    "small": np.array([1, 2, 3, 3], np.int8),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_parquet_are_what_pandas_reads(name, tmp_path):
    path = tmp_path / "one.parquet"
    pd.DataFrame({name: COLUMNS[name], "ill": list("aabb")}).to_parquet(path)
    for missing in ("category", "drop"):
        m = ap.Microdata(pd.read_parquet(path), [name], "ill", missing=missing)
        assert_same_table(ap.scan(path, [name], "ill", missing=missing), m)


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


def test_k_member_deals_the_rows_of_a_tuple_at_random(tmp_path):
    """Of a tuple of six, three with each value, a cluster of three holds any combination."""
    frame = pd.DataFrame({"age": [1] * 6, "ill": list("aaabbb")})
    frame.to_parquet(tmp_path / "six.parquet")
    big = ap.scan(tmp_path / "six.parquet", ["age"], "ill")
    seen = []
    for seed in range(300):
        p = ap.k_member(big, 3, seed=seed)
        assert p.sizes().tolist() == [3, 3]
        first = p.counts[(p.group == 0) & (p.cell == 0)]
        seen.append(int(first.sum()))
    share = np.bincount(seen, minlength=4) / 300
    assert np.abs(share - np.array([1, 9, 9, 1]) / 20).max() < 0.1


NEEDS_ROWS = {
    "frame": lambda m: m.frame,
    "codes": lambda m: m.codes,
    "codes_of": lambda m: m.codes_of("age"),
    "take": lambda m: m.take([0]),
    "sample": lambda m: m.sample(3, 0),
    "row by row": lambda m: ap.suppress(m, ap.tp(m, 2)).is_published,
    "labels": lambda m: ap.tp(m, 2).labels,
    "groups": lambda m: ap.tp(m, 2).groups(),
    "swap's frame": lambda m: ap.swap(m, ap.tp(m, 2)).frame,
    "anatomy's frame": lambda m: ap.anatomize(m, ap.mondrian(m, 4)).qit,
    "release frame": lambda m: ap.suppress(m, ap.tp(m, 2)).frame,
    "keep": lambda m: ap.suppress(m, ap.tp(m, 2)).public_tables(["note"]),
    "confidence": lambda m: ap.measure.disclosure_confidence(ap.suppress(m, ap.tp(m, 2))),
    "queries": lambda m: ap.measure.minimality(ap.suppress(m, ap.tp(m, 2))),
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
