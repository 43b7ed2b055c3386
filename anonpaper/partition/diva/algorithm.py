r"""DIVA: k-anonymous tables that keep the diversity asked for.

Given a table R, k, and a set of diversity constraints, DIVA (Algorithm 1)

1. finds a *diverse clustering*: disjoint clusters of at least k rows which, each suppressed where
   its rows differ, carry as many of the target values as every constraint wants
   (DiverseClustering: the constraints are the nodes of a graph, their clusterings its colours);
2. suppresses these clusters (R_Sigma);
3. anonymizes the rows in none of them by any other algorithm (R_k);
4. integrates: suppresses what R_k publishes beyond upper bounds.

*Guarantee.* The result is k-anonymous and satisfies every constraint, or an error is raised: a
ConstraintError if no such table exists, which names constraints that exclude each other, or a
BudgetExceededError if the search was cut short. A table that satisfies all as it is, is returned
as it is, without a star; else an optimal one has at least k stars, so that the number of stars is
at most :math:`nd/k` times the optimum. It is far closer in practice: on random tables of up to
eight rows, against exhaustive search, the tests hold it to five times the optimum, and on average
it is 1.2 times.

Beyond the paper: l-diversity as the privacy model; values suppressed in clusters that would
exceed another constraint's upper bound; an exact test of existence where the search ends without
a solution (:mod:`anonpaper.partition.diva.existence`); rows that are left over, fewer than k, join
clusters; components of the graph in parallel.

Source: M. Milani, Y. Huang, F. Chiang, *Preserving diversity in anonymized data*, EDBT 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

import networkx as nx
import numpy as np

from anonpaper.algorithm import algorithm
from anonpaper.constraints import DiversityConstraint, require_satisfiable
from anonpaper.errors import ConstraintError, ParameterError, check_integer, check_number
from anonpaper.groups import Partition, dense_labels
from anonpaper.microdata import Microdata
from anonpaper.partition.diva.clusterings import Bundle, Clusterings, Privacy
from anonpaper.partition.diva.colouring import STRATEGIES, Budget, Search, next_node
from anonpaper.partition.diva.existence import find_plan, smallest_conflict
from anonpaper.partition.diva.graph import Targets, build_graph
from anonpaper.partition.diva.integrate import restorable, surplus_to_star
from anonpaper.partition.k_member import k_member
from anonpaper.partition.mondrian import mondrian, require_diverse
from anonpaper.principles import FrequencyLDiversity, KAnonymity
from anonpaper.randomness import generator

__all__ = ["diva"]


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
    anonymize: Callable[[Microdata], Partition] | None = None,
    seed: int | np.random.Generator = 0,
    *,
    l: int | None = None,
    diversity: Literal["frequency", "distinct"] = "frequency",
    max_backtracks: int = 10_000,
    max_seconds: float = 120.0,
    max_candidates: int = 24,
    workers: int = 1,
) -> Partition:
    """Group and suppress rows so that the release is k-anonymous and diverse.

    Parameters
    ----------
    m : Microdata
        The table R, n rows.
    constraints : sequence of DiversityConstraint
        The set Sigma, on quasi-identifiers or the sensitive attribute, which is never suppressed.
    k : int
        Smallest group size, from 2 to n.
    strategy : {"max_fan_out", "min_choice", "basic"}
        Which constraint is coloured next: the one with most uncoloured neighbours, the one with
        fewest clusterings left, or any.
    anonymize : callable, optional
        Groups the rows that no constraint needs: any function from a Microdata to a Partition
        whose groups have k rows and, if asked for, are l-diverse. By default
        :func:`~anonpaper.partition.k_member.k_member`; with l,
        :func:`~anonpaper.partition.mondrian.mondrian`.
    seed : int or numpy.random.Generator
        Draws what "basic" draws, and starts k-member.
    l : int, optional
        Also require l-diversity of every group, from 2 to the largest feasible l.
    diversity : {"frequency", "distinct"}
        Which l-diversity.
    max_backtracks, max_seconds : int, float
        Budget: colours that may be taken back in each component of the graph, and seconds for
        the search and the exact test together.
    max_candidates : int
        The most clusterings of one constraint that are tried at a time if it has more than 8 free
        target rows, and the most clusters that a left-over row is tried in.
    workers : int
        Threads that colour connected components of the graph; the result does not depend on it.

    Returns
    -------
    Partition
        First the clusters of the diverse clustering, then the groups of the rest. ``info`` holds

        - ``order``: the constraints in the order in which they were coloured;
        - ``nodes_coloured``, ``candidates_tried``, ``backtracks``: of the search;
        - ``coloured_by``: ``"search"``, ``"exact test"``, or ``"nothing to do"`` for a table that
          satisfies all as it is;
        - ``diverse_rows``, ``diverse_clusters``: size of the diverse clustering;
        - ``stars_by_phase``: of ``suppress``, ``anonymize`` and ``integrate``, the last being the
          values that Integrate suppressed;
        - ``components``: connected components of the graph.

    Raises
    ------
    ConstraintError
        No k-anonymous table satisfies the constraints, two have the same target, or a target is
        unknown; the message names the culprits.
    InfeasibleError
        The table as a whole is not l-diverse.
    BudgetExceededError
        Backtracks or seconds were used up before it was known whether a table exists.
    ParameterError
        k, l, strategy, budget or workers are out of range, or `anonymize` returned groups that
        are too small or not diverse.
    ColumnError
        l is given and the table has no sensitive attribute.

    Notes
    -----
    Linear in n for the search as long as nothing is taken back; at worst it tries max_candidates
    clusterings to the power of the number of constraints, within the budget. The clusters are
    made by k-member on the rows chosen, with its cost.

    References
    ----------
    diva2021, Algorithms 1 to 4.

    Examples
    --------
    >>> import anonpaper as ap
    >>> m, sigma = ap.examples.patients(), ap.examples.patients_constraints()
    >>> p = diva(m, sigma, k=2)
    >>> [[f"t{row + 1}" for row in rows] for rows in p.groups()]
    [['t7', 't8'], ['t9', 't10'], ['t5', 't6'], ['t1', 't2'], ['t3', 't4']]
    >>> all(c.holds(ap.suppress(m, p)) for c in sigma)
    True
    """
    k = check_integer("k", k, 2, m.n)
    if strategy not in STRATEGIES:
        raise ParameterError(f"strategy must be one of {STRATEGIES}, got {strategy!r}")
    budget = Budget(
        check_integer("max_backtracks", max_backtracks, 0),
        check_number("max_seconds", max_seconds, 0, np.inf, open_low=True),
    )
    max_candidates = check_integer("max_candidates", max_candidates, 1)
    workers = check_integer("workers", workers, 1)
    privacy = _privacy(m, k, l, diversity)
    constraints = list(constraints)
    require_satisfiable(m, constraints, k)

    rng = generator(seed)
    targets = Targets.of(m, constraints)
    run = _Run(m, targets, privacy, strategy, anonymize, rng, max_candidates, workers)
    if (unchanged := run.table_as_it_is()) is not None:
        return unchanged
    searched = run.colour_components(build_graph(m, constraints), budget)
    if searched is not None:
        released = run.release(searched)
        if released is not None:
            return released
    plan = find_plan(targets, privacy, budget)
    if plan is None:
        culprits = smallest_conflict(targets, privacy, budget)
        raise ConstraintError(
            f"no {k}-anonymous{'' if l is None else f' and {l}-diverse'} table satisfies together "
            + " and ".join(f"({constraints[v]})" for v in culprits)
        )
    not_counted = np.zeros(0, np.int64)
    bundles = [Bundle(rows, starred, not_counted, divisible=True) for rows, starred in plan.parts]
    return run.release(_Coloured(bundles, "exact test", *run.effort))


def _privacy(m: Microdata, k: int, l: int | None, diversity: str) -> Privacy:
    if l is None:
        return Privacy(k)
    return Privacy(k, require_diverse(m, l, diversity), diversity, m.sensitive_codes)


@dataclass(frozen=True)
class _Coloured:
    """A diverse clustering, before its bundles are divided, and how it was found."""

    bundles: list[Bundle]
    by: str
    order: tuple
    tried: int
    backtracks: int
    components: int


class _Run:
    """One run of DIVA: the steps of Algorithm 1 on one table."""

    def __init__(self, m, targets, privacy, strategy, anonymize, rng, max_candidates, workers):
        self.m, self.targets, self.privacy = m, targets, privacy
        self.strategy, self.rng = strategy, rng
        self.max_candidates, self.workers = max_candidates, workers
        self.anonymize = anonymize or (lambda part: self.divide(part, rng))
        self.effort = ((), 0, 0, 0)

    def divide(self, part: Microdata, rng: np.random.Generator) -> Partition:
        """Group rows by the package's own algorithm for the privacy asked for."""
        if self.privacy.l == 1:
            return k_member(part, self.privacy.k, rng)
        return mondrian(part, self.privacy.k, self.privacy.l, diversity=self.privacy.diversity)

    # -- DiverseClustering ---------------------------------------------------------------

    def table_as_it_is(self) -> Partition | None:
        """Return the table's own QI-groups if they satisfy everything."""
        labels = self.m.cells.tuple_of_row.astype(np.int64)
        groups = _Groups(self, labels)
        counts = groups.counts().sum(axis=0)
        satisfied = ((counts >= self.targets.low) & (counts <= self.targets.high)).all()
        if not satisfied or not groups.are_private():
            return None
        no_stars = {"suppress": 0, "anonymize": 0, "integrate": 0}
        info = self._info(_Coloured([], "nothing to do", (), 0, 0, 0), 0, 0, no_stars)
        return Partition(labels, info, self._name(), starred=groups.starred)

    def colour_components(self, graph: nx.Graph, budget: Budget) -> _Coloured | None:
        """Colour every connected component; None if one could not be coloured."""
        # A constraint on the sensitive attribute alone holds or not whatever is suppressed.
        searched = graph.subgraph(v for v in graph if self.targets.columns[v])
        components = [sorted(part) for part in nx.connected_components(searched)]
        rngs = self.rng.spawn(len(components))
        jobs = [(graph, *job, budget) for job in zip(components, rngs, strict=True)]
        results = self._in_threads(self._colour_component, jobs)
        self.effort = (
            sum((result[0] for result in results), ()),
            sum(result[1] for result in results),
            sum(result[2] for result in results),
            len(components),
        )
        if any(result[3] is None for result in results):
            return None
        return _Coloured([b for result in results for b in result[3]], "search", *self.effort)

    def _colour_component(self, graph, nodes, rng, budget):
        """Return order, candidates tried, backtracks and bundles (None: no colouring found)."""
        rows = np.unique(np.concatenate([graph.nodes[v]["rows"] for v in nodes]))
        rows = rows[np.lexsort((rows, self.m.cells.tuple_of_row[rows]))]  # similar ones together
        place = {v: i for i, v in enumerate(nodes)}
        privacy = self.privacy
        if privacy.l > 1:
            privacy = Privacy(privacy.k, privacy.l, privacy.diversity, privacy.sensitive[rows])
        state = Clusterings(
            codes=self.m.codes[rows],
            targets=self.targets.take(rows, nodes),
            privacy=privacy,
            neighbours=[{place[u] for u in graph[v] if u in place} for v in nodes],
            looks_ahead=self.strategy != "basic",
            max_candidates=self.max_candidates,
        )
        search = Search(
            state,
            choose_node=lambda: next_node(state, self.strategy, rng),
            candidates=lambda v: state.of(v, rng if self.strategy == "basic" else None),
            budget=replace(budget, backtracks=0),
        )
        if not search.colour():
            return (), search.tried, search.backtracks, None
        order = tuple(nodes[v] for v in state.coloured)
        bundles = [
            Bundle(rows[bundle.rows], bundle.starred, bundle.adds, bundle.divisible)
            for clustering in state.coloured.values()
            for bundle in clustering
        ]
        return order, search.tried, search.backtracks, bundles

    # -- Suppress, Anonymize, Integrate ----------------------------------------------------

    def release(self, coloured: _Coloured) -> Partition | None:
        """Turn a diverse clustering into the published groups; None if rows cannot be placed."""
        labels, starred = self._clusters(coloured.bundles)
        diverse_rows, n_clusters = int(np.count_nonzero(labels >= 0)), len(starred)
        rest = np.flatnonzero(labels < 0)
        if len(rest) and not self.privacy.holds(rest):
            if coloured.by != "search" or not self._join_clusters(rest, labels, starred):
                return None
            rest = rest[:0]
        if len(rest):
            labels[rest] = n_clusters + self._anonymized(rest)
            n_others = labels.max() + 1 - n_clusters
            starred = np.vstack([starred, np.zeros((n_others, self.m.d), dtype=bool)])
        groups = _Groups(self, labels, starred)
        stars_of_rest = groups.stars()[n_clusters:].sum()
        groups.starred[n_clusters:] |= self._surplus(groups, n_clusters)
        groups.starred &= ~self._restorable(groups)
        stars = groups.stars()
        by_phase = {
            "suppress": int(stars[:n_clusters].sum()),
            "anonymize": int(stars_of_rest),
            "integrate": int(stars[n_clusters:].sum() - stars_of_rest),
        }
        info = self._info(coloured, diverse_rows, n_clusters, by_phase)
        return Partition(labels, info, self._name(), starred=groups.starred)

    def _clusters(self, bundles: list[Bundle]) -> tuple[np.ndarray, np.ndarray]:
        """Divide bundles into clusters: labels (-1 elsewhere) and what is starred in each."""
        labels = np.full(self.m.n, -1, np.int64)
        starred = []
        jobs = zip(bundles, self.rng.spawn(len(bundles)), strict=True)
        for bundle, divided in zip(bundles, self._in_threads(self._divided, jobs), strict=True):
            labels[bundle.rows] = len(starred) + divided
            row = np.zeros(self.m.d, dtype=bool)
            row[list(bundle.starred)] = True
            starred += [row] * (int(divided.max()) + 1)
        return labels, np.array(starred, dtype=bool).reshape(-1, self.m.d)

    def _divided(self, bundle: Bundle, rng: np.random.Generator) -> np.ndarray:
        """The cluster of every row of a bundle."""
        if bundle.divisible and len(bundle.rows) >= 2 * self.privacy.k:
            return self.divide(self.m.take(bundle.rows), rng).labels
        return np.zeros(len(bundle.rows), np.int64)

    def _in_threads(self, function: Callable, jobs: Iterable[tuple]) -> list:
        """Call a function for every job; the order of the results is that of the jobs."""
        if self.workers == 1:
            return [function(*job) for job in jobs]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(lambda job: function(*job), jobs))

    def _anonymized(self, rest: np.ndarray) -> np.ndarray:
        """Group the rest, and check the groups."""
        labels = dense_labels(self.anonymize(self.m.take(rest)).labels)
        groups = [rest[labels == -1]] if (labels < 0).any() else []
        order = np.argsort(labels, kind="stable")
        groups += np.split(rest[order], np.flatnonzero(np.diff(labels[order])) + 1)
        if (labels < 0).any() or not all(self.privacy.holds(rows) for rows in groups):
            raise ParameterError(
                f"anonymize returned a partition that withholds rows, or with groups below "
                f"k = {self.privacy.k} rows or not diverse"
            )
        return labels

    def _join_clusters(self, rest: np.ndarray, labels: np.ndarray, starred: np.ndarray) -> bool:
        """Put rows that are too few for a group into clusters, where they cost fewest stars.

        Returns whether all found a cluster in which the constraints still hold.
        """
        for row in rest:
            groups = _Groups(self, labels, starred)
            counts = groups.counts()
            elsewhere = counts.sum(axis=0)
            breaks = groups.kept & (self.m.codes[row] != groups.low)
            cost = breaks.sum(axis=1) * (groups.sizes + 1) + (self.m.d - groups.kept.sum(axis=1))
            for cluster in np.argsort(cost, kind="stable")[: self.max_candidates]:
                kept = groups.kept[cluster] & ~breaks[cluster]
                adds = self.targets.counts(kept[None], np.where(labels == cluster, 0, -1))[0]
                carried = [kept[sorted(columns)].all() for columns in self.targets.columns]
                adds += self.targets.is_target[row] & np.array(carried)
                after = elsewhere - counts[cluster] + adds
                members = np.r_[np.flatnonzero(labels == cluster), row]
                within = ((after >= self.targets.low) & (after <= self.targets.high)).all()
                if within and self.privacy.holds(members):
                    labels[row] = cluster
                    break
            if labels[row] < 0:
                return False
        return True

    def _surplus(self, groups: _Groups, n_clusters: int) -> np.ndarray:
        """What Integrate suppresses in the groups of the rest."""
        counts = groups.counts()
        by_clusters = counts[:n_clusters].sum(axis=0)
        allowed = self.targets.high - by_clusters
        return surplus_to_star(
            counts[n_clusters:], groups.sizes[n_clusters:], self.targets.columns, allowed, self.m.d
        )

    def _restorable(self, groups: _Groups) -> np.ndarray:
        """Values suppressed for a bound that turned out not to be reached."""
        return restorable(
            groups.agrees,
            groups.starred,
            self.targets.counts(groups.agrees, groups.labels),
            self.targets.columns,
            self.targets.high - groups.counts().sum(axis=0),
            groups.sizes,
        )

    # -- reporting -----------------------------------------------------------------------

    def _info(self, coloured: _Coloured, diverse_rows: int, n_clusters: int, stars: dict) -> dict:
        return {
            "order": coloured.order,
            "nodes_coloured": len(coloured.order),
            "candidates_tried": coloured.tried,
            "backtracks": coloured.backtracks,
            "coloured_by": coloured.by,
            "diverse_rows": diverse_rows,
            "diverse_clusters": n_clusters,
            "stars_by_phase": stars,
            "components": coloured.components,
        }

    def _name(self) -> str:
        diverse = "" if self.privacy.l == 1 else f", l = {self.privacy.l}"
        return f"DIVA ({self.strategy}), k = {self.privacy.k}{diverse}"


class _Groups:
    """Groups of some rows, as they would be published."""

    def __init__(self, run: _Run, labels: np.ndarray, starred: np.ndarray | None = None) -> None:
        m = run.m
        rows = np.flatnonzero(labels >= 0)
        order = rows[np.argsort(labels[rows], kind="stable")]
        self.sizes = np.bincount(labels[rows])
        first = np.cumsum(self.sizes) - self.sizes
        self.low = np.zeros((len(self.sizes), m.d), np.int32)
        self.agrees = np.zeros((len(self.sizes), m.d), dtype=bool)
        if len(rows):
            for j in range(m.d):
                column = m.codes[order, j]
                self.low[:, j] = np.minimum.reduceat(column, first)
                self.agrees[:, j] = self.low[:, j] == np.maximum.reduceat(column, first)
        self.starred = np.zeros_like(self.agrees) if starred is None else starred
        self._run, self.labels, self._members = run, labels, (order, first)

    @property
    def kept(self) -> np.ndarray:
        return self.agrees & ~self.starred

    def counts(self) -> np.ndarray:
        """Published target rows of every group and constraint."""
        return self._run.targets.counts(self.kept, self.labels)

    def stars(self) -> np.ndarray:
        """Suppressed values of every group; an attribute of a single value shows it even so."""
        several = np.array([attribute.size > 1 for attribute in self._run.m.attributes])
        return self.sizes * (~self.kept & several).sum(axis=1)

    def are_private(self) -> bool:
        privacy = self._run.privacy
        if self.sizes.min() < privacy.k:
            return False
        order, first = self._members
        return privacy.l == 1 or all(privacy.holds(rows) for rows in np.split(order, first[1:]))
