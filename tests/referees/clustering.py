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


def strict_mondrian_rows(m, allowed):
    """Groups of row numbers by strict median cuts, attributes of the widest range first.

    `allowed` says of the rows of a side whether they may be a part.
    """

    def width(rows, j):
        attribute, codes = m.attributes[j], m.codes[rows, j]
        if not attribute.ordered:
            return (len(set(codes)) - 1) / max(attribute.size - 1, 1)
        return np.ptp(attribute.positions[codes]) / (attribute.width or 1)

    def split(rows):
        wide = [width(rows, j) for j in range(m.d)]
        for j in sorted(range(m.d), key=lambda j: (-wide[j], j)):
            values = m.codes[rows, j]
            median = np.sort(values)[(len(rows) - 1) // 2]
            cuts = [values <= median, values < median]
            cuts.sort(key=lambda left: abs(len(rows) - 2 * left.sum()))
            for left in cuts:
                if left.any() and not left.all() and allowed(rows[left]) and allowed(rows[~left]):
                    return split(rows[left]) + split(rows[~left])
        return [sorted(rows.tolist())]

    return split(np.arange(m.n))
