"""An algorithm's declaration about itself, such as ``ap.mondrian.algorithm``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from anonpaper.principles import DIVERSITY, Principle

F = TypeVar("F", bound=Callable)

#: How groups can be published, and how a recoding.
GROUPED = ("suppress", "generalize", "shallow", "swap", "anatomize")
RECODED = ("recode",)


@dataclass(frozen=True)
class Algorithm:
    """The declaration of an algorithm, a function from a Microdata and parameters."""

    function: Callable
    title: str
    promises: Mapping[str, type[Principle]] = field(default_factory=dict)  # by parameter
    publications: tuple[str, ...] = GROUPED  # the default first
    needs_sensitive: bool = False  # even without l
    by_bits: bool = False  # joins neighbours of a domain; see in_preorder and granularize

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.__name__

    @functools.cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Its parameters by name, without the table."""
        return dict([*inspect.signature(self.function).parameters.items()][1:])

    def promised(self, given: Mapping[str, object]) -> list[Principle]:
        """Return the principles that every release made with these parameters meets."""
        values = {n: p.default for n, p in self.parameters.items() if p.default is not p.empty}
        values |= given
        promises = dict(self.promises)
        if "l" in promises and values.get("l") is not None and "diversity" in values:
            promises["l"] = DIVERSITY[values["diversity"]]
        asked = [name for name in promises if values.get(name) is not None]
        return [*(promises[name](values[name]) for name in asked), *(values.get("require") or ())]


def algorithm(title: str, **declared: Any) -> Callable[[F], F]:
    """Declare a function from a table to groups or a recoding; results know call and promises."""

    def declare(function: F) -> F:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def recorded(*args, **options):
            _, *others = signature.bind(*args, **options).arguments.items()
            result = function(*args, **options)
            plain = ((name, v.item() if isinstance(v, np.generic) else v) for name, v in others)
            written = ", ".join(["m", *(f"{name}={value!r}" for name, value in plain)])
            result.call = f"ap.{function.__name__}({written})"
            result.promised = tuple(recorded.algorithm.promised(dict(others)))
            return result

        recorded.algorithm = Algorithm(recorded, title, **declared)
        return recorded

    return declare
