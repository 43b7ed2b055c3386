"""A scanned table is the same table as the one read into memory; so is what is published of it."""

import os
from collections import Counter
from functools import partial
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

import anonpaper as ap
from anonpaper import errors
from anonpaper.microdata import handed_out
from anonpaper.owner import report
from anonpaper.owner.reader import Table
from anonpaper.randomness import generator

ibis = pytest.importorskip("ibis", reason="tables are scanned by Ibis: anonpaper[scale]")
pytest.importorskip("duckdb", reason="files are scanned by DuckDB: anonpaper[scale]")
pa = pytest.importorskip("pyarrow", reason="parquet needs pyarrow: anonpaper[parquet]")

QI = ["age", "sex", "zip"]
EITHER = pytest.mark.parametrize("ending", ["csv", "parquet"])


def people(seed, n=300):
    """Draw a table with numbers, texts that look like numbers, and missing values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "note": rng.choice(["x", "y"], n), "age": rng.integers(0, 12, n),
        "sex": rng.choice(["f", "m", None], n, p=[0.5, 0.4, 0.1]),
        "zip": rng.choice(["02139", "02140", "7", "a,b", 'q"'], n),
        "ill": rng.choice([*"abcdef", "cold, heavy", 'the "pox"'], n),
        "drug": rng.choice(["p", "q", "r", "s"], n),
    })  # fmt: skip
    if seed % 2:
        frame["age"] = frame["age"].where(rng.random(n) < 0.95) / 2
    return frame


def few(first=0, n=12):
    ages, ills = [first + i % 3 for i in range(n)], ["flu", "cold"] * (n // 2)
    return pd.DataFrame({"age": ages, "ill": ills})


def saved(frame, path):
    path.parent.mkdir(exist_ok=True)
    (frame.to_csv if path.suffix == ".csv" else frame.to_parquet)(path, index=False)
    return path


def rows_of(frame):
    return sorted(map(tuple, frame.astype(str).to_numpy()))


def both(frame, path, ending="parquet", qi=QI, sensitive="ill", **options):
    """Scan a table from three files, and read it into memory."""
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), 3)):
        saved(frame.iloc[rows], path / "in" / f"{number}.{ending}")
    options = {"missing": "category"} | options
    if ending == "csv":
        frame = Table.opened(str(saved(frame, path / "whole.csv"))).read().frame
    big = ap.scan(f"{path}/in/*.{ending}", qi, sensitive, **options)
    return big, ap.Microdata(frame, qi, sensitive, **options)


def assert_same_table(big, m):
    attributes = [
        [(a.name, [(type(v), v) for v in a.values], a.numeric, a.ordered, a.positions.tolist())
         for a in map(t.attribute, [*t.qi, *t.sensitives])]
        for t in (big, m)
    ]  # fmt: skip
    assert attributes[0] == attributes[1]
    assert (big.n, big.dropped, big.qi, big.sensitive) == (m.n, m.dropped, m.qi, m.sensitive)
    for part in ("tuples", "start", "secrets", "counts", "tuple_start"):
        assert getattr(big.cells, part).tolist() == getattr(m.cells, part).tolist(), part


@EITHER
@pytest.mark.parametrize("missing", ["category", "drop"])
@pytest.mark.parametrize("seed", range(4))
def test_a_scanned_table_has_the_same_cells(seed, missing, ending, tmp_path):
    assert_same_table(*both(people(seed), tmp_path, ending, missing=missing))


def test_a_table_of_a_database_that_writes_no_files_is_published(tmp_path):
    frame, connection = people(0), ibis.sqlite.connect()
    table = connection.create_table("people", frame)
    m = ap.scan(table.filter(table.age > 3), QI, "ill", missing="category")
    assert_same_table(m, ap.Microdata(frame[frame.age > 3], QI, "ill", missing="category"))
    release = ap.suppress(m, ap.mondrian(m, 2))
    release.write(tmp_path / "out.csv")
    assert len(pd.read_csv(tmp_path / "out.csv")) == m.n and release.audit()["level"][0] >= 2


@pytest.mark.parametrize("sensitive", ["ill", None, ["ill", "drug"]])
def test_the_audit_of_the_table_itself_is_the_same(sensitive, tmp_path):
    found = [report.audit(t, 3) for t in both(people(0), tmp_path, sensitive=sensitive)]
    for name in found[0]:
        for group in found[1][name] if name.startswith("riskiest") else ():
            del group["in rows"]
    assert found[0] == found[1]


DOORS = {
    "suppress": lambda m: ap.suppress(m, ap.tp_plus(m, 2)),
    "generalize": lambda m: ap.generalize(m, ap.mondrian(m, 4, 2)),
    "recode": lambda m: ap.recode(m, ap.full_domain(m, 8, suppression=0.3)),
    "swap": lambda m: ap.swap(m, ap.mondrian(m, 8, 2)),
    "anatomize": lambda m: ap.anatomize(m, ap.mondrian(m, 8, 2)),
}


@EITHER
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_written_is_what_the_table_in_memory_publishes(door, ending, tmp_path):
    frame = people(0).assign(sex=lambda f: f["sex"].fillna("x"))
    big, m = both(frame, tmp_path)
    mine, theirs = DOORS[door](big), DOORS[door](m)
    before = mine.audit()
    pd.testing.assert_frame_equal(before, theirs.audit())
    assert ap.measure.gcp(mine) == pytest.approx(ap.measure.gcp(theirs))
    assert mine.withheld == pytest.approx(theirs.withheld, nan_ok=True)
    assert repr(mine) == repr(theirs)
    paths = mine.write(tmp_path / f"out.{ending}")
    assert not list(tmp_path.glob(".writing*"))
    read = pd.read_parquet if ending == "parquet" else partial(pd.read_csv, keep_default_na=False)
    tables = [read(path) for path in paths]
    for table in tables:  # the order depends on what is published alone
        assert rows_of(table) == list(map(tuple, table.astype(str).to_numpy()))
    if door == "anatomize":
        assert groups_of(*tables) == groups_of(*theirs.public_tables())
    else:
        assert list(tables[0]) == list(theirs.public_frame())
        same = QI if door == "swap" else list(tables[0])
        assert rows_of(tables[0][same]) == rows_of(theirs.public_frame()[same])
    pd.testing.assert_frame_equal(mine.audit(), before)
    saved(tables[-1][1:], paths[-1])
    with pytest.raises(errors.FileError, match="does not hold what was written"):
        mine.audit()


def groups_of(qit, st):
    """What an anatomy says of every group, whatever its number."""
    return sorted(
        (rows_of(part.drop(columns="group")), rows_of(st[st["group"] == g].drop(columns="group")))
        for g, part in qit.groupby("group")
    )


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
    with pytest.raises(errors.RowsError, match="this needs single rows, but a table of counts"):
        NEEDS_ROWS[name](both(people(0), tmp_path)[0])


def test_partitions_are_of_the_table_they_were_made_of(tmp_path):
    big, m = both(people(0), tmp_path)
    for of, other, says in ((big, m, "counts"), (m, big, "counts"), (big, big, "another table")):
        p = ap.tp(other, 2)
        with pytest.raises(errors.ParameterError, match=says):
            ap.suppress(of.with_roles(["age"]) if of is other else of, p)


@EITHER
@pytest.mark.parametrize("name", ["a[1]", "a*", "a?", "age=7/in"])
def test_a_name_is_no_pattern_and_no_value(name, ending, tmp_path):
    saved(few(70), tmp_path / f"a1.{ending}")
    path = saved(few(), tmp_path / f"{name}.{ending}")
    assert ap.scan(path, ["age"], "ill").attributes[0].values.tolist() == [0, 1, 2]


@EITHER
def test_nobody_is_counted_twice(ending, tmp_path):
    (tmp_path / f"b.{ending}").symlink_to(saved(few(), tmp_path / f"a.{ending}"))
    assert ap.scan(tmp_path / f"*.{ending}", ["age"], "ill").n == 12


@pytest.mark.parametrize("other", [
    lambda place: saved(few(), place / "part.parquet"), os.mkfifo,
    lambda place: place.symlink_to("a lost link"),
])  # fmt: skip
def test_what_a_pattern_names_is_not_left_out(other, tmp_path):
    saved(few(), tmp_path / "a.parquet")
    other(tmp_path / "b.parquet")
    with pytest.raises(errors.FileError, match="are no files"):
        ap.scan(tmp_path / "*.parquet", ["age"], "ill")


CASES = {
    "none*.csv": (None, errors.FileError, "are no files"),
    "short.csv": ("age,sex\n1,f\n2\n", errors.FileError, "short.csv"),
    "empty.csv": ("age,sex\n", errors.EmptyTableError, ""),
    "odd.parquet": ("not so", errors.FileError, "odd.parquet: Parquet file"),
    "blank.csv": ("\nage,ill\n1,flu\n", errors.FileError, "the first line must name the columns"),
    "other.csv": ("height\n1\n", errors.ColumnError, "unknown columns"),
    "twice.csv": ("age,Age\n1,1\n", errors.ColumnError, "upper and lower case"),
    "same.csv": ("age,age\n1,1\n", errors.ColumnError, "several columns"),
    "*": ("age\n1\n", errors.FileError, "b has the columns"),
    "*.csv": ("ill,age\nflu,1\n", errors.FileError, "b.csv has the columns"),
    3: (None, errors.ParameterError, "a path, a pattern"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_no_table_is_refused(name, tmp_path):
    content, error, says = CASES[name]
    if content:
        (tmp_path / name.replace("*", "b")).write_text(content)
        saved(few(), tmp_path / "a.csv")
    with pytest.raises(error, match=says):
        ap.scan(tmp_path / name if isinstance(name, str) else name, ["age"])


def test_a_column_of_missing_values_and_identifiers_are_read(tmp_path):
    path = saved(few().assign(age=None), tmp_path / "a.parquet")
    assert list(ap.scan(path, ["age"], missing="category").attributes[0].values) == ["?"]
    ibis.duckdb.connect().raw_sql(
        f"COPY (SELECT uuid() AS age, 'flu' AS ill FROM range(3)) TO '{tmp_path}/b.parquet'"
    )
    assert len(ap.scan(tmp_path / "b.parquet", ["age"], "ill").cells) == 3


def test_categories_with_an_order_are_asked_about(tmp_path):
    grade = pd.Categorical(["lo", "hi"], ["lo", "mid", "hi"], ordered=True)
    path = saved(pd.DataFrame({"grade": grade, "ill": ["a", "b"]}), tmp_path / "in.parquet")
    with pytest.raises(errors.ColumnError, match="categories in an order: .*types="):
        ap.scan(path, ["grade"], "ill")
    m = ap.scan(path, ["grade"], "ill", types={"grade": ["lo", "mid", "hi"]})
    assert m.attributes[0].ordered and m.attributes[0].values.tolist() == ["lo", "mid", "hi"]


@EITHER
def test_an_empty_text_is_not_audited_as_a_question_mark(ending, tmp_path):
    frame = pd.DataFrame({"age": ["", "", "?", "?"] * 3, "ill": ["flu", "cold"] * 6})
    m = ap.scan(saved(frame, tmp_path / "in.parquet"), ["age"], "ill")
    release = ap.suppress(m, ap.mondrian(m, 2))
    release.write(tmp_path / f"out.{ending}")
    assert release.audit()["level"][0] == 6


@pytest.mark.parametrize("name", ["out.xlsx", "out", "none/out.csv", "in.parquet/o.csv", "",
                                  "in.parquet"])  # fmt: skip
def test_a_place_that_cannot_be_is_refused(name, tmp_path):
    m = ap.scan(saved(few(), tmp_path / "in.parquet"), ["age"], "ill")
    with pytest.raises(errors.FileError, match="the input" if name == "in.parquet" else ""):
        ap.suppress(m, ap.mondrian(m, 2)).write(tmp_path / name if name else "")
    assert len(pd.read_parquet(tmp_path / "in.parquet")) == 12


SIGMA = [ap.DiversityConstraint({"sex": "f"}, 40, 160)]
BY_ROWS = {
    "k_member": lambda m, seed: ap.k_member(m, 4, seed),
    "oka": lambda m, seed: ap.oka(m, 4, seed),
    "klt": lambda m, seed: ap.klt(m, k=4, l=2, theta=0.5, weights={"age": 3}, seed=seed),
    "balanced_classes": lambda m, seed: ap.balanced_classes(m, k=7, l=3, seed=seed),
    "diva": lambda m, seed: ap.diva(m, SIGMA, k=3, seed=seed),
}


@pytest.mark.filterwarnings("ignore::anonpaper.partition.klt.UnplacedRowsWarning")
@pytest.mark.parametrize("name", BY_ROWS)
@pytest.mark.parametrize("seed", range(2))
def test_groups_are_those_of_the_rows_in_the_order_drawn(seed, name, tmp_path):
    big, _ = both(people(seed), tmp_path, missing="drop")
    mine, rng = BY_ROWS[name](big, seed), generator(seed)
    drawn, cell = handed_out(big, rng)
    theirs = BY_ROWS[name](ap.Microdata(drawn.frame, QI, "ill"), rng)
    assert mine.sizes().tolist() == theirs.sizes().tolist()
    assert (mine.info, len(mine)) == (theirs.info, len(theirs))
    assert (mine.counts == 1).all() and mine.cell.tolist() == cell.tolist()
    assert mine.group.tolist() == theirs.labels.tolist()


@pytest.mark.parametrize("seeded", [False, True])
def test_swapped_counts_are_distributed_as_permuted_rows(seeded, tmp_path):
    """Against all permutations of the five rows of the first group; fails once in a million."""
    frame, draws = pd.DataFrame({"age": [1, 1, 1, 2, 2, 3, 3], "ill": list("aabacbb")}), 600
    big = ap.scan(saved(frame, tmp_path / "in.parquet"), ["age"], "ill")
    ages = big.attributes[0].values[big.cells.tuples[big.cells.tuple_of_cell, 0]]
    group = np.where(ages == 3, 1, 0)
    p = ap.Partition.of_cells(big.cells, np.arange(len(group)), group, big.cells.counts)
    rng, seen, expected = np.random.default_rng(0), Counter(), Counter()
    for _ in range(draws):
        [(found, counts)] = ap.swap(big, p, rng if seeded else None).counted()
        seen[tuple(zip(found["age"], found["ill"], counts.tolist(), strict=True))] += 1
    for order in permutations(range(5)):
        rows = [*zip(frame["age"], frame["ill"].iloc[[*order, 5, 6]], strict=True)]
        expected[tuple((*row, count) for row, count in sorted(Counter(rows).items()))] += 1
    assert seen.keys() == expected.keys()
    wanted = np.array([expected[rows] for rows in seen]) / 120 * draws
    assert chisquare(list(seen.values()), wanted).pvalue > 1e-6
