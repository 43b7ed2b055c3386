"""Do the pictures of TP's steps show what TP does?"""

import matplotlib.pyplot as plt
import pytest
from xiao2010_instances import section_5_3, section_5_4
from xiao2010_steps import draw_counts, draw_rows

import anonpaper as ap


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def texts(ax):
    """Return the texts of a panel."""
    return [text.get_text() for text in ax.texts]


def test_the_picture_of_the_patients_has_the_rows_and_stars_of_table_3():
    m = ap.examples.hospital()
    first, moved, check, published = draw_rows(m, l=2).axes
    assert texts(first).count("R") == 0
    assert texts(moved).count("R") == texts(published).count("R") == 4
    assert texts(published).count("*") == 8 and "8 stars" in published.get_title()
    assert check.get_title() == "3: R is 2-eligible"
    assert [bar.get_height() for bar in check.patches] == [2, 1, 1]


@pytest.mark.parametrize("table", [ap.examples.phase_three, section_5_3, section_5_4])
def test_every_row_is_a_square_at_every_step(table):
    m = table()
    steps = ap.tp_steps(m, l=3)
    names = list(dict.fromkeys(steps.index.get_level_values("step")))
    axes = [ax for ax in draw_counts(steps, l=3).axes if ax.get_visible()]
    assert [ax.get_title() for ax in axes] == names
    assert [len(ax.patches) for ax in axes] == [m.n] * len(names)
    arrived = [
        sum(bar.get_facecolor()[2] < 0.5 for bar in ax.patches) for ax in axes
    ]  # orange has less blue than grey
    residues = steps.xs("R", level="set").sum(axis=1).tolist()
    assert arrived[0] == 0
    assert arrived[1:] == [b - a for a, b in zip(residues, residues[1:], strict=False)]
