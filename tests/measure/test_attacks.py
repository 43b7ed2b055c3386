"""Attacks: guesses against loops over rows, membership against comparing everybody."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import anonpaper as ap
from anonpaper.measure.attacks import guessing, membership, plausible_values, ruled_out


@st.composite
def tables(draw):
    n = draw(st.integers(1, 25))

    def column(size):
        return st.lists(st.integers(0, size - 1), min_size=n, max_size=n)

    frame = pd.DataFrame({"a": draw(column(4)), "b": draw(column(3)), "s": draw(column(4))})
    labels = np.unique(draw(column(4)), return_inverse=True)[1]
    return ap.Microdata(frame, ["a", "b"], "s"), labels


def guess_one_by_one(m, labels, plausible):
    success = []
    for row, label in enumerate(labels):
        if label < 0:
            success.append(np.nan)
            continue
        values = m.sensitive_codes[labels == label].tolist()
        possible = [v for v in values if plausible[row, v]] or values
        most = max(possible.count(v) for v in possible)
        named = {v for v in possible if possible.count(v) == most}
        success.append((m.sensitive_codes[row] in named) / len(named))
    return success


@settings(max_examples=80)
@given(tables(), st.sampled_from([0, 0.2, 0.5, 1]), st.booleans())
def test_guesses_are_those_made_one_by_one(table, least_share, withheld):
    m, labels = table
    if withheld and labels.max() > 0:
        labels = np.where(labels == labels.max(), -1, labels)
    everything = np.ones((m.n, m.sensitive_attribute.size), dtype=bool)
    assert np.allclose(
        guessing(m, labels), guess_one_by_one(m, labels, everything), equal_nan=True
    )
    plausible = plausible_values(m, ["a"], least_share)
    assert np.allclose(
        guessing(m, labels, plausible), guess_one_by_one(m, labels, plausible), equal_nan=True
    )


@settings(max_examples=50)
@given(tables(), st.sampled_from([0, 0.3, 0.6]))
def test_values_ruled_out_are_counted_one_by_one(table, least_share):
    m, labels = table
    plausible = plausible_values(m, ["b"], least_share)
    expected = [
        np.mean([not plausible[row, v] for v in m.sensitive_codes[labels == labels[row]]])
        for row in range(m.n)
    ]
    assert np.allclose(ruled_out(m, labels, plausible), expected)


@settings(max_examples=50)
@given(tables(), tables(), st.sampled_from([0, 0.3, 0.6]))
def test_plausible_values_of_other_people_by_pandas(table, others, least_share):
    m, people = table[0], others[0]
    share = people.frame.groupby("a")["s"].value_counts(normalize=True)
    expected = [
        [
            a not in share.index or ((a, s) in share.index and share[a, s] >= least_share)
            for s in m.sensitive_attribute.values
        ]
        for a in m.frame["a"]
    ]
    assert plausible_values(m, ["a"], least_share, people).tolist() == expected
    assert np.array_equal(
        plausible_values(m, ["a"], least_share, m), plausible_values(m, ["a"], least_share)
    )


def test_nobody_fits_where_every_row_is_withheld():
    m = ap.examples.hospital()
    for publish in (ap.suppress, ap.generalize, ap.swap, ap.anatomize):
        found = membership(publish(m, ap.Partition([-1] * 10)), m)
        assert found == {"members": 0.0, "outsiders": 0.0, "advantage": 0.0}
