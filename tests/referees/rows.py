"""Plain readings of the papers' algorithms, one row at a time: slow, obvious, independent.

They share no code with the package. Tests compare results, benchmarks compare times.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from referees.diverse import set_partitions


def is_eligible(values, l):
    """Whether at most one l-th of the values are equal."""
    counts = Counter(values)
    return not counts or len(values) >= l * max(counts.values())


class TupleMinimization:
    """TP of xiao2010 (sections 5.2 to 5.4), moving single rows between sets of rows.

    Ties go to the lowest sensitive value, then to the lowest QI tuple; of equal rows the last
    one leaves first.
    """

    def __init__(self, tuples, values, l):
        self.l = l
        self.values = list(values)
        self.groups = defaultdict(lambda: defaultdict(list))
        for row, (qi, value) in enumerate(zip(tuples, values, strict=True)):
            self.groups[tuple(qi)][value].append(row)
        self.groups = {qi: self.groups[qi] for qi in sorted(self.groups)}
        self.removed = []
        self.counts = Counter()  # h(R, v)
        self.rounds = 0

    def run(self):
        self.phase_one()
        self.lower_bound = self.l * max(self.counts.values(), default=0)
        if self.residue_is_eligible():
            return 1
        self.phase_two()
        if self.residue_is_eligible():
            return 2
        while not self.residue_is_eligible():
            self.rounds += 1
            self.round_of_phase_three()
        return 3

    def labels(self):
        surviving = [qi for qi in self.groups if self.size(qi)]
        label_of = {
            row: label
            for label, qi in enumerate(surviving)
            for rows in self.groups[qi].values()
            for row in rows
        }
        return [label_of.get(row, len(surviving)) for row in range(len(self.values))]

    # -- what the paper's words mean

    def size(self, qi):
        return sum(len(rows) for rows in self.groups[qi].values())

    def height(self, qi):
        return max((len(rows) for rows in self.groups[qi].values()), default=0)

    def pillars(self, qi):
        height = self.height(qi)
        return sorted(v for v, rows in self.groups[qi].items() if height and len(rows) == height)

    def residue_height(self):
        return max(self.counts.values(), default=0)

    def residue_pillars(self):
        height = self.residue_height()
        return {v for v, count in self.counts.items() if height and count == height}

    def residue_is_eligible(self):
        return len(self.removed) >= self.l * self.residue_height()

    def is_thin(self, qi):
        return self.size(qi) == self.l * self.height(qi)

    def is_conflicting(self, qi):
        return bool(self.residue_pillars() & set(self.pillars(qi)))

    def is_alive(self, qi):
        return self.size(qi) > 0 and not (self.is_thin(qi) and self.is_conflicting(qi))

    def move(self, qi, value):
        self.removed.append(self.groups[qi][value].pop())
        self.counts[value] += 1

    # -- the phases

    def phase_one(self):
        for qi in self.groups:
            while self.size(qi) < self.l * self.height(qi):
                self.move(qi, self.pillars(qi)[0])

    def phase_two(self):
        while not self.residue_is_eligible():
            alive = [qi for qi in self.groups if self.is_alive(qi)]
            held = {v for qi in alive for v, rows in self.groups[qi].items() if rows}
            if not held:
                return
            value = min(held, key=lambda v: (self.counts[v], v))
            self.move_from(next(qi for qi in alive if self.groups[qi].get(value)), value)

    def move_from(self, qi, value):
        """Move a value out of a group, or from a thin one all its pillars."""
        for moved in self.pillars(qi) if self.is_thin(qi) else [value]:
            self.move(qi, moved)

    def round_of_phase_three(self):
        uncovered = self.residue_pillars()
        conflicting = {
            qi: uncovered & set(self.pillars(qi)) for qi in self.groups if self.size(qi)
        }
        picked = []
        while uncovered:
            qi = min(conflicting, key=lambda qi: (len(uncovered & conflicting[qi]), qi))
            uncovered = uncovered & conflicting[qi]
            picked.append(qi)
        for qi in picked:
            for pillar in self.pillars(qi):
                self.move(qi, pillar)
        for qi in self.groups:
            while not self.residue_is_eligible() and self.is_alive(qi):
                held = [v for v, rows in self.groups[qi].items() if rows]
                self.move_from(qi, min(held, key=lambda v: (self.counts[v], v)))


def fewest_suppressed_rows(tuples, values, l):
    """Optimum of tuple minimization by trying every multiset that may stay, small tables only."""
    return _best_partition(
        list(zip(map(tuple, tuples), values, strict=True)),
        l,
        lambda rows: 0 if len({qi for qi, _ in rows}) == 1 else len(rows),
    )


def fewest_stars(tuples, values, l):
    """Optimum of star minimization over all set partitions, small tables only."""

    def stars(rows):
        columns = zip(*(qi for qi, _ in rows), strict=True)
        return len(rows) * sum(len(set(column)) > 1 for column in columns)

    return _best_partition(list(zip(map(tuple, tuples), values, strict=True)), l, stars)


def _best_partition(rows, l, cost):
    partitions = (
        [[rows[place] for place in block] for block in blocks]
        for blocks in set_partitions(range(len(rows)), 1)
    )
    return min(
        sum(map(cost, groups))
        for groups in partitions
        if all(is_eligible([v for _, v in group], l) for group in groups)
    )
