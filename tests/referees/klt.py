"""The six steps of boger2020, section 3.1, row by row: what `klt` must agree with.

Written for reading and from the paper, not from the package: clusters are lists of rows, every
distance is computed anew from the rows, every search looks at everything. Ties go to the first
row in the order of the seed, and to the cluster formed first.
"""

from collections import Counter

import numpy as np

SLACK = 1e-9  # equality up to rounding counts as met


class RowByRow:
    def __init__(self, m, k, l, theta, weights, seed, withheld):
        self.k, self.l, self.theta, self.withheld, self.repeats = k, l, theta, withheld, 0
        self.parts = [
            (a, weights.get(a.name, 1.0), m.codes[:, j].tolist())
            for j, a in enumerate(m.attributes)
        ]
        self.order = np.random.default_rng(seed).permutation(m.n).tolist()
        self.sensitive = m.sensitive_codes.tolist()

    def distance(self, a, b):
        total, of_sets = 0.0, 0.0
        gain = len(a) * len(b) / (len(a) + len(b))
        for attribute, weight, codes in self.parts:
            codes_a, codes_b = ([codes[row] for row in rows] for rows in (a, b))
            if attribute.numeric or attribute.size <= 2:
                places = attribute.positions
                mean_a, mean_b = (
                    sum(float(places[code]) for code in of) / len(of) for of in (codes_a, codes_b)
                )
                gap = mean_a - mean_b
                total += weight / (places[-1] - places[0] or 1.0) ** 2 * gain * gap * gap
            else:
                of_sets += weight * (set(codes_a) != set(codes_b))
        return total + of_sets

    def counts(self, rows):
        return Counter(self.sensitive[row] for row in rows)

    def theta_holds(self, rows):
        return max(self.counts(rows).values()) / len(rows) <= self.theta + SLACK

    def all_hold(self, rows):
        enough = len(rows) >= self.k and len(self.counts(rows)) >= self.l
        return enough and self.theta_holds(rows)

    def run(self):
        unassigned, clusters = self.order, []
        while True:
            backup = self.form_clusters([*unassigned], clusters)
            unassigned = sorted(self.empty_backup(backup, clusters), key=self.order.index)
            if not unassigned:
                break
            self.repeats += 1
        self.formed = len(clusters)
        self.merge(clusters)
        labels = np.full(len(self.order), -1)
        for label, rows in enumerate(filter(None, clusters)):
            labels[rows] = label
        return labels

    def form_clusters(self, unassigned, clusters):
        backup = []
        while unassigned:
            cluster = [unassigned.pop(0)]
            clusters.append(cluster)
            while unassigned and len(self.counts(cluster)) < self.l:
                distances = [self.distance(cluster, [row]) for row in unassigned]
                row = unassigned.pop(int(np.argmin(distances)))
                is_new = self.sensitive[row] not in self.counts(cluster)
                (cluster if is_new else backup).append(row)
        return backup

    def empty_backup(self, backup, clusters):
        unassigned = []
        for row in backup:
            eligible = [c for c in clusters if len(c) < self.k and self.theta_holds([*c, row])]
            closest = min(eligible, key=lambda c: self.distance([row], c), default=unassigned)
            closest.append(row)
        return unassigned

    def merge(self, clusters):
        """Merge in place; a cluster that became part of another one, or is left out, is empty."""
        for formed in range(len(clusters)):
            c = formed
            while clusters[c] and not self.all_hold(clusters[c]):
                others = [o for o in range(len(clusters)) if o != c and clusters[o]]
                others.sort(key=lambda o: (self.distance(clusters[c], clusters[o]), o))
                good = [o for o in others if self.all_hold(clusters[c] + clusters[o])]
                fair = [o for o in others if self.theta_holds(clusters[c] + clusters[o])]
                choice = good + fair
                if not choice and self.withheld == "merge":
                    choice = [o for o in others if self.has_room(clusters[o], clusters[c])]
                if not choice:
                    clusters[c] = []
                    break
                older, younger = sorted((c, choice[0]))
                clusters[older] += clusters[younger]
                clusters[younger] = []
                c = older

    def has_room(self, rows, others):
        """Whether theta allows rows to have more of the most frequent value of the others."""
        counts = self.counts(others)
        most_frequent = min(counts, key=lambda v: (-counts[v], v))
        room = (self.theta + SLACK) * len(rows) - self.counts(rows)[most_frequent]
        return room > 0 or self.theta_holds(others)
