"""Plain readings of dewri2009: penalties, dispersion and achievement, one value at a time."""

from __future__ import annotations

from collections import Counter


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


def class_sizes(rows, sizes, bits):
    """The vector EC: for every row, how many rows are published like it."""
    parts = split_bits(bits, sizes)
    published = [tuple(map(sub_domain_number, parts, row)) for row in rows]
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
