"""Small instances: the worked examples, the bounds, and the search for worst cases."""

import itertools

import pandas as pd
import pytest
import xiao2010_instances as instances
from referees.drawn import drawn_tables

import anonpaper as ap


def residue_after(table, phase):
    return ap.tp_steps(table, l=3).loc[(f"phase {phase}", "R")].tolist()


def test_the_examples_take_the_course_that_the_paper_tells():
    assert residue_after(instances.section_5_3(), 1) == [3, 2, 0, 0, 0]
    assert residue_after(instances.section_5_3(), 2) == [3, 2, 2, 1, 1]
    assert residue_after(instances.section_5_4(), 2) == [3, 3, 0, 0, 0]
    assert residue_after(instances.section_5_4(), 3) == [4, 4, 1, 1, 2]


def test_table_4_is_the_finest_two_diverse_recoding_in_order():
    """What TDS must find of the example, and why finding it says nothing about TDS."""
    example = ap.examples.hospital()
    bits = ["".join(word) for word in itertools.product("01", repeat=5)]
    diverse = [
        word
        for word in bits
        if ap.recode(example, ap.Recoding.decode(example.attributes, word))
        .audit()
        .set_index("principle")
        .loc["frequency l-diversity", "level"]
        >= 2
    ]
    assert len(diverse) == 8
    (finest,) = [
        word
        for word in diverse
        if all(int(word, 2) & int(other, 2) == int(other, 2) for other in diverse)
    ]
    found = ap.recode(example, ap.tds(example, l=2)).frame
    table_4 = ap.recode(example, ap.Recoding.decode(example.attributes, finest)).frame
    pd.testing.assert_frame_equal(found, table_4)


def test_lemmas_hold_and_phase_three_is_common():
    runs = pd.DataFrame(instances.check_lemmas(l=3, tables=40, seed=0))
    assert runs.filter(regex="5").all(axis=None)
    assert (runs["phase"] == 3).mean() > 0.2


@pytest.mark.parametrize(("objective", "d"), [("rows", 1), ("stars", 2)])
def test_the_worst_table_found_is_as_bad_as_it_says(objective, d):
    found = instances.search_worst(n=8, d=d, l=3, objective=objective, steps=120, seed=1)
    frame = pd.DataFrame([list(row) for row in found["table"].split()])
    m = ap.Microdata(frame, list(frame.columns[:-1]), frame.columns[-1])
    p = ap.tp(m, 3)
    cost = ap.measure.stars(ap.suppress(m, p)) if objective == "stars" else p.info["residue_size"]
    optimum = ap.exact(m, 3, objective=objective).info["cost"]
    assert found["ratio"] == cost / optimum > 1
    assert found["ratio"] <= 3 * (d if objective == "stars" else 1)


def test_with_one_quasi_identifier_nothing_improves_on_the_residue():
    """Corollary 5.13: each group of any grouping of R has a star in the only column."""
    for m, l in drawn_tables(200):
        m = m.with_roles(qi=m.qi[:1])
        p, plus = ap.tp(m, l), ap.tp_plus(m, l)
        if p.info["phase"] < 3:
            assert ap.measure.stars(ap.suppress(m, plus)) == p.info["residue_size"]
