"""Every digit survives every door: what is published is what was read, in its order."""

import datetime as dt
from collections import Counter
from decimal import Decimal as D
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

import anonpaper as ap

pytest.importorskip("ibis", reason="tables are scanned by Ibis: anonpaper[scale]")
pytest.importorskip("duckdb", reason="files are scanned by DuckDB: anonpaper[scale]")
pa = pytest.importorskip("pyarrow", reason="parquet needs pyarrow: anonpaper[parquet]")

from pyarrow import parquet  # noqa: E402

DAYS = [dt.date(1945, 12, 31), dt.date(2020, 1, 2), dt.date(2020, 1, 10)]
BERLIN = ZoneInfo("Europe/Berlin")
NOONS = [dt.datetime(2020, 1, day, 12, 0, day) for day in (2, 9, 10)]
#: Of every type of Arrow, values in their order.
TYPES = {
    **{pa.type_for_alias(name): [0, 1, 9, 10, 2 ** (bits - 1) - 2, 2 ** (bits - 1) - 1]
       for bits in (8, 16, 32, 64) for name in (f"int{bits}", f"uint{bits}")},
    pa.float32(): [-1.5, 0.1, 0.2, 10.5], pa.float64(): [-1.5, 0.1, 0.2, 10.5],
    pa.decimal128(5, 2): [D("-1.50"), D("0.10"), D("9.00"), D("10.00")],
    pa.decimal128(20, 0): [D(5 * 10**18 + i) for i in range(3)],
    pa.date32(): DAYS, pa.date64(): DAYS,
    pa.time32("s"): [dt.time(9, 5), dt.time(10)], pa.time64("us"): [dt.time(9, 5), dt.time(10)],
    pa.timestamp("s"): NOONS, pa.timestamp("us"): NOONS, pa.timestamp("ns"): NOONS,
    pa.timestamp("us", "Europe/Berlin"): [noon.replace(tzinfo=BERLIN) for noon in NOONS],
    pa.bool_(): [False, True], pa.string(): ["010", "10", "a,b", 'q"'],
    pa.large_string(): ["a", "b"], pa.dictionary(pa.int8(), pa.string()): ["a", "b"],
    pa.dictionary(pa.int32(), pa.int64()): [9, 2**60, 2**60 + 1],
}  # fmt: skip
NULLABLE = {pa.type_for_alias(name.lower()): pd.api.types.pandas_dtype(name)
            for bits in (8, 16, 32, 64) for name in (f"Int{bits}", f"UInt{bits}")}  # fmt: skip
NULLABLE |= {pa.bool_(): pd.BooleanDtype(), pa.string(): pd.StringDtype()}


def through(door, table, path):
    if door in ("read", "scan"):
        parquet.write_table(table, path / "in.parquet")
        return getattr(ap, door)(path / "in.parquet", ["q"], "ill", missing="category")
    mapper = {"numpy": None, "nullable": NULLABLE.get, "arrow": pd.ArrowDtype}[door]
    frame = table.to_pandas(types_mapper=mapper, integer_object_nulls=True)
    return ap.Microdata(frame, ["q"], "ill", missing="category")


def published(m, path):
    rel = ap.suppress(m, ap.tp(m, 2) if not m.has_rows else ap.Partition(m.cells.tuple_of_row))
    [out] = rel.write(path / "out.csv")
    return Counter(pd.read_csv(out, dtype=str, keep_default_na=False)["q"])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("door", ["read", "scan", "numpy", "nullable", "arrow"])
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_what_is_published_is_what_was_read(kind, nulls, door, tmp_path):
    values = TYPES[kind]
    categories = pa.types.is_dictionary(kind)  # which a DataFrame has in the order of the rows
    rows = [*(values if categories else values[::-1]), *[None] * nulls] * 2
    column = pa.array(rows, kind.value_type if categories else kind)
    column = column.dictionary_encode() if categories else column
    table = pa.table({"q": column, "ill": ["a"] * (len(rows) // 2) + ["b"] * (len(rows) // 2)})
    m = through(door, table, tmp_path)
    attribute = m.attribute("q")
    shown = [str(value) for value in attribute.values]
    assert shown == [*map(str, values), *["?"] * nulls]
    assert published(m, tmp_path) == dict.fromkeys(shown, 2)
    assert m.cells.counts.tolist() == [1] * 2 * len(shown)
    textual = "string" in str(kind) or pa.types.is_boolean(kind)
    assert attribute.ordered != textual and attribute.numeric <= (not nulls)
