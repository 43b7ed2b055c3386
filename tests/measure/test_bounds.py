from hypothesis import given, settings
from hypothesis import strategies as st
from referees.tables import eligible_tables, tables, tried

import anonpaper as ap


def of_different_people(m):
    """The table with a secret of its own for every row: then l-diversity is k-anonymity."""
    return ap.Microdata(m.frame[m.qi].assign(s=range(m.n)), m.qi, "s")


@settings(max_examples=tried(60), deadline=None)
@given(eligible_tables(max_rows=10))
def test_no_bound_is_above_the_fewest_stars_of_diverse_groups(case):
    m, l = case
    assert ap.measure.fewest_stars(m, l=l) <= ap.exact(m, l).info["cost"]


@settings(max_examples=tried(60), deadline=None)
@given(tables(max_rows=9), st.integers(2, 3))
def test_no_bound_is_above_the_fewest_stars_of_anonymous_groups(m, k):
    k = min(k, m.n)
    people = of_different_people(m)
    bound = ap.measure.fewest_stars(m, k=k)
    assert bound <= ap.exact(people, k).info["cost"]
    assert bound == ap.measure.fewest_stars(people, l=k)
