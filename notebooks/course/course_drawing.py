"""What the pictures of concepts share: colours, small tables, people, boxes and arrows."""

from __future__ import annotations

import io

import matplotlib.pyplot as plt
import numpy as np

from anonpaper import plots

BLUE, RED, GREEN, YELLOW = (look["color"] for look in plots.LOOKS[:4])
GREY = "0.75"
ALL = 99  # a step after every other


def canvas(cols: int = 1, height: float = 2.1, **options):
    """Return a figure that fills a slide, and its axes without frames, ticks and grid."""
    plots.use_style()
    figure, axes = plt.subplots(1, cols, figsize=(4.8, height), layout="constrained", **options)
    for ax in np.ravel(axes):
        ax.axis("off")
    return figure, axes


def table(ax, frame, title="", colours=None, width=0.3, left=0.0, top=1.0):
    """Draw a small table, with the colours of some fields; return the heights of its rows."""
    step = 0.92 / (len(frame) + 2)
    lines = top - step * (np.arange(len(frame)) + 2)
    ax.text(left, top, title, weight="bold", va="center")
    for j, name in enumerate(frame.columns):
        ax.text(left + j * width, top - step, name, color="0.4", va="center")
        for i, value in enumerate(frame[name]):
            colour = (colours or {}).get((i, j))
            box = {"facecolor": colour, "alpha": 0.35, "edgecolor": "none", "pad": 1.5}
            ax.text(left + j * width, lines[i], value, va="center", bbox=box if colour else None)
    return lines


def people(ax, x, y, colours, size=60, **options):
    """Draw people as dots."""
    ax.scatter(x, y, s=size, c=colours, edgecolors="white", zorder=3, **options)


def box(ax, x, y, width, height, text="", colour="0.4", **options):
    """Draw a rectangle with a text in its middle."""
    own = {"fill": False, "edgecolor": colour, "linewidth": 1.2} | options
    ax.add_patch(plt.Rectangle((x, y), width, height, **own))
    ax.text(x + width / 2, y + height / 2, text, ha="center", va="center")


def arrow(ax, start, end, colour="0.4", **options):
    """Draw an arrow."""
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": colour} | options)


def png(figure, dpi: int = 150) -> bytes:
    """Return a figure as a picture without its maker and date, and close it."""
    stream = io.BytesIO()
    figure.savefig(stream, dpi=dpi, metadata={"Software": None})
    plt.close(figure)
    return stream.getvalue()
