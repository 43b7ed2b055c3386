"""The six steps of section 3.1 on a few rows, written to be read, and a picture of each.

`clustering_steps` compares every pair of rows and clusters, as the text does. Its groups are those
of ``anonpaper.klt(..., withheld="drop")``.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from matplotlib.figure import Figure

from anonpaper import plots
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata
from anonpaper.publish import swap
from anonpaper.randomness import generator


def clustering_steps(
    m: Microdata, k: int, l: int, theta: float, seed: int
) -> list[tuple[str, list[list[int]], list[int]]]:
    """Return the name of each step, the clusters (rows in order) and the waiting rows after it."""
    value = [m.sensitive_attribute.values[code] for code in m.sensitive_codes]
    free = generator(seed).permutation(m.n).tolist()  # the order in which rows are taken
    clusters, steps, repeat = [], [], ""
    while free:
        new, queue = [], []
        while free:
            cluster = [free.pop(0)]  # step 1: any row starts a cluster
            new.append(cluster)
            while len({value[r] for r in cluster}) < l and free:  # step 2: nearest row first
                row = min(free, key=lambda r: distance(m, cluster, [r]))
                free.remove(row)
                is_new = value[row] not in {value[r] for r in cluster}
                (cluster if is_new else queue).append(row)
        clusters += new
        steps.append((f"1 and 2{repeat}: clusters of {l} values", copy(clusters), list(queue)))
        for row in queue:  # step 3: the closest eligible cluster takes a waiting row
            open_to = [c for c in clusters if len(c) < k]
            eligible = [c for c in open_to if share(value, [*c, row], row) <= theta]
            if eligible:
                min(eligible, key=lambda c: distance(m, [row], c)).append(row)
            else:
                free.append(row)
        free.sort(key=generator(seed).permutation(m.n).tolist().index)
        repeat = " again"  # step 4: the rows that are left begin at step 1
        steps.append(("3: the queue is served", copy(clusters), list(free)))
    clusters, left = merged(m, value, clusters, k, l, theta)
    return [*steps, ("5: small clusters merge", clusters, left)]


def merged(m, value, clusters, k, l, theta) -> tuple[list[list[int]], list[int]]:
    """Return the clusters after steps 5 and 6, and the rows that belong to none."""

    def largest(c):
        return max(share(value, c, row) for row in c)

    def satisfied(c):
        return len(c) >= k and len({value[r] for r in c}) >= l and largest(c) <= theta

    left, clusters = [], copy(clusters)
    while failing := [c for c in clusters if not satisfied(c)]:
        cluster = failing[0]
        others = [c for c in clusters if c is not cluster]
        good = [c for c in others if satisfied(c + cluster)]
        fair = good or [c for c in others if largest(c + cluster) <= theta]
        if not fair:  # step 6: these rows are not published
            clusters.remove(cluster)
            left += cluster
            continue
        partner = min(fair, key=lambda c: distance(m, cluster, c))
        older, younger = sorted([cluster, partner], key=lambda c: clusters.index(c))
        older += younger
        clusters.remove(younger)
    return clusters, left


def distance(m: Microdata, one: list[int], other: list[int]) -> float:
    """Return the distance of two clusters (section 4.4), all weights 1."""
    total, n1, n2 = 0.0, len(one), len(other)
    for j, attribute in enumerate(m.attributes):
        a, b = m.codes[one, j], m.codes[other, j]
        if attribute.numeric or attribute.size <= 2:
            means = attribute.positions[a].mean(), attribute.positions[b].mean()
            total += n1 * n2 / (n1 + n2) * (np.subtract(*means) / attribute.width) ** 2
        else:
            total += set(a) != set(b)
    return total


def share(value: list, cluster: list[int], row: int) -> float:
    """Return the share of a row's sensitive value in a cluster."""
    return Counter(value[r] for r in cluster)[value[row]] / len(cluster)


def copy(clusters: list[list[int]]) -> list[list[int]]:
    """Return the clusters as they are now."""
    return [list(cluster) for cluster in clusters]


def draw_steps(m: Microdata, steps: list, seed: int) -> Figure:
    """Draw a table of a few rows after every step, and at last as it is published."""
    _, groups, _ = steps[-1]
    labels = np.full(m.n, -1)
    for number, group in enumerate(groups):
        labels[group] = number
    published = swap(m, Partition(labels), seed=seed).frame.set_axis(m.frame.index)
    shown = [(*step, m.frame) for step in steps]
    shown.append(("published: values swapped in each group", groups, [], published))
    panels = []
    for title, clusters, waiting, frame in shown:
        colour = {row: plots.PALE[c] for c, cluster in enumerate(clusters) for row in cluster}
        texts, before = (part[[*m.qi, m.sensitive]].astype(str) for part in (frame, m.frame))
        colours = [[colour.get(row)] * texts.shape[1] for row in range(m.n)]
        waits = ["waits" if row in waiting else "" for row in range(m.n)]
        panels.append((title, texts, colours, {"bold": texts != before, "left": waits}))
    return plots.tables(panels)
