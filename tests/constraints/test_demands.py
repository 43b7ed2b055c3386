"""How much constraints demand: a demand above 1 proves that there is no table."""

from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from referees.diverse import fewest_stars

import anonpaper as ap
from anonpaper.constraints import DiversityConstraint as Constraint
from anonpaper.constraints import demand_on_gaps, demand_on_rows
from anonpaper.errors import ColumnError, ConstraintError, ParameterError


def problem(seed, most=6):
    """A random table of a few rows, constraints on values that occur, and k."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, most + 1)), int(rng.integers(2, 4))
    frame = pd.DataFrame({name: rng.choice(list("ab"), n) for name in ("p", "q")})
    frame["s"] = rng.choice(list("xyz"), n)
    sigma, seen = [], set()
    for _ in range(int(rng.integers(1, 5))):
        names = [["p"], ["q"], ["p", "q"], ["s"], ["q", "s"]][rng.integers(5)]
        target = frame[names].iloc[rng.integers(n)].to_dict()
        if frozenset(target.items()) not in seen:
            seen.add(frozenset(target.items()))
            low = int(rng.integers(0, n + 1))
            sigma.append(Constraint(target, low, low + int(rng.integers(0, 3))))
    return frame, sigma, k


def test_no_table_exists_where_a_demand_is_above_1():
    refuted = {"rows": 0, "gaps": 0, "neither, and there is a table": 0}
    for seed in range(150):
        frame, sigma, k = problem(seed)
        m = ap.Microdata(frame, ["p", "q"], "s")
        rows, gaps = demand_on_rows(m, sigma, k), demand_on_gaps(m, sigma, k)
        there = fewest_stars(frame, ["p", "q"], sigma, k) is not None
        assert not (there and max(rows, gaps) > 1), (seed, rows, gaps)
        refuted["rows"] += rows > 1
        refuted["gaps"] += gaps > 1
        refuted["neither, and there is a table"] += there
    assert min(refuted.values()) > 10, refuted


def by_hand(m, sigma, k, together):
    """Ask every row by itself, set by set of constraints."""
    carried = [[all(row[a] == v for a, v in c.target.items()) for c in sigma]
               for _, row in m.frame.iterrows()]  # fmt: skip
    greatest = 0.0
    for size in range(1, together + 1):
        for U in combinations(range(len(sigma)), size):
            parts = list(chain.from_iterable(combinations(U, q) for q in range(1, size + 1)))
            can = [Q for Q in parts if sum(all(row[c] for c in Q) for row in carried) >= k]
            served = sum(
                max((len(Q) for Q in can if all(row[c] for c in Q)), default=0) for row in carried
            )
            if asked := sum(sigma[c].low for c in U):
                greatest = max(greatest, asked / served if served else float("inf"))
    return greatest


@pytest.mark.parametrize("together", [1, 2, 3])
def test_the_demand_on_rows_is_that_of_asking_row_by_row(together):
    for seed in range(60):
        frame, sigma, k = problem(seed, most=12)
        m = ap.Microdata(frame, ["p", "q"], "s")
        sigma = [c for c in sigma if "s" not in c.target]
        assert demand_on_rows(m, sigma, k, together) == by_hand(m, sigma, k, together)


def test_gaps_are_filled_by_whole_groups():
    m = ap.Microdata(pd.DataFrame({"p": list("aaaaaabbbb"), "q": list("xxxxyyxxyy")}), ["p", "q"])
    a, ax, b = {"p": "a"}, {"p": "a", "q": "x"}, {"p": "b"}
    assert demand_on_gaps(m, [Constraint(a, 6, 6), Constraint(ax, 4, 4)], 2) == 1
    assert demand_on_gaps(m, [Constraint(a, 6, 6), Constraint(ax, 4, 4)], 3) == 1.5
    assert demand_on_gaps(m, [Constraint(a, 4, 6), Constraint(ax, 4, 4)], 3) == 3 / 4  # no gap
    assert demand_on_gaps(m, [Constraint(a, 6, 6), Constraint(b, 3, 3)], 2) == 2  # one is left
    assert demand_on_gaps(m, [Constraint(a, 6, 6), Constraint(b, 4, 4)], 2) == 0.5  # none is
    assert demand_on_gaps(m, [Constraint(ax, 4, 4), Constraint(a, 2, 3)], 2) == np.inf
    assert demand_on_gaps(m, [], 2) == demand_on_rows(m, [], 2) == 0
    assert demand_on_rows(m, [Constraint({"p": "a", "q": "y"}, 1, 2)], 3) == np.inf


@pytest.mark.parametrize("demand", [demand_on_rows, demand_on_gaps])
def test_what_is_asked_must_be_there(demand):
    m = ap.examples.hospital()
    with pytest.raises(ParameterError, match="k"):
        demand(m, [], 0)
    with pytest.raises(
        ConstraintError, match="not among the quasi-identifiers and sensitive columns"
    ):
        demand(m, [Constraint({"Shoes": 1}, 0, 1)], 2)
    with pytest.raises((ParameterError, ColumnError), match="Microdata"):
        demand(m.frame, [], 2)
