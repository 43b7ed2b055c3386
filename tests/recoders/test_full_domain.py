import pytest

import anonpaper as ap
from anonpaper import errors


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
    ({"k": 2, "hierarchies": {"Height": ap.Hierarchy.flat("ab")}}, errors.ColumnError, "Height"),
    ({"k": 2, "hierarchies": {"Gender": ap.Hierarchy.flat("F")}}, errors.HierarchyError, "'M'"),
])  # fmt: skip
def test_bad_input_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        ap.full_domain(ap.examples.hospital(), **arguments)


def test_a_lattice_that_is_too_large_is_refused():
    m = ap.load("adult", qi=["age", "hours-per-week", "fnlwgt", "education-num"])
    trees = {name: ap.Hierarchy.balanced(m.attribute(name).values, 2) for name in m.qi}
    tall = {a: ap.Hierarchy([row[:1] * 60 + row for row in trees[a].rows]) for a in trees}
    with pytest.raises(errors.SizeLimitError, match="nodes"):
        ap.full_domain(m, 5, tall)
