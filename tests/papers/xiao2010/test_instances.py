"""Small instances: the worked examples, the bounds, and the search for worst cases."""

import itertools

import pandas as pd
import pytest
import xiao2010_instances as instances

import anonpaper as ap


def residue_after(table, phase):
    return ap.tp_steps(table, l=3).loc[(f"phase {phase}", "R")].tolist()


def test_the_examples_take_the_course_that_the_paper_tells():
    assert residue_after(instances.section_5_3(), 1) == [3, 2, 0, 0, 0]
    assert residue_after(instances.section_5_3(), 2) == [3, 2, 2, 1, 1]
    assert residue_after(instances.section_5_4(), 2) == [3, 3, 0, 0, 0]
    assert residue_after(instances.section_5_4(), 3) == [4, 4, 1, 1, 2]


def test_no_table_meets_the_statement_about_alive_values():
    """A thin group of the values 3, 4, 5 whose pillars are 4 and 5 alone does not exist."""
    for l, counts in itertools.product(range(2, 6), itertools.product(range(1, 8), repeat=3)):
        height = max(counts)
        thin = sum(counts) == l * height
        assert not (thin and counts[1] == counts[2] == height > counts[0])


def test_random_instances_are_decided_alike_and_repeatably():
    for l in (3, 4):
        rows = instances.check_reduction(q=2, points=3, instances=12, seed=0, l=l)
        assert {row["has_matching"] for row in rows} == {True, False}
        for row in rows:
            reached = row["stars"] == row["least_stars"]
            assert row["has_matching"] == reached == row["matching_read_off"]
        assert rows == instances.check_reduction(q=2, points=3, instances=12, seed=0, l=l)


def test_least_matchings_of_random_tables_have_the_fewest_stars():
    rows = instances.match_random_tables(n=6, d=2, tables=8, seed=0)
    assert all(row["least matching"] == row["exhaustive search"] for row in rows)
    assert len({row["least matching"] for row in rows}) > 1


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


def test_random_tables_keep_the_bounds():
    rows = instances.approximate_random_tables(n=9, l=3, tables=20, seed=0)
    assert len(rows) == 20
    for row in rows:
        assert row["optimum"] <= row["residue"] <= 3 * row["optimum"]


def test_lemmas_hold_and_phase_three_is_common():
    runs = pd.DataFrame(instances.check_lemmas(l=3, tables=40, seed=0))
    assert runs.filter(regex="5|unique").all(axis=None)
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


def test_star_ratio_keeps_lemma_2():
    for row in instances.check_star_ratio(n=8, d=2, l=2, tables=20, seed=0):
        assert row["optimum"] <= row["stars"] <= 4 * row["optimum"]
