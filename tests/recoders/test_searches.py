import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees import preference as referee
from referees.tables import adult_in_intervals, tables

import anonpaper as ap
from anonpaper.recoders.evaluation import choose

pytest.importorskip("pymoo", reason="preferences are searched by pymoo: anonpaper[search]")
from anonpaper.recoders.nsga2 import prefer_feasible


@pytest.fixture(scope="module")
def adult():
    return adult_in_intervals()


@st.composite
def problems(draw):
    m = draw(tables(max_rows=25, max_qi=3, max_values=4))
    k = draw(st.integers(1, min(m.n, 6)))
    return m, k, (draw(st.floats(0, 1)), draw(st.floats(0, 1)))


def bits_of(r):
    return np.concatenate([np.diff(ids) for ids in r.maps])


def values_of(m, bits, preference):
    rows, sizes = m.codes.tolist(), [a.size for a in m.attributes]
    loss = referee.nwp(rows, sizes, bits, [1 / m.d] * m.d)
    bias = referee.necd(rows, sizes, bits)
    k = min(referee.class_sizes(rows, sizes, bits))
    return loss, bias, k, referee.ach(loss, bias, preference)


@settings(max_examples=40)
@given(problems())
def test_a_minimum_of_ach_is_efficient(case):
    """The observation of section 4, against all recodings by plain loops."""
    m, k, preference = case
    r = ap.exhaustive(m, k, preference)
    all_bits = itertools.product([0, 1], repeat=sum(a.size - 1 for a in m.attributes))
    others = [values_of(m, bits, preference) for bits in all_bits]
    feasible = [other for other in others if other[2] >= k]
    loss, bias, effective_k, ach = values_of(m, bits_of(r).tolist(), preference)
    assert effective_k >= k
    assert ach == pytest.approx(min(other[3] for other in feasible), rel=1e-9, abs=1e-12)
    assert not any(other[0] < loss - 1e-12 and other[1] < bias - 1e-12 for other in feasible)
    assert len(r.info["evaluated"]) == len(others)


def test_choosing_breaks_ties_by_deviation_then_by_privacy():
    table = pd.DataFrame(
        {"nwp": [0.5, 0.5, 0.5, 0.1], "necd": [0.3, 0.2, 0.2, 0.0], "effective_k": [4, 2, 3, 1]}
    )
    assert choose(table, 2, (0.1, 1.0)).name == 2
    assert choose(table, 4, (0.1, 1.0)).name == 0
    assert choose(table, 5, (0.1, 1.0)) is None


def population(f1, f2, rank, crowding):
    """As much of a pymoo population as the tournament looks at."""
    columns = {"F": np.column_stack([f1, f2]), "rank": np.array(rank)}
    crowding = np.array(crowding, dtype=object)
    return SimpleNamespace(get=(columns | {"crowding": crowding}).get)


@pytest.mark.parametrize(("x", "y", "winner"), [
    # (f1, f2, rank, crowding)
    ((0.9, 0, 0, 0.1), (0.1, -3, 1, np.inf), 0),  # both feasible: rank
    ((0.9, 0, 1, 0.1), (0.1, -3, 1, 0.5), 1),  # both feasible, same rank: less crowded
    ((0.9, 0, 7, 0.1), (0.1, 1, 0, np.inf), 0),  # one feasible
    ((0.9, 2, 7, 0.1), (0.1, 3, 0, np.inf), 0),  # both infeasible: f2
    ((0.9, 2, 0, np.inf), (0.1, 2, 5, 0.1), 1),  # same f2: f1
    ((0.9, 2, 5, 0.1), (0.9, 2, 0, 0.5), 1),  # same f1: less crowded
])  # fmt: skip
def test_the_tournament_of_section_5_2(x, y, winner):
    pairs, rng = np.array([[0, 1], [1, 0]] * 5), np.random.default_rng(0)
    assert (prefer_feasible(population(*zip(x, y, strict=True)), pairs, rng) == winner).all()


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize(("k", "preference"), [(2, (0.2, 1.0)), (25, (0.2, 0.1))])
def test_every_feasible_solution_is_k_anonymous(adult, k, preference, refine):
    r = ap.preference_search(adult, k, preference, evaluations=2000, seed=1, refine=refine)
    evaluated = r.info["evaluated"]
    listed = evaluated[evaluated["effective_k"] >= k].head(40)["bits"].tolist()
    for recoding in [r, *(ap.Recoding.decode(adult.attributes, bits) for bits in listed)]:
        columns = [ids[column] for ids, column in zip(recoding.maps, adult.codes.T, strict=True)]
        assert np.unique(columns, axis=1, return_counts=True)[1].min() >= k


def test_a_search_spends_its_evaluations_and_returns_what_is_not_dominated():
    m = ap.examples.hospital()
    r = ap.preference_search(m, 2, population=10, evaluations=30)
    assert r.info["evaluations"] == 30
    assert len(r.info["non_dominated"]) < len(r.info["evaluated"])


def test_tables_without_bits_have_one_recoding():
    m = ap.Microdata(pd.DataFrame({"land": ["x"] * 5}), ["land"])
    for r in (search(m, 5) for search in (ap.preference_search, ap.exhaustive)):
        assert r.info["nwp"] == 0 and r.info["effective_k"] == 5
