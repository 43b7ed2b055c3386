"""The budget of DIVA's search, and the record of what it did."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

from anonpaper.errors import AnonpaperError, BudgetExceededError

__all__ = ["Search"]


@dataclass
class Search:
    """How long a search may go on, and what it has done.

    Attributes
    ----------
    max_backtracks, max_seconds : int, float
        The budget: of every component, and of all.
    order : list of int
        The nodes of the components that could be coloured, in the order of colouring.
    components, candidates_tried, backtracks : int
    trace : list of (str, int, list of Bundle)
        What happened: a node was given a colour (``"colour"``), a colour was found inconsistent
        (``"reject"``), or taken back (``"backtrack"``). Given a list, it is kept, else forgotten.
    """

    max_backtracks: int
    max_seconds: float
    order: list = field(default_factory=list)
    components: int = 0
    candidates_tried: int = 0
    backtracks: int = 0
    trace: list | deque = field(default_factory=lambda: deque(maxlen=0))
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._last_backtrack = self.max_backtracks

    def begin_component(self) -> None:
        """Allow the component that begins its own backtracks."""
        self.components += 1
        self._last_backtrack = self.backtracks + self.max_backtracks

    def seconds_left(self) -> float:
        """Seconds until the time is over, at least 0."""
        return max(self.max_seconds - (time.monotonic() - self.began), 0.0)

    def try_candidate(self) -> None:
        """Count a candidate; raise BudgetExceededError if the budget is used up."""
        if self.backtracks > self._last_backtrack:
            raise self.failed(
                BudgetExceededError,
                f"the budget of {self.max_backtracks} backtracks is used up; whether a diverse "
                "k-anonymous table exists is not decided: raise max_backtracks, take the strategy "
                '"max_fan_out", or widen the bounds',
            )
        self.check_seconds()
        self.candidates_tried += 1

    def check_seconds(self) -> None:
        """Raise BudgetExceededError if the time is over."""
        if self.seconds_left() == 0:
            raise self.failed(
                BudgetExceededError,
                f"the budget of {self.max_seconds:g} seconds is used up; whether a diverse "
                "k-anonymous table exists is not decided: raise max_seconds or widen the bounds",
            )

    def info(self) -> dict:
        """What the search did, for ``Partition.info``."""
        return {
            "order": tuple(self.order),
            "candidates_tried": self.candidates_tried,
            "backtracks": self.backtracks,
            "components": self.components,
        }

    def failed(self, kind: type[AnonpaperError], message: str) -> AnonpaperError:
        """Return an error that carries what the search did as ``info``."""
        error = kind(message)
        error.info = self.info()
        return error
