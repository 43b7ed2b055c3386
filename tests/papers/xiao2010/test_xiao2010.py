"""What the notebooks of xiao2010 measure, beside exhaustive search and numbers found by hand."""

import numpy as np
import pandas as pd
import pytest
import xiao2010
from referees.drawn import drawn_tables

import anonpaper as ap


def test_a_matching_is_read_off_the_table_with_the_fewest_stars():
    points = [(0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 2, 0), (2, 2, 0)]
    for those, matching in ((points, [1, 2, 4]), (points[:4], None)):
        table = xiao2010.table_of_points(those, q=3)
        p = ap.exact(table, 3)
        assert xiao2010.matching_of(table, p) == matching
        assert (p.info["cost"] == xiao2010.least_stars(table)) == bool(matching)


def test_lemmas_5_8_and_5_13_on_drawn_tables():
    for m, l in drawn_tables(100):
        steps = ap.tp_steps(m, l).loc["phase 1"].to_numpy()[:-1]
        left = np.zeros_like(steps)
        left[m.cells.tuple_of_cell, m.cells.sensitive] = xiao2010.counts_after_phase_one(m, l)
        assert np.array_equal(left, steps)
        p, plus = ap.tp(m, l), ap.tp_plus(m, l)  # one quasi-identifier: R cannot be improved
        if p.info["phase"] < 3:
            assert ap.measure.stars(ap.suppress(m, plus)) == p.info["residue_size"]


def test_sub_domains_can_be_further_from_four_people_than_stars():
    few = ap.Microdata(pd.DataFrame({"Age": [20, 20, 30, 40], "SA": [*"aabb"]}), ["Age"], "SA")
    ways = ("TP+", "TP+, sub-domains")
    found = xiao2010.measure_divergence({"few": few}, "few", ["Age"], [2], ways)
    stars, ranges = np.log([3, 1.5]).sum() / 2, np.log([2.4, 2.4, 1.2, 3]).sum() / 4
    assert [row["divergence"] for row in found] == pytest.approx([stars, ranges])


def test_a_survey_file_of_the_user_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("ANONPAPER_DATA", str(tmp_path))
    header = "AGE,SEX,RACE,MARST,BPL,EDUCD,CLASSWKRD,INCTOT"
    (tmp_path / "usa_00001.csv").write_text(f"{header}\n41,2,1,4,36,101,22,31500\n")
    found = xiao2010.load_tables(["sal"])["sal"]
    assert (found.n, found.sensitive, found.origin.file) == (1, "Income", "usa_00001.csv")
