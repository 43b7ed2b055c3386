"""Coloring (diva2021, Algorithm 4): give every constraint a clustering, with backtracking.

Colouring a node is choosing a clustering of its target rows; colours are consistent if clusters
of different nodes are disjoint or equal and no upper bound is exceeded. The three strategies:

* ``basic`` takes any uncoloured node and its clusterings in any order;
* ``min_choice`` takes the node with the fewest clusterings left;
* ``max_fan_out`` takes the node with the most uncoloured neighbours.

The last two also prune early: a colour is dropped at once if some uncoloured node could no longer
get one. (A list in section 3.3 describes the two the other way round; its paragraph "Selection
Strategies" fits the names.) Ties go to the constraint that was given first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from anonpaper.errors import BudgetExceededError
from anonpaper.partition.diva.clusterings import Bundle, Clusterings

__all__ = ["STRATEGIES", "Budget", "Search", "next_node"]

STRATEGIES = ("basic", "min_choice", "max_fan_out")


@dataclass
class Budget:
    """How long a search may go on.

    Attributes
    ----------
    max_backtracks : int
    max_seconds : float
    """

    max_backtracks: int
    max_seconds: float
    backtracks: int = 0
    began: float = field(default_factory=time.monotonic)

    def seconds_left(self) -> float:
        """Seconds until the time is over, at least 0."""
        return max(self.max_seconds - (time.monotonic() - self.began), 0.0)

    def check(self) -> None:
        """Raise BudgetExceededError if the backtracks or the seconds are used up."""
        if self.backtracks > self.max_backtracks:
            raise BudgetExceededError(
                f"the budget of {self.max_backtracks} backtracks is used up; whether a diverse "
                "k-anonymous table exists is not decided: raise max_backtracks, take the strategy "
                '"max_fan_out", or widen the bounds'
            )
        if self.seconds_left() == 0:
            raise BudgetExceededError(
                f"the budget of {self.max_seconds:g} seconds is used up; whether a diverse "
                "k-anonymous table exists is not decided: raise max_seconds or widen the bounds"
            )


def next_node(clusterings: Clusterings, strategy: str, rng: np.random.Generator) -> int:
    """Choose the node to colour next: NextNode of Algorithm 4.

    Parameters
    ----------
    clusterings : Clusterings
        The state of the search, with at least one uncoloured node.
    strategy : {"basic", "min_choice", "max_fan_out"}
    rng : numpy.random.Generator
        Draws the node for "basic".
    """
    uncoloured = [v for v in range(len(clusterings.targets)) if v not in clusterings.coloured]
    if strategy == "basic":
        return int(rng.choice(uncoloured))
    if strategy == "min_choice":
        return min(uncoloured, key=lambda v: (clusterings.log_number(v), v))
    waiting = set(uncoloured)
    return max(uncoloured, key=lambda v: (len(clusterings.neighbours[v] & waiting), -v))


@dataclass
class Search:
    """One run of Coloring.

    Attributes
    ----------
    clusterings : Clusterings
        The state; once :meth:`colour` has returned True, ``coloured`` maps every node to its
        clustering.
    choose_node : callable
        NextNode: returns the node to be coloured next.
    candidates : callable
        Clusterings: returns the candidates of a node, in the order in which they are tried.
    budget : Budget
    trace : list of (str, int, list of Bundle)
        What happened: a node was given a colour (``"colour"``), a colour was found inconsistent
        (``"reject"``), or taken back (``"backtrack"``).
    """

    clusterings: Clusterings
    choose_node: Callable[[], int]
    candidates: Callable[[int], Iterable[list[Bundle]]]
    budget: Budget
    tried: int = 0
    backtracks: int = 0
    trace: list = field(default_factory=list)

    def colour(self) -> bool:
        """Colour all nodes that have no colour yet; return whether that was possible.

        Raises
        ------
        BudgetExceededError
            The budget was used up before that was known.

        Notes
        -----
        Exponential in the number of constraints at worst, linear where nothing is taken back.

        References
        ----------
        diva2021, Algorithm 4.
        """
        state = self.clusterings
        if len(state.coloured) == len(state.targets):
            return True
        v = self.choose_node()
        for clustering in self.candidates(v):
            self.budget.check()
            self.tried += 1
            if not state.is_consistent(clustering):
                self.trace.append(("reject", v, clustering))
                continue
            state.add(v, clustering)
            self.trace.append(("colour", v, clustering))
            if self._may_go_on() and self.colour():
                return True
            state.remove(v)
            self.trace.append(("backtrack", v, clustering))
            self.backtracks += 1
            self.budget.backtracks += 1
        return False

    def _may_go_on(self) -> bool:
        """Prune early: whether every uncoloured node may still get a colour."""
        state = self.clusterings
        return not state.looks_ahead or all(
            state.is_open(v) for v in range(len(state.targets)) if v not in state.coloured
        )
