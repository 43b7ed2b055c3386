"""Shallow generalization against a plain reading, row by row; hierarchies of Table 5."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper.datasets.trees import LEVELS, hierarchies
from anonpaper.publish import shallow_generalize


def table(rng, n):
    frame = pd.DataFrame(
        {
            "age": rng.integers(17, 40, n),
            "job": rng.choice(list("abcde"), n),
            "ill": rng.choice(["s", "t"], n),
        }
    )
    return ap.Microdata(frame, ["age", "job"], "ill")


def trees_of(m):
    return {
        "age": ap.Hierarchy.intervals(m.attribute("age").values, [5, 10, 20]),
        "job": ap.Hierarchy.balanced(m.attribute("job").values, fan_out=2),
    }


def published_plainly(m, labels, trees, friendly, floor):
    """The lowest level from the floor up on which all rows of a class have one name."""
    frame = m.frame[m.qi].astype(str)
    for name in m.qi:
        tree = trees[name]
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            values = [str(v) for v in m.frame[name].iloc[rows]]
            start = 0 if name in friendly else floor
            level = next(
                height
                for height in range(start, tree.height + 1)
                if len({tree.generalize(v, height) for v in values}) == 1
            )
            frame.iloc[rows, m.qi.index(name)] = tree.generalize(values[0], level)
    return frame


def members(tree, name):
    """Values that a name stands for; a value stands for itself."""
    return frozenset(row[0] for row in tree.rows if name in row)


@settings(max_examples=60)
@given(
    st.integers(0, 10_000),
    st.integers(1, 8),
    st.sampled_from([(), ("age",), ("job",)]),
    st.integers(0, 2),
)
def test_it_publishes_what_a_plain_reading_does(seed, groups, friendly, floor):
    rng = np.random.default_rng(seed)
    m = table(rng, 30)
    trees = trees_of(m)
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
        assert tree.names(tree.height) == ["*"]
        assert tree.maps(attribute)[0].tolist() == list(range(attribute.size))
