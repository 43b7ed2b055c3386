"""Pictures of concepts, one function each, for the lessons and their slides.

    course_pictures.py    draw the pictures of all lessons again, into the lessons

The second paragraph of a function's docstring is the picture's alternative text. `step` draws a
picture up to that step, for slides; without it the picture is complete. Where the package can
compute what is shown, it does. A lesson holds its pictures as attachments of its text: nothing has
to run before they are seen, and a lesson stays one file.
"""

from __future__ import annotations

import base64
import io
import re
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd

import anonpaper as ap
from anonpaper import plots
from anonpaper.partition.mondrian import median_cut

BLUE, RED, GREEN, YELLOW = (look["color"] for look in plots.LOOKS[:4])
GREY = "0.75"
ALL = 99  # a step after every other
#: a picture of a lesson's text, in Markdown
PICTURE = re.compile(r"!\[(.*?)\]\(attachment:(\w+)\.png\)")


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


# ---- lesson 1 ---------------------------------------------------------------------------------


def linking(step: int = ALL):
    """Draw a table without names beside a voter list.

    Two tables side by side: five rows of a clinic without names, six voters with names. A grey
    line joins every pair that agrees in age and sex. Two pairs that fit nobody else are joined
    in red.
    """
    clinic = pd.DataFrame(
        {
            "age": [34, 34, 41, 52, 52],
            "sex": [*"ffmfm"],
            "illness": ["flu", "diabetes", "asthma", "migraine", "flu"],
        }
    )
    voters = pd.DataFrame(
        {
            "name": [f"voter {i}" for i in range(1, 7)],
            "age": [34, 41, 52, 52, 52, 28],
            "sex": [*"fmffmm"],
        }
    )
    figure, ax = canvas()
    left = table(ax, clinic, "The clinic publishes", width=0.13)
    right = table(ax, voters, "Anybody has", left=0.64, width=0.16)
    pairs = clinic.reset_index(names="row").merge(voters.reset_index(names="voter"))
    lone = ~pairs.duplicated("row", keep=False) & ~pairs.duplicated("voter", keep=False)
    for row, voter, found in zip(pairs["row"], pairs["voter"], lone, strict=True):
        look = {"color": RED, "linewidth": 2} if found and step >= 2 else {"color": GREY}
        if step >= 1:
            ax.plot([0.43, 0.62], [left[row], right[voter]], marker="", linestyle="-", **look)
    ax.set(xlim=(0, 1.1), ylim=(0, 1.05))
    return figure


def sample_and_population():
    """Draw three kinds of people in a population and in a sample of it.

    Three rows of dots, one row per kind of people. Filled dots are in the published table,
    hollow ones only in the population. Each kind has one filled dot; the population has one,
    three and six.
    """
    figure, ax = canvas()
    for y, (F, kind) in enumerate(
        [(6, "29, f, college"), (3, "41, m, school"), (1, "83, f, doctorate")]
    ):
        ax.text(-0.6, y, kind, ha="right", va="center")
        ax.scatter(np.arange(1, F), [y] * (F - 1), s=60, facecolors="white", edgecolors="0.4")
        people(ax, [0], [y], BLUE)
        ax.text(6.5, y, f"f = 1, F = {F}: risk {'1' if F == 1 else f'1/{F}'}", va="center")
    ax.text(0.3, 2.7, "published", color=BLUE, ha="right")
    ax.text(3.6, 2.7, "only in the population", color="0.4", ha="center")
    ax.set(xlim=(-4.5, 11), ylim=(-0.5, 3))
    return figure


# ---- lesson 2 ---------------------------------------------------------------------------------


def cuts_of(m, k):
    """Return the groups of Mondrian after each round of cuts, as lists of rows."""
    rounds = [[np.arange(m.n)]]
    while True:
        groups = []
        for rows in rounds[-1]:
            side = median_cut(m, rows, k)
            groups += [rows] if side is None else [rows[side], rows[~side]]
        if len(groups) == len(rounds[-1]):
            return rounds
        rounds.append(groups)


def mondrian_cuts(step: int = ALL, k: int = 3):
    """Draw how Mondrian cuts the plane of two attributes, round after round.

    Twenty-four people as dots over age and hours of work. Rectangles are the groups: each round
    cuts a rectangle in two at a median, as long as both sides keep three people. No rectangles
    overlap.
    """
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"age": rng.integers(20, 70, 24), "hours": rng.integers(10, 60, 24)})
    m = ap.Microdata(frame, ["age", "hours"])
    rounds = cuts_of(m, k)
    assert len(rounds[-1]) == ap.mondrian(m, k).n_groups
    groups = rounds[min(step, len(rounds) - 1)]
    figure, ax = canvas()
    ax.axis("on")
    ax.grid(visible=False)
    for rows in groups:
        low, high = frame.iloc[rows].min() - 0.45, frame.iloc[rows].max() + 0.45
        box(ax, *low, *(high - low), colour=RED)
    people(ax, frame["age"], frame["hours"], BLUE, size=30)
    number = len(groups)
    ax.set(
        xlabel="age", ylabel="hours a week", title=f"{number} group{'s' * (number > 1)}, k = {k}"
    )
    return figure


def homogeneity():
    """Draw two groups of a 2-anonymous table.

    Two boxes of people, coloured by illness. The first box has two people of different colours:
    a guess is right with one half. The second has three people of one colour: the illness is
    certain.
    """
    figure, ax = canvas()
    for x, label, secrets in (
        (0, "34 to 37, f", ["asthma", "flu"]),
        (5, "41 to 48, m", ["diabetes"] * 3),
    ):
        box(ax, x, 0, 4, 2)
        m = ap.Microdata(pd.DataFrame({"q": 0, "s": secrets}), ["q"], "s")
        sure = ap.measure.disclosure_confidence(ap.generalize(m, ap.Partition([0] * m.n)))[0]
        ax.text(x + 2, 2.3, label, ha="center")
        ax.text(
            x + 2, -0.4, f"best guess: {sure:.0%}", ha="center", color=RED if sure == 1 else "0"
        )
        at = x + 4 * (np.arange(m.n) + 1) / (m.n + 1)
        colours = [{"asthma": GREEN, "flu": BLUE, "diabetes": RED}[one] for one in secrets]
        people(ax, at, [1.2] * m.n, colours, size=160)
        for place, secret in zip(at, secrets, strict=True) if sure < 1 else [(x + 2, "diabetes")]:
            ax.text(place, 0.45, secret, ha="center")
    ax.set(xlim=(-0.2, 9.2), ylim=(-0.6, 2.6))
    return figure


# ---- lesson 3 ---------------------------------------------------------------------------------


def levels():
    """Draw three classes of six people and their level by three principles.

    Three classes of six people as stacked dots, coloured by secret: counts (4, 1, 1), (3, 2, 1)
    and (2, 2, 2). All have three distinct secrets; the frequency level rises from 1.5 over 2 to
    3.
    """
    figure, axes = canvas(3)
    principles = {
        "distinct": ap.DistinctLDiversity,
        "entropy": ap.EntropyLDiversity,
        "frequency": ap.FrequencyLDiversity,
    }
    for ax, counts in zip(axes, ([4, 1, 1], [3, 2, 1], [2, 2, 2]), strict=True):
        secrets = np.repeat([*"abc"], counts)
        m = ap.Microdata(pd.DataFrame({"q": 0, "s": secrets}), ["q"], "s")
        for x, (count, colour) in enumerate(zip(counts, (BLUE, RED, GREEN), strict=True)):
            people(ax, [x] * count, np.arange(count), colour, size=90)
        for line, (name, principle) in enumerate(principles.items()):
            level = principle(1).level(m, np.zeros(6, dtype=int))
            ax.text(-0.4, -1.2 - 0.9 * line, f"{name} {level:.2g}")
        ax.set(xlim=(-0.6, 2.9), ylim=(-3.3, 3.5))
    return figure


def earth_moving():
    """Draw two classes of salaries beside those of the whole table.

    Bars of shares over nine salaries. The class 3, 4, 5 thousand has all its shares at the left
    end, the class 6, 8, 11 has them spread. Arrows show where shares must move; the first way is
    longer.
    """
    figure, axes = canvas(2, sharey=True)
    everybody = np.arange(3, 12)
    for ax, salaries in zip(axes, ([3, 4, 5], [6, 8, 11]), strict=True):
        inside = np.isin(everybody, salaries)
        m = ap.Microdata(pd.DataFrame({"q": inside.astype(int), "s": everybody}), ["q"], "s")
        counts = ap.principles.GroupCounts.of(m, inside.astype(int))
        far = ap.TCloseness(1, "ordered").levels(counts)[1]
        ax.bar(everybody, 1 / 9, color=GREY, label="table")
        ax.bar(everybody, inside / 3, width=0.4, color=BLUE, label="class")
        for start, end in zip(np.repeat(salaries, 3), everybody, strict=True):
            if start != end:
                arrow(ax, (start, 0.3), (end, 0.12), RED, alpha=0.6)
        ax.set(title=f"distance {far:.3f}", xlabel="salary", xticks=everybody)
        ax.axis("on")
        ax.grid(visible=False)
        ax.yaxis.set_visible(False)
    axes[0].legend(loc="upper right")
    return figure


# ---- lesson 4 ---------------------------------------------------------------------------------


def tiny():
    """Return the five patients of lesson 4 and their two groups."""
    frame = pd.DataFrame(
        {
            "age": [34, 34, 41, 45, 48],
            "sex": [*"fmmmm"],
            "illness": ["asthma", "flu", "flu", "cold", "asthma"],
        }
    )
    return ap.Microdata(frame, ["age", "sex"], "illness"), ap.Partition([0, 0, 1, 1, 1])


def four_ways():
    """Draw five patients published in four ways.

    Four small tables of the same five patients. Coloured fields differ from the original: ages
    and sexes under suppression and generalization, illnesses under swapping, and a group number
    instead of them in anatomy.
    """
    m, groups = tiny()
    figure, axes = canvas(4, height=1.9)
    original = m.frame.astype(str)
    for ax, way in zip(axes, ("suppress", "generalize", "swap", "anatomize"), strict=True):
        options = {"seed": 4} if way == "swap" else {}
        shown = getattr(ap, way)(m, groups, **options).frame.astype(str)
        if way == "anatomize":
            shown = shown.assign(illness=[f"group {g}" for g in groups.labels])[[*original]]
        shown = shown.replace(r"\[(\d+) - (\d+)\]", r"\1-\2", regex=True)
        changed = np.argwhere(shown.to_numpy() != original.to_numpy()).tolist()
        table(ax, shown, way, {(i, j): RED for i, j in changed}, width=0.44)
        ax.set(xlim=(0, 1.4), ylim=(0, 1.05))
    return figure


def swapping(step: int = ALL):
    """Draw how secrets change places within groups.

    Five patients in two boxes, their illnesses to the right. Arrows lead every illness to
    another patient of the same box and never out of it, so each box keeps its counts.
    """
    m, groups = tiny()
    # the swap of the package, and where each illness of a group goes in it
    swapped = ap.swap(m, groups, seed=4).frame["illness"].astype(str).tolist()
    before = m.frame["illness"].tolist()
    place = {}
    for i, secret in enumerate(before):
        same = [
            j
            for j in range(m.n)
            if groups.labels[j] == groups.labels[i]
            and swapped[j] == secret
            and j not in place.values()
        ]
        place[i] = same[0]
    figure, ax = canvas()
    for i, (age, sex) in enumerate(m.frame[["age", "sex"]].to_numpy()):
        y = -i - (groups.labels[i] * 0.6)
        ax.text(0.1, y, f"{age}, {sex}", va="center")
        ax.text(1.6, y, before[i], va="center")
        if step >= 1:
            end = -place[i] - groups.labels[i] * 0.6
            arrow(ax, (2.6, y), (4.1, end), RED if place[i] != i else GREY)
        if step >= 2:
            ax.text(4.2, y, swapped[i], va="center")
    box(ax, 0, -1.4, 5.2, 1.8)
    box(ax, 0, -5.0, 5.2, 2.9)
    ax.text(5.4, -0.5, "group 0:\nthe counts stay", va="center")
    ax.text(5.4, -3.5, "group 1:\nthe counts stay", va="center")
    ax.set(xlim=(-0.1, 7.4), ylim=(-5.2, 0.6))
    return figure


# ---- lesson 5 ---------------------------------------------------------------------------------


def matching():
    """Draw an instance of three-dimensional matching.

    Three columns of two elements. Each of three points is a line through one element of every
    column. The points p1 and p2, in bold, together touch every element once; p3 is dashed.
    """
    points = {"p1": (0, 0, 0), "p2": (1, 1, 1), "p3": (0, 1, 1)}
    perfect = next(
        pair
        for pair in combinations(points, 2)
        if all({points[pair[0]][d], points[pair[1]][d]} == {0, 1} for d in range(3))
    )
    figure, ax = canvas()
    for (name, point), colour in zip(points.items(), (BLUE, RED, "0.4"), strict=True):
        chosen = name in perfect
        look = {"linestyle": "-", "linewidth": 3} if chosen else {"linestyle": "--"}
        ax.plot(range(3), [-e for e in point], color=colour, marker="", **look)
        ax.text(*((0.6, -0.45) if name == "p3" else (2.2, -point[2] - 0.03)), name, color=colour)
    for d in range(3):
        people(ax, [d, d], [0, -1], "0.25", size=220)
        ax.text(d, 0.35, f"$D_{d + 1}$", ha="center")
        for e in range(2):
            ax.text(d, -e, e, color="white", ha="center", va="center", zorder=4)
    ax.set(xlim=(-0.5, 2.6), ylim=(-1.3, 0.6))
    return figure


def residue(step: int = ALL):
    """Draw which patients have to leave their groups.

    Five groups of patients and the residue, as stacked dots coloured by diagnosis. After phase 1
    four patients, two of them with HIV, stand in the residue; two groups keep all their rows.
    """
    steps = ap.tp_steps(ap.examples.hospital(), 2)
    states = [*steps.index.get_level_values("step").unique()]
    state = states[min(step, len(states) - 1)]
    counts = steps.loc[state]
    figure, ax = canvas()
    colours = dict(zip(counts.columns, (RED, BLUE, YELLOW, GREEN), strict=True))
    for x, (name, row) in enumerate(counts.iterrows()):
        secrets = np.repeat(row.index, row)
        people(ax, [x] * len(secrets), np.arange(len(secrets)), [colours[s] for s in secrets], 110)
        ax.text(x, -0.9, "residue" if name == "R" else name, ha="center")
    for y, (secret, colour) in enumerate(colours.items()):
        people(ax, [6.2], [y], colour, 60)
        ax.text(6.5, y, secret, va="center")
    ax.axvline(4.5, color=GREY, linestyle=":", marker="")
    ax.set(xlim=(-0.5, 8.6), ylim=(-1.2, 4.6))
    ax.text(-0.4, 4.2, state)
    return figure


# ---- lesson 6 ---------------------------------------------------------------------------------


def bits():
    """Draw how a string of bits generalizes an attribute.

    Four ages in a row with a bit between neighbours, for three strings: 111 keeps four values
    apart, 100 joins the thirties and all above, 000 joins everything. Joined values share a box.
    """
    ages = ["20s", "30s", "40s", "50s"]
    figure, ax = canvas()
    for y, code in enumerate(("000", "100", "111")):
        start = 0
        for end in range(1, 5):
            if end == 4 or code[end - 1] == "1":
                box(
                    ax,
                    start * 2,
                    y,
                    (end - start) * 2 - 0.4,
                    0.7,
                    " or ".join(ages[start:end]),
                    BLUE,
                )
                start = end
        for place, bit in enumerate(code):
            ax.text(place * 2 + 1.8, y + 0.82, bit, ha="center", va="center", color=RED)
        ax.text(8.2, y + 0.35, f"bits {code}", va="center")
    ax.set(xlim=(-0.1, 10), ylim=(-0.1, 3))
    return figure


def dominance():
    """Draw points of loss and bias and those that dominate.

    Eight points over loss and bias. The points that no other point beats in both form a falling
    staircase, the front. One point off the front is shaded by the quadrant of the points it
    loses to.
    """
    points = np.array(
        [
            [0.05, 0.9],
            [0.2, 0.55],
            [0.45, 0.5],
            [0.6, 0.2],
            [0.95, 0.05],
            [0.3, 0.8],
            [0.7, 0.6],
            [0.85, 0.35],
        ]
    )
    from anonpaper.recoders.evaluation import non_dominated

    front = non_dominated(points[:, 0], points[:, 1])
    figure, ax = canvas()
    ax.axis("on")
    stair = points[front][np.argsort(points[front][:, 0])]
    ax.step(stair[:, 0], stair[:, 1], where="post", color=BLUE, marker="", label="front")
    people(ax, points[front][:, 0], points[front][:, 1], BLUE)
    people(ax, points[~front][:, 0], points[~front][:, 1], GREY)
    x, y = points[6]
    ax.add_patch(plt.Rectangle((0, 0), x, y, color=RED, alpha=0.15))
    ax.text(x + 0.02, y + 0.03, "beaten by all points\nin the red area", color=RED)
    ax.set(xlim=(0, 1.15), ylim=(0, 1), xlabel="loss", ylabel="bias")
    return figure


# ---- lesson 7 ---------------------------------------------------------------------------------


def who_is_starred(k: int = 4):
    """Draw groups of four people in which a minority loses its value.

    Six groups of four people, most of them grey. The two groups with members of the minority, in
    red, are uniform nowhere: all of their people get a star. The grey groups keep their value.
    """
    race = np.array(["W"] * 19 + ["B", "B", "W", "B", "W"])
    labels = np.repeat(np.arange(6), k)
    m = ap.Microdata(pd.DataFrame({"race": race}), ["race"])
    shown = ap.suppress(m, ap.Partition(labels)).frame["race"].astype(str).to_numpy()
    figure, ax = canvas()
    for g in range(6):
        box(ax, g * 1.5 - 0.25, -0.3, 1.1, 1.6)
    x, y = labels * 1.5 + np.tile([0, 0.6, 0, 0.6], 6), np.tile([0, 0, 1, 1], 6)
    people(ax, x, y, np.where(race == "B", RED, GREY), size=150)
    for at, up, value in zip(x, y, shown, strict=True):
        ax.text(at, up, value, ha="center", va="center", zorder=4)
    lost = [np.mean(shown[race == kind] == "*") for kind in "WB"]
    ax.text(-0.25, -0.95, f"a star hides {lost[0]:.0%} of the many and {lost[1]:.0%} of the few")
    ax.set(xlim=(-0.4, 8.6), ylim=(-1.2, 1.5))
    return figure


def constraint_graph():
    """Draw three diversity constraints that share patients.

    Three circles, one per constraint: Asian, African, Vancouver. Inside are the patients that a
    constraint can use. The line between two circles names the patients that both of them need.
    """
    m, sigma = ap.examples.patients(), ap.examples.patients_constraints()
    need = {}
    for one in sigma:
        ((column, value),) = one.target.items()
        need[value] = [*m.frame.index[m.frame[column].astype(str) == value]]
    figure, ax = canvas(height=1.5)
    at = {"Asian": (0, 0), "African": (8, 0), "Vancouver": (4, 0)}
    for one, other in combinations(need, 2):
        both = sorted(set(need[one]) & set(need[other]))
        if both:
            (a, _), (b, _) = at[one], at[other]
            ax.plot([a, b], [0, 0], color=RED, linestyle="-", marker="", zorder=1)
            ax.text((a + b) / 2, 0.2, "both need\n" + ", ".join(both), ha="center", color=RED)
    for name, (x, y) in at.items():
        ax.scatter([x], [y], s=3300, facecolors="white", edgecolors=BLUE, zorder=2)
        ax.text(
            x,
            y,
            f"{name}\n{', '.join(need[name][:2])}\n{', '.join(need[name][2:])}".strip(),
            ha="center",
            va="center",
            zorder=3,
        )
    ax.set(xlim=(-1.5, 9.5), ylim=(-1.4, 1.4))
    return figure


# ---- lesson 8 ---------------------------------------------------------------------------------


def worlds(step: int = ALL):
    """Draw the fifteen worlds in which two of six people are ill.

    Fifteen small rows of six dots, two of them red. In one world only, in a box, both ill people
    live in the first street of two. It is the only world in which this publisher merges the
    streets.
    """
    figure, ax = canvas(height=1.7)
    for number, sick in enumerate(combinations(range(6), 2)):
        x, y = number % 5 * 8.2, -(number // 5) * 1.4
        first = sum(one < 2 for one in sick)
        merged = 2 * first > 2 or 2 * (2 - first) > 4
        at = x + np.arange(6) + (np.arange(6) >= 2) * 0.6
        shade = 1 if merged or step == 0 else 0.25
        people(ax, at, [y] * 6, [RED if i in sick else GREY for i in range(6)], 36, alpha=shade)
        if merged and step >= 1:
            box(ax, x - 0.8, y - 0.45, 7.2, 0.9, colour=RED)
    ax.text(-0.5, 0.9, "Ann, Bob | Cyd, Dan, Eve, Fay: who are the two ill people?")
    ax.set(xlim=(-1, 41), ylim=(-3.5, 1.3))
    return figure


def neighbouring_tables(epsilon: float = 1.0):
    """Draw two neighbouring tables and the answers that a private count gives to them.

    Left, two tables that differ in one row, Ann's. Right, the densities of the noisy count of
    each: two peaks one apart. At every answer the ratio of the two heights is at most e to the
    epsilon.
    """
    figure, axes = canvas(2, width_ratios=(1, 1.6))
    for top, names, title in (
        (1, ["Ann", "Bob", "Cyd"], "with Ann"),
        (0.42, ["Bob", "Cyd"], "without"),
    ):
        axes[0].text(0, top, title, weight="bold", va="center")
        for i, name in enumerate(names):
            box(
                axes[0], 0, top - 0.19 - 0.12 * i, 0.8, 0.11, name, RED if name == "Ann" else "0.4"
            )
    axes[0].set(xlim=(0, 1), ylim=(0, 1.05))
    y = np.linspace(97, 104, 701)
    for count, look in ((101, "-"), (100, "--")):
        density = epsilon / 2 * np.exp(-epsilon * abs(y - count))
        axes[1].plot(y, density, look, marker="", label=f"true count {count}")
    axes[1].axis("on")
    axes[1].set(
        xlabel="answer",
        yticks=[],
        title=f"nowhere a ratio above $e^\\varepsilon$, ε = {epsilon:g}",
    )
    axes[1].legend(loc="upper left", fontsize=6)
    return figure


def composition(step: int = ALL):
    """Draw how two safe releases leave one secret.

    Three boxes of secrets. The first release leaves flu, gout and cold for Ann, the second flu,
    acne and asthma. Each is diverse. The set that both allow holds only flu, in red.
    """
    found = [{"flu", "gout", "cold"}, {"flu", "acne", "asthma"}]
    both = set.intersection(*found)
    figure, ax = canvas()
    for i, (title, secrets) in enumerate(
        (("hospital A", found[0]), ("hospital B", found[1]), ("both", both))
    ):
        if i > step:
            break
        box(ax, i * 3.4, 0, 2.6, 2.4, colour=RED if title == "both" else BLUE)
        ax.text(i * 3.4 + 1.3, 2.6, title, ha="center", weight="bold")
        for line, secret in enumerate(sorted(secrets, key=lambda one: (one not in both, one))):
            ax.text(
                i * 3.4 + 1.3,
                1.9 - 0.7 * line,
                secret,
                ha="center",
                va="center",
                color=RED if secret in both and step >= 2 else "0",
            )
    ax.text(0, -0.5, "Which illness may Ann have?")
    ax.set(xlim=(-0.2, 9.7), ylim=(-0.7, 3))
    return figure


# ---- lesson 9 ---------------------------------------------------------------------------------


def shrinking(step: int = ALL):
    """Draw how published numbers leave fewer and fewer sets of ages.

    Dots are pairs of the youngest and the oldest age of three people. A mean and a median leave
    a line of 31 dots, adults only leave 13 of them, and a couple two years apart leaves one, in
    red.
    """
    fit = np.array([(a, c) for a in range(31) for c in range(30, 111) if a + 30 + c == 3 * 44])
    adults = fit[fit[:, 0] >= 18]
    couple = adults[30 - adults[:, 0] == 2]
    figure, ax = canvas()
    ax.axis("on")
    shown = [
        (fit, GREY, "mean and median"),
        (adults, BLUE, "all adults"),
        (couple, RED, "a couple"),
    ]
    for points, colour, name in shown[: step + 1]:
        people(ax, points[:, 0], points[:, 1], colour, 30, label=f"{name}: {len(points)}")
    ax.set(xlabel="youngest", ylabel="oldest", xlim=(-1, 31), ylim=(70, 104))
    ax.legend()
    return figure


def difference_attack():
    """Draw two questions whose answers differ by one person.

    Ten people in a row. One frame holds all ten, another leaves out person 7. Each has the number
    of ill people in it. Neither is about few people, and their difference is about person 7 alone.
    """
    figure, ax = canvas(height=1.6)
    people(ax, np.arange(10), [0] * 10, [RED if i == 7 else "0.4" for i in range(10)], size=130)
    for i in range(10):
        ax.text(i, 0, i, color="white", ha="center", va="center", zorder=4)
    box(ax, -0.5, -0.45, 10, 0.9, colour=BLUE)
    box(ax, -0.65, -0.6, 7.15, 1.2, colour=GREEN)
    box(ax, 7.5, -0.6, 2.15, 1.2, colour=GREEN)
    # the service of the lesson, with its seed
    ill = set(ap.randomness.generator(0).choice(40, 12, replace=False).tolist())
    all_ten, others = len(ill & {*range(10)}), len(ill & {*range(10)} - {7})
    found = "ill" if all_ten > others else "not ill"
    ax.text(-0.5, 0.85, f"all ten: {all_ten} are ill", color=BLUE)
    ax.text(-0.5, -1.05, f"all but person 7: {others} are ill", color=GREEN)
    last = f"{all_ten} - {others} = {all_ten - others}: person 7 is {found}"
    ax.text(9.6, -1.05, last, color=RED, ha="right")
    ax.set(xlim=(-0.9, 10), ylim=(-1.3, 1.2))
    return figure


# ---- lesson 10 --------------------------------------------------------------------------------


def leaning():
    """Draw five values of Ann between a study's means and the population's.

    Five columns on a scale from 0 to 1. A hollow dot is the population's share, a filled one the
    study's mean, a cross Ann's value. In four columns of five the study lies on Ann's side.
    """
    population = np.array([0.5, 0.5, 0.2, 0.8, 0.5])
    means = np.array([0.75, 0.25, 0.5, 0.75, 1.0])
    ann = np.array([1, 0, 1, 1, 1])
    closer = np.abs(ann - population) - np.abs(ann - means)
    figure, ax = canvas()
    ax.axis("on")
    x = np.arange(5)
    for i in x:
        arrow(ax, (i, population[i]), (i, means[i]), GREEN if closer[i] > 0 else RED, linewidth=2)
        ax.text(i + 0.12, (population[i] + means[i]) / 2, f"{closer[i]:+.2f}", va="center")
    ax.scatter(
        x, population, s=50, facecolors="white", edgecolors="0.4", label="population", zorder=3
    )
    people(ax, x, means, BLUE, 50, label="study")
    ax.scatter(x, ann, marker="x", s=60, color="black", label="Ann", zorder=4)
    ax.set(xticks=x, xticklabels=[f"column {i + 1}" for i in x], yticks=[0, 1], xlim=(-0.4, 6.2))
    ax.legend(loc="center right")
    ax.set_title(f"together {closer.sum():+.2f}: nearer to the study")
    return figure


def shadow():
    """Draw how a shadow model teaches the attacker a threshold.

    Two rows of boxes. Above: the victim's people train the victim, who answers with a
    confidence. Below: the attacker's people train a shadow; who was in is known, and gives a
    threshold.
    """
    figure, ax = canvas()
    rows = (
        (1.5, "victim", ("people\nof the victim", "victim", "confidence\nabout Ann")),
        (0, "shadow", ("people\nof the attacker", "shadow", "in or out:\nknown")),
    )
    for y, who, texts in rows:
        for x, text in zip((0, 3.5, 7.0), texts, strict=True):
            box(ax, x, y, 2.4, 0.95, text, RED if who == "victim" else BLUE)
        for x, word in ((2.4, "trains"), (5.9, "answers")):
            arrow(ax, (x, y + 0.47), (x + 1.1, y + 0.47))
            ax.text(x + 0.55, y + 0.62, word, ha="center", fontsize=7)
    arrow(ax, (8.2, 0.97), (8.2, 1.47), GREEN)
    ax.text(8.4, 1.22, "threshold", color=GREEN, va="center")
    ax.set(xlim=(-0.1, 10.1), ylim=(-0.1, 2.6))
    return figure


# ---- lesson 11 --------------------------------------------------------------------------------


def two_coins():
    """Draw the two coins of randomized response as a tree.

    A tree. Heads, one half: the truth. Tails, one half: a second coin says yes or no. Below it,
    bars: with the truth yes the answer is yes in 3 of 4 cases, with the truth no in 1 of 4.
    """
    figure, axes = canvas(2, width_ratios=(1.5, 1))
    ax = axes[0]
    nodes = {
        "first coin": (1, 2),
        "the truth": (0, 1),
        "second coin": (2, 1),
        "yes": (1.1, 0),
        "no": (2.9, 0),
    }
    for start, end, word in (
        ("first coin", "the truth", "heads"),
        ("first coin", "second coin", "tails"),
        ("second coin", "yes", "heads"),
        ("second coin", "no", "tails"),
    ):
        (a, b), (c, d) = nodes[start], nodes[end]
        ax.plot([a, c], [b, d], color=GREY, linestyle="-", marker="", zorder=1)
        ax.text((a + c) / 2, (b + d) / 2, f"{word} ½", ha="center", fontsize=7, color=RED)
    for name, (x, y) in nodes.items():
        ax.text(
            x, y, name, ha="center", va="center", bbox={"facecolor": "white", "edgecolor": BLUE}
        )
    ax.set(xlim=(-0.6, 3.2), ylim=(-0.3, 2.3))
    says_yes = [0.5 + 0.5 * 0.5, 0.5 * 0.5]
    axes[1].axis("on")
    axes[1].bar(["truth: yes", "truth: no"], says_yes, color=[BLUE, GREY])
    axes[1].set(ylim=(0, 1), title="answers yes")
    axes[1].bar_label(axes[1].containers[0], fmt="%.2f")
    return figure


def budget(step: int = ALL):
    """Draw a budget that answers use up.

    A bar of length 1, the budget. Five answers of 0.2 each fill it from left to right, in
    different colours. A sixth answer, in red, does not fit and is refused.
    """
    figure, ax = canvas(height=1.6)
    box(ax, 0, 0, 1, 0.5)
    costs, spent = [0.2] * 6, 0.0
    for number, cost in enumerate(costs[:step]):
        fits = spent + cost <= 1 + 1e-9
        colour = (BLUE, GREEN, YELLOW)[number % 3] if fits else RED
        x = spent if fits else 1.05
        ax.add_patch(
            plt.Rectangle((x, 0), cost, 0.5, facecolor=colour, alpha=0.6, edgecolor="white")
        )
        ax.text(x + cost / 2, 0.25, f"{cost:g}" if fits else "no", ha="center", va="center")
        spent += cost * fits
    ax.text(0, 0.65, "budget for all answers together: ε = 1")
    ax.text(0, -0.2, f"spent: {spent:.1f}")
    ax.set(xlim=(-0.02, 1.35), ylim=(-0.3, 0.8))
    return figure


# ---- lesson 12 --------------------------------------------------------------------------------


def narrowing():
    """Draw how five searches leave one person.

    Falling bars on a logarithmic scale: about 10,000 of 50,000 people fit the first search,
    about a hundred the first two, then twenty, two, and only the person who searched.
    """
    shares = {"school": 0.2, "surname": 0.01, "bicycle": 0.15, "bees": 0.05, "street": 0.004}
    fits = ap.randomness.generator(0).random((50_000, len(shares))) < list(shares.values())
    fits[0] = True
    left = fits.cumprod(axis=1).sum(axis=0)
    figure, ax = canvas()
    ax.axis("on")
    ax.bar(list(shares), left, color=[BLUE] * 4 + [RED])
    ax.bar_label(ax.containers[0], fmt="{:,.0f}")
    ax.set(yscale="log", ylim=(0.5, 1e5), ylabel="people who fit all so far")
    ax.grid(visible=False)
    return figure


def signatures(step: int = ALL):
    """Draw groups of three years, two of which keep everybody's set of secrets.

    Three columns of two boxes with people. In years 1 and 2 Ann's box holds flu and gout. In
    year 3 it holds flu and acne: the two sets have only flu in common, and Ann's illness is
    known.
    """
    groups = [
        [("Ann", "flu", "Bob", "gout"), ("Cyd", "acne", "Dan", "cold")],
        [("Ann", "flu", "Eve", "gout"), ("Cyd", "acne", "Fay", "cold")],
        [("Ann", "flu", "Cyd", "acne"), ("Eve", "gout", "Fay", "cold")],
    ]
    figure, ax = canvas()
    for year, boxes in enumerate(groups[: step + 1]):
        ax.text(year * 3.3 + 1.3, 2.55, f"year {year + 1}", ha="center", weight="bold")
        for line, (a, s, b, t) in enumerate(boxes):
            broken = year == 2 and line == 0
            box(
                ax,
                year * 3.3,
                1.35 - 1.25 * line,
                2.7,
                1.0,
                f"{a}, {b}\n{{{s}, {t}}}",
                RED if broken else BLUE,
            )
    ax.text(
        0,
        -0.35,
        "Ann after years 1 and 2: {flu, gout}" + (", after year 3: {flu}" if step >= 2 else ""),
    )
    ax.set(xlim=(-0.2, 9.5), ylim=(-0.5, 2.8))
    return figure


# ---- into the lessons -------------------------------------------------------------------------


def about(name: str) -> str:
    """Return a picture's alternative text: the second paragraph of its docstring."""
    return " ".join(globals()[name].__doc__.split("\n\n")[1].split())


def png(figure, dpi: int = 150) -> bytes:
    """Return a figure as a picture without its maker and date, and close it."""
    stream = io.BytesIO()
    figure.savefig(stream, dpi=dpi, metadata={"Software": None})
    plt.close(figure)
    return stream.getvalue()


def main() -> None:
    """Draw the pictures that the lessons name, into them."""
    for path in sorted(Path(__file__).parent.glob("*.ipynb")):
        lesson = nbformat.read(path, as_version=4)
        for cell in lesson.cells:
            for _, name in PICTURE.findall(cell.source):
                picture = base64.b64encode(png(globals()[name]())).decode()
                cell.setdefault("attachments", {})[f"{name}.png"] = {"image/png": picture}
        path.write_text(nbformat.writes(lesson, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
