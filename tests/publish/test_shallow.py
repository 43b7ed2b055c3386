"""Shallow generalization against a plain reading, row by row; hierarchies of Table 5."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper.datasets.trees import LEVELS, hierarchies
from anonpaper.publish import shallow_generalize


def published_plainly(m, labels, trees, friendly, floor):
    """The lowest level from the floor up on which all rows of a class have one name."""
    frame = m.frame[m.qi].astype(str)
    for place, name in enumerate(m.qi):
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            level, names = 0 if name in friendly else floor, ()
            while len(names) != 1:
                names = {trees[name].generalize(str(v), level) for v in m.frame[name].iloc[rows]}
                level += 1
            frame.iloc[rows, place] = names.pop()
    return frame


def members(tree, name):
    """Values that a name stands for; a value stands for itself."""
    return frozenset(row[0] for row in tree.rows if name in row)


@settings(max_examples=60)
@given(
    st.integers(0, 10_000), st.integers(1, 8), st.sampled_from([(), ("age",), ("job",)]),
    st.integers(0, 2),
)  # fmt: skip
def test_it_publishes_what_a_plain_reading_does(seed, groups, friendly, floor):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(17, 40, 30), "job": rng.choice(list("abcde"), 30)})
    m = ap.Microdata(frame, ["age", "job"])
    trees = {
        "age": ap.Hierarchy.intervals(m.attribute("age").values, [5, 10, 20]),
        "job": ap.Hierarchy.balanced(m.attribute("job").values, fan_out=2),
    }
    labels = np.sort(rng.permutation(np.arange(30) % groups))
    release = shallow_generalize(m, ap.Partition(labels), trees, friendly, least_level=floor)
    plain = published_plainly(m, labels, trees, friendly, floor)
    for name in m.qi:
        ours = [members(trees[name], str(v)) for v in release.frame[name]]
        assert ours == [members(trees[name], v) for v in plain[name]]


@settings(max_examples=60)
@given(st.data())
def test_without_a_hierarchy_numbers_stay_intervals(data):
    """The same sets as by the tree that is the default; a missing value stands beside."""
    ages = data.draw(st.lists(st.sampled_from([None, *range(20, 45, 3)]), min_size=2, max_size=30))
    frame = pd.DataFrame({"age": pd.array(ages, "Int64"), "job": list("abcdef" * 5)[: len(ages)]})
    m = ap.Microdata(frame, ["age", "job"], missing="category")
    p = ap.Partition(np.arange(m.n) // data.draw(st.integers(2, 30)))
    trees = {a.name: ap.Hierarchy.balanced(a.values) for a in m.attributes}
    release, named = (shallow_generalize(m, p, given) for given in ({}, trees))
    for ours, theirs in zip(release.published, named.published, strict=True):
        for label, i, j in zip(ours.labels[ours.index], ours.index, theirs.index, strict=True):
            held = ours.attribute.values[ours.sub_domains.members(i)].tolist()
            same = theirs.sub_domains.members(j)
            assert held == theirs.attribute.values[same].tolist()
            if ours.attribute.name == "age" and label != "*" and len(held) > 1:
                known = [value for value in held if value != "?"]
                run = f"[{known[0]} - {known[-1]}]" if len(known) > 1 else f"{known[0]}"
                assert label == (run if known == held else f"{{{run}, ?}}")


@pytest.mark.parametrize("name", LEVELS)
def test_hierarchies_have_the_levels_of_table_5_and_know_every_value(name):
    part = {"part": "train"} if name == "census" else {}
    sensitive = {"adult": "salary-class"}.get(name)
    m = ap.load(name, qi=list(LEVELS[name]), sensitive=sensitive, **part)
    for attribute, tree in zip(m.attributes, hierarchies(name, m).values(), strict=True):
        assert tree.height + 1 == LEVELS[name][attribute.name]
        assert {row[-1] for row in tree.rows} == {"*"}
        assert tree.maps(attribute)[0].tolist() == list(range(attribute.size))
