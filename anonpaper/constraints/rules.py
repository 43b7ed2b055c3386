"""Rules that make sets of diversity constraints: minimum, average, proportion.

The classes are as in J. Stoyanovich, K. Yang, H. Jagadish, *Online set selection with fairness
and diversity constraints*, EDBT 2018. No paper prints their rules: these follow the lists that the
authors of diva2021 published. An attribute has d values that occur, each c times.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import compress

import numpy as np

from anonpaper.cells import distinct
from anonpaper.constraints.language import DiversityConstraint
from anonpaper.errors import check_integer, check_number, check_sequence, is_among
from anonpaper.microdata import Microdata, check_microdata

__all__ = ["average_constraints", "minimum_constraints", "proportion_constraints"]


def minimum_constraints(
    m: Microdata, attributes: Sequence, total: int | None = None, without: Collection = ()
) -> list[DiversityConstraint]:
    """Require at least one row of every value: ``[1, min(c, M - (d - 1))]``, *minimum frequency*.

    Every other value keeps room for one row. The published lists have [1, 1] for all but the most
    frequent value, which no k-anonymous table satisfies on a quasi-identifier.

    Parameters
    ----------
    m, attributes : Microdata and sequence
        A table of n rows, and attributes whose values become targets, in the order of the domain;
        a tuple of names gives their joint values.
    total : int, optional
        M, the number of rows that must keep a value of the attribute, from the number of its
        values to n (the default).
    without : collection, optional
        Values that are not targets, such as "unknown".

    Examples
    --------
    >>> [str(c) for c in minimum_constraints(ap.examples.hospital(), ["Gender"])]
    ['Gender[F], 1, 6', 'Gender[M], 1, 4']
    """
    return _constraints(
        m, attributes, total, without, 0.0,
        lambda c, total, _: (np.ones_like(c), np.minimum(c, total - (len(c) - 1))),
    )  # fmt: skip


def average_constraints(
    m: Microdata,
    attributes: Sequence,
    total: int | None = None,
    without: Collection = (),
    slack: float = 0.0,
) -> list[DiversityConstraint]:
    """Require equally many rows of every value: ``low = min(floor(M / d), c)``, *average*.

    The upper bound exceeds the lower one by `slack`, a share of it, at least 0, up to c. That of
    the most frequent value is at least M minus the other lower bounds. For other parameters see
    :func:`minimum_constraints`.

    Examples
    --------
    >>> [str(c) for c in average_constraints(ap.examples.hospital(), ["Education"], total=8)]
    ['Education[High school], 2, 2', 'Education[Bachelor], 2, 4', 'Education[Master], 2, 2']
    """

    def bounds(c: np.ndarray, total: int, slack: float) -> tuple[np.ndarray, np.ndarray]:
        low, most = np.minimum(total // len(c), c), int(np.argmax(c))
        high = np.floor((1 + slack) * low).astype(int)
        high[most] = max(high[most], total - (low.sum() - low[most]))
        return low, high

    return _constraints(m, attributes, total, without, slack, bounds)


def proportion_constraints(
    m: Microdata,
    attributes: Sequence,
    total: int | None = None,
    without: Collection = (),
    slack: float = 0.0,
) -> list[DiversityConstraint]:
    """Require every value's share of M: ``low = floor(M * c / n)``, *proportional representation*.

    Values whose share of M is below one row are omitted. Parameters are as for
    :func:`average_constraints`.

    Examples
    --------
    >>> [str(c) for c in proportion_constraints(ap.examples.hospital(), ["Gender"], total=5)]
    ['Gender[F], 3, 3', 'Gender[M], 2, 2']
    """

    def bounds(c: np.ndarray, total: int, slack: float) -> tuple[np.ndarray, np.ndarray]:
        low = total * c // m.n
        return low, np.floor((1 + slack) * low).astype(int)

    return [c for c in _constraints(m, attributes, total, without, slack, bounds) if c.low > 0]


def _constraints(m, attributes, total, without, slack, bounds: Callable) -> list:
    """Constrain every value of every entry of `attributes` to `bounds` of the counts and M."""
    check_microdata(m)
    slack = check_number("slack", slack, 0, np.inf)
    without = check_sequence("without", list(without) if isinstance(without, set) else without)
    found = []
    for entry in check_sequence("attributes", attributes):
        names = list(entry) if isinstance(entry, tuple) else [entry]
        domains = [m.attribute(name) for name in names]
        codes, sizes = [m.codes_of_cells(name) for name in names], [a.size for a in domains]
        _, first, counts = distinct(codes, sizes, m.cells.counts)
        columns = [domain.values[of[first]] for domain, of in zip(domains, codes, strict=True)]
        targets = list(zip(*columns, strict=True))
        wanted = [not any(is_among(value, without) for value in target) for target in targets]
        targets, counts = list(compress(targets, wanted)), counts[wanted]
        here = m.n if total is None else check_integer("total", total, len(counts), m.n)
        lows, highs = bounds(counts, here, slack)
        found += [
            DiversityConstraint(dict(zip(names, target, strict=True)), int(low), int(high))
            for target, low, high in zip(targets, lows, np.minimum(highs, counts), strict=True)
        ]
    return found
