from datetime import date, time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper import errors
from anonpaper.owner.cli import main


@settings(deadline=None)
@given(
    st.lists(st.integers(-9999, 9999), min_size=1, max_size=20, unique=True),
    st.sampled_from([[1], [3], [1, 2, 10], [7, 21]]),
    st.integers(0, 3),
)
def test_numbers_lie_in_their_intervals(numbers, widths, places):
    """In decimal digits, which floating point does not keep."""
    scale = 10**places
    values, steps = [n / scale for n in numbers], [w / scale for w in widths]
    for row in ap.Hierarchy.intervals(values, steps).rows:
        value = Decimal(row[0])
        for name, width in zip(row[1:-1], steps, strict=True):
            low, high = map(Decimal, name[1:-1].split(", "))
            assert low <= value < high
            assert high - low == Decimal(str(width)) and low % Decimal(str(width)) == 0


@settings(deadline=None)
@given(st.data())
def test_names_are_refused_exactly_if_they_stand_for_two_sets(data):
    """On random nested trees whose names are drawn from few."""
    size, height = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 3))
    parts, rows = list(range(size)), [[f"v{i}"] for i in range(size)]
    for _ in range(height):
        joined = data.draw(st.lists(st.integers(0, 2), min_size=5, max_size=5))
        parts = [joined[part] for part in parts]
        for row, part in zip(rows, parts, strict=True):
            row.append(f"n{part}")
    sets = {}
    for level in range(height + 1):
        for name in {row[level] for row in rows}:
            sets.setdefault(name, set()).add(frozenset(r[0] for r in rows if r[level] == name))
    if all(len(meant) == 1 for meant in sets.values()):
        assert ap.Hierarchy(rows).rows == rows
    else:
        with pytest.raises(errors.HierarchyError):
            ap.Hierarchy(rows)


@settings(deadline=None)
@given(st.lists(st.datetimes(pd.Timestamp(1700, 1, 1), pd.Timestamp(2200, 1, 1)), min_size=1))
def test_dates_are_in_the_periods_of_pandas(moments):
    tree = ap.Hierarchy.dates(pd.Series(moments), ["day", "month", "quarter", "year", "decade"])
    for when in map(pd.Timestamp, moments):
        names = [tree.generalize(when, level) for level in range(1, 6)]
        quarter = str(when.to_period("Q"))
        assert names == [
            str(when.to_period("D")), str(when.to_period("M")), f"{quarter[:4]}-{quarter[4:]}",
            str(when.year), f"{when.year // 10}0s",
        ]  # fmt: skip


def test_texts_are_dates_of_the_form_that_is_said():
    when = pd.date_range("1999-12-30", periods=40, freq="17D")
    for form in ("%d.%m.%Y", "%m/%d/%Y", "%d %B %Y", "%Y%m%d"):
        tree = ap.Hierarchy.dates(when.strftime(form).tolist(), ["day", "year"], form=form)
        assert [row[1:3] for row in tree.rows] == [[f"{d:%Y-%m-%d}", f"{d:%Y}"] for d in when]
    assert ap.Hierarchy.dates(["2024"], ["year", "decade"], form="%Y").rows[0][2] == "2020s"
    early = ap.Hierarchy.dates(["0987-06-05", date(9999, 1, 2)])
    assert [row[1:4] for row in early.rows] == [
        ["0987-06", "0987-Q2", "0987"], ["9999-01", "9999-Q1", "9999"],
    ]  # fmt: skip


def test_a_column_is_a_domain_and_a_gap_keeps_its_sign():
    frame = pd.DataFrame({"age": [31.0, np.nan, 17.0, 31.0], "zip": ["021", None, "022", "021"]})
    m = ap.Microdata(frame, ["age", "zip"], missing="category")
    for tree, name in [
        (ap.Hierarchy.intervals(frame["age"], [10]), "age"),
        (ap.Hierarchy.prefixes(frame["zip"]), "zip"),
        (ap.Hierarchy.balanced(frame["zip"], 2), "zip"),
        (ap.Hierarchy.dates(pd.Series([None, "2024-01-01"])), None),
    ]:
        assert tree.generalize("?", 0) == "?" and tree.generalize("?", tree.height) == "*"
        if name:
            assert tree.maps(m.attribute(name)).shape == (tree.height + 1, m.attribute(name).size)


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        ("intervals", (["x"], [3]), "a value"),
        ("prefixes", (["ab"], [0]), "keep"),
        ("prefixes", (["abc", "abd", "acd"], [1, 2]), "'a..' .* two parents"),
        ("intervals", ([7, 12, 17], [10, 15]), "two parents"),
        *(("dates", ([bad],), "not a date") for bad in (
            "31.12.x", object(), 2024, "02139", "now", "10:15", "Feb", "1-2-3", "20241231",
            "2024-02-30", "2024-12-31 x", pd.NaT, time(10, 15), "\u0662\u0660\u0662\u0664-12-31")),
        ("dates", (["12/31/2024"],), "form="),
        ("dates", (["31.12.2024"], ["year"], "%m.%d.%Y"), "of the form"),
        ("dates", (["31.12."], ["month"], "%d.%m."), "form must"),
        ("dates", (["2024"], ["month"], "%Y"), "form must"), ("dates", (["now"], (), 5), "form"),
        ("dates", (["%d 12 2024"], ["day"], "%%d %m %Y"), "form must"),
        ("dates", (["31.12.45"], ["year"], "%d.%m.%y"), "form must"),
        ("dates", (["2024-01-01"], ["week"]), "'month' or"),
        ("dates", (["2024-01-01", "2024-02-01"], ["year", "month"]), "two parents"),
    ],
)  # fmt: skip
def test_hierarchies_that_cannot_be_made_say_why(make, arguments, message):
    with pytest.raises(errors.AnonpaperError, match=message):
        getattr(ap.Hierarchy, make)(*arguments)


@pytest.mark.parametrize("rows", [
    [[34, "young"], [35, ""]], [[34, "young"], [35, " "]], [[34, "young"], [35, None]],
    [[34, "young"], [35, pd.NA]], [[34, "young"], [35, np.nan]], [[34, "young"], [35]],
])  # fmt: skip
def test_a_name_that_lacks_is_told_with_its_row(rows, tmp_path):
    with pytest.raises(errors.HierarchyError, match="row 2 is .'35'"):
        ap.Hierarchy(rows)
    (path := tmp_path / "t.csv").write_text("34;young\n35;\n")
    with pytest.raises(errors.HierarchyError, match="row 2 is .'35', ''"):
        ap.Hierarchy.from_csv(path)


NUMBERS = ["{}", "{}.0", "{}.00", "{}e0", "+{}"]


@pytest.mark.parametrize("in_tree", NUMBERS)
@pytest.mark.parametrize("dtype", ["int64", "float64", "Int64", object])
def test_numbers_and_missing_values_find_their_rows(dtype, in_tree, tmp_path):
    """The same from a file, from the rows of a frame, and on the command line."""
    ages, gap = [34, 35, 44, 45] * 3, dtype != "int64"
    frame = pd.DataFrame({"age": pd.Series(ages + [None] * gap * 3, dtype=dtype)})
    rows = [[in_tree.format(age), f"{age // 10}0s", "*"] for age in ages[:4]]
    lines = [";".join(row) for row in [*rows, ["", "unknown", "*"]]]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    m = ap.Microdata(frame, ["age"], missing="category")
    p = ap.Partition([0, 0, 1, 1] * 3 + [2, 2, 2] * gap)
    trees = [ap.Hierarchy([*rows, [lost, "unknown", "*"]]) for lost in (None, np.nan, pd.NA, "?")]
    for tree in [ap.Hierarchy.from_csv(tmp_path / "t.csv"), *trees]:
        shown = ap.shallow_generalize(m, p, {"age": tree}).frame["age"].astype(str).tolist()
        assert shown == ["30s", "30s", "40s", "40s"] * 3 + ["?"] * gap * 3
    frame.to_csv(tmp_path / "in.csv", index_label="id")
    told = ["anonymize", tmp_path / "in.csv", "--qi", "age", "--method", "mondrian", "--k", "3",
            "--publish", "shallow", "--hierarchy", f"age={tmp_path / 't.csv'}", "--force",
            "--missing", "category", "-o", tmp_path / "out.csv", "-q"]  # fmt: skip
    assert main([*map(str, told)]) == 0


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, unique=True))
def test_any_text_survives_the_csv_format(values):
    import tempfile
    from pathlib import Path

    tree = ap.Hierarchy.flat([value for value in values if value != "*"] or ["a"])
    with tempfile.TemporaryDirectory() as folder:
        tree.to_csv(Path(folder, "h.csv"))
        assert ap.Hierarchy.from_csv(Path(folder, "h.csv")).rows == tree.rows


def test_a_partition_says_how_many_rows_it_has():
    named = ap.Partition([0, 0, -1], {}, "tp, l = 2")
    assert repr(named) == "Partition(tp, l = 2: 3 rows in 1 groups, 1 not published)"
    assert repr(ap.Partition([0, 1])) == "Partition(2 rows in 2 groups)"
