"""Pictures of concepts of lessons 1 to 6, one function each, for the lessons and their slides.

The second paragraph of a function's docstring is the picture's alternative text. `step` draws a
picture up to that step, for slides; without it the picture is complete. Where the package can
compute what is shown, it does.
"""

from __future__ import annotations

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from course_drawing import ALL, BLUE, GREEN, GREY, RED, YELLOW, arrow, box, canvas, people, table

import anonpaper as ap
from anonpaper.partition.mondrian import median_cut

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
        counts = ap.principles.GroupCounts.of_table(pd.crosstab(inside, everybody))
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
