"""What the figures and claims of boger2020 measure (sections 4 and 5 of the paper)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from anonpaper.datasets.examples import hospital
from anonpaper.measure import (
    guessing,
    membership,
    plausible_values,
    relative_errors,
    ruled_out,
    workload,
)
from anonpaper.measure.queries import places
from anonpaper.microdata import Microdata
from anonpaper.partition.klt import klt as _klt
from anonpaper.publish import generalize, swap

__all__ = [
    "DEFAULT_SELECTIVITY",
    "QI",
    "TABLES",
    "compare_groupings",
    "compare_membership",
    "errors_by_selectivity",
    "selectivities",
    "time_klt",
]

#: The paper's algorithm: its step 6 leaves out what it could not merge.
klt = partial(_klt, withheld="drop")

#: The quasi-identifiers of Figure 4, in its order.
QI = ("race", "education", "sex", "age")

#: Weights of the tables of Figure 6.
TABLES = {
    "BaseTable": {},
    "RaceTable": {"race": 5},
    "EducationTable": {"education": 5},
    "SexTable": {"sex": 5},
    "AgeTable": {"age": 5},
}

#: Section 4.5: about half of the values. Both sexes, against Figure 7, for the numbers of
#: Figure 8 agree with those of Figure 11 at 100 % only.
DEFAULT_SELECTIVITY = {"race": 3, "education": 8, "sex": 2, "age": 35}

#: Figure 12 varies the age window in steps of five years.
AGE_STEP = 5


def time_klt(m: Microdata, rows: int, repeats: int, seed: int) -> dict:
    """Time the clustering of a random part of a table, with the paper's parameters.

    Parameters
    ----------
    m : Microdata
        The whole table.
    rows : int
        How many rows to draw without replacement.
    repeats : int
        How often to run; the shortest time counts.
    seed : int
        Seed of the draw and of the clustering.

    Returns
    -------
    dict
        ``seconds`` (from the coded rows to the groups, grouping equal rows included), ``groups``,
        ``M`` (repeats of steps 1 to 3) and ``unplaced_rows``.
    """
    klt(hospital(), k=4, l=2, theta=0.5)  # compiles
    seconds = []
    for _ in range(repeats):
        drawn = m.sample(rows, seed)
        began = time.perf_counter()
        p = klt(drawn, seed=seed)
        seconds.append(time.perf_counter() - began)
    return {
        "seconds": min(seconds),
        "groups": p.n_groups,
        "M": p.info["repeats"],
        "unplaced_rows": p.info["unplaced_rows"],
    }


# -- queries (section 4) ----------------------------------------------------------------------


def selectivities(m: Microdata, name: str) -> list[int]:
    """Return the numbers of values to which the queries of Figures 9 to 12 restrict a QI."""
    most = places(m.attribute(name))
    return list(range(AGE_STEP, most, AGE_STEP)) if name == "age" else list(range(1, most + 1))


def errors_by_selectivity(m: Microdata, queries: int, seed: int) -> list[dict]:
    """Measure the error of the tables of Figure 6 on the queries of Figures 8 to 12.

    Parameters
    ----------
    m : Microdata
        Adult with the quasi-identifiers of Figure 4.
    queries : int
        Queries per round of simulation; the paper's are 1,000.
    seed : int
        Seed of the row order, of the swapping and of the queries.

    Returns
    -------
    list of dict
        Per varied quasi-identifier (``"none"``: default selectivities), number of its values that
        queries include and table: ``varied``, ``values``, ``selectivity_pct``, ``table`` and
        ``relative_error_pct``.
    """
    releases = [swap(m, klt(m, weights=weights, seed=seed), seed) for weights in TABLES.values()]
    rounds = [("none", 0, 50.0)]
    for name in QI:
        most = places(m.attribute(name))
        rounds += [(name, values, 100 * values / most) for values in selectivities(m, name)]
    rows = []
    for number, (varied, values, percent) in enumerate(rounds):
        selectivity = DEFAULT_SELECTIVITY | ({} if varied == "none" else {varied: values})
        asked = workload(m, selectivity, queries, np.random.default_rng([seed, number]))
        for table, error in zip(
            TABLES, relative_errors(asked, releases, releases[0]), strict=True
        ):
            rows.append(
                {
                    "varied": varied,
                    "values": values,
                    "selectivity_pct": percent,
                    "table": table,
                    "relative_error_pct": float(error),
                }
            )
    return rows


# -- attacks (section 5) ----------------------------------------------------------------------


def compare_groupings(
    m: Microdata, known: Sequence[Sequence[str]], least_shares: Sequence[float], seed: int
) -> list[dict]:
    """Guess sensitive values in groups of close rows and in arbitrary groups.

    Both groupings meet the paper's parameters; the arbitrary one is made by the same algorithm
    with all weights 0, so that every row is as close as any other.

    Parameters
    ----------
    m : Microdata
        The table.
    known : sequence of sequence of column labels
        By which quasi-identifiers the attacker rules out values; an empty one: by none.
    least_shares : sequence of float
        Below which share among people alike a value is held implausible, in [0, 1].
    seed : int
        Seed of the row order.

    Returns
    -------
    list of dict
        Per grouping, ``knowledge`` and ``least_share``: ``success``, the mean probability of a
        right guess, ``worst_group``, the largest mean of a group, and ``ruled_out``, the share
        of a group's values that are implausible for a member, mean over members.
    """
    groupings = {
        "clustered": klt(m, seed=seed),
        "arbitrary": klt(m, weights=dict.fromkeys(m.qi, 0), seed=seed),
    }
    rows = []
    for columns in known:
        for share in least_shares if columns else [0.0]:
            plausible = plausible_values(m, columns, share) if columns else None
            for grouping, p in groupings.items():
                success = guessing(m, p.labels, plausible)
                by_group = np.bincount(p.labels, weights=success) / p.sizes()
                out = ruled_out(m, p.labels, plausible).mean() if columns else 0
                rows.append(
                    {
                        "grouping": grouping,
                        "knowledge": " and ".join(columns) or "nothing",
                        "least_share": share,
                        "success": float(success.mean()),
                        "worst_group": float(by_group.max()),
                        "ruled_out": float(out),
                    }
                )
    return rows


def compare_membership(
    members: Microdata, outsiders: Microdata, qi: Sequence[str], seed: int
) -> list[dict]:
    """Test membership in a swapped table, and in a generalization by the same groups.

    Parameters
    ----------
    members, outsiders : Microdata
        The published table, and people who are not in it.
    qi : sequence of column labels
        What is published, and known to the attacker.
    seed : int
        Seed of the row order and of the swapping.

    Returns
    -------
    list of dict
        Per method: ``members`` and ``outsiders``, the shares said to be in the table, and their
        difference ``advantage``.
    """
    members, outsiders = members.with_roles(qi=list(qi)), outsiders.with_roles(qi=list(qi))
    p = klt(members, seed=seed)
    releases = {"swapping": swap(members, p, seed), "generalization": generalize(members, p)}
    return [
        {"method": method, "number_of_qi": len(qi), **membership(release, outsiders)}
        for method, release in releases.items()
    ]
