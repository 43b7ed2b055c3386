"""The arithmetic of the paper's numbers, against independent counts and exhaustive search."""

import majeed2024_printed as printed
import numpy as np
import pytest

COUNTS = {
    "adult": [24720, 7841],
    "stroke": [4861, 249],
    "census": [187141, 12382],
    "diabetes": [78363, 23403],
}


def groupings(rows):
    """Yield every way to divide rows into groups, as labels."""
    if rows == 1:
        yield [0]
        return
    for labels in groupings(rows - 1):
        for label in range(max(labels) + 2):
            yield [*labels, label]


def own_value_risk(labels, values):
    """Look up for every row how many of its group share its value."""
    pairs = list(zip(labels, values, strict=True))
    return np.mean([pairs.count(pair) / labels.count(pair[0]) for pair in pairs])


@pytest.mark.parametrize("values", ["aaaaab", "aaabbb", "aabbcc", "abcdef"])
def test_no_grouping_is_below_the_bound_and_one_reaches_it(values):
    bound = printed.least_own_value_risk([values.count(v) for v in set(values)])
    risks = [own_value_risk(labels, values) for labels in groupings(len(values))]
    assert len(risks) == 203
    assert min(risks) == pytest.approx(bound)


def test_cells_below_the_bound_are_those_of_methods_that_group_real_rows():
    cells = printed.below_the_bound(COUNTS)
    assert len(cells) == 288 and cells["groups real rows"].sum() == 7 * 32
    assert set(cells.loc[cells["violates"], "method"]).isdisjoint({"Proposed", "LoPub"})
    stroke = cells[(cells["dataset"] == "stroke") & cells["groups real rows"]]
    assert stroke["violates"].all()  # the largest printed one is 0.80, the bound 0.907
    assert not cells.loc[cells["disclosure_risk"] > 0.9, "violates"].any()


def test_table_11_by_counting():
    found = printed.records_at_risk_arithmetic(COUNTS).set_index("dataset")
    for name, (most, rare) in COUNTS.items():
        assert found.loc[name, "existing, computed"] == most - rare
    assert found.loc["adult", "proposed, computed"] == found.loc["adult", "proposed_count"]
    assert (
        found.loc["stroke", "proposed, computed"] == 1169 != found.loc["stroke", "proposed_count"]
    )
