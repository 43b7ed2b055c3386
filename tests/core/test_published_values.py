"""Sub-domains against Python sets: every operation on random families of sets of codes."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper.published_values import SubDomains


def attribute_of(size, ordered):
    values = pd.Categorical([f"v{i}" for i in range(size)], ordered=ordered)
    return ap.Microdata(pd.DataFrame({"q": values}), ["q"]).attributes[0]


@st.composite
def families(draw):
    size = draw(st.integers(1, 9))
    sets = draw(st.lists(st.sets(st.integers(0, size - 1), min_size=1), min_size=1, max_size=8))
    pairs = [(owner, code) for owner, codes in enumerate(sets) for code in codes]
    pairs = draw(st.permutations(pairs + pairs[: draw(st.integers(0, 3))]))
    owner, codes = np.array(pairs).T
    attribute = attribute_of(size, draw(st.booleans()))
    return sets, SubDomains.sets(attribute, owner, codes)


@given(families())
def test_it_holds_what_the_sets_hold(family):
    sets, ours = family
    size = ours.attribute.size
    assert [ours.members(i).tolist() for i in range(len(ours))] == [sorted(s) for s in sets]
    assert ours.sizes.tolist() == [len(s) for s in sets]
    assert list(zip(ours.low, ours.high, strict=True)) == [(min(s), max(s)) for s in sets]
    assert ours.is_star.tolist() == [len(s) == size > 1 for s in sets]
    assert ours.is_kept.tolist() == [len(s) == 1 for s in sets]
    grid = ours.contains(np.arange(len(ours))[:, None], np.arange(-1, size + 1))
    assert grid.tolist() == [[code in s for code in range(-1, size + 1)] for s in sets]
    # only sets with gaps are written out
    gaps = [len(s) < max(s) - min(s) + 1 for s in sets]
    assert ours.has_gaps.tolist() == gaps
    assert len(ours.codes) == sum(len(s) for s, gap in zip(sets, gaps, strict=True) if gap)


@given(families(), st.data())
def test_means_and_agreement_are_those_of_the_values_held(family, data):
    sets, ours = family
    size = ours.attribute.size
    values = np.array(data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    held = [values[sorted(s)] for s in sets]
    np.testing.assert_allclose(ours.means(values * 0.1), [h.mean() * 0.1 for h in held])
    two = np.column_stack([values, values == 1])
    np.testing.assert_allclose(ours.means(two), [two[sorted(s)].mean(axis=0) for s in sets])
    assert ours.agree(values).tolist() == [len(set(h)) == 1 for h in held]


@given(families())
def test_equal_sets_get_one_number(family):
    sets, ours = family
    distinct, number = ours.distinct()
    assert len(distinct) == len(set(map(frozenset, sets)))
    assert [set(distinct.members(i)) for i in number] == sets
    again = ours.take(np.arange(len(ours))[::-1])
    assert [set(again.members(i)) for i in range(len(again))] == sets[::-1]


@given(families())
def test_labels_say_what_is_held(family):
    sets, ours = family
    ordered, size = ours.attribute.ordered, ours.attribute.size
    for s, label in zip(sets, ours.labels, strict=True):
        names = [f"v{code}" for code in sorted(s)]
        if len(s) == 1:
            assert label == names[0]
        elif len(s) == size:
            assert label == "*"
        elif ordered and max(s) - min(s) + 1 == len(s):
            assert label == f"[{names[0]} - {names[-1]}]"
        else:
            assert label == "{" + ", ".join(names) + "}"


def test_a_name_hides_the_single_value_that_it_stands_for():
    attribute = attribute_of(3, ordered=False)
    names = np.array(["v0", "some"], dtype=object)
    ours = SubDomains.sets(attribute, np.array([0, 1]), np.array([0, 1]), names)
    assert ours.labels.tolist() == ["v0", "some"] and ours.is_kept.tolist() == [True, False]


def test_sets_of_no_row_are_none():
    attribute = attribute_of(3, ordered=False)
    nothing = SubDomains.sets(attribute, np.empty(0, int), np.empty(0, int))
    distinct, number = nothing.distinct()
    assert len(distinct) == len(number) == len(distinct.labels) == 0
    assert distinct.means(np.arange(3)).tolist() == distinct.agree(np.arange(3)).tolist() == []
