"""Pictures of concepts of lessons 7 to 12, one function each, for the lessons and their slides.

The second paragraph of a function's docstring is the picture's alternative text. `step` draws a
picture up to that step, for slides; without it the picture is complete. Where the package can
compute what is shown, it does.
"""

from __future__ import annotations

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from course_drawing import ALL, BLUE, GREEN, GREY, RED, YELLOW, arrow, box, canvas, people

import anonpaper as ap

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
