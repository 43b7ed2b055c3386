import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pycanon import anonymity
from referees.tables import grouped_tables, tables

import anonpaper as ap
from anonpaper import errors, principles
from anonpaper.groups import Entries
from anonpaper.owner import report


@settings(max_examples=40)
@given(grouped_tables())
def test_levels_agree_with_pycanon(grouped):
    """The published groups are a table in which the group itself is the quasi-identifier."""
    m, p = grouped
    shown, labels = p.labels >= 0, p.labels
    values = "v" + m.frame["s"][shown].astype(str)  # of texts, every two are equally far apart
    frame = pd.DataFrame({"group": labels[shown].astype(str), "s": values.to_numpy()})
    referee = frame, ["group"], ["s"]
    assert principles.KAnonymity(1).level(m, labels) == anonymity.k_anonymity(*referee[:2])
    assert principles.DistinctLDiversity(1).level(m, labels) == anonymity.l_diversity(*referee)
    alpha, _ = anonymity.alpha_k_anonymity(*referee)
    assert principles.Theta(1).level(m, labels) == pytest.approx(alpha)
    assert principles.FrequencyLDiversity(1).level(m, labels) == pytest.approx(1 / alpha)
    # pycanon floors exp(entropy), so a value that is whole up to rounding may drop by one.
    entropy_l = principles.EntropyLDiversity(1).level(m, labels)
    floors = {int(entropy_l + rounding) for rounding in (-1e-9, 0, 1e-9)}
    assert anonymity.entropy_l_diversity(*referee) in floors
    closeness = anonymity.t_closeness(*referee)
    assert principles.TCloseness(1).level(m, labels) == pytest.approx(closeness, abs=1e-9)


@settings(max_examples=40)
@given(grouped_tables(), st.lists(st.integers(0, 30), min_size=8, max_size=8))
def test_ordered_t_closeness_is_the_earth_movers_distance(grouped, unused):
    """Between the ranks of the values that occur, whatever else the domain holds."""
    from scipy.stats import rankdata, wasserstein_distance

    m, p = grouped
    shown = p.labels >= 0
    ranks = np.zeros(m.n)
    ranks[shown] = rankdata(m.sensitive_codes[shown], "dense")
    steps = max(ranks.max() - 1, 1)
    worst = max(wasserstein_distance(ranks[rows], ranks[shown]) for rows in p.groups())
    level = principles.TCloseness(1, distance="ordered").level(m, p.labels)
    assert level == pytest.approx(worst / steps)
    places = np.cumsum(unused) + np.arange(8)  # value i stands there in a domain with gaps
    wide = m.replace(
        frame=m.frame.assign(s=places[m.sensitive_codes]), domains={"s": range(places[-1] + 5)}
    )
    assert wide.sensitive_attribute.size > m.sensitive_attribute.size
    for distance in ("ordered", "equal"):
        principle = principles.TCloseness(1, distance)
        assert principle.level(wide, p.labels) == pytest.approx(principle.level(m, p.labels))


@settings(max_examples=40)
@given(grouped_tables(), st.integers(1, 4), st.floats(0.05, 1))
def test_counts_and_labels_give_the_same_answer(grouped, l, share):
    """The check of an algorithm, which has counts, is the check of the audit."""
    m, p = grouped
    table = pd.crosstab(p.labels, m.sensitive_codes).drop(-1, errors="ignore").to_numpy()
    for principle in (
        ap.KAnonymity(l), ap.DistinctLDiversity(l), ap.FrequencyLDiversity(l),
        ap.EntropyLDiversity(l), ap.RecursiveLDiversity(share, l), ap.Theta(share),
        ap.TCloseness(share), ap.TCloseness(share, "ordered"),
    ):  # fmt: skip
        by_labels = principle.failing(m, p.labels).tolist()
        assert principle.failing(table).tolist() == by_labels
        assert principle.failing(Entries.of(m, p)).tolist() == by_labels
        assert principle.holds(table) == principle.holds(m, p.labels) == (not by_labels)
        assert principle.level(table) == pytest.approx(principle.level(m, p.labels))


@settings(max_examples=60)
@given(tables(max_rows=24), st.booleans())
def test_every_number_that_the_report_calls_feasible_is_reached_and_the_next_is_not(m, of_people):
    if of_people:
        who = m.cells.tuple_of_row % 5
        m = m.replace(frame=m.frame.assign(q0=who, who=who), qi=["q0"], person="who")
    assume(m.n_people > 1)  # k = 2 needs two people
    [told] = report.audit(m, 1)["feasible"].values()
    for promised, title in (("frequency", "largest frequency l"), ("distinct", "values")):
        largest = told[title]
        ways = [lambda m, l: ap.mondrian(m, 2, l, diversity=promised)]  # noqa: B023
        ways += [] if promised == "distinct" or m.people is not None else [ap.tp, ap.hilbert]
        for group in ways:
            if largest > 1:
                met = principles.l_diversity(largest, promised)
                assert met.holds(m, group(m, largest).labels)
            with pytest.raises(errors.AnonpaperError):
                group(m, largest + 1)
