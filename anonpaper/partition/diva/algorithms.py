"""DIVA: Algorithms 1, 3, 4 of diva2021; ``goes_beyond`` runs code that is not in the paper."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, count
from math import inf, lgamma, log
from typing import Literal

import networkx as nx
import numpy as np

from anonpaper import errors
from anonpaper.algorithm import algorithm
from anonpaper.constraints import DiversityConstraint, find_contradictions
from anonpaper.groups import Partition, group_bounds
from anonpaper.microdata import Microdata, check_microdata, handed_out
from anonpaper.partition.diva.clusterings import ENUMERATED, Clusterings
from anonpaper.partition.diva.targets import Bundle, Search, Targets, conflict, exact_clustering
from anonpaper.partition.k_member import k_member
from anonpaper.partition.mondrian import mondrian
from anonpaper.principles import FrequencyLDiversity, KAnonymity, require_diverse
from anonpaper.randomness import generator


@algorithm(
    "k-anonymity that keeps as many of every minority as constraints ask for",
    promises={"k": KAnonymity, "l": FrequencyLDiversity},
    publications=("suppress", "generalize"),
)
def diva(
    m: Microdata,
    constraints: Sequence[DiversityConstraint],
    k: int,
    strategy: Literal["max_fan_out", "min_choice", "basic"] = "max_fan_out",
    seed: int | np.random.Generator | None = 0,
    *,
    over_bound: Literal["star", "reject"] = "star",
    l: int | None = None,
    max_candidates: int = 1_000,
    max_seconds: float = 120.0,
) -> Partition:
    """Guarantee k-anonymity and every diversity constraint, or raise an error with the reason.

    The result has at most :math:`nd/k` times the fewest stars. ConstraintError if no table has
    both ("reject": none by the paper's rule), BudgetExceededError if that is open.

    Parameters
    ----------
    m, k, l, seed : see :mod:`anonpaper.partition`
    constraints : sequence of DiversityConstraint, on any role; secrets are never suppressed
    strategy : {"max_fan_out", "min_choice", "basic"}
        Colour next the constraint with most uncoloured neighbours, fewest clusterings, or any.
    over_bound : {"star", "reject"}
        The paper's rule rejects a cluster that exceeds a bound; "star" may suppress the value.
    max_candidates, max_seconds : clusterings tried in each component of the graph; seconds in all

    Returns
    -------
    Partition, with clusters first; for ``info`` see :mod:`anonpaper.partition.diva`

    References
    ----------
    diva2021, Algorithms 1 to 4; l is ours. O(s·n) for s constraints, at worst 24 to the power s.

    Examples
    --------
    >>> m, sigma = ap.examples.patients(), ap.examples.patients_constraints()
    >>> p = diva(m, sigma, k=2)
    >>> [[f"t{row + 1}" for row in rows] for rows in p.groups()]
    [['t7', 't8'], ['t9', 't10'], ['t5', 't6'], ['t1', 't2'], ['t3', 't4']]
    >>> all(c.holds(ap.suppress(m, p)) for c in sigma)
    True
    """
    k, table, rng = errors.check_integer("k", k, 2, check_microdata(m).n), m, generator(seed)
    m, cell = handed_out(table, rng)
    errors.check_choice("strategy", strategy, ("max_fan_out", "min_choice", "basic"))
    errors.check_choice("over_bound", over_bound, ("star", "reject"))
    max_candidates = errors.check_integer("max_candidates", max_candidates, 0)
    max_seconds = errors.check_number("max_seconds", max_seconds, 0, inf, open_low=True)
    if l is not None:
        l = require_diverse(m, l)
    constraints = errors.check_sequence("constraints", constraints, DiversityConstraint)
    if found := find_contradictions(m, constraints, k):
        text = "\n- ".join([f"no {k}-anonymous table satisfies the constraints:", *found])
        raise errors.ConstraintError(text)
    targets, goes_beyond = Targets.of(m, constraints, k, l), over_bound == "star"
    search = Search(max_candidates, max_seconds)
    run = Run(m, targets, strategy, rng, goes_beyond, search)
    p = run.unchanged() if goes_beyond else None
    with contextlib.suppress(*[errors.BudgetExceededError] * goes_beyond):
        if p is None:
            S = run.diverse_clustering(build_graph(m, constraints))  # Algorithm 1, line 1
            p = S if S is None else run.publish("search", *run.suppress(S))  # lines 3 to 6
    if p is None and goes_beyond:
        S = exact_clustering(targets, search)
        p = S if S is None else run.publish("exact test", *run.suppress(S))
    if p is not None:
        how = strategy if goes_beyond else f"{strategy}, over_bound = reject"
        name = f"DIVA ({how}), k = {k}" + (f", l = {l}" if l else "")
        return Partition.of_cells(
            table.cells, cell, p.labels, None, p.info, name, starred=p.starred
        )
    if goes_beyond:  # line 2: "relation does not exist"
        culprits = conflict(targets, search)
        reason = "satisfies together " + " and ".join(f"({constraints[v]})" for v in culprits)
    else:
        reason = (
            "exists by the paper's own rule, which suppresses a value only where a cluster "
            'differs in it: over_bound="star" decides whether one exists'
        )
    private = f"{k}-anonymous" + (f" and {l}-diverse" if l else "")
    error = errors.ConstraintError(f"no {private} table {reason}")
    error.info = search.info()
    raise error


@dataclass(frozen=True)
class Run:
    """One run of DIVA: the steps of Algorithm 1 on one table, for :func:`diva` and for timing."""

    m: Microdata
    targets: Targets
    strategy: str
    rng: np.random.Generator
    goes_beyond: bool
    search: Search

    def diverse_clustering(self, G: nx.Graph) -> list[Bundle] | None:
        """Find clusters that satisfy every constraint: DiverseClustering, Algorithm 3."""
        # A constraint on the sensitive attribute alone, or on what no row carries, holds or not
        # whatever is suppressed.
        G = G.subgraph(v for v in G if self.targets.names[v].any() and len(G.nodes[v]["rows"]))
        S: list[Bundle] = []
        # Components of the graph have no target row in common, and are coloured one by one.
        components = [sorted(nodes) for nodes in nx.connected_components(G)]
        for nodes, rng in zip(components, self.rng.spawn(len(components)), strict=True):
            rows = np.flatnonzero(self.targets.is_target[nodes].any(axis=0))
            rows = rows[np.lexsort((rows, self.m.cells.tuple_of_row[rows]))]  # similar together
            neighbours = [{nodes.index(u) for u in G[v]} for v in nodes]
            draw = rng if self.strategy == "basic" else None
            V = Clusterings(self.m.codes[rows], self.targets.take(nodes, rows), neighbours, draw)
            self.search.components += 1
            self.search.before = self.search.candidates_tried
            while not coloring(V, lambda V=V: next_node(V, self.strategy), V.of, self.search):
                if not V.is_cut or self.goes_beyond:  # all were seen, or a program decides
                    return None  # line 4
                V.is_cut, V.width = False, 16 * V.width
            self.search.order += tuple(nodes[v] for v in V.coloured)
            bundles = chain.from_iterable(V.coloured.values())  # line 3
            S += [bundle._replace(rows=rows[bundle.rows]) for bundle in bundles]
        return S

    def publish(self, found_by: str, labels: np.ndarray, starred: np.ndarray) -> Partition:
        """Add groups to clusters; BudgetExceededError if the other rows make none."""
        rest = np.flatnonzero(labels < 0)  # Algorithm 1, line 4
        if len(rest):
            if not self.targets.is_private(rest):  # a case missing in the paper
                raise self.search.undecided(f"{len(rest)} rows are left over, which make no group")
            labels[rest] = len(starred) + self.divide(self.m.take(rest), self.rng).labels  # line 5
        sizes, clusters = np.bincount(labels), len(starred)
        starred = np.pad(starred, ((0, len(sizes) - clusters), (0, 0)))
        least, greatest = group_bounds(np.ascontiguousarray(self.m.codes), labels, len(sizes))
        agrees = least == greatest
        before = sizes * (starred | ~agrees).sum(axis=1)
        starred |= integrate(self.targets, labels, agrees & ~starred, clusters)  # line 6
        if self.goes_beyond:
            starred &= ~restored(self.targets, labels, agrees, agrees & ~starred)
        after = sizes * (starred | ~agrees).sum(axis=1)
        info = self.search.info() | {
            "coloured_by": found_by,
            "diverse_clusters": clusters,
            "stars_by_phase": {
                "suppress": int(after[:clusters].sum()),
                "anonymize": int(before[clusters:].sum()),
                "integrate": int((after - before)[clusters:].sum()),
            },
        }
        return Partition(labels, info, starred=starred)

    def suppress(self, S: list[Bundle]) -> tuple[np.ndarray, np.ndarray]:
        """Label the clusters of S (-1 elsewhere); also return values to suppress if they agree."""
        labels, starred = np.full(self.m.n, -1, np.intp), []
        for bundle, rng in zip(S, self.rng.spawn(len(S)), strict=True):
            clusters = np.zeros(len(bundle.rows), np.intp)
            if bundle.divisible and len(bundle.rows) >= 2 * self.targets.k:
                clusters = self.divide(self.m.take(bundle.rows), rng).labels
            labels[bundle.rows] = len(starred) + clusters
            starred += [np.broadcast_to(bundle.starred, self.m.d)] * (clusters.max() + 1)
        return labels, np.array(starred, bool).reshape(-1, self.m.d)

    def divide(self, part: Microdata, rng: np.random.Generator) -> Partition:
        """Group rows by k-member, or by Mondrian if l is given: the paper's step Anonymize."""
        k, l = self.targets.k, self.targets.l
        return k_member(part, k, rng) if l is None else mondrian(part, k, l)

    def unchanged(self) -> Partition | None:
        """The table's own QI-groups, if they satisfy all constraints and are private."""
        own, targets = Partition(self.m.cells.tuple_of_row), self.targets
        counts = targets.is_target.sum(axis=1)
        holds = ((targets.low <= counts) & (counts <= targets.high)).all()
        if holds and all(map(targets.is_private, own.groups())):
            return self.publish("nothing to do", own.labels, np.zeros((0, self.m.d), bool))
        return None


def build_graph(m: Microdata, constraints: Sequence[DiversityConstraint]) -> nx.Graph:
    """Build the graph G of constraints: BuildGraph of Algorithm 3."""
    G, targets = nx.Graph(), [c.target_rows(m) for c in constraints]
    G.add_nodes_from((i, {"rows": np.flatnonzero(rows)}) for i, rows in enumerate(targets))
    for i, j in combinations(G, 2):
        if len(overlap := np.flatnonzero(targets[i] & targets[j])):
            G.add_edge(i, j, overlap=overlap)
    return G


def coloring(V: Clusterings, choose: Callable, clusterings: Callable, search: Search) -> bool:
    """Give every node of G a consistent clustering, with backtracking: Coloring, Algorithm 4."""
    if not V.uncoloured:
        return True  # line 1
    v = choose()  # line 2
    for S in clusterings(v):  # line 3
        search.try_candidate()
        if S is None or not is_consistent(S, V):  # line 4
            search.trace.append(("reject", v, S))
            continue
        V.add(v, S)  # lines 5 and 6
        search.trace.append(("colour", v, S))
        if V.may_go_on() and coloring(V, choose, clusterings, search):  # line 7
            return True
        V.remove(v)  # line 8
        search.trace.append(("backtrack", v, S))
        search.backtracks += 1
    return False  # line 9


def next_node(V: Clusterings, strategy: str) -> int:
    """Choose the node to colour next: NextNode of Algorithm 4; ties go to the first constraint."""
    # as in the paragraph "Selection Strategies"; a list in section 3.3 exchanges the names
    if strategy == "basic":
        return int(V.rng.choice(V.uncoloured))
    if strategy == "min_choice":
        return min(V.uncoloured, key=lambda v: (_log_number(V, v), v))
    waiting = set(V.uncoloured)
    return max(V.uncoloured, key=lambda v: (len(V.neighbours[v] & waiting), -v))


def _log_number(V: Clusterings, v: int) -> float:
    """Logarithm of the number of Clusterings(v.constraint, R), or of choices of enough rows."""
    if V.missing(v) == 0:
        return 0.0
    free, least = len(V.free_targets(v)), V.least(v)
    if free < least:
        return -inf
    if free > ENUMERATED:
        return lgamma(free + 1) - lgamma(least + 1) - lgamma(free - least + 1)
    number = sum(is_consistent(S, V) for S in V.listed(v))
    return log(number) if number else -inf


def is_consistent(S: list[Bundle], V: Clusterings) -> bool:
    """Test the two conditions of section 3.2: IsConsistent of Algorithm 4."""
    # Clusters are disjoint from those of other nodes, or equal to one of them, in which case they
    # are not in S again; and no upper bound is exceeded.
    disjoint = all(V.free[bundle.rows].all() for bundle in S)
    return disjoint and bool((V.count + sum(b.adds for b in S) <= V.targets.high).all())


# -- Integrate (diva2021, section 3.1): suppress values of the rest beyond upper bounds ----------


def integrate(targets: Targets, labels: np.ndarray, shown: np.ndarray, first: int) -> np.ndarray:
    """Choose values of groups after the first ones to suppress until no bound is exceeded."""
    # Constraint by constraint, that of the largest surplus first, groups are chosen whose rows sum
    # to the surplus or as little more as possible; in them one of the attributes that the
    # constraint names is suppressed, the one that relieves most other exceeded constraints.
    names, sizes, counts = targets.names, np.bincount(labels), targets.counts(shown, labels)
    allowed = targets.high - counts[:first].sum(axis=0)
    counts[:first] = 0
    starred = np.zeros_like(shown)
    while ((surplus := counts.sum(axis=0) - allowed) > 0).any():
        v = int(surplus.argmax())
        column = np.where(names[v], names[surplus > 0].sum(axis=0), -1).argmax()
        relieved = names[:, column]
        groups = np.flatnonzero(counts[:, v] > 0)
        relief = counts[groups][:, relieved & (surplus > 0)].sum(axis=1)
        groups = groups[np.argsort(-relief, kind="stable")]
        chosen = groups[_fewest_rows(counts[groups, v], sizes[groups], int(surplus[v]))]
        starred[chosen, column] = True
        counts[np.ix_(chosen, relieved)] = 0
    return starred


def _fewest_rows(adds: np.ndarray, sizes: np.ndarray, surplus: int) -> np.ndarray:
    """Choose groups that publish at least `surplus` target rows and have few rows in total."""
    # Where all rows are target rows no choice has fewer: it is a subset sum, solved over the
    # multiplicities of the sizes. Else those of the largest share of target rows are taken.
    if (adds < sizes).any():
        order = np.argsort(-adds / sizes, kind="stable")
        return order[: np.searchsorted(np.cumsum(adds[order]), surplus) + 1]
    # Bit b of reachable[i] says that some groups of the i smallest sizes sum to b.
    kinds, numbers = (found.tolist() for found in np.unique(sizes, return_counts=True))
    reachable, limit = [1], (1 << (surplus + kinds[-1])) - 1
    for size, number in zip(kinds, numbers, strict=True):
        sums = reachable[-1]
        for _ in range(number):
            sums |= sums << size & limit
        reachable.append(sums)
    chosen, total = [], surplus
    while not reachable[-1] >> total & 1:
        total += 1
    for size, before in zip(reversed(kinds), reversed(reachable[:-1]), strict=True):
        needed = next(n for n in count() if before >> (total - n * size) & 1)
        chosen += np.flatnonzero(sizes == size)[:needed].tolist()
        total -= needed * size
    return np.array(chosen)


def restored(targets: Targets, labels, agrees: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Show suppressed values again where groups agree and bounds allow it; larger groups first."""
    room = targets.high - targets.counts(shown, labels).sum(axis=0)
    if_shown = targets.counts(agrees, labels)
    order = np.argsort(-np.bincount(labels), kind="stable")
    for place, column in np.argwhere((agrees & ~shown)[order]):
        group = order[place]
        shown[group, column] = True
        gained = targets.names[:, column] & targets.shows(shown[group])
        fits = (if_shown[group, gained] <= room[gained]).all()
        room[gained] -= if_shown[group, gained] * fits
        shown[group, column] = fits
    return shown
