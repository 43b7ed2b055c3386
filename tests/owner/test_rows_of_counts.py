"""What looks at single rows, on a table of counts: the rows are drawn, or values dealt anew."""

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

pytest.importorskip("ibis", reason="tables are scanned by Ibis: anonpaper[scale]")
pytest.importorskip("duckdb", reason="files are scanned by DuckDB: anonpaper[scale]")

QI = ["age", "sex", "zip"]
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


def scanned(frame, path, qi=QI, sensitive="ill"):
    frame.to_parquet(path / "in.parquet", index=False)
    return ap.scan(path / "in.parquet", qi, sensitive)


def rows_of(frame):
    return sorted(map(tuple, frame.astype(str).to_numpy()))


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
    m = ap.Microdata(drawn.frame, QI, "ill")
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


# -- swapping ------------------------------------------------------------------------------------

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


# -- anatomies -----------------------------------------------------------------------------------


def groups_of(qit, st):
    """What an anatomy says of every group, whatever its number."""
    return sorted(
        (rows_of(part.drop(columns="group")), rows_of(st[st["group"] == g].drop(columns="group")))
        for g, part in qit.groupby("group")
    )


def test_an_anatomy_of_counts_says_what_that_of_rows_says(tmp_path):
    frame = people(1)[:20].loc[np.repeat(np.arange(20), 12)]
    big, m = scanned(frame, tmp_path), ap.Microdata(frame, QI, "ill")
    mine, theirs = (ap.anatomize(t, ap.mondrian(t, 8, 2)) for t in (big, m))
    assert groups_of(*mine.public_tables()) == groups_of(*theirs.public_tables())
    pd.testing.assert_frame_equal(mine.audit(), theirs.audit())
    numbers = [tuple(mine.public_tables()[1]["group"]) for _ in range(3)]
    assert len(set(numbers)) > 1


# -- files ---------------------------------------------------------------------------------------


def read(path):
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
    first = read(tmp_path / name)
    assert rows_of(first[QI]) == rows_of(frame[QI])
    if publish is ap.anatomize:
        st = read(tmp_path / name.replace("out", "out_sensitive"))
        assert groups_of(first, st) == groups_of(*release.public_tables())
    changed = read(paths[-1])[1:]
    changed.to_csv(paths[-1], index=False) if name == "out.csv" else changed.to_parquet(paths[-1])
    with pytest.raises(errors.FileError, match="does not hold what was written"):
        release.audit()
