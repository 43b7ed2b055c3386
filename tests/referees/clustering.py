"""k-member, OKA and Mondrian row by row, as their papers' steps read, for small tables."""

import numpy as np


def k_member_rows(codes, k, first):
    """Clusters of row numbers by the steps of k-member with the number of stars as loss."""
    order = sorted(range(len(codes)), key=lambda i: (tuple(codes[i]), i))
    unassigned, clusters, last = list(order), [], first

    def stars(rows):
        part = codes[list(rows)]
        return len(rows) * int((part != part[0]).any(axis=0).sum())

    while len(unassigned) >= k:
        seed = max(unassigned, key=lambda i: ((codes[i] != codes[last]).sum(), -order.index(i)))
        cluster = [seed]
        unassigned.remove(seed)
        while len(cluster) < k:
            added = min(
                unassigned, key=lambda i: (stars([*cluster, i]) - stars(cluster), order.index(i))
            )
            cluster.append(added)
            unassigned.remove(added)
        clusters.append(cluster)
        last = cluster[-1]
    for i in unassigned:
        best = min(
            range(len(clusters)), key=lambda c: stars([*clusters[c], i]) - stars(clusters[c])
        )
        clusters[best].append(i)
    return clusters


def strict_mondrian_rows(codes, positions, k):
    """Groups of row numbers by strict median cuts, attributes of the widest range first."""

    def widths(rows):
        return [
            (p[codes[rows, j]].max() - p[codes[rows, j]].min()) / max(p[-1] - p[0], 1e-300)
            for j, p in enumerate(positions)
        ]

    def split(rows):
        wide = widths(rows)
        for j in sorted(range(len(positions)), key=lambda j: (-wide[j], j)):
            values = codes[rows, j]
            median = np.sort(values)[(len(rows) - 1) // 2]
            cuts = [values <= median, values < median]
            cuts.sort(key=lambda left: abs(len(rows) - 2 * left.sum()))
            for left in cuts:
                if min(left.sum(), (~left).sum()) >= k:
                    return split(rows[left]) + split(rows[~left])
        return [sorted(rows.tolist())]

    return split(np.arange(len(codes)))
