import pandas as pd

import anonpaper as ap
from anonpaper.papers.xiao2010 import protocol as xiao2010


def test_all_128_tables_of_the_paper_are_projections():
    qi = list("abcdefg")
    assert len(xiao2010.projections(qi, range(1, 8))) == 127
    assert 2 * len(xiao2010.projections(qi, range(4, 8))) == 128
    few = xiao2010.projections(qi, [3, 7], at_most=2, seed=1)
    assert [len(subset) for subset in few] == [3, 3, 7]
    assert few == xiao2010.projections(qi, [3, 7], at_most=2, seed=1)


def test_measurements_of_a_projection_are_those_of_its_releases():
    m = ap.examples.hospital()
    rows = pd.DataFrame(
        xiao2010.suppress_projection({"t": m}, "t", ["Age", "Gender"], [2], ["TP", "Hilbert"])
    ).set_index("algorithm")
    projection = m.with_roles(qi=["Age", "Gender"])
    for name, algorithm in (("TP", ap.tp), ("Hilbert", ap.hilbert)):
        release = ap.suppress(projection, algorithm(projection, 2))
        assert rows.loc[name, "stars"] == ap.measure.stars(release)
        assert rows.loc[name, "suppressed"] == ap.measure.suppressed_rows(release)
        assert rows.loc[name, "seconds"] > 0
    assert rows.loc["TP", "phase"] == 1
    compared = pd.DataFrame(
        xiao2010.compare_with_generalization({"t": m}, "t", m.qi, [2])
    ).set_index("algorithm")
    expected = ap.measure.kl_divergence(ap.recode(m, ap.tds(m, 2)))
    assert compared.loc["TDS", "divergence"] == expected
    timed = xiao2010.time_sample({"t": m}, "t", m.qi, n=8, l=2, seed=3, algorithms=["TP"])
    assert timed[0]["seconds"] > 0


def test_random_instances_are_decided_alike_and_repeatably():
    rows = xiao2010.check_reduction(q=2, points=3, instances=12, seed=0)
    assert {row["has_matching"] for row in rows} == {True, False}
    for row in rows:
        reached = row["stars"] == row["least_stars"]
        assert row["has_matching"] == reached == row["matching_read_off"]
    assert rows == xiao2010.check_reduction(q=2, points=3, instances=12, seed=0)


def test_random_tables_keep_the_bounds():
    rows = xiao2010.approximate_random_tables(n=9, l=3, tables=20, seed=0)
    assert len(rows) == 20
    for row in rows:
        assert row["optimum"] <= row["residue"] <= 3 * row["optimum"]
