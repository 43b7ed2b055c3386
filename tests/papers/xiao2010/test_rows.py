"""TP and Hilbert row by row, beside the package's own and a plain reading."""

import numpy as np
import xiao2010_rows as rows
from referees.drawn import drawn_tables
from referees.rows import TupleMinimization, is_eligible

import anonpaper as ap


def test_tp_by_rows_keeps_the_guarantees():
    phases = set()
    for m, l in drawn_tables(400):
        p, cells = rows.tp_by_rows(m, l), ap.tp(m, l)
        values = m.sensitive_codes
        assert all(is_eligible(values[group].tolist(), l) for group in p.groups())
        plain = TupleMinimization(m.codes.tolist(), values.tolist(), l)
        plain.phase_one()
        first, *later = p.info["heights"]
        assert first == plain.residue_height() == cells.info["lower_bound"] // l
        assert p.info["residue_size"] >= len(plain.removed)
        if plain.residue_is_eligible():
            assert p.info["phase"] == 1 and p.info["residue_size"] == len(plain.removed)
        if p.info["phase"] == 2:
            assert later == [first]
            assert p.info["residue_size"] <= l * first + l - 1
        phases.add(p.info["phase"])
    assert phases == {1, 2, 3}


def test_hilbert_row_by_row_is_diverse_and_by_cells_the_package_s_own():
    m = ap.examples.hospital().with_roles(qi=["Age", "Education"])
    order = rows.along_curve(m, by_rows=True)
    assert sorted(order) == list(range(m.n))
    labels = rows.walk(m, 2, order, by_rows=True)
    assert ap.FrequencyLDiversity(2).holds(m, labels)
    cells = rows.walk(m, 2, rows.along_curve(m, by_rows=False), by_rows=False)
    assert np.array_equal(cells, ap.hilbert(m, 2).labels)
