"""Workloads: answers against SQL run by sqlite, errors against loops, bad input."""

import sqlite3

import numpy as np
import pytest

import anonpaper as ap
from anonpaper.measure.queries import places, query_error, query_errors, relative_errors, workload

SELECTIVITY = {"age": 35, "education": 8, "race": 3, "sex": 1}


@pytest.fixture(scope="module")
def adult():
    return ap.load("adult", rows=3000, seed=4)


@pytest.fixture(scope="module")
def groups(adult):
    return ap.klt(adult, seed=0)


def answers_of_sqlite(queries, frame, table="adult"):
    connection = sqlite3.connect(":memory:")
    missing_named = frame.apply(
        lambda c: c if c.notna().all() else c.astype(object).where(c.notna(), "?")
    )
    missing_named.to_sql(table, connection, index=False)
    answers = np.zeros((len(queries), queries.sensitive.size))
    for number, query in enumerate(queries.sql(table)):
        for value, total in connection.execute(query):
            answers[number, queries.sensitive.code(value)] = total
    return answers


def test_answers_are_those_of_sql(adult, groups):
    queries = workload(adult, SELECTIVITY, size=60, seed=3)
    release = ap.swap(adult, groups, seed=1)
    ours = queries.answers(adult, release)
    assert np.array_equal(
        ours[0], answers_of_sqlite(queries, adult.frame[[*adult.qi, "occupation"]])
    )
    assert np.array_equal(ours[1], answers_of_sqlite(queries, release.frame))
    assert not np.array_equal(ours[0], ours[1])


def test_selectivity_is_what_was_asked_for(adult):
    queries = workload(adult, SELECTIVITY, size=500, seed=0)
    included = {a.name: queries.included(a) for a in adult.attributes}
    assert (included["education"].sum(axis=1) == 8).all()
    assert (included["race"].sum(axis=1) == 3).all()
    assert (included["sex"].sum(axis=1) == 1).all()
    low, high = queries.windows["age"].T
    assert (high - low + 1 == 35).all() and low.min() == 17 and high.max() == 90
    # Every value is as likely as any other: 250 of 500 expected, standard deviation 11.2.
    assert np.all(np.abs(included["education"].sum(axis=0) - 250) < 56)
    assert [places(attribute) for attribute in adult.attributes] == [74, 16, 5, 2]


def test_errors_are_those_of_the_equations(adult, groups):
    queries = workload(adult, SELECTIVITY, size=30, seed=2)
    releases = [ap.swap(adult, groups, seed=seed) for seed in (1, 2)]
    truth = queries.answers(adult)[0]
    errors = []
    for release in releases:
        error = 0.0
        for x, y in zip(queries.answers(release)[0], truth, strict=True):
            error += sum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0)
        errors.append(error)
    assert np.allclose(query_errors(queries, releases), errors)
    assert np.allclose(
        relative_errors(queries, releases[:1], releases[1]), 100 * errors[0] / max(errors[1], 1)
    )
    assert relative_errors(queries, [releases[1]], releases[1]) == pytest.approx([100])


@pytest.mark.parametrize("publish", [ap.suppress, ap.generalize, ap.anatomize])
def test_the_error_of_counts_is_their_mean_distance(adult, groups, publish):
    release = publish(adult, groups)
    queries = workload(adult, SELECTIVITY, size=40, seed=5)
    truth, answers = (queries.answers(table)[0] for table in (adult, release))
    absolute = relative = 0.0
    for true, said in zip(truth.ravel(), answers.ravel(), strict=True):
        absolute += abs(said - true)
        relative += abs(said - true) / max(true, 0.001 * adult.n)
    assert query_error(release, queries, of="absolute") == pytest.approx(absolute / truth.size)
    assert query_error(release, queries) == pytest.approx(relative / truth.size)
    assert query_error(release) > query_error(ap.suppress(adult, alike(adult)))


def alike(m):
    return ap.Partition(m.cells.tuple_of_row.astype(np.int64))
