"""Pictures of concepts of lessons 1 to 6, one function each, and what all pictures share.

`step` draws a picture up to that step, for slides. Where the package can compute what is shown,
it does.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import anonpaper as ap
from anonpaper import plots
from anonpaper.partition.mondrian import median_cut
from anonpaper.recoders.evaluation import non_dominated

BLUE, RED, GREEN, YELLOW = (look["color"] for look in plots.LOOKS[:4])
GREY, DARK = "0.75", "0.4"
ALL = 99  # a step after every other


PICTURES = {}  # the function that draws a picture, up to a step, and its canvas, by name


def picture(cols=1, height=2.1, frame="", limits=None, **options):
    """Let a function draw a picture, on axes "plain", with a "grid" or hidden, between ends."""
    look = (cols, height, frame, limits, options)
    return lambda function: PICTURES.setdefault(function.__name__, (function, *look))


def drawn(name: str, *steps: int):
    """Return a picture, which fills a slide, up to a step."""
    function, cols, height, frame, limits, options = PICTURES[name]
    plots.use_style()
    figure, axes = plt.subplots(1, cols, figsize=(4.8, height), layout="constrained", **options)
    for ax in np.ravel(axes):
        ax.axis("on" if frame else "off")
        if frame == "plain":
            ax.grid(visible=False)
    function(axes, *steps)
    if limits:
        axes.axis(limits)
    return figure


def say(ax, x, y, text, **options):
    """Write a text around a point."""
    ax.text(x, y, text, **{"ha": "center", "va": "center", **options})


def people(ax, x, y, colours, size=60, **options):
    """Draw people as dots."""
    ax.scatter(x, y, s=size, c=colours, edgecolors="white", zorder=3, **options)


def box(ax, x, y, width, height, text="", colour=DARK, **options):
    """Draw a rectangle with a text in its middle."""
    own = {"facecolor": "none", "edgecolor": colour, "linewidth": 1.2} | options
    ax.add_patch(plt.Rectangle((x, y), width, height, **own))
    say(ax, x + width / 2, y + height / 2, text)


def arrow(ax, start, end, colour=DARK, **options):
    """Draw an arrow."""
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": colour} | options)


def table(ax, frame, title, marked=(), width=0.3, left=0.0):
    """Draw a small table, some fields in red; return the heights of its rows."""
    step = 0.92 / (len(frame) + 2)
    lines = 1 - step * (np.arange(len(frame)) + 2)
    ax.text(left, 1, title, weight="bold", va="center")
    red = {"facecolor": RED, "alpha": 0.35, "edgecolor": "none", "pad": 1.5}
    for j, name in enumerate(frame.columns):
        ax.text(left + j * width, 1 - step, name, color=DARK, va="center")
        for i, value in enumerate(frame[name]):
            look = {"bbox": red} if [i, j] in marked else {}
            ax.text(left + j * width, lines[i], value, va="center", **look)
    return lines


def one_group(secrets):
    """Return a table of one group with these secrets."""
    return ap.Microdata(pd.DataFrame({"q": 0, "s": secrets}), ["q"], "s")


# ---- lessons 1 to 6 ---------------------------------------------------------------------------


@picture(limits=(0, 1.1, 0, 1.05))
def linking(ax, step: int = ALL):
    """Draw a table without names beside a voter list, and which pairs of rows agree."""
    clinic = {"age": [34, 34, 41, 52, 52], "sex": [*"ffmfm"]}
    clinic = pd.DataFrame(clinic | {"illness": "flu diabetes asthma migraine flu".split()})
    voters = {"name": [f"voter {i}" for i in range(1, 7)], "age": [34, 41, 52, 52, 52, 28]}
    voters = pd.DataFrame(voters | {"sex": [*"fmffmm"]})
    left = table(ax, clinic, "The clinic publishes", width=0.13)
    right = table(ax, voters, "Anybody has", left=0.64, width=0.16)
    pairs = clinic.reset_index(names="row").merge(voters.reset_index(names="voter"))
    lone = ~pairs.duplicated("row", keep=False) & ~pairs.duplicated("voter", keep=False)
    for row, voter, found in zip(pairs["row"], pairs["voter"], lone, strict=True) if step else ():
        look = {"color": RED, "linewidth": 2} if found and step >= 2 else {"color": GREY}
        ax.plot([0.43, 0.62], [left[row], right[voter]], marker="", linestyle="-", **look)


@picture(limits=(-4.5, 11, -0.5, 3))
def sample_and_population(ax):
    """Draw three kinds of people in a population and in a sample of it."""
    kinds = {"29, f, college": 6, "41, m, school": 3, "83, f, doctorate": 1}
    for y, (kind, F) in enumerate(kinds.items()):
        say(ax, -0.6, y, kind, ha="right")
        ax.scatter(np.arange(1, F), [y] * (F - 1), s=60, facecolors="white", edgecolors=DARK)
        people(ax, [0], [y], BLUE)
        say(ax, 6.5, y, f"f = 1, F = {F}: risk {'1' if F == 1 else f'1/{F}'}", ha="left")
    ax.text(0.3, 2.7, "published", color=BLUE, ha="right")
    ax.text(3.6, 2.7, "only in the population", color=DARK, ha="center")


@picture(frame="plain")
def mondrian_cuts(ax, step: int = ALL):
    """Draw how Mondrian cuts the plane of two attributes, round after round."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"age": rng.integers(20, 70, 24), "hours": rng.integers(10, 60, 24)})
    m = ap.Microdata(frame, ["age", "hours"])
    groups, before = [np.arange(m.n)], 0
    while step and len(groups) > before:
        before, step = len(groups), step - 1
        sides = [(rows, median_cut(m, rows, 3)) for rows in groups]
        parts = [[rows] if side is None else [rows[side], rows[~side]] for rows, side in sides]
        groups = sum(parts, [])
    for rows in groups:
        low, high = frame.iloc[rows].min() - 0.45, frame.iloc[rows].max() + 0.45
        box(ax, *low, *(high - low), colour=RED)
    people(ax, frame["age"], frame["hours"], BLUE, size=30)
    title = f"{len(groups)} group{'s' * (len(groups) > 1)}, k = 3"
    ax.set(xlabel="age", ylabel="hours a week", title=title)


@picture(limits=(-0.2, 9.2, -0.6, 2.6))
def homogeneity(ax):
    """Draw two groups of a 2-anonymous table, one of which has a single illness."""
    groups = {"34 to 37, f": ["asthma", "flu"], "41 to 48, m": ["diabetes"] * 3}
    for x, (label, secrets) in zip((0, 5), groups.items(), strict=True):
        box(ax, x, 0, 4, 2)
        m, n = one_group(secrets), len(secrets)
        sure = ap.measure.disclosure_confidence(ap.generalize(m, ap.Partition([0] * n)))[0]
        ax.text(x + 2, 2.3, label, ha="center")
        look = {"color": RED if sure == 1 else "0"}
        ax.text(x + 2, -0.4, f"best guess: {sure:.0%}", ha="center", **look)
        at = x + 4 * (np.arange(n) + 1) / (n + 1)
        colours = [{"asthma": GREEN, "flu": BLUE, "diabetes": RED}[one] for one in secrets]
        people(ax, at, [1.2] * n, colours, size=160)
        for place, secret in zip(at, secrets, strict=True) if sure < 1 else [(x + 2, secrets[0])]:
            ax.text(place, 0.45, secret, ha="center")


@picture(cols=3)
def levels(axes):
    """Draw three classes of six people and their level by three principles."""
    principles = [ap.DistinctLDiversity, ap.EntropyLDiversity, ap.FrequencyLDiversity]
    for ax, counts in zip(axes, ([4, 1, 1], [3, 2, 1], [2, 2, 2]), strict=True):
        m = one_group(np.repeat([*"abc"], counts))
        for x, count in enumerate(counts):
            people(ax, [x] * count, np.arange(count), (BLUE, RED, GREEN)[x], size=90)
        for line, of in enumerate(principles):
            name, level = of.__name__.removesuffix("LDiversity"), of(1).level(m, [0] * 6)
            ax.text(-0.4, -1.2 - 0.9 * line, f"{name.lower()} {level:.2g}")
        ax.set(xlim=(-0.6, 2.9), ylim=(-3.3, 3.5))


@picture(cols=2, frame="plain", sharey=True)
def earth_moving(axes):
    """Draw two classes of salaries beside those of the whole table, and which shares must move."""
    everybody = np.arange(3, 12)
    for ax, salaries in zip(axes, ([3, 4, 5], [6, 8, 11]), strict=True):
        inside = np.isin(everybody, salaries)
        counts = ap.principles.GroupCounts.of_table(pd.crosstab(inside, everybody))
        far = ap.TCloseness(1, "ordered").levels(counts)[1]
        ax.bar(everybody, 1 / 9, color=GREY, label="table")
        ax.bar(everybody, inside / 3, width=0.4, color=BLUE, label="class")
        for start, end in zip(np.repeat(salaries, 3), everybody, strict=True):
            if start != end:
                arrow(ax, (start, 0.3), (end, 0.12), RED, alpha=0.6)
        ax.set(title=f"distance {far:.3f}", xlabel="salary", xticks=everybody)
        ax.yaxis.set_visible(False)
    axes[0].legend(loc="upper right")


def tiny():
    """Return the five patients of lesson 4 and their two groups."""
    frame = pd.DataFrame({"age": [34, 34, 41, 45, 48], "sex": [*"fmmmm"]})
    frame["illness"] = ["asthma", "flu", "flu", "cold", "asthma"]
    return ap.Microdata(frame, ["age", "sex"], "illness"), ap.Partition([0, 0, 1, 1, 1])


@picture(cols=4, height=1.9)
def four_ways(axes):
    """Draw five patients published in four ways, and what differs from the original."""
    m, groups = tiny()
    original = m.frame.astype(str)
    for ax, way in zip(axes, ("suppress", "generalize", "swap", "anatomize"), strict=True):
        options = {"seed": 4} if way == "swap" else {}
        shown = getattr(ap, way)(m, groups, **options).frame.astype(str)
        if way == "anatomize":
            shown = shown.assign(illness=[f"group {g}" for g in groups.labels])[[*original]]
        shown = shown.replace(r"\[(\d+) - (\d+)\]", r"\1-\2", regex=True)
        changed = np.argwhere(shown.to_numpy() != original.to_numpy()).tolist()
        table(ax, shown, way, changed, width=0.44)
        ax.set(xlim=(0, 1.4), ylim=(0, 1.05))


@picture(limits=(-0.1, 7.4, -5.2, 0.6))
def swapping(ax, step: int = ALL):
    """Draw how secrets change places within groups, as the package swaps them."""
    m, groups = tiny()
    before, after = m.frame["illness"], ap.swap(m, groups, seed=4).frame["illness"].astype(str)
    # where each illness of a group goes: the same one of the same group, in their order
    place = np.empty(m.n, int)
    place[np.lexsort([before, groups.labels])] = np.lexsort([after, groups.labels])
    height = -np.arange(m.n) - 0.6 * groups.labels
    for i, (age, sex) in enumerate(m.frame[["age", "sex"]].to_numpy()):
        say(ax, 0.1, height[i], f"{age}, {sex}", ha="left")
        say(ax, 1.6, height[i], before[i], ha="left")
        if step >= 1:
            end = (4.1, height[place[i]])
            arrow(ax, (2.6, height[i]), end, RED if place[i] != i else GREY)
        if step >= 2:
            say(ax, 4.2, height[i], after[i], ha="left")
    for group, (low, tall) in enumerate([(-1.4, 1.8), (-5.0, 2.9)]):
        box(ax, 0, low, 5.2, tall)
        say(ax, 5.4, -0.5 - 3 * group, f"group {group}:\nthe counts stay", ha="left")


@picture(limits=(-0.5, 2.6, -1.3, 0.6))
def matching(ax):
    """Draw an instance of three-dimensional matching, whose solution is p1 and p2."""
    for name, point, colour in (("p1", "000", BLUE), ("p2", "111", RED), ("p3", "011", DARK)):
        look = {"linestyle": "--"} if name == "p3" else {"linestyle": "-", "linewidth": 3}
        ax.plot(range(3), [-int(e) for e in point], color=colour, marker="", **look)
        at = (0.6, -0.45) if name == "p3" else (2.2, -int(point[2]) - 0.03)
        ax.text(*at, name, color=colour)
    for d in range(3):
        people(ax, [d, d], [0, -1], "0.25", size=220)
        ax.text(d, 0.35, f"$D_{d + 1}$", ha="center")
        for e in range(2):
            say(ax, d, -e, e, color="white", zorder=4)


@picture(limits=(-0.5, 8.6, -1.2, 4.6))
def residue(ax, step: int = ALL):
    """Draw which patients have to leave their groups, phase after phase."""
    steps = ap.tp_steps(ap.examples.hospital(), 2)
    states = [*steps.index.get_level_values("step").unique()]
    state = states[min(step, len(states) - 1)]
    counts = steps.loc[state]
    colours = dict(zip(counts.columns, (RED, BLUE, YELLOW, GREEN), strict=True))
    for x, (name, row) in enumerate(counts.iterrows()):
        secrets = np.repeat(row.index, row)
        people(ax, [x] * len(secrets), np.arange(len(secrets)), [colours[s] for s in secrets], 110)
        ax.text(x, -0.9, "residue" if name == "R" else name, ha="center")
    for y, (secret, colour) in enumerate(colours.items()):
        people(ax, [6.2], [y], colour, 60)
        say(ax, 6.5, y, secret, ha="left")
    ax.axvline(4.5, color=GREY, linestyle=":", marker="")
    ax.text(-0.4, 4.2, state)


@picture(limits=(-0.1, 10, -0.1, 3))
def bits(ax):
    """Draw how a string of bits generalizes an attribute."""
    for y, code in enumerate(("000", "100", "111")):
        ends = [place for place, bit in enumerate(code + "1", 1) if bit == "1"]
        for start, end in zip([0, *ends], ends, strict=False):
            ages = " or ".join(["20s", "30s", "40s", "50s"][start:end])
            box(ax, start * 2, y, (end - start) * 2 - 0.4, 0.7, ages, BLUE)
        for place, bit in enumerate(code):
            say(ax, place * 2 + 1.8, y + 0.82, bit, color=RED)
        say(ax, 8.2, y + 0.35, f"bits {code}", ha="left")


@picture(frame="grid")
def dominance(ax):
    """Draw points of loss and bias, the front, and what dominates one point off it."""
    x = np.array([0.05, 0.2, 0.45, 0.6, 0.95, 0.3, 0.7, 0.85])
    y = np.array([0.9, 0.55, 0.5, 0.2, 0.05, 0.8, 0.6, 0.35])
    front = non_dominated(x, y)
    ax.step(np.sort(x[front]), -np.sort(-y[front]), where="post", color=BLUE, marker="")
    people(ax, x[front], y[front], BLUE)
    people(ax, x[~front], y[~front], GREY)
    ax.add_patch(plt.Rectangle((0, 0), x[6], y[6], color=RED, alpha=0.15))
    ax.text(x[6] + 0.02, y[6] + 0.03, "beaten by all points\nin the red area", color=RED)
    ax.set(xlim=(0, 1.15), ylim=(0, 1), xlabel="loss", ylabel="bias")
