"""The six steps of boger2020, section 3.1, row by row: what `klt` must agree with.

Written for reading and from the paper, not from the package: clusters are lists of rows, every
distance is computed anew from the rows, every search looks at everything. Ties go to the first
row in the order of the seed, and to the cluster formed first.
"""

import numpy as np

SLACK = 1e-9  # equality up to rounding counts as met


class RowByRow:
    def __init__(self, m, k, l, theta, weights=None, distance=None, seed=0, withheld="merge"):
        self.m, self.k, self.l, self.theta = m, k, l, theta
        self.withheld = withheld
        weights, distance = dict(weights or {}), dict(distance or {})
        self.parts = []
        for j, attribute in enumerate(m.attributes):
            default = "univariate" if attribute.numeric or attribute.size <= 2 else "set"
            kind = distance.get(attribute.name, default)
            self.parts.append((kind, weights.get(attribute.name, 1.0), j, attribute))
        # Sums of floats depend on their order: univariate attributes, then sets, then functions.
        rank = {"univariate": 0, "set": 1}
        self.parts.sort(key=lambda part: 2 if callable(part[0]) else rank[part[0]])
        self.order = np.random.default_rng(seed).permutation(m.n).tolist()
        self.place = {row: place for place, row in enumerate(self.order)}
        self.sensitive = m.sensitive_codes.tolist()
        self.repeats = 0

    # -- distances

    def distance(self, a, b):
        total, of_pairs = 0.0, 0.0
        gain = len(a) * len(b) / (len(a) + len(b))
        for kind, weight, j, attribute in self.parts:
            codes_a = [int(self.m.codes[row, j]) for row in a]
            codes_b = [int(self.m.codes[row, j]) for row in b]
            if kind == "univariate":
                width = attribute.positions[-1] - attribute.positions[0] or 1.0
                mean_a = sum(float(attribute.positions[code]) for code in codes_a) / len(a)
                mean_b = sum(float(attribute.positions[code]) for code in codes_b) / len(b)
                gap = mean_a - mean_b
                total += weight / width**2 * gain * gap * gap
            elif kind == "set":
                total += weight * (set(codes_a) != set(codes_b))
            else:
                values = attribute.values
                of_pairs += weight * sum(
                    kind(values[x], values[y]) for x in codes_a for y in codes_b
                )
        return total + of_pairs / (len(a) * len(b))

    # -- conditions

    def counts(self, rows):
        counts = {}
        for row in rows:
            counts[self.sensitive[row]] = counts.get(self.sensitive[row], 0) + 1
        return counts

    def theta_holds(self, rows):
        return max(self.counts(rows).values()) / len(rows) <= self.theta + SLACK

    def all_hold(self, rows):
        enough = len(rows) >= self.k and len(self.counts(rows)) >= self.l
        return enough and self.theta_holds(rows)

    # -- steps

    def run(self):
        unassigned = list(self.order)
        clusters = []
        while True:
            backup = self.form_clusters(unassigned, clusters)
            unassigned = self.empty_backup(backup, clusters)
            if not unassigned:
                break
            unassigned.sort(key=self.place.get)
            self.repeats += 1
        self.formed = len(clusters)
        self.merge(clusters)
        labels = np.full(self.m.n, -1)
        for label, rows in enumerate(rows for rows in clusters if rows):
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
                if self.sensitive[row] in self.counts(cluster):
                    backup.append(row)
                else:
                    cluster.append(row)
        return backup

    def empty_backup(self, backup, clusters):
        unassigned = []
        for row in backup:
            eligible = [
                cluster
                for cluster in clusters
                if len(cluster) < self.k and self.theta_holds([*cluster, row])
            ]
            if eligible:
                min(eligible, key=lambda cluster: self.distance([row], cluster)).append(row)
            else:
                unassigned.append(row)
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
                clusters[older] = clusters[older] + clusters[younger]
                clusters[younger] = []
                c = older

    def has_room(self, rows, others):
        """Whether theta allows rows to have more of the most frequent value of the others."""
        if self.theta_holds(others):
            return True
        counts = self.counts(others)
        most_frequent = min(v for v in counts if counts[v] == max(counts.values()))
        return (self.theta + SLACK) * len(rows) > self.counts(rows).get(most_frequent, 0)
