"""The budget of DIVA's search, and a record of its actions."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

from anonpaper.errors import BudgetExceededError

__all__ = ["Search"]


@dataclass
class Search:
    """How long a search may take, and what it has done."""

    max_candidates: int  # of every component of the graph
    max_seconds: float  # of all
    # ("colour", "reject" or "backtrack", node, clustering), kept if a list is given
    trace: list | deque = field(default_factory=lambda: deque(maxlen=0))
    order: list = field(default_factory=list)
    components: int = 0
    candidates_tried: int = 0
    backtracks: int = 0

    def __post_init__(self) -> None:
        self._ends = time.monotonic() + self.max_seconds
        self._last_candidate = self.max_candidates

    def begin_component(self) -> None:
        """Give a new component its own budget of candidates."""
        self.components += 1
        self._last_candidate = self.candidates_tried + self.max_candidates

    def try_candidate(self) -> None:
        """Count a candidate; raise BudgetExceededError if the budget is used up."""
        if self.candidates_tried >= self._last_candidate:
            raise self.undecided(f"the budget of {self.max_candidates} candidates is used up")
        self.seconds_left()
        self.candidates_tried += 1

    def seconds_left(self) -> float:
        """Seconds until the time is over; BudgetExceededError if it is."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise self.undecided(f"the budget of {self.max_seconds:g} seconds is used up")
        return left

    def info(self) -> dict:
        """A report about the search, for ``Partition.info``."""
        names = ("candidates_tried", "backtracks", "components")
        return {"order": tuple(self.order)} | {name: getattr(self, name) for name in names}

    def undecided(self, reason: str) -> BudgetExceededError:
        """The error of a search that ends before it is known whether a table exists."""
        remedy = "raise max_candidates or max_seconds, or widen the bounds"
        message = f"no table found: {reason}. Whether one exists is not decided: {remedy}"
        return self.failed(BudgetExceededError(message))

    def failed(self, error):
        """Add the report about the search to an error as its ``info``."""
        error.info = self.info()
        return error
