import numpy as np
import pandas as pd
import pytest
import xiao2010
from referees.drawn import drawn_tables

import anonpaper as ap


def test_measurements_of_a_projection_are_those_of_its_releases():
    m = ap.examples.hospital()
    names = ["TP", "TP+", "Hilbert"]
    rows = pd.DataFrame(
        xiao2010.suppress_projection({"t": m}, "t", ["Age", "Gender"], [2], names)
    ).set_index("algorithm")
    projection = m.with_roles(qi=["Age", "Gender"])
    for name in names:
        p = xiao2010.ALGORITHMS[name](projection, 2)
        release = ap.suppress(projection, p)
        assert rows.loc[name, "stars"] == ap.measure.stars(release)
        assert rows.loc[name, "suppressed"] == ap.measure.suppressed_rows(release)
    p = ap.tp(projection, 2)
    removed = projection.frame["Disease"].to_numpy()[p.labels == p.n_groups - 1]
    for name in ("TP", "TP+"):  # the residue, however it is grouped
        assert rows.loc[name, "height"] == pd.Series(removed).value_counts().max()
    assert rows.loc["TP", "phase"] == 1 and rows["above_5_8"].max() == 0
    compared = pd.DataFrame(
        xiao2010.compare_with_generalization({"t": m}, "t", m.qi, [2])
    ).set_index("algorithm")
    expected = ap.measure.kl_divergence(ap.recode(m, ap.tds(m, 2)))
    assert compared.loc["TDS", "divergence"] == expected
    stars = {row["heuristic"]: row["stars"] for row in xiao2010.compare_heuristics(
        {"t": m}, "t", m.qi, [2], list(xiao2010.HEURISTICS))}  # fmt: skip
    assert stars["Mondrian"] == ap.measure.stars(ap.suppress(m, ap.mondrian(m, k=2, l=2)))
    assert stars["Hilbert"] == ap.measure.stars(ap.suppress(m, ap.hilbert(m, 2)))


def test_what_phase_one_leaves_is_what_tp_leaves():
    for m, l in drawn_tables(40):
        steps = ap.tp_steps(m, l).loc["phase 1"].to_numpy()[:-1]
        left = np.zeros_like(steps)
        left[m.cells.tuple_of_cell, m.cells.sensitive] = xiao2010.counts_after_phase_one(
            m.cells, l
        )
        assert np.array_equal(left, steps)


def test_a_group_too_large_for_lemma_5_8_is_seen(monkeypatch):
    monkeypatch.setitem(
        xiao2010.ALGORITHMS, "all", lambda m, l: ap.Partition(m.cells.tuple_of_row)
    )
    m = ap.examples.hospital()
    (row,) = xiao2010.suppress_projection({"t": m}, "t", m.qi, [2], ["all"])
    assert row["above_5_8"] == 3  # Adam and Bob's HIV, Calvin, Danny


@pytest.mark.parametrize("vary", ["curve", "ties", "frequent first"])
def test_other_orders_are_the_same_table(vary):
    m = ap.examples.hospital()
    nominal = m.replace(frame=m.frame.rename(columns={"Gender": "Race"}), qi=["Age", "Race"])
    runs = pd.DataFrame(
        xiao2010.suppress_reordered({"t": nominal}, "t", ["Age", "Race"], [2], 3, vary)
    )
    assert len(runs) == 9
    tp = runs[runs["algorithm"] == "TP"]
    assert (tp["stars"] == ap.measure.stars(ap.suppress(nominal, ap.tp(nominal, 2)))).all()
    again = xiao2010.suppress_reordered({"t": nominal}, "t", ["Age", "Race"], [2], 3, vary)
    pd.testing.assert_frame_equal(runs, pd.DataFrame(again))


def test_sub_domains_of_the_same_groups_are_measured_beside_stars():
    m = ap.examples.hospital()
    p = ap.tp_plus(m, 2)
    found = xiao2010.compare_with_boxes({"t": m}, "t", m.qi, l=2, n=m.n, seed=0)
    same = (
        ap.measure.kl_divergence(ap.suppress(m, p)),
        ap.measure.kl_divergence(ap.generalize(m, p)),
    )
    assert tuple(found.values()) == pytest.approx(same)
    assert 0 < found["with sub-domains"] < found["with stars"]


def test_coarsened_values_diverge_as_the_package_measures_it():
    m = ap.examples.hospital()
    runs = pd.DataFrame(xiao2010.coarsen({"t": m}, "t", m.qi, 2, [1, 3], 3))
    fine, coarse = runs[runs["width"] == 1], runs[runs["width"] == 3]
    for name, run in (("TP", ap.tp), ("TP+", ap.tp_plus)):
        release = ap.suppress(m, run(m, 2))
        row = fine.set_index("algorithm").loc[name]
        assert row["divergence"] == pytest.approx(ap.measure.kl_divergence(release))
        assert (row["stars"], row["covered"]) == (ap.measure.stars(release), 0)
    blocks = [np.arange(a.size) // (3 if a.size >= 3 else 1) for a in m.attributes]
    recoded = ap.recode(m, ap.Recoding(m.attributes, blocks))
    if coarse["stars"].max() == 0:  # then all that is left of the values is their sub-domains
        assert coarse["divergence"].iloc[0] == pytest.approx(ap.measure.kl_divergence(recoded))


def test_a_survey_file_of_the_user_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("ANONPAPER_DATA", str(tmp_path))
    header = "AGE,SEX,RACE,MARST,BPL,EDUCD,CLASSWKRD,INCTOT"
    (tmp_path / "usa_00001.csv").write_text(f"{header}\n41,2,1,4,36,101,22,31500\n")
    found = xiao2010.load_tables(["sal"])["sal"]
    assert (found.n, found.sensitive, found.origin.file) == (1, "Income", "usa_00001.csv")
