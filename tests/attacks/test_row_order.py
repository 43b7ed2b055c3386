"""The order of rows: the i-th row of the file is the i-th person of a register."""

import numpy as np
import pytest
from referees.published import WAYS, as_people, random_table, read, released, with_tables

import anonpaper as ap

pytestmark = pytest.mark.filterwarnings("ignore:minimality attack")


def hits(secrets, m):
    """How many secrets are guessed by order alone, how many by chance, and the deviation."""
    truth = m.frame[m.sensitive].astype(str).to_numpy()
    n = len(secrets)
    counts = np.unique(truth, return_counts=True)[1]
    p = float(((counts / n) ** 2).sum())
    return int(sum(a == b for a, b in zip(secrets, truth, strict=True))), n * p, n * p * (1 - p)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_order_of_a_sorted_table_tells_no_secret(ending, tmp_path):
    """100 tables sorted by the secret; the attacker has the register in the same order."""
    right = chance = variance = 0
    number = 0
    tried = with_tables([way for way in WAYS if way[1] != "anatomize"])
    for way, seed in tried:
        rel = released(*way, seed)
        m = rel.microdata
        if not rel.is_published.all():
            continue
        [path] = rel.write(tmp_path / f"{seed}.{ending}")
        found = hits([row["ill"] for row in read(path)], m)
        right, chance, variance = right + found[0], chance + found[1], variance + found[2]
        number += 1
    assert number > 0.8 * len(tried)
    assert abs(right - chance) < 6 * np.sqrt(2 * variance)


def test_two_files_of_one_release_have_different_orders(tmp_path):
    m = as_people(random_table(0))
    rel = ap.swap(m, ap.Partition([0] * m.n))
    orders = []
    for i in range(2):
        np.random.seed(0)  # noqa: NPY002 - what a program may have done before
        orders.append([row["pseudonym"] for row in read(rel.write(tmp_path / f"{i}.csv")[0])])
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1])


def test_synthetic_rows_cannot_be_cut_off(tmp_path):
    """A third of every table is synthetic and comes last; the attacker drops the last third."""
    cut_off = 0
    for seed in range(100):
        m = random_table(seed, rows=30)
        m = ap.Microdata(m.frame, m.qi, m.sensitive, synthetic=np.arange(30) >= 20)
        m = as_people(m)
        rel = ap.swap(m, ap.Partition([0] * 30))
        last = [row["pseudonym"] for row in read(rel.write(tmp_path / "out.csv")[0])][20:]
        cut_off += sum(int(name[1:]) >= 20 for name in last)
        assert rel.frame["pseudonym"].iloc[20:].tolist() == [f"p{i}" for i in range(20, 30)]
    # hypergeometric: mean 10/3 and variance 1.53 of each table
    assert abs(cut_off - 1000 / 3) < 6 * np.sqrt(153)
