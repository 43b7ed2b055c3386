"""Does the picture of the frontier show every method, and which ones are beaten?"""

import matplotlib.pyplot as plt
import together
from together_steps import KINDS, draw_fronts

from anonpaper.compendium import saved
from anonpaper.compendium.layout import faults


def test_every_method_has_one_kind():
    named = [name for methods in KINDS.values() for name in methods]
    assert sorted(named) == sorted(together.METHODS)


def test_the_frontier_has_filled_markers_and_the_rest_hollow_ones():
    fronts, _ = saved("together/frontier")
    data, losses = ["adult", "census", "diabetes"], ["NCP", "query error"]
    figure = draw_fronts(fronts, data, losses)
    assert len(figure.axes) == 6 and faults(figure) == []
    for ax, (loss, name) in zip(
        figure.axes, [(loss, name) for loss in losses for name in data], strict=True
    ):
        part = fronts[(fronts["loss"] == loss) & (fronts["data"] == name)]
        points = [line for line in ax.lines if line.get_linestyle() == "None"]
        drawn = {"none": 0, "filled": 0}
        for line in points:
            hollow = line.get_markerfacecolor() == "none"
            drawn["none" if hollow else "filled"] += len(line.get_xdata())
        assert drawn == {"none": (~part["front"]).sum(), "filled": part["front"].sum()}
    plt.close(figure)
