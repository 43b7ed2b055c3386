"""The reduction of l-dimensional matching to a table (section 4 of the paper)."""

import itertools

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
