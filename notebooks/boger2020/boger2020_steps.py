"""The six steps of section 3.1 on every pair, as the text or the author's program takes them.

`anonpaper.klt` finds the groups of the text without looking at all pairs. The program is the
paper's reference [1], as of December 2020: github.com/SamBoger/Query-Accuracy-on-l-Diversity.
Where it departs from the text, a comment below says so; two of its departures are in `boger2020`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import anonpaper as ap
from anonpaper.compiled import inner, loop
from anonpaper.groups import dense_labels
from anonpaper.randomness import generator

_ROUNDING = 1e-9  # equal shares count as equal


#: What groups must meet; scales of squared gaps, weights of sets that differ; whether by program.
Rule = namedtuple("Rule", "k l theta scale weight program")

#: Clusters by number: rows; sums of places of numeric or two-valued attributes; values of others,
#: as bits; rows by sensitive value. Rows are clusters of one.
Clusters = namedtuple("Clusters", "size sums sets counts")


def grouped_by_pairs(
    m: ap.Microdata, k: int = 10, l: int = 5, theta: float = 0.3,
    weights: Mapping[str, float] | None = None, seed: int = 0, *, program: bool = False,
) -> tuple[ap.Partition, list[tuple[str, np.ndarray]]]:  # fmt: skip
    """Return the groups, and after every step its name and each row's cluster (-1: none)."""
    mean = np.array([a.numeric or a.size <= 2 for a in m.attributes])
    weight = np.array([float((weights or {}).get(name, 1)) for name in m.qi])
    width = np.array([a.width or 1.0 for a in m.attributes])
    if program:  # it divides numbers by the largest of them, where the text maps them to [0, 1]
        weight *= [(a.width / (a.positions[-1] or 1)) ** 2 if a.numeric else 1
                   for a in m.attributes]  # fmt: skip
    rule = Rule(k, l, theta + _ROUNDING, (weight / width**2)[mean], weight[~mean], program)
    places = [a.positions[codes] for a, codes in zip(m.attributes, m.codes.T, strict=True)]
    sums = np.column_stack([*places, np.zeros((m.n, 0))])[:, mean]
    sets = np.uint64(1) << m.codes[:, ~mean].astype(np.uint64)
    counts = np.eye(m.sensitive_attribute.size, dtype=np.intp)[m.sensitive_codes]
    rows = Clusters(np.ones(m.n, np.intp), sums, sets, counts)
    clusters = Clusters(*(np.zeros_like(part) for part in rows))
    # the program takes rows in the order of the file
    order = np.arange(m.n) if program else generator(seed).permutation(m.n)
    free, place, cluster_of = order.copy(), np.argsort(order), np.full(m.n, -1)
    taken, formed, repeats = [], 0, -1
    while len(free):  # step 4: rows that are left begin at step 1
        repeats += 1
        formed, queue = form_clusters(rule, rows, clusters, free, cluster_of, formed)
        taken.append(("1 and 2: clusters of l values", cluster_of.copy()))
        free = empty_queue(rule, rows, clusters, queue, cluster_of, formed)
        if not program:  # it keeps them in the order of its queue
            free = free[np.argsort(place[free])]
        taken.append(("3: the queue is served", cluster_of.copy()))
    merge_clusters(rule, clusters, cluster_of, formed)
    taken.append(("5: small clusters merge", cluster_of))
    info = {"repeats": repeats, "formed": formed}
    return ap.Partition(dense_labels(cluster_of), info=info, algorithm="all pairs"), taken


@loop
def form_clusters(rule, rows, clusters, free, cluster_of, formed):
    """Form clusters of l distinct values; return their number and the queue."""
    queue, left = [0 for _ in range(0)], len(free)
    while left:
        c, nearest, formed = formed, 0, formed + 1  # line 1: any row starts a cluster
        while True:
            r, left = free[nearest], left - 1
            free[nearest:left] = free[nearest + 1 : left + 1]
            if clusters.counts[c, rows.counts[r].argmax()]:  # line 2: its value is there
                queue.append(r)
            else:
                add(clusters, c, rows, r)
                cluster_of[r] = c
            if not left or np.count_nonzero(clusters.counts[c]) >= rule.l:
                break
            nearest, least = 0, np.inf
            for i in range(left):
                apart = distance(rule, clusters, c, rows, free[i])
                if apart < least:
                    nearest, least = i, apart
    return formed, np.array(queue, np.intp)


@loop
def empty_queue(rule, rows, clusters, queue, cluster_of, formed):
    """Give rows of the queue to their closest eligible clusters; return the others."""
    left = [0 for _ in range(0)]
    for r in queue[::-1] if rule.program else queue:  # the program begins at its end
        nearest, least, v = -1, np.inf, rows.counts[r].argmax()
        for c in range(formed):
            if clusters.size[c] < rule.k and is_eligible(rule, clusters, c, v):
                apart = distance(rule, rows, r, clusters, c)
                if apart < least:
                    nearest, least = c, apart
        if nearest < 0:
            left.append(r)
        else:
            add(clusters, nearest, rows, r)
            cluster_of[r] = nearest
    return np.array(left, np.intp)


@loop
def is_eligible(rule, clusters, c, v):
    """Line 3: whether theta allows a row of value v in a cluster."""
    count, size = clusters.counts[c, v] + 1, clusters.size[c]
    largest = max(clusters.counts[c].max(), count)
    if rule.program:  # it divides by the size without the row, and a new value always fits
        return count == 1 or largest / size < rule.theta - 2 * _ROUNDING
    return largest / (size + 1) <= rule.theta


@loop
def merge_clusters(rule, clusters, cluster_of, formed):
    """Merge clusters until all are satisfied; leave out those that no other can complete."""
    for number in range(formed):
        c = number
        while clusters.size[c] and not is_satisfied(rule, clusters.counts[c]):
            other = partner(rule, clusters, c, formed)
            if other < 0 and not rule.program:  # lines 5 and 6: it is not published
                cluster_of[cluster_of == c] = -1
                clusters.size[c] = 0
            if other >= 0:
                kept, gone = (c, other) if rule.program else (min(c, other), max(c, other))
                add(clusters, kept, clusters, gone)
                cluster_of[cluster_of == gone] = kept
                clusters.size[gone], c = 0, kept
            if rule.program:  # it merges each cluster once, and publishes it, satisfied or not
                break


@loop
def partner(rule, clusters, c, formed):
    """Line 5: the closest cluster that completes c, else that keeps theta, else -1."""
    good, fair, least_good, least_fair = -1, -1, np.inf, np.inf
    for other in range(formed):
        together = clusters.counts[c] + clusters.counts[other]
        if other == c or not clusters.size[other] or together.max() / together.sum() > rule.theta:
            continue
        apart = distance(rule, clusters, c, clusters, other)
        if apart < least_fair:
            fair, least_fair = other, apart
        if apart < least_good and is_satisfied(rule, together):
            good, least_good = other, apart
    return good if good >= 0 else fair


@loop
def is_satisfied(rule, counts):
    """Whether rows with these sensitive values meet k, l and theta."""
    size, largest = counts.sum(), counts.max()
    return size >= rule.k and np.count_nonzero(counts) >= rule.l and largest / size <= rule.theta


@inner
def distance(rule, a, i, b, j):
    """Section 4.4: the distance of cluster i of `a` and cluster j of `b`."""
    total, gain = 0.0, a.size[i] * b.size[j] / (a.size[i] + b.size[j])
    for u in range(len(rule.scale)):
        gap = a.sums[i, u] / a.size[i] - b.sums[j, u] / b.size[j]
        total += rule.scale[u] * gain * gap * gap
    for s in range(len(rule.weight)):
        if a.sets[i, s] != b.sets[j, s]:
            total += rule.weight[s]
    return total


@loop
def add(clusters, c, others, o):
    """Add cluster o of `others` to cluster c."""
    clusters.size[c] += others.size[o]
    clusters.sums[c] += others.sums[o]
    clusters.sets[c] |= others.sets[o]
    clusters.counts[c] += others.counts[o]


def ten_people() -> ap.Microdata:
    """Return the small table of all notebooks."""
    frame = pd.DataFrame({
        "age": [21, 22, 24, 30, 33, 35, 41, 47, 52, 58],
        "sex": list("FMMFFMFMMF"),
        "education": ["School" if known == "S" else "College" for known in "SSCCCSCSSC"],
        "occupation": ["Sales", "Sales", "Clerk", "Sales", "Clerk", "Repair", "Manager", "Repair",
                       "Sales", "Manager"],
    })  # fmt: skip
    return ap.Microdata(frame, ["age", "sex", "education"], "occupation")


def draw_steps(m: ap.Microdata, steps: list[tuple[str, np.ndarray]], seed: int = 0) -> Figure:
    """Draw a table of a few rows after every step, and at last as it is published."""
    final = ap.Partition(dense_labels(steps[-1][1]))
    published = ap.swap(m, final, seed=seed).frame.set_axis(m.frame.index[final.labels >= 0])
    shown = [(title, labels, m.frame) for title, labels in steps]
    shown.append(("published: values swapped in each group", steps[-1][1], published))
    of_people, panels = m.frame[[*m.qi, m.sensitive]].astype(str), []
    for title, labels, frame in shown:
        texts = frame[[*of_people]].astype(str).reindex(m.frame.index, fill_value="")
        colours = [ap.plots.PALE[c % len(ap.plots.PALE)] if c >= 0 else None for c in labels]
        look = {"bold": texts != of_people, "left": ["waits" if c < 0 else "" for c in labels]}
        panels.append((title, texts, [[colour] * texts.shape[1] for colour in colours], look))
    return ap.plots.tables(panels)
