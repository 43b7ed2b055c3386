"""Rules that make sets of diversity constraints: minimum, average, proportion.

The classes are as in J. Stoyanovich, K. Yang, H. Jagadish, *Online set selection with fairness
and diversity constraints*, EDBT 2018. No paper prints their rules: these follow the lists that the
authors of diva2021 published. An attribute has d values that occur, each c times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress

import numpy as np

from anonpaper.cells import distinct
from anonpaper.constraints.language import DiversityConstraint
from anonpaper.errors import check_integer, check_number, check_sequence, is_among
from anonpaper.microdata import Microdata, check_microdata

__all__ = ["average_constraints", "minimum_constraints", "proportion_constraints"]


def minimum_constraints(
    m: Microdata, attributes: Sequence, total: int | None = None, without: Sequence = ()
) -> list[DiversityConstraint]:
    """Require at least one row of every value: ``[1, min(c, M - (d - 1))]``, *minimum frequency*.

    Every other value keeps room for one row. The published lists have [1, 1] for all but the most
    frequent value, which no k-anonymous table satisfies on a quasi-identifier.

    The values of `attributes` become targets, in the order of the domain; a tuple of names gives
    their joint values. `total` is M, the number of rows that must keep a value of the attribute,
    from the number of its values to n (the default). Values in `without`, such as "unknown", are
    not targets.

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
    m: Microdata, attributes: Sequence, total: int | None = None, without: Sequence = (), slack=0.0
) -> list[DiversityConstraint]:
    """Require equally many rows of every value: ``low = min(floor(M / d), c)``, *average*.

    The upper bound exceeds the lower one by `slack`, a float, a share of it of at least 0, up to
    c. That of the most frequent value is at least M minus the other lower bounds. For other
    parameters see :func:`minimum_constraints`.

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
    m: Microdata, attributes: Sequence, total: int | None = None, without: Sequence = (), slack=0.0
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
    without = check_sequence("without", without)
    found = []
    for entry in check_sequence("attributes", attributes):
        names = list(entry) if isinstance(entry, tuple) else [entry]
        domains, codes = [m.attribute(of) for of in names], [m.codes_of_cells(of) for of in names]
        _, first, counts = distinct(codes, [a.size for a in domains], m.cells.counts)
        columns = [a.values[of[first]] for a, of in zip(domains, codes, strict=True)]
        targets = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
        wanted = [not any(is_among(v, without) for v in target.values()) for target in targets]
        counts = counts[wanted]
        here = m.n if total is None else check_integer("total", total, len(counts), m.n)
        lows, highs = bounds(counts, here, slack)
        made = zip(compress(targets, wanted), lows, np.minimum(highs, counts), strict=True)
        found += [DiversityConstraint(*constraint) for constraint in made]
    return found
