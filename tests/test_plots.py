"""Plots: sizes, colours that stay, published values, and the same bytes every time."""

import subprocess
import sys
from itertools import pairwise

import pandas as pd
import pytest

mpl = pytest.importorskip("matplotlib", reason="plots need matplotlib: anonpaper[plots]")
plt = pytest.importorskip("matplotlib.pyplot", reason="as above")
plots = pytest.importorskip("anonpaper.plots", reason="as above")

FRAME = pd.DataFrame({
    "l": [2, 4, 6] * 3, "stars": [5.0, 7, 9, 4, 6, 8, 6, 8, 10],
    "algorithm": ["TP"] * 3 + ["TP+"] * 3 + ["Hilbert"] * 3,
})  # fmt: skip
MANY = pd.DataFrame({"l": 1, "stars": 1, "algorithm": range(8)})


@pytest.fixture
def ax():
    with mpl.rc_context():
        plots.use_style()
        figure, ax = plots.subplots()
        yield ax
        plt.close(figure)


def test_lines_differ_and_published_values_are_hollow_and_share_the_colour(ax):
    plots.lines(ax, FRAME, "l", "stars", "algorithm")
    plots.published(ax, FRAME, "l", "stars", "algorithm")
    ours, theirs = ax.get_lines()[:3], ax.get_lines()[3:6]
    for look in ("get_color", "get_marker", "get_linestyle"):
        assert len({getattr(line, look)() for line in ours}) == 3
    assert [line.get_color() for line in theirs] == [line.get_color() for line in ours]
    assert {line.get_markerfacecolor() for line in theirs} == {"none"}
    assert {line.get_linestyle() for line in theirs} == {"None"}
    names = [text.get_text() for text in ax.legend().get_texts()]
    assert names == ["TP", "TP+", "Hilbert", "published"]


def test_repeated_values_need_a_spread(ax):
    repeated = pd.concat([FRAME, FRAME.assign(stars=FRAME["stars"] + 2)])
    with pytest.raises(ValueError, match="several values of 'stars' at one 'l' for 'TP'"):
        plots.lines(ax, repeated, "l", "stars", "algorithm")
    plots.lines(ax, repeated, "l", "stars", "algorithm", spread="range")
    assert ax.get_lines()[0].get_ydata().tolist() == [6, 8, 10]
    band = ax.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (5, 11)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": "k"}, "'k'"),
        ({"by": "method"}, "'method'"),
        ({"order": ["TP", "TP+"]}, r"\['Hilbert'\] of 'algorithm' have no look"),
        ({"spread": "sd"}, "'sd'"),
        ({"frame": MANY}, "order has at most 7 names"),
    ],
)
def test_lines_refuse(ax, change, message):
    given = {"frame": FRAME, "x": "l", "y": "stars", "by": "algorithm"}
    with pytest.raises((KeyError, ValueError), match=message):
        plots.lines(ax, **(given | change))


def test_bars_stand_side_by_side_without_overlap(ax):
    plots.bars(ax, FRAME, "l", "stars", "algorithm")
    edges = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches)
    assert len(edges) == 9
    assert all(right <= left + 1e-9 for (_, right), (left, _) in pairwise(edges))


def test_direct_labels_do_not_touch(ax):
    frame = FRAME.assign(stars=1.0 + FRAME.groupby("algorithm").ngroup() / 1000)
    plots.lines(ax, frame, "l", "stars", "algorithm")
    ax.set_ylim(0, 10)
    plots.label_lines(ax)
    ax.figure.canvas.draw()
    boxes = sorted((text.get_window_extent() for text in ax.texts), key=lambda box: box.y0)
    assert len(boxes) == 3
    assert all(low.y0 < high.y0 - 1 for low, high in pairwise(boxes))


def test_the_same_bytes_from_another_process():
    script = (
        "import hashlib, pandas as pd; from anonpaper import plots; plots.use_style();"
        "figure, ax = plots.subplots();"
        "frame = pd.DataFrame({'l': [2, 4], 'stars': [5, 9], 'a': ['TP', 'TP+']});"
        "plots.bars(ax, frame, 'l', 'stars', 'a'); plots.stamp(figure);"
        "print(hashlib.sha256(plots.render(figure)).hexdigest())"
    )
    options = {"check": True, "capture_output": True, "text": True}
    run = [sys.executable, "-c", script]
    assert subprocess.run(run, **options).stdout == subprocess.run(run, **options).stdout
