import numpy as np
import pytest
from hypothesis import given, settings
from pycanon import anonymity
from referees.rows import fewest_stars, fewest_suppressed_rows
from referees.tables import eligible_tables

import anonpaper as ap

ALGORITHMS = {
    "tp": ap.tp,
    "tp_plus": ap.tp_plus,
    "tp_refined": ap.tp_refined,
    "hilbert": ap.hilbert,
}


@pytest.mark.parametrize("name", ALGORITHMS)
@settings(max_examples=60)
@given(eligible_tables())
def test_every_published_group_is_diverse_and_no_row_is_lost(name, case):
    m, l = case
    p = ALGORITHMS[name](m, l)
    rel = ap.suppress(m, p)
    assert p.labels.min() == 0 and len(rel.frame) == m.n
    assert rel.frame["s"].tolist() == m.frame["s"].tolist()
    kept = rel.frame[m.qi] != "*"
    assert (rel.frame[m.qi] == m.frame[m.qi]).where(kept, True).all(axis=None)
    # The referee sees the groups, two of which may look alike, and the published rows.
    seen = rel.frame.astype(str).reset_index(drop=True).assign(group=p.labels.astype(str))
    for by in (["group"], m.qi):
        assert anonymity.alpha_k_anonymity(seen, by, ["s"])[0] <= 1 / l + 1e-12


@settings(max_examples=25)
@given(eligible_tables(max_rows=7))
def test_exhaustive_search_agrees_with_trying_every_set_partition(case):
    m, l = case
    rows, values = m.codes.tolist(), m.sensitive_codes.tolist()
    for objective, referee in (("stars", fewest_stars), ("rows", fewest_suppressed_rows)):
        p = ap.exact(m, l, objective)
        rel = ap.suppress(m, p)
        assert ap.FrequencyLDiversity(l).holds(m, p.labels)
        assert p.info["cost"] == referee(rows, values, l)
        measure = ap.measure.stars if objective == "stars" else ap.measure.suppressed_rows
        assert p.info["cost"] == measure(rel)


def test_the_running_example_step_by_step():
    m = ap.examples.hospital()
    p = ap.tp(m, l=2)
    assert m.frame.index[p.labels == p.n_groups - 1].tolist() == ["Adam", "Bob", "Calvin", "Danny"]
    assert p.info == {
        "phase": 1,
        "residue_size": 4,
        "lower_bound": 4,
        "rounds": 0,
        "removed_by_phase": (4, 0, 0),
    }
    assert ap.measure.stars(ap.suppress(m, p)) == 8


@settings(max_examples=40)
@given(eligible_tables())
def test_the_steps_lead_from_the_microdata_to_the_result(case):
    m, l = case
    steps, p = ap.tp_steps(m, l), ap.tp(m, l)
    names = steps.index.get_level_values("step").unique().tolist()
    assert names == ["microdata", "phase 1", "phase 2", "phase 3"][: p.info["phase"] + 1]
    assert steps.groupby(level="step").sum().nunique().eq(1).all()  # no row appears or is lost
    residue = m.sensitive_codes[p.labels == p.n_groups - 1] if p.info["residue_size"] else []
    expected = np.bincount(residue, minlength=m.sensitive_attribute.size).astype(int)
    assert steps.loc[(names[-1], "R")].tolist() == expected.tolist()
