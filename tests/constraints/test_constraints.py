import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.diverse import published_counts

import anonpaper as ap
from anonpaper import constraints as dc
from anonpaper import errors
from anonpaper.constraints import DiversityConstraint as Constraint

words = st.text(st.characters(categories=["L", "N", "P", "S"]) | st.just(" "), min_size=1).filter(
    lambda text: text == text.strip()
)


@settings(max_examples=200)
@given(st.dictionaries(words, words, min_size=1, max_size=3), st.integers(0, 9), st.integers(0, 9))
def test_the_text_form_is_read_back_as_it_was_written(target, low, more):
    constraint = Constraint(target, low, low + more)
    assert Constraint.parse(str(constraint)) == constraint


def test_a_file_is_read_line_by_line(tmp_path):
    path = tmp_path / "constraints.txt"
    sigma = [*ap.examples.patients_constraints(), Constraint({"a[b]": "c & d"}, 0, 1)]
    path.write_text("\n".join(["# two lines", "# of comment", *map(str, sigma)]))
    assert dc.read_constraints(path) == sigma
    for wrong, says in (
        ("ETH[Asian] 2, 5", r"'ETH\[Asian\] 2"),
        ("ETH[Asian], 5, 2", "high must"),
    ):
        path.write_text(f"# fine\n\nETH[Asian], 2, 5\n{wrong}\n")
        with pytest.raises(errors.ConstraintError, match=f"constraints.txt, line 4: {says}"):
            dc.read_constraints(path)


def test_values_are_found_by_how_they_are_written_and_close_ones_suggested():
    m = ap.examples.patients()
    assert Constraint.parse("AGE[32], 1, 2").target_rows(m).sum() == 2
    for target, says in (
        ({"ETH": "Asien"}, r"'Asien' is not in the domain.*3 values have \['Asian'"),
        ({"AGES": 32}, "'AGES' is not among"),
    ):
        with pytest.raises(errors.ConstraintError, match=says):
            Constraint(target, 1, 2).target_rows(m)


def test_counts_are_those_of_the_published_frame_for_every_kind_of_release():
    m = ap.examples.patients()
    p = ap.examples.patients_three_anonymous()
    starred = ap.Partition(p.labels, starred=[[0, 1, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]])
    targets = [{"ETH": "Asian"}, {"GEN": "Male"}, {"CTY": "Calgary", "ETH": "Caucasian"},
               {"DIAG": "Seizure"}, {"GEN": "Female", "DIAG": "Seizure"}, {"AGE": 63}]  # fmt: skip
    for rel in (ap.suppress(m, p), ap.suppress(m, starred), ap.generalize(m, p)):
        for target in targets:
            constraint = Constraint(target, 0, 10)
            assert constraint.count(rel) == published_counts(rel.frame, constraint)
    assert Constraint({"ETH": "Caucasian"}, 0, 10).count(ap.suppress(m, starred)) == 0


def test_the_rules_give_the_published_lists_of_pantheon():
    m = ap.load("pantheon")  # a stand-in has the published counts
    names, total, unknown = ["gender", "continentName"], 5_636, ("Unknown", "?")
    proportion = {
        str(list(c.target.values())[0]): (c.low, c.high)
        for c in dc.proportion_constraints(m, names, total, unknown)
    }
    assert proportion == {
        "Male": (4893, 4893), "Female": (742, 742), "Europe": (3164, 3164),
        "North America": (1212, 1212), "Asia": (590, 590), "Africa": (208, 208),
        "South America": (181, 181), "Oceania": (61, 61),
    }  # fmt: skip
    average = [str(c) for c in dc.average_constraints(m, ["continentName"], total, unknown)]
    assert "continentName[Europe], 939, 2850" in average
    assert "continentName[Africa], 419, 419" in average
    minimum = dc.minimum_constraints(m, ["continentName"], total, unknown)
    assert "continentName[Europe], 1, 5631" in [str(c) for c in minimum]


@pytest.mark.parametrize("build", [dc.minimum_constraints, dc.average_constraints,
                                   dc.proportion_constraints])  # fmt: skip
def test_bounds_are_capped_by_what_exists_and_the_table_itself_can_have_them(build):
    m = ap.load("adult", rows=3_000)
    sigma = build(m, ["race", ("race", "sex")])
    assert len(sigma) == 15
    for c in sigma:
        exist = c.target_rows(m).sum()
        assert 0 < c.low <= c.high <= exist
    if build is dc.proportion_constraints:  # with M = n every row is asked for
        assert all(c.low == c.target_rows(m).sum() for c in sigma)
        wider = build(m, ["race"], 1_500, slack=0.1)
        assert all(c.high <= 1.1 * c.low for c in wider)
    assert not any("Other" in c.target.values() for c in build(m, ["race"], without=["Other"]))


@pytest.mark.parametrize(
    ("sigma", "k", "says"),
    [
        (["ETH[Asian], 4, 9"], 2, "only 3 rows of the table carry the target"),
        (["ETH[African], 1, 2"], 3, "only 2 rows carry the target, fewer than k = 3"),
        (["ETH[Caucasian], 1, 1"], 2, "groups of k = 2 rows or more"),
        (["DIAG[Seizure], 0, 1"], 2, "2 rows carry it, and suppression does not hide it"),
        (["ETH[Asian], 2, 2", "ETH[Asian], 3, 3"], 2, "the bounds exclude each other"),
    ],
)
def test_contradictions_are_found_and_named(sigma, k, says):
    m = ap.examples.patients()
    sigma = [Constraint({"PRV": "AB"}, 0, 9), *map(Constraint.parse, sigma)]  # the first is fine
    with pytest.raises(errors.ConstraintError, match=says) as raised:
        ap.diva(m, sigma, k)
    assert str(sigma[1]) in str(raised.value) and "PRV" not in str(raised.value)
