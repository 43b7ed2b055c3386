"""One look for every figure: small functions on tidy frames, in Paul Tol's bright colours.

A *tidy frame* has one row per drawn value: a column for x, one for y, and one, `by`, that names
the line. `order` lists all names, so a name keeps its colour, marker and line style in all panels.
Axes without labels get the names of the columns. ValueError for names that have no look.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["HATCHES", "LOOKS", "PALE", "STAND_IN", "bars", "cells", "footer", "label_lines",
           "lines", "published", "render", "slider", "stamp", "subplots", "tables",
           "use_style"]  # fmt: skip

STYLE_FILE = Path(__file__).with_name("anonpaper.mplstyle")
WIDTHS = {1: 3.5, 2: 7.2}  # inches of one and of two columns of a journal page
HATCHES = ("", "////", "....", "xxxx", "----", "++++", "oooo")
# colour, marker and line style of the first, second, ... line
LOOKS = tuple(mpl.rc_params_from_file(STYLE_FILE, use_default_template=False)["axes.prop_cycle"])
# backgrounds of text
PALE = ("#77AADD", "#EEDD88", "#44BB99", "#F3DCE8", "#EE8866", "#BBCC33", "#DDDDDD", "#AAAA00",
        "#99DDFF", "#FFAABB")  # fmt: skip
STAND_IN = "stand-in data"
_SPREADS = {"range": (0, 1), "quartiles": (0.25, 0.75)}
_HOLLOW = {"linestyle": "none", "markerfacecolor": "none"}


def use_style() -> None:
    """Make the project's style matplotlib's default in this process."""
    plt.style.use(STYLE_FILE)


def subplots(columns: int = 1, rows: int = 1, cols: int = 1, *, height=None, **options):
    """Return a figure as wide as 1 or 2 journal `columns`, and its axes: rows and cols of panels.

    Without a `height` in inches a panel is three quarters as high as wide. Options are as for
    `matplotlib.pyplot.subplots` (``sharex``, ``sharey``, ``squeeze``, ...).

    >>> subplots(columns=2, cols=3)[0].get_size_inches().round(1).tolist()
    [7.2, 1.8]
    """
    size = WIDTHS[columns], height or WIDTHS[columns] / cols * 0.75 * rows
    return plt.subplots(rows, cols, figsize=size, layout="constrained", **options)


def lines(ax: Axes, frame: pd.DataFrame, x: str, y: str, by=None, *, order=None, spread=None):
    """Draw one line per value of `by`, or one without a name.

    Several values of a line at one x are an error, or with `spread` drawn as their mean and a
    band: the "range" from least to greatest, or the "quartiles", from the first to the third.

    >>> frame = pd.DataFrame({"l": [2, 4, 2, 4], "stars": [5, 9, 4, 7],
    ...                       "algorithm": ["TP", "TP", "TP+", "TP+"]})
    >>> figure, ax = subplots()
    >>> lines(ax, frame, "l", "stars", "algorithm")
    >>> [line.get_label() for line in ax.get_lines()]
    ['TP', 'TP+']
    """
    for _, name, part, look in _parts(ax, frame, (x, y), by, order):
        values = part.groupby(x)[y]
        middle = values.mean()
        if spread is not None:
            low, high = map(values.quantile, _SPREADS[spread])
            band = {"color": look["color"], "alpha": 0.2, "linewidth": 0}
            ax.fill_between(middle.index, low, high, **band)
        elif values.size().max() > 1:
            way = "give spread='range' or 'quartiles', or a column `by` that names the lines"
            raise ValueError(f"several values of {y!r} at one {x!r} for {name!r}: {way}")
        ax.plot(middle.index, middle.to_numpy(), label=name, **look)


def published(ax: Axes, frame: pd.DataFrame, x: str, y: str, by=None, *, order=None) -> None:
    """Draw a paper's own values as hollow markers, in the colours of `lines` of this order.

    The legend has one entry for all, "published": the marker itself, or a black circle.
    """
    looks = []
    for _, _, part, look in _parts(ax, frame, (x, y), by, order):
        looks.append({"color": look["color"], "marker": look["marker"]})
        ax.plot(part[x], part[y], **looks[-1], markersize=6, zorder=3, **_HOLLOW)
    legend = looks[0] if len(looks) == 1 else {"color": "black", "marker": "o"}
    ax.plot([], [], label="published", **legend, **_HOLLOW)


def bars(ax: Axes, frame: pd.DataFrame, x: str, y: str, by=None, *, order=None) -> None:
    """Draw bars side by side: one cluster per value of x, as it first appears, one bar per row.

    >>> frame = pd.DataFrame({"data": ["sal", "occ"], "stars": [3.0, 2.0]})
    >>> figure, ax = subplots()
    >>> bars(ax, frame, "data", "stars")
    >>> [float(bar.get_height()) for bar in ax.patches]
    [3.0, 2.0]
    """
    parts = list(_parts(ax, frame, (x, y), by, order))
    clusters, width = pd.Index(frame[x].unique()), 0.8 / len(parts)
    for place, (number, name, part, look) in enumerate(parts):
        if part[x].duplicated().any():
            raise ValueError(f"two rows for one bar of {name!r}: give one row per {x!r}")
        at = clusters.get_indexer(part[x]) + (place - (len(parts) - 1) / 2) * width
        own = {"color": look["color"], "edgecolor": "white", "hatch": HATCHES[number]}
        ax.bar(at, part[y], width, label=name, **own)
    ax.set_xticks(range(len(clusters)), map(str, clusters))
    ax.grid(visible=False, axis="x")


def cells(ax: Axes, texts: pd.DataFrame, colours: Sequence, *, bold=None, left=()) -> None:
    """Write a small table, each cell on its colour (None: white), with words `left` of its rows.

    Cells are `bold` where this says so, by default where values are suppressed.
    """
    texts = texts.astype(str)
    bold = (texts == "*" if bold is None else bold).to_numpy()
    width = np.array([max(map(len, [str(name), *texts[name]])) + 2 for name in texts])
    right = width.cumsum()
    for (row, column), text in np.ndenumerate(texts.to_numpy()):
        ends = right[column] - width[column], right[column]
        if colour := colours[row][column]:
            ax.fill_between(ends, row, row + 1, color=colour, linewidth=0)
        weight = "bold" if bold[row, column] else "normal"
        ax.text(np.mean(ends), row + 0.5, text, ha="center", va="center", size=7, weight=weight)
    for row, words in enumerate(left):
        ax.text(-1, row + 0.5, words, ha="right", va="center", size=7)
    ax.set(xlim=(-8, right[-1]), ylim=(len(texts), 0), yticks=[])
    ax.set_xticks(right - width / 2, texts.columns, fontsize=7)
    ax.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)


def tables(steps: Sequence[tuple[str, pd.DataFrame, Sequence, dict]]) -> Figure:
    """Draw small tables in two columns: each a title, texts, colours, and options of `cells`."""
    rows = -(-len(steps) // 2)
    most = max(len(texts) for _, texts, *_ in steps)
    height = rows * (0.6 + 0.17 * most)
    figure, axes = subplots(columns=2, rows=rows, cols=2, height=height)
    for ax in axes.flat[len(steps) :]:
        ax.set_axis_off()
    for ax, (title, texts, colours, options) in zip(axes.flat, steps, strict=False):
        cells(ax, texts, colours, **options)
        ax.set_ylim(most, 0)
        ax.set_title(title, fontsize=8)
    return figure


def label_lines(ax: Axes) -> None:
    """Write each line's name at its right end instead of a legend; call it last.

    Names that would touch in the current limits and scales are moved apart.
    """
    drawn = [line for line in ax.get_lines() if len(line.get_xdata())]
    named = [line for line in drawn if not line.get_label().startswith("_")]
    ends = [line.get_xydata()[-1] for line in named]
    heights = [ax.transData.transform(end)[1] * 72 / ax.figure.dpi for end in ends]
    lowest = -np.inf
    for number in np.argsort(heights, kind="stable"):
        lowest = max(heights[number], lowest + 8)  # a line of 7 pt text needs 8 pt
        apart = {"xytext": (5, lowest - heights[number]), "textcoords": "offset points"}
        look = {"fontsize": 7, "va": "center", "color": named[number].get_color()}
        name = named[number].get_label()
        ax.annotate(name, ends[number], annotation_clip=False, **look, **apart)


def stamp(figure: Figure, text: str = STAND_IN) -> None:
    """Write a text across the figure."""
    look = {"ha": "center", "va": "center", "rotation": 20, "color": "0.45", "alpha": 0.45}
    figure.text(0.5, 0.55, text, fontsize=min(24, 5 * figure.get_figwidth()), **look)


def footer(figure: Figure, text: str) -> None:
    """Write a few words of 7 pt under the figure."""
    height = 10 / 72 / figure.get_figheight()  # room of 10 pt for a line of 7 pt
    if figure.get_layout_engine() is not None:
        figure.get_layout_engine().set(rect=(0, height, 1, 1 - height))
    look = {"ha": "right", "va": "bottom", "fontsize": 7, "color": "0.35"}
    figure.text(0.995, 0.2 * height, text, **look)


def render(figure: Figure, dpi: int = 300) -> bytes:
    """Return the figure as a png file's content, the same bytes by the same libraries."""
    content = io.BytesIO()
    with mpl.rc_context({"savefig.bbox": "standard"}):
        figure.savefig(content, format="png", metadata={"Software": None}, dpi=dpi)
    return content.getvalue()


def slider(draw: Callable[[object], object], **values: Sequence):
    """Return a slider that shows one picture per value, also on a page without a running program.

    `draw` draws the figure of one value of the one further argument; the first line of its
    docstring says what is seen. All pictures are drawn now, about 10 kB each.

    >>> slider(lambda k: subplots(), k=[2, 5, 10]).data.count("<img")
    3
    """
    from IPython.display import HTML  # only notebooks have it

    ((name, choices),) = values.items()
    pictures, start = [], (len(choices) - 1) // 2
    for number, value in enumerate(choices):
        draw(value)
        source = base64.b64encode(render(plt.gcf(), dpi=150)).decode()
        plt.close()
        said = escape(f"{name} = {value:g}. {(draw.__doc__ or '').partition(chr(10))[0]}".strip())
        hidden = "" if number == start else " hidden"
        pictures.append(f'<img alt="{said}" src="data:image/png;base64,{source}"{hidden}>')
    move = (
        "const all = this.closest('.slider').querySelectorAll('img');"
        "all.forEach((one, i) => one.hidden = i != this.value);"
        "this.nextElementSibling.value = all[this.value].alt.split('. ')[0]"
    )
    return HTML(
        f'<div class="slider"><label>{escape(name)} <input type="range" min="0" value="{start}" '
        f'max="{len(choices) - 1}" oninput="{move}"> <output>{name} = {choices[start]:g}</output>'
        f"</label><br>{''.join(pictures)}</div>"
    )


def _parts(ax: Axes, frame: pd.DataFrame, columns: tuple[str, str], by, order: Sequence | None):
    """Label the axes; yield (number, name, rows, look) for each value of `by`, in this order."""
    ax.set(xlabel=ax.get_xlabel() or columns[0], ylabel=ax.get_ylabel() or columns[1])
    present = [None] if by is None else list(frame[by].unique())
    names = present if by is None or order is None else list(order)
    if strange := [name for name in present if name not in names[: len(LOOKS)]]:
        raise ValueError(f"{strange} of {by!r} have no look: order has at most {len(LOOKS)} names")
    for number, (name, look) in enumerate(zip(names, LOOKS, strict=False)):
        part = frame if by is None else frame[frame[by] == name]
        if len(part):
            yield number, name, part, look
