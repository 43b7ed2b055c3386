"""What the algorithms promise, on tables that nobody chose: `make fuzz` draws 10,000 for each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycanon import anonymity
from referees.rows import fewest_stars, fewest_suppressed_rows
from referees.tables import eligible_tables, tables, tried

import anonpaper as ap

FREQUENCY_DIVERSE = {
    "tp": ap.tp,
    "tp_plus": ap.tp_plus,
    "tp_refined": ap.tp_refined,
    "hilbert": ap.hilbert,
}


def stars(m, p):
    """Counted from the table itself: the rows of a group times the QI on which they differ."""
    groups = m.frame[m.qi].groupby(p.labels)
    return int(((groups.nunique() > 1).sum(axis=1) * groups.size()).sum())


@settings(max_examples=tried(60), deadline=None)
@given(eligible_tables(max_rows=7))
def test_tp_removes_as_few_rows_as_its_phases_say(case):
    m, l = case
    p = ap.tp(m, l)
    removed, phase = p.info["residue_size"], p.info["phase"]
    fewest = fewest_suppressed_rows(m.codes.tolist(), m.sensitive_codes, l)
    assert p.info["lower_bound"] <= fewest <= removed <= l * fewest
    assert removed <= fewest + {1: 0, 2: l - 1, 3: m.n}[phase]
    assert phase < 3 or l > 2


@settings(max_examples=tried(60), deadline=None)
@given(eligible_tables(max_rows=7))
def test_bounds_the_optimum_and_what_is_found_stand_in_this_order(case):
    m, l = case
    optimum = fewest_stars(m.codes.tolist(), m.sensitive_codes, l)
    assert ap.measure.fewest_stars(m, l=l) <= optimum == stars(m, ap.exact(m, l))
    found = {name: stars(m, algorithm(m, l)) for name, algorithm in FREQUENCY_DIVERSE.items()}
    assert optimum <= min(found.values())
    assert found["tp_refined"] <= found["tp_plus"] <= found["tp"]
    assert found["tp"] <= l * len(m.qi) * optimum


@settings(max_examples=tried(60), deadline=None)
@given(tables(max_rows=9), st.integers(2, 3))
def test_no_bound_is_above_the_fewest_stars_of_anonymous_groups(m, k):
    """With a secret of its own for every row, l-diversity is k-anonymity."""
    k = min(k, m.n)
    people = ap.Microdata(m.frame[m.qi].assign(s=range(m.n)), m.qi, "s")
    bound = ap.measure.fewest_stars(m, k=k)
    assert bound <= ap.exact(people, k).info["cost"]
    assert bound == ap.measure.fewest_stars(people, l=k)


@settings(max_examples=tried(30), deadline=None)
@given(tables(min_rows=10, max_rows=10), st.permutations("xxxxxyyyyy"))
def test_the_matching_is_as_good_as_exhaustive_search(m, secrets):
    m = m.replace(frame=m.frame.assign(s=secrets))
    assert ap.optimal_two_diverse(m).info["stars"] == ap.exact(m, 2).info["cost"]


@pytest.mark.parametrize("name", FREQUENCY_DIVERSE)
@settings(max_examples=60)
@given(eligible_tables())
def test_every_published_group_is_diverse_and_no_row_is_lost(name, case):
    m, l = case
    p = FREQUENCY_DIVERSE[name](m, l)
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
def test_fewest_rows_are_those_of_trying_every_set_partition(case):
    m, l = case
    p = ap.exact(m, l, "rows")
    assert ap.FrequencyLDiversity(l).holds(m, p.labels)
    fewest = fewest_suppressed_rows(m.codes.tolist(), m.sensitive_codes.tolist(), l)
    assert p.info["cost"] == fewest == ap.measure.suppressed_rows(ap.suppress(m, p))


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
