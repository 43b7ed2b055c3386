import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper import errors
from anonpaper.papers.xiao2010 import hardness


@st.composite
def halved_tables(draw, max_pairs=12):
    pairs = draw(st.integers(1, max_pairs))
    d = draw(st.integers(1, 3))
    value = st.integers(0, 2)
    frame = pd.DataFrame(
        {f"q{j}": draw(st.lists(value, min_size=2 * pairs, max_size=2 * pairs)) for j in range(d)}
    )
    frame["s"] = draw(st.permutations(["x", "y"] * pairs))
    return ap.Microdata(frame, [f"q{j}" for j in range(d)], "s")


@settings(deadline=None, max_examples=60)
@given(halved_tables())
def test_the_matching_is_of_minimum_weight(m):
    p = ap.optimal_two_diverse(m)
    assert (p.sizes() == 2).all() and ap.FrequencyLDiversity(2).holds(m, p.labels)
    graph = nx.Graph()
    first, second = (np.flatnonzero(m.sensitive_codes == v) for v in (0, 1))
    for i, j in itertools.product(first, second):
        graph.add_edge(i, j, weight=2 * int((m.codes[i] != m.codes[j]).sum()))
    referee = nx.min_weight_matching(graph)
    assert p.info["stars"] == sum(graph.edges[edge]["weight"] for edge in referee)
    assert ap.measure.stars(ap.suppress(m, p)) <= p.info["stars"]


@settings(deadline=None, max_examples=30)
@given(halved_tables(max_pairs=5))
def test_the_matching_is_as_good_as_exhaustive_search(m):
    p = ap.optimal_two_diverse(m)
    assert p.info["stars"] == ap.exact(m, 2).info["cost"]


def test_large_tables_of_few_tuples_are_matched():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 5, 4000), "b": rng.integers(0, 5, 4000)})
    frame["s"] = np.arange(4000) % 2
    p = ap.optimal_two_diverse(ap.Microdata(frame, ["a", "b"], "s"))
    assert p.n_groups == 2000


def test_tables_that_cannot_be_matched_are_refused():
    with pytest.raises(errors.ParameterError, match="exactly two"):
        ap.optimal_two_diverse(ap.examples.hospital())
    uneven = pd.DataFrame({"a": [0, 1, 1], "s": [0, 0, 1]})
    with pytest.raises(errors.InfeasibleError):
        ap.optimal_two_diverse(ap.Microdata(uneven, ["a"], "s"))


@st.composite
def instances(draw, max_q=3):
    q = draw(st.integers(2, max_q))
    everything = list(itertools.product(range(q), repeat=3))
    points = draw(st.lists(st.sampled_from(everything), min_size=1, max_size=6, unique=True))
    return points, q, draw(st.integers(3, 3 * q))


def has_matching(points, q):
    return any(
        all(len({point[axis] for point in chosen}) == q for axis in range(3))
        for chosen in itertools.combinations(points, q)
    )


@settings(deadline=None, max_examples=60)
@given(instances())
def test_both_directions_of_the_reduction(instance):
    points, q, m = instance
    table = hardness.table_of(points, q, m)
    p = ap.exact(table, l=3)
    assert p.info["cost"] >= hardness.least_stars(table)
    chosen = hardness.matching_of(table, p)
    reaches = p.info["cost"] == hardness.least_stars(table)
    assert reaches == has_matching(points, q) == (chosen is not None)
    if chosen is not None:
        assert has_matching([points[i] for i in chosen], q) and len(chosen) == q


@given(instances())
def test_the_table_has_the_properties_the_proof_uses(instance):
    points, q, m = instance
    table = hardness.table_of(points, q, m)
    frame = table.frame
    assert len(frame) == 3 * q and table.d == len(points)
    assert ((frame[table.qi] == 0).sum() == 3).all()  # Property 1
    nonzero = frame[table.qi].where(frame[table.qi] != 0)
    assert (nonzero.isna() | nonzero.eq(frame["SA"], axis=0)).all(axis=None)
    values = [set(frame["SA"].iloc[a * q : (a + 1) * q]) for a in range(3)]
    assert len(values[0] | values[1] | values[2]) == m == sum(map(len, values))


def test_a_grouping_with_more_stars_shows_no_matching():
    table = hardness.table_of([(0, 0, 0), (1, 1, 1)], q=2)
    assert hardness.matching_of(table, ap.Partition(np.zeros(6, int))) is None
    for partial in ([-1] * 6, [0, -1, 0, -1, 0, -1], [0, 0, 0]):
        assert hardness.matching_of(table, ap.Partition(partial)) is None


@pytest.mark.parametrize(
    ("points", "q", "m"),
    [([], 2, 3), ([(0, 0, 2)], 2, 3), ([(0, 0)], 2, 3), ([(0, 0, 0)] * 2, 2, 3),
     ([(0, 0, 0)], 0, 3), ([(0, 0, 0)], 2, 2), ([(0, 0, 0)], 2, 7),
     ([(0.9, 0, 0)], 2, 3), ([5], 2, 3), (["abc"], 2, 3)],
)  # fmt: skip
def test_instances_out_of_range_are_refused(points, q, m):
    with pytest.raises(errors.ParameterError):
        hardness.table_of(points, q, m)
