"""The pictures of notebook 1: bits between values, and one step of the search."""

import pandas as pd
from dewri2009_steps import draw_bits, draw_step, one_step

import anonpaper as ap
from anonpaper import plots


def test_a_child_takes_its_first_bits_from_one_parent_and_then_one_flips():
    family = one_step("0001000", "0000110", cut=4, flipped=5)
    assert list(family.values()) == ["0001000", "0000110", "0001110", "0001010"]


def test_every_chromosome_is_drawn_with_its_numbers():
    frame = pd.DataFrame({"age": [20, 30, 30, 40], "sex": ["F", "F", "M", "M"]})
    m = ap.Microdata(frame, qi=["age", "sex"])
    figure = draw_step(m, {"all apart": "111", "all joined": "000"}, k=2, preference=(0.2, 1.0))
    apart, joined = (ax.get_title() for ax in figure.axes)
    assert "111: not 2-anonymous" in apart
    assert "NWP 0.00" in apart
    assert "000: 2-anonymous" in joined
    assert "NWP 1.00" in joined
    plots.plt.close(figure)
    figure = draw_bits(m, "100")
    assert [text.get_text() for text in figure.axes[0].texts] == [
        "20",
        "30",
        "40",
        "1",
        "0",
        "age",
    ]
    plots.plt.close(figure)
