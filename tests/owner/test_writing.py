"""Releases of scanned tables: written whole or not at all, by counts, audited as written."""

from collections import Counter
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

import anonpaper as ap
from anonpaper import errors
from anonpaper.microdata import handed_out
from anonpaper.randomness import generator

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
    m = ap.scan(tmp_path / "in.csv", ["age"], "ill", types={"age": "text"})
    with pytest.raises(errors.ColumnError, match="rename"):
        ap.suppress(m, ap.hilbert(m, 2)).write(tmp_path / "out.csv")


@pytest.mark.parametrize("name", ["out.xlsx", "out", "none/out.csv", "in0.parquet/out.csv", ""])
def test_a_place_that_cannot_be_is_refused(name, release, tmp_path):
    with pytest.raises(errors.FileError):
        release.write(tmp_path / name if name else "")


def test_the_input_is_never_replaced(release, tmp_path):
    with pytest.raises(errors.FileError, match="the input"):
        release.write(tmp_path / "in0.parquet")
    assert len(pd.read_parquet(tmp_path / "in0.parquet")) == 200


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


def test_what_is_no_table_is_refused(source, frame, tmp_path):
    (odd := tmp_path / "in9.parquet").write_text("not so")
    with pytest.raises(errors.FileError, match="in9.parquet is not a parquet file"):
        ap.scan(source, QI)
    frame.astype({"age": str}).to_parquet(odd)
    with pytest.raises(errors.FileError, match=r"in9.parquet has the columns .*int64"):
        ap.scan(source, QI, "ill")
    odd.unlink()
    (short := tmp_path / "a.csv").write_text("age,sex\n1,f\n2\n")
    (empty := tmp_path / "b.csv").write_text("age,sex\n")
    for given, error, says in [
        ([tmp_path / "none*.csv", QI], errors.FileError, "no such file"),
        ([short, QI], errors.FileError, "a.csv"),
        ([[short, tmp_path / "in0.parquet"], QI], errors.FileError, "all files must end in"),
        ([empty, QI], errors.EmptyTableError, None),
        ([3, QI], errors.ParameterError, "a path, a pattern"),
        ([source, ["height"]], errors.ColumnError, "unknown columns"),
        ([source, QI, None, {"height": "text"}], errors.ColumnError, "types"),
    ]:
        with pytest.raises(error, match=says):
            ap.scan(*given[:3], **({"types": given[3]} if given[3:] else {}))
    with pytest.raises(errors.ColumnError):
        ap.scan(source, ["name"]).with_roles(["age"])


THREE = ["age", "sex", "zip"]
SIGMA = [ap.DiversityConstraint({"sex": "f"}, 40, 120), ap.DiversityConstraint({"zip": 1}, 0, 30)]
#: A test of a distribution fails by chance once in a million runs.
BY_CHANCE = 1e-6


def people(seed, n=240):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 9, n),
            "sex": rng.choice(["f", "m"], n),
            "zip": rng.integers(0, 4, n) if seed % 2 else rng.choice([1, 7], n),
            "ill": rng.choice(list("abcdefgh"), n),
        }
    )


def scanned(frame, path, qi=THREE, sensitive="ill"):
    frame.to_parquet(path / "in.parquet", index=False)
    return ap.scan(path / "in.parquet", qi, sensitive)


BY_ROWS = {
    "k_member": lambda m, seed: ap.k_member(m, 4, seed),
    "oka": lambda m, seed: ap.oka(m, 4, seed),
    "klt": lambda m, seed: ap.klt(m, k=4, l=2, theta=0.5, weights={"age": 3}, seed=seed),
    "balanced_classes": lambda m, seed: ap.balanced_classes(m, k=7, l=3, seed=seed),
    "diva": lambda m, seed: ap.diva(m, SIGMA, k=3, seed=seed),
    "diva, l": lambda m, seed: ap.diva(m, SIGMA, k=3, l=2, seed=seed),
}


@pytest.mark.filterwarnings("ignore::anonpaper.partition.klt.UnplacedRowsWarning")
@pytest.mark.parametrize("name", BY_ROWS)
@pytest.mark.parametrize("seed", range(2))
def test_groups_are_those_of_the_rows_in_the_order_drawn(seed, name, tmp_path):
    big = scanned(people(seed), tmp_path)
    mine = BY_ROWS[name](big, seed)
    rng = generator(seed)
    drawn, cell = handed_out(big, rng)
    m = ap.Microdata(drawn.frame, THREE, "ill")
    theirs = BY_ROWS[name](m, rng)
    assert mine.sizes().tolist() == theirs.sizes().tolist()
    assert (mine.info, len(mine)) == (theirs.info, len(theirs))
    assert (mine.counts == 1).all() and mine.cell.tolist() == cell.tolist()
    assert mine.group.tolist() == theirs.labels.tolist()


def test_all_orders_of_the_rows_are_equally_likely(tmp_path):
    """Two rows of four are equal, so that there are twelve orders."""
    frame = pd.DataFrame({"age": [1, 1, 2, 3], "ill": list("aabc")})
    cells, rng = scanned(frame, tmp_path, ["age"]).cells, np.random.default_rng(0)
    seen = Counter(tuple(cells.handed_out(rng).tolist()) for _ in range(6_000))
    assert len(seen) == 12
    assert chisquare(list(seen.values())).pvalue > BY_CHANCE


FEW = pd.DataFrame({"age": [1, 1, 1, 2, 2, 3, 3], "ill": list("aabacbb")})
DRAWS = 600
PAIR = {1: 0, 2: 0, 3: 1}  # the group of every age


def few_in_two_groups(path):
    big = scanned(FEW, path, ["age"])
    cells, ages = big.cells, big.attributes[0].values
    group = np.array([PAIR[ages[code]] for code in cells.tuples[cells.tuple_of_cell, 0]])
    return big, ap.Partition.of_cells(cells, np.arange(len(group)), group, cells.counts)


@pytest.mark.parametrize("seeded", [False, True])
def test_swapped_counts_are_distributed_as_permuted_rows(seeded, tmp_path):
    """Against all permutations of the five rows of the first group."""
    big, p = few_in_two_groups(tmp_path)
    rng = np.random.default_rng(0)
    seen = Counter()
    for _ in range(DRAWS):
        [(frame, counts)] = ap.swap(big, p, rng if seeded else None).counted()
        seen[tuple(zip(frame["age"], frame["ill"], counts.tolist(), strict=True))] += 1
    expected = Counter()
    for order in permutations(range(5)):
        rows = [*zip(FEW["age"], FEW["ill"].iloc[[*order, 5, 6]], strict=True)]
        expected[tuple((*row, count) for row, count in sorted(Counter(rows).items()))] += 1
    assert seen.keys() == expected.keys()
    wanted = np.array([expected[rows] for rows in seen]) / 120 * DRAWS
    assert chisquare(list(seen.values()), wanted).pvalue > BY_CHANCE


def groups_of(qit, st):
    """What an anatomy says of every group, whatever its number."""
    return sorted(
        (rows_of(part.drop(columns="group")), rows_of(st[st["group"] == g].drop(columns="group")))
        for g, part in qit.groupby("group")
    )


def test_an_anatomy_of_counts_says_what_that_of_rows_says(tmp_path):
    frame = people(1)[:20].loc[np.repeat(np.arange(20), 12)]
    big, m = scanned(frame, tmp_path), ap.Microdata(frame, THREE, "ill")
    mine, theirs = (ap.anatomize(t, ap.mondrian(t, 8, 2)) for t in (big, m))
    assert groups_of(*mine.public_tables()) == groups_of(*theirs.public_tables())
    pd.testing.assert_frame_equal(mine.audit(), theirs.audit())
    numbers = [tuple(mine.public_tables()[1]["group"]) for _ in range(3)]
    assert len(set(numbers)) > 1


def read_one(path):
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("publish", [ap.swap, ap.anatomize])
def test_what_is_written_is_audited_and_a_change_is_noticed(publish, name, tmp_path):
    frame = people(0).assign(age=lambda frame: frame["age"] / 2)
    big = scanned(frame, tmp_path)
    release = publish(big, ap.mondrian(big, 8, 2))
    before = release.audit()
    paths = release.write(tmp_path / name)
    pd.testing.assert_frame_equal(release.audit(), before)
    first = read_one(tmp_path / name)
    assert rows_of(first[THREE]) == rows_of(frame[THREE])
    if publish is ap.anatomize:
        st = read_one(tmp_path / name.replace("out", "out_sensitive"))
        assert groups_of(first, st) == groups_of(*release.public_tables())
    changed = read_one(paths[-1])[1:]
    changed.to_csv(paths[-1], index=False) if name == "out.csv" else changed.to_parquet(paths[-1])
    with pytest.raises(errors.FileError, match="does not hold what was written"):
        release.audit()
