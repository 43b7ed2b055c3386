"""The reduction of l-dimensional matching to a table (section 4 of the paper)."""

import itertools

import numpy as np
import xiao2010_hardness as hardness
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap


@st.composite
def instances(draw):
    l, q = draw(st.sampled_from([(3, 2), (3, 3), (4, 2), (5, 2)]))
    everything = list(itertools.product(range(q), repeat=l))
    points = draw(st.lists(st.sampled_from(everything), min_size=1, max_size=6, unique=True))
    return points, q, draw(st.integers(l, l * q))


def has_matching(points, q):
    return any(
        all(len({point[axis] for point in chosen}) == q for axis in range(len(points[0])))
        for chosen in itertools.combinations(points, q)
    )


@settings(max_examples=60)
@given(instances())
def test_both_directions_of_the_reduction(instance):
    points, q, m = instance
    table = hardness.table_of(points, q, m)
    p = ap.exact(table, l=len(points[0]))
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
    l = len(points[0])
    assert len(frame) == l * q and table.d == len(points)
    assert ((frame[table.qi] == 0).sum() == l).all()  # Property 1
    nonzero = frame[table.qi].where(frame[table.qi] != 0)
    assert (nonzero.isna() | nonzero.eq(frame["SA"], axis=0)).all(axis=None)
    values = [set(frame["SA"].iloc[a * q : (a + 1) * q]) for a in range(l)]
    assert len(set.union(*values)) == m == sum(map(len, values))


def test_a_grouping_with_more_stars_shows_no_matching():
    table = hardness.table_of([(0, 0, 0), (1, 1, 1)], q=2)
    assert hardness.matching_of(table, ap.Partition(np.zeros(6, int))) is None
    for partial in ([-1] * 6, [0, -1, 0, -1, 0, -1], [0, 0, 0]):
        assert hardness.matching_of(table, ap.Partition(partial)) is None
