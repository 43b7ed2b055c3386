"""Messy tables: whatever pandas can hold, published in every way, checked from the bytes."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap

N = 24


def of(*values):
    """A column that repeats some values."""
    return pd.Series([values[i % len(values)] for i in range(N)], dtype=object)


TIMES = pd.date_range("2024-01-01", periods=3, tz="Asia/Kolkata")
COLUMNS = {
    "mixed": of(1, "a", 2.5, None),
    "numbers and texts": of(1, "b", 3),
    "time zones": pd.Series([TIMES[i % 3] for i in range(N)]),
    "dates": of(datetime.date(2024, 1, 1), None, datetime.date(2024, 5, 1)),
    "nullable": pd.array([None if i % 4 == 0 else i % 4 for i in range(N)], dtype="Int64"),
    "flags": pd.array([None, True, False] * (N // 3), dtype="boolean"),
    "floats": pd.Series([0.1, -0.0, 1e300, 30.0] * (N // 4), dtype="float64"),
    "small floats": pd.Series([0.1, 2.5] * (N // 2), dtype="float32"),
    "unsigned": pd.Series([2**63 + 1, 5, 7] * (N // 3), dtype="uint64"),
    "decimals": of(Decimal("1.10"), Decimal("2.2"), None),
    "right to left": of("שלום", "مرحبا", "a\u202eb"),
    "quotes and lines": of('a"b', "c,d", "e\nf", "g\rh", " i ", "'=1+1"),
    "intervals": pd.Series(pd.cut(np.arange(N) % 7, [-1, 2, 5, 9])),
    "categories": pd.Series(pd.Categorical(list("abc") * (N // 3), list("dcba"), ordered=True)),
    "ids": pd.Series([f"id-{i}" for i in range(N)]),
    "one value": of("same"),
}
ILLNESS = [["flu", "gout", "cold", "mumps"][i % 4] for i in range(N)]
LABELS = np.repeat(np.arange(N // 4), 4)


def tables():
    for name, column in COLUMNS.items():
        yield name, pd.DataFrame({"x": column, "y": range(N), "ill": ILLNESS})
    plain = pd.DataFrame({"x": np.arange(N) % 3, "y": range(N), "ill": ILLNESS})
    yield "duplicate index", plain.set_axis([0] * N)
    yield "index of two levels", plain.set_index([plain["x"].rename("a"), plain["y"].rename("b")])
    yield "columns that are numbers", plain.set_axis([0, 1, "ill"], axis=1)
    levels = pd.MultiIndex.from_tuples([("who", "x"), ("who", "y"), ("what", "ill")])
    yield "columns of two levels", plain.set_axis(levels, axis=1)
    wide = {f"q{j}": np.arange(N) % (j % 5 + 1) for j in range(299)}
    yield "300 columns", pd.DataFrame(wide | {"ill": ILLNESS})


PUBLISHED = {
    "suppress": ap.suppress,
    "generalize": ap.generalize,
    "swap": ap.swap,
    "anatomize": ap.anatomize,
    "shallow": lambda m, p: ap.shallow_generalize(
        m, p, {a.name: ap.Hierarchy.balanced(a.values) for a in m.attributes}
    ),
    "recode": lambda m, p: ap.recode(
        m, ap.Recoding(m.attributes, [np.arange(a.size) * 2 // a.size for a in m.attributes])
    ),
}


def rows(frame):
    return sorted(frame.astype(str).agg("|".join, axis=1)) if len(frame.columns) else []


def read(path):
    """Read a file with plain pandas, every field a text."""
    if path.suffix == ".csv":
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    return pd.read_parquet(path).astype(object).map(lambda v: "" if pd.isna(v) else str(v))


CASES = {f"{name}-{form}": (name, frame, form) for name, frame in tables() for form in PUBLISHED}


@pytest.mark.parametrize(("name", "frame", "form"), CASES.values(), ids=CASES)
def test_the_bytes_keep_the_promise(name, frame, form, tmp_path):
    *qi, sensitive = frame.columns
    m = ap.Microdata(frame, qi, sensitive, missing="category")
    rel = PUBLISHED[form](m, ap.Partition(LABELS))
    audit = rel.audit().set_index("principle")["level"]
    names = ["_".join(n) if isinstance(n, tuple) else str(n) for n in frame.columns]
    found = {}
    for ending in ("csv", "parquet"):
        tables = [read(path) for path in rel.write(tmp_path / f"out.{ending}")]
        assert all(table.index.equals(pd.RangeIndex(len(table))) for table in tables)
        if form == "anatomize":
            qit, st = tables
            assert qit.columns.tolist() == [*names[:-1], "group"]
            sizes = st.astype({"count": int}).groupby("group")["count"].sum()
            assert sizes.to_dict() == qit["group"].value_counts().to_dict()
            assert sizes.min() >= 4
            found[ending] = rows(qit.drop(columns="group"))
            continue
        [table] = tables
        assert table.columns.tolist() == names
        assert sorted(table[names[-1]]) == sorted(ILLNESS)
        if form != "swap":  # whoever agrees on all published values is a class
            classes = table.groupby(names[:-1])[names[-1]]
            assert classes.size().min() >= audit["k-anonymity"]
            shares = classes.agg(lambda ill: ill.value_counts().max() / len(ill))
            assert shares.max() <= audit["theta"] + 1e-9
        found[ending] = rows(table)
        if form == "swap":  # quasi-identifiers stay as they are
            found[ending] = rows(table[names[:-1]])
    assert found["csv"] == found["parquet"]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (of("?", None, "b"), "missing values and values '\\?'"),
        ([1.0, np.inf] * 12, "infinite"),
        (of("a", b"bytes"), "has bytes"),
    ],
)
def test_values_that_would_mislead_are_refused(x, message):
    m = ap.Microdata(pd.DataFrame({"x": x, "ill": ILLNESS}), ["x"], "ill", missing="category")
    with pytest.raises(ap.errors.ColumnError, match=message):
        ap.generalize(m, ap.Partition(LABELS))


@pytest.mark.parametrize("dtype", ["string", "object", "category", "Int64", "float", "bool"])
def test_columns_without_stars_keep_their_type(dtype):
    values = [0, 1, 0, 1] if dtype in ("Int64", "float", "bool") else list("abab")
    frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype), "y": [1, 1, 2, 2]})
    m = ap.Microdata(frame, ["x"], "y")
    for publish in (ap.suppress, ap.generalize):
        pd.testing.assert_frame_equal(publish(m, ap.Partition(m.cells.tuple_of_row)).frame, frame)


def test_all_permutations_of_a_group_are_equally_likely():
    m = ap.Microdata(pd.DataFrame({"q": [1, 2, 3], "s": list("abc")}), ["q"], "s")
    p = ap.Partition([0, 0, 0])
    rng = np.random.default_rng(0)
    seen = ["".join(ap.swap(m, p, rng).frame["s"]) for _ in range(3000)]
    counts = pd.Series(seen).value_counts()
    assert len(counts) == 6
    # 500 expected, standard deviation 20.4
    assert counts.between(400, 600).all()
