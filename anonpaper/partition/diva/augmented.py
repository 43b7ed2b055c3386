"""DIVA with synthetic rows, for lower bounds that the people of a table cannot meet. Ours."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
import pandas as pd

from anonpaper.constraints import DiversityConstraint
from anonpaper.errors import (
    ConstraintError,
    ParameterError,
    check_integer,
    check_number,
    check_sequence,
)
from anonpaper.groups import Partition
from anonpaper.microdata import Microdata, check_microdata
from anonpaper.partition.diva.algorithms import Strategy, diva
from anonpaper.partition.diva.existence import fewest_invented
from anonpaper.partition.diva.search import Search
from anonpaper.partition.diva.targets import Privacy, Targets
from anonpaper.randomness import generator

__all__ = ["diva_augmented"]


def diva_augmented(
    m: Microdata,
    constraints: Sequence[DiversityConstraint],
    k: int,
    strategy: Strategy = "max_fan_out",
    seed: int | np.random.Generator | None = 0,
    *,
    max_backtracks: int = 10_000,
    max_seconds: float = 120.0,
) -> tuple[Microdata, Partition]:
    """Guarantee every diversity constraint, and k *people* in every group that has one.

    Synthetic rows never count as people. They have their own groups, so an attacker who removes
    them sees a k-anonymous table of people. Constraints count them. An integer program computes
    how many are needed, each showing one target and nothing else. Then :func:`anonpaper.diva`
    groups the people with bounds reduced by these numbers.

    Parameters
    ----------
    m : Microdata
        People, n rows, none of them synthetic.
    constraints : sequence of DiversityConstraint
        The set Sigma, only on quasi-identifiers. Every value is in its domain.
    k : int
        Smallest group size, from 2 to n.
    strategy, max_backtracks, max_seconds
        As for :func:`anonpaper.diva`; the seconds count for the program, and again for the groups.
    seed : int, numpy.random.Generator or None
        Draws the suppressed values of the synthetic rows, and is DIVA's.

    Returns
    -------
    fused : Microdata
        The people, in their order, then the synthetic rows, marked by ``fused.synthetic``; role
        columns only, rows renumbered. Other values of synthetic rows than their target are drawn
        one by one from the people's and suppressed; sensitive values are drawn likewise and shown.
    p : Partition
        DIVA's groups, then one for every target with synthetic rows. ``info`` is DIVA's, with
        ``invented``, the number of rows for each constraint, and ``invented_at_least``, a proved
        lower bound of their sum; given enough time, they differ by at most a hundredth.

    Raises
    ------
    BudgetExceededError, ConstraintError, ParameterError
        The time ended before a plan of synthetic rows, or a grouping, was found; upper bounds
        exclude any number of synthetic rows; a constraint names the sensitive attribute; `m` has
        synthetic rows; or as DIVA.

    References
    ----------
    diva2021 suppresses only; this is ours.

    Examples
    --------
    >>> from anonpaper.constraints import DiversityConstraint
    >>> m = ap.examples.patients()  # two of them African
    >>> sigma = [DiversityConstraint({"ETH": "African"}, 3, 6)]
    >>> fused, p = diva_augmented(m, sigma, k=3)
    >>> rel = ap.suppress(fused, p)
    >>> sigma[0].count(rel), sigma[0].count(rel.without_synthetic()), p.info["invented"]
    (3, 0, (3,))
    """
    if check_microdata(m).synthetic.any():
        raise ParameterError(
            f"{int(m.synthetic.sum())} rows are synthetic and must not count as people: give "
            "m.take(~m.synthetic)"
        )
    k = check_integer("k", k, 2, m.n)
    check_number("max_seconds", max_seconds, 0, inf, open_low=True)
    constraints = check_sequence("constraints", constraints, DiversityConstraint)
    hidden = [a.name for a in m.attributes if a.size > 1]  # a single value shows whatever is done
    targets = [{n: code for n, code in c.codes(m).items() if n in hidden} for c in constraints]
    for c in constraints:
        if any(name in c.target for name in m.sensitives):
            raise ConstraintError(f"{c}: synthetic rows can only serve quasi-identifiers")
    rng = generator(seed)
    finer = np.array([a.items() <= b.items() for a in targets for b in targets], dtype=bool)
    finer = finer.reshape(len(targets), len(targets))  # also without constraints
    search = Search(max_backtracks, max_seconds)
    plan = fewest_invented(Targets.of(m, constraints), finer, Privacy(k), search)
    if plan is None:
        raise ConstraintError(
            f"no {k}-anonymous table satisfies the constraints with any number of synthetic rows: "
            "widen the upper bounds"
        )
    invented, at_least = plan
    added = finer @ invented
    of_people = [
        DiversityConstraint(c.target, max(0, c.low - int(more)), c.high - int(more))
        for c, more in zip(constraints, added, strict=True)
    ]
    p = diva(
        m, of_people, k, strategy, seed=rng, max_backtracks=max_backtracks,
        max_seconds=max_seconds,
    )  # fmt: skip
    places = np.repeat(np.arange(len(constraints)), invented)
    fused = _with_rows(m, constraints, places, rng)
    shows = np.array([[name in c.target for name in m.qi] for c in constraints], dtype=bool)
    used = np.flatnonzero(invented)
    starred = np.vstack([p.starred, ~shows[used].reshape(len(used), m.d)])
    labels = np.r_[p.labels, len(p.starred) + np.searchsorted(used, places)]
    info = p.info | {"invented": tuple(invented.tolist()), "invented_at_least": at_least}
    return fused, Partition(labels, info, f"{p.algorithm}, augmented", starred=starred)


def _with_rows(m: Microdata, constraints, places: np.ndarray, rng) -> Microdata:
    """Append rows with the targets of the constraints at these places."""
    columns = {}
    for name in [*m.qi, *m.sensitives]:
        codes = rng.choice(m.codes_of(name), len(places))
        for v, c in enumerate(constraints):
            if name in c.target:
                codes[places == v] = c.codes(m)[name]
        values = pd.Series(list(m.attribute(name).values[codes]), dtype=object)
        columns[name] = values.astype(m.frame[name].dtype)
    frame = pd.concat([m.frame[list(columns)], pd.DataFrame(columns)], ignore_index=True)
    synthetic = np.repeat([False, True], [m.n, len(places)])
    return m.replace(frame=frame, synthetic=synthetic, person=None)
