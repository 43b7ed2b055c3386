import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from referees.tables import eligible_tables
from scipy.stats import entropy

import anonpaper as ap
from anonpaper import errors


def groups_of(m, maps):
    recoded = np.column_stack([ids[m.codes[:, j]] for j, ids in enumerate(maps)])
    return np.unique(recoded, axis=0, return_inverse=True)[1].reshape(-1)


def possible_steps(m, r):
    """Every specialization that is left: cut an interval of a number anywhere."""
    for j, ids in enumerate(r.maps):
        for cut in range(1, len(ids)):
            if ids[cut - 1] == ids[cut]:
                finer = np.where(np.arange(len(ids)) >= cut, ids + 1, ids)
                yield [*r.maps[:j], finer, *r.maps[j + 1 :]]


@settings(max_examples=40)
@given(eligible_tables(max_values=5))
def test_trees_are_followed_for_attributes_without_order(case):
    m, l = case
    text = m.frame.astype({name: str for name in m.qi})
    unordered = ap.Microdata(text, m.qi, "s")
    r = ap.tds(unordered, l)
    assert ap.FrequencyLDiversity(l).holds(unordered, groups_of(unordered, r.maps))
    for name, attribute in zip(m.qi, unordered.attributes, strict=True):
        tree = ap.Hierarchy.balanced(attribute.values, 4)
        nodes = {
            frozenset(attribute.values[tree.maps(attribute)[level] == node])
            for level in range(tree.height + 1)
            for node in range(attribute.size)
        }
        assert all(frozenset(part) in nodes for part in r.sub_domains(name))


@pytest.mark.parametrize("seed", range(12))
def test_every_step_is_the_best_valid_one(seed):
    """Replay TDS plainly: look at every cut, score it on the rows, take the best."""
    rng, n = np.random.default_rng(seed), 40
    frame = pd.DataFrame({"a": rng.integers(0, 8, n), "b": rng.choice([0, 1, 2, 9], n)})
    m = ap.Microdata(
        frame.assign(s=(frame["a"] // 2 + rng.integers(0, 5, n)) % 5), ["a", "b"], "s"
    )
    l = 2
    maps = [np.zeros(a.size, int) for a in m.attributes]
    principle = ap.FrequencyLDiversity(l)
    while True:
        level = principle.level(m, groups_of(m, maps))
        scored = []
        for finer in possible_steps(m, ap.Recoding(m.attributes, maps)):
            labels = groups_of(m, finer)
            if principle.holds(m, labels):
                gain, drop, place = describe(m, maps, finer)
                score = gain / (level - principle.level(m, labels) + 1)
                scored.append(((-score, -gain, -drop, place), finer))
        if not scored:
            break
        maps = min(scored, key=lambda step: step[0])[1]
    found = ap.tds(m, l)
    assert found == ap.Recoding(m.attributes, maps)
    assert found.info["candidates"] > sum(map(max, maps))  # beside the first, one a step at least


def describe(m, maps, finer):
    """InfoGain, drop of NCP, and place of the step between two recodings."""
    j = next(j for j in range(m.d) if max(maps[j]) < max(finer[j]))
    cut = int(np.flatnonzero(np.diff(finer[j]) > np.diff(maps[j]))[0])
    rows = np.flatnonzero(maps[j][m.codes[:, j]] == maps[j][cut])
    left = rows[m.codes[rows, j] <= cut]
    right = np.setdiff1d(rows, left)
    gain = entropy_of(m, rows)
    drop = penalty_of(m, j, maps, cut, rows)
    for side, code in ((left, cut), (right, cut + 1)):
        gain -= len(side) / max(len(rows), 1) * entropy_of(m, side)
        drop -= penalty_of(m, j, finer, code, side)
    return round(gain, 12) + 0.0, drop, (j, cut)


def entropy_of(m, rows):
    counts = np.bincount(m.sensitive_codes[rows])
    return entropy(counts) if counts.sum() else 0.0


def penalty_of(m, j, maps, code, rows):
    attribute = m.attributes[j]
    positions = attribute.positions[maps[j] == maps[j][code]]
    return len(rows) * (positions[-1] - positions[0]) / attribute.width


def test_a_users_hierarchy_is_followed_and_checked():
    m = ap.examples.hospital()
    tree = ap.Hierarchy([["<30", "any", "*"], ["[30, 50)", "any", "*"], [">=50", "any", "*"]])
    assert ap.tds(m, 2, hierarchies={"Age": tree}).sub_domains("Age") == [
        ["<30", "[30, 50)", ">=50"]
    ]


def test_no_level_of_a_hierarchy_is_skipped():
    frame = pd.DataFrame({"city": [*"abcd"] * 2, "ill": [*"xyxyxyxy"]})
    tree = ap.Hierarchy([[*"a1*"], [*"b1*"], [*"c3*"], [*"d3*"]])
    found = ap.tds(ap.Microdata(frame, ["city"], "ill"), 2, {"city": tree})
    assert found.sub_domains("city") == [["a", "b"], ["c", "d"]]


def test_a_tree_of_several_roots_begins_with_a_star():
    frame = pd.DataFrame({"a": list("xy") * 6, "b": range(12), "s": list("abc") * 4})
    m = ap.Microdata(frame, ["a", "b"], "s")
    roots = ap.Hierarchy([["x"], ["y"]])
    rel = ap.recode(m, ap.tds(m, 3, {"a": roots}))
    assert (
        rel.frame.groupby(m.qi, observed=True)["s"]
        .agg(lambda s: (s.value_counts() * 3 <= len(s)).all())
        .all()
    )
    starred = m.replace(frame=frame.assign(s=[0, 1] * 6)).with_roles(qi=["a"])
    assert set(ap.recode(starred, ap.tds(starred, 2, {"a": roots})).frame["a"]) == {"*"}
    apart = m.with_roles(qi=["a"])
    assert ap.recode(apart, ap.tds(apart, 2, {"a": roots})).frame["a"].tolist() == list("xy") * 6


def test_values_that_are_written_alike_stay_apart():
    frame = pd.DataFrame({"x": np.array([1, "1", 1, "1"], dtype=object), "s": list("aabb")})
    m = ap.Microdata(frame, ["x"], "s")
    assert ap.tds(m, 2) == ap.Recoding.identity(m.attributes)


def test_pruning_checks_few_nodes_of_adult():
    m = ap.load("adult", missing="drop")
    r = ap.full_domain(m, 10, l=2)
    audit = ap.recode(m, r).audit().set_index("principle")["level"]
    assert audit["k-anonymity"] >= 10 and audit["distinct l-diversity"] >= 2
    assert r.info["candidates"] < r.info["nodes"] / 2


def test_a_lattice_that_is_too_large_is_refused():
    m = ap.load("adult", qi=["age", "hours-per-week", "fnlwgt", "education-num"])
    trees = {name: ap.Hierarchy.balanced(m.attribute(name).values, 2) for name in m.qi}
    tall = {a: ap.Hierarchy([row[:1] * 60 + row for row in trees[a].rows]) for a in trees}
    with pytest.raises(errors.SizeLimitError, match="nodes"):
        ap.full_domain(m, 5, tall)
