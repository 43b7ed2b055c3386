"""The six steps on every pair: the text takes them as `klt`, the program as its code does."""

import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest
from boger2020 import grouped_by_pairs, sql

import anonpaper as ap


@pytest.mark.parametrize("seed", [*range(60), 86, 182, 348])  # here few clusters have room
def test_by_the_text_groups_are_those_of_klt(seed):
    """Each step looks at every pair: nothing here is shared with klt."""
    warnings.simplefilter("ignore", ap.partition.klt.UnplacedRowsWarning)
    rng = np.random.default_rng(seed)
    n, k, l = (int(rng.integers(*bounds)) for bounds in ((6, 26), (1, 7), (1, 4)))
    frame = pd.DataFrame({
        "age": rng.integers(0, 9, n), "job": rng.choice(["00", "01", "64"], n),
        "town": rng.choice(list("abcd"), n), "s": rng.choice(list("aaabbcd"), n),
    })  # fmt: skip
    jobs = [f"{job:02}" for job in range(66)]  # sums of jobs 64 apart end in the same bits
    m = ap.Microdata(frame, ["age", "job", "town"], "s", domains={"job": jobs})
    few = ap.Microdata(frame, ["age", "job", "town"], "s")  # pairs know 64 values at most
    theta = max(m.sensitive_counts.max() / n, rng.choice([0.3, 0.4, 0.5]))
    given = k, min(l, len(set(frame["s"]))), theta, {"age": 2, "job": 3}, seed
    try:
        expected = ap.klt(m, *given, withheld="drop")
    except ap.errors.InfeasibleError:
        return
    p, steps = grouped_by_pairs(few, *given)
    assert p.labels.tolist() == expected.labels.tolist()
    assert p.info == {name: expected.info[name] for name in ("repeats", "formed")}
    assert (steps[-1][1] >= 0).sum() == m.n - expected.n_unpublished


def test_where_the_program_departs_by_hand():
    """It begins with row 0, serves row 3 before row 2, and counts 2 of 2 rows above theta."""
    m = ap.Microdata(pd.DataFrame({"x": [0, 9, 1, 2, 8], "ill": [*"abaab"]}), ["x"], "ill")
    _, steps = grouped_by_pairs(m, 3, 2, 0.75, program=True)
    assert [labels.tolist() for _, labels in steps] == [
        [0, 1, -1, -1, 0], [0, 1, -1, 1, 0], [0, 1, 2, 1, 0], [0, 1, 2, 1, 0], [2, 2, 2, 2, 2],
    ]  # fmt: skip


def answers_of_sqlite(queries, frame):
    connection = sqlite3.connect(":memory:")
    frame.astype(object).where(frame.notna(), "?").to_sql("adult", connection, index=False)
    answers = np.zeros((queries.size, queries.sensitive.size))
    for number, query in enumerate(sql(queries, "adult")):
        for value, total in connection.execute(query):
            answers[number, queries.sensitive.code(value)] = total
    return answers


def test_answers_are_those_of_sql():
    m = ap.load("adult", rows=3000, seed=4)
    queries = ap.measure.workload(m, {"age": 35, "education": 8, "race": 3, "sex": 1}, 60, seed=3)
    release = ap.swap(m, ap.klt(m, seed=0), seed=1)
    ours = queries.answers(m, release)
    frames = m.frame[[*m.qi, "occupation"]], release.frame
    assert np.array_equal(ours, [answers_of_sqlite(queries, frame) for frame in frames])
    assert not np.array_equal(ours[0], ours[1])
