import pytest

import anonpaper as ap
from anonpaper import errors


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
