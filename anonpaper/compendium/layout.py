"""What makes a figure hard to read: small or hidden text, covered data, many panels, colours."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from anonpaper import plots

__all__ = ["LEAST_SIZE", "MOST_PANELS", "faults"]

MOST_PANELS = 6
LEAST_SIZE = 7  # points, at the width at which a figure is placed
SEQUENTIAL = {"cividis", "viridis", "Greys", "gray"}  # read the same way by the colour-blind
_SAFE = {to_rgb(look["color"]) for look in plots.LOOKS}
_RED_OR_GREEN = 1.3  # times the next part of a colour: what the colour-blind take for each other


def faults(figure: Figure) -> list[str]:
    """Return what is wrong with the layout of a figure, in words; empty if nothing is.

    Examples
    --------
    >>> figure, ax = plots.subplots()
    >>> _ = ax.text(0.5, 0.5, "small", fontsize=5)
    >>> faults(figure)
    ["'small' has 5 pt"]
    """
    before = figure.canvas
    FigureCanvasAgg(figure).draw()
    figure.set_canvas(before)
    panels = [ax for ax in figure.axes if ax.get_visible() and not hasattr(ax, "_colorbar")]
    found = [f"{len(panels)} panels"] if len(panels) > MOST_PANELS else []
    texts = {ax: [*_texts(ax)] for ax in figure.axes if ax.get_visible()}
    whole = figure.bbox.padded(1)
    for text in [*(t for ours in texts.values() for t in ours), *figure.texts]:
        if text.get_gid() == "stamp" or not text.get_text().strip():
            continue
        told, box = repr(text.get_text()[:30]), text.get_window_extent()
        if text.get_fontsize() < LEAST_SIZE:
            found.append(f"{told} has {text.get_fontsize():g} pt")
        if not (whole.contains(*box.min) and whole.contains(*box.max)):
            found.append(f"{told} is cut off")
    for ax in panels:
        found += _covered(ax, texts[ax])
        found += [f"colour {colour}" for colour in sorted({*_colours(ax)})]
    return list(dict.fromkeys(found))


def _texts(ax: Axes) -> Iterator[Text]:
    """Yield the visible texts of a panel and of its legend."""
    if ax.axison:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            shown = [t for t in axis.get_major_ticks() if low <= t.get_loc() <= high]
            yield from (tick.label1 for tick in shown if tick.label1.get_visible())
            yield axis.label
    legend = ax.get_legend()
    yield from (ax.title, *ax.texts, *(legend.get_texts() if legend else ()))


def _covered(ax: Axes, texts: list[Text]) -> Iterator[str]:
    """Yield texts that cover each other or lines, and legends that cover data."""
    boxes = [(t, _inner(t.get_window_extent())) for t in texts if t.get_text().strip()]
    level = [(t, box) for t, box in boxes if t.get_rotation() % 90 == 0]  # a box is not the text
    for (one, first), (other, second) in combinations(level, 2):
        if first.overlaps(second) and one.get_text() != other.get_text():
            yield f"{one.get_text()[:30]!r} lies on {other.get_text()[:30]!r}"
    points = _points(ax)
    for text, box in boxes:
        free = text in ax.texts and text.get_bbox_patch() is None
        if free and ax.axison and not ax.images and _inside(box, points).any():
            yield f"{text.get_text()[:30]!r} lies on a line"
    legend = ax.get_legend()
    if legend and not legend.get_frame_on():
        box = Bbox.union([part.get_window_extent() for part in legend.get_texts()])
        bars = [patch.get_window_extent() for patch in ax.patches if patch.get_visible()]
        if _inside(_inner(box), points).any() or any(_inner(box).overlaps(bar) for bar in bars):
            yield "the legend lies on data"


def _points(ax: Axes) -> np.ndarray:
    """Return points along all lines, and of all markers, of a panel, in pixels."""
    found = [np.empty((0, 2))]
    for line in ax.lines:
        ends = line.get_transform().transform(line.get_xydata())
        ends = ends[np.isfinite(ends).all(axis=1)]
        drawn = line.get_linestyle() not in ("None", "none", " ", "") and len(ends) > 1
        steps = np.linspace(0, 1, 50)[:, None, None]
        found.append((ends[:-1] + steps * np.diff(ends, axis=0)).reshape(-1, 2) if drawn else ends)
    for marks in ax.collections:
        if len(offsets := np.ma.getdata(marks.get_offsets())):
            found.append(marks.get_offset_transform().transform(offsets))
    return np.vstack(found)


def _inside(box: Bbox, points: np.ndarray) -> np.ndarray:
    """Return which points are inside a box."""
    return ((points > box.min) & (points < box.max)).all(axis=1)


def _inner(box: Bbox) -> Bbox:
    """Return a box without its margin: a text's box is higher than its letters."""
    return box.expanded(0.8, 0.8)


def _colours(ax: Axes) -> Iterator[str]:
    """Yield colours and colour maps that not everybody can tell apart."""
    for colour in (
        *(line.get_color() for line in ax.lines),
        *(patch.get_facecolor()[:3] for patch in ax.patches if patch.get_fill()),
    ):
        if not _is_safe(to_rgb(colour)):
            yield str(colour)
    for image in (*ax.images, *ax.collections):
        cmap = image.get_cmap()
        steps = cmap(np.linspace(0, 1, 9))[:, :3]
        known = cmap.name.removesuffix("_r") in SEQUENTIAL or all(map(_is_safe, map(tuple, steps)))
        if image.get_array() is not None and not known:
            yield cmap.name


def _is_safe(rgb: tuple) -> bool:
    """Whether a colour is of the project's, or neither mostly red nor mostly green."""
    red, green, blue = rgb
    mostly_red = red > _RED_OR_GREEN * max(green, blue) and green < 0.4
    return rgb in _SAFE or not (mostly_red or green > _RED_OR_GREEN * max(red, blue))
