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


@pytest.mark.parametrize("name", LEVELS)
def test_hierarchies_have_the_levels_of_table_5_and_know_every_value(name):
    part = {"part": "train"} if name == "census" else {}
    sensitive = {"adult": "salary-class"}.get(name)
    m = ap.load(name, qi=list(LEVELS[name]), sensitive=sensitive, **part)
    for attribute, tree in zip(m.attributes, hierarchies(name, m).values(), strict=True):
        assert tree.height + 1 == LEVELS[name][attribute.name]
        assert {row[-1] for row in tree.rows} == {"*"}
        assert tree.maps(attribute)[0].tolist() == list(range(attribute.size))
