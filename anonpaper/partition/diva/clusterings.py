r"""Candidate clusterings of the target rows of one constraint, generated one by one.

Clusterings(sigma) of diva2021 are sets of disjoint clusters of target rows, each large enough to
be published, whose total lies in the constraint's bounds. There are exponentially many. Of at
most :data:`ENUMERATED` target rows all are listed. Of more, a bounded number is made, as
*bundles*: rows that agree on what the constraints name, to be divided into clusters of similar
rows once the colouring stands. That is enough for the search, which only asks how many rows carry
what.

A clustering of a constraint may consist of clusters that its neighbours have chosen already
(clusters of different constraints are disjoint or equal), so only what is still missing from the
lower bound is clustered anew.

Where a cluster would carry more than another constraint's upper bound allows, a second kind of
candidate suppresses the other constraint's value in it. The paper rejects such clusters; without
them some sets would have no solution although Definition 2.4 has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import lgamma

import numpy as np

from anonpaper.microdata import build_cells
from anonpaper.partition.diva.graph import Targets

__all__ = ["ENUMERATED", "Bundle", "Clusterings", "Privacy", "partial_partitions"]

#: The most free target rows of which all clusterings are listed: the 4140 of 8 rows at k = 2.
ENUMERATED = 8


@dataclass(frozen=True)
class Privacy:
    """What every published group must be: k rows, and l-diverse if asked for.

    Attributes
    ----------
    k : int
    l : int
        1 asks for no diversity.
    diversity : {"frequency", "distinct"}
    sensitive : numpy.ndarray, shape (n,), dtype int32, or None
        Sensitive codes; needed for l > 1.
    """

    k: int
    l: int = 1
    diversity: str = "frequency"
    sensitive: np.ndarray | None = None

    def holds(self, rows: np.ndarray) -> bool:
        """Whether these rows may be published as one group."""
        if len(rows) < self.k:
            return False
        if self.l == 1:
            return True
        counts = np.bincount(self.sensitive[rows])
        if self.diversity == "frequency":
            return bool(counts.max() * self.l <= len(rows))
        return np.count_nonzero(counts) >= self.l

    def choose(self, rows: np.ndarray, wanted: int) -> np.ndarray:
        """Return the first `wanted` rows, passing over some so that they are l-diverse.

        The result may fail to be diverse where the rows do not allow it.
        """
        if self.l == 1 or wanted == len(rows):
            return rows[:wanted]
        rank = _rank_among_equals(self.sensitive[rows])
        if self.diversity == "frequency":
            return rows[rank < wanted // self.l][:wanted]
        new_value = rows[rank == 0][: self.l]
        others = rows[~np.isin(rows, new_value)]
        return np.r_[new_value, others][:wanted]


def _rank_among_equals(values: np.ndarray) -> np.ndarray:
    """How many earlier entries equal each entry."""
    order = np.argsort(values, kind="stable")
    first = np.flatnonzero(np.r_[True, np.diff(values[order]) != 0])
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values)) - np.repeat(first, np.diff(np.r_[first, len(values)]))
    return rank


@dataclass(frozen=True, eq=False)
class Bundle:
    """Rows that are published in clusters which all carry the same constraints.

    Attributes
    ----------
    rows : numpy.ndarray of int
        Row numbers, at least k.
    starred : frozenset of int
        Quasi-identifiers that are suppressed in it though its rows may agree.
    adds : numpy.ndarray, shape (s,), dtype int64
        By how much it raises the published count of every constraint.
    divisible : bool
        Whether it is still to be divided into clusters, or is one cluster.
    """

    rows: np.ndarray
    starred: frozenset
    adds: np.ndarray
    divisible: bool


@dataclass
class Clusterings:
    """The state of a search, and the clusterings that are possible in it.

    Attributes
    ----------
    codes : numpy.ndarray, shape (n, d)
        The rows, in the order in which similar ones stand together.
    targets : Targets
    privacy : Privacy
    neighbours : list of set of int
        The graph.
    looks_ahead : bool
        Whether candidates keep what uncoloured constraints will need (see :meth:`is_open`).
    max_candidates : int
        The most candidates that are made of a larger set of target rows.
    """

    codes: np.ndarray
    targets: Targets
    privacy: Privacy
    neighbours: list
    looks_ahead: bool
    max_candidates: int
    free: np.ndarray = field(init=False)
    count: np.ndarray = field(init=False)
    coloured: dict = field(init=False)

    def __post_init__(self) -> None:
        n, s = self.targets.carries.shape
        self.free = np.ones(n, dtype=bool)
        self.count = np.zeros(s, np.int64)
        self.coloured = {}
        self._listed: dict[bytes, list] = {}
        self._finer = [[w for w in range(s) if self._is_finer(w, u)] for u in range(s)]
        self._signature = build_cells(
            np.asfortranarray(self.targets.carries.astype(np.int32)), [2] * s, None, 1
        )

    # -- the state -----------------------------------------------------------------------

    def add(self, v: int, clustering: list[Bundle]) -> None:
        """Colour a node: its rows are no longer free, its values count."""
        self.coloured[v] = clustering
        for bundle in clustering:
            self.free[bundle.rows] = False
            self.count += bundle.adds

    def remove(self, v: int) -> None:
        """Take the colour of a node back."""
        for bundle in self.coloured.pop(v):
            self.free[bundle.rows] = True
            self.count -= bundle.adds

    def is_consistent(self, clustering: list[Bundle]) -> bool:
        """Test the two conditions of section 3.2.

        Clusters are disjoint from those of other nodes, or equal to one of them, in which case
        they are not in `clustering` again; and no upper bound is exceeded.
        """
        rows = np.concatenate([bundle.rows for bundle in clustering] or [np.zeros(0, np.int64)])
        disjoint = bool(self.free[rows].all()) and len(np.unique(rows)) == len(rows)
        adds = sum((bundle.adds for bundle in clustering), np.zeros_like(self.count))
        return disjoint and bool((self.count + adds <= self.targets.high).all())

    def is_open(self, v: int) -> bool:
        """Whether an uncoloured node may still get a colour, as far as counting tells."""
        room = self.targets.high[v] - self.count[v]
        if room < self._reserve(v):
            return False
        if self._missing(v) == 0:
            return True
        coarser = [u for u, finer in enumerate(self._finer) if v in finer]
        room = min([room, *(self.targets.high[coarser] - self.count[coarser])])
        return room >= self._least(v) and len(self.free_targets(v)) >= self._least(v)

    def free_targets(self, v: int) -> np.ndarray:
        """Numbers of the target rows that are in no cluster yet."""
        return np.flatnonzero(self.targets.is_target[:, v] & self.free)

    def _missing(self, v: int) -> int:
        """How many rows a node needs beyond those that its neighbours' clusters carry."""
        return max(int(self.targets.low[v] - self.count[v]), 0)

    def _least(self, v: int) -> int:
        """The fewest rows that new clusters of a node must have in all."""
        return max(self._missing(v), self.privacy.k)

    def _is_finer(self, w: int, u: int) -> bool:
        """Whether whatever carries w carries u too, which names fewer attributes."""
        if not self.targets.columns[u] < self.targets.columns[w]:
            return False
        return bool(self.targets.carries[self.targets.is_target[:, w], u].all())

    def _reserve(self, u: int, carried: Sequence[int] = ()) -> int:
        """How many more rows of a node finer uncoloured ones need, not counting `carried`."""
        needed: dict[frozenset, int] = {}
        for w in self._finer[u]:
            if w not in self.coloured and w not in carried and self._missing(w):
                columns = self.targets.columns[w]  # of equal columns targets are disjoint
                needed[columns] = needed.get(columns, 0) + self._least(w)
        return max(needed.values(), default=0)

    def log_number(self, v: int) -> float:
        """Logarithm of the number of clusterings, to compare nodes by (MinChoice).

        Exact where they are listed; else that of the choices of as many rows as are missing.
        """
        if self._missing(v) == 0:
            return 0.0
        free, least = self.free_targets(v), self._least(v)
        if len(free) < least:
            return -np.inf
        if len(free) > ENUMERATED:
            return lgamma(len(free) + 1) - lgamma(least + 1) - lgamma(len(free) - least + 1)
        number = sum(1 for s in self._all(v, free) if self.is_consistent(s))
        return float(np.log(number)) if number else -np.inf

    # -- the candidates ------------------------------------------------------------------

    def of(self, v: int, rng: np.random.Generator | None = None) -> Iterator[list[Bundle]]:
        """Yield clusterings of a node, those first that leave its neighbours most choice.

        Parameters
        ----------
        v : int
            The node.
        rng : numpy.random.Generator, optional
            Given, clusterings come in random order and of random rows (DIVA-Basic).
        """
        if self._missing(v) == 0:
            yield []
            return
        free, least = self.free_targets(v), self._least(v)
        most = min(int(self.targets.high[v] - self.count[v]), len(free))
        if most < least:
            return
        if len(free) <= ENUMERATED:
            listed = self._all(v, free)
            if rng is not None:
                listed = [listed[i] for i in rng.permutation(len(listed))]
            yield from listed
            yield from ([self._carrying_only(v, b) for b in s] for s in listed)
            return
        if self.looks_ahead:
            least = max(least, min(self._reserve(v), most))
        for attempt in range(self.max_candidates):
            if rng is None:
                wanted = least + (most - least) * attempt // self.max_candidates
                clustering = self._filled(v, free, wanted, reverse=attempt % 2 == 1)
            else:
                clustering = self._drawn(v, free, int(rng.integers(least, most + 1)), rng)
            if clustering is not None:
                yield clustering
            if clustering is not None and rng is not None:
                yield [self._carrying_only(v, bundle) for bundle in clustering]

    def bundle(self, rows: np.ndarray, starred: frozenset = frozenset()) -> Bundle:
        """Return one cluster of these rows."""
        agrees = (self.codes[rows] == self.codes[rows[0]]).all(axis=0)
        agrees[list(starred)] = False
        label = np.full(len(self.free), -1, np.int64)
        label[rows] = 0
        return Bundle(rows, starred, self.targets.counts(agrees[None], label)[0], False)

    # -- few target rows: all clusterings --------------------------------------------------

    def _all(self, v: int, free: np.ndarray) -> list[list[Bundle]]:
        """List all clusterings of the free target rows.

        Those come first that overlap least, then those of fewest stars, then of lowest rows.
        """
        key = np.r_[v, free].tobytes() + self.count[[v]].tobytes()
        if key not in self._listed:
            least, most = self._missing(v), int(self.targets.high[v] - self.count[v])
            self._listed[key] = [
                [self.bundle(np.array(rows)) for rows in clusters]
                for clusters in partial_partitions(free.tolist(), self.privacy.k)
                if least <= sum(map(len, clusters)) <= most
                and all(self.privacy.holds(np.array(rows)) for rows in clusters)
            ]
        waiting = [u for u in self.neighbours[v] if u not in self.coloured]
        claimed = self.targets.is_target[:, waiting].sum(axis=1)
        return sorted(
            self._listed[key],
            key=lambda s: (
                sum(int(claimed[bundle.rows].sum()) for bundle in s),
                sum(self._stars(bundle) for bundle in s),
                [bundle.rows.tolist() for bundle in s],
            ),
        )

    def _stars(self, bundle: Bundle) -> int:
        differs = (self.codes[bundle.rows] != self.codes[bundle.rows[0]]).any(axis=0)
        return len(bundle.rows) * int(differs.sum())

    def _carrying_only(self, v: int, bundle: Bundle) -> Bundle:
        """The same rows, with all suppressed that other constraints name."""
        starred = self.targets.named - self.targets.columns[v]
        if bundle.divisible:
            return self._divisible(bundle.rows, starred)
        return self.bundle(bundle.rows, starred)

    # -- many target rows: some clusterings ------------------------------------------------

    def _filled(self, v: int, free: np.ndarray, wanted: int, reverse: bool) -> list[Bundle] | None:
        """Take `wanted` rows, signature by signature; None if they cannot be had.

        The *signature* of a row is the set of constraints that it carries. Rows of one signature
        are taken together: first what finer constraints need, then rows as they are, as far as
        all the others' bounds allow, then with the values suppressed of which there would be too
        many, and last rows of any signature with all suppressed that other constraints name.
        Signatures that few uncoloured neighbours claim come first, then larger ones.
        """
        count, missing = self.count.copy(), wanted
        taken: list[Bundle] = []
        left = self._by_signature(v, free, reverse)

        def take(i: int, at_most: int, suppresses: bool) -> int:
            bundle = self._take(v, left[i], at_most, missing, count, suppresses)
            if bundle is None:
                return 0
            taken.append(bundle)
            left[i] = left[i][~np.isin(left[i], bundle.rows)]
            count[:] += bundle.adds
            return len(bundle.rows)

        finer = [w for w in self._finer[v] if w not in self.coloured and self.looks_ahead]
        for w in sorted(finer, key=lambda w: (-len(self.targets.columns[w]), w)):
            for i, rows in enumerate(left):
                still = int(self.targets.low[w] - count[w])
                if still > 0 and len(rows) and self.targets.carries[rows[0], w]:
                    missing -= take(i, max(still, self.privacy.k), False)
        for suppresses in (False, True):
            for i in range(len(left)):
                missing -= take(i, missing, suppresses)
        if missing:
            starred = self.targets.named - self.targets.columns[v]
            rows = self.privacy.choose(np.sort(np.concatenate(left)), missing)
            if len(rows) < missing or not self.privacy.holds(rows):
                return None
            taken.append(self._divisible(rows, starred))
        return taken

    def _by_signature(self, v: int, free: np.ndarray, reverse: bool) -> list[np.ndarray]:
        waiting = [u for u in self.neighbours[v] if u not in self.coloured]
        signature = self._signature.tuple_of_row[free]
        claims = self._signature.tuples[:, waiting].sum(axis=1)
        order = np.argsort(signature, kind="stable")
        cuts = np.flatnonzero(np.diff(signature[order])) + 1
        groups = [free[part] for part in np.split(order, cuts)]
        sign = -1 if reverse else 1
        return sorted(
            groups,
            key=lambda rows: (
                int(claims[self._signature.tuple_of_row[rows[0]]]),
                -sign * len(rows),
                int(rows[0]),
            ),
        )

    def _take(
        self,
        v: int,
        rows: np.ndarray,
        at_most: int,
        missing: int,
        count: np.ndarray,
        suppresses: bool,
    ) -> Bundle | None:
        """Take as many rows of one signature as fit, or None; what stays missing is 0 or >= k."""
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
        return self._divisible(rows, starred)

    def _carried(self, rows: np.ndarray, starred: frozenset) -> list[int]:
        """The constraints that rows of one signature carry where some attributes are starred."""
        carried = np.flatnonzero(self.targets.carries[rows[0]])
        return [int(u) for u in carried if not self.targets.columns[u] & starred]

    def _fitting(self, u: int, wanted: int, count: np.ndarray, carried: Sequence[int]) -> int:
        """The most rows, up to `wanted`, by which the count of a constraint may grow.

        Whoever looks ahead leaves an uncoloured constraint satisfied, or room for a cluster, and
        leaves room for finer constraints that the rows do not carry.
        """
        room = int(self.targets.high[u] - count[u])
        if self.looks_ahead:
            room -= self._reserve(u, carried)
        fitting = min(wanted, room)
        waits = self.looks_ahead and u not in self.coloured
        if waits and count[u] + fitting < self.targets.low[u]:
            fitting = min(fitting, room - self.privacy.k)
        return max(fitting, 0)

    def _drawn(
        self, v: int, free: np.ndarray, wanted: int, rng: np.random.Generator
    ) -> list[Bundle] | None:
        """Draw `wanted` rows; rows of rare signatures are bundled together."""
        rows = np.sort(rng.choice(free, wanted, replace=False))
        groups = self._by_signature(v, rows, reverse=False)
        taken = [self._divisible(g, frozenset()) for g in groups if self.privacy.holds(g)]
        rare = [g for g in groups if not self.privacy.holds(g)]
        if rare:
            rest = np.sort(np.concatenate(rare))
            while not self.privacy.holds(rest) and taken:
                rest = np.sort(np.r_[rest, taken.pop().rows])
            if not self.privacy.holds(rest):
                return None
            starred = self.targets.named - self.targets.columns[v]
            taken.append(self._divisible(rest, starred))
        return taken

    def _divisible(self, rows: np.ndarray, starred: frozenset) -> Bundle:
        """Return rows whose clusters will all carry the same: of one signature, or starred."""
        adds = np.zeros(len(self.targets), np.int64)
        for u in range(len(self.targets)):
            if not self.targets.columns[u] & starred and self.targets.carries[rows, u].all():
                adds[u] = np.count_nonzero(self.targets.is_target[rows, u])
        return Bundle(rows, starred, adds, True)


def partial_partitions(items: list, k: int) -> Iterator[list[tuple]]:
    """Yield all non-empty sets of disjoint subsets of at least k items.

    Examples
    --------
    >>> list(partial_partitions(["t8", "t9", "t10"], 2))
    [[('t8', 't9')], [('t8', 't10')], [('t8', 't9', 't10')], [('t9', 't10')]]
    """
    for first in range(len(items) - k + 1):
        later = items[first + 1 :]
        for size in range(k - 1, len(later) + 1):
            for others in combinations(later, size):
                cluster = (items[first], *others)
                yield [cluster]
                remaining = [item for item in later if item not in others]
                for more in partial_partitions(remaining, k):
                    yield [cluster, *more]
