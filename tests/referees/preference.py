"""Plain readings of dewri2009: penalties, dispersion and achievement, one value at a time."""

from __future__ import annotations

import itertools
from collections import Counter
from math import lcm

import numpy as np
import pandas as pd


def sub_domain_number(bits, value):
    """Number of the sub-domain of a value: how many borders are kept before it."""
    return sum(bits[:value])


def split_bits(bits, sizes):
    """Cut a chromosome into the bits of its attributes."""
    parts, start = [], 0
    for size in sizes:
        parts.append([int(bit) for bit in bits[start : start + size - 1]])
        start += size - 1
    return parts


def published_rows(rows, sizes, bits):
    """Every row as the numbers of its sub-domains."""
    parts = split_bits(bits, sizes)
    return [
        tuple(sub_domain_number(part, value) for part, value in zip(parts, row, strict=True))
        for row in rows
    ]


def class_sizes(rows, sizes, bits):
    """The vector EC: for every row, how many rows are published like it."""
    published = published_rows(rows, sizes, bits)
    counts = Counter(published)
    return [counts[row] for row in published]


def nwp(rows, sizes, bits, weights):
    """Normalized weighted penalty; attributes of one value cost nothing."""
    parts = split_bits(bits, sizes)
    total = 0.0
    for row in rows:
        for value, part, size, weight in zip(row, parts, sizes, weights, strict=True):
            if size > 1:
                mine = sub_domain_number(part, value)
                joined = sum(sub_domain_number(part, other) == mine for other in range(size))
                total += weight * (joined - 1) / (size - 1)
    return total / len(rows)


def necd(rows, sizes, bits):
    """Normalized equivalence class dispersion."""
    ec = class_sizes(rows, sizes, bits)
    return 0.0 if len(rows) == 1 else (max(ec) - min(ec)) / (len(rows) - 1)


def ach(loss, bias, preference, epsilon=1e-6):
    """Achievement function."""
    of_loss, of_bias = 1 / (preference[0] + epsilon), 1 / (preference[1] + epsilon)
    w = of_loss / (of_loss + of_bias)
    return max(w * (loss + epsilon), (1 - w) * (bias + epsilon))


def loss_in_integers(rows, sizes, bits):
    """NWP with equal weights, times rows, attributes and the least common multiple of S - 1."""
    unit = lcm(*(size - 1 for size in sizes if size > 1))
    total = 0
    for j, part in enumerate(split_bits(bits, sizes)):
        borders = [0, *(b + 1 for b, bit in enumerate(part) if bit), sizes[j]]
        for low, high in itertools.pairwise(borders):
            here = int(((rows[:, j] >= low) & (rows[:, j] < high)).sum())
            total += here * (high - low - 1) * (unit // max(sizes[j] - 1, 1))
    return total


def none_loses_less(rows, sizes, k, loss):
    """Whether no k-anonymous recoding has a loss in integers below this: depth first, by pandas.

    Every border is kept, joined or open (1, 0, None). Sub-domains that leave fewer than k rows in
    a class of the kept borders of the other attributes are out; each attribute is then divided by
    itself. Divided is at the border whose joining costs most.
    """
    tuples, counts = np.unique(rows, axis=0, return_counts=True)
    unit = lcm(*(size - 1 for size in sizes if size > 1))
    price = [unit // max(size - 1, 1) for size in sizes]
    held = [np.bincount(rows[:, j], minlength=size).tolist() for j, size in enumerate(sizes)]

    def too_small(states, j):
        """The sub-domains (low, high) of j that no recoding of this node has."""
        parts = [np.cumsum([0, *(border == 1 for border in state)]) for state in states]
        others = [parts[i][tuples[:, i]] for i in range(len(sizes)) if i != j]
        frame = pd.DataFrame(dict(enumerate(others)) | {"at": tuples[:, j], "rows": counts})
        by = [*range(len(others)), "at"]
        table = frame.groupby(by)["rows"].sum().unstack("at", fill_value=0)
        until = np.zeros((len(table), sizes[j] + 1), int)
        for value in table:
            until[:, value + 1] = table[value]
        until = until.cumsum(axis=1)
        out = set()
        for low, high in itertools.combinations(range(sizes[j] + 1), 2):
            inside = until[:, high] - until[:, low]
            if ((inside > 0) & (inside < k)).any():
                out.add((low, high))
        return out

    def cheapest(state, j, out):
        """Least loss of a division of j, and its borders."""
        best = [(0, [])] + [None] * sizes[j]
        for high in range(1, sizes[j] + 1):
            if high < sizes[j] and state[high - 1] == 0:
                continue
            for low in range(high):
                crossed = 1 in state[low : high - 1]
                if best[low] is not None and not crossed and (low, high) not in out:
                    cost = best[low][0] + sum(held[j][low:high]) * (high - low - 1) * price[j]
                    if best[high] is None or cost < best[high][0]:
                        best[high] = (cost, [*best[low][1], high - 1])
        return None if best[-1] is None else (best[-1][0], best[-1][1][:-1])

    waiting = [[[None] * (size - 1) for size in sizes]]
    while waiting:
        states = waiting.pop()
        outs = [too_small(states, j) for j in range(len(sizes))]
        found = [cheapest(state, j, outs[j]) for j, state in enumerate(states)]
        if None in found or sum(cost for cost, _ in found) >= loss:
            continue
        dearest = None
        for j, (cost, borders) in enumerate(found):
            for border in borders:
                if states[j][border] is None:
                    without = [*states[j]]
                    without[border] = 0
                    other = cheapest(without, j, outs[j])
                    more = float("inf") if other is None else other[0] - cost
                    if dearest is None or more > dearest[0]:
                        dearest = (more, j, border)
        if dearest is None:
            return False  # these borders, kept alone, are k-anonymous and lose less
        _, j, border = dearest
        for choice in (0, 1):
            child = [[*state] for state in states]
            child[j][border] = choice
            waiting.append(child)
    return True
