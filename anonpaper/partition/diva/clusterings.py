"""Candidate clusterings of the target rows of one constraint, generated one by one.

There are exponentially many, and the paper does not say which to try. For at most
:data:`ENUMERATED` target rows all are listed. For more rows, a bounded number is made of
*bundles*: rows that agree on the attributes of the constraints, divided after the colouring. With
``stars``, candidates beyond the paper suppress the values of other constraints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

import numpy as np

from anonpaper.cells import distinct
from anonpaper.partition.diva.targets import Bundle, Privacy, Targets

__all__ = ["ENUMERATED", "Clusterings", "partial_partitions"]

#: The most free target rows of which all clusterings are listed: the 4140 of 8 rows at k = 2.
ENUMERATED = 8
#: Otherwise, so many clusterings are tried at a time.
CANDIDATES = 24


@dataclass
class Clusterings:
    """The current colouring V, and the clusterings that are possible with it."""

    codes: np.ndarray  # the rows, similar ones together
    targets: Targets
    privacy: Privacy
    neighbours: list  # the graph, a set for every node
    rng: np.random.Generator | None = None  # DIVA-Basic draws with it; else least conflict first
    stars: bool = True
    coloured: dict = field(init=False, default_factory=dict)  # V: node to clustering, in order
    free: np.ndarray = field(init=False)  # rows that are in none of them
    count: np.ndarray = field(init=False)  # target rows that they publish, per constraint

    def __post_init__(self) -> None:
        n, s = self.targets.carries.shape
        self.free = np.ones(n, dtype=bool)
        self.count = np.zeros(s, np.intp)
        self._finer = [[w for w in range(s) if self._is_finer(w, u)] for u in range(s)]
        self._signature, first, _ = distinct(self.targets.carries.T, [2] * s)
        self._carried_by = self.targets.carries[first]

    # -- the state -----------------------------------------------------------------------

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

    def is_open(self, v: int) -> bool:
        """Whether an uncoloured node may still get a colour, judged by counts."""
        room = self.targets.high[v] - self.count[v]
        if room < self._reserve(v):
            return False
        if self.missing(v) == 0:
            return True
        coarser = [u for u, finer in enumerate(self._finer) if v in finer]
        room = min([room, *(self.targets.high[coarser] - self.count[coarser])])
        return room >= self.least(v) and len(self.free_targets(v)) >= self.least(v)

    def may_go_on(self) -> bool:
        """Prune early: whether every uncoloured node may still get a colour."""
        return self.rng is not None or all(self.is_open(v) for v in self.uncoloured)

    def free_targets(self, v: int) -> np.ndarray:
        """Numbers of the target rows that are in no cluster yet."""
        return np.flatnonzero(self.targets.is_target[:, v] & self.free)

    def missing(self, v: int) -> int:
        """How many rows a node needs beyond those in its neighbours' clusters."""
        return max(int(self.targets.low[v] - self.count[v]), 0)

    def least(self, v: int) -> int:
        """The least total number of rows in new clusters of a node."""
        return max(self.missing(v), self.privacy.k)

    def _is_finer(self, w: int, u: int) -> bool:
        """Whether every carrier of w also carries u, which names fewer attributes."""
        if not self.targets.columns[u] < self.targets.columns[w]:
            return False
        return bool(self.targets.carries[self.targets.is_target[:, w], u].all())

    def _reserve(self, u: int, carried: Sequence[int] = ()) -> int:
        """How many more rows of a node finer uncoloured ones need, not counting `carried`."""
        needed: dict[frozenset, int] = {}
        for w in self._finer[u]:
            if w not in self.coloured and w not in carried and self.missing(w):
                columns = self.targets.columns[w]  # of equal columns targets are disjoint
                needed[columns] = needed.get(columns, 0) + self.least(w)
        return max(needed.values(), default=0)

    # -- the candidates ------------------------------------------------------------------

    def of(self, v: int) -> Iterator[list[Bundle]]:
        """Yield clusterings of a node: Clusterings(v.constraint, R) of Algorithm 4."""
        if self.missing(v) == 0:
            yield []
            return
        free, least = self.free_targets(v), self.least(v)
        most = min(int(self.targets.high[v] - self.count[v]), len(free))
        if most < least:
            return
        if len(free) <= ENUMERATED:
            listed = self.listed(v)
            if self.rng is not None:
                listed = [listed[i] for i in self.rng.permutation(len(listed))]
            yield from listed
            if self.stars:
                yield from (self._starred(v, clustering) for clustering in listed)
            return
        make = self._filled if self.rng is None else self._drawn
        for attempt in range(CANDIDATES):
            clustering = make(v, free, least, most, attempt)
            if clustering is not None:
                yield clustering
                if self.stars and self.rng is not None:
                    yield self._starred(v, clustering)

    def bundle(
        self, rows: np.ndarray, starred: frozenset = frozenset(), divisible: bool = False
    ) -> Bundle:
        """Return rows as one cluster or, if they carry the same, as several to be divided."""
        adds = np.zeros(len(self.targets), np.intp)
        for u, columns in enumerate(self.targets.columns):
            if not columns & starred and self.targets.carries[rows, u].all():
                adds[u] = np.count_nonzero(self.targets.is_target[rows, u])
        return Bundle(rows, starred, adds, divisible)

    def _starred(self, v: int, clustering: list[Bundle]) -> list[Bundle]:
        """The same clusters, with all attributes suppressed that only other constraints name."""
        starred = self.targets.named - self.targets.columns[v]
        return [self.bundle(b.rows, starred, b.divisible) for b in clustering]

    def _mixed(self, v: int, rows: np.ndarray) -> list[Bundle] | None:
        """Clusters of rows of several signatures; None if they would not be private."""
        # Either all is suppressed that only other constraints name, or the signatures are dealt
        # out to clusters, which then disagree on what sets them apart.
        if self.stars:
            mixed = self._starred(v, [Bundle(rows, frozenset(), self.count, divisible=True)])
        else:
            rows = rows[np.argsort(self._signature[rows], kind="stable")]
            number = max(len(rows) // self.privacy.k, 1)
            mixed = [self.bundle(rows[i::number]) for i in range(number)]
        return mixed if all(self.privacy.holds(bundle.rows) for bundle in mixed) else None

    # -- few target rows: all clusterings --------------------------------------------------

    def listed(self, v: int) -> list[list[Bundle]]:
        """List all clusterings of the free target rows of a node."""
        # Those come first that overlap least, then those of fewest stars, then of lowest rows.
        waiting = [u for u in self.neighbours[v] if u not in self.coloured]
        claims = self.targets.is_target[:, waiting].sum(axis=1)

        @cache
        def cluster(rows: tuple) -> tuple[Bundle, int, int] | None:
            rows = np.array(rows)
            if not self.privacy.holds(rows):
                return None
            differ = (self.codes[rows] != self.codes[rows[0]]).any(axis=0).sum()
            return self.bundle(rows), int(claims[rows].sum()), len(rows) * int(differ)

        found = []
        for clustering in partial_partitions(self.free_targets(v).tolist(), self.privacy.k):
            size = sum(map(len, clustering))
            if self.missing(v) <= size <= self.targets.high[v] - self.count[v]:
                clusters = [cluster(rows) for rows in clustering]
                if None not in clusters:
                    bundles, claimed, stars = zip(*clusters, strict=True)
                    found.append((sum(claimed), sum(stars), clustering, list(bundles)))
        return [bundles for *_, bundles in sorted(found, key=lambda entry: entry[:3])]

    # -- many target rows: some clusterings ------------------------------------------------

    def _filled(
        self, v: int, free: np.ndarray, least: int, most: int, attempt: int
    ) -> list[Bundle] | None:
        """Take rows signature by signature, more at every attempt; None if there are too few."""
        # The *signature* of a row is the set of constraints that it carries. First comes what
        # finer constraints need, then rows as they are, as far as all the others' bounds allow,
        # then those with values suppressed of which there would be too many, and last any rows.
        least = max(least, min(self._reserve(v), most))
        missing = least + (most - least) * attempt // CANDIDATES
        count = self.count.copy()
        taken: list[Bundle] = []
        left = self._by_signature(v, free, larger_first=attempt % 2 == 0)

        def take(i: int, at_most: int, suppresses: bool) -> int:
            bundle = self._take(v, left[i], at_most, missing, count, suppresses)
            if bundle is None:
                return 0
            taken.append(bundle)
            left[i] = left[i][~np.isin(left[i], bundle.rows)]
            count[:] += bundle.adds
            return len(bundle.rows)

        finer = [w for w in self._finer[v] if w not in self.coloured]
        for w in sorted(finer, key=lambda w: (-len(self.targets.columns[w]), w)):
            for i, rows in enumerate(left):
                still = int(self.targets.low[w] - count[w])
                if still > 0 and len(rows) and self.targets.carries[rows[0], w]:
                    missing -= take(i, max(still, self.privacy.k), False)
        for suppresses in (False, True) if self.stars else (False,):
            for i in range(len(left)):
                missing -= take(i, missing, suppresses)
        if missing:
            rows = self.privacy.choose(np.sort(np.concatenate(left)), missing)
            mixed = self._mixed(v, rows) if len(rows) == missing else None
            return None if mixed is None else taken + mixed
        return taken

    def _by_signature(self, v: int, rows: np.ndarray, larger_first: bool) -> list[np.ndarray]:
        """Split rows by signature, first those that few uncoloured neighbours claim."""
        waiting = [u for u in self.neighbours[v] if u not in self.coloured]
        signature = self._signature[rows]
        claims = self._carried_by[:, waiting].sum(axis=1)
        order = np.argsort(signature, kind="stable")
        groups = np.split(rows[order], np.flatnonzero(np.diff(signature[order])) + 1)
        claimed = [int(claims[self._signature[group[0]]]) for group in groups]
        sizes = [-len(group) if larger_first else len(group) for group in groups]
        ranks = [(c, size, int(g[0])) for c, size, g in zip(claimed, sizes, groups, strict=True)]
        return [groups[i] for i in sorted(range(len(groups)), key=ranks.__getitem__)]

    def _take(self, v, rows, at_most, missing, count, suppresses) -> Bundle | None:
        """Take as many rows of one signature as fit, or None; then 0 or >= k are still missing."""
        k = self.privacy.k
        wanted = min(len(rows), at_most, missing)
        if wanted < k:
            return None
        starred: frozenset = frozenset()
        if suppresses:
            carried = self._carried(rows, starred)
            scarce = [
                self.targets.columns[u] - self.targets.columns[v]
                for u in carried
                if u != v and self._fitting(u, wanted, count, carried) < wanted
            ]
            starred = frozenset(min(columns) for columns in scarce if columns)
        carried = self._carried(rows, starred)
        previous = None
        while wanted != previous:  # what fits one constraint may no longer fit another
            previous = wanted
            for u in carried:
                if u != v:
                    wanted = self._fitting(u, wanted, count, carried)
            if 0 < missing - wanted < k:
                wanted = missing - k
            if wanted < k:
                return None
        rows = self.privacy.choose(rows, wanted)
        if len(rows) < wanted or not self.privacy.holds(rows):
            return None
        return self.bundle(rows, starred, divisible=True)

    def _carried(self, rows: np.ndarray, starred: frozenset) -> list[int]:
        """The constraints that rows of one signature carry if some attributes are suppressed."""
        carried = np.flatnonzero(self.targets.carries[rows[0]])
        return [int(u) for u in carried if not self.targets.columns[u] & starred]

    def _fitting(self, u: int, wanted: int, count: np.ndarray, carried: Sequence[int]) -> int:
        """The largest number of rows, up to `wanted`, by which a constraint's count may grow."""
        # An uncoloured constraint is left satisfied, or with room for a cluster, and room stays
        # for finer constraints that the rows do not carry.
        room = int(self.targets.high[u] - count[u]) - self._reserve(u, carried)
        fitting = min(wanted, room)
        if u not in self.coloured and count[u] + fitting < self.targets.low[u]:
            fitting = min(fitting, room - self.privacy.k)
        return max(fitting, 0)

    def _drawn(
        self, v: int, free: np.ndarray, least: int, most: int, _attempt: int
    ) -> list[Bundle] | None:
        """Draw a number and that many rows; rows of rare signatures are taken together."""
        wanted = int(self.rng.integers(least, most + 1))
        rows = np.sort(self.rng.choice(free, wanted, replace=False))
        groups = self._by_signature(v, rows, larger_first=True)
        taken = [self.bundle(g, divisible=True) for g in groups if self.privacy.holds(g)]
        rare = [g for g in groups if not self.privacy.holds(g)]
        if not rare:
            return taken
        rest = np.sort(np.concatenate(rare))
        while not self.privacy.holds(rest) and taken:
            rest = np.sort(np.r_[rest, taken.pop().rows])
        mixed = self._mixed(v, rest)
        return None if mixed is None else taken + mixed


def partial_partitions(items: list, k: int) -> Iterator[list[tuple]]:
    """Yield all non-empty sets of disjoint subsets of at least k items."""
    for first in range(len(items) - k + 1):
        later = items[first + 1 :]
        for size in range(k - 1, len(later) + 1):
            for others in combinations(later, size):
                cluster = (items[first], *others)
                yield [cluster]
                remaining = [item for item in later if item not in others]
                for more in partial_partitions(remaining, k):
                    yield [cluster, *more]
