"""What the algorithms promise, on tables that nobody chose: `make fuzz` draws 10,000 for each."""

from hypothesis import given, settings
from referees.rows import fewest_stars, fewest_suppressed_rows
from referees.tables import eligible_tables, tried

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
