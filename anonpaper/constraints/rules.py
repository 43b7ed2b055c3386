"""Rules that make sets of diversity constraints: minimum, average, proportion.

The classes are as in J. Stoyanovich, K. Yang, H. Jagadish, *Online set selection with fairness
and diversity constraints*, EDBT 2018. No paper prints their rules: these follow the lists that the
authors of diva2021 published. An attribute has d values that occur, each c times.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import compress

import numpy as np

from anonpaper.cells import distinct
from anonpaper.constraints.language import DiversityConstraint
from anonpaper.errors import ParameterError, check_integer, check_number, check_sequence, is_among
from anonpaper.microdata import Microdata, check_microdata

__all__ = ["average_constraints", "minimum_constraints", "proportion_constraints"]


def minimum_constraints(
    m: Microdata, attributes: Sequence, total: int | None = None, without: Collection = ()
) -> list[DiversityConstraint]:
    """Require at least one row of every value: the class *minimum frequency*.

    Parameters
    ----------
    m, attributes : Microdata and sequence
        A table of n rows, and attributes whose values become targets; a tuple of names gives their
        joint values.
    total : int, optional
        M, the number of rows that must keep a value of the attribute, from the number of its
        values to n (the default).
    without : collection, optional
        Values that are not targets, such as "unknown".

    Returns
    -------
    list of DiversityConstraint
        ``[1, min(c, M - (d - 1))]`` for each value, in the order of the domain: every other value
        keeps room for one row. The published lists have [1, 1] for all but the most frequent
        value, which no k-anonymous table satisfies on a quasi-identifier.

    Examples
    --------
    >>> [str(c) for c in minimum_constraints(ap.examples.hospital(), ["Gender"])]
    ['Gender[F], 1, 6', 'Gender[M], 1, 4']
    """

    def bounds(counts: np.ndarray, total: int) -> tuple[np.ndarray, np.ndarray]:
        return np.ones_like(counts), np.minimum(counts, total - (len(counts) - 1))

    return _constraints(m, attributes, total, without, bounds)


def average_constraints(
    m: Microdata,
    attributes: Sequence,
    total: int | None = None,
    without: Collection = (),
    slack: float = 0.0,
) -> list[DiversityConstraint]:
    """Require equally many rows of every value: the class *average*.

    Parameters are those of :func:`minimum_constraints`, and `slack`: how far the upper bound may
    exceed the lower one, as a share of it, at least 0.

    Returns
    -------
    list of DiversityConstraint
        ``low = min(floor(M / d), c)`` for each value and ``high = low``. The upper bound of the
        most frequent value is M minus the other lower bounds, at most c.

    Examples
    --------
    >>> [str(c) for c in average_constraints(ap.examples.hospital(), ["Education"], total=8)]
    ['Education[High school], 2, 2', 'Education[Bachelor], 2, 4', 'Education[Master], 2, 2']
    """
    slack = check_number("slack", slack, 0, np.inf)

    def bounds(counts: np.ndarray, total: int) -> tuple[np.ndarray, np.ndarray]:
        low = np.minimum(total // len(counts), counts)
        high = np.floor((1 + slack) * low).astype(int)
        most_frequent = int(np.argmax(counts))
        rest = total - (low.sum() - low[most_frequent])
        high[most_frequent] = max(high[most_frequent], rest)
        return low, np.minimum(high, counts)

    return _constraints(m, attributes, total, without, bounds)


def proportion_constraints(
    m: Microdata,
    attributes: Sequence,
    total: int | None = None,
    without: Collection = (),
    slack: float = 0.0,
) -> list[DiversityConstraint]:
    """Require every value's share of the rows: the class *proportional representation*.

    Parameters are those of :func:`average_constraints`.

    Returns
    -------
    list of DiversityConstraint
        ``low = floor(M * c / n)`` for each value and ``high = low``, or more by the slack, at most
        c. Values whose share of M is below one row are omitted.

    Examples
    --------
    >>> [str(c) for c in proportion_constraints(ap.examples.hospital(), ["Gender"], total=5)]
    ['Gender[F], 3, 3', 'Gender[M], 2, 2']
    """
    slack = check_number("slack", slack, 0, np.inf)

    def bounds(counts: np.ndarray, total: int) -> tuple[np.ndarray, np.ndarray]:
        low = total * counts // m.n
        return low, np.minimum(np.floor((1 + slack) * low).astype(int), counts)

    return [c for c in _constraints(m, attributes, total, without, bounds) if c.low > 0]


def _constraints(m, attributes, total, without, bounds: Callable) -> list[DiversityConstraint]:
    """Constrain every value of every entry of `attributes` to `bounds` of the counts and M."""
    if isinstance(attributes, (str, bytes)) or not isinstance(attributes, Iterable):
        raise ParameterError(f"attributes must be a sequence of names, got {attributes!r}")
    check_microdata(m)
    without = check_sequence("without", list(without) if isinstance(without, set) else without)
    found = []
    for entry in attributes:
        names = list(entry) if isinstance(entry, tuple) else [entry]
        domains = [m.attribute(name) for name in names]
        codes, sizes = [m.codes_of_cells(name) for name in names], [a.size for a in domains]
        _, first, counts = distinct(codes, sizes, m.cells.counts)
        columns = [domain.values[of[first]] for domain, of in zip(domains, codes, strict=True)]
        targets = list(zip(*columns, strict=True))
        wanted = [not any(is_among(value, without) for value in target) for target in targets]
        targets, counts = list(compress(targets, wanted)), counts[wanted]
        here = m.n if total is None else check_integer("total", total, len(counts), m.n)
        found += [
            DiversityConstraint(dict(zip(names, target, strict=True)), int(low), int(high))
            for target, low, high in zip(targets, *bounds(counts, here), strict=True)
        ]
    return found
