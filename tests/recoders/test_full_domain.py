import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import tables

import anonpaper as ap
from anonpaper import errors
from anonpaper.principles import DistinctLDiversity, FrequencyLDiversity


@st.composite
def problems(draw):
    m = draw(tables(max_rows=30, max_qi=3, max_values=5))
    fan_out = draw(st.integers(2, 3))
    trees = {a.name: ap.Hierarchy.balanced(a.values, fan_out) for a in m.attributes}
    levels = [None, *range(1, min(m.n, 3) + 1)]
    return m, trees, draw(st.integers(1, min(m.n, 8))), draw(st.sampled_from(levels))


@settings(max_examples=60)
@given(problems(), st.sampled_from(["distinct", "frequency"]))
def test_no_node_is_cheaper(case, diversity):
    """Against all nodes, published and measured one by one."""
    m, trees, k, l = case
    principles = [ap.KAnonymity(k)]
    if l is not None:
        kind = DistinctLDiversity if diversity == "distinct" else FrequencyLDiversity
        principles.append(kind(l))
    costs = {}
    for levels in itertools.product(*(range(trees[name].height + 1) for name in m.qi)):
        r = ap.Recoding.from_levels(m.attributes, trees, dict(zip(m.qi, levels, strict=True)))
        rel = ap.recode(m, r)
        if all(p.holds(m, rel.classes.labels) for p in principles):
            costs[levels] = ap.measure.ncp(rel)
    if not costs:
        with pytest.raises(errors.InfeasibleError):
            ap.full_domain(m, k, trees, l, diversity=diversity)
        return
    r = ap.full_domain(m, k, trees, l, diversity=diversity)
    levels = tuple(r.info["levels"][name] for name in m.qi)
    assert costs[levels] == pytest.approx(min(costs.values()), abs=1e-9)
    assert r.info["ncp"] == pytest.approx(costs[levels], abs=1e-9)
    assert ap.measure.ncp(ap.recode(m, r)) == pytest.approx(costs[levels], abs=1e-9)


def test_pruning_checks_few_nodes_of_adult():
    m = ap.load("adult", missing="drop")
    r = ap.full_domain(m, 10, l=2)
    audit = ap.recode(m, r).audit().set_index("principle")["level"]
    assert audit["k-anonymity"] >= 10 and audit["distinct l-diversity"] >= 2
    assert r.info["candidates"] < r.info["nodes"] / 2


@pytest.mark.parametrize(("arguments", "error", "message"), [
    ({"k": 0}, errors.ParameterError, "k must"),
    ({"k": 11}, errors.ParameterError, "k must"),
    ({"k": 2, "l": 0}, errors.ParameterError, "l must"),
    ({"k": 2, "l": 2, "diversity": "entropy"}, errors.ParameterError, "diversity"),
    ({"k": 2, "l": 5}, errors.InfeasibleError, "reaches 4 of DistinctLDiversity"),
    ({"k": 2, "l": 4, "diversity": "frequency"}, errors.InfeasibleError, "Frequency"),
    ({"k": 2, "weights": {"Height": 1}}, errors.ColumnError, "Height"),
    ({"k": 2, "weights": {"Age": -1}}, errors.ParameterError, "at least 0"),
    ({"k": 2, "weights": {"Age": 1e308}}, errors.ParameterError, "infinite"),
    ({"k": 2, "hierarchies": {"Height": ap.Hierarchy.flat("ab")}}, errors.ColumnError, "Height"),
    ({"k": 2, "hierarchies": {"Gender": ap.Hierarchy.flat("F")}}, errors.HierarchyError, "'M'"),
])  # fmt: skip
def test_bad_input_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        ap.full_domain(ap.examples.hospital(), **arguments)


def test_the_release_costs_what_info_says():
    """Also where rows are withheld, as trees are made without values that only they have."""
    withheld = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(
            {
                "a": rng.integers(0, 9, 14),
                "b": rng.choice(list("wxyz"), 14),
                "c": rng.integers(3, size=14),
            }
        )
        m = ap.Microdata(frame, ["a", "b", "c"])
        for suppression in (0, 0.3):
            r = ap.full_domain(m, 3, suppression=suppression)
            found = ap.measure.ncp(ap.recode(m, r))
            assert found == pytest.approx(r.info["ncp"])
            withheld += r.info.get("withheld", 0) > 0
    assert withheld


def test_a_lattice_that_is_too_large_is_refused():
    m = ap.load("adult", qi=["age", "hours-per-week", "fnlwgt", "education-num"])
    trees = {name: ap.Hierarchy.balanced(m.attribute(name).values, 2) for name in m.qi}
    tall = {a: ap.Hierarchy([row[:1] * 60 + row for row in trees[a].rows]) for a in trees}
    with pytest.raises(errors.SizeLimitError, match="nodes"):
        ap.full_domain(m, 5, tall)
