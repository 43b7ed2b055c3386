import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycanon import anonymity
from referees.tables import grouped_tables

import anonpaper as ap
from anonpaper import errors, principles


def as_pycanon(m, p):
    """The published groups as a table in which the group itself is the quasi-identifier."""
    shown = p.labels >= 0
    frame = m.frame[shown].assign(group=p.labels[shown])[["group", "s"]]
    return frame.astype(str).reset_index(drop=True), ["group"], ["s"]


@settings(deadline=None, max_examples=40)
@given(grouped_tables())
def test_levels_agree_with_pycanon(grouped):
    m, p = grouped
    referee = as_pycanon(m, p)
    labels = p.labels
    assert principles.KAnonymity(1).level(m, labels) == anonymity.k_anonymity(*referee[:2])
    assert principles.DistinctLDiversity(1).level(m, labels) == anonymity.l_diversity(*referee)
    alpha, _ = anonymity.alpha_k_anonymity(*referee)
    assert principles.AlphaKAnonymity(1, 1).level(m, labels) == pytest.approx(alpha)
    assert principles.Theta(1).level(m, labels) == pytest.approx(alpha)
    assert principles.FrequencyLDiversity(1).level(m, labels) == pytest.approx(1 / alpha)
    # pycanon floors exp(entropy), so a value that is whole up to rounding may drop by one.
    entropy_l = principles.EntropyLDiversity(1).level(m, labels)
    floors = {int(entropy_l + rounding) for rounding in (-1e-9, 0, 1e-9)}
    assert anonymity.entropy_l_diversity(*referee) in floors


@settings(deadline=None, max_examples=20)
@given(grouped_tables())
def test_t_closeness_agrees_with_pycanon(grouped):
    m, p = grouped
    # Text values: pycanon takes every two values to be equally far apart.
    frame, qi, sensitive = as_pycanon(m, p)
    frame["s"] = "v" + frame["s"]
    assert principles.TCloseness(1).level(m, p.labels) == pytest.approx(
        anonymity.t_closeness(frame, qi, sensitive), abs=1e-9
    )


@settings(deadline=None, max_examples=40)
@given(grouped_tables(), st.integers(1, 4), st.floats(0.5, 4))
def test_recursive_l_diversity_is_its_definition(grouped, l, c):
    m, p = grouped
    failing = principles.RecursiveLDiversity(c, l).failing(m, p.labels)
    for group, rows in enumerate(p.groups()):
        counts = np.sort(np.bincount(m.sensitive_codes[rows]))[::-1]
        assert (group in failing) == (not counts[0] < c * counts[l - 1 :].sum())


@settings(deadline=None, max_examples=40)
@given(grouped_tables())
def test_ordered_t_closeness_is_the_earth_movers_distance(grouped):
    from scipy.stats import wasserstein_distance

    m, p = grouped
    values = m.sensitive_codes[p.labels >= 0]
    steps = max(int(values.max()), 1)
    worst = max(wasserstein_distance(m.sensitive_codes[rows], values) for rows in p.groups())
    level = principles.TCloseness(1, distance="ordered").level(m, p.labels)
    assert level == pytest.approx(worst / steps)


def test_the_homogeneity_attack_on_the_running_example():
    m, p = ap.examples.hospital(), ap.examples.hospital_two_anonymous()
    assert ap.KAnonymity(2).holds(m, p.labels)
    assert ap.DistinctLDiversity(2).failing(m, p.labels).tolist() == [0]
    assert ap.FrequencyLDiversity(2).holds(m, ap.examples.hospital_two_diverse().labels)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ap.KAnonymity(0),
        lambda: ap.KAnonymity(2.5),
        lambda: ap.DistinctLDiversity(0),
        lambda: ap.FrequencyLDiversity(0.5),
        lambda: ap.EntropyLDiversity("2"),
        lambda: ap.RecursiveLDiversity(0, 2),
        lambda: ap.Theta(0),
        lambda: ap.Theta(1.1),
        lambda: ap.Theta(float("nan")),
        lambda: ap.AlphaKAnonymity(0.5, 0),
        lambda: ap.TCloseness(-0.1),
        lambda: ap.TCloseness(0.1, distance="hops"),
    ],
)
def test_parameters_out_of_range_are_refused(make):
    with pytest.raises(errors.ParameterError):
        make()


def test_a_principle_on_sensitive_values_needs_some():
    m = ap.examples.hospital().with_roles(sensitive=None)
    labels = ap.examples.hospital_two_anonymous().labels
    assert ap.KAnonymity(2).holds(m, labels)
    with pytest.raises(errors.ColumnError):
        ap.DistinctLDiversity(2).holds(m, labels)


def test_labels_of_another_table_and_empty_groupings_are_refused():
    m = ap.examples.hospital()
    with pytest.raises(errors.ParameterError, match="shape"):
        ap.KAnonymity(2).level(m, np.zeros(3, int))
    with pytest.raises(errors.ParameterError, match="no row"):
        ap.KAnonymity(2).level(m, np.full(m.n, -1))
