"""The clusterings of one constraint's target rows, drawn lazily.

The *signature* of a row is the set of constraints that it carries. Of at most :data:`ENUMERATED`
rows all clusterings are listed. Of more rows, :data:`GOOD` come first, made signature by
signature; rows beyond a bound are mixed with as few others as hide the value. Then follow all.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, islice

import numpy as np

from anonpaper.cells import distinct
from anonpaper.partition.diva.targets import Bundle, Targets

ENUMERATED, GOOD = 8, 24  # at k = 2, 8 rows have 4140 clusterings


class Clusterings:
    """The current colouring V, and the clusterings that are possible with it."""

    def __init__(self, codes: np.ndarray, targets: Targets, neighbours: list, rng=None) -> None:
        # DIVA-Basic draws clusterings with a generator; else good ones come first.
        self.codes, self.targets, self.neighbours, self.rng = codes, targets, neighbours, rng
        self.coloured: dict[int, list[Bundle]] = {}  # V: node to clustering, in order
        self.free = np.ones(len(codes), dtype=bool)  # rows that are in no clustering of V
        self.count = np.zeros(len(targets), np.intp)  # target rows that these publish
        self.width, self.is_cut = GOOD, False  # clusterings of many rows; whether there were more
        # every target row of a finer constraint carries the other, which names fewer attributes
        within = (targets.names[:, None] <= targets.names).all(axis=2)
        self._finer = within & ~within.T
        for v, w in np.argwhere(self._finer):
            self._finer[v, w] = targets.carries[v][targets.is_target[w]].all()
        self._signature, _, _ = distinct(targets.carries, [2] * len(targets))

    def add(self, v: int, clustering: list[Bundle]) -> None:
        """Colour a node: its rows are used, its values count."""
        self.coloured[v] = clustering
        for bundle in clustering:
            self.free[bundle.rows] = False
            self.count += bundle.adds

    def remove(self, v: int) -> None:
        """Undo the colour of a node."""
        for bundle in self.coloured.pop(v):
            self.free[bundle.rows] = True
            self.count -= bundle.adds

    @property
    def uncoloured(self) -> list[int]:
        """The uncoloured nodes, in the order of the constraints."""
        return [v for v in range(len(self.targets)) if v not in self.coloured]

    def may_go_on(self) -> bool:
        """Prune early: whether every uncoloured node may still get a colour, judged by counts."""
        room = self.targets.high - self.count
        for v in self.uncoloured if self.rng is None else ():
            most = min(room[v], *room[self._finer[:, v]], len(self.free_targets(v)))
            if room[v] < self._reserve(v) or (self.missing(v) and most < self.least(v)):
                return False
        return True

    def free_targets(self, v: int) -> np.ndarray:
        """Numbers of the target rows that are in no cluster yet."""
        return np.flatnonzero(self.targets.is_target[v] & self.free)

    def missing(self, v: int) -> int:
        """How many rows a node needs beyond those in its neighbours' clusters."""
        return max(int(self.targets.low[v] - self.count[v]), 0)

    def least(self, v: int) -> int:
        """The least total number of rows in new clusters of a node."""
        return max(self.missing(v), self.targets.k)

    def _reserve(self, u: int, carried: np.ndarray | tuple = ()) -> int:
        """How many more rows of a node finer uncoloured ones need, not counting `carried`."""
        needed: Counter[bytes] = Counter()  # of equal columns targets are disjoint
        for w in np.flatnonzero(self._finer[u]):
            if w not in self.coloured and w not in carried and self.missing(w):
                needed[self.targets.names[w].tobytes()] += self.least(w)
        return max(needed.values(), default=0)

    def of(self, v: int) -> Iterator[list[Bundle] | None]:
        """Yield a node's clusterings, the paper's Clusterings(v.constraint, R); None: dead end."""
        if self.missing(v) == 0:
            yield []
            return
        free, least = self.free_targets(v), self.least(v)
        most = min(int(self.targets.high[v] - self.count[v]), len(free))
        if most < least:
            return
        if len(free) <= ENUMERATED:
            listed = self.listed(v)
            order = range(len(listed)) if self.rng is None else self.rng.permutation(len(listed))
            yield from (listed[i] for i in order)
            return
        groups = self._by_signature(free)
        for attempt in range(GOOD):
            wanted = least + (most - least) * attempt // GOOD
            if self.rng is not None:
                wanted, attempt = int(self.rng.integers(least, most + 1)), 0
                groups = self._by_signature(np.sort(self.rng.choice(free, wanted, replace=False)))
            yield self._good(v, groups, wanted, attempt)
        everything = self._all(free, self.missing(v), most) if self.width > GOOD else iter([[]])
        yield from islice(everything, self.width - GOOD)
        self.is_cut |= any(True for _ in everything)

    def bundle(self, rows: np.ndarray, divisible: bool = False) -> Bundle:
        """Return rows as one cluster or, if they carry the same, as several to be divided."""
        shown = self.targets.carries[:, rows].all(axis=1)
        adds = self.targets.is_target[:, rows].sum(axis=1) * shown
        return Bundle(rows, adds, divisible)

    def listed(self, v: int) -> list[list[Bundle]]:
        """List all clusterings of the free target rows of a node."""
        # Those come first that overlap least, then those of fewest stars, then of lowest rows.
        found = []

        @cache
        def cluster(rows: tuple) -> tuple[Bundle, int, int] | None:
            rows = np.array(rows)
            if not self.targets.is_private(rows):
                return None
            differ = (self.codes[rows] != self.codes[rows[0]]).any(axis=0).sum()
            return self.bundle(rows), int(self._claims(v, rows).sum()), len(rows) * int(differ)

        least, most = self.missing(v), self.targets.high[v] - self.count[v]
        for clustering in partial_partitions(self.free_targets(v).tolist(), self.targets.k):
            clusters = [cluster(rows) for rows in clustering]
            if least <= sum(map(len, clustering)) <= most and None not in clusters:
                bundles, claimed, stars = zip(*clusters, strict=True)
                found.append((sum(claimed), sum(stars), clustering, list(bundles)))
        return [bundles for *_, bundles in sorted(found, key=lambda entry: entry[:3])]

    def _claims(self, v: int, rows: np.ndarray | int) -> np.ndarray:
        """How many uncoloured neighbours of a node have each of some rows as a target."""
        waiting = [u for u in self.neighbours[v] if u not in self.coloured]
        return self.targets.is_target[:, rows][waiting].sum(axis=0)

    def _by_signature(self, rows: np.ndarray) -> list[np.ndarray]:
        """Group rows that carry the same constraints."""
        rows = rows[np.argsort(self._signature[rows], kind="stable")]
        return np.split(rows, np.flatnonzero(np.diff(self._signature[rows])) + 1)

    def _good(self, v: int, groups: list, wanted: int, attempt: int) -> list[Bundle] | None:
        """Take rows by signature, the most and the least claimed first in turn; None: too few."""
        turn, larger = (-1, 1)[attempt % 2], (-1, 1)[attempt // 2 % 2]
        groups.sort(key=lambda g: (turn * self._claims(v, g[0]), larger * len(g), g[0]))
        taken, left, count = [], [], self.count.copy()
        for group in map(self.targets.spread, groups) if self.targets.l else groups:
            number = self._fitting(v, group, wanted, count)
            if number and self.targets.is_private(group[:number]):
                taken.append(self.bundle(group[:number], divisible=True))
                count += taken[-1].adds
                wanted, group = wanted - number, group[number:]
            left.append(group)
        beyond = np.concatenate(left)[:wanted]
        if len(beyond) < wanted:
            return None
        return self._mixed(taken, beyond) if wanted else taken

    def _fitting(self, v: int, group: np.ndarray, wanted: int, count: np.ndarray) -> int:
        """How many rows of one signature may be published as they are: none, or at least k."""
        # An uncoloured constraint is left satisfied, or with room for a cluster, and room stays
        # for finer constraints that the rows do not carry. Then 0 or >= k rows are still wanted.
        k, carried = self.targets.k, np.flatnonzero(self.targets.carries[:, group[0]])
        fitting, previous = min(len(group), wanted), -1
        while fitting != previous:  # what fits one constraint may no longer fit another
            previous = fitting
            for u in carried[carried != v]:
                room = int(self.targets.high[u] - count[u]) - self._reserve(u, carried)
                fitting = min(fitting, room)
                if u not in self.coloured and count[u] + fitting < self.targets.low[u]:
                    fitting = min(fitting, room - k)
            if 0 < wanted - fitting < k:
                fitting = wanted - k
        return fitting if fitting >= k else 0

    def _mixed(self, taken: list[Bundle], beyond: np.ndarray) -> list[Bundle] | None:
        """Deal rows beyond a bound out to clusters that hide the value with few other rows."""
        k, options = self.targets.k, [(taken, [])]  # clusters that stay, and rows that are lent
        for i, (rows, *_) in enumerate(taken):
            lent = max(-(-len(beyond) // (k - 1)), k - len(beyond))
            lent = lent if len(rows) - lent >= k else len(rows)
            rest = [self.bundle(rows[lent:], divisible=True)] if lent < len(rows) else []
            options.append(([*taken[:i], *taken[i + 1 :], *rest], [rows[:lent]]))
        options += [([], [bundle.rows for bundle in taken])] * bool(taken)
        for kept, lent in options:
            pool = np.concatenate([beyond, *lent])
            pool = pool[np.argsort(self._signature[pool], kind="stable")]
            number = max(len(pool) // k, 1)
            mixed = [self.bundle(pool[i::number]) for i in range(number)]
            count = self.count + sum(bundle.adds for bundle in [*kept, *mixed])
            private = all(self.targets.is_private(b.rows) for b in [*kept, *mixed])
            if private and (count <= self.targets.high).all():
                return kept + mixed
        return None

    def _all(self, free: np.ndarray, least: int, most: int) -> Iterator[list[Bundle] | None]:
        """Yield all clusterings, rows of a kind being alike; None for dead ends."""
        # Clusters that show the same constraints count as much as one cluster of their rows.
        t = self.targets
        kinds = np.vstack([t.carries[:, free], t.is_target[:, free], t.sensitive[free]])
        kind = np.unique(kinds, axis=1, return_inverse=True)[1].ravel()

        def clusters(rows: list, total: int, before: list) -> Iterator[list[Bundle] | None]:
            # Every step yields something, so that the budget counts dead ends too.
            yield [] if total >= least else None
            for numbers in _numbers([*map(len, rows)], t.k, most - total):
                parts = [np.split(of, [n]) for of, n in zip(rows, numbers, strict=True)]
                some, later = zip(*parts, strict=True)
                bundle = self.bundle(np.concatenate(some))
                shown = t.carries[:, bundle.rows].all(axis=1).tolist()
                if shown <= before or not t.is_private(bundle.rows):
                    yield None
                    continue
                for more in clusters(later, total + sum(numbers), shown):
                    yield None if more is None else [bundle, *more]

        yield from clusters([free[kind == i] for i in range(kind.max() + 1)], 0, [])


def _numbers(left: list[int], least: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield all tuples of numbers up to those given, with a sum between two bounds."""
    if not left and least <= 0:
        yield ()
    for n in range(min(left[0], most), -1, -1) if left else ():
        if sum(left[1:]) >= least - n:
            for more in _numbers(left[1:], least - n, most - n):
                yield (n, *more)


def partial_partitions(items: list, k: int) -> Iterator[list[tuple]]:
    """Yield all non-empty sets of disjoint subsets of at least k items, which ascend."""
    for size in range(k, len(items) + 1):
        for cluster in combinations(items, size):
            yield [cluster]
            later = [item for item in items if item > cluster[0] and item not in cluster]
            for more in partial_partitions(later, k):
                yield [cluster, *more]
