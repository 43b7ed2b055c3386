"""Pictures of lessons 7 to 12, and all pictures: a lesson holds them as attachments of its text.

course_pictures.py    draw the pictures of all lessons again, into the lessons
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
import pictures_1_to_6 as p

import anonpaper as ap

#: a picture of a lesson's text, in Markdown
PICTURE = re.compile(r"!\[(.*?)\]\(attachment:(\w+)\.png\)")


def draw(name: str, *steps: int, dpi: int = 150) -> bytes:
    """Return a picture, or a picture up to a step, without its maker and date."""
    stream, figure = io.BytesIO(), p.drawn(name, *steps)
    figure.savefig(stream, dpi=dpi, metadata={"Software": None})
    plt.close(figure)
    return stream.getvalue()


def main() -> None:
    """Draw the pictures that the lessons name, into them."""
    for path in sorted(Path(__file__).parent.glob("*.ipynb")):
        lesson = nbformat.read(path, as_version=4)
        for cell in lesson.cells:
            for _, name in PICTURE.findall(cell.source):
                shown = base64.b64encode(draw(name)).decode()
                cell.setdefault("attachments", {})[f"{name}.png"] = {"image/png": shown}
        path.write_text(nbformat.writes(lesson, indent=1) + "\n", encoding="utf-8")


# ---- lessons 7 to 12 --------------------------------------------------------------------------


@p.picture(limits=(-0.4, 8.6, -1.2, 1.5))
def who_is_starred(ax):
    """Draw groups of four people in which a minority loses its value."""
    race = np.array([*"W" * 19, *"BBWBW"])
    labels = np.repeat(np.arange(6), 4)
    m = ap.Microdata(pd.DataFrame({"race": race}), ["race"])
    shown = ap.suppress(m, ap.Partition(labels)).frame["race"].astype(str).to_numpy()
    x, y = labels * 1.5 + np.tile([0, 0.6, 0, 0.6], 6), np.tile([0, 0, 1, 1], 6)
    p.people(ax, x, y, np.where(race == "B", p.RED, p.GREY), size=150)
    for g in range(6):
        p.box(ax, g * 1.5 - 0.25, -0.3, 1.1, 1.6)
    for place in zip(x, y, shown, strict=True):
        p.say(ax, *place, zorder=4)
    lost = [np.mean(shown[race == kind] == "*") for kind in "WB"]
    ax.text(-0.25, -0.95, f"a star hides {lost[0]:.0%} of the many and {lost[1]:.0%} of the few")


@p.picture(height=1.5, limits=(-1.5, 9.5, -1.4, 1.4))
def constraint_graph(ax):
    """Draw three diversity constraints, the patients that each can use, and those they share."""
    m, need = ap.examples.patients(), {}
    for one in ap.examples.patients_constraints():
        ((column, value),) = one.target.items()
        need[value] = [*m.frame.index[m.frame[column].astype(str) == value]]
    at = {"Asian": 0, "African": 8, "Vancouver": 4}
    for one, other in combinations(need, 2):
        if both := sorted({*need[one]} & {*need[other]}):
            a, b = at[one], at[other]
            ax.plot([a, b], [0, 0], color=p.RED, linestyle="-", marker="", zorder=1)
            ax.text((a + b) / 2, 0.2, "both need\n" + ", ".join(both), ha="center", color=p.RED)
    for name, x in at.items():
        ax.scatter([x], [0], s=3300, facecolors="white", edgecolors=p.BLUE, zorder=2)
        lines = [name, ", ".join(need[name][:2]), ", ".join(need[name][2:])]
        p.say(ax, x, 0, "\n".join(lines).strip(), zorder=3)


@p.picture(height=1.7, limits=(-1, 41, -3.5, 1.3))
def worlds(ax, step: int = p.ALL):
    """Draw the fifteen worlds in which two of six people are ill, and the one that is left."""
    for number, sick in enumerate(combinations(range(6), 2)):
        x, y = number % 5 * 8.2, -(number // 5) * 1.4
        merged = sick == (0, 1)  # more than half of the first street, or of the second
        at = x + np.arange(6) + (np.arange(6) >= 2) * 0.6
        shade = 1 if merged or step == 0 else 0.25
        p.people(
            ax, at, [y] * 6, [p.RED if i in sick else p.GREY for i in range(6)], 36, alpha=shade
        )
        if merged and step >= 1:
            p.box(ax, x - 0.8, y - 0.45, 7.2, 0.9, colour=p.RED)
    ax.text(-0.5, 0.9, "Ann, Bob | Cyd, Dan, Eve, Fay: who are the two ill people?")


@p.picture(cols=2, width_ratios=(1, 1.6))
def neighbouring_tables(axes):
    """Draw two neighbouring tables and the answers that a private count gives to them."""
    tables = ((1, "with Ann", ["Ann", "Bob", "Cyd"]), (0.42, "without", ["Bob", "Cyd"]))
    for top, title, names in tables:
        axes[0].text(0, top, title, weight="bold", va="center")
        for i, name in enumerate(names):
            colour = p.RED if name == "Ann" else p.DARK
            p.box(axes[0], 0, top - 0.19 - 0.12 * i, 0.8, 0.11, name, colour)
    axes[0].set(xlim=(0, 1), ylim=(0, 1.05))
    y = np.linspace(97, 104, 701)
    for count, look in ((101, "-"), (100, "--")):
        density = np.exp(-abs(y - count)) / 2
        axes[1].plot(y, density, look, marker="", label=f"true count {count}")
    axes[1].axis("on")
    title = "nowhere a ratio above $e^\\varepsilon$, ε = 1"
    axes[1].set(xlabel="answer", yticks=[], title=title)
    axes[1].legend(loc="upper left", fontsize=6)


@p.picture(limits=(-0.2, 9.7, -0.7, 3))
def composition(ax, step: int = p.ALL):
    """Draw how two safe releases leave one secret."""
    found = {"hospital A": ["flu", "cold", "gout"], "hospital B": ["flu", "acne", "asthma"]}
    for i, (title, secrets) in enumerate([*found.items(), ("both", ["flu"])][: step + 1]):
        p.box(ax, i * 3.4, 0, 2.6, 2.4, colour=p.RED if title == "both" else p.BLUE)
        ax.text(i * 3.4 + 1.3, 2.6, title, ha="center", weight="bold")
        for line, secret in enumerate(secrets):
            colour = p.RED if secret == "flu" and step >= 2 else "0"
            p.say(ax, i * 3.4 + 1.3, 1.9 - 0.7 * line, secret, color=colour)
    ax.text(0, -0.5, "Which illness may Ann have?")


@p.picture(frame="grid")
def shrinking(ax, step: int = p.ALL):
    """Draw how published numbers leave fewer and fewer sets of ages."""
    fit = np.array([(a, 102 - a) for a in range(31)])  # a mean of 44 and a median of 30
    adults, couple = fit[18:], fit[28:29]
    shown = [(fit, p.GREY, "mean and median"), (adults, p.BLUE, "all adults")]
    for points, colour, name in [*shown, (couple, p.RED, "a couple")][: step + 1]:
        p.people(ax, points[:, 0], points[:, 1], colour, 30, label=f"{name}: {len(points)}")
    ax.set(xlabel="youngest", ylabel="oldest", xlim=(-1, 31), ylim=(70, 104))
    ax.legend()


@p.picture(height=1.6, limits=(-0.9, 10, -1.3, 1.2))
def difference_attack(ax):
    """Draw two questions whose answers differ by one person."""
    p.people(
        ax, np.arange(10), [0] * 10, [p.RED if i == 7 else p.DARK for i in range(10)], size=130
    )
    for i in range(10):
        p.say(ax, i, 0, i, color="white", zorder=4)
    p.box(ax, -0.5, -0.45, 10, 0.9, colour=p.BLUE)
    p.box(ax, -0.65, -0.6, 7.15, 1.2, colour=p.GREEN)
    p.box(ax, 7.5, -0.6, 2.15, 1.2, colour=p.GREEN)
    # the service of the lesson, with its seed
    ill = ap.randomness.generator(0).choice(40, 12, replace=False)
    all_ten, others = np.sum(ill < 10), np.sum((ill < 10) & (ill != 7))
    found = "ill" if all_ten > others else "not ill"
    ax.text(-0.5, 0.85, f"all ten: {all_ten} are ill", color=p.BLUE)
    ax.text(-0.5, -1.05, f"all but person 7: {others} are ill", color=p.GREEN)
    last = f"{all_ten} - {others} = {all_ten - others}: person 7 is {found}"
    ax.text(9.6, -1.05, last, color=p.RED, ha="right")


@p.picture(frame="grid")
def leaning(ax):
    """Draw five values of Ann between a study's means and the population's."""
    population = np.array([0.5, 0.5, 0.2, 0.8, 0.5])
    means, ann = np.array([0.75, 0.25, 0.5, 0.75, 1.0]), np.array([1, 0, 1, 1, 1])
    closer = np.abs(ann - population) - np.abs(ann - means)
    x = np.arange(5)
    for i in x:
        p.arrow(
            ax, (i, population[i]), (i, means[i]), p.GREEN if closer[i] > 0 else p.RED, linewidth=2
        )
        p.say(ax, i + 0.12, (population[i] + means[i]) / 2, f"{closer[i]:+.2f}", ha="left")
    hollow = {"facecolors": "white", "edgecolors": p.DARK, "label": "population"}
    ax.scatter(x, population, s=50, zorder=3, **hollow)
    p.people(ax, x, means, p.BLUE, 50, label="study")
    ax.scatter(x, ann, marker="x", s=60, color="black", label="Ann", zorder=4)
    ax.set(xticks=x, xticklabels=[f"column {i + 1}" for i in x], yticks=[0, 1], xlim=(-0.4, 6.2))
    ax.legend(loc="center right")
    ax.set_title(f"together {closer.sum():+.2f}: nearer to the study")


@p.picture(limits=(-0.1, 10.1, -0.1, 2.6))
def shadow(ax):
    """Draw how a shadow model teaches the attacker a threshold."""
    victim = ("people\nof the victim", "victim", "confidence\nabout Ann")
    attacker = ("people\nof the attacker", "shadow", "in or out:\nknown")
    for y, colour, texts in ((1.5, p.RED, victim), (0, p.BLUE, attacker)):
        for x, text in zip((0, 3.5, 7.0), texts, strict=True):
            p.box(ax, x, y, 2.4, 0.95, text, colour)
        for x, word in ((2.4, "trains"), (5.9, "answers")):
            p.arrow(ax, (x, y + 0.47), (x + 1.1, y + 0.47))
            ax.text(x + 0.55, y + 0.62, word, ha="center", fontsize=7)
    p.arrow(ax, (8.2, 0.97), (8.2, 1.47), p.GREEN)
    p.say(ax, 8.4, 1.22, "threshold", color=p.GREEN, ha="left")


@p.picture(cols=2, width_ratios=(1.5, 1))
def two_coins(axes):
    """Draw the two coins of randomized response as a tree."""
    ax, bars = axes
    nodes = {"first coin": (1, 2), "the truth": (0, 1), "second coin": (2, 1)}
    nodes |= {"yes": (1.1, 0), "no": (2.9, 0)}
    edges = {("first coin", "the truth"): "heads", ("first coin", "second coin"): "tails"}
    edges |= {("second coin", "yes"): "heads", ("second coin", "no"): "tails"}
    for (start, end), word in edges.items():
        (a, b), (c, d) = nodes[start], nodes[end]
        ax.plot([a, c], [b, d], color=p.GREY, linestyle="-", marker="", zorder=1)
        ax.text((a + c) / 2, (b + d) / 2, f"{word} ½", ha="center", fontsize=7, color=p.RED)
    for name, place in nodes.items():
        p.say(ax, *place, name, bbox={"facecolor": "white", "edgecolor": p.BLUE})
    ax.set(xlim=(-0.6, 3.2), ylim=(-0.3, 2.3))
    bars.axis("on")
    bars.bar(["truth: yes", "truth: no"], [3 / 4, 1 / 4], color=[p.BLUE, p.GREY])
    bars.set(ylim=(0, 1), title="answers yes")
    bars.bar_label(bars.containers[0], fmt="%.2f")


@p.picture(height=1.6, limits=(-0.02, 1.35, -0.3, 0.8))
def budget(ax):
    """Draw a budget that answers use up: the sixth does not fit."""
    p.box(ax, 0, 0, 1, 0.5)
    look = {"alpha": 0.6, "edgecolor": "white", "linewidth": 1}
    for number, colour in enumerate((p.BLUE, p.GREEN, p.YELLOW, p.BLUE, p.GREEN)):
        p.box(ax, number / 5, 0, 0.2, 0.5, "0.2", facecolor=colour, **look)
    p.box(ax, 1.05, 0, 0.2, 0.5, "no", facecolor=p.RED, **look)
    ax.text(0, 0.65, "budget for all answers together: ε = 1")
    ax.text(0, -0.2, "spent: 1.0")


@p.picture(frame="plain")
def narrowing(ax):
    """Draw how five searches leave one person."""
    shares = {"school": 0.2, "surname": 0.01, "bicycle": 0.15, "bees": 0.05, "street": 0.004}
    fits = ap.randomness.generator(0).random((50_000, len(shares))) < [*shares.values()]
    fits[0] = True
    left = fits.cumprod(axis=1).sum(axis=0)
    ax.bar_label(ax.bar([*shares], left, color=[p.BLUE] * 4 + [p.RED]), fmt="{:,.0f}")
    ax.set(yscale="log", ylim=(0.5, 1e5), ylabel="people who fit all so far")


@p.picture(limits=(-0.2, 9.5, -0.5, 2.8))
def signatures(ax, step: int = p.ALL):
    """Draw groups of three years, two of which keep everybody's set of secrets."""
    years = [
        ["Ann, Bob\n{flu, gout}", "Cyd, Dan\n{acne, cold}"],
        ["Ann, Eve\n{flu, gout}", "Cyd, Fay\n{acne, cold}"],
        ["Ann, Cyd\n{flu, acne}", "Eve, Fay\n{gout, cold}"],
    ]
    for year, boxes in enumerate(years[: step + 1]):
        ax.text(year * 3.3 + 1.3, 2.55, f"year {year + 1}", ha="center", weight="bold")
        for line, text in enumerate(boxes):
            colour = p.RED if "Ann, Cyd" in text else p.BLUE
            p.box(ax, year * 3.3, 1.35 - 1.25 * line, 2.7, 1.0, text, colour)
    last = ", after year 3: {flu}" * (step >= 2)
    ax.text(0, -0.35, "Ann after years 1 and 2: {flu, gout}" + last)


if __name__ == "__main__":
    main()
