"""The risk by chance, against every way to deal values to the classes."""

from itertools import permutations

import majeed2024
import majeed2024_chance as chance
import numpy as np
import pytest

import anonpaper as ap


def own_value_risk(labels, values):
    """Look up for every row how many of its class share its value."""
    pairs = list(zip(labels, values, strict=True))
    return np.mean([pairs.count(pair) / labels.count(pair[0]) for pair in pairs])


@pytest.mark.parametrize("labels", [[0, 0, 0, 1, 1, 2], [0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("values", ["aaaaab", "aaabbb", "aabbcc"])
def test_risk_by_chance_is_the_mean_over_all_ways_to_deal_values(labels, values):
    risks = [own_value_risk(labels, dealt) for dealt in permutations(values)]
    counts = np.array([values.count(v) for v in sorted(set(values))])
    found = chance.risk_by_chance(counts, len(set(labels)))
    assert found == pytest.approx(np.mean(risks))


def test_classes_are_the_different_published_rows():
    m = majeed2024.ten_users()
    rel = ap.generalize(m, ap.mondrian(m, k=2))
    for known in (m.qi, m.qi[:2], m.qi[2:3]):
        shown = rel.frame[known].astype(str)
        assert chance.number_of_classes(rel, known) == len(shown.drop_duplicates())


def test_one_class_and_classes_of_one_by_hand():
    counts = np.array([2, 2])
    assert (chance.risk_by_chance(counts, 1), chance.risk_by_chance(counts, 4)) == (0.5, 1.0)
