"""minimality against brute force: the real algorithms, run on every table that people may have."""

from collections import Counter
from functools import partial
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest

import anonpaper as ap
from anonpaper.errors import ColumnError, InfeasibleError, ParameterError
from anonpaper.measure import minimality

ILLS = ["asthma", "flu", "gout", "ulcer"]

ALGORITHMS = {
    "tp": partial(ap.tp, l=2),
    "tp_plus": partial(ap.tp_plus, l=2),
    "mondrian": partial(ap.mondrian, k=2, l=2),
    "mondrian, distinct": partial(ap.mondrian, k=2, l=2, diversity="distinct"),
    "full_domain": partial(ap.full_domain, k=2, l=2),
    "full_domain, frequency": partial(ap.full_domain, k=1, l=2, diversity="frequency"),
}


def people(draws, n, towns=2, ages=3, ills=3):
    return pd.DataFrame(
        {
            "town": draws.integers(0, towns, n).astype(str),
            "age": draws.integers(0, ages, n),
            "ill": pd.Categorical.from_codes(draws.integers(0, ills, n), ILLS[:ills]),
        }
    )


def table(frame, ills=None):
    if ills is not None:
        frame = frame.assign(ill=pd.Categorical(ills, frame["ill"].cat.categories))
    return ap.Microdata(frame, ["town", "age"], "ill")


def outcome(m, algorithm):
    """Labels, and what is published beside the groups: the levels of a recoding."""
    result = algorithm(m)
    if isinstance(result, ap.Partition):
        return result.labels, None
    return ap.recode(m, result).classes.labels, [ids.tolist() for ids in result.maps]


def seen(frame, labels, ills, people=None):
    """Of every group its tuples, or its people, and apart from them its sensitive values."""
    known = list(zip(frame["town"], frame["age"], strict=True)) if people is None else people
    groups = [np.flatnonzero(labels == g) for g in range(labels.max() + 1)]
    return Counter(
        (tuple(sorted(known[i] for i in rows)), tuple(sorted(ills[i] for i in rows)))
        for rows in groups
    )


def brute_force(frame, algorithm, shows_people):
    """The greatest share of a value in all tables of which the release looks the same."""
    everybody = range(len(frame))
    true_ills = frame["ill"].tolist()
    orders = [list(everybody)]
    if shows_people:  # rows of equal tuples may have stood in any order
        same = frame.groupby(["town", "age"]).indices.values()
        orders = []
        for of_tuples in product(*(permutations(rows) for rows in same)):
            order = np.empty(len(frame), int)
            order[np.concatenate(list(same))] = np.concatenate(of_tuples)
            orders.append(order.tolist())
    labels, beside = outcome(table(frame), algorithm)
    shown = seen(frame, labels, true_ills, list(everybody) if shows_people else None)
    votes = [Counter() for _ in everybody]
    for ills in set(permutations(true_ills)):
        for order in orders:
            at_rows = [ills[person] for person in order]
            labels, theirs = outcome(table(frame, at_rows), algorithm)
            looks = seen(frame, labels, at_rows, order if shows_people else None)
            if looks == shown and theirs == beside:
                for person in everybody:
                    votes[person][ills[person]] += 1
    return np.array([max(vote.values()) / vote.total() for vote in votes])


def release(m, algorithm, shows_people=False):
    result = algorithm(m)
    if isinstance(result, ap.Recoding):
        return ap.recode(m, result)
    return ap.swap(m, result, seed=0) if shows_people else ap.generalize(m, result)


def feasible(draws, algorithm, *size, **sizes):
    """Draw tables until the algorithm has a release of one."""
    while True:
        frame = people(draws, *size, **sizes)
        try:
            algorithm(table(frame))
        except InfeasibleError:
            continue
        return frame


@pytest.mark.parametrize("name", ALGORITHMS)
def test_posterior_is_that_of_all_tables(name):
    draws, algorithm = np.random.default_rng(19), ALGORITHMS[name]
    gains = []
    for _ in range(4):
        frame = feasible(draws, algorithm, 6, ages=draws.integers(1, 4))
        found = minimality(release(table(frame), algorithm))
        gains.append((found["concluded"] > found["promised"]).any())
        assert found["exact"].all()
        np.testing.assert_allclose(found["concluded"], brute_force(frame, algorithm, False))
    assert any(gains)


@pytest.mark.parametrize("name", ["tp", "tp_plus", "mondrian"])
def test_posterior_where_it_is_shown_who_is_in_a_group(name):
    draws, algorithm = np.random.default_rng(2), ALGORITHMS[name]
    for _ in range(3):
        frame = feasible(draws, algorithm, 5, ages=2)
        found = minimality(release(table(frame), algorithm, shows_people=True))
        assert found["exact"].all()
        np.testing.assert_allclose(found["concluded"], brute_force(frame, algorithm, True))


@pytest.mark.parametrize("shows_people", [False, True])
@pytest.mark.parametrize("name", ["tp", "tp_plus"])
def test_bound_after_tp_holds_for_everybody(name, shows_people):
    draws, algorithm = np.random.default_rng(4), ALGORITHMS[name]
    certain = open_ones = 0
    while certain < 3 or open_ones < 3:
        frame = feasible(draws, algorithm, 12, ages=1, towns=4, ills=4)
        rel = release(table(frame), algorithm, shows_people)
        found, bound = minimality(rel, most=60), minimality(rel, most=1)
        if not found["exact"].all():
            continue
        low, high = bound["concluded"].to_numpy(), found["concluded"].to_numpy()
        assert (low <= high + 1e-12).all()
        np.testing.assert_allclose(low[bound["exact"]], high[bound["exact"]])
        certain += (bound["exact"] & (high > found["promised"])).sum()
        open_ones += (~bound["exact"]).sum()


@pytest.mark.parametrize("name", ["mondrian", "full_domain"])
def test_bound_elsewhere_holds_on_average_over_a_group(name):
    draws, algorithm = np.random.default_rng(5), ALGORITHMS[name]
    for _ in range(20):
        rel = release(table(feasible(draws, algorithm, 7)), algorithm)
        found, bound = minimality(rel), minimality(rel, most=1)
        by_group = [f["concluded"].groupby(rel.partition.labels).mean() for f in (found, bound)]
        assert (by_group[1] <= by_group[0] + 1e-12).all()
        assert (bound["concluded"] == bound["promised"])[~bound["exact"]].all()


def test_what_cannot_be_repeated_is_refused():
    m = ap.examples.hospital()
    p = ap.tp(m, l=2)
    with pytest.raises(ParameterError, match="cannot be run again: only tp"):
        minimality(ap.suppress(m, ap.hilbert(m, l=2)))
    with pytest.raises(ParameterError, match="most must be an integer"):
        minimality(ap.suppress(m, p), most=0)
    with pytest.raises(ParameterError, match="expected a Release"):
        minimality(p)
    withheld = ap.Partition(np.where(p.labels == 2, -1, p.labels))
    with pytest.raises(ParameterError, match="4 rows are withheld"):
        minimality(ap.suppress(m, withheld))
    other = ap.Partition([0] * 10)
    other.call = "ap.tp(m, l=2)"
    with pytest.raises(ParameterError, match="another release"):
        minimality(ap.suppress(m, other))
    with pytest.raises(ColumnError, match="sensitive"):
        nobody = m.with_roles(sensitive=None)
        minimality(ap.generalize(nobody, ap.mondrian(nobody, k=2)))
