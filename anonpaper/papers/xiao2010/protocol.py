"""What the figures of xiao2010 measure (section 6 of the paper).

SAL-d and OCC-d are the projections of a table on d of its seven quasi-identifiers. Every function
here measures one projection; :func:`~anonpaper.papers.results.run_grid` calls it for all of them.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from anonpaper.datasets.examples import hospital
from anonpaper.measure import kl_divergence, stars, suppressed_rows
from anonpaper.microdata import Microdata
from anonpaper.papers.xiao2010 import hardness
from anonpaper.partition.exact import exact
from anonpaper.partition.hilbert import hilbert
from anonpaper.partition.tp import tp, tp_plus
from anonpaper.publish import Release, recode, suppress
from anonpaper.randomness import generator
from anonpaper.recoders.tds import tds

__all__ = [
    "ALGORITHMS",
    "approximate_random_tables",
    "check_reduction",
    "compare_with_generalization",
    "projections",
    "suppress_projection",
    "time_sample",
]

#: The algorithms that section 6.1 compares, by the paper's names.
ALGORITHMS: Mapping[str, Callable] = {"Hilbert": hilbert, "TP": tp, "TP+": tp_plus}


def projections(
    qi: Sequence[str], dimensions: Sequence[int], at_most: int | None = None, seed: int = 0
) -> list[list[str]]:
    """Return the subsets of the quasi-identifiers of some sizes, in order of size.

    Parameters
    ----------
    qi : sequence of str
        All quasi-identifiers.
    dimensions : sequence of int
        Sizes d from 1 to ``len(qi)``.
    at_most : int, optional
        Draw this many of each size where there are more; all by default.
    seed : int
        Seed of the draw.

    Examples
    --------
    >>> projections(["a", "b", "c"], [1, 3])
    [['a'], ['b'], ['c'], ['a', 'b', 'c']]
    """
    rng = generator(seed)
    chosen = []
    for d in dimensions:
        subsets = [list(subset) for subset in itertools.combinations(qi, d)]
        if at_most is not None and len(subsets) > at_most:
            subsets = [subsets[i] for i in np.sort(rng.choice(len(subsets), at_most, False))]
        chosen += subsets
    return chosen


def check_reduction(q: int, points: int, instances: int, seed: int) -> list[dict]:
    """Decide random 3DM instances twice: by trying all choices, and by 3-diverse suppression.

    Parameters
    ----------
    q : int
        Elements per dimension, at most 4 (the table has 3q rows).
    points : int
        Points per instance, from q to q³, drawn without replacement.
    instances : int
        How many instances.
    seed : int
        Seed of the draw.

    Returns
    -------
    list of dict
        Per instance: ``has_matching`` (by trying all choices of q points), ``stars`` (fewest of a
        3-diverse suppression), ``least_stars`` (3q(t - 1)) and ``matching_read_off`` (whether the
        optimal suppression shows a matching).
    """
    rng = generator(seed)
    everything = list(itertools.product(range(q), repeat=3))
    rows = []
    for _ in range(instances):
        drawn = [everything[i] for i in np.sort(rng.choice(len(everything), points, False))]
        table = hardness.table_of(drawn, q)
        p = exact(table, l=3)
        rows.append(
            {
                "has_matching": _has_matching(drawn, q),
                "stars": p.info["cost"],
                "least_stars": hardness.least_stars(table),
                "matching_read_off": hardness.matching_of(table, p) is not None,
            }
        )
    return rows


def _has_matching(points: Sequence[tuple], q: int) -> bool:
    return any(
        all(len({point[axis] for point in chosen}) == q for axis in range(3))
        for chosen in itertools.combinations(points, q)
    )


def approximate_random_tables(n: int, l: int, tables: int, seed: int) -> list[dict]:
    """Compare TP with the optimum of tuple minimization on random tables.

    Parameters
    ----------
    n : int
        Rows per table, at most 12; they fall into up to four QI-groups and six sensitive values.
    l : int
        The diversity asked for.
    tables : int
        How many tables that have an l-diverse grouping.
    seed : int
        Seed of the draw.

    Returns
    -------
    list of dict
        Per table: ``phase`` in which TP ended, ``residue`` (its suppressed rows) and ``optimum``.
    """
    rng = generator(seed)
    rows = []
    while len(rows) < tables:
        groups, values = rng.integers(2, 5), rng.integers(l, 7)
        frame = pd.DataFrame(
            {"group": rng.integers(0, groups, n), "value": rng.integers(0, values, n)}
        )
        m = Microdata(frame, ["group"], "value")
        if m.sensitive_counts.max() * l <= n:
            p = tp(m, l)
            optimum = exact(m, l, objective="rows").info["cost"]
            rows.append(
                {"phase": p.info["phase"], "residue": p.info["residue_size"], "optimum": optimum}
            )
    return rows


def suppress_projection(
    tables: Mapping[str, Microdata],
    table: str,
    qi: Sequence[str],
    levels: Sequence[int],
    algorithms: Sequence[str],
) -> list[dict]:
    """Suppress one projection by each algorithm at each l; group its rows only once.

    Parameters
    ----------
    tables : mapping of name to Microdata
        The whole tables.
    table : str
        Which one to project.
    qi : sequence of str
        The projection.
    levels : sequence of int
        Values of l.
    algorithms : sequence of str
        Names from ``ALGORITHMS``.

    Returns
    -------
    list of dict
        Per l and algorithm: ``d``, ``l``, ``algorithm``, ``stars``, ``suppressed`` (rows with a
        star), ``seconds`` (processor time from the coded table to the partition: grouping the
        rows, which is done once and counted for every run, and the algorithm), ``phase``,
        ``residue`` and ``lower_bound`` (TP and TP+ only).
    """
    _warm_up()
    m = tables[table].with_roles(qi=list(qi))
    grouping = _seconds(lambda: m.cells)[0]
    rows = []
    for l in levels:
        for algorithm in algorithms:
            seconds, p = _seconds(lambda: ALGORITHMS[algorithm](m, l))  # noqa: B023 - called now
            release = suppress(m, p)
            rows.append(
                {
                    "d": m.d,
                    "l": l,
                    "algorithm": algorithm,
                    "stars": stars(release),
                    "suppressed": suppressed_rows(release),
                    "seconds": grouping + seconds,
                    "phase": p.info.get("phase"),
                    "residue": p.info.get("residue_size"),
                    "lower_bound": p.info.get("lower_bound"),
                }
            )
    return rows


def time_sample(
    tables: Mapping[str, Microdata],
    table: str,
    qi: Sequence[str],
    n: int,
    l: int,
    seed: int,
    algorithms: Sequence[str],
) -> list[dict]:
    """Time each algorithm on a random sample of n rows of one projection.

    Parameters
    ----------
    tables, table, qi, algorithms
        As :func:`suppress_projection`.
    n : int
        Rows of the sample, drawn without replacement.
    l : int
        The diversity asked for.
    seed : int
        Seed of the sample.

    Returns
    -------
    list of dict
        Per algorithm: ``algorithm`` and ``seconds``, grouping included.
    """
    _warm_up()
    m = tables[table].with_roles(qi=list(qi)).sample(n, seed)
    grouping = _seconds(lambda: m.cells)[0]
    return [
        {
            "algorithm": algorithm,
            "seconds": grouping + _seconds(lambda: ALGORITHMS[algorithm](m, l))[0],  # noqa: B023
        }
        for algorithm in algorithms
    ]


def compare_with_generalization(
    tables: Mapping[str, Microdata], table: str, qi: Sequence[str], levels: Sequence[int]
) -> list[dict]:
    """Publish one projection by TP+ (suppression) and by TDS (single-dimensional generalization).

    Parameters
    ----------
    tables, table, qi, levels
        As :func:`suppress_projection`.

    Returns
    -------
    list of dict
        Per l and algorithm: ``d``, ``l``, ``algorithm``, ``divergence`` (Kullback-Leibler, in
        nats) and ``seconds`` (processor time of the algorithm, rows being grouped).
    """
    _warm_up()
    m = tables[table].with_roles(qi=list(qi))
    m.cells  # noqa: B018 - grouped once, for all runs
    rows = []
    for l in levels:
        for algorithm, publish in (("TP+", _by_suppression), ("TDS", _by_generalization)):
            seconds, release = _seconds(lambda: publish(m, l))  # noqa: B023 - called now
            rows.append(
                {
                    "d": m.d,
                    "l": l,
                    "algorithm": algorithm,
                    "divergence": kl_divergence(release),
                    "seconds": seconds,
                }
            )
    return rows


def _by_suppression(m: Microdata, l: int) -> Release:
    return suppress(m, tp_plus(m, l))


def _by_generalization(m: Microdata, l: int) -> Release:
    return recode(m, tds(m, l))


def _seconds(call: Callable):
    began = time.process_time()  # not wall time: other work on the machine does not count
    result = call()
    return time.process_time() - began, result


@functools.cache
def _warm_up() -> None:
    """Let numba compile, or load, every kernel once per process, outside of the clock."""
    m = hospital()
    for algorithm in ALGORITHMS.values():
        kl_divergence(suppress(m, algorithm(m, 2)))
    kl_divergence(_by_generalization(m, 2))
