import numpy as np
import pandas as pd
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


def test_a_survey_file_of_the_user_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("ANONPAPER_DATA", str(tmp_path))
    header = "AGE,SEX,RACE,MARST,BPL,EDUCD,CLASSWKRD,INCTOT"
    (tmp_path / "usa_00001.csv").write_text(f"{header}\n41,2,1,4,36,101,22,31500\n")
    found = xiao2010.load_tables(["sal"])["sal"]
    assert (found.n, found.sensitive, found.origin.file) == (1, "Income", "usa_00001.csv")
